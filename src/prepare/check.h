/* SPDX-License-Identifier: Apache-2.0 */
/* Small checks that entry points share. Each logs what was wrong at level info and returns the documented status. */
#ifndef MR_PREPARE_CHECK_H
#define MR_PREPARE_CHECK_H

#include <cuda.h>
#include <stdbool.h>

struct mr_device;

/* Logs "<name of the call>: <message>" (base/call.h) and returns CUDA_ERROR_INVALID_VALUE. */
CUresult mr_bad_value(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Logs "<name of the call>: <handle> is not a live <what>" and returns CUDA_ERROR_INVALID_HANDLE;
 * CUDA_ERROR_CONTEXT_IS_DESTROYED if it is a stream's or an array's that ended with its context. */
CUresult mr_bad_handle(const char *what, const void *handle) __attribute__((cold));

#ifdef __clang_analyzer__
/* The analyzer reads one file at a time: it is told that these two never answer CUDA_SUCCESS. */
#define mr_bad_value(...) (mr_bad_value(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE)
#define mr_bad_handle(what, handle) (mr_bad_handle(what, handle), CUDA_ERROR_INVALID_HANDLE)
#endif

/* The device with an ordinal, or CUDA_ERROR_INVALID_DEVICE. */
CUresult mr_device_require(CUdevice ordinal, struct mr_device **out) __attribute__((warn_unused_result));

/* Does the machine have a NUMA node of that number? The first is always there. */
bool mr_numa_node_exists(int node);

#endif
