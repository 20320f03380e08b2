/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFTW: transforms of small whole numbers by each function that plans, in float and double, of the host's memory and
 * of device memory; each number is said times 16. Plans that can't be. */
#include "../../runtime/rt.h"

#include <cufftw.h>

#include <math.h>
#include <string.h>

enum { ROOM = 256 };

static union {
    double d[2 * ROOM];
    float f[2 * ROOM];
} in, out;

static void fill(bool is_double)
{
    memset(&out, 0, sizeof out);
    for (int i = 0; i < 2 * ROOM; i++)
        if (is_double)
            in.d[i] = (i * 7 + 3) % 11 - 5;
        else
            in.f[i] = (float)((i * 7 + 3) % 11 - 5);
}

static void tell(bool is_double, int count)
{
    long long whole[2 * ROOM];
    for (int i = 0; i < count; i++)
        whole[i] = llrint(16 * (is_double ? out.d[i] : (double)out.f[i]));
    say_hash(whole, (size_t)count * sizeof *whole);
    say_int(whole[0]);
    say_int(whole[count - 1]);
}

/* Runs a plan of arrays `from` and `to` of `count` numbers, and ends it. */
#define RUN(prefix, planned, is_double, count) \
    do { \
        fill(is_double); \
        prefix##_plan plan = planned; \
        say_int(plan != NULL); \
        if (plan) { \
            prefix##_execute(plan); \
            tell(is_double, count); \
            prefix##_destroy_plan(plan); \
        } \
    } while (0)

static const int sizes[] = {3, 4, 5}, in_box[] = {4, 5}, out_box[] = {5, 4};

#define CASES(prefix, member, is_double, real) \
    CASE(fftw_plan, prefix##_basic) \
    { \
        prefix##_complex *a = (void *)in.member, *b = (void *)out.member; \
        RUN(prefix, prefix##_plan_dft_1d(12, a, b, FFTW_FORWARD, FFTW_ESTIMATE), is_double, 24); \
        RUN(prefix, prefix##_plan_dft_1d(12, a, b, FFTW_BACKWARD, FFTW_MEASURE), is_double, 24); \
        RUN(prefix, prefix##_plan_dft_2d(3, 5, a, b, FFTW_FORWARD, FFTW_PATIENT), is_double, 30); \
        RUN(prefix, prefix##_plan_dft_3d(3, 5, 2, a, b, FFTW_BACKWARD, 0), is_double, 60); \
        RUN(prefix, prefix##_plan_dft(3, sizes, a, b, FFTW_FORWARD, FFTW_UNALIGNED), is_double, 120); \
        RUN(prefix, prefix##_plan_dft_1d(1, a, b, FFTW_FORWARD, 0), is_double, 2); \
    } \
    CASE(fftw_plan, prefix##_real) \
    { \
        real *a = in.member, *b = out.member; \
        RUN(prefix, prefix##_plan_dft_r2c_1d(12, a, (void *)b, FFTW_ESTIMATE), is_double, 14); \
        RUN(prefix, prefix##_plan_dft_r2c_2d(3, 5, a, (void *)b, FFTW_ESTIMATE), is_double, 18); \
        RUN(prefix, prefix##_plan_dft_r2c_3d(3, 5, 2, a, (void *)b, FFTW_ESTIMATE), is_double, 60); \
        RUN(prefix, prefix##_plan_dft_r2c(2, sizes, a, (void *)b, FFTW_ESTIMATE), is_double, 18); \
        RUN(prefix, prefix##_plan_dft_c2r_1d(9, (void *)a, b, FFTW_ESTIMATE), is_double, 9); \
        RUN(prefix, prefix##_plan_dft_c2r_2d(1, 5, (void *)a, b, FFTW_ESTIMATE), is_double, 5); \
    } \
    CASE(fftw_plan, prefix##_many) \
    { \
        prefix##_complex *a = (void *)in.member, *b = (void *)out.member; \
        RUN(prefix, prefix##_plan_many_dft(1, sizes, 4, a, NULL, 1, 3, b, NULL, 1, 3, FFTW_FORWARD, 0), is_double, \
            24); \
        RUN(prefix, prefix##_plan_many_dft(1, sizes, 4, a, sizes, 4, 1, b, sizes, 1, 3, FFTW_FORWARD, 0), is_double, \
            24); \
        RUN(prefix, prefix##_plan_many_dft(2, sizes, 2, a, in_box, 1, 20, b, out_box, 1, 20, FFTW_BACKWARD, 0), \
            is_double, 80); \
        RUN(prefix, prefix##_plan_many_dft_r2c(1, sizes, 4, in.member, NULL, 1, 3, b, NULL, 1, 2, 0), is_double, 16); \
        RUN(prefix, prefix##_plan_many_dft_c2r(1, sizes, 2, a, NULL, 1, 2, out.member, NULL, 1, 3, 0), is_double, 6); \
    } \
    CASE(fftw_plan, prefix##_guru) \
    { \
        prefix##_complex *a = (void *)in.member, *b = (void *)out.member; \
        prefix##_iodim dims[] = {{4, 3, 3}}, batch[] = {{3, 1, 1}}; \
        prefix##_iodim64 dims64[] = {{4, 3, 3}}, batch64[] = {{3, 1, 1}}; \
        RUN(prefix, prefix##_plan_guru_dft(1, dims, 1, batch, a, b, FFTW_FORWARD, 0), is_double, 24); \
        RUN(prefix, prefix##_plan_guru64_dft(1, dims64, 1, batch64, a, b, FFTW_FORWARD, 0), is_double, 24); \
        RUN(prefix, prefix##_plan_guru_dft_r2c(1, dims, 1, batch, in.member, b, 0), is_double, 18); \
        RUN(prefix, prefix##_plan_guru64_dft_r2c(1, dims64, 1, batch64, in.member, b, 0), is_double, 18); \
    } \
    CASE(fftw_plan, prefix##_other_arrays) \
    { \
        prefix##_complex *a = (void *)in.member, *b = (void *)out.member; \
        fill(is_double); \
        prefix##_plan plan = prefix##_plan_dft_1d(8, b, b, FFTW_FORWARD, 0); \
        say_int(plan != NULL); \
        prefix##_execute_dft(plan, a + 1, b + 3); \
        tell(is_double, 24); \
        prefix##_destroy_plan(plan); \
    } \
    CASE(fftw_plan, prefix##_memory) \
    { \
        real *a = prefix##_malloc(64 * sizeof *a); \
        say_int(a != NULL); \
        prefix##_free(a); \
        prefix##_free(NULL); \
        prefix##_set_timelimit(1); \
        prefix##_cleanup(); \
    } \
    CASE(fftw_plan, prefix##_wrong, .alone = true) \
    { \
        prefix##_complex *a = (void *)in.member, *b = (void *)out.member; \
        int zero[] = {0}; \
        say_int(prefix##_plan_dft_1d(0, a, b, FFTW_FORWARD, 0) != NULL); \
        say_int(prefix##_plan_dft_1d(-4, a, b, FFTW_FORWARD, 0) != NULL); \
        say_int(prefix##_plan_dft(1, zero, a, b, FFTW_FORWARD, 0) != NULL); \
        prefix##_destroy_plan(NULL); \
        prefix##_execute(NULL); \
    }
CASES(fftw, d, true, double)
CASES(fftwf, f, false, float)

CASE(fftw_order, device_memory)
{
    float *at = NULL, host[16], from[16];
    for (int i = 0; i < 16; i++)
        from[i] = (float)(i * i % 7);
    RT_NEED(cudaMalloc((void **)&at, sizeof host));
    RT_NEED(cudaMemcpy(at, from, sizeof from, cudaMemcpyDefault));
    fftwf_plan plan = fftwf_plan_dft_1d(8, (void *)at, (void *)at, FFTW_FORWARD, 0);
    say_int(plan != NULL);
    fftwf_execute(plan);
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, sizeof host, cudaMemcpyDefault));
    for (int i = 0; i < 16; i++)
        say_int(llrintf(16 * host[i]));
    fftwf_destroy_plan(plan);
    RT_NEED(cudaFree(at));
}
