// SPDX-License-Identifier: Apache-2.0
// The other half of relocatable.cu.
__device__ int offset = 2;

__device__ int twice(int value)
{
    return 2 * value;
}
