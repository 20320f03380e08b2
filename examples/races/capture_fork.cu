/* SPDX-License-Identifier: Apache-2.0 */
/* A capture forks into a second stream one kernel too early, so that the graph lacks an edge. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t stream = new_stream(), side = new_stream();
    cudaEvent_t fork = new_event(), join = new_event();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (!mended)
        CHECK(cudaEventRecord(fork, stream));
    set<<<BLOCKS, THREADS, 0, stream>>>(a, 1);
    if (mended)
        CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork));
    add<<<BLOCKS, THREADS, 0, side>>>(b, a, 1);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    return verdict_of_device(b, 2);
}
