/* SPDX-License-Identifier: Apache-2.0 */
/* A message about a call begins with the name of the function that the program called, without a suffix, whichever of
 * its forms that was and whatever other functions share its code. */
#include "api_support.h"

#include <dlfcn.h>

static char text[25600 + 64];

/* The messages since *from. */
static const char *messages(CUlogIterator *from)
{
    size_t size = sizeof text;
    text[0] = '\0';
    OK(cuLogsDumpToMemory(from, text, &size, 0));
    return text;
}

static CUlogIterator now(void)
{
    CUlogIterator from;
    OK(cuLogsCurrent(&from, 0));
    return from;
}

#define NAMED(call, status, name) \
    do { \
        CUlogIterator since = now(); \
        FAILS(call, status); \
        const char *told = messages(&since), *colon = strstr(told, ": "); \
        assert_non_null(colon); \
        if (!strstr(told, name ": ")) \
            fail_msg("%s is not in: %s", name, told); \
    } while (0)

/* The symbol with exactly that name, which a program gets that was built for that form. */
static void *symbol(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    assert_non_null(found);
    return found;
}

static void every_version(void **state)
{
    CUresult (*alloc_first)(unsigned *, unsigned) = (CUresult(*)(unsigned *, unsigned))symbol("cuMemAlloc");
    CUresult (*create_first)(CUcontext *, unsigned, CUdevice) =
        (CUresult(*)(CUcontext *, unsigned, CUdevice))symbol("cuCtxCreate");
    CUresult (*alloc_second)(CUdeviceptr *, size_t) = (CUresult(*)(CUdeviceptr *, size_t))symbol("cuMemAlloc_v2");
    (void)state;
    NAMED(alloc_second(NULL, 4), CUDA_ERROR_INVALID_VALUE, "cuMemAlloc");
    /* The first one is only for contexts that were made by its like. */
    CUcontext old;
    OK(create_first(&old, 0, 0));
    NAMED(alloc_first(NULL, 4), CUDA_ERROR_INVALID_VALUE, "cuMemAlloc");
    OK(cuCtxDestroy(old));
    NAMED(((CUresult(*)(CUevent))symbol("cuEventDestroy_v2"))(WILD(CUevent)), CUDA_ERROR_INVALID_HANDLE,
          "cuEventDestroy");
}

static void per_thread_forms(void **state)
{
    CUresult (*record)(CUevent, CUstream) = (CUresult(*)(CUevent, CUstream))symbol("cuEventRecord_ptsz");
    CUresult (*copy)(CUdeviceptr, const void *, size_t) =
        (CUresult(*)(CUdeviceptr, const void *, size_t))symbol("cuMemcpyHtoD_v2_ptds");
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t, CUstream) =
        (CUresult(*)(CUdeviceptr, unsigned char, size_t, CUstream))symbol("cuMemsetD8Async_ptsz");
    (void)state;
    NAMED(record(WILD(CUevent), NULL), CUDA_ERROR_INVALID_HANDLE, "cuEventRecord");
    NAMED(copy(0, "source", 4), CUDA_ERROR_INVALID_VALUE, "cuMemcpyHtoD");
    NAMED(fill(0, 1, 4, NULL), CUDA_ERROR_INVALID_VALUE, "cuMemsetD8Async");
}

static void shared_code(void **state)
{
    CUgraphExec exec;
    int blocks;
    (void)state;
    NAMED(cuEventRecord(WILD(CUevent), NULL), CUDA_ERROR_INVALID_HANDLE, "cuEventRecord");
    NAMED(cuEventRecordWithFlags(WILD(CUevent), NULL, 0), CUDA_ERROR_INVALID_HANDLE, "cuEventRecordWithFlags");
    NAMED(cuMemcpyDtoH(NULL, 0, 4), CUDA_ERROR_INVALID_VALUE, "cuMemcpyDtoH");
    NAMED(cuMemcpy(0, 0, 4), CUDA_ERROR_INVALID_VALUE, "cuMemcpy");
    NAMED(cuGraphInstantiateWithFlags(&exec, WILD(CUgraph), 0), CUDA_ERROR_INVALID_VALUE,
          "cuGraphInstantiateWithFlags");
    NAMED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, WILD(CUfunction), 32, 0), CUDA_ERROR_INVALID_HANDLE,
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    NAMED(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, WILD(CUfunction), 32, 0, 0),
          CUDA_ERROR_INVALID_HANDLE, "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
    NAMED(cuOccupancyMaxPotentialBlockSize(NULL, &blocks, WILD(CUfunction), NULL, 0, 0), CUDA_ERROR_INVALID_VALUE,
          "cuOccupancyMaxPotentialBlockSize");
    NAMED(cuLaunchKernel(WILD(CUfunction), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE,
          "cuLaunchKernel");
    NAMED(cuLaunchCooperativeKernel(WILD(CUfunction), 1, 1, 1, 1, 1, 1, 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE,
          "cuLaunchCooperativeKernel");
}

static void not_implemented(void **state)
{
    (void)state;
    NAMED(cuGraphicsUnregisterResource(WILD(CUgraphicsResource)), CUDA_ERROR_INVALID_HANDLE,
          "cuGraphicsUnregisterResource");
}

static void capture_refuses(void **state)
{
    CUstream stream;
    CUgraph graph = NULL;
    CUdeviceptr memory;
    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    NAMED(cuMemAlloc(&memory, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuMemAlloc");
    FAILS(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamDestroy(stream));
}

static int calls_made;

/* A function of the program's that a call of the driver calls, and that makes a call itself. */
static size_t CUDA_CB dynamic_of(int threads)
{
    (void)threads;
    calls_made++;
    FAILS(cuEventQuery(WILD(CUevent)), CUDA_ERROR_INVALID_HANDLE);
    return 0;
}

static void calls_within_calls(void **state)
{
    CUmodule module;
    CUfunction function;
    int grid, block;
    (void)state;
    OK(cuModuleLoadData(&module, PTX_HEAD PTX_EMPTY));
    OK(cuModuleGetFunction(&function, module, "empty"));
    CUlogIterator from = now();
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, dynamic_of, 0, 0));
    assert_true(calls_made > 0);
    assert_non_null(strstr(messages(&from), "cuEventQuery: "));
    OK(cuModuleUnload(module));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(every_version),   TEST_IN_CONTEXT(per_thread_forms), TEST_IN_CONTEXT(shared_code),
        TEST_IN_CONTEXT(not_implemented), TEST_IN_CONTEXT(capture_refuses),  TEST_IN_CONTEXT(calls_within_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
