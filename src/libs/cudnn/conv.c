/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, by stages that follow each other in the stream.
 *
 * Forward, and gradients of images: the filter is brought into oneDNN's form, in the workspace; then each part takes
 * some images, brings them into floats with channels innermost, runs oneDNN, and stores what comes out.
 * Gradients of filters: images are cut into slices, each of which sums in a place of its own; the sums are added, in
 * their order, and stored. What is double, or a type of integers, goes through plain loops instead. */
#include "libs/cudnn/conv.h"

#include <stdlib.h>
#include <string.h>

#include "libs/cudnn/images.h"

#define PART_BYTES ((int64_t)4 << 20) /* of images that a part holds as floats */
#define PARTS 32 /* so many are wanted */

int64_t mr_conv_way_out(const struct mr_conv_way *way, int i, int64_t in, int64_t kernel)
{
    int64_t room = in + way->before[i] + way->after[i] - way->dilation[i] * (kernel - 1) - 1;
    return room < 0 ? 0 : room / way->stride[i] + 1;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* The largest number that divides n and is at most `most`. */
static int64_t divisor(int64_t n, int64_t most)
{
    for (int64_t d = most < n ? most : n; d > 1; d--)
        if (n % d == 0)
            return d;
    return 1;
}

static bool is_in(int64_t value, int64_t least)
{
    return value >= least && value <= INT32_MAX;
}

/* Whether the numbers along a dimension of space are some that the result's size can be calculated from. */
static bool is_way(const struct mr_convolution *c, int i)
{
    const struct mr_conv_way *w = &c->way;
    return is_in(w->before[i], -INT32_MAX) && is_in(w->after[i], -INT32_MAX) && is_in(w->stride[i], 1) &&
           is_in(w->dilation[i], 1) && is_in(c->x.dim[2 + i], 0) && is_in(c->w.dim[2 + i], 0);
}

static cudnnStatus_t check(struct mr_convolution *c)
{
    const struct mr_tensor *x = &c->x, *w = &c->w, *y = &c->y;
    if (x->n != c->way.space + 2 || w->n != x->n || y->n != x->n || c->way.space < 1 || c->way.space > 3)
        return mr_dnn_bad(c->function, CUDNN_STATUS_BAD_PARAM,
                          "the tensors have %d, %d and %d dimensions, space has %d", x->n, w->n, y->n, c->way.space);
    if (!mr_dnn_size(x->type) || !mr_dnn_size(w->type) || !mr_dnn_size(y->type))
        return mr_dnn_bad(c->function, CUDNN_STATUS_NOT_SUPPORTED, "a tensor's type (%d, %d, %d) is not supported",
                          (int)x->type, (int)w->type, (int)y->type);
    if (x->dim[0] != y->dim[0] || w->dim[0] != y->dim[1] || w->dim[1] == 0 || x->dim[1] % w->dim[1] ||
        y->dim[1] % (x->dim[1] / w->dim[1]))
        return mr_dnn_bad(c->function, CUDNN_STATUS_BAD_PARAM,
                          "images %lld and %lld, channels %lld in, %lld out, filter %lld x %lld don't fit",
                          (long long)x->dim[0], (long long)y->dim[0], (long long)x->dim[1], (long long)y->dim[1],
                          (long long)w->dim[0], (long long)w->dim[1]);
    c->groups = x->dim[1] / w->dim[1];
    for (int i = 0; i < c->way.space; i++) {
        if (!is_way(c, i))
            return mr_dnn_bad(c->function, CUDNN_STATUS_BAD_PARAM,
                              "dimension %d of space: stride %lld, dilation %lld, or something is too large", i,
                              (long long)c->way.stride[i], (long long)c->way.dilation[i]);
        int64_t out = mr_conv_way_out(&c->way, i, x->dim[2 + i], w->dim[2 + i]);
        if (out != y->dim[2 + i])
            return mr_dnn_bad(c->function, CUDNN_STATUS_BAD_PARAM, "dimension %d of the result is %lld, not %lld",
                              2 + i, (long long)y->dim[2 + i], (long long)out);
    }
    return CUDNN_STATUS_SUCCESS;
}

static bool is_float(cudnnDataType_t type)
{
    return !mr_dnn_is_wide(type);
}

/* How many images go through oneDNN at once. */
static int64_t chunk_of(const struct mr_convolution *c, int64_t least_bytes)
{
    int64_t images = c->x.dim[0], x = mr_tensor_count(&c->x), y = mr_tensor_count(&c->y);
    int64_t each = images ? (x > y ? x : y) / images * 4 : 1;
    int64_t bytes = least_bytes > PART_BYTES ? least_bytes : PART_BYTES, most = bytes / (each ? each : 1);
    if (c->kind != MR_CONV_FILTER && most > images / PARTS)
        most = images / PARTS;
    return divisor(images / c->slices, most < 1 ? 1 : most);
}

cudnnStatus_t mr_convolution_plan(struct mr_convolution *c)
{
    MR_STEP(check(c));
    c->conv = NULL;
    c->bytes = 0;
    c->slices = 1;
    c->doubles = !is_float(c->x.type) || !is_float(c->w.type) || !is_float(c->y.type);
    if (mr_tensor_count(&c->x) == 0 || mr_tensor_count(&c->w) == 0 || mr_tensor_count(&c->y) == 0 || c->doubles)
        return CUDNN_STATUS_SUCCESS;
    int64_t filter = mr_tensor_count(&c->w) * 4;
    if (c->kind == MR_CONV_FILTER)
        c->slices = divisor(c->x.dim[0], filter < (256 << 10) ? 16 : filter < (4 << 20) ? 8 : 4);
    c->chunk = chunk_of(c, c->kind == MR_CONV_FILTER ? 2 * filter : 0);
    struct mr_conv_key key;
    memset(&key, 0, sizeof key);
    key.kind = c->kind;
    key.space = c->way.space;
    key.images = c->chunk;
    key.groups = c->groups;
    key.inputs = c->x.dim[1];
    key.outputs = c->y.dim[1];
    for (int i = 0; i < key.space; i++) {
        key.in[i] = c->x.dim[2 + i];
        key.kernel[i] = c->w.dim[2 + i];
        key.out[i] = c->y.dim[2 + i];
        key.stride[i] = c->way.stride[i];
        key.dilation[i] = c->way.dilation[i];
        key.before[i] = c->way.before[i];
        key.after[i] = c->way.after[i];
    }
    if (!mr_dnnl_open())
        return mr_dnn_bad(c->function, CUDNN_STATUS_NOT_INITIALIZED, "oneDNN is missing");
    c->conv = mr_conv_get(&key);
    if (!c->conv)
        return mr_dnn_bad(c->function, CUDNN_STATUS_NOT_SUPPORTED, "oneDNN has no such convolution");
    size_t own = aligned(mr_conv_filter_bytes(c->conv));
    c->plain_filter = c->w.type == CUDNN_DATA_FLOAT && !c->way.flip && mr_tensor_is_packed(&c->w);
    if (c->kind == MR_CONV_FILTER)
        c->bytes = own * (size_t)c->slices + aligned((size_t)filter);
    else
        c->bytes = (c->plain_filter ? 0 : aligned((size_t)filter)) + (mr_conv_turns(c->conv) ? own : 0);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- parts ---- */

static void short_of_memory(const struct mr_convolution *c)
{
    mr_math_short_of_memory(c->function);
}

static void *floats(const struct mr_convolution *c, unsigned slot, const struct mr_tensor *t)
{
    return mr_math_scratch(slot, (size_t)(mr_tensor_count(t) / t->dim[0] * c->chunk) * sizeof(float));
}

static size_t image_bytes(const struct mr_tensor *t)
{
    return (size_t)(mr_tensor_count(t) / t->dim[0]) * sizeof(float);
}

/* Images [first, first + chunk) as oneDNN takes them: where they are, or loaded into the slot. */
static void *images(const struct mr_convolution *c, const struct mr_tensor *t, const void *at, int64_t first,
                    unsigned slot)
{
    if (mr_images_are_plain(t))
        return (char *)at + (size_t)first * image_bytes(t);
    float *loaded = floats(c, slot, t);
    if (loaded)
        mr_images_load(t, at, first, c->chunk, loaded);
    return loaded;
}

/* The filter in floats, in front of which nothing else lies in the workspace; and in oneDNN's form, behind it. */
static void *plain_filter(const struct mr_convolution *c)
{
    return c->plain_filter ? (void *)c->w_at : c->workspace;
}

static void *own_filter(const struct mr_convolution *c)
{
    size_t plain = c->plain_filter ? 0 : aligned((size_t)mr_tensor_count(&c->w) * sizeof(float));
    return mr_conv_turns(c->conv) ? (char *)c->workspace + plain : plain_filter(c);
}

static void run_prepare(void *record, uint64_t first, uint64_t end)
{
    const struct mr_convolution *c = record;
    (void)first, (void)end;
    if (!c->plain_filter)
        mr_filter_load(&c->w, c->w_at, c->way.flip, plain_filter(c));
    if (mr_conv_turns(c->conv) && !mr_conv_turn(c->conv, plain_filter(c), own_filter(c)))
        short_of_memory(c);
}

static void run_images(void *record, uint64_t first, uint64_t end)
{
    const struct mr_convolution *c = record;
    bool forward = c->kind == MR_CONV_FORWARD;
    const struct mr_tensor *from = forward ? &c->x : &c->y, *to = forward ? &c->y : &c->x;
    void *to_at = (void *)(forward ? c->y_at : c->x_at);
    bool direct = mr_images_are_plain(to) && c->alpha == 1 && c->beta == 0;
    for (uint64_t part = first; part < end; part++) {
        int64_t image = (int64_t)part * c->chunk;
        void *in = images(c, from, forward ? c->x_at : c->y_at, image, 0);
        void *out = direct ? (char *)to_at + (size_t)image * image_bytes(to) : floats(c, 1, to);
        if (!in || !out || !mr_conv_run(c->conv, forward ? in : out, own_filter(c), forward ? out : in)) {
            short_of_memory(c);
            return;
        }
        if (!direct)
            mr_images_store(to, to_at, image, c->chunk, out, c->alpha, c->beta);
    }
}

static float *slice_at(const struct mr_convolution *c, int64_t slice)
{
    return (float *)((char *)c->workspace + aligned(mr_conv_filter_bytes(c->conv)) * (size_t)slice);
}

static void run_slices(void *record, uint64_t first, uint64_t end)
{
    const struct mr_convolution *c = record;
    size_t bytes = mr_conv_filter_bytes(c->conv);
    int64_t each = c->x.dim[0] / c->slices;
    for (int64_t slice = (int64_t)first; slice < (int64_t)end; slice++) {
        float *sum = slice_at(c, slice), *one = each > c->chunk ? mr_math_scratch(2, bytes) : sum;
        for (int64_t image = slice * each; image < (slice + 1) * each; image += c->chunk) {
            bool begins = image == slice * each;
            void *x = images(c, &c->x, c->x_at, image, 0), *y = images(c, &c->y, c->y_at, image, 1);
            if (!x || !y || !one || !mr_conv_run(c->conv, x, begins ? sum : one, y)) {
                short_of_memory(c);
                return;
            }
            for (size_t i = 0; i < bytes / sizeof *sum && !begins; i++)
                sum[i] += one[i];
        }
    }
}

#define ADDED ((size_t)1 << 15) /* floats of a part */

static void run_add(void *record, uint64_t first, uint64_t end)
{
    const struct mr_convolution *c = record;
    size_t all = mr_conv_filter_bytes(c->conv) / sizeof(float), last = end * ADDED < all ? end * ADDED : all;
    float *sum = slice_at(c, 0);
    for (int64_t slice = 1; slice < c->slices; slice++) {
        const float *more = slice_at(c, slice);
        for (size_t i = first * ADDED; i < last; i++)
            sum[i] += more[i];
    }
}

static void run_store(void *record, uint64_t first, uint64_t end)
{
    const struct mr_convolution *c = record;
    (void)first, (void)end;
    float *plain = slice_at(c, 0);
    if (mr_conv_turns(c->conv)) {
        plain = slice_at(c, c->slices);
        if (!mr_conv_turn(c->conv, slice_at(c, 0), plain)) {
            short_of_memory(c);
            return;
        }
    }
    mr_filter_store(&c->w, (void *)c->w_at, c->way.flip, plain, c->alpha, c->beta);
}

/* ---- plain loops, in double ---- */

/* Elements of the result are parts' rows: the sum of all products that belong to one. */
static double loop_sum(const struct mr_convolution *c, const int64_t *place)
{
    const struct mr_tensor *x = &c->x, *w = &c->w, *y = &c->y;
    int space = c->way.space;
    int64_t per_group = y->dim[1] / c->groups, inputs = w->dim[1], limit[5] = {0}, index[5] = {0};
    double sum = 0;
    /* What is summed over: forward: inputs, kernel; data: outputs of the group, kernel; filter: images, result. */
    limit[0] = c->kind == MR_CONV_FORWARD ? inputs : c->kind == MR_CONV_DATA ? per_group : x->dim[0];
    for (int i = 0; i < space; i++)
        limit[1 + i] = c->kind == MR_CONV_FILTER ? y->dim[2 + i] : w->dim[2 + i];
    for (int i = 0; i <= space; i++)
        if (limit[i] == 0)
            return 0;
    for (;;) {
        int64_t image = c->kind == MR_CONV_FILTER ? index[0] : place[0];
        int64_t output = c->kind == MR_CONV_DATA ? place[1] / inputs * per_group + index[0]
                                                 : place[c->kind == MR_CONV_FILTER ? 0 : 1];
        int64_t input = c->kind == MR_CONV_FORWARD ? index[0] : c->kind == MR_CONV_DATA ? place[1] % inputs : place[1];
        int64_t xs = image * x->stride[0] + (output / per_group * inputs + input) * x->stride[1];
        int64_t ws = output * w->stride[0] + input * w->stride[1];
        int64_t ys = image * y->stride[0] + output * y->stride[1];
        bool inside = true;
        for (int i = 0; i < space; i++) {
            int64_t kernel = c->kind == MR_CONV_FILTER ? place[2 + i] : index[1 + i], out, in;
            int64_t step = c->way.flip ? w->dim[2 + i] - 1 - kernel : kernel; /* where along the image it lies */
            if (c->kind == MR_CONV_DATA) {
                in = place[2 + i];
                out = in + c->way.before[i] - step * c->way.dilation[i];
                inside = inside && out >= 0 && out % c->way.stride[i] == 0 && out / c->way.stride[i] < y->dim[2 + i];
                out /= c->way.stride[i];
            } else {
                out = c->kind == MR_CONV_FORWARD ? place[2 + i] : index[1 + i];
                in = out * c->way.stride[i] - c->way.before[i] + step * c->way.dilation[i];
                inside = inside && in >= 0 && in < x->dim[2 + i];
            }
            xs += in * x->stride[2 + i];
            ws += kernel * w->stride[2 + i];
            ys += out * y->stride[2 + i];
        }
        if (inside) {
            double a = 0, b = 0;
            if (c->kind == MR_CONV_DATA)
                mr_line_load(y->type, c->y_at, ys, 1, 1, true, &a);
            else
                mr_line_load(x->type, c->x_at, xs, 1, 1, true, &a);
            if (c->kind == MR_CONV_FILTER)
                mr_line_load(y->type, c->y_at, ys, 1, 1, true, &b);
            else
                mr_line_load(w->type, c->w_at, ws, 1, 1, true, &b);
            sum += a * b;
        }
        int i = space;
        while (i >= 0 && ++index[i] == limit[i])
            index[i--] = 0;
        if (i < 0)
            return sum;
    }
}

static void run_loops(void *record, uint64_t first, uint64_t end)
{
    const struct mr_convolution *c = record;
    const struct mr_tensor *t = c->kind == MR_CONV_FORWARD ? &c->y : c->kind == MR_CONV_DATA ? &c->x : &c->w;
    void *to = (void *)(c->kind == MR_CONV_FORWARD ? c->y_at : c->kind == MR_CONV_DATA ? c->x_at : c->w_at);
    int64_t plane = mr_tensor_count(t) / t->dim[0] / t->dim[1];
    for (int64_t element = (int64_t)first * plane; element < (int64_t)end * plane; element++) {
        int64_t place[5] = {0}, rest = element, at = 0;
        for (int i = t->n - 1; i >= 0; i--) {
            place[i] = rest % t->dim[i];
            rest /= t->dim[i];
            at += place[i] * t->stride[i];
        }
        double value = c->alpha * loop_sum(c, place), old = 0;
        if (c->beta != 0) {
            mr_line_load(t->type, to, at, 1, 1, true, &old);
            value += c->beta * old;
        }
        mr_line_store(t->type, to, at, 1, 1, true, &value);
    }
}

/* ---- submitting ---- */

static void release(void *record)
{
    struct mr_convolution *c = record;
    mr_conv_drop(c->conv);
    mr_block_drop(c->block);
    free(c);
}

static cudnnStatus_t submit(cudnnHandle_t handle, const struct mr_convolution *c, uint64_t parts,
                            void (*run)(void *record, uint64_t first, uint64_t end))
{
    struct mr_convolution *record = malloc(sizeof *record);
    if (!record)
        return mr_dnn_bad(c->function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    *record = *c;
    if (c->conv)
        mr_conv_keep(c->conv);
    mr_block_keep(c->block);
    CUresult result = parts ? mr_math_submit_own(handle->stream, parts, run, release, record) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS || !parts)
        release(record);
    if (result != CUDA_SUCCESS)
        return mr_dnn_bad(c->function, CUDNN_STATUS_EXECUTION_FAILED, "the driver answers %d", (int)result);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t submit_stages(cudnnHandle_t handle, const struct mr_convolution *c)
{
    const struct mr_tensor *made = c->kind == MR_CONV_FORWARD ? &c->y : c->kind == MR_CONV_DATA ? &c->x : &c->w;
    if (!c->conv) /* also where there is nothing to sum: zeros are written */
        return mr_tensor_count(made) ? submit(handle, c, (uint64_t)(made->dim[0] * made->dim[1]), run_loops)
                                     : CUDNN_STATUS_SUCCESS;
    if (c->kind != MR_CONV_FILTER) {
        if (!c->plain_filter || mr_conv_turns(c->conv))
            MR_STEP(submit(handle, c, 1, run_prepare));
        return submit(handle, c, (uint64_t)(c->x.dim[0] / c->chunk), run_images);
    }
    MR_STEP(submit(handle, c, (uint64_t)c->slices, run_slices));
    if (c->slices > 1)
        MR_STEP(submit(handle, c, mr_parts_of(mr_conv_filter_bytes(c->conv) / sizeof(float), ADDED), run_add));
    return submit(handle, c, 1, run_store);
}

cudnnStatus_t mr_convolution_submit(cudnnHandle_t handle, const struct mr_convolution *c)
{
    if (c->workspace || c->bytes == 0)
        return submit_stages(handle, c);
    struct mr_convolution own = *c;
    own.block = mr_block_get(own.bytes);
    if (!own.block)
        return mr_dnn_bad(c->function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    own.workspace = mr_block_bytes(own.block);
    cudnnStatus_t status = submit_stages(handle, &own);
    mr_block_drop(own.block);
    return status;
}
