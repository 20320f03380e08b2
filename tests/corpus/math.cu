/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own mathematical functions, each within the error that CUDA's programming guide gives. bounds.py has the bounds. */
#include "corpus.h"

#define MATH1(name, T, call)         \
    KERNEL(math_##name)              \
    {                                \
        corpus_pair<T> r;            \
        T a = r.operand = LOAD(T, 0); \
        r.result = call;             \
        STORE(r);                    \
    }
#define MATH2(name, T, call)                        \
    KERNEL(math_##name)                             \
    {                                               \
        corpus_triple<T> r;                         \
        T a = r.first = LOAD(T, 0);                 \
        T b = r.second = LOAD(T, 1);                \
        r.unused = 0;                               \
        r.result = call;                            \
        STORE(r);                                   \
    }
MATH1(sinf, f32, sinf(a))
MATH1(cosf, f32, cosf(a))
MATH1(tanf, f32, tanf(a))
MATH1(asinf, f32, asinf(a))
MATH1(acosf, f32, acosf(a))
MATH1(atanf, f32, atanf(a))
MATH1(sinhf, f32, sinhf(a))
MATH1(coshf, f32, coshf(a))
MATH1(tanhf, f32, tanhf(a))
MATH1(expf, f32, expf(a))
MATH1(exp2f, f32, exp2f(a))
MATH1(exp10f, f32, exp10f(a))
MATH1(expm1f, f32, expm1f(a))
MATH1(logf, f32, logf(a))
MATH1(log2f, f32, log2f(a))
MATH1(log10f, f32, log10f(a))
MATH1(log1pf, f32, log1pf(a))
MATH1(cbrtf, f32, cbrtf(a))
MATH1(rsqrtf, f32, rsqrtf(a))
MATH1(sqrtf, f32, sqrtf(a))
MATH1(erff, f32, erff(a))
MATH1(erfcf, f32, erfcf(a))
MATH1(rintf, f32, rintf(a))
MATH1(roundf, f32, roundf(a))
MATH1(floorf, f32, floorf(a))
MATH1(truncf, f32, truncf(a))
MATH2(powf, f32, powf(a, b))
MATH2(atan2f, f32, atan2f(a, b))
MATH2(fmodf, f32, fmodf(a, b))
MATH2(hypotf, f32, hypotf(a, b))
MATH2(fdimf, f32, fdimf(a, b))
MATH1(sin, f64, sin(a))
MATH1(cos, f64, cos(a))
MATH1(exp, f64, exp(a))
MATH1(log, f64, log(a))
MATH1(atan, f64, atan(a))
MATH1(tanh, f64, tanh(a))
MATH1(cbrt, f64, cbrt(a))
MATH1(rsqrt, f64, rsqrt(a))
MATH1(erf, f64, erf(a))
