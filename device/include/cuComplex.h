/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers in two floats or two doubles, for kernels and for the host, in C and C++. Quotients and sizes are scaled, so they overflow only
 * where the result does. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#ifndef __CUDACC_RTC__
#include <math.h> /* programs count on it, as NVIDIA's header has it */
#endif

#include "vector_types.h"

typedef float2 cuFloatComplex, cuComplex;
typedef double2 cuDoubleComplex;

#ifdef __CUDA__
#define MR_EITHER static __attribute__((host, device, always_inline, unused)) inline
#else
#define MR_EITHER static __inline__ __attribute__((unused))
#endif
#ifdef __CUDACC_RTC__ /* where -default-device makes a host's function one for both sides */
#define MR_ON_HOST(function)
#elif defined __CUDA__
#define MR_ON_HOST(function) static __attribute__((host, unused)) inline function
#else
#define MR_ON_HOST(function) MR_EITHER function
#endif

#define MR_COMPLEX(type, real, f, letter)                                                                                   \
    MR_EITHER type make_##type(real x, real y) { type z = {x, y}; return z; }                                               \
    MR_EITHER real cuCreal##f(type x) { return x.x; }                                                                       \
    MR_EITHER real cuCimag##f(type x) { return x.y; }                                                                       \
    MR_EITHER type cuConj##f(type x) { return make_##type(x.x, -x.y); }                                                     \
    MR_EITHER type cuCadd##f(type x, type y) { return make_##type(x.x + y.x, x.y + y.y); }                                  \
    MR_EITHER type cuCsub##f(type x, type y) { return make_##type(x.x - y.x, x.y - y.y); }                                  \
    MR_EITHER type cuCmul##f(type x, type y) { return make_##type(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x); }          \
    MR_EITHER type cuCfma##f(type x, type y, type z)                                                                        \
    {                                                                                                                       \
        return make_##type(__builtin_fma##letter(x.x, y.x, __builtin_fma##letter(-x.y, y.y, z.x)),                          \
                           __builtin_fma##letter(x.x, y.y, __builtin_fma##letter(x.y, y.x, z.y)));                          \
    }                                                                                                                       \
    MR_EITHER type cuCdiv##f(type x, type y)                                                                                \
    {                                                                                                                       \
        if (__builtin_fabs##letter(y.x) >= __builtin_fabs##letter(y.y)) {                                                   \
            real ratio = y.y / y.x, whole = y.x + y.y * ratio;                                                              \
            return make_##type((x.x + x.y * ratio) / whole, (x.y - x.x * ratio) / whole);                                   \
        }                                                                                                                   \
        real ratio = y.x / y.y, whole = y.x * ratio + y.y;                                                                  \
        return make_##type((x.x * ratio + x.y) / whole, (x.y * ratio - x.x) / whole);                                       \
    }                                                                                                                       \
    MR_ON_HOST(real cuCabs##f(type x) { return __builtin_hypot##letter(x.x, x.y); })
MR_COMPLEX(cuFloatComplex, float, f, f)
MR_COMPLEX(cuDoubleComplex, double, , )
#undef MR_COMPLEX
#ifdef __CUDA__
MR_DEVICE float cuCabsf(cuFloatComplex x) { return hypotf(x.x, x.y); }
MR_DEVICE double cuCabs(cuDoubleComplex x) { return hypot(x.x, x.y); }
#endif
MR_EITHER cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
MR_EITHER cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_cuDoubleComplex((double)x.x, (double)x.y); }
MR_EITHER cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return make_cuFloatComplex((float)x.x, (float)x.y); }
#undef MR_EITHER
#undef MR_ON_HOST

#endif
