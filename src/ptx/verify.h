/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The verifier's own state and the calls between its files. For src/ptx only.
 *
 *   verify.c          modules, functions, calls
 *   verify_basics.c   errors, the module's target and version
 *   verify_inst.c     what each opcode asks of its types and modifiers
 *   verify_memory.c   the same for loads, stores, atomics and conversions
 *   verify_form.c     the same for instructions that are written as sentences
 *   versions.c        versions and targets that instructions need
 *   verify_operand.c  operands against the letters of ptx_ops.def
 *
 * A check returns false after it has reported an error; the rest of the
 * instruction is then left alone, and the next one is looked at.
 */
#ifndef MR_PTX_VERIFY_H
#define MR_PTX_VERIFY_H

#include "ptx/ptx.h"
#include "ptx/ptx_tables.h"

#define MR_PTX_NEEDS_MAX 192u

struct verifier {
    const struct mr_ptx_module *module;
    const struct mr_ptx_function *function;
    const struct mr_ptx_inst *inst;
    struct mr_ptx_diag *diag;
    uint32_t errors;
    uint64_t open_size; /* so far: see struct mr_ptx_module */
    uint8_t unmet[MR_PTX_NEEDS_MAX]; /* rows of versions.c's table that the module's version or target doesn't meet; the
                                        others can't refuse anything */
    unsigned unmet_count;
};

/* versions.c: fills in `unmet`. */
void mr_ptx_verify_find_unmet(struct verifier *verifier);

/* --- verify_basics.c ------------------------------------------------------- */

/* Reports an error at the instruction, at an operand of it, or at a place; returns false. */
bool mr_ptx_verify_error(struct verifier *verifier, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool mr_ptx_verify_operand_error(struct verifier *verifier, const struct mr_ptx_operand *operand, const char *format,
                                 ...) __attribute__((format(printf, 3, 4)));
bool mr_ptx_verify_error_at(struct verifier *verifier, uint32_t line, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* As an error, and marks the log: this is a gap of Millrace, not of the text. */
bool mr_ptx_verify_unsupported(struct verifier *verifier, const char *what);

/* Whether the module's target and version are at least these. */
bool mr_ptx_verify_is_sm(const struct verifier *verifier, uint32_t sm);
bool mr_ptx_verify_is_version(const struct verifier *verifier, uint32_t major, uint32_t minor);

/* --- verify_inst.c, verify_memory.c --------------------------------------- */

bool mr_ptx_verify_inst(struct verifier *verifier);

/* ld, ldu, st, atom, red, cvt, cvta, mov, prefetch and their kin. */
bool mr_ptx_verify_memory_inst(struct verifier *verifier);

/* verify_video.c: modifiers and operands of video instructions. */
bool mr_ptx_verify_video(struct verifier *verifier);

/* --- verify_texture.c ------------------------------------------------------ */

/* tex, tld4, txq, suld, sust, sured, suq, istypep, with their operands. */
bool mr_ptx_verify_texture(struct verifier *verifier);

/* --- verify_form.c --------------------------------------------------------- */

/* What the form of the instruction asks beyond its row; true for instructions without forms. */
bool mr_ptx_verify_form(struct verifier *verifier);

/* An operand that is a matrix, by its letter: F 1 2 3. */
bool mr_ptx_verify_matrix(struct verifier *verifier, char letter, const struct mr_ptx_operand *operand);

/* --- versions.c --------------------------------------------------------------- */

/* Checks the version and the target that the instruction needs. */
bool mr_ptx_verify_needs(struct verifier *verifier);

/* --- verify_operand.c ------------------------------------------------------- */

/* An operand as an address in the instruction's space. */
bool mr_ptx_verify_address(struct verifier *verifier, const struct mr_ptx_operand *operand);

/* Checks the operands of the instruction against the letters of its row. */
bool mr_ptx_verify_operands(struct verifier *verifier);

/* Whether a register of type `reg` can stand for `type`; `relaxed`: or a wider one. */
bool mr_ptx_verify_type_fits(enum mr_ptx_type reg, enum mr_ptx_type type, bool relaxed);

/* Operand as a source of `type`. */
bool mr_ptx_verify_source(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_type type,
                          bool relaxed);

bool mr_ptx_verify_dest(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_type type,
                        bool relaxed);

#endif
