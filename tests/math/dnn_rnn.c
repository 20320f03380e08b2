/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's recurrent networks: the forward pass beside plain loops in double, sequence by sequence; the gradients beside
 * differences of those loops. A loss is the sum of all results, each times a number that is drawn. */
#include "dnn.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cudnnHandle_t handle;

/* Numbers that each of the types holds exactly, if the scale is a power of 2. */
static double number(double scale)
{
    return (draw(2001) - 1000) / 1024.0 * scale;
}

/* Values of the type in memory of the device, and the same in doubles. */
struct values {
    size_t count;
    double *is;
    void *at;
};

static struct config {
    cudnnDataType_t type;
    cudnnRNNMode_t mode;
    cudnnRNNBiasMode_t bias;
    cudnnRNNDataLayout_t layout;
    bool both, skip, clip, states; /* states: the program gives and takes them */
    int input, hidden, layers, steps, batch;
    int lengths[40];
} c;

static size_t size_of(void)
{
    return c.type == CUDNN_DATA_DOUBLE ? 8 : c.type == CUDNN_DATA_FLOAT ? 4 : 2;
}

static double get(const void *at, size_t i)
{
    if (c.type == CUDNN_DATA_DOUBLE)
        return ((const double *)at)[i];
    if (c.type == CUDNN_DATA_FLOAT)
        return (double)((const float *)at)[i];
    uint16_t bits = ((const uint16_t *)at)[i];
    int exponent = bits >> 10 & 31;
    double value = exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits & 1023, -24);
    return bits >> 15 ? -value : value;
}

/* For half: of the numbers that are drawn, which are exact. */
static void put(void *at, size_t i, double value)
{
    if (c.type == CUDNN_DATA_DOUBLE) {
        ((double *)at)[i] = value;
    } else if (c.type == CUDNN_DATA_FLOAT) {
        ((float *)at)[i] = (float)value;
    } else {
        int exponent = 0;
        double fraction = frexp(fabs(value), &exponent);
        unsigned bits = value == 0 ? 0 : (unsigned)(exponent + 14) << 10 | ((unsigned)(fraction * 2048) & 1023);
        ((uint16_t *)at)[i] = (uint16_t)(bits | (value < 0 ? 0x8000u : 0));
    }
}

static struct values make(size_t count, double scale)
{
    struct values v = {count, calloc(count + 1, sizeof *v.is), NULL};
    RT(cudaMallocManaged(&v.at, (count + 1) * size_of(), cudaMemAttachGlobal));
    for (size_t i = 0; i < count; i++) {
        v.is[i] = number(scale);
        put(v.at, i, v.is[i]);
    }
    return v;
}

static void end(struct values *v)
{
    free(v->is);
    RT(cudaFree(v->at));
}

static int gates(void)
{
    return c.mode == CUDNN_LSTM ? 4 : c.mode == CUDNN_GRU ? 3 : 1;
}

static int directions(void)
{
    return c.both ? 2 : 1;
}

/* Where a sequence's vector lies: its number. */
static size_t vector_at(int t, int b)
{
    size_t at = 0;
    if (c.layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED)
        return (size_t)b * (size_t)c.steps + (size_t)t;
    if (c.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED)
        return (size_t)t * (size_t)c.batch + (size_t)b;
    for (int i = 0; i < t; i++)
        for (int k = 0; k < c.batch; k++)
            at += i < c.lengths[k];
    return at + (size_t)b;
}

static size_t vectors(void)
{
    size_t all = 0;
    for (int b = 0; b < c.batch; b++)
        all += (size_t)c.lengths[b];
    return c.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED ? all : (size_t)c.steps * (size_t)c.batch;
}

/* ---- the network in plain loops ---- */

/* Where matrices and biases begin in the weights, in elements; -1 where there is none. As the library says. */
static long matrix_at[8][8], bias_at[8][8];

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double product(const double *w, int pseudo, int line, int row, int columns, const double *x)
{
    double sum = 0;
    if (matrix_at[pseudo][line] < 0)
        return x[row];
    for (int i = 0; i < columns; i++)
        sum += w[matrix_at[pseudo][line] + (long)row * columns + i] * x[i];
    return sum;
}

static double bias_of(const double *w, int pseudo, int line, int row)
{
    return bias_at[pseudo][line] < 0 ? 0 : w[bias_at[pseudo][line] + row];
}

static void cell(const double *w, int pseudo, int columns, const double *x, double *h, double *s)
{
    double before[8], a[4] = {0}, r[4] = {0};
    memcpy(before, h, sizeof before);
    for (int i = 0; i < c.hidden; i++) {
        for (int g = 0; g < gates(); g++) {
            a[g] = product(w, pseudo, g, i, columns, x) + bias_of(w, pseudo, g, i);
            r[g] = product(w, pseudo, gates() + g, i, c.hidden, before) + bias_of(w, pseudo, gates() + g, i);
        }
        if (c.mode == CUDNN_RNN_RELU) {
            h[i] = fmax(a[0] + r[0], 0);
        } else if (c.mode == CUDNN_RNN_TANH) {
            h[i] = tanh(a[0] + r[0]);
        } else if (c.mode == CUDNN_LSTM) {
            s[i] = sigmoid(a[1] + r[1]) * s[i] + sigmoid(a[0] + r[0]) * tanh(a[2] + r[2]);
            if (c.clip)
                s[i] = fmin(fmax(s[i], -0.25), 0.375);
            h[i] = sigmoid(a[3] + r[3]) * tanh(s[i]);
        } else {
            double update = sigmoid(a[1] + r[1]), fresh = tanh(a[2] + sigmoid(a[0] + r[0]) * r[2]);
            h[i] = (1 - update) * fresh + update * before[i];
        }
    }
}

static void network(const double *w, const double *x, const double *hx, const double *cx, double *y, double *hy,
                    double *cy)
{
    int wide = directions() * c.hidden;
    double in[16][16], out[16][16];
    for (int b = 0; b < c.batch; b++) {
        int length = c.lengths[b];
        for (int t = 0; t < length; t++)
            memcpy(in[t], x + vector_at(t, b) * (size_t)c.input, (size_t)c.input * sizeof *x);
        for (int layer = 0; layer < c.layers; layer++) {
            for (int d = 0; d < directions(); d++) {
                int pseudo = layer * directions() + d;
                size_t at = (size_t)(pseudo * c.batch + b) * (size_t)c.hidden;
                double h[8], s[8];
                for (int i = 0; i < c.hidden; i++) {
                    h[i] = c.states ? hx[at + (size_t)i] : 0;
                    s[i] = c.states ? cx[at + (size_t)i] : 0;
                }
                for (int k = 0; k < length; k++) {
                    int t = d ? length - 1 - k : k;
                    cell(w, pseudo, layer ? wide : c.input, in[t], h, s);
                    memcpy(out[t] + d * c.hidden, h, (size_t)c.hidden * sizeof *h);
                }
                memcpy(hy + at, h, (size_t)c.hidden * sizeof *h);
                memcpy(cy + at, s, (size_t)c.hidden * sizeof *s);
            }
            memcpy(in, out, sizeof in);
        }
        for (int t = 0; t < c.steps; t++)
            for (int i = 0; i < wide; i++)
                if (t < length)
                    y[vector_at(t, b) * (size_t)wide + (size_t)i] = in[t][i];
                else if (c.layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED)
                    y[vector_at(t, b) * (size_t)wide + (size_t)i] = 3; /* the filling */
    }
}

/* ---- one network ---- */

struct run {
    cudnnRNNDescriptor_t rnn;
    cudnnRNNDataDescriptor_t xd, yd;
    cudnnTensorDescriptor_t state;
    cudnnDropoutDescriptor_t dropout; /* NULL: none */
    struct values w, x, hx, cx, y, hy, cy, dw, dx, dhx, dcx, dy, dhy, dcy;
    void *work, *reserve;
    size_t weights, work_size, reserve_size;
};

static double loss(const struct run *r)
{
    static double y[1 << 14], hy[1 << 12], cy[1 << 12];
    double sum = 0;
    int wide = directions() * c.hidden;
    network(r->w.is, r->x.is, r->hx.is, r->cx.is, y, hy, cy);
    for (int b = 0; b < c.batch; b++)
        for (int t = 0; t < c.lengths[b]; t++)
            for (int i = 0; i < wide; i++) {
                size_t at = vector_at(t, b) * (size_t)wide + (size_t)i;
                sum += y[at] * r->dy.is[at];
            }
    for (size_t i = 0; i < r->hy.count && c.states; i++)
        sum += hy[i] * r->dhy.is[i] + (c.mode == CUDNN_LSTM ? cy[i] * r->dcy.is[i] : 0);
    return sum;
}

static void compare(const char *what, const struct values *v, size_t i, double wanted, double tolerance)
{
    double is = get(v->at, i);
    if (fabs(is - wanted) <= tolerance * (1 + fabs(wanted)))
        return;
    fprintf(stderr, "%s %zu: %.9g, not %.9g: type %d mode %d bias %d layout %d both %d skip %d clip %d states %d\n",
            what, i, is, wanted, (int)c.type, (int)c.mode, (int)c.bias, (int)c.layout, c.both, c.skip, c.clip,
            c.states);
    exit(1);
}

/* ReLU and clipping have bends: there no difference is the gradient. */
static int compared, bends;

/* Some elements of a gradient beside differences; `added`: to what the doubles have. */
static void differences(const char *what, struct run *r, struct values *v, const struct values *gradient, bool added)
{
    double tolerance = c.type == CUDNN_DATA_DOUBLE ? 1e-6 : c.type == CUDNN_DATA_FLOAT ? 1e-4 : 3e-2;
    for (int k = 0; k < 12; k++) {
        size_t i = (size_t)draw((int)v->count);
        double was = v->is[i], step = 1e-5, middle = loss(r);
        v->is[i] = was + step;
        double above = loss(r);
        v->is[i] = was - step;
        double below = loss(r);
        v->is[i] = was;
        compared++;
        if ((c.mode == CUDNN_RNN_RELU || c.clip) && fabs(above - 2 * middle + below) / step > 1e-6) {
            bends++;
            continue;
        }
        compare(what, gradient, i, (above - below) / (2 * step) + (added ? gradient->is[i] : 0), tolerance);
    }
}

static void describe(struct run *r)
{
    double fill = 0;
    put(&fill, 0, 3);
    OK(cudnnCreateRNNDescriptor(&r->rnn));
    OK(cudnnSetRNNDescriptor_v8(r->rnn, CUDNN_RNN_ALGO_STANDARD, c.mode, c.bias,
                                c.both ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                                c.skip ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, c.type,
                                c.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH,
                                c.input, c.hidden, c.hidden, c.layers, r->dropout, CUDNN_RNN_PADDED_IO_ENABLED));
    if (c.clip)
        OK(cudnnRNNSetClip_v9(r->rnn, CUDNN_RNN_CLIP_MINMAX, -0.25, 0.375));
    OK(cudnnCreateRNNDataDescriptor(&r->xd));
    OK(cudnnCreateRNNDataDescriptor(&r->yd));
    OK(cudnnSetRNNDataDescriptor(r->xd, c.type, c.layout, c.steps, c.batch, c.input, c.lengths, NULL));
    OK(cudnnSetRNNDataDescriptor(r->yd, c.type, c.layout, c.steps, c.batch, c.hidden * directions(), c.lengths, &fill));
    int dims[] = {c.layers * directions(), c.batch, c.hidden}, strides[] = {c.batch * c.hidden, c.hidden, 1};
    OK(cudnnCreateTensorDescriptor(&r->state));
    OK(cudnnSetTensorNdDescriptor(r->state, c.type, 3, dims, strides));
}

/* Asks where the parts of the weights are, and that they lie in the known order without holes. */
static void find_weights(const struct run *r, const char *weights)
{
    cudnnTensorDescriptor_t m, b;
    long expected = 0;
    OK(cudnnCreateTensorDescriptor(&m));
    OK(cudnnCreateTensorDescriptor(&b));
    for (int turn = 0; turn < 2; turn++)
        for (int pseudo = 0; pseudo < c.layers * directions(); pseudo++)
            for (int line = 0; line < 2 * gates(); line++) {
                void *at[2];
                void *alone[2];
                int n[2], dims[2][3] = {{0}}, strides[3];
                cudnnDataType_t type;
                OK(cudnnGetRNNWeightParams(handle, r->rnn, pseudo, r->weights, weights, line, m, &alone[0], NULL,
                                           NULL));
                OK(cudnnGetRNNWeightParams(handle, r->rnn, pseudo, r->weights, weights, line, NULL, NULL, b,
                                           &alone[1]));
                OK(cudnnGetRNNWeightParams(handle, r->rnn, pseudo, r->weights, weights, line, m, &at[0], b, &at[1]));
                CHECK(alone[0] == at[0] && alone[1] == at[1]);
                OK(cudnnGetTensorNdDescriptor(m, 3, &type, &n[0], dims[0], strides));
                OK(cudnnGetTensorNdDescriptor(b, 3, &type, &n[1], dims[1], strides));
                CHECK(n[0] == (c.skip && pseudo < directions() && line < gates() ? 0 : 3));
                bool first = line < gates(), biased = c.bias == CUDNN_RNN_DOUBLE_BIAS ||
                                                      (c.bias == CUDNN_RNN_SINGLE_INP_BIAS && first) ||
                                                      (c.bias == CUDNN_RNN_SINGLE_REC_BIAS && !first);
                CHECK(n[1] == (biased ? 3 : 0) && !n[1] == !at[1] && !n[0] == !at[0]);
                matrix_at[pseudo][line] = n[0] ? (long)(((char *)at[0] - weights) / (long)size_of()) : -1;
                bias_at[pseudo][line] = n[1] ? (long)(((char *)at[1] - weights) / (long)size_of()) : -1;
                if (n[turn]) {
                    CHECK((turn ? bias_at : matrix_at)[pseudo][line] == expected);
                    CHECK(dims[turn][0] == 1 && dims[turn][1] == c.hidden);
                    expected += (long)dims[turn][1] * dims[turn][2];
                }
            }
    CHECK((size_t)expected * size_of() == r->weights);
    OK(cudnnDestroyTensorDescriptor(m));
    OK(cudnnDestroyTensorDescriptor(b));
}

static void forward(struct run *r, cudnnForwardMode_t mode)
{
    static double y[1 << 14], hy[1 << 12], cy[1 << 12];
    double tolerance = c.type == CUDNN_DATA_DOUBLE ? 1e-12 : c.type == CUDNN_DATA_FLOAT ? 1e-5 : 5e-3;
    bool lstm = c.mode == CUDNN_LSTM;
    OK(cudnnRNNForward(handle, r->rnn, mode, NULL, r->xd, r->x.at, r->yd, r->y.at, r->state, c.states ? r->hx.at : NULL,
                       c.states ? r->hy.at : NULL, r->state, c.states ? r->cx.at : NULL, c.states ? r->cy.at : NULL,
                       r->weights, r->w.at, r->work_size, r->work, r->reserve_size, r->reserve));
    RT(cudaDeviceSynchronize());
    network(r->w.is, r->x.is, r->hx.is, r->cx.is, y, hy, cy);
    for (size_t i = 0; i < r->y.count; i++)
        compare("y", &r->y, i, y[i], tolerance);
    for (size_t i = 0; i < r->hy.count && c.states; i++) {
        compare("hy", &r->hy, i, hy[i], tolerance);
        if (lstm)
            compare("cy", &r->cy, i, cy[i], tolerance);
    }
}

static void backward(struct run *r)
{
    bool lstm = c.mode == CUDNN_LSTM, add = draw(2);
    OK(cudnnRNNBackwardData_v8(handle, r->rnn, NULL, r->yd, r->y.at, r->dy.at, r->xd, r->dx.at, r->state,
                               c.states ? r->hx.at : NULL, c.states ? r->dhy.at : NULL, r->dhx.at, r->state,
                               c.states ? r->cx.at : NULL, c.states ? r->dcy.at : NULL, r->dcx.at, r->weights, r->w.at,
                               r->work_size, r->work, r->reserve_size, r->reserve));
    OK(cudnnRNNBackwardWeights_v8(handle, r->rnn, add ? CUDNN_WGRAD_MODE_ADD : CUDNN_WGRAD_MODE_SET, NULL, r->xd,
                                  r->x.at, r->state, c.states ? r->hx.at : NULL, r->yd, r->y.at, r->weights, r->dw.at,
                                  r->work_size, r->work, r->reserve_size, r->reserve));
    RT(cudaDeviceSynchronize());
    differences("dw", r, &r->w, &r->dw, add);
    if (c.states)
        differences("dhx", r, &r->hx, &r->dhx, false);
    if (lstm && c.states)
        differences("dcx", r, &r->cx, &r->dcx, false);
    differences("dx", r, &r->x, &r->dx, false); /* behind a sequence's end it is 0 */
}

static void one_network(void)
{
    struct run r = {0};
    size_t states, work, reserve;
    describe(&r);
    OK(cudnnGetRNNWeightSpaceSize(handle, r.rnn, &r.weights));
    OK(cudnnGetRNNTempSpaceSizes(handle, r.rnn, CUDNN_FWD_MODE_INFERENCE, r.xd, &work, &reserve));
    CHECK(reserve == 0);
    OK(cudnnGetRNNTempSpaceSizes(handle, r.rnn, CUDNN_FWD_MODE_TRAINING, r.xd, &r.work_size, &r.reserve_size));
    states = (size_t)(c.layers * directions() * c.batch * c.hidden);
    CHECK(vectors() * (size_t)(directions() * c.hidden) < 1 << 14 && states < 1 << 12);
    r.work_size = r.work_size > work ? r.work_size : work;
    RT(cudaMalloc(&r.work, r.work_size));
    RT(cudaMalloc(&r.reserve, r.reserve_size));
    RT(cudaMemset(r.work, 0xff, r.work_size));
    RT(cudaMemset(r.reserve, 0xff, r.reserve_size));
    r.w = make(r.weights / size_of(), 0.5);
    r.dw = make(r.w.count, 0.5);
    r.x = make(vectors() * (size_t)c.input, 1);
    r.dx = make(r.x.count, 1);
    r.y = make(vectors() * (size_t)(directions() * c.hidden), 1);
    r.dy = make(r.y.count, 1);
    struct values *all[] = {&r.hx, &r.cx, &r.hy, &r.cy, &r.dhx, &r.dcx, &r.dhy, &r.dcy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = make(states, 0.5);
    find_weights(&r, r.w.at);
    forward(&r, CUDNN_FWD_MODE_INFERENCE);
    forward(&r, CUDNN_FWD_MODE_TRAINING);
    backward(&r);
    struct values *others[] = {&r.w, &r.dw, &r.x, &r.dx, &r.y, &r.dy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        end(all[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        end(others[i]);
    RT(cudaFree(r.work));
    RT(cudaFree(r.reserve));
    OK(cudnnDestroyRNNDescriptor(r.rnn));
    OK(cudnnDestroyRNNDataDescriptor(r.xd));
    OK(cudnnDestroyRNNDataDescriptor(r.yd));
    OK(cudnnDestroyTensorDescriptor(r.state));
}

/* The sum of y times dy, and y, of a pass with dropout whose states begin anew. */
static double dropped(struct run *r, void *states, size_t size, double *y)
{
    double sum = 0;
    OK(cudnnSetDropoutDescriptor(r->dropout, handle, 0.4f, states, size, 9));
    OK(cudnnRNNForward(handle, r->rnn, CUDNN_FWD_MODE_TRAINING, NULL, r->xd, r->x.at, r->yd, r->y.at, r->state, NULL,
                       NULL, r->state, NULL, NULL, r->weights, r->w.at, r->work_size, r->work, r->reserve_size,
                       r->reserve));
    RT(cudaDeviceSynchronize());
    for (size_t i = 0; i < r->y.count; i++) {
        y[i] = get(r->y.at, i);
        sum += y[i] * get(r->dy.at, i);
    }
    return sum;
}

/* Dropout between layers: the gradients are those of the pass with what it kept; each pass keeps others. */
static void between_layers(void)
{
    struct run r = {0};
    size_t bytes;
    void *states;
    double *y[2];
    memset(&c, 0, sizeof c);
    c.mode = CUDNN_LSTM;
    c.bias = CUDNN_RNN_DOUBLE_BIAS;
    c.both = true;
    c.input = 3, c.hidden = 5, c.layers = 3, c.steps = 4, c.batch = 18;
    for (int b = 0; b < c.batch; b++)
        c.lengths[b] = c.steps;
    c.type = CUDNN_DATA_DOUBLE;
    OK(cudnnCreateDropoutDescriptor(&r.dropout));
    OK(cudnnDropoutGetStatesSize(handle, &bytes));
    RT(cudaMalloc(&states, bytes));
    describe(&r);
    OK(cudnnGetRNNWeightSpaceSize(handle, r.rnn, &r.weights));
    OK(cudnnGetRNNTempSpaceSizes(handle, r.rnn, CUDNN_FWD_MODE_TRAINING, r.xd, &r.work_size, &r.reserve_size));
    RT(cudaMalloc(&r.work, r.work_size));
    RT(cudaMalloc(&r.reserve, r.reserve_size));
    r.w = make(r.weights / size_of(), 1);
    r.dw = make(r.w.count, 1);
    r.x = make(vectors() * (size_t)c.input, 1);
    r.dx = make(r.x.count, 1);
    r.y = make(vectors() * (size_t)(directions() * c.hidden), 1);
    r.dy = make(r.y.count, 1);
    for (int i = 0; i < 2; i++)
        CHECK(y[i] = calloc(r.y.count, sizeof **y));
    double same = dropped(&r, states, bytes, y[0]);
    CHECK(dropped(&r, states, bytes, y[1]) == same); /* so is the reserve, for the gradients */
    OK(cudnnRNNBackwardData_v8(handle, r.rnn, NULL, r.yd, r.y.at, r.dy.at, r.xd, r.dx.at, r.state, NULL, NULL, NULL,
                               r.state, NULL, NULL, NULL, r.weights, r.w.at, r.work_size, r.work, r.reserve_size,
                               r.reserve));
    OK(cudnnRNNBackwardWeights_v8(handle, r.rnn, CUDNN_WGRAD_MODE_SET, NULL, r.xd, r.x.at, r.state, NULL, r.yd, r.y.at,
                                  r.weights, r.dw.at, r.work_size, r.work, r.reserve_size, r.reserve));
    RT(cudaDeviceSynchronize());
    for (int k = 0; k < 60; k++) {
        struct values *v = k % 2 ? &r.w : &r.x, *gradient = k % 2 ? &r.dw : &r.dx;
        size_t i = (size_t)draw((int)v->count);
        double step = 1e-5, was = get(v->at, i);
        put(v->at, i, was + step);
        double above = dropped(&r, states, bytes, y[1]);
        put(v->at, i, was - step);
        double below = dropped(&r, states, bytes, y[1]);
        put(v->at, i, was);
        compare(k % 2 ? "dw (dropout)" : "dx (dropout)", gradient, i, (above - below) / (2 * step), 1e-6);
    }
    OK(cudnnRNNForward(handle, r.rnn, CUDNN_FWD_MODE_TRAINING, NULL, r.xd, r.x.at, r.yd, r.y.at, r.state, NULL, NULL,
                       r.state, NULL, NULL, r.weights, r.w.at, r.work_size, r.work, r.reserve_size, r.reserve));
    RT(cudaDeviceSynchronize());
    size_t other = 0;
    for (size_t i = 0; i < r.y.count; i++)
        other += get(r.y.at, i) != y[0][i];
    CHECK(other > r.y.count / 2);
    struct values *all[] = {&r.w, &r.dw, &r.x, &r.dx, &r.y, &r.dy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        end(all[i]);
    for (int i = 0; i < 2; i++)
        free(y[i]);
    RT(cudaFree(r.work));
    RT(cudaFree(r.reserve));
    RT(cudaFree(states));
    OK(cudnnDestroyRNNDescriptor(r.rnn));
    OK(cudnnDestroyRNNDataDescriptor(r.xd));
    OK(cudnnDestroyRNNDataDescriptor(r.yd));
    OK(cudnnDestroyTensorDescriptor(r.state));
    OK(cudnnDestroyDropoutDescriptor(r.dropout));
}

/* Draws what isn't set: sizes and lengths. */
static void draw_sizes(void)
{
    c.input = 1 + draw(7);
    c.hidden = c.skip ? c.input : 1 + draw(7);
    c.layers = 1 + draw(3);
    c.steps = 1 + draw(6);
    c.batch = draw(4) ? 1 + draw(5) : 17 + draw(20);
    for (int b = 0; b < c.batch; b++)
        c.lengths[b] = draw(c.steps + 1);
    if (c.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED)
        for (int b = 1; b < c.batch; b++)
            if (c.lengths[b] > c.lengths[b - 1])
                c.lengths[b] = c.lengths[b - 1];
    if (vectors() == 0)
        c.lengths[0] = c.steps;
}

static void refusals(void)
{
    cudnnRNNDescriptor_t rnn;
    cudnnRNNDataDescriptor_t data;
    cudnnDropoutDescriptor_t dropout;
    int lengths[] = {1, 2};
    size_t size;
    OK(cudnnCreateRNNDescriptor(&rnn));
    CHECK(cudnnGetRNNWeightSpaceSize(handle, rnn, &size) == CUDNN_STATUS_SUCCESS && size == 0);
#define SET(mode, skip, input, hidden, projected) \
    cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, mode, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL, skip, \
                             CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, input, hidden, projected, 1, \
                             NULL, 0)
    CHECK(SET(CUDNN_LSTM, CUDNN_LINEAR_INPUT, 4, 4, 2) == CUDNN_STATUS_NOT_SUPPORTED);
    CHECK(SET(CUDNN_LSTM, CUDNN_SKIP_INPUT, 3, 4, 4) == CUDNN_STATUS_BAD_PARAM);
    CHECK(SET(CUDNN_LSTM, CUDNN_LINEAR_INPUT, 3, 0, 0) == CUDNN_STATUS_BAD_PARAM);
    OK(SET(CUDNN_GRU, CUDNN_LINEAR_INPUT, 3, 4, 4));
    CHECK(cudnnRNNSetClip_v9(rnn, CUDNN_RNN_CLIP_MINMAX, -1, 1) == CUDNN_STATUS_BAD_PARAM);
    /* The place of a part needs its descriptor, as on hardware, whose library crashes on a descriptor without a place.
     */
    cudnnTensorDescriptor_t part;
    void *at = &size;
    OK(cudnnCreateTensorDescriptor(&part));
    OK(cudnnGetRNNWeightSpaceSize(handle, rnn, &size));
    CHECK(cudnnGetRNNWeightParams(handle, rnn, 0, size, NULL, 0, NULL, &at, part, &at) == CUDNN_STATUS_BAD_PARAM);
    CHECK(cudnnGetRNNWeightParams(handle, rnn, 0, size, NULL, 0, part, &at, NULL, &at) == CUDNN_STATUS_BAD_PARAM);
    CHECK(cudnnGetRNNWeightParams(handle, rnn, 0, size, NULL, 0, part, NULL, part, &at) == CUDNN_STATUS_BAD_PARAM);
    CHECK(cudnnGetRNNWeightParams(handle, rnn, 0, size, NULL, 0, part, &at, part, NULL) == CUDNN_STATUS_BAD_PARAM);
    CHECK(at == &size);
    OK(cudnnGetRNNWeightParams(handle, rnn, 0, size, NULL, 0, NULL, NULL, NULL, NULL));
    OK(cudnnDestroyTensorDescriptor(part));
    OK(cudnnCreateRNNDataDescriptor(&data));
    CHECK(cudnnSetRNNDataDescriptor(data, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 2, 2, 3, lengths,
                                    NULL) == CUDNN_STATUS_BAD_PARAM);
    CHECK(cudnnSetRNNDataDescriptor(data, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 1, 2, 3, lengths,
                                    NULL) == CUDNN_STATUS_BAD_PARAM);
    OK(cudnnCreateDropoutDescriptor(&dropout));
    OK(cudnnSetDropoutDescriptor(dropout, handle, 0, NULL, 0, 5));
    OK(cudnnDestroyDropoutDescriptor(dropout));
    OK(cudnnDestroyRNNDataDescriptor(data));
    OK(cudnnDestroyRNNDescriptor(rnn));
}

int main(void)
{
    static const cudnnDataType_t types[] = {CUDNN_DATA_DOUBLE, CUDNN_DATA_FLOAT, CUDNN_DATA_HALF};
    OK(cudnnCreate(&handle));
    refusals();
    for (int i = 0; i < 4 * 4 * 3 * 2 * 2; i++) { /* mode, bias, layout, directions, skip; the rest is drawn */
        memset(&c, 0, sizeof c);
        c.mode = (cudnnRNNMode_t)(i % 4);
        c.bias = (cudnnRNNBiasMode_t)(i / 4 % 4);
        c.layout = (cudnnRNNDataLayout_t)(i / 16 % 3);
        c.both = i / 48 % 2;
        c.skip = i / 96 % 2;
        c.type = types[draw(3)];
        c.clip = c.mode == CUDNN_LSTM && draw(3) == 0;
        c.states = draw(3);
        draw_sizes();
        one_network();
    }
    between_layers();
    CHECK(bends * 20 < compared);
    OK(cudnnDestroy(handle));
    return 0;
}
