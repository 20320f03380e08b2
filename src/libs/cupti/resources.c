/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that calls of the driver make and end, as callbacks of the resource domain and as records; waits. */
#include "libs/cupti/cupti.h"

#include <string.h>
#include <unistd.h>

#include "observe/calls.h"

#define CONTEXTS 256u

_Atomic uint32_t mr_cupti_contexts_gone;

/* Of a call whose parameters are those of `function`. */
#define PARAMS(function) const struct mr_params_##function *p = call->call->params

/* ---- contexts ---- */

/* Contexts that there have been records of, by their numbers; none twice. Guarded by `lock`; a context more than these
 * has a record each time it is looked for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t told_contexts[CONTEXTS];
static unsigned told_count;

static bool is_new(uint32_t number)
{
    bool known = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < told_count && !known; i++)
        known = told_contexts[i] == number;
    if (!known && told_count < CONTEXTS)
        told_contexts[told_count++] = number;
    pthread_mutex_unlock(&lock);
    return !known;
}

static void put_context(CUcontext context)
{
    uint32_t device = 0, stream = 0, number = mr_cupti_context_number(context, &device);
    if (!number || !is_new(number))
        return;
    (void)mr_cuptiGetStreamIdEx(context, NULL, 0, &stream);
    const CUpti_ActivityContext3 record = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
                                           .contextId = number,
                                           .deviceId = device,
                                           .computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA,
                                           .nullStreamId = (uint16_t)stream,
                                           .parentContextId = CUPTI_INVALID_CONTEXT_ID};
    mr_cupti_put(&record, sizeof record);
}

/* The primary context of a device if it is active, else NULL. */
static CUcontext primary_of(CUdevice device)
{
    CUcontext context = NULL;
    unsigned flags;
    int active = 0;
    mr_cupti_driver->pause(true);
    if (mr_cupti_cu.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active &&
        mr_cupti_cu.cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS)
        (void)mr_cupti_cu.cuDevicePrimaryCtxRelease_v2(device);
    mr_cupti_driver->pause(false);
    return context;
}

static int device_count(void)
{
    int count = 0;
    mr_cupti_driver->pause(true);
    if (mr_cupti_cu.cuDeviceGetCount(&count) != CUDA_SUCCESS)
        count = 0; /* cuInit has not been called */
    mr_cupti_driver->pause(false);
    return count;
}

void mr_cupti_tell_contexts(void)
{
    CUcontext current = NULL;
    int count = device_count();
    mr_cupti_driver->pause(true);
    (void)mr_cupti_cu.cuCtxGetCurrent(&current);
    mr_cupti_driver->pause(false);
    for (int i = 0; i < count; i++) {
        CUcontext primary = primary_of(i);
        if (primary)
            put_context(primary);
    }
    if (current)
        put_context(current);
}

/* ---- devices ---- */

static uint32_t attribute(CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    return mr_cupti_cu.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? (uint32_t)value : 0;
}

static void put_device(CUdevice device)
{
    char name[256] = "";
    size_t memory = 0;
#define A(which) attribute(device, CU_DEVICE_ATTRIBUTE_##which)
    mr_cupti_driver->pause(true);
    (void)mr_cupti_cu.cuDeviceGetName(name, sizeof name, device);
    (void)mr_cupti_cu.cuDeviceTotalMem_v2(&memory, device);
    CUpti_ActivityDevice5 record = {.kind = CUPTI_ACTIVITY_KIND_DEVICE,
                                    .flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS,
                                    .globalMemoryBandwidth =
                                        (uint64_t)A(MEMORY_CLOCK_RATE) * A(GLOBAL_MEMORY_BUS_WIDTH) / 4,
                                    .globalMemorySize = memory,
                                    .constantMemorySize = A(TOTAL_CONSTANT_MEMORY),
                                    .l2CacheSize = A(L2_CACHE_SIZE),
                                    .numThreadsPerWarp = A(WARP_SIZE),
                                    .coreClockRate = A(CLOCK_RATE),
                                    .numMemcpyEngines = A(ASYNC_ENGINE_COUNT),
                                    .numMultiprocessors = A(MULTIPROCESSOR_COUNT),
                                    .maxWarpsPerMultiprocessor = A(MAX_THREADS_PER_MULTIPROCESSOR) / 32,
                                    .maxBlocksPerMultiprocessor = A(MAX_BLOCKS_PER_MULTIPROCESSOR),
                                    .maxSharedMemoryPerMultiprocessor = A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
                                    .maxRegistersPerMultiprocessor = A(MAX_REGISTERS_PER_MULTIPROCESSOR),
                                    .maxRegistersPerBlock = A(MAX_REGISTERS_PER_BLOCK),
                                    .maxSharedMemoryPerBlock = A(MAX_SHARED_MEMORY_PER_BLOCK),
                                    .maxThreadsPerBlock = A(MAX_THREADS_PER_BLOCK),
                                    .maxBlockDimX = A(MAX_BLOCK_DIM_X),
                                    .maxBlockDimY = A(MAX_BLOCK_DIM_Y),
                                    .maxBlockDimZ = A(MAX_BLOCK_DIM_Z),
                                    .maxGridDimX = A(MAX_GRID_DIM_X),
                                    .maxGridDimY = A(MAX_GRID_DIM_Y),
                                    .maxGridDimZ = A(MAX_GRID_DIM_Z),
                                    .computeCapabilityMajor = A(COMPUTE_CAPABILITY_MAJOR),
                                    .computeCapabilityMinor = A(COMPUTE_CAPABILITY_MINOR),
                                    .id = (uint32_t)device,
                                    .eccEnabled = A(ECC_ENABLED),
                                    .isCudaVisible = 1,
                                    .numaId = UINT32_MAX};
#undef A
    (void)mr_cupti_cu.cuDeviceGetUuid_v2(&record.uuid, device);
    mr_cupti_driver->pause(false);
    record.name = mr_cupti_keep(name);
    mr_cupti_put(&record, sizeof record);
}

void mr_cupti_tell_devices(void)
{
    int count = device_count();
    for (int i = 0; i < count; i++)
        put_device(i);
}

/* ---- callbacks ---- */

static void resource(uint32_t cbid, CUcontext context, CUstream stream, void *descriptor)
{
    const CUpti_ResourceData data = {
        .context = context, .resourceHandle = {.stream = stream}, .resourceDescriptor = descriptor};
    if (mr_cupti_calls_back(CUPTI_CB_DOMAIN_RESOURCE, cbid))
        mr_cupti_call_back(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

static void module(const struct mr_cupti_call *call, uint32_t cbid, const void *handle)
{
    CUpti_ModuleResourceData data = {.moduleId = mr_cupti_number(handle)};
    resource(cbid, call->call->context, NULL, &data);
}

static void graph(const struct mr_cupti_call *call, uint32_t cbid, CUpti_GraphData data)
{
    resource(cbid, call->call->context, NULL, &data);
}

void mr_cupti_opened(void)
{
    resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, NULL, NULL, NULL);
    if (mr_cupti_wants(CUPTI_ACTIVITY_KIND_DEVICE))
        mr_cupti_tell_devices();
}

static void context_made(CUcontext context)
{
    resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context, NULL, NULL);
    if (mr_cupti_wants(CUPTI_ACTIVITY_KIND_CONTEXT))
        put_context(context);
}

static void context_ends(CUcontext context)
{
    atomic_fetch_add_explicit(&mr_cupti_contexts_gone, 1, memory_order_release);
    resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context, NULL, NULL);
}

/* ---- streams ---- */

static void stream_made(const struct mr_cupti_call *call, CUstream stream)
{
    unsigned flags = 0;
    int priority = 0;
    resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, call->call->context, stream, NULL);
    if (!mr_cupti_wants(CUPTI_ACTIVITY_KIND_STREAM))
        return;
    mr_cupti_driver->pause(true);
    (void)mr_cupti_cu.cuStreamGetFlags(stream, &flags);
    (void)mr_cupti_cu.cuStreamGetPriority(stream, &priority);
    mr_cupti_driver->pause(false);
    const CUpti_ActivityStream record = {.kind = CUPTI_ACTIVITY_KIND_STREAM,
                                         .contextId = mr_cupti_context_number(call->call->context, NULL),
                                         .streamId = mr_cupti_stream_number(stream),
                                         .priority = (uint32_t)priority,
                                         .flag = flags & CU_STREAM_NON_BLOCKING
                                                     ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                                                     : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT,
                                         .correlationId = call->correlation};
    mr_cupti_put(&record, sizeof record);
}

static void event_recorded(const struct mr_cupti_call *call, CUevent event, CUstream stream)
{
    if (!mr_cupti_wants(CUPTI_ACTIVITY_KIND_CUDA_EVENT))
        return;
    uint32_t device = 0;
    CUpti_ActivityCudaEvent2 record = {.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                       .correlationId = call->correlation,
                                       .contextId = mr_cupti_context_number(call->call->context, &device),
                                       .streamId = mr_cupti_stream_number(stream),
                                       .eventId = mr_cupti_number(event)};
    record.deviceId = device;
    mr_cupti_put(&record, sizeof record);
}

/* ---- waits ---- */

static void waited(const struct mr_cupti_call *call, CUpti_ActivitySynchronizationType type, uint32_t stream,
                   CUevent event, CUresult status)
{
    if (!mr_cupti_wants(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION))
        return;
    const CUpti_ActivitySynchronization2 record = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                                   .type = type,
                                                   .start = call->start,
                                                   .end = mr_cupti_now(),
                                                   .correlationId = call->correlation,
                                                   .contextId = mr_cupti_context_number(call->call->context, NULL),
                                                   .streamId = stream,
                                                   .cudaEventId = event ? mr_cupti_number(event)
                                                                        : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
                                                   .returnValue = (uint32_t)status};
    mr_cupti_put(&record, sizeof record);
}

static void synchronized(const struct mr_cupti_call *call, uint32_t cbid, CUstream stream)
{
    const CUpti_SynchronizeData data = {.context = call->call->context, .stream = stream};
    if (mr_cupti_calls_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid))
        mr_cupti_call_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}

/* ---- memory ---- */

static CUpti_ActivityMemoryKind memory_kind(enum mr_observed_memory_kind kind)
{
    return kind == MR_OBSERVED_PINNED    ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED
           : kind == MR_OBSERVED_MANAGED ? CUPTI_ACTIVITY_MEMORY_KIND_MANAGED
                                         : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

static void put_memory(const struct mr_cupti_call *call, bool made, CUdeviceptr address, size_t bytes,
                       const CUstream *stream)
{
    uint32_t device = 0;
    if (!mr_cupti_wants(CUPTI_ACTIVITY_KIND_MEMORY2) || !address)
        return;
    CUpti_ActivityMemory4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                                    .memoryOperationType = made ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                                                                : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
                                    .correlationId = call->correlation,
                                    .address = address,
                                    .bytes = bytes,
                                    .timestamp = call->start,
                                    .processId = (uint32_t)getpid(),
                                    .contextId = mr_cupti_context_number(call->call->context, &device),
                                    .streamId = stream ? mr_cupti_stream_number(*stream) : CUPTI_INVALID_STREAM_ID,
                                    .isAsync = stream != NULL};
    int ordinal = (int)device;
    record.memoryKind = memory_kind(made ? mr_cupti_driver->kind(address, &ordinal) : call->memory);
    record.deviceId = (uint32_t)ordinal;
    mr_cupti_put(&record, sizeof record);
}

/* What is about to be freed. */
static void look_at_memory(struct mr_cupti_call *call, CUdeviceptr address)
{
    CUdeviceptr base = 0;
    int device = 0;
    if (!mr_cupti_wants(CUPTI_ACTIVITY_KIND_MEMORY2))
        return;
    call->memory = mr_cupti_driver->kind(address, &device);
    mr_cupti_driver->pause(true);
    if (mr_cupti_cu.cuMemGetAddressRange_v2(&base, &call->bytes, address) != CUDA_SUCCESS)
        call->bytes = 0;
    mr_cupti_driver->pause(false);
}

static void put_pool(const struct mr_cupti_call *call, CUpti_ActivityMemoryPoolOperationType type, CUmemoryPool pool,
                     size_t keep)
{
    uint32_t device = 0;
    cuuint64_t size = 0, threshold = 0, used = 0;
    if (!mr_cupti_wants(CUPTI_ACTIVITY_KIND_MEMORY_POOL))
        return;
    (void)mr_cupti_context_number(call->call->context, &device);
    mr_cupti_driver->pause(true);
    (void)mr_cupti_cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &size);
    (void)mr_cupti_cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
    (void)mr_cupti_cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
    mr_cupti_driver->pause(false);
    const CUpti_ActivityMemoryPool3 record = {.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                                              .memoryPoolOperationType = type,
                                              .memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
                                              .correlationId = call->correlation,
                                              .processId = (uint32_t)getpid(),
                                              .deviceId = device,
                                              .minBytesToKeep = keep,
                                              .address = (uint64_t)(uintptr_t)pool,
                                              .size = size,
                                              .releaseThreshold = threshold,
                                              .timestamp = mr_cupti_now(),
                                              .utilizedSize = used};
    mr_cupti_put(&record, mr_cupti_record_bytes(CUPTI_ACTIVITY_KIND_MEMORY_POOL));
}

/* ---- before a call ---- */

static void memory_begins(struct mr_cupti_call *call)
{
    switch (call->call->call) {
    case MR_CALL_cuMemFree_v2: {
        PARAMS(cuMemFree_v2);
        look_at_memory(call, p->dptr);
        break;
    }
    case MR_CALL_cuMemFreeAsync: {
        PARAMS(cuMemFreeAsync);
        look_at_memory(call, p->dptr);
        break;
    }
    case MR_CALL_cuMemFreeHost: {
        PARAMS(cuMemFreeHost);
        look_at_memory(call, (CUdeviceptr)(uintptr_t)p->p);
        break;
    }
    case MR_CALL_cuMemPoolDestroy: {
        PARAMS(cuMemPoolDestroy);
        put_pool(call, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED, p->pool, 0);
        break;
    }
    default:
        break;
    }
}

static void graph_begins(struct mr_cupti_call *call)
{
    switch (call->call->call) {
    case MR_CALL_cuGraphDestroy: {
        PARAMS(cuGraphDestroy);
        graph(call, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, (CUpti_GraphData){.graph = p->hGraph});
        break;
    }
    case MR_CALL_cuGraphDestroyNode: {
        PARAMS(cuGraphDestroyNode);
        graph(call, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, (CUpti_GraphData){.node = p->hNode});
        break;
    }
    case MR_CALL_cuGraphExecDestroy: {
        PARAMS(cuGraphExecDestroy);
        graph(call, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, (CUpti_GraphData){.graphExec = p->hGraphExec});
        break;
    }
    default:
        memory_begins(call);
        break;
    }
}

void mr_cupti_resource_begin(struct mr_cupti_call *call)
{
    switch (call->call->call) {
    case MR_CALL_cuDevicePrimaryCtxRetain: {
        PARAMS(cuDevicePrimaryCtxRetain);
        call->was_active = primary_of(p->dev) != NULL;
        break;
    }
    case MR_CALL_cuDevicePrimaryCtxRelease_v2: {
        PARAMS(cuDevicePrimaryCtxRelease_v2);
        call->ending = primary_of(p->dev); /* if this is the last one: that is seen afterwards */
        break;
    }
    case MR_CALL_cuDevicePrimaryCtxReset_v2: {
        PARAMS(cuDevicePrimaryCtxReset_v2);
        CUcontext primary = primary_of(p->dev);
        if (primary)
            context_ends(primary);
        break;
    }
    case MR_CALL_cuCtxDestroy_v2: {
        PARAMS(cuCtxDestroy_v2);
        if (mr_cupti_context_number(p->ctx, NULL))
            context_ends(p->ctx);
        break;
    }
    case MR_CALL_cuStreamDestroy_v2: {
        PARAMS(cuStreamDestroy_v2);
        resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, call->call->context, p->hStream, NULL);
        break;
    }
    case MR_CALL_cuModuleUnload: {
        PARAMS(cuModuleUnload);
        module(call, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, p->hmod);
        break;
    }
    case MR_CALL_cuLibraryUnload: {
        PARAMS(cuLibraryUnload);
        module(call, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, p->library);
        break;
    }
    default:
        graph_begins(call);
        break;
    }
}

/* ---- after a call ---- */

#define MAKES(function, what) \
    case MR_CALL_##function: { \
        PARAMS(function); \
        what; \
        return; \
    }

static void memory_ends(const struct mr_cupti_call *call)
{
    switch (call->call->call) {
        MAKES(cuMemAlloc_v2, put_memory(call, true, *p->dptr, p->bytesize, NULL))
        MAKES(cuMemAllocPitch_v2, put_memory(call, true, *p->dptr, *p->pPitch * p->Height, NULL))
        MAKES(cuMemAllocManaged, put_memory(call, true, *p->dptr, p->bytesize, NULL))
        MAKES(cuMemAllocHost_v2, put_memory(call, true, (CUdeviceptr)(uintptr_t)*p->pp, p->bytesize, NULL))
        MAKES(cuMemHostAlloc, put_memory(call, true, (CUdeviceptr)(uintptr_t)*p->pp, p->bytesize, NULL))
        MAKES(cuMemAllocAsync, put_memory(call, true, *p->dptr, p->bytesize, &p->hStream))
        MAKES(cuMemAllocFromPoolAsync, put_memory(call, true, *p->dptr, p->bytesize, &p->hStream))
        MAKES(cuMemFree_v2, put_memory(call, false, p->dptr, call->bytes, NULL))
        MAKES(cuMemFreeHost, put_memory(call, false, (CUdeviceptr)(uintptr_t)p->p, call->bytes, NULL))
        MAKES(cuMemFreeAsync, put_memory(call, false, p->dptr, call->bytes, &p->hStream))
        MAKES(cuMemPoolCreate, put_pool(call, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED, *p->pool, 0))
        MAKES(cuMemPoolTrimTo,
              put_pool(call, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED, p->pool, p->minBytesToKeep))
    default:
        return;
    }
}

static void graph_made(const struct mr_cupti_call *call, CUgraph made, CUgraph original)
{
    graph(call, original ? CUPTI_CBID_RESOURCE_GRAPH_CLONED : CUPTI_CBID_RESOURCE_GRAPH_CREATED,
          (CUpti_GraphData){.graph = made, .originalGraph = original});
}

static void exec_made(const struct mr_cupti_call *call, CUgraphExec exec, CUgraph from)
{
    graph(call, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, (CUpti_GraphData){.graph = from, .graphExec = exec});
}

static void graph_ends(const struct mr_cupti_call *call)
{
    switch (call->call->call) {
        MAKES(cuGraphCreate, graph_made(call, *p->phGraph, NULL))
        MAKES(cuStreamEndCapture, if (*p->phGraph) graph_made(call, *p->phGraph, NULL))
        MAKES(cuGraphClone, graph_made(call, *p->phGraphClone, p->originalGraph))
        MAKES(cuGraphInstantiateWithFlags, exec_made(call, *p->phGraphExec, p->hGraph))
        MAKES(cuGraphInstantiateWithParams, exec_made(call, *p->phGraphExec, p->hGraph))
        MAKES(cuGraphInstantiate_v2, exec_made(call, *p->phGraphExec, p->hGraph))
    default:
        memory_ends(call);
        return;
    }
}

static void waits_end(const struct mr_cupti_call *call)
{
    const uint32_t none = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    switch (call->call->call) {
        MAKES(cuEventRecord, event_recorded(call, p->hEvent, p->hStream))
        MAKES(cuEventRecordWithFlags, event_recorded(call, p->hEvent, p->hStream))
        MAKES(cuEventSynchronize,
              waited(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, none, p->hEvent, CUDA_SUCCESS))
        MAKES(cuStreamWaitEvent, waited(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
                                        mr_cupti_stream_number(p->hStream), p->hEvent, CUDA_SUCCESS))
    case MR_CALL_cuStreamQuery: {
        PARAMS(cuStreamQuery);
        synchronized(call, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, p->hStream);
        return;
    }
    case MR_CALL_cuStreamSynchronize: {
        PARAMS(cuStreamSynchronize);
        waited(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, mr_cupti_stream_number(p->hStream), NULL,
               CUDA_SUCCESS);
        if (p->hStream && p->hStream != CU_STREAM_LEGACY) /* as on hardware */
            synchronized(call, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, p->hStream);
        return;
    }
    case MR_CALL_cuCtxSynchronize:
    case MR_CALL_cuCtxSynchronize_v2:
        waited(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, none, NULL, CUDA_SUCCESS);
        synchronized(call, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, NULL);
        return;
    default:
        graph_ends(call);
        return;
    }
}

/* The primary context has ended with its last release, which only now is known to have been the last one. */
static void primary_released(const struct mr_cupti_call *call)
{
    PARAMS(cuDevicePrimaryCtxRelease_v2);
    if (call->ending && !primary_of(p->dev))
        context_ends(call->ending);
}

void mr_cupti_resource_end(struct mr_cupti_call *call, CUresult status)
{
    if (status != CUDA_SUCCESS)
        return;
    switch (call->call->call) {
        MAKES(cuCtxCreate, context_made(*p->pctx))
        MAKES(cuCtxCreate_v2, context_made(*p->pctx))
        MAKES(cuCtxCreate_v3, context_made(*p->pctx))
        MAKES(cuCtxCreate_v4, context_made(*p->pctx))
        MAKES(cuDevicePrimaryCtxRetain, if (!call->was_active) context_made(*p->pctx))
        MAKES(cuStreamCreate, stream_made(call, *p->phStream))
        MAKES(cuStreamCreateWithPriority, stream_made(call, *p->phStream))
        MAKES(cuGreenCtxStreamCreate, stream_made(call, *p->phStream))
        MAKES(cuModuleLoad, module(call, CUPTI_CBID_RESOURCE_MODULE_LOADED, *p->module))
        MAKES(cuModuleLoadData, module(call, CUPTI_CBID_RESOURCE_MODULE_LOADED, *p->module))
        MAKES(cuModuleLoadDataEx, module(call, CUPTI_CBID_RESOURCE_MODULE_LOADED, *p->module))
        MAKES(cuModuleLoadFatBinary, module(call, CUPTI_CBID_RESOURCE_MODULE_LOADED, *p->module))
        MAKES(cuLibraryLoadData, module(call, CUPTI_CBID_RESOURCE_MODULE_LOADED, *p->library))
        MAKES(cuLibraryLoadFromFile, module(call, CUPTI_CBID_RESOURCE_MODULE_LOADED, *p->library))
    case MR_CALL_cuDevicePrimaryCtxRelease_v2:
        primary_released(call);
        return;
    default:
        waits_end(call);
        return;
    }
}
