/* SPDX-License-Identifier: Apache-2.0 */
/* Each host thread has a default stream of its own (cudaStreamPerThread). Two of them are not ordered, even if the threads
 * are. */
#include "race.h"

#include <thread>

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    CHECK(cudaMemsetAsync(b, 0, BYTES, cudaStreamPerThread)); /* from its first work on, it and the legacy stream wait for each other */
    std::thread writer([=] { set<<<BLOCKS, THREADS, 0, mended ? cudaStreamLegacy : cudaStreamPerThread>>>(a, 1); });
    writer.join();
    add<<<BLOCKS, THREADS, 0, cudaStreamPerThread>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
