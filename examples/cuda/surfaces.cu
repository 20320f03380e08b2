/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces: a kernel writes an array that another reads as a texture, with interpolation; the game of life on two arrays that take turns. */
#include "check.h"

static const int size = 32;

__global__ void ramp(cudaSurfaceObject_t to)
{
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite((float)(x + 10 * y), to, x * (int)sizeof(float), y);
}

__global__ void between(cudaTextureObject_t from, float *to)
{
    int x = threadIdx.x, y = blockIdx.x;
    to[y * (size - 1) + x] = tex2D<float>(from, x + 1.0f, y + 0.5f); /* half way from a texel to the next */
}

__global__ void live(cudaSurfaceObject_t to, cudaSurfaceObject_t from)
{
    int x = threadIdx.x, y = blockIdx.x, around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                around += surf2Dread<unsigned char>(from, (x + dx + size) % size, (y + dy + size) % size);
    unsigned char self = surf2Dread<unsigned char>(from, x, y);
    surf2Dwrite((unsigned char)(around == 3 || (around == 2 && self)), to, x, y);
}

template <typename T> static cudaArray_t make(cudaSurfaceObject_t *surface)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    cudaResourceDesc resource = {};
    CHECK(cudaMallocArray(&array, &format, size, size, cudaArraySurfaceLoadStore));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(surface, &resource));
    return array;
}

static void interpolate()
{
    cudaSurfaceObject_t surface;
    cudaTextureObject_t texture;
    cudaArray_t array = make<float>(&surface);
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    float *middle, back[size - 1];
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.filterMode = cudaFilterModeLinear;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaMalloc(&middle, size * (size - 1) * sizeof *middle));
    ramp<<<size, size>>>(surface);
    between<<<size, size - 1>>>(texture, middle);
    CHECK(cudaMemcpy(back, middle + 3 * (size - 1), sizeof back, cudaMemcpyDeviceToHost));
    for (int x = 0; x < size - 1; x++)
        EXPECT(back[x] == x + 0.5f + 30);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(middle));
}

int main()
{
    static unsigned char begin[size][size], end[size][size];
    const int glider[5][2] = { { 1, 0 }, { 2, 1 }, { 0, 2 }, { 1, 2 }, { 2, 2 } };
    cudaSurfaceObject_t surface[2];
    cudaArray_t array[2] = { make<unsigned char>(&surface[0]), make<unsigned char>(&surface[1]) };
    interpolate();
    for (const int *cell : glider)
        begin[cell[1]][cell[0]] = 1;
    CHECK(cudaMemcpy2DToArray(array[0], 0, 0, begin, size, size, size, cudaMemcpyHostToDevice));
    for (int round = 0; round < 40; round++) /* four rounds take a glider one cell down and to the right */
        live<<<size, size>>>(surface[(round + 1) % 2], surface[round % 2]);
    CHECK(cudaMemcpy2DFromArray(end, size, array[0], 0, 0, size, size, cudaMemcpyDeviceToHost));
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            EXPECT(end[y][x] == begin[(y - 10 + size) % size][(x - 10 + size) % size]);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaDestroySurfaceObject(surface[i]));
        CHECK(cudaFreeArray(array[i]));
    }
    std::printf("surfaces: a glider went ten cells\n");
    return 0;
}
