/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Numbers of threads put together bit by bit, as compilers do that lay tiles out over lanes (Triton above all): shifts,
 * and, or, xor, bfe and sums of tid.x and ctaid.x, of which code generation knows which bits are the lane's
 * (uniformity.c). Chains of such operations are drawn, and what they give is stored, used as a guard, and widened in
 * both ways. And a kernel as Triton makes it reads and writes whole vectors.
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
#include "compile/codegen.h"

#define HEAD ".version 8.8\n.target sm_80\n.address_size 64\n"

enum { CHAINS = 6, LENGTH = 7, THREADS = 128, BLOCKS = 5, OUTPUTS = 4 };

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

enum operation { SHL, SHR, SHR_SIGNED, AND, OR, XOR, ADD, SUB, BFE, MUL, OPERATIONS };

/* One step of a chain: by a number, or by an earlier value (of ctaid.x, which is the same for all lanes). */
struct step {
    enum operation operation;
    uint32_t number, length;
    int other;
};

static struct step chains[CHAINS][LENGTH];

/* Masks and numbers of the kind that layouts have. */
static uint32_t draw_number(void)
{
    switch (draw(5)) {
    case 0:
        return 1u << draw(12);
    case 1:
        return ((1u << draw(11)) - 1) << draw(6);
    case 2:
        return ~((1u << draw(9)) - 1);
    case 3:
        return 31u << draw(4);
    default:
        return draw(2) ? draw(4096) : ~draw(4096);
    }
}

static void draw_chains(void)
{
    for (unsigned c = 0; c < CHAINS; c++)
        for (unsigned s = 0; s < LENGTH; s++) {
            struct step *step = &chains[c][s];
            *step = (struct step){draw(OPERATIONS), draw_number(), draw(12), c && draw(3) == 0 ? (int)draw(c) : -1};
            if (step->operation == SHL || step->operation == SHR || step->operation == SHR_SIGNED ||
                step->operation == BFE)
                step->number = draw(8) ? draw(7) : draw(34);
            if (step->operation == MUL)
                step->number = draw(2) ? 1u << draw(8) : draw(20);
        }
}

static uint32_t shifted(uint32_t a, const struct step *step)
{
    if (step->operation == SHL)
        return step->number < 32 ? a << step->number : 0;
    if (step->operation == SHR)
        return step->number < 32 ? a >> step->number : 0;
    return (uint32_t)((int32_t)a >> (step->number < 32 ? step->number : 31));
}

static uint32_t calculated(uint32_t a, const struct step *step, const uint32_t *values)
{
    uint32_t b = step->other >= 0 ? values[step->other] : step->number;
    switch (step->operation) {
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * step->number;
    case BFE:
        return step->number < 32 ? a >> step->number & ((1u << step->length) - 1) : 0;
    default:
        return shifted(a, step);
    }
}

/* Chain 0 begins with ctaid.x, the others with tid.x. */
static void values_of(uint32_t tid, uint32_t ctaid, uint32_t *values)
{
    for (unsigned c = 0; c < CHAINS; c++) {
        values[c] = c == 0 ? ctaid : tid;
        for (unsigned s = 0; s < LENGTH; s++)
            values[c] = calculated(values[c], &chains[c][s], values);
    }
}

static size_t step_text(char *text, size_t room, unsigned c, const struct step *step)
{
    static const char *const names[] = {"shl.b32", "shr.u32", "shr.s32", "and.b32", "or.b32",
                                        "xor.b32", "add.s32", "sub.s32", "bfe.u32", "mul.lo.s32"};
    const char *name = names[step->operation];
    if (step->operation == BFE)
        return (size_t)snprintf(text, room, "%s %%v%u, %%v%u, %u, %u;\n", name, c, c, step->number, step->length);
    bool shifts = step->operation <= SHR_SIGNED || step->operation == MUL;
    if (step->other >= 0 && !shifts)
        return (size_t)snprintf(text, room, "%s %%v%u, %%v%u, %%v%d;\n", name, c, c, step->other);
    return (size_t)snprintf(text, room, "%s %%v%u, %%v%u, %d;\n", name, c, c, (int)step->number);
}

/* Each step writes a register of its own, so that more is known of it: in a line of step_text, %vC is chain C's latest
 * value. */
static char *kernel_text(void)
{
    static char text[20000], line[200];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        HEAD
        ".visible .entry bits(.param .u64 out) {\n.reg .b32 %%v<%u>, %%r<9>, %%n<%u>; .reg .b64 %%rd<9>; .reg .pred %%p<3>;\n"
        "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r3, %%ntid.x;\n"
        "mad.lo.u32 %%r4, %%r2, %%r3, %%r1; mul.wide.u32 %%rd2, %%r4, %u; add.u64 %%rd1, %%rd1, %%rd2;\n",
        CHAINS, CHAINS * (LENGTH + 1), CHAINS * OUTPUTS * 8);
    for (unsigned c = 0; c < CHAINS; c++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "mov.u32 %%n%u, %%r%d;\n", c * (LENGTH + 1),
                                 c == 0 ? 2 : 1);
        for (unsigned s = 0; s < LENGTH; s++) {
            step_text(line, sizeof line, c, &chains[c][s]);
            for (const char *at = line; *at; at++) {
                unsigned of;
                int taken = 0;
                if (*at == '%' && sscanf(at, "%%v%u%n", &of, &taken) == 1) {
                    unsigned number =
                        of != c ? of * (LENGTH + 1) + LENGTH : c * (LENGTH + 1) + s + (strchr(line, '%') == at);
                    used += (size_t)snprintf(text + used, sizeof text - used, "%%n%u", number);
                    at += taken - 1;
                } else {
                    text[used++] = *at;
                }
            }
        }
        unsigned last = c * (LENGTH + 1) + LENGTH, at = c * OUTPUTS * 8;
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "cvt.u64.u32 %%rd3, %%n%u; st.global.u64 [%%rd1+%u], %%rd3; cvt.s64.s32 %%rd4, %%n%u; st.global.u64 [%%rd1+%u], %%rd4;\n"
            "mul.wide.s32 %%rd5, %%n%u, 4; st.global.u64 [%%rd1+%u], %%rd5; setp.lt.s32 %%p1, %%n%u, 320; selp.u64 %%rd6, 1, 2, %%p1; st.global.u64 [%%rd1+%u], %%rd6;\n",
            last, at, last, at + 8, last, at + 16, last, at + 24);
    }
    snprintf(text + used, sizeof text - used, "ret; }\n");
    return text;
}

static void compare(const uint64_t *got, unsigned threads, const char *text)
{
    for (unsigned i = 0; i < threads * BLOCKS; i++) {
        uint32_t values[CHAINS];
        values_of(i % threads, i / threads, values);
        for (unsigned c = 0; c < CHAINS; c++) {
            uint64_t wanted[OUTPUTS] = {values[c], (uint64_t)(int64_t)(int32_t)values[c],
                                        (uint64_t)((int64_t)(int32_t)values[c] * 4), (int32_t)values[c] < 320 ? 1 : 2};
            for (unsigned o = 0; o < OUTPUTS; o++) {
                uint64_t have = got[((size_t)i * CHAINS + c) * OUTPUTS + o];
                if (have != wanted[o])
                    fail_msg("thread %u of block %u, chain %u, output %u: %#llx, not %#llx\n%s", i % threads,
                             i / threads, c, o, (unsigned long long)have, (unsigned long long)wanted[o], text);
            }
        }
    }
}

static void drawn_chains(void **state)
{
    (void)state;
    enum { KERNELS = 60 };
    static uint64_t out[(size_t)THREADS * BLOCKS * CHAINS * OUTPUTS];
    uint64_t *address = out;
    for (unsigned k = 0; k < KERNELS; k++) {
        seed = k + 1;
        draw_chains();
        char *text = kernel_text();
        struct rig *rig = rig_open(text);
        rig_variant = k % RIG_VARIANTS;
        static const unsigned sizes[] = {THREADS, 96, 40, 64};
        unsigned threads = sizes[k / RIG_VARIANTS % 4];
        memset(out, 0xee, sizeof out);
        rig_run(rig, "bits", BLOCKS, threads, &address, sizeof address);
        compare(out, threads, text);
        rig_close(rig);
    }
}

/* Four elements a lane, twice; places from bits, each access under a guard, zeros put in front, braces around single
 * values. */
static const char tile[] = HEAD
    ".visible .entry tile(.param .u64 x, .param .u64 out, .param .u32 count) .reqntid 128 {\n.reg .b32 %r<40>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [count];\n"
    "mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r2, 10; mov.u32 %r4, %tid.x; shl.b32 %r5, %r4, 2; and.b32 %r6, %r5, 508; or.b32 %r7, %r6, %r3; or.b32 %r8, %r7, 512;\n"
    "setp.lt.s32 %p1, %r7, %r1; setp.lt.s32 %p2, %r8, %r1; mul.wide.s32 %rd3, %r7, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd4, 2048; add.s64 %rd6, %rd2, %rd3;\n"
    "mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0; @%p1 ld.global.v4.b32 { %r10, %r11, %r12, %r13 }, [ %rd4 + 0 ];\n"
    "mov.u32 %r14, 0; mov.u32 %r15, 0; mov.u32 %r16, 0; mov.u32 %r17, 0; @%p2 ld.global.v4.b32 { %r14, %r15, %r16, %r17 }, [ %rd5 + 0 ];\n"
    "add.s32 %r20, %r10, 1; add.s32 %r21, %r11, 2; add.s32 %r22, %r12, 3; add.s32 %r23, %r13, 4; add.s32 %r24, %r14, 5; add.s32 %r25, %r15, 6; add.s32 %r26, %r16, 7; add.s32 %r27, %r17, 8;\n"
    "@%p1 st.global.v4.b32 [ %rd6 + 0 ], { %r20, %r21, %r22, %r23 }; @%p2 st.global.b32 [ %rd6 + 2048 ], { %r24 }; @%p2 st.global.b32 [ %rd6 + 2052 ], { %r25 };\n"
    "@%p2 st.global.v2.b32 [ %rd6 + 2056 ], { %r26, %r27 }; ret; }\n";

static void tiles_of_four(void **state)
{
    (void)state;
    enum { COUNT = 4000, ALL = 4096 };
    static int32_t x[ALL], out[ALL];
    struct {
        void *x, *out;
        uint32_t count;
    } params = {x, out, COUNT};
    struct rig *rig = rig_open(tile);
    for (int i = 0; i < ALL; i++)
        x[i] = i * 17;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        memset(out, 0, sizeof out);
        rig_run(rig, "tile", ALL / 1024, 128, &params, sizeof params);
        for (int i = 0; i < ALL; i++)
            assert_int_equal(out[i], i < COUNT ? x[i] + i % 4 + 1 + (i % 1024 < 512 ? 0 : 4) : 0);
    }
    char *ir = rig_text(rig, "tile", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "skylake-avx512", false);
    assert_non_null(strstr(ir, "masked.load.v128i32"));
    assert_non_null(strstr(ir, "masked.store.v128i32"));
    assert_null(strstr(ir, "masked.gather"));
    free(ir);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_chains), cmocka_unit_test(tiles_of_four)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
