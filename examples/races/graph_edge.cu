/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes of a graph depend on each other, and no edge says so. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer(), one = 1;
    cudaGraph_t graph;
    cudaGraphNode_t write, read;
    cudaGraphExec_t exec;
    void *write_arguments[] = {&a, &one}, *read_arguments[] = {&b, &a, &one};
    cudaKernelNodeParams params = {};
    CHECK(cudaGraphCreate(&graph, 0));
    params.gridDim = dim3(BLOCKS);
    params.blockDim = dim3(THREADS);
    params.func = (void *)set;
    params.kernelParams = write_arguments;
    CHECK(cudaGraphAddKernelNode(&write, graph, nullptr, 0, &params));
    params.func = (void *)add;
    params.kernelParams = read_arguments;
    CHECK(cudaGraphAddKernelNode(&read, graph, mended ? &write : nullptr, mended ? 1 : 0, &params));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, new_stream()));
    return verdict_of_device(b, 2);
}
