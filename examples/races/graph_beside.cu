/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel reads what a graph writes that was launched in another stream. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t done = new_event();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    set<<<BLOCKS, THREADS, 0, stream>>>(a, 1);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(done, stream));
    if (mended)
        CHECK(cudaStreamWaitEvent(other, done));
    add<<<BLOCKS, THREADS, 0, other>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
