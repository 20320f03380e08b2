/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for each function of double precision, for test_math_double.c; and `others`: properties of those the C library lacks. */
#include <cuComplex.h>
#include <math_constants.h>

#define UNARY(name, bound)                                                     \
    extern "C" __global__ void k_##name(double *out, const double *x, int n)   \
    {                                                                          \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                         \
        if (i < n)                                                             \
            out[i] = name(x[i]);                                               \
    }
#define BINARY(name, bound)                                                                    \
    extern "C" __global__ void k_##name(double *out, const double *x, const double *y, int n)  \
    {                                                                                          \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                         \
        if (i < n)                                                                             \
            out[i] = name(x[i], y[i]);                                                         \
    }
#include "math_double_functions.def"

/* Differences that are 0, except for roundings: for x from 0.1 to 0.9. */
extern "C" __global__ void others(double *out, double x)
{
    double s, c, whole;
    int k;
    out[0] = erf(erfinv(x)) - x;
    out[1] = erfc(erfcinv(x)) - x;
    out[2] = normcdf(normcdfinv(x)) - x;
    out[3] = erfcx(x) - exp(x * x) * erfc(x);
    out[4] = lgamma(x) - log(tgamma(x));
    out[5] = rsqrt(x) * sqrt(x) - 1;
    out[6] = rcbrt(x) * cbrt(x) - 1;
    sincospi(x, &s, &c);
    out[7] = s - sin(x * 3.14159265358979323846);
    out[8] = c - cospi(x);
    out[9] = norm3d(x, 2, 3) * rnorm3d(x, 2.0, 3.0) - 1;
    out[10] = frexp(x, &k) * ldexp(1.0, k) - x;
    out[11] = modf(x + 5, &whole) + whole - 5 - x;
    out[12] = pow(x, 2) - x * x + pow(2, 3) - 8 + sqrt(4) - 2;
    out[13] = nextafter(x, 1.0) - x;
    out[14] = sinpif((float)x) - sinpi((double)(float)x);
    out[15] = remquo(7.0, 2.0, &k) + 1 + k - 4;
}

__device__ constexpr double log_of_2() { return ::log(2.0); }

/* The same for complex numbers: a quotient multiplied back, with parts that would overflow; sizes; conversions. */
extern "C" __global__ void complex(double *out, double x)
{
    cuDoubleComplex z = make_cuDoubleComplex(x, 2.0), huge = make_cuDoubleComplex(3e200, 4e200);
    cuDoubleComplex back = cuCmul(cuCdiv(z, huge), huge), sum = cuCsub(cuCfma(z, z, z), cuCadd(cuCmul(z, z), z));
    out[0] = cuCreal(back) - x;
    out[1] = cuCimag(back) - 2.0;
    out[2] = cuCabs(huge) / 5e200 - 1;
    out[3] = cuCreal(sum);
    out[4] = cuCimag(sum);
    cuFloatComplex small = cuComplexDoubleToFloat(cuConj(z)), quotient = cuCdivf(small, make_cuFloatComplex(0.0f, -2.0f));
    out[5] = cuCrealf(quotient) - 1.0;
    out[6] = cuCimagf(quotient) - (double)(float)x / 2;
    out[7] = cuCabsf(make_cuComplex(3, 4)) - 5;
    out[8] = sin(CUDART_PI / 2) - 1 + log(exp(1.0) * 2) - 1 - CUDART_LN2 + log_of_2() - CUDART_LN2;
}

/* Roundings and halves: 1 for each fact that holds. */
extern "C" __global__ void casts(int *out, double third, float tenth, int big)
{
    out[0] = __dadd_rd(third, 1e-30) < __dadd_ru(third, 1e-30) && __dadd_rz(third, 1e-30) == third;
    out[1] = __dsub_ru(third, 1e-30) == third && __dsub_rz(third, 1e-30) < third;
    out[2] = __double2int_rn(2.5) == 2 && __double2int_ru(third) == 1 && __double2int_rd(-third) == -1 && __double2int_rz(-third) == 0;
    out[3] = (double)__double2float_rd(third) < third && (double)__double2float_ru(third) > third;
    out[4] = __hiloint2double(__double2hiint(third), __double2loint(third)) == third;
    out[5] = __umul64hi(~0ull, (unsigned long long)big << 32) == ((unsigned long long)big << 32) - 1 && __mul64hi(-1, big) == -1;
    out[6] = __ddiv_rd(1, 3) < __ddiv_ru(1, 3) && __fdiv_rd(1, tenth) < __fdiv_ru(1, tenth) && __dsqrt_rd(2) < __dsqrt_ru(2);
    out[7] = __int2float_rz(big) == 16777216.0f && __int2float_ru(big) == 16777218.0f && __hadd(big, big + 1) == big && __sad(3, -4, 1) == 8;
}
