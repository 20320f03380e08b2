/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the left columns of a matrix takes one column too many: that one belongs to a kernel in another stream. */
#include "race.h"

const int WIDTH = 256, HEIGHT = N / WIDTH;

__global__ void set_columns(int *matrix, int first, int count, int value)
{
    if (threadIdx.x < count)
        matrix[blockIdx.x * WIDTH + first + threadIdx.x] = value;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *matrix = new_buffer(), *pinned = new_pinned(), *column = new_buffer();
    cudaStream_t copies = new_stream(), kernels = new_stream();
    int left = mended ? WIDTH / 2 : WIDTH / 2 + 1;
    CHECK(cudaMemcpy2DAsync(matrix, WIDTH * sizeof(int), pinned, WIDTH * sizeof(int), left * sizeof(int), HEIGHT,
                            cudaMemcpyHostToDevice, copies));
    set_columns<<<HEIGHT, WIDTH, 0, kernels>>>(matrix, WIDTH / 2, WIDTH / 2, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2D(column, sizeof(int), matrix + WIDTH / 2, WIDTH * sizeof(int), sizeof(int), HEIGHT,
                       cudaMemcpyDeviceToDevice));
    return verdict_of_device(column, 1, HEIGHT);
}
