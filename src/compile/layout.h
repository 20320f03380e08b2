/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where things are: symbol indices, shared memory offsets, local frames.
 *
 * Driver and code generator must agree on these numbers without talking to each
 * other: both derive them from the syntax tree with this file. There is no LLVM
 * here. A layout borrows the module's tree and must not outlive it.
 *
 * Symbols are numbered once per module: first every .global and .const variable
 * (module scope in order, then function scope in the order of the functions),
 * then every function that has a body and is not an entry. block->symbols holds
 * the address of each variable by that number.
 *
 * A function's address as a value is MR_FUNCTION_TAG + its number, never a code
 * address: an indirect call looks the number up in the kernel's own table. Where
 * initial bytes of a variable hold a function's address, the tagged number is
 * what must be stored there (mr_layout_function_value()).
 */
#ifndef MR_COMPILE_LAYOUT_H
#define MR_COMPILE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"

/* Not a canonical address on any 64-bit host, so that a wild load through it faults. */
#define MR_FUNCTION_TAG UINT64_C(0x4d52000000000000)

struct mr_layout_symbol {
    const struct mr_ptx_var *var;       /* either this ... */
    const struct mr_ptx_function *func; /* ... or this is set */
};

/* A .shared variable's place in the window of one entry. */
struct mr_layout_shared {
    const struct mr_ptx_var *var;
    uint32_t offset; /* bytes from the start of the block's shared memory */
};

struct mr_layout_entry {
    const struct mr_ptx_function *func;
    const struct mr_ptx_function **reachable; /* functions that it may call, itself first */
    uint32_t reachable_count;
    struct mr_layout_shared *shared; /* sorted by variable */
    uint32_t shared_count;
    uint64_t static_shared;          /* bytes of the static part */
    uint64_t dynamic_offset;         /* where dynamic memory begins, 16-aligned at least */
    uint64_t
        local_bytes; /* .local bytes of a thread: the entry's and those of the deepest chain of its calls (frames.h) */
    bool calls_indirectly;
    bool prints; /* it may call vprintf */
};

struct mr_layout {
    const struct mr_ptx_module *module;
    struct mr_layout_symbol *symbols;
    uint32_t symbol_count, variable_count; /* variables come first */
    struct mr_layout_entry *entries; /* kernels with a body, in module order */
    uint32_t entry_count;
    const void **index; /* sorted symbol pointers; private */
    uint32_t *index_symbol;
    uint32_t index_count;
};

#define MR_LAYOUT_NONE UINT32_MAX

/* Fills *layout from a verified module. False when memory is short; *layout is then empty. */
bool mr_layout_build(const struct mr_ptx_module *module, struct mr_layout *layout) __attribute__((warn_unused_result));

/* Frees what mr_layout_build() made; an empty layout is allowed. */
void mr_layout_clear(struct mr_layout *layout);

/* Symbol number of a variable or function (an alias counts as what it stands for); MR_LAYOUT_NONE if it has none. */
uint32_t mr_layout_symbol(const struct mr_layout *layout, const void *var_or_func);

/* What a pointer to that function holds, 0 if it has no number. */
uint64_t mr_layout_function_value(const struct mr_layout *layout, const struct mr_ptx_function *func);

/* Offset of a .shared variable in the entry's window; false if the entry cannot reach it. */
bool mr_layout_shared_find(const struct mr_layout_entry *entry, const struct mr_ptx_var *var, uint32_t *offset);

/* A function after following .alias. */
const struct mr_ptx_function *mr_layout_resolve(const struct mr_ptx_function *func);

#endif
