/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What tests of matrix instructions share: numbers in all formats, drawn at
 * random; a product in plain C; pieces of PTX that move registers. Functions are
 * inline, since no test needs them all.
 */
#ifndef CODEGEN_MATRIX_H
#define CODEGEN_MATRIX_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_numbers.h"
#include "codegen_rig.h"

#define HEAD ".version 8.8\n.target sm_90\n.address_size 64\n"
#define SIDE 256

enum kind { F16, BF16, TF32, E4M3, E5M2, F32, F64, S8, U8, S4, U4, B1, S32 };

static const char *const kind_names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64",
                                         "s8",  "u8",   "s4",   "u4",   "b1",   "s32"};
static const unsigned kind_bits[] = {16, 16, 32, 8, 8, 32, 64, 8, 8, 4, 4, 1, 32};

/* Elements as bits. */
struct matrix {
    enum kind kind;
    unsigned rows, cols;
    uint64_t bits[32 * SIDE];
};

static uint32_t state = 1; /* of the numbers drawn */

static inline uint32_t draw(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static inline double small_float(unsigned bits, int bias, unsigned mantissa)
{
    unsigned exponent = bits >> mantissa, fraction = bits & ((1u << mantissa) - 1);
    if (exponent == 0)
        return ldexp((double)fraction, 1 - bias - (int)mantissa);
    return ldexp((double)(fraction + (1u << mantissa)), (int)exponent - bias - (int)mantissa);
}

static inline double number(enum kind kind, uint64_t bits)
{
    double value;
    switch (kind) {
    case F16:
        value = small_float(bits & 0x7fff, 15, 10);
        return bits & 0x8000 ? -value : value;
    case BF16:
        return float_of((uint32_t)bits << 16);
    case TF32:
        return float_of((uint32_t)bits & 0xffffe000u);
    case E4M3:
        value = small_float(bits & 0x7f, 7, 3);
        return bits & 0x80 ? -value : value;
    case E5M2:
        value = small_float(bits & 0x7f, 15, 2);
        return bits & 0x80 ? -value : value;
    case F32:
        return float_of((uint32_t)bits);
    case F64:
        memcpy(&value, &bits, 8);
        return value;
    case S8:
        return (int8_t)bits;
    case U8:
        return (uint8_t)bits;
    case S4:
        return (int)(bits & 15) - (bits & 8 ? 16 : 0);
    case U4:
    case B1:
        return (double)bits;
    default:
        return (int32_t)bits;
    }
}

/* To nearest even. */
static inline uint16_t half_bits(float value)
{
    double size = fabs((double)value);
    unsigned sign = signbit(value) ? 0x8000 : 0;
    if (size >= 65520.0)
        return (uint16_t)(sign | 0x7c00);
    int exponent;
    frexp(size, &exponent);
    int last = exponent - 11 < -24 ? -24 : exponent - 11;
    double units = nearbyint(ldexp(size, -last));
    if (last == -24)
        return (uint16_t)(sign | (unsigned)units);
    return (uint16_t)(sign | (((unsigned)(last + 24) << 10) + (unsigned)units));
}

/* Finite numbers of moderate size, so that sums round but hardly ever overflow. */
static inline uint64_t draw_element(enum kind kind)
{
    double value = ((int)(draw() % 4001) - 2000) / 777.0;
    uint64_t bits;
    switch (kind) {
    case F16:
        return half_bits((float)value);
    case BF16:
        return bits_of((float)value) >> 16;
    case TF32:
    case F32:
        return bits_of((float)value) ^ (kind == TF32 ? draw() & 0x1fff : 0);
    case E4M3:
        return draw() % 0x60 | (draw() & 0x80);
    case E5M2:
        return draw() % 0x50 | (draw() & 0x80);
    case F64:
        memcpy(&bits, &value, 8);
        return bits;
    case S32:
        return draw() & 1 ? draw() : 0x7fffff00u - (draw() & 0xff);
    default:
        return draw() & ((UINT64_C(1) << kind_bits[kind]) - 1);
    }
}

static inline void draw_matrix(struct matrix *matrix, enum kind kind, unsigned rows, unsigned cols)
{
    matrix->kind = kind;
    matrix->rows = rows;
    matrix->cols = cols;
    for (unsigned i = 0; i < rows * cols; i++)
        matrix->bits[i] = draw_element(kind);
}

/* D = A * B + C. */
static inline void multiply(struct matrix *d, const struct matrix *a, const struct matrix *b, const struct matrix *c,
                            bool saturate, bool ands)
{
    for (unsigned row = 0; row < a->rows; row++)
        for (unsigned col = 0; col < b->cols; col++) {
            uint64_t *out = &d->bits[row * d->cols + col];
            float sum = c->kind == F64 || c->kind == S32 ? 0 : (float)number(c->kind, c->bits[row * c->cols + col]);
            double wide = c->kind == F64 ? number(F64, c->bits[row * c->cols + col]) : 0;
            int64_t whole = 0;
            for (unsigned k = 0; k < a->cols; k++) {
                double x = number(a->kind, a->bits[row * a->cols + k]), y = number(b->kind, b->bits[k * b->cols + col]);
                if (a->kind == B1)
                    whole += ands ? (int)x & (int)y : (int)x ^ (int)y;
                else if (d->kind == F64)
                    wide = fma(x, y, wide);
                else if (d->kind == S32)
                    whole += (int64_t)x * (int64_t)y;
                else
                    sum = fmaf((float)x, (float)y, sum);
            }
            if (d->kind == F64) {
                memcpy(out, &wide, 8);
            } else if (d->kind == S32) {
                whole += (int32_t)c->bits[row * c->cols + col];
                *out = (uint32_t)(saturate && whole > INT32_MAX   ? INT32_MAX
                                  : saturate && whole < INT32_MIN ? INT32_MIN
                                                                  : whole);
            } else {
                *out = d->kind == F16 ? half_bits(sum) : bits_of(sum);
            }
        }
}

/* Two of the variants for each form, others for the next: to compile takes longer than to run. */
static unsigned turn;

static inline bool is_chosen(void)
{
    return (rig_variant + turn) % RIG_VARIANTS < 2;
}

static inline void list(char *text, const char *prefix, unsigned count)
{
    strcat(text, "{");
    for (unsigned i = 0; i < count; i++)
        sprintf(text + strlen(text), "%s%s%u", i ? ", " : "", prefix, i);
    strcat(text, "}");
}

static inline void move_all(char *text, const char *prefix, const char *place, unsigned count, unsigned bits,
                            bool store)
{
    sprintf(text + strlen(text), "ld.param.u64 %%rd1, [%s]; mad.wide.u32 %%rd1, %%t, %u, %%rd1;\n", place,
            count * bits / 8);
    for (unsigned i = 0; i < count; i++) {
        if (store)
            sprintf(text + strlen(text), "st.global.b%u [%%rd1+%u], %s%u;\n", bits, i * bits / 8, prefix, i);
        else
            sprintf(text + strlen(text), "ld.global.b%u %s%u, [%%rd1+%u];\n", bits, prefix, i, i * bits / 8);
    }
}

static inline void same(const struct matrix *got, const struct matrix *expected, const char *what)
{
    for (unsigned i = 0; i < expected->rows * expected->cols; i++)
        if (got->bits[i] != expected->bits[i])
            fail_msg("%s, variant %u, element %u,%u: %llx, expected %llx", what, rig_variant, i / expected->cols,
                     i % expected->cols, (unsigned long long)got->bits[i], (unsigned long long)expected->bits[i]);
}

#endif
