/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of vector functions that take the types as arguments (…Ex): which combinations they take, and what they
 * give for small whole numbers, which are exact in all types. Each word is a combination's letters and its result. */
#include "bl.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct kind {
    cudaDataType_t type;
    char letter;
    unsigned char size;
} kinds[] = {{CUDA_R_16F, 'h', 2}, {CUDA_R_16BF, 'b', 2}, {CUDA_R_32F, 's', 4},
             {CUDA_R_64F, 'd', 8}, {CUDA_C_32F, 'c', 8},  {CUDA_C_64F, 'z', 16}};
#define KINDS (sizeof kinds / sizeof *kinds)
#define EACH(k) for (const struct kind *k = kinds; k < kinds + KINDS; k++)
#define N 8

static const double numbers[] = {3, -4, 0, 12, 0, 0, 84, 0};

/* Sixteen bits of a float or a bfloat, for whole numbers and halves that they hold exactly. */
static unsigned short small(float x, bool is_half)
{
    unsigned bits;
    memcpy(&bits, &x, 4);
    if (!is_half)
        return (unsigned short)(bits >> 16);
    return (unsigned short)((bits >> 16 & 0x8000) |
                            (x != 0 ? (((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023)) : 0));
}

static double large(unsigned short x, bool is_half)
{
    float y;
    unsigned bits = (unsigned)x << 16;
    if (is_half) {
        y = ldexpf((float)((x & 1023) | (x & 0x7c00 ? 1024 : 0)), (x & 0x7c00 ? x >> 10 & 31 : 1) - 25);
        return x & 0x8000 ? -y : y;
    }
    memcpy(&y, &bits, 4);
    return y;
}

static void put(const struct kind *k, void *at, size_t i, double x)
{
    switch (k->letter) {
    case 'h':
    case 'b':
        ((unsigned short *)at)[i] = small((float)x, k->letter == 'h');
        break;
    case 's':
        ((float *)at)[i] = (float)x;
        break;
    case 'd':
        ((double *)at)[i] = x;
        break;
    case 'c':
        ((float *)at)[2 * i] = (float)x;
        ((float *)at)[2 * i + 1] = 0;
        break;
    default:
        ((double *)at)[2 * i] = x;
        ((double *)at)[2 * i + 1] = 0;
    }
}

static double get(const struct kind *k, const void *at, size_t i)
{
    switch (k->letter) {
    case 'h':
    case 'b':
        return large(((const unsigned short *)at)[i], k->letter == 'h');
    case 's':
        return ((const float *)at)[i];
    case 'd':
        return ((const double *)at)[i];
    case 'c':
        return ((const float *)at)[2 * i];
    default:
        return ((const double *)at)[2 * i];
    }
}

static void fill(const struct kind *k, void *device)
{
    _Alignas(16) char host[N * 16];
    for (size_t i = 0; i < N; i++)
        put(k, host, i, numbers[i]);
    RT_NEED(cudaMemcpy(device, host, N * (size_t)k->size, cudaMemcpyDefault));
}

static struct bl b;
static _Alignas(16) char one[16], two[16], result[80];

static void begin(const struct kind *x, const struct kind *y, const struct kind *scalar)
{
    b = bl_begin('D');
    memset(result, 0, sizeof result);
    fill(x, b.a);
    fill(y, b.b);
    put(scalar, one, 0, 2);
    put(scalar, two, 0, -1);
}

/* If the status is success: the letters, and the sum of the result's elements with their places as factors. */
static void tell(cublasStatus_t status, const char *letters, const struct kind *k, const void *at, size_t count)
{
    _Alignas(16) char host[N * 16];
    char text[64];
    double sum = 0;
    if (status != CUBLAS_STATUS_SUCCESS)
        return;
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, count * (size_t)k->size, cudaMemcpyDefault));
    for (size_t i = 0; i < count; i++)
        sum += (double)(i + 1) * get(k, host, i);
    snprintf(text, sizeof text, "%s=%g", letters, rint(sum * 100) / 100);
    say_text(text);
}

#define LETTERS(...) ((const char[]){__VA_ARGS__, 0})

CASE(ex, nrm2)
{
    EACH(x) EACH(r) EACH(e)
    {
        begin(x, x, r);
        tell(cublasNrm2Ex(b.h, N, b.a, x->type, 1, result, r->type, e->type), LETTERS(x->letter, r->letter, e->letter),
             r, result, 1);
    }
}
CASE(ex, asum)
{
    EACH(x) EACH(r) EACH(e)
    {
        begin(x, x, r);
        tell(cublasAsumEx(b.h, N, b.a, x->type, 1, result, r->type, e->type), LETTERS(x->letter, r->letter, e->letter),
             r, result, 1);
    }
}
CASE(ex, dot)
{
    EACH(x) EACH(y) EACH(r) EACH(e)
    {
        begin(x, y, r);
        tell(cublasDotEx(b.h, N, b.a, x->type, 1, b.b, y->type, 1, result, r->type, e->type),
             LETTERS(x->letter, y->letter, r->letter, e->letter), r, result, 1);
    }
}
CASE(ex, dotc)
{
    EACH(x) EACH(y) EACH(r) EACH(e)
    {
        begin(x, y, r);
        tell(cublasDotcEx(b.h, N, b.a, x->type, 1, b.b, y->type, 1, result, r->type, e->type),
             LETTERS(x->letter, y->letter, r->letter, e->letter), r, result, 1);
    }
}
CASE(ex, scal)
{
    EACH(a) EACH(x) EACH(e)
    {
        begin(x, x, a);
        tell(cublasScalEx(b.h, N / 2, one, a->type, b.a, x->type, 2, e->type), LETTERS(a->letter, x->letter, e->letter),
             x, b.a, N);
    }
}
CASE(ex, axpy)
{
    EACH(a) EACH(x) EACH(y) EACH(e)
    {
        begin(x, y, a);
        tell(cublasAxpyEx(b.h, N / 2, one, a->type, b.a, x->type, -2, b.b, y->type, 1, e->type),
             LETTERS(a->letter, x->letter, y->letter, e->letter), y, b.b, N);
    }
}
CASE(ex, copy)
{
    EACH(x) EACH(y)
    {
        begin(x, y, x);
        tell(cublasCopyEx(b.h, N / 2, b.a, x->type, 2, b.b, y->type, -1), LETTERS(x->letter, y->letter), y, b.b, N);
    }
}
CASE(ex, swap)
{
    EACH(x) EACH(y)
    {
        begin(x, y, x);
        tell(cublasSwapEx(b.h, N / 2, b.a, x->type, 2, b.b, y->type, 1), LETTERS(x->letter, y->letter), y, b.b, N);
    }
}
CASE(ex, largest)
{
    EACH(x)
    {
        int least = 0, most = 0;
        begin(x, x, x);
        bl(cublasIamaxEx(b.h, N, b.a, x->type, 1, &most));
        bl(cublasIaminEx(b.h, N, b.a, x->type, 1, &least));
        say_int(most);
        say_int(least);
    }
}
CASE(ex, rot)
{
    EACH(x) EACH(y) EACH(c) EACH(e)
    {
        begin(x, y, c);
        tell(cublasRotEx(b.h, N / 2, b.a, x->type, 2, b.b, y->type, 1, one, two, c->type, e->type),
             LETTERS(x->letter, y->letter, c->letter, e->letter), x, b.a, N);
    }
}
CASE(ex, rotg)
{
    EACH(a) EACH(c) EACH(e)
    {
        _Alignas(16) char pair[2][16];
        begin(a, a, c);
        put(a, pair[0], 0, 3);
        put(a, pair[1], 0, 4);
        cublasStatus_t status = cublasRotgEx(b.h, pair[0], pair[1], a->type, one, two, c->type, e->type);
        tell(status, LETTERS(a->letter, c->letter, e->letter), a, pair[0], 1);
        tell(status, "c", c, one, 1);
        tell(status, "s", c, two, 1);
    }
}
CASE(ex, rotm)
{
    EACH(x) EACH(y) EACH(p) EACH(e)
    {
        begin(x, y, p);
        for (size_t i = 0; i < 5; i++)
            put(p, result, i, (double)i - 1);
        tell(cublasRotmEx(b.h, N / 2, b.a, x->type, 2, b.b, y->type, 1, result, p->type, e->type),
             LETTERS(x->letter, y->letter, p->letter, e->letter), x, b.a, N);
    }
}
CASE(ex, rotmg)
{
    EACH(d) EACH(x) EACH(p) EACH(e)
    {
        _Alignas(16) char in[4][16];
        begin(d, d, d);
        put(d, in[0], 0, 2);
        put(d, in[1], 0, 1);
        put(x, in[2], 0, 4);
        put(x, in[3], 0, 2);
        tell(cublasRotmgEx(b.h, in[0], d->type, in[1], d->type, in[2], x->type, in[3], x->type, result, p->type,
                           e->type),
             LETTERS(d->letter, x->letter, p->letter, e->letter), p, result, 5);
    }
}

/* ---- matrices ---- */

static void say_floats(const void *at, size_t count)
{
    float host[64];
    double sum = 0;
    char text[32];
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, count * sizeof *host, cudaMemcpyDefault));
    for (size_t i = 0; i < count; i++)
        sum += (double)(i + 1) * host[i];
    snprintf(text, sizeof text, "%g", sum);
    say_text(text);
}

#define RANK(title, function, scalar) \
    CASE(ex, title) \
    { \
        static const cudaDataType_t types[] = {CUDA_C_32F, CUDA_C_64F, CUDA_C_8I, CUDA_R_32F, CUDA_C_16F}; \
        scalar, beta = alpha; \
        for (size_t i = 0; i < 25; i++) { \
            b = bl_begin('C'); \
            RT_NEED(cudaMemset(b.a, 1, 64)); \
            if (i % 5 == 0) \
                b = bl_begin('C'); \
            bl(function(b.h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 4, 3, &alpha, b.a, types[i % 5], 4, &beta, b.c, \
                        types[i / 5], 4)); \
            if (i / 5 == 0) \
                say_floats(b.c, 32); \
        } \
    }
RANK(syrk, cublasCsyrkEx, cuComplex alpha = make_cuComplex(2, 1))
RANK(syrk3m, cublasCsyrk3mEx, cuComplex alpha = make_cuComplex(2, 1))
RANK(herk, cublasCherkEx, float alpha = 2)
RANK(herk3m, cublasCherk3mEx, float alpha = 2)

CASE(ex, uint8)
{
    b = bl_begin('S');
    bl(cublasUint8gemmBias(b.h, CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, b.a, 1, 4, b.b, 1, 4, b.c, 1, 4, 1, 0));
}

/* Vectors of `z` elements in an array of pointers, for two members. */
static void *pointers(char *first, size_t apart)
{
    static char **device;
    static int next;
    char *host[2] = {first, first + apart};
    if (!device)
        RT_NEED(cudaMalloc((void **)&device, 8 * sizeof host));
    next = (next + 1) % 8;
    RT_NEED(cudaMemcpy(device + 2 * next, host, sizeof host, cudaMemcpyDefault));
    return device + 2 * next;
}

/* NVIDIA's header declares these for C++ alone. */
#define GEMV(title, in, out, function) \
    cublasStatus_t title##_batched(cublasHandle_t h, cublasOperation_t op, int m, int n, const float *alpha, \
                                   const void *a, int lda, const void *x, int incx, const float *beta, void *y, \
                                   int incy, int count) __asm__(#function "Batched"); \
    cublasStatus_t title##_strided(cublasHandle_t h, cublasOperation_t op, int m, int n, const float *alpha, \
                                   const void *a, int lda, long long stride_a, const void *x, int incx, \
                                   long long stride_x, const float *beta, void *y, int incy, long long stride_y, \
                                   int count) __asm__(#function "StridedBatched"); \
    CASE(ex, title) \
    { \
        const struct kind *k = &kinds[in], *l = &kinds[out]; \
        float alpha = 2, beta = -1; \
        for (int op = 0; op < 2; op++) { \
            begin(k, k, k); \
            b.type = 'D'; \
            fill(l, b.c); \
            fill(l, (char *)b.c + N * l->size); \
            fill(k, (char *)b.a + N * k->size); \
            bl(title##_batched(b.h, op ? CUBLAS_OP_T : CUBLAS_OP_N, 3, 2, &alpha, pointers(b.a, k->size), 3, \
                               pointers(b.b, 2 * k->size), 1, &beta, pointers(b.c, N / 2 * l->size), 1, 2)); \
            tell(CUBLAS_STATUS_SUCCESS, "batch", l, b.c, N); \
            bl(title##_strided(b.h, op ? CUBLAS_OP_T : CUBLAS_OP_N, 3, 2, &alpha, b.a, 3, 1, b.b, 1, 2, &beta, b.c, 1, \
                               N / 2, 2)); \
            tell(CUBLAS_STATUS_SUCCESS, "strided", l, b.c, N); \
        } \
    }
GEMV(hsh, 0, 0, cublasHSHgemv)
GEMV(hss, 0, 2, cublasHSSgemv)
GEMV(tst, 1, 1, cublasTSTgemv)
GEMV(tss, 1, 2, cublasTSSgemv)

/* Two groups: two products of 2 x 3 x 4, and one of 3 x 1 x 2. */
static void grouped(char type, bool is_ex, const struct kind *k, cublasComputeType_t compute)
{
    cublasOperation_t ta[] = {CUBLAS_OP_N, CUBLAS_OP_T}, tb[] = {CUBLAS_OP_T, CUBLAS_OP_N};
    int m[] = {2, 3}, n[] = {3, 1}, depth[] = {4, 2}, lda[] = {2, 2}, ldb[] = {3, 2}, ldc[] = {2, 3}, size[] = {2, 1};
    _Alignas(16) double alpha[2] = {2, -1}, beta[2] = {1, 0};
    float alphas[2] = {2, -1}, betas[2] = {1, 0};
    void *host[9], **device;
    bool single = k->letter != 'd';
    begin(k, k, k);
    (void)type;
    for (int i = 0; i < 4; i++) {
        fill(k, (char *)b.a + i * N * k->size);
        fill(k, (char *)b.b + i * N * k->size);
        fill(k, (char *)b.c + i * N * k->size);
    }
    for (int i = 0; i < 3; i++) {
        host[i] = (char *)b.a + i * N * k->size;
        host[3 + i] = (char *)b.b + i * 12 * k->size;
        host[6 + i] = (char *)b.c + i * N * k->size;
    }
    RT_NEED(cudaMalloc((void **)&device, sizeof host));
    RT_NEED(cudaMemcpy(device, host, sizeof host, cudaMemcpyDefault));
    if (is_ex)
        bl(cublasGemmGroupedBatchedEx(b.h, ta, tb, m, n, depth, single ? (void *)alphas : alpha,
                                      (const void *const *)device, k->type, lda, (const void *const *)(device + 3),
                                      k->type, ldb, single ? (void *)betas : beta, device + 6, k->type, ldc, 2, size,
                                      compute));
    else if (single)
        bl(cublasSgemmGroupedBatched(b.h, ta, tb, m, n, depth, alphas, (const float *const *)device, lda,
                                     (const float *const *)(device + 3), ldb, betas, (float *const *)(device + 6), ldc,
                                     2, size));
    else
        bl(cublasDgemmGroupedBatched(b.h, ta, tb, m, n, depth, alpha, (const double *const *)device, lda,
                                     (const double *const *)(device + 3), ldb, beta, (double *const *)(device + 6), ldc,
                                     2, size));
    for (int i = 0; i < 3; i++)
        tell(CUBLAS_STATUS_SUCCESS, "c", k, host[6 + i], 6);
    RT_NEED(cudaFree(device));
}
CASE(ex, grouped_s)
{
    grouped('S', false, &kinds[2], 0);
}
CASE(ex, grouped_d)
{
    grouped('D', false, &kinds[3], 0);
}
CASE(ex, grouped_ex)
{
    static const cublasComputeType_t all[] = {CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
                                              CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 5; j++)
            grouped('S', true, &kinds[i], all[j]);
}
