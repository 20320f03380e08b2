/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLE_TABLE_H
#define EXAMPLE_TABLE_H

extern __device__ int table_base;
__device__ int look_up(int index);
cudaError_t set_base(int value);

#endif
