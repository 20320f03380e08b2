/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events: what differs from the driver's functions. */
#include <stdlib.h>

#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

cudaError_t mr_cudaStreamDestroy(cudaStream_t stream)
{
    /* The default streams can't be destroyed. */
    if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        return mr_rt_bad(cudaErrorInvalidResourceHandle, "cudaStreamDestroy: a default stream");
    return (cudaError_t)mr_driver.cuStreamDestroy(stream);
}

/* The place for the result is looked at first. */
cudaError_t mr_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return ms ? (cudaError_t)mr_driver.cuEventElapsedTime(ms, start, end)
              : mr_rt_bad(cudaErrorInvalidValue, "cudaEventElapsedTime: ms is NULL");
}

/* A program's callback has the runtime's types. What the driver calls is ours, once, also after a failure; captures
 * refuse it, so that no graph calls it again. */
struct callback {
    cudaStreamCallback_t function;
    void *user;
};

static void call_back(CUstream stream, CUresult status, void *data)
{
    struct callback callback = *(struct callback *)data;
    free(data);
    cudaError_t given = (cudaError_t)status;
    callback.function(stream, mr_rt_error_known(given) ? given : cudaErrorUnknown, callback.user);
}

cudaError_t mr_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                     unsigned int flags)
{
    if (!callback || flags != 0)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaStreamAddCallback: %s",
                         callback ? "flags must be 0" : "callback is NULL");
    struct callback *record = malloc(sizeof *record);
    if (!record)
        return cudaErrorMemoryAllocation;
    *record = (struct callback){callback, userData};
    CUresult status = mr_driver.cuStreamAddCallback(stream, call_back, record, 0);
    if (status != CUDA_SUCCESS)
        free(record);
    return (cudaError_t)status;
}
