/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory shared with other processes by handles.
 *
 * Memory is private to the process until it is exported: then its pages become those of a shared file (share/share.h),
 * at the same addresses, with the same contents, while kernels and copies may read and write it. Importing maps such a
 * file into this process's own device address space. Either side's memory lives on when the other side frees it or
 * dies.
 *
 * Any thread; no lock is held by the caller. */
#ifndef MR_MEMORY_EXPORT_H
#define MR_MEMORY_EXPORT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "share/share.h"

struct mr_context;

/* Exports the allocation that contains `address`. The same allocation gives the same handle every time. Before the
 * first call the caller sees to it that a thread which writes to the memory meanwhile gets to mr_memory_export_wait.
 * CUDA_ERROR_INVALID_VALUE unless it is device memory that this process allocated; CUDA_ERROR_OUT_OF_MEMORY when memory
 * or descriptors are short: the allocation is then as it was. Takes as long as it takes to copy the allocation, the
 * first time. */
CUresult mr_memory_export(uintptr_t address, struct mr_share_handle *out) __attribute__((warn_unused_result));

/* Opens another process's memory in a context: the address of the allocation's first byte. A second time in the same
 * context gives the same address and is counted. CUDA_ERROR_INVALID_VALUE for a handle of this process, or one whose
 * memory has been freed; CUDA_ERROR_INVALID_HANDLE if the process has ended, or the memory is open in another context;
 * CUDA_ERROR_MAP_FAILED when address space, memory or descriptors are short. */
CUresult mr_memory_import(struct mr_context *context, const struct mr_share_handle *handle, uintptr_t *out)
    __attribute__((warn_unused_result));

/* Takes one opening back; the last one unmaps. CUDA_ERROR_INVALID_VALUE if nothing was opened there. The caller has
 * seen to outstanding work. */
CUresult mr_memory_import_close(uintptr_t base);

/* The context in which the memory at `base` was opened, and whether the next close is the last; NULL if nothing was
 * opened there. */
struct mr_context *mr_memory_import_context(uintptr_t base, bool *last);

/* Called in the signal handler of a thread whose write to `address` was refused. True if that was because the memory is
 * being exported: the thread has waited for that to end and tries again. Async-signal-safe. */
bool mr_memory_export_wait(uintptr_t address);

#endif
