/* SPDX-License-Identifier: Apache-2.0 */
/* Launches the kernels of kernels.cu through the driver API, and times them: from the launch to the end of the
 * synchronisation, best of some rounds.
 *
 * All is done twice, and the second figures count: kernels' first code is made in a hurry, and replaced when it has run
 * for some milliseconds. */
#include "../bench.h"
#include "work.h"

extern const char bench_more_kernels[];

static CUmodule module;
static unsigned grid[3], block[3];

static void shape(unsigned gx, unsigned gy, unsigned bx, unsigned by)
{
    grid[0] = gx;
    grid[1] = gy;
    block[0] = bx;
    block[1] = by;
}

/* Best time of a launch in milliseconds; the first, which compiles, doesn't count. */
static double measure(const char *name, int repeats, void **params)
{
    CUfunction kernel;
    double best = 1e9;
    CHECK(cuModuleGetFunction(&kernel, module, name));
    for (int round = -1; round < repeats; round++) {
        double begin = kernels_seconds();
        CHECK(cuLaunchKernel(kernel, grid[0], grid[1], 1, block[0], block[1], 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
        double took = (kernels_seconds() - begin) * 1e3;
        if (round >= 0 && took < best)
            best = took;
    }
    return best;
}

static CUdeviceptr upload(const void *from, size_t bytes)
{
    CUdeviceptr to;
    CHECK(cuMemAlloc(&to, bytes));
    CHECK(cuMemcpyHtoD(to, from, bytes));
    return to;
}

static CUdeviceptr floats(size_t count, uint32_t seed)
{
    float *values = malloc(count * sizeof *values);
    kernels_fill(values, count, seed);
    CUdeviceptr made = upload(values, count * sizeof *values);
    free(values);
    return made;
}

static double sum_of(CUdeviceptr from, size_t count)
{
    float *values = malloc(count * sizeof *values);
    CHECK(cuMemcpyDtoH(values, from, count * sizeof *values));
    double sum = kernels_sum(values, count);
    free(values);
    return sum;
}

static void vectors(void)
{
    int n = VECTOR_LENGTH;
    CUdeviceptr a = floats((size_t)n, 1), b = floats((size_t)n, 2), c = floats((size_t)n, 3);
    shape((unsigned)n / 256, 1, 256, 1);
    double took = measure("vector_add", 10, (void *[]){&a, &b, &c, &n});
    kernels_print_with_work("vector_add", took, sum_of(c, (size_t)n));
    shape(1024, 1, 256, 1);
    took = measure("saxpy", 9, (void *[]){&(float){0.5f}, &a, &b, &n});
    kernels_print_with_work("saxpy", took, sum_of(b, (size_t)n));
    took = measure("reduce", 10, (void *[]){&a, &c, &n});
    kernels_print_with_work("reduce", took, sum_of(c, 1024));
    shape((unsigned)n / 256, 1, 256, 1);
    took = measure("scan", 10, (void *[]){&a, &c, &n});
    kernels_print_with_work("scan", took, sum_of(c, (size_t)n));
    CHECK(cuMemFree(a));
    CHECK(cuMemFree(b));
    CHECK(cuMemFree(c));
}

static void planes(void)
{
    int side = STENCIL_SIDE;
    size_t count = (size_t)side * side;
    CUdeviceptr in = floats(count, 4), out = floats(count, 4);
    shape((unsigned)side / 32, (unsigned)side / 8, 32, 8);
    double took = measure("stencil", 10, (void *[]){&in, &out, &side});
    kernels_print_with_work("stencil", took, sum_of(out, count));
    shape((unsigned)side / 16, (unsigned)side / 16, 16, 16);
    took = measure("transpose", 10, (void *[]){&in, &out, &side});
    kernels_print_with_work("transpose", took, sum_of(out, count / 2));
    CHECK(cuMemFree(in));
    CHECK(cuMemFree(out));
}

static void matrix(void)
{
    int n = MATRIX_SIDE;
    size_t count = (size_t)n * n;
    CUdeviceptr a = floats(count, 5), b = floats(count, 6), c = floats(count, 7);
    shape((unsigned)n / 16, (unsigned)n / 16, 16, 16);
    double took = measure("matrix", 5, (void *[]){&a, &b, &c, &n});
    kernels_print_with_work("matrix", took, sum_of(c, count));
    CHECK(cuMemFree(a));
    CHECK(cuMemFree(b));
    CHECK(cuMemFree(c));
}

static void bodies(void)
{
    int n = BODIES;
    CUdeviceptr at = floats(4 * (size_t)n, 8), pull = floats(4 * (size_t)n, 0);
    shape((unsigned)n / 128, 1, 128, 1);
    double took = measure("bodies", 3, (void *[]){&at, &pull, &n});
    kernels_print_with_work("bodies", took, sum_of(pull, 4 * (size_t)n));
    CHECK(cuMemFree(at));
    CHECK(cuMemFree(pull));
}

static void fractal(void)
{
    int side = FRACTAL_SIDE, rounds = FRACTAL_ROUNDS;
    size_t count = (size_t)side * side;
    CUdeviceptr out = floats(count, 0);
    shape((unsigned)side / 16, (unsigned)side / 16, 16, 16);
    double took = measure("fractal", 5, (void *[]){&out, &side, &rounds});
    kernels_print_with_work("fractal", took, sum_of(out, count));
    CHECK(cuMemFree(out));
}

static void options(void)
{
    int n = OPTIONS;
    CUdeviceptr price = floats((size_t)n, 9), strike = floats((size_t)n, 10), years = floats((size_t)n, 11),
                call = floats((size_t)n, 0), put = floats((size_t)n, 0);
    shape((unsigned)n / 128, 1, 128, 1);
    double took = measure("options", 5, (void *[]){&price, &strike, &years, &call, &put, &n});
    kernels_print_with_work("options", took, sum_of(call, (size_t)n) + sum_of(put, (size_t)n));
    CHECK(cuMemFree(price));
    CHECK(cuMemFree(strike));
    CHECK(cuMemFree(years));
    CHECK(cuMemFree(call));
    CHECK(cuMemFree(put));
}

static void histogram(void)
{
    int n = VECTOR_LENGTH, repeats = 10;
    uint8_t *bytes = malloc((size_t)n);
    unsigned bins[BINS];
    kernels_fill_bytes(bytes, (size_t)n, 12);
    CUdeviceptr in = upload(bytes, (size_t)n), out;
    CHECK(cuMemAlloc(&out, sizeof bins));
    CHECK(cuMemsetD32(out, 0, BINS));
    shape(64, 1, BINS, 1);
    double took = measure("histogram", repeats, (void *[]){&in, &out, &n}), sum = 0;
    CHECK(cuMemcpyDtoH(bins, out, sizeof bins));
    for (int k = 0; k < BINS; k++)
        sum += (double)bins[k] / (repeats + 1) * (k + 1);
    kernels_print_with_work("histogram", took, sum);
    free(bytes);
    CHECK(cuMemFree(in));
    CHECK(cuMemFree(out));
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, bench_more_kernels));
    for (int pass = 0; pass < 2; pass++) {
        vectors();
        planes();
        matrix();
        bodies();
        fractal();
        options();
        histogram();
    }
    return 0;
}
