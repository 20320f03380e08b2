/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS's old interface (cublas.h): the default handle, the error, and what every kind of function leaves. */
#include "../../runtime/rt.h"

#include <cublas.h>
#include <string.h>

#include "bl_say.h"

#define LD 8
#define COUNT (LD * LD)

/* ---- the default handle and the error ---- */

CASE(blas_old, before_init, .alone = true)
{
    float host[4] = {1, 2, 3, 4};
    void *memory = (void *)7;
    int version = 5;
    bl(cublasGetError());
    bl(cublasAlloc(4, 4, &memory));
    bl(cublasFree(NULL));
    bl(cublasSetKernelStream(NULL));
    bl(cublasGetVersion(&version));
    say_if("version", version > 10000);
    float *device = rt_alloc(16);
    RT_NEED(cudaMemcpy(device, host, 16, cudaMemcpyHostToDevice));
    say_int((int)cublasSdot(4, device, 1, device, 1));
    bl(cublasGetError());
    bl(cublasGetError());
    cublasSscal(4, 2, device, 1);
    bl(cublasGetError());
    bl(cublasShutdown());
}

CASE(blas_old, twice, .alone = true)
{
    bl(cublasInit());
    bl(cublasInit());
    bl(cublasGetError());
    bl(cublasShutdown());
    cublasSscal(0, 2, NULL, 1);
    bl(cublasGetError());
    bl(cublasShutdown());
    bl(cublasInit());
    cublasSscal(0, 2, NULL, 1);
    bl(cublasGetError());
    bl(cublasShutdown());
}

static void other_thread(void *argument)
{
    float *device = argument;
    bl(cublasGetError());
    say_int((int)cublasSdot(2, device, 1, device, 1));
    bl(cublasGetError());
    cublasSgemm('Q', 'N', 1, 1, 1, 1, device, 1, device, 1, 0, device, 1);
}

CASE(blas_old, threads, .alone = true)
{
    float host[2] = {3, 4};
    bl(cublasInit());
    float *device = rt_alloc(8);
    RT_NEED(cudaMemcpy(device, host, 8, cudaMemcpyHostToDevice));
    cublasSgemm('Q', 'N', 1, 1, 1, 1, device, 1, device, 1, 0, device, 1);
    rt_thread(other_thread, device);
    bl(cublasGetError());
    bl(cublasGetError());
}

CASE(blas_old, memory, .alone = true)
{
    void *memory = NULL;
    bl(cublasInit());
    bl(cublasAlloc(0, 4, &memory));
    say_if("null", !memory);
    bl(cublasAlloc(-1, 4, &memory));
    bl(cublasAlloc(4, 0, &memory));
    bl(cublasAlloc(4, -4, &memory));
    bl(cublasAlloc(100, 16, &memory));
    say_if("memory", memory != NULL);
    bl(cublasGetError());
    bl(cublasFree(memory));
    bl(cublasFree(NULL));
    bl(cublasGetError());
    bl(cublasAlloc(0x7fffffff, 0x7fffffff, &memory));
    bl(cublasGetError());
}

CASE(blas_old, alloc_null, RT_CRASHES("INVALID_VALUE"))
{
    bl(cublasAlloc(4, 4, NULL));
}

CASE(blas_old, free_wild, .alone = true)
{
    int here;
    bl(cublasInit());
    bl(cublasFree(&here));
    bl(cublasGetError());
}

/* The error is the latest call's, also a success. */
CASE(blas_old, error_kept, .alone = true)
{
    bl(cublasInit());
    float *device = rt_alloc(COUNT * 4);
    cublasSgemm('Q', 'N', 1, 1, 1, 1, device, 1, device, 1, 0, device, 1);
    cublasSscal(1, 1, device, 1);
    bl(cublasGetError());
    bl(cublasGetError());
    cublasSgemm('N', 'N', -1, 1, 1, 1, device, 1, device, 1, 0, device, 1);
    bl(cublasGetError());
    cublasSgemm('N', 'N', 4, 1, 1, 1, device, 3, device, 1, 0, device, 4);
    bl(cublasGetError());
    cublasSscal(-1, 1, device, 1);
    bl(cublasGetError());
    cublasSscal(1, 1, device, 0);
    bl(cublasGetError());
    cublasSaxpy(4, 1, device, 0, device, 1);
    bl(cublasGetError());
    say_int((int)cublasSdot(-1, device, 1, device, 1));
    bl(cublasGetError());
    say_int(cublasIsamax(0, device, 1));
    bl(cublasGetError());
    say_int(cublasIsamax(4, device, 0));
    bl(cublasGetError());
    cublasStrsm('X', 'L', 'N', 'N', 1, 1, 1, device, 1, device, 1);
    bl(cublasGetError());
    cublasStrsm('L', 'X', 'N', 'N', 1, 1, 1, device, 1, device, 1);
    bl(cublasGetError());
    cublasStrsm('L', 'L', 'N', 'X', 1, 1, 1, device, 1, device, 1);
    bl(cublasGetError());
    cublasSsymv('X', 1, 1, device, 1, device, 1, 0, device, 1);
    bl(cublasGetError());
    cublasCher('l', 1, 1, (const cuComplex *)device, 0, (cuComplex *)device, 1);
    bl(cublasGetError());
}

CASE(blas_old, error_of_gemv, .alone = true, .allow = "INVALID_VALUE INVALID_VALUE",
     .why = "hardware leaves no error where this one function finds a bad argument")
{
    float *device = rt_alloc(COUNT * 4);
    RT_NEED(cudaMemset(device, 0, COUNT * 4));
    cublasSgemv('X', 1, 1, 1, device, 1, device, 1, 0, device, 1);
    bl(cublasGetError());
    cublasSgemv('n', 1, 1, 1, device, 1, device, 0, 0, device, 1);
    bl(cublasGetError());
}

CASE(blas_old, stream, .alone = true)
{
    bl(cublasInit());
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    float *device = rt_alloc(8);
    RT_NEED(cudaMemset(device, 0, 8));
    bl(cublasSetKernelStream(stream));
    cublasSscal(1, 2, device, 1); /* hardware loads its kernel */
    RT_NEED(cudaDeviceSynchronize());
    struct rt_gate gate = rt_gate_close(stream);
    rt_store(stream, device, 0x40400000);
    cublasSscal(1, 2, device, 1);
    bl(cublasGetError());
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    say_int((int)cublasSasum(1, device, 1));
    bl(cublasSetKernelStream(NULL));
}

/* ---- results: whole numbers, so that they are exact ---- */

static float *s[3];
static double *d[3];
static cuComplex *c[3];
static cuDoubleComplex *z[3];

static void begin(void)
{
    float sh[COUNT], ch[2 * COUNT];
    double dh[COUNT], zh[2 * COUNT];
    if (cublasInit() != CUBLAS_STATUS_SUCCESS)
        gold_stop("cublasInit fails");
    for (int m = 0; m < 3; m++) {
        for (int i = 0; i < COUNT; i++) {
            bool one = m == 0 && i % (LD + 1) == 0;
            sh[i] = one ? 1 : (float)((i * 7 + m) % 9 - 4);
            dh[i] = sh[i];
            ch[2 * i] = sh[i];
            ch[2 * i + 1] = one ? 0 : (float)((i * 5 + m) % 7 - 3);
            zh[2 * i] = ch[2 * i];
            zh[2 * i + 1] = ch[2 * i + 1];
        }
        if (!s[m]) {
            s[m] = rt_alloc(sizeof sh);
            d[m] = rt_alloc(sizeof dh);
            c[m] = rt_alloc(sizeof ch);
            z[m] = rt_alloc(sizeof zh);
        }
        RT_NEED(cudaMemcpy(s[m], sh, sizeof sh, cudaMemcpyHostToDevice));
        RT_NEED(cudaMemcpy(d[m], dh, sizeof dh, cudaMemcpyHostToDevice));
        RT_NEED(cudaMemcpy(c[m], ch, sizeof ch, cudaMemcpyHostToDevice));
        RT_NEED(cudaMemcpy(z[m], zh, sizeof zh, cudaMemcpyHostToDevice));
    }
}

/* The error, and a hash of every matrix as whole numbers. */
static void all(void)
{
    static long long whole[6 * COUNT];
    static float single[2 * COUNT];
    static double twice[2 * COUNT];
    bl(cublasGetError());
    for (int m = 0; m < 3; m++) {
        long long *at = whole;
        RT_NEED(cudaMemcpy(single, s[m], COUNT * 4, cudaMemcpyDeviceToHost));
        for (int i = 0; i < COUNT; i++)
            *at++ = (long long)single[i];
        RT_NEED(cudaMemcpy(single, c[m], COUNT * 8, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 2 * COUNT; i++)
            *at++ = (long long)single[i];
        RT_NEED(cudaMemcpy(twice, d[m], COUNT * 8, cudaMemcpyDeviceToHost));
        for (int i = 0; i < COUNT; i++)
            *at++ = (long long)twice[i];
        RT_NEED(cudaMemcpy(twice, z[m], COUNT * 16, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 2 * COUNT; i++)
            *at++ = (long long)twice[i];
        say_hash(whole, (size_t)((char *)at - (char *)whole));
    }
}

static const cuComplex ci = {2, 3}, cj = {1, -1};
static const cuDoubleComplex zi = {2, 3}, zj = {1, -1};

static void say_complex(cuComplex value)
{
    say_int((long long)value.x);
    say_int((long long)value.y);
}

static void say_double_complex(cuDoubleComplex value)
{
    say_int((long long)value.x);
    say_int((long long)value.y);
}

CASE(blas_old, numbers)
{
    begin();
    say_int((long long)(1000 * cublasSnrm2(9, s[1], 2)));
    say_int((long long)(1000 * cublasDnrm2(9, d[1], 2)));
    say_int((long long)(1000 * cublasScnrm2(9, c[1], 2)));
    say_int((long long)(1000 * cublasDznrm2(9, z[1], 2)));
    say_int((long long)cublasSasum(9, s[1], 2));
    say_int((long long)cublasDasum(9, d[1], 2));
    say_int((long long)cublasScasum(9, c[1], 2));
    say_int((long long)cublasDzasum(9, z[1], 2));
    say_int((long long)cublasSdot(9, s[0], 2, s[1], -3));
    say_int((long long)cublasDdot(9, d[0], 2, d[1], -3));
    say_complex(cublasCdotu(9, c[0], 2, c[1], 1));
    say_complex(cublasCdotc(9, c[0], 2, c[1], 1));
    say_double_complex(cublasZdotu(9, z[0], 2, z[1], 1));
    say_double_complex(cublasZdotc(9, z[0], 2, z[1], 1));
    say_int(cublasIsamax(9, s[1], 3));
    say_int(cublasIdamax(9, d[1], 3));
    say_int(cublasIcamax(9, c[1], 3));
    say_int(cublasIzamax(9, z[1], 3));
    say_int(cublasIsamin(9, s[1], 3));
    say_int(cublasIdamin(9, d[1], 3));
    say_int(cublasIcamin(9, c[1], 3));
    say_int(cublasIzamin(9, z[1], 3));
    all();
}

CASE(blas_old, vectors)
{
    begin();
    cublasSscal(9, 2, s[0], 2);
    cublasDscal(9, 2, d[0], 2);
    cublasCscal(9, ci, c[0], 2);
    cublasZscal(9, zi, z[0], 2);
    cublasCsscal(9, 2, c[1], 2);
    cublasZdscal(9, 2, z[1], 2);
    cublasSaxpy(9, 3, s[0], 2, s[1], 1);
    cublasDaxpy(9, 3, d[0], 2, d[1], 1);
    cublasCaxpy(9, ci, c[0], 2, c[1], 1);
    cublasZaxpy(9, zi, z[0], 2, z[1], 1);
    cublasScopy(9, s[1], 1, s[2], 3);
    cublasDcopy(9, d[1], 1, d[2], 3);
    cublasCcopy(9, c[1], 1, c[2], 3);
    cublasZcopy(9, z[1], 1, z[2], 3);
    cublasSswap(9, s[0], 1, s[2], -2);
    cublasDswap(9, d[0], 1, d[2], -2);
    cublasCswap(9, c[0], 1, c[2], -2);
    cublasZswap(9, z[0], 1, z[2], -2);
    all();
}

CASE(blas_old, rotations)
{
    begin();
    cublasSrot(9, s[0], 1, s[1], 2, 2, 3);
    cublasDrot(9, d[0], 1, d[1], 2, 2, 3);
    cublasCrot(9, c[0], 1, c[1], 2, 2, ci);
    cublasZrot(9, z[0], 1, z[1], 2, 2, zi);
    cublasCsrot(9, c[0], 1, c[2], 2, 2, 3);
    cublasZdrot(9, z[0], 1, z[2], 2, 2, 3);
    const float sp[5] = {-1, 2, 3, 1, 2};
    const double dp[5] = {-1, 2, 3, 1, 2};
    cublasSrotm(9, s[0], 1, s[1], 2, sp);
    cublasDrotm(9, d[0], 1, d[1], 2, dp);
    all();
    float sa = 3, sb = 4, sc = 0, ss = 0;
    cublasSrotg(&sa, &sb, &sc, &ss);
    say_int((long long)(1000 * sa + 0.5));
    say_int((long long)(1000 * sb + 0.5));
    say_int((long long)(1000 * sc + 0.5));
    say_int((long long)(1000 * ss + 0.5));
    double da = 3, db = 4, dc = 0, ds = 0;
    cublasDrotg(&da, &db, &dc, &ds);
    say_int((long long)(1000 * da + 0.5));
    say_int((long long)(1000 * dc + 0.5));
    cuComplex ca = {3, 4}, cs = {0, 0};
    cublasCrotg(&ca, ci, &sc, &cs);
    say_int((long long)(1000 * ca.x));
    say_int((long long)(1000 * sc));
    say_int((long long)(1000 * cs.x));
    cuDoubleComplex za = {3, 4}, zs = {0, 0};
    cublasZrotg(&za, zi, &dc, &zs);
    say_int((long long)(1000 * za.x));
    say_int((long long)(1000 * dc));
    say_int((long long)(1000 * zs.x));
    float one = 2, two = 3, x1 = 4, p[5] = {9, 9, 9, 9, 9};
    const float y1 = 5;
    cublasSrotmg(&one, &two, &x1, &y1, p);
    say_int((long long)(1000 * one));
    say_int((long long)(1000 * x1));
    say_int((long long)p[0]);
    double done = 2, dtwo = 3, dx1 = 4, q[5] = {9, 9, 9, 9, 9};
    const double dy1 = 5;
    cublasDrotmg(&done, &dtwo, &dx1, &dy1, q);
    say_int((long long)(1000 * done));
    say_int((long long)q[0]);
    bl(cublasGetError());
}

/* Calls of all four types. */
#define FOUR(S, D, C, Z) \
    do { \
        S; \
        D; \
        C; \
        Z; \
    } while (0)

CASE(blas_old, general_vector)
{
    begin();
    FOUR(cublasSgemv('N', 5, 4, 2, s[0], LD, s[1], 1, 3, s[2], 2),
         cublasDgemv('t', 5, 4, 2, d[0], LD, d[1], 1, 3, d[2], 2),
         cublasCgemv('C', 5, 4, ci, c[0], LD, c[1], 1, cj, c[2], 2),
         cublasZgemv('c', 5, 4, zi, z[0], LD, z[1], 1, zj, z[2], 2));
    FOUR(cublasSgbmv('T', 6, 6, 1, 2, 2, s[0], LD, s[1], 1, 3, s[2], 1),
         cublasDgbmv('n', 6, 6, 1, 2, 2, d[0], LD, d[1], 1, 3, d[2], 1),
         cublasCgbmv('N', 6, 6, 1, 2, ci, c[0], LD, c[1], 1, cj, c[2], 1),
         cublasZgbmv('c', 6, 6, 1, 2, zi, z[0], LD, z[1], 1, zj, z[2], 1));
    FOUR(cublasSger(5, 4, 2, s[1], 1, s[2], 2, s[0], LD), cublasDger(5, 4, 2, d[1], 1, d[2], 2, d[0], LD),
         cublasCgeru(5, 4, ci, c[1], 1, c[2], 2, c[0], LD), cublasZgerc(5, 4, zi, z[1], 1, z[2], 2, z[0], LD));
    cublasCgerc(5, 4, ci, c[1], 1, c[2], 2, c[0], LD);
    cublasZgeru(5, 4, zi, z[1], 1, z[2], 2, z[0], LD);
    all();
}

CASE(blas_old, symmetric_vector)
{
    begin();
    FOUR(cublasSsymv('U', 5, 2, s[0], LD, s[1], 1, 3, s[2], 2), cublasDsymv('l', 5, 2, d[0], LD, d[1], 1, 3, d[2], 2),
         cublasChemv('u', 5, ci, c[0], LD, c[1], 1, cj, c[2], 2),
         cublasZhemv('L', 5, zi, z[0], LD, z[1], 1, zj, z[2], 2));
    FOUR(cublasSsbmv('U', 5, 2, 2, s[0], LD, s[1], 1, 3, s[2], 2),
         cublasDsbmv('l', 5, 2, 2, d[0], LD, d[1], 1, 3, d[2], 2),
         cublasChbmv('u', 5, 2, ci, c[0], LD, c[1], 1, cj, c[2], 2),
         cublasZhbmv('L', 5, 2, zi, z[0], LD, z[1], 1, zj, z[2], 2));
    FOUR(cublasSspmv('U', 5, 2, s[0], s[1], 1, 3, s[2], 2), cublasDspmv('l', 5, 2, d[0], d[1], 1, 3, d[2], 2),
         cublasChpmv('u', 5, ci, c[0], c[1], 1, cj, c[2], 2), cublasZhpmv('L', 5, zi, z[0], z[1], 1, zj, z[2], 2));
    all();
}

CASE(blas_old, symmetric_rank)
{
    begin();
    FOUR(cublasSsyr('U', 5, 2, s[1], 1, s[0], LD), cublasDsyr('l', 5, 2, d[1], 1, d[0], LD),
         cublasCher('u', 5, 2, c[1], 1, c[0], LD), cublasZher('L', 5, 2, z[1], 1, z[0], LD));
    FOUR(cublasSsyr2('U', 5, 2, s[1], 1, s[2], 2, s[0], LD), cublasDsyr2('l', 5, 2, d[1], 1, d[2], 2, d[0], LD),
         cublasCher2('u', 5, ci, c[1], 1, c[2], 2, c[0], LD), cublasZher2('L', 5, zi, z[1], 1, z[2], 2, z[0], LD));
    FOUR(cublasSspr('U', 5, 2, s[1], 1, s[2]), cublasDspr('l', 5, 2, d[1], 1, d[2]),
         cublasChpr('u', 5, 2, c[1], 1, c[2]), cublasZhpr('L', 5, 2, z[1], 1, z[2]));
    FOUR(cublasSspr2('U', 5, 2, s[0], 1, s[1], 2, s[2]), cublasDspr2('l', 5, 2, d[0], 1, d[1], 2, d[2]),
         cublasChpr2('u', 5, ci, c[0], 1, c[1], 2, c[2]), cublasZhpr2('L', 5, zi, z[0], 1, z[1], 2, z[2]));
    all();
}

CASE(blas_old, triangular_vector)
{
    begin();
    FOUR(cublasStrmv('U', 'N', 'N', 5, s[0], LD, s[1], 1), cublasDtrmv('l', 't', 'u', 5, d[0], LD, d[1], 1),
         cublasCtrmv('u', 'C', 'n', 5, c[0], LD, c[1], 1), cublasZtrmv('L', 'N', 'U', 5, z[0], LD, z[1], 1));
    FOUR(cublasStrsv('U', 'N', 'U', 5, s[0], LD, s[1], 1), cublasDtrsv('l', 't', 'u', 5, d[0], LD, d[1], 1),
         cublasCtrsv('u', 'C', 'u', 5, c[0], LD, c[1], 1), cublasZtrsv('L', 'N', 'U', 5, z[0], LD, z[1], 1));
    FOUR(cublasStbmv('U', 'N', 'N', 5, 2, s[0], LD, s[2], 1), cublasDtbmv('l', 't', 'u', 5, 2, d[0], LD, d[2], 1),
         cublasCtbmv('u', 'C', 'n', 5, 2, c[0], LD, c[2], 1), cublasZtbmv('L', 'N', 'U', 5, 2, z[0], LD, z[2], 1));
    FOUR(cublasStbsv('U', 'N', 'U', 5, 2, s[0], LD, s[2], 1), cublasDtbsv('l', 't', 'u', 5, 2, d[0], LD, d[2], 1),
         cublasCtbsv('u', 'C', 'u', 5, 2, c[0], LD, c[2], 1), cublasZtbsv('L', 'N', 'U', 5, 2, z[0], LD, z[2], 1));
    FOUR(cublasStpmv('U', 'N', 'N', 4, s[0], s[1], 1), cublasDtpmv('l', 't', 'u', 4, d[0], d[1], 1),
         cublasCtpmv('u', 'C', 'n', 4, c[0], c[1], 1), cublasZtpmv('L', 'N', 'U', 4, z[0], z[1], 1));
    FOUR(cublasStpsv('U', 'N', 'U', 4, s[0], s[1], 1), cublasDtpsv('l', 't', 'u', 4, d[0], d[1], 1),
         cublasCtpsv('u', 'C', 'u', 4, c[0], c[1], 1), cublasZtpsv('L', 'N', 'U', 4, z[0], z[1], 1));
    all();
}

CASE(blas_old, products)
{
    begin();
    FOUR(cublasSgemm('N', 't', 5, 4, 3, 2, s[0], LD, s[1], LD, 3, s[2], LD),
         cublasDgemm('T', 'n', 5, 4, 3, 2, d[0], LD, d[1], LD, 3, d[2], LD),
         cublasCgemm('C', 'T', 5, 4, 3, ci, c[0], LD, c[1], LD, cj, c[2], LD),
         cublasZgemm('n', 'c', 5, 4, 3, zi, z[0], LD, z[1], LD, zj, z[2], LD));
    FOUR(cublasSsymm('L', 'U', 5, 4, 2, s[0], LD, s[1], LD, 3, s[2], LD),
         cublasDsymm('r', 'l', 5, 4, 2, d[0], LD, d[1], LD, 3, d[2], LD),
         cublasCsymm('l', 'U', 5, 4, ci, c[0], LD, c[1], LD, cj, c[2], LD),
         cublasZsymm('R', 'L', 5, 4, zi, z[0], LD, z[1], LD, zj, z[2], LD));
    cublasChemm('l', 'U', 5, 4, ci, c[0], LD, c[1], LD, cj, c[2], LD);
    cublasZhemm('R', 'L', 5, 4, zi, z[0], LD, z[1], LD, zj, z[2], LD);
    all();
}

CASE(blas_old, ranks)
{
    begin();
    FOUR(cublasSsyrk('U', 'N', 5, 3, 2, s[0], LD, 3, s[1], LD), cublasDsyrk('l', 't', 5, 3, 2, d[0], LD, 3, d[1], LD),
         cublasCsyrk('u', 'N', 5, 3, ci, c[0], LD, cj, c[1], LD),
         cublasZsyrk('L', 'T', 5, 3, zi, z[0], LD, zj, z[1], LD));
    cublasCherk('u', 'N', 5, 3, 2, c[0], LD, 3, c[2], LD);
    cublasZherk('L', 'C', 5, 3, 2, z[0], LD, 3, z[2], LD);
    FOUR(cublasSsyr2k('U', 'N', 5, 3, 2, s[0], LD, s[1], LD, 3, s[2], LD),
         cublasDsyr2k('l', 't', 5, 3, 2, d[0], LD, d[1], LD, 3, d[2], LD),
         cublasCsyr2k('u', 'N', 5, 3, ci, c[0], LD, c[1], LD, cj, c[2], LD),
         cublasZsyr2k('L', 'T', 5, 3, zi, z[0], LD, z[1], LD, zj, z[2], LD));
    cublasCher2k('u', 'N', 5, 3, ci, c[0], LD, c[1], LD, 3, c[2], LD);
    cublasZher2k('L', 'C', 5, 3, zi, z[0], LD, z[1], LD, 3, z[2], LD);
    all();
}

CASE(blas_old, triangles)
{
    begin();
    FOUR(cublasStrmm('L', 'U', 'N', 'N', 5, 4, 2, s[0], LD, s[1], LD),
         cublasDtrmm('r', 'l', 't', 'u', 5, 4, 2, d[0], LD, d[1], LD),
         cublasCtrmm('l', 'u', 'C', 'n', 5, 4, ci, c[0], LD, c[1], LD),
         cublasZtrmm('R', 'L', 'N', 'U', 5, 4, zi, z[0], LD, z[1], LD));
    FOUR(cublasStrsm('L', 'U', 'N', 'U', 5, 4, 2, s[0], LD, s[2], LD),
         cublasDtrsm('r', 'l', 't', 'u', 5, 4, 2, d[0], LD, d[2], LD),
         cublasCtrsm('l', 'u', 'C', 'u', 5, 4, ci, c[0], LD, c[2], LD),
         cublasZtrsm('R', 'L', 'N', 'U', 5, 4, zi, z[0], LD, z[2], LD));
    all();
}

/* Helpers of the common header work beside it. */
CASE(blas_old, helpers)
{
    float host[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    begin();
    bl(cublasSetVector(6, 4, host, 1, s[0], 1));
    bl(cublasGetMatrix(3, 2, 4, s[0], 3, back, 3));
    say_hash(back, sizeof back);
}
