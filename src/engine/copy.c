/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of linear, two- and three-dimensional boxes.
 *
 * A box whose rows follow each other without a gap on both sides is one long row, and a box whose slices do so is one
 * slice, so most copies end as a single run of bytes (bulk.c). */
#include "engine/transfer.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine/bulk.h"

/* True if a walk from the first row to the last would overwrite source rows before they are read. */
static bool must_walk_back(const struct mr_copy *copy)
{
    uintptr_t to = (uintptr_t)copy->destination, from = (uintptr_t)copy->source;
    if (to <= from || !copy->width || !copy->height || !copy->depth)
        return false;
    uintptr_t last =
        from + (copy->depth - 1) * copy->source_slice + (copy->height - 1) * copy->source_pitch + copy->width;
    return to < last;
}

void mr_copy_execute(const struct mr_copy *copy)
{
    size_t width = copy->width, height = copy->height, depth = copy->depth;
    if (height > 1 && copy->destination_pitch == width && copy->source_pitch == width) {
        width *= height;
        height = 1;
    }
    if (height == 1 && depth > 1 && copy->destination_slice == width && copy->source_slice == width) {
        width *= depth;
        depth = 1;
    }
    if (height == 1 && depth == 1) {
        mr_bulk_copy(copy->destination, copy->source, width, false);
        return;
    }
    bool back = must_walk_back(copy);
    for (size_t i = 0; i < depth; i++) {
        size_t z = back ? depth - 1 - i : i;
        char *to = (char *)copy->destination + z * copy->destination_slice;
        const char *from = (const char *)copy->source + z * copy->source_slice;
        for (size_t j = 0; j < height; j++) {
            size_t y = back ? height - 1 - j : j;
            memmove(to + y * copy->destination_pitch, from + y * copy->source_pitch, width);
        }
    }
}
