/* SPDX-License-Identifier: Apache-2.0 */
/* The same work as kernels.cu, as somebody writes it in C who has cores and no device: OpenMP over rows or stretches,
 * inner loops that the compiler turns into vectors. Compiled with -O3 -march=native, as the goals say; products and
 * sums may be fused, as nvcc and clang do for the kernels. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels.h"
#include "fractal.h"
#include "rounds.h"

static float *floats(size_t count, uint32_t seed)
{
    float *made = aligned_alloc(64, count * sizeof *made);
    kernels_fill(made, count, seed);
    return made;
}

static void vectors(void)
{
    int n = VECTOR_LENGTH;
    float *a = floats((size_t)n, 1), *b = floats((size_t)n, 2), *c = floats((size_t)n, 3);
    REPEAT(10)
    {
#pragma omp parallel for simd
        for (int i = 0; i < n; i++)
            c[i] = a[i] + b[i];
    }
    kernels_print("vector_add", timing.best, kernels_sum(c, (size_t)n));
    float k = 0.5f;
    REPEAT(10)
    {
#pragma omp parallel for simd
        for (int i = 0; i < n; i++)
            b[i] = k * a[i] + b[i];
    }
    kernels_print("saxpy", timing.best, kernels_sum(b, (size_t)n));
    float sum = 0;
    REPEAT(10)
    {
        sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
        for (int i = 0; i < n; i++)
            sum += a[i];
    }
    kernels_print("reduce", timing.best, (double)sum);
    REPEAT(10)
    {
#pragma omp parallel for
        for (int start = 0; start < n; start += 256) {
            float running = 0;
            for (int i = start; i < start + 256; i++)
                c[i] = running += a[i];
        }
    }
    kernels_print("scan", timing.best, kernels_sum(c, (size_t)n));
    free(a);
    free(b);
    free(c);
}

static void planes(void)
{
    int side = STENCIL_SIDE;
    size_t count = (size_t)side * side;
    float *in = floats(count, 4), *out = floats(count, 4);
    REPEAT(10)
    {
#pragma omp parallel for
        for (int y = 1; y < side - 1; y++)
            for (int x = 1; x < side - 1; x++)
                out[y * side + x] = 0.2f * (in[y * side + x] + in[y * side + x - 1] + in[y * side + x + 1] +
                                            in[(y - 1) * side + x] + in[(y + 1) * side + x]);
    }
    kernels_print("stencil", timing.best, kernels_sum(out, count));
    REPEAT(10)
    {
#pragma omp parallel for
        for (int row = 0; row < side; row += 16)
            for (int column = 0; column < side; column += 16)
                for (int y = row; y < row + 16; y++)
                    for (int x = column; x < column + 16; x++)
                        out[y * side + x] = in[x * side + y];
    }
    kernels_print("transpose", timing.best, kernels_sum(out, count / 2));
    free(in);
    free(out);
}

static void matrix(void)
{
    enum { N = MATRIX_SIDE, TILE = 64 };
    float *a = floats((size_t)N * N, 5), *b = floats((size_t)N * N, 6), *c = floats((size_t)N * N, 7);
    REPEAT(5)
    {
#pragma omp parallel for
        for (int row = 0; row < N; row += 4)
            for (int column = 0; column < N; column += TILE) {
                float sum[4][TILE];
                memset(sum, 0, sizeof sum);
                for (int k = 0; k < N; k++)
                    for (int y = 0; y < 4; y++)
                        for (int x = 0; x < TILE; x++)
                            sum[y][x] += a[(row + y) * N + k] * b[k * N + column + x];
                for (int y = 0; y < 4; y++)
                    memcpy(&c[(row + y) * N + column], sum[y], sizeof sum[y]);
            }
    }
    kernels_print("matrix", timing.best, kernels_sum(c, (size_t)N * N));
    free(a);
    free(b);
    free(c);
}

static void bodies(void)
{
    enum { N = BODIES };
    float *at = floats(4 * N, 8), *x = floats(N, 0), *y = floats(N, 0), *z = floats(N, 0), *w = floats(N, 0),
          *pull = floats(4 * N, 0);
    for (int i = 0; i < N; i++) {
        x[i] = at[4 * i];
        y[i] = at[4 * i + 1];
        z[i] = at[4 * i + 2];
        w[i] = at[4 * i + 3];
    }
    REPEAT(3)
    {
#pragma omp parallel for
        for (int i = 0; i < N; i++) {
            float px = 0, py = 0, pz = 0;
#pragma omp simd reduction(+ : px, py, pz)
            for (int k = 0; k < N; k++) {
                float dx = x[k] - x[i], dy = y[k] - y[i], dz = z[k] - z[i];
                float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f),
                      force = w[k] * inverse * inverse * inverse;
                px += dx * force;
                py += dy * force;
                pz += dz * force;
            }
            pull[4 * i] = px;
            pull[4 * i + 1] = py;
            pull[4 * i + 2] = pz;
            pull[4 * i + 3] = 0;
        }
    }
    kernels_print("bodies", timing.best, kernels_sum(pull, 4 * N));
    free(at);
    free(x);
    free(y);
    free(z);
    free(w);
    free(pull);
}

/* Sixteen points at a time, each with a mask: no compiler finds this by itself. */
static void fractal(void)
{
    int side = FRACTAL_SIDE;
    float *out = floats((size_t)side * side, 0);
    REPEAT(5)
    {
#pragma omp parallel for schedule(dynamic, 4)
        for (int py = 0; py < side; py++)
            for (int px = 0; px < side; px += 16) {
                fractal_vector cx;
                for (int k = 0; k < 16; k++)
                    cx[k] = -2.0f + 3.0f * (float)(px + k) / (float)side;
                float cy = -1.5f + 3.0f * (float)py / (float)side;
                fractal_counts count = fractal_sixteen(cx, cy, FRACTAL_ROUNDS);
                for (int k = 0; k < 16; k++)
                    out[py * side + px + k] = (float)count[k];
            }
    }
    kernels_print("fractal", timing.best, kernels_sum(out, (size_t)side * side));
    free(out);
}

static inline float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail =
        0.39894228f * expf(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

static void options(void)
{
    int n = OPTIONS;
    float *price = floats((size_t)n, 9), *strike = floats((size_t)n, 10), *years = floats((size_t)n, 11),
          *call = floats((size_t)n, 0), *put = floats((size_t)n, 0), rate = 0.02f, swing = 0.30f;
    REPEAT(5)
    {
#pragma omp parallel for simd
        for (int i = 0; i < n; i++) {
            float s = 5.0f + 25.0f * price[i], x = 1.0f + 99.0f * strike[i], t = 0.25f + 9.75f * years[i];
            float root = sqrtf(t), d1 = (logf(s / x) + (rate + 0.5f * swing * swing) * t) / (swing * root),
                  d2 = d1 - swing * root;
            float n1 = normal(d1), n2 = normal(d2), discount = expf(-rate * t);
            call[i] = s * n1 - x * discount * n2;
            put[i] = x * discount * (1.0f - n2) - s * (1.0f - n1);
        }
    }
    kernels_print("options", timing.best, kernels_sum(call, (size_t)n) + kernels_sum(put, (size_t)n));
    free(price);
    free(strike);
    free(years);
    free(call);
    free(put);
}

static void histogram(void)
{
    int n = VECTOR_LENGTH;
    uint8_t *in = malloc((size_t)n);
    unsigned bins[BINS];
    kernels_fill_bytes(in, (size_t)n, 12);
    double sum = 0;
    REPEAT(10)
    {
        memset(bins, 0, sizeof bins);
#pragma omp parallel
        {
            unsigned mine[4][BINS] = {{0}};
#pragma omp for
            for (int i = 0; i < n; i += 4)
                for (int k = 0; k < 4; k++)
                    mine[k][in[i + k]]++;
#pragma omp critical
            for (int k = 0; k < BINS; k++)
                bins[k] += mine[0][k] + mine[1][k] + mine[2][k] + mine[3][k];
        }
        sum = 0;
        for (int k = 0; k < BINS; k++)
            sum += (double)bins[k] * (k + 1);
    }
    kernels_print("histogram", timing.best, sum);
    free(in);
}

int main(void)
{
    vectors();
    planes();
    matrix();
    bodies();
    fractal();
    options();
    histogram();
    return 0;
}
