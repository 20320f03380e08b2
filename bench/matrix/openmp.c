/* SPDX-License-Identifier: Apache-2.0 */
/* The same products by libraries for processors: OpenBLAS's in float, of the same numbers, and oneDNN's in bytes. */
#include <dlfcn.h>

#include "../kernels/rounds.h"
#include "fill.h"
#include "matrix.h"

static int8_t left[SIDE * SIDE], right[SIDE * SIDE];
static float a[SIDE * SIDE], b[SIDE * SIDE];
static int32_t c[SIDE * SIDE];

typedef void sgemm(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
                   const int *, const float *, const int *, const float *, float *, const int *);
typedef int s8gemm(char, char, char, int64_t, int64_t, int64_t, float, const int8_t *, int64_t, int8_t, const int8_t *,
                   int64_t, int8_t, float, int32_t *, int64_t, const int32_t *);

static void *symbol(const char *library, const char *other, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle)
        handle = dlopen(other, RTLD_NOW);
    return handle ? dlsym(handle, name) : NULL;
}

int main(void)
{
    static const float one = 1, zero = 0;
    int side = SIDE, small = WMMA_SIDE;
    sgemm *floats = (sgemm *)symbol("libopenblas.so.0", "libopenblas.so", "sgemm_");
    s8gemm *bytes = (s8gemm *)symbol("libdnnl.so.2", "libdnnl.so.3", "dnnl_gemm_s8s8s32");
    matrix_fill(left, SIDE * SIDE, 1);
    matrix_fill(right, SIDE * SIDE, 2);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        a[i] = left[i];
        b[i] = right[i];
    }
    if (floats) {
        /* By columns C is turned over: B * transposed A. */
        REPEAT(4)
        floats("T", "N", &side, &side, &side, &one, b, &side, a, &side, &zero, (float *)c, &side);
        double sum = matrix_sum(c, SIDE * SIDE, 0);
        kernels_print("half", timing.best, sum);
        kernels_print("bfloat", timing.best, sum);
        kernels_print("tensor", timing.best, sum);
        REPEAT(4)
        floats("T", "N", &small, &small, &small, &one, b, &small, a, &small, &zero, (float *)c, &small);
        kernels_print("wmma", timing.best, matrix_sum(c, (size_t)WMMA_SIDE * WMMA_SIDE, 0));
    }
    if (bytes) {
        const int32_t none = 0;
        REPEAT(4)
        bytes('N', 'T', 'F', SIDE, SIDE, SIDE, 1, left, SIDE, 0, right, SIDE, 0, 0, c, SIDE, &none);
        kernels_print("byte", timing.best, matrix_sum(c, SIDE * SIDE, 1));
    }
    return 0;
}
