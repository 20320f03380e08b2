/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's convolutions and their gradients beside sums written out: one to three dimensions, groups, strides,
 * dilations, both modes, both layouts and odd strides, all types, factors, by functions and by graphs. */
#include "dnn.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tensor {
    cudnnDataType_t type;
    int n, dim[5], stride[5];
    size_t places; /* elements from the first to behind the last */
    void *at;
    double *wanted;
};

static size_t size_of(cudnnDataType_t type)
{
    return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
}

/* Small whole numbers, which every type holds. */
static double get(const struct tensor *t, size_t i)
{
    uint16_t half;
    uint32_t bits;
    float f;
    if (t->type == CUDNN_DATA_DOUBLE)
        return ((double *)t->at)[i];
    if (t->type == CUDNN_DATA_FLOAT)
        return (double)((float *)t->at)[i];
    half = ((uint16_t *)t->at)[i];
    if (t->type == CUDNN_DATA_BFLOAT16) {
        bits = (uint32_t)half << 16;
        memcpy(&f, &bits, 4);
        return (double)f;
    }
    int exponent = half >> 10 & 31;
    double value = exponent ? ldexp(1024 + (half & 1023), exponent - 25) : ldexp(half & 1023, -24);
    return half & 0x8000 ? -value : value;
}

static void put(const struct tensor *t, size_t i, int value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if (t->type == CUDNN_DATA_DOUBLE)
        ((double *)t->at)[i] = value;
    else if (t->type == CUDNN_DATA_FLOAT)
        ((float *)t->at)[i] = f;
    else if (t->type == CUDNN_DATA_BFLOAT16)
        ((uint16_t *)t->at)[i] = (uint16_t)(bits >> 16);
    else
        ((uint16_t *)t->at)[i] =
            (uint16_t)(value ? (bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023) : 0);
}

/* Layouts: 0 by channels, 1 with channels innermost, 2 with gaps. */
static void make(struct tensor *t, cudnnDataType_t type, int n, const int *dim, int layout)
{
    int step = layout == 2 ? 2 : 1;
    t->type = type;
    t->n = n;
    memcpy(t->dim, dim, sizeof t->dim);
    if (layout == 1) {
        t->stride[1] = 1;
        step = dim[1];
    }
    for (int i = n - 1; i >= 0; i--)
        if (layout != 1 || i != 1) {
            t->stride[i] = step;
            step *= dim[i] + (layout == 2);
        }
    t->places = 1;
    for (int i = 0; i < n; i++)
        t->places += (size_t)(dim[i] - 1) * (size_t)t->stride[i];
    RT(cudaMallocManaged(&t->at, t->places * size_of(type), cudaMemAttachGlobal));
    t->wanted = calloc(t->places, sizeof *t->wanted);
    for (size_t i = 0; i < t->places; i++)
        put(t, i, draw(5) - 2);
}

static void end(struct tensor *t)
{
    RT(cudaFree(t->at));
    free(t->wanted);
}

static cudnnTensorDescriptor_t described(const struct tensor *t)
{
    cudnnTensorDescriptor_t d;
    OK(cudnnCreateTensorDescriptor(&d));
    OK(cudnnSetTensorNdDescriptor(d, t->type, t->n, t->dim, t->stride));
    return d;
}

struct problem {
    struct tensor x, w, y;
    int space, groups, pad[3], stride[3], dilation[3];
    bool flip;
    double alpha, beta;
};

/* Visits every product: what it adds to y from x and w. */
static void visit(const struct problem *p, int kind)
{
    const struct tensor *x = &p->x, *w = &p->w, *y = &p->y;
    int inputs = w->dim[1], per = y->dim[1] / p->groups;
    for (int n = 0; n < x->dim[0]; n++)
        for (int k = 0; k < y->dim[1]; k++)
            for (int c = 0; c < inputs; c++) {
                int all = 1, kernel = 1;
                for (int i = 0; i < p->space; i++) {
                    all *= y->dim[2 + i];
                    kernel *= w->dim[2 + i];
                }
                for (int o = 0; o < all; o++)
                    for (int f = 0; f < kernel; f++) {
                        size_t xs = (size_t)n * x->stride[0] + (size_t)(k / per * inputs + c) * x->stride[1];
                        size_t ws = (size_t)k * w->stride[0] + (size_t)c * w->stride[1];
                        size_t ys = (size_t)n * y->stride[0] + (size_t)k * y->stride[1];
                        int ro = o, rf = f;
                        bool inside = true;
                        for (int i = p->space - 1; i >= 0; i--) {
                            int out = ro % y->dim[2 + i], at = rf % w->dim[2 + i];
                            int step = p->flip ? w->dim[2 + i] - 1 - at : at;
                            int in = out * p->stride[i] - p->pad[i] + step * p->dilation[i];
                            ro /= y->dim[2 + i];
                            rf /= w->dim[2 + i];
                            inside = inside && in >= 0 && in < x->dim[2 + i];
                            xs += (size_t)(in * x->stride[2 + i]);
                            ws += (size_t)(at * w->stride[2 + i]);
                            ys += (size_t)(out * y->stride[2 + i]);
                        }
                        if (!inside)
                            continue;
                        if (kind == 0)
                            y->wanted[ys] += p->alpha * get(x, xs) * get(w, ws);
                        else if (kind == 1)
                            x->wanted[xs] += p->alpha * get(y, ys) * get(w, ws);
                        else
                            w->wanted[ws] += p->alpha * get(x, xs) * get(y, ys);
                    }
            }
}

/* Elements in the tensor, and what lies between them, which stays as it was. */
static void prepare(const struct problem *p, struct tensor *t)
{
    size_t all = 1;
    bool *inside = calloc(t->places, 1);
    for (int i = 0; i < t->n; i++)
        all *= (size_t)t->dim[i];
    for (size_t e = 0; e < all; e++) {
        size_t at = 0, rest = e;
        for (int i = t->n - 1; i >= 0; i--) {
            at += rest % (size_t)t->dim[i] * (size_t)t->stride[i];
            rest /= (size_t)t->dim[i];
        }
        inside[at] = true;
    }
    for (size_t i = 0; i < t->places; i++)
        t->wanted[i] = inside[i] ? p->beta * get(t, i) : get(t, i);
    free(inside);
}

static void compare(const struct tensor *t)
{
    double error = t->type == CUDNN_DATA_HALF ? 1e-3 : t->type == CUDNN_DATA_BFLOAT16 ? 8e-3 : 1e-6;
    for (size_t i = 0; i < t->places; i++)
        if (!(fabs(get(t, i) - t->wanted[i]) <= error * (1 + fabs(t->wanted[i])))) {
            fprintf(stderr, "element %zu is %g, not %g\n", i, get(t, i), t->wanted[i]);
            exit(1);
        }
}

static void by_functions(cudnnHandle_t handle, struct problem *p, int kind)
{
    cudnnConvolutionDescriptor_t conv;
    cudnnFilterDescriptor_t w;
    cudnnTensorDescriptor_t x = described(&p->x), y = described(&p->y);
    float factors[2] = {(float)p->alpha, (float)p->beta};
    double wide[2] = {p->alpha, p->beta};
    bool doubles = p->y.type == CUDNN_DATA_DOUBLE;
    const void *alpha = doubles ? (void *)&wide[0] : (void *)&factors[0],
               *beta = doubles ? (void *)&wide[1] : (void *)&factors[1];
    size_t bytes;
    void *space = NULL;
    int out[5];
    OK(cudnnCreateConvolutionDescriptor(&conv));
    OK(cudnnSetConvolutionNdDescriptor(conv, p->space, p->pad, p->stride, p->dilation,
                                       p->flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION,
                                       doubles ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
    OK(cudnnSetConvolutionGroupCount(conv, p->groups));
    OK(cudnnCreateFilterDescriptor(&w));
    OK(cudnnSetFilterNdDescriptor(w, p->w.type, p->w.stride[1] == 1 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, p->w.n,
                                  p->w.dim));
    OK(cudnnGetConvolutionNdForwardOutputDim(conv, x, w, p->x.n, out));
    CHECK(memcmp(out, p->y.dim, (size_t)p->x.n * sizeof *out) == 0);
    if (kind == 0)
        OK(cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, conv, y, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
                                                   &bytes));
    else if (kind == 1)
        OK(cudnnGetConvolutionBackwardDataWorkspaceSize(handle, w, y, conv, x, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
                                                        &bytes));
    else
        OK(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, x, y, conv, w, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
                                                          &bytes));
    if (bytes)
        RT(cudaMalloc(&space, bytes));
    if (kind == 0)
        OK(cudnnConvolutionForward(handle, alpha, x, p->x.at, w, p->w.at, conv,
                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, space, bytes, beta, y, p->y.at));
    else if (kind == 1)
        OK(cudnnConvolutionBackwardData(handle, alpha, w, p->w.at, y, p->y.at, conv, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
                                        space, bytes, beta, x, p->x.at));
    else
        OK(cudnnConvolutionBackwardFilter(handle, alpha, x, p->x.at, y, p->y.at, conv,
                                          CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, space, bytes, beta, w, p->w.at));
    OK(cudnnDestroyTensorDescriptor(x));
    OK(cudnnDestroyTensorDescriptor(y));
    OK(cudnnDestroyFilterDescriptor(w));
    OK(cudnnDestroyConvolutionDescriptor(conv));
    RT(cudaDeviceSynchronize());
    RT(cudaFree(space));
}

/* ---- graphs ---- */

static cudnnBackendDescriptor_t descriptor(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d;
    OK(cudnnBackendCreateDescriptor(type, &d));
    return d;
}

#define SET(d, name, type, count, ...) OK(cudnnBackendSetAttribute(d, name, type, count, (__VA_ARGS__)))

static cudnnBackendDescriptor_t graph_tensor(const struct tensor *t, int64_t uid)
{
    cudnnBackendDescriptor_t d = descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t dim[5], stride[5], alignment = 8;
    for (int i = 0; i < t->n; i++) {
        dim[i] = t->dim[i];
        stride[i] = t->stride[i];
    }
    SET(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    SET(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t->type);
    SET(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    SET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, t->n, dim);
    SET(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, t->n, stride);
    OK(cudnnBackendFinalize(d));
    return d;
}

static void by_graph(cudnnHandle_t handle, struct problem *p, int kind)
{
    static const cudnnBackendDescriptorType_t types[] = {
        CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
        CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
        CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR};
    static const cudnnBackendAttributeName_t names[][6] = {
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
    cudnnBackendDescriptor_t t[3] = {graph_tensor(&p->x, 'x'), graph_tensor(&p->w, 'w'), graph_tensor(&p->y, 'y')};
    cudnnBackendDescriptor_t conv = descriptor(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR), op = descriptor(types[kind]);
    cudnnBackendDescriptor_t graph = descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    cudnnBackendDescriptor_t heuristic = descriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    cudnnBackendDescriptor_t config = descriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    cudnnBackendDescriptor_t plan = descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    cudnnBackendDescriptor_t pack = descriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    int64_t space = p->space, pad[3], stride[3], dilation[3], count = 0, bytes = 0, uids[3] = {'x', 'w', 'y'};
    cudnnDataType_t type = p->y.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = p->flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    cudnnBackendHeurMode_t heuristics = CUDNN_HEUR_MODE_INSTANT;
    void *workspace = NULL, *pointers[3] = {p->x.at, p->w.at, p->y.at};
    for (int i = 0; i < 3; i++) {
        pad[i] = p->pad[i];
        stride[i] = p->stride[i];
        dilation[i] = p->dilation[i];
    }
    SET(conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &space);
    SET(conv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    SET(conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    SET(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, space, pad);
    SET(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, space, pad);
    SET(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, space, stride);
    SET(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, space, dilation);
    OK(cudnnBackendFinalize(conv));
    for (int i = 0; i < 3; i++)
        SET(op, names[kind][i], CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &t[i]);
    SET(op, names[kind][3], CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &conv);
    SET(op, names[kind][4], CUDNN_TYPE_DOUBLE, 1, &p->alpha);
    SET(op, names[kind][5], CUDNN_TYPE_DOUBLE, 1, &p->beta);
    OK(cudnnBackendFinalize(op));
    SET(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    SET(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &op);
    OK(cudnnBackendFinalize(graph));
    SET(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    SET(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &heuristics);
    OK(cudnnBackendFinalize(heuristic));
    OK(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count,
                                NULL));
    CHECK(count >= 1);
    OK(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                &config));
    SET(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    SET(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
    OK(cudnnBackendFinalize(plan));
    OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes));
    if (bytes)
        RT(cudaMalloc(&workspace, (size_t)bytes));
    SET(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
    SET(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uids);
    SET(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    OK(cudnnBackendFinalize(pack));
    OK(cudnnBackendExecute(handle, plan, pack));
    cudnnBackendDescriptor_t all[] = {t[0], t[1], t[2], conv, op, graph, heuristic, config, plan, pack};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        OK(cudnnBackendDestroyDescriptor(all[i]));
    RT(cudaDeviceSynchronize());
    RT(cudaFree(workspace));
}

static void one(cudnnHandle_t handle, int round)
{
    static const cudnnDataType_t types[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16,
                                            CUDNN_DATA_DOUBLE};
    struct problem p = {
        .space = 1 + draw(3), .groups = 1 + draw(3), .flip = draw(2), .alpha = 1 + draw(2), .beta = draw(2)};
    int per_in = 1 + draw(9), per_out = 1 + draw(9), kind = round % 3, layout = draw(3), n = p.space + 2;
    int x[5] = {1 + draw(20), per_in * p.groups}, w[5] = {per_out * p.groups, per_in}, y[5] = {x[0], w[0]};
    for (int i = 0; i < p.space; i++) {
        p.pad[i] = draw(3);
        p.stride[i] = 1 + draw(2);
        p.dilation[i] = 1 + draw(2);
        w[2 + i] = 1 + draw(3);
        x[2 + i] = (w[2 + i] - 1) * p.dilation[i] + 1 + draw(p.space == 3 ? 3 : 9);
        y[2 + i] = (x[2 + i] + 2 * p.pad[i] - p.dilation[i] * (w[2 + i] - 1) - 1) / p.stride[i] + 1;
    }
    cudnnDataType_t type = types[draw(5)];
    make(&p.x, type, n, x, layout);
    make(&p.w, type, n, w, layout == 2 ? 0 : layout);
    make(&p.y, type, n, y, draw(2) ? layout : 0);
    struct tensor *made = kind == 0 ? &p.y : kind == 1 ? &p.x : &p.w;
    prepare(&p, made);
    visit(&p, kind);
    if (draw(2))
        by_functions(handle, &p, kind);
    else
        by_graph(handle, &p, kind);
    compare(made);
    end(&p.x);
    end(&p.w);
    end(&p.y);
}

int main(int count, char **arguments)
{
    cudnnHandle_t handle;
    int rounds = count > 1 ? atoi(arguments[1]) : 150;
    OK(cudnnCreate(&handle));
    for (int round = 0; round < rounds; round++) {
        seed = (unsigned)(round + 1) * 2654435761u;
        one(handle, round);
    }
    OK(cudnnDestroy(handle));
    RT(cudaDeviceReset());
    printf("%d convolutions are right\n", rounds);
    return 0;
}
