/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime library: the runtime API over the driver's public interface, and over nothing else of the driver.
 *
 * The generated wrappers (runtime_exports_<major>.c) are what programs call. They make the driver and a context ready,
 * call the driver or a body mr_cuda…, and hand failures to mr_rt_fail. The driver is opened with dlopen at the first
 * call that needs it, so that the static library asks nothing of the program's link line. */
#ifndef MR_CUDART_RUNTIME_H
#define MR_CUDART_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>
#include <cudaProfiler.h>

#ifndef MR_RUNTIME_NO_PROTOTYPES
#define MR_RUNTIME_NO_PROTOTYPES
#endif
#include <cuda_runtime_api.h>

#define MR_RT_EXPORT __attribute__((visibility("default")))

/* A device pointer as the driver takes it. */
#define MR_PTR(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

/* The stream that a per-thread form means. */
#define MR_OWN_STREAM(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

/* The driver's functions that this library calls: every name found in the table and the sources
 * (gen/millrace_gen/runtime.py). Valid once mr_rt_driver has succeeded. */
struct mr_driver {
#define MR_DRIVER(name) __typeof__(name) *name;
#include "runtime_driver.inc"
#undef MR_DRIVER
};
extern struct mr_driver mr_driver;

/* CUDART_VERSION of the library that is in use: 12090 or 13000. */
extern const int mr_rt_version;

/* What a thread has: its last error, its device, and the context that it was last seen with. */
struct mr_rt_thread {
    cudaError_t last;
    int device;         /* as cudaSetDevice chose; -1: not chosen */
    CUcontext context;  /* known to live as long as `resets` is the process's count */
    unsigned resets;
};
extern _Thread_local struct mr_rt_thread mr_rt_thread __attribute__((tls_model("initial-exec")));

/* Whether the driver is loaded and initialised. */
extern bool mr_rt_is_ready;
/* How often cudaDeviceReset was called; read with acquire order. */
extern unsigned mr_rt_resets;

/* Loads and initialises the driver, once. cudaErrorInsufficientDriver where there is none. Any thread. */
cudaError_t mr_rt_driver_slow(void);
static inline cudaError_t mr_rt_driver(void)
{
    return __builtin_expect(__atomic_load_n(&mr_rt_is_ready, __ATOMIC_ACQUIRE), 1) ? cudaSuccess : mr_rt_driver_slow();
}

/* Makes sure that the calling thread has a current context: the one it has, or its device's primary context. */
cudaError_t mr_rt_context_slow(void);
static inline cudaError_t mr_rt_context(void)
{
    CUcontext current;
    if (__builtin_expect(__atomic_load_n(&mr_rt_is_ready, __ATOMIC_ACQUIRE), 1) &&
        mr_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current && current == mr_rt_thread.context &&
        mr_rt_thread.resets == __atomic_load_n(&mr_rt_resets, __ATOMIC_ACQUIRE))
        return cudaSuccess;
    return mr_rt_context_slow();
}

/* The primary context of `device`, which is made if it is not there. The driver is ready. */
cudaError_t mr_rt_primary(int device, CUcontext *out);

/* Makes the primary context of `device` the thread's current one. The driver is ready. */
cudaError_t mr_rt_use_device(int device);

/* The device that the calling thread uses or would use. */
int mr_rt_device(void);

/* Notes a failure for cudaGetLastError and hands it back; a status that the runtime does not know becomes
 * cudaErrorUnknown. */
cudaError_t mr_rt_fail(cudaError_t status, const char *call) __attribute__((cold, noinline));

/* The answer of a function that is not there: cudaErrorNotSupported, and a log line. */
cudaError_t mr_rt_refuse(const char *call) __attribute__((cold, noinline));

/* Says why a call is refused, at log level info. As an expression mr_rt_bad is the status, which the compiler sees. */
void mr_rt_say_bad(const char *format, ...) __attribute__((cold, noinline, format(printf, 1, 2)));
#define mr_rt_bad(status, ...) (mr_rt_say_bad(__VA_ARGS__), (status))

/* Whether the runtime has this status. */
bool mr_rt_error_known(cudaError_t status);

/* A channel format as the driver knows it: the kind of a channel, and how many there are (1, 2 or 4).
 * cudaErrorInvalidChannelDescriptor where no array could have it. */
cudaError_t mr_rt_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format, unsigned *channels);

/* A place of memory as the driver knows it. */
static inline CUmemLocation mr_rt_location(struct cudaMemLocation location)
{
    return (CUmemLocation){.type = (CUmemLocationType)location.type, .id = location.id};
}

/* The place that older functions named by a device's number, or cudaCpuDeviceId. */
static inline CUmemLocation mr_rt_location_of(int device)
{
    return device == cudaCpuDeviceId ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
                                     : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

#endif
