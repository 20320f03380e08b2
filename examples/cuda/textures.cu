/* SPDX-License-Identifier: Apache-2.0 */
/* A texture over an array, read between its points, and a surface that a kernel writes. */
#include <cmath>
#include <vector>

#include "check.h"

static const int width = 16, height = 8;

__global__ void sample(cudaTextureObject_t texture, float *out, float by)
{
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<float>(texture, x + 0.5f + by, y + 0.5f);
}

__global__ void turn(cudaTextureObject_t texture, cudaSurfaceObject_t surface)
{
    int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(tex2D<float>(texture, width - x - 0.5f, height - y - 0.5f), surface, x * (int)sizeof(float), y);
}

int main()
{
    std::vector<float> in(width * height), out(width * height);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t image, turned;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    float *sampled;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            in[y * width + x] = (float)(x * x + 100 * y);
    CHECK(cudaMallocArray(&image, &format, width, height));
    CHECK(cudaMallocArray(&turned, &format, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(image, 0, 0, in.data(), width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));
    CHECK(cudaMallocManaged(&sampled, width * height * sizeof(float)));

    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = image;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    resource.res.array.array = turned;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));

    sample<<<1, dim3(width, height)>>>(texture, sampled, 0.5f); /* half way to the next: the mean of both */
    turn<<<1, dim3(width, height)>>>(texture, surface);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2DFromArray(out.data(), width * sizeof(float), turned, 0, 0, width * sizeof(float), height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float here = in[y * width + x], next = in[y * width + (x + 1 < width ? x + 1 : x)];
            EXPECT(std::fabs(sampled[y * width + x] - 0.5f * (here + next)) < 0.01f);
            EXPECT(out[y * width + x] == in[(height - 1 - y) * width + width - 1 - x]);
        }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(image));
    CHECK(cudaFreeArray(turned));
    CHECK(cudaFree(sampled));
    std::printf("textures: %d samples\n", width * height);
    return 0;
}
