/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of cuDNN stand on. */
#include "dn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void dn(cudnnStatus_t status)
{
    char text[80];
    const char *name = cudnnGetErrorString(status);
    if (name && strncmp(name, "CUDNN_STATUS_", 13) == 0)
        snprintf(text, sizeof text, "%s", name + 13);
    else
        snprintf(text, sizeof text, "status=%d", (int)status);
    say_text(text);
}

void dn_need(cudnnStatus_t status, const char *what)
{
    char text[200];
    if (status == CUDNN_STATUS_SUCCESS)
        return;
    snprintf(text, sizeof text, "%.150s status=%d", what, (int)status);
    gold_stop(text);
}

#define ROOM ((size_t)64 << 20)
#define MOST 4096 /* elements of a tensor */
static char *room;
static size_t used;

void *dn_room(size_t bytes)
{
    void *at = room + used;
    used += (bytes + 255) & ~(size_t)255;
    if (used > ROOM)
        gold_stop("the case needs more memory than there is");
    return at;
}

cudnnHandle_t dn_begin(void)
{
    static cudnnHandle_t handle;
    if (!handle) {
        DN_NEED(cudnnCreate(&handle));
        RT_NEED(cudaMalloc((void **)&room, ROOM));
        used = ROOM;
    }
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemset(room, 0, used < ROOM ? used : ROOM));
    used = 0;
    DN_NEED(cudnnSetStream(handle, NULL));
    return handle;
}

cudnnDataType_t dn_type(char type)
{
    return type == 'S'   ? CUDNN_DATA_FLOAT
           : type == 'D' ? CUDNN_DATA_DOUBLE
           : type == 'H' ? CUDNN_DATA_HALF
           : type == 'B' ? CUDNN_DATA_BFLOAT16
                         : CUDNN_DATA_INT32;
}

static size_t size_of(char type)
{
    return type == 'D' ? 8 : type == 'H' || type == 'B' ? 2 : 4;
}

static unsigned bits_of(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* `value` is 0 or a normal number of half's range, with at most ten bits behind the first. */
static void put(char type, void *at, size_t i, float value)
{
    unsigned bits = bits_of(value);
    if (type == 'S')
        ((float *)at)[i] = value;
    else if (type == 'D')
        ((double *)at)[i] = (double)value;
    else if (type == 'I')
        ((int *)at)[i] = (int)value;
    else if (type == 'B')
        ((unsigned short *)at)[i] = (unsigned short)(bits >> 16);
    else
        ((unsigned short *)at)[i] =
            (unsigned short)(value == 0
                                 ? 0
                                 : (bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023));
}

static double get(char type, const void *at, size_t i)
{
    if (type == 'S')
        return (double)((const float *)at)[i];
    if (type == 'D')
        return ((const double *)at)[i];
    if (type == 'I')
        return ((const int *)at)[i];
    unsigned half = ((const unsigned short *)at)[i], bits = half << 16;
    float value;
    if (type == 'B') {
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    int exponent = half >> 10 & 31;
    double size = exponent == 31 ? (half & 1023 ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + (half & 1023), exponent - 25)
                                 : ldexp(half & 1023, -24);
    return half & 0x8000 ? -size : size;
}

/* Small whole numbers, or all `same` if `seed` is -2. */
static struct dn made(char type, size_t count, int seed, float same)
{
    static char host[8 * MOST];
    struct dn t = {.type = type, .count = count};
    if (count > MOST)
        gold_stop("a tensor is too large");
    for (size_t i = 0; i < count; i++)
        put(type, host, i, seed == -2 ? same : seed < 0 ? 0 : (float)((int)(i * 7 + (size_t)seed) % 9 - 4));
    t.at = dn_room(count * size_of(type));
    RT_NEED(cudaMemcpy(t.at, host, count * size_of(type), cudaMemcpyHostToDevice));
    return t;
}

static void describe(struct dn *t, char layout, int n, int c, int h, int w)
{
    DN_NEED(cudnnCreateTensorDescriptor(&t->d));
    DN_NEED(cudnnSetTensor4dDescriptor(t->d, layout == 'l' ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, dn_type(t->type), n,
                                       c, h, w));
}

struct dn dn_tensor(char type, char layout, int n, int c, int h, int w, int seed)
{
    struct dn t = made(type, (size_t)n * (size_t)c * (size_t)h * (size_t)w, seed, 0);
    describe(&t, layout, n, c, h, w);
    return t;
}

struct dn dn_filled(char type, int n, int c, int h, int w, float value)
{
    struct dn t = made(type, (size_t)n * (size_t)c * (size_t)h * (size_t)w, -2, value);
    describe(&t, 'c', n, c, h, w);
    return t;
}

struct dn dn_filter(char type, char layout, int k, int c, int h, int w, int seed)
{
    struct dn t = made(type, (size_t)k * (size_t)c * (size_t)h * (size_t)w, seed, 0);
    DN_NEED(cudnnCreateFilterDescriptor(&t.f));
    DN_NEED(cudnnSetFilter4dDescriptor(t.f, dn_type(type), layout == 'l' ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, k, c,
                                       h, w));
    return t;
}

const void *dn_factor(char type, double value)
{
    static double factors[4];
    static unsigned next;
    double *at = &factors[next++ % 4];
    if (type == 'D') {
        *at = value;
        return at;
    }
    float narrow = (float)value;
    memcpy(at, &narrow, sizeof narrow);
    return at;
}

void dn_read(const struct dn *t, double *to)
{
    static char host[8 * MOST];
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, t->at, t->count * size_of(t->type), cudaMemcpyDefault));
    for (size_t i = 0; i < t->count; i++)
        to[i] = get(t->type, host, i);
}

static void say_times(const struct dn *t, double times)
{
    static double values[MOST];
    static long long whole[MOST];
    dn_read(t, values);
    for (size_t i = 0; i < t->count; i++)
        whole[i] = isnan(values[i])   ? 7777777
                   : isinf(values[i]) ? (values[i] > 0 ? 8888888 : -8888888)
                                      : llrint(values[i] * times);
    if (t->count <= 16)
        for (size_t i = 0; i < t->count; i++)
            say_int(whole[i]);
    else
        say_hash(whole, t->count * sizeof *whole);
}

void dn_say(const struct dn *t)
{
    say_times(t, 16);
}

void dn_say_near(const struct dn *t)
{
    say_times(t, 32);
}
