/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of any kind through cudaGraphNodeParams, conditional handles, and instantiation with parameters. */
#include <string.h>

#include "libs/cudart/copy.h"
#include "libs/cudart/register.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "one layout");

/* Both structures have one size; kernels, copies, fills and conditionals differ inside. */
static cudaError_t convert(const struct cudaGraphNodeParams *from, CUgraphNodeParams *out)
{
    CUcontext context;
    CUkernel kernel;
    if (!from)
        return mr_rt_bad(cudaErrorInvalidValue, "the parameters of a node are NULL");
    memcpy(out, from, sizeof *out);
    cudaError_t status = (cudaError_t)mr_driver.cuCtxGetCurrent(&context);
    if (status != cudaSuccess)
        return status;
    switch (from->type) {
    case cudaGraphNodeTypeKernel:
        status = mr_rt_kernel(from->kernel.func, &kernel);
        out->kernel.func = NULL;
        out->kernel.kern = kernel;
        out->kernel.ctx = context;
        return status;
    case cudaGraphNodeTypeMemcpy:
        out->memcpy = (CUDA_MEMCPY_NODE_PARAMS){.flags = from->memcpy.flags, .copyCtx = context};
        return mr_rt_box(&from->memcpy.copyParams, &out->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        out->memset.ctx = context;
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        out->conditional.ctx = context;
        return cudaSuccess;
    default:
        return cudaSuccess;
    }
}

/* What adding a node writes back: the address of an allocation, the bodies of a conditional node. */
static void write_back(const CUgraphNodeParams *from, struct cudaGraphNodeParams *out)
{
    if (out->type == cudaGraphNodeTypeMemAlloc)
        out->alloc.dptr = (void *)(uintptr_t)from->alloc.dptr;
    else if (out->type == cudaGraphNodeTypeConditional)
        out->conditional.phGraph_out = from->conditional.phGraph_out;
}

cudaError_t mr_cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t status = convert(nodeParams, &params);
    if (status == cudaSuccess)
        status = (cudaError_t)mr_driver.cuGraphAddNode_v2(
            pGraphNode, graph, pDependencies, (const CUgraphEdgeData *)dependencyData, numDependencies, &params);
    if (status == cudaSuccess)
        write_back(&params, nodeParams);
    return status;
}

cudaError_t mr_cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t status = convert(nodeParams, &params);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuGraphNodeSetParams(node, &params) : status;
}

cudaError_t mr_cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                          struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t status = convert(nodeParams, &params);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuGraphExecNodeSetParams(graphExec, node, &params) : status;
}

cudaError_t mr_cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
                                                unsigned int defaultLaunchValue, unsigned int flags)
{
    CUcontext context;
    cudaError_t status = (cudaError_t)mr_driver.cuCtxGetCurrent(&context);
    if (status != cudaSuccess)
        return status;
    return (cudaError_t)mr_driver.cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)pHandle_out, graph,
                                                                 context, defaultLaunchValue, flags);
}

/* The answers go into the program's structure, whose upload stream stays as it was. */
cudaError_t mr_cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                              cudaGraphInstantiateParams *instantiateParams, bool per_thread)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    if (!instantiateParams)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaGraphInstantiateWithParams: instantiateParams is NULL");
    memcpy(&params, instantiateParams, sizeof params);
    if (per_thread)
        params.hUploadStream = MR_OWN_STREAM(params.hUploadStream);
    CUresult status = mr_driver.cuGraphInstantiateWithParams(pGraphExec, graph, &params);
    instantiateParams->errNode_out = params.hErrNode_out;
    instantiateParams->result_out = (cudaGraphInstantiateResult)params.result_out;
    return (cudaError_t)status;
}
