// SPDX-License-Identifier: Apache-2.0
// Atomic operations as programs use them: all lanes of a warp at one place, at few, at any, each lane at its own.
// `x` has numbers in [0, 1), `byte` any bytes, `index` numbers less than PLACES. `own_plain` is `own` without atomics.
#define BENCH_DEVICE
#include "atomics.h"

#define KERNEL extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL count(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    if (x[I] < 0.5f)
        atomicAdd(out, 1);
}

KERNEL append(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    float mine = x[I];
    if (mine < 0.5f)
        ((float *)out)[1 + atomicAdd(out, 1)] = mine;
}

KERNEL sum_float(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    atomicAdd((float *)out, x[I]);
}

KERNEL sum_double(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    atomicAdd((double *)out, (double)x[I]);
}

KERNEL largest(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    atomicMax(out, __float_as_int(x[I]));
}

KERNEL few(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    atomicAdd(&out[I % FEW], (int)byte[I]);
}

KERNEL few_float(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    atomicAdd((float *)&out[I % FEW], x[I]);
}

KERNEL bins(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    atomicAdd(&out[byte[I]], 1);
}

KERNEL scatter(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    atomicAdd((float *)&out[index[I]], x[I]);
}

KERNEL own(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    for (int k = 0; k < ROUNDS; k++)
        atomicAdd(&out[I], (int)byte[I + k]);
}

KERNEL own_plain(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    for (int k = 0; k < ROUNDS; k++)
        out[I] += (int)byte[I + k];
}

KERNEL own_float(const float *x, const unsigned char *byte, const unsigned *index, int *out)
{
    for (int k = 0; k < ROUNDS; k++)
        atomicAdd((float *)&out[I], x[I + k]);
}
