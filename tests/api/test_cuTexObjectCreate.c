/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects: descriptors, lifetimes, reads by warps whose lanes go different ways or read different
 * textures. */
#include "array_support.h"

static CUresult attempt(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *desc,
                        const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUtexObject texture = 77;
    CUresult status = cuTexObjectCreate(&texture, resource, desc, view);
    if (status == CUDA_SUCCESS)
        OK(cuTexObjectDestroy(texture));
    else
        assert_int_equal(texture, 77);
    return status;
}

static void bad_descriptors(void **state)
{
    CUDA_RESOURCE_DESC good = array_resource(make_array(8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0)), resource;
    const CUDA_TEXTURE_DESC plain = {.flags = 0};
    CUDA_TEXTURE_DESC desc;
    (void)state;
    OK(attempt(&good, &plain, NULL));
    FAILS(attempt(NULL, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(attempt(&good, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexObjectCreate(NULL, &good, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    resource = good;
    resource.flags = 1;
    FAILS(attempt(&resource, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    resource = good;
    resource.res.array.hArray = WILD(CUarray);
    FAILS(attempt(&resource, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    resource.resType = (CUresourcetype)9;
    FAILS(attempt(&resource, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    desc = plain;
    desc.addressMode[2] = (CUaddress_mode)4;
    FAILS(attempt(&good, &desc, NULL), CUDA_ERROR_INVALID_VALUE);
    desc = plain;
    desc.filterMode = (CUfilter_mode)2;
    FAILS(attempt(&good, &desc, NULL), CUDA_ERROR_INVALID_VALUE);
    desc = plain;
    desc.flags = CU_TRSF_SEAMLESS_CUBEMAP;
    FAILS(attempt(&good, &desc, NULL), CUDA_ERROR_INVALID_VALUE);
    const CUDA_RESOURCE_VIEW_DESC views[] = {
        {.format = CU_RES_VIEW_FORMAT_NONE, .width = 8, .height = 8},
        {.format = CU_RES_VIEW_FORMAT_UINT_4X8, .width = 8},
        {.format = CU_RES_VIEW_FORMAT_UINT_4X16, .width = 8, .height = 8},
        {.format = CU_RES_VIEW_FORMAT_UINT_4X8, .width = 8, .height = 8, .lastLayer = 1},
        {.format = CU_RES_VIEW_FORMAT_UINT_4X8, .width = 8, .height = 8, .lastMipmapLevel = 1}};
    for (unsigned i = 0; i < sizeof views / sizeof *views; i++)
        FAILS(attempt(&good, &plain, &views[i]), CUDA_ERROR_INVALID_VALUE);
    FAILS(attempt(&good, &plain,
                  &(CUDA_RESOURCE_VIEW_DESC){.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1, .width = 32, .height = 32}),
          CUDA_ERROR_NOT_SUPPORTED);
}

static void bad_memory(void **state)
{
    const CUDA_TEXTURE_DESC plain = {.flags = 0};
    CUDA_RESOURCE_DESC linear = {.resType = CU_RESOURCE_TYPE_LINEAR}, pitch = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    CUdeviceptr memory;
    (void)state;
    OK(cuMemAlloc(&memory, 8192));
    linear.res.linear.devPtr = memory;
    linear.res.linear.format = CU_AD_FORMAT_FLOAT;
    linear.res.linear.numChannels = 2;
    linear.res.linear.sizeInBytes = 8192;
    OK(attempt(&linear, &plain, NULL));
    linear.res.linear.sizeInBytes = 4;
    OK(attempt(&linear, &plain, NULL));
    linear.res.linear.sizeInBytes = SIZE_MAX;
    FAILS(attempt(&linear, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    linear.res.linear.sizeInBytes = 1024;
    linear.res.linear.devPtr = memory + 8;
    FAILS(attempt(&linear, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    linear.res.linear.devPtr = memory;
    linear.res.linear.numChannels = 3;
    FAILS(attempt(&linear, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    pitch.res.pitch2D.devPtr = memory;
    pitch.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    pitch.res.pitch2D.numChannels = 1;
    pitch.res.pitch2D.width = 16;
    pitch.res.pitch2D.height = 16;
    pitch.res.pitch2D.pitchInBytes = 512;
    OK(attempt(&pitch, &plain, NULL));
    pitch.res.pitch2D.height = 70000;
    FAILS(attempt(&pitch, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
    pitch.res.pitch2D.height = 16;
    pitch.res.pitch2D.pitchInBytes = 100;
    FAILS(attempt(&pitch, &plain, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void they_say_what_they_were_made_of(void **state)
{
    CUarray array = make_array(8, 4, 3, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_LAYERED);
    const CUDA_RESOURCE_DESC resource = array_resource(array);
    const CUDA_TEXTURE_DESC desc = {.addressMode = {1, 2, 3},
                                    .flags = CU_TRSF_NORMALIZED_COORDINATES,
                                    .maxAnisotropy = 3,
                                    .borderColor = {1, 2, 3, 4}};
    const CUDA_RESOURCE_VIEW_DESC view = {
        .format = CU_RES_VIEW_FORMAT_SINT_2X16, .width = 8, .height = 4, .depth = 3, .firstLayer = 1, .lastLayer = 2};
    CUDA_RESOURCE_DESC resource_found;
    CUDA_TEXTURE_DESC desc_found;
    CUDA_RESOURCE_VIEW_DESC view_found;
    CUtexObject texture;
    (void)state;
    OK(cuTexObjectCreate(&texture, &resource, &desc, &view));
    OK(cuTexObjectGetResourceDesc(&resource_found, texture));
    assert_ptr_equal(resource_found.res.array.hArray, array);
    OK(cuTexObjectGetTextureDesc(&desc_found, texture));
    assert_memory_equal(&desc_found, &desc, sizeof desc);
    OK(cuTexObjectGetResourceViewDesc(&view_found, texture));
    assert_memory_equal(&view_found, &view, sizeof view);
    FAILS(cuTexObjectGetResourceDesc(NULL, texture), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexObjectGetTextureDesc(&desc_found, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuSurfObjectGetResourceDesc(&resource_found, texture), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexObjectDestroy(texture));
    OK(cuTexObjectDestroy(0));
    FAILS(cuTexObjectDestroy(texture), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexObjectGetResourceDesc(&resource_found, texture), CUDA_ERROR_INVALID_VALUE);
}

static void a_texture_keeps_its_array(void **state)
{
    static const float values[4] = {1, 2, 3, 4}, at[4] = {0.5f, 1.5f, 2.5f, 9};
    float found[4];
    CUarray array = make_array(4, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    fill_array(array, values, 16, 1, 1);
    CUtexObject texture = make_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    (void)state;
    OK(cuArrayDestroy(array));
    CUarray other = make_array(4, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    fill_array(other, (float[4]){0}, 16, 1, 1);
    OK(read_texture(get_function(load_module(PTX_HEAD PTX_READ_1D), "read"), texture, at, found, 4));
    assert_memory_equal(found, values, sizeof values);
    OK(cuTexObjectDestroy(texture));
}

/* Odd lanes read one texture, even ones another; a third of them reads under a guard; a branch leaves others out. */
static void lanes_go_their_own_ways(void **state)
{
    static const char ptx[] = PTX_HEAD
        ".visible .entry mixed(.param .u64 one, .param .u64 two, .param .u64 out)\n{\n"
        "    .reg .b64 %rd<6>;\n    .reg .b32 %r<6>;\n    .reg .f32 %f<8>;\n    .reg .pred %p<4>;\n"
        "    ld.param.u64 %rd1, [one];\n    ld.param.u64 %rd2, [two];\n    ld.param.u64 %rd3, [out];\n"
        "    mov.u32 %r1, %tid.x;\n    mad.wide.u32 %rd3, %r1, 4, %rd3;\n    and.b32 %r2, %r1, 1;\n    setp.eq.u32 %p1, %r2, 0;\n"
        "    selp.b64 %rd4, %rd1, %rd2, %p1;\n    cvt.rn.f32.u32 %f1, %r1;\n    mov.f32 %f2, 0fBF800000;\n"
        "    rem.u32 %r3, %r1, 3;\n    setp.eq.u32 %p2, %r3, 0;\n    setp.gt.u32 %p3, %r1, 40;\n    @%p3 bra far;\n"
        "    @%p2 tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd4, {%f1}];\n    bra.uni done;\n"
        "far:\n    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd4, {%f1}];\n    add.f32 %f2, %f2, %f2;\n"
        "done:\n    st.global.f32 [%rd3], %f2;\n    ret;\n}\n";
    float values[2][64], found[64];
    CUtexObject textures[2];
    CUdeviceptr out;
    (void)state;
    for (int k = 0; k < 2; k++) {
        CUarray array = make_array(64, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
        for (int i = 0; i < 64; i++)
            values[k][i] = (float)(1000 * k + i);
        fill_array(array, values[k], 256, 1, 1);
        textures[k] = make_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    }
    OK(cuMemAlloc(&out, sizeof found));
    void *params[] = {&textures[0], &textures[1], &out};
    OK(cuLaunchKernel(get_function(load_module(ptx), "mixed"), 1, 1, 1, 61, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(found, out, 61 * 4));
    for (int i = 0; i < 61; i++) {
        float value = values[i % 2][i];
        assert_true(found[i] == (i > 40 ? 2 * value : i % 3 == 0 ? value : -1));
    }
}

/* A plane of floats is read a short way, unless there are offsets: both ways have to give the same bits. */
static void the_short_way_is_the_long_way(void **state)
{
    enum { N = 512 };
    static const char ptx_text[] = PTX_HEAD
        ".visible .entry both(.param .u64 texture, .param .u64 out, .param .u64 at)\n{\n"
        "    .reg .b64 %rd<6>;\n    .reg .b32 %r<2>;\n    .reg .f32 %f<12>;\n    ld.param.u64 %rd1, [texture];\n    ld.param.u64 %rd2, [out];\n"
        "    ld.param.u64 %rd3, [at];\n    mov.u32 %r1, %tid.x;\n    mad.wide.u32 %rd2, %r1, 48, %rd2;\n    mad.wide.u32 %rd3, %r1, 8, %rd3;\n"
        "    ld.global.v2.f32 {%f1, %f2}, [%rd3];\n    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n"
        "    tex.2d.v4.f32.f32 {%f7, %f8, %f9, %f10}, [%rd1, {%f1, %f2}], {0, 0};\n    st.global.v4.f32 [%rd2], {%f3, %f4, %f5, %f6};\n"
        "    st.global.v4.f32 [%rd2+16], {%f7, %f8, %f9, %f10};\n    tex.1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1}];\n"
        "    tex.1d.v4.f32.f32 {%f7, %f8, %f9, %f10}, [%rd1, {%f1}], {0};\n    st.global.v2.f32 [%rd2+32], {%f3, %f4};\n"
        "    st.global.v2.f32 [%rd2+40], {%f7, %f8};\n    ret;\n}\n";
    static float at[N][2], found[N][12], values[13 * 7 * 4];
    CUfunction function = get_function(load_module(ptx_text), "both");
    CUdeviceptr places, results;
    unsigned seed = 12345;
    (void)state;
    OK(cuMemAlloc(&places, sizeof at));
    OK(cuMemAlloc(&results, sizeof found));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = (float)(int)((seed = seed * 1664525 + 1013904223) >> 8) / 977 - 4000;
    values[17] = 1.0f / 0.0f;
    values[40] = 0.0f / 0.0f;
    for (unsigned variant = 0; variant < 4 * 2 * 2 * 3; variant++) {
        unsigned channels = 1u << variant / 16, flags = variant & 8 ? CU_TRSF_NORMALIZED_COORDINATES : 0;
        CUarray array = make_array(13, 7, 0, CU_AD_FORMAT_FLOAT, channels, 0);
        fill_array(array, values, 13 * 4 * channels, 7, 1);
        const CUDA_RESOURCE_DESC resource = array_resource(array);
        CUDA_TEXTURE_DESC desc = {.addressMode = {variant & 3, (variant + variant / 8) & 3},
                                  .filterMode = variant >> 2 & 1,
                                  .flags = flags,
                                  .borderColor = {1, 2, 3, 4}};
        CUtexObject texture;
        OK(cuTexObjectCreate(&texture, &resource, &desc, NULL));
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 2; k++) {
                at[i][k] = ((float)((seed = seed * 1664525 + 1013904223) >> 8) / 16777216 * 3 - 1) * (flags ? 1
                                                                                                      : k   ? 7
                                                                                                            : 13);
                at[i][k] = i == 5 ? 0.0f / 0.0f : i == 6 ? 1e38f : i == 7 ? -1e38f : at[i][k];
            }
        OK(cuMemcpyHtoD(places, at, sizeof at));
        void *params[] = {&texture, &results, &places};
        OK(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
        OK(cuMemcpyDtoH(found, results, sizeof found));
        for (int i = 0; i < N; i++) {
            assert_memory_equal(&found[i][0], &found[i][4], 16);
            assert_memory_equal(&found[i][8], &found[i][10], 8);
        }
        OK(cuTexObjectDestroy(texture));
        OK(cuArrayDestroy(array));
    }
}

/* Of more offsets or coordinates than the geometry has, the first ones count; a number beside the coordinates that is
 * no vector shifts nothing. */
static void more_than_the_geometry_has(void **state)
{
    static const char ptx[] = PTX_HEAD
        ".visible .entry shifted(.param .u64 texture, .param .u64 out, .param .u64 at)\n{\n"
        "    .reg .b64 %rd<6>;\n    .reg .b32 %r<6>;\n    .reg .s32 %s<2>;\n    .reg .f32 %f<8>;\n    ld.param.u64 %rd1, [texture];\n"
        "    ld.param.u64 %rd2, [out];\n    mov.u32 %r1, %tid.x;\n    mad.wide.u32 %rd2, %r1, 32, %rd2;\n    cvt.rn.f32.u32 %f1, %r1;\n"
        "    mov.u32 %r2, 2;\n    mov.u32 %r3, 5;\n    mov.s32 %s1, 3;\n"
        "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}], {%r2, %r3};\n    st.global.f32 [%rd2], %f2;\n"
        "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}], {-1, 9, 9, 9};\n    st.global.f32 [%rd2+4], %f2;\n"
        "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1, %f6}], {1};\n    st.global.f32 [%rd2+8], %f2;\n"
        "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}], %s1;\n    st.global.f32 [%rd2+12], %f2;\n"
        "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}], 3;\n    st.global.f32 [%rd2+16], %f2;\n"
        "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}], %r2;\n    st.global.f32 [%rd2+20], %f2;\n"
        "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}], %r2, %f1;\n    st.global.f32 [%rd2+24], %f2;\n"
        "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}], {%r2, %f1}, %f1;\n    st.global.f32 [%rd2+28], %f2;\n    ret;\n}\n";
    enum { N = 16 };
    static const int by[8] = {2, -1, 1, 0, 0, 0, 0, 2};
    float values[N], found[N * 8];
    (void)state;
    CUarray array = make_array(N, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    for (int i = 0; i < N; i++)
        values[i] = (float)(100 + i);
    fill_array(array, values, sizeof values, 1, 1);
    CUtexObject texture = make_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUdeviceptr results;
    OK(cuMemAlloc(&results, sizeof found));
    void *params[] = {&texture, &results, &results};
    OK(cuLaunchKernel(get_function(load_module(ptx), "shifted"), 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(found, results, sizeof found));
    for (int i = 0; i < N * 8; i++) {
        int place = i / 8 + by[i % 8];
        assert_true(found[i] == values[place < 0 ? 0 : place >= N ? N - 1 : place]);
    }
    OK(cuTexObjectDestroy(texture));
}

/* A handle that is none, and one of another shape, end the context and not the process. */
static void bad_handles(void **state)
{
    static const struct {
        bool made;
        CUresult status;
    } cases[] = {{false, CUDA_ERROR_ILLEGAL_ADDRESS}, {true, CUDA_ERROR_LAUNCH_FAILED}};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        CUcontext context;
        float at = 0, out;
        OK(cuCtxCreate_v4(&context, NULL, 0, 0));
        CUtexObject texture = cases[i].made ? make_texture(make_array(4, 4, 4, CU_AD_FORMAT_FLOAT, 1, 0),
                                                           CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0)
                                            : 5;
        FAILS(read_texture(get_function(load_module(PTX_HEAD PTX_READ_1D), "read"), texture, &at, &out, 1),
              cases[i].status);
        OK(cuCtxDestroy_v2(context));
    }
}

static void surfaces(void **state)
{
    CUDA_RESOURCE_DESC good = array_resource(make_array(8, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST)),
                       found;
    CUsurfObject surface;
    (void)state;
    OK(cuSurfObjectCreate(&surface, &good));
    OK(cuSurfObjectGetResourceDesc(&found, surface));
    assert_ptr_equal(found.res.array.hArray, good.res.array.hArray);
    OK(cuSurfObjectDestroy(surface));
    FAILS(cuSurfObjectDestroy(surface), CUDA_ERROR_INVALID_VALUE);
    OK(cuSurfObjectDestroy(0));
    FAILS(cuSurfObjectCreate(NULL, &good), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuSurfObjectCreate(&surface, NULL), CUDA_ERROR_INVALID_VALUE);
    good.resType = CU_RESOURCE_TYPE_LINEAR;
    FAILS(cuSurfObjectCreate(&surface, &good), CUDA_ERROR_INVALID_VALUE);
}

/* What a kernel learns of a texture by txq and of a surface by suq. */
static void questions(void **state)
{
    static const struct {
        const char *instruction;
        unsigned answer;
    } asked[] = {{"txq.width.b32", 16},
                 {"txq.height.b32", 8},
                 {"txq.depth.b32", 0},
                 {"txq.channel_data_type.b32", CU_AD_FORMAT_HALF},
                 {"txq.channel_order.b32", 4},
                 {"txq.array_size.b32", 0},
                 {"txq.normalized_coords.b32", 1},
                 {"txq.force_unnormalized_coords.b32", 0},
                 {"txq.num_mipmap_levels.b32", 1},
                 {"txq.num_samples.b32", 1},
                 {"txq.filter_mode.b32", 1},
                 {"txq.addr_mode_0.b32", 1},
                 {"txq.addr_mode_1.b32", 4},
                 {"txq.addr_mode_2.b32", 3},
                 {"suq.width.b32", 16},
                 {"suq.height.b32", 8},
                 {"suq.channel_data_type.b32", CU_AD_FORMAT_HALF},
                 {"suq.channel_order.b32", 4},
                 {"suq.array_size.b32", 0},
                 {"suq.memory_layout.b32", 0}};
    enum { ASKED = sizeof asked / sizeof *asked };
    static char ptx[4000];
    unsigned answers[ASKED];
    CUDA_RESOURCE_DESC resource = array_resource(make_array(16, 8, 0, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_SURFACE_LDST));
    const CUDA_TEXTURE_DESC desc = {
        .addressMode = {CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER, CU_TR_ADDRESS_MODE_CLAMP},
        .filterMode = CU_TR_FILTER_MODE_LINEAR,
        .flags = CU_TRSF_NORMALIZED_COORDINATES};
    CUtexObject texture;
    CUsurfObject surface;
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    (void)state;
    size_t at = (size_t)snprintf(ptx, sizeof ptx,
                                 PTX_HEAD ".visible .entry ask(.param .u64 out, .param .u64 t, .param .u64 s)\n{\n"
                                          ".reg .b64 %%o, %%t, %%s; .reg .b32 %%r;\n"
                                          "ld.param.u64 %%o, [out]; ld.param.u64 %%t, [t]; ld.param.u64 %%s, [s];\n");
    for (unsigned i = 0; i < ASKED; i++)
        at += (size_t)snprintf(ptx + at, sizeof ptx - at, "%s %%r, [%s]; st.global.u32 [%%o+%u], %%r;\n",
                               asked[i].instruction, asked[i].instruction[0] == 't' ? "%t" : "%s", 4 * i);
    snprintf(ptx + at, sizeof ptx - at, "ret;\n}\n");
    OK(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    OK(cuSurfObjectCreate(&surface, &resource));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "ask"));
    OK(cuMemAlloc(&out, sizeof answers));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out, &texture, &surface}, NULL));
    OK(cuMemcpyDtoH(answers, out, sizeof answers));
    for (unsigned i = 0; i < ASKED; i++)
        if (answers[i] != asked[i].answer)
            fail_msg("%s gives %u, not %u", asked[i].instruction, answers[i], asked[i].answer);
    OK(cuMemFree(out));
    OK(cuModuleUnload(module));
    OK(cuSurfObjectDestroy(surface));
    OK(cuTexObjectDestroy(texture));
    OK(cuArrayDestroy(resource.res.array.hArray));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(bad_descriptors),
                                       TEST_IN_CONTEXT(bad_memory),
                                       TEST_IN_CONTEXT(they_say_what_they_were_made_of),
                                       TEST_IN_CONTEXT(a_texture_keeps_its_array),
                                       TEST_IN_CONTEXT(lanes_go_their_own_ways),
                                       TEST_IN_CONTEXT(the_short_way_is_the_long_way),
                                       TEST_IN_CONTEXT(more_than_the_geometry_has),
                                       TEST_IN_CONTEXT(bad_handles),
                                       TEST_IN_CONTEXT(surfaces),
                                       TEST_IN_CONTEXT(questions)};
    return cmocka_run_group_tests_name("texture and surface objects", tests, NULL, NULL);
}
