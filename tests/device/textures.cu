/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface functions of the device headers, for test_textures.c. Each kernel goes through a grid of w x h threads. */
#include <cuda_runtime.h>
#include <surface_functions.h>
#include <texture_fetch_functions.h>

#define HERE                                        \
    int x = blockIdx.x * blockDim.x + threadIdx.x;  \
    int y = blockIdx.y * blockDim.y + threadIdx.y;  \
    if (x >= w || y >= h)                           \
        return;                                     \
    int at = y * w + x;                             \
    (void)at;

template <class T> static __device__ void points(T *out, cudaTextureObject_t picture, int w, int h)
{
    HERE
    out[at] = tex2D<T>(picture, x + 0.5f, y + 0.5f);
}
#define POINTS(T) extern "C" __global__ void points_##T(T *out, cudaTextureObject_t picture, int w, int h) { points<T>(out, picture, w, h); }
POINTS(float)
POINTS(float2)
POINTS(float4)
POINTS(uchar4)
POINTS(char2)
POINTS(short)
POINTS(ushort4)
POINTS(int)
POINTS(uint2)

/* A picture turned and scaled: coordinates between texels and outside. */
extern "C" __global__ void turned(float *out, cudaTextureObject_t picture, int w, int h, float a, float b, float c, float d)
{
    HERE
    tex2D(&out[at], picture, a * x + b * y + c, a * y - b * x + d);
}

/* A column, a row, a volume and layers of the same numbers. */
extern "C" __global__ void shapes(float *out, cudaTextureObject_t row, cudaTextureObject_t linear, cudaTextureObject_t volume, cudaTextureObject_t layers,
                                  cudaTextureObject_t rows, int w, int h)
{
    HERE
    out[at * 5] = tex1D<float>(row, x + 0.5f);
    out[at * 5 + 1] = tex1Dfetch<float>(linear, at);
    out[at * 5 + 2] = tex3D<float>(volume, x + 0.5f, y + 0.5f, 2.5f);
    out[at * 5 + 3] = tex2DLayered<float>(layers, x + 0.5f, y + 0.5f, 2);
    out[at * 5 + 4] = tex1DLayered<float>(rows, x + 0.5f, y);
}

extern "C" __global__ void details(float *out, cudaTextureObject_t levels, int w, int h)
{
    HERE
    float u = (x + 0.5f) / w, v = (y + 0.5f) / h, step = 2.0f / w;
    out[at * 4] = tex2DLod<float>(levels, u, v, 1);
    out[at * 4 + 1] = tex2DGrad<float>(levels, u, v, make_float2(step, 0), make_float2(0, step));
    out[at * 4 + 2] = tex2DLod<float>(levels, u, v, 0.5f);
    out[at * 4 + 3] = tex2D<float>(levels, u, v);
}

extern "C" __global__ void gathers(float4 *out, cudaTextureObject_t picture, int w, int h)
{
    HERE
    out[at] = tex2Dgather<float4>(picture, x + 1.0f, y + 1.0f, 0);
}

/* Each face of a cube from its middle. */
extern "C" __global__ void faces(float *out, cudaTextureObject_t cube)
{
    const float3 directions[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    float3 d = directions[threadIdx.x];
    out[threadIdx.x] = texCubemap<float>(cube, d.x, d.y, d.z);
}

/* A surface is written and read back in other widths, turned upside down into another. */
extern "C" __global__ void upside_down(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int w, int h)
{
    HERE
    uchar4 pixel = surf2Dread<uchar4>(from, x * 4, y);
    surf2Dwrite(make_uchar4(pixel.w, pixel.z, pixel.y, pixel.x), to, x * 4, h - 1 - y, cudaBoundaryModeTrap);
}

extern "C" __global__ void shifted(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int w, int h, int dx, int dy)
{
    HERE
    unsigned zero, edge;
    surf2Dread(&zero, from, (x + dx) * 4, y + dy, cudaBoundaryModeZero);
    edge = surf2Dread<unsigned>(from, (x + dx) * 4, y + dy, cudaBoundaryModeClamp);
    surf2Dwrite(zero ^ edge, to, x * 4, y);
    surf2Dwrite(0xffffffffu, to, (x + w) * 4, y, cudaBoundaryModeZero);
}

extern "C" __global__ void widths(cudaSurfaceObject_t row, unsigned long long *out)
{
    int i = threadIdx.x;
    out[i * 4] = surf1Dread<unsigned char>(row, i);
    out[i * 4 + 1] = surf1Dread<unsigned short>(row, i / 2 * 2);
    out[i * 4 + 2] = surf1Dread<unsigned long long>(row, i / 8 * 8);
    longlong2 both = surf1Dread<longlong2>(row, i / 16 * 16);
    out[i * 4 + 3] = both.x ^ both.y;
    __syncthreads();
    if (i == 0)
        surf1Dwrite(make_float4(1, 2, 3, 4), row, 16);
    if (i == 1)
        surf1Dwrite((signed char)-7, row, 40);
    if (i == 2)
        surf1Dwrite((short)-300, row, 42);
}

extern "C" __global__ void slices(cudaSurfaceObject_t volume, cudaSurfaceObject_t layers, int w, int h, int depth)
{
    HERE
    for (int z = 0; z < depth; z++) {
        surf3Dwrite((float)(at + 1000 * z), volume, x * 4, y, z);
        surf2DLayeredwrite(surf3Dread<float>(volume, x * 4, y, z) + 0.5f, layers, x * 4, y, z);
    }
}
