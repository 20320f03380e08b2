/* SPDX-License-Identifier: Apache-2.0 */
/* The same work as lanes.cu, as somebody writes it in C who has cores and no device: polynomials over vectors, plain
 * loads in place of textures, sums one after the other. */
#include <math.h>
#include <string.h>

#include "../kernels/kernels.h"
#include "../kernels/fractal.h"
#include "../kernels/rounds.h"
#include "lanes.h"

static float *in, *out;

/* For |x| of a few turns. */
static inline float sine(float x)
{
    float k = rintf(x * 0.318309886f), r = x - k * 3.14159265f, s = r * r;
    float value =
        r * (1.0f + s * (-0.166666667f + s * (0.00833333333f + s * (-0.000198412698f + s * 2.75573192e-06f))));
    return (int)k & 1 ? -value : value;
}

static inline float power(float x)
{
    float y = x * 1.44269504f, k = rintf(y), r = (y - k) * 0.693147181f, scale;
    int bits = ((int)k + 127) << 23;
    memcpy(&scale, &bits, sizeof scale);
    return scale *
           (1.0f + r * (1.0f + r * (0.5f + r * (0.166666667f +
                                                r * (0.0416666667f + r * (0.00833333333f + r * 0.00138888889f))))));
}

static void waves(void)
{
    REPEAT(9)
    {
#pragma omp parallel for simd
        for (int i = 0; i < WAVES; i++)
            out[i] = sine(in[i]) * power(in[i]);
    }
    kernels_print("waves", timing.best, kernels_sum(out, WAVES));
}

static void set(void)
{
    REPEAT(9)
    {
#pragma omp parallel for schedule(dynamic, 4)
        for (int py = 0; py < SET_SIDE; py++)
            for (int px = 0; px < SET_SIDE; px += 16) {
                fractal_vector cx;
                for (int k = 0; k < 16; k++)
                    cx[k] = (float)(px + k) * (3.0f / SET_SIDE) - 2.0f;
                float cy = (float)py * (2.0f / SET_SIDE) - 1.0f;
                fractal_counts count = fractal_sixteen(cx, cy, SET_ROUNDS);
                for (int k = 0; k < 16; k++)
                    out[py * SET_SIDE + px + k] = (float)count[k];
            }
    }
    kernels_print("set", timing.best, kernels_sum(out, SET_SIDE * SET_SIDE));
}

static inline int inside(int at)
{
    return at < 0 ? 0 : at < PICTURE ? at : PICTURE - 1;
}

static void row(const char *name)
{
    static float weights[TAPS];
    for (int k = 0; k < TAPS; k++)
        weights[k] = 0.2f - 0.04f * (float)abs(k - TAPS / 2);
    REPEAT(9)
    {
#pragma omp parallel for
        for (int y = 0; y < PICTURE; y++)
#pragma omp simd
            for (int x = 0; x < PICTURE; x++) {
                float all = 0;
                for (int k = 0; k < TAPS; k++)
                    all += in[y * PICTURE + inside(x + k - TAPS / 2)] * weights[k];
                out[y * PICTURE + x] = all;
            }
    }
    kernels_print(name, timing.best, kernels_sum(out, PICTURE * PICTURE));
}

static void turned(const char *name)
{
    REPEAT(9)
    {
#pragma omp parallel for
        for (int y = 0; y < PICTURE; y++)
#pragma omp simd
            for (int x = 0; x < PICTURE; x++) {
                float u = 0.96f * (float)x - 0.28f * (float)y + 300.0f,
                      v = 0.28f * (float)x + 0.96f * (float)y - 300.0f;
                out[y * PICTURE + x] = in[inside((int)floorf(v)) * PICTURE + inside((int)floorf(u))];
            }
    }
    kernels_print(name, timing.best, kernels_sum(out, PICTURE * PICTURE));
}

/* The texel at the lower left of a turned picture's point, and how far the point is from it. */
struct corner {
    int x, y;
    float a, b;
};

static inline struct corner turned_corner(int x, int y)
{
    float u = 0.96f * (float)x - 0.28f * (float)y + 299.5f, v = 0.28f * (float)x + 0.96f * (float)y - 300.5f,
          left = floorf(u), low = floorf(v);
    return (struct corner){(int)left, (int)low, u - left, v - low};
}

static void turned_linear(void)
{
    REPEAT(9)
    {
#pragma omp parallel for
        for (int y = 0; y < PICTURE; y++)
#pragma omp simd
            for (int x = 0; x < PICTURE; x++) {
                struct corner at = turned_corner(x, y);
                float a = at.a, b = at.b;
                int x0 = inside(at.x), x1 = inside(at.x + 1), y0 = inside(at.y) * PICTURE,
                    y1 = inside(at.y + 1) * PICTURE;
                float first = in[y0 + x0] + (in[y0 + x1] - in[y0 + x0]) * a,
                      second = in[y1 + x0] + (in[y1 + x1] - in[y1 + x0]) * a;
                out[y * PICTURE + x] = first + (second - first) * b;
            }
    }
    kernels_print("turned_linear", timing.best, kernels_sum(out, PICTURE * PICTURE));
}

static inline float texel(const uint8_t *bytes, int x, int y)
{
    const uint8_t *at = bytes + ((y & (PICTURE - 1)) * PICTURE + (x & (PICTURE - 1))) * 4;
    return (float)(at[0] + at[1] + at[2] + at[3]) / 255.0f;
}

static void turned_bytes(void)
{
    static uint8_t bytes[PICTURE * PICTURE * 4];
    kernels_fill_bytes(bytes, sizeof bytes, 3);
    REPEAT(9)
    {
#pragma omp parallel for
        for (int y = 0; y < PICTURE; y++)
#pragma omp simd
            for (int x = 0; x < PICTURE; x++) {
                struct corner at = turned_corner(x, y);
                float a = at.a, b = at.b;
                int x0 = at.x, y0 = at.y;
                float first = texel(bytes, x0, y0) * (1 - a) + texel(bytes, x0 + 1, y0) * a,
                      second = texel(bytes, x0, y0 + 1) * (1 - a) + texel(bytes, x0 + 1, y0 + 1) * a;
                out[y * PICTURE + x] = first * (1 - b) + second * b;
            }
    }
    kernels_print("turned_bytes", timing.best, kernels_sum(out, PICTURE * PICTURE));
}

static void trees(void)
{
    REPEAT(9)
    {
#pragma omp parallel for
        for (int block = 0; block < TREES / TREE_THREADS; block++) {
            float sum = 0;
            for (int i = 0; i < TREE_THREADS; i++)
                sum += in[block * TREE_THREADS + i];
            out[block] = sum;
        }
    }
    kernels_print("tree", timing.best, kernels_sum(out, TREES / TREE_THREADS));
    REPEAT(9)
    {
#pragma omp parallel for
        for (int block = 0; block < TREES / TREE_THREADS; block++) {
            float sum = 0;
            for (int i = 0; i < TREE_THREADS; i++)
                out[block * TREE_THREADS + i] = sum += in[block * TREE_THREADS + i];
        }
    }
    kernels_print("steps", timing.best, kernels_sum(out, TREES));
}

static inline uint32_t mixed(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

static void keys(void)
{
    static uint32_t table[KEYS * KEY_BYTES / 4], hashes[KEYS];
    kernels_fill_bytes((uint8_t *)table, sizeof table, 2);
    REPEAT(9)
    {
#pragma omp parallel for
        for (int i = 0; i < KEYS; i++) {
            uint32_t hash = 1, rounds = table[(size_t)i * (KEY_BYTES / 4)] % 8 + 12;
            for (uint32_t k = 0; k < rounds; k++) {
                const uint32_t *words = table + ((uint32_t)i + k) % KEYS * (KEY_BYTES / 4);
                hash = mixed(mixed(mixed(hash, words[0]), words[1]), words[2]);
            }
            hashes[i] = hash;
        }
    }
    double sum = 0;
    for (int i = 0; i < KEYS; i++)
        sum += hashes[i];
    kernels_print("keys", timing.best, sum);
}

int main(void)
{
    in = aligned_alloc(64, sizeof(float) * PICTURE * PICTURE);
    out = aligned_alloc(64, sizeof(float) * PICTURE * PICTURE);
    kernels_fill(in, PICTURE * PICTURE, 1);
    waves();
    set();
    row("loads");
    row("points");
    turned("turned_loads");
    turned("turned_points");
    turned_linear();
    turned_bytes();
    trees();
    keys();
    return 0;
}
