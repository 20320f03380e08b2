/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA_VISIBLE_DEVICES (CUDA programming guide, environment variables): which of the machine's devices a program sees,
 * and in which order. */
#ifndef MR_OBJECT_VISIBLE_H
#define MR_OBJECT_VISIBLE_H

#include <cuda.h>
#include <stdint.h>

/* Reads `list`, numbers or beginnings of identifiers (GPU-1f13c8ac-…) with commas between, for a machine of `count`
 * devices with these identifiers. chosen[0] … chosen[*chosen_count - 1] become the numbers of the devices to show,
 * `count` at most. The list ends at the first entry that names no device, or that is of another kind than the first.
 * CUDA_ERROR_NO_DEVICE: no device is left. CUDA_ERROR_INVALID_DEVICE: a device is named twice. What NVIDIA's driver
 * answers is in tests/object/test_visible.c. */
CUresult mr_visible_devices(const char *list, int count, const uint8_t (*uuids)[16], int *chosen, int *chosen_count)
    __attribute__((warn_unused_result));

#endif
