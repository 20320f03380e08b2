/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling of planes. A plane is brought into doubles without holes; where several elements of a window are largest, the
 * first one counts. */
#include "libs/cudnn/pool.h"

#include <math.h>
#include <string.h>

#define TOGETHER ((int64_t)1 << 14) /* elements of a part, at least */

static int64_t plane_size(const struct mr_tensor *t)
{
    int64_t size = 1;
    for (int i = 2; i < t->n; i++)
        size *= t->dim[i];
    return size;
}

static int64_t planes_of_part(const struct mr_pool *p)
{
    int64_t size = plane_size(&p->x), planes = TOGETHER / (size ? size : 1);
    return planes < 1 ? 1 : planes;
}

uint64_t mr_pool_parts(const struct mr_pool *p)
{
    return mr_parts_of((uint64_t)(p->x.dim[0] * p->x.dim[1]), (uint64_t)planes_of_part(p));
}

/* The plane as a tensor of its own, whose rows are gone through; where it begins. */
static struct mr_tensor plane_of(const struct mr_tensor *t, int64_t plane, int64_t *at)
{
    struct mr_tensor alone = {.type = t->type, .n = t->n - 2};
    *at = plane / t->dim[1] * t->stride[0] + plane % t->dim[1] * t->stride[1];
    for (int i = 2; i < t->n; i++) {
        alone.dim[i - 2] = t->dim[i];
        alone.stride[i - 2] = t->stride[i];
    }
    mr_tensors_join((struct mr_tensor *[]){&alone}, 1);
    return alone;
}

static void load_plane(const struct mr_tensor *t, const void *base, int64_t plane, double *to)
{
    int64_t at;
    struct mr_tensor alone = plane_of(t, plane, &at);
    struct mr_rows rows = mr_rows_of(&alone, alone.n - 1);
    for (int64_t row = 0; row < rows.count; row++, to += rows.length)
        mr_line_load(t->type, base, at + mr_rows_at(&rows, &alone, row), mr_rows_stride(&rows, &alone), rows.length,
                     true, to);
}

static void store_plane(const struct mr_tensor *t, void *base, int64_t plane, double alpha, double beta, double *from,
                        double *room)
{
    int64_t at, size = plane_size(t);
    struct mr_tensor alone = plane_of(t, plane, &at);
    struct mr_rows rows = mr_rows_of(&alone, alone.n - 1);
    if (beta != 0)
        load_plane(t, base, plane, room);
    for (int64_t i = 0; i < size; i++)
        from[i] = alpha * from[i] + (beta != 0 ? beta * room[i] : 0);
    for (int64_t row = 0; row < rows.count; row++, from += rows.length)
        mr_line_store(t->type, base, at + mr_rows_at(&rows, &alone, row), mr_rows_stride(&rows, &alone), rows.length,
                      true, from);
}

/* Dimensions of the image, the window and the outputs, as the last ones of three. */
struct shape {
    int64_t image[3], window[3], before[3], after[3], stride[3], outputs[3];
    bool pads_count;
    /* Of the windows of a line of outputs, along it; and of element k of a window's row, the outputs that have it
     * inside of the image. In the caller's room. */
    int64_t *first, *end, *counted, *with_first, *with_end;
};

/* Of the window of output `o` along dimension `i`: its first element inside of the image, the one behind its last, and
 * how many elements it has, with the padding if that counts. */
static void place_window(const struct shape *s, int i, int64_t o, int64_t *first, int64_t *last, int64_t *counted)
{
    int64_t begin = o * s->stride[i] - s->before[i], end = begin + s->window[i], size = s->image[i];
    int64_t limit = size + s->after[i];
    *first = begin < 0 ? 0 : begin;
    *last = end > size ? size : end;
    if (s->pads_count)
        *counted = (end > limit ? limit : end) - begin;
    else
        *counted = *last > *first ? *last - *first : 0;
}

/* The outputs [*first, *end) whose element `k` of a row of the window lies in the image: at o * stride + k - before. */
static void outputs_with(const struct shape *s, int64_t k, int64_t *first, int64_t *end)
{
    int64_t shift = k - s->before[2], stride = s->stride[2], size = s->image[2] - shift;
    *first = shift < 0 ? (stride - 1 - shift) / stride : 0;
    *end = size > 0 ? (size + stride - 1) / stride : 0;
    if (*end > s->outputs[2])
        *end = s->outputs[2];
}

static size_t places_of(const struct mr_pool *p)
{
    return (size_t)(3 * p->y.dim[1 + p->space] + 2 * p->window[p->space - 1]);
}

/* `places`: room for as many as places_of() says. */
static struct shape shape_of(const struct mr_pool *p, int64_t *places)
{
    struct shape s = {.image = {1, 1, 1},
                      .window = {1, 1, 1},
                      .stride = {1, 1, 1},
                      .outputs = {1, 1, 1},
                      .pads_count = p->mode == MR_POOL_AVERAGE_ALL};
    for (int i = 0; i < p->space; i++) {
        int to = 3 - p->space + i;
        s.image[to] = p->x.dim[2 + i];
        s.outputs[to] = p->y.dim[2 + i];
        s.window[to] = p->window[i];
        s.before[to] = p->before[i];
        s.after[to] = p->after[i];
        s.stride[to] = p->stride[i];
    }
    s.first = places;
    s.end = places + s.outputs[2];
    s.counted = places + 2 * s.outputs[2];
    for (int64_t o = 0; o < s.outputs[2]; o++)
        place_window(&s, 2, o, &s.first[o], &s.end[o], &s.counted[o]);
    s.with_first = places + 3 * s.outputs[2];
    s.with_end = s.with_first + s.window[2];
    for (int64_t k = 0; k < s.window[2]; k++)
        outputs_with(&s, k, &s.with_first[k], &s.with_end[k]);
    return s;
}

/* A line of outputs, all of whose windows have these rows of the image. */
struct line {
    int64_t first[2], end[2], counted;
};

static struct line line_of(const struct shape *s, int64_t number)
{
    struct line line;
    int64_t counted[2];
    for (int i = 0; i < 2; i++)
        place_window(s, i, i == 0 ? number / s->outputs[1] : number % s->outputs[1], &line.first[i], &line.end[i],
                     &counted[i]);
    line.counted = counted[0] * counted[1];
    return line;
}

/* Where row (i, j) of the image begins. */
static int64_t row_of(const struct shape *s, int64_t i, int64_t j)
{
    return (i * s->image[1] + j) * s->image[2];
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Elements `x[at + o * stride]` that are larger than what is the largest so far, a NaN being larger than any number,
 * and their places. By masks in place of branches: which element is the largest is anybody's guess. */
static inline __attribute__((always_inline)) void take_larger(const double *restrict x, int64_t at, int64_t stride,
                                                              int64_t first, int64_t end, double *restrict most,
                                                              int64_t *restrict place)
{
    for (int64_t o = first; o < end; o++) {
        double value = x[at + o * stride], old = most[o];
        uint64_t larger = -(uint64_t)(!(value <= old) & (old == old));
        uint64_t bits = bits_of(old) ^ ((bits_of(old) ^ bits_of(value)) & larger);
        memcpy(&most[o], &bits, sizeof bits);
        place[o] ^= (place[o] ^ (at + o * stride)) & (int64_t)larger;
    }
}

/* The largest elements of the windows of a line, and where they are; -INFINITY and -1 for an empty window. */
static void largest(const struct shape *s, const struct line *line, const double *x, double *most, int64_t *place)
{
    bool empty = line->end[0] <= line->first[0] || line->end[1] <= line->first[1];
    int64_t begin = row_of(s, line->first[0], line->first[1]);
    for (int64_t o = 0; o < s->outputs[2]; o++) {
        most[o] = -INFINITY;
        place[o] = !empty && s->end[o] > s->first[o] ? begin + s->first[o] : -1;
    }
    for (int64_t i = line->first[0]; i < line->end[0]; i++)
        for (int64_t j = line->first[1]; j < line->end[1]; j++)
            for (int64_t k = 0; k < s->window[2]; k++) {
                int64_t at = row_of(s, i, j) + k - s->before[2], first = s->with_first[k], end = s->with_end[k];
                if (s->stride[2] == 2)
                    take_larger(x, at, 2, first, end, most, place);
                else if (s->stride[2] == 1)
                    take_larger(x, at, 1, first, end, most, place);
                else
                    take_larger(x, at, s->stride[2], first, end, most, place);
            }
}

static void averages(const struct shape *s, const struct line *line, const double *x, double *sum)
{
    memset(sum, 0, (size_t)s->outputs[2] * sizeof *sum);
    for (int64_t i = line->first[0]; i < line->end[0]; i++)
        for (int64_t j = line->first[1]; j < line->end[1]; j++)
            for (int64_t k = 0; k < s->window[2]; k++) {
                int64_t at = row_of(s, i, j) + k - s->before[2];
                for (int64_t o = s->with_first[k]; o < s->with_end[k]; o++)
                    sum[o] += x[at + o * s->stride[2]];
            }
    for (int64_t o = 0; o < s->outputs[2]; o++) {
        int64_t count = line->counted * s->counted[o];
        sum[o] = count ? sum[o] / (double)count : 0;
    }
}

/* Adds the share of each output of the line to all elements of its window. */
static void spread(const struct shape *s, const struct line *line, const double *dy, double *to)
{
    for (int64_t o = 0; o < s->outputs[2]; o++) {
        int64_t count = line->counted * s->counted[o];
        double share = count ? dy[o] / (double)count : 0;
        for (int64_t i = line->first[0]; count && i < line->end[0]; i++)
            for (int64_t j = line->first[1]; j < line->end[1]; j++)
                for (int64_t at = row_of(s, i, j) + s->first[o]; at < row_of(s, i, j) + s->end[o]; at++)
                    to[at] += share;
    }
}

/* What one part of the work needs. */
struct room {
    double *x, *y, *dx, *other, *most; /* a plane each; `most`: a line of outputs */
    int64_t *place; /* a line of outputs */
};

static void forward(const struct mr_pool *p, const struct shape *s, int64_t plane, const struct room *r)
{
    load_plane(&p->x, p->x_at, plane, r->x);
    for (int64_t number = 0; number < s->outputs[0] * s->outputs[1]; number++) {
        struct line line = line_of(s, number);
        double *y = r->y + number * s->outputs[2];
        if (p->mode == MR_POOL_MAX)
            largest(s, &line, r->x, y, r->place);
        else
            averages(s, &line, r->x, y);
    }
    store_plane(&p->y, p->y_at, plane, p->alpha, p->beta, r->y, r->other);
}

static void backward(const struct mr_pool *p, const struct shape *s, int64_t plane, const struct room *r)
{
    if (p->mode == MR_POOL_MAX)
        load_plane(&p->x, p->x_at, plane, r->x);
    load_plane(&p->y, p->dy_at, plane, r->y);
    memset(r->dx, 0, (size_t)plane_size(&p->dx) * sizeof *r->dx);
    for (int64_t number = 0; number < s->outputs[0] * s->outputs[1]; number++) {
        struct line line = line_of(s, number);
        const double *dy = r->y + number * s->outputs[2];
        if (p->mode != MR_POOL_MAX) {
            spread(s, &line, dy, r->dx);
            continue;
        }
        largest(s, &line, r->x, r->most, r->place);
        for (int64_t o = 0; o < s->outputs[2]; o++)
            if (r->place[o] >= 0)
                r->dx[r->place[o]] += dy[o];
    }
    store_plane(&p->dx, p->dx_at, plane, p->alpha, p->beta, r->dx, r->other);
}

void mr_pool_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_pool *p = record;
    int64_t large = plane_size(&p->x) > plane_size(&p->y) ? plane_size(&p->x) : plane_size(&p->y);
    int64_t each = planes_of_part(p), planes = p->x.dim[0] * p->x.dim[1], width = p->y.dim[1 + p->space];
    double *room = mr_math_scratch(0, (size_t)(large * 4 + width) * sizeof *room);
    int64_t *places = mr_math_scratch(1, (places_of(p) + (size_t)width) * sizeof *places);
    if (!room || !places) {
        mr_math_short_of_memory(p->function);
        return;
    }
    struct shape s = shape_of(p, places);
    struct room r = {room, room + large, room + 2 * large, room + 3 * large, room + 4 * large, places + places_of(p)};
    int64_t last = (int64_t)end * each < planes ? (int64_t)end * each : planes;
    for (int64_t plane = (int64_t)first * each; plane < last; plane++)
        if (p->dx_at)
            backward(p, &s, plane, &r);
        else
            forward(p, &s, plane, &r);
}
