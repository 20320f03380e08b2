// SPDX-License-Identifier: Apache-2.0
// Arrays, and texture and surface objects that read and write them.
#include <string.h>

#include "expect.h"

__global__ void read_2d(cudaTextureObject_t from, float *out, int width)
{
    out[threadIdx.y * width + threadIdx.x] = tex2D<float>(from, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}

__global__ void read_1d(cudaTextureObject_t from, int *out)
{
    out[threadIdx.x] = tex1Dfetch<int>(from, threadIdx.x);
}

__global__ void write_2d(cudaSurfaceObject_t to)
{
    surf2Dwrite<float>(threadIdx.x * 10.0f + threadIdx.y, to, threadIdx.x * sizeof(float), threadIdx.y);
}

static const int W = 8, H = 4;

static void test_array()
{
    cudaArray_t array;
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>(), found;
    cudaExtent extent;
    unsigned flags = 1;
    float from[H][W], to[H][W];
    HOLDS(one.x == 32 && one.y == 0 && one.f == cudaChannelFormatKindFloat);
    for (int i = 0; i < W * H; i++)
        from[i / W][i % W] = (float)i;
    OK(cudaMallocArray(&array, &one, W, H));
    OK(cudaArrayGetInfo(&found, &extent, &flags, array));
    HOLDS(found.x == 32 && found.w == 0 && found.f == cudaChannelFormatKindFloat && extent.width == W && extent.height == H && extent.depth == 0 && flags == 0);
    OK(cudaGetChannelDesc(&found, array));
    HOLDS(memcmp(&found, &one, sizeof one) == 0);
    OK(cudaMemcpy2DToArray(array, 0, 0, from, sizeof from[0], sizeof from[0], H, cudaMemcpyHostToDevice));
    memset(to, 0, sizeof to);
    OK(cudaMemcpy2DFromArray(to, sizeof to[0], array, 0, 0, sizeof to[0], H, cudaMemcpyDeviceToHost));
    HOLDS(memcmp(from, to, sizeof to) == 0);
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy2DToArray(array, 0, 0, from, sizeof from[0], sizeof from[0], H, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2DToArray(array, 0, 0, from, 4, sizeof from[0], H, cudaMemcpyHostToDevice));

    /* A box: positions in the array and its width are counted in elements. */
    cudaMemcpy3DParms box = {};
    box.srcArray = array;
    box.srcPos = make_cudaPos(2, 1, 0);
    box.dstPtr = make_cudaPitchedPtr(to, sizeof to[0], sizeof to[0], H);
    box.extent = make_cudaExtent(3, 2, 1);
    box.kind = cudaMemcpyDeviceToHost;
    memset(to, 0, sizeof to);
    OK(cudaMemcpy3D(&box));
    HOLDS(to[0][0] == from[1][2] && to[0][2] == from[1][4] && to[1][0] == from[2][2] && to[0][3] == 0);

    /* The old copies: a run that begins in the middle of a row. */
    cudaArray_t other;
    OK(cudaMallocArray(&other, &one, 5, 6));
    float run[13], same[13] = {};
    for (int i = 0; i < 13; i++)
        run[i] = 100.0f + i;
    OK(cudaMemcpyToArray(array, 6 * sizeof(float), 0, run, sizeof run, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(to, sizeof to[0], array, 0, 0, sizeof to[0], H, cudaMemcpyDeviceToHost));
    HOLDS(to[0][5] == 5 && to[0][6] == 100 && to[1][0] == 102 && to[2][2] == 112 && to[2][3] == 19);
    OK(cudaMemcpyArrayToArray(other, 2 * sizeof(float), 1, array, 6 * sizeof(float), 0, sizeof run));
    OK(cudaMemcpyFromArrayAsync(same, other, 2 * sizeof(float), 1, sizeof run, cudaMemcpyDeviceToHost));
    OK(cudaStreamSynchronize(0));
    HOLDS(memcmp(run, same, sizeof run) == 0);
    GIVES(cudaErrorInvalidValue, cudaMemcpyToArray(other, 0, 5, run, sizeof run, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpyToArray(other, 20, 0, run, 4, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyFromArray(run, other, 0, 0, 4, cudaMemcpyHostToDevice));
    OK(cudaFreeArray(other));
    OK(cudaFreeArray(array));
    const cudaChannelFormatDesc odd = { 32, 32, 32, 0, cudaChannelFormatKindFloat }, uneven = { 8, 16, 0, 0, cudaChannelFormatKindSigned };
    GIVES(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &odd, W, H));
    GIVES(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &uneven, W, H));
    GIVES(cudaErrorInvalidValue, cudaMallocArray(&array, nullptr, W, H));
}

static void test_objects()
{
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    float *out, back[H][W];
    OK(cudaMalloc(&out, sizeof back));
    OK(cudaMallocArray(&array, &one, W, H, cudaArraySurfaceLoadStore));
    cudaResourceDesc what = {}, seen;
    what.resType = cudaResourceTypeArray;
    what.res.array.array = array;
    OK(cudaCreateSurfaceObject(&surface, &what));
    OK(cudaGetSurfaceObjectResourceDesc(&seen, surface));
    HOLDS(seen.resType == cudaResourceTypeArray && seen.res.array.array == array);
    write_2d<<<1, dim3(W, H)>>>(surface);
    OK(cudaGetLastError());
    cudaTextureDesc how = {}, known;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    OK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
    OK(cudaGetTextureObjectTextureDesc(&known, texture));
    HOLDS(known.addressMode[1] == cudaAddressModeClamp && known.readMode == cudaReadModeElementType && known.normalizedCoords == 0);
    read_2d<<<1, dim3(W, H)>>>(texture, out, W);
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            HOLDS(back[y][x] == 10.0f * x + y);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(array));
    OK(cudaFree(out));
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, nullptr, &how, nullptr));
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &what, nullptr, nullptr));
}

static void test_linear()
{
    int numbers[32], back[32], *from, *out;
    cudaTextureObject_t texture;
    for (int i = 0; i < 32; i++)
        numbers[i] = i * i;
    OK(cudaMalloc(&from, sizeof numbers));
    OK(cudaMalloc(&out, sizeof numbers));
    OK(cudaMemcpy(from, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    cudaResourceDesc what = {}, seen;
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = from;
    what.res.linear.desc = cudaCreateChannelDesc<int>();
    what.res.linear.sizeInBytes = sizeof numbers;
    cudaTextureDesc how = {};
    OK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
    OK(cudaGetTextureObjectResourceDesc(&seen, texture));
    HOLDS(seen.res.linear.devPtr == from && seen.res.linear.desc.x == 32 && seen.res.linear.sizeInBytes == sizeof numbers);
    read_1d<<<1, 32>>>(texture, out);
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(memcmp(numbers, back, sizeof back) == 0);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(from));
    OK(cudaFree(out));
}

int main()
{
    test_array();
    test_objects();
    test_linear();
    return finish();
}
