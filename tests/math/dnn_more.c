/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's dropout: what is kept, how often, that gradients see the same, that draws follow each other also in graphs.
 */
#include <cudnn.h>

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            char why[512] = ""; \
            cudnnGetLastErrorString(why, sizeof why); \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, why); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == CUDNN_STATUS_SUCCESS)
#define RT(call) CHECK((call) == cudaSuccess)

static unsigned seed = 7;
static cudnnHandle_t handle;

static int draw(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 9) % (unsigned)n);
}

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
    CHECK(cudnnSetDropoutDescriptor(drop.d, handle, 1.5f, drop.states, drop.states_bytes, 5) != CUDNN_STATUS_SUCCESS);
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

int main(void)
{
    OK(cudnnCreate(&handle));
    for (int turn = 0; turn < 4; turn++) {
        dropout(0.1f, 5, 9, turn & 1, turn & 2);
        dropout(0.5f, 7, 61, turn & 1, turn & 2);
        dropout(turn & 1 ? 0 : 1, 3, 8, false, turn & 2);
    }
    dropout_in_graphs();
    OK(cudnnDestroy(handle));
    return 0;
}
