/* SPDX-License-Identifier: Apache-2.0 */
/* The table of calls and their families (order_call.h). A call that isn't here has no part in the order, or queues work
 * and does nothing else: then it has its row for the stream alone. */
#include "libs/observer/order_call.h"

/* The header gives these names to their latest versions; here each version is itself. */
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamBatchMemOp
#undef cuGraphAddNode
#undef cuGraphExecUpdate
#undef cuCtxSynchronize

/* Where a parameter is, plus 1. */
#define AT(symbol, name) ((uint16_t)(offsetof(struct mr_params_##symbol, name) + 1))
#define ROW(symbol, ...) [MR_CALL_##symbol] = {__VA_ARGS__}

/* Work and nothing else. */
#define WORK(symbol, name) ROW(symbol, .stream = AT(symbol, name))

#define RECORD(symbol) \
    ROW(symbol, .leave = obs_record_leave, .stream = AT(symbol, hStream), .object = AT(symbol, hEvent))
#define KNOWN_EVENT(symbol) \
    ROW(symbol, .enter = obs_event_enter, .leave = obs_known_leave, .object = AT(symbol, hEvent))
#define KNOWN_STREAM(symbol) \
    ROW(symbol, .enter = obs_stream_enter, .leave = obs_known_leave, .stream = AT(symbol, hStream))

/* Copies: `to` and `from` are the names of addresses. */
#define COPY_BY(symbol, in, dst, src, at) \
    ROW(symbol, .enter = in, .leave = obs_copy_leave, .stream = AT(symbol, at), .to = AT(symbol, dst), \
        .from = AT(symbol, src))
#define COPY_SYNC(symbol, dst, src) COPY_BY(symbol, obs_copy_enter, dst, src, mr_default)
#define COPY_ASYNC(symbol, dst, src) COPY_BY(symbol, obs_copy_async_enter, dst, src, hStream)
/* Between contexts: `object` and `size` are the contexts. */
#define PEER(symbol, in, at) \
    ROW(symbol, .enter = in, .leave = obs_copy_leave, .stream = AT(symbol, at), .to = AT(symbol, dstDevice), \
        .from = AT(symbol, srcDevice), .object = AT(symbol, dstContext), .size = AT(symbol, srcContext))
#define TO_ARRAY(symbol, in, src, at) \
    ROW(symbol, .enter = in, .leave = obs_copy_leave, .stream = AT(symbol, at), .from = AT(symbol, src))
#define FROM_ARRAY(symbol, in, dst, at) \
    ROW(symbol, .enter = in, .leave = obs_copy_leave, .stream = AT(symbol, at), .to = AT(symbol, dst))
#define BOX(symbol, in, at, which) \
    ROW(symbol, .enter = in, .leave = obs_copy_leave, .stream = AT(symbol, at), .object = AT(symbol, pCopy), \
        .number = which)
#define FILL(symbol) \
    ROW(symbol, .enter = obs_fill_enter, .leave = obs_copy_leave, .stream = AT(symbol, mr_default), \
        .to = AT(symbol, dstDevice))

#define ALLOCATES(symbol, pointer, bytes, kind) \
    ROW(symbol, .leave = obs_allocate_leave, .to = AT(symbol, pointer), .size = AT(symbol, bytes), .number = kind)
#define REGISTERS(symbol, pointer, bytes, kind) \
    ROW(symbol, .leave = obs_register_leave, .to = AT(symbol, pointer), .size = AT(symbol, bytes), .number = kind)
#define IMPORTS(symbol, pointer) \
    ROW(symbol, .leave = obs_import_leave, .to = AT(symbol, pointer), .number = MR_ALLOCATION_IMPORTED)
#define GLOBAL(symbol) ROW(symbol, .leave = obs_global_leave, .to = AT(symbol, dptr), .size = AT(symbol, bytes))
/* `waits`: 1 for a free that hardware lets wait for the context's work. */
#define FREES(symbol, pointer, waits) \
    ROW(symbol, .enter = obs_free_enter, .leave = obs_free_leave, .failed = obs_free_failed, \
        .to = AT(symbol, pointer), .number = waits)

/* `which`: 1 for libraries. */
#define UNLOADS(symbol, handle, which) \
    ROW(symbol, .enter = obs_unload_enter, .leave = obs_free_leave, .failed = obs_unload_failed, \
        .object = AT(symbol, handle), .number = which)

/* `mipmap`: 1 for mipmapped arrays. */
#define MAKES_ARRAY(symbol, pointer, mipmap) \
    ROW(symbol, .leave = obs_array_made_leave, .to = AT(symbol, pointer), .number = mipmap)
#define FREES_ARRAY(symbol, handle, mipmap) \
    ROW(symbol, .enter = obs_array_free_enter, .leave = obs_free_leave, .failed = obs_free_failed, \
        .to = AT(symbol, handle), .number = mipmap)

#define VALUE(symbol, operation) \
    ROW(symbol, .enter = obs_values_enter, .leave = obs_values_leave, .stream = AT(symbol, stream), \
        .to = AT(symbol, addr), .from = AT(symbol, value), .size = AT(symbol, flags), .number = operation)
#define VALUES(symbol) \
    ROW(symbol, .enter = obs_values_enter, .leave = obs_values_leave, .stream = AT(symbol, stream), \
        .object = AT(symbol, paramArray), .size = AT(symbol, count))

#define INSTANTIATES(symbol) \
    ROW(symbol, .leave = obs_instantiate_leave, .object = AT(symbol, phGraphExec), .from = AT(symbol, hGraph))
#define ADDS_NODE(symbol) \
    ROW(symbol, .leave = obs_node_added_leave, .object = AT(symbol, phGraphNode), .from = AT(symbol, nodeParams))
#define EXEC_EVENT(symbol) \
    ROW(symbol, .leave = obs_exec_event_leave, .object = AT(symbol, hGraphExec), .from = AT(symbol, hNode), \
        .to = AT(symbol, event))

/* `which`: 1 if the parameters are those of memory operations, 0 if of any node. */
#define EXEC_PARAMS(symbol, which) \
    ROW(symbol, .leave = obs_exec_params_leave, .object = AT(symbol, hGraphExec), .from = AT(symbol, hNode), \
        .to = AT(symbol, nodeParams), .number = which)
#define EXEC_UPDATE(symbol) \
    ROW(symbol, .leave = obs_exec_updated_leave, .object = AT(symbol, hGraphExec), .from = AT(symbol, hGraph))

#define ENDS_CONTEXT(symbol, ...) ROW(symbol, .enter = obs_context_enter, .leave = obs_context_end_leave, __VA_ARGS__)

const struct obs_family obs_families[MR_CALL_COUNT] = {
    WORK(cuLaunchKernel, hStream),
    WORK(cuLaunchCooperativeKernel, hStream),
    ROW(cuLaunchKernelEx, .leave = obs_launch_leave),
    WORK(cuLaunchGridAsync, hStream),
    WORK(cuLaunchHostFunc, hStream),
    WORK(cuStreamAddCallback, hStream),
    WORK(cuGraphLaunch, hStream),
    WORK(cuGraphUpload, hStream),
    WORK(cuMemsetD8Async, hStream),
    WORK(cuMemsetD16Async, hStream),
    WORK(cuMemsetD32Async, hStream),
    WORK(cuMemsetD2D8Async, hStream),
    WORK(cuMemsetD2D16Async, hStream),
    WORK(cuMemsetD2D32Async, hStream),
    WORK(cuMemcpyBatchAsync, hStream),
    WORK(cuMemcpyBatchAsync_v2, hStream),
    WORK(cuMemcpy3DBatchAsync, hStream),
    WORK(cuMemcpy3DBatchAsync_v2, hStream),

    ROW(cuEventCreate, .leave = obs_event_made_leave),
    ROW(cuIpcOpenEventHandle, .leave = obs_event_opened_leave),
    RECORD(cuEventRecord),
    RECORD(cuEventRecordWithFlags),
    ROW(cuStreamWaitEvent, .leave = obs_wait_leave, .stream = AT(cuStreamWaitEvent, hStream),
        .object = AT(cuStreamWaitEvent, hEvent)),
    KNOWN_EVENT(cuEventQuery),
    KNOWN_EVENT(cuEventSynchronize),
    ROW(cuEventDestroy_v2, .enter = obs_event_end_enter, .object = AT(cuEventDestroy_v2, hEvent)),
    ROW(cuCtxRecordEvent, .leave = obs_context_record_leave, .object = AT(cuCtxRecordEvent, hEvent),
        .to = AT(cuCtxRecordEvent, hCtx)),
    ROW(cuCtxWaitEvent, .leave = obs_context_wait_leave, .object = AT(cuCtxWaitEvent, hEvent),
        .to = AT(cuCtxWaitEvent, hCtx)),
    ROW(cuGreenCtxRecordEvent, .leave = obs_context_record_leave, .object = AT(cuGreenCtxRecordEvent, hEvent),
        .from = AT(cuGreenCtxRecordEvent, hCtx)),
    ROW(cuGreenCtxWaitEvent, .leave = obs_context_wait_leave, .object = AT(cuGreenCtxWaitEvent, hEvent),
        .from = AT(cuGreenCtxWaitEvent, hCtx)),

    KNOWN_STREAM(cuStreamQuery),
    KNOWN_STREAM(cuStreamSynchronize),
    ROW(cuCtxSynchronize, .enter = obs_context_enter, .leave = obs_known_leave),
    ROW(cuCtxSynchronize_v2, .enter = obs_context_enter, .leave = obs_known_leave, .to = AT(cuCtxSynchronize_v2, ctx)),
    ROW(cuStreamCreate, .leave = obs_stream_made_leave, .object = AT(cuStreamCreate, phStream)),
    ROW(cuStreamCreateWithPriority, .leave = obs_stream_made_leave, .object = AT(cuStreamCreateWithPriority, phStream)),
    ROW(cuGreenCtxStreamCreate, .leave = obs_stream_made_leave, .object = AT(cuGreenCtxStreamCreate, phStream),
        .from = AT(cuGreenCtxStreamCreate, greenCtx)),
    ROW(cuStreamDestroy_v2, .enter = obs_stream_end_enter, .leave = obs_stream_end_leave,
        .object = AT(cuStreamDestroy_v2, hStream)),
    ENDS_CONTEXT(cuCtxDestroy_v2, .to = AT(cuCtxDestroy_v2, ctx)),

    COPY_SYNC(cuMemcpy, dst, src),
    PEER(cuMemcpyPeer, obs_peer_enter, mr_default),
    COPY_SYNC(cuMemcpyHtoD_v2, dstDevice, srcHost),
    COPY_SYNC(cuMemcpyDtoH_v2, dstHost, srcDevice),
    COPY_SYNC(cuMemcpyDtoD_v2, dstDevice, srcDevice),
    TO_ARRAY(cuMemcpyDtoA_v2, obs_copy_enter, srcDevice, mr_default),
    TO_ARRAY(cuMemcpyHtoA_v2, obs_copy_enter, srcHost, mr_default),
    FROM_ARRAY(cuMemcpyAtoD_v2, obs_copy_enter, dstDevice, mr_default),
    FROM_ARRAY(cuMemcpyAtoH_v2, obs_copy_enter, dstHost, mr_default),
    WORK(cuMemcpyAtoA_v2, mr_default),
    COPY_ASYNC(cuMemcpyAsync, dst, src),
    PEER(cuMemcpyPeerAsync, obs_peer_async_enter, hStream),
    COPY_ASYNC(cuMemcpyHtoDAsync_v2, dstDevice, srcHost),
    COPY_ASYNC(cuMemcpyDtoHAsync_v2, dstHost, srcDevice),
    COPY_ASYNC(cuMemcpyDtoDAsync_v2, dstDevice, srcDevice),
    TO_ARRAY(cuMemcpyHtoAAsync_v2, obs_copy_async_enter, srcHost, hStream),
    FROM_ARRAY(cuMemcpyAtoHAsync_v2, obs_copy_async_enter, dstHost, hStream),
    BOX(cuMemcpy2D_v2, obs_box_enter, mr_default, 2),
    BOX(cuMemcpy2DUnaligned_v2, obs_box_enter, mr_default, 2),
    BOX(cuMemcpy3D_v2, obs_box_enter, mr_default, 3),
    BOX(cuMemcpy3DPeer, obs_box_enter, mr_default, 4),
    BOX(cuMemcpy2DAsync_v2, obs_box_async_enter, hStream, 2),
    BOX(cuMemcpy3DAsync_v2, obs_box_async_enter, hStream, 3),
    BOX(cuMemcpy3DPeerAsync, obs_box_async_enter, hStream, 4),
    FILL(cuMemsetD8_v2),
    FILL(cuMemsetD16_v2),
    FILL(cuMemsetD32_v2),
    FILL(cuMemsetD2D8_v2),
    FILL(cuMemsetD2D16_v2),
    FILL(cuMemsetD2D32_v2),

    ALLOCATES(cuMemAlloc_v2, dptr, bytesize, MR_ALLOCATION_DEVICE),
    ROW(cuMemAllocPitch_v2, .leave = obs_allocate_pitch_leave),
    ALLOCATES(cuMemAllocHost_v2, pp, bytesize, MR_ALLOCATION_PINNED),
    ALLOCATES(cuMemHostAlloc, pp, bytesize, MR_ALLOCATION_PINNED),
    ALLOCATES(cuMemAllocManaged, dptr, bytesize, MR_ALLOCATION_MANAGED),
    MAKES_ARRAY(cuArrayCreate_v2, pHandle, 0),
    MAKES_ARRAY(cuArray3DCreate_v2, pHandle, 0),
    MAKES_ARRAY(cuMipmappedArrayCreate, pHandle, 1),
    REGISTERS(cuMemHostRegister_v2, p, bytesize, MR_ALLOCATION_REGISTERED),
    IMPORTS(cuIpcOpenMemHandle_v2, pdptr),
    ROW(cuMemPoolExportPointer, .leave = obs_pointer_exported_leave),
    ROW(cuMemPoolImportPointer, .leave = obs_pointer_imported_leave),
    GLOBAL(cuModuleGetGlobal_v2),
    GLOBAL(cuLibraryGetGlobal),
    GLOBAL(cuLibraryGetManaged),
    ROW(cuMemAllocAsync, .leave = obs_allocate_async_leave, .stream = AT(cuMemAllocAsync, hStream),
        .to = AT(cuMemAllocAsync, dptr), .size = AT(cuMemAllocAsync, bytesize)),
    ROW(cuMemAllocFromPoolAsync, .leave = obs_allocate_async_leave, .stream = AT(cuMemAllocFromPoolAsync, hStream),
        .to = AT(cuMemAllocFromPoolAsync, dptr), .size = AT(cuMemAllocFromPoolAsync, bytesize)),
    ROW(cuMemFreeAsync, .enter = obs_free_async_enter, .leave = obs_free_leave, .failed = obs_free_failed,
        .stream = AT(cuMemFreeAsync, hStream), .to = AT(cuMemFreeAsync, dptr)),
    FREES(cuMemFree_v2, dptr, 1),
    FREES(cuMemFreeHost, p, 1),
    FREES(cuMemHostUnregister, p, 1),
    FREES(cuIpcCloseMemHandle, dptr, 1),
    FREES_ARRAY(cuArrayDestroy, hArray, 0),
    FREES_ARRAY(cuMipmappedArrayDestroy, hMipmappedArray, 1),
    ROW(cuMemCreate, .leave = obs_memory_made_leave, .to = AT(cuMemCreate, handle), .size = AT(cuMemCreate, size)),
    ROW(cuMemExportToShareableHandle, .leave = obs_memory_exported_leave),
    ROW(cuMemImportFromShareableHandle, .leave = obs_memory_imported_leave),
    ROW(cuMemRetainAllocationHandle, .leave = obs_memory_made_leave, .to = AT(cuMemRetainAllocationHandle, handle)),
    ROW(cuMemRelease, .leave = obs_memory_released_leave, .object = AT(cuMemRelease, handle)),
    ROW(cuMemMap, .leave = obs_map_leave),
    UNLOADS(cuModuleUnload, hmod, 0),
    UNLOADS(cuLibraryUnload, library, 1),
    ROW(cuMemUnmap, .enter = obs_unmap_enter, .leave = obs_free_leave, .failed = obs_free_leave),

    VALUE(cuStreamWriteValue32, CU_STREAM_MEM_OP_WRITE_VALUE_32),
    VALUE(cuStreamWriteValue32_v2, CU_STREAM_MEM_OP_WRITE_VALUE_32),
    VALUE(cuStreamWriteValue64, CU_STREAM_MEM_OP_WRITE_VALUE_64),
    VALUE(cuStreamWriteValue64_v2, CU_STREAM_MEM_OP_WRITE_VALUE_64),
    VALUE(cuStreamWaitValue32, CU_STREAM_MEM_OP_WAIT_VALUE_32),
    VALUE(cuStreamWaitValue32_v2, CU_STREAM_MEM_OP_WAIT_VALUE_32),
    VALUE(cuStreamWaitValue64, CU_STREAM_MEM_OP_WAIT_VALUE_64),
    VALUE(cuStreamWaitValue64_v2, CU_STREAM_MEM_OP_WAIT_VALUE_64),
    VALUES(cuStreamBatchMemOp),
    VALUES(cuStreamBatchMemOp_v2),

    INSTANTIATES(cuGraphInstantiate_v2),
    INSTANTIATES(cuGraphInstantiateWithFlags),
    INSTANTIATES(cuGraphInstantiateWithParams),
    ROW(cuGraphExecDestroy, .enter = obs_exec_end_enter, .object = AT(cuGraphExecDestroy, hGraphExec)),
    ADDS_NODE(cuGraphAddNode),
    ADDS_NODE(cuGraphAddNode_v2),
    EXEC_EVENT(cuGraphExecEventRecordNodeSetEvent),
    EXEC_EVENT(cuGraphExecEventWaitNodeSetEvent),
    EXEC_PARAMS(cuGraphExecBatchMemOpNodeSetParams, 1),
    EXEC_PARAMS(cuGraphExecNodeSetParams, 0),
    EXEC_UPDATE(cuGraphExecUpdate),
    EXEC_UPDATE(cuGraphExecUpdate_v2),
};
