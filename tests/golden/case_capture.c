/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of work that is put into a captured stream: a table of calls that
 * name the captured stream, each with its status, the capture's state after it,
 * how the capture ends, and a picture of the graph; and what the captured nodes
 * hold. Forks, joins and launches are in case_capture_fork.c.
 */
#include "gold_capture.h"

#include <stdio.h>
#include <string.h>

#define UNUSED __attribute__((unused))
#define CALL(name) static CUresult name(struct gold_set *set UNUSED)

static void nothing(void *data)
{
    (void)data;
}

static void no_callback(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status, (void)data;
}

static CUmemLocation here(void)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
}

/* ---- calls that name the captured stream ---- */

// clang-format off: a call is a row
CALL(kernel) { return gold_empty(set->captured); }
CALL(kernel_ex)
{
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .hStream = set->captured};
    return cuLaunchKernelEx(&config, set->empty, NULL, NULL);
}
CALL(kernel_null) { return cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, set->captured, NULL, NULL); }
CALL(kernel_no_blocks) { return cuLaunchKernel(set->empty, 0, 1, 1, 1, 1, 1, 0, set->captured, NULL, NULL); }
CALL(kernel_large_block) { return cuLaunchKernel(set->empty, 1, 1, 1, 2048, 1, 1, 0, set->captured, NULL, NULL); }
CALL(kernel_no_params) { return cuLaunchKernel(gold_function("store"), 1, 1, 1, 1, 1, 1, 0, set->captured, NULL, NULL); }
CALL(kernel_two) { CUresult status = gold_empty(set->captured); return status ? status : gold_empty(set->captured); }
CALL(cooperative) { return cuLaunchCooperativeKernel(set->empty, 1, 1, 1, 1, 1, 1, 0, set->captured, NULL); }
CALL(copy_htod_pageable) { return cuMemcpyHtoDAsync(set->a, set->pageable, 64, set->captured); }
CALL(copy_htod_large_pageable) { return cuMemcpyHtoDAsync(set->a, set->pageable, 4096, set->captured); }
CALL(copy_htod_pinned) { return cuMemcpyHtoDAsync(set->a, set->pinned, 64, set->captured); }
CALL(copy_dtoh_pageable) { return cuMemcpyDtoHAsync(set->pageable, set->a, 64, set->captured); }
CALL(copy_dtoh_pinned) { return cuMemcpyDtoHAsync(set->pinned, set->a, 64, set->captured); }
CALL(copy_dtod) { return cuMemcpyDtoDAsync(set->a, set->b, 64, set->captured); }
CALL(copy_any) { return cuMemcpyAsync(set->a, set->b, 64, set->captured); }
CALL(copy_any_host) { return cuMemcpyAsync((CUdeviceptr)(uintptr_t)set->pageable, (CUdeviceptr)(uintptr_t)(set->pageable + 1024), 64, set->captured); }
CALL(copy_peer) { return cuMemcpyPeerAsync(set->a, gold_context(), set->b, gold_context(), 64, set->captured); }
CALL(copy_zero) { return cuMemcpyDtoDAsync(set->a, set->b, 0, set->captured); }
CALL(copy_null) { return cuMemcpyDtoDAsync(0, set->b, 64, set->captured); }
CALL(copy_wild) { return cuMemcpyDtoDAsync(0x1234, set->b, 64, set->captured); }
CALL(copy_beyond) { return cuMemcpyDtoDAsync(set->a, set->b, (size_t)1 << 40, set->captured); }
CALL(copy_2d)
{
    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = set->pageable, .srcPitch = 64,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = set->a, .dstPitch = 64, .WidthInBytes = 16, .Height = 4};
    return cuMemcpy2DAsync(&box, set->captured);
}
static CUDA_MEMCPY3D box3(struct gold_set *set)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = set->b, .srcPitch = 64, .srcHeight = 4,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = set->a, .dstPitch = 64, .dstHeight = 4,
        .WidthInBytes = 16, .Height = 4, .Depth = 2};
}
CALL(copy_3d) { CUDA_MEMCPY3D box = box3(set); return cuMemcpy3DAsync(&box, set->captured); }
CALL(copy_3d_null) { return cuMemcpy3DAsync(NULL, set->captured); }
CALL(copy_3d_zero) { CUDA_MEMCPY3D box = box3(set); box.Depth = 0; return cuMemcpy3DAsync(&box, set->captured); }
CALL(copy_batch)
{
    CUdeviceptr to[2] = {set->a, set->a + 1024}, from[2] = {set->b, set->b + 1024};
    size_t sizes[2] = {64, 64}, index = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    return cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, set->captured);
}
CALL(fill_d8) { return cuMemsetD8Async(set->a, 1, 64, set->captured); }
CALL(fill_d16) { return cuMemsetD16Async(set->a, 1, 32, set->captured); }
CALL(fill_d32) { return cuMemsetD32Async(set->a, 1, 16, set->captured); }
CALL(fill_2d) { return cuMemsetD2D8Async(set->a, 64, 1, 16, 4, set->captured); }
CALL(fill_zero) { return cuMemsetD8Async(set->a, 1, 0, set->captured); }
CALL(fill_wild) { return cuMemsetD8Async(0x1234, 1, 64, set->captured); }
CALL(fill_unaligned) { return cuMemsetD32Async(set->a + 1, 1, 16, set->captured); }
CALL(host_func) { return cuLaunchHostFunc(set->captured, nothing, NULL); }
CALL(host_func_null) { return cuLaunchHostFunc(set->captured, NULL, NULL); }
CALL(callback) { return cuStreamAddCallback(set->captured, no_callback, NULL, 0); }
CALL(callback_null) { return cuStreamAddCallback(set->captured, NULL, NULL, 0); }
CALL(record) { return cuEventRecord(gold_event(0), set->captured); }
CALL(record_null) { return cuEventRecord(NULL, set->captured); }
CALL(record_flags_0) { return cuEventRecordWithFlags(gold_event(0), set->captured, 0); }
CALL(record_external) { return cuEventRecordWithFlags(set->fresh, set->captured, CU_EVENT_RECORD_EXTERNAL); }
CALL(record_external_done) { return cuEventRecordWithFlags(set->done, set->captured, CU_EVENT_RECORD_EXTERNAL); }
CALL(record_flags_bad) { return cuEventRecordWithFlags(set->fresh, set->captured, 2); }
CALL(wait_done) { return cuStreamWaitEvent(set->captured, set->done, 0); }
CALL(wait_fresh) { return cuStreamWaitEvent(set->captured, gold_event(0), 0); }
CALL(wait_null) { return cuStreamWaitEvent(set->captured, NULL, 0); }
CALL(wait_external_done) { return cuStreamWaitEvent(set->captured, set->done, CU_EVENT_WAIT_EXTERNAL); }
CALL(wait_external_fresh) { return cuStreamWaitEvent(set->captured, gold_event(0), CU_EVENT_WAIT_EXTERNAL); }
CALL(wait_flags_bad) { return cuStreamWaitEvent(set->captured, set->done, 2); }
CALL(wait_own) { CUevent event = gold_event(0); NEED(cuEventRecord(event, set->captured)); return cuStreamWaitEvent(set->captured, event, 0); }
CALL(wait_own_after_kernel)
{
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, set->captured));
    NEED(gold_empty(set->captured));
    return cuStreamWaitEvent(set->captured, event, 0);
}
CALL(wait_own_external)
{
    CUevent event = gold_event(0);
    NEED(gold_empty(set->captured));
    NEED(cuEventRecord(event, set->captured));
    return cuStreamWaitEvent(set->captured, event, CU_EVENT_WAIT_EXTERNAL);
}
CALL(write_value) { return cuStreamWriteValue32(set->captured, set->a, 1, 0); }
CALL(write_value_64) { return cuStreamWriteValue64(set->captured, set->a, 1, 0); }
CALL(wait_value) { return cuStreamWaitValue32(set->captured, set->a, 1, CU_STREAM_WAIT_VALUE_GEQ); }
CALL(wait_value_64) { return cuStreamWaitValue64(set->captured, set->a, 1, CU_STREAM_WAIT_VALUE_GEQ); }
CALL(batch)
{
    CUstreamBatchMemOpParams ops[2];
    memset(ops, 0, sizeof ops);
    ops[0].writeValue.operation = ops[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = set->a;
    ops[1].writeValue.address = set->a + 8;
    return cuStreamBatchMemOp(set->captured, 2, ops, 0);
}
CALL(attach) { return cuStreamAttachMemAsync(set->captured, set->managed, 0, CU_MEM_ATTACH_GLOBAL); }
CALL(attach_single) { return cuStreamAttachMemAsync(set->captured, set->managed, 0, CU_MEM_ATTACH_SINGLE); }
CALL(prefetch) { return cuMemPrefetchAsync(set->managed, 4096, here(), 0, set->captured); }
CALL(alloc_async) { CUdeviceptr p; return cuMemAllocAsync(&p, 4096, set->captured); }
CALL(alloc_async_zero) { CUdeviceptr p; return cuMemAllocAsync(&p, 0, set->captured); }
CALL(alloc_from_pool)
{
    CUdeviceptr p;
    CUmemoryPool pool;
    NEED(cuDeviceGetDefaultMemPool(&pool, gold_device()));
    return cuMemAllocFromPoolAsync(&p, 4096, pool, set->captured);
}
CALL(alloc_free_async)
{
    CUdeviceptr p;
    NEED(cuMemAllocAsync(&p, 4096, set->captured));
    return cuMemFreeAsync(p, set->captured);
}
CALL(alloc_free_twice)
{
    CUdeviceptr p;
    NEED(cuMemAllocAsync(&p, 4096, set->captured));
    NEED(cuMemFreeAsync(p, set->captured));
    return cuMemFreeAsync(p, set->captured);
}
CALL(alloc_use_free)
{
    CUdeviceptr p;
    NEED(cuMemAllocAsync(&p, 4096, set->captured));
    NEED(cuMemsetD8Async(p, 1, 4096, set->captured));
    NEED(cuMemcpyDtoDAsync(set->a, p, 64, set->captured));
    return cuMemFreeAsync(p, set->captured);
}
CALL(free_foreign) { return cuMemFreeAsync(set->a, set->captured); }
CALL(free_zero) { return cuMemFreeAsync(0, set->captured); }
CALL(graph_launch) { return cuGraphLaunch(set->exec, set->captured); }
CALL(graph_launch_between)
{
    NEED(gold_empty(set->captured));
    NEED(cuGraphLaunch(set->exec, set->captured));
    return gold_empty(set->captured);
}
CALL(graph_upload) { return cuGraphUpload(set->exec, set->captured); }
CALL(query) { return cuStreamQuery(set->captured); }
CALL(synchronize) { return cuStreamSynchronize(set->captured); }
CALL(priority) { int value; return cuStreamGetPriority(set->captured, &value); }
CALL(flags) { unsigned value; return cuStreamGetFlags(set->captured, &value); }
CALL(id) { unsigned long long value; return cuStreamGetId(set->captured, &value); }
CALL(get_ctx) { CUcontext value; return cuStreamGetCtx(set->captured, &value); }
CALL(get_device) { CUdevice value; return cuStreamGetDevice(set->captured, &value); }
CALL(get_attribute) { CUstreamAttrValue value; return cuStreamGetAttribute(set->captured, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value); }
CALL(set_attribute)
{
    CUstreamAttrValue value = {.priority = -1};
    return cuStreamSetAttribute(set->captured, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
}
CALL(set_policy)
{
    CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_YIELD};
    return cuStreamSetAttribute(set->captured, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
}
CALL(copy_attributes_to) { return cuStreamCopyAttributes(set->captured, set->other); }
CALL(copy_attributes_from) { return cuStreamCopyAttributes(set->other, set->captured); }
CALL(begin_again) { return cuStreamBeginCapture(set->captured, CU_STREAM_CAPTURE_MODE_GLOBAL); }
CALL(end_null) { return cuStreamEndCapture(set->captured, NULL); }
CALL(event_query_captured) { CUevent event = gold_event(0); NEED(cuEventRecord(event, set->captured)); return cuEventQuery(event); }
CALL(event_synchronize_captured) { CUevent event = gold_event(0); NEED(cuEventRecord(event, set->captured)); return cuEventSynchronize(event); }
CALL(event_elapsed_captured)
{
    CUevent event = gold_event(0);
    float ms;
    NEED(cuEventRecord(event, set->captured));
    return cuEventElapsedTime(&ms, set->done, event);
}
CALL(event_destroy_captured) { CUevent event = gold_event(0); NEED(cuEventRecord(event, set->captured)); return cuEventDestroy(event); }
CALL(event_record_elsewhere)
{
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, set->captured));
    CUresult status = cuEventRecord(event, set->other);
    say(cuEventRecord(event, set->captured));
    return status;
}
CALL(everything)
{
    CUdeviceptr p;
    NEED(gold_empty(set->captured));
    NEED(cuMemcpyHtoDAsync(set->a, set->pageable, 64, set->captured));
    NEED(cuMemsetD8Async(set->b, 1, 64, set->captured));
    NEED(cuLaunchHostFunc(set->captured, nothing, NULL));
    NEED(cuEventRecordWithFlags(set->fresh, set->captured, CU_EVENT_RECORD_EXTERNAL));
    NEED(cuStreamWaitEvent(set->captured, set->done, CU_EVENT_WAIT_EXTERNAL));
    NEED(cuMemAllocAsync(&p, 64, set->captured));
    NEED(cuMemFreeAsync(p, set->captured));
    NEED(cuStreamWriteValue32(set->captured, set->a, 1, 0));
    return cuGraphLaunch(set->exec, set->captured);
}
CALL(many)
{
    for (int i = 0; i < 40; i++)
        NEED(gold_empty(set->captured));
    return CUDA_SUCCESS;
}
CALL(kernel_large_shared) { return cuLaunchKernel(set->empty, 1, 1, 1, 1, 1, 1, 1 << 24, set->captured, NULL, NULL); }
CALL(kernel_null_param) { void *params[2] = {NULL, NULL}; return cuLaunchKernel(gold_function("store"), 1, 1, 1, 1, 1, 1, 0, set->captured, params, NULL); }
CALL(kernel_wrong_shape_no_params) { return cuLaunchKernel(gold_function("store"), 0, 1, 1, 1, 1, 1, 0, set->captured, NULL, NULL); }
CALL(kernel_programmatic)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value = {.programmaticStreamSerializationAllowed = 1}};
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
        .hStream = set->captured, .attrs = &attribute, .numAttrs = 1};
    return cuLaunchKernelEx(&config, set->empty, NULL, NULL);
}
CALL(kernel_programmatic_after_fill)
{
    NEED(cuMemsetD8Async(set->a, 1, 64, set->captured));
    return kernel_programmatic(set);
}
CALL(kernel_programmatic_twice)
{
    NEED(kernel_programmatic(set));
    return kernel_programmatic(set);
}
CALL(kernel_bad_attribute)
{
    CUlaunchAttribute attribute = {.id = (CUlaunchAttributeID)77};
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
        .hStream = set->captured, .attrs = &attribute, .numAttrs = 1};
    return cuLaunchKernelEx(&config, set->empty, NULL, NULL);
}
CALL(copy_3d_peer)
{
    CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = set->b, .srcContext = gold_context(),
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = set->a, .dstContext = gold_context(), .WidthInBytes = 16, .Height = 1, .Depth = 1};
    return cuMemcpy3DPeerAsync(&box, set->captured);
}
CALL(copy_2d_offsets)
{
    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = set->b, .srcPitch = 64, .srcXInBytes = 4, .srcY = 2,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = set->a, .dstPitch = 128, .dstXInBytes = 8, .dstY = 1, .WidthInBytes = 16, .Height = 4};
    return cuMemcpy2DAsync(&box, set->captured);
}
CALL(write_value_zero) { return cuStreamWriteValue32(set->captured, 0, 1, 0); }
CALL(batch_empty) { return cuStreamBatchMemOp(set->captured, 0, NULL, 0); }
CALL(record_interprocess) { return cuEventRecord(gold_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), set->captured); }
CALL(record_external_interprocess)
{
    return cuEventRecordWithFlags(gold_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), set->captured, CU_EVENT_RECORD_EXTERNAL);
}
CALL(graph_launch_fresh)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    NEED(cuGraphInstantiate(&exec, graph, 0));
    return cuGraphLaunch(exec, set->captured);
}
CALL(graph_launch_null) { return cuGraphLaunch(NULL, set->captured); }
CALL(end_on_other) { CUgraph graph; return cuStreamEndCapture(set->other, &graph); }
CALL(ctx_synchronize) { return cuCtxSynchronize(); }
CALL(none) { return CUDA_SUCCESS; }
// clang-format on

struct row {
    const char *name;
    CUresult (*call)(struct gold_set *set);
};

#define R(name) {#name, name}
static const struct row rows[] = {
    R(none),
    R(kernel),
    R(kernel_ex),
    R(kernel_null),
    R(kernel_no_blocks),
    R(kernel_large_block),
    R(kernel_no_params),
    R(kernel_two),
    R(cooperative),
    R(copy_htod_pageable),
    R(copy_htod_large_pageable),
    R(copy_htod_pinned),
    R(copy_dtoh_pageable),
    R(copy_dtoh_pinned),
    R(copy_dtod),
    R(copy_any),
    R(copy_any_host),
    R(copy_peer),
    R(copy_zero),
    R(copy_null),
    R(copy_wild),
    R(copy_beyond),
    R(copy_2d),
    R(copy_3d),
    R(copy_3d_null),
    R(copy_3d_zero),
    R(copy_batch),
    R(fill_d8),
    R(fill_d16),
    R(fill_d32),
    R(fill_2d),
    R(fill_zero),
    R(fill_wild),
    R(fill_unaligned),
    R(host_func),
    R(host_func_null),
    R(callback),
    R(callback_null),
    R(record),
    R(record_null),
    R(record_flags_0),
    R(record_external),
    R(record_external_done),
    R(record_flags_bad),
    R(wait_done),
    R(wait_fresh),
    R(wait_null),
    R(wait_external_done),
    R(wait_external_fresh),
    R(wait_flags_bad),
    R(wait_own),
    R(wait_own_after_kernel),
    R(wait_own_external),
    R(write_value),
    R(write_value_64),
    R(wait_value),
    R(wait_value_64),
    R(batch),
    R(attach),
    R(attach_single),
    R(prefetch),
    R(alloc_async),
    R(alloc_async_zero),
    R(alloc_from_pool),
    R(alloc_free_async),
    R(alloc_free_twice),
    R(alloc_use_free),
    R(free_foreign),
    R(free_zero),
    R(graph_launch),
    R(graph_launch_between),
    R(graph_upload),
    R(query),
    R(synchronize),
    R(priority),
    R(flags),
    R(id),
    R(get_ctx),
    R(get_device),
    R(get_attribute),
    R(set_attribute),
    R(set_policy),
    R(copy_attributes_to),
    R(copy_attributes_from),
    R(begin_again),
    R(end_null),
    R(event_query_captured),
    R(event_synchronize_captured),
    R(event_elapsed_captured),
    R(event_destroy_captured),
    R(event_record_elsewhere),
    R(everything),
    R(many),
    R(kernel_large_shared),
    R(kernel_null_param),
    R(kernel_wrong_shape_no_params),
    R(kernel_programmatic),
    R(kernel_programmatic_after_fill),
    R(kernel_programmatic_twice),
    R(kernel_bad_attribute),
    R(copy_3d_peer),
    R(copy_2d_offsets),
    R(write_value_zero),
    R(batch_empty),
    R(record_interprocess),
    R(record_external_interprocess),
    R(graph_launch_fresh),
    R(graph_launch_null),
    R(end_on_other),
    R(ctx_synchronize),
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The call between two kernels, so that it shows where in the graph its node went. */
static void run_row(const struct gold_case *self)
{
    const struct row *row = self->data;
    gold_function("store");
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    NEED(gold_empty(set->captured));
    say(row->call(set));
    say_state(set->captured);
    say(gold_empty(set->captured));
    say_end(set->captured);
}

__attribute__((constructor)) static void add_rows(void)
{
    static struct gold_case cases[ROWS];
    static char names[ROWS][64];
    for (int i = 0; i < ROWS; i++) {
        snprintf(names[i], sizeof names[i], "capture.op_%s", rows[i].name);
        cases[i] = (struct gold_case){.name = names[i], .run = run_row, .data = &rows[i]};
    }
    gold_register_all(cases, ROWS);
}

/* ---- what the captured nodes hold ---- */

CASE(capture, params_kernel)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUfunction store = gold_function("store");
    unsigned value = 77;
    void *params[] = {&set->a, &value};
    NEED(cuLaunchKernel(store, 2, 3, 4, 5, 6, 7, 128, set->captured, params, NULL));
    CUgraph graph = gold_capture_end(set->captured);
    CUDA_KERNEL_NODE_PARAMS got;
    memset(&got, 0, sizeof got);
    say(cuGraphKernelNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_KERNEL), &got));
    say_if("function", got.func == store);
    say_int(got.gridDimX), say_int(got.gridDimY), say_int(got.gridDimZ);
    say_int(got.blockDimX), say_int(got.blockDimY), say_int(got.blockDimZ);
    say_int(got.sharedMemBytes);
    say_if("params", got.kernelParams != NULL);
    say_if("extra", got.extra != NULL);
    if (got.kernelParams) {
        say_if("address", *(CUdeviceptr *)got.kernelParams[0] == set->a);
        say_int(*(unsigned *)got.kernelParams[1]);
    }
    say_if("kernel", got.kern != NULL);
    say_if("context", got.ctx == gold_context());
}

CASE(capture, params_kernel_extra)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUfunction store = gold_function("store");
    struct {
        CUdeviceptr address;
        unsigned value;
    } packed = {set->a, 78};
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    say(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, set->captured, NULL, extra));
    CUgraph graph = gold_capture_end(set->captured);
    CUDA_KERNEL_NODE_PARAMS got;
    memset(&got, 0, sizeof got);
    say(cuGraphKernelNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_KERNEL), &got));
    say_if("params", got.kernelParams != NULL);
    say_if("extra", got.extra != NULL);
    if (got.kernelParams)
        say_int(*(unsigned *)got.kernelParams[1]);
}

static void say_copy(CUgraph graph, struct gold_set *set)
{
    CUDA_MEMCPY3D got;
    memset(&got, 0, sizeof got);
    say(cuGraphMemcpyNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_MEMCPY), &got));
    say_int(got.srcMemoryType), say_int(got.dstMemoryType);
    say_text(got.srcHost == set->pageable ? "pageable"
             : got.srcHost == set->pinned ? "pinned"
             : got.srcHost                ? "other"
                                          : "-");
    say_text(got.srcDevice == set->a ? "a" : got.srcDevice == set->b ? "b" : got.srcDevice ? "other" : "-");
    say_text(got.dstHost == set->pageable ? "pageable"
             : got.dstHost == set->pinned ? "pinned"
             : got.dstHost                ? "other"
                                          : "-");
    say_text(got.dstDevice == set->a ? "a" : got.dstDevice == set->b ? "b" : got.dstDevice ? "other" : "-");
    say_value("src_pitch", (long long)got.srcPitch), say_value("src_height", (long long)got.srcHeight);
    say_value("dst_pitch", (long long)got.dstPitch), say_value("dst_height", (long long)got.dstHeight);
    say_value("x", (long long)got.WidthInBytes), say_value("y", (long long)got.Height),
        say_value("z", (long long)got.Depth);
    say_value("src_x", (long long)got.srcXInBytes), say_value("dst_x", (long long)got.dstXInBytes);
}

#define COPY_PARAMS(title, call) \
    CASE(capture, params_##title) \
    { \
        struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED); \
        say(call(set)); \
        CUgraph graph = gold_capture_end(set->captured); \
        say_copy(graph, set); \
    }

COPY_PARAMS(copy_htod_pageable, copy_htod_pageable)
COPY_PARAMS(copy_htod_pinned, copy_htod_pinned)
COPY_PARAMS(copy_dtoh_pageable, copy_dtoh_pageable)
COPY_PARAMS(copy_dtoh_pinned, copy_dtoh_pinned)
COPY_PARAMS(copy_dtod, copy_dtod)
COPY_PARAMS(copy_any, copy_any)
COPY_PARAMS(copy_any_host, copy_any_host)
COPY_PARAMS(copy_peer, copy_peer)
COPY_PARAMS(copy_2d, copy_2d)
COPY_PARAMS(copy_3d, copy_3d)
COPY_PARAMS(copy_2d_offsets, copy_2d_offsets)

#define FILL_PARAMS(title, call) \
    CASE(capture, params_##title) \
    { \
        struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED); \
        say(call(set)); \
        CUgraph graph = gold_capture_end(set->captured); \
        CUDA_MEMSET_NODE_PARAMS got; \
        memset(&got, 0, sizeof got); \
        say(cuGraphMemsetNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_MEMSET), &got)); \
        say_if("address", got.dst == set->a); \
        say_value("pitch", (long long)got.pitch), say_value("value", got.value), \
            say_value("element", got.elementSize); \
        say_value("width", (long long)got.width), say_value("height", (long long)got.height); \
    }

FILL_PARAMS(fill_d8, fill_d8)
FILL_PARAMS(fill_d16, fill_d16)
FILL_PARAMS(fill_d32, fill_d32)
FILL_PARAMS(fill_2d, fill_2d)

CASE(capture, params_host)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    NEED(cuLaunchHostFunc(set->captured, nothing, set));
    CUgraph graph = gold_capture_end(set->captured);
    CUDA_HOST_NODE_PARAMS got;
    say(cuGraphHostNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_HOST), &got));
    say_if("function", got.fn == nothing);
    say_if("data", got.userData == set);
}

CASE(capture, params_callback)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    say(cuStreamAddCallback(set->captured, no_callback, set, 0));
    CUgraph graph = gold_capture_end(set->captured);
    CUDA_HOST_NODE_PARAMS got;
    say(cuGraphHostNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_HOST), &got));
    say_if("data", got.userData == set);
}

CASE(capture, params_events)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    NEED(cuEventRecordWithFlags(set->fresh, set->captured, CU_EVENT_RECORD_EXTERNAL));
    NEED(cuStreamWaitEvent(set->captured, set->done, CU_EVENT_WAIT_EXTERNAL));
    CUgraph graph = gold_capture_end(set->captured);
    CUevent event = NULL;
    say(cuGraphEventRecordNodeGetEvent(gold_node_of(graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD), &event));
    say_if("recorded", event == set->fresh);
    say(cuGraphEventWaitNodeGetEvent(gold_node_of(graph, CU_GRAPH_NODE_TYPE_WAIT_EVENT), &event));
    say_if("waited", event == set->done);
}

CASE(capture, params_child)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    NEED(cuGraphLaunch(set->exec, set->captured));
    CUgraph graph = gold_capture_end(set->captured), child = NULL;
    say(cuGraphChildGraphNodeGetGraph(gold_node_of(graph, CU_GRAPH_NODE_TYPE_GRAPH), &child));
    say_if("own", child != set->graph);
    say_graph(child);
}

CASE(capture, params_alloc)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUdeviceptr memory = 0, freed = 0;
    NEED(cuMemAllocAsync(&memory, 1000, set->captured));
    NEED(cuMemFreeAsync(memory, set->captured));
    CUgraph graph = gold_capture_end(set->captured);
    CUDA_MEM_ALLOC_NODE_PARAMS got;
    memset(&got, 0, sizeof got);
    say(cuGraphMemAllocNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC), &got));
    say_if("address", got.dptr == memory && memory != 0);
    say_value("size", (long long)got.bytesize);
    say_value("access", (long long)got.accessDescCount);
    say_value("type", got.poolProps.allocType), say_value("handles", got.poolProps.handleTypes),
        say_value("where", got.poolProps.location.type);
    say(cuGraphMemFreeNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_MEM_FREE), &freed));
    say_if("freed", freed == memory);
}

CASE(capture, params_batch)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    NEED(cuStreamWriteValue32(set->captured, set->a, 5, 0));
    CUgraph graph = gold_capture_end(set->captured);
    CUDA_BATCH_MEM_OP_NODE_PARAMS got;
    memset(&got, 0, sizeof got);
    say(cuGraphBatchMemOpNodeGetParams(gold_node_of(graph, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP), &got));
    say_value("count", got.count), say_value("flags", got.flags);
    say_if("context", got.ctx == gold_context());
    if (got.paramArray) {
        say_value("operation", got.paramArray[0].operation);
        say_if("address", got.paramArray[0].writeValue.address == set->a);
        say_value("value", (long long)got.paramArray[0].writeValue.value);
    }
}

/* In global mode: memory of the captured stream is no unsafe call. */
CASE(capture, alloc_in_global_mode)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUdeviceptr memory = 0;
    say(cuMemAllocAsync(&memory, 1000, set->captured));
    say(cuMemsetD8Async(memory, 1, 1000, set->captured));
    say(cuMemFreeAsync(memory, set->captured));
    say_rest(set->captured);
}

/* Memory that was allocated in the stream before, freed in the capture; and the other way round. */
CASE(capture, free_of_memory_from_before)
{
    struct gold_set *set = gold_set_idle();
    CUdeviceptr memory = 0;
    NEED(cuMemAllocAsync(&memory, 1000, set->captured));
    NEED(cuStreamBeginCapture(set->captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    say(cuMemFreeAsync(memory, set->captured));
    say_rest(set->captured);
}

CASE(capture, free_outside_of_memory_from_capture)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUdeviceptr memory = 0;
    NEED(cuMemAllocAsync(&memory, 1000, set->captured));
    say(cuMemFreeAsync(memory, set->other));
    say(cuMemFree(memory));
    say_rest(set->captured);
}

CASE(capture, alloc_and_free_in_forked_streams)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUstream two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = 0;
    NEED(cuMemAllocAsync(&memory, 1000, set->captured));
    gold_after(two, set->captured);
    say(cuMemsetD8Async(memory, 1, 1000, two));
    gold_after(set->captured, two);
    say(cuMemFreeAsync(memory, set->captured));
    say_rest(set->captured);
}

CASE(capture, first_version_of_begin)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult result;
    NEED(cuGetProcAddress("cuStreamBeginCapture", &function, 10000, 0, &result));
    CUresult (*begin)(CUstream) = (CUresult(*)(CUstream))function;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p;
    NEED(gold_empty(NULL));
    NEED(cuCtxSynchronize());
    say(begin(stream));
    say(gold_empty(stream));
    say_rest(stream);
    say(begin(stream));
    say(cuMemAlloc(&p, 64));
    say_rest(stream);
}

/* Synchronous calls whose default stream is the thread's own, while that is captured. */
CASE(capture, synchronous_in_per_thread_stream)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult result;
    struct gold_set *set = gold_set_idle();
    NEED(cuGetProcAddress("cuMemcpyDtoD", &function, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &result));
    CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t) = (CUresult(*)(CUdeviceptr, CUdeviceptr, size_t))function;
    NEED(cuGetProcAddress("cuMemsetD8", &function, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &result));
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t) = (CUresult(*)(CUdeviceptr, unsigned char, size_t))function;
    NEED(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    say(copy(set->a, set->b, 64));
    say_rest(CU_STREAM_PER_THREAD);
    NEED(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    say(fill(set->a, 1, 64));
    say_rest(CU_STREAM_PER_THREAD);
}

CASE(capture, legacy_of_other_context, .alone = true)
{
    CUstream stream = gold_stream(0);
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUcontext other = gold_context_new();
    say(cuMemsetD8(gold_alloc(64), 1, 64));
    say(cuStreamQuery(NULL));
    NEED(cuCtxSetCurrent(gold_context()));
    say_rest(stream);
    (void)other;
}

CASE(capture, queries_of_invalidated)
{
    CUstream stream = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    int priority;
    CUcontext context;
    CUstreamAttrValue value = {.priority = 0};
    say(cuStreamQuery(stream));
    say(cuStreamGetPriority(stream, &priority));
    say(cuStreamGetCtx(stream, &context));
    say(cuStreamCopyAttributes(stream, gold_stream(0)));
    say(cuStreamCopyAttributes(gold_stream(0), stream));
    say(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    say(cuStreamAddCallback(stream, NULL, NULL, 0));
    say(cuStreamAddCallback(stream, no_callback, NULL, 0));
    say(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 7));
    say_rest(stream);
}

/* An event with a handle for other processes, captured. */
CASE(capture, interprocess_event, .alone = true)
{
    CUevent event = gold_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    CUipcEventHandle handle;
    CUstream one = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED), two = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(gold_empty(one));
    say(cuEventRecord(event, one));
    say(cuIpcGetEventHandle(&handle, event));
    say(cuStreamWaitEvent(two, event, 0));
    say_state(two);
    say(cuEventRecord(event, one));
    say(cuEventQuery(event));
    say_rest(one);
    say(cuEventRecord(event, two));
    say(cuEventSynchronize(event));
}

CASE(capture, params_priority)
{
    CUstream stream;
    NEED(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -3));
    CUfunction empty = gold_function("empty");
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    NEED(gold_launch(empty, 1, stream, NULL));
    CUgraph graph = gold_capture_end(stream);
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    say(cuGraphKernelNodeGetAttribute(gold_node_of(graph, CU_GRAPH_NODE_TYPE_KERNEL), CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                      &value));
    say_int(value.priority);
}
