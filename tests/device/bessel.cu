/* SPDX-License-Identifier: Apache-2.0 */
/* Bessel functions for test_bessel.c: a thread for each argument calculates the function that `which` names, in both precisions. */
#include <cuda_runtime.h>
#include <math.h>

extern "C" __global__ void bessel(double *out, float *single, const int *which, const int *order, const double *argument, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    double x = argument[i];
    int n = order[i];
    switch (which[i]) {
    case 0: out[i] = j0(x); single[i] = j0f((float)x); break;
    case 1: out[i] = j1(x); single[i] = j1f((float)x); break;
    case 2: out[i] = jn(n, x); single[i] = jnf(n, (float)x); break;
    case 3: out[i] = y0(x); single[i] = y0f((float)x); break;
    case 4: out[i] = y1(x); single[i] = y1f((float)x); break;
    case 5: out[i] = yn(n, x); single[i] = ynf(n, (float)x); break;
    case 6: out[i] = cyl_bessel_i0(x); single[i] = cyl_bessel_i0f((float)x); break;
    case 7: out[i] = cyl_bessel_i1(x); single[i] = cyl_bessel_i1f((float)x); break;
    }
}

/* A float's value stays a float, a whole number counts as a double. */
template <class T> __device__ int size_of(T) { return sizeof(T); }
extern "C" __global__ void overloads(int *sizes, float x, int whole)
{
    sizes[0] = size_of(j0(x)) + size_of(j1(x)) + size_of(jn(2, x)) + size_of(y0(x)) + size_of(y1(x)) + size_of(yn(2, x)) + size_of(cyl_bessel_i0(x)) + size_of(cyl_bessel_i1(x));
    sizes[1] = size_of(j0(whole)) + size_of(y1(whole)) + size_of(cyl_bessel_i0(whole));
    sizes[2] = j0(x) == j0f(x) && yn(2, x) == ynf(2, x) && j1(whole) == j1((double)whole);
}
