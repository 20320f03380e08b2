/* SPDX-License-Identifier: Apache-2.0 */
/* Capture: the functions that begin and end it, ask about it, and change what comes next (driver API manual, Stream
 * Management).
 *
 * What captured work becomes is in capture_work.c; the rules of captures are in src/capture. */
#include "api_impl.h"
#include "base/call.h"
#include "capture/capture.h"
#include "graph/graph.h"
#include "prepare/check.h"
#include "stream/stream.h"

static bool is_mode(CUstreamCaptureMode mode)
{
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
           mode == CU_STREAM_CAPTURE_MODE_RELAXED;
}

/* What every beginning checks. */
static CUresult begin_check(CUstream handle, CUstreamCaptureMode mode, struct mr_stream **out)
{
    CUresult status = mr_stream_resolve(handle, out);
    if (status != CUDA_SUCCESS)
        return status;
    if (!is_mode(mode))
        return mr_bad_value("%d is not one of CU_STREAM_CAPTURE_MODE_*", (int)mode);
    if (mr_stream_is_legacy(*out)) {
        status = mr_capture_refuse(*out);
        if (status != CUDA_SUCCESS)
            return status;
        mr_call_log(MR_LOG_INFO, "the legacy stream can't be captured");
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return CUDA_SUCCESS;
}

CUresult mr_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    struct mr_stream *stream;
    CUresult status = begin_check(hStream, mode, &stream);
    return status == CUDA_SUCCESS ? mr_capture_begin(stream, mode, NULL, NULL, NULL, 0) : status;
}

/* The first version had no modes, and forbids nothing to anybody. */
CUresult mr_cuStreamBeginCapture(CUstream hStream)
{
    return mr_cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

CUresult mr_cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                                        const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                        CUstreamCaptureMode mode)
{
    struct mr_stream *stream;
    if (!hGraph)
        return mr_bad_value("hGraph is NULL");
    CUresult status = begin_check(hStream, mode, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_graph *graph = mr_object_find(hGraph, MR_KIND_GRAPH);
    if (!graph)
        return mr_bad_value("%p is not a live graph", (void *)hGraph);
    if (numDependencies && !dependencies)
        return mr_bad_value("there are %zu dependencies, and the pointer to them is NULL", numDependencies);
    for (size_t i = 0; i < numDependencies; i++) {
        struct mr_node *node = mr_object_find(dependencies[i], MR_KIND_GRAPH_NODE);
        if (!node || node->graph != graph)
            return mr_bad_value("dependency %zu, %p, is not a node of the graph", i, (void *)dependencies[i]);
    }
    return mr_capture_begin(stream, mode, graph, dependencies, dependencyData, numDependencies);
}

/* phGraph may be NULL, as on hardware: a graph that the capture made goes then. */
CUresult mr_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_resolve(hStream, &stream);
    return status == CUDA_SUCCESS ? mr_capture_end(stream, phGraph) : status;
}

CUresult mr_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (!mode)
        return mr_bad_value("mode is NULL");
    if (!is_mode(*mode)) /* hardware takes it, and gives it back the next time */
        mr_call_log(MR_LOG_INFO, "%d is not one of CU_STREAM_CAPTURE_MODE_*, and counts as global mode", (int)*mode);
    *mode = mr_capture_exchange_mode(*mode);
    return CUDA_SUCCESS;
}

/* ---- asking ---- */

static CUresult ask(CUstream handle, const void *result, struct mr_capture_info *info)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (!result)
        return mr_bad_value("the pointer for the status is NULL");
    return mr_capture_ask(stream, info);
}

CUresult mr_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    struct mr_capture_info info;
    CUresult status = ask(hStream, captureStatus, &info);
    if (status == CUDA_SUCCESS)
        *captureStatus = info.status;
    return status;
}

/* Apart from the status, results are set for a stream that is being captured only. */
CUresult mr_cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                      CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                      const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    struct mr_capture_info info;
    CUresult status = ask(hStream, captureStatus_out, &info);
    if (status != CUDA_SUCCESS)
        return status;
    *captureStatus_out = info.status;
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (edgeData_out && !dependencies_out)
        return mr_bad_value("edgeData_out needs dependencies_out");
    if (id_out)
        *id_out = info.id;
    if (graph_out)
        *graph_out = info.graph;
    if (dependencies_out)
        *dependencies_out = info.nodes;
    if (dependencies_out && !edgeData_out && !info.plain) {
        mr_call_log(MR_LOG_INFO, "dependencies carry data, and the call has no place for it");
        return CUDA_ERROR_LOSSY_QUERY;
    }
    if (edgeData_out)
        *edgeData_out = info.data;
    if (numDependencies_out)
        *numDependencies_out = info.count;
    return CUDA_SUCCESS;
}

CUresult mr_cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                      CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                      size_t *numDependencies_out)
{
    return mr_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out, dependencies_out, NULL,
                                        numDependencies_out);
}

CUresult mr_cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out)
{
    return mr_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, NULL, NULL, NULL, NULL);
}

/* ---- changing ---- */

CUresult mr_cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                 const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                                 unsigned int flags)
{
    struct mr_stream *stream;
    bool captured;
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_route(stream, &captured);
    if (status != CUDA_SUCCESS)
        return status;
    if (!captured)
        return mr_capture_update(stream, NULL, NULL, 0, true);
    if (flags != CU_STREAM_ADD_CAPTURE_DEPENDENCIES && flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return mr_bad_value("flags are %#x and must be one of CU_STREAM_*_CAPTURE_DEPENDENCIES", flags);
    if (numDependencies && !dependencies)
        return mr_bad_value("there are %zu dependencies, and the pointer to them is NULL", numDependencies);
    return mr_capture_update(stream, dependencies, dependencyData, numDependencies,
                             flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
}

CUresult mr_cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies, size_t numDependencies,
                                              unsigned int flags)
{
    return mr_cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies, flags);
}
