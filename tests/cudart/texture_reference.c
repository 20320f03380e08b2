/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface references, as a program that CUDA 11 built has them: it registers its variables, sets their
 * members and binds them. */
#include <cuda.h>
#include <limits.h>
#include <string.h>

#define MR_RUNTIME_NO_PROTOTYPES
#include <cuda_runtime_api.h>

/* texture_types.h and surface_types.h of 11.8. */
struct textureReference {
    int normalized, filter, address[3];
    struct cudaChannelFormatDesc desc;
    int srgb;
    unsigned anisotropy;
    int mipmap_filter;
    float bias, least, most;
    int no_trilinear, reserved[14];
};
struct surfaceReference {
    struct cudaChannelFormatDesc desc;
};

/* What expect.h and this test call. */
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorName(cudaError_t error);
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *warp);
void __cudaRegisterTexture(void **handle, const struct textureReference *host, const void **device, const char *name,
                           int dim, int norm, int ext);
void __cudaRegisterSurface(void **handle, const struct surfaceReference *host, const void **device, const char *name,
                           int dim, int ext);
cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texture, const void *memory,
                            const struct cudaChannelFormatDesc *desc, size_t size);
cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texture, const void *memory,
                              const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch);
cudaError_t cudaBindTextureToArray(const struct textureReference *texture, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc);
cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *texture, cudaMipmappedArray_const_t levels,
                                            const struct cudaChannelFormatDesc *desc);
cudaError_t cudaUnbindTexture(const struct textureReference *texture);
cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texture);
cudaError_t cudaGetTextureReference(const struct textureReference **texture, const void *symbol);
cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surface, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc);
cudaError_t cudaGetSurfaceReference(const struct surfaceReference **surface, const void *symbol);
cudaError_t cudaGetSymbolAddress(void **address, const void *symbol);
cudaError_t cudaMalloc(void **memory, size_t size);
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned flags);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned levels, unsigned flags);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_const_t levels, unsigned level);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
#define __CUDA_RUNTIME_H__
#define MILLRACE_CUDA_RUNTIME_H
#include "expect.h"

enum { WIDTH = 16, HEIGHT = 4, ROW = 256, TEXELS = 1024 };

static const char ptx[] = ".version 7.8\n.target sm_75\n.address_size 64\n"
                          ".global .texref line;\n.global .texref plane;\n.global .surfref drawn;\n"
                          ".visible .entry read_line(.param .u64 to, .param .u32 first) {\n"
                          "  .reg .f32 %f<4>; .reg .b32 %r<3>; .reg .b64 %a<3>;\n"
                          "  ld.param.u64 %a0, [to]; ld.param.u32 %r1, [first]; mov.u32 %r0, %tid.x;\n"
                          "  add.s32 %r2, %r0, %r1;\n"
                          "  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [line, {%r2}];\n"
                          "  mul.wide.u32 %a1, %r0, 4; add.u64 %a2, %a0, %a1; st.global.f32 [%a2], %f0; ret;\n}\n"
                          ".visible .entry read_plane(.param .u64 to, .param .f32 dx) {\n"
                          "  .reg .f32 %f<8>; .reg .b32 %r<3>; .reg .b64 %a<3>;\n"
                          "  ld.param.u64 %a0, [to]; ld.param.f32 %f7, [dx];\n"
                          "  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
                          "  cvt.rn.f32.u32 %f4, %r0; add.f32 %f4, %f4, %f7;\n"
                          "  cvt.rn.f32.u32 %f5, %r1; add.f32 %f5, %f5, 0f3f000000;\n"
                          "  tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [plane, {%f4, %f5}];\n"
                          "  mad.lo.u32 %r2, %r1, 16, %r0; mul.wide.u32 %a1, %r2, 4; add.u64 %a2, %a0, %a1;\n"
                          "  st.global.f32 [%a2], %f0; ret;\n}\n"
                          ".visible .entry draw() {\n"
                          "  .reg .b32 %r<4>; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
                          "  shl.b32 %r2, %r0, 2; mad.lo.u32 %r3, %r1, 16, %r0;\n"
                          "  sust.b.2d.b32.trap [drawn, {%r2, %r1}], {%r3}; ret;\n}\n";
static struct {
    unsigned magic, version;
    const void *data;
    void *more;
} wrapper = {0x466243b1, 1, ptx, NULL};

static struct textureReference line, plane, nowhere, lost;
static struct surfaceReference drawn;
static char read_line, read_plane, draw; /* their addresses stand for the kernels */
static const struct cudaChannelFormatDesc floats = {32, 0, 0, 0, cudaChannelFormatKindFloat};
static const struct cudaChannelFormatDesc words = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};
static const struct cudaChannelFormatDesc bytes = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
static const struct cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
static float host[TEXELS], got[TEXELS], *memory, *result;

static void **begin(void)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &read_line, NULL, "read_line", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &read_plane, NULL, "read_plane", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &draw, NULL, "draw", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterTexture(handle, &line, NULL, "line", 1, 0, 0);
    __cudaRegisterTexture(handle, &plane, NULL, "plane", 2, 1, 0);
    __cudaRegisterTexture(handle, &lost, NULL, "lost", 2, 0, 0);
    __cudaRegisterSurface(handle, &drawn, NULL, "drawn", 2, 0);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

static void run_line(int first)
{
    void *arguments[] = {&result, &first};
    OK(cudaLaunchKernel(&read_line, (dim3){1, 1, 1}, (dim3){WIDTH, 1, 1}, arguments, 0, NULL));
    OK(cudaMemcpy(got, result, WIDTH * 4, cudaMemcpyDeviceToHost));
}

static void run_plane(float dx)
{
    void *arguments[] = {&result, &dx};
    OK(cudaLaunchKernel(&read_plane, (dim3){HEIGHT, 1, 1}, (dim3){WIDTH, 1, 1}, arguments, 0, NULL));
    OK(cudaMemcpy(got, result, WIDTH * HEIGHT * 4, cudaMemcpyDeviceToHost));
}

static void test_memory(void)
{
    size_t offset = 99;
    GIVES(cudaErrorInvalidTextureBinding, cudaGetTextureAlignmentOffset(&offset, &line));
    OK(cudaUnbindTexture(&line)); /* was not bound */
    OK(cudaBindTexture(NULL, &line, memory, &floats, sizeof host));
    run_line(3);
    for (int i = 0; i < WIDTH; i++)
        HOLDS(got[i] == (float)(i + 3));
    /* Without a size: to the end of the memory, behind which there are zeros. */
    OK(cudaBindTexture(&offset, &line, memory, &floats, UINT_MAX));
    HOLDS(offset == 0);
    run_line(TEXELS - 2);
    HOLDS(got[0] == TEXELS - 2 && got[1] == TEXELS - 1 && got[2] == 0);
    /* Not where a texture can begin: the kernel adds the offset. */
    GIVES(cudaErrorInvalidValue, cudaBindTexture(NULL, &line, memory + 4, &floats, 64));
    GIVES(cudaErrorInvalidTextureBinding, cudaGetTextureAlignmentOffset(&offset, &line));
    OK(cudaBindTexture(&offset, &line, memory + 4, &floats, 64));
    HOLDS(offset == 16);
    offset = 0;
    OK(cudaGetTextureAlignmentOffset(&offset, &line));
    HOLDS(offset == 16);
    run_line((int)offset / 4);
    HOLDS(got[0] == 4 && got[WIDTH - 1] == WIDTH + 3);
    OK(cudaUnbindTexture(&line));
    GIVES(cudaErrorInvalidTextureBinding, cudaGetTextureAlignmentOffset(&offset, &line));
    GIVES(cudaErrorInvalidValue, cudaGetTextureAlignmentOffset(NULL, &line));
}

static void test_plane(void)
{
    size_t offset = 99;
    plane = (struct textureReference){.address = {cudaAddressModeClamp, cudaAddressModeClamp}};
    OK(cudaBindTexture2D(&offset, &plane, memory, &floats, WIDTH, HEIGHT, ROW));
    HOLDS(offset == 0);
    run_plane(1.5f);
    HOLDS(got[0] == 1 && got[WIDTH - 1] == WIDTH - 1 && got[WIDTH] == ROW / 4 + 1);
    /* Members take effect with the next binding. */
    plane.filter = cudaFilterModeLinear;
    plane.address[0] = cudaAddressModeBorder;
    OK(cudaBindTexture2D(NULL, &plane, memory, &floats, WIDTH, HEIGHT, ROW));
    run_plane(1.0f);
    HOLDS(got[0] == 0.5f && got[WIDTH - 1] == (WIDTH - 1) / 2.0f);
    plane.filter = cudaFilterModePoint;
    OK(cudaBindTexture2D(&offset, &plane, memory + 8, &floats, WIDTH, HEIGHT, ROW));
    HOLDS(offset == 32);
    run_plane(8.5f);
    HOLDS(got[0] == 8 && got[WIDTH - 1] == WIDTH + 7);
    GIVES(cudaErrorInvalidValue, cudaBindTexture2D(NULL, &plane, memory + 8, &floats, WIDTH, HEIGHT, ROW));
    /* Bytes as numbers up to 1, as `norm` said. */
    OK(cudaBindTexture2D(NULL, &plane, memory, &bytes, WIDTH, HEIGHT, ROW));
    run_plane(0.5f);
    HOLDS(got[6] == 0x80 / 255.0f && got[7] == 0x3f / 255.0f); /* of 1.0f */
}

static void test_arrays(void)
{
    cudaArray_t array, level;
    cudaMipmappedArray_t levels;
    unsigned drew[WIDTH * HEIGHT];
    plane = (struct textureReference){.address = {cudaAddressModeClamp, cudaAddressModeClamp}};
    OK(cudaMallocArray(&array, &floats, WIDTH, HEIGHT, 0));
    OK(cudaMemcpy2DToArray(array, 0, 0, host, WIDTH * 4, WIDTH * 4, HEIGHT, cudaMemcpyHostToDevice));
    OK(cudaBindTextureToArray(&plane, array, &floats));
    run_plane(0.5f);
    HOLDS(memcmp(got, host, WIDTH * HEIGHT * 4) == 0);
    GIVES(cudaErrorInvalidValue, cudaBindTextureToArray(&plane, array, &words));
    GIVES(cudaErrorInvalidValue, cudaBindTextureToArray(&plane, array, NULL));
    run_plane(0.5f); /* still bound */
    HOLDS(got[5] == 5);
    plane.normalized = 1;
    plane.address[0] = plane.address[1] = cudaAddressModeWrap;
    OK(cudaMallocMipmappedArray(&levels, &floats, (struct cudaExtent){WIDTH, HEIGHT, 0}, 2, 0));
    OK(cudaGetMipmappedArrayLevel(&level, levels, 0));
    OK(cudaMemcpy2DToArray(level, 0, 0, host, WIDTH * 4, WIDTH * 4, HEIGHT, cudaMemcpyHostToDevice));
    OK(cudaBindTextureToMipmappedArray(&plane, levels, &floats));
    run_plane(0.25f);
    HOLDS(got[0] == WIDTH * 2 + 4); /* x = 1/4, y = 1/2 of the whole */
    GIVES(cudaErrorInvalidValue, cudaBindTextureToMipmappedArray(&plane, levels, &words));
    OK(cudaMallocArray(&array, &words, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    OK(cudaBindSurfaceToArray(&drawn, array, &words));
    OK(cudaLaunchKernel(&draw, (dim3){HEIGHT, 1, 1}, (dim3){WIDTH, 1, 1}, NULL, 0, NULL));
    OK(cudaMemcpy2DFromArray(drew, WIDTH * 4, array, 0, 0, WIDTH * 4, HEIGHT, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        HOLDS(drew[i] == i);
    GIVES(cudaErrorInvalidValue, cudaBindSurfaceToArray(&drawn, array, &floats));
}

static void test_names(void)
{
    const struct textureReference *texture = NULL;
    const struct surfaceReference *surface = NULL;
    void *address;
    OK(cudaGetTextureReference(&texture, &plane));
    HOLDS(texture == &plane);
    OK(cudaGetSurfaceReference(&surface, &drawn));
    HOLDS(surface == &drawn);
    GIVES(cudaErrorInvalidTexture, cudaGetTextureReference(&texture, &nowhere));
    GIVES(cudaErrorInvalidTexture, cudaGetTextureReference(&texture, &drawn));
    GIVES(cudaErrorInvalidTexture, cudaGetTextureReference(&texture, NULL));
    GIVES(cudaErrorInvalidValue, cudaGetTextureReference(NULL, &plane));
    GIVES(cudaErrorInvalidSurface, cudaGetSurfaceReference(&surface, &plane));
    GIVES(cudaErrorInvalidValue, cudaGetSurfaceReference(NULL, &drawn));
    GIVES(cudaErrorInvalidTexture, cudaBindTexture(NULL, &nowhere, memory, &floats, 64));
    GIVES(cudaErrorInvalidTexture, cudaBindTexture(NULL, NULL, memory, &floats, 64));
    GIVES(cudaErrorInvalidTexture, cudaBindTexture(NULL, &lost, memory, &floats, 64));
    GIVES(cudaErrorInvalidValue, cudaBindTexture(NULL, &line, memory, NULL, 64));
    HOLDS(cudaBindTexture(NULL, &line, memory, &three, 60) != cudaSuccess);
    HOLDS(cudaGetLastError() != cudaSuccess);
    GIVES(cudaErrorInvalidValue, cudaBindTexture(NULL, &line, &nowhere, &floats, 64));
    GIVES(cudaErrorInvalidSurface, cudaBindSurfaceToArray((const struct surfaceReference *)&line, NULL, &floats));
    GIVES(cudaErrorInvalidTexture, cudaUnbindTexture(&nowhere));
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, &plane));
}

int main(void)
{
    void **handle = begin();
    for (int i = 0; i < TEXELS; i++)
        host[i] = (float)i;
    OK(cudaMalloc((void **)&memory, sizeof host));
    OK(cudaMalloc((void **)&result, sizeof host));
    OK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
    test_names();
    test_memory();
    test_plane();
    test_arrays();
    __cudaUnregisterFatBinary(handle);
    GIVES(cudaErrorInvalidTexture, cudaBindTexture(NULL, &line, memory, &floats, 64));
    return finish();
}
