/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy: the numbers of every compute capability, for many registers, sizes of shared memory and of blocks.
 *
 * Blocks are placed one after the other on a pretended multiprocessor that has what the device's attributes say, until
 * one finds no room. Where NVIDIA's occupancy calculator is installed (a header of the CUDA toolkit), its answers are
 * compared as well. Each capability has a process of its own. */
#include "api_support.h"

#include <sys/wait.h>

#if defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#define HAS_CALCULATOR 1
#include <cuda_occupancy.h>
#endif
#endif

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"

static const unsigned registers[] = {24, 25, 32, 33, 40,  41,  48,  56,  57,  64, 65,
                                     72, 80, 81, 96, 104, 128, 129, 168, 200, 255};
static const unsigned statics[] = {0, 1, 129, 1000, 8192, 17000, 49152};
static const unsigned sizes[] = {1,   31,  32,  33,  64,  96,  128, 160, 192, 224, 256, 288,  320, 352,
                                 384, 416, 500, 512, 544, 640, 672, 768, 769, 896, 928, 1000, 1024};
static const size_t dynamics[] = {0, 1, 127, 1000, 4096, 10000, 32768, 49152, 60000, 100000};
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct sm {
    unsigned threads, blocks, registers, shared, reserved, unit, partitions, major, minor, processors, optin,
        by_default;
};

static unsigned device_attribute(CUdevice_attribute which)
{
    int value = -1;
    OK(cuDeviceGetAttribute(&value, which, 0));
    assert_true(value >= 0);
    return (unsigned)value;
}

static struct sm read_sm(void)
{
    struct sm sm = {
        .threads = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        .blocks = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
        .registers = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
        .shared = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        .reserved = device_attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
        .optin = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        .by_default = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .processors = device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .major = device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .minor = device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
    };
    sm.unit = sm.major < 8 ? 256 : 128;
    sm.partitions = sm.major == 6 && sm.minor == 0 ? 2 : 4;
    return sm;
}

static unsigned attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -1;
    OK(cuFuncGetAttribute(&value, which, function));
    assert_true(value >= 0);
    return (unsigned)value;
}

/* Warps come one by one; each takes its registers from the partition that has most left, and shared memory goes with a
 * block's first warp. */
static unsigned placed(const struct sm *sm, unsigned regs, unsigned shared, unsigned threads)
{
    unsigned room[4], slots = sm->threads / 32, memory = sm->shared, warps = (threads + 31) / 32, blocks = 0;
    unsigned each = (regs * 32 + 255) / 256 * 256, bytes = (shared + sm->reserved + sm->unit - 1) / sm->unit * sm->unit;
    for (unsigned p = 0; p < 4; p++)
        room[p] = p < sm->partitions ? sm->registers / sm->partitions : 0;
    if ((uint64_t)each * ((warps + 3) / 4 * 4) > sm->registers)
        return 0;
    for (; blocks < sm->blocks && slots >= warps && memory >= bytes; blocks++) {
        for (unsigned w = 0; w < warps; w++) {
            unsigned best = 0;
            for (unsigned p = 1; p < 4; p++)
                best = room[p] > room[best] ? p : best;
            if (room[best] < each)
                return blocks;
            room[best] -= each;
        }
        slots -= warps;
        memory -= bytes;
    }
    return blocks;
}

#ifdef HAS_CALCULATOR
static void compare_with_calculator(const struct sm *sm, CUfunction function, unsigned threads, size_t dynamic,
                                    int wanted)
{
    struct cudaOccDeviceProp device = {.computeMajor = (int)sm->major,
                                       .computeMinor = (int)sm->minor,
                                       .maxThreadsPerBlock = 1024,
                                       .maxThreadsPerMultiprocessor = (int)sm->threads,
                                       .regsPerBlock = (int)sm->registers,
                                       .regsPerMultiprocessor = (int)sm->registers,
                                       .warpSize = 32,
                                       .sharedMemPerBlock = sm->by_default,
                                       .sharedMemPerMultiprocessor = sm->shared,
                                       .numSms = (int)sm->processors,
                                       .sharedMemPerBlockOptin = sm->optin,
                                       .reservedSharedMemPerBlock = sm->reserved};
    struct cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = (int)attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .numRegs = (int)attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .sharedSizeBytes = attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .numBlockBarriers = 1,
        .maxDynamicSharedSizeBytes = attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)};
    struct cudaOccDeviceState state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    struct cudaOccResult result;
    assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, (int)threads, dynamic),
                     CUDA_OCC_SUCCESS);
    assert_int_equal(result.activeBlocksPerMultiprocessor, wanted);
}
#endif

static unsigned occupancy(CUfunction function, unsigned threads, size_t dynamic)
{
    int blocks = -1;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)threads, dynamic));
    assert_true(blocks >= 0);
    return (unsigned)blocks;
}

/* The text of a kernel that uses 1200 registers; good until the next call. */
static const char *kernel_text(const char *directives, unsigned shared)
{
    static char text[1 << 16];
    size_t length =
        (size_t)snprintf(text, sizeof text, HEAD ".visible .entry kernel()\n%s\n{\n.reg .b32 %%r<1200>;\n", directives);
    if (shared)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   ".shared .align 1 .b8 room[%u];\nst.shared.u8 [room], 1;\n", shared);
    for (int r = 0; r < 1200; r++)
        length += (size_t)snprintf(text + length, sizeof text - length, "mov.u32 %%r%d, %d;\n", r, r);
    assert_true(length + 8 < sizeof text);
    strcpy(text + length, "ret;\n}\n");
    return text;
}

/* A kernel that wants very many registers and gets these; a bound of threads where blocks of 1024 would have no room
 * for them. */
static CUfunction kernel_of(CUmodule *module, unsigned regs, unsigned shared, const char *directives)
{
    char all[64];
    snprintf(all, sizeof all, "%s.maxnreg %u", directives, regs);
    *module = load_module(kernel_text(all, shared));
    CUfunction function = get_function(*module, "kernel");
    assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS), regs);
    assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), shared);
    return function;
}

/* What is said to be there for so many blocks is there, and no unit more unless the function may not have it. */
static void check_available(const struct sm *sm, CUfunction function, unsigned threads)
{
    unsigned most = occupancy(function, threads, 0),
             limit = attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    size_t bytes = 0, before = SIZE_MAX;
    for (unsigned blocks = 1; blocks <= most; blocks++) {
        OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, (int)blocks, (int)threads));
        assert_true(bytes <= before && bytes <= limit);
        assert_true(occupancy(function, threads, bytes) >= blocks);
        assert_true(bytes == limit || occupancy(function, threads, bytes + sm->unit) < blocks);
        before = bytes;
    }
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, (int)most + 1, (int)threads),
          CUDA_ERROR_INVALID_VALUE);
}

static unsigned calls;

static size_t hundred_bytes_a_thread(int threads)
{
    calls++;
    assert_in_range(threads, 1, 1024);
    return (size_t)threads * 100;
}

/* As many threads as any block gives, with the fewest blocks; the grid fills the device. */
static void check_best(const struct sm *sm, CUfunction function, CUoccupancyB2DSize function_of_size, size_t dynamic,
                       unsigned limit)
{
    int grid = -1, block = -1;
    unsigned bound = attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), most = 0, largest = 0;
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, function_of_size, dynamic, (int)limit));
    bound = limit && limit < bound ? limit : bound;
    for (unsigned aligned = 32; aligned < bound + 32; aligned += 32) {
        unsigned threads = aligned < bound ? aligned : bound;
        unsigned active = threads * occupancy(function, threads, function_of_size ? (size_t)threads * 100 : dynamic);
        if (active && active >= most) {
            most = active;
            largest = threads;
        }
    }
    assert_int_equal(block, largest);
    assert_int_equal(grid, largest ? most / largest * sm->processors : 0);
}

static void check_kernel(const struct sm *sm, unsigned regs, unsigned shared, const char *directives)
{
    CUmodule module;
    CUfunction function = kernel_of(&module, regs, shared, directives);
    unsigned most = sm->optin - shared < 100000 ? sm->optin - shared : 100000;
    if (regs % 2 == 0)
        OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)most));
    unsigned limit = attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t d = 0; d < COUNT(dynamics); d++) {
            unsigned wanted = dynamics[d] <= limit ? placed(sm, regs, shared + (unsigned)dynamics[d], sizes[i]) : 0;
            assert_int_equal(occupancy(function, sizes[i], dynamics[d]), wanted);
#ifdef HAS_CALCULATOR
            compare_with_calculator(sm, function, sizes[i], dynamics[d], (int)wanted);
#endif
        }
    check_available(sm, function, 32);
    check_available(sm, function, 200);
    check_best(sm, function, NULL, 0, 0);
    check_best(sm, function, NULL, 5000, 0);
    check_best(sm, function, NULL, 0, 200);
    check_best(sm, function, hundred_bytes_a_thread, (size_t)1 << 40, 0);
    check_best(sm, function, NULL, (size_t)1 << 40, 0);
    OK(cuModuleUnload(module));
}

/* Whatever may be launched has registers: the attributes never contradict each other. */
static void attributes_agree(void **state)
{
    static const unsigned bounds[] = {1, 32, 96, 288, 384, 512, 544, 672, 700, 800, 1000, 1024};
    (void)state;
    for (size_t i = 0; i < COUNT(bounds); i++) {
        char bound[32];
        snprintf(bound, sizeof bound, ".maxntid %u", bounds[i]);
        CUmodule module = load_module(kernel_text(bound, 0));
        CUfunction function = get_function(module, "kernel");
        assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), bounds[i]);
        assert_true(occupancy(function, bounds[i], 0) >= 1);
        OK(cuLaunchKernel(function, 1, 1, 1, bounds[i], 1, 1, 0, NULL, NULL, NULL));
        if (bounds[i] < 1024)
            FAILS(cuLaunchKernel(function, 1, 1, 1, bounds[i] + 1, 1, 1, 0, NULL, NULL, NULL),
                  CUDA_ERROR_INVALID_VALUE);
        OK(cuCtxSynchronize());
        OK(cuModuleUnload(module));
    }
}

static void places(void **state)
{
    struct sm sm = read_sm();
    (void)state;
    assert_int_equal(device_attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK), sm.registers);
    for (size_t r = 0; r < COUNT(registers); r++)
        check_kernel(&sm, registers[r], statics[r % COUNT(statics)], registers[r] > 64 ? ".maxntid 256\n" : "");
    for (size_t s = 0; s < COUNT(statics); s++)
        check_kernel(&sm, 32, statics[s], "");
}

static void flags_and_limits(void **state)
{
    CUmodule module = load_module(HEAD PTX_EMPTY);
    CUfunction empty = get_function(module, "empty");
    int blocks = -1, flagged = -1, grid = -1, block = -1;
    size_t bytes;
    (void)state;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 256, 0));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&flagged, empty, 256, 0,
                                                            CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
    assert_int_equal(blocks, flagged); /* caching has no part in it on these devices */
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&flagged, empty, 256, 0, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, empty, NULL, 0, 0, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, empty, NULL, 0, -1, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyMaxPotentialBlockSize(&grid, NULL, empty, NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyMaxPotentialBlockSize(&grid, &block, NULL, NULL, 0, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 0, 32), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 1, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 1, 1025), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, NULL, 1, 32), CUDA_ERROR_INVALID_HANDLE);
    /* A limit above what a block can have says nothing; the program's function is called once for each size that is
     * tried. */
    calls = 0;
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, hundred_bytes_a_thread, 0, 4096));
    assert_in_range(calls, 1, 32);
    assert_in_range(block, 1, 1024);
    OK(cuModuleUnload(module));
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 256, 0), CUDA_ERROR_INVALID_HANDLE);
}

/* Kernels of libraries have no context; the current one is reckoned with. */
static void kernels_of_libraries(void **state)
{
    CUlibrary library;
    CUkernel kernel;
    CUcontext context;
    int blocks = -1, grid = -1, block = -1;
    size_t bytes = 0;
    (void)state;
    OK(cuLibraryLoadData(&library, HEAD PTX_EMPTY, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "empty"));
    CUfunction function = (CUfunction)(void *)kernel;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0));
    assert_int_equal(blocks, device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 1024);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 32));
    assert_int_equal(bytes, device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
    OK(cuCtxPopCurrent_v2(&context));
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 32), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxPushCurrent_v2(context));
    OK(cuLibraryUnload(library));
}

static int of_one_capability(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(places),
        TEST_IN_CONTEXT(attributes_agree),
        TEST_IN_CONTEXT(flags_and_limits),
        TEST_IN_CONTEXT(kernels_of_libraries),
    };
    return cmocka_run_group_tests_name("cuOccupancy", tests, NULL, NULL);
}

int main(void)
{
    static const char *const capabilities[] = {"5.0", "5.2",  "5.3",  "6.0",  "6.1",  "6.2", "7.0",
                                               "7.2", "7.5",  "8.0",  "8.6",  "8.7",  "8.8", "8.9",
                                               "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"};
    int failures = 0;
    for (size_t i = 0; i < COUNT(capabilities); i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            setenv("MILLRACE_COMPUTE_CAPABILITY", capabilities[i], 1);
            exit(of_one_capability() != 0);
        }
        int status = -1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "capability %s failed\n", capabilities[i]);
            failures++;
        }
    }
    return failures != 0;
}
