/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's libcudadevrt.a among the inputs of both linkers: kernels that call its functions for a grid that meets, as
 * Numba makes them. The archive of this test has the same member, with a program in it and no device code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cuda.h>

#include "nvJitLink.h"

#define BLOCKS 8
#define THREADS 64
#define COUNT (BLOCKS * THREADS)

/* p[i] is i, then what the thread at the other end wrote; behind them statuses, sizes and ranks. */
static const char caller[] =
    ".version 6.5\n.target sm_60\n.address_size 64\n"
    ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronizeGrid(.param .b64 a, .param .b32 b);\n"
    ".extern .func (.param .b32 r) cudaCGGetSize(.param .b64 a, .param .b64 b, .param .b64 c);\n"
    ".extern .func (.param .b32 r) cudaCGGetRank(.param .b64 a, .param .b64 b, .param .b64 c);\n"
    ".visible .entry k(.param .u64 p, .param .u32 scope)\n{\n"
    ".param .b32 four, flags, status; .param .b64 handle, one, two; .reg .b32 %r<16>; .reg .b64 %d<16>;\n"
    "ld.param.u64 %d1, [p];\nld.param.u32 %r1, [scope];\nst.param.b32 [four], %r1;\nst.param.b32 [flags], 0;\n"
    "call.uni (handle), cudaCGGetIntrinsicHandle, (four);\nld.param.b64 %d2, [handle];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %tid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %nctaid.x;\n"
    "mad.lo.u32 %r6, %r2, %r4, %r3;\nmul.lo.u32 %r7, %r4, %r5;\nsub.u32 %r8, %r7, %r6;\nsub.u32 %r8, %r8, 1;\n"
    "mul.wide.u32 %d3, %r6, 4;\nadd.u64 %d3, %d3, %d1;\nmul.wide.u32 %d4, %r8, 4;\nadd.u64 %d4, %d4, %d1;\n"
    "mul.wide.u32 %d5, %r7, 4;\nadd.u64 %d5, %d5, %d1;\n"
    "st.u32 [%d3], %r6;\nst.param.b64 [one], %d2;\n"
    "call.uni (status), cudaCGSynchronize, (one, flags);\nld.param.b32 %r9, [status];\nld.u32 %r10, [%d4];\n"
    "call.uni (status), cudaCGSynchronizeGrid, (one, flags);\nst.u32 [%d3], %r10;\nst.u32 [%d5], %r9;\n"
    "add.u64 %d6, %d5, 4;\nadd.u64 %d7, %d5, 8;\nst.param.b64 [one], %d6;\nst.param.b64 [two], %d7;\n"
    "st.param.b64 [handle], %d2;\ncall.uni (status), cudaCGGetSize, (one, two, handle);\n"
    "add.u64 %d6, %d3, 4096;\nst.param.b64 [one], %d6;\nst.param.b64 [two], 0;\n"
    "call.uni (status), cudaCGGetRank, (one, two, handle);\nret;\n}\n";

/* What NVIDIA's nvcc -rdc=true puts into a program, in short. */
static const char theirs[] =
    ".version 6.5\n.target sm_60\n.address_size 64\n"
    ".extern .func (.param .b32 r) cnpSetLastError(.param .b32 a);\n"
    ".visible .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b)\n{\n"
    ".param .b32 given, got; .reg .b32 %r<2>;\nst.param.b32 [given], 1;\n"
    "call.uni (got), cnpSetLastError, (given);\nld.param.b32 %r1, [got];\nst.param.b32 [r], %r1;\nret;\n}\n";

static char *archive;
static size_t archive_size;

static void put(const char *name, const void *bytes, size_t size)
{
    archive = realloc(archive, archive_size + 62 + size);
    archive_size +=
        (size_t)snprintf(archive + archive_size, 61, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644, size);
    memcpy(archive + archive_size, bytes, size);
    archive_size += size;
    if (size % 2)
        archive[archive_size++] = '\n';
}

static int begin(void **state)
{
    (void)state;
    static const char names[] = "cuda_device_runtime.o/\n";
    size_t size = 0, got;
    char *program = malloc(1 << 24);
    FILE *file = fopen("/proc/self/exe", "rb");
    while ((got = fread(program + size, 1, (1 << 24) - size, file)) > 0)
        size += got;
    fclose(file);
    archive = strdup("!<arch>\n");
    archive_size = 8;
    put("//", names, sizeof names - 1);
    put("/0", program, size);
    free(program);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(archive);
    return 0;
}

static void run(const void *image)
{
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr place;
    static uint32_t values[4096 / 4 + COUNT];
    uint32_t scope = 1;
    assert_int_equal(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&kernel, module, "k"), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&place, sizeof values), CUDA_SUCCESS);
    assert_int_equal(cuMemsetD8(place, 0xff, sizeof values), CUDA_SUCCESS);
    void *parameters[] = {&place, &scope};
    assert_int_equal(cuLaunchCooperativeKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, parameters), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(values, place, sizeof values), CUDA_SUCCESS);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(values[i], COUNT - 1 - i);
        assert_int_equal(values[1024 + i], i);
    }
    assert_int_equal(values[COUNT], 0);
    assert_int_equal(values[COUNT + 1], COUNT);
    assert_int_equal(values[COUNT + 2], 1);
    /* Without a cooperative launch, and for another scope, there is no handle: cudaErrorInvalidValue. */
    for (scope = 0; scope < 2; scope++) {
        assert_int_equal(cuMemsetD8(place, 0xff, sizeof values), CUDA_SUCCESS);
        assert_int_equal(scope ? cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL)
                               : cuLaunchCooperativeKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, parameters),
                         CUDA_SUCCESS);
        assert_int_equal(cuMemcpyDtoH(values, place, sizeof values), CUDA_SUCCESS);
        assert_int_equal(values[THREADS], 1);
        assert_int_equal(values[THREADS + 1], 0xffffffff);
        assert_int_equal(values[1024], 0xffffffff);
    }
    assert_int_equal(cuMemFree(place), CUDA_SUCCESS);
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
}

static void link_it(nvJitLinkInputType type, const void *data, size_t data_size)
{
    const char *options[] = {"-arch=sm_80"};
    nvJitLinkHandle link;
    size_t size = 0;
    assert_int_equal(nvJitLinkCreate(&link, 1, options), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkAddData(link, type, data, data_size, "libcudadevrt.a"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, caller, sizeof caller, "caller"), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkComplete(link), NVJITLINK_SUCCESS);
    assert_int_equal(nvJitLinkGetLinkedCubinSize(link, &size), NVJITLINK_SUCCESS);
    void *image = malloc(size);
    assert_int_equal(nvJitLinkGetLinkedCubin(link, image), NVJITLINK_SUCCESS);
    run(image);
    free(image);
    assert_int_equal(nvJitLinkDestroy(&link), NVJITLINK_SUCCESS);
}

static void by_nvjitlink(void **state)
{
    (void)state;
    link_it(NVJITLINK_INPUT_LIBRARY, archive, archive_size);
    link_it(NVJITLINK_INPUT_PTX, theirs, sizeof theirs);
}

static void by_driver(void **state)
{
    (void)state;
    CUlinkState link;
    void *image;
    size_t size = 0;
    assert_int_equal(cuLinkCreate(0, NULL, NULL, &link), CUDA_SUCCESS);
    assert_int_equal(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, archive, archive_size, "libcudadevrt.a", 0, NULL, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
    run(image);
    assert_int_equal(cuLinkDestroy(link), CUDA_SUCCESS);
}

int main(void)
{
    CUcontext context;
    CUdevice device;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_nvjitlink), cmocka_unit_test(by_driver)};
    return cmocka_run_group_tests(tests, begin, end);
}
