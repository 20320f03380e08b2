/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: making, launching, updating, destroying (driver API manual, Graph Management). Plans and runs are
 * src/graph/exec*.c's; setting single nodes' parameters is in graph_exec_params.c. Statuses are those that hardware
 * gave (tests/golden). */
#include <string.h>

#include "api/graph/graph_exec.h"
#include "api_impl.h"
#include "base/call.h"
#include "capture/capture.h"
#include "graph/exec.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

#define KNOWN_FLAGS \
    (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | \
     CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

CUresult mr_exec_require(CUgraphExec handle, struct mr_exec **out)
{
    *out = mr_object_acquire(handle, MR_KIND_GRAPH_EXEC);
    return *out ? CUDA_SUCCESS : mr_bad_value("%p is not a live executable graph", (void *)handle);
}

/* ---- making ---- */

static CUresult check_flags(unsigned long long flags, bool upload)
{
    if (flags & ~(unsigned long long)KNOWN_FLAGS)
        return mr_bad_value("unknown flags 0x%llx", flags);
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) && !upload)
        return mr_bad_value("only cuGraphInstantiateWithParams uploads");
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) &&
        (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
        return mr_bad_value("a graph for launches from the device can't free on launch");
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
        mr_call_log(MR_LOG_INFO, "graphs can't be launched from kernels");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

static const char *why(CUgraphInstantiateResult result)
{
    switch ((int)result) {
    case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
        return "the graph has a cycle";
    case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
        return "a node can't be where it is";
    case CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
        return "a conditional handle has no node";
    default:
        return "memory is short, or its memory nodes belong to another executable graph";
    }
}

static CUresult instantiate(CUgraphExec *out, CUgraph handle, unsigned long long flags, bool upload,
                            struct mr_exec_problem *problem)
{
    struct mr_context *context;
    struct mr_graph *graph;
    struct mr_exec *exec;
    *problem = (struct mr_exec_problem){.result = CUDA_GRAPH_INSTANTIATE_ERROR};
    if (!out)
        return mr_bad_value("phGraphExec is NULL");
    CUresult status = mr_graph_require(handle, &graph);
    if (status == CUDA_SUCCESS)
        status = check_flags(flags, upload);
    if (status == CUDA_SUCCESS && graph->parent) {
        mr_call_log(MR_LOG_INFO, "graph %p belongs to a node", (void *)handle);
        status = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (status == CUDA_SUCCESS)
        status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_exec_new(graph, flags & ~(unsigned long long)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD, &exec, problem);
    if (status != CUDA_SUCCESS) {
        mr_call_log(MR_LOG_INFO, "%s", why(problem->result));
        return status;
    }
    *out = mr_object_handle(exec);
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    struct mr_exec_problem problem;
    return instantiate(phGraphExec, hGraph, flags, false, &problem);
}

CUresult mr_cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                                  size_t bufferSize)
{
    struct mr_exec_problem problem;
    CUresult status = instantiate(phGraphExec, hGraph, 0, false, &problem);
    if (phErrorNode)
        *phErrorNode = problem.node;
    if (logBuffer && bufferSize > 0) {
        const char *text = status == CUDA_SUCCESS ? "" : why(problem.result);
        size_t length = strlen(text) < bufferSize ? strlen(text) : bufferSize - 1;
        memcpy(logBuffer, text, length);
        logBuffer[length] = '\0';
    }
    return status;
}

/* What was begun goes into the stream, and is ended. */
static CUresult submit(struct mr_exec *exec, struct mr_stream *stream, struct mr_exec_launch *launch)
{
    CUresult status = CUDA_SUCCESS;
    if (launch->wait)
        status = mr_stream_submit(stream, launch->wait);
    mr_command_weigh(launch->command, 0);
    if (status == CUDA_SUCCESS)
        status = mr_stream_submit(stream, launch->command);
    else
        mr_command_free(launch->command);
    mr_exec_launch_end(exec, launch, status == CUDA_SUCCESS);
    return status;
}

static CUresult upload(struct mr_exec *exec, CUstream handle)
{
    struct mr_stream *stream;
    struct mr_exec_launch launch;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_refuse(stream);
    if (status == CUDA_SUCCESS)
        status = mr_exec_upload_begin(exec, stream, &launch);
    if (status != CUDA_SUCCESS || !launch.command)
        return status;
    status = submit(exec, stream, &launch);
    mr_stream_hold_back(stream);
    return status;
}

CUresult mr_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                         CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    struct mr_exec_problem problem;
    struct mr_exec *exec;
    if (!instantiateParams)
        return mr_bad_value("instantiateParams is NULL");
    CUresult status = instantiate(phGraphExec, hGraph, instantiateParams->flags, true, &problem);
    if (status == CUDA_SUCCESS && (instantiateParams->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)) {
        status = mr_exec_require(*phGraphExec, &exec);
        if (status == CUDA_SUCCESS) {
            status = upload(exec, instantiateParams->hUploadStream);
            if (status != CUDA_SUCCESS) {
                problem.result = CUDA_GRAPH_INSTANTIATE_ERROR;
                (void)mr_exec_destroy(exec);
            }
            mr_object_drop(exec);
        }
    }
    instantiateParams->hErrNode_out = problem.node;
    instantiateParams->result_out = problem.result;
    return status;
}

CUresult mr_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    struct mr_exec *exec;
    if (!flags)
        return mr_bad_value("flags is NULL");
    CUresult status = mr_exec_require(hGraphExec, &exec);
    if (status != CUDA_SUCCESS)
        return status;
    *flags = exec->flags & ~(cuuint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY; /* which hardware doesn't tell */
    mr_object_drop(exec);
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    struct mr_exec *exec;
    CUresult status = mr_exec_require(hGraphExec, &exec);
    if (status != CUDA_SUCCESS)
        return status;
    if (!mr_exec_destroy(exec))
        status = CUDA_ERROR_INVALID_VALUE;
    mr_object_drop(exec);
    return status;
}

/* ---- launching ---- */

CUresult mr_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    struct mr_exec *exec;
    CUresult status = mr_exec_require(hGraph, &exec);
    if (status != CUDA_SUCCESS)
        return status;
    status = upload(exec, hStream);
    mr_object_drop(exec);
    return status;
}

static CUresult launch(struct mr_exec *exec, struct mr_stream *stream)
{
    struct mr_exec_launch launch;
    CUresult status = mr_exec_launch_begin(exec, stream, mr_stream_context(stream), &launch);
    if (status != CUDA_SUCCESS)
        return status;
    status = submit(exec, stream, &launch);
    if (launch.end) {
        if (!mr_in_host_function) /* which the work may be behind */
            status = mr_mark_wait(launch.end, mr_stream_context(stream), 0);
        mr_mark_drop(launch.end);
    } else {
        mr_stream_hold_back(stream);
    }
    return status;
}

CUresult mr_cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    struct mr_exec *exec;
    struct mr_stream *stream;
    /* What a capture says comes first; hardware doesn't make a child node of a launch. */
    CUresult status = mr_capture_open() && mr_stream_find(hStream, &stream) == CUDA_SUCCESS ? mr_capture_refuse(stream)
                                                                                            : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS)
        status = mr_exec_require(hGraph, &exec);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_stream_find(hStream, &stream);
    if (status == CUDA_SUCCESS)
        status = launch(exec, stream);
    mr_object_drop(exec);
    return status;
}

/* ---- updating ---- */

static CUresult update(CUgraphExec exec_handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo *info)
{
    struct mr_exec *exec;
    struct mr_graph *graph;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUresult status = mr_exec_require(exec_handle, &exec);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_graph_require(graph_handle, &graph);
    if (status == CUDA_SUCCESS) {
        status = mr_exec_update(exec, graph, info);
        if (status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
            mr_call_log(MR_LOG_INFO, "refused, result %d, node %p", (int)info->result, (void *)info->errorNode);
    }
    mr_object_drop(exec);
    return status;
}

CUresult mr_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    CUgraphExecUpdateResultInfo info;
    CUresult status = update(hGraphExec, hGraph, &info);
    if (resultInfo)
        *resultInfo = info;
    return status;
}

/* The first version knows no difference in shape without a node to blame. */
CUresult mr_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                              CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info;
    CUresult status = update(hGraphExec, hGraph, &info);
    if (info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED && !info.errorNode)
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    if (updateResult_out)
        *updateResult_out = info.result;
    return status;
}
