/* SPDX-License-Identifier: Apache-2.0 */
/* What shapes have in common, and what is left of them (shape.h). */
#include "libs/observer/shape.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

struct obs_shape obs_shape_run(uintptr_t first, uintptr_t end)
{
    return (struct obs_shape){.first = first, .end = end, .width = end - first, .rows = 1};
}

struct obs_shape obs_shape_rows(uintptr_t first, size_t width, size_t rows, size_t pitch)
{
    if (rows <= 1 || pitch <= width)
        return obs_shape_run(first, first + (rows - 1) * pitch + width);
    return (struct obs_shape){
        .first = first, .end = first + (rows - 1) * pitch + width, .width = width, .rows = rows, .pitch = pitch};
}

bool obs_shape_scattered(const struct obs_run *runs, size_t count, struct obs_shape *out)
{
    uintptr_t first = runs[0].first;
    if (count == 1) {
        *out = obs_shape_run(first, runs[0].end);
        return true;
    }
    struct obs_runs *copy = malloc(sizeof *copy + count * sizeof *copy->run);
    if (!copy)
        return false;
    copy->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        copy->run[i].first = (uint32_t)(runs[i].first - first);
        copy->run[i].end = (uint32_t)(runs[i].end - first);
    }
    *out = (struct obs_shape){.first = first, .end = runs[count - 1].end, .runs = copy};
    return true;
}

bool obs_shape_copy(const struct obs_shape *shape, struct obs_shape *out)
{
    *out = *shape;
    if (!shape->runs)
        return true;
    out->runs = malloc(obs_shape_memory(shape));
    if (out->runs)
        memcpy(out->runs, shape->runs, obs_shape_memory(shape));
    return out->runs != NULL;
}

void obs_shape_free(struct obs_shape *shape)
{
    free(shape->runs);
    shape->runs = NULL;
}

size_t obs_shape_memory(const struct obs_shape *shape)
{
    return shape->runs ? sizeof *shape->runs + shape->runs->count * sizeof *shape->runs->run : 0;
}

/* The index of the first row that ends behind `at`; `rows` if there is none. */
static size_t row_behind(const struct obs_shape *shape, uintptr_t at)
{
    if (at < shape->first + shape->width)
        return 0;
    if (shape->rows == 1)
        return 1;
    size_t row = (at - shape->first - shape->width) / shape->pitch + 1;
    return row < shape->rows ? row : shape->rows;
}

static bool scattered_run_at(const struct obs_shape *shape, uintptr_t at, struct obs_run *out)
{
    const struct obs_runs *runs = shape->runs;
    uint32_t low = 0, high = runs->count;
    while (at > shape->first && low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (runs->run[middle].end > at - shape->first)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == runs->count)
        return false;
    *out = (struct obs_run){shape->first + runs->run[low].first, shape->first + runs->run[low].end};
    return true;
}

bool obs_shape_run_at(const struct obs_shape *shape, uintptr_t at, struct obs_run *out)
{
    if (at >= shape->end)
        return false;
    if (shape->runs)
        return scattered_run_at(shape, at, out);
    uintptr_t first = shape->first + row_behind(shape, at) * shape->pitch;
    *out = (struct obs_run){first, first + shape->width};
    return true;
}

/* The smallest x with low <= step * x mod modulus <= high, where 0 <= low <= high < modulus; UINT64_MAX: there is none.
 * It is the way of Euclid: if no multiple of `step` lies in the range itself, the question is how often `modulus` must
 * be added until one does, and that is the same question with `step` in the place of `modulus`. */
static uint64_t first_within(uint64_t step, uint64_t modulus, uint64_t low, uint64_t high)
{
    if (low == 0)
        return 0;
    if (step == 0)
        return UINT64_MAX;
    uint64_t times = (low + step - 1) / step;
    if ((wide)times * step <= high)
        return times;
    uint64_t turns = first_within(modulus % step, step, step - high % step, step - low % step);
    if (turns == UINT64_MAX)
        return UINT64_MAX;
    return (uint64_t)(((wide)modulus * turns + low + step - 1) / step);
}

/* Two shapes of rows: the first row of `one` that meets a row of `other`. The row's begin, less `other`'s first byte,
 * modulo `other`'s pitch, tells how the row lies to the other's rows. */
static bool rows_meet(const struct obs_shape *one, const struct obs_shape *other, size_t *row)
{
    size_t from = row_behind(one, other->first);
    if (from == one->rows)
        return false;
    uintptr_t first = one->first + from * one->pitch;
    if (first >= other->end)
        return false;
    uint64_t pitch = other->pitch, slack = one->width + other->width - 2; /* begins that meet: slack + 1 of them */
    *row = from;
    if (slack + 1 >= pitch)
        return true;
    /* How far the row begins behind the earliest begin that meets; it meets if that is at most `slack`. */
    uint64_t offset =
        first >= other->first ? (first - other->first) % pitch : (pitch - (other->first - first) % pitch) % pitch;
    offset = (offset + one->width - 1) % pitch;
    if (offset <= slack)
        return true;
    uint64_t more = first_within(one->pitch % pitch, pitch, pitch - offset, pitch - offset + slack);
    if (more == UINT64_MAX || more >= one->rows - from)
        return false;
    *row = from + more;
    return one->first + *row * one->pitch < other->end;
}

bool obs_shape_meet(const struct obs_shape *one, const struct obs_shape *other, struct obs_run *out)
{
    uintptr_t at = one->first > other->first ? one->first : other->first;
    uintptr_t end = one->end < other->end ? one->end : other->end;
    struct obs_run a, b;
    size_t row;
    if (at >= end)
        return false;
    if (one->rows > 1 && other->rows > 1) {
        if (!rows_meet(one, other, &row))
            return false;
        if (at < one->first + row * one->pitch)
            at = one->first + row * one->pitch;
    }
    while (at < end && obs_shape_run_at(one, at, &a) && obs_shape_run_at(other, a.first > at ? a.first : at, &b)) {
        uintptr_t first = a.first > b.first ? a.first : b.first, last = a.end < b.end ? a.end : b.end;
        if (first < last) {
            *out = (struct obs_run){first, last};
            return true;
        }
        at = first;
    }
    return false;
}

bool obs_shape_covers(const struct obs_shape *shape, const struct obs_shape *other)
{
    struct obs_run run, mine;
    if (other->first < shape->first || other->end > shape->end)
        return false;
    if (shape->rows == 1)
        return true;
    if (shape->rows > 1 && other->rows > 1 && other->pitch % shape->pitch == 0)
        return (other->first - shape->first) % shape->pitch + other->width <= shape->width;
    for (uintptr_t at = other->first; obs_shape_run_at(other, at, &run); at = run.end)
        if (!obs_shape_run_at(shape, run.first, &mine) || mine.first > run.first || mine.end < run.end)
            return false;
    return true;
}

static int subtract_from_run(const struct obs_shape *from, const struct obs_shape *minus, struct obs_shape *out)
{
    int count = 0;
    if (minus->rows != 1)
        return -1;
    if (from->first < minus->first)
        out[count++] = obs_shape_run(from->first, minus->first);
    if (from->end > minus->end)
        out[count++] = obs_shape_run(minus->end, from->end);
    return count;
}

/* Rows less a run: the rows that are not quite in it, before and behind. */
static int subtract_run_from_rows(const struct obs_shape *from, const struct obs_shape *minus, struct obs_shape *out)
{
    size_t before = minus->first > from->first ? (minus->first - from->first - 1) / from->pitch + 1 : 0;
    size_t behind = row_behind(from, minus->end);
    int count = 0;
    if (before > from->rows)
        before = from->rows;
    if (before >= behind)
        return -1;
    if (before > 0)
        out[count++] = obs_shape_rows(from->first, from->width, before, from->pitch);
    if (behind < from->rows)
        out[count++] =
            obs_shape_rows(from->first + behind * from->pitch, from->width, from->rows - behind, from->pitch);
    return count;
}

/* Rows less rows of the same pitch: a rectangle less a rectangle. */
static int subtract_rows_from_rows(const struct obs_shape *from, const struct obs_shape *minus, struct obs_shape *out)
{
    ptrdiff_t pitch = (ptrdiff_t)from->pitch, apart = (ptrdiff_t)(minus->first - from->first);
    ptrdiff_t row = apart / pitch, column = apart % pitch;
    int count = 0;
    if (column < 0) {
        column += pitch;
        row--;
    }
    ptrdiff_t left = column, right = column + (ptrdiff_t)minus->width;
    if (right > pitch && left >= (ptrdiff_t)from->width) { /* it begins in the gap, and its end is in the next row */
        left = 0;
        right -= pitch;
        row++;
    }
    if (right > (ptrdiff_t)from->width)
        right = (ptrdiff_t)from->width;
    ptrdiff_t top = row > 0 ? row : 0, bottom = row + (ptrdiff_t)minus->rows, rows = (ptrdiff_t)from->rows;
    if (bottom > rows)
        bottom = rows;
    if (left >= right || top >= bottom)
        return -1;
    uintptr_t middle = from->first + (size_t)top * from->pitch;
    if (top > 0)
        out[count++] = obs_shape_rows(from->first, from->width, (size_t)top, from->pitch);
    if (left > 0)
        out[count++] = obs_shape_rows(middle, (size_t)left, (size_t)(bottom - top), from->pitch);
    if (right < (ptrdiff_t)from->width)
        out[count++] =
            obs_shape_rows(middle + (size_t)right, from->width - (size_t)right, (size_t)(bottom - top), from->pitch);
    if (bottom < rows)
        out[count++] = obs_shape_rows(from->first + (size_t)bottom * from->pitch, from->width, (size_t)(rows - bottom),
                                      from->pitch);
    return count;
}

/* Adds first up to end - 1 to runs that grow; false: memory is short. */
static bool append(struct obs_run **runs, size_t *count, size_t *room, uintptr_t first, uintptr_t end)
{
    if (first >= end)
        return true;
    if (*count == *room) {
        size_t more = *room ? *room * 2 : 64;
        struct obs_run *larger = realloc(*runs, more * sizeof *larger);
        if (!larger)
            return false;
        *runs = larger;
        *room = more;
    }
    (*runs)[(*count)++] = (struct obs_run){first, end};
    return true;
}

static int subtract_from_scattered(const struct obs_shape *from, const struct obs_shape *minus, struct obs_shape *out)
{
    struct obs_run *left = NULL, run, gone;
    size_t count = 0, room = 0;
    bool good = true, changed = false;
    for (uintptr_t at = from->first; good && obs_shape_run_at(from, at, &run); at = run.end) {
        uintptr_t first = run.first;
        while (good && first < run.end && obs_shape_run_at(minus, first, &gone) && gone.first < run.end) {
            good = append(&left, &count, &room, first, gone.first);
            changed = true;
            first = gone.end;
        }
        good = good && append(&left, &count, &room, first, run.end);
    }
    int pieces = !good || !changed ? -1 : count > 0 ? 1 : 0;
    if (pieces == 1 && !obs_shape_scattered(left, count, out))
        pieces = -1;
    free(left);
    return pieces;
}

int obs_shape_subtract(const struct obs_shape *from, const struct obs_shape *minus, struct obs_shape *out)
{
    if (from->first >= minus->end || minus->first >= from->end)
        return -1;
    if (obs_shape_covers(minus, from))
        return 0;
    if (from->runs)
        return subtract_from_scattered(from, minus, out);
    if (from->rows == 1)
        return subtract_from_run(from, minus, out);
    if (minus->rows == 1)
        return subtract_run_from_rows(from, minus, out);
    return minus->rows > 1 && minus->pitch == from->pitch ? subtract_rows_from_rows(from, minus, out) : -1;
}

bool obs_shape_grow(struct obs_shape *shape, const struct obs_shape *next)
{
    if (shape->runs || next->runs)
        return false;
    if (shape->rows == 1 && next->rows == 1 && next->first <= shape->end && next->end >= shape->first) {
        *shape = obs_shape_run(next->first < shape->first ? next->first : shape->first,
                               next->end > shape->end ? next->end : shape->end);
        return true;
    }
    size_t pitch = shape->rows > 1 ? shape->pitch : next->pitch;
    if (pitch == 0 || (shape->rows > 1 && next->rows > 1 && shape->pitch != next->pitch))
        return false;
    if (shape->rows == next->rows && next->first == shape->first + shape->width &&
        shape->width + next->width <= pitch) { /* to the right */
        *shape = obs_shape_rows(shape->first, shape->width + next->width, shape->rows, pitch);
        return true;
    }
    if (shape->width == next->width && next->first == shape->first + shape->rows * pitch) { /* below */
        *shape = obs_shape_rows(shape->first, shape->width, shape->rows + next->rows, pitch);
        return true;
    }
    return false;
}

int obs_shape_clip(const struct mr_access *box, uintptr_t first, uintptr_t end, struct obs_shape out[3])
{
    int count = 0;
    if (box->width == 0 || box->rows == 0)
        return 0;
    struct obs_shape whole = obs_shape_rows(box->first, box->width, box->rows, box->rows > 1 ? box->pitch : 0);
    if (whole.first >= end || whole.end <= first)
        return 0;
    if (whole.first >= first && whole.end <= end) {
        out[0] = whole;
        return 1;
    }
    if (whole.rows == 1) {
        out[0] = obs_shape_run(whole.first > first ? whole.first : first, whole.end < end ? whole.end : end);
        return 1;
    }
    /* Rows that are cut stand alone. */
    size_t from = row_behind(&whole, first), to = row_behind(&whole, end - 1);
    if (from == whole.rows)
        return 0;
    uintptr_t head = whole.first + from * whole.pitch;
    if (head < first) {
        out[count++] = obs_shape_run(first, head + whole.width < end ? head + whole.width : end);
        from++;
    }
    bool cut = to < whole.rows && to >= from && whole.first + to * whole.pitch < end;
    if (to > from)
        out[count++] = obs_shape_rows(whole.first + from * whole.pitch, whole.width, to - from, whole.pitch);
    if (cut) {
        uintptr_t tail = whole.first + to * whole.pitch;
        out[count++] = obs_shape_run(tail, tail + whole.width < end ? tail + whole.width : end);
    }
    return count;
}
