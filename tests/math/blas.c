/* SPDX-License-Identifier: Apache-2.0 */
/* libcublas beside plain loops: sizes over several tiles, strips and blocks, all types, mixed types, batches and
 * systems of equations; several threads and handles at once. (Small sizes, statuses and order: tests/golden/math.) */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

typedef double complex number;

static cublasHandle_t handle;

/* A column-major matrix of a type, in device memory, with its values beside it. */
struct matrix {
    cudaDataType type;
    int rows, columns, ld;
    void *device;
    number *host;
};

static size_t size_of(cudaDataType type)
{
    switch ((int)type) {
    case CUDA_R_8I:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
        return 4;
    case CUDA_C_64F:
        return 16;
    default:
        return 8;
    }
}

static bool is_complex(cudaDataType type)
{
    return type == CUDA_C_32F || type == CUDA_C_64F;
}

/* Halves of small numbers: all bits below are zero, so that cutting is exact. */
static unsigned short half_of(float value)
{
    unsigned bits;
    memcpy(&bits, &value, 4);
    return (unsigned short)(value == 0
                                ? 0
                                : (bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 0x3ff));
}

static float float_of(unsigned short half)
{
    float value = ldexpf((float)((half & 0x3ff) | 0x400), (half >> 10 & 31) - 25);
    if ((half & 0x7c00) == 0)
        value = ldexpf((float)(half & 0x3ff), -24);
    return half & 0x8000 ? -value : value;
}

static void put(cudaDataType type, void *at, size_t i, number value)
{
    float single = (float)creal(value);
    unsigned bits;
    memcpy(&bits, &single, 4);
    switch ((int)type) {
    case CUDA_R_8I:
        ((signed char *)at)[i] = (signed char)creal(value);
        break;
    case CUDA_R_16F:
        ((unsigned short *)at)[i] = half_of(single);
        break;
    case CUDA_R_16BF:
        ((unsigned short *)at)[i] = (unsigned short)(bits >> 16);
        break;
    case CUDA_R_32F:
        ((float *)at)[i] = single;
        break;
    case CUDA_R_32I:
        ((int *)at)[i] = (int)creal(value);
        break;
    case CUDA_R_64F:
        ((double *)at)[i] = creal(value);
        break;
    case CUDA_C_32F:
        ((float complex *)at)[i] = (float complex)value;
        break;
    default:
        ((number *)at)[i] = value;
    }
}

static number get(cudaDataType type, const void *at, size_t i)
{
    unsigned bits;
    float single;
    switch ((int)type) {
    case CUDA_R_16F:
        return float_of(((const unsigned short *)at)[i]);
    case CUDA_R_16BF:
        bits = (unsigned)((const unsigned short *)at)[i] << 16;
        memcpy(&single, &bits, 4);
        return single;
    case CUDA_R_32F:
        return ((const float *)at)[i];
    case CUDA_R_32I:
        return ((const int *)at)[i];
    case CUDA_R_64F:
        return ((const double *)at)[i];
    case CUDA_C_32F:
        return ((const float complex *)at)[i];
    default:
        return ((const number *)at)[i];
    }
}

static unsigned next(void)
{
    static unsigned state = 1;
    return state = state * 1664525u + 1013904223u;
}

/* Numbers with few bits, -2 to 2; `heavy`: with a large diagonal. */
static struct matrix new_matrix(cudaDataType type, int rows, int columns, int ld, bool heavy)
{
    struct matrix m = {type, rows, columns, ld, NULL, calloc((size_t)ld * (size_t)columns, sizeof *m.host)};
    void *bytes = malloc((size_t)ld * (size_t)columns * size_of(type));
    int steps = type == CUDA_R_8I || type == CUDA_R_32I ? 1 : 8;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < ld; i++) {
            number value = (double)((int)(next() >> 16) % (4 * steps + 1) - 2 * steps) / steps;
            if (is_complex(type))
                value += I * ((int)(next() >> 16) % 33 - 16) / 8;
            if (heavy && i == j)
                value = 4 * rows;
            m.host[i + (size_t)j * (size_t)ld] = value;
            put(type, bytes, (size_t)i + (size_t)j * (size_t)ld, value);
        }
    RT(cudaMalloc(&m.device, (size_t)ld * (size_t)columns * size_of(type)));
    RT(cudaMemcpy(m.device, bytes, (size_t)ld * (size_t)columns * size_of(type), cudaMemcpyHostToDevice));
    free(bytes);
    return m;
}

static void end_matrix(struct matrix *m)
{
    RT(cudaFree(m->device));
    free(m->host);
}

static number element(const struct matrix *m, cublasOperation_t op, int i, int j)
{
    number value = op == CUBLAS_OP_N ? m->host[i + (size_t)j * (size_t)m->ld] : m->host[j + (size_t)i * (size_t)m->ld];
    return op == CUBLAS_OP_C ? conj(value) : value;
}

/* Is the device's matrix what m->host says, within `error` of numbers as large as `scale`? */
static void compare(const struct matrix *m, double error, double scale, const char *what)
{
    size_t count = (size_t)m->ld * (size_t)m->columns;
    void *bytes = malloc(count * size_of(m->type));
    RT(cudaDeviceSynchronize());
    RT(cudaMemcpy(bytes, m->device, count * size_of(m->type), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        number got = get(m->type, bytes, i), wanted = m->host[i];
        if (!(cabs(got - wanted) <= error * scale)) {
            fprintf(stderr, "%s: element %zu is %.9g%+.9gi and should be %.9g%+.9gi\n", what, i, creal(got), cimag(got),
                    creal(wanted), cimag(wanted));
            exit(1);
        }
    }
    free(bytes);
}

/* The last bit of a number of the type, at 1. */
static double unit(cudaDataType type)
{
    return type == CUDA_R_16F                         ? 0x1p-10
           : type == CUDA_R_16BF                      ? 0x1p-7
           : type == CUDA_R_32F || type == CUDA_C_32F ? 0x1p-23
                                                      : 0x1p-52;
}

static const void *scalar(cudaDataType type, number value)
{
    static _Alignas(16) unsigned char room[8][16];
    static unsigned turn;
    unsigned char *at = room[turn++ % 8];
    put(type, at, 0, value);
    return at;
}

static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

static void test_gemm(cudaDataType ab, cudaDataType ct, cudaDataType scale, cublasComputeType_t compute, int m, int n,
                      int k, cublasOperation_t ta, cublasOperation_t tb)
{
    struct matrix a =
        new_matrix(ab, ta == CUBLAS_OP_N ? m : k, ta == CUBLAS_OP_N ? k : m, (ta == CUBLAS_OP_N ? m : k) + 3, false);
    struct matrix b =
        new_matrix(ab, tb == CUBLAS_OP_N ? k : n, tb == CUBLAS_OP_N ? n : k, (tb == CUBLAS_OP_N ? k : n) + 1, false);
    struct matrix c = new_matrix(ct, m, n, m + 5, false);
    number alpha = is_complex(scale) ? 2 - I : 2, beta = 3;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            number sum = 0;
            for (int l = 0; l < k; l++)
                sum += element(&a, ta, i, l) * element(&b, tb, l, j);
            number *at = &c.host[i + (size_t)j * (size_t)c.ld];
            *at = alpha * sum + beta * *at;
        }
    OK(cublasGemmEx(handle, ta, tb, m, n, k, scalar(scale, alpha), a.device, ab, a.ld, b.device, ab, b.ld,
                    scalar(scale, beta), c.device, ct, c.ld, compute, CUBLAS_GEMM_DEFAULT));
    compare(&c, ct == CUDA_R_32I ? 0 : unit(ct), 8.0 * (k + 4), "gemm");
    end_matrix(&a);
    end_matrix(&b);
    end_matrix(&c);
}

static void test_products(void)
{
    static const int sizes[][3] = {{1, 1, 1},      {300, 280, 70}, {600, 20, 90},
                                   {20, 700, 130}, {513, 257, 33}, {3, 5, 2000}};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int i = 0; i < 9; i++) {
            int m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
            cublasOperation_t ta = ops[i / 3], tb = ops[i % 3];
            bool once = s == 1 || i == 1;
            test_gemm(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, m, n, k, ta, tb);
            test_gemm(CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F, m, n, k, ta, tb);
            if (!once)
                continue;
            test_gemm(CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, m, n, k, ta, tb);
            test_gemm(CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F, m, n, k, ta, tb);
            test_gemm(CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, m, n, k, ta, tb);
            test_gemm(CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, m, n, k, ta, tb);
            test_gemm(CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, m, n, k, ta, tb);
            test_gemm(CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, m, n, k, ta, tb);
            test_gemm(CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF, m, n, k, ta, tb);
            test_gemm(CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, m, n, k, ta, tb);
            test_gemm(CUDA_R_8I, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, m, n, k, ta, tb);
        }
}

/* A product of matrices that are known to be special, by the general one. */
static void test_special(cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op)
{
    int m = 300, n = 150, order = side == CUBLAS_SIDE_LEFT ? m : n;
    struct matrix a = new_matrix(CUDA_C_64F, order, order, order + 2, true), full = a;
    struct matrix b = new_matrix(CUDA_C_64F, m, n, m + 1, false), c = new_matrix(CUDA_C_64F, m, n, m, false);
    bool lower = fill == CUBLAS_FILL_MODE_LOWER, left = side == CUBLAS_SIDE_LEFT;
    cuDoubleComplex one = {1, 0}, two = {2, 1}, zero = {0, 0};
    /* Symmetric. */
    full.host = malloc((size_t)a.ld * (size_t)order * sizeof(number));
    for (int j = 0; j < order; j++)
        for (int i = 0; i < order; i++)
            full.host[i + (size_t)j * (size_t)a.ld] =
                (lower ? i >= j : i <= j) ? a.host[i + (size_t)j * (size_t)a.ld] : a.host[j + (size_t)i * (size_t)a.ld];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            number sum = 0;
            for (int l = 0; l < order; l++)
                sum += left ? element(&full, CUBLAS_OP_N, i, l) * element(&b, CUBLAS_OP_N, l, j)
                            : element(&b, CUBLAS_OP_N, i, l) * element(&full, CUBLAS_OP_N, l, j);
            c.host[i + (size_t)j * (size_t)c.ld] = (2 + I) * sum;
        }
    OK(cublasZsymm(handle, side, fill, m, n, &two, a.device, a.ld, b.device, b.ld, &zero, c.device, c.ld));
    compare(&c, 0x1p-52, 1e5, "symm");
    /* A solution times its triangle is the right side again. */
    OK(cublasZcopy(handle, m * n, c.device, 1, b.device, 1));
    b.ld = m;
    OK(cublasZtrsm(handle, side, fill, op, CUBLAS_DIAG_NON_UNIT, m, n, &one, a.device, a.ld, b.device, b.ld));
    OK(cublasZtrmm(handle, side, fill, op, CUBLAS_DIAG_NON_UNIT, m, n, &one, a.device, a.ld, b.device, b.ld, c.device,
                   c.ld));
    compare(&c, 0x1p-52, 1e6, "trsm and trmm");
    free(full.host);
    end_matrix(&a);
    end_matrix(&b);
    end_matrix(&c);
}

/* Updates of a triangle over several blocks, beside plain sums. */
static void test_updates(cublasFillMode_t fill, bool transposed)
{
    int n = 600, k = 40;
    cublasOperation_t op = transposed ? CUBLAS_OP_C : CUBLAS_OP_N, other = transposed ? CUBLAS_OP_N : CUBLAS_OP_C;
    struct matrix a = new_matrix(CUDA_C_64F, transposed ? k : n, transposed ? n : k, (transposed ? k : n) + 2, false);
    struct matrix b = new_matrix(CUDA_C_64F, transposed ? k : n, transposed ? n : k, (transposed ? k : n) + 1, false);
    cuDoubleComplex alpha = {2, 1};
    double one = 1, three = 3;
    for (int kind = 0; kind < 3; kind++) {
        struct matrix c = new_matrix(CUDA_C_64F, n, n, n + 1, true);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                if (fill == CUBLAS_FILL_MODE_LOWER ? i < j : i > j)
                    continue;
                number sum = 0, *at = &c.host[i + (size_t)j * (size_t)c.ld];
                for (int l = 0; l < k; l++) {
                    number x = element(&a, op, i, l) * element(kind == 1 ? &b : &a, other, l, j);
                    number y = element(&b, op, i, l) * element(&a, other, l, j);
                    sum += kind == 0 ? x : kind == 1 ? (2 + I) * x + (2 - I) * y : 3 * x;
                }
                *at = 3 * (i == j ? creal(*at) : *at) + sum;
                if (i == j)
                    *at = creal(*at);
            }
        cuDoubleComplex just3 = {3, 0};
        if (kind == 0)
            OK(cublasZherk(handle, fill, op, n, k, &one, a.device, a.ld, &three, c.device, c.ld));
        else if (kind == 1)
            OK(cublasZher2k(handle, fill, op, n, k, &alpha, a.device, a.ld, b.device, b.ld, &three, c.device, c.ld));
        else
            OK(cublasZherkx(handle, fill, op, n, k, &just3, a.device, a.ld, a.device, a.ld, &three, c.device, c.ld));
        compare(&c, 0x1p-52, 1e5, kind == 0 ? "herk" : kind == 1 ? "her2k" : "herkx");
        end_matrix(&c);
    }
    end_matrix(&a);
    end_matrix(&b);
}

/* Vectors and matrices with vectors, over several parts. */
static void test_vectors(void)
{
    int n = 300001, m = 900, columns = 700;
    struct matrix x = new_matrix(CUDA_R_64F, n, 1, n, false), y = new_matrix(CUDA_R_64F, n, 1, n, false);
    double two = 2, minus = -1, got, sum = 0, square = 0;
    for (int i = 0; i < n; i++) {
        sum += creal(x.host[i] * y.host[i]);
        square += creal(x.host[i] * x.host[i]);
        y.host[i] += 2 * x.host[n - 1 - i];
    }
    OK(cublasDdot(handle, n, x.device, 1, y.device, 1, &got));
    CHECK(fabs(got - sum) < 1e-6);
    OK(cublasDnrm2(handle, n, x.device, 1, &got));
    CHECK(fabs(got - sqrt(square)) < 1e-6);
    OK(cublasDaxpy(handle, n, &two, x.device, -1, y.device, 1));
    compare(&y, 0, 1, "axpy");
    struct matrix a = new_matrix(CUDA_R_64F, m, columns, m, false);
    for (int way = 0; way < 4; way++) {
        bool plain = way < 2, back = way % 2;
        struct matrix z = new_matrix(CUDA_R_64F, plain ? m : columns, 1, plain ? m : columns, false);
        for (int i = 0; i < z.rows; i++) {
            double total = 0;
            for (int l = 0; l < (plain ? columns : m); l++)
                total += creal(element(&a, plain ? CUBLAS_OP_N : CUBLAS_OP_T, i, l) * x.host[l]);
            int place = back ? z.rows - 1 - i : i;
            z.host[place] = 2 * total - z.host[place];
        }
        OK(cublasDgemv(handle, plain ? CUBLAS_OP_N : CUBLAS_OP_T, m, columns, &two, a.device, m, x.device, 1, &minus,
                       z.device, back ? -1 : 1));
        compare(&z, 1e-9, 1, "gemv");
        end_matrix(&z);
    }
    end_matrix(&a);
    end_matrix(&x);
    end_matrix(&y);
}

/* Small systems: the solution of each, and the inverse, by LU with exchanges and without. */
static void test_systems(bool pivots)
{
    enum { N = 20, BATCH = 50 };
    struct matrix a = new_matrix(CUDA_R_64F, N, N * BATCH, N, false), b = new_matrix(CUDA_R_64F, N, BATCH, N, false);
    struct matrix inverse = new_matrix(CUDA_R_64F, N, N * BATCH, N, false),
                  x = new_matrix(CUDA_R_64F, N, BATCH, N, false);
    double *pointers[3][BATCH], **device[3], one = 1, zero = 0;
    int *pivot, *info, host_info = -1, infos[BATCH];
    for (int i = 0; i < BATCH; i++) { /* diagonally dominant, so that exchanges are not needed */
        for (int j = 0; j < N; j++)
            a.host[j + (size_t)(i * N + j) * N] = 100 + j;
        pointers[0][i] = (double *)a.device + i * N * N;
        pointers[1][i] = (double *)b.device + i * N;
        pointers[2][i] = (double *)inverse.device + i * N * N;
    }
    double *plain = malloc(sizeof(double) * N * N * BATCH);
    for (int i = 0; i < N * N * BATCH; i++)
        plain[i] = creal(a.host[i]);
    RT(cudaMemcpy(a.device, plain, sizeof(double) * N * N * BATCH, cudaMemcpyHostToDevice));
    for (int i = 0; i < 3; i++) {
        RT(cudaMalloc((void **)&device[i], sizeof pointers[i]));
        RT(cudaMemcpy(device[i], pointers[i], sizeof pointers[i], cudaMemcpyHostToDevice));
    }
    RT(cudaMalloc((void **)&pivot, sizeof(int) * N * BATCH));
    RT(cudaMalloc((void **)&info, sizeof infos));
    int *use = pivots ? pivot : NULL;
    RT(cudaMemcpy(x.device, b.device, sizeof(double) * N * BATCH, cudaMemcpyDeviceToDevice));
    OK(cublasDgetrfBatched(handle, N, device[0], N, use, info, BATCH));
    OK(cublasDgetrsBatched(handle, CUBLAS_OP_N, N, 1, (const double *const *)device[0], N, use, device[1], N,
                           &host_info, BATCH));
    CHECK(host_info == 0);
    OK(cublasDgetriBatched(handle, N, (const double *const *)device[0], N, use, device[2], N, info, BATCH));
    RT(cudaMemcpy(infos, info, sizeof infos, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BATCH; i++)
        CHECK(infos[i] == 0);
    /* b is the solution: a b is the right side; and so is the inverse times that side. */
    RT(cudaMemcpy(a.device, plain, sizeof(double) * N * N * BATCH, cudaMemcpyHostToDevice));
    OK(cublasDgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, 1, N, &one, inverse.device, N, N * N, x.device, N,
                                 N, &zero, a.device, N, N, BATCH));
    double solved[N * BATCH], again[N * BATCH];
    RT(cudaMemcpy(again, a.device, sizeof again, cudaMemcpyDeviceToHost));
    RT(cudaMemcpy(solved, b.device, sizeof solved, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N * BATCH; i++)
        CHECK(fabs(solved[i] - again[i]) < 1e-12);
    for (int i = 0; i < BATCH; i++)
        for (int r = 0; r < N; r++) {
            double sum = 0;
            for (int c = 0; c < N; c++)
                sum += plain[r + c * N + i * N * N] * solved[c + i * N];
            CHECK(fabs(sum - creal(x.host[r + i * N]) + creal(x.host[r + i * N]) - creal(b.host[r + i * N])) < 1e-10);
        }
    free(plain);
    for (int i = 0; i < 3; i++)
        RT(cudaFree(device[i]));
    RT(cudaFree(pivot));
    RT(cudaFree(info));
    end_matrix(&a);
    end_matrix(&b);
    end_matrix(&inverse);
    end_matrix(&x);
}

/* Threads with handles and streams of their own, which multiply at once. */
static void *multiply(void *argument)
{
    cublasHandle_t own;
    cudaStream_t stream;
    float *memory, host[64 * 64], one = 1, zero = 0, start = (float)(long)argument;
    OK(cublasCreate(&own));
    RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cublasSetStream(own, stream));
    RT(cudaMalloc((void **)&memory, 2 * sizeof host));
    for (int i = 0; i < 64 * 64; i++)
        host[i] = i % 65 == 0 ? start : 0;
    for (int round = 0; round < 200; round++) { /* start times the unit matrix, squared, root drawn by the host */
        RT(cudaMemcpyAsync(memory, host, sizeof host, cudaMemcpyHostToDevice, stream));
        OK(cublasSgemm(own, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &one, memory, 64, memory, 64, &zero, memory + 64 * 64,
                       64));
        float got[64 * 64], sum;
        OK(cublasSasum(own, 64 * 64, memory + 64 * 64, 1, &sum));
        CHECK(sum == 64 * start * start);
        RT(cudaMemcpyAsync(got, memory + 64 * 64, sizeof got, cudaMemcpyDeviceToHost, stream));
        RT(cudaStreamSynchronize(stream));
        CHECK(got[0] == start * start && got[1] == 0);
    }
    OK(cublasDestroy(own));
    CHECK(cublasSasum(own, 1, memory, 1, host) == CUBLAS_STATUS_NOT_INITIALIZED);
    RT(cudaFree(memory));
    RT(cudaStreamDestroy(stream));
    return NULL;
}

/* A complex matrix times a vector with gaps at the end of its memory, forwards and backwards. */
static void test_gaps(void)
{
    enum { M = 66, N = 5, LD = 73, STEP = 100, BYTES = ((N - 1) * STEP + 1) * 8 };
    char *memory;
    cuComplex *matrix, *y, one = {1, 0}, zero = {0, 0};
    RT(cudaMalloc((void **)&memory, 8192));
    RT(cudaMalloc((void **)&matrix, sizeof *matrix * LD * N));
    RT(cudaMalloc((void **)&y, sizeof *y * M));
    float complex a[LD * N] = {0}, side[N * STEP] = {0}, got[M];
    for (int i = 0; i < LD * (N - 1) + M; i++)
        a[i] = (float)(i % 7) + (float)(i % 5) * (float complex)I;
    for (int i = 0; i < N; i++)
        side[i * STEP] = (float)(i + 1) - (float complex)I;
    cuComplex *x = (cuComplex *)(void *)(memory + 8192 - BYTES);
    RT(cudaMemcpy(matrix, a, sizeof a, cudaMemcpyHostToDevice));
    RT(cudaMemcpy(x, side, BYTES, cudaMemcpyHostToDevice));
    for (int back = 0; back < 2; back++) {
        OK(cublasCgemv(handle, CUBLAS_OP_N, M, N, &one, matrix, LD, x, back ? -STEP : STEP, &zero, y, 1));
        RT(cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost));
        for (int i = 0; i < M; i++) {
            float complex sum = 0;
            for (int j = 0; j < N; j++)
                sum += a[i + j * LD] * side[(back ? N - 1 - j : j) * STEP];
            CHECK(cabsf(sum - got[i]) < 1e-3f);
        }
    }
    RT(cudaFree(memory));
    RT(cudaFree(matrix));
    RT(cudaFree(y));
}

/* Sums of matrices. Long columns are transposed by tiles, of which the last are cut. */
static void test_sums(cudaDataType type, int m, int n)
{
    for (int i = 0; i < 9; i++) {
        cublasOperation_t ta = ops[i % 3], tb = ops[i / 3];
        struct matrix a = new_matrix(type, ta ? n : m, ta ? m : n, (ta ? n : m) + 1, false);
        struct matrix b = new_matrix(type, tb ? n : m, tb ? m : n, (tb ? n : m) + 2, false);
        struct matrix c = new_matrix(type, m, n, m + 3, false);
        const void *alpha = scalar(type, 2), *beta = scalar(type, -0.5);
        for (int column = 0; column < n; column++)
            for (int row = 0; row < m; row++)
                c.host[row + (size_t)column * (size_t)c.ld] =
                    2 * element(&a, ta, row, column) - 0.5 * element(&b, tb, row, column);
        if (type == CUDA_R_32F)
            OK(cublasSgeam(handle, ta, tb, m, n, alpha, a.device, a.ld, beta, b.device, b.ld, c.device, c.ld));
        else
            OK(cublasZgeam(handle, ta, tb, m, n, alpha, a.device, a.ld, beta, b.device, b.ld, c.device, c.ld));
        compare(&c, unit(type), 8, "geam");
        end_matrix(&a);
        end_matrix(&b);
        end_matrix(&c);
    }
}

/* Factors of 0, as an H100 takes those of the host: a product's A and B are not read, but a vector is multiplied. */
static void test_zero(void)
{
    static const int sizes[] = {4, 33, 300};
    const float zero = 0, two = 2;
    const double wide_zero = 0, wide_two = 2;
    float *a, *c, *x;
    double *wide;
    RT(cudaMallocManaged((void **)&a, 300 * 300 * sizeof *a, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&c, 300 * 300 * sizeof *c, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&wide, 2 * 300 * 300 * sizeof *wide, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&x, 4 * sizeof *x, cudaMemAttachGlobal));
    double *to = wide + 300 * 300;
    for (int i = 0; i < 300 * 300; i++)
        wide[i] = a[i] = NAN;
    for (int k = 0; k < 3; k++) {
        int n = sizes[k];
        for (int i = 0; i < n * n; i++)
            to[i] = c[i] = 1;
        OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &zero, a, n, a, n, &two, c, n));
        OK(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &wide_zero, wide, n, wide, n, &wide_two, to, n));
        RT(cudaDeviceSynchronize());
        for (int i = 0; i < n * n; i++)
            CHECK(c[i] == 2 && to[i] == 2);
        OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &zero, a, CUDA_R_16BF, n, a, CUDA_R_16BF, n, &two, c,
                        CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        RT(cudaDeviceSynchronize());
        for (int i = 0; i < n * n; i++)
            CHECK(c[i] == 4);
    }
    x[0] = NAN, x[1] = INFINITY, x[2] = 7;
    OK(cublasSscal(handle, 3, &zero, x, 1));
    OK(cublasDscal(handle, 1, &wide_zero, wide, 1));
    RT(cudaDeviceSynchronize());
    CHECK(isnan(x[0]) && isnan(x[1]) && x[2] == 0 && isnan(wide[0]));
    RT(cudaFree(a));
    RT(cudaFree(c));
    RT(cudaFree(wide));
    RT(cudaFree(x));
}

int main(void)
{
    pthread_t threads[8];
    OK(cublasCreate(&handle));
    test_products();
    for (int i = 0; i < 12; i++)
        test_special(i & 1 ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT,
                     i & 2 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, ops[i / 4]);
    for (int i = 0; i < 4; i++)
        test_updates(i & 1 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, i & 2);
    test_vectors();
    test_gaps();
    test_zero();
    test_sums(CUDA_R_32F, 30, 40);
    test_sums(CUDA_R_32F, 33001, 37);
    test_sums(CUDA_C_64F, 17000, 18);
    test_systems(true);
    test_systems(false);
    for (long i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, multiply, (void *)(i + 1)) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    OK(cublasDestroy(handle));
    CHECK(cublasDestroy(handle) == CUBLAS_STATUS_NOT_INITIALIZED);
    return 0;
}
