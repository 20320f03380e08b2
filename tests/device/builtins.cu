/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own names for functions of mathematics, in kernels, in functions of both sides and in the host's code. As a program, and its kernels by libnvrtc. */
#ifndef __CUDACC_RTC__
#include <cmath>
#include <cstdio>
#endif

__device__ int wrong_line;
/* What the compiler's name gives is what the function itself gives, or a number beside it where the host knows another. */
#define NEAR(value, right) ((value) - (right) < 1e-6 && (right) - (value) < 1e-6 ? (void)0 : (void)(wrong_line = __LINE__))
#define DOUBLE(name, x) NEAR(__builtin_##name(x), name(x))
#define FLOAT(name, x) NEAR(__builtin_##name##f((float)(x)), name##f((float)(x)))
#define ONE(name, x) DOUBLE(name, x), FLOAT(name, x)
#define TWO(name, x, y) NEAR(__builtin_##name(x, y), name(x, y)), NEAR(__builtin_##name##f((float)(x), y), name##f((float)(x), y))

template <class A, class B> struct pair_of { A a; B b; };
template <class A, class B> __host__ __device__ double sum_of(pair_of<A, B> p) { return __builtin_pow(pair_of<A, B>(p).a, p.b); }
__host__ __device__ double both(double x) { return __builtin_log(x) + __builtin_expf(1); }
constexpr double constant(double x) { return x > 0 ? __builtin_log2(x) : 0.0; }

extern "C" __global__ void kernel(int *results)
{
    double x = 0.1 + threadIdx.x / 64.0, whole;
    float whole_float;
    int n, m;
    FLOAT(acos, x); FLOAT(acosh, x + 1); DOUBLE(asin, x); FLOAT(asinh, x); ONE(atan, x); FLOAT(atanh, x); FLOAT(cbrt, x);
    ONE(cos, x); FLOAT(cosh, x); DOUBLE(erf, x); FLOAT(erfc, x); ONE(exp, x); DOUBLE(exp10, x); DOUBLE(exp2, x); FLOAT(expm1, x);
    FLOAT(lgamma, x); ONE(log, x); FLOAT(log10, x); DOUBLE(log1p, x); ONE(log2, x); ONE(logb, x); ONE(sin, x); DOUBLE(sinh, x);
    ONE(tan, x); DOUBLE(tanh, x); DOUBLE(tgamma, x); ONE(ceil, x); ONE(floor, x); ONE(trunc, x); ONE(rint, x); ONE(nearbyint, x);
    ONE(round, x); ONE(sqrt, x); ONE(fabs, -x); FLOAT(j0, x); DOUBLE(j1, x); DOUBLE(y0, x); FLOAT(y1, x); ONE(ilogb, x);
    ONE(lrint, x * 9); ONE(llrint, x * 9); ONE(lround, x * 9); ONE(llround, x * 9);
    TWO(atan2, x, 2); TWO(fdim, x, 0.25f); TWO(fmod, x * 100, 0.75f); TWO(fmax, x, 1); TWO(fmin, x, 1); TWO(copysign, x, -1);
    TWO(hypot, x, 2); TWO(nextafter, x, 2); TWO(pow, x, 2.5f); TWO(remainder, x, 0.75f); TWO(ldexp, x, 3); TWO(scalbn, x, 3); TWO(scalbln, x, 3);
    NEAR(__builtin_fma(x, x, 1.0), x * x + 1);
    NEAR(__builtin_jn(2, x), jn(2, x));
    NEAR(__builtin_ynf(2, (float)x + 1), ynf(2, (float)x + 1));
    NEAR(__builtin_powi(x, 3), x * x * x);
    NEAR(__builtin_powif((float)x, 2), (float)x * (float)x);
    NEAR(__builtin_frexp(x * 8, &n), frexp(x * 8, &m));
    NEAR(n, m);
    NEAR(__builtin_modf(x * 8, &whole) + whole, x * 8);
    NEAR(__builtin_modff((float)x * 8, &whole_float) + whole_float, (float)x * 8);
    NEAR(__builtin_remquo(x * 8, 0.5, &n), remquo(x * 8, 0.5, &m));
    NEAR(n, m);
    NEAR(sum_of(pair_of<int, int>{2, 3}), 8.0);
    NEAR(both(x), log(x) + 2.7182818284590452);
    NEAR(constant(x), log2(x));
#ifndef __CUDACC_RTC__
    NEAR(std::log((float)x), logf((float)x));
    NEAR(std::pow((float)x, 2), x * x);
#endif
    results[0] = wrong_line;
    results[1] = (int)threadIdx.x;
}

#ifndef __CUDACC_RTC__
static const double of_the_host = __builtin_sin(1.0) + both(2.0);
int main()
{
    int *results;
    if (__builtin_fabs(of_the_host - (std::sin(1.0) + std::log(2.0) + std::exp(1.0f))) > 1e-6 || cudaMallocManaged(&results, 2 * sizeof *results))
        return 1;
    kernel<<<1, 32>>>(results);
    if (cudaDeviceSynchronize() || results[0])
        printf("line %d\n", results[0]);
    return cudaGetLastError() || results[0];
}
#endif
