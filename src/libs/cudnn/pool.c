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

/* The window of an output: along each dimension, its first and last element inside of the image, and how many there
 * are, with the padding if that counts. */
struct window {
    int64_t first[3], end[3], count;
};

static struct window window_of(const struct mr_pool *p, int64_t output)
{
    struct window w = {.count = 1};
    for (int i = p->space - 1; i >= 0; i--) {
        int64_t begin = output % p->y.dim[2 + i] * p->stride[i] - p->before[i], end = begin + p->window[i];
        int64_t limit = p->x.dim[2 + i] + p->after[i];
        output /= p->y.dim[2 + i];
        w.first[i] = begin < 0 ? 0 : begin;
        w.end[i] = end > p->x.dim[2 + i] ? p->x.dim[2 + i] : end;
        if (p->mode == MR_POOL_AVERAGE_ALL)
            w.count *= (end > limit ? limit : end) - begin;
        else
            w.count *= w.end[i] > w.first[i] ? w.end[i] - w.first[i] : 0;
    }
    for (int i = p->space; i < 3; i++)
        w.end[i] = 1;
    return w;
}

/* Sums the window of the plane x, or finds its largest element, whose place goes to *place; or adds `share` to all
 * elements of the window in `to`. */
static double gather(const struct mr_pool *p, const struct window *w, const double *x, int64_t *place, double *to,
                     double share)
{
    int64_t d1 = p->space > 1 ? p->x.dim[3] : 1, d2 = p->space > 2 ? p->x.dim[4] : 1;
    double sum = 0, most = -INFINITY;
    *place = -1;
    for (int64_t i = w->first[0]; i < w->end[0]; i++)
        for (int64_t j = w->first[1]; j < w->end[1]; j++)
            for (int64_t k = w->first[2]; k < w->end[2]; k++) {
                int64_t at = (i * d1 + j) * d2 + k;
                if (to) {
                    to[at] += share;
                    continue;
                }
                sum += x[at];
                if (*place < 0 || x[at] > most || (x[at] != x[at] && most == most)) {
                    most = x[at];
                    *place = at;
                }
            }
    return p->mode == MR_POOL_MAX ? most : sum;
}

static void forward(const struct mr_pool *p, int64_t plane, double *x, double *y, double *room)
{
    int64_t outputs = plane_size(&p->y), place;
    load_plane(&p->x, p->x_at, plane, x);
    for (int64_t o = 0; o < outputs; o++) {
        struct window w = window_of(p, o);
        double value = gather(p, &w, x, &place, NULL, 0);
        y[o] = p->mode == MR_POOL_MAX ? value : w.count ? value / (double)w.count : 0;
    }
    store_plane(&p->y, p->y_at, plane, p->alpha, p->beta, y, room);
}

static void backward(const struct mr_pool *p, int64_t plane, double *x, double *dy, double *dx, double *room)
{
    int64_t outputs = plane_size(&p->y), place;
    if (p->mode == MR_POOL_MAX)
        load_plane(&p->x, p->x_at, plane, x);
    load_plane(&p->y, p->dy_at, plane, dy);
    memset(dx, 0, (size_t)plane_size(&p->dx) * sizeof *dx);
    for (int64_t o = 0; o < outputs; o++) {
        struct window w = window_of(p, o);
        if (p->mode == MR_POOL_MAX) {
            gather(p, &w, x, &place, NULL, 0);
            if (place >= 0)
                dx[place] += dy[o];
        } else if (w.count) {
            gather(p, &w, NULL, &place, dx, dy[o] / (double)w.count);
        }
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
