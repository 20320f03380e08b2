/* SPDX-License-Identifier: Apache-2.0 */
/* Modules out of real programs: from PTX to the code of all their kernels, cold (no cache on disk), in a process each.
 *
 * Parameters and contents of memory that such kernels need are not known here. So no kernel runs: each launch, of one
 * block, is put behind a host function that does not end. What is measured ends when the last launch has returned, and
 * a launch returns when its kernel has code. NVIDIA's driver makes the code of a module when it is loaded, and waits
 * there for the stream; so for it, with BENCH_LOAD_ONLY in the environment, nothing is launched.
 *
 *     bench_modules FILE.ptx [KERNEL…]
 *
 * takes all kernels, or those named. Wall and processor time in milliseconds. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define KERNELS_MOST 4096
#define PARAMS_MOST 4096

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL, part[65536];
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!file || !memory) {
        perror(path);
        exit(1);
    }
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        fwrite(part, 1, got, memory);
    fclose(file);
    fclose(memory);
    return text;
}

static void CUDA_CB wait_for_ever(void *data)
{
    (void)data;
    for (;;)
        pause();
}

/* With 128 threads, or in the shape that the kernel asks for, as far as it is one of those that are common. */
static bool launch(CUfunction function, CUstream stream, void **params)
{
    int most = 0;
    CHECK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    unsigned all = (unsigned)most;
    const unsigned shapes[][2] = {{128, 1},       {all, 1},       {32, 1},        {64, 1},     {256, 1},
                                  {32, all / 32}, {all / 32, 32}, {16, all / 16}, {8, all / 8}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i][0] * shapes[i][1] <= all && shapes[i][1] > 0 &&
            cuLaunchKernel(function, 1, 1, 1, shapes[i][0], shapes[i][1], 1, 0, stream, params, NULL) == CUDA_SUCCESS)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUmodule module;
    static CUfunction functions[KERNELS_MOST];
    static char zeros[32768];
    static void *params[PARAMS_MOST];
    unsigned count = 0, launched = 0;
    bool launches = !getenv("BENCH_LOAD_ONLY");
    if (argc < 2)
        return 2;
    setenv("MILLRACE_CACHE", "off", 1); /* what is measured is making code */
    setenv("MILLRACE_LOG", "error", 1); /* it would tell of each shape that is refused */
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    for (unsigned i = 0; i < PARAMS_MOST; i++)
        params[i] = zeros;
    char *text = read_file(argv[1]);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuModuleLoadData(&module, bench_empty_ptx)); /* the driver's own first steps, and the compiler's */
    CHECK(cuModuleGetFunction(&functions[0], module, "empty"));
    CHECK(cuLaunchKernel(functions[0], 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamSynchronize(stream));
    if (launches)
        CHECK(cuLaunchHostFunc(stream, wait_for_ever, NULL));
    double wall = bench_seconds(), processor = processor_ms();
    CHECK(cuModuleLoadData(&module, text));
    double loaded = bench_seconds();
    CHECK(cuModuleGetFunctionCount(&count, module));
    if (count > KERNELS_MOST)
        count = KERNELS_MOST;
    CHECK(cuModuleEnumerateFunctions(functions, count, module));
    if (argc > 2)
        count = (unsigned)argc - 2;
    for (unsigned i = 0; i < count; i++) {
        if (argc > 2)
            CHECK(cuModuleGetFunction(&functions[i], module, argv[2 + i]));
        launched += !launches || launch(functions[i], stream, params);
    }
    double end = bench_seconds();
    processor = processor_ms() - processor;
    printf("module_kernels %u\nmodule_ms %.1f\nmodule_load_ms %.1f\nmodule_processor_ms %.1f\n", launched,
           (end - wall) * 1e3, (loaded - wall) * 1e3, processor);
    fflush(stdout);
    _exit(0); /* the kernels never run */
}
