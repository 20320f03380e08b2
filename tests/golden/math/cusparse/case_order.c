/* SPDX-License-Identifier: Apache-2.0 */
/* cuSPARSE in stream order: behind and before kernels, in captures and graphs, with scalars on the host and the device.
 */
#include "sp.h"

#include <string.h>

#define N CUSPARSE_OPERATION_NON_TRANSPOSE

static unsigned float_bits(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A matrix with one entry, and vectors of one element. */
struct tiny {
    struct sp s;
    cudaStream_t stream;
    float *a, *x, *y;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t from, to;
    void *buffer;
};

static struct tiny tiny(void)
{
    struct tiny t = {.s = sp_begin('S'), .stream = rt_stream(cudaStreamNonBlocking)};
    int offsets[2] = {0, 1}, column = 0, three = 3;
    t.a = sp_elements(&t.s, &three, 1);
    t.x = sp_elements(&t.s, &three, 1);
    t.y = sp_elements(&t.s, &three, 1);
    SP_NEED(cusparseCreateCsr(&t.matrix, 1, 1, 1, sp_indices(&t.s, offsets, 2), sp_indices(&t.s, &column, 1), t.a,
                              t.s.index, t.s.index, t.s.from, t.s.data));
    t.from = sp_vector(&t.s, 1, t.x);
    t.to = sp_vector(&t.s, 1, t.y);
    t.buffer = sp_room(4096);
    /* Hardware waits for the device when it loads a kernel. */
    SP_NEED(cusparseSpMV(t.s.h, N, sp_scalar(&t.s, 1), t.matrix, t.from, sp_scalar(&t.s, 0), t.to, CUDA_R_32F,
                         CUSPARSE_SPMV_ALG_DEFAULT, t.buffer));
    RT_NEED(cudaDeviceSynchronize());
    SP_NEED(cusparseSetStream(t.s.h, t.stream));
    return t;
}

static cusparseStatus_t multiply(const struct tiny *t, const void *alpha, const void *beta)
{
    return cusparseSpMV(t->s.h, N, alpha, t->matrix, t->from, beta, t->to, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                        t->buffer);
}

CASE(sparse_order, kernel_product_kernel)
{
    struct tiny t = tiny();
    float alpha = 2, beta = 0;
    struct rt_gate gate = rt_gate_close(t.stream);
    rt_store(t.stream, t.a, float_bits(3));
    rt_store(t.stream, t.x, float_bits(5));
    sp(multiply(&t, &alpha, &beta));
    alpha = 100;
    rt_store(t.stream, t.x, float_bits(7));
    rt(cudaStreamQuery(t.stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(t.stream));
    sp_say(&t.s, t.y, 1);
}

CASE(sparse_order, scalars_device)
{
    struct tiny t = tiny();
    float *alpha = sp_room(4), *beta = sp_room(4);
    SP_NEED(cusparseSetPointerMode(t.s.h, CUSPARSE_POINTER_MODE_DEVICE));
    struct rt_gate gate = rt_gate_close(t.stream);
    rt_store(t.stream, alpha, float_bits(4));
    rt_store(t.stream, beta, float_bits(2));
    rt_store(t.stream, t.y, float_bits(1));
    sp(multiply(&t, alpha, beta));
    rt_store(t.stream, alpha, float_bits(100));
    rt_gate_open(gate);
    sp_say(&t.s, t.y, 1);
}

/* The descriptions may go as soon as the call has returned. */
CASE(sparse_order, descriptions_gone)
{
    struct tiny t = tiny();
    float alpha = 2, beta = 0;
    struct rt_gate gate = rt_gate_close(t.stream);
    sp(multiply(&t, &alpha, &beta));
    sp(cusparseDestroySpMat(t.matrix));
    sp(cusparseDestroyDnVec(t.from));
    sp(cusparseDestroyDnVec(t.to));
    rt_gate_open(gate);
    sp_say(&t.s, t.y, 1);
}

CASE(sparse_order, captured)
{
    struct tiny t = tiny();
    float alpha = 2, beta = 1;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    RT_NEED(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeThreadLocal));
    rt_add(t.stream, sp_room(4), 1);
    sp(multiply(&t, &alpha, &beta));
    alpha = 50;
    rt(cudaStreamEndCapture(t.stream, &graph));
    sp_say(&t.s, t.y, 1);
    rt(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        RT_NEED(cudaGraphLaunch(exec, t.stream));
    sp_say(&t.s, t.y, 1);
}

/* A result for the host can't be waited for. */
CASE(sparse_order, capture_host_result)
{
    struct tiny t = tiny();
    float result = 0;
    int place = 0;
    cudaGraph_t graph = NULL;
    cusparseSpVecDescr_t v;
    SP_NEED(cusparseCreateSpVec(&v, 1, 1, sp_indices(&t.s, &place, 1), t.a, t.s.index, t.s.from, t.s.data));
    SP_NEED(cusparseSpVV(t.s.h, N, v, t.from, &result, CUDA_R_32F, t.buffer));
    RT_NEED(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeThreadLocal));
    sp(cusparseSpVV(t.s.h, N, v, t.from, &result, CUDA_R_32F, t.buffer));
    rt(cudaStreamEndCapture(t.stream, &graph));
}

CASE(sparse_order, capture_analysis, .allow = "INTERNAL_ERROR cudaSuccess",
     .why = "hardware answers either from run to run")
{
    struct tiny t = tiny();
    cudaGraph_t graph = NULL;
    cusparseDnMatDescr_t dense = sp_dense(&t.s, 1, 1, t.x, CUSPARSE_ORDER_ROW);
    cusparseSpMatDescr_t made;
    SP_NEED(cusparseCreateCsr(&made, 1, 1, 0, sp_room(8), NULL, NULL, t.s.index, t.s.index, t.s.from, t.s.data));
    SP_NEED(cusparseDenseToSparse_analysis(t.s.h, dense, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, t.buffer));
    RT_NEED(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeThreadLocal));
    sp(cusparseDenseToSparse_analysis(t.s.h, dense, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, t.buffer));
    rt(cudaStreamEndCapture(t.stream, &graph));
}

CASE(sparse_order, events)
{
    struct tiny t = tiny();
    float alpha = 2, beta = 0;
    cudaEvent_t before = rt_event(0), after = rt_event(0);
    struct rt_gate gate = rt_gate_close(t.stream);
    RT_NEED(cudaEventRecord(before, t.stream));
    sp(multiply(&t, &alpha, &beta));
    RT_NEED(cudaEventRecord(after, t.stream));
    rt(cudaEventQuery(after));
    rt_gate_open(gate);
    rt(cudaEventSynchronize(after));
    rt(cudaEventQuery(before));
    sp_say(&t.s, t.y, 1);
}
