/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Video instructions in random forms (types, selectors, saturation, second
 * operations, merges, negations, scales) against C: of SIMD ones what the PTX
 * manual describes, bit by bit, of scalar ones what an H200 computes, which is
 * something else where a result needs more than 32 bits or goes to the upper half
 * of its destination (docs/ptx.md). What was recorded there is in the corpus; forms
 * with other selectors follow the same rules. A module holds FORMS
 * instructions, each of which is run by 64 lanes over awkward operands, and by
 * blocks of one thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define FORMS 50
#define MODULES 5
#define LANES 64

typedef __int128 wide;

enum op { ADD, SUB, ABSDIFF, MIN, MAX, SHL, SHR, MAD, SET, AVRG };
static const char *const op_names[] = {"add", "sub", "absdiff", "min", "max", "shl", "shr", "mad", "set", "avrg"};
static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

struct form {
    enum op op;
    unsigned lanes, bits;
    bool is_signed[3];          /* result, a, b */
    bool sat, adds, negated[3], plus_one, wraps;
    unsigned second;            /* scalar: 0 none, 1 add, 2 min, 3 max */
    unsigned scale, comparison;
    int select[3];              /* scalar: -1 none, 0-3 bytes, 4, 5 halves */
    unsigned mask, digit[2][4]; /* SIMD */
    char text[96];
};

static uint64_t state = 12345;
static uint32_t in[3][LANES], out[FORMS][LANES];

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % below);
}

static uint32_t awkward(void)
{
    static const uint32_t some[] = {0,          1,          0x7f,       0x80, 0xff, 0x7fff, 0x8000,    0xffff,
                                    0x7fffffff, 0x80000000, 0xffffffff, 31,   32,   33,     0x80ff7f01};
    uint32_t bits = draw(1u << 16) << 16 | draw(1u << 16);
    return draw(2) ? bits : some[draw(sizeof some / sizeof *some)];
}

static wide clamp(wide x, unsigned bits, bool is_signed)
{
    wide most = ((wide)1 << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

static wide part(uint32_t x, unsigned shift, unsigned bits, bool is_signed)
{
    uint64_t field = x >> shift & (bits == 32 ? 0xffffffffu : (1u << bits) - 1);
    return is_signed && field >> (bits - 1) ? (wide)field - ((wide)1 << bits) : (wide)field;
}

static wide selected(uint32_t x, int select, bool is_signed)
{
    if (select < 0)
        return part(x, 0, 32, is_signed);
    return select < 4 ? part(x, 8 * (unsigned)select, 8, is_signed)
                      : part(x, 16 * (unsigned)(select - 4), 16, is_signed);
}

static wide operate(const struct form *f, wide a, wide b)
{
    switch (f->op) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case ABSDIFF:
        return a > b ? a - b : b - a;
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case SHL:
    case SHR:
        b = f->wraps ? b & 31 : b > 32 ? 32 : b;
        return f->op == SHL ? a * ((wide)1 << b) : a >> b;
    case AVRG:
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    default:
        switch (f->comparison) {
        case 0:
            return a == b;
        case 1:
            return a != b;
        case 2:
            return a < b;
        case 3:
            return a <= b;
        case 4:
            return a > b;
        default:
            return a >= b;
        }
    }
}

static bool is_shift(const struct form *f)
{
    return f->op == SHL || f->op == SHR;
}

/* Hardware's saturation of a scalar result. */
static wide saturated(const struct form *f, wide r, unsigned bits, bool is_signed)
{
    if (is_shift(f)) {
        r &= ((wide)1 << 34) - 1;
        return clamp(r >> 33 ? r - ((wide)1 << 34) : r, 32, is_signed);
    }
    if (bits < 32) {
        uint32_t most = (1u << (is_signed ? bits - 1 : bits)) - 1;
        return r < 0 || r > most ? most : r;
    }
    if (is_signed)
        return clamp(r, 32, true);
    return r < 0 ? 0 : r; /* and nothing at the upper end */
}

static uint32_t expect_scalar(const struct form *f, uint32_t a, uint32_t b, uint32_t c)
{
    wide r = operate(f, selected(a, f->select[1], f->is_signed[1]), selected(b, f->select[2], f->is_signed[2]));
    unsigned bits = f->select[0] < 0 ? 32 : f->select[0] < 4 ? 8 : 16;
    bool is_signed = f->is_signed[f->op == SET ? 1 : 0];
    if (f->sat)
        r = saturated(f, r, bits, is_signed);
    /* 64 bits are compared, of some results 32 with a sign. */
    bool short_result = f->op == ADD || f->op == SUB || (is_shift(f) && f->sat);
    int64_t first = short_result ? (int32_t)(uint32_t)r : (int64_t)(uint64_t)r,
            third = is_signed ? (int32_t)c : (int64_t)c;
    bool less = is_signed ? first < third : (uint64_t)first < (uint64_t)third;
    r = f->second == 1   ? first + third
        : f->second == 2 ? (less ? first : third)
        : f->second == 3 ? (less ? third : first)
                         : first;
    if (bits == 32)
        return (uint32_t)r;
    unsigned shift = bits * (unsigned)(bits == 8 ? f->select[0] : f->select[0] - 4);
    uint32_t mask = ((1u << bits) - 1) << shift;
    return ((bits == 8 ? (uint32_t)r << shift : (uint32_t)r) & mask) |
           (c & ~mask); /* of a half, what is there in the result */
}

static uint32_t expect_simd(const struct form *f, uint32_t a, uint32_t b, uint32_t c)
{
    wide sum = (int32_t)c;
    uint32_t merged = 0;
    for (unsigned lane = 0; lane < f->lanes; lane++) {
        wide x[2];
        for (unsigned k = 0; k < 2; k++) {
            unsigned digit = f->digit[k][lane];
            x[k] = part(digit < f->lanes ? a : b, digit % f->lanes * f->bits, f->bits, f->is_signed[k + 1]);
        }
        wide t = operate(f, x[0], x[1]);
        if (f->sat)
            t = clamp(t, f->bits, f->is_signed[0]);
        uint32_t field = ((1u << f->bits) - 1) << (lane * f->bits);
        bool written = f->mask >> lane & 1;
        sum += written ? t : 0;
        merged |= written ? (uint32_t)t << (lane * f->bits) & field : c & field;
    }
    return f->adds ? (uint32_t)sum : merged;
}

static uint32_t expect_mad(const struct form *f, uint32_t a, uint32_t b, uint32_t c)
{
    bool product = f->negated[0] != f->negated[1],
         is_signed = f->is_signed[1] || f->is_signed[2] || product || f->negated[2];
    /* Hardware takes words for numbers with a sign, and 64 bits of the sum. */
    wide r = selected(a, f->select[1], f->select[1] < 0 || f->is_signed[1]) *
             selected(b, f->select[2], f->select[2] < 0 || f->is_signed[2]);
    wide third = (int32_t)c;
    r = (product ? -r : r) + (f->negated[2] ? -third : third) + f->plus_one;
    r = is_signed || f->scale == 0 ? r >> f->scale : (wide)((uint64_t)r >> f->scale);
    return (uint32_t)(f->sat ? clamp(r, 32, is_signed) : r);
}

static const char *type_name(bool is_signed)
{
    return is_signed ? "s32" : "u32";
}

static void put_operand(FILE *file, const struct form *f, unsigned place, const char *name)
{
    static const char *const selectors[] = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    if (f->lanes == 1) {
        fprintf(file, "%s%s%s", place && f->negated[place - 1] ? "-" : "", name,
                f->select[place] < 0 ? "" : selectors[f->select[place]]);
        return;
    }
    fprintf(file, "%s.%c", name, f->lanes == 2 ? 'h' : 'b');
    for (unsigned lane = f->lanes; lane-- > 0;) {
        if (place == 0 && f->mask >> lane & 1)
            fprintf(file, "%u", lane);
        if (place > 0)
            fprintf(file, "%u", f->digit[place - 1][lane]);
    }
}

static void put_text(struct form *f)
{
    static const char *const seconds[] = {"", ".add", ".min", ".max"}, *const lanes[] = {"", "", "2", "", "4"},
                             *const scales[] = {"", ".shr7", ".shr15"};
    FILE *file = fmemopen(f->text, sizeof f->text, "w");
    fprintf(file, "v%s%s", op_names[f->op], lanes[f->lanes]);
    for (unsigned i = f->op == SET; i < 3; i++)
        fprintf(file, ".%s", type_name(f->is_signed[i]));
    if (f->op == SET)
        fprintf(file, ".%s", comparisons[f->comparison]);
    fprintf(file, "%s%s%s%s%s%s ", f->plus_one ? ".po" : "", f->sat ? ".sat" : "",
            f->op == SHL || f->op == SHR ? f->wraps ? ".wrap" : ".clamp" : "", f->op == MAD ? scales[f->scale / 7] : "",
            seconds[f->second], f->adds ? ".add" : "");
    put_operand(file, f, 0, "%d");
    fputs(", ", file);
    put_operand(file, f, 1, "%a");
    fputs(", ", file);
    put_operand(file, f, 2, "%b");
    fprintf(file, ", %s%%c;", f->negated[2] ? "-" : "");
    fclose(file);
}

static void draw_form(struct form *f)
{
    memset(f, 0, sizeof *f);
    f->lanes = 1u << draw(3);
    f->bits = 32 / f->lanes;
    do
        f->op = (enum op)draw(10);
    while (f->lanes == 1 ? f->op == AVRG : f->op >= SHL && f->op <= MAD);
    for (unsigned i = 0; i < 3; i++)
        f->is_signed[i] = draw(2);
    if (f->op == SET)
        f->is_signed[0] = false;
    if (f->op == SHL || f->op == SHR)
        f->is_signed[2] = false;
    f->comparison = draw(6);
    f->wraps = draw(2);
    f->sat = f->op != SET && draw(2);
    for (unsigned i = 0; i < 3; i++)
        f->select[i] = (int)draw(7) - 1;
    if (f->lanes > 1) {
        f->adds = !f->sat && draw(2);
        f->mask = 1 + draw((1u << f->lanes) - 1);
        for (unsigned i = 0; i < 8; i++)
            f->digit[i / 4][i % 4] = draw(2 * f->lanes);
    } else if (f->op == MAD) {
        f->select[0] = -1;
        f->scale = (unsigned[]){0, 7, 15}[draw(3)];
        f->plus_one = draw(4) == 0;
        unsigned which = f->plus_one ? 0 : draw(5);
        f->negated[0] = which == 1 || which == 4;
        f->negated[1] = which == 2 || which == 4;
        f->negated[2] = which == 3;
    } else if (draw(2)) {
        f->select[0] = -1;
        f->second = draw(4);
    }
    put_text(f);
}

static char *program(const struct form *forms)
{
    char *all = NULL;
    size_t size;
    FILE *file = open_memstream(&all, &size);
    fputs(".version 8.0\n.target sm_80\n.address_size 64\n", file);
    for (int scalar = 0; scalar < 2; scalar++) {
        fprintf(
            file,
            ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %%i, %%d, %%a, %%b, %%c; .reg .b64 %%in, %%out, %%o;\n"
            "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%i, %%%s.x; mul.wide.u32 %%o, %%i, 4;\n"
            "add.u64 %%in, %%in, %%o; add.u64 %%out, %%out, %%o;\n"
            "ld.global.u32 %%a, [%%in]; ld.global.u32 %%b, [%%in+%d]; ld.global.u32 %%c, [%%in+%d];\n",
            scalar ? "scalar" : "vector", scalar ? "ctaid" : "tid", LANES * 4, LANES * 8);
        for (unsigned i = 0; i < FORMS; i++)
            fprintf(file, "%s st.global.u32 [%%out+%u], %%d;\n", forms[i].text, i * LANES * 4);
        fputs("ret;\n}\n", file);
    }
    fclose(file);
    return all;
}

static void check(const struct form *forms)
{
    for (unsigned i = 0; i < FORMS; i++)
        for (unsigned lane = 0; lane < LANES; lane++) {
            const struct form *f = &forms[i];
            uint32_t a = in[0][lane], b = in[1][lane], c = in[2][lane];
            uint32_t want = f->op == MAD    ? expect_mad(f, a, b, c)
                            : f->lanes == 1 ? expect_scalar(f, a, b, c)
                                            : expect_simd(f, a, b, c);
            if (out[i][lane] != want)
                fail_msg("variant %u: %s of %#x, %#x, %#x gives %#x, expected %#x", rig_variant, f->text, a, b, c,
                         out[i][lane], want);
        }
}

static void random_forms(void **unused)
{
    (void)unused;
    for (unsigned module = 0; module < MODULES; module++) {
        struct form forms[FORMS];
        for (unsigned i = 0; i < FORMS; i++)
            draw_form(&forms[i]);
        for (unsigned i = 0; i < 3 * LANES; i++)
            in[i / LANES][i % LANES] = awkward();
        char *text = program(forms);
        struct rig *rig = rig_open(text);
        struct {
            void *in, *out;
        } params = {in, out};
        rig_variant = module % RIG_VARIANTS;
        rig_run(rig, "vector", 1, LANES, &params, sizeof params);
        check(forms);
        memset(out, 0xcc, sizeof out);
        rig_run(rig, "scalar", LANES, 1, &params, sizeof params);
        check(forms);
        rig_close(rig);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
