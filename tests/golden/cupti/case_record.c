/* SPDX-License-Identifier: Apache-2.0 */
/* What records of the activity interface say of calls and of what the device does. */
#include "cu.h"

#include <stdlib.h>
#include <string.h>

CASE(cu_kernel, record, .bare = true)
{
    CUcontext context = cu_begin();
    CUstream stream;
    uint32_t stream_id = 0, context_id = 0;
    uint64_t before = 0, after = 0;
    cu_kernel();
    NEED(cuStreamCreate(&stream, 0));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_DRIVER);
    CU_NEED(cuptiGetTimestamp(&before));
    cu_launch(stream, 3, 64, 512);
    NEED(cuStreamSynchronize(stream));
    CU_NEED(cuptiGetTimestamp(&after));
    cu_flush();
    const CUpti_ActivityKernel10 *k = cu_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
    if (!k)
        gold_stop("no record");
    say_value("count", cu_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    say_text(k->name);
    say_int(k->gridX);
    say_int(k->gridY);
    say_int(k->gridZ);
    say_int(k->blockX);
    say_int(k->blockY);
    say_int(k->blockZ);
    say_value("static", k->staticSharedMemory);
    say_value("dynamic", k->dynamicSharedMemory);
    say_value("launch_type", k->launchType);
    say_value("device", k->deviceId);
    say_value("graph", k->graphId);
    say_value("node", (long long)k->graphNodeId);
    say_value("queued", (long long)k->queued);
    say_value("submitted", (long long)k->submitted);
    say_value("by_device", k->isDeviceLaunched);
    say_if("registers", k->registersPerThread > 0);
    say_if("grid_number", k->gridId > 0);
    say_if("ends", k->end >= k->start && k->start > 0);
    say_if("in_time", k->start + 1000000 >= before && k->end <= after + 1000000);
    say_if("completed", k->completed >= k->end);
    CU_NEED(cuptiGetStreamIdEx(context, stream, 0, &stream_id));
    CU_NEED(cuptiGetContextId(context, &context_id));
    say_if("stream", k->streamId == stream_id);
    say_if("context", k->contextId == context_id);
    const CUpti_ActivityAPI *call = cu_record(CUPTI_ACTIVITY_KIND_DRIVER, 0);
    say_if("correlated",
           call && call->cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel && call->correlationId == k->correlationId);
}

CASE(cu_kernel, serial_kind, .bare = true)
{
    cu_begin();
    cu_kernel();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_KERNEL);
    cu_launch(NULL, 1, 32, 0);
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu_flush();
    say_value("kernel", cu_count(CUPTI_ACTIVITY_KIND_KERNEL));
    say_value("concurrent", cu_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

CASE(cu_kernel, both_kinds, .bare = true)
{
    cu_begin();
    cu_kernel();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cu(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL));
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu_flush();
    say_value("kernel", cu_count(CUPTI_ACTIVITY_KIND_KERNEL));
    say_value("concurrent", cu_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

CASE(cu_kernel, many, .bare = true)
{
    cu_begin();
    cu_kernel();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (int i = 0; i < 400; i++)
        cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu_flush();
    unsigned rising = 0;
    const CUpti_ActivityKernel10 *last = NULL;
    for (unsigned i = 0; i < 400; i++) {
        const CUpti_ActivityKernel10 *k = cu_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i);
        rising += k && (!last || (k->start >= last->end && k->correlationId > last->correlationId));
        last = k;
    }
    say_value("count", cu_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    say_value("in_order", rising);
    size_t dropped = 9;
    cu(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    say_int((long long)dropped);
}

CASE(cu_kernel, disabled, .bare = true)
{
    cu_begin();
    cu_kernel();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu_flush();
    say_value("count", cu_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

/* ---- copies and fills ---- */

static void say_copies(void)
{
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityMemcpy6 *copy = cu_record(CUPTI_ACTIVITY_KIND_MEMCPY, i);
        if (!copy)
            break;
        say_value("kind", copy->copyKind);
        say_value("from", copy->srcKind);
        say_value("to", copy->dstKind);
        say_value("flags", copy->flags);
        say_value("bytes", (long long)copy->bytes);
        say_if("ends", copy->end >= copy->start);
        say_value("correlated", copy->runtimeCorrelationId == copy->correlationId);
    }
    say_value("between", cu_count(CUPTI_ACTIVITY_KIND_MEMCPY2));
}

CASE(cu_copy, linear, .bare = true)
{
    CUdeviceptr a, b;
    void *pinned;
    char *plain = calloc(1, 4096);
    cu_begin();
    NEED(cuMemAlloc(&a, 4096));
    NEED(cuMemAlloc(&b, 4096));
    NEED(cuMemAllocHost(&pinned, 4096));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2);
    NEED(cuMemcpyHtoD(a, plain, 4096));
    NEED(cuMemcpyHtoD(a, pinned, 4096));
    NEED(cuMemcpyDtoH(plain, a, 1000));
    NEED(cuMemcpyDtoH(pinned, a, 1000));
    NEED(cuMemcpyDtoD(b, a, 2000));
    NEED(cuMemcpyHtoDAsync(a, pinned, 300, NULL));
    NEED(cuMemcpyDtoHAsync(pinned, a, 300, NULL));
    NEED(cuMemcpyDtoDAsync(b, a, 300, NULL));
    NEED(cuMemcpy(b, a, 200));
    NEED(cuMemcpy(b, (CUdeviceptr)(uintptr_t)pinned, 200));
    NEED(cuCtxSynchronize());
    cu_flush();
    say_copies();
}

CASE(cu_copy, boxes_and_arrays, .bare = true)
{
    CUdeviceptr a, b;
    CUarray array;
    cu_begin();
    NEED(cuMemAlloc(&a, 65536));
    NEED(cuMemAlloc(&b, 65536));
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = 16, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    NEED(cuArrayCreate(&array, &shape));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2);
    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = a,
                         .srcPitch = 512,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = b,
                         .dstPitch = 1024,
                         .WidthInBytes = 100,
                         .Height = 7};
    NEED(cuMemcpy2D(&box));
    NEED(cuMemcpyDtoA(array, 0, a, 16));
    NEED(cuMemcpyAtoD(a, array, 0, 16));
    NEED(cuCtxSynchronize());
    cu_flush();
    say_copies();
}

CASE(cu_copy, managed, .bare = true)
{
    CUdeviceptr a, b;
    cu_begin();
    NEED(cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_GLOBAL));
    NEED(cuMemAlloc(&b, 4096));
    NEED(cuMemsetD8(a, 1, 4096));
    NEED(cuCtxSynchronize());
    CU_COLLECT(CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2);
    NEED(cuMemcpyDtoD(b, a, 4096));
    NEED(cuMemcpyDtoD(a, b, 4096));
    NEED(cuCtxSynchronize());
    cu_flush();
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityMemcpy6 *copy = cu_record(CUPTI_ACTIVITY_KIND_MEMCPY, i);
        if (!copy)
            break;
        say_value("from", copy->srcKind);
        say_value("to", copy->dstKind);
        say_value("bytes", (long long)copy->bytes);
    }
}

CASE(cu_fill, records, .bare = true)
{
    CUdeviceptr a;
    void *pinned;
    cu_begin();
    NEED(cuMemAlloc(&a, 65536));
    NEED(cuMemAllocHost(&pinned, 4096));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_MEMSET);
    NEED(cuMemsetD8(a, 0x5a, 100));
    NEED(cuMemsetD16(a, 0x1234, 100));
    NEED(cuMemsetD32(a, 0x12345678, 100));
    NEED(cuMemsetD8Async(a, 7, 64, NULL));
    NEED(cuMemsetD2D8(a, 256, 9, 100, 5));
    NEED(cuMemsetD32Async((CUdeviceptr)(uintptr_t)pinned, 3, 16, NULL));
    NEED(cuCtxSynchronize());
    cu_flush();
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityMemset4 *fill = cu_record(CUPTI_ACTIVITY_KIND_MEMSET, i);
        if (!fill)
            break;
        say_value("value", fill->value);
        say_value("bytes", (long long)fill->bytes);
        say_value("kind", fill->memoryKind);
        say_value("flags", fill->flags);
        say_if("ends", fill->end >= fill->start && fill->correlationId != 0);
    }
}

/* ---- calls ---- */

static void say_calls(CUpti_ActivityKind kind)
{
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityAPI *call = cu_record(kind, i);
        if (!call)
            break;
        say_int(call->cbid);
        say_value("status", call->returnValue);
        if (call->end < call->start || !call->correlationId || !call->threadId || !call->processId)
            say_text("wrong");
    }
}

CASE(cu_api, driver, .bare = true)
{
    CUdeviceptr a;
    cu_begin();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_DRIVER);
    NEED(cuMemAlloc(&a, 64));
    NEED(cuMemsetD8(a, 0, 64));
    say(cuMemFree(a + 4096));
    NEED(cuMemFree(a));
    cu_flush();
    say_calls(CUPTI_ACTIVITY_KIND_DRIVER);
}

CASE(cu_api, runtime, .bare = true)
{
    void *memory;
    NEED((CUresult)cudaFree(NULL));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_RUNTIME);
    NEED((CUresult)cudaMalloc(&memory, 64));
    say_int(cudaMemset(memory, 0, (size_t)1 << 40));
    say_int(cudaGetLastError());
    NEED((CUresult)cudaMemset(memory, 0, 64));
    NEED((CUresult)cudaDeviceSynchronize());
    NEED((CUresult)cudaFree(memory));
    cu_flush();
    say_calls(CUPTI_ACTIVITY_KIND_RUNTIME);
}

CASE(cu_api, runtime_work, .bare = true)
{
    void *memory;
    NEED((CUresult)cudaMalloc(&memory, 64));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_MEMSET);
    NEED((CUresult)cudaMemset(memory, 0, 64));
    NEED((CUresult)cudaDeviceSynchronize());
    cu_flush();
    const CUpti_ActivityAPI *call = cu_record(CUPTI_ACTIVITY_KIND_RUNTIME, 0);
    const CUpti_ActivityMemset4 *fill = cu_record(CUPTI_ACTIVITY_KIND_MEMSET, 0);
    say_if("both", call && fill);
    say_if("correlated", call && fill && call->correlationId == fill->correlationId);
}

CASE(cu_api, runtime_and_driver, .bare = true)
{
    void *memory;
    NEED((CUresult)cudaMalloc(&memory, 64));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_MEMSET);
    NEED((CUresult)cudaMemset(memory, 0, 64));
    NEED((CUresult)cudaDeviceSynchronize());
    cu_flush();
    const CUpti_ActivityAPI *call = cu_record(CUPTI_ACTIVITY_KIND_RUNTIME, 0);
    const CUpti_ActivityAPI *inner = cu_record(CUPTI_ACTIVITY_KIND_DRIVER, 0);
    const CUpti_ActivityMemset4 *fill = cu_record(CUPTI_ACTIVITY_KIND_MEMSET, 0);
    say_if("outer", call != NULL);
    say_if("inner", inner != NULL);
    say_if("fill", fill != NULL);
    say_if("fill_of_outer", call && fill && call->correlationId == fill->correlationId);
    say_if("inner_of_outer", call && inner && call->correlationId == inner->correlationId);
}

CASE(cu_api, left_out, .bare = true)
{
    CUdeviceptr a;
    cu_begin();
    cu(cuptiActivityEnableDriverApi(0, 1));
    cu(cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_SIZE, 1));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_DRIVER);
    cu(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, 0));
    NEED(cuMemAlloc(&a, 64));
    NEED(cuMemFree(a));
    cu(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, 1));
    NEED(cuMemAlloc(&a, 64));
    cu_flush();
    say_calls(CUPTI_ACTIVITY_KIND_DRIVER);
}

CASE(cu_api, external, .bare = true)
{
    CUdeviceptr a;
    cu_begin();
    NEED(cuMemAlloc(&a, 64));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_MEMSET);
    NEED(cuMemsetD8Async(a, 0, 64, NULL));
    CU_NEED(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 11));
    CU_NEED(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 12));
    CU_NEED(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 13));
    NEED(cuMemsetD8Async(a, 0, 64, NULL));
    CU_NEED(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL));
    NEED(cuMemsetD8Async(a, 0, 64, NULL));
    CU_NEED(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL));
    CU_NEED(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, NULL));
    NEED(cuCtxSynchronize());
    cu_flush();
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityExternalCorrelation *outer = cu_record(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, i);
        if (!outer)
            break;
        say_value("kind", outer->externalKind);
        say_value("number", (long long)outer->externalId);
        for (unsigned j = 0; j < 3; j++) {
            const CUpti_ActivityMemset4 *fill = cu_record(CUPTI_ACTIVITY_KIND_MEMSET, j);
            if (fill && fill->correlationId == outer->correlationId)
                say_value("fill", j);
        }
    }
}

CASE(cu_api, external_without_calls, .bare = true)
{
    CUdeviceptr a;
    cu_begin();
    NEED(cuMemAlloc(&a, 64));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_MEMSET);
    CU_NEED(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 11));
    NEED(cuMemsetD8Async(a, 0, 64, NULL));
    NEED(cuCtxSynchronize());
    cu_flush();
    say_value("count", cu_count(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
}

/* ---- waits, streams, contexts, devices, memory ---- */

CASE(cu_wait, records, .bare = true)
{
    CUstream stream;
    CUevent event;
    CUcontext context = cu_begin();
    uint32_t number = 0;
    NEED(cuStreamCreate(&stream, 0));
    NEED(cuEventCreate(&event, 0));
    CU_NEED(cuptiGetStreamIdEx(context, stream, 0, &number));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_DRIVER);
    cu_launch(stream, 1, 32, 0);
    NEED(cuEventRecord(event, stream));
    NEED(cuStreamWaitEvent(NULL, event, 0));
    NEED(cuEventSynchronize(event));
    NEED(cuStreamSynchronize(stream));
    NEED(cuCtxSynchronize());
    cu_flush();
    const CUpti_ActivityCudaEvent2 *recorded = cu_record(CUPTI_ACTIVITY_KIND_CUDA_EVENT, 0);
    say_value("recorded", cu_count(CUPTI_ACTIVITY_KIND_CUDA_EVENT));
    say_if("recorded_in", recorded && recorded->streamId == number);
    for (unsigned i = 0;; i++) {
        const CUpti_ActivitySynchronization2 *wait = cu_record(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, i);
        if (!wait)
            break;
        say_value("type", wait->type);
        say_text(wait->streamId == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? "no_stream"
                 : wait->streamId == number                            ? "stream"
                                                                       : "other");
        say_text(wait->cudaEventId == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? "no_event"
                 : recorded && wait->cudaEventId == recorded->eventId     ? "event"
                                                                          : "other");
        if (wait->end < wait->start)
            say_text("wrong");
    }
}

CASE(cu_stream, records, .bare = true)
{
    CUstream a, b, c;
    CUcontext context = cu_begin();
    uint32_t number = 0;
    CU_COLLECT(CUPTI_ACTIVITY_KIND_STREAM);
    NEED(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    NEED(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamCreateWithPriority(&c, CU_STREAM_NON_BLOCKING, -1));
    CU_NEED(cuptiGetStreamIdEx(context, b, 0, &number));
    cu_flush();
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityStream *stream = cu_record(CUPTI_ACTIVITY_KIND_STREAM, i);
        if (!stream)
            break;
        say_value("flag", stream->flag);
        say_value("priority", (int32_t)stream->priority);
        say_if("second", stream->streamId == number);
    }
}

CASE(cu_context, before, .bare = true)
{
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_DEVICE);
    CUcontext context = cu_begin();
    uint32_t number = 0;
    CU_NEED(cuptiGetStreamIdEx(context, NULL, 0, &number));
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu_flush();
    const CUpti_ActivityContext3 *record = cu_record(CUPTI_ACTIVITY_KIND_CONTEXT, 0);
    say_value("contexts", cu_count(CUPTI_ACTIVITY_KIND_CONTEXT));
    if (record) {
        say_value("context", record->contextId);
        say_value("device", record->deviceId);
        say_value("api", record->computeApiKind);
        say_if("null_stream", record->nullStreamId == number);
        say_value("green", record->isGreenContext);
    }
    const CUpti_ActivityDevice5 *device = cu_record(CUPTI_ACTIVITY_KIND_DEVICE, 0);
    say_if("device", device != NULL);
    if (device) {
        char name[256] = "";
        NEED(cuDeviceGetName(name, sizeof name, 0));
        say_if("name", strcmp(name, device->name) == 0);
        say_value("warp", device->numThreadsPerWarp);
        say_value("flags", device->flags);
        say_value("number", device->id);
        say_value("visible", device->isCudaVisible);
    }
}

CASE(cu_context, after, .bare = true)
{
    cu_begin();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu_flush();
    say_value("contexts", cu_count(CUPTI_ACTIVITY_KIND_CONTEXT));
    say_if("devices", cu_count(CUPTI_ACTIVITY_KIND_DEVICE) > 0);
}

CASE(cu_memory, records, .bare = true)
{
    CUdeviceptr a, m, s;
    void *pinned;
    CUstream stream;
    cu_begin();
    NEED(cuStreamCreate(&stream, 0));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_MEMORY2);
    NEED(cuMemAlloc(&a, 1000));
    NEED(cuMemAllocManaged(&m, 2000, CU_MEM_ATTACH_GLOBAL));
    NEED(cuMemAllocHost(&pinned, 3000));
    NEED(cuMemAllocAsync(&s, 4000, stream));
    NEED(cuMemFree(a));
    NEED(cuMemFree(m));
    NEED(cuMemFreeHost(pinned));
    NEED(cuMemFreeAsync(s, stream));
    NEED(cuCtxSynchronize());
    cu_flush();
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityMemory4 *memory = cu_record(CUPTI_ACTIVITY_KIND_MEMORY2, i);
        if (!memory)
            break;
        say_value("operation", memory->memoryOperationType);
        say_value("kind", memory->memoryKind);
        say_value("bytes", (long long)memory->bytes);
        say_value("async", memory->isAsync);
        say_text(memory->address == a                             ? "a"
                 : memory->address == m                           ? "m"
                 : memory->address == (uint64_t)(uintptr_t)pinned ? "pinned"
                 : memory->address == s                           ? "s"
                                                                  : "other");
    }
}

/* ---- graphs ---- */

static CUgraphExec two_kernels(CUgraphNode nodes[2])
{
    CUgraph graph;
    CUgraphExec exec;
    static CUdeviceptr at;
    static unsigned value = 1;
    static void *params[] = {&at, &value};
    NEED(cuMemAlloc(&at, 4));
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = cu_kernel(),
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 32,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params};
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddKernelNode(&nodes[0], graph, NULL, 0, &kernel));
    NEED(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &kernel));
    NEED(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

CASE(cu_graph, nodes, .bare = true)
{
    CUgraphNode nodes[2];
    cu_begin();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_DRIVER);
    CUgraphExec exec = two_kernels(nodes);
    NEED(cuGraphLaunch(exec, NULL));
    NEED(cuCtxSynchronize());
    cu_flush();
    uint32_t launched = 0;
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityAPI *call = cu_record(CUPTI_ACTIVITY_KIND_DRIVER, i);
        if (!call)
            break;
        if (call->cbid == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch)
            launched = call->correlationId;
    }
    say_value("kernels", cu_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    const CUpti_ActivityKernel10 *first = cu_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
    const CUpti_ActivityKernel10 *second = cu_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
    if (!first || !second)
        gold_stop("no records");
    uint32_t exec_number = 0;
    uint64_t node_number = 0;
    cu(cuptiGetGraphExecId(exec, &exec_number));
    cu(cuptiGetGraphNodeId(nodes[0], &node_number));
    say_if("correlated", first->correlationId == launched && second->correlationId == launched);
    say_if("one_graph", first->graphId == second->graphId && first->graphId != 0);
    say_if("graph_of_exec", first->graphId == exec_number);
    say_if("two_nodes", first->graphNodeId != second->graphNodeId && first->graphNodeId != 0);
    say_if("node_of_graph", first->graphNodeId == node_number);
    say_if("in_order", second->start >= first->end);
}

CASE(cu_graph, trace, .bare = true)
{
    CUgraphNode nodes[2];
    cu_begin();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    CUgraphExec exec = two_kernels(nodes);
    NEED(cuGraphLaunch(exec, NULL));
    NEED(cuGraphLaunch(exec, NULL));
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu_flush();
    say_value("kernels", cu_count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    say_value("graphs", cu_count(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
    const CUpti_ActivityGraphTrace2 *run = cu_record(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 0);
    uint32_t number = 0;
    CU_NEED(cuptiGetGraphExecId(exec, &number));
    say_if("exec", run && run->graphId == number);
    say_if("ends", run && run->end > run->start);
}

CASE(cu_graph, numbers_wrong, .bare = true)
{
    uint32_t number;
    uint64_t node;
    cu_begin();
    cu(cuptiGetGraphId(NULL, &number));
    cu(cuptiGetGraphExecId(NULL, &number));
    cu(cuptiGetGraphNodeId(NULL, &node));
}

/* ---- buffers ---- */

static unsigned requests, completions;
static size_t valid_bytes;
static size_t most_records;
static bool gives;

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
    requests++;
    *buffer = gives ? aligned_alloc(8, 65536) : NULL;
    *size = gives ? 65536 : 0;
    *most = most_records;
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size, (void)buffer;
    completions++;
    valid_bytes += valid;
}

CASE(cu_buffer, none_given, .bare = true)
{
    size_t dropped = 0;
    cu_begin();
    cu_kernel();
    CU_NEED(cuptiActivityRegisterCallbacks(request, complete));
    CU_NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu(cuptiActivityFlushAll(0));
    cu(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    say_value("dropped", (long long)dropped);
    cu(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    say_value("dropped", (long long)dropped);
    say_value("completed", completions);
}

CASE(cu_buffer, one_record_each, .bare = true)
{
    cu_begin();
    cu_kernel();
    gives = true;
    most_records = 1;
    CU_NEED(cuptiActivityRegisterCallbacks(request, complete));
    CU_NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (int i = 0; i < 5; i++)
        cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu(cuptiActivityFlushAll(0));
    say_value("bytes", (long long)valid_bytes);
}

CASE(cu_buffer, of_one_context, .bare = true)
{
    CUcontext context = cu_begin(), other;
    CUdevice device;
    cu_kernel();
    NEED(cuDeviceGet(&device, 0));
    cu(cuptiActivityEnableContext(NULL, CUPTI_ACTIVITY_KIND_MEMSET));
    cu(cuptiActivityEnableContext(context, CUPTI_ACTIVITY_KIND_INVALID));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_INVALID);
    cu(cuptiActivityEnableContext(context, CUPTI_ACTIVITY_KIND_MEMSET));
    CUdeviceptr a, b;
    NEED(cuMemAlloc(&a, 64));
    NEED(cuMemsetD8(a, 0, 64));
    NEED(cuCtxCreate(&other, NULL, 0, device));
    NEED(cuMemAlloc(&b, 64));
    NEED(cuMemsetD8(b, 0, 32));
    NEED(cuCtxSynchronize());
    NEED(cuCtxSetCurrent(context));
    NEED(cuCtxSynchronize());
    cu_flush();
    say_value("fills", cu_count(CUPTI_ACTIVITY_KIND_MEMSET));
    cu(cuptiActivityDisableContext(context, CUPTI_ACTIVITY_KIND_MEMSET));
    NEED(cuMemsetD8(a, 0, 64));
    NEED(cuCtxSynchronize());
    cu_flush();
    say_value("fills", cu_count(CUPTI_ACTIVITY_KIND_MEMSET));
}
