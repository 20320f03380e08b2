/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface references of modules. */
#include "array_support.h"

static const char ptx[] = PTX_HEAD
    ".visible .global .texref picture;\n.visible .global .surfref canvas;\n.visible .global .u32 number;\n"
    ".visible .entry read(.param .u64 unused, .param .u64 out, .param .u64 at)\n{\n"
    "    .reg .b64 %rd<6>;\n    .reg .b32 %r<4>;\n    .reg .f32 %f<6>;\n"
    "    ld.param.u64 %rd2, [out];\n    ld.param.u64 %rd3, [at];\n    mov.u64 %rd4, picture;\n"
    "    mov.u32 %r1, %tid.x;\n    mad.wide.u32 %rd2, %r1, 4, %rd2;\n    mad.wide.u32 %rd3, %r1, 4, %rd3;\n    ld.global.f32 %f1, [%rd3];\n"
    "    and.b32 %r2, %r1, 1;\n    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [picture, {%f1}];\n"
    "    tex.1d.v4.f32.f32 {%f3, _, _, _}, [%rd4, {%f1}];\n    add.f32 %f2, %f2, %f3;\n    st.global.f32 [%rd2], %f2;\n    ret;\n}\n"
    ".visible .entry draw(.param .u32 value)\n{\n    .reg .b32 %r<4>;\n    ld.param.u32 %r1, [value];\n    mov.u32 %r2, %tid.x;\n"
    "    shl.b32 %r2, %r2, 2;\n    add.u32 %r1, %r1, %r2;\n    sust.b.1d.b32.zero [canvas, {%r2}], %r1;\n    ret;\n}\n";

static const float at[4] = {0.5f, 1.25f, 3.5f, 9};

/* Each value comes twice, once by the name and once by the address. */
static void expect(CUmodule module, float a, float b, float c, float d)
{
    const float right[4] = {2 * a, 2 * b, 2 * c, 2 * d};
    float found[4];
    OK(read_texture(get_function(module, "read"), 0, at, found, 4));
    assert_memory_equal(found, right, sizeof right);
}

static void settings_take_effect(void **state)
{
    static const float values[4] = {1, 2, 4, 8};
    CUmodule module = load_module(ptx);
    CUarray array = make_array(4, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0), found;
    CUtexref picture;
    CUaddress_mode mode;
    CUfilter_mode filter;
    CUarray_format format;
    unsigned flags;
    int channels;
    (void)state;
    fill_array(array, values, 16, 1, 1);
    OK(cuModuleGetTexRef(&picture, module, "picture"));
    OK(cuTexRefSetArray(picture, array, CU_TRSA_OVERRIDE_FORMAT));
    expect(module, 1, 2, 8, 8);
    OK(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
    expect(module, 1, 1.75f, 8, 8);
    OK(cuTexRefSetAddressMode(picture, 0, CU_TR_ADDRESS_MODE_BORDER));
    expect(module, 1, 1.75f, 8, 0);
    float colour[4] = {16, 0, 0, 0};
    OK(cuTexRefSetBorderColor(picture, colour));
    expect(module, 1, 1.75f, 8, 16);
    OK(cuTexRefSetFlags(picture, CU_TRSF_NORMALIZED_COORDINATES));
    OK(cuTexRefSetAddressMode(picture, 0, CU_TR_ADDRESS_MODE_WRAP));
    expect(module, 3, 1.5f, 3, 4.5f);
    OK(cuTexRefGetArray(&found, picture));
    assert_ptr_equal(found, array);
    OK(cuTexRefGetAddressMode(&mode, picture, 0));
    assert_int_equal(mode, CU_TR_ADDRESS_MODE_WRAP);
    OK(cuTexRefGetFilterMode(&filter, picture));
    assert_int_equal(filter, CU_TR_FILTER_MODE_LINEAR);
    OK(cuTexRefGetFormat(&format, &channels, picture));
    assert_true(format == CU_AD_FORMAT_FLOAT && channels == 1);
    OK(cuTexRefGetFlags(&flags, picture));
    assert_int_equal(flags, CU_TRSF_NORMALIZED_COORDINATES);
    OK(cuModuleUnload(module));
    FAILS(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_POINT), CUDA_ERROR_INVALID_VALUE);
}

/* Linear filtering does not go with integers: until that is settled the variable is empty. */
static void settings_in_any_order(void **state)
{
    static const unsigned char values[4] = {0, 51, 102, 255};
    CUmodule module = load_module(ptx);
    CUarray array = make_array(4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    CUtexref picture;
    (void)state;
    fill_array(array, values, 4, 1, 1);
    OK(cuModuleGetTexRef(&picture, module, "picture"));
    OK(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
    OK(cuTexRefSetFlags(picture, CU_TRSF_READ_AS_INTEGER));
    OK(cuTexRefSetArray(picture, array, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefSetFlags(picture, 0));
    OK(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_POINT));
    expect(module, 0, 51 / 255.0f, 1, 1);
}

static void memory(void **state)
{
    CUmodule module = load_module(ptx);
    CUtexref picture;
    CUdeviceptr address, found;
    size_t offset = 99;
    (void)state;
    OK(cuMemAlloc(&address, 4096));
    OK(cuModuleGetTexRef(&picture, module, "picture"));
    FAILS(cuTexRefGetAddress(&found, picture), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexRefSetFormat(picture, CU_AD_FORMAT_FLOAT, 1));
    OK(cuTexRefSetAddress(&offset, picture, address, 4096));
    assert_int_equal(offset, 0);
    OK(cuTexRefGetAddress(&found, picture));
    assert_int_equal(found, address);
    OK(cuTexRefSetAddress(&offset, picture, address + 16, 64));
    assert_int_equal(offset, 16);
    FAILS(cuTexRefSetAddress(NULL, picture, address + 16, 64), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexRefSetAddress(&offset, picture, 512, 64), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexRefSetAddress(&offset, picture, 0, 0));
    FAILS(cuTexRefGetAddress(&found, picture), CUDA_ERROR_INVALID_VALUE);
    const CUDA_ARRAY_DESCRIPTOR desc = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    OK(cuTexRefSetAddress2D(picture, &desc, address, 512));
    FAILS(cuTexRefSetAddress2D(picture, &desc, address, 500), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexRefSetAddress2D(picture, NULL, address, 512), CUDA_ERROR_INVALID_VALUE);
}

static void names(void **state)
{
    CUmodule module = load_module(ptx);
    CUtexref picture, again;
    CUsurfref canvas;
    CUdeviceptr address;
    size_t size;
    (void)state;
    OK(cuModuleGetTexRef(&picture, module, "picture"));
    OK(cuModuleGetTexRef(&again, module, "picture"));
    assert_ptr_equal(picture, again);
    OK(cuModuleGetSurfRef(&canvas, module, "canvas"));
    FAILS(cuModuleGetTexRef(&picture, module, "canvas"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetTexRef(&picture, module, "number"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetSurfRef(&canvas, module, "picture"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetTexRef(&picture, module, "nothing"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetGlobal(&address, &size, module, "picture"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexRefSetArray(WILD(CUtexref), NULL, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexRefSetFlags((CUtexref)(void *)canvas, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexRefDestroy(again), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexRefCreate(&picture));
    OK(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
    OK(cuTexRefDestroy(picture));
    FAILS(cuTexRefDestroy(picture), CUDA_ERROR_INVALID_VALUE);
}

static void as_a_parameter(void **state)
{
    CUmodule module = load_module(ptx), other = load_module(ptx);
    CUfunction function = get_function(module, "read");
    CUtexref picture, foreign;
    (void)state;
    OK(cuModuleGetTexRef(&picture, module, "picture"));
    OK(cuModuleGetTexRef(&foreign, other, "picture"));
    OK(cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, picture));
    FAILS(cuParamSetTexRef(function, 0, picture), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, foreign), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, WILD(CUtexref)), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuParamSetTexRef(WILD(CUfunction), CU_PARAM_TR_DEFAULT, picture), CUDA_ERROR_INVALID_HANDLE);
}

static void a_reference_bound_to_nothing(void **state)
{
    float found;
    (void)state;
    FAILS(read_texture(get_function(load_module(ptx), "read"), 0, at, &found, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void surfaces(void **state)
{
    CUmodule module = load_module(ptx);
    CUarray array = make_array(8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST), found_array;
    CUsurfref canvas;
    unsigned value = 7, found[8];
    (void)state;
    OK(cuModuleGetSurfRef(&canvas, module, "canvas"));
    FAILS(cuSurfRefGetArray(&found_array, canvas), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuSurfRefSetArray(canvas, array, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuSurfRefSetArray(canvas, array, 0));
    OK(cuSurfRefGetArray(&found_array, canvas));
    assert_ptr_equal(found_array, array);
    void *params[] = {&value};
    OK(cuLaunchKernel(get_function(module, "draw"), 1, 1, 1, 20, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyAtoH(found, array, 0, 32));
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(found[i], 7 + 4 * i);
}

/* What was set when a launch was made holds for it, however soon it is set anew. */
static void launches_see_what_was_set(void **state)
{
    static const float one[4] = {1, 1, 1, 1}, two[4] = {2, 2, 2, 2};
    CUmodule module = load_module(ptx);
    CUfunction function = get_function(module, "read");
    CUarray arrays[2] = {make_array(4, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0), make_array(4, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0)};
    CUdeviceptr places, results;
    CUtexref picture;
    CUtexObject unused = 0;
    float found[40];
    (void)state;
    fill_array(arrays[0], one, 16, 1, 1);
    fill_array(arrays[1], two, 16, 1, 1);
    OK(cuMemAlloc(&places, 4));
    OK(cuMemsetD32(places, 0, 1));
    OK(cuMemAlloc(&results, sizeof found));
    OK(cuModuleGetTexRef(&picture, module, "picture"));
    for (unsigned i = 0; i < 40; i++) {
        CUdeviceptr to = results + 4 * i;
        void *params[] = {&unused, &to, &places};
        OK(cuTexRefSetArray(picture, arrays[i % 2], CU_TRSA_OVERRIDE_FORMAT));
        OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    }
    OK(cuMemcpyDtoH(found, results, sizeof found));
    for (unsigned i = 0; i < 40; i++)
        assert_true(found[i] == (i % 2 ? 4 : 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(settings_take_effect),
                                       TEST_IN_CONTEXT(settings_in_any_order),
                                       TEST_IN_CONTEXT(memory),
                                       TEST_IN_CONTEXT(names),
                                       TEST_IN_CONTEXT(as_a_parameter),
                                       TEST_IN_CONTEXT(a_reference_bound_to_nothing),
                                       TEST_IN_CONTEXT(surfaces),
                                       TEST_IN_CONTEXT(launches_see_what_was_set)};
    return cmocka_run_group_tests_name("texture and surface references", tests, NULL, NULL);
}
