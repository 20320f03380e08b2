/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that launch kernels: with -rdc=true, and refused without, whichever comes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cuda.h>

#include "nvrtc.h"

#define COUNT 12

static const char source[] =
    "extern \"C\" {\n"
    "__global__ void inner(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += 1.0; }\n"
    "__global__ void outer(float *p, int n, int each)\n{\n"
    "    unsigned int i = threadIdx.x;\n    if (i >= n / each)\n        return;\n"
    "    cudaStream_t stream;\n    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);\n"
    "    inner<<<1, each, 0, stream>>>(p + i * each, each);\n    cudaStreamDestroy(stream);\n"
    "    if (cudaGetLastError() != cudaSuccess)\n        p[0] = -100;\n}\n}\n"
    "#ifdef __CUDACC_RDC__\n__device__ int relocatable = __CUDACC_RDC__;\n#endif\n";

static nvrtcResult compile(const char *word, char **ptx)
{
    nvrtcProgram program;
    size_t size = 0;
    *ptx = NULL;
    assert_int_equal(nvrtcCreateProgram(&program, source, "launches.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    nvrtcResult result = nvrtcCompileProgram(program, 2, (const char *const[]){"-arch=sm_80", word});
    if (result == NVRTC_SUCCESS) {
        assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
        *ptx = malloc(size);
        assert_int_equal(nvrtcGetPTX(program, *ptx), NVRTC_SUCCESS);
    } else {
        assert_int_equal(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
        *ptx = malloc(size);
        assert_int_equal(nvrtcGetProgramLog(program, *ptx), NVRTC_SUCCESS);
    }
    assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
    return result;
}

static void launches(void **state)
{
    (void)state;
    CUmodule module;
    CUfunction outer;
    CUdeviceptr memory, relocatable;
    float values[COUNT];
    int count = COUNT, each = 3, one = 0;
    size_t size;
    char *ptx;
    assert_int_equal(compile("-rdc=true", &ptx), NVRTC_SUCCESS);
    assert_int_equal(cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&outer, module, "outer"), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&memory, sizeof values), CUDA_SUCCESS);
    assert_int_equal(cuMemsetD8(memory, 0, sizeof values), CUDA_SUCCESS);
    void *parameters[] = {&memory, &count, &each};
    for (int i = 0; i < 2; i++)
        assert_int_equal(cuLaunchKernel(outer, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(values, memory, sizeof values), CUDA_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        assert_true(values[i] == 2.0f);
    assert_int_equal(cuModuleGetGlobal(&relocatable, &size, module, "relocatable"), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(&one, relocatable, sizeof one), CUDA_SUCCESS);
    assert_int_equal(one, 1);
    assert_int_equal(cuMemFree(memory), CUDA_SUCCESS);
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
    free(ptx);
}

static void refused(void **state)
{
    (void)state;
    char *log;
    assert_int_equal(compile("-rdc=false", &log), NVRTC_ERROR_COMPILATION);
    assert_non_null(strstr(log, "a launch from a kernel needs relocatable device code: compile with -rdc=true"));
    free(log);
}

int main(void)
{
    CUcontext context;
    CUdevice device;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches), cmocka_unit_test(refused),
                                       cmocka_unit_test(launches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
