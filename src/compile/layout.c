/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Numbers every symbol of a module and lays out the shared memory of each of
 * its kernels. Bottom up: a sorted index of pointers, reachability over calls
 * and taken addresses, then offsets.
 */
#include "compile/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const struct mr_ptx_function *mr_layout_resolve(const struct mr_ptx_function *func)
{
    for (unsigned hops = 0; func && func->alias_of && hops < 64; hops++)
        func = func->alias_of;
    return func;
}

struct pair {
    const void *key;
    uint32_t symbol;
};

static int pair_compare(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const struct pair *)left)->key;
    uintptr_t b = (uintptr_t)((const struct pair *)right)->key;
    return (a > b) - (a < b);
}

static bool has_symbol(const struct mr_ptx_var *var)
{
    return var->space == MR_PTX_SPACE_GLOBAL || var->space == MR_PTX_SPACE_CONST;
}

static uint32_t count_variables(const struct mr_ptx_module *module)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->var_count; i++)
        count += has_symbol(module->vars[i]);
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t i = 0; i < module->functions[f]->var_count; i++)
            count += has_symbol(module->functions[f]->vars[i]);
    return count;
}

static bool number_symbols(struct mr_layout *layout)
{
    const struct mr_ptx_module *module = layout->module;
    layout->variable_count = count_variables(module);
    size_t room = (size_t)layout->variable_count + module->function_count;
    layout->symbols = mr_calloc(room ? room : 1, sizeof *layout->symbols);
    layout->index = mr_calloc(room ? room : 1, sizeof *layout->index);
    layout->index_symbol = mr_calloc(room ? room : 1, sizeof *layout->index_symbol);
    struct pair *pairs = mr_calloc(room ? room : 1, sizeof *pairs);
    if (!layout->symbols || !layout->index || !layout->index_symbol || !pairs) {
        mr_free(pairs);
        return false;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < module->var_count; i++)
        if (has_symbol(module->vars[i]))
            layout->symbols[n++].var = module->vars[i];
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t i = 0; i < module->functions[f]->var_count; i++)
            if (has_symbol(module->functions[f]->vars[i]))
                layout->symbols[n++].var = module->functions[f]->vars[i];
    for (uint32_t f = 0; f < module->function_count; f++)
        if (module->functions[f]->has_body && !module->functions[f]->is_entry)
            layout->symbols[n++].func = module->functions[f];
    layout->symbol_count = n;
    for (uint32_t i = 0; i < n; i++) {
        pairs[i].key = layout->symbols[i].var ? (const void *)layout->symbols[i].var : layout->symbols[i].func;
        pairs[i].symbol = i;
    }
    qsort(pairs, n, sizeof *pairs, pair_compare);
    for (uint32_t i = 0; i < n; i++) {
        layout->index[i] = pairs[i].key;
        layout->index_symbol[i] = pairs[i].symbol;
    }
    mr_free(pairs);
    return true;
}

uint32_t mr_layout_symbol(const struct mr_layout *layout, const void *var_or_func)
{
    const void *wanted = var_or_func;
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        uint32_t low = 0, high = layout->symbol_count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if ((uintptr_t)layout->index[middle] < (uintptr_t)wanted)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < layout->symbol_count && layout->index[low] == wanted)
            return layout->index_symbol[low];
        /* Not there under its own name: perhaps an alias. */
        const struct mr_ptx_module *module = layout->module;
        for (uint32_t f = 0; f < module->function_count && attempt == 0; f++)
            if (module->functions[f] == var_or_func)
                wanted = mr_layout_resolve(module->functions[f]);
        if (wanted == var_or_func)
            break;
    }
    return MR_LAYOUT_NONE;
}

uint64_t mr_layout_function_value(const struct mr_layout *layout, const struct mr_ptx_function *func)
{
    uint32_t symbol = mr_layout_symbol(layout, func);
    return symbol == MR_LAYOUT_NONE ? 0 : MR_FUNCTION_TAG + symbol;
}

/* State of the walk over the functions that one entry reaches. */
struct reach {
    const struct mr_ptx_module *module;
    struct mr_layout_entry *entry;
    bool *seen; /* by function->index */
};

static void reach_function(struct reach *reach, const struct mr_ptx_function *func)
{
    func = mr_layout_resolve(func);
    if (!func || !func->has_body || reach->seen[func->index])
        return;
    reach->seen[func->index] = true;
    reach->entry->reachable[reach->entry->reachable_count++] = func;
}

static void reach_operand(struct reach *reach, const struct mr_ptx_operand *operand)
{
    if (operand->kind == MR_PTX_OPERAND_FUNCTION)
        reach_function(reach, operand->func);
}

static void reach_body(struct reach *reach, const struct mr_ptx_function *func)
{
    for (uint32_t i = 0; i < func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &func->insts[i];
        for (uint32_t k = 0; k < inst->operand_count; k++)
            reach_operand(reach, &inst->operands[k]);
        if (!inst->call)
            continue;
        if (inst->call->callee)
            reach_function(reach, inst->call->callee);
        else
            reach->entry->calls_indirectly = true;
    }
}

static bool reach_entry(const struct mr_ptx_module *module, struct mr_layout_entry *entry)
{
    struct reach reach = {module, entry, mr_calloc(module->function_count, sizeof(bool))};
    entry->reachable = mr_calloc(module->function_count, sizeof *entry->reachable);
    if (!reach.seen || !entry->reachable) {
        mr_free(reach.seen);
        return false;
    }
    reach_function(&reach, entry->func);
    bool added_targets = false;
    for (uint32_t next = 0; next < entry->reachable_count; next++) {
        reach_body(&reach, entry->reachable[next]);
        if (entry->calls_indirectly && !added_targets) {
            added_targets = true;
            for (uint32_t f = 0; f < module->function_count; f++)
                if (module->functions[f]->address_taken && !module->functions[f]->is_entry)
                    reach_function(&reach, module->functions[f]);
        }
    }
    mr_free(reach.seen);
    return true;
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return alignment ? (value + alignment - 1) / alignment * alignment : value;
}

static int shared_compare(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const struct mr_layout_shared *)left)->var;
    uintptr_t b = (uintptr_t)((const struct mr_layout_shared *)right)->var;
    return (a > b) - (a < b);
}

/* Gives a static variable the next offset, or counts an array of unknown size among the dynamic ones. */
static void place_shared(struct mr_layout_entry *entry, const struct mr_ptx_var *var, bool dynamic)
{
    if (var->space != MR_PTX_SPACE_SHARED || (var->incomplete || (var->size == 0 && var->is_array)) != dynamic)
        return;
    struct mr_layout_shared *place = &entry->shared[entry->shared_count++];
    place->var = var;
    if (dynamic) {
        place->offset = (uint32_t)entry->dynamic_offset;
        return;
    }
    uint64_t offset = align_up(entry->static_shared, var->align);
    place->offset = (uint32_t)offset;
    entry->static_shared = offset + var->size;
}

static bool uses_var(const struct mr_ptx_operand *operand, const struct mr_ptx_var *var)
{
    return operand->var == var;
}

/* Whether any function that the entry reaches names the variable. */
static bool entry_uses(const struct mr_layout_entry *entry, const struct mr_ptx_var *var)
{
    for (uint32_t r = 0; r < entry->reachable_count; r++) {
        const struct mr_ptx_function *func = entry->reachable[r];
        for (uint32_t i = 0; i < func->inst_count; i++)
            for (uint32_t k = 0; k < func->insts[i].operand_count; k++)
                if (uses_var(&func->insts[i].operands[k], var))
                    return true;
    }
    return false;
}

static bool var_is_initialiser_target(const struct mr_ptx_module *module, const struct mr_ptx_var *var)
{
    for (uint32_t i = 0; i < module->var_count; i++)
        for (uint32_t r = 0; r < module->vars[i]->reloc_count; r++)
            if (module->vars[i]->relocs[r].var == var)
                return true;
    return false;
}

static void place_all(const struct mr_ptx_module *module, struct mr_layout_entry *entry, bool dynamic)
{
    for (uint32_t i = 0; i < module->var_count; i++) {
        const struct mr_ptx_var *var = module->vars[i];
        if (var->space == MR_PTX_SPACE_SHARED && (entry_uses(entry, var) || var_is_initialiser_target(module, var)))
            place_shared(entry, var, dynamic);
    }
    for (uint32_t r = 0; r < entry->reachable_count; r++)
        for (uint32_t i = 0; i < entry->reachable[r]->var_count; i++)
            place_shared(entry, entry->reachable[r]->vars[i], dynamic);
}

static bool layout_entry(const struct mr_ptx_module *module, struct mr_layout_entry *entry)
{
    if (!reach_entry(module, entry))
        return false;
    uint64_t dynamic_align = 16;
    size_t room = module->var_count;
    for (uint32_t i = 0; i < module->var_count; i++)
        if (module->vars[i]->space == MR_PTX_SPACE_SHARED && module->vars[i]->incomplete
            && module->vars[i]->align > dynamic_align)
            dynamic_align = module->vars[i]->align;
    for (uint32_t r = 0; r < entry->reachable_count; r++) {
        const struct mr_ptx_function *func = entry->reachable[r];
        room += func->var_count;
        for (uint32_t i = 0; i < func->var_count; i++)
            if (func->vars[i]->space == MR_PTX_SPACE_LOCAL)
                entry->local_bytes = align_up(entry->local_bytes, func->vars[i]->align) + func->vars[i]->size;
    }
    entry->shared = mr_calloc(room ? room : 1, sizeof *entry->shared);
    if (!entry->shared)
        return false;
    place_all(module, entry, false);
    entry->dynamic_offset = align_up(entry->static_shared, dynamic_align);
    place_all(module, entry, true);
    qsort(entry->shared, entry->shared_count, sizeof *entry->shared, shared_compare);
    return true;
}

bool mr_layout_build(const struct mr_ptx_module *module, struct mr_layout *layout)
{
    memset(layout, 0, sizeof *layout);
    layout->module = module;
    uint32_t entries = 0;
    for (uint32_t f = 0; f < module->function_count; f++)
        entries += module->functions[f]->is_entry && module->functions[f]->has_body;
    layout->entries = mr_calloc(entries ? entries : 1, sizeof *layout->entries);
    bool good = layout->entries && number_symbols(layout);
    for (uint32_t f = 0; f < module->function_count && good; f++) {
        const struct mr_ptx_function *func = module->functions[f];
        if (!func->is_entry || !func->has_body)
            continue;
        struct mr_layout_entry *entry = &layout->entries[layout->entry_count++];
        entry->func = func;
        good = layout_entry(module, entry);
    }
    if (!good)
        mr_layout_clear(layout);
    return good;
}

void mr_layout_clear(struct mr_layout *layout)
{
    for (uint32_t e = 0; e < layout->entry_count; e++) {
        mr_free(layout->entries[e].reachable);
        mr_free(layout->entries[e].shared);
    }
    mr_free(layout->entries);
    mr_free(layout->symbols);
    mr_free(layout->index);
    mr_free(layout->index_symbol);
    memset(layout, 0, sizeof *layout);
}

bool mr_layout_shared_find(const struct mr_layout_entry *entry, const struct mr_ptx_var *var, uint32_t *offset)
{
    struct mr_layout_shared key = {.var = var};
    const struct mr_layout_shared *found =
        bsearch(&key, entry->shared, entry->shared_count, sizeof key, shared_compare);
    if (found)
        *offset = found->offset;
    return found != NULL;
}
