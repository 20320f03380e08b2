/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct mr_program; private to src/compile. A program never changes after mr_program_load but for its machine code, which is added under
 * `lock` and read without one. */
#ifndef MR_COMPILE_PROGRAM_H
#define MR_COMPILE_PROGRAM_H

#include <stdatomic.h>

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

/* Fills program->symbols and program->entries from the layout. False when memory is short. */
bool mr_program_describe(struct mr_program *program, const struct mr_program_options *options) __attribute__((warn_unused_result));
void mr_program_forget(struct mr_program *program);

#endif
