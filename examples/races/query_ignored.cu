/* SPDX-License-Identifier: Apache-2.0 */
/* The program asks whether the work is done, and goes on whatever the answer is. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t writer = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event();
    set<<<BLOCKS, THREADS, 0, writer>>>(a, 1);
    CHECK(cudaEventRecord(written, writer));
    if (mended)
        while (cudaEventQuery(written) == cudaErrorNotReady) {
        }
    else if (cudaEventQuery(written) == cudaErrorNotReady)
        std::fprintf(stderr, "not ready yet\n");
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
