/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and variables by name: sorted once when a program is loaded, since programs ask for thousands. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compile/program.h"

/* Of variables of one name those that are visible come first, then in their own order. */
static int compare(const void *left, const void *right)
{
    const struct mr_name *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    if (order != 0)
        return order;
    if (a->hidden != b->hidden)
        return a->hidden ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

bool mr_names_sort(struct mr_program *program)
{
    struct mr_name *entries = mr_alloc(program->entry_count * sizeof *entries),
                   *variables = mr_alloc(program->symbol_count * sizeof *variables);
    program->entry_names = entries;
    program->variable_names = variables;
    if (!entries || !variables)
        return false;
    for (size_t i = 0; i < program->entry_count; i++)
        entries[i] = (struct mr_name){.name = program->entries[i].name, .index = (uint32_t)i};
    for (size_t i = 0; i < program->symbol_count; i++)
        if (program->symbols[i].what == MR_SYMBOL_VARIABLE)
            variables[program->variable_count++] = (struct mr_name){
                .name = program->symbols[i].name, .index = (uint32_t)i, .hidden = !program->symbols[i].visible};
    qsort(entries, program->entry_count, sizeof *entries, compare);
    qsort(variables, program->variable_count, sizeof *variables, compare);
    return true;
}

/* The first of that name. */
static size_t find(const struct mr_name *names, size_t count, const char *name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(names[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strcmp(names[low].name, name) == 0 ? names[low].index : (size_t)-1;
}

size_t mr_program_find_entry(const struct mr_program *program, const char *name)
{
    return find(program->entry_names, program->entry_count, name);
}

size_t mr_program_entry_of(const struct mr_program *program, uint64_t address)
{
    uint64_t symbol = address - MR_FUNCTION_TAG;
    if (symbol >= program->symbol_count || program->symbols[symbol].what != MR_SYMBOL_FUNCTION)
        return (size_t)-1;
    return mr_program_find_entry(program, program->symbols[symbol].name);
}

size_t mr_program_find_variable(const struct mr_program *program, const char *name)
{
    return find(program->variable_names, program->variable_count, name);
}
