/* SPDX-License-Identifier: Apache-2.0 */
/* Products of libcublasLt beside plain loops: layouts by columns and rows, batches, epilogues and their gradients,
 * floats of 8 bits with scales; the algorithm; descriptors; what is refused. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)
#define SET(desc, name, value) \
    OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_##name, &(value), sizeof(value)))
#define PUT(layout, name, value) \
    OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_##name, &(value), sizeof(value)))

enum { M = 300, N = 270, K = 50 }; /* several tiles */

static cublasLtHandle_t handle;
static float *a, *b, *c, *bias, *host; /* of the device, and room for results */
static float ha[M * K], hb[K * N], hc[M * N], hbias[M + N];
static char *aux;

static float number(int i)
{
    return (float)(i * 7 % 17 - 8) / 8;
}

static void begin(void)
{
    for (int i = 0; i < M * K; i++)
        ha[i] = number(i);
    for (int i = 0; i < K * N; i++)
        hb[i] = number(i + 5);
    for (int i = 0; i < M * N; i++)
        hc[i] = number(i + 3);
    for (int i = 0; i < M + N; i++)
        hbias[i] = number(i + 1);
    RT(cudaMemcpy(a, ha, sizeof ha, cudaMemcpyHostToDevice));
    RT(cudaMemcpy(b, hb, sizeof hb, cudaMemcpyHostToDevice));
    RT(cudaMemcpy(c, hc, sizeof hc, cudaMemcpyHostToDevice));
    RT(cudaMemcpy(bias, hbias, sizeof hbias, cudaMemcpyHostToDevice));
}

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static double slope(double x) /* by differences */
{
    return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5;
}

/* The product in plain sums, before the epilogue. */
static double plain(int i, int j)
{
    double sum = 0;
    for (int k = 0; k < K; k++)
        sum += (double)ha[i + k * M] * hb[k + j * K];
    return 0.5 * sum + 2 * hc[i + j * M];
}

static const float half = 0.5f, two = 2;

static void multiply(cublasLtMatmulDesc_t desc)
{
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found[3];
    int count = -1;
    OK(cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, M, K, M));
    OK(cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, K, N, K));
    OK(cublasLtMatrixLayoutCreate(&lc, CUDA_R_32F, M, N, M));
    OK(cublasLtMatmulPreferenceCreate(&preference));
    OK(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, lc, preference, 3, found, &count));
    CHECK(count == 1 && found[0].state == CUBLAS_STATUS_SUCCESS && found[0].workspaceSize == 0);
    OK(cublasLtMatmul(handle, desc, &half, a, la, b, lb, &two, c, lc, c, lc, &found[0].algo, NULL, 0, NULL));
    RT(cudaDeviceSynchronize());
    RT(cudaMemcpy(host, c, sizeof hc, cudaMemcpyDeviceToHost));
    OK(cublasLtMatmulPreferenceDestroy(preference));
    OK(cublasLtMatrixLayoutDestroy(la));
    OK(cublasLtMatrixLayoutDestroy(lb));
    OK(cublasLtMatrixLayoutDestroy(lc));
}

static cublasLtMatmulDesc_t new_desc(cublasLtEpilogue_t epilogue)
{
    cublasLtMatmulDesc_t desc;
    int64_t ld = 384;
    OK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    SET(desc, EPILOGUE, epilogue);
    SET(desc, BIAS_POINTER, bias);
    SET(desc, EPILOGUE_AUX_POINTER, aux);
    SET(desc, EPILOGUE_AUX_LD, ld);
    return desc;
}

static void test_epilogue(cublasLtEpilogue_t epilogue)
{
    begin();
    cublasLtMatmulDesc_t desc = new_desc(epilogue);
    multiply(desc);
    static float stored[384 * N];
    RT(cudaMemcpy(stored, aux, sizeof stored, cudaMemcpyDeviceToHost));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            double x = plain(i, j) + (epilogue & CUBLASLT_EPILOGUE_BIAS ? hbias[i] : 0), y = x;
            if (epilogue & CUBLASLT_EPILOGUE_RELU)
                y = x > 0 ? x : 0;
            if (epilogue & CUBLASLT_EPILOGUE_GELU)
                y = gelu(x);
            CHECK(fabs(host[i + j * M] - y) < 1e-4);
            if ((epilogue & CUBLASLT_EPILOGUE_GELU_AUX) == CUBLASLT_EPILOGUE_GELU_AUX)
                CHECK(fabs(stored[i + j * 384] - x) < 1e-4);
            if ((epilogue & CUBLASLT_EPILOGUE_RELU_AUX) == CUBLASLT_EPILOGUE_RELU_AUX) {
                int bit = i + j * 384;
                CHECK((((unsigned char *)stored)[bit / 8] >> (bit % 8) & 1) == (x >= 0));
            }
        }
    OK(cublasLtMatmulDescDestroy(desc));
}

/* The derivative's factor comes from what the forward product stored: here numbers that are known. */
static void test_back(cublasLtEpilogue_t epilogue)
{
    static float inputs[384 * N], sums[M];
    static unsigned char bits[384 * N / 8];
    bool relu = (epilogue & 8) != 0;
    begin();
    for (int i = 0; i < 384 * N; i++)
        inputs[i] = number(i) * 2;
    for (int i = 0; i < 384 * N / 8; i++)
        bits[i] = (unsigned char)(i * 37);
    RT(cudaMemcpy(aux, relu ? (void *)bits : (void *)inputs, relu ? sizeof bits : sizeof inputs,
                  cudaMemcpyHostToDevice));
    cublasLtMatmulDesc_t desc = new_desc(epilogue);
    multiply(desc);
    RT(cudaMemcpy(sums, bias, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M; i++) {
        double total = 0;
        for (int j = 0; j < N; j++) {
            int at = i + j * 384;
            double y = plain(i, j) * (relu ? bits[at / 8] >> (at % 8) & 1 : slope(inputs[at]));
            CHECK(fabs(host[i + j * M] - y) < 1e-3);
            total += y;
        }
        if (epilogue & 16)
            CHECK(fabs(sums[i] - total) < 1e-2);
    }
    OK(cublasLtMatmulDescDestroy(desc));
}

static void test_gradients(void)
{
    begin();
    float sums[M];
    cublasLtMatmulDesc_t desc = new_desc(CUBLASLT_EPILOGUE_BGRADB);
    multiply(desc);
    RT(cudaMemcpy(sums, bias, N * sizeof *sums, cudaMemcpyDeviceToHost));
    for (int j = 0; j < N; j++) {
        double total = 0;
        for (int k = 0; k < K; k++)
            total += hb[k + j * K];
        CHECK(fabs(sums[j] - total) < 1e-4 && fabs(host[j * M] - plain(0, j)) < 1e-4);
    }
    OK(cublasLtMatmulDescDestroy(desc));
    begin();
    desc = new_desc(CUBLASLT_EPILOGUE_BGRADA);
    multiply(desc);
    RT(cudaMemcpy(sums, bias, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M; i++) {
        double total = 0;
        for (int k = 0; k < K; k++)
            total += ha[i + k * M];
        CHECK(fabs(sums[i] - total) < 1e-4);
    }
    OK(cublasLtMatmulDescDestroy(desc));
}

/* All of A, B and D by rows or by columns, each transposed or not, in a batch of two. */
static void test_orders(int which)
{
    enum { ROWS = 20, COLUMNS = 12, DEPTH = 9, BATCH = 2 };
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t layouts[3];
    bool transposed[3] = {which & 1, which & 2, false}, by_rows[3] = {which & 4, which & 8, which & 16};
    int sizes[3][2] = {{ROWS, DEPTH}, {DEPTH, COLUMNS}, {ROWS, COLUMNS}};
    begin();
    OK(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    cublasOperation_t op = CUBLAS_OP_T;
    if (transposed[0])
        SET(&desc, TRANSA, op);
    if (transposed[1])
        SET(&desc, TRANSB, op);
    for (int i = 0; i < 3; i++) {
        int rows = sizes[i][transposed[i]], columns = sizes[i][!transposed[i]];
        int32_t order = by_rows[i] ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL, batch = BATCH;
        int64_t stride = 500;
        OK(cublasLtMatrixLayoutInit(&layouts[i], CUDA_R_32F, (uint64_t)rows, (uint64_t)columns,
                                    (by_rows[i] ? columns : rows) + 1));
        PUT(&layouts[i], ORDER, order);
        PUT(&layouts[i], BATCH_COUNT, batch);
        PUT(&layouts[i], STRIDED_BATCH_OFFSET, stride);
    }
    OK(cublasLtMatmul(handle, &desc, &half, a, &layouts[0], b, &layouts[1], &two, c, &layouts[2], c, &layouts[2], NULL,
                      NULL, 0, NULL));
    RT(cudaDeviceSynchronize());
    RT(cudaMemcpy(host, c, sizeof hc, cudaMemcpyDeviceToHost));
#define AT(m, i, j) \
    ((transposed[m] ? !by_rows[m] : by_rows[m]) ? (i) * (sizes[m][1] + 1) + (j) : (i) + (j) * (sizes[m][0] + 1))
    for (int member = 0; member < BATCH; member++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                double sum = 0;
                for (int k = 0; k < DEPTH; k++)
                    sum += (double)ha[member * 500 + AT(0, i, k)] * hb[member * 500 + AT(1, k, j)];
                int at = member * 500 + AT(2, i, j);
                CHECK(fabs(host[at] - (0.5 * sum + 2 * hc[at])) < 1e-5);
            }
}

/* Floats of 8 bits, with factors in device memory. */
static void test_small(void)
{
    enum { SIZE = 16 };
    unsigned char bytes[SIZE * SIZE];
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t in, out;
    float one = 1, zero = 0, factors[2] = {2, 0.25f}, got[SIZE * SIZE];
    cublasOperation_t op = CUBLAS_OP_T;
    for (int i = 0; i < SIZE * SIZE; i++)
        bytes[i] = i % 3 == 0 ? 0x38 : i % 3 == 1 ? 0xc0 : 0x01; /* 1, -2, 2^-9 in E4M3 */
    RT(cudaMemcpy(a, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    RT(cudaMemcpy(bias, factors, sizeof factors, cudaMemcpyHostToDevice));
    OK(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    SET(&desc, TRANSA, op);
    float *pointer = bias;
    SET(&desc, A_SCALE_POINTER, pointer);
    pointer = bias + 1;
    SET(&desc, B_SCALE_POINTER, pointer);
    OK(cublasLtMatrixLayoutInit(&in, CUDA_R_8F_E4M3, SIZE, SIZE, SIZE));
    OK(cublasLtMatrixLayoutInit(&out, CUDA_R_32F, SIZE, SIZE, SIZE));
    OK(cublasLtMatmul(handle, &desc, &one, a, &in, a, &in, &zero, c, &out, c, &out, NULL, NULL, 0, NULL));
    RT(cudaDeviceSynchronize());
    RT(cudaMemcpy(got, c, sizeof got, cudaMemcpyDeviceToHost));
    static const double values[] = {1, -2, 0x1p-9};
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += values[(k + i * SIZE) % 3] * values[(k + j * SIZE) % 3];
            CHECK(fabs(got[i + j * SIZE] - 0.5 * sum) < 1e-5);
        }
}

static void test_refusals(void)
{
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t l, odd;
    cublasLtMatmulAlgo_t foreign = {{0}};
    size_t size = 0;
    int32_t order = CUBLASLT_ORDER_COL32, type = -1;
    float one = 1;
    OK(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    OK(cublasLtMatrixLayoutInit(&l, CUDA_R_32F, 8, 8, 8));
    OK(cublasLtMatrixLayoutInit(&odd, CUDA_R_32F, 8, 9, 8));
#define TRY(a_layout, algo) \
    cublasLtMatmul(handle, &desc, &one, a, a_layout, b, &l, &one, c, &l, c, &l, algo, NULL, 0, NULL)
    OK(TRY(&l, NULL));
    CHECK(TRY(&odd, NULL) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(TRY(&l, &foreign) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(TRY(NULL, NULL) == CUBLAS_STATUS_INVALID_VALUE);
    PUT(&odd, ORDER, order);
    CHECK(TRY(&odd, NULL) == CUBLAS_STATUS_INVALID_VALUE);
    order = 9;
    PUT(&odd, ORDER, order);
    CHECK(TRY(&odd, NULL) == CUBLAS_STATUS_NOT_SUPPORTED);
    OK(cublasLtMatmulDescGetAttribute(&desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type, &size));
    CHECK(type == -1 && size == 4);
    CHECK(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, &size, 8) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cublasLtMatmulDescSetAttribute(&desc, (cublasLtMatmulDescAttributes_t)99, &size, 8) ==
          CUBLAS_STATUS_INVALID_VALUE);
    cublasLtHandle_t other;
    OK(cublasLtCreate(&other));
    OK(cublasLtDestroy(other));
    CHECK(cublasLtDestroy(other) == CUBLAS_STATUS_NOT_INITIALIZED);
    CHECK(cublasLtMatmul(other, &desc, &one, a, &l, b, &l, &one, c, &l, c, &l, NULL, NULL, 0, NULL) ==
          CUBLAS_STATUS_NOT_INITIALIZED);
    /* A handle of cuBLAS is one of cuBLASLt. */
    cublasHandle_t blas;
    OK(cublasCreate(&blas));
    OK(cublasLtMatmul((cublasLtHandle_t)blas, &desc, &one, a, &l, b, &l, &one, c, &l, c, &l, NULL, NULL, 0, NULL));
    OK(cublasDestroy(blas));
}

int main(void)
{
    OK(cublasLtCreate(&handle));
    RT(cudaMalloc((void **)&a, sizeof ha));
    RT(cudaMalloc((void **)&b, sizeof hb));
    RT(cudaMalloc((void **)&c, sizeof hc));
    RT(cudaMalloc((void **)&bias, sizeof hbias));
    RT(cudaMalloc((void **)&aux, 384 * N * 4));
    host = malloc(sizeof hc);
    static const cublasLtEpilogue_t forward[] = {CUBLASLT_EPILOGUE_DEFAULT,       CUBLASLT_EPILOGUE_RELU,
                                                 CUBLASLT_EPILOGUE_BIAS,          CUBLASLT_EPILOGUE_RELU_BIAS,
                                                 CUBLASLT_EPILOGUE_RELU_AUX,      CUBLASLT_EPILOGUE_GELU,
                                                 CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_GELU_AUX,
                                                 CUBLASLT_EPILOGUE_GELU_BIAS,     CUBLASLT_EPILOGUE_GELU_AUX_BIAS};
    static const cublasLtEpilogue_t back[] = {CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD,
                                              CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_DGELU_BGRAD};
    for (unsigned i = 0; i < sizeof forward / sizeof *forward; i++)
        test_epilogue(forward[i]);
    for (unsigned i = 0; i < sizeof back / sizeof *back; i++)
        test_back(back[i]);
    test_gradients();
    for (int i = 0; i < 32; i++)
        test_orders(i);
    test_small();
    test_refusals();
    OK(cublasLtDestroy(handle));
    return 0;
}
