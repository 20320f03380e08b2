/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /proc/self/maps. */
#include "libs/redirect/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Lowest address that a hole may have: the kernel refuses those below. */
#define LOWEST ((uintptr_t)1 << 20)

/* A line reads `begin-end rwxp offset device inode path`, the numbers in hexadecimal. */
static bool read_line(const char *line, struct mr_mapping *out)
{
    char *rest;
    out->begin = strtoul(line, &rest, 16);
    if (*rest != '-')
        return false;
    out->end = strtoul(rest + 1, &rest, 16);
    if (*rest != ' ' || strnlen(rest, 6) < 6)
        return false;
    out->protection =
        (rest[1] == 'r' ? PROT_READ : 0) | (rest[2] == 'w' ? PROT_WRITE : 0) | (rest[3] == 'x' ? PROT_EXEC : 0);
    out->is_private = rest[4] == 'p';
    out->offset = strtoul(rest + 5, &rest, 16);
    return *rest == ' ';
}

bool mr_mappings_read(struct mr_mappings *out)
{
    *out = (struct mr_mappings){0};
    FILE *file = fopen("/proc/self/maps", "re");
    if (!file)
        return false;
    char *line = NULL;
    size_t room = 0, taken = 0;
    bool done = true;
    while (done && getline(&line, &room, file) > 0) {
        struct mr_mapping one = {0};
        if (!read_line(line, &one))
            continue;
        if (out->count == taken) {
            taken = taken ? 2 * taken : 256;
            struct mr_mapping *longer = realloc(out->list, taken * sizeof *longer);
            done = longer != NULL;
            out->list = longer ? longer : out->list;
        }
        if (done)
            out->list[out->count++] = one;
    }
    free(line);
    fclose(file);
    return done && out->count > 0;
}

void mr_mappings_free(struct mr_mappings *mappings)
{
    free(mappings->list);
}

const struct mr_mapping *mr_mapping_at(const struct mr_mappings *mappings, uintptr_t address)
{
    for (size_t i = 0; i < mappings->count; i++)
        if (address >= mappings->list[i].begin && address < mappings->list[i].end)
            return &mappings->list[i];
    return NULL;
}

uintptr_t mr_mappings_hole(const struct mr_mappings *mappings, uintptr_t address, size_t size, size_t gap, size_t reach)
{
    uintptr_t below = 0, above = 0;
    for (size_t i = 0; i <= mappings->count; i++) {
        uintptr_t from = i ? mappings->list[i - 1].end + gap : LOWEST;
        uintptr_t to = i < mappings->count ? mappings->list[i].begin : from + size + gap;
        if (to < gap || to - gap < from || to - gap - from < size)
            continue;
        if (to <= address)
            below = to - gap - size; /* the last one found is the nearest */
        else if (from >= address && !above)
            above = from;
    }
    if (below && address - below <= reach)
        return below;
    return above && above + size - address <= reach ? above : 0;
}
