/* SPDX-License-Identifier: Apache-2.0 */
/* How long a PTX file takes to become machine code that runs: from cuModuleLoadData until each of its kernels has been
 * launched once, with the block of its place in the benchmark. Code is made by the first launch with a shape of block,
 * so only then is it there.
 *
 *     bench_kernels_compile FILE.ptx
 *
 * What the process finds in the cache folder decides what is measured: compiling, or reading the disk cache. Opening
 * the code generation library, which a process does at its first compilation, is part of it. The launches are of one
 * block, have lengths of 0 and nothing to do. */
#include <string.h>

#include "../bench.h"
#include "kernels.h"

enum { KERNELS_MAX = 64, PARAMS_MAX = 16, SCRATCH_BYTES = 1 << 16 };

static CUdeviceptr scratch;

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    if (!file || getdelim(&text, &room, '\0', file) < 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

/* The block that cuda.c launches this kernel with; a copy's name has its number behind. */
static void block_of(const char *name, unsigned block[2])
{
    static const struct {
        const char *name;
        unsigned x, y;
    } shapes[] = {{"stencil", 32, 8}, {"matrix", 16, 16},  {"transpose", 16, 16},      {"fractal", 16, 16},
                  {"bodies", 128, 1}, {"options", 128, 1}, {"double_and_halve", 64, 1}};
    block[0] = 256;
    block[1] = 1;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strncmp(name, shapes[i].name, strlen(shapes[i].name)) == 0) {
            block[0] = shapes[i].x;
            block[1] = shapes[i].y;
        }
}

/* Pointers are to the scratch memory, numbers are 0. */
static void launch(CUfunction kernel, const char *name)
{
    unsigned zero = 0, block[2];
    void *params[PARAMS_MAX];
    size_t offset, size, count = 0;
    block_of(name, block);
    for (; count < PARAMS_MAX && cuFuncGetParamInfo(kernel, count, &offset, &size) == CUDA_SUCCESS; count++)
        params[count] = size == sizeof scratch ? (void *)&scratch : &zero;
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, block[0], block[1], 1, 0, NULL, params, NULL));
}

static void measure(const char *text)
{
    CUmodule module;
    CUfunction listed[KERNELS_MAX], kernel;
    const char *name;
    unsigned count;
    double took[KERNELS_MAX], begin = kernels_seconds(), loaded;
    CHECK(cuModuleLoadData(&module, text));
    loaded = kernels_seconds();
    CHECK(cuModuleGetFunctionCount(&count, module));
    CHECK(cuModuleEnumerateFunctions(listed, count < KERNELS_MAX ? count : KERNELS_MAX, module));
    for (unsigned i = 0; i < count && i < KERNELS_MAX; i++) {
        double before = kernels_seconds();
        CHECK(cuFuncGetName(&name, listed[i]));
        CHECK(cuModuleGetFunction(&kernel, module, name));
        launch(kernel, name);
        took[i] = kernels_seconds() - before;
    }
    printf("total_ms %.3f\nmodule_ms %.3f\n", (kernels_seconds() - begin) * 1e3, (loaded - begin) * 1e3);
    for (unsigned i = 0; i < count && i < KERNELS_MAX; i++) {
        CHECK(cuFuncGetName(&name, listed[i]));
        printf("%s_ms %.3f\n", name, took[i] * 1e3);
    }
    CHECK(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    char *text = argc == 2 ? read_text(argv[1]) : NULL;
    if (!text) {
        fprintf(stderr, "%s FILE.ptx\n", argv[0]);
        return 1;
    }
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&scratch, SCRATCH_BYTES));
    CHECK(cuMemsetD8(scratch, 0, SCRATCH_BYTES));
    measure(text);
    free(text);
    return 0;
}
