/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries and kernels: loading without a context, use in several, attributes per device, launches through a CUkernel.
 */
#include <unistd.h>

#include "api_support.h"

#define PTX PTX_HEAD PTX_COUNTER PTX_STORE PTX_EMPTY

static CUlibrary load_library(void)
{
    CUlibrary library = NULL;
    OK(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static CUkernel get_kernel(CUlibrary library, const char *name)
{
    CUkernel kernel = NULL;
    OK(cuLibraryGetKernel(&kernel, library, name));
    return kernel;
}

static void a_library_needs_no_context(void **state)
{
    CUkernel kernels[8] = {NULL}, kernel;
    CUlibrary owner = NULL;
    CUfunction function;
    CUmodule module;
    CUdeviceptr address;
    const char *name = NULL;
    unsigned count = 0;
    (void)state;
    OK(cuInit(0));
    CUlibrary library = load_library();
    kernel = get_kernel(library, "store");
    assert_ptr_equal(get_kernel(library, "store"), kernel);
    OK(cuKernelGetName(&name, kernel));
    assert_string_equal(name, "store");
    OK(cuKernelGetLibrary(&owner, kernel));
    assert_ptr_equal(owner, library);
    OK(cuLibraryGetKernelCount(&count, library));
    assert_int_equal(count, 3);
    OK(cuLibraryEnumerateKernels(kernels, 8, library));
    assert_non_null(kernels[2]);
    assert_null(kernels[3]);
    FAILS(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuLibraryGetModule(&module, library), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuLibraryGetGlobal(&address, NULL, library, "counter"), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuLibraryUnload(library));
    FAILS(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuKernelGetName(&name, kernel), CUDA_ERROR_INVALID_HANDLE);
}

static void launches_find_the_context(void **state)
{
    CUcontext first = *state, second;
    CUlibrary library = load_library();
    CUkernel kernel = get_kernel(library, "increase");
    CUdeviceptr one = 0, two = 0;
    size_t size = 0;
    CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 4, .blockDimY = 1, .blockDimZ = 1};
    OK(cuLibraryGetGlobal(&one, &size, library, "counter"));
    assert_int_equal(size, 4);
    OK(cuLaunchKernelEx(&config, (CUfunction)kernel, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuCtxCreate(&second, NULL, 0, 0));
    OK(cuLibraryGetGlobal(&two, NULL, library, "counter"));
    assert_int_not_equal(one, two);
    OK(cuLaunchKernel((CUfunction)kernel, 2, 1, 1, 8, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(two), 23);
    OK(cuCtxSetCurrent(first));
    assert_int_equal(read_word(one), 11);
    OK(cuCtxDestroy(second));
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(one), 12);
    OK(cuLibraryUnload(library));
    FAILS(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void functions_and_modules(void **state)
{
    CUlibrary library = load_library();
    CUkernel kernel = get_kernel(library, "store");
    CUfunction function = NULL, again = NULL;
    CUmodule module = NULL, owner = NULL;
    CUdeviceptr address = 0, same = 0;
    void *unified;
    (void)state;
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuKernelGetFunction(&again, kernel));
    assert_ptr_equal(function, again);
    OK(cuLibraryGetModule(&module, library));
    OK(cuFuncGetModule(&owner, function));
    assert_ptr_equal(module, owner);
    OK(cuModuleGetGlobal(&address, NULL, module, "counter"));
    OK(cuLibraryGetGlobal(&same, NULL, library, "counter"));
    assert_int_equal(address, same);
    FAILS(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED); /* the library's */
    FAILS(cuLibraryGetManaged(&address, NULL, library, "counter"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuLibraryGetGlobal(&address, NULL, library, "missing"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuLibraryGetUnifiedFunction(&unified, library, "store"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncGetModule(&owner, (CUfunction)kernel),
          CUDA_ERROR_INVALID_HANDLE); /* only launches and occupancy take kernels */
    OK(cuLibraryUnload(library));
    FAILS(cuModuleGetGlobal(&address, NULL, module, "counter"), CUDA_ERROR_INVALID_HANDLE);
}

#define PTX_MANAGED \
    PTX_HEAD \
    ".visible .global .attribute(.managed) .align 8 .u32 word = 11;\n.visible .global .align 8 .u64 where = word;\n" \
    ".visible .entry increase()\n{\n    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n    mov.u64 %rd1, word;\n" \
    "    atom.global.add.u32 %r1, [%rd1], 1;\n    ret;\n}\n"

/* One managed variable for all contexts, which stays when the first of them ends; other variables are each context's
 * own. */
static void managed_variables_are_shared(void **state)
{
    CUcontext second;
    CUlibrary library = NULL;
    CUdeviceptr first_word, word, first_where, where;
    uint64_t told = 0;
    size_t size;
    int managed = 0;
    OK(cuLibraryLoadData(&library, PTX_MANAGED, NULL, NULL, 0, NULL, NULL, 0));
    while (cuCtxGetCurrent(&second) == CUDA_SUCCESS && second)
        OK(cuCtxSetCurrent(NULL)); /* takes one off the stack */
    OK(cuLibraryGetManaged(&word, NULL, library, "word"));
    FAILS(cuLibraryGetManaged(&word, NULL, library, "where"), CUDA_ERROR_NOT_FOUND);
    OK(cuCtxCreate_v4(&second, NULL, 0, 0));
    OK(cuLibraryGetManaged(&first_word, &size, library, "word"));
    assert_int_equal(first_word, word);
    OK(cuLibraryGetGlobal(&first_where, NULL, library, "where"));
    assert_int_equal(size, 4);
    assert_int_equal(*(volatile unsigned *)(uintptr_t)first_word, 11);
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, first_word));
    assert_true(managed & 0xff);
    FAILS(cuMemFree_v2(first_word), CUDA_ERROR_INVALID_VALUE);
    OK(cuLaunchKernel((CUfunction)get_kernel(library, "increase"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(*state));
    OK(cuLibraryGetManaged(&word, NULL, library, "word"));
    OK(cuLibraryGetGlobal(&where, NULL, library, "where"));
    assert_int_equal(word, first_word);
    assert_int_not_equal(where, first_where);
    OK(cuCtxDestroy_v2(second));
    OK(cuLaunchKernel((CUfunction)get_kernel(library, "increase"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(*(volatile unsigned *)(uintptr_t)word, 13);
    OK(cuMemcpyDtoH_v2(&told, where, sizeof told));
    assert_int_equal(told, word);
    OK(cuLibraryUnload(library));
    /* The worker that ran the last kernel lets go of the library a moment after the others see the kernel's end. */
    while (cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, word) == CUDA_SUCCESS)
        usleep(1000);
    FAILS(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, word), CUDA_ERROR_INVALID_VALUE);
}

static void attributes_reach_the_functions(void **state)
{
    CUlibrary library = load_library();
    CUkernel kernel = get_kernel(library, "store");
    CUfunction function;
    int value = 0;
    size_t offset = 9, size = 9;
    (void)state;
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
    assert_int_equal(value, 1024);
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 70000, kernel, 0));
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
    assert_int_equal(value, 70000);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    assert_int_equal(value, 70000);
    FAILS(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30, kernel, 0),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1, kernel, 9),
          CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, WILD(CUkernel), 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuKernelGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0));
    FAILS(cuKernelSetCacheConfig(kernel, (CUfunc_cache)9, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuKernelGetParamInfo(kernel, 1, &offset, &size));
    assert_int_equal(offset, 8);
    assert_int_equal(size, 4);
    FAILS(cuKernelGetParamInfo(kernel, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    OK(cuLibraryUnload(library));
}

static void wrong_arguments(void **state)
{
    CUlibrary library = WILD(CUlibrary), loaded = load_library();
    CUlibraryOption preserved = CU_LIBRARY_BINARY_IS_PRESERVED,
                    table = CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE, unknown = (CUlibraryOption)99;
    void *value = (void *)1;
    CUkernel kernel;
    (void)state;
    FAILS(cuLibraryLoadData(NULL, PTX, NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLibraryLoadData(&library, PTX, NULL, NULL, 1, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, &unknown, &value, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, &table, &value, 1), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuLibraryLoadFromFile(&library, "/nowhere/nothing", NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_FILE_NOT_FOUND);
    FAILS(cuLibraryLoadFromFile(&library, "/nowhere/nothing", NULL, NULL, 0, &preserved, &value, 1),
          CUDA_ERROR_INVALID_VALUE);
    assert_ptr_equal(library, WILD(CUlibrary));
    OK(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, &preserved, &value, 1));
    OK(cuLibraryUnload(library));
    FAILS(cuLibraryUnload(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLibraryGetKernel(&kernel, loaded, "missing"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuLibraryGetKernel(&kernel, loaded, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLibraryGetKernel(NULL, loaded, "store"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLibraryGetKernel(&kernel, WILD(CUlibrary), "store"), CUDA_ERROR_INVALID_HANDLE);
    OK(cuLibraryUnload(loaded));
}

static void load_from_a_file(void **state)
{
    char path[256];
    CUlibrary library;
    (void)state;
    write_temporary(path, PTX);
    CUresult status = cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0);
    unlink(path);
    assert_int_equal(status, CUDA_SUCCESS);
    get_kernel(library, "empty");
    OK(cuLibraryUnload(library));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_needs_no_context),
        TEST_IN_CONTEXT(launches_find_the_context),
        TEST_IN_CONTEXT(functions_and_modules),
        TEST_IN_CONTEXT(attributes_reach_the_functions),
        TEST_IN_CONTEXT(wrong_arguments),
        TEST_IN_CONTEXT(load_from_a_file),
        TEST_IN_CONTEXT(managed_variables_are_shared),
    };
    return cmocka_run_group_tests_name("cuLibrary", tests, NULL, NULL);
}
