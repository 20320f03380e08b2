/* SPDX-License-Identifier: Apache-2.0 */
/* Textures and surfaces as CUDA C++ reads and writes them: against what C makes of the same numbers. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device_support.h"

enum { W = 45, H = 19, D = 5 };

static int begin(void **state)
{
    (void)state;
    return begin_with("DEVICE_TEXTURES_PTX");
}

static CUarray array_of(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels,
                        unsigned flags, const void *bytes, size_t row)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {width, height, depth, format, channels, flags};
    CUarray array;
    OK(cuArray3DCreate(&array, &desc));
    if (bytes) {
        CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                             .srcHost = bytes,
                             .srcPitch = row,
                             .srcHeight = height ? height : 1,
                             .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                             .dstArray = array,
                             .WidthInBytes = row,
                             .Height = height ? height : 1,
                             .Depth = depth ? depth : 1};
        OK(cuMemcpy3D(&box));
    }
    return array;
}

static void read_array(CUarray array, void *bytes, size_t row, size_t height, size_t depth)
{
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                         .srcArray = array,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = bytes,
                         .dstPitch = row,
                         .dstHeight = height,
                         .WidthInBytes = row,
                         .Height = height,
                         .Depth = depth};
    OK(cuMemcpy3D(&box));
}

static CUtexObject texture_of(CUarray array, CUaddress_mode mode, CUfilter_mode filter, unsigned flags)
{
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    const CUDA_TEXTURE_DESC desc = {.addressMode = {mode, mode, mode}, .filterMode = filter, .flags = flags};
    CUtexObject texture;
    OK(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    return texture;
}

static CUsurfObject surface_of(CUarray array)
{
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUsurfObject surface;
    OK(cuSurfObjectCreate(&surface, &resource));
    return surface;
}

/* Blocks of 7 x 5 threads: warps that are neither full nor in one row. */
static void run(const char *name, void **params, bool one_block, unsigned threads)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    if (one_block)
        OK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    else
        OK(cuLaunchKernel(function, (W + 6) / 7, (H + 4) / 5, 1, 7, 5, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
}

static void *random_bytes(size_t size, unsigned seed)
{
    unsigned char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
    return bytes;
}

static float *random_floats(size_t count, unsigned seed)
{
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(int)((seed = seed * 1664525 + 1013904223) >> 12) / 1024 - 300;
    return values;
}

/* What a texture gives point by point is what the array holds. */
static void test_points(void **state)
{
    static const struct {
        const char *kernel;
        CUarray_format format;
        unsigned channels, bytes, flags;
    } cases[] = {
        {"points_float", CU_AD_FORMAT_FLOAT, 1, 4, 0},
        {"points_float2", CU_AD_FORMAT_FLOAT, 2, 8, 0},
        {"points_float4", CU_AD_FORMAT_FLOAT, 4, 16, 0},
        {"points_uchar4", CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, CU_TRSF_READ_AS_INTEGER},
        {"points_char2", CU_AD_FORMAT_SIGNED_INT8, 2, 2, CU_TRSF_READ_AS_INTEGER},
        {"points_short", CU_AD_FORMAT_SIGNED_INT16, 1, 2, CU_TRSF_READ_AS_INTEGER},
        {"points_ushort4", CU_AD_FORMAT_UNSIGNED_INT16, 4, 8, CU_TRSF_READ_AS_INTEGER},
        {"points_int", CU_AD_FORMAT_SIGNED_INT32, 1, 4, 0},
        {"points_uint2", CU_AD_FORMAT_UNSIGNED_INT32, 2, 8, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = (size_t)W * H * cases[i].bytes;
        void *bytes =
                 cases[i].format == CU_AD_FORMAT_FLOAT ? (void *)random_floats(size / 4, 7) : random_bytes(size, 7),
             *found = calloc(1, size);
        CUarray array = array_of(W, H, 0, cases[i].format, cases[i].channels, 0, bytes, (size_t)W * cases[i].bytes);
        CUtexObject texture = texture_of(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, cases[i].flags);
        CUdeviceptr out;
        int w = W, h = H;
        OK(cuMemAlloc(&out, size));
        run(cases[i].kernel, (void *[]){&out, &texture, &w, &h}, false, 0);
        OK(cuMemcpyDtoH(found, out, size));
        assert_memory_equal(found, bytes, size);
        OK(cuTexObjectDestroy(texture));
        OK(cuArrayDestroy(array));
        OK(cuMemFree(out));
        free(bytes);
        free(found);
    }
}

/* ---- a bilinear read in C ---- */

static int inside(int i, int size, CUaddress_mode mode)
{
    if (i >= 0 && i < size)
        return i;
    if (mode == CU_TR_ADDRESS_MODE_WRAP)
        return ((i % size) + size) % size;
    if (mode == CU_TR_ADDRESS_MODE_MIRROR) {
        int k = ((i % (2 * size)) + 2 * size) % (2 * size);
        return k < size ? k : 2 * size - 1 - k;
    }
    return mode == CU_TR_ADDRESS_MODE_BORDER ? -1 : i < 0 ? 0 : size - 1;
}

static double pixel(const float *values, int x, int y)
{
    return x < 0 || y < 0 ? 0 : (double)values[y * W + x];
}

static double bilinear(const float *values, double x, double y, CUaddress_mode mode)
{
    double fx = floor(x * 256 + 0.5) - 128, fy = floor(y * 256 + 0.5) - 128;
    int i = (int)floor(fx / 256), j = (int)floor(fy / 256);
    double a = fx / 256 - i, b = fy / 256 - j;
    int i0 = inside(i, W, mode), i1 = inside(i + 1, W, mode), j0 = inside(j, H, mode), j1 = inside(j + 1, H, mode);
    return (1 - a) * (1 - b) * pixel(values, i0, j0) + a * (1 - b) * pixel(values, i1, j0) +
           (1 - a) * b * pixel(values, i0, j1) + a * b * pixel(values, i1, j1);
}

static void test_turned(void **state)
{
    static const CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER, CU_TR_ADDRESS_MODE_WRAP,
                                           CU_TR_ADDRESS_MODE_MIRROR};
    static float found[W * H];
    float *values = random_floats(W * H, 99);
    CUarray array = array_of(W, H, 0, CU_AD_FORMAT_FLOAT, 1, 0, values, W * 4);
    CUdeviceptr out;
    (void)state;
    OK(cuMemAlloc(&out, sizeof found));
    for (unsigned m = 0; m < 4; m++) {
        bool normalized = m >= 2;
        CUtexObject texture =
            texture_of(array, modes[m], CU_TR_FILTER_MODE_LINEAR, normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0);
        float a = normalized ? 0.03f : 0.87f, b = normalized ? 0.017f : 0.41f, c = normalized ? -0.3f : -5.3f,
              d = normalized ? 0.2f : 7.7f;
        int w = W, h = H;
        run("turned", (void *[]){&out, &texture, &w, &h, &a, &b, &c, &d}, false, 0);
        OK(cuMemcpyDtoH(found, out, sizeof found));
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                /* The kernel's own coordinates, which are floats. */
                float u = (float)(a * (float)x + b * (float)y + c);
                float v = (float)(a * (float)y - b * (float)x + d);
                double right =
                    bilinear(values, normalized ? (double)u * W : u, normalized ? (double)v * H : v, modes[m]);
                /* The compiler may round the coordinates otherwise: then a weight is one step off. */
                double error = fabs(right - (double)found[y * W + x]);
                if (error > 1300.0 * 2 / 256 + 0.01)
                    fail_msg("mode %u, (%d, %d): %g, must be %g", m, x, y, (double)found[y * W + x], right);
            }
        OK(cuTexObjectDestroy(texture));
    }
    OK(cuArrayDestroy(array));
    OK(cuMemFree(out));
    free(values);
}

static void test_shapes(void **state)
{
    static float found[W * H * 5];
    float *values = random_floats(W * H * D, 5);
    CUdeviceptr out, memory;
    int w = W, h = H;
    (void)state;
    OK(cuMemAlloc(&out, sizeof found));
    OK(cuMemAlloc(&memory, W * H * 4));
    OK(cuMemcpyHtoD(memory, values, W * H * 4));
    CUtexObject row = texture_of(array_of(W, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0, values, W * 4), CU_TR_ADDRESS_MODE_CLAMP,
                                 CU_TR_FILTER_MODE_LINEAR, 0);
    CUtexObject volume = texture_of(array_of(W, H, D, CU_AD_FORMAT_FLOAT, 1, 0, values, W * 4),
                                    CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    CUtexObject layers = texture_of(array_of(W, H, D, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED, values, W * 4),
                                    CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUtexObject rows = texture_of(array_of(W, 0, H, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED, values, W * 4),
                                  CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    const CUDA_TEXTURE_DESC plain = {.flags = 0};
    CUtexObject linear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = W * H * 4;
    OK(cuTexObjectCreate(&linear, &resource, &plain, NULL));
    run("shapes", (void *[]){&out, &row, &linear, &volume, &layers, &rows, &w, &h}, false, 0);
    OK(cuMemcpyDtoH(found, out, sizeof found));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const float *here = &found[(y * W + x) * 5];
            float right[5] = {values[x], values[y * W + x], values[(2 * H + y) * W + x], values[(2 * H + y) * W + x],
                              values[y * W + x]};
            assert_memory_equal(here, right, sizeof right);
        }
    free(values);
}

static void test_details(void **state)
{
    enum { S = 16 };
    static float found[S * S * 4], level_values[S * S];
    const CUDA_ARRAY3D_DESCRIPTOR desc = {S, S, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    const CUDA_TEXTURE_DESC reading = {.flags = CU_TRSF_NORMALIZED_COORDINATES,
                                       .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
                                       .maxMipmapLevelClamp = 10};
    CUtexObject texture;
    CUdeviceptr out;
    int w = S, h = S;
    (void)state;
    OK(cuMemAlloc(&out, sizeof found));
    OK(cuMipmappedArrayCreate(&resource.res.mipmap.hMipmappedArray, &desc, 3));
    for (int l = 0; l < 3; l++) {
        CUarray level;
        int size = S >> l;
        for (int i = 0; i < size * size; i++)
            level_values[i] = (float)(l * 1000 + i);
        OK(cuMipmappedArrayGetLevel(&level, resource.res.mipmap.hMipmappedArray, (unsigned)l));
        CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                               .srcHost = level_values,
                               .srcPitch = (size_t)size * 4,
                               .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                               .dstArray = level,
                               .WidthInBytes = (size_t)size * 4,
                               .Height = (size_t)size};
        OK(cuMemcpy2D(&plane));
    }
    OK(cuTexObjectCreate(&texture, &resource, &reading, NULL));
    run("details", (void *[]){&out, &texture, &w, &h}, false, 0);
    OK(cuMemcpyDtoH(found, out, sizeof found));
    for (int y = 0; y < S; y++)
        for (int x = 0; x < S; x++) {
            const float *here = &found[(y * S + x) * 4];
            float coarse = (float)(1000 + y / 2 * (S / 2) + x / 2), fine = (float)(y * S + x);
            assert_true(here[0] == coarse);
            assert_true(here[1] == coarse);
            assert_true(here[2] == (coarse + fine) / 2);
            assert_true(here[3] == fine);
        }
    OK(cuTexObjectDestroy(texture));
    OK(cuMipmappedArrayDestroy(resource.res.mipmap.hMipmappedArray));
    OK(cuMemFree(out));
}

static void test_gathers_and_faces(void **state)
{
    static float found[W * H * 4], faces[6], cube_values[6 * 9];
    float *values = random_floats(W * H, 17);
    CUtexObject texture =
        texture_of(array_of(W, H, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER, values, W * 4),
                   CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUdeviceptr out;
    int w = W, h = H;
    (void)state;
    OK(cuMemAlloc(&out, sizeof found));
    run("gathers", (void *[]){&out, &texture, &w, &h}, false, 0);
    OK(cuMemcpyDtoH(found, out, sizeof found));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int right = x + 1 < W ? x + 1 : x, low = y + 1 < H ? y + 1 : y;
            float four[4] = {values[low * W + x], values[low * W + right], values[y * W + right], values[y * W + x]};
            assert_memory_equal(&found[(y * W + x) * 4], four, sizeof four);
        }
    for (int i = 0; i < 54; i++)
        cube_values[i] = (float)(i / 9 * 100 + i % 9);
    CUtexObject cube = texture_of(array_of(3, 3, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP, cube_values, 12),
                                  CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_NORMALIZED_COORDINATES);
    run("faces", (void *[]){&out, &cube}, true, 6);
    OK(cuMemcpyDtoH(faces, out, sizeof faces));
    for (int i = 0; i < 6; i++)
        assert_true(faces[i] == (float)(i * 100 + 4));
    free(values);
}

static void test_surfaces(void **state)
{
    static uint32_t found[H][W];
    uint32_t *pixels = random_bytes(W * H * 4, 3);
    CUarray from = array_of(W, H, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST, pixels, W * 4);
    CUarray to = array_of(W, H, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST, pixels, W * 4);
    CUsurfObject source = surface_of(from), target = surface_of(to);
    int w = W, h = H, dx = 4, dy = -3;
    (void)state;
    run("upside_down", (void *[]){&target, &source, &w, &h}, false, 0);
    read_array(to, found, W * 4, H, 1);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            assert_int_equal(found[H - 1 - y][x], __builtin_bswap32(pixels[y * W + x]));
    run("shifted", (void *[]){&target, &source, &w, &h, &dx, &dy}, false, 0);
    read_array(to, found, W * 4, H, 1);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int sx = x + dx, sy = y + dy, cx = sx < W ? sx : W - 1, cy = sy < 0 ? 0 : sy;
            uint32_t zero = sx < W && sy >= 0 ? pixels[sy * W + sx] : 0;
            assert_int_equal(found[y][x], zero ^ pixels[cy * W + cx]);
        }
    free(pixels);
}

static void test_surface_widths(void **state)
{
    static uint64_t found[48][4];
    unsigned char *bytes = random_bytes(48, 11), after[48];
    CUarray array = array_of(12, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST, bytes, 48);
    CUsurfObject surface = surface_of(array);
    CUdeviceptr out;
    (void)state;
    OK(cuMemAlloc(&out, sizeof found));
    run("widths", (void *[]){&surface, &out}, true, 48);
    OK(cuMemcpyDtoH(found, out, sizeof found));
    for (int i = 0; i < 48; i++) {
        uint64_t right[4] = {bytes[i], 0, 0, 0}, both[2];
        memcpy(&right[1], bytes + i / 2 * 2, 2);
        memcpy(&right[2], bytes + i / 8 * 8, 8);
        memcpy(both, bytes + i / 16 * 16, 16);
        right[3] = both[0] ^ both[1];
        assert_memory_equal(found[i], right, sizeof right);
    }
    memcpy(bytes + 16, (float[4]){1, 2, 3, 4}, 16);
    bytes[40] = (unsigned char)-7;
    memcpy(bytes + 42, &(int16_t){-300}, 2);
    read_array(array, after, 48, 1, 1);
    assert_memory_equal(after, bytes, 48);
    free(bytes);
}

static void test_slices(void **state)
{
    static float found[D][H][W], plain[D][H][W];
    CUarray volume = array_of(W, H, D, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST, plain, W * 4);
    CUarray layers =
        array_of(W, H, D, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED, plain, W * 4);
    CUsurfObject one = surface_of(volume), other = surface_of(layers);
    int w = W, h = H, depth = D;
    (void)state;
    run("slices", (void *[]){&one, &other, &w, &h, &depth}, false, 0);
    read_array(layers, found, W * 4, H, D);
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                assert_true(found[z][y][x] == (float)(y * W + x + 1000 * z) + 0.5f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_details),
        cmocka_unit_test(test_gathers_and_faces),
        cmocka_unit_test(test_surfaces),
        cmocka_unit_test(test_surface_widths),
        cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
