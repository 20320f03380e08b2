/* SPDX-License-Identifier: Apache-2.0 */
/* Words to integers, uniform, normal and log-normal numbers, in cuRAND's order of operations.
 *
 * Normal numbers are made in pairs by the transformation of Box and Muller (1958), or one by one by the inverse of the
 * distribution. On the device NVIDIA's library uses the GPU's functions, and Millrace normal.c's for floats and the C
 * library's for doubles, so the last bits may differ. On the host both use the C library's. */
#include "libs/curand/convert.h"

#include <math.h>

#include "libs/curand/inverse.h"
#include "libs/curand/poisson.h"

#define TWO_PI_F 6.2831855f
#define MRG_FRACTION 2.3283065498378288e-10 /* cuRAND's 1 / (2^32 - 208) */

unsigned mr_rand_words(enum mr_rand_kind kind, bool is_mrg)
{
    switch (kind) {
    case MR_RAND_NORMAL:
    case MR_RAND_LOG_NORMAL:
        return 2;
    case MR_RAND_UNIFORM_DOUBLE:
        return is_mrg ? 1 : 2;
    case MR_RAND_NORMAL_DOUBLE:
    case MR_RAND_LOG_NORMAL_DOUBLE:
        return is_mrg ? 2 : 4;
    default:
        return 1;
    }
}

/* The middle of the step that a word stands for. */
static inline float uniform(uint32_t x)
{
    return (float)x * 0x1p-32f + 0x1p-33f;
}

static inline double uniform_of_53(uint64_t x)
{
    return (double)x * 0x1p-53 + 0x1p-54;
}

static inline uint64_t bits_53(uint32_t x, uint32_t y)
{
    return x ^ (uint64_t)y << 21;
}

static inline float mrg_uniform(uint32_t x)
{
    return (float)(x * MRG_FRACTION);
}

static inline uint32_t mrg_word(uint32_t x)
{
    return (uint32_t)(x * 1.000000048662);
}

/* The sine and the cosine of y pi, 0 < y < 2; on the host as the C library has them for the rounded product. */
static void sine_cosine_pi(double y, bool on_host, double *sine, double *cosine)
{
    if (on_host) {
        sincos(y * M_PI, sine, cosine);
        return;
    }
    double quarter = rint(2.0 * y), rest = y - 0.5 * quarter, s, c;
    sincos(rest * M_PI, &s, &c);
    switch ((unsigned)quarter & 3u) {
    case 0:
        *sine = s;
        *cosine = c;
        break;
    case 1:
        *sine = c;
        *cosine = -s;
        break;
    case 2:
        *sine = -s;
        *cosine = -c;
        break;
    default:
        *sine = -c;
        *cosine = s;
    }
}

static void scale(const struct mr_rand_work *work, float *at, unsigned count)
{
    float mean = (float)work->mean, deviation = (float)work->deviation;
    bool is_log = work->kind == MR_RAND_LOG_NORMAL;
    if (!work->on_host)
        mr_rand_move_floats(at, count, mean, deviation);
    for (unsigned i = 0; i < count && work->on_host; i++)
        at[i] = mean + deviation * at[i];
    for (unsigned i = 0; i < count && is_log; i++)
        at[i] = expf(at[i]);
}

static void scale_double(const struct mr_rand_work *work, double *at, unsigned count)
{
    bool is_log = work->kind == MR_RAND_LOG_NORMAL_DOUBLE;
    for (unsigned i = 0; i < count; i++) {
        double x = work->on_host ? work->mean + work->deviation * at[i] : fma(work->deviation, at[i], work->mean);
        at[i] = is_log ? exp(x) : x;
    }
}

double mr_rand_fraction(bool is_mrg, uint32_t word)
{
    return is_mrg ? word * MRG_FRACTION : word * 0x1p-32 + 0x1p-32;
}

/* The fractions and angles of normal floats. */
static void fractions_and_angles(bool is_mrg, const uint32_t *words, unsigned count, float *x, float *y)
{
    const uint32_t *other = words + MR_RAND_ROW;
    for (unsigned i = 0; i < count && is_mrg; i++) {
        x[i] = mrg_uniform(words[i]);
        y[i] = mrg_uniform(other[i]) * TWO_PI_F;
    }
    for (unsigned i = 0; i < count && !is_mrg; i++) {
        x[i] = uniform(words[i]);
        y[i] = (float)other[i] * (0x1p-32f * TWO_PI_F) + 0x1p-33f * TWO_PI_F;
    }
}

void mr_rand_normal_pairs(bool is_mrg, const uint32_t *words, unsigned count, float *out)
{
    float x[MR_RAND_ROW], y[MR_RAND_ROW];
    fractions_and_angles(is_mrg, words, count, x, y);
    for (unsigned i = 0; i < count; i++) {
        float size = sqrtf(-2.0f * logf(x[i])), sine, cosine;
        sincosf(y[i], &sine, &cosine);
        out[2 * i] = sine * size;
        out[2 * i + 1] = cosine * size;
    }
}

static void normal(bool is_mrg, bool on_host, const uint32_t *words, unsigned count, float *out)
{
    float x[MR_RAND_ROW], y[MR_RAND_ROW];
    if (on_host) {
        mr_rand_normal_pairs(is_mrg, words, count, out);
        return;
    }
    fractions_and_angles(is_mrg, words, count, x, y);
    mr_rand_normal_floats(x, y, count, out);
}

static void normal_double(bool is_mrg, bool on_host, const uint32_t *words, unsigned count, double *out)
{
    const uint32_t *b = words + MR_RAND_ROW, *c = b + MR_RAND_ROW, *d = c + MR_RAND_ROW;
    for (unsigned i = 0; i < count; i++) {
        double x = is_mrg ? words[i] * MRG_FRACTION : uniform_of_53(bits_53(words[i], b[i]));
        double y = is_mrg ? b[i] * MRG_FRACTION * 2.0 : (double)bits_53(c[i], d[i]) * 0x1p-52 + 0x1p-53;
        double size = sqrt(-2.0 * log(x)), sine, cosine;
        sine_cosine_pi(y, on_host, &sine, &cosine);
        out[2 * i] = sine * size;
        out[2 * i + 1] = cosine * size;
    }
}

void mr_rand_convert(const struct mr_rand_work *work, bool is_mrg, const uint32_t *words, unsigned count, void *out)
{
    uint32_t *integers = out;
    float *floats = out;
    double *doubles = out;
    switch (work->kind) {
    case MR_RAND_UNIFORM:
        for (unsigned i = 0; i < count; i++)
            floats[i] = is_mrg ? mrg_uniform(words[i]) : uniform(words[i]);
        break;
    case MR_RAND_UNIFORM_DOUBLE:
        for (unsigned i = 0; i < count; i++)
            doubles[i] = is_mrg ? words[i] * MRG_FRACTION : uniform_of_53(bits_53(words[i], words[MR_RAND_ROW + i]));
        break;
    case MR_RAND_NORMAL:
    case MR_RAND_LOG_NORMAL:
        normal(is_mrg, work->on_host, words, count, floats);
        scale(work, floats, 2 * count);
        break;
    case MR_RAND_NORMAL_DOUBLE:
    case MR_RAND_LOG_NORMAL_DOUBLE:
        normal_double(is_mrg, work->on_host, words, count, doubles);
        scale_double(work, doubles, 2 * count);
        break;
    default:
        for (unsigned i = 0; i < count; i++)
            integers[i] = is_mrg ? mrg_word(words[i]) : words[i];
    }
}

void mr_rand_convert_one(const struct mr_rand_work *work, bool is_wide, const uint64_t *words, unsigned count,
                         void *out)
{
    uint32_t *integers = out;
    float *floats = out;
    double *doubles = out;
    bool is_mt = work->source->type == CURAND_RNG_PSEUDO_MT19937;
    for (unsigned i = 0; i < count; i++) {
        uint64_t x = words[i];
        uint32_t high = is_wide ? (uint32_t)(x >> 32) : (uint32_t)x;
        switch (work->kind) {
        case MR_RAND_LONG:
            ((uint64_t *)out)[i] = x;
            break;
        case MR_RAND_UNIFORM:
            floats[i] = is_mt ? (float)(high * 0x1p-32 + 0x1p-33) : uniform(high);
            break;
        case MR_RAND_UNIFORM_DOUBLE:
            doubles[i] = is_wide ? uniform_of_53(x >> 11) : high * 0x1p-32 + (is_mt ? 0x1p-33 : 0x1p-32);
            break;
        case MR_RAND_POISSON:
            if (!work->poisson->length)
                integers[i] = mr_poisson_of_normal(work->poisson, mr_normal_double_of(high));
            else
                integers[i] =
                    mr_poisson_of(work->poisson, is_wide ? uniform_of_53(x >> 11) : mr_rand_fraction(false, high));
            break;
        case MR_RAND_NORMAL:
        case MR_RAND_LOG_NORMAL:
            floats[i] = mr_normal_of(high);
            scale(work, floats + i, 1);
            break;
        case MR_RAND_NORMAL_DOUBLE:
        case MR_RAND_LOG_NORMAL_DOUBLE:
            doubles[i] = is_wide ? mr_normal_double_of_53(x >> 11) : mr_normal_double_of(high);
            scale_double(work, doubles + i, 1);
            break;
        default:
            integers[i] = high;
        }
    }
}
