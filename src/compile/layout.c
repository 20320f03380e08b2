/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Numbers every symbol of a module and lays out the shared memory of each of
 * its kernels. Bottom up: a sorted index of pointers, then offsets of what each
 * kernel reaches (reach.c).
 */
#include "compile/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compile/frames.h"
#include "compile/reach.h"

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

/* What numbering has to do with a function, so that the many functions with nothing to number are read once. Kernels
 * are numbered if their addresses are taken. */
enum { HAS_CODE = 1, HAS_VARIABLES = 2, IS_ALIAS = 4, IS_KERNEL = 8 };

static uint8_t survey_function(const struct mr_ptx_function *func, uint32_t *variables)
{
    uint32_t before = *variables;
    for (uint32_t i = 0; i < func->var_count; i++)
        *variables += has_symbol(func->vars[i]);
    bool kernel = func->has_body && func->is_entry;
    return (uint8_t)((*variables > before ? HAS_VARIABLES : 0) |
                     (func->has_body && (!func->is_entry || func->address_taken) ? HAS_CODE : 0) |
                     (func->alias_of && (!func->has_body || func->is_entry) ? IS_ALIAS : 0) | (kernel ? IS_KERNEL : 0));
}

static void fill_index(struct mr_layout *layout, struct pair *pairs, uint32_t count)
{
    qsort(pairs, count, sizeof *pairs, pair_compare);
    for (uint32_t i = 0; i < count; i++) {
        layout->index[i] = pairs[i].key;
        layout->index_symbol[i] = pairs[i].symbol;
    }
    layout->index_count = count;
}

static void make_index(struct mr_layout *layout, const uint8_t *survey, struct pair *pairs)
{
    const struct mr_ptx_module *module = layout->module;
    uint32_t count = layout->symbol_count;
    for (uint32_t i = 0; i < count; i++) {
        pairs[i].key = layout->symbols[i].var ? (const void *)layout->symbols[i].var : layout->symbols[i].func;
        pairs[i].symbol = i;
    }
    fill_index(layout, pairs, count);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct mr_ptx_function *func = module->functions[f];
        uint32_t symbol = survey[f] & IS_ALIAS ? mr_layout_symbol(layout, mr_layout_resolve(func)) : MR_LAYOUT_NONE;
        if (symbol != MR_LAYOUT_NONE)
            pairs[count++] = (struct pair){func, symbol};
    }
    if (count > layout->symbol_count)
        fill_index(layout, pairs, count);
}

/* The index holds aliases as well, under the numbers of what they stand for. */
static bool number_symbols(struct mr_layout *layout, const uint8_t *survey, size_t room)
{
    const struct mr_ptx_module *module = layout->module;
    layout->symbols = mr_calloc(room, sizeof *layout->symbols);
    layout->index = mr_calloc(room, sizeof *layout->index);
    layout->index_symbol = mr_calloc(room, sizeof *layout->index_symbol);
    struct pair *pairs = mr_calloc(room, sizeof *pairs);
    if (!layout->symbols || !layout->index || !layout->index_symbol || !pairs) {
        mr_free(pairs);
        return false;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < module->var_count; i++)
        if (has_symbol(module->vars[i]))
            layout->symbols[n++].var = module->vars[i];
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t i = 0; survey[f] & HAS_VARIABLES && i < module->functions[f]->var_count; i++)
            if (has_symbol(module->functions[f]->vars[i]))
                layout->symbols[n++].var = module->functions[f]->vars[i];
    for (uint32_t f = 0; f < module->function_count; f++)
        if (survey[f] & HAS_CODE)
            layout->symbols[n++].func = module->functions[f];
    layout->symbol_count = n;
    make_index(layout, survey, pairs);
    mr_free(pairs);
    return true;
}

uint32_t mr_layout_symbol(const struct mr_layout *layout, const void *var_or_func)
{
    uint32_t low = 0, high = layout->index_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)layout->index[middle] < (uintptr_t)var_or_func)
            low = middle + 1;
        else
            high = middle;
    }
    return low < layout->index_count && layout->index[low] == var_or_func ? layout->index_symbol[low] : MR_LAYOUT_NONE;
}

uint64_t mr_layout_function_value(const struct mr_layout *layout, const struct mr_ptx_function *func)
{
    uint32_t symbol = mr_layout_symbol(layout, func);
    return symbol == MR_LAYOUT_NONE ? 0 : MR_FUNCTION_TAG + symbol;
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

static void place_all(const struct mr_reach *reach, struct mr_layout_entry *entry, bool dynamic)
{
    for (uint32_t i = 0; i < reach->variable_count; i++)
        place_shared(entry, reach->module->vars[reach->variables[i]], dynamic);
    for (uint32_t r = 0; r < entry->reachable_count; r++)
        for (uint32_t i = 0; i < entry->reachable[r]->var_count; i++)
            place_shared(entry, entry->reachable[r]->vars[i], dynamic);
}

static bool layout_entry(struct mr_reach *reach, const uint64_t *deepest, uint64_t dynamic_align,
                         struct mr_layout_entry *entry)
{
    mr_reach_walk(reach, entry->func);
    size_t room = reach->variable_count;
    entry->calls_indirectly = reach->calls_indirectly;
    entry->prints = reach->prints;
    /* Most kernels call nothing: such a one is its own list. */
    entry->reachable =
        reach->function_count == 1 ? &entry->func : mr_calloc(reach->function_count, sizeof *entry->reachable);
    if (!entry->reachable)
        return false;
    for (uint32_t r = 0; r < reach->function_count; r++) {
        const struct mr_ptx_function *func = reach->module->functions[reach->functions[r]];
        entry->reachable[entry->reachable_count++] = func;
        for (uint32_t i = 0; i < func->var_count; i++)
            room += func->vars[i]->space == MR_PTX_SPACE_SHARED;
    }
    entry->local_bytes = deepest[entry->func->index];
    if (room > 0 && !(entry->shared = mr_calloc(room, sizeof *entry->shared)))
        return false;
    place_all(reach, entry, false);
    entry->dynamic_offset = align_up(entry->static_shared, dynamic_align);
    place_all(reach, entry, true);
    if (room > 0)
        qsort(entry->shared, entry->shared_count, sizeof *entry->shared, shared_compare);
    return true;
}

static uint64_t dynamic_alignment(const struct mr_ptx_module *module)
{
    uint64_t alignment = 16;
    for (uint32_t i = 0; i < module->var_count; i++)
        if (module->vars[i]->space == MR_PTX_SPACE_SHARED && module->vars[i]->incomplete &&
            module->vars[i]->align > alignment)
            alignment = module->vars[i]->align;
    return alignment;
}

static bool layout_entries(const struct mr_ptx_module *module, const uint8_t *survey, struct mr_layout *layout)
{
    struct mr_reach reach;
    uint64_t dynamic_align = dynamic_alignment(module);
    uint64_t *deepest = mr_calloc(module->function_count + 1, sizeof *deepest);
    bool good = mr_reach_begin(&reach, module) && deepest && mr_frames_find(&reach, deepest);
    for (uint32_t f = 0; f < module->function_count && good; f++) {
        if (!(survey[f] & IS_KERNEL))
            continue;
        struct mr_layout_entry *entry = &layout->entries[layout->entry_count++];
        entry->func = module->functions[f];
        good = layout_entry(&reach, deepest, dynamic_align, entry);
    }
    mr_reach_end(&reach);
    mr_free(deepest);
    return good;
}

bool mr_layout_build(const struct mr_ptx_module *module, struct mr_layout *layout)
{
    memset(layout, 0, sizeof *layout);
    layout->module = module;
    size_t entries = 0, others = 0;
    uint8_t *survey = mr_alloc(module->function_count + 1);
    for (uint32_t i = 0; i < module->var_count; i++)
        layout->variable_count += has_symbol(module->vars[i]);
    for (uint32_t f = 0; survey && f < module->function_count; f++) {
        survey[f] = survey_function(module->functions[f], &layout->variable_count);
        entries += (survey[f] & IS_KERNEL) != 0;
        others += (survey[f] & (HAS_CODE | IS_ALIAS)) != 0;
    }
    layout->entries = mr_calloc(entries, sizeof *layout->entries);
    bool good = survey && layout->entries && number_symbols(layout, survey, layout->variable_count + others) &&
                layout_entries(module, survey, layout);
    mr_free(survey);
    if (!good)
        mr_layout_clear(layout);
    return good;
}

void mr_layout_clear(struct mr_layout *layout)
{
    for (uint32_t e = 0; layout->entries && e < layout->entry_count; e++) {
        if (layout->entries[e].reachable != &layout->entries[e].func)
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
        entry->shared ? bsearch(&key, entry->shared, entry->shared_count, sizeof key, shared_compare) : NULL;
    if (found)
        *offset = found->offset;
    return found != NULL;
}
