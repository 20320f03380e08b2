/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Diagnostics: a growing text that parser, verifier and code generator write to
 * and that ends up in the JIT log buffers. Each message is
 *
 *   error: line 12, column 9: unknown instruction 'addd'
 *       addd.u32 %r1, %r2, %r3;
 *       ^
 *
 * The text has a limit: after MR_PTX_DIAG_ERRORS_MAX errors one last line says
 * that more were left out, and the rest are only counted.
 */
#ifndef MR_PTX_DIAG_H
#define MR_PTX_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR_PTX_DIAG_ERRORS_MAX 20u

struct mr_ptx_diag {
    char *text;      /* NUL-terminated, NULL while empty; owned */
    size_t length;   /* without the NUL */
    size_t capacity;
    uint32_t errors; /* all, also those left out of the text */
    uint32_t warnings;
    uint32_t first_error_line; /* 0 = none */
    bool unsupported;   /* an error was: an instruction that is not supported */
    bool bad_version;   /* an error was: .version newer than what is known */
    bool out_of_memory; /* an allocation failed: the text may be incomplete */
    const char *source; /* text that lines are shown from; NULL = no source lines.
                           Set by mr_ptx_parse() and mr_ptx_verify() for their
                           own duration; others may set it to module->text. */
    size_t source_length;
};

/* Ready to use; nothing is allocated until the first message. */
void mr_ptx_diag_init(struct mr_ptx_diag *diag);

/* Frees the text and leaves `diag` ready for use again. */
void mr_ptx_diag_clear(struct mr_ptx_diag *diag);

/* Adds a message with its place (line 0: no place) and writes it to Millrace's
 * log at level info. `diag` may be NULL: then the log alone. */
void mr_ptx_diag_error(struct mr_ptx_diag *diag, uint32_t line, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void mr_ptx_diag_warning(struct mr_ptx_diag *diag, uint32_t line, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The text, "" if there is none. Valid until the next change. */
const char *mr_ptx_diag_text(const struct mr_ptx_diag *diag);

#endif
