/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for each elementary function of the device headers, for test_math.c. */
#define UNARY(name)                                                            \
    extern "C" __global__ void k_##name(float *out, const float *x, int n)     \
    {                                                                          \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                         \
        if (i < n)                                                             \
            out[i] = name(x[i]);                                               \
    }
#define BINARY(name)                                                                        \
    extern "C" __global__ void k_##name(float *out, const float *x, const float *y, int n)  \
    {                                                                                       \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                      \
        if (i < n)                                                                          \
            out[i] = name(x[i], y[i]);                                                      \
    }
#include "math_functions.def"

extern "C" __global__ void overloads(float *out, float x)
{
    out[0] = exp(x) - expf(x);
    out[1] = pow(x, 2.0f) - powf(x, 2.0f);
    float s, c;
    sincosf(x, &s, &c);
    out[2] = s - sin(x) + c - cos(x);
    out[3] = isnan(x) || isinf(x) || !isfinite(x) || signbit(x);
}
