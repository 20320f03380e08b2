/* SPDX-License-Identifier: Apache-2.0 */
/* The host writes managed memory while a kernel works on it. */
#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a;
    cudaStream_t stream = new_stream();
    CHECK(cudaMallocManaged(&a, BYTES));
    std::memset(a, 0, BYTES);
    set<<<BLOCKS, THREADS, 0, stream>>>(a, 1);
    if (mended)
        CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        a[i] += 1;
    CHECK(cudaDeviceSynchronize());
    return verdict(a, 2);
}
