/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and mipmapped arrays: what makes one, what they say of themselves, how they end. */
#include "array_support.h"

/* The first versions, under their own names. */
#undef cuArrayCreate
#undef cuArrayGetDescriptor
#undef cuArray3DCreate
#undef cuArray3DGetDescriptor

CUresult cuArrayCreate(CUarray *, const CUDA_ARRAY_DESCRIPTOR_v1 *);
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1 *, CUarray);
CUresult cuArray3DCreate(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR_v1 *);
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1 *, CUarray);

static CUresult attempt(CUDA_ARRAY3D_DESCRIPTOR desc)
{
    CUarray array = WILD(CUarray);
    CUresult status = cuArray3DCreate_v2(&array, &desc);
    if (status == CUDA_SUCCESS)
        OK(cuArrayDestroy(array));
    else
        assert_ptr_equal(array, WILD(CUarray));
    return status;
}

static void shapes(void **state)
{
    (void)state;
    OK(attempt((CUDA_ARRAY3D_DESCRIPTOR){5, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}));
    OK(attempt((CUDA_ARRAY3D_DESCRIPTOR){5, 4, 0, CU_AD_FORMAT_HALF, 2, CUDA_ARRAY3D_TEXTURE_GATHER}));
    OK(attempt((CUDA_ARRAY3D_DESCRIPTOR){5, 4, 3, CU_AD_FORMAT_SIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST}));
    OK(attempt((CUDA_ARRAY3D_DESCRIPTOR){5, 0, 3, CU_AD_FORMAT_UNSIGNED_INT16, 1, CUDA_ARRAY3D_LAYERED}));
    OK(attempt((CUDA_ARRAY3D_DESCRIPTOR){4, 4, 12, CU_AD_FORMAT_SNORM_INT8X2, 2,
                                         CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP}));
}

static void bad_shapes(void **state)
{
    static const CUDA_ARRAY3D_DESCRIPTOR bad[] = {{0, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0},
                                                  {0, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0},
                                                  {4, 0, 4, CU_AD_FORMAT_FLOAT, 1, 0},
                                                  {4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0},
                                                  {4, 4, 0, CU_AD_FORMAT_FLOAT, 0, 0},
                                                  {4, 4, 0, (CUarray_format)5, 1, 0},
                                                  {4, 4, 0, CU_AD_FORMAT_UNORM_INT8X4, 2, 0},
                                                  {4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0x400},
                                                  {4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED},
                                                  {4, 5, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP},
                                                  {4, 4, 7, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP},
                                                  {4, 4, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER},
                                                  {SIZE_MAX, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0},
                                                  {SIZE_MAX, SIZE_MAX, SIZE_MAX, CU_AD_FORMAT_FLOAT, 4, 0},
                                                  {131073, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0},
                                                  {4, 4, 2049, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED},
                                                  {32769, 0, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST}};
    static const CUDA_ARRAY3D_DESCRIPTOR refused[] = {{4, 4, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0},
                                                      {4, 4, 0, CU_AD_FORMAT_NV12, 1, 0},
                                                      {4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE},
                                                      {4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FAILS(attempt(bad[i]), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        FAILS(attempt(refused[i]), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuArray3DCreate_v2(NULL, &bad[0]), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArrayCreate_v2(&(CUarray){NULL}, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void descriptors(void **state)
{
    CUarray array = make_array(7, 6, 5, CU_AD_FORMAT_SIGNED_INT16, 4, CUDA_ARRAY3D_SURFACE_LDST);
    CUDA_ARRAY3D_DESCRIPTOR wide;
    CUDA_ARRAY_DESCRIPTOR flat;
    CUDA_ARRAY3D_DESCRIPTOR_v1 old;
    CUDA_ARRAY_DESCRIPTOR_v1 old_flat;
    (void)state;
    OK(cuArray3DGetDescriptor_v2(&wide, array));
    assert_true(wide.Width == 7 && wide.Height == 6 && wide.Depth == 5 && wide.Format == CU_AD_FORMAT_SIGNED_INT16 &&
                wide.NumChannels == 4 && wide.Flags == CUDA_ARRAY3D_SURFACE_LDST);
    OK(cuArrayGetDescriptor_v2(&flat, array));
    assert_true(flat.Width == 7 && flat.Height == 6 && flat.NumChannels == 4);
    OK(cuArray3DGetDescriptor(&old, array));
    assert_true(old.Width == 7 && old.Depth == 5 && old.Flags == CUDA_ARRAY3D_SURFACE_LDST);
    OK(cuArrayGetDescriptor(&old_flat, array));
    assert_true(old_flat.Width == 7 && old_flat.Height == 6);
    FAILS(cuArray3DGetDescriptor_v2(NULL, array), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArray3DGetDescriptor_v2(&wide, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuArrayGetDescriptor(&old_flat, WILD(CUarray)), CUDA_ERROR_INVALID_HANDLE);
    OK(cuArrayDestroy(array));
    FAILS(cuArrayGetDescriptor_v2(&flat, array), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
}

CUresult old_create(CUcontext *context, unsigned flags, CUdevice device) __asm__("cuCtxCreate");

static void old_forms(void **state)
{
    const CUDA_ARRAY_DESCRIPTOR_v1 flat = {4, 3, CU_AD_FORMAT_FLOAT, 2};
    const CUDA_ARRAY3D_DESCRIPTOR_v1 deep = {4, 3, 2, CU_AD_FORMAT_FLOAT, 2, 0};
    CUcontext old;
    CUarray array;
    (void)state;
    FAILS(cuArrayCreate(&array, &flat),
          CUDA_ERROR_INVALID_CONTEXT); /* as on hardware: only in a context that the first interface made */
    OK(old_create(&old, 0, 0));
    OK(cuArrayCreate(&array, &flat));
    OK(cuArrayDestroy(array));
    OK(cuArray3DCreate(&array, &deep));
    OK(cuArrayDestroy(array));
    OK(cuCtxDestroy_v2(old));
}

static void mipmaps(void **state)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {12, 5, 0, CU_AD_FORMAT_FLOAT, 2, 0};
    CUDA_ARRAY3D_DESCRIPTOR found;
    CUmipmappedArray mipmap;
    CUarray level, again;
    (void)state;
    OK(cuMipmappedArrayCreate(&mipmap, &desc, 100));
    for (unsigned i = 0; i < 4; i++) {
        OK(cuMipmappedArrayGetLevel(&level, mipmap, i));
        OK(cuArray3DGetDescriptor_v2(&found, level));
        assert_int_equal(found.Width, 12 >> i);
        assert_int_equal(found.Height, 5 >> i ? 5 >> i : 1);
        assert_int_equal(found.Depth, 0);
    }
    OK(cuMipmappedArrayGetLevel(&again, mipmap, 3));
    assert_ptr_equal(level, again);
    FAILS(cuMipmappedArrayGetLevel(&again, mipmap, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMipmappedArrayGetLevel(NULL, mipmap, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArrayDestroy(level), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArrayDestroy((CUarray)(void *)mipmap), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMipmappedArrayDestroy(mipmap));
    FAILS(cuArray3DGetDescriptor_v2(&found, level), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuMipmappedArrayGetLevel(&again, mipmap, 0), CUDA_ERROR_INVALID_HANDLE);
}

static void questions_that_have_no_answer(void **state)
{
    CUarray array = make_array(4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0), plane;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    (void)state;
    FAILS(cuArrayGetSparseProperties(&sparse, array), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArrayGetMemoryRequirements(&needs, array, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArrayGetMemoryRequirements(&needs, array, 99), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuArrayGetPlane(&plane, array, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArrayGetPlane(&plane, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
}

static void memory_is_counted(void **state)
{
    size_t before, during, after, total;
    (void)state;
    OK(cuMemGetInfo_v2(&before, &total));
    CUarray array = make_array(2048, 1024, 0, CU_AD_FORMAT_FLOAT, 4, 0);
    OK(cuMemGetInfo_v2(&during, &total));
    assert_true(before - during >= (size_t)2048 * 1024 * 16);
    OK(cuArrayDestroy(array));
    OK(cuMemGetInfo_v2(&after, &total));
    assert_int_equal(after, before);
}

static void contexts(void **state)
{
    CUcontext other;
    CUarray mine = make_array(4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0), theirs;
    CUDA_ARRAY_DESCRIPTOR desc;
    (void)state;
    OK(cuCtxCreate_v4(&other, NULL, 0, 0));
    theirs = make_array(4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUtexObject texture = make_texture(theirs, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    OK(cuArrayGetDescriptor_v2(&desc, mine));
    OK(cuCtxDestroy_v2(other));
    FAILS(cuArrayGetDescriptor_v2(&desc, theirs), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuArrayDestroy(theirs), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAILS(cuTexObjectDestroy(texture), CUDA_ERROR_INVALID_VALUE);
    OK(cuArrayDestroy(mine));
}

static void no_context(void **state)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUarray array;
    (void)state;
    OK(cuInit(0));
    FAILS(cuArray3DCreate_v2(&array, &desc), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuArrayDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuMipmappedArrayDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_context),
                                       TEST_IN_CONTEXT(shapes),
                                       TEST_IN_CONTEXT(bad_shapes),
                                       TEST_IN_CONTEXT(descriptors),
                                       TEST_IN_CONTEXT(old_forms),
                                       TEST_IN_CONTEXT(mipmaps),
                                       TEST_IN_CONTEXT(questions_that_have_no_answer),
                                       TEST_IN_CONTEXT(memory_is_counted),
                                       TEST_IN_CONTEXT(contexts)};
    return cmocka_run_group_tests_name("arrays", tests, NULL, NULL);
}
