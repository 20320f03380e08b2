/* SPDX-License-Identifier: Apache-2.0 */
/* What test_both.py runs.
 *   both compile SOURCE OUTPUT   by libnvrtc, with -fmad=false, to PTX
 *   both compare A B             runs each kernel of two images; 0 if the results are the same */
#include <cuda.h>
#include <math.h>
#include <nvrtc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 384

static const char *const kernels[] = {"integers", "floats",    "branches",    "shared_sum", "warps",
                                      "atomics",  "templates", "byte_rounds", "close_math"};

static void need(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "both: %s\n", what);
        exit(1);
    }
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    need(file != NULL, path);
    need(fseek(file, 0, SEEK_END) == 0, path);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(1, size + 1);
    need(text && fread(text, 1, size, file) == size, path);
    fclose(file);
    return text;
}

static int compile(const char *source, const char *output)
{
    nvrtcProgram program;
    static const char *const options[] = {"-arch=compute_80", "-fmad=false"};
    size_t size = 0;
    char *text = read_file(source);
    need(nvrtcCreateProgram(&program, text, source, 0, NULL, NULL) == NVRTC_SUCCESS, "nvrtcCreateProgram");
    nvrtcResult result = nvrtcCompileProgram(program, 2, options);
    nvrtcGetProgramLogSize(program, &size);
    char *log = calloc(1, size + 1);
    nvrtcGetProgramLog(program, log);
    fputs(log, stderr);
    need(result == NVRTC_SUCCESS, nvrtcGetErrorString(result));
    need(nvrtcGetPTXSize(program, &size) == NVRTC_SUCCESS && size > 1, "nvrtcGetPTXSize");
    char *ptx = malloc(size);
    need(nvrtcGetPTX(program, ptx) == NVRTC_SUCCESS, "nvrtcGetPTX");
    FILE *file = fopen(output, "wb");
    need(file && fwrite(ptx, 1, size - 1, file) == size - 1 && fclose(file) == 0, output);
    nvrtcDestroyProgram(&program);
    free(ptx);
    free(log);
    free(text);
    return 0;
}

static void run(CUmodule module, const char *name, uint32_t *results)
{
    CUfunction function;
    CUdeviceptr in, out;
    uint32_t numbers[COUNT], state = 12345;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = state = state * 1664525u + 1013904223u;
    need(cuModuleGetFunction(&function, module, name) == CUDA_SUCCESS, name);
    need(cuMemAlloc(&in, sizeof numbers) == CUDA_SUCCESS && cuMemAlloc(&out, sizeof numbers) == CUDA_SUCCESS,
         "cuMemAlloc");
    need(cuMemcpyHtoD(in, numbers, sizeof numbers) == CUDA_SUCCESS, "cuMemcpyHtoD");
    void *parameters[] = {&out, &in};
    need(cuLaunchKernel(function, COUNT / 96, 1, 1, 96, 1, 1, 0, NULL, parameters, NULL) == CUDA_SUCCESS,
         "cuLaunchKernel");
    need(cuMemcpyDtoH(results, out, sizeof numbers) == CUDA_SUCCESS, "cuMemcpyDtoH");
    cuMemFree(in);
    cuMemFree(out);
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int compare(const char *first, const char *second)
{
    CUcontext context;
    CUmodule modules[2];
    int different = 0;
    need(cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
             cuCtxSetCurrent(context) == CUDA_SUCCESS,
         "the driver does not start");
    char *images[2] = {read_file(first), read_file(second)};
    for (int i = 0; i < 2; i++)
        need(cuModuleLoadData(&modules[i], images[i]) == CUDA_SUCCESS, i ? second : first);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        uint32_t a[COUNT], b[COUNT];
        bool close_is_enough = strncmp(kernels[k], "close_", 6) == 0;
        run(modules[0], kernels[k], a);
        run(modules[1], kernels[k], b);
        for (int i = 0; i < COUNT; i++) {
            float x = as_float(a[i]), y = as_float(b[i]);
            if (a[i] == b[i] || (close_is_enough && fabsf(x - y) <= 4e-6f * fabsf(x)))
                continue;
            fprintf(stderr, "%s, number %d: 0x%08x and 0x%08x\n", kernels[k], i, a[i], b[i]);
            different++;
            break;
        }
    }
    printf("%zu kernels, %d with different results\n", sizeof kernels / sizeof *kernels, different);
    for (int i = 0; i < 2; i++) {
        cuModuleUnload(modules[i]);
        free(images[i]);
    }
    return different != 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "compile") == 0)
        return compile(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "compare") == 0)
        return compare(argv[2], argv[3]);
    fputs("usage: both compile SOURCE OUTPUT | both compare A B\n", stderr);
    return 2;
}
