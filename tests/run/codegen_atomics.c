/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Atomic operations by the lanes of one warp, at one place, at a few and at any, in all spaces, of all types, with and
 * without results, by all lanes and by some: what each lane gets and what is left has the bits of lanes in turn.
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

enum { LANES = 32, PLACES = 64 };

/* What kernels read and write, as PTX sees it below. */
static struct {
    uint64_t memory[PLACES]; /* at 0 */
    uint64_t place[LANES];   /* at 512: which of memory */
    uint64_t runs[LANES];    /* at 768 */
    uint64_t b[LANES];       /* at 1024 */
    uint64_t c[LANES];       /* at 1280 */
    uint64_t out[LANES];     /* at 1536 */
} data;

/* %a is the address: of the lane's place, or of the first one for all lanes. */
#define HEAD \
    ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n" \
    ".shared .align 8 .b8 s[512]; .reg .b64 %p, %q, %a, %d, %e, %b64, %c64, %r64; .reg .b32 %t, %b32, %c32, %r32; .reg .b16 %b16, %c16, %r16; .reg .pred %v;\n" \
    "ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 8; add.u64 %q, %p, %d;\n" \
    "ld.global.u64 %d, [%p]; ld.global.u64 %b64, [%q+1024]; ld.global.u64 %c64, [%q+1280]; cvt.u32.u64 %b32, %b64; cvt.u32.u64 %c32, %c64;\n" \
    "cvt.u16.u32 %b16, %b32; cvt.u16.u32 %c16, %c32; mov.u64 %r64, 0; mov.u32 %r32, 0; mov.u16 %r16, 0;\n" \
    "ld.global.u64 %d, [%q]; mov.u64 %e, s; mul.wide.u32 %a, %t, 8; add.u64 %e, %e, %a; st.shared.u64 [%e], %d; ld.global.u64 %d, [%q+256]; st.shared.u64 [%e+256], %d; bar.sync 0;\n" \
    "ld.global.u64 %d, [%q+768]; setp.ne.u64 %v, %d, 0; ld.global.u64 %d, [%q+512]; shl.b64 %d, %d, 3;\n"
#define GLOBAL_ANY "add.u64 %a, %p, %d;\n"
#define GLOBAL_ONE "mov.u64 %a, %p;\n"
#define SHARED_ANY "mov.u64 %a, s; add.u64 %a, %a, %d;\n"
#define SHARED_ONE "mov.u64 %a, s;\n"
#define TAIL_GLOBAL "ret;\n}\n"
#define TAIL_SHARED \
    "bar.sync 0; ld.shared.u64 %d, [%e]; st.global.u64 [%q], %d; ld.shared.u64 %d, [%e+256]; st.global.u64 [%q+256], %d; ret;\n}\n"

typedef uint64_t operation(uint64_t old, uint64_t b, uint64_t c, bool shared);

#define INTEGER(name, type, result) \
    static uint64_t name(uint64_t old64, uint64_t b64, uint64_t c64, bool shared) \
    { \
        type old = (type)old64, b = (type)b64, c = (type)c64; \
        (void)c, (void)shared; \
        return (uint64_t)(type)(result); \
    }
INTEGER(add_32, uint32_t, old + b)
INTEGER(add_64, uint64_t, old + b)
INTEGER(and_32, uint32_t, old &b)
INTEGER(or_64, uint64_t, old | b)
INTEGER(xor_32, uint32_t, old ^ b)
INTEGER(min_s32, int32_t, old < b ? old : b)
INTEGER(max_u32, uint32_t, old > b ? old : b)
INTEGER(max_s64, int64_t, old > b ? old : b)
INTEGER(min_u64, uint64_t, old < b ? old : b)
INTEGER(exch_32, uint32_t, ((void)old, b))
INTEGER(cas_64, uint64_t, old == b ? c : old)
INTEGER(cas_16, uint16_t, old == b ? c : old)
INTEGER(inc_32, uint32_t, old >= b ? 0 : old + 1)
INTEGER(dec_32, uint32_t, old == 0 || old > b ? b : old - 1)

static float real(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return f;
}

static float flushed(float f, bool shared)
{
    return f < 0x1p-126f && f > -0x1p-126f && !shared ? f * 0.0f : f;
}

static uint64_t add_f32(uint64_t old, uint64_t b, uint64_t c, bool shared)
{
    (void)c;
    volatile float sum = flushed(real(old), shared) + flushed(real(b), shared);
    float result = flushed(sum, shared);
    uint32_t bits;
    memcpy(&bits, &result, sizeof bits);
    return result != result ? 0x7fffffff : bits;
}

static uint64_t add_f64(uint64_t old, uint64_t b, uint64_t c, bool shared)
{
    (void)c, (void)shared;
    double x, y;
    memcpy(&x, &old, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&old, &x, sizeof x);
    return old;
}

static const struct {
    const char *name; /* what stands behind the space */
    unsigned bits;
    bool third, only_results;
    operation *after;
    enum { WHOLE, SMALL, FLOAT, DOUBLE } kind;
} operations[] = {
    {"add.u32", 32, false, false, add_32, WHOLE},  {"add.u64", 64, false, false, add_64, WHOLE},
    {"and.b32", 32, false, false, and_32, WHOLE},  {"or.b64", 64, false, false, or_64, WHOLE},
    {"xor.b32", 32, false, false, xor_32, WHOLE},  {"min.s32", 32, false, false, min_s32, WHOLE},
    {"max.u32", 32, false, false, max_u32, WHOLE}, {"max.s64", 64, false, false, max_s64, WHOLE},
    {"min.u64", 64, false, false, min_u64, WHOLE}, {"exch.b32", 32, false, true, exch_32, WHOLE},
    {"cas.b64", 64, true, true, cas_64, SMALL},    {"cas.b16", 16, true, true, cas_16, SMALL},
    {"inc.u32", 32, false, false, inc_32, SMALL},  {"dec.u32", 32, false, false, dec_32, SMALL},
    {"add.f32", 32, false, false, add_f32, FLOAT}, {"add.f64", 64, false, false, add_f64, DOUBLE},
};

static uint64_t seed = 1;

static uint32_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* Floats of which sums are subnormal at times; now and then large ones, infinity or one that is no number. */
static uint32_t draw_float(unsigned how)
{
    uint32_t sign = draw() << 31, fraction = draw() & 0x7fffff;
    static const uint32_t odd[] = {0, 0x7f800000, 0x7fc00001, 0x7f7fffff};
    if (draw() % 16 == 0 && how == 2)
        return sign | odd[draw() % 4];
    if (how != 1)
        return sign | (draw() % 40 + 110) << 23 | fraction;
    return sign | (draw() % 4) << 23 | (fraction & (draw() % 2 ? 0x7fffff : 0x7));
}

static uint64_t draw_value(unsigned kind, unsigned how)
{
    if (kind == FLOAT)
        return (uint64_t)draw() << 32 | draw_float(how);
    if (kind == DOUBLE) {
        double x = (double)(int32_t)(draw() << 1) * 0x1p-20;
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    return kind == SMALL
    ? draw() % 6 : (uint64_t)draw() << 40 ^ (uint64_t)draw() << 20 ^ draw();
}

/* One launch with data drawn anew; `how` says which places and lanes. */
static void try_once(struct rig *rig, unsigned o, bool one, bool shared, bool results, unsigned how)
{
    uint64_t bits = operations[o].bits == 64 ? UINT64_MAX : (UINT64_C(1) << operations[o].bits) - 1;
    uint64_t memory[PLACES], out[LANES];
    static const unsigned spread[] = {1, 2, 5, 64};
    for (unsigned i = 0; i < PLACES; i++)
        memory[i] = data.memory[i] = draw_value(operations[o].kind, how % 3);
    for (unsigned i = 0; i < LANES; i++) {
        data.place[i] = how % 5 == 4 ? i / 8 : draw() % spread[how % 4];
        data.runs[i] = how % 7 < 3 || (how % 7 == 3 ? i == 9 : how % 7 == 4 ? i == 31 || i == 3 : draw() % 2);
        data.b[i] = draw_value(operations[o].kind, how % 3);
        data.c[i] = draw_value(operations[o].kind, how % 3);
        data.out[i] = 0;
        out[i] = 0;
        if (!data.runs[i])
            continue;
        uint64_t *place = &memory[one ? 0 : data.place[i]], old = *place & bits;
        out[i] = results ? old : 0;
        *place = (*place & ~bits) | (operations[o].after(old, data.b[i], data.c[i], shared) & bits);
    }
    const void *at = &data;
    rig_run(rig, "k", 1, LANES, &at, sizeof at);
    for (unsigned i = 0; i < PLACES; i++)
        if (data.memory[i] != memory[i])
            fail_msg("%s, way %u, variant %u: place %u holds %016llx, not %016llx", operations[o].name, how,
                     rig_variant, i, (unsigned long long)data.memory[i], (unsigned long long)memory[i]);
    for (unsigned i = 0; i < LANES; i++)
        if (data.out[i] != out[i])
            fail_msg("%s, way %u, variant %u: lane %u got %016llx, not %016llx", operations[o].name, how, rig_variant,
                     i, (unsigned long long)data.out[i], (unsigned long long)out[i]);
}

static void try_kernel(unsigned o, bool one, const char *space, bool results)
{
    char text[8192], operands[64];
    bool shared = strcmp(space, ".shared") == 0;
    unsigned bits = operations[o].bits;
    const char *place = shared ? one ? SHARED_ONE : SHARED_ANY : one ? GLOBAL_ONE : GLOBAL_ANY;
    snprintf(operands, sizeof operands, operations[o].third ? "%%b%u, %%c%u" : "%%b%u", bits, bits);
    if (results)
        snprintf(text, sizeof text, "%s%s@%%v atom%s.%s %%r%u, [%%a], %s;\n%s %s%s", HEAD, place, space,
                 operations[o].name, bits, operands,
                 bits == 32   ? "cvt.u64.u32 %r64, %r32;"
                 : bits == 16 ? "cvt.u64.u16 %r64, %r16;"
                              : "",
                 "st.global.u64 [%q+1536], %r64;\n", shared ? TAIL_SHARED : TAIL_GLOBAL);
    else
        snprintf(text, sizeof text, "%s%s@%%v red%s.%s [%%a], %s;\n%s", HEAD, place, space, operations[o].name,
                 operands, shared ? TAIL_SHARED : TAIL_GLOBAL);
    struct rig *rig = rig_open(text);
    for (unsigned how = 0; how < 70; how++)
        try_once(rig, o, one, shared, results, how);
    rig_close(rig);
}

/* In each variant everything is compiled again, so each takes its part. */
static void in_variant(unsigned variant)
{
    static const char *const spaces[] = {".global", ".shared", ""};
    unsigned number = 0;
    for (rig_variant = variant; rig_variant == variant; rig_variant++)
        for (unsigned o = 0; o < sizeof operations / sizeof *operations; o++)
            for (unsigned one = 0; one < 2; one++)
                for (unsigned space = 0; space < 3; space++)
                    for (unsigned results = operations[o].only_results; results < 2; results++, number++)
                        if (variant < 2 || (number + variant) % 3 == 0)
                            try_kernel(o, one, spaces[space], results);
}

#define VARIANT(n) \
    static void variant_##n(void **unused) \
    { \
        (void)unused; \
        in_variant(n); \
    }
VARIANT(0)
VARIANT(1)
VARIANT(2)
VARIANT(3)
VARIANT(4)
VARIANT(5)
VARIANT(6)
VARIANT(7)

int main(void)
{
    const struct CMUnitTest tests[RIG_VARIANTS] = {
        cmocka_unit_test(variant_0), cmocka_unit_test(variant_1), cmocka_unit_test(variant_2),
        cmocka_unit_test(variant_3), cmocka_unit_test(variant_4), cmocka_unit_test(variant_5),
        cmocka_unit_test(variant_6), cmocka_unit_test(variant_7),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
