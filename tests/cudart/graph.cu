// SPDX-License-Identifier: Apache-2.0
// Graphs: nodes of all kinds by both interfaces, changes of executable graphs, updates, conditional nodes, capture of kernels.
#include <string.h>

#include "expect.h"

__device__ int symbol;

__global__ void add(int *data, int by)
{
    data[threadIdx.x] += by;
}

__global__ void times(int *data, int by)
{
    data[threadIdx.x] *= by;
}

__global__ void count_down(int *data, cudaGraphConditionalHandle handle)
{
    cudaGraphSetConditional(handle, --data[0] > 0);
    data[1]++;
}

static void host_function(void *user)
{
    ++*(int *)user;
}

static void test_nodes()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, kernel, second, copy, host, to, from, found;
    int *data, back[4] = {}, called = 0, given = 30, seen = 0, by = 4;
    OK(cudaMalloc(&data, 16));
    OK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams set = {};
    set.dst = data;
    set.elementSize = 4;
    set.value = 1;
    set.width = 4;
    set.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    void *arguments[] = { &data, &by };
    cudaKernelNodeParams launch = {};
    launch.func = (void *)add;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(4);
    launch.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
    cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeKernel;
    any.kernel.func = (void *)times;
    any.kernel.gridDim = dim3(1);
    any.kernel.blockDim = dim3(4);
    any.kernel.kernelParams = arguments;
    OK(cudaGraphAddNode(&second, graph, &kernel, nullptr, 1, &any));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, back, data, 16, cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = { host_function, &called };
    OK(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, symbol, &given, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, &seen, symbol, 4, 0, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaStreamSynchronize(0));
    HOLDS(back[0] == 20 && back[3] == 20 && called == 1 && seen == 30);

    cudaKernelNodeParams got;
    OK(cudaGraphKernelNodeGetParams(kernel, &got));
    HOLDS(got.func == (void *)add && got.blockDim.x == 4);
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(from, &type));
    HOLDS(type == cudaGraphNodeTypeMemcpy);
    cudaMemcpy3DParms box;
    OK(cudaGraphMemcpyNodeGetParams(copy, &box));
    HOLDS(box.dstPtr.ptr == back && box.extent.width == 16 && box.kind == cudaMemcpyDeviceToHost);
    size_t edges = 0;
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    HOLDS(edges == 5);

    by = 9;
    OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
    OK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, back + 2, data, 8, cudaMemcpyDeviceToHost));
    OK(cudaGraphNodeSetEnabled(exec, second, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaStreamSynchronize(0));
    HOLDS(back[0] == 20 && back[2] == 10 && called == 2);

    cudaGraph_t clone;
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&found, kernel, clone));
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, clone, &info));
    HOLDS(info.result == cudaGraphExecUpdateSuccess);
    launch.func = (void *)&called;
    GIVES(cudaErrorInvalidResourceHandle, cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch));
    GIVES(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&copy, graph, nullptr, 0, nullptr));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(data));
}

static void test_memory_nodes()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t allocate, fill, copy, release;
    int back = 0;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeMemAlloc;
    any.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    any.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    any.alloc.bytesize = 64;
    OK(cudaGraphAddNode(&allocate, graph, nullptr, nullptr, 0, &any));
    void *memory = any.alloc.dptr;
    HOLDS(memory != nullptr);
    any = {};
    any.type = cudaGraphNodeTypeMemset;
    any.memset.dst = memory;
    any.memset.value = 0x21;
    any.memset.elementSize = 1;
    any.memset.width = 64;
    any.memset.height = 1;
    OK(cudaGraphAddNode(&fill, graph, &allocate, nullptr, 1, &any));
    any = {};
    any.type = cudaGraphNodeTypeMemcpy;
    any.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(memory, 4, 4, 1);
    any.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(&back, 4, 4, 1);
    any.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
    any.memcpy.copyParams.kind = cudaMemcpyDefault;
    OK(cudaGraphAddNode(&copy, graph, &fill, nullptr, 1, &any));
    OK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, memory));
    cudaGraphInstantiateParams params = {};
    OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
    HOLDS(params.result_out == cudaGraphInstantiateSuccess);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaStreamSynchronize(0));
    HOLDS(back == 0x21212121);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void test_while()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, inner;
    cudaGraphConditionalHandle handle;
    int *data, back[2] = { 5, 0 };
    OK(cudaMalloc(&data, 8));
    OK(cudaMemcpy(data, back, 8, cudaMemcpyHostToDevice));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeConditional;
    any.conditional.handle = handle;
    any.conditional.type = cudaGraphCondTypeWhile;
    any.conditional.size = 1;
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &any));
    void *arguments[] = { &data, &handle };
    cudaKernelNodeParams launch = {};
    launch.func = (void *)count_down;
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&inner, any.conditional.phGraph_out[0], nullptr, 0, &launch));
    OK(cudaGraphInstantiate(&exec, graph));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(back, data, 8, cudaMemcpyDeviceToHost));
    HOLDS(back[0] == 0 && back[1] == 5);
    /* An executable graph outlives the graph it is made of, and a run both. */
    OK(cudaGraphDestroy(graph));
    for (int run = 0; run < 2; run++) {
        back[0] = 7, back[1] = 0;
        OK(cudaMemcpy(data, back, 8, cudaMemcpyHostToDevice));
        OK(cudaGraphLaunch(exec, 0));
        if (run == 1)
            OK(cudaGraphExecDestroy(exec));
        OK(cudaMemcpy(back, data, 8, cudaMemcpyDeviceToHost));
        HOLDS(back[0] == 0 && back[1] == 7);
    }
    OK(cudaFree(data));
}

static void test_capture()
{
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *data, back[4];
    OK(cudaMalloc(&data, 16));
    OK(cudaMemset(data, 0, 16));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&side));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 4, 0, stream>>>(data, 3);
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(side, fork));
    times<<<1, 2, 0, side>>>(data, 5);
    times<<<1, 2, 0, stream>>>(data + 2, 7);
    OK(cudaEventRecord(join, side));
    OK(cudaStreamWaitEvent(stream, join));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph));
    OK(cudaGraphUpload(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(back, data, 16, cudaMemcpyDeviceToHost));
    HOLDS(back[0] == 90 && back[1] == 90 && back[2] == 168 && back[3] == 168);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(side));
    OK(cudaFree(data));
}

int main()
{
    test_nodes();
    test_memory_nodes();
    test_while();
    test_capture();
    return finish();
}
