/* SPDX-License-Identifier: Apache-2.0 */
/* Images and filters to and from floats. */
#include "libs/cudnn/images.h"

#define CHANNELS 8 /* of a tile, which is turned in the cache */
#define PIXELS 256

bool mr_images_are_plain(const struct mr_tensor *t)
{
    struct mr_tensor packed = *t;
    mr_tensor_pack(&packed, true);
    for (int i = 0; i < t->n; i++)
        if (t->dim[i] != 1 && t->stride[i] != packed.stride[i])
            return false;
    return t->type == CUDNN_DATA_FLOAT;
}

/* The rows of pixels of an image: the last dimensions, as many as lie at one distance, are one row. */
struct pixels {
    int joined; /* the first of them */
    int64_t rows, length, step;
};

static struct pixels pixels_of(const struct mr_tensor *t)
{
    struct pixels p = {.joined = t->n, .rows = 1, .length = 1, .step = 1};
    for (; p.joined > 2; p.joined--) {
        int i = p.joined - 1;
        if (t->dim[i] == 1)
            continue;
        if (p.length == 1)
            p.step = t->stride[i];
        else if (t->stride[i] != p.length * p.step)
            break;
        p.length *= t->dim[i];
    }
    for (int i = 2; i < p.joined; i++)
        p.rows *= t->dim[i];
    return p;
}

/* Where row `row` of the image's pixels begins. */
static int64_t row_at(const struct mr_tensor *t, const struct pixels *p, int64_t row)
{
    int64_t at = 0;
    for (int i = p->joined - 1; i >= 2; i--) {
        at += row % t->dim[i] * t->stride[i];
        row /= t->dim[i];
    }
    return at;
}

static void load_tile(const struct mr_tensor *t, const void *base, int64_t at, int64_t step, int64_t channels,
                      int64_t pixels, int64_t all, float *to)
{
    float tile[CHANNELS][PIXELS];
    for (int64_t c = 0; c < channels; c++)
        mr_line_load(t->type, base, at + c * t->stride[1], step, pixels, false, tile[c]);
    for (int64_t i = 0; i < pixels; i++)
        for (int64_t c = 0; c < channels; c++)
            to[i * all + c] = tile[c][i];
}

static void store_line(const struct mr_tensor *t, void *base, int64_t at, int64_t step, int64_t count, float *line,
                       double alpha, double beta)
{
    float old[PIXELS];
    if (alpha != 1)
        for (int64_t i = 0; i < count; i++)
            line[i] *= (float)alpha;
    if (beta != 0) {
        mr_line_load(t->type, base, at, step, count, false, old);
        for (int64_t i = 0; i < count; i++)
            line[i] += (float)beta * old[i];
    }
    mr_line_store(t->type, base, at, step, count, false, line);
}

static void store_tile(const struct mr_tensor *t, void *base, int64_t at, int64_t step, int64_t channels,
                       int64_t pixels, int64_t all, const float *from, double alpha, double beta)
{
    float tile[CHANNELS][PIXELS];
    for (int64_t i = 0; i < pixels; i++)
        for (int64_t c = 0; c < channels; c++)
            tile[c][i] = from[i * all + c];
    for (int64_t c = 0; c < channels; c++)
        store_line(t, base, at + c * t->stride[1], step, pixels, tile[c], alpha, beta);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void mr_images_load(const struct mr_tensor *t, const void *base, int64_t first, int64_t count, float *to)
{
    struct pixels p = pixels_of(t);
    int64_t all = t->dim[1];
    for (int64_t n = first; n < first + count; n++)
        for (int64_t row = 0; row < p.rows; row++) {
            int64_t at = n * t->stride[0] + row_at(t, &p, row);
            if (t->stride[1] == 1 && p.step == all) {
                mr_line_load(t->type, base, at, 1, p.length * all, false, to);
                to += p.length * all;
                continue;
            }
            for (int64_t c = 0; c < all; c += CHANNELS)
                for (int64_t i = 0; i < p.length; i += PIXELS)
                    load_tile(t, base, at + c * t->stride[1] + i * p.step, p.step, least(CHANNELS, all - c),
                              least(PIXELS, p.length - i), all, to + i * all + c);
            to += p.length * all;
        }
}

void mr_images_store(const struct mr_tensor *t, void *base, int64_t first, int64_t count, const float *from,
                     double alpha, double beta)
{
    struct pixels p = pixels_of(t);
    int64_t all = t->dim[1];
    for (int64_t n = first; n < first + count; n++)
        for (int64_t row = 0; row < p.rows; row++) {
            int64_t at = n * t->stride[0] + row_at(t, &p, row);
            for (int64_t c = 0; c < all; c += CHANNELS)
                for (int64_t i = 0; i < p.length; i += PIXELS)
                    store_tile(t, base, at + c * t->stride[1] + i * p.step, p.step, least(CHANNELS, all - c),
                               least(PIXELS, p.length - i), all, from + i * all + c, alpha, beta);
            from += p.length * all;
        }
}

/* ---- filters: line by line along the last dimension ---- */

static int64_t line_at(const struct mr_tensor *t, int64_t line, bool flip)
{
    int64_t at = flip ? (t->dim[t->n - 1] - 1) * t->stride[t->n - 1] : 0;
    for (int i = t->n - 2; i >= 0; i--) {
        int64_t index = line % t->dim[i];
        line /= t->dim[i];
        at += (flip && i >= 2 ? t->dim[i] - 1 - index : index) * t->stride[i];
    }
    return at;
}

void mr_filter_load(const struct mr_tensor *t, const void *base, bool flip, float *to)
{
    int last = t->n - 1;
    int64_t length = t->dim[last], step = flip ? -t->stride[last] : t->stride[last],
            lines = mr_tensor_count(t) / length;
    if (!flip && mr_tensor_is_packed(t)) {
        mr_line_load(t->type, base, 0, 1, lines * length, false, to);
        return;
    }
    for (int64_t line = 0; line < lines; line++, to += length)
        mr_line_load(t->type, base, line_at(t, line, flip), step, length, false, to);
}

void mr_filter_store(const struct mr_tensor *t, void *base, bool flip, const float *from, double alpha, double beta)
{
    int last = t->n - 1;
    int64_t length = t->dim[last], step = flip ? -t->stride[last] : t->stride[last],
            lines = mr_tensor_count(t) / length;
    float part[PIXELS];
    for (int64_t line = 0; line < lines; line++)
        for (int64_t i = 0; i < length; i += PIXELS) {
            int64_t count = least(PIXELS, length - i);
            for (int64_t k = 0; k < count; k++)
                part[k] = *from++;
            store_line(t, base, line_at(t, line, flip) + i * step, step, count, part, alpha, beta);
        }
}
