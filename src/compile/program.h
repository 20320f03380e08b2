/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct mr_program; private to src/compile. A program never changes after mr_program_load but for its machine code, which is added under
 * `lock` and read without one. */
#ifndef MR_COMPILE_PROGRAM_H
#define MR_COMPILE_PROGRAM_H

#include <stdatomic.h>
#include <stdio.h>

#include "base/thread.h"
#include "compile/cache.h"
#include "compile/codegen.h"
#include "compile/compile.h"
#include "compile/layout.h"
#include "compile/loader.h"
#include "ptx/ptx.h"

/* Machine code of one entry for one class of block shapes; lives as long as its program. */
struct mr_variant {
    struct mr_code code;
    struct mr_loaded loaded;
    struct mr_debugger_object *seen;       /* by debuggers; NULL: not */
};

struct mr_entry_code { _Atomic(struct mr_variant *) variants[MR_SHAPE_COUNT]; };

struct mr_program {
    _Atomic uint32_t references;
    struct mr_ptx_module *module;
    struct mr_layout layout;
    struct mr_cache_key text;              /* hash of the PTX */
    unsigned optimisation;
    struct mr_symbol *symbols;             /* layout.symbol_count */
    struct mr_entry *entries;              /* layout.entry_count */
    struct mr_entry_code *code;            /* layout.entry_count */
    mr_lock lock;                          /* held while an entry of this program is compiled */
};

/* build.c: from text to a program that is ready but for machine code; the reasons of a refusal go to `diag`. options->capability 0 becomes the one that
 * the text states. mr_program_unbuild frees what was made, also after a failure. */
CUresult mr_program_build(struct mr_program *program, const char *text, size_t length, struct mr_program_options *options, struct mr_ptx_diag *diag)
    __attribute__((warn_unused_result));
void mr_program_unbuild(struct mr_program *program);
CUresult mr_program_status_of(const struct mr_ptx_diag *diag);

/* uses.c: what each kernel uses, in the words of NVIDIA's assembler (ptxas -v), which programs look for. */
void mr_program_put_uses(FILE *file, const struct mr_program *program);

/* Fills program->symbols and program->entries from the layout. False when memory is short. */
bool mr_program_describe(struct mr_program *program, const struct mr_program_options *options) __attribute__((warn_unused_result));
void mr_program_forget(struct mr_program *program);

#endif
