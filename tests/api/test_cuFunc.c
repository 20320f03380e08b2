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
    FAILS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 163 * 1024),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), 50);
    FAILS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
          CUDA_ERROR_INVALID_VALUE);
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
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, empty, 256, 0,
                                                            CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
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

    CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    FAILS(cuOccupancyMaxActiveClusters(&blocks, empty, &config), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuOccupancyMaxPotentialClusterSize(&blocks, empty, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
}

/* A kernel of very many registers: whatever may be launched fits. CUB sizes its grids by this number and launches
 * nothing if it is 0. */
static void occupancy_of_many_registers(void **state)
{
    static const unsigned bounds[] = {0, 384, 672, 1000, 1024, 32};
    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        char ptx[512], bound[48] = "";
        int blocks = 0, most;
        if (bounds[i])
            snprintf(bound, sizeof bound, ".maxntid %u", bounds[i]);
        snprintf(
            ptx, sizeof ptx,
            PTX_HEAD
            ".visible .entry many(.param .u64 p) %s\n{\n.reg .b32 %%r<2000>;\n.reg .b64 %%d<2>;\nld.param.u64 %%d1, [p];\n",
            bound);
        size_t size = 2000 * 64, length = strlen(ptx);
        char *text = malloc(size);
        assert_non_null(text);
        memcpy(text, ptx, length);
        for (int r = 0; r < 2000; r++)
            length +=
                (size_t)snprintf(text + length, size - length, "mov.u32 %%r%d, %d;\nst.u32 [%%d1], %%r%d;\n", r, r, r);
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

/* A kernel that wants many registers, under a directive; the caller frees the text. */
static char *wants_many(const char *name, const char *directives)
{
    size_t size = 1 << 16;
    char *text = malloc(size);
    assert_non_null(text);
    int length = snprintf(text, size, PTX_HEAD ".visible .entry %s()\n%s\n{\n.reg .b32 %%r<600>;\n", name, directives);
    for (int r = 0; r < 600; r++)
        length += snprintf(text + length, size - (size_t)length, "mov.u32 %%r%d, %d;\n", r, r);
    snprintf(text + length, size - (size_t)length, "ret;\n}\n");
    return text;
}

static int registers_under(const char *directives, unsigned count, const CUjit_option *options, const unsigned *numbers)
{
    CUmodule module;
    CUjit_option names[4];
    void *values[4];
    char *text = wants_many("many", directives);
    for (unsigned i = 0; i < count; i++) {
        names[i] = options[i];
        values[i] = (void *)(uintptr_t)numbers[i];
    }
    OK(cuModuleLoadDataEx(&module, text, count, count ? names : NULL, count ? values : NULL));
    int registers = attribute(get_function(module, "many"), CU_FUNC_ATTRIBUTE_NUM_REGS);
    OK(cuModuleUnload(module));
    free(text);
    return registers;
}

/* The limits are those of NVIDIA's assembler (ptxas -v). */
static void limits_of_registers(void **state)
{
    static const struct {
        const char *directives;
        int alone, under_40;
    } cases[] = {
        {"", 64, 40},
        {".maxnreg 48", 48, 48},
        {".maxnreg 33", 33, 33},
        {".maxnreg 8", 24, 24},
        {".maxnreg 300", 64, 64},
        {".maxntid 1024", 64, 64},
        {".maxntid 512", 128, 128},
        {".maxntid 512\n.minnctapersm 4", 32, 32},
        {".maxntid 256\n.minnctapersm 3", 80, 80},
        {".maxntid 672", 80, 80},
        {".maxntid 800", 72, 72},
        {".maxntid 160\n.minnctapersm 3", 128, 128},
        {".maxntid 672\n.minnctapersm 2", 40, 40},
        {".maxntid 96\n.minnctapersm 13", 48, 48},
        {".reqntid 100\n.minnctapersm 9", 56, 56},
        {".maxntid 1024\n.minnctapersm 4", 64, 64},
        {".maxntid 512\n.minnctapersm 4\n.maxnreg 24", 24, 24},
    };
    static const unsigned forty = 40, eight = 8, many = 300, threads = 1024, pair[2] = {512, 4};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(registers_under(cases[i].directives, 0, NULL, NULL), cases[i].alone);
        assert_int_equal(registers_under(cases[i].directives, 1, (CUjit_option[]){CU_JIT_MAX_REGISTERS}, &forty),
                         cases[i].under_40);
    }
    assert_int_equal(registers_under("", 1, (CUjit_option[]){CU_JIT_MAX_REGISTERS}, &eight), 24);
    assert_int_equal(registers_under("", 1, (CUjit_option[]){CU_JIT_MAX_REGISTERS}, &many), 64);
    assert_int_equal(registers_under("", 1, (CUjit_option[]){CU_JIT_THREADS_PER_BLOCK}, &threads), 64);
    assert_int_equal(
        registers_under("", 2, (CUjit_option[]){CU_JIT_MAX_THREADS_PER_BLOCK, CU_JIT_MIN_CTA_PER_SM}, pair), 32);
}

/* Directives and options together, as an H200 answers. */
#define REGS CU_JIT_MAX_REGISTERS
#define THREADS CU_JIT_THREADS_PER_BLOCK
#define MOST CU_JIT_MAX_THREADS_PER_BLOCK
#define BLOCKS CU_JIT_MIN_CTA_PER_SM
#define OVER CU_JIT_OVERRIDE_DIRECTIVE_VALUES

static void limits_together(void **state)
{
    static const struct {
        const char *directives;
        unsigned count;
        CUjit_option options[3];
        unsigned numbers[3];
        int wanted;
    } cases[] = {
        {".maxnreg 24", 2, {REGS, OVER}, {40, 1}, 40},
        {".maxntid 512\n.minnctapersm 4", 2, {REGS, OVER}, {40, 1}, 40},
        {".maxnreg 60", 1, {THREADS}, {1024}, 60},
        {".maxnreg 60", 2, {MOST, BLOCKS}, {512, 4}, 32},
        {".maxnreg 24", 3, {MOST, BLOCKS, OVER}, {512, 4, 1}, 24},
        {".maxntid 512", 2, {MOST, BLOCKS}, {512, 4}, 32},
        {".maxntid 1024", 2, {MOST, BLOCKS}, {512, 4}, 64},
        {".maxntid 1024", 3, {MOST, BLOCKS, OVER}, {512, 4, 1}, 32},
        {".reqntid 256", 2, {MOST, BLOCKS}, {512, 4}, 64},
        {".minnctapersm 4", 2, {MOST, BLOCKS}, {512, 4}, 32},
        {"", 3, {REGS, MOST, BLOCKS}, {40, 512, 1}, 40},
        {"", 1, {MOST}, {512}, 128},
        {"", 2, {REGS, THREADS}, {80, 1024}, 64},
        {".maxntid 512\n.minnctapersm 4\n.maxnreg 60", 0, {0}, {0}, 32},
        {".maxntid 1024\n.minnctapersm 1\n.maxnreg 100", 0, {0}, {0}, 64},
    };
    static const unsigned asked[] = {1, 32, 100, 500, 768, 1000, 1025, 4096},
                          told[] = {32, 32, 128, 512, 768, 1024, 1024, 1024};
    CUmodule module;
    char *text = wants_many("many", ""), log[512] = "";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(registers_under(cases[i].directives, cases[i].count, cases[i].options, cases[i].numbers),
                         cases[i].wanted);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        void *value = (void *)(uintptr_t)asked[i];
        OK(cuModuleLoadDataEx(&module, text, 1, (CUjit_option[]){THREADS}, &value));
        assert_int_equal((uintptr_t)value, told[i]);
        OK(cuModuleUnload(module));
    }
    FAILS(cuModuleLoadDataEx(&module, text, 1, (CUjit_option[]){REGS}, (void *[]){NULL}), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoadDataEx(&module, text, 2, (CUjit_option[]){THREADS, CU_JIT_TARGET},
                             (void *[]){(void *)256, (void *)80}),
          CUDA_ERROR_INVALID_VALUE);
    /* A bound from an option is one for launches. */
    OK(cuModuleLoadDataEx(
        &module, text, 4,
        (CUjit_option[]){MOST, CU_JIT_LOG_VERBOSE, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES},
        (void *[]){(void *)96, (void *)1, log, (void *)sizeof log}));
    CUfunction function = get_function(module, "many");
    assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 96);
    FAILS(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    char line[64];
    snprintf(line, sizeof line, "ptxas info    : Used %d registers, used 0 barriers\n",
             attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS));
    assert_non_null(strstr(log, "ptxas info    : Compiling entry function 'many' for 'sm_80'\n"));
    assert_non_null(strstr(log, line));
    OK(cuModuleUnload(module));
    free(text);
}

/* The limit of a link goes to the kernels that say nothing themselves. */
static void limits_of_links(void **state)
{
    CUjit_option name = CU_JIT_MAX_REGISTERS;
    void *value = (void *)57, *image;
    size_t size;
    CUlinkState link;
    CUmodule module;
    (void)state;
    OK(cuLinkCreate(1, &name, &value, &link));
    char *first = wants_many("many", ""), *second = wants_many("few", ".maxnreg 30");
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, first, strlen(first) + 1, "first", 0, NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, second, strlen(second) + 1, "second", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&module, image));
    assert_int_equal(attribute(get_function(module, "many"), CU_FUNC_ATTRIBUTE_NUM_REGS), 57);
    assert_int_equal(attribute(get_function(module, "few"), CU_FUNC_ATTRIBUTE_NUM_REGS), 30);
    OK(cuModuleUnload(module));
    OK(cuLinkDestroy(link));
    OK(cuLinkCreate(1, &name, &value, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, first, strlen(first) + 1, "alone", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&module, image));
    assert_int_equal(attribute(get_function(module, "many"), CU_FUNC_ATTRIBUTE_NUM_REGS), 57);
    OK(cuModuleUnload(module));
    OK(cuLinkDestroy(link));
    free(first);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(attributes),
        TEST_IN_CONTEXT(settings),
        TEST_IN_CONTEXT(names_and_parameters),
        TEST_IN_CONTEXT(occupancy),
        TEST_IN_CONTEXT(occupancy_of_many_registers),
        TEST_IN_CONTEXT(limits_of_registers),
        TEST_IN_CONTEXT(limits_together),
        TEST_IN_CONTEXT(limits_of_links),
    };
    return cmocka_run_group_tests_name("cuFunc", tests, NULL, NULL);
}
