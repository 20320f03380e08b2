/* SPDX-License-Identifier: Apache-2.0 */
/* The driver, as the libraries of mathematics use it: its public interface, and one private function for work in
 * stream order (command/parts.h in the driver). It is opened at the first call and never closed. */
#ifndef MR_MATH_DRIVER_H
#define MR_MATH_DRIVER_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR_MATH_DRIVER_FUNCTIONS(F) \
    F(cuInit) \
    F(cuCtxGetCurrent) \
    F(cuCtxSetCurrent) \
    F(cuCtxGetDevice) \
    F(cuCtxSynchronize) \
    F(cuDeviceGetAttribute) \
    F(cuDevicePrimaryCtxRetain) \
    F(cuStreamIsCapturing) \
    F(cuStreamSynchronize) \
    F(cuMemAlloc_v2) \
    F(cuMemFree_v2) \
    F(cuMemcpyHtoD_v2) \
    F(cuMemcpy2D_v2) \
    F(cuMemcpy2DAsync_v2) \
    F(cuCtxPushCurrent_v2) \
    F(cuCtxPopCurrent_v2) \
    F(cuDeviceGet) \
    F(cuDeviceGetCount) \
    F(cuDeviceGetUuid_v2) \
    F(cuDevicePrimaryCtxRelease_v2) \
    F(cuEventCreate) \
    F(cuEventDestroy_v2) \
    F(cuEventRecord) \
    F(cuEventSynchronize) \
    F(cuMemHostRegister_v2) \
    F(cuPointerGetAttribute) \
    F(cuStreamGetCaptureInfo_v2) \
    F(cuStreamWaitEvent) \
    F(cuStreamWaitValue32_v2)

/* As the driver declares them (command/parts.h). */
struct mr_tell_box {
    uintptr_t first;
    size_t width, rows, pitch;
    unsigned how;
};
typedef void mr_tell_add(void *touches, const struct mr_tell_box *box);
typedef void mr_tell_late(const int64_t *given, mr_tell_add *add, void *touches);
#define MR_TELL_GIVEN 6

struct mr_math_driver {
#define MR_MEMBER(name) __typeof__(name) *name;
    MR_MATH_DRIVER_FUNCTIONS(MR_MEMBER)
#undef MR_MEMBER
    /* As the driver declares it: data goes over on success alone. */
    CUresult (*submit_parts)(CUstream stream, uint64_t count, void (*run)(void *data, uint64_t first, uint64_t end),
                             void (*release)(void *data), void *data);
    void (*fail_part)(CUresult status);
    bool (*touch_part)(const char *function, const void *first, size_t width, size_t rows, size_t pitch, unsigned how);
    bool (*touch_late)(const char *function, mr_tell_late *late, const int64_t *given);
};
extern struct mr_math_driver mr_math_driver;

/* Opens the driver and initialises it. False, with a line in the log, if there is none that has what is needed. Any
 * thread. */
bool mr_math_driver_open(void);

/* The thread's current context; where there is none, `wanted`, or the first device's primary context for NULL, is made
 * current. NULL if that failed. The driver is open. */
CUcontext mr_math_context(CUcontext wanted);

#endif
