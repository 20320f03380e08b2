/* SPDX-License-Identifier: Apache-2.0 */
/* Small transforms beside sums in double, within tolerances that programs ask for, and which small plans want a work
 * area. */
#include "ft.h"

#include <math.h>
#include <stdlib.h>

/* NumPy's first numbers of the seed 0, as floats: what scikit-cuda's tests transform. */
static const float numbers[32] = {
    0x1.18fe16p-1f, 0x1.6e2d4cp-1f, 0x1.349d66p-1f, 0x1.16faeep-1f, 0x1.b1d290p-2f, 0x1.4ab2a2p-1f, 0x1.c016dcp-2f,
    0x1.c89678p-1f, 0x1.ed6534p-1f, 0x1.88a4e4p-2f, 0x1.955cfcp-1f, 0x1.0ecb50p-1f, 0x1.22d6bcp-1f, 0x1.d9e7cep-1f,
    0x1.22f6b4p-4f, 0x1.64e1b2p-4f, 0x1.4b421ap-6f, 0x1.aa4d26p-1f, 0x1.8e6a90p-1f, 0x1.bd723cp-1f, 0x1.f50d76p-1f,
    0x1.992b50p-1f, 0x1.d88e0cp-2f, 0x1.8fa186p-1f, 0x1.e473bap-4f, 0x1.47a3bap-1f, 0x1.259668p-3f, 0x1.e3aba4p-1f,
    0x1.0b2fb4p-1f, 0x1.a89d24p-2f, 0x1.0ee7aap-2f, 0x1.8c685cp-1f,
};

/* The element (p, q) of the transform of rows x columns numbers. */
static void exact(int rows, int columns, int p, int q, double sum[2])
{
    const double turn = 6.283185307179586476925286766559;
    sum[0] = sum[1] = 0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            double angle = -turn * ((double)(r * p % rows) / rows + (double)(c * q % columns) / columns);
            sum[0] += numbers[r * columns + c] * cos(angle);
            sum[1] += numbers[r * columns + c] * sin(angle);
        }
}

/* Says whether a transform of reals is within the tolerance plus 1e-7 of each value. */
static void close_to(int rows, int columns, int batch)
{
    int n[2] = {rows, columns}, count = rows * columns, half = columns / 2 + 1, rank = rows > 1 ? 2 : 1;
    size_t in_size = sizeof(float) * (size_t)(count * batch),
           out_size = 2 * sizeof(float) * (size_t)(rows * half * batch);
    float *host = malloc(in_size > out_size ? in_size : out_size), *in = rt_alloc(in_size), *out = rt_alloc(out_size);
    double most = 0;
    cufftHandle plan;
    for (int i = 0; i < count * batch; i++)
        host[i] = numbers[i % count];
    RT_NEED(cudaMemcpy(in, host, in_size, cudaMemcpyHostToDevice));
    ft(cufftPlanMany(&plan, rank, rank == 2 ? n : n + 1, NULL, 1, 0, NULL, 1, 0, CUFFT_R2C, batch));
    ft(cufftExecR2C(plan, in, (cufftComplex *)out));
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, out, out_size, cudaMemcpyDeviceToHost));
    for (int b = 0; b < batch; b++)
        for (int p = 0; p < rows; p++)
            for (int q = 0; q < half; q++) {
                double sum[2];
                const float *at = host + 2 * ((b * rows + p) * half + q);
                exact(rows, columns, p, q, sum);
                double off = hypot(at[0] - sum[0], at[1] - sum[1]) - 1e-7 * hypot(sum[0], sum[1]);
                most = off > most ? off : most;
            }
    say_if("within-1e-6", most <= 1e-6);
    say_if("within-2e-6", most <= 2e-6);
    ft(cufftDestroy(plan));
    free(host);
}

CASE(ft_close, line_8)
{
    close_to(1, 8, 1);
}

CASE(ft_close, lines_of_8)
{
    close_to(1, 8, 3);
}

CASE(ft_close, line_32)
{
    close_to(1, 32, 1);
}

CASE(ft_close, plane_8_4)
{
    close_to(8, 4, 1);
}

CASE(ft_close, planes_of_8_4)
{
    close_to(8, 4, 3);
}

CASE(ft_close, plane_4_8)
{
    close_to(4, 8, 1);
}

/* Says whether a plan wants a work area. */
static void area_of(cufftType type, int rank, const int n[3], int batch)
{
    int sizes[3] = {n[0], n[1], n[2]};
    cufftHandle plan;
    size_t size = 0, got = 0;
    FT_NEED(cufftCreate(&plan));
    ft(cufftSetAutoAllocation(plan, 0));
    ft(cufftMakePlanMany(plan, rank, sizes, NULL, 1, 0, NULL, 1, 0, type, batch, &size));
    ft(cufftGetSize(plan, &got));
    say_if("some", got > 0);
    say_if("same", got == size);
    ft(cufftDestroy(plan));
}

#define AREA(title, type, rank, batch, ...) \
    CASE(ft_area, title) \
    { \
        area_of(type, rank, (const int[3]){__VA_ARGS__}, batch); \
    }

AREA(some_r2c_8, CUFFT_R2C, 1, 1, 8)
AREA(some_r2c_8_batch, CUFFT_R2C, 1, 3, 8)
AREA(some_r2c_8_4, CUFFT_R2C, 2, 1, 8, 4)
AREA(some_r2c_4096, CUFFT_R2C, 1, 1, 4096)
AREA(some_r2c_13, CUFFT_R2C, 1, 1, 13)
AREA(some_c2r_8, CUFFT_C2R, 1, 1, 8)
AREA(some_c2r_8_4, CUFFT_C2R, 2, 1, 8, 4)
AREA(some_c2c_8, CUFFT_C2C, 1, 1, 8)
AREA(some_c2c_16_16, CUFFT_C2C, 2, 1, 16, 16)
AREA(some_c2c_8_8_8, CUFFT_C2C, 3, 1, 8, 8, 8)
AREA(some_c2c_4096, CUFFT_C2C, 1, 1, 4096)
AREA(some_c2c_131, CUFFT_C2C, 1, 1, 131)
AREA(some_d2z_8, CUFFT_D2Z, 1, 1, 8)
AREA(some_z2z_8, CUFFT_Z2Z, 1, 1, 8)
