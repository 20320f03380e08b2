/* SPDX-License-Identifier: Apache-2.0 */
/* What a tensor map (CUtensorMap) holds here. Programs make it by cuTensorMapEncode*, hand it to kernels as 128 bytes,
 * and look at nothing in it. */
#ifndef MR_KERNEL_TENSOR_H
#define MR_KERNEL_TENSOR_H

#include <stdint.h>

#define MR_TENSOR_RANK 5u
#define MR_TENSOR_MAP_MARK UINT64_C(0x70616d726f736e74)

struct mr_tensor_map {
    uint64_t mark; /* MR_TENSOR_MAP_MARK, or this is no map */
    uint64_t address;
    uint64_t stride[MR_TENSOR_RANK - 1]; /* bytes from one to the next of each dimension behind the first */
    uint32_t last[MR_TENSOR_RANK]; /* elements of each dimension less one */
    uint16_t box[MR_TENSOR_RANK]; /* elements of a box, tile mode; im2col: channels, then pixels of a column */
    uint8_t step[MR_TENSOR_RANK]; /* elements between two that a box takes */
    uint8_t type; /* CUtensorMapDataType */
    uint8_t rank;
    uint8_t interleave, swizzle; /* CUtensorMapInterleave, CUtensorMapSwizzle */
    uint8_t nans; /* what stands outside is a NaN, else 0 */
    uint8_t columns; /* made for im2col */
    int16_t lower[3], upper[3]; /* im2col: corners of the box in which pixels begin, along width, height, depth */
};

_Static_assert(sizeof(struct mr_tensor_map) <= 128, "a tensor map has 128 bytes");

/* Bytes of an element of a CUtensorMapDataType; 0: none that is known here. */
unsigned mr_tensor_element_bytes(unsigned type);

#endif
