/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: what differs from the driver's functions. */
#include "base/log.h"
#include "cudart/runtime.h"
#include "runtime_impl.h"

cudaError_t mr_cudaStreamDestroy(cudaStream_t stream)
{
    /* The default streams can't be destroyed. */
    if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        return mr_rt_bad(cudaErrorInvalidResourceHandle, "cudaStreamDestroy: a default stream");
    return (cudaError_t)mr_driver.cuStreamDestroy(stream);
}

/* The driver's statuses are the runtime's, by number, and enumerations are passed alike, so that the program's function serves as the
 * driver's callback. */
cudaError_t mr_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData, unsigned int flags)
{
    if (!callback || flags != 0)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaStreamAddCallback: %s", callback ? "flags must be 0" : "callback is NULL");
    return (cudaError_t)mr_driver.cuStreamAddCallback(stream, (CUstreamCallback)(void (*)(void))callback, userData, 0);
}
