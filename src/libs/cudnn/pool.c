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

/* The window of an output, as the last dimensions of three: along each, its first and last element inside of the image;
 * and how many elements there are, with the padding if that counts. The outputs are gone through in order, so that
 * nothing has to be divided. */
struct window {
    int64_t output[3], first[3], end[3], counted[3];
};

/* Finds the window along dimension `i` of the image. */
static void place_window(const struct mr_pool *p, struct window *w, int i)
{
    int to = 3 - p->space + i;
    int64_t begin = w->output[to] * p->stride[i] - p->before[i], end = begin + p->window[i], size = p->x.dim[2 + i];
    int64_t limit = size + p->after[i];
    w->first[to] = begin < 0 ? 0 : begin;
    w->end[to] = end > size ? size : end;
    if (p->mode == MR_POOL_AVERAGE_ALL)
        w->counted[to] = (end > limit ? limit : end) - begin;
    else
        w->counted[to] = w->end[to] > w->first[to] ? w->end[to] - w->first[to] : 0;
}

static struct window first_window(const struct mr_pool *p)
{
    struct window w = {.end = {1, 1, 1}, .counted = {1, 1, 1}};
    for (int i = 0; i < p->space; i++)
        place_window(p, &w, i);
    return w;
}

static void next_window(const struct mr_pool *p, struct window *w)
{
    for (int i = p->space - 1; i >= 0; i--) {
        int64_t *output = &w->output[3 - p->space + i];
        bool inside = ++*output < p->y.dim[2 + i];
        if (!inside)
            *output = 0;
        place_window(p, w, i);
        if (inside)
            break;
    }
}

static int64_t counted(const struct window *w)
{
    return w->counted[0] * w->counted[1] * w->counted[2];
}

/* Where row (i, j) of the image begins. */
static int64_t row_of(const struct mr_pool *p, int64_t i, int64_t j)
{
    int64_t width = p->x.dim[1 + p->space], height = p->space > 1 ? p->x.dim[p->space] : 1;
    return (i * height + j) * width;
}

/* The place of the largest element of the window, -1 if the window is empty. A NaN is larger than any number. */
static int64_t largest(const struct mr_pool *p, const struct window *w, const double *x)
{
    double most = -INFINITY;
    int64_t place = -1;
    for (int64_t i = w->first[0]; i < w->end[0]; i++)
        for (int64_t j = w->first[1]; j < w->end[1]; j++) {
            int64_t row = row_of(p, i, j);
            for (int64_t at = row + w->first[2]; at < row + w->end[2]; at++)
                if (place < 0 || x[at] > most || (x[at] != x[at] && most == most)) {
                    most = x[at];
                    place = at;
                }
        }
    return place;
}

static double sum_of(const struct mr_pool *p, const struct window *w, const double *x)
{
    double sum = 0;
    for (int64_t i = w->first[0]; i < w->end[0]; i++)
        for (int64_t j = w->first[1]; j < w->end[1]; j++) {
            int64_t row = row_of(p, i, j);
            for (int64_t at = row + w->first[2]; at < row + w->end[2]; at++)
                sum += x[at];
        }
    return sum;
}

/* Adds `share` to all elements of the window. */
static void spread(const struct mr_pool *p, const struct window *w, double *to, double share)
{
    for (int64_t i = w->first[0]; i < w->end[0]; i++)
        for (int64_t j = w->first[1]; j < w->end[1]; j++) {
            int64_t row = row_of(p, i, j);
            for (int64_t at = row + w->first[2]; at < row + w->end[2]; at++)
                to[at] += share;
        }
}

static void forward(const struct mr_pool *p, int64_t plane, double *x, double *y, double *room)
{
    int64_t outputs = plane_size(&p->y);
    struct window w = first_window(p);
    load_plane(&p->x, p->x_at, plane, x);
    for (int64_t o = 0; o < outputs; o++, next_window(p, &w)) {
        int64_t count = counted(&w), place = p->mode == MR_POOL_MAX ? largest(p, &w, x) : -1;
        if (p->mode == MR_POOL_MAX)
            y[o] = place < 0 ? -INFINITY : x[place];
        else
            y[o] = count ? sum_of(p, &w, x) / (double)count : 0;
    }
    store_plane(&p->y, p->y_at, plane, p->alpha, p->beta, y, room);
}

static void backward(const struct mr_pool *p, int64_t plane, double *x, double *dy, double *dx, double *room)
{
    int64_t outputs = plane_size(&p->y);
    struct window w = first_window(p);
    if (p->mode == MR_POOL_MAX)
        load_plane(&p->x, p->x_at, plane, x);
    load_plane(&p->y, p->dy_at, plane, dy);
    memset(dx, 0, (size_t)plane_size(&p->dx) * sizeof *dx);
    for (int64_t o = 0; o < outputs; o++, next_window(p, &w)) {
        int64_t count = counted(&w), place = p->mode == MR_POOL_MAX ? largest(p, &w, x) : -1;
        if (place >= 0)
            dx[place] += dy[o];
        else if (p->mode != MR_POOL_MAX && count)
            spread(p, &w, dx, dy[o] / (double)count);
    }
    store_plane(&p->dx, p->dx_at, plane, p->alpha, p->beta, dx, room);
}

void mr_pool_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_pool *p = record;
    int64_t large = plane_size(&p->x) > plane_size(&p->y) ? plane_size(&p->x) : plane_size(&p->y);
    int64_t each = planes_of_part(p), planes = p->x.dim[0] * p->x.dim[1];
    double *room = mr_math_scratch(0, (size_t)large * 4 * sizeof *room);
    if (!room) {
        mr_math_short_of_memory(p->function);
        return;
    }
    int64_t last = (int64_t)end * each < planes ? (int64_t)end * each : planes;
    for (int64_t plane = (int64_t)first * each; plane < last; plane++)
        if (p->dx_at)
            backward(p, plane, room, room + large, room + 2 * large, room + 3 * large);
        else
            forward(p, plane, room, room + large, room + 3 * large);
}
