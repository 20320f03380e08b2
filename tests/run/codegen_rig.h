/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs kernels from PTX text without the driver: parser, verifier, code generator,
 * loader and block runner put together by hand.
 *
 * Each program runs in several variants (RIG_VARIANTS): with all that can be
 * assumed about the launch and with nothing, for this processor and for older
 * ones, optimised, not, and in a hurry, and with warps in pairs where that is allowed. A test goes through them with
 * FOR_VARIANTS or a loop like that.
 */
#ifndef MR_TESTS_CODEGEN_RIG_H
#define MR_TESTS_CODEGEN_RIG_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig;

#define RIG_VARIANTS 8

/* Which variant rig_run() compiles for: 0 to RIG_VARIANTS - 1. */
extern unsigned rig_variant;
/* CU_LIMIT_STACK_SIZE of the context that launches are made in; 0 at first. */
extern size_t rig_stack_limit;

/* Code makes notes of what it touches, and this is called with each box after each launch, and with the site that it
 * belongs to. With RIG_NOTES in the environment code makes notes, too, of which nobody is told. NULL at first. */
struct mr_access;
struct mr_site;
extern void (*rig_touched)(const struct mr_access *box, const struct mr_site *site);

/* A module; a text that is refused ends the test with its diagnostics. */
struct rig *rig_open(const char *ptx);
struct rig *rig_open_file(const char *path);
void rig_close(struct rig *rig);

/* Whether the text would be refused, with `expected` in the diagnostics. */
void rig_refuses(const char *ptx, const char *expected);

/* Launches; `params` is the parameter block as C lays it out. */
CUresult rig_launch(struct rig *rig, const char *entry, const unsigned grid[3], const unsigned block[3],
                    unsigned dynamic_shared, const void *params, size_t param_bytes);

/* The same for one dimension, and it has to succeed. */
void rig_run(struct rig *rig, const char *entry, unsigned blocks, unsigned threads, const void *params,
             size_t param_bytes);

/* Host memory of a module variable. */
void *rig_symbol(struct rig *rig, const char *name);

/* What code generation notes about an entry: for each variant the same text, NULL if there is nothing. It lives until
 * rig_close. */
const char *rig_note(struct rig *rig, const char *entry);

/* MR_CODE_* of an entry. */
unsigned rig_flags(struct rig *rig, const char *entry);

/* An entry's optimised IR or assembly for a processor (NULL: this one); the caller frees with free(). */
char *rig_text(struct rig *rig, const char *entry, unsigned shape, const char *cpu, bool assembly);

/* Bytes of an entry's object for this processor, in a hurry or optimised. */
size_t rig_object_size(struct rig *rig, const char *entry, unsigned shape, bool hurry);

#endif
