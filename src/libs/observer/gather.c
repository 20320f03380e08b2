/* SPDX-License-Identifier: Apache-2.0 */
/* Three passes: join neighbours, find even steps, put the rest together (gather.h). */
#include "libs/observer/gather.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    BACK = 8,         /* how many shapes back a neighbour is looked for */
    STEPS = 8,        /* so many evenly spaced runs become rows */
    ALONE = 4,        /* so many runs may stay by themselves */
    SCATTERED = 1 << 15, /* runs in one scattered shape, at most */
};

static size_t join_neighbours(struct obs_shape *shapes, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        bool joined = false;
        for (size_t back = 1; back <= BACK && back <= left && !joined; back++)
            joined =
                obs_shape_covers(&shapes[left - back], &shapes[i]) || obs_shape_grow(&shapes[left - back], &shapes[i]);
        if (!joined) {
            shapes[left++] = shapes[i];
            continue;
        }
        /* Joined rows may be full width now, and so join what stands before them. */
        while (left > 1 && obs_shape_grow(&shapes[left - 2], &shapes[left - 1]))
            left--;
    }
    return left;
}

/* How many of the runs from `i` on have one width and lie evenly. */
static size_t even_steps(const struct obs_shape *shapes, size_t count, size_t i)
{
    size_t next = i + 1;
    while (next < count && shapes[next].rows == 1 && shapes[next].width == shapes[i].width &&
           shapes[next].first - shapes[next - 1].first == shapes[i + 1].first - shapes[i].first)
        next++;
    return next - i;
}

static size_t find_rows(struct obs_shape *shapes, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count;) {
        size_t steps = shapes[i].rows == 1 ? even_steps(shapes, count, i) : 1;
        if (steps < STEPS) {
            shapes[left++] = shapes[i++];
            continue;
        }
        shapes[left++] = obs_shape_rows(shapes[i].first, shapes[i].width, steps, shapes[i + 1].first - shapes[i].first);
        i += steps;
    }
    return left;
}

static size_t put_together(struct obs_shape *shapes, size_t count)
{
    size_t runs = 0, left = 0, taken = 0;
    for (size_t i = 0; i < count; i++)
        runs += shapes[i].rows == 1;
    if (runs <= ALONE)
        return count;
    struct obs_run *row = malloc((runs < SCATTERED ? runs : SCATTERED) * sizeof *row);
    if (!row)
        return count;
    for (size_t i = 0; i <= count; i++) {
        bool is_run = i < count && shapes[i].rows == 1;
        bool full = taken == SCATTERED || (taken > 0 && is_run && shapes[i].end - row[0].first > UINT32_MAX);
        if (taken > 0 && (full || i == count)) {
            bool good = obs_shape_scattered(row, taken, &shapes[left]);
            left += good;
            for (size_t n = 0; n < taken && !good; n++)
                shapes[left++] = obs_shape_run(row[n].first, row[n].end);
            taken = 0;
        }
        if (i == count)
            break;
        if (!is_run) {
            shapes[left++] = shapes[i];
        } else if (taken > 0 && shapes[i].first <= row[taken - 1].end) {
            if (shapes[i].end > row[taken - 1].end)
                row[taken - 1].end = shapes[i].end;
        } else {
            row[taken++] = (struct obs_run){shapes[i].first, shapes[i].end};
        }
    }
    free(row);
    return left;
}

size_t obs_gather(struct obs_shape *shapes, size_t count)
{
    if (count < 2)
        return count;
    count = join_neighbours(shapes, count);
    count = find_rows(shapes, count);
    return put_together(shapes, count);
}
