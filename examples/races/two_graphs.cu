/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of one executable graph are ordered; two executable graphs made of the same graph are not. Both use the same
 * memory for what lies between their kernels. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *between = new_buffer();
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaGraph_t graph;
    cudaGraphExec_t first, second;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<BLOCKS, THREADS, 0, stream>>>(between, a, 1);
    add<<<BLOCKS, THREADS, 0, stream>>>(a, between, 1);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&first, graph, 0));
    CHECK(cudaGraphInstantiate(&second, graph, 0));
    CHECK(cudaGraphLaunch(first, stream));
    CHECK(cudaGraphLaunch(mended ? first : second, other));
    return verdict_of_device(a, 4);
}
