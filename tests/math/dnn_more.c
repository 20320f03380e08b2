/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's dropout: what is kept, how often, that gradients see the same, that draws follow each other also in graphs.
 * Local response normalisation beside loops. The CTC loss beside a sum over all paths. Gradients beside differences.
 * Normalisation by its younger names beside the older. Tensors moved with margins. */
#include "dnn.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cudnnHandle_t handle;

/* n images of c channels of h x w floats, in managed memory. */
struct images {
    int n, c, h, w;
    bool last; /* channels innermost */
    float *at;
    cudnnTensorDescriptor_t d;
};

static size_t count(const struct images *t)
{
    return (size_t)t->n * t->c * t->h * t->w;
}

static size_t place(const struct images *t, int n, int c, int h, int w)
{
    return t->last ? (((size_t)n * t->h + h) * t->w + w) * t->c + c : (((size_t)n * t->c + c) * t->h + h) * t->w + w;
}

static void *managed(size_t bytes)
{
    void *at;
    RT(cudaMallocManaged(&at, bytes, cudaMemAttachGlobal));
    return at;
}

static struct images make(int n, int c, int h, int w, bool last)
{
    struct images t = {n, c, h, w, last, NULL, NULL};
    t.at = managed(count(&t) * sizeof *t.at);
    for (size_t i = 0; i < count(&t); i++)
        t.at[i] = (float)(draw(1000) + 1) / 250 * (draw(2) ? 1.0f : -1.0f);
    OK(cudnnCreateTensorDescriptor(&t.d));
    OK(cudnnSetTensor4dDescriptor(t.d, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
    return t;
}

static void end(struct images *t)
{
    OK(cudnnDestroyTensorDescriptor(t->d));
    RT(cudaFree(t->at));
}

static void near_to(double is, double wanted, double within, int line)
{
    if (!(fabs(is - wanted) <= within * (1 + fabs(wanted)))) {
        fprintf(stderr, "line %d: %.8g, not %.8g\n", line, is, wanted);
        exit(1);
    }
}
#define NEAR(is, wanted) near_to(is, wanted, 2e-5, __LINE__)
#define EACH(t) \
    for (int n = 0; n < (t).n; n++) \
        for (int c = 0; c < (t).c; c++) \
            for (int h = 0; h < (t).h; h++) \
                for (int w = 0; w < (t).w; w++)

/* ---- dropout ---- */

struct drop {
    cudnnDropoutDescriptor_t d;
    void *states, *reserve;
    size_t states_bytes, reserve_bytes;
};

static void forward(struct drop *drop, struct images *x, struct images *y)
{
    OK(cudnnDropoutForward(handle, drop->d, x->d, x->at, y->d, y->at, drop->reserve, drop->reserve_bytes));
    RT(cudaDeviceSynchronize());
}

/* Each y is x / (1 - p) or 0: how many are not 0? */
static size_t kept(const struct images *x, const struct images *y, float p)
{
    size_t some = 0;
    EACH(*x)
    {
        double is = (double)y->at[place(y, n, c, h, w)];
        if (is != 0)
            NEAR(is, (double)x->at[place(x, n, c, h, w)] / (1 - (double)p));
        some += is != 0;
    }
    return some;
}

/* Of `all` elements about 1 - p are kept: six deviations to either side. */
static void is_about(size_t some, size_t all, double p)
{
    CHECK(fabs((double)some - (double)all * (1 - p)) <= 6 * sqrt((double)all * p * (1 - p)));
}

static void dropout(float p, int channels, int size, bool x_last, bool y_last)
{
    struct drop drop;
    struct images x = make(3, channels, size, size + 1, x_last), y = make(3, channels, size, size + 1, y_last),
                  again = make(3, channels, size, size + 1, x_last), dx = make(3, channels, size, size + 1, x_last);
    float p_is;
    void *states_are;
    unsigned long long seed_is;
    OK(cudnnCreateDropoutDescriptor(&drop.d));
    OK(cudnnDropoutGetStatesSize(handle, &drop.states_bytes));
    OK(cudnnDropoutGetReserveSpaceSize(x.d, &drop.reserve_bytes));
    drop.states = managed(drop.states_bytes);
    drop.reserve = managed(drop.reserve_bytes);
    CHECK(cudnnSetDropoutDescriptor(drop.d, handle, p, drop.states, drop.states_bytes - 1, 5) != CUDNN_STATUS_SUCCESS);
    OK(cudnnSetDropoutDescriptor(drop.d, handle, p, drop.states, drop.states_bytes, 5));
    OK(cudnnGetDropoutDescriptor(drop.d, handle, &p_is, &states_are, &seed_is));
    CHECK(p_is == p && states_are == drop.states && seed_is == 5);
    CHECK(cudnnDropoutForward(handle, drop.d, x.d, x.at, y.d, y.at, drop.reserve, drop.reserve_bytes - 1) ==
          CUDNN_STATUS_BAD_PARAM);
    forward(&drop, &x, &y);
    is_about(kept(&x, &y, p), count(&x), (double)p);
    /* The gradient of ones is 1 / (1 - p) where y isn't 0, in whatever layout. */
    for (size_t i = 0; i < count(&again); i++)
        again.at[i] = 1;
    OK(cudnnDropoutBackward(handle, drop.d, again.d, again.at, dx.d, dx.at, drop.reserve, drop.reserve_bytes));
    RT(cudaDeviceSynchronize());
    EACH(x)
    NEAR((double)dx.at[place(&dx, n, c, h, w)], y.at[place(&y, n, c, h, w)] != 0 ? 1 / (1 - (double)p) : 0);
    /* Other elements are kept next: in both draws (1 - p)^2 of all. */
    forward(&drop, &x, &again);
    size_t both = 0;
    EACH(x)
    both += again.at[place(&again, n, c, h, w)] != 0 && y.at[place(&y, n, c, h, w)] != 0;
    is_about(both, count(&x), 1 - (1 - (double)p) * (1 - (double)p));
    /* Restored, the states go on; set again with the seed, they begin again. */
    OK(cudnnRestoreDropoutDescriptor(drop.d, handle, p, drop.states, drop.states_bytes, 5));
    forward(&drop, &x, &dx);
    CHECK((p == 0 || p == 1) == !memcmp(dx.at, again.at, count(&x) * sizeof *x.at));
    OK(cudnnSetDropoutDescriptor(drop.d, handle, p, drop.states, drop.states_bytes, 5));
    forward(&drop, &x, &dx);
    EACH(x)
    CHECK(dx.at[place(&dx, n, c, h, w)] == y.at[place(&y, n, c, h, w)]);
    OK(cudnnSetDropoutDescriptor(drop.d, handle, p, drop.states, drop.states_bytes, 6));
    forward(&drop, &x, &again);
    CHECK((p == 0 || p == 1) == !memcmp(dx.at, again.at, count(&x) * sizeof *x.at));
    OK(cudnnDestroyDropoutDescriptor(drop.d));
    RT(cudaFree(drop.states));
    RT(cudaFree(drop.reserve));
    end(&x), end(&y), end(&again), end(&dx);
}

/* A graph draws anew with each launch; without states nothing is dropped, and nothing else is allowed. */
static void dropout_in_graphs(void)
{
    struct drop drop = {0};
    struct images x = make(2, 3, 20, 20, false), y = make(2, 3, 20, 20, false), z = make(2, 3, 20, 20, false);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    RT(cudaStreamCreate(&stream));
    OK(cudnnSetStream(handle, stream));
    OK(cudnnCreateDropoutDescriptor(&drop.d));
    OK(cudnnDropoutGetStatesSize(handle, &drop.states_bytes));
    OK(cudnnDropoutGetReserveSpaceSize(x.d, &drop.reserve_bytes));
    drop.states = managed(drop.states_bytes);
    drop.reserve = managed(drop.reserve_bytes);
    OK(cudnnSetDropoutDescriptor(drop.d, handle, 0.5f, drop.states, drop.states_bytes, 1));
    RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudnnDropoutForward(handle, drop.d, x.d, x.at, y.d, y.at, drop.reserve, drop.reserve_bytes));
    RT(cudaStreamEndCapture(stream, &graph));
    RT(cudaGraphInstantiate(&exec, graph, 0));
    RT(cudaGraphLaunch(exec, stream));
    RT(cudaStreamSynchronize(stream));
    memcpy(z.at, y.at, count(&y) * sizeof *y.at);
    is_about(kept(&x, &y, 0.5f), count(&x), 0.5);
    RT(cudaGraphLaunch(exec, stream));
    RT(cudaStreamSynchronize(stream));
    CHECK(memcmp(z.at, y.at, count(&y) * sizeof *y.at));
    is_about(kept(&x, &y, 0.5f), count(&x), 0.5);
    RT(cudaGraphExecDestroy(exec));
    RT(cudaGraphDestroy(graph));
    OK(cudnnSetDropoutDescriptor(drop.d, handle, 0, NULL, 0, 0));
    forward(&drop, &x, &y);
    CHECK(!memcmp(x.at, y.at, count(&y) * sizeof *y.at));
    OK(cudnnSetDropoutDescriptor(drop.d, handle, 0.5f, NULL, 0, 0));
    CHECK(cudnnDropoutForward(handle, drop.d, x.d, x.at, y.d, y.at, drop.reserve, drop.reserve_bytes) ==
          CUDNN_STATUS_BAD_PARAM);
    OK(cudnnDestroyDropoutDescriptor(drop.d));
    RT(cudaFree(drop.states));
    RT(cudaFree(drop.reserve));
    OK(cudnnSetStream(handle, NULL));
    RT(cudaStreamDestroy(stream));
    end(&x), end(&y), end(&z);
}

/* ---- local response normalisation ---- */

struct window {
    int n;
    double alpha, beta, k;
};

/* y of all elements of x, from the definition. */
static void normalise(const struct window *by, const struct images *x, const double *from, double *y)
{
    int behind = (by->n - 1) / 2;
    EACH(*x)
    {
        double sum = 0;
        for (int i = c - behind; i < c - behind + by->n; i++)
            if (i >= 0 && i < x->c)
                sum += pow(from[place(x, n, i, h, w)], 2);
        size_t at = place(x, n, c, h, w);
        y[at] = from[at] * pow(by->k + by->alpha / by->n * sum, -by->beta);
    }
}

static void response(bool last)
{
    struct window by = {1 + draw(8), 0.01 * (1 + draw(300)), 0.25 * (1 + draw(6)), 0.5 * (1 + draw(6))};
    struct images x = make(1 + draw(2), 1 + draw(9), 1 + draw(4), 1 + draw(4), last),
                  y = make(x.n, x.c, x.h, x.w, draw(2)), dy = make(x.n, x.c, x.h, x.w, draw(2)),
                  dx = make(x.n, x.c, x.h, x.w, draw(2)), before = make(x.n, x.c, x.h, x.w, dx.last);
    double *from = calloc(2 * count(&x), sizeof *from), *to = from + count(&x);
    const float two = 2, half = 0.5f, one = 1, none = 0;
    cudnnLRNDescriptor_t d;
    unsigned n_is;
    double alpha, beta, k;
    OK(cudnnCreateLRNDescriptor(&d));
    CHECK(cudnnSetLRNDescriptor(d, 17, 1, 1, 1) == CUDNN_STATUS_BAD_PARAM);
    CHECK(cudnnSetLRNDescriptor(d, 3, 1, 1, 0) == CUDNN_STATUS_BAD_PARAM);
    OK(cudnnSetLRNDescriptor(d, (unsigned)by.n, by.alpha, by.beta, by.k));
    OK(cudnnGetLRNDescriptor(d, &n_is, &alpha, &beta, &k));
    CHECK((int)n_is == by.n && alpha == by.alpha && beta == by.beta && k == by.k);
    memcpy(before.at, dx.at, count(&dx) * sizeof *dx.at);
    OK(cudnnLRNCrossChannelForward(handle, d, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, x.d, x.at, &none, y.d, y.at));
    OK(cudnnLRNCrossChannelBackward(handle, d, CUDNN_LRN_CROSS_CHANNEL_DIM1, &two, y.d, y.at, dy.d, dy.at, x.d, x.at,
                                    &half, dx.d, dx.at));
    RT(cudaDeviceSynchronize());
    for (size_t i = 0; i < count(&x); i++)
        from[i] = (double)x.at[i];
    normalise(&by, &x, from, to);
    EACH(x)
    NEAR((double)y.at[place(&y, n, c, h, w)], to[place(&x, n, c, h, w)]);
    /* The gradient is the slope of the sum of y dy. */
    EACH(x)
    {
        size_t at = place(&x, n, c, h, w);
        double slope = 0, step = 1e-4;
        for (int side = -1; side <= 1; side += 2) {
            from[at] = (double)x.at[at] + side * step;
            normalise(&by, &x, from, to);
            for (int i = 0; i < x.c; i++)
                slope += side * to[place(&x, n, i, h, w)] * (double)dy.at[place(&dy, n, i, h, w)] / (2 * step);
        }
        from[at] = (double)x.at[at];
        near_to((double)dx.at[place(&dx, n, c, h, w)], 2 * slope + 0.5 * (double)before.at[place(&before, n, c, h, w)],
                1e-4, __LINE__);
    }
    free(from);
    OK(cudnnDestroyLRNDescriptor(d));
    end(&x), end(&y), end(&dy), end(&dx), end(&before);
}

/* ---- the CTC loss ---- */

#define STEPS 5
#define CLASSES 4

/* Whether a path of classes says the labels. */
static bool says(const int *path, int steps, const int *labels, int count)
{
    int said = 0;
    for (int t = 0; t < steps; t++) {
        if (path[t] == 0 || (t && path[t] == path[t - 1]))
            continue;
        if (said == count || path[t] != labels[said])
            return false;
        said++;
    }
    return said == count;
}

/* The cost from all paths there are: x are `steps` times CLASSES elements, probabilities or what a softmax makes them
 * of. */
static double cost_of(const double *x, bool softmax, int steps, const int *labels, int count)
{
    double sum = 0;
    int paths = 1;
    for (int t = 0; t < steps; t++)
        paths *= CLASSES;
    for (int i = 0; i < paths; i++) {
        int path[STEPS], rest = i;
        double probability = 1;
        for (int t = 0; t < steps; t++, rest /= CLASSES) {
            double all = 0;
            path[t] = rest % CLASSES;
            for (int k = 0; k < CLASSES; k++)
                all += exp(x[t * CLASSES + k]);
            probability *= softmax ? exp(x[t * CLASSES + path[t]]) / all : x[t * CLASSES + path[t]];
        }
        sum += says(path, steps, labels, count) ? probability : 0;
    }
    return -log(sum);
}

#define SAMPLES 6

struct losses {
    float *x, *dx, *costs; /* x, dx: STEPS x SAMPLES x CLASSES */
    int labels[SAMPLES * STEPS], lengths[SAMPLES], steps[SAMPLES];
    cudnnTensorDescriptor_t d;
    cudnnCTCLossDescriptor_t loss;
};

#define AT(t, n, k) (((t) * SAMPLES + (n)) * CLASSES + (k))

/* Costs and gradients of every sample; behind its steps the gradient is `beyond`. */
static void compare(const struct losses *l, bool softmax, float beyond)
{
    const int *labels = l->labels;
    for (int n = 0; n < SAMPLES; labels += l->lengths[n++]) {
        double x[STEPS * CLASSES], sums[STEPS] = {0}, cost;
        for (int t = 0; t < STEPS; t++)
            for (int k = 0; k < CLASSES; k++) {
                x[t * CLASSES + k] = (double)l->x[AT(t, n, k)];
                sums[t] += x[t * CLASSES + k];
            }
        cost = cost_of(x, softmax, l->steps[n], labels, l->lengths[n]);
        if (isinf(cost))
            CHECK(isinf(l->costs[n]) && l->costs[n] > 0);
        else
            NEAR((double)l->costs[n], cost);
        for (int t = 0; t < STEPS; t++)
            for (int k = 0; k < CLASSES; k++) {
                double slope = 0, step = 1e-5;
                for (int side = -1; side <= 1 && t < l->steps[n] && !isinf(cost); side += 2) {
                    double moved[STEPS * CLASSES];
                    /* By what went into the softmax: logarithms of probabilities, if those are given. */
                    memcpy(moved, x, sizeof x);
                    if (!softmax)
                        for (int i = 0; i < STEPS * CLASSES; i++)
                            moved[i] = log(moved[i]);
                    moved[t * CLASSES + k] += side * step;
                    slope += side * cost_of(moved, true, l->steps[n], labels, l->lengths[n]) / (2 * step);
                }
                near_to((double)l->dx[AT(t, n, k)], t < l->steps[n] || isinf(cost) ? slope : (double)beyond, 1e-5,
                        __LINE__);
            }
    }
}

static void draw_samples(struct losses *l, bool softmax)
{
    int *label = l->labels;
    for (int n = 0; n < SAMPLES; n++) {
        l->steps[n] = 1 + draw(STEPS);
        l->lengths[n] = draw(3) ? draw(l->steps[n] + 1) : draw(3);
        for (int i = 0; i < l->lengths[n]; i++)
            *label++ = 1 + draw(CLASSES - 1);
        for (int t = 0; t < STEPS; t++) {
            float sum = 0;
            for (int k = 0; k < CLASSES; k++)
                sum += l->x[AT(t, n, k)] = (float)(1 + draw(1000)) / 200;
            for (int k = 0; k < CLASSES && !softmax; k++)
                l->x[AT(t, n, k)] /= sum;
        }
    }
}

static void sequences(bool softmax, bool skips)
{
    struct losses l;
    size_t bytes = STEPS * SAMPLES * CLASSES * sizeof(float), more;
    int strides[] = {SAMPLES * CLASSES, CLASSES, 1}, dims[] = {STEPS, SAMPLES, CLASSES}, most;
    cudnnLossNormalizationMode_t norm = softmax ? CUDNN_LOSS_NORMALIZATION_SOFTMAX : CUDNN_LOSS_NORMALIZATION_NONE,
                                 norm_is;
    cudnnCTCGradMode_t mode = skips ? CUDNN_CTC_SKIP_OOB_GRADIENTS : CUDNN_CTC_ZERO_OOB_GRADIENTS, mode_is;
    cudnnDataType_t type;
    l.x = managed(bytes);
    l.dx = managed(bytes);
    l.costs = managed(SAMPLES * sizeof *l.costs);
    int *on_device = managed(sizeof l.labels + sizeof l.lengths + sizeof l.steps);
    draw_samples(&l, softmax);
    OK(cudnnCreateTensorDescriptor(&l.d));
    OK(cudnnSetTensorNdDescriptor(l.d, CUDNN_DATA_FLOAT, 3, dims, strides));
    OK(cudnnCreateCTCLossDescriptor(&l.loss));
    CHECK(cudnnCTCLoss(handle, l.d, l.x, l.labels, l.lengths, l.steps, l.costs, l.d, l.dx,
                       CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, l.loss, NULL, 0) == CUDNN_STATUS_BAD_PARAM);
    OK(cudnnSetCTCLossDescriptorEx(l.loss, CUDNN_DATA_FLOAT, norm, CUDNN_NOT_PROPAGATE_NAN));
    OK(cudnnGetCTCLossWorkspaceSize(handle, l.d, l.d, l.labels, l.lengths, l.steps, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC,
                                    l.loss, &more));
    OK(cudnnCTCLoss(handle, l.d, l.x, l.labels, l.lengths, l.steps, l.costs, l.d, l.dx,
                    CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, l.loss, NULL, more));
    RT(cudaDeviceSynchronize());
    compare(&l, softmax, 0);
    int steps = l.steps[1];
    l.steps[1] = STEPS + 1;
    CHECK(cudnnCTCLoss(handle, l.d, l.x, l.labels, l.lengths, l.steps, l.costs, l.d, l.dx,
                       CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, l.loss, NULL, 0) == CUDNN_STATUS_BAD_PARAM);
    l.steps[1] = steps;
    /* The same with lengths and labels in the device's memory. */
    OK(cudnnSetCTCLossDescriptor_v9(l.loss, CUDNN_DATA_FLOAT, norm, mode, STEPS));
    OK(cudnnGetCTCLossDescriptor_v9(l.loss, &type, &norm_is, &mode_is, &most));
    CHECK(type == CUDNN_DATA_FLOAT && norm_is == norm && mode_is == mode && most == STEPS);
    memcpy(on_device, l.labels, sizeof l.labels);
    memcpy(on_device + SAMPLES * STEPS, l.lengths, sizeof l.lengths);
    memcpy(on_device + SAMPLES * STEPS + SAMPLES, l.steps, sizeof l.steps);
    for (int i = 0; i < STEPS * SAMPLES * CLASSES; i++)
        l.dx[i] = 7;
    memset(l.costs, 0, SAMPLES * sizeof *l.costs);
    OK(cudnnCTCLoss_v8(handle, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, l.loss, l.d, l.x, on_device,
                       on_device + SAMPLES * STEPS, on_device + SAMPLES * STEPS + SAMPLES, l.costs, l.d, l.dx, 0,
                       NULL));
    RT(cudaDeviceSynchronize());
    compare(&l, softmax, skips ? 7 : 0);
    /* Lengths outside of the tensor, or more labels than steps: the cost is infinite, the gradient NaN if that is
     * asked. */
    OK(cudnnSetCTCLossDescriptor_v8(l.loss, CUDNN_DATA_FLOAT, norm, CUDNN_PROPAGATE_NAN, STEPS));
    on_device[SAMPLES * STEPS + SAMPLES] = skips ? STEPS + 1 : l.lengths[0] - 1;
    OK(cudnnCTCLoss_v8(handle, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, l.loss, l.d, l.x, on_device,
                       on_device + SAMPLES * STEPS, on_device + SAMPLES * STEPS + SAMPLES, l.costs, l.d, l.dx, 0,
                       NULL));
    RT(cudaDeviceSynchronize());
    CHECK(isinf(l.costs[0]) && l.costs[0] > 0);
    for (int t = 0; t < STEPS; t++)
        for (int k = 0; k < CLASSES; k++)
            CHECK(isnan(l.dx[AT(t, 0, k)]));
    OK(cudnnDestroyCTCLossDescriptor(l.loss));
    OK(cudnnDestroyTensorDescriptor(l.d));
    RT(cudaFree(l.x));
    RT(cudaFree(l.dx));
    RT(cudaFree(l.costs));
    RT(cudaFree(on_device));
}

/* ---- normalisation by its younger names ---- */

/* Beside the older functions (which dnn.c tests): the same numbers, with an addition and ReLU behind them. */
static void younger_names(cudnnNormOps_t ops, bool by_channel)
{
    cudnnNormMode_t mode = by_channel ? CUDNN_NORM_PER_CHANNEL : CUDNN_NORM_PER_ACTIVATION;
    cudnnBatchNormMode_t older = by_channel ? CUDNN_BATCHNORM_SPATIAL : CUDNN_BATCHNORM_PER_ACTIVATION;
    cudnnNormAlgo_t algo = CUDNN_NORM_ALGO_STANDARD;
    const float one = 1, none = 0;
    double epsilon = 1e-3;
    bool adds = ops == CUDNN_NORM_OPS_NORM_ADD_ACTIVATION;
    struct images x = make(3, 4, 5, 2, false), t[9], s[10];
    enum { Y, Z, DY, DZ, DX, Y_OLD, DZ_OLD, DX_OLD, PLAIN };
    enum { SCALE, BIAS, MEAN, INVERSE, DSCALE, DBIAS, MEAN_OLD, INVERSE_OLD, DSCALE_OLD, DBIAS_OLD };
    for (int i = 0; i < 9; i++)
        t[i] = make(3, 4, 5, 2, false);
    for (int i = 0; i < 10; i++)
        s[i] = make(1, 4, by_channel ? 1 : 5, by_channel ? 1 : 2, false);
    cudnnActivationDescriptor_t relu;
    OK(cudnnCreateActivationDescriptor(&relu));
    OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    cudnnTensorDescriptor_t d = x.d, stats = s[0].d;
    size_t bytes, reserve, zero;
    OK(cudnnGetNormalizationBackwardWorkspaceSize(handle, mode, ops, algo, d, d, d, d, d, stats, relu, stats, &bytes,
                                                  1));
    OK(cudnnGetNormalizationForwardTrainingWorkspaceSize(handle, mode, ops, algo, d, d, d, stats, relu, stats, &zero,
                                                         1));
    OK(cudnnGetNormalizationTrainingReserveSpaceSize(handle, mode, ops, algo, relu, d, &reserve, 1));
    CHECK(cudnnGetNormalizationTrainingReserveSpaceSize(handle, mode, ops, algo, relu, d, &reserve, 2) ==
          CUDNN_STATUS_BAD_PARAM);
    CHECK(zero == 0 && reserve == 0);
    void *space = managed(bytes + 1);
    OK(cudnnNormalizationForwardTraining(handle, mode, ops, algo, &one, &none, d, x.at, stats, s[SCALE].at, s[BIAS].at,
                                         1, stats, NULL, NULL, epsilon, s[MEAN].at, s[INVERSE].at, relu, d, t[Z].at, d,
                                         t[Y].at, space, bytes, NULL, 0, 1));
    OK(cudnnBatchNormalizationForwardTrainingEx(handle, older, (cudnnBatchNormOps_t)ops, &one, &none, d, x.at, d,
                                                t[Z].at, d, t[Y_OLD].at, stats, s[SCALE].at, s[BIAS].at, 1, NULL, NULL,
                                                epsilon, s[MEAN_OLD].at, s[INVERSE_OLD].at, relu, NULL, 0, NULL, 0));
    OK(cudnnNormalizationBackward(handle, mode, ops, algo, &one, &none, &one, &none, d, x.at, d, t[Y].at, d, t[DY].at,
                                  d, t[DZ].at, d, t[DX].at, stats, s[SCALE].at, s[BIAS].at, s[DSCALE].at, s[DBIAS].at,
                                  epsilon, stats, s[MEAN].at, s[INVERSE].at, relu, space, bytes, NULL, 0, 1));
    OK(cudnnBatchNormalizationBackwardEx(handle, older, (cudnnBatchNormOps_t)ops, &one, &none, &one, &none, d, x.at, d,
                                         t[Y_OLD].at, d, t[DY].at, d, t[DZ_OLD].at, d, t[DX_OLD].at, stats, s[SCALE].at,
                                         s[BIAS].at, s[DSCALE_OLD].at, s[DBIAS_OLD].at, epsilon, s[MEAN_OLD].at,
                                         s[INVERSE_OLD].at, relu, space, bytes, NULL, 0));
    RT(cudaDeviceSynchronize());
    CHECK(!memcmp(t[Y].at, t[Y_OLD].at, count(&x) * 4) && !memcmp(t[DX].at, t[DX_OLD].at, count(&x) * 4));
    CHECK(!adds || !memcmp(t[DZ].at, t[DZ_OLD].at, count(&x) * 4));
    for (int i = MEAN; i <= DBIAS; i++)
        CHECK(!memcmp(s[i].at, s[i + MEAN_OLD - MEAN].at, count(&s[i]) * 4));
    /* Inference: variances are the squares here, so that none is negative. */
    for (size_t i = 0; i < count(&s[0]); i++)
        s[INVERSE].at[i] *= s[INVERSE].at[i];
    OK(cudnnNormalizationForwardInference(handle, mode, ops, algo, &one, &none, d, x.at, stats, s[SCALE].at, s[BIAS].at,
                                          stats, s[MEAN].at, s[INVERSE].at, d, t[Z].at, relu, d, t[Y].at, epsilon, 1));
    OK(cudnnBatchNormalizationForwardInference(handle, older, &one, &none, d, x.at, d, t[PLAIN].at, stats, s[SCALE].at,
                                               s[BIAS].at, s[MEAN].at, s[INVERSE].at, epsilon));
    RT(cudaDeviceSynchronize());
    for (size_t i = 0; i < count(&x); i++) {
        double wanted = (double)t[PLAIN].at[i] + (adds ? (double)t[Z].at[i] : 0);
        NEAR((double)t[Y].at[i], ops != CUDNN_NORM_OPS_NORM && wanted < 0 ? 0 : wanted);
    }
    OK(cudnnDestroyActivationDescriptor(relu));
    RT(cudaFree(space));
    end(&x);
    for (int i = 0; i < 9; i++)
        end(&t[i]);
    for (int i = 0; i < 10; i++)
        end(&s[i]);
}

/* ---- tensors with margins ---- */

static void margins(bool from_last, bool to_last, bool filters)
{
    struct images x = make(2 + draw(2), 3, 3 + draw(4), 3 + draw(4), from_last);
    int before[4], after[4], dims[4], strides[4], rank;
    unsigned folds[] = {1, 1}, fold = 2;
    size_t bytes;
    const float half = 0.5f, two = 2;
    cudnnDataType_t type;
    cudnnTensorTransformDescriptor_t by;
    cudnnTensorFormat_t format = to_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    for (int i = 0; i < 4; i++) {
        before[i] = i == 1 || !draw(3) ? -draw(2) : draw(3);
        after[i] = draw(4) - (i > 1);
    }
    struct images y = make(x.n + before[0] + after[0], x.c + before[1] + after[1], x.h + before[2] + after[2],
                           x.w + before[3] + after[3], to_last),
                  old = make(y.n, y.c, y.h, y.w, to_last);
    cudnnTensorDescriptor_t made;
    memcpy(old.at, y.at, count(&y) * sizeof *y.at);
    OK(cudnnCreateTensorTransformDescriptor(&by));
    folds[1] = fold;
    CHECK(cudnnSetTensorTransformDescriptor(by, 4, format, before, after, folds, CUDNN_TRANSFORM_FOLD) ==
          CUDNN_STATUS_NOT_SUPPORTED);
    folds[1] = 1;
    OK(cudnnSetTensorTransformDescriptor(by, 4, format, before, after, folds, CUDNN_TRANSFORM_FOLD));
    OK(cudnnCreateTensorDescriptor(&made));
    OK(cudnnInitTransformDest(by, x.d, made, &bytes));
    OK(cudnnGetTensorNdDescriptor(made, 4, &type, &rank, dims, strides));
    CHECK(bytes == count(&y) * sizeof *y.at && type == CUDNN_DATA_FLOAT && rank == 4);
    CHECK(dims[0] == y.n && dims[1] == y.c && dims[2] == y.h && dims[3] == y.w &&
          strides[1] == (to_last ? 1 : y.h * y.w));
    if (filters) {
        cudnnFilterDescriptor_t f[2];
        OK(cudnnCreateFilterDescriptor(&f[0]));
        OK(cudnnCreateFilterDescriptor(&f[1]));
        OK(cudnnSetFilter4dDescriptor(f[0], CUDNN_DATA_FLOAT, from_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, x.n,
                                      x.c, x.h, x.w));
        OK(cudnnSetFilter4dDescriptor(f[1], CUDNN_DATA_FLOAT, format, y.n, y.c, y.h, y.w));
        OK(cudnnTransformFilter(handle, by, &two, f[0], x.at, &half, f[1], y.at));
        OK(cudnnDestroyFilterDescriptor(f[0]));
        OK(cudnnDestroyFilterDescriptor(f[1]));
    } else {
        OK(cudnnTransformTensorEx(handle, by, &two, x.d, x.at, &half, made, y.at));
    }
    RT(cudaDeviceSynchronize());
    EACH(y)
    {
        int i = n - before[0], j = c - before[1], k = h - before[2], l = w - before[3];
        bool inside = i >= 0 && i < x.n && j >= 0 && j < x.c && k >= 0 && k < x.h && l >= 0 && l < x.w;
        size_t at = place(&y, n, c, h, w);
        NEAR((double)y.at[at], (inside ? 2 * (double)x.at[place(&x, i, j, k, l)] : 0) + 0.5 * (double)old.at[at]);
    }
    OK(cudnnDestroyTensorTransformDescriptor(by));
    OK(cudnnDestroyTensorDescriptor(made));
    end(&x), end(&y), end(&old);
}

int main(void)
{
    OK(cudnnCreate(&handle));
    for (int turn = 0; turn < 6; turn++)
        younger_names((cudnnNormOps_t)(turn / 2), turn & 1);
    for (int turn = 0; turn < 20; turn++) {
        response(turn & 1);
        margins(turn & 1, turn & 2, turn & 4);
        sequences(turn & 1, turn & 2);
    }
    for (int turn = 0; turn < 4; turn++) {
        dropout(0.1f, 5, 9, turn & 1, turn & 2);
        dropout(0.5f, 7, 61, turn & 1, turn & 2);
        dropout(turn & 1 ? 0 : 1, 3, 8, false, turn & 2);
    }
    dropout_in_graphs();
    OK(cudnnDestroy(handle));
    return 0;
}
