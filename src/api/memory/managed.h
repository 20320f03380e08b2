/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that advice (managed.c) and prefetching (prefetch.c) share. They log what is wrong, under `name`. */
#ifndef MR_API_MANAGED_H
#define MR_API_MANAGED_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

/* Is the range, not empty, within one managed allocation, or pageable memory that exists (then *pageable)? Else
 * CUDA_ERROR_INVALID_VALUE. */
CUresult mr_managed_check(CUdeviceptr address, size_t size, bool *pageable) __attribute__((warn_unused_result));

/* What calls of CUDA before 12.2 pass, a device's ordinal or CU_DEVICE_CPU, as a location. CUDA_ERROR_INVALID_DEVICE.
 */
CUresult mr_managed_location(CUdevice device, CUmemLocation *out) __attribute__((warn_unused_result));

/* Does the location exist? CUDA_ERROR_INVALID_DEVICE for a device, CUDA_ERROR_INVALID_VALUE for anything else that does
 * not. */
CUresult mr_managed_location_check(const CUmemLocation *location) __attribute__((warn_unused_result));

#endif
