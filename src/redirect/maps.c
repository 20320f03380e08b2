/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /proc/self/maps. */
#include "redirect/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Lowest address that a hole may have: the kernel refuses those below. */
#define LOWEST ((uintptr_t)1 << 20)

bool mr_mappings_read(struct mr_mappings *out)
{
    *out = (struct mr_mappings){ 0 };
    FILE *file = fopen("/proc/self/maps", "re");
    if (!file)
        return false;
    char *line = NULL;
    size_t room = 0, taken = 0;
    bool done = true;
    while (done && getline(&line, &room, file) > 0) {
        struct mr_mapping one = { 0 };
        char flags[5];
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64, &one.begin, &one.end, flags, &one.offset) != 4)
            continue;
        one.protection = (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) | (flags[2] == 'x' ? PROT_EXEC : 0);
        one.is_private = flags[3] == 'p';
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
