/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of long arithmetic, textures, trees and structures: each launch from its call to the end of the
 * synchronisation, of code that is as good as it gets, and a number from the results for a comparison with openmp.c. */
#include <string.h>

#include "../bench.h"
#include "../kernels/kernels.h"
#include "../kernels/load.h"
#include "lanes.h"

extern const char bench_lanes[];

static CUmodule module;
static CUdeviceptr out;
static float results[PICTURE * PICTURE];

static double measure(const char *name, const void *in, unsigned width, unsigned height, unsigned block_width,
                      unsigned block_height)
{
    CUfunction kernel;
    double best = 1e9;
    void *params[] = {(void *)in, &out};
    CHECK(cuModuleGetFunction(&kernel, module, name));
    for (unsigned round = 0; round < 9; round++) {
        double begin = kernels_seconds();
        CHECK(cuLaunchKernel(kernel, width / block_width, height / block_height, 1, block_width, block_height, 1, 0,
                             NULL, params, NULL));
        CHECK(cuCtxSynchronize());
        double took = (kernels_seconds() - begin) * 1e3;
        best = took < best && round ? took : best;
    }
    CHECK(cuMemcpyDtoH(results, out, sizeof results));
    return best;
}

static void picture_of(const void *texels, CUarray_format format, unsigned channels, CUfilter_mode filter,
                       CUaddress_mode mode, unsigned flags, CUtexObject *texture)
{
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = PICTURE, .Height = PICTURE, .Format = format, .NumChannels = channels};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC how = {.addressMode = {mode, mode, mode}, .filterMode = filter, .flags = flags};
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = PICTURE * 4,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = PICTURE * 4,
                          .Height = PICTURE};
    CUarray array;
    CHECK(cuArrayCreate(&array, &shape));
    copy.dstArray = resource.res.array.hArray = array;
    CHECK(cuMemcpy2D(&copy));
    CHECK(cuTexObjectCreate(texture, &resource, &how, NULL));
}

static void run_pictures(const float *reals, CUdeviceptr in)
{
    static uint8_t bytes[PICTURE * PICTURE * 4];
    size_t all = (size_t)PICTURE * PICTURE;
    CUtexObject texture;
    double took = measure("loads", &in, PICTURE, PICTURE, 32, 8);
    kernels_print("loads", took, kernels_sum(results, all));
    picture_of(reals, CU_AD_FORMAT_FLOAT, 1, CU_TR_FILTER_MODE_POINT, CU_TR_ADDRESS_MODE_CLAMP, 0, &texture);
    took = measure("points", &texture, PICTURE, PICTURE, 32, 8);
    kernels_print("points", took, kernels_sum(results, all));
    took = measure("turned_loads", &in, PICTURE, PICTURE, 32, 8);
    kernels_print("turned_loads", took, kernels_sum(results, all));
    took = measure("turned_points", &texture, PICTURE, PICTURE, 32, 8);
    kernels_print("turned_points", took, kernels_sum(results, all));
    picture_of(reals, CU_AD_FORMAT_FLOAT, 1, CU_TR_FILTER_MODE_LINEAR, CU_TR_ADDRESS_MODE_CLAMP, 0, &texture);
    took = measure("turned_linear", &texture, PICTURE, PICTURE, 32, 8);
    kernels_print("turned_linear", took, kernels_sum(results, all));
    kernels_fill_bytes(bytes, sizeof bytes, 3);
    picture_of(bytes, CU_AD_FORMAT_UNSIGNED_INT8, 4, CU_TR_FILTER_MODE_LINEAR, CU_TR_ADDRESS_MODE_WRAP,
               CU_TRSF_NORMALIZED_COORDINATES, &texture);
    took = measure("turned_bytes", &texture, PICTURE, PICTURE, 32, 8);
    kernels_print("turned_bytes", took, kernels_sum(results, all));
}

static void run_keys(CUdeviceptr in)
{
    static uint8_t bytes[KEYS * KEY_BYTES];
    kernels_fill_bytes(bytes, sizeof bytes, 2);
    CHECK(cuMemcpyHtoD(in, bytes, sizeof bytes));
    double took = measure("keys", &in, KEYS, 1, 256, 1), sum = 0;
    for (int i = 0; i < KEYS; i++) {
        uint32_t hash;
        memcpy(&hash, &results[i], sizeof hash);
        sum += hash;
    }
    kernels_print("keys", took, sum);
}

int main(void)
{
    CUdeviceptr in;
    module = kernels_load(bench_lanes);
    float *reals = malloc(sizeof results);
    kernels_fill(reals, PICTURE * PICTURE, 1);
    CHECK(cuMemAlloc(&in, sizeof results));
    CHECK(cuMemAlloc(&out, sizeof results));
    CHECK(cuMemcpyHtoD(in, reals, sizeof results));
    double took = measure("waves", &in, WAVES, 1, 128, 1);
    kernels_print("waves", took, kernels_sum(results, WAVES));
    took = measure("set", &in, SET_SIDE * SET_SIDE, 1, 128, 1);
    kernels_print("set", took, kernels_sum(results, SET_SIDE * SET_SIDE));
    run_pictures(reals, in);
    took = measure("tree", &in, TREES, 1, TREE_THREADS, 1);
    kernels_print("tree", took, kernels_sum(results, TREES / TREE_THREADS));
    took = measure("steps", &in, TREES, 1, TREE_THREADS, 1);
    kernels_print("steps", took, kernels_sum(results, TREES));
    run_keys(in);
    return 0;
}
