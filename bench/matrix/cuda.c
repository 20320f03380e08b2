/* SPDX-License-Identifier: Apache-2.0 */
/* Products by matrix instructions: each launch from its call to the end of the synchronisation, of code that is as good
 * as it gets, and a number from the results for a comparison with openmp.c. */
#include "../bench.h"
#include "../kernels/load.h"
#include "fill.h"
#include "matrix.h"

extern const char bench_matrix[];

static CUmodule module;
static CUdeviceptr a, b, c;
static int8_t left[SIDE * SIDE], right[SIDE * SIDE];
static int32_t wide[SIDE * SIDE];

enum format { HALF, BFLOAT, FLOAT, BYTE };

static void send(CUdeviceptr to, const int8_t *from, size_t count, enum format format)
{
    size_t bytes = format == BYTE ? 1 : format == FLOAT ? 4 : 2;
    for (size_t i = 0; i < count; i++)
        if (format == FLOAT)
            ((float *)wide)[i] = from[i];
        else if (format != BYTE)
            ((uint16_t *)wide)[i] = format == HALF ? matrix_half(from[i]) : matrix_bfloat(from[i]);
    CHECK(cuMemcpyHtoD(to, format == BYTE ? (const void *)from : wide, count * bytes));
}

static void measure(const char *name, const char *kernel_name, enum format format, unsigned side, unsigned blocks_x,
                    unsigned blocks_y, unsigned threads)
{
    CUfunction kernel;
    double best = 1e9;
    void *params[] = {&a, &b, &c};
    size_t count = (size_t)side * side;
    send(a, left, count, format);
    send(b, right, count, format);
    CHECK(cuModuleGetFunction(&kernel, module, kernel_name));
    for (unsigned round = 0; round < 4; round++) {
        double begin = kernels_seconds();
        CHECK(cuLaunchKernel(kernel, blocks_x, blocks_y, 1, threads, 1, 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
        double took = (kernels_seconds() - begin) * 1e3;
        best = took < best && round ? took : best;
    }
    CHECK(cuMemcpyDtoH(wide, c, count * 4));
    kernels_print(name, best, matrix_sum(wide, count, format == BYTE));
}

int main(void)
{
    module = kernels_load(bench_matrix);
    matrix_fill(left, SIDE * SIDE, 1);
    matrix_fill(right, SIDE * SIDE, 2);
    CHECK(cuMemAlloc(&a, sizeof wide));
    CHECK(cuMemAlloc(&b, sizeof wide));
    CHECK(cuMemAlloc(&c, sizeof wide));
    measure("half", "half_product", HALF, SIDE, SIDE / TILE_COLS, SIDE / TILE_ROWS, THREADS);
    measure("bfloat", "bfloat_product", BFLOAT, SIDE, SIDE / TILE_COLS, SIDE / TILE_ROWS, THREADS);
    measure("tensor", "tensor_product", FLOAT, SIDE, SIDE / TILE_COLS, SIDE / TILE_ROWS, THREADS);
    measure("byte", "byte_product", BYTE, SIDE, SIDE / TILE_COLS, SIDE / TILE_ROWS, THREADS);
    measure("wmma", "wmma_product", HALF, WMMA_SIDE, WMMA_SIDE / 64, WMMA_SIDE / 16, 128);
    return 0;
}
