/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs whose parameters differ from the driver's: kernels by name, boxes, fills, symbols. All forms become
 * one driver structure in one place each. */
#include "libs/cudart/copy.h"
#include "libs/cudart/register.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* Two structures of which the driver's begins with the runtime's. */
_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS), "one layout");
_Static_assert(sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS), "one layout");
_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS), "one layout");
_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "one layout");
_Static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo), "one layout");
_Static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS), "one layout");

static cudaError_t current_context(CUcontext *out)
{
    return (cudaError_t)mr_driver.cuCtxGetCurrent(out);
}

/* Kernels. */

static cudaError_t kernel_params(const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *out)
{
    CUkernel kernel;
    if (!from)
        return mr_rt_bad(cudaErrorInvalidValue, "the parameters of a node are NULL");
    cudaError_t status = mr_rt_kernel(from->func, &kernel);
    if (status != cudaSuccess)
        return status;
    *out = (CUDA_KERNEL_NODE_PARAMS){.gridDimX = from->gridDim.x,
                                     .gridDimY = from->gridDim.y,
                                     .gridDimZ = from->gridDim.z,
                                     .blockDimX = from->blockDim.x,
                                     .blockDimY = from->blockDim.y,
                                     .blockDimZ = from->blockDim.z,
                                     .sharedMemBytes = from->sharedMemBytes,
                                     .kernelParams = from->kernelParams,
                                     .extra = from->extra,
                                     .kern = kernel};
    return current_context(&out->ctx);
}

cudaError_t mr_cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t status = kernel_params(pNodeParams, &params);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuGraphAddKernelNode_v2(pGraphNode, graph, pDependencies,
                                                                                  numDependencies, &params)
                                 : status;
}

/* The kernel's name is what it was registered with; one of a module or library that has none is named by its handle. */
cudaError_t mr_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS found;
    if (!pNodeParams)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaGraphKernelNodeGetParams: pNodeParams is NULL");
    CUresult status = mr_driver.cuGraphKernelNodeGetParams_v2(node, &found);
    if (status != CUDA_SUCCESS)
        return (cudaError_t)status;
    *pNodeParams = (struct cudaKernelNodeParams){.func = found.kern ? (void *)(uintptr_t)mr_rt_kernel_name(found.kern)
                                                                    : (void *)found.func,
                                                 .gridDim = {found.gridDimX, found.gridDimY, found.gridDimZ},
                                                 .blockDim = {found.blockDimX, found.blockDimY, found.blockDimZ},
                                                 .sharedMemBytes = found.sharedMemBytes,
                                                 .kernelParams = found.kernelParams,
                                                 .extra = found.extra};
    return cudaSuccess;
}

cudaError_t mr_cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t status = kernel_params(pNodeParams, &params);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuGraphKernelNodeSetParams_v2(node, &params) : status;
}

cudaError_t mr_cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t status = kernel_params(pNodeParams, &params);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuGraphExecKernelNodeSetParams_v2(hGraphExec, node, &params)
                                 : status;
}

/* Copies: a box, a line, to a symbol and from one. */

static cudaError_t line_to_symbol(const void *symbol, const void *src, size_t count, size_t offset,
                                  enum cudaMemcpyKind kind, CUDA_MEMCPY3D *out)
{
    void *place;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not go to a symbol", (int)kind);
    cudaError_t status = mr_rt_symbol_range(symbol, count, offset, &place);
    return status == cudaSuccess ? mr_rt_line(place, src, count, kind, out) : status;
}

static cudaError_t line_from_symbol(void *dst, const void *symbol, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, CUDA_MEMCPY3D *out)
{
    void *place;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not come from a symbol", (int)kind);
    cudaError_t status = mr_rt_symbol_range(symbol, count, offset, &place);
    return status == cudaSuccess ? mr_rt_line(dst, place, count, kind, out) : status;
}

/* What is left to do once the box is known. */
static cudaError_t add_copy(cudaError_t status, cudaGraphNode_t *node, cudaGraph_t graph,
                            const cudaGraphNode_t *dependencies, size_t count, const CUDA_MEMCPY3D *box)
{
    CUcontext context;
    if (status == cudaSuccess)
        status = current_context(&context);
    return status == cudaSuccess
               ? (cudaError_t)mr_driver.cuGraphAddMemcpyNode(node, graph, dependencies, count, box, context)
               : status;
}

static cudaError_t set_copy(cudaError_t status, cudaGraphNode_t node, const CUDA_MEMCPY3D *box)
{
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuGraphMemcpyNodeSetParams(node, box) : status;
}

static cudaError_t set_copy_exec(cudaError_t status, cudaGraphExec_t exec, cudaGraphNode_t node,
                                 const CUDA_MEMCPY3D *box)
{
    CUcontext context;
    if (status == cudaSuccess)
        status = current_context(&context);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuGraphExecMemcpyNodeSetParams(exec, node, box, context)
                                 : status;
}

cudaError_t mr_cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      const struct cudaMemcpy3DParms *pCopyParams)
{
    CUDA_MEMCPY3D box;
    return add_copy(mr_rt_box(pCopyParams, &box), pGraphNode, graph, pDependencies, numDependencies, &box);
}

cudaError_t mr_cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst,
                                        const void *src, size_t count, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return add_copy(mr_rt_line(dst, src, count, kind, &box), pGraphNode, graph, pDependencies, numDependencies, &box);
}

cudaError_t mr_cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                              const void *symbol, const void *src, size_t count, size_t offset,
                                              enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return add_copy(line_to_symbol(symbol, src, count, offset, kind, &box), pGraphNode, graph, pDependencies,
                    numDependencies, &box);
}

cudaError_t mr_cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst,
                                                const void *symbol, size_t count, size_t offset,
                                                enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return add_copy(line_from_symbol(dst, symbol, count, offset, kind, &box), pGraphNode, graph, pDependencies,
                    numDependencies, &box);
}

cudaError_t mr_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D box;
    if (!pNodeParams)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaGraphMemcpyNodeGetParams: pNodeParams is NULL");
    CUresult status = mr_driver.cuGraphMemcpyNodeGetParams(node, &box);
    if (status == CUDA_SUCCESS)
        mr_rt_box_back(&box, pNodeParams);
    return (cudaError_t)status;
}

cudaError_t mr_cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D box;
    return set_copy(mr_rt_box(pNodeParams, &box), node, &box);
}

cudaError_t mr_cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t count,
                                              enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return set_copy(mr_rt_line(dst, src, count, kind, &box), node, &box);
}

cudaError_t mr_cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src,
                                                    size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return set_copy(line_to_symbol(symbol, src, count, offset, kind, &box), node, &box);
}

cudaError_t mr_cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol, size_t count,
                                                      size_t offset, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return set_copy(line_from_symbol(dst, symbol, count, offset, kind, &box), node, &box);
}

cudaError_t mr_cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                const struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D box;
    return set_copy_exec(mr_rt_box(pNodeParams, &box), hGraphExec, node, &box);
}

cudaError_t mr_cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                                  const void *src, size_t count, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return set_copy_exec(mr_rt_line(dst, src, count, kind, &box), hGraphExec, node, &box);
}

cudaError_t mr_cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                        const void *symbol, const void *src, size_t count,
                                                        size_t offset, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return set_copy_exec(line_to_symbol(symbol, src, count, offset, kind, &box), hGraphExec, node, &box);
}

cudaError_t mr_cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                                          const void *symbol, size_t count, size_t offset,
                                                          enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D box;
    return set_copy_exec(line_from_symbol(dst, symbol, count, offset, kind, &box), hGraphExec, node, &box);
}

/* Fills. */

cudaError_t mr_cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      const struct cudaMemsetParams *pMemsetParams)
{
    CUcontext context;
    cudaError_t status = current_context(&context);
    return status == cudaSuccess
               ? (cudaError_t)mr_driver.cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies,
                                                             (const CUDA_MEMSET_NODE_PARAMS *)pMemsetParams, context)
               : status;
}

cudaError_t mr_cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                const struct cudaMemsetParams *pNodeParams)
{
    CUcontext context;
    cudaError_t status = current_context(&context);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuGraphExecMemsetNodeSetParams(
                                       hGraphExec, node, (const CUDA_MEMSET_NODE_PARAMS *)pNodeParams, context)
                                 : status;
}
