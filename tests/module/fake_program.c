/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for the compile layer's program functions. */
#include "fake_program.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int fake_programs_live;

struct mr_program {
    _Atomic int references;
};

static const uint32_t seven = 7;
static const unsigned char blank[16];
static const struct mr_symbol_relocation relocations[] = {
    {.offset = 0, .width = 8, .symbol = FAKE_COUNTER, .addend = 2},
    {.offset = 8, .width = 8, .symbol = FAKE_FUNCTION, .addend = 0},
};
static const struct mr_symbol symbols[FAKE_SYMBOLS] = {
    [FAKE_COUNTER] = {.name = "counter",
                      .what = MR_SYMBOL_VARIABLE,
                      .size = 4,
                      .alignment = 4,
                      .initial = &seven,
                      .initial_size = 4,
                      .visible = true},
    [FAKE_POINTERS] = {.name = "pointers",
                       .what = MR_SYMBOL_VARIABLE,
                       .size = 16,
                       .alignment = 8,
                       .initial = blank,
                       .initial_size = 16,
                       .visible = true,
                       .relocation_count = 2,
                       .relocations = relocations},
    [FAKE_HIDDEN] = {.name = "hidden", .what = MR_SYMBOL_VARIABLE, .size = 1000, .alignment = 4},
    [FAKE_FUNCTION] = {.name = "helper", .what = MR_SYMBOL_FUNCTION},
};
static const struct mr_param params[] = {{0, 8}, {8, 4}};
static const struct mr_entry entries[] = {
    {.name = "first",
     .param_count = 2,
     .params = params,
     .param_bytes = 12,
     .max_threads = 1024,
     .static_shared = 1024},
    {.name = "second", .max_threads = 64},
};

struct mr_program *fake_program_new(void)
{
    struct mr_program *program = calloc(1, sizeof *program);
    if (!program)
        abort();
    program->references = 1;
    fake_programs_live++;
    return program;
}

void mr_program_hold(struct mr_program *program)
{
    program->references++;
}

void mr_program_drop(struct mr_program *program)
{
    if (--program->references == 0) {
        fake_programs_live--;
        free(program);
    }
}

size_t mr_program_symbol_count(const struct mr_program *program)
{
    (void)program;
    return FAKE_SYMBOLS;
}

const struct mr_symbol *mr_program_symbol(const struct mr_program *program, size_t index)
{
    (void)program;
    return &symbols[index];
}

size_t mr_program_entry_count(const struct mr_program *program)
{
    (void)program;
    return sizeof entries / sizeof *entries;
}

const struct mr_entry *mr_program_entry(const struct mr_program *program, size_t index)
{
    (void)program;
    return &entries[index];
}

size_t mr_program_find_entry(const struct mr_program *program, const char *name)
{
    (void)program;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0)
            return i;
    return (size_t)-1;
}

size_t mr_program_find_variable(const struct mr_program *program, const char *name)
{
    (void)program;
    for (size_t i = 0; i < FAKE_SYMBOLS; i++)
        if (symbols[i].what == MR_SYMBOL_VARIABLE && strcmp(symbols[i].name, name) == 0)
            return i;
    return (size_t)-1;
}
