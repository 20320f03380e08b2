/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels' parameters, by name and by addresses in registers: what is read once in a call is what an ordinary load
 * would give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

enum { THREADS = 70, BLOCKS = 3, WORDS = 8 };

struct record {
    uint8_t bytes[8];
    uint32_t words[6];
    double number;
};
struct params {
    struct record a, b;
    uint64_t *out;
    uint32_t n;
};

static uint64_t out[THREADS * BLOCKS * WORDS];

/* Thread t of a block gets %t, and %q is where its results go. */
#define KERNEL(name, body) \
    ".visible .entry " name \
    "(.param .align 8 .b8 a[40], .param .align 8 .b8 b[40], .param .u64 out, .param .u32 n)\n{\n" \
    ".reg .b32 %t, %x<9>; .reg .b64 %q, %p<9>, %w<9>; .reg .f64 %f; .reg .pred %c;\nmov.u32 %t, %tid.x; mov.u32 %x0, %ctaid.x; mov.u32 %x1, %ntid.x;\n" \
    "mad.lo.u32 %x0, %x0, %x1, %t; ld.param.u64 %q, [out]; mul.wide.u32 %w0, %x0, 64; add.u64 %q, %q, %w0;\n" body \
    "\nret;\n}\n"
#define KEEP(place, reg) "st.global.u64 [%q+" place "], " reg ";\n"

static const char text[] =
    ".version 8.8\n.target sm_80\n.address_size 64\n"
    ".func (.param .b64 r) second (.param .align 8 .b8 s[40])\n{\n.reg .b64 %p<3>; .reg .b32 %x; mov.b64 %p1, s; add.s64 %p2, %p1, 8; ld.param.u32 %x, [%p2+4];\n"
    "cvt.u64.u32 %p1, %x; st.param.b64 [r], %p1; ret;\n}\n"
    ".func (.param .b64 r) third (.param .align 8 .b8 s[40])\n{\n.reg .b32 %n, %x; .reg .b64 %w; mov.u32 %n, s; ld.param.u32 %x, [%n+12];\n"
    "cvt.u64.u32 %w, %x; st.param.b64 [r], %w; ret;\n}\n" KERNEL(
        "named",
        "ld.param.u32 %x2, [a+12]; cvt.u64.u32 %w1, %x2;" KEEP("0", "%w1") "ld.param.s8 %w1, [a+1];" KEEP("8", "%w1") "ld.param.u8 %w1, [a+1];" KEEP("16", "%w1") "ld.param.v2.u32 {%x2, %x3}, [b+16]; mov.b64 %w1, {%x2, %x3};" KEEP(
            "24",
            "%w1") "ld.param.v4.u32 {%x2, _, %x3, _}, [b+8]; mov.b64 %w1, {%x2, %x3};" KEEP("32",
                                                                                            "%w1") "ld.param.f64 %f, [b+32]; add.f64 %f, %f, %f; mov.b64 %w1, %f;" KEEP("40",
                                                                                                                                                                        "%w1") "ld.param.u16 %w1, [a+6];" KEEP("48",
                                                                                                                                                                                                               "%w1"))
KERNEL(
    "moved",
    "mov.b64 %p1, a; mov.u64 %p2, %p1; add.s64 %p3, %p2, 16; add.s64 %p4, %p3, -8; ld.param.u32 %x2, [%p2+12]; cvt.u64.u32 %w1, %x2;" KEEP("0", "%w1") "ld.param.u32 %w1, [%p3];" KEEP("8", "%w1") "ld.param.u32 %w1, [%p3+-4];" KEEP(
        "16",
        "%w1") "ld.param.v2.u32 {%x2, %x3}, [%p4+8]; mov.b64 %w1, {%x2, %x3};" KEEP("24",
                                                                                    "%w1") "mov.b64 %p5, a+24; ld.param.s32 %w1, [%p5];" KEEP("32",
                                                                                                                                              "%w1") "ld.param.f64 %f, [%p5+8]; mov.b64 %w1, %f;" KEEP("40",
                                                                                                                                                                                                       "%w1"))
    /* Registers that hold now one address and now another, or one for each lane. */
KERNEL(
    "chosen",
    "ld.param.u32 %x2, [n]; mov.b64 %p1, a; setp.gt.u32 %c, %x2, 5; @%c mov.b64 %p1, b; ld.param.u32 %w1, [%p1+12];" KEEP("0", "%w1") "setp.lt.u32 %c, %t, 9; mov.b64 %p2, a; mov.b64 %p3, b; selp.b64 %p4, %p2, %p3, %c; ld.param.u32 %w1, [%p4+12];" KEEP(
        "8",
        "%w1") "and.b32 %x3, %t, 3; mul.wide.u32 %w2, %x3, 4; add.s64 %p5, %p3, %w2; ld.param.u32 %w1, [%p5+8];" KEEP("16",
                                                                                                                      "%w1") "@%c bra small; mov.b64 %p6, b; bra.uni both;\nsmall: mov.b64 %p6, a;\nboth: ld.param.u32 %w1, [%p6+20];" KEEP("24",
                                                                                                                                                                                                                                            "%w1"))
    /* In a loop of one's own length, behind stores, and only in some lanes. */
KERNEL(
    "looped",
    "mov.b64 %p1, a; mov.u32 %x2, 0; mov.u64 %w1, 0;\nmore: ld.param.u32 %w2, [%p1+8]; add.u64 %w1, %w1, %w2;" KEEP("0", "%w1") "add.u32 %x2, %x2, 1; setp.le.u32 %c, %x2, %t; @%c bra more;\nsetp.eq.u32 %c, %t, 3; @!%c bra over; ld.param.u32 %w1, [%p1+28];" KEEP(
        "8", "%w1") "over:\n"
                    "mov.u64 %w1, 7; @%c ld.param.u32 %w1, [b+12];" KEEP("16", "%w1"))
    /* Addresses in 32 bits, for all lanes and for each its own, wider again, and generic. */
KERNEL(
    "narrow",
    "mov.u32 %x2, a; ld.param.u32 %w1, [%x2+12];" KEEP("0", "%w1") "and.b32 %x3, %t, 3; mad.lo.u32 %x4, %x3, 4, %x2; ld.param.u32 %w1, [%x4+8];" KEEP("8", "%w1") "mov.u32 %x5, b+8; cvt.u64.u32 %p1, %x5; ld.param.v2.u32 {%x6, %x7}, [%p1+8]; mov.b64 %w1, {%x6, %x7};" KEEP(
        "16",
        "%w1") "cvta.param.u64 %p2, %p1; ld.u32 %w1, [%p2+4];" KEEP("24",
                                                                    "%w1") "mov.u64 %p3, b; cvt.u32.u64 %x6, %p3; ld.param.f64 %f, [%x6+32]; mov.b64 %w1, %f;" KEEP("32",
                                                                                                                                                                    "%w1") "isspacep.param %c, %p2; selp.u64 %w1, 1, 0, %c;" KEEP("40",
                                                                                                                                                                                                                                  "%w1"))
/* Vectors that have the alignment of their elements: by name, moved, and by addresses that the running kernel makes,
 * one for all and one for each lane. */
KERNEL(
    "vectors",
    "ld.param.v4.u32 {%x2, _, %x3, _}, [a+8]; mov.b64 %w1, {%x2, %x3};" KEEP("0", "%w1") "mov.b64 %p1, a; ld.param.v4.u32 {_, %x2, _, %x3}, [%p1+12]; mov.b64 %w1, {%x2, %x3};" KEEP("8", "%w1") "ld.param.v2.u32 {%x2, %x3}, [b+12]; mov.b64 %w1, {%x2, %x3};" KEEP("16", "%w1") "ld.param.u32 %x4, [n]; and.b32 %x4, %x4, 1; mul.wide.u32 %w2, %x4, 4; add.s64 %p2, %p1, %w2; ld.param.v4.u32 {%x2, _, _, %x3}, [%p2+8]; mov.b64 %w1, {%x2, %x3};" KEEP(
        "24",
        "%w1") "and.b32 %x5, %t, 1; mul.wide.u32 %w3, %x5, 4; add.s64 %p3, %p1, %w3; ld.param.v4.u32 {%x2, _, _, %x3}, [%p3+12]; mov.b64 %w1, {%x2, %x3};" KEEP("32",
                                                                                                                                                                "%w1") "mov.u32 %x6, a; ld.param.v2.u32 {%x2, %x3}, [%x6+12]; mov.b64 %w1, {%x2, %x3};" KEEP("40",
                                                                                                                                                                                                                                                             "%w1"))
KERNEL(
    "passed",
    "{ .param .align 8 .b8 s[40]; .param .b64 r; ld.param.u64 %w1, [a+8]; st.param.b64 [s+8], %w1; call (r), third, (s); ld.param.b64 %w1, [r]; }\n" KEEP(
        "0", "%w1"))
KERNEL(
    "given",
    "{ .param .align 8 .b8 s[40]; .param .b64 r; ld.param.u64 %w1, [a+8]; st.param.b64 [s+8], %w1; call (r), second, (s); ld.param.b64 %w1, [r]; }\n" KEEP(
        "0", "%w1"));

static struct params params;

static void run(struct rig *rig, const char *entry)
{
    memset(out, 0, sizeof out);
    rig_run(rig, entry, BLOCKS, THREADS, &params, offsetof(struct params, n) + 4);
}

static uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static void check_named(const uint64_t *got, unsigned t)
{
    const struct record *a = &params.a, *b = &params.b;
    (void)t;
    assert_true(got[0] == a->words[1]);
    assert_true(got[1] == (uint64_t)(int64_t)(int8_t)a->bytes[1] && got[2] == a->bytes[1]);
    assert_true(got[3] == pair(b->words[2], b->words[3]) && got[4] == pair(b->words[0], b->words[2]));
    assert_true(got[5] == bits(2 * b->number) && got[6] == (a->bytes[6] | (uint64_t)a->bytes[7] << 8));
}

static void check_moved(const uint64_t *got, unsigned t)
{
    const struct record *a = &params.a;
    (void)t;
    assert_true(got[0] == a->words[1] && got[1] == a->words[2] && got[2] == a->words[1] &&
                got[3] == pair(a->words[2], a->words[3]));
    assert_true(got[4] == (uint64_t)(int64_t)(int32_t)a->words[4] && got[5] == bits(a->number));
}

static void check_chosen(const uint64_t *got, unsigned t)
{
    const struct record *a = &params.a, *b = &params.b, *mine = t < 9 ? a : b;
    assert_true(got[0] == (params.n > 5 ? b : a)->words[1] && got[1] == mine->words[1] && got[2] == b->words[t & 3] &&
                got[3] == mine->words[3]);
}

static void check_looped(const uint64_t *got, unsigned t)
{
    assert_true(got[0] == (uint64_t)params.a.words[0] * (t + 1) && got[1] == (t == 3 ? params.a.words[5] : 0) &&
                got[2] == (t == 3 ? params.b.words[1] : 7));
}

static void check_narrow(const uint64_t *got, unsigned t)
{
    const struct record *a = &params.a, *b = &params.b;
    assert_true(got[0] == a->words[1] && got[1] == a->words[t & 3] && got[2] == pair(b->words[2], b->words[3]) &&
                got[3] == b->words[1]);
    assert_true(got[4] == bits(b->number) && got[5] == 1);
}

static void check_vectors(const uint64_t *got, unsigned t)
{
    const uint32_t *a = params.a.words, *b = params.b.words, odd = params.n & 1, mine = t & 1;
    assert_true(got[0] == pair(a[0], a[2]) && got[1] == pair(a[2], a[4]) && got[2] == pair(b[1], b[2]));
    assert_true(got[3] == pair(a[odd], a[odd + 3]) && got[4] == pair(a[mine + 1], a[mine + 4]) &&
                got[5] == pair(a[1], a[2]));
}

static void check_given(const uint64_t *got, unsigned t)
{
    (void)t;
    assert_true(got[0] == params.a.words[1]);
}

static void all_ways(void **unused)
{
    static const struct {
        const char *name;
        void (*check)(const uint64_t *got, unsigned t);
    } kernels[] = {{"named", check_named},   {"moved", check_moved},    {"chosen", check_chosen},
                   {"looped", check_looped}, {"given", check_given},    {"narrow", check_narrow},
                   {"passed", check_given},  {"vectors", check_vectors}};
    struct rig *rig = rig_open(text);
    (void)unused;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned n = 5; n <= 6; n++)
            for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
                params = (struct params){
                    .a = {{1, 0x80 + (uint8_t)n, 3, 4, 5, 6, 7, 8}, {10 + n, 11, 12, 13, 0x80000014, 15}, 1.5},
                    .b = {{9, 8, 7, 6, 5, 4, 3, 2}, {20, 21 + n, 22, 23, 24, 25}, -2.25},
                    .out = out,
                    .n = n};
                run(rig, kernels[k].name);
                for (unsigned i = 0; i < BLOCKS * THREADS; i++)
                    kernels[k].check(&out[i * WORDS], i % THREADS);
            }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
