/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: attributes, names, parameters, preferences, occupancy. */
#include "api_support.h"

#define PTX PTX_HEAD PTX_STORE PTX_BOUNDED PTX_EMPTY

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -99;
    OK(cuFuncGetAttribute(&value, which, function));
    return value;
}

static void attributes(void **state)
{
    CUmodule module = load_module(PTX);
    CUfunction empty = get_function(module, "empty"), bounded = get_function(module, "bounded"),
               exactly = get_function(module, "exactly");
    int value;
    (void)state;
    assert_int_equal(attribute(empty, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_int_equal(attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    assert_int_equal(attribute(exactly, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_int_equal(attribute(bounded, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
    assert_int_equal(attribute(empty, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
    assert_int_equal(attribute(empty, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
    assert_int_equal(attribute(empty, CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
    assert_int_equal(attribute(empty, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 80);
    assert_in_range(attribute(empty, CU_FUNC_ATTRIBUTE_NUM_REGS), 0, 255);
    for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; i++)
        attribute(bounded, (CUfunction_attribute)i);
    FAILS(cuFuncGetAttribute(&value, (CUfunction_attribute)99, empty), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, empty), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleUnload(module));
}

static void settings(void **state)
{
    CUmodule module = load_module(PTX);
    CUfunction function = get_function(module, "bounded");
    (void)state;
    assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152 - 1024);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
    assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 60000);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 163 * 1024 - 1024));
    FAILS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 163 * 1024), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), 50);
    FAILS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 10), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuFuncSetAttribute(NULL, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 1), CUDA_ERROR_INVALID_HANDLE);
    OK(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1));
    FAILS(cuFuncSetCacheConfig(function, (CUfunc_cache)99), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_L1), CUDA_ERROR_INVALID_HANDLE);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    OK(cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
    FAILS(cuFuncSetSharedMemConfig(function, (CUsharedconfig)9), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
}

static void names_and_parameters(void **state)
{
    CUmodule module = load_module(PTX), owner = NULL;
    CUfunction function = get_function(module, "store");
    CUfunctionLoadingState loaded = CU_FUNCTION_LOADING_STATE_UNLOADED;
    const char *name = NULL;
    size_t offset = 9, size = 9;
    (void)state;
    OK(cuFuncGetName(&name, function));
    assert_string_equal(name, "store");
    OK(cuFuncGetModule(&owner, function));
    assert_ptr_equal(owner, module);
    OK(cuFuncGetParamInfo(function, 0, &offset, &size));
    assert_int_equal(offset, 0);
    assert_int_equal(size, 8);
    OK(cuFuncGetParamInfo(function, 1, &offset, NULL));
    assert_int_equal(offset, 8);
    FAILS(cuFuncGetParamInfo(function, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncGetParamInfo(function, 0, NULL, &size), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncLoad(function));
    OK(cuFuncIsLoaded(&loaded, function));
    assert_int_equal(loaded, CU_FUNCTION_LOADING_STATE_LOADED);
    FAILS(cuFuncGetName(NULL, function), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncGetModule(NULL, function), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncIsLoaded(NULL, function), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
    FAILS(cuFuncGetName(&name, function), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuFuncLoad(function), CUDA_ERROR_INVALID_HANDLE);
}

static size_t four_bytes_a_thread(int threads)
{
    return (size_t)threads * 4;
}

static void occupancy(void **state)
{
    CUmodule module = load_module(PTX);
    CUfunction empty = get_function(module, "empty"), bounded = get_function(module, "bounded");
    int blocks = 0, grid = 0, threads = 0, processors = 0;
    size_t bytes = 0;
    (void)state;
    OK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1024, 0));
    assert_int_equal(blocks, 2); /* 2048 threads */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 0));
    assert_int_equal(blocks, 32); /* the limit on blocks */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 48 * 1024));
    assert_int_equal(blocks, 3); /* 164 KiB in shares of 49 KiB */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 65, 0));
    assert_int_equal(blocks, 21); /* as on hardware, a launch bound is not looked at */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1025, 0));
    assert_int_equal(blocks, 0);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 64, 49153));
    assert_int_equal(blocks, 0);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 1 << 20));
    assert_int_equal(blocks, 0);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, empty, 256, 0, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
    assert_int_equal(blocks, 8);
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, empty, 32, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, -5, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 32, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, empty, 32, 0, 8), CUDA_ERROR_INVALID_VALUE);

    OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, empty, NULL, 0, 0));
    assert_int_equal(threads, 1024);
    assert_int_equal(grid, 2 * processors);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, empty, four_bytes_a_thread, 0, 200));
    assert_true(threads > 0 && threads <= 200);
    OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &threads, bounded, NULL, 0, 0, 0));
    assert_int_equal(threads, 64);
    FAILS(cuOccupancyMaxPotentialBlockSize(NULL, &threads, empty, NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);

    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 2, 1024));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1024, bytes));
    assert_int_equal(blocks, 2); /* what is said to be there fits */
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 3, 1024), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(NULL, empty, 1, 32), CUDA_ERROR_INVALID_VALUE);

    CUlaunchConfig config = { .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1 };
    FAILS(cuOccupancyMaxActiveClusters(&blocks, empty, &config), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuOccupancyMaxPotentialClusterSize(&blocks, empty, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
}

/* A kernel of very many registers: whatever may be launched fits. CUB sizes its grids by this number and launches nothing if it is 0. */
static void occupancy_of_many_registers(void **state)
{
    static const unsigned bounds[] = { 0, 384, 672, 1000, 1024, 32 };
    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        char ptx[512], bound[48] = "";
        int blocks = 0, most;
        if (bounds[i])
            snprintf(bound, sizeof bound, ".maxntid %u", bounds[i]);
        snprintf(ptx, sizeof ptx, PTX_HEAD ".visible .entry many(.param .u64 p) %s\n{\n.reg .b32 %%r<2000>;\n.reg .b64 %%d<2>;\nld.param.u64 %%d1, [p];\n", bound);
        size_t size = 2000 * 64, length = strlen(ptx);
        char *text = malloc(size);
        assert_non_null(text);
        memcpy(text, ptx, length);
        for (int r = 0; r < 2000; r++)
            length += (size_t)snprintf(text + length, size - length, "mov.u32 %%r%d, %d;\nst.u32 [%%d1], %%r%d;\n", r, r, r);
        snprintf(text + length, size - length, "ret;\n}\n");
        CUmodule module = load_module(text);
        CUfunction many = get_function(module, "many");
        OK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, many));
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, many, most, 0));
        assert_true(blocks >= 1);
        assert_in_range(attribute(many, CU_FUNC_ATTRIBUTE_NUM_REGS), 32, 255);
        OK(cuModuleUnload(module));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(attributes), TEST_IN_CONTEXT(settings), TEST_IN_CONTEXT(names_and_parameters), TEST_IN_CONTEXT(occupancy),
        TEST_IN_CONTEXT(occupancy_of_many_registers),
    };
    return cmocka_run_group_tests_name("cuFunc", tests, NULL, NULL);
}
