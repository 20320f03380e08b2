/* SPDX-License-Identifier: Apache-2.0 */
/* What compiling at run time costs: five sources, small to large, to PTX. bench_nvrtc LIBRARY opens that libnvrtc, so
 * NVIDIA's can be measured in the same run. First is the process's first compilation, cold a source never seen before
 * (the median of nine later ones), warm the same source again in a new program. Milliseconds. */
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 9
#define SOURCE_ROOM 65536

static nvrtcResult (*create)(nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *);
static nvrtcResult (*compile)(nvrtcProgram, int, const char *const *);
static nvrtcResult (*destroy)(nvrtcProgram *);

static const char *const small[] = {
    "extern \"C\" __global__ void scale(float *p, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= a; }\n",
    "extern \"C\" __global__ void sum(const float *p, float *out, int n) {\n"
    "  __shared__ float part[256]; int t = threadIdx.x, i = blockIdx.x * 256 + t; part[t] = i < n ? p[i] : 0; __syncthreads();\n"
    "  for (int s = 128; s > 0; s >>= 1) { if (t < s) part[t] += part[t + s]; __syncthreads(); }\n  if (t == 0) out[blockIdx.x] = part[0]; }\n",
    "template <int N> __device__ float tile(const float *a, const float *b, int n, int row, int column) {\n"
    "  __shared__ float x[N][N], y[N][N]; float sum = 0; int i = threadIdx.y, j = threadIdx.x;\n"
    "  for (int k = 0; k < n; k += N) { x[i][j] = a[row * n + k + j]; y[i][j] = b[(k + i) * n + column]; __syncthreads();\n"
    "    for (int m = 0; m < N; m++) sum += x[i][m] * y[m][j]; __syncthreads(); } return sum; }\n"
    "extern \"C\" __global__ void multiply(const float *a, const float *b, float *c, int n) {\n"
    "  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x; c[row * n + column] = tile<16>(a, b, n, row, column); }\n",
};

/* The last two are made of many functions with loops and branches. */
static void write_source(char *source, int which, long seed)
{
    size_t at = (size_t)snprintf(source, SOURCE_ROOM, "#define SEED %ld\n__device__ long mark_%ld;\n", seed, seed);
    if (which < 3) {
        snprintf(source + at, SOURCE_ROOM - at, "%s", small[which]);
        return;
    }
    int count = which == 3 ? 15 : 60;
    for (int i = 0; i < count; i++)
        at += (size_t)snprintf(
            source + at, SOURCE_ROOM - at,
            "extern \"C\" __global__ void k%d(float *p, int n) {\n"
            "  int i = blockIdx.x * blockDim.x + threadIdx.x; float v = p[i], w = v;\n"
            "  for (int j = 0; j < n; j++) { v = v * %d.5f + w; if (v > %d.0f) w = v - p[j]; else w += sqrtf(v < 0 ? -v : v); }\n"
            "  p[i] = v + w; }\n",
            i, i + 1, i + 2);
}

static double once(const char *source)
{
    static const char *const options[] = {"--gpu-architecture=compute_80"};
    struct timespec begin, end;
    nvrtcProgram program;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (create(&program, source, "bench.cu", 0, NULL, NULL) != NVRTC_SUCCESS ||
        compile(program, 1, options) != NVRTC_SUCCESS) {
        fprintf(stderr, "bench_nvrtc: a source did not compile\n");
        exit(1);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    destroy(&program);
    return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    char *source = malloc(SOURCE_ROOM);
    if (!library || !source) {
        fprintf(stderr, "bench_nvrtc: no library: %s\n", argc > 1 ? dlerror() : "name one");
        return 77;
    }
    *(void **)&create = dlsym(library, "nvrtcCreateProgram");
    *(void **)&compile = dlsym(library, "nvrtcCompileProgram");
    *(void **)&destroy = dlsym(library, "nvrtcDestroyProgram");
    if (!create || !compile || !destroy)
        return 77;
    long seed = (long)time(NULL) * 100000 + getpid() % 1000 * 100;
    write_source(source, 0, seed++);
    printf("nvrtc_first %.3f\n", once(source));
    for (int which = 0; which < 5; which++) {
        double cold[ROUNDS], warm[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            write_source(source, which, seed++);
            cold[round] = once(source);
            warm[round] = once(source);
        }
        qsort(cold, ROUNDS, sizeof *cold, ascending);
        qsort(warm, ROUNDS, sizeof *warm, ascending);
        printf("nvrtc_cold_%d %.3f\nnvrtc_warm_%d %.3f\n", which, cold[ROUNDS / 2], which, warm[ROUNDS / 2]);
    }
    free(source);
    return 0;
}
