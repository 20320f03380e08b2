/* SPDX-License-Identifier: Apache-2.0 */
/* Events: flags, recording, queries, elapsed time, destroyed handles. */
#include "rt.h"

#define DESTROYED \
    .alone = true, .allow = "cudaErrorInvalidResourceHandle|cudaErrorInvalidValue|cudaErrorContextIsDestroyed", \
    .why = "a destroyed handle: a crash on hardware; a documented refusal here"

CASE(event, create)
{
    cudaEvent_t event = NULL;
    rt(cudaEventCreate(&event));
    say_if("made", event != NULL);
    rt(cudaEventDestroy(event));
}

CASE(event, create_each_flag)
{
    for (unsigned flags = 0; flags < 9; flags++) {
        cudaEvent_t event = NULL;
        cudaError_t status = cudaEventCreateWithFlags(&event, flags);
        rt_noted(status);
        if (status == cudaSuccess)
            RT_NEED(cudaEventDestroy(event));
    }
}

CASE(event, create_unknown_flags)
{
    cudaEvent_t event = NULL;
    rt_noted(cudaEventCreateWithFlags(&event, 0x100));
    rt_noted(cudaEventCreateWithFlags(&event, 0x80000000u));
    rt_noted(cudaEventCreateWithFlags(NULL, 0));
    say_if("untouched", event == NULL);
}

CASE(event, query_unrecorded)
{
    cudaEvent_t event = rt_event(0);
    rt_noted(cudaEventQuery(event));
    rt_noted(cudaEventSynchronize(event));
}

CASE(event, query_null)
{
    rt_noted(cudaEventQuery(NULL));
}

CASE(event, synchronize_null)
{
    rt_noted(cudaEventSynchronize(NULL));
}

CASE(event, destroy_null)
{
    rt_noted(cudaEventDestroy(NULL));
}

CASE(event, record_null)
{
    rt_noted(cudaEventRecord(NULL, NULL));
    rt_noted(cudaEventRecordWithFlags(NULL, NULL, 0));
}

CASE(event, record_states)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(0);
    struct rt_gate gate = rt_gate_close(stream);
    rt(cudaEventRecord(event, stream));
    rt(cudaEventQuery(event));
    rt_gate_open(gate);
    rt(cudaEventSynchronize(event));
    rt(cudaEventQuery(event));
}

CASE(event, record_again_moves)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(0);
    rt(cudaEventRecord(event, stream));
    rt(cudaEventSynchronize(event));
    struct rt_gate gate = rt_gate_close(stream);
    rt(cudaEventRecord(event, stream));
    rt(cudaEventQuery(event));
    rt_gate_open(gate);
    rt(cudaEventSynchronize(event));
}

CASE(event, record_default_streams)
{
    cudaEvent_t event = rt_event(0);
    rt(cudaEventRecord(event, NULL));
    rt(cudaEventRecord(event, cudaStreamLegacy));
    rt(cudaEventRecord(event, cudaStreamPerThread));
    rt(cudaEventSynchronize(event));
}

CASE(event, record_with_flags)
{
    cudaStream_t stream = rt_stream(0);
    cudaEvent_t event = rt_event(0);
    rt_noted(cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault));
    rt_noted(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    rt_noted(cudaEventRecordWithFlags(event, stream, 2));
}

CASE(event, elapsed)
{
    cudaEvent_t first = rt_event(0), last = rt_event(0);
    float ms = -1;
    RT_NEED(cudaEventRecord(first, NULL));
    RT_NEED(cudaEventRecord(last, NULL));
    RT_NEED(cudaEventSynchronize(last));
    rt(cudaEventElapsedTime(&ms, first, last));
    say_if("positive", ms >= 0);
    rt(cudaEventElapsedTime(&ms, last, first));
    say_if("negative", ms <= 0);
    rt(cudaEventElapsedTime(&ms, first, first));
    say_if("zero", ms == 0);
}

CASE(event, elapsed_unrecorded)
{
    cudaEvent_t first = rt_event(0), last = rt_event(0);
    float ms = -1;
    rt_noted(cudaEventElapsedTime(&ms, first, last));
    RT_NEED(cudaEventRecord(first, NULL));
    RT_NEED(cudaEventSynchronize(first));
    rt_noted(cudaEventElapsedTime(&ms, first, last));
    rt_noted(cudaEventElapsedTime(&ms, last, first));
    say_if("untouched", ms == -1);
}

CASE(event, elapsed_without_timing)
{
    cudaEvent_t first = rt_event(cudaEventDisableTiming), last = rt_event(0);
    float ms = -1;
    RT_NEED(cudaEventRecord(first, NULL));
    RT_NEED(cudaEventRecord(last, NULL));
    RT_NEED(cudaDeviceSynchronize());
    rt_noted(cudaEventElapsedTime(&ms, first, last));
    rt_noted(cudaEventElapsedTime(&ms, last, first));
    say_if("untouched", ms == -1);
}

CASE(event, elapsed_null)
{
    cudaEvent_t first = rt_event(0), last = rt_event(0);
    float ms = -1;
    RT_NEED(cudaEventRecord(first, NULL));
    RT_NEED(cudaEventRecord(last, NULL));
    RT_NEED(cudaDeviceSynchronize());
    rt_noted(cudaEventElapsedTime(NULL, first, last));
    rt_noted(cudaEventElapsedTime(&ms, NULL, last));
    rt_noted(cudaEventElapsedTime(&ms, first, NULL));
    say_if("untouched", ms == -1);
}

CASE(event, destroy_pending)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(0);
    struct rt_gate gate = rt_gate_close(stream);
    RT_NEED(cudaEventRecord(event, stream));
    rt(cudaEventDestroy(event));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
}

CASE(event, destroy_twice, DESTROYED)
{
    cudaEvent_t event = rt_event(0);
    RT_NEED(cudaEventDestroy(event));
    rt(cudaEventDestroy(event));
}

CASE(event, query_destroyed, DESTROYED)
{
    cudaEvent_t event = rt_event(0);
    RT_NEED(cudaEventDestroy(event));
    rt(cudaEventQuery(event));
}

CASE(event, record_destroyed, DESTROYED)
{
    cudaEvent_t event = rt_event(0);
    RT_NEED(cudaEventDestroy(event));
    rt(cudaEventRecord(event, NULL));
}

CASE(event, wait_in_other_thread)
{
    cudaEvent_t event = rt_event(cudaEventBlockingSync);
    rt(cudaEventRecord(event, NULL));
    rt(cudaEventSynchronize(event));
    rt(cudaEventDestroy(event));
}

CASE(event, without_context, .alone = true)
{
    cudaEvent_t event = rt_event(0);
    NEED(cuCtxSetCurrent(NULL));
    rt_noted(cudaEventQuery(event));
    rt_noted(cudaEventRecord(event, NULL));
    rt_noted(cudaEventSynchronize(event));
}

CASE(event, after_reset, .alone = true)
{
    cudaEvent_t event = NULL;
    rt(cudaDeviceReset());
    rt(cudaEventCreate(&event));
    rt(cudaEventRecord(event, NULL));
    rt(cudaEventSynchronize(event));
}
