/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several contexts of one device: peer access, copies between contexts, and
 * streams, events, modules and memory that are used where another context is
 * current.  Two devices are in case_multi.c.
 */
#include "gold.h"

#include <string.h>

/* A second context beside the child's own one, which is made current again. */
static CUcontext beside(void)
{
    CUcontext other = gold_context_new();
    NEED(cuCtxSetCurrent(gold_context()));
    return other;
}

CASE(peer, can_access_itself)
{
    int can = 9;
    say(cuDeviceCanAccessPeer(&can, gold_device(), gold_device()));
    say_int(can);
    say(cuDeviceCanAccessPeer(NULL, gold_device(), gold_device()));
    say(cuDeviceCanAccessPeer(&can, 9999, gold_device()));
    say(cuDeviceCanAccessPeer(&can, gold_device(), -1));
}

CASE(peer, enable_bad)
{
    say(cuCtxEnablePeerAccess(NULL, 0));
    say(cuCtxEnablePeerAccess(gold_context(), 0));
    say(cuCtxEnablePeerAccess(gold_context(), 1));
    say(cuCtxDisablePeerAccess(NULL));
    say(cuCtxDisablePeerAccess(gold_context()));
}

CASE(peer, enable_other_with_flags, .alone = true)
{
    CUcontext other = beside();
    say(cuCtxEnablePeerAccess(other, 1));
    say(cuCtxEnablePeerAccess(other, ~0u));
}

CASE(peer, enable_without_context, .alone = true)
{
    CUcontext other = beside();
    NEED(cuCtxSetCurrent(NULL));
    say(cuCtxEnablePeerAccess(other, 0));
    say(cuCtxDisablePeerAccess(other));
}

CASE(peer, kernel_uses_memory_of_other_context, .alone = true)
{
    CUcontext other = gold_context_new();
    CUdeviceptr theirs = gold_alloc_words(4, 5);
    NEED(cuCtxSetCurrent(gold_context()));
    gold_add(NULL, theirs, 2);
    say(cuCtxSynchronize());
    say_int(gold_word(theirs));
    NEED(cuCtxDestroy(other));
}

CASE(peer, copy_between_contexts, .alone = true)
{
    CUdeviceptr one = gold_alloc_words(64, 3);
    CUcontext other = gold_context_new();
    CUdeviceptr two = gold_alloc_words(64, 4);
    say(cuMemcpyPeer(two, other, one, gold_context(), 128));
    NEED(cuCtxSynchronize());
    say_int(gold_word(two + 124));
    say_int(gold_word(two + 128));
    say(cuMemcpyPeer(one, gold_context(), two, other, 256));
    NEED(cuCtxSetCurrent(gold_context()));
    NEED(cuCtxSynchronize());
    say_int(gold_word(one + 252));
}

CASE(peer, copy_within_one_context)
{
    CUdeviceptr one = gold_alloc_words(64, 3), two = gold_alloc_words(64, 4);
    say(cuMemcpyPeer(two, gold_context(), one, gold_context(), 256));
    NEED(cuCtxSynchronize());
    say_int(gold_word(two));
}

CASE(peer, copy_wrong_contexts_named, .alone = true)
{
    CUdeviceptr one = gold_alloc_words(64, 3);
    CUcontext other = gold_context_new();
    CUdeviceptr two = gold_alloc_words(64, 4);
    say(cuMemcpyPeer(two, gold_context(), one, other, 256));
    say(cuCtxSynchronize());
    say_int(gold_word(two));
}

CASE(peer, copy_bad)
{
    CUdeviceptr one = gold_alloc_words(64, 3), two = gold_alloc_words(64, 4);
    say(cuMemcpyPeer(two, gold_context(), one, gold_context(), 0));
    say(cuMemcpyPeer(0, gold_context(), one, gold_context(), 4));
    say(cuMemcpyPeer(two, gold_context(), 0, gold_context(), 4));
    say(cuMemcpyPeer(two, NULL, one, gold_context(), 4));
    say(cuMemcpyPeer(two, gold_context(), one, NULL, 4));
}

CASE(peer, copy_host_pointers, .alone = true)
{
    CUdeviceptr one = gold_alloc_words(64, 3);
    unsigned local[64];
    memset(local, 0, sizeof local);
    say(cuMemcpyPeer((CUdeviceptr)(uintptr_t)local, gold_context(), one, gold_context(), 256));
    say(cuCtxSynchronize());
    say_int(local[5]);
}

CASE(peer, copy_async_in_third_context_stream, .alone = true)
{
    CUdeviceptr one = gold_alloc_words(64, 3);
    CUcontext other = gold_context_new();
    CUdeviceptr two = gold_alloc_words(64, 4);
    CUcontext third = gold_context_new();
    CUstream stream = gold_stream(0);
    say(cuMemcpyPeerAsync(two, other, one, gold_context(), 256, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(two));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuMemcpyPeerAsync(two, other, one, gold_context(), 256, stream));
    NEED(cuCtxDestroy(third));
}

CASE(peer, box_bad)
{
    CUDA_MEMCPY3D_PEER copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = gold_alloc_words(64, 3);
    copy.dstDevice = gold_alloc_words(64, 4);
    copy.WidthInBytes = 16;
    copy.Height = 1;
    copy.Depth = 1;
    say(cuMemcpy3DPeer(&copy));
    copy.srcContext = gold_context();
    say(cuMemcpy3DPeer(&copy));
    copy.dstContext = gold_context();
    say(cuMemcpy3DPeer(&copy));
    NEED(cuCtxSynchronize());
    say_int(gold_word(copy.dstDevice));
    copy.srcPitch = 8;
    say(cuMemcpy3DPeer(&copy));
    copy.srcPitch = 0;
    copy.Height = 0;
    say(cuMemcpy3DPeer(&copy));
    copy.Height = 1;
    copy.srcMemoryType = (CUmemorytype)9;
    say(cuMemcpy3DPeer(&copy));
}

/* ---- streams and events across contexts of one device ---- */

CASE(peer, record_in_stream_of_other_context, .alone = true)
{
    CUcontext other = gold_context_new();
    CUstream theirs = gold_stream(0);
    CUevent event = gold_event(0);
    NEED(cuCtxSetCurrent(gold_context()));
    CUevent mine = gold_event(0);
    CUstream own = gold_stream(0);
    say(cuEventRecord(event, theirs));
    say(cuEventRecord(mine, theirs));
    say(cuEventRecord(event, own));
    say(cuEventRecord(event, NULL));
    say(cuEventRecord(mine, own));
    NEED(cuCtxDestroy(other));
}

CASE(peer, wait_across_contexts, .alone = true)
{
    CUcontext other = gold_context_new();
    CUstream theirs = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 1);
    NEED(cuCtxSetCurrent(gold_context()));
    CUstream own = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(0);
    struct gold_gate gate = gold_gate_close(own);
    NEED(cuEventRecord(event, own));
    say(cuStreamWaitEvent(theirs, event, 0));
    say(cuStreamQuery(theirs));
    gold_gate_open(gate);
    say(gold_wait_stream(theirs, 5000));
    say(cuStreamSynchronize(theirs));
    say_int(gold_word(word));
    NEED(cuCtxDestroy(other));
}

CASE(
    peer, query_and_synchronize_across, .alone = true,
    .allow =
        "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS|"
        "CUDA_ERROR_NOT_READY CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS",
    .why = "hardware may take a moment to record an event")
{
    gold_context_new();
    CUstream theirs = gold_stream(0);
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, theirs));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuEventQuery(event));
    say(cuEventSynchronize(event));
    say(cuStreamQuery(theirs));
    say(cuStreamSynchronize(theirs));
    NEED(cuCtxSetCurrent(NULL));
    say(cuEventQuery(event));
    say(cuEventSynchronize(event));
    say(cuStreamQuery(theirs));
    say(cuStreamSynchronize(theirs));
}

CASE(peer, elapsed_across_contexts, .alone = true)
{
    CUcontext other = gold_context_new();
    CUevent theirs = gold_event(0);
    float ms = -1;
    NEED(cuEventRecord(theirs, NULL));
    NEED(cuCtxSynchronize());
    NEED(cuCtxSetCurrent(gold_context()));
    CUevent own = gold_event(0);
    NEED(cuEventRecord(own, NULL));
    NEED(cuCtxSynchronize());
    say(cuEventElapsedTime(&ms, theirs, own));
    say(cuEventElapsedTime(&ms, own, theirs));
    NEED(cuCtxDestroy(other));
}

CASE(peer, launch_in_stream_of_other_context, .alone = true)
{
    CUcontext other = gold_context_new();
    CUstream theirs = gold_stream(0);
    NEED(cuCtxSetCurrent(gold_context()));
    say(gold_launch(gold_function("empty"), 1, theirs, NULL));
    NEED(cuCtxSetCurrent(other));
    say(gold_launch(gold_function("empty"), 1, theirs, NULL));
    say(gold_launch(gold_function("empty"), 1, NULL, NULL));
}

CASE(peer, copies_in_stream_of_other_context, .alone = true)
{
    CUcontext other = gold_context_new();
    CUstream theirs = gold_stream(0);
    NEED(cuCtxSetCurrent(gold_context()));
    CUdeviceptr one = gold_alloc_words(4, 1), two = gold_alloc_words(4, 2);
    say(cuMemcpyDtoDAsync(one, two, 16, theirs));
    say(cuMemsetD32Async(one, 5, 4, theirs));
    say(cuStreamSynchronize(theirs));
    say_int(gold_word(one));
    NEED(cuCtxDestroy(other));
}

CASE(peer, stream_context_told, .alone = true)
{
    CUcontext other = gold_context_new(), told = NULL;
    CUstream theirs = gold_stream(0);
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuStreamGetCtx(theirs, &told));
    say_if("theirs", told == other);
    say(cuStreamGetCtx(NULL, &told));
    say_if("own", told == gold_context());
    NEED(cuCtxDestroy(other));
}

CASE(peer, destroy_across_contexts, .alone = true)
{
    CUcontext other = gold_context_new();
    CUstream theirs = gold_stream(0);
    CUevent event = gold_event(0);
    CUdeviceptr memory = gold_alloc(64);
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuStreamDestroy(theirs));
    say(cuEventDestroy(event));
    say(cuMemFree(memory));
    NEED(cuCtxDestroy(other));
}

CASE(peer, destroyed_context_handles, .alone = true)
{
    CUcontext other = gold_context_new();
    CUdeviceptr memory = gold_alloc(64);
    unsigned word = 0;
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuMemFree(memory));
    say(cuMemcpyDtoH(&word, memory, sizeof word));
}

/* ---- a context's events as a whole ---- */

CASE(peer, context_record_event)
{
    CUevent event = gold_event(0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuCtxRecordEvent(gold_context(), event));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
    say(cuStreamQuery(stream));
}

CASE(peer, context_record_event_bad, .alone = true)
{
    CUcontext other = gold_context_new();
    CUevent theirs = gold_event(0);
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuCtxRecordEvent(gold_context(), theirs));
    say(cuCtxRecordEvent(other, theirs));
    say(cuCtxRecordEvent(NULL, theirs));
    say(cuCtxRecordEvent(gold_context(), NULL));
}

CASE(peer, context_wait_event)
{
    CUevent event = gold_event(0);
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(first);
    NEED(cuEventRecord(event, first));
    say(cuCtxWaitEvent(gold_context(), event));
    CUdeviceptr word = 0;
    NEED(cuMemHostAlloc((void **)&word, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    *(volatile unsigned *)(uintptr_t)word = 0;
    gold_add(second, word, 1);
    gold_sleep_ms(20);
    say(cuStreamQuery(second));
    gold_gate_open(gate);
    say(cuStreamSynchronize(second));
    say_int(*(volatile unsigned *)(uintptr_t)word);
}

CASE(peer, context_wait_event_of_other, .alone = true)
{
    CUcontext other = gold_context_new();
    CUevent theirs = gold_event(0);
    NEED(cuEventRecord(theirs, NULL));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuCtxWaitEvent(gold_context(), theirs));
    say(cuCtxWaitEvent(gold_context(), NULL));
    say(cuCtxWaitEvent(NULL, theirs));
    NEED(cuCtxDestroy(other));
}

CASE(peer, atomic_capabilities_of_one_device)
{
    CUatomicOperation operation = (CUatomicOperation)0;
    unsigned capabilities = 77;
    say(cuDeviceGetP2PAtomicCapabilities(&capabilities, &operation, 1, gold_device(), gold_device()));
    say(cuDeviceGetP2PAtomicCapabilities(NULL, &operation, 1, gold_device(), gold_device()));
    say(cuDeviceGetP2PAtomicCapabilities(&capabilities, NULL, 1, gold_device(), gold_device()));
    say(cuDeviceGetP2PAtomicCapabilities(&capabilities, &operation, 0, gold_device(), gold_device()));
    say(cuDeviceGetP2PAtomicCapabilities(&capabilities, &operation, 1, 9999, gold_device()));
}

CASE(peer, host_atomic_capabilities, .allow = "CUDA_SUCCESS 31 0*",
     .why = "what can be done between host and device belongs to the device")
{
    CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_FLOAT_MIN};
    unsigned capabilities[2] = {77, 77};
    say(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, gold_device()));
    say_int(capabilities[0]);
    say_int(capabilities[1]);
    say(cuDeviceGetHostAtomicCapabilities(NULL, operations, 2, gold_device()));
    say(cuDeviceGetHostAtomicCapabilities(capabilities, NULL, 2, gold_device()));
    say(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 0, gold_device()));
    say(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 9999));
    operations[0] = CU_ATOMIC_OPERATION_MAX;
    say(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, gold_device()));
}
