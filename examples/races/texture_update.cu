/* SPDX-License-Identifier: Apache-2.0 */
/* The array behind a texture is filled again while a kernel may still fetch from it. */
#include "race.h"

const int WIDTH = 256, HEIGHT = N / WIDTH;

__global__ void fetch(int *to, cudaTextureObject_t texture)
{
    to[blockIdx.x * WIDTH + threadIdx.x] = tex2D<int>(texture, threadIdx.x, blockIdx.x);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *first = new_pinned(), *second = new_pinned();
    cudaStream_t kernels = new_stream(), updates = new_stream();
    cudaEvent_t used = new_event();
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    for (int i = 0; i < N; i++) {
        first[i] = 1;
        second[i] = 2;
    }
    CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    description.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, first, WIDTH * sizeof(int), WIDTH * sizeof(int), HEIGHT, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    fetch<<<HEIGHT, WIDTH, 0, kernels>>>(a, texture);
    CHECK(cudaEventRecord(used, kernels));
    if (mended)
        CHECK(cudaStreamWaitEvent(updates, used));
    CHECK(cudaMemcpy2DToArrayAsync(array, 0, 0, second, WIDTH * sizeof(int), WIDTH * sizeof(int), HEIGHT,
                                   cudaMemcpyHostToDevice, updates));
    return verdict_of_device(a, 1);
}
