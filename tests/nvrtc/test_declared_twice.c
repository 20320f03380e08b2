/* SPDX-License-Identifier: Apache-2.0 */
/* Under -default-device: kernels that are declared, specialised, instantiated and befriended beside their definitions,
 * from the source and by macros, among functions of no side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cuda.h>

#include "nvrtc.h"

static const char source[] =
    "#define KERNEL extern \"C\" __global__\n"
    "int twice(int);\nint twice(int x) { auto two = [](int y) { return 2 * y; }; return two(x); }\n"
    "KERNEL void plain(int *p);\nKERNEL void plain(int *p) { *p = twice(2) + 3; }\n"
    "template <class T> __global__ void __launch_bounds__(64) fill(T *p, T first = T{});\n"
    "template <class T> __global__ void __launch_bounds__(64) fill(T *p, T first) { p[threadIdx.x] = first; }\n"
    "template <> __global__ void fill<int>(int *p, int first) { p[threadIdx.x] = first + twice(threadIdx.x); }\n"
    "template __global__ void fill<double>(double *, double);\n"
    "struct friendly { int x; template <class T> friend __global__ void fill(T *p, T first); };\n"
    "int last(int x) { return x; }\n#ifdef WRONG\nint wrong() { return WRONG; }\n#endif\n";

static const char *const words[] = {"-arch=sm_80", "-default-device", "-DWRONG=nothing"};

static char *log_of(nvrtcProgram program)
{
    size_t size = 0;
    assert_int_equal(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
    char *log = malloc(size);
    assert_int_equal(nvrtcGetProgramLog(program, log), NVRTC_SUCCESS);
    return log;
}

static void run(const char *ptx, const char *name, const int *right)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    int values[4] = {0}, first = 5;
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_int_equal(cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&memory, sizeof values), CUDA_SUCCESS);
    assert_int_equal(cuMemsetD8(memory, 0, sizeof values), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, NULL, (void *[]){&memory, &first}, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(values, memory, sizeof values), CUDA_SUCCESS);
    assert_memory_equal(values, right, sizeof values);
    assert_int_equal(cuMemFree(memory), CUDA_SUCCESS);
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
}

static void runs(void **state)
{
    (void)state;
    static const char *const expressions[] = {"fill<int>", "&fill<float>"};
    nvrtcProgram program;
    const char *lowered = NULL;
    size_t size = 0;
    assert_int_equal(nvrtcCreateProgram(&program, source, "twice.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(nvrtcAddNameExpression(program, expressions[i]), NVRTC_SUCCESS);
    if (nvrtcCompileProgram(program, 2, words) != NVRTC_SUCCESS)
        fail_msg("%s", log_of(program));
    assert_int_equal(nvrtcGetLoweredName(program, expressions[1], &lowered), NVRTC_SUCCESS);
    assert_string_equal(lowered, "_Z4fillIfEvPT_S0_");
    assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
    char *ptx = malloc(size);
    assert_int_equal(nvrtcGetPTX(program, ptx), NVRTC_SUCCESS);
    assert_non_null(strstr(ptx, ".entry _Z4fillIdEvPT_S0_"));
    assert_int_equal(nvrtcGetLoweredName(program, expressions[0], &lowered), NVRTC_SUCCESS);
    run(ptx, lowered, (int[]){5, 7, 9, 11});
    run(ptx, "plain", (int[]){7, 0, 0, 0});
    free(ptx);
    nvrtcDestroyProgram(&program);
}

/* What is wrong beside them is told where it is. */
static void fails(void **state)
{
    (void)state;
    nvrtcProgram program;
    assert_int_equal(nvrtcCreateProgram(&program, source, "twice.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 3, words), NVRTC_ERROR_COMPILATION);
    char *log = log_of(program);
    if (!strstr(log, "twice.cu(13): error: use of undeclared identifier 'nothing'"))
        fail_msg("%s", log);
    free(log);
    nvrtcDestroyProgram(&program);
}

/* std::move and std::forward without an include, beside a source's own, and not where they are not wanted. */
static void moves(void **state)
{
    (void)state;
    static const char kernel[] =
        "struct S { int v; __device__ S(int a) : v(a) {} __device__ S(S &&o) : v(o.v + 1) { o.v = 0; } };\n"
        "#ifdef OWN\nnamespace std { template <class T> __device__ T &&move(T &x) { return (T &&)x; } }\n#endif\n"
        "template <class T> __device__ S hand_on(T &&x) {\n#ifdef OWN\n return S((T &&)x);\n#else\n return S(std::forward<T>(x));\n#endif\n}\n"
        "extern \"C\" __global__ void k(int *p) { S a(3); S b(std::move(a)); S c = hand_on(std::move(b));\n"
        " p[threadIdx.x] = (threadIdx.x == 0) * (c.v + a.v + b.v + 2); }\n";
    static const char *const options[] = {"-arch=sm_80", "-DOWN", "-builtin-move-forward=false"};
    for (int own = 0; own < 2; own++) {
        nvrtcProgram program;
        size_t size = 0;
        assert_int_equal(nvrtcCreateProgram(&program, kernel, "move.cu", 0, NULL, NULL), NVRTC_SUCCESS);
        if (nvrtcCompileProgram(program, 1 + own, options) != NVRTC_SUCCESS)
            fail_msg("%s", log_of(program));
        assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
        char *ptx = malloc(size);
        assert_int_equal(nvrtcGetPTX(program, ptx), NVRTC_SUCCESS);
        run(ptx, "k", (int[]){7, 0, 0, 0});
        free(ptx);
        nvrtcDestroyProgram(&program);
    }
    nvrtcProgram program;
    assert_int_equal(nvrtcCreateProgram(&program, kernel, "move.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 2, (const char *[]){options[0], options[2]}),
                     NVRTC_ERROR_COMPILATION);
    nvrtcDestroyProgram(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs), cmocka_unit_test(fails), cmocka_unit_test(moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
