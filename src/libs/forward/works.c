/* SPDX-License-Identifier: Apache-2.0 */
/* From a call's parameters to the works that it has queued (works.h).
 *
 * A work is told of as a whole when the call has succeeded: bind, begin, what it touches, end. Its stream is the one
 * that the call names, and nothing is told of a stream that captures. A host function ends later (host_function.c).
 *
 * So does a wait for a value: its end is known when the host has waited for its stream. What it comes after may be
 * asked for later than what comes after it, as the value's write is. Until all waits have ended, what works touch is
 * put off (put_off), so that it is told of in an order that could be the true one. */
#define __CUDA_API_VERSION_INTERNAL
#include "libs/forward/works.h"

#include <stdatomic.h>

#include "base/log.h"
#include "observe/calls.h"

static _Atomic uint64_t works;    /* numbers given out */
static _Atomic uint32_t captures; /* 1 once a capture has begun */

/* Of the call that the thread is in; a host function is exchanged for no other. */
static _Thread_local struct mr_forward_host_function *host_function;

/* The call that the thread is in has not been handed on yet: works are looked for to find their streams alone. */
static _Thread_local bool ahead;

/* ---- one work ---- */

/* A default stream never captures, except for a thread's own. */
static bool is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!atomic_load_explicit(&captures, memory_order_relaxed) || stream == NULL || stream == CU_STREAM_LEGACY)
        return false;
    return mr_forward_driver.stream_captures(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static bool is_default(CUstream stream)
{
    return stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* The driver behind need not tell the own default streams of threads apart by number. So a default stream gets one from
 * its context and thread. */
bool mr_forward_stream_number(CUstream stream, CUcontext context, uint64_t *number)
{
    static _Atomic uint32_t threads;
    static _Thread_local uint32_t thread; /* from 1 up */
    unsigned long long id = 0;
    if (!is_default(stream)) {
        CUresult status = mr_forward_driver.stream_id(stream, &id);
        *number = id;
        return status == CUDA_SUCCESS;
    }
    if (stream == CU_STREAM_PER_THREAD && !thread)
        thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    if (!context || mr_forward_driver.context_number(context, &id) != CUDA_SUCCESS)
        return false;
    *number = MR_OBSERVED_DEFAULT_STREAM_OF(id, stream == CU_STREAM_PER_THREAD ? thread : 0);
    return true;
}

/* What all works of the call have. False: the call has queued nothing. */
static bool describe(struct mr_observed_work *work, const struct mr_observed_call *call, enum mr_observed_kind kind,
                     CUstream stream)
{
    unsigned long long context_number = 0;
    uint64_t id = 0;
    CUcontext context = call->context;
    CUdevice device = 0;
    CUstreamCaptureStatus captured = CU_STREAM_CAPTURE_STATUS_NONE;
    if (is_captured(stream))
        return false;
    if (ahead && atomic_load_explicit(&captures, memory_order_relaxed) &&
        (mr_forward_driver.stream_captures(stream, &captured) != CUDA_SUCCESS || captured))
        return false; /* a record in the legacy stream would end captures of blocking streams */
    if (ahead) {
        if (!is_default(stream))
            (void)mr_forward_driver.stream_context(stream, &context);
        mr_forward_times_begin(stream, context);
        return false;
    }
    if (!mr_forward_stream_number(stream, context, &id)) {
        mr_log(MR_LOG_INFO, "what %s has queued is not looked at: its stream is of no context", call->name);
        return false;
    }
    if (!is_default(stream))
        (void)mr_forward_driver.stream_context(stream, &context);
    (void)mr_forward_driver.context_number(context, &context_number);
    if (context == call->context)
        (void)mr_forward_driver.context_device(&device);
    *work = (struct mr_observed_work){.work = atomic_fetch_add_explicit(&works, 1, memory_order_relaxed) + 1,
                                      .kind = kind,
                                      .stream = id,
                                      .context = context,
                                      .context_number = context_number,
                                      .device = device};
    return true;
}

/* A work that is described has been queued by the call. */
static void bind(const struct mr_observed_work *work)
{
    mr_observer.bind(work);
    mr_forward_times_work(work);
}

/* Tells of a work that is described, with the boxes that it has. */
static void tell(const struct mr_observed_work *work, struct mr_forward_boxes *boxes)
{
    mr_observer.begin(work);
    boxes->work = work;
    mr_forward_boxes_end(boxes);
    mr_forward_end(work);
}

/* ---- copies and fills ---- */

static void tell_copy(const struct mr_observed_call *call, CUstream stream, uintptr_t to, uintptr_t from, size_t size)
{
    struct mr_observed_work work;
    struct mr_forward_boxes boxes = {.count = 0};
    if (size == 0 || !describe(&work, call, MR_OBSERVED_COPY, stream))
        return;
    work.to = to;
    work.from = from;
    work.bytes = size;
    bind(&work);
    mr_forward_box(&boxes, from, size, 1, size, MR_ACCESS_READ);
    mr_forward_box(&boxes, to, size, 1, size, MR_ACCESS_WRITE);
    tell(&work, &boxes);
}

/* One side of a copy of boxes; an array has no bytes. */
struct side {
    uintptr_t first;
    size_t pitch, slice;
};

static struct side side_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t z,
                           size_t pitch, size_t height)
{
    uintptr_t base = type == CU_MEMORYTYPE_ARRAY ? 0 : type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;
    return (struct side){base ? base + (z * height + y) * pitch + x : 0, pitch, pitch * height};
}

static void tell_box_copy(const struct mr_observed_call *call, CUstream stream, struct side to, struct side from,
                          const size_t size[3])
{
    struct mr_observed_work work;
    struct mr_forward_boxes boxes = {.count = 0};
    if (size[0] * size[1] * size[2] == 0 || !describe(&work, call, MR_OBSERVED_COPY, stream))
        return;
    work.to = to.first;
    work.from = from.first;
    work.bytes = size[0] * size[1] * size[2];
    bind(&work);
    mr_observer.begin(&work);
    boxes.work = &work;
    for (size_t z = 0; z < size[2]; z++) {
        mr_forward_box(&boxes, from.first ? from.first + z * from.slice : 0, size[0], size[1], from.pitch,
                       MR_ACCESS_READ);
        mr_forward_box(&boxes, to.first ? to.first + z * to.slice : 0, size[0], size[1], to.pitch, MR_ACCESS_WRITE);
    }
    mr_forward_boxes_end(&boxes);
    mr_forward_end(&work);
}

static void tell_2d(const struct mr_observed_call *call, CUstream stream, const CUDA_MEMCPY2D *copy)
{
    struct side to = side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes, copy->dstY, 0,
                             copy->dstPitch ? copy->dstPitch : copy->WidthInBytes, 0);
    struct side from = side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes, copy->srcY, 0,
                               copy->srcPitch ? copy->srcPitch : copy->WidthInBytes, 0);
    tell_box_copy(call, stream, to, from, (size_t[3]){copy->WidthInBytes, copy->Height, 1});
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name the same things. */
#define SIDE_OF_3D(copy, side) \
    side_of(copy->side##MemoryType, copy->side##Host, copy->side##Device, copy->side##XInBytes, copy->side##Y, \
            copy->side##Z, copy->side##Pitch ? copy->side##Pitch : copy->WidthInBytes, \
            copy->side##Height ? copy->side##Height : copy->Height)
#define TELL_3D(call, stream, copy) \
    tell_box_copy(call, stream, SIDE_OF_3D(copy, dst), SIDE_OF_3D(copy, src), \
                  (size_t[3]){copy->WidthInBytes, copy->Height, copy->Depth})

static void tell_3d(const struct mr_observed_call *call, CUstream stream, const CUDA_MEMCPY3D *copy)
{
    TELL_3D(call, stream, copy);
}

static void tell_3d_peer(const struct mr_observed_call *call, CUstream stream, const CUDA_MEMCPY3D_PEER *copy)
{
    TELL_3D(call, stream, copy);
}

static void tell_batch(const struct mr_observed_call *call, CUstream stream, const CUdeviceptr *to,
                       const CUdeviceptr *from, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count && to && from && sizes; i++)
        tell_copy(call, stream, (uintptr_t)to[i], (uintptr_t)from[i], sizes[i]);
}

static void tell_fill(const struct mr_observed_call *call, CUstream stream, CUdeviceptr to, size_t width, size_t rows,
                      size_t pitch, uint32_t value)
{
    struct mr_observed_work work;
    struct mr_forward_boxes boxes = {.count = 0};
    if (width * rows == 0 || !describe(&work, call, MR_OBSERVED_FILL, stream))
        return;
    work.to = (uintptr_t)to;
    work.bytes = width * rows;
    work.value = value;
    bind(&work);
    mr_forward_box(&boxes, (uintptr_t)to, width, rows, pitch, MR_ACCESS_WRITE);
    tell(&work, &boxes);
}

/* ---- kernels, graphs, values ---- */

static void tell_kernel(const struct mr_observed_call *call, CUstream stream, CUfunction function,
                        const unsigned blocks[3], const unsigned threads[3], unsigned shared, void **params,
                        void **extra)
{
    struct mr_observed_work work;
    struct mr_forward_boxes boxes = {.work = &work};
    if (!describe(&work, call, MR_OBSERVED_KERNEL, stream))
        return;
    work.kernel = mr_forward_function_name(function);
    work.grid = work.work;
    work.shared_dynamic = shared;
    for (int i = 0; i < 3; i++) {
        work.blocks[i] = blocks[i];
        work.threads[i] = threads[i];
    }
    bind(&work);
    mr_observer.begin(&work);
    if (mr_observes(MR_OBSERVE_ACCESS))
        mr_forward_function_boxes(function, params, extra, &boxes);
    mr_forward_boxes_end(&boxes);
    mr_forward_end(&work);
}

static void tell_plain(const struct mr_observed_call *call, CUstream stream, enum mr_observed_kind kind)
{
    struct mr_observed_work work;
    struct mr_forward_boxes boxes = {.count = 0};
    if (!describe(&work, call, kind, stream))
        return;
    bind(&work);
    tell(&work, &boxes);
}

static bool is_wait(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

static bool is_write(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool is_wide(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static void tell_values(const struct mr_observed_call *call, CUstream stream, const CUstreamBatchMemOpParams *ops,
                        size_t count)
{
    struct mr_observed_work work;
    struct mr_forward_boxes boxes = {.work = &work};
    bool waits = false;
    if (!describe(&work, call, MR_OBSERVED_MEMORY_OP, stream))
        return;
    bind(&work);
    mr_observer.begin(&work);
    for (size_t i = 0; i < count; i++) {
        uint32_t how = is_wait(&ops[i]) ? MR_ACCESS_READ : is_write(&ops[i]) ? MR_ACCESS_WRITE : 0;
        size_t size = is_wide(&ops[i]) ? 8 : 4;
        if (how)
            mr_forward_box(&boxes, (uintptr_t)ops[i].waitValue.address, size, 1, size, how | MR_ACCESS_ATOMIC);
        waits = waits || is_wait(&ops[i]);
    }
    mr_forward_boxes_end(&boxes);
    if (!waits || !mr_forward_wait_begins(&work))
        mr_forward_end(&work);
}

static void tell_value(const struct mr_observed_call *call, CUstream stream, CUstreamBatchMemOpType operation,
                       CUdeviceptr address)
{
    CUstreamBatchMemOpParams op = {.waitValue = {.operation = operation, .address = address}};
    tell_values(call, stream, &op, 1);
}

static void end_waits_of(CUstream stream, CUcontext context)
{
    uint64_t id;
    if (mr_forward_waits() && !is_captured(stream) && mr_forward_stream_number(stream, context, &id))
        mr_forward_wait_ends(id, NULL);
}

/* ---- calls ---- */

#define P(symbol) const struct mr_params_##symbol *p = call->params

#define COPY(symbol, destination, source, stream) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_copy(call, p->stream, (uintptr_t)p->destination, (uintptr_t)p->source, p->ByteCount); \
        break; \
    }
/* Of a copy to or from an array. */
#define COPY_TO_ARRAY(symbol, source, stream) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_copy(call, p->stream, 0, (uintptr_t)p->source, p->ByteCount); \
        break; \
    }
#define COPY_FROM_ARRAY(symbol, destination, stream) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_copy(call, p->stream, (uintptr_t)p->destination, 0, p->ByteCount); \
        break; \
    }
#define BOX(symbol, tells, stream) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        if (p->pCopy) \
            tells(call, p->stream, p->pCopy); \
        break; \
    }
#define BATCH(symbol) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_batch(call, p->hStream, p->dsts, p->srcs, p->sizes, p->count); \
        break; \
    }
#define FILL(symbol, value, bytes, stream) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_fill(call, p->stream, p->dstDevice, p->N *(bytes), 1, p->N *(bytes), p->value); \
        break; \
    }
#define FILL_2D(symbol, value, bytes, stream) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_fill(call, p->stream, p->dstDevice, p->Width *(bytes), p->Height, p->dstPitch, p->value); \
        break; \
    }
#define VALUE(symbol, operation) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_value(call, p->stream, operation, p->addr); \
        break; \
    }
#define VALUES(symbol) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_values(call, p->stream, p->paramArray, p->count); \
        break; \
    }
#define LAUNCH(symbol) \
    case MR_CALL_##symbol: { \
        P(symbol); \
        tell_kernel(call, p->hStream, p->f, (unsigned[3]){p->gridDimX, p->gridDimY, p->gridDimZ}, \
                    (unsigned[3]){p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes, p->kernelParams, \
                    EXTRA_##symbol); \
        break; \
    }
#define EXTRA_cuLaunchKernel p->extra
#define EXTRA_cuLaunchCooperativeKernel NULL

static void copies_of(const struct mr_observed_call *call)
{
    switch (call->call) {
        COPY(cuMemcpy, dst, src, mr_default)
        COPY(cuMemcpyHtoD_v2, dstDevice, srcHost, mr_default)
        COPY(cuMemcpyDtoH_v2, dstHost, srcDevice, mr_default)
        COPY(cuMemcpyDtoD_v2, dstDevice, srcDevice, mr_default)
        COPY(cuMemcpyPeer, dstDevice, srcDevice, mr_default)
        COPY(cuMemcpyAsync, dst, src, hStream)
        COPY(cuMemcpyHtoDAsync_v2, dstDevice, srcHost, hStream)
        COPY(cuMemcpyDtoHAsync_v2, dstHost, srcDevice, hStream)
        COPY(cuMemcpyDtoDAsync_v2, dstDevice, srcDevice, hStream)
        COPY(cuMemcpyPeerAsync, dstDevice, srcDevice, hStream)
        COPY_TO_ARRAY(cuMemcpyDtoA_v2, srcDevice, mr_default)
        COPY_TO_ARRAY(cuMemcpyHtoA_v2, srcHost, mr_default)
        COPY_TO_ARRAY(cuMemcpyHtoAAsync_v2, srcHost, hStream)
        COPY_FROM_ARRAY(cuMemcpyAtoD_v2, dstDevice, mr_default)
        COPY_FROM_ARRAY(cuMemcpyAtoH_v2, dstHost, mr_default)
        COPY_FROM_ARRAY(cuMemcpyAtoHAsync_v2, dstHost, hStream)
        BOX(cuMemcpy2D_v2, tell_2d, mr_default)
        BOX(cuMemcpy2DUnaligned_v2, tell_2d, mr_default)
        BOX(cuMemcpy2DAsync_v2, tell_2d, hStream)
        BOX(cuMemcpy3D_v2, tell_3d, mr_default)
        BOX(cuMemcpy3DAsync_v2, tell_3d, hStream)
        BOX(cuMemcpy3DPeer, tell_3d_peer, mr_default)
        BOX(cuMemcpy3DPeerAsync, tell_3d_peer, hStream)
        BATCH(cuMemcpyBatchAsync)
        BATCH(cuMemcpyBatchAsync_v2)
    default:
        break;
    }
}

static void fills_of(const struct mr_observed_call *call)
{
    switch (call->call) {
        FILL(cuMemsetD8_v2, uc, 1, mr_default)
        FILL(cuMemsetD16_v2, us, 2, mr_default)
        FILL(cuMemsetD32_v2, ui, 4, mr_default)
        FILL(cuMemsetD8Async, uc, 1, hStream)
        FILL(cuMemsetD16Async, us, 2, hStream)
        FILL(cuMemsetD32Async, ui, 4, hStream)
        FILL_2D(cuMemsetD2D8_v2, uc, 1, mr_default)
        FILL_2D(cuMemsetD2D16_v2, us, 2, mr_default)
        FILL_2D(cuMemsetD2D32_v2, ui, 4, mr_default)
        FILL_2D(cuMemsetD2D8Async, uc, 1, hStream)
        FILL_2D(cuMemsetD2D16Async, us, 2, hStream)
        FILL_2D(cuMemsetD2D32Async, ui, 4, hStream)
        VALUE(cuStreamWriteValue32, CU_STREAM_MEM_OP_WRITE_VALUE_32)
        VALUE(cuStreamWriteValue32_v2, CU_STREAM_MEM_OP_WRITE_VALUE_32)
        VALUE(cuStreamWriteValue64, CU_STREAM_MEM_OP_WRITE_VALUE_64)
        VALUE(cuStreamWriteValue64_v2, CU_STREAM_MEM_OP_WRITE_VALUE_64)
        VALUE(cuStreamWaitValue32, CU_STREAM_MEM_OP_WAIT_VALUE_32)
        VALUE(cuStreamWaitValue32_v2, CU_STREAM_MEM_OP_WAIT_VALUE_32)
        VALUE(cuStreamWaitValue64, CU_STREAM_MEM_OP_WAIT_VALUE_64)
        VALUE(cuStreamWaitValue64_v2, CU_STREAM_MEM_OP_WAIT_VALUE_64)
        VALUES(cuStreamBatchMemOp)
        VALUES(cuStreamBatchMemOp_v2)
    default:
        break;
    }
}

static void launches_of(const struct mr_observed_call *call)
{
    switch (call->call) {
        LAUNCH(cuLaunchKernel)
        LAUNCH(cuLaunchCooperativeKernel)
    case MR_CALL_cuLaunchKernelEx: {
        P(cuLaunchKernelEx);
        const CUlaunchConfig *config = p->config;
        if (!config)
            break;
        tell_kernel(call, config->hStream, p->f, (unsigned[3]){config->gridDimX, config->gridDimY, config->gridDimZ},
                    (unsigned[3]){config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                    p->kernelParams, p->extra);
        break;
    }
    case MR_CALL_cuGraphLaunch: {
        P(cuGraphLaunch);
        tell_plain(call, p->hStream, MR_OBSERVED_GRAPH);
        break;
    }
    default:
        break;
    }
}

static void others_leave(const struct mr_observed_call *call)
{
    switch (call->call) {
    case MR_CALL_cuStreamBeginCapture:
    case MR_CALL_cuStreamBeginCapture_v2:
    case MR_CALL_cuStreamBeginCaptureToGraph:
        atomic_store_explicit(&captures, 1, memory_order_relaxed);
        break;
    case MR_CALL_cuStreamSynchronize: {
        P(cuStreamSynchronize);
        end_waits_of(p->hStream, call->context);
        break;
    }
    case MR_CALL_cuStreamQuery: {
        P(cuStreamQuery);
        end_waits_of(p->hStream, call->context);
        break;
    }
    case MR_CALL_cuCtxSynchronize:
        if (mr_forward_waits())
            mr_forward_wait_ends(0, call->context);
        break;
    default:
        mr_forward_functions_leave(call);
        break;
    }
}

/* The stream of a call that queues a host function. */
static CUstream host_stream(const struct mr_observed_call *call)
{
    if (call->call == MR_CALL_cuLaunchHostFunc)
        return ((const struct mr_params_cuLaunchHostFunc *)call->params)->hStream;
    return ((const struct mr_params_cuStreamAddCallback *)call->params)->hStream;
}

static bool queues_host_function(const struct mr_observed_call *call)
{
    return call->call == MR_CALL_cuLaunchHostFunc || call->call == MR_CALL_cuStreamAddCallback;
}

/* A captured one is left as it is: the program may ask the graph's node for it. */
static void exchange_host_function(struct mr_observed_call *call)
{
    host_function =
        queues_host_function(call) && !is_captured(host_stream(call)) ? mr_forward_host_exchange(call) : NULL;
}

/* The works that the call asks for, or (ahead) is about to ask for. */
static void works_of(const struct mr_observed_call *call)
{
    copies_of(call);
    fills_of(call);
    launches_of(call);
}

/* Contexts that may end by the call. */
static void end_contexts(const struct mr_observed_call *call)
{
    if (call->call == MR_CALL_cuCtxDestroy_v2) {
        P(cuCtxDestroy_v2);
        if (p->ctx)
            mr_forward_times_over(p->ctx, NULL);
    } else if (call->call == MR_CALL_cuDevicePrimaryCtxReset_v2) {
        P(cuDevicePrimaryCtxReset_v2);
        mr_forward_times_over(NULL, &p->dev);
    } else if (call->call == MR_CALL_cuDevicePrimaryCtxRelease_v2) {
        P(cuDevicePrimaryCtxRelease_v2);
        mr_forward_times_over(NULL, &p->dev);
    }
}

void mr_forward_works_enter(struct mr_observed_call *call)
{
    exchange_host_function(call);
    if (!mr_observes(MR_OBSERVE_SLICES))
        return;
    ahead = true;
    works_of(call);
    ahead = false;
    end_contexts(call);
}

static void bind_host_function(const struct mr_observed_call *call, CUresult status)
{
    struct mr_forward_host_function *function = host_function;
    struct mr_observed_work work;
    host_function = NULL;
    if (status != CUDA_SUCCESS) {
        mr_forward_host_bound(function, NULL);
    } else if (describe(&work, call, MR_OBSERVED_HOST, host_stream(call))) {
        mr_observer.bind(&work);
        mr_forward_host_bound(function, &work);
    }
}

/* The host has waited: what it waited for has ended, most likely. */
static bool waits(const struct mr_observed_call *call)
{
    return call->call == MR_CALL_cuStreamSynchronize || call->call == MR_CALL_cuEventSynchronize ||
           call->call == MR_CALL_cuCtxSynchronize || call->call == MR_CALL_cuCtxSynchronize_v2;
}

void mr_forward_works_leave(struct mr_observed_call *call, CUresult status)
{
    if (host_function) {
        bind_host_function(call, status);
    } else if (status == CUDA_SUCCESS) {
        works_of(call);
        others_leave(call);
    }
    mr_forward_times_end();
    if (waits(call))
        mr_forward_times_collect();
}
