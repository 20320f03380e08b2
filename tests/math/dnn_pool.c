/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's pooling in two and three dimensions beside loops over each window: equal elements, of which the first counts,
 * NaNs, infinities, windows that lie in the padding in part, strides longer and shorter than the window. */
#include "dnn.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { PLANES = 3, SIDE_MAX = 9, PLANE_MAX = SIDE_MAX * SIDE_MAX * SIDE_MAX };
/* A window of w with w - 1 of padding at both ends has w - 1 more outputs than there are elements. */
enum { WINDOW_MAX = 4, OUT_SIDE = SIDE_MAX + WINDOW_MAX - 1, OUT_MAX = OUT_SIDE * OUT_SIDE * OUT_SIDE };

/* Of each of three dimensions; the first is 1 where there are two. */
struct sizes {
    int image[3], window[3], pad[3], stride[3], out[3];
};

static const float one = 1, none = 0;
static cudnnHandle_t handle;
static float *x, *y, *dy, *dx;
static double wanted[OUT_MAX], gradient[PLANE_MAX];

static int volume(const int *size)
{
    return size[0] * size[1] * size[2];
}

static struct sizes draw_sizes(int dimensions)
{
    struct sizes s;
    for (int i = 0; i < 3; i++) {
        bool there = i >= 3 - dimensions;
        s.window[i] = there ? 1 + draw(WINDOW_MAX) : 1;
        s.pad[i] = there ? draw(s.window[i]) : 0;
        s.stride[i] = there ? 1 + draw(4) : 1;
        s.image[i] = there ? 4 + draw(SIDE_MAX - 3) : 1;
        s.out[i] = 1 + (s.image[i] + 2 * s.pad[i] - s.window[i]) / s.stride[i];
    }
    return s;
}

/* Few different numbers, so that many are equal; now and then a NaN or an infinity. */
static void draw_numbers(float *to, int count, bool odd)
{
    for (int i = 0; i < count; i++)
        to[i] = odd && draw(6) == 0 ? (draw(2) ? NAN : -INFINITY) : (float)(draw(9) - 4);
}

/* The window of output `o` along dimension i, inside of the image. */
static void window_of(const struct sizes *s, int i, int o, int *first, int *end)
{
    int begin = o * s->stride[i] - s->pad[i];
    *first = begin < 0 ? 0 : begin;
    *end = begin + s->window[i] < s->image[i] ? begin + s->window[i] : s->image[i];
}

/* One window: its output, and what it gives to the gradient. */
static double by_hand(const struct sizes *s, cudnnPoolingMode_t mode, const float *plane, const int *o, float share)
{
    int first[3], end[3], inside[PLANE_MAX], count = 0, most = 0;
    double sum = 0;
    for (int i = 0; i < 3; i++)
        window_of(s, i, o[i], &first[i], &end[i]);
    for (int i = first[0]; i < end[0]; i++)
        for (int j = first[1]; j < end[1]; j++)
            for (int k = first[2]; k < end[2]; k++)
                inside[count++] = (i * s->image[1] + j) * s->image[2] + k;
    for (int i = 0; i < count; i++) {
        float value = plane[inside[i]], old = plane[inside[most]];
        sum += (double)value;
        if (value > old || (isnan(value) && !isnan(old)))
            most = i;
    }
    int all = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? volume(s->window) : count;
    if (mode == CUDNN_POOLING_MAX) {
        gradient[inside[most]] += (double)share;
        return (double)plane[inside[most]];
    }
    for (int i = 0; i < count; i++)
        gradient[inside[i]] += (double)share / all;
    return sum / all;
}

static void same(const float *is, const double *hoped, int count)
{
    for (int i = 0; i < count; i++)
        CHECK(isnan(hoped[i])   ? isnan(is[i])
              : isinf(hoped[i]) ? (double)is[i] == hoped[i]
                                : fabs((double)is[i] - hoped[i]) <= 1e-6 * (1 + fabs(hoped[i])));
}

static cudnnTensorDescriptor_t tensor(int dimensions, const int *size)
{
    cudnnTensorDescriptor_t t;
    int dim[5] = {1, PLANES}, stride[5];
    for (int i = 0; i < dimensions; i++)
        dim[2 + i] = size[3 - dimensions + i];
    stride[1 + dimensions] = 1;
    for (int i = dimensions; i >= 0; i--)
        stride[i] = stride[i + 1] * dim[i + 1];
    OK(cudnnCreateTensorDescriptor(&t));
    OK(cudnnSetTensorNdDescriptor(t, CUDNN_DATA_FLOAT, 2 + dimensions, dim, stride));
    return t;
}

static void pooling(int dimensions, cudnnPoolingMode_t mode, bool odd)
{
    struct sizes s = draw_sizes(dimensions);
    int in = volume(s.image), out = volume(s.out), skip = 3 - dimensions;
    cudnnPoolingDescriptor_t p;
    OK(cudnnCreatePoolingDescriptor(&p));
    OK(cudnnSetPoolingNdDescriptor(p, mode, CUDNN_PROPAGATE_NAN, dimensions, s.window + skip, s.pad + skip,
                                   s.stride + skip));
    cudnnTensorDescriptor_t image = tensor(dimensions, s.image), outputs = tensor(dimensions, s.out);
    draw_numbers(x, PLANES * in, odd);
    draw_numbers(dy, PLANES * out, false);
    OK(cudnnPoolingForward(handle, p, &one, image, x, &none, outputs, y));
    OK(cudnnPoolingBackward(handle, p, &one, outputs, y, outputs, dy, image, x, &none, image, dx));
    RT(cudaDeviceSynchronize());
    for (int plane = 0; plane < PLANES; plane++) {
        memset(gradient, 0, sizeof gradient);
        for (int o = 0; o < out; o++)
            wanted[o] =
                by_hand(&s, mode, x + plane * in,
                        (int[]){o / (s.out[1] * s.out[2]), o / s.out[2] % s.out[1], o % s.out[2]}, dy[plane * out + o]);
        same(y + plane * out, wanted, out);
        same(dx + plane * in, gradient, in);
    }
    OK(cudnnDestroyTensorDescriptor(image));
    OK(cudnnDestroyTensorDescriptor(outputs));
    OK(cudnnDestroyPoolingDescriptor(p));
}

int main(void)
{
    static const cudnnPoolingMode_t modes[] = {CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                                               CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING};
    float **all[] = {&x, &y, &dy, &dx};
    OK(cudnnCreate(&handle));
    for (int i = 0; i < 4; i++)
        RT(cudaMallocManaged((void **)all[i], PLANES * OUT_MAX * sizeof(float), cudaMemAttachGlobal));
    for (int round = 0; round < 60; round++)
        pooling(2 + round % 2, modes[round % 3], round % 4 == 3 && round % 3 == 0);
    for (int round = 0; round < 30; round++)
        pooling(2 + round % 2, CUDNN_POOLING_MAX, true);
    for (int i = 0; i < 4; i++)
        RT(cudaFree(*all[i]));
    OK(cudnnDestroy(handle));
    return 0;
}
