/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers in two floats or two doubles. Quotients and sizes are scaled, so they overflow only where the result does. */
#ifndef MILLRACE_CUCOMPLEX_H
#define MILLRACE_CUCOMPLEX_H

typedef float2 cuFloatComplex, cuComplex;
typedef double2 cuDoubleComplex;

#define MR_COMPLEX(type, real, f, size_of, fused)                                                                               \
    MR_DEVICE real cuCreal##f(type x) { return x.x; }                                                                       \
    MR_DEVICE real cuCimag##f(type x) { return x.y; }                                                                       \
    MR_DEVICE type cuConj##f(type x) { return {x.x, -x.y}; }                                                                \
    MR_DEVICE type cuCadd##f(type x, type y) { return {x.x + y.x, x.y + y.y}; }                                             \
    MR_DEVICE type cuCsub##f(type x, type y) { return {x.x - y.x, x.y - y.y}; }                                             \
    MR_DEVICE type cuCmul##f(type x, type y) { return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; }                     \
    MR_DEVICE type cuCfma##f(type x, type y, type z)                                                                        \
    {                                                                                                                       \
        return {fused(x.x, y.x, fused(-x.y, y.y, z.x)), fused(x.x, y.y, fused(x.y, y.x, z.y))}; \
    }                                                                                                                       \
    MR_DEVICE type cuCdiv##f(type x, type y)                                                                                \
    {                                                                                                                       \
        if (fabs(y.x) >= fabs(y.y)) {                                                                                       \
            real ratio = y.y / y.x, whole = y.x + y.y * ratio;                                                              \
            return {(x.x + x.y * ratio) / whole, (x.y - x.x * ratio) / whole};                                              \
        }                                                                                                                   \
        real ratio = y.x / y.y, whole = y.x * ratio + y.y;                                                                  \
        return {(x.x * ratio + x.y) / whole, (x.y * ratio - x.x) / whole};                                                  \
    }                                                                                                                       \
    MR_DEVICE real cuCabs##f(type x) { return size_of(x.x, x.y); }
MR_COMPLEX(cuFloatComplex, float, f, hypotf, __builtin_fmaf)
MR_COMPLEX(cuDoubleComplex, double, , hypot, __builtin_fma)
#undef MR_COMPLEX
MR_DEVICE cuFloatComplex make_cuFloatComplex(float x, float y) { return {x, y}; }
MR_DEVICE cuComplex make_cuComplex(float x, float y) { return {x, y}; }
MR_DEVICE cuDoubleComplex make_cuDoubleComplex(double x, double y) { return {x, y}; }
MR_DEVICE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {(double)x.x, (double)x.y}; }
MR_DEVICE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return {(float)x.x, (float)x.y}; }

#endif
