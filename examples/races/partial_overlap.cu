/* SPDX-License-Identifier: Apache-2.0 */
/* Two streams write neighbouring parts of a buffer. The first part is two bytes too long. */
#include "race.h"

__global__ void set_bytes(unsigned char *to, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = (unsigned char)value;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer();
    unsigned char *low = (unsigned char *)a, *high = low + BYTES / 2;
    int half = (int)(BYTES / 2), blocks = half / THREADS + 1;
    cudaStream_t first = new_stream(), second = new_stream();
    set_bytes<<<blocks, THREADS, 0, first>>>(low, mended ? half : half + 2, 1);
    set_bytes<<<blocks, THREADS, 0, second>>>(high, half, 2);
    return verdict_of_device(a + N / 2, 0x02020202, N / 2);
}
