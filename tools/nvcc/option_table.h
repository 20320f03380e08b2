/* SPDX-License-Identifier: Apache-2.0 */
/* The table of nvcc's options: each spelling, and what becomes of it. */
#ifndef NVCC_OPTION_TABLE_H
#define NVCC_OPTION_TABLE_H

#include <stdbool.h>

#include "base/text.h"
#include <stddef.h>

struct request;

enum action {
    SET_PHASE,
    SET_OUTPUT,
    SET_OUTPUT_FOLDER,
    SET_ARCH,
    SET_CODE,
    GENCODE,
    SET_LANGUAGE,
    SET_CCBIN,
    SET_KEEP,
    SET_KEEP_FOLDER,
    SET_RUNTIME,
    SET_RDC,
    SET_STREAM,
    SET_MACHINE,
    SET_DEPENDENCIES,
    SET_DEPENDENCY_FILE,
    SET_DEPENDENCY_TARGET,
    SET_PHONY,
    SET_SHARED,
    SET_CHECK,
    SET_FORWARD,
    DEVICE_C,
    DEVICE_W,
    BOTH,          /* clang's `text`, for both halves */
    BOTH_VALUE,    /* with the value attached */
    BOTH_LIST,     /* the same for each part of a comma list */
    BOTH_BOOLEAN,  /* `text` for true, `other` for false */
    DEVICE,
    DEVICE_BOOLEAN,   /* for the device's half */
    HOST_TEXT,     /* for the host's half */
    DEBUG_DEVICE,
    LEVEL,         /* -O0 … -O3 */
    ERRORS,        /* kinds of warnings that are errors */
    HOST,
    LINKER,
    ASSEMBLER,
    FRONT,
    PACKER,
    DEVICE_LINKER,   /* a comma list of another program's options */
    DIAGNOSTICS,   /* a comma list of numbers; `text` goes before clang's names for them */
    LINK_LIST,     /* `text` with each part of a comma list attached, in its place on the linker's command line */
    PROFILE,       /* -pg */
    OPTIMISED_DEBUG, /* -dopt on */
    NO_DEVICE_LINK,
    SET_ARCHIVER,
    FORWARD_TO_LINKER,
    FORWARD_ALL,
    NOTHING,       /* without effect on code that the CPU runs; takes no value */
    NOTHING_VALUE,
    NOTHING_NUMBER,
    NOTHING_BOOLEAN,
    NOTHING_WORD,   /* a word: one of those in `text`, apart by blanks */
    ENTRIES,       /* a comma list of kernels */
    RUN,
    RUN_ARGUMENTS, /* a comma list */
    VERBOSE,
    DRY_RUN,
    TELL_USES,
    EVERY_TARGET,
    SET_LINK_TIME, /* -dlto */
    OPTIONS_FILE,  /* more words, of this same language */
    REFUSE,
    REFUSE_VALUE,   /* `text` says why */
};

struct option {
    const char *name, *other_name;
    enum action action;
    int detail;
    const char *text, *other;
};

/* Whether an option has a value: the next word, or what stands behind '='. */
bool option_takes_value(enum action action);

/* The option that a word spells; *value is the value in the word, or NULL. NULL: there is no such option. */
const struct option *option_find(const char *word, const char **value);

/* options.c. Does to the request what the option asks for; `word` is for messages. False after a message on standard
 * error. */
bool option_apply(struct request *request, const struct option *option, const char *word, const char *value);

/* The next part of a comma list, which is left behind it; false at its end. As nvcc reads lists, double quotes hold a
 * part together and stay in it, and a backslash before a comma makes it one of the part. Empty parts are passed over.
 */
bool option_next_part(const char **list, struct mr_text *part);

/* Whether the value is "true"; whether it is that or "false" (false after a message). */
bool option_is_true(const char *value);
bool option_is_boolean(const char *value, const char *word);

/* Puts a word, or if that is NULL an input, behind what the linker gets already. Ends the program if memory is short.
 */
void request_add_item(struct request *request, const char *word, size_t input);

#endif
