/* SPDX-License-Identifier: Apache-2.0 */
/* LTO code: what libnvrtc makes with -dlto is what libnvJitLink links with -lto, and the driver runs it. The statuses
 * and sizes are those that NVIDIA's libnvrtc 13.0 gave for the same calls. */
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char caller[] = "extern __device__ float compute(float a, float x);\n"
                             "extern \"C\" __global__ void k(float *p) { *p = compute(*p, 2.0f); }\n";
static const char callee[] = "__device__ float compute(float a, float x) { return a * x + 1.0f; }\n";

struct code {
    char *bytes;
    size_t size;
};

/* What -dlto leaves of a program; the last option may be NULL. */
static struct code make(const char *source, const char *option)
{
    const char *options[] = {"-dlto", option};
    nvrtcProgram program;
    struct code code;
    size_t size = 77;
    char empty = 'x';
    assert_int_equal(nvrtcCreateProgram(&program, source, "part.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, option ? 2 : 1, options), NVRTC_SUCCESS);
    assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
    assert_int_equal(size, 1);
    assert_int_equal(nvrtcGetPTX(program, &empty), NVRTC_SUCCESS);
    assert_int_equal(empty, '\0');
    assert_int_equal(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    assert_int_equal(size, 0);
    assert_int_equal(nvrtcGetLTOIRSize(program, &code.size), NVRTC_SUCCESS);
    assert_true(code.size > 100);
    code.bytes = malloc(code.size);
    assert_int_equal(nvrtcGetLTOIR(program, code.bytes), NVRTC_SUCCESS);
    assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
    return code;
}

static void run(const void *image)
{
    CUcontext context;
    CUdevice device;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr place;
    float value = 5.0f;
    void *parameters[] = {&place};
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_int_equal(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&kernel, module, "k"), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&place, sizeof value), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyHtoD(place, &value, sizeof value), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(&value, place, sizeof value), CUDA_SUCCESS);
    assert_true(value == 11.0f);
    assert_int_equal(cuMemFree(place), CUDA_SUCCESS);
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
}

static nvJitLinkHandle linker(const char *second)
{
    const char *options[] = {"-arch=sm_80", second};
    nvJitLinkHandle handle;
    assert_int_equal(nvJitLinkCreate(&handle, second ? 2 : 1, options), NVJITLINK_SUCCESS);
    return handle;
}

static void links(void **state)
{
    (void)state;
    static const char *const options[] = {NULL, "-rdc=true", "-arch=sm_80", "-arch=compute_75", "-G"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct code parts[] = {make(caller, options[i]), make(callee, options[i])};
        nvJitLinkHandle handle = linker("-lto");
        size_t size = 0;
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(nvJitLinkAddData(handle, k ? NVJITLINK_INPUT_ANY : NVJITLINK_INPUT_LTOIR, parts[k].bytes,
                                              parts[k].size, "part"),
                             NVJITLINK_SUCCESS);
        assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_SUCCESS);
        assert_int_equal(nvJitLinkGetLinkedCubinSize(handle, &size), NVJITLINK_SUCCESS);
        char *image = malloc(size);
        assert_int_equal(nvJitLinkGetLinkedCubin(handle, image), NVJITLINK_SUCCESS);
        assert_int_equal(nvJitLinkDestroy(&handle), NVJITLINK_SUCCESS);
        run(image);
        free(image);
        free(parts[0].bytes);
        free(parts[1].bytes);
    }
}

/* Text goes as LTO code, too: what NVIDIA's libnvvm makes under `millrace run` (src/libs/redirect/nvvm.h). */
static void links_text(void **state)
{
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                               ".visible .func (.param .b32 r) _Z7computeff(.param .b32 a, .param .b32 x)\n{\n"
                               " .reg .f32 %f<4>;\n ld.param.f32 %f1, [a];\n ld.param.f32 %f2, [x];\n"
                               " fma.rn.f32 %f3, %f1, %f2, 0f3F800000;\n st.param.f32 [r], %f3;\n ret;\n}\n";
    struct code part = make(caller, NULL);
    nvJitLinkHandle handle = linker("-lto");
    size_t size = 0;
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_LTOIR, part.bytes, part.size, "part"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_LTOIR, text, sizeof text, "text"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkComplete(handle), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkGetLinkedCubinSize(handle, &size), NVJITLINK_SUCCESS);
    char *image = malloc(size);
    assert_int_equal(nvJitLinkGetLinkedCubin(handle, image), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkDestroy(&handle), NVJITLINK_SUCCESS);
    run(image);
    free(image);
    free(part.bytes);
}

static void refuses(void **state)
{
    (void)state;
    static const char *const whole[] = {"-dlto", "-rdc=false"}, *const valued[] = {"-dlto=true"};
    struct code part = make(callee, NULL);
    nvrtcProgram program;
    nvJitLinkHandle handle = linker(NULL);
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_LTOIR, part.bytes, part.size, "part"),
                     NVJITLINK_ERROR_LTO_NOT_ENABLED);
    assert_int_equal(nvJitLinkDestroy(&handle), NVJITLINK_SUCCESS);
    handle = linker("-lto");
    assert_int_equal(nvJitLinkAddData(handle, NVJITLINK_INPUT_LTOIR, "BC\xc0\xde of another compiler", 24, "part"),
                     NVJITLINK_ERROR_NVVM_COMPILE);
    assert_int_equal(nvJitLinkDestroy(&handle), NVJITLINK_SUCCESS);
    free(part.bytes);
    for (int i = 0; i < 2; i++) {
        size_t size = 77;
        assert_int_equal(nvrtcCreateProgram(&program, callee, NULL, 0, NULL, NULL), NVRTC_SUCCESS);
        assert_int_equal(nvrtcCompileProgram(program, i ? 1 : 2, i ? valued : whole), NVRTC_ERROR_INVALID_OPTION);
        assert_int_equal(nvrtcGetLTOIRSize(program, &size), NVRTC_SUCCESS);
        assert_int_equal(size, 0);
        assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
    }
}

/* Each compilation replaces what the last one left. */
static void again(void **state)
{
    (void)state;
    static const char *const options[] = {"-dlto", "--gen-opt-lto"};
    nvrtcProgram program;
    size_t link_time, ptx;
    assert_int_equal(nvrtcCreateProgram(&program, callee, NULL, 0, NULL, NULL), NVRTC_SUCCESS);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(nvrtcCompileProgram(program, 1, &options[i % 2]), NVRTC_SUCCESS);
        assert_int_equal(nvrtcGetLTOIRSize(program, &link_time), NVRTC_SUCCESS);
        assert_int_equal(nvrtcGetPTXSize(program, &ptx), NVRTC_SUCCESS);
        assert_int_equal(link_time > 0, i % 2 == 0);
        assert_int_equal(ptx > 1, i % 2 == 1);
    }
    assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links),
        cmocka_unit_test(links_text),
        cmocka_unit_test(refuses),
        cmocka_unit_test(again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
