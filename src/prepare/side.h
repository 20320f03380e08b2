/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of copies and fills: where they are, and whether they may be used. */
#ifndef MR_PREPARE_SIDE_H
#define MR_PREPARE_SIDE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_context;
struct mr_copy;
struct mr_fill;

/* What the program says an address is. The addresses are unified, so this only tells whether pageable memory is
 * allowed. */
enum mr_side_kind { MR_SIDE_HOST, MR_SIDE_DEVICE, MR_SIDE_UNIFIED };

/* One operand: the address of its first byte, and the distances in bytes between rows and between slices. A copy
 * between contexts names the context of each operand, whose device's right to the memory counts: `by` is one more than
 * that device's ordinal. 0: the right of the device that copies. */
struct mr_side {
    uintptr_t address;
    enum mr_side_kind kind;
    int by;
    size_t pitch, slice;
};

/* What the check of an operand found. */
struct mr_place {
    bool pageable;
    bool host;       /* pageable, pinned or registered: the processor's own memory in the manual's sense */
    bool sync;       /* SYNC_MEMOPS */
    struct mr_context *owner; /* of device memory; borrowed from the visit. NULL: of none, or host memory */
};

/* Checks a copy of `depth` slices of `height` rows of `width` bytes, none of them 0, that `device` makes, and fills in
 * what a run executes, and where both sides are. CUDA_ERROR_INVALID_VALUE for a null operand, a range that wraps or
 * leaves its allocation, and pageable memory where device memory belongs; the log says which. */
CUresult mr_copy_prepare(int device, const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
                         size_t depth, struct mr_place *to_place, struct mr_place *from_place, struct mr_copy *out)
    __attribute__((warn_unused_result));

/* The same of a fill of `height` rows of `width` elements of `element` bytes. */
CUresult mr_fill_prepare(int device, CUdeviceptr address, size_t pitch, uint32_t value, unsigned element, size_t width,
                         size_t height, struct mr_place *place, struct mr_fill *out)
    __attribute__((warn_unused_result));

#endif
