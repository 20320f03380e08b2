/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls may be made while a stream is being captured, in each of the three
 * modes: a table of calls that don't name the captured stream, each tried in a
 * capture of each mode by the capturing thread; some from another thread; and
 * the exchange of a thread's mode.
 *
 * An answer is the call's status, the capture's state after it, how the capture
 * ends, and the graph.
 */
#include "gold_capture.h"

#include <cudaProfiler.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                            CU_STREAM_CAPTURE_MODE_RELAXED};
static const char *const mode_names[] = {"global", "thread", "relaxed"};

struct row {
    const char *name;
    CUresult (*call)(struct gold_set *set);
    void (*before)(struct gold_set *set); /* what the call needs, made before the capture */
    void (*after)(struct gold_set *set);
};

/* What a row's `before` made. */
static CUdeviceptr made_memory;
static void *made_host;
static CUevent made_event;
static CUstream made_stream;
static CUmodule made_module;
static CUlibrary made_library;
static CUcontext made_context;
static CUmemoryPool made_pool;
static CUgraph made_graph;
static CUgraphExec made_exec;
static CUmemGenericAllocationHandle made_allocation;
static CUlinkState made_link;
static CUuserObject made_object;

#define UNUSED __attribute__((unused))
#define CALL(name) static CUresult name(struct gold_set *set UNUSED)
#define BEFORE(name) static void name##_before(struct gold_set *set UNUSED)

static const CUmemPoolProps pool_props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
static const CUmemAllocationProp allocation_props = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                     .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};

/* ---- memory ---- */

// clang-format off: a call is a row
CALL(mem_alloc) { CUdeviceptr p; return cuMemAlloc(&p, 4096); }
CALL(mem_alloc_zero) { CUdeviceptr p; return cuMemAlloc(&p, 0); }
CALL(mem_alloc_null) { return cuMemAlloc(NULL, 4096); }
CALL(mem_alloc_pitch) { CUdeviceptr p; size_t pitch; return cuMemAllocPitch(&p, &pitch, 64, 64, 4); }
CALL(mem_alloc_managed) { CUdeviceptr p; return cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL); }
CALL(mem_alloc_host) { void *p; return cuMemAllocHost(&p, 4096); }
CALL(mem_host_alloc) { void *p; return cuMemHostAlloc(&p, 4096, 0); }
BEFORE(mem_free) { made_memory = gold_alloc(4096); }
CALL(mem_free) { return cuMemFree(made_memory); }
CALL(mem_free_zero) { return cuMemFree(0); }
CALL(mem_free_wild) { return cuMemFree(0x1234); }
BEFORE(mem_free_host) { NEED(cuMemAllocHost(&made_host, 4096)); }
CALL(mem_free_host) { return cuMemFreeHost(made_host); }
BEFORE(host_register) { made_host = gold_foreign(); }
CALL(host_register) { return cuMemHostRegister(made_host, 4096, 0); }
BEFORE(host_unregister) { made_host = gold_foreign(); NEED(cuMemHostRegister(made_host, 4096, 0)); }
CALL(host_unregister) { return cuMemHostUnregister(made_host); }
CALL(host_device_pointer) { CUdeviceptr p; return cuMemHostGetDevicePointer(&p, set->pinned, 0); }
CALL(host_flags) { unsigned flags; return cuMemHostGetFlags(&flags, set->pinned); }
CALL(mem_info) { size_t a, b; return cuMemGetInfo(&a, &b); }
CALL(mem_range) { CUdeviceptr p; size_t size; return cuMemGetAddressRange(&p, &size, set->a); }
CALL(pointer_attribute) { unsigned v; return cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, set->a); }
CALL(pointer_sync_memops) { unsigned v = 0; return cuPointerSetAttribute(&v, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, set->a); }
CALL(advise)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    return cuMemAdvise(set->managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here);
}
CALL(range_attribute) { int v; return cuMemRangeGetAttribute(&v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, set->managed, 4096); }
CALL(address_reserve) { CUdeviceptr p; return cuMemAddressReserve(&p, 2 << 20, 0, 0, 0); }
CALL(granularity) { size_t v; return cuMemGetAllocationGranularity(&v, &allocation_props, CU_MEM_ALLOC_GRANULARITY_MINIMUM); }
CALL(mem_create) { return cuMemCreate(&made_allocation, 2 << 20, &allocation_props, 0); }
BEFORE(mem_release) { NEED(cuMemCreate(&made_allocation, 2 << 20, &allocation_props, 0)); }
CALL(mem_release) { return cuMemRelease(made_allocation); }
BEFORE(mem_map)
{
    NEED(cuMemAddressReserve(&made_memory, 2 << 20, 0, 0, 0));
    NEED(cuMemCreate(&made_allocation, 2 << 20, &allocation_props, 0));
}
CALL(mem_map) { return cuMemMap(made_memory, 2 << 20, 0, made_allocation, 0); }
BEFORE(mem_set_access) { mem_map_before(set); NEED(cuMemMap(made_memory, 2 << 20, 0, made_allocation, 0)); }
CALL(mem_set_access)
{
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemSetAccess(made_memory, 2 << 20, &access, 1);
}
BEFORE(mem_unmap) { mem_set_access_before(set); }
CALL(mem_unmap) { return cuMemUnmap(made_memory, 2 << 20); }
CALL(ipc_mem_handle) { CUipcMemHandle handle; return cuIpcGetMemHandle(&handle, set->a); }
CALL(ipc_event_handle) { CUipcEventHandle handle; return cuIpcGetEventHandle(&handle, made_event); }
BEFORE(ipc_event_handle) { made_event = gold_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING); }

/* ---- synchronous copies and fills ---- */

CALL(copy_htod) { return cuMemcpyHtoD(set->a, set->pageable, 64); }
CALL(copy_htod_pinned) { return cuMemcpyHtoD(set->a, set->pinned, 64); }
CALL(copy_htod_zero) { return cuMemcpyHtoD(set->a, set->pageable, 0); }
CALL(copy_htod_bad) { return cuMemcpyHtoD(0x1234, set->pageable, 64); }
CALL(copy_dtoh) { return cuMemcpyDtoH(set->pageable, set->a, 64); }
CALL(copy_dtod) { return cuMemcpyDtoD(set->a, set->b, 64); }
CALL(copy_any) { return cuMemcpy(set->a, set->b, 64); }
CALL(copy_peer) { return cuMemcpyPeer(set->a, gold_context(), set->b, gold_context(), 64); }
static const CUDA_MEMCPY2D *box2(struct gold_set *set)
{
    static CUDA_MEMCPY2D box;
    box = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = set->pageable, .srcPitch = 64,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = set->a, .dstPitch = 64, .WidthInBytes = 16, .Height = 4};
    return &box;
}
CALL(copy_2d) { return cuMemcpy2D(box2(set)); }
CALL(copy_2d_unaligned) { return cuMemcpy2DUnaligned(box2(set)); }
CALL(copy_3d)
{
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = set->b, .srcPitch = 64, .srcHeight = 4,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = set->a, .dstPitch = 64, .dstHeight = 4,
        .WidthInBytes = 16, .Height = 4, .Depth = 2};
    return cuMemcpy3D(&box);
}
CALL(fill_d8) { return cuMemsetD8(set->a, 1, 64); }
CALL(fill_d32) { return cuMemsetD32(set->a, 1, 16); }
CALL(fill_2d) { return cuMemsetD2D8(set->a, 64, 1, 16, 4); }

/* ---- work on other streams ---- */

CALL(legacy_copy_async) { return cuMemcpyDtoDAsync(set->a, set->b, 64, NULL); }
CALL(legacy_copy_async_zero) { return cuMemcpyDtoDAsync(set->a, set->b, 0, NULL); }
CALL(legacy_fill_async) { return cuMemsetD8Async(set->a, 1, 64, NULL); }
CALL(legacy_launch) { return gold_empty(NULL); }
CALL(legacy_launch_explicit) { return gold_empty(CU_STREAM_LEGACY); }
CALL(legacy_host_func) { return cuLaunchHostFunc(NULL, (CUhostFn)(uintptr_t)free, NULL); }
CALL(legacy_record) { return cuEventRecord(set->done, NULL); }
CALL(legacy_wait) { return cuStreamWaitEvent(NULL, set->done, 0); }
CALL(legacy_query) { return cuStreamQuery(NULL); }
CALL(legacy_synchronize) { return cuStreamSynchronize(NULL); }
CALL(legacy_is_capturing) { CUstreamCaptureStatus state; return cuStreamIsCapturing(NULL, &state); }
CALL(legacy_alloc_async) { CUdeviceptr p; return cuMemAllocAsync(&p, 4096, NULL); }
CALL(legacy_flags) { unsigned flags; return cuStreamGetFlags(NULL, &flags); }
CALL(legacy_prefetch)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    return cuMemPrefetchAsync(set->managed, 4096, here, 0, NULL);
}
CALL(legacy_attach) { return cuStreamAttachMemAsync(NULL, set->managed, 0, CU_MEM_ATTACH_GLOBAL); }
CALL(legacy_graph_launch) { return cuGraphLaunch(set->exec, NULL); }
CALL(per_thread_launch) { return gold_empty(CU_STREAM_PER_THREAD); }
CALL(per_thread_query) { return cuStreamQuery(CU_STREAM_PER_THREAD); }
CALL(per_thread_synchronize) { return cuStreamSynchronize(CU_STREAM_PER_THREAD); }
CALL(other_launch) { return gold_empty(set->other); }
CALL(other_copy_async) { return cuMemcpyDtoDAsync(set->a, set->b, 64, set->other); }
CALL(other_copy_pageable) { return cuMemcpyHtoDAsync(set->a, set->pageable, 64, set->other); }
CALL(other_copy_to_pageable) { return cuMemcpyDtoHAsync(set->pageable, set->a, 64, set->other); }
CALL(other_fill_async) { return cuMemsetD8Async(set->a, 1, 64, set->other); }
CALL(other_record) { return cuEventRecord(set->done, set->other); }
CALL(other_wait) { return cuStreamWaitEvent(set->other, set->done, 0); }
CALL(other_query) { return cuStreamQuery(set->other); }
CALL(other_synchronize) { return cuStreamSynchronize(set->other); }
CALL(other_callback) { return cuStreamAddCallback(set->other, (CUstreamCallback)(uintptr_t)abs, NULL, 1); }
CALL(other_alloc_async) { CUdeviceptr p; return cuMemAllocAsync(&p, 4096, set->other); }
BEFORE(other_free_async) { NEED(cuMemAllocAsync(&made_memory, 4096, set->other)); }
CALL(other_free_async) { return cuMemFreeAsync(made_memory, set->other); }
CALL(other_write_value) { return cuStreamWriteValue32(set->other, set->a, 1, 0); }
CALL(other_graph_launch) { return cuGraphLaunch(set->exec, set->other); }
CALL(other_graph_upload) { return cuGraphUpload(set->exec, set->other); }
CALL(other_prefetch)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gold_device()};
    return cuMemPrefetchAsync(set->managed, 4096, here, 0, set->other);
}
CALL(other_attach) { return cuStreamAttachMemAsync(set->other, set->managed, 0, CU_MEM_ATTACH_GLOBAL); }
CALL(other_attach_single) { return cuStreamAttachMemAsync(set->other, set->managed, 0, CU_MEM_ATTACH_SINGLE); }
CALL(blocking_launch) { return gold_empty(set->blocking); }
CALL(blocking_synchronize) { return cuStreamSynchronize(set->blocking); }

/* ---- streams and events ---- */

CALL(stream_create) { CUstream stream; return cuStreamCreate(&stream, 0); }
CALL(stream_create_free) { CUstream stream; return cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); }
CALL(stream_create_priority) { CUstream stream; return cuStreamCreateWithPriority(&stream, 0, -1); }
BEFORE(stream_destroy) { made_stream = gold_stream(0); }
CALL(stream_destroy) { return cuStreamDestroy(made_stream); }
CALL(stream_attribute) { CUstreamAttrValue value = {.priority = -1}; return cuStreamSetAttribute(set->other, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value); }
CALL(event_create) { CUevent event; return cuEventCreate(&event, 0); }
CALL(event_create_ipc) { CUevent event; return cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING); }
BEFORE(event_destroy) { made_event = gold_event(0); }
CALL(event_destroy) { return cuEventDestroy(made_event); }
CALL(event_query) { return cuEventQuery(set->done); }
CALL(event_query_fresh) { return cuEventQuery(set->fresh); }
CALL(event_synchronize) { return cuEventSynchronize(set->done); }
CALL(event_elapsed) { float ms; return cuEventElapsedTime(&ms, set->done, set->done2); }

/* ---- contexts and devices ---- */

CALL(ctx_synchronize) { return cuCtxSynchronize(); }
CALL(ctx_current) { CUcontext context; return cuCtxGetCurrent(&context); }
CALL(ctx_set_current) { return cuCtxSetCurrent(gold_context()); }
CALL(ctx_push) { return cuCtxPushCurrent(gold_context()); }
CALL(ctx_flags) { unsigned flags; return cuCtxGetFlags(&flags); }
CALL(ctx_get_limit) { size_t value; return cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE); }
CALL(ctx_set_limit) { return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048); }
CALL(ctx_set_limit_heap) { return cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20); }
CALL(ctx_cache_config) { return cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1); }
CALL(ctx_priority_range) { int a, b; return cuCtxGetStreamPriorityRange(&a, &b); }
CALL(ctx_reset_l2) { return cuCtxResetPersistingL2Cache(); }
CALL(ctx_create) { return cuCtxCreate(&made_context, NULL, 0, gold_device()); }
BEFORE(ctx_destroy)
{
    NEED(cuCtxCreate(&made_context, NULL, 0, gold_device()));
    NEED(cuCtxSetCurrent(gold_context()));
}
CALL(ctx_destroy) { return cuCtxDestroy(made_context); }
CALL(primary_retain) { return cuDevicePrimaryCtxRetain(&made_context, gold_device()); }
CALL(primary_state) { unsigned flags; int active; return cuDevicePrimaryCtxGetState(gold_device(), &flags, &active); }
CALL(device_attribute) { int value; return cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, gold_device()); }
CALL(device_graph_trim) { return cuDeviceGraphMemTrim(gold_device()); }
CALL(device_default_pool) { CUmemoryPool pool; return cuDeviceGetDefaultMemPool(&pool, gold_device()); }
CALL(pool_create) { CUmemoryPool pool; return cuMemPoolCreate(&pool, &pool_props); }
BEFORE(pool_destroy) { NEED(cuMemPoolCreate(&made_pool, &pool_props)); }
CALL(pool_destroy) { return cuMemPoolDestroy(made_pool); }
BEFORE(pool_trim) { NEED(cuDeviceGetDefaultMemPool(&made_pool, gold_device())); }
CALL(pool_trim) { return cuMemPoolTrimTo(made_pool, 0); }
BEFORE(pool_attribute) { pool_trim_before(set); }
CALL(pool_attribute) { cuuint64_t value = 0; return cuMemPoolSetAttribute(made_pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value); }
CALL(profiler_start) { return cuProfilerStart(); }

/* ---- modules and functions ---- */

CALL(module_load) { return cuModuleLoadData(&made_module, gold_ptx); }
BEFORE(module_unload) { made_module = gold_load(gold_ptx); }
CALL(module_unload) { return cuModuleUnload(made_module); }
CALL(module_function) { CUfunction f; return cuModuleGetFunction(&f, gold_module(), "store"); }
CALL(module_global) { CUdeviceptr p; size_t size; return cuModuleGetGlobal(&p, &size, gold_module(), "counter"); }
CALL(load_library) { return cuLibraryLoadData(&made_library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0); }
BEFORE(unload_library) { NEED(cuLibraryLoadData(&made_library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0)); }
CALL(unload_library) { return cuLibraryUnload(made_library); }
BEFORE(kernel_of_library) { unload_library_before(set); }
CALL(kernel_of_library) { CUkernel kernel; return cuLibraryGetKernel(&kernel, made_library, "store"); }
BEFORE(module_of_library) { unload_library_before(set); }
CALL(module_of_library) { CUmodule module; return cuLibraryGetModule(&module, made_library); }
CALL(function_attribute) { int value; return cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, set->empty); }
CALL(function_set_attribute) { return cuFuncSetAttribute(set->empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024); }
CALL(function_cache) { return cuFuncSetCacheConfig(set->empty, CU_FUNC_CACHE_PREFER_L1); }
CALL(function_load) { return cuFuncLoad(set->empty); }
CALL(occupancy) { int value; return cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, set->empty, 32, 0); }
CALL(link_create) { return cuLinkCreate(0, NULL, NULL, &made_link); }

/* ---- graphs ---- */

CALL(graph_create) { return cuGraphCreate(&made_graph, 0); }
BEFORE(graph_destroy) { NEED(cuGraphCreate(&made_graph, 0)); }
CALL(graph_destroy) { return cuGraphDestroy(made_graph); }
CALL(graph_clone) { return cuGraphClone(&made_graph, set->graph); }
CALL(graph_add_node) { CUgraphNode node; return cuGraphAddEmptyNode(&node, set->graph, NULL, 0); }
CALL(graph_instantiate) { return cuGraphInstantiate(&made_exec, set->graph, 0); }
BEFORE(graph_exec_destroy) { NEED(cuGraphInstantiate(&made_exec, set->graph, 0)); }
CALL(graph_exec_destroy) { return cuGraphExecDestroy(made_exec); }
BEFORE(graph_exec_update) { graph_exec_destroy_before(set); }
CALL(graph_exec_update) { CUgraphExecUpdateResultInfo info; return cuGraphExecUpdate(made_exec, set->graph, &info); }
CALL(user_object) { CUuserObject object; return cuUserObjectCreate(&object, made_host, free, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC); }
BEFORE(user_object) { made_host = malloc(1); }

/* ---- the rest, one by one ---- */

CALL(profiler_stop) { return cuProfilerStop(); }
CALL(ctx_shared_config) { return cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE); }
CALL(ctx_set_flags) { return cuCtxSetFlags(CU_CTX_SCHED_AUTO); }
CALL(ctx_api_version) { unsigned version; return cuCtxGetApiVersion(NULL, &version); }
CALL(ctx_enable_peer) { return cuCtxEnablePeerAccess(gold_context(), 0); }
CALL(ctx_record_event) { return cuCtxRecordEvent(gold_context(), set->fresh); }
CALL(ctx_wait_event) { return cuCtxWaitEvent(gold_context(), set->done); }
BEFORE(pool_access) { pool_trim_before(set); }
CALL(pool_access)
{
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemPoolSetAccess(made_pool, &access, 1);
}
BEFORE(pool_get_attribute) { pool_trim_before(set); }
CALL(pool_get_attribute) { cuuint64_t value; return cuMemPoolGetAttribute(made_pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value); }
BEFORE(pool_get_access) { pool_trim_before(set); }
CALL(pool_get_access)
{
    CUmemLocation where = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUmemAccess_flags flags;
    return cuMemPoolGetAccess(&flags, made_pool, &where);
}
BEFORE(device_set_pool) { pool_trim_before(set); }
CALL(device_set_pool) { return cuDeviceSetMemPool(gold_device(), made_pool); }
CALL(device_get_pool) { CUmemoryPool pool; return cuDeviceGetMemPool(&pool, gold_device()); }
CALL(primary_flags) { return cuDevicePrimaryCtxSetFlags(gold_device(), 0); }
CALL(address_free) { return cuMemAddressFree(made_memory, 2 << 20); }
BEFORE(address_free) { NEED(cuMemAddressReserve(&made_memory, 2 << 20, 0, 0, 0)); }
BEFORE(mem_export)
{
    CUmemAllocationProp props = allocation_props;
    props.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    NEED(cuMemCreate(&made_allocation, 2 << 20, &props, 0));
}
CALL(mem_export) { int fd; return cuMemExportToShareableHandle(&fd, made_allocation, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0); }
CALL(array_create)
{
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = 16, .Height = 16, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    return cuArrayCreate(&array, &shape);
}
BEFORE(graph_instantiate_params) { graph_exec_destroy_before(set); }
CALL(graph_instantiate_params)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 0};
    return cuGraphInstantiateWithParams(&made_exec, set->graph, &params);
}
BEFORE(graph_exec_flags) { graph_exec_destroy_before(set); }
CALL(graph_exec_flags) { cuuint64_t flags; return cuGraphExecGetFlags(made_exec, &flags); }
BEFORE(graph_exec_params) { graph_exec_destroy_before(set); }
CALL(graph_exec_params)
{
    CUgraphNode node;
    size_t count = 1;
    CUDA_KERNEL_NODE_PARAMS params = {.func = set->empty, .gridDimX = 2, .gridDimY = 1, .gridDimZ = 1,
        .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    NEED(cuGraphGetNodes(set->graph, &node, &count));
    return cuGraphExecKernelNodeSetParams(made_exec, node, &params);
}
BEFORE(user_object_release) { made_host = malloc(1); NEED(cuUserObjectCreate(&made_object, made_host, free, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)); }
CALL(user_object_release) { return cuUserObjectRelease(made_object, 1); }
CALL(mem_range_base) { size_t size; return cuMemGetAddressRange(NULL, &size, set->managed); }
CALL(legacy_get_attribute) { CUstreamAttrValue value; return cuStreamGetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value); }
CALL(legacy_set_attribute) { CUstreamAttrValue value = {.priority = 0}; return cuStreamSetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value); }
CALL(legacy_copy_attributes) { return cuStreamCopyAttributes(NULL, set->other); }
CALL(legacy_priority) { int value; return cuStreamGetPriority(NULL, &value); }
CALL(legacy_id) { unsigned long long value; return cuStreamGetId(NULL, &value); }
CALL(legacy_ctx) { CUcontext value; return cuStreamGetCtx(NULL, &value); }
CALL(legacy_callback_null) { return cuStreamAddCallback(NULL, NULL, NULL, 0); }
CALL(legacy_write_value) { return cuStreamWriteValue32(NULL, set->a, 1, 0); }
CALL(legacy_graph_upload) { return cuGraphUpload(set->exec, NULL); }
CALL(legacy_record_null) { return cuEventRecord(NULL, NULL); }
CALL(legacy_wait_null) { return cuStreamWaitEvent(NULL, NULL, 0); }
CALL(legacy_launch_null) { return cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL); }
CALL(legacy_copy_wild) { return cuMemcpyDtoDAsync(0x1234, set->b, 64, NULL); }
CALL(legacy_update) { return cuStreamUpdateCaptureDependencies(NULL, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES); }
CALL(legacy_begin) { return cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED); }
CALL(legacy_free_async) { return cuMemFreeAsync(set->a, NULL); }
// clang-format on

#define R(name) {#name, name, NULL, NULL}
#define RB(name) {#name, name, name##_before, NULL}
static const struct row rows[] = {
    R(mem_alloc),
    R(mem_alloc_zero),
    R(mem_alloc_null),
    R(mem_alloc_pitch),
    R(mem_alloc_managed),
    R(mem_alloc_host),
    R(mem_host_alloc),
    RB(mem_free),
    R(mem_free_zero),
    R(mem_free_wild),
    RB(mem_free_host),
    RB(host_register),
    RB(host_unregister),
    R(host_device_pointer),
    R(host_flags),
    R(mem_info),
    R(mem_range),
    R(pointer_attribute),
    R(pointer_sync_memops),
    R(advise),
    R(range_attribute),
    R(address_reserve),
    R(granularity),
    R(mem_create),
    RB(mem_release),
    RB(mem_map),
    RB(mem_set_access),
    RB(mem_unmap),
    R(ipc_mem_handle),
    RB(ipc_event_handle),
    R(copy_htod),
    R(copy_htod_pinned),
    R(copy_htod_zero),
    R(copy_htod_bad),
    R(copy_dtoh),
    R(copy_dtod),
    R(copy_any),
    R(copy_peer),
    R(copy_2d),
    R(copy_2d_unaligned),
    R(copy_3d),
    R(fill_d8),
    R(fill_d32),
    R(fill_2d),
    R(legacy_copy_async),
    R(legacy_copy_async_zero),
    R(legacy_fill_async),
    R(legacy_launch),
    R(legacy_launch_explicit),
    R(legacy_host_func),
    R(legacy_record),
    R(legacy_wait),
    R(legacy_query),
    R(legacy_synchronize),
    R(legacy_is_capturing),
    R(legacy_alloc_async),
    R(legacy_flags),
    R(legacy_prefetch),
    R(legacy_attach),
    R(legacy_graph_launch),
    R(per_thread_launch),
    R(per_thread_query),
    R(per_thread_synchronize),
    R(other_launch),
    R(other_copy_async),
    R(other_copy_pageable),
    R(other_copy_to_pageable),
    R(other_fill_async),
    R(other_record),
    R(other_wait),
    R(other_query),
    R(other_synchronize),
    R(other_callback),
    R(other_alloc_async),
    RB(other_free_async),
    R(other_write_value),
    R(other_graph_launch),
    R(other_graph_upload),
    R(other_prefetch),
    R(other_attach),
    R(other_attach_single),
    R(blocking_launch),
    R(blocking_synchronize),
    R(stream_create),
    R(stream_create_free),
    R(stream_create_priority),
    RB(stream_destroy),
    R(stream_attribute),
    R(event_create),
    R(event_create_ipc),
    RB(event_destroy),
    R(event_query),
    R(event_query_fresh),
    R(event_synchronize),
    R(event_elapsed),
    R(ctx_synchronize),
    R(ctx_current),
    R(ctx_set_current),
    R(ctx_push),
    R(ctx_flags),
    R(ctx_get_limit),
    R(ctx_set_limit),
    R(ctx_set_limit_heap),
    R(ctx_cache_config),
    R(ctx_priority_range),
    R(ctx_reset_l2),
    R(ctx_create),
    RB(ctx_destroy),
    R(primary_retain),
    R(primary_state),
    R(device_attribute),
    R(device_graph_trim),
    R(device_default_pool),
    R(pool_create),
    RB(pool_destroy),
    RB(pool_trim),
    RB(pool_attribute),
    R(profiler_start),
    R(module_load),
    RB(module_unload),
    R(module_function),
    R(module_global),
    R(load_library),
    RB(unload_library),
    RB(kernel_of_library),
    RB(module_of_library),
    R(function_attribute),
    R(function_set_attribute),
    R(function_cache),
    R(function_load),
    R(occupancy),
    R(link_create),
    R(graph_create),
    RB(graph_destroy),
    R(graph_clone),
    R(graph_add_node),
    R(graph_instantiate),
    RB(graph_exec_destroy),
    RB(graph_exec_update),
    RB(user_object),
    R(profiler_stop),
    R(ctx_shared_config),
    R(ctx_set_flags),
    R(ctx_api_version),
    R(ctx_enable_peer),
    R(ctx_record_event),
    R(ctx_wait_event),
    RB(pool_access),
    RB(pool_get_attribute),
    RB(pool_get_access),
    RB(device_set_pool),
    R(device_get_pool),
    R(primary_flags),
    RB(address_free),
    RB(mem_export),
    R(array_create),
    RB(graph_instantiate_params),
    RB(graph_exec_flags),
    RB(graph_exec_params),
    RB(user_object_release),
    R(mem_range_base),
};

enum { ROWS = sizeof rows / sizeof rows[0], MODES = 3 };

struct cell {
    const struct row *row;
    CUstreamCaptureMode mode;
};

static void run_cell(const struct gold_case *self)
{
    const struct cell *cell = self->data;
    struct gold_set *set = gold_set_idle();
    if (cell->row->before)
        cell->row->before(set);
    NEED(cuStreamBeginCapture(set->captured, cell->mode));
    CUresult status = cell->row->call(set);
    say(status);
    NEED(cuCtxSetCurrent(gold_context()));
    say_rest(set->captured);
}

__attribute__((constructor)) static void add_cells(void)
{
    static struct gold_case cases[ROWS * MODES];
    static struct cell cells[ROWS * MODES];
    static char names[ROWS * MODES][64];
    for (int i = 0; i < ROWS * MODES; i++) {
        cells[i] = (struct cell){&rows[i / MODES], modes[i % MODES]};
        snprintf(names[i], sizeof names[i], "capture_mode.%s_%s", rows[i / MODES].name, mode_names[i % MODES]);
        cases[i] = (struct gold_case){.name = names[i], .run = run_cell, .data = &cells[i]};
    }
    gold_register_all(cases, ROWS * MODES);
}

/* ---- the captured stream is a blocking one: legacy work is then in its way ---- */

static void blocking_cell(const struct gold_case *self)
{
    const struct cell *cell = self->data;
    struct gold_set *set = gold_set_idle();
    CUstream stream = gold_stream(0);
    if (cell->row->before)
        cell->row->before(set);
    NEED(cuStreamBeginCapture(stream, cell->mode));
    NEED(gold_empty(stream));
    say(cell->row->call(set));
    NEED(cuCtxSetCurrent(gold_context()));
    say_rest(stream);
}

static const struct row blocking_rows[] = {
    R(legacy_copy_async),
    R(legacy_copy_async_zero),
    R(legacy_fill_async),
    R(legacy_launch),
    R(legacy_launch_explicit),
    R(legacy_host_func),
    R(legacy_record),
    R(legacy_wait),
    R(legacy_query),
    R(legacy_synchronize),
    R(legacy_is_capturing),
    R(legacy_alloc_async),
    R(legacy_prefetch),
    R(legacy_attach),
    R(legacy_graph_launch),
    R(legacy_flags),
    R(blocking_launch),
    R(blocking_synchronize),
    R(copy_htod),
    R(copy_dtod),
    R(fill_d8),
    R(ctx_synchronize),
    R(per_thread_launch),
    R(mem_alloc),
    RB(mem_free),
    R(event_query),
    R(stream_create),
    R(module_load),
    R(legacy_get_attribute),
    R(legacy_set_attribute),
    R(legacy_copy_attributes),
    R(legacy_priority),
    R(legacy_id),
    R(legacy_ctx),
    R(legacy_callback_null),
    R(legacy_write_value),
    R(legacy_graph_upload),
    R(legacy_record_null),
    R(legacy_wait_null),
    R(legacy_launch_null),
    R(legacy_copy_wild),
    R(legacy_update),
    R(legacy_begin),
    R(legacy_free_async),
    R(ctx_record_event),
    R(ctx_wait_event),
};

enum { BLOCKING = sizeof blocking_rows / sizeof blocking_rows[0] };

__attribute__((constructor)) static void add_blocking(void)
{
    static struct gold_case cases[BLOCKING * MODES];
    static struct cell cells[BLOCKING * MODES];
    static char names[BLOCKING * MODES][64];
    for (int i = 0; i < BLOCKING * MODES; i++) {
        cells[i] = (struct cell){&blocking_rows[i / MODES], modes[i % MODES]};
        snprintf(names[i], sizeof names[i], "capture_mode.blocking_%s_%s", blocking_rows[i / MODES].name,
                 mode_names[i % MODES]);
        cases[i] = (struct gold_case){.name = names[i], .run = blocking_cell, .data = &cells[i]};
    }
    gold_register_all(cases, BLOCKING * MODES);
}

/* ---- the thread's own mode, and other threads ---- */

/* Captures in one mode, makes the call with the thread's mode set to another. */
static void with_thread_mode(CUstreamCaptureMode capture, CUstreamCaptureMode thread,
                             CUresult (*call)(struct gold_set *set))
{
    struct gold_set *set = gold_set_begin(capture);
    NEED(cuThreadExchangeStreamCaptureMode(&thread));
    CUresult status = call(set);
    CUresult back = cuThreadExchangeStreamCaptureMode(&thread);
    say(status);
    say(back);
    say_rest(set->captured);
}

#define THREAD_MODE(title, capture, thread, call) \
    CASE(capture_mode, title) \
    { \
        with_thread_mode(CU_STREAM_CAPTURE_MODE_##capture, CU_STREAM_CAPTURE_MODE_##thread, call); \
    }

THREAD_MODE(exchanged_relaxed_in_global_alloc, GLOBAL, RELAXED, mem_alloc)
THREAD_MODE(exchanged_relaxed_in_thread_alloc, THREAD_LOCAL, RELAXED, mem_alloc)
THREAD_MODE(exchanged_relaxed_in_relaxed_alloc, RELAXED, RELAXED, mem_alloc)
THREAD_MODE(exchanged_thread_in_global_alloc, GLOBAL, THREAD_LOCAL, mem_alloc)
THREAD_MODE(exchanged_thread_in_thread_alloc, THREAD_LOCAL, THREAD_LOCAL, mem_alloc)
THREAD_MODE(exchanged_thread_in_relaxed_alloc, RELAXED, THREAD_LOCAL, mem_alloc)
THREAD_MODE(exchanged_relaxed_in_global_query, GLOBAL, RELAXED, event_query)
THREAD_MODE(exchanged_relaxed_in_global_copy, GLOBAL, RELAXED, copy_htod)
THREAD_MODE(exchanged_relaxed_in_global_ctx_sync, GLOBAL, RELAXED, ctx_synchronize)
THREAD_MODE(exchanged_relaxed_in_global_module, GLOBAL, RELAXED, module_load)
THREAD_MODE(exchanged_relaxed_in_global_legacy, GLOBAL, RELAXED, legacy_launch)

struct visit {
    CUresult (*call)(struct gold_set *set);
    struct gold_set *set;
    CUstreamCaptureMode mode;
    CUresult status;
};

static void *visit(void *data)
{
    struct visit *visit = data;
    visit->status = cuCtxSetCurrent(gold_context());
    if (visit->status == CUDA_SUCCESS)
        visit->status = cuThreadExchangeStreamCaptureMode(&visit->mode);
    if (visit->status == CUDA_SUCCESS)
        visit->status = visit->call(visit->set);
    return NULL;
}

/* Captures here in one mode, makes the call in a thread that has another. */
static void in_other_thread(CUstreamCaptureMode capture, CUstreamCaptureMode thread,
                            CUresult (*call)(struct gold_set *set))
{
    struct visit there = {.call = call, .set = gold_set_begin(capture), .mode = thread};
    pthread_t other;
    if (pthread_create(&other, NULL, visit, &there))
        gold_stop("no thread");
    pthread_join(other, NULL);
    say(there.status);
    say_rest(there.set->captured);
}

#define OTHER_THREAD(title, capture, thread, call) \
    CASE(capture_mode, title) \
    { \
        in_other_thread(CU_STREAM_CAPTURE_MODE_##capture, CU_STREAM_CAPTURE_MODE_##thread, call); \
    }

OTHER_THREAD(other_thread_global_global_alloc, GLOBAL, GLOBAL, mem_alloc)
OTHER_THREAD(other_thread_global_thread_alloc, GLOBAL, THREAD_LOCAL, mem_alloc)
OTHER_THREAD(other_thread_global_relaxed_alloc, GLOBAL, RELAXED, mem_alloc)
OTHER_THREAD(other_thread_thread_global_alloc, THREAD_LOCAL, GLOBAL, mem_alloc)
OTHER_THREAD(other_thread_thread_thread_alloc, THREAD_LOCAL, THREAD_LOCAL, mem_alloc)
OTHER_THREAD(other_thread_thread_relaxed_alloc, THREAD_LOCAL, RELAXED, mem_alloc)
OTHER_THREAD(other_thread_relaxed_global_alloc, RELAXED, GLOBAL, mem_alloc)
OTHER_THREAD(other_thread_relaxed_thread_alloc, RELAXED, THREAD_LOCAL, mem_alloc)
OTHER_THREAD(other_thread_relaxed_relaxed_alloc, RELAXED, RELAXED, mem_alloc)
OTHER_THREAD(other_thread_global_global_query, GLOBAL, GLOBAL, event_query)
OTHER_THREAD(other_thread_thread_global_query, THREAD_LOCAL, GLOBAL, event_query)
OTHER_THREAD(other_thread_global_global_copy, GLOBAL, GLOBAL, copy_htod)
OTHER_THREAD(other_thread_thread_global_copy, THREAD_LOCAL, GLOBAL, copy_htod)
OTHER_THREAD(other_thread_relaxed_global_copy, RELAXED, GLOBAL, copy_htod)
OTHER_THREAD(other_thread_global_global_ctx_sync, GLOBAL, GLOBAL, ctx_synchronize)
OTHER_THREAD(other_thread_thread_global_ctx_sync, THREAD_LOCAL, GLOBAL, ctx_synchronize)
OTHER_THREAD(other_thread_relaxed_global_ctx_sync, RELAXED, GLOBAL, ctx_synchronize)
OTHER_THREAD(other_thread_global_global_legacy, GLOBAL, GLOBAL, legacy_launch)
OTHER_THREAD(other_thread_global_global_sync, GLOBAL, GLOBAL, other_synchronize)
OTHER_THREAD(other_thread_global_global_module, GLOBAL, GLOBAL, module_load)

CASE(capture_mode, exchange_default)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    say(cuThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
    mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    say(cuThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    say(cuThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
}

CASE(capture_mode, exchange_null, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver crashes")
{
    say(cuThreadExchangeStreamCaptureMode(NULL));
}

CASE(capture_mode, exchange_bad)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)3;
    say(cuThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
    mode = (CUstreamCaptureMode)-1;
    say(cuThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    NEED(cuThreadExchangeStreamCaptureMode(&mode));
}

CASE(capture_mode, exchange_during_capture)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    say(cuThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
    say(cuThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
    say_rest(set->captured);
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    NEED(cuThreadExchangeStreamCaptureMode(&mode));
}

CASE(capture_mode, exchange_without_context, .alone = true)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    NEED(cuCtxSetCurrent(NULL));
    say(cuThreadExchangeStreamCaptureMode(&mode));
    say_int(mode);
}

CASE(capture_mode, exchange_before_init, .bare = true)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    say(cuThreadExchangeStreamCaptureMode(&mode));
}

/* Two captures of one thread in different modes: the strictest counts. */
CASE(capture_mode, two_captures_alloc)
{
    CUstream global = gold_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUstream local = gold_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CUstream relaxed = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUdeviceptr p;
    say(cuMemAlloc(&p, 64));
    say_rest(global);
    say_rest(local);
    say_rest(relaxed);
}

CASE(capture_mode, two_captures_local_relaxed_alloc)
{
    CUstream local = gold_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CUstream relaxed = gold_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUdeviceptr p;
    say(cuMemAlloc(&p, 64));
    say_rest(local);
    say_rest(relaxed);
}

/* After an invalidation, before the end: is the call allowed the second time? */
CASE(capture_mode, alloc_twice)
{
    struct gold_set *set = gold_set_begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUdeviceptr p;
    say(cuMemAlloc(&p, 64));
    say(cuMemAlloc(&p, 64));
    say(cuEventQuery(set->done));
    say_rest(set->captured);
    say(cuMemAlloc(&p, 64));
}

/* Captures of one context and calls in another. */
CASE(capture_mode, other_context_alloc, .alone = true)
{
    struct gold_set *set = gold_set_idle();
    CUcontext other = gold_context_new();
    CUdeviceptr p;
    NEED(cuCtxSetCurrent(gold_context()));
    NEED(cuStreamBeginCapture(set->captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
    NEED(cuCtxSetCurrent(other));
    say(cuMemAlloc(&p, 64));
    say(cuCtxSynchronize());
    NEED(cuCtxSetCurrent(gold_context()));
    say_rest(set->captured);
}

CASE(capture_mode, other_context_synchronize, .alone = true)
{
    struct gold_set *set = gold_set_idle();
    CUcontext other = gold_context_new();
    NEED(cuCtxSetCurrent(gold_context()));
    NEED(cuStreamBeginCapture(set->captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuCtxSetCurrent(other));
    say(cuCtxSynchronize());
    say(gold_launch(set->empty, 1, NULL, NULL));
    NEED(cuCtxSetCurrent(gold_context()));
    say_rest(set->captured);
}
