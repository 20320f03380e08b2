/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

static __device__ int own = 40;
__device__ int table_base;

__device__ int look_up(int index)
{
    return index * index + own;
}

cudaError_t set_base(int value)
{
    return cudaMemcpyToSymbol(table_base, &value, sizeof value);
}
