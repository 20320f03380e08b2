/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel reads textures in visits (base/visit.h): a fault in the middle of one must not leave it open, or no record
 * would ever be used again. */
#include "array_support.h"

#include "base/visit.h"

/* Whether all visits that began before now get over. Nobody else makes calls. */
static bool visits_end(void)
{
    uint64_t now = mr_visit_now();
    for (int i = 0; i < 100 && !mr_visit_is_over(now); i++) {
        mr_visit_advance();
        usleep(1000);
    }
    return mr_visit_is_over(now);
}

/* Reads `texture` and expects the fault. The context is gone afterwards. */
static void read_and_fail(CUtexObject texture, CUresult status)
{
    const float at = 0.5f;
    float found;
    FAILS(read_texture(get_function(load_module(PTX_HEAD PTX_READ_1D), "read"), texture, &at, &found, 1), status);
    assert_true(visits_end());
}

static void no_texture(void **state)
{
    (void)state;
    read_and_fail((CUtexObject)5, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void another_geometry(void **state)
{
    (void)state;
    read_and_fail(make_texture(make_array(4, 4, 4, CU_AD_FORMAT_FLOAT, 1, 0), CU_TR_ADDRESS_MODE_CLAMP,
                               CU_TR_FILTER_MODE_POINT, 0),
                  CUDA_ERROR_LAUNCH_FAILED);
}

/* The memory behind the texture has gone: a signal, in the middle of reading. */
static void memory_that_is_gone(void **state)
{
    const size_t pitch = 4096, height = 16384;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                   .res.pitch2D = {.format = CU_AD_FORMAT_FLOAT,
                                                   .numChannels = 1,
                                                   .width = pitch / 4,
                                                   .height = height,
                                                   .pitchInBytes = pitch}};
    const CUDA_TEXTURE_DESC desc = {.filterMode = CU_TR_FILTER_MODE_POINT};
    CUtexObject texture;
    (void)state;
    OK(cuMemAlloc(&resource.res.pitch2D.devPtr, pitch * height));
    OK(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    OK(cuMemFree(resource.res.pitch2D.devPtr));
    read_and_fail(texture, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void a_good_one(void **state)
{
    const float values[2] = {3, 4}, at = 1.5f;
    float found = 0;
    (void)state;
    CUarray array = make_array(2, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    fill_array(array, values, 8, 1, 1);
    CUtexObject texture = make_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    OK(read_texture(get_function(load_module(PTX_HEAD PTX_READ_1D), "read"), texture, &at, &found, 1));
    assert_true(found == 4);
    assert_true(visits_end());
    OK(cuTexObjectDestroy(texture));
    OK(cuArrayDestroy(array));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(a_good_one), TEST_IN_CONTEXT(no_texture),
                                       TEST_IN_CONTEXT(another_geometry), TEST_IN_CONTEXT(memory_that_is_gone)};
    return cmocka_run_group_tests_name("visits of kernels that read textures", tests, NULL, NULL);
}
