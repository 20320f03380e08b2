/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions that wait, with arguments and results in registers (.func (.reg .b32 r) f (.reg .b64 a)): they become part
 * of the kernel like those with .param variables, whether they call themselves, each other, or are called through
 * pointers. Lanes of one warp wait for each other there, at different depths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define BLOCKS 2u
#define THREADS 72u

static uint32_t out[BLOCKS * THREADS + 2]; /* a word for each thread, the lock, the sum */

/* [out + 4 t] = %r; %lock is the lock, %lock + 4 the sum that it guards; %a2 is the thread in the block. */
#define KERNEL(name, body) \
    ".visible .entry " name "(.param .u64 out)\n{\n" \
    ".reg .b32 %t, %r, %k, %a<8>; .reg .b64 %out, %lock, %f, %d<8>; .reg .pred %p<4>; .reg .f32 %s<4>; .reg .b16 %h;\n" \
    "ld.param.u64 %out, [out]; mov.u32 %a0, %ctaid.x; mov.u32 %a1, %ntid.x; mov.u32 %a2, %tid.x; mad.lo.u32 %t, %a0, %a1, %a2;\n" \
    "add.u64 %lock, %out, 576; mul.wide.u32 %d0, %t, 4; add.u64 %out, %out, %d0; mov.u32 %r, 0;\n" body \
    "\nst.global.u32 [%out], %r;\nret;\n}\n"

/* Adds x to the sum and gives the lock back. */
#define ADD_AND_LEAVE(x) \
    "ld.relaxed.gpu.u32 %k, [%lock+4]; add.u32 %k, %k, " x \
    "; st.relaxed.gpu.u32 [%lock+4], %k; st.release.gpu.u32 [%lock], 0;\n"

/* A function that takes the lock and gives x + number. */
#define TAKE(name, number) \
    ".func (.reg .b32 o) " name "(.reg .b64 lock, .reg .b32 x)\n{\n.reg .b32 %v; .reg .pred %c;\n" \
    "again: atom.acquire.gpu.cas.b32 %v, [lock], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again; add.u32 o, x, " number \
    "; ret;\n}\n"

#define PROTO "P: .callprototype (.reg .b32 _) _ (.reg .b64 _, .reg .b32 _);\n"
#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)

static void launch(struct rig *rig, const char *entry)
{
    struct {
        uint32_t *out;
    } params = {out};
    memset(out, 0, sizeof out);
    rig_run(rig, entry, BLOCKS, THREADS, &params, sizeof params);
    assert_int_equal(out[BLOCKS * THREADS], 0);
}

/* For each thread what it should give, and the sum. */
static void check(uint32_t (*expected)(uint32_t t), uint32_t (*added)(uint32_t t))
{
    uint32_t total = 0;
    for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
        assert_int_equal(out[t], expected(t));
        total += added(t);
    }
    assert_int_equal(out[BLOCKS * THREADS + 1], total);
}

/* The caller gives the lock back. Arguments are registers, constants, special registers and variables; so are results,
 * and one is left where it is. */
static uint32_t in_place(uint32_t t)
{
    return 3 * t + 9 + t % THREADS;
}

static void in_its_place(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE("one", "1") TAKE("two", "2") KERNEL(
        "plain",
        "call (%r), one, (%lock, %t);" ADD_AND_LEAVE("%r") "call (%a3), two, (%lock, 5);" ADD_AND_LEAVE(
            "%a3") "add.u32 %r, %r, %a3;\n"
                   "call (%a3), one, (%lock, %a2);" ADD_AND_LEAVE("%a3") "add.u32 %r, %r, %a3; call (_), one, (%lock, %t);" ADD_AND_LEAVE("1") "{ .param .b64 a; .param .b32 b, c; st.param.b64 [a], %lock; st.param.b32 [b], %t; call (c), one, (a, b); ld.param.u32 %a3, [c]; }" ADD_AND_LEAVE(
                       "%a3") "add.u32 %r, %r, %a3; { .param .b32 c; call (c), two, (%lock, %t); ld.param.u32 %a3, [c]; }" ADD_AND_LEAVE("%a3") "add.u32 %r, %r, %a3; sub.u32 %r, %r, 3;"));
    FOR_VARIANTS {
        launch(rig, "plain");
        uint32_t total = 0;
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
            assert_int_equal(out[t], in_place(t));
            total += 3 * t + 13 + t % THREADS;
        }
        assert_int_equal(out[BLOCKS * THREADS + 1], total);
    }
    rig_variant = 0;
    assert_null(rig_note(rig, "plain"));
    rig_close(rig);
}

/* Of all kinds: a predicate, 8, 16, 64 bits, floats as constants; results likewise. What waits is inside. */
static void of_all_kinds(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE(
        "take",
        "0") ".func (.reg .pred o, .reg .f32 s, .reg .b16 h, .reg .u64 w) kinds(.reg .pred p, .reg .b8 c, .reg .f32 a, .reg .f64 b, .reg .u16 i, .reg .b64 lock, .param .f32 y)\n"
             "{\n.reg .b32 %v, %k; .reg .b64 %lock; .reg .f32 %f; .reg .f64 %d; mov.b64 %lock, lock; cvt.u32.u8 %v, c; call (%v), take, (lock, %v);" ADD_AND_LEAVE(
                 "%v") "not.pred o, p; cvt.rn.f32.u32 %f, %v; add.rn.f32 s, a, %f; ld.param.f32 %f, [y]; add.rn.f32 s, s, %f; cvt.f64.f32 %d, s; add.rn.f64 b, b, %d; cvt.rzi.u64.f64 w, b;\n"
                       "add.u16 h, i, 3; ret;\n}\n" KERNEL(
                           "all_kinds",
                           ".reg .b8 %c; .reg .pred %o; .reg .f32 %fs; cvt.u8.u32 %c, %t; setp.gt.u32 %p0, %t, 9; cvt.u16.u32 %h, %t; mov.f32 %s0, 0f3F800000;\n"
                           "call (%o, %fs, %h, %d2), kinds, (!%p0, %c, %s0, 0d4059000000000000, %h, %lock, 0f40000000); selp.u32 %r, 1000000, 0, %o; cvt.rzi.u32.f32 %a3, %fs; add.u32 %r, %r, %a3;\n"
                           "cvt.u32.u16 %a3, %h; mad.lo.u32 %r, %a3, 10, %r; cvt.u32.u64 %a3, %d2; mad.lo.u32 %r, %a3, 100, %r;"));
    FOR_VARIANTS {
        launch(rig, "all_kinds");
        uint32_t total = 0;
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
            assert_int_equal(out[t], (t > 9 ? 1000000 : 0) + t + 3 + (t + 3) * 10 + (100 + t + 3) * 100);
            total += t;
        }
        assert_int_equal(out[BLOCKS * THREADS + 1], total);
    }
    rig_variant = 0;
    assert_null(rig_note(rig, "all_kinds"));
    rig_close(rig);
}

/* Lanes take the lock at the bottom of calls of different depth, and give it back in the kernel. Result and argument
 * are one register in the caller. */
static uint32_t depth(uint32_t t)
{
    uint32_t n = t % 7;
    return t == 40 ? 0 : 1 + n * (n + 1) / 2;
}

static void calling_itself(void **unused)
{
    (void)unused;
    struct rig *rig =
        rig_open(HEAD TAKE(
            "take",
            "1") ".func (.reg .b32 o) again(.reg .b64 lock, .reg .b32 x)\n{\n.reg .pred %c; .reg .b32 %y; setp.eq.u32 %c, x, 0; @%c bra last; mov.u32 o, 17; sub.u32 %y, x, 1;\n"
                 "call (%y), again, (lock, %y); add.u32 o, %y, x; ret;\nlast: call (o), take, (lock, x); ret;\n}\n" KERNEL(
                     "recursive",
                     "rem.u32 %a3, %t, 7; setp.ne.u32 %p1, %t, 40; @!%p1 bra done; call (%r), again, (%lock, %a3);" ADD_AND_LEAVE(
                         "%r") "done:")
                     KERNEL(
                         "guarded",
                         "rem.u32 %a3, %t, 7; setp.ne.u32 %p1, %t, 40; @%p1 call (%r), again, (%lock, %a3); @!%p1 bra done;" ADD_AND_LEAVE(
                             "%r") "done:"));
    FOR_VARIANTS {
        launch(rig, "recursive");
        check(depth, depth);
        launch(rig, "guarded");
        check(depth, depth);
    }
    rig_variant = 0;
    assert_null(rig_note(rig, "recursive"));
    rig_close(rig);
}

/* tree(lock, n, odd) calls itself twice, what is live behind a call being registers of all kinds; it adds 1 at its
 * leaves, between taking the lock and giving it back. */
static uint32_t tree(uint32_t n, bool odd)
{
    uint32_t result = n + (odd ? 1000 : 0);
    if (n > 0)
        result += tree(n - 1, !odd);
    if (n > 1)
        result += 3 * tree(n - 2, odd);
    return result + n;
}

static uint32_t leaves(uint32_t n)
{
    return n == 0 ? 1 : leaves(n - 1) + (n > 1 ? leaves(n - 2) : 0);
}

static uint32_t whole_tree(uint32_t t)
{
    return tree(t % 6, t & 1);
}

static uint32_t tree_leaves(uint32_t t)
{
    return leaves(t % 6);
}

static void calling_itself_twice(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".func (.reg .b32 o) tree(.reg .b64 lock, .reg .b32 n, .reg .pred odd)\n{\n.reg .b32 %v, %k, %less; .reg .f64 %d; .reg .b16 %h; .reg .pred %c, %not;\n"
        ".reg .b64 %lock; mov.b64 %lock, lock; cvt.rn.f64.u32 %d, n; cvt.u16.u32 %h, n; not.pred %not, odd; mov.u32 o, n; @odd add.u32 o, o, 1000; setp.ne.u32 %c, n, 0; @%c bra first;\n"
        "again: atom.acquire.gpu.cas.b32 %v, [lock], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again;" ADD_AND_LEAVE(
            "1") "bra out;\n"
                 "first: sub.u32 %less, n, 1; call (%v), tree, (lock, %less, %not); add.u32 o, o, %v; setp.gt.u32 %c, n, 1; @!%c bra out;\n"
                 "sub.u32 %less, n, 2; call (%v), tree, (lock, %less, odd); mad.lo.u32 o, %v, 3, o;\n"
                 "out: cvt.rzi.u32.f64 %k, %d; add.u32 o, o, %k; cvt.u32.u16 %k, %h; sub.u32 %k, %k, n; add.u32 o, o, %k; ret;\n}\n" KERNEL(
                     "branches",
                     "rem.u32 %a3, %t, 6; and.b32 %a4, %t, 1; setp.ne.u32 %p1, %a4, 0; call (%r), tree, (%lock, %a3, %p1);"));
    FOR_VARIANTS {
        launch(rig, "branches");
        check(whole_tree, tree_leaves);
    }
    rig_close(rig);
}

/* Two functions that call each other, through a pointer and by name, one with registers and one with variables. Some
 * lanes are not there for a call. */
static uint32_t pair(uint32_t t)
{
    uint32_t expected = 51 * 3;
    for (uint32_t n = 1; n <= t % 9; n++)
        expected = n & 1 ? (expected + 1) * 5 + n : expected * 3 + n;
    return expected;
}

static uint32_t pair_takes(uint32_t t)
{
    return 1 + (t % 9 + 1) / 2;
}

static void calling_each_other(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE(
        "take",
        "1") ".func (.reg .b32 o) even(.reg .b64 lock, .reg .b32 x);\n.func (.param .b32 o) odd(.param .b64 lock, .param .b32 x);\n.global .align 8 .u64 table[2] = {even, odd};\n"
             ".func (.reg .b32 o) even(.reg .b64 lock, .reg .b32 x)\n{\n.reg .b64 %f, %table, %lock; .reg .b32 %r, %k; .reg .pred %c; " PROTO
             "mov.b64 %lock, lock; setp.ne.u32 %c, x, 0; mov.u64 %table, table; ld.global.u64 %f, [%table+8]; sub.u32 %k, x, 1; mov.u32 %r, 50;\n"
             "@%c call (%r), %f, (lock, %k), P; @%c bra done;\n call (%r), take, (lock, %r);" ADD_AND_LEAVE(
                 "1") "done: mad.lo.u32 o, %r, 3, x; ret;\n}\n"
                      ".func (.param .b32 o) odd(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %lock; .reg .b32 %r, %x, %k; ld.param.u64 %lock, [lock]; ld.param.u32 %x, [x]; sub.u32 %k, %x, 1;\n"
                      "call (%r), even, (%lock, %k); call (%r), take, (%lock, %r);" ADD_AND_LEAVE(
                          "1") "mad.lo.u32 %r, %r, 5, %x; st.param.b32 [o], %r; ret;\n}\n" KERNEL("pair", PROTO
                                                                                                  "rem.u32 %a3, %t, 9; and.b32 %a4, %a3, 1; mul.wide.u32 %d1, %a4, 8; mov.u64 %d2, table; add.u64 %d2, %d2, %d1; ld.global.u64 %f, [%d2];\n"
                                                                                                  "call (%r), %f, (%lock, %a3), P;")
                                   KERNEL(
                                       "variables", PROTO
                                       "rem.u32 %a3, %t, 9; and.b32 %a4, %a3, 1; mul.wide.u32 %d1, %a4, 8; mov.u64 %d2, table; add.u64 %d2, %d2, %d1; ld.global.u64 %f, [%d2];\n"
                                       "{ .param .b64 a; .param .b32 b, c; st.param.b64 [a], %lock; st.param.b32 [b], %a3; call (c), %f, (a, b), P; ld.param.u32 %r, [c]; }"));
    FOR_VARIANTS {
        launch(rig, "pair");
        check(pair, pair_takes);
        launch(rig, "variables");
        check(pair, pair_takes);
    }
    rig_close(rig);
}

/* As many frames as the context's limit lets be there; more end the launch. */
static uint32_t far(uint32_t t)
{
    return 1 + (t + 1000) * (t + 1001) / 2;
}

static uint32_t one(uint32_t t)
{
    (void)t;
    return 1;
}

static void going_deep(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE(
        "take",
        "1") ".func (.reg .b32 o) again(.reg .b64 lock, .reg .b32 x)\n{\n.reg .pred %c; .reg .b64 %lock; .reg .b32 %y, %k; mov.b64 %lock, lock; setp.eq.u32 %c, x, 0; @%c bra last; sub.u32 %y, x, 1;\n"
             "call (%y), again, (lock, %y); add.u32 o, %y, x; ret;\nlast: call (o), take, (lock, x);" ADD_AND_LEAVE(
                 "1") "ret;\n}\n"
                      ".func (.reg .b32 o) ever(.reg .b64 lock, .reg .b32 x)\n{\n.reg .pred %c; .reg .b32 %y; call (%y), take, (lock, x); st.release.gpu.u32 [lock], 0; call (%y), ever, (lock, %y); add.u32 o, %y, x; ret;\n}\n" KERNEL(
                          "deep", "add.u32 %a3, %t, 1000; call (%r), again, (%lock, %a3);")
                                   KERNEL("endless", "call (%r), ever, (%lock, %t);"));
    FOR_VARIANTS {
        rig_stack_limit = 256 << 10;
        launch(rig, "deep");
        check(far, one);
        rig_stack_limit = 0;
        void *to = out;
        assert_int_equal(rig_launch(rig, "deep", (unsigned[3]){1, 1, 1}, (unsigned[3]){1, 1, 1}, 0, &to, sizeof to),
                         CUDA_ERROR_HARDWARE_STACK_ERROR);
        out[BLOCKS * THREADS] = 0;
        assert_int_equal(
            rig_launch(rig, "endless", (unsigned[3]){2, 1, 1}, (unsigned[3]){THREADS, 1, 1}, 0, &to, sizeof to),
            CUDA_ERROR_HARDWARE_STACK_ERROR);
    }
    rig_close(rig);
}

#define COUNT 128u
static uint32_t met[BLOCKS * COUNT];

static void launch_met(struct rig *rig, const char *entry)
{
    struct {
        uint32_t *out;
    } params = {met};
    memset(met, 0, sizeof met);
    rig_run(rig, entry, BLOCKS, COUNT, &params, sizeof params);
}

/* Plain barriers of the block in a function that calls itself, as deep in all threads: between them each reads what
 * another wrote. */
static void meeting_together(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".shared .align 4 .b32 s[128];\n"
        ".func (.reg .b32 o) meet(.reg .b32 n, .reg .b32 t)\n{\n.reg .b32 %v, %w, %k; .reg .pred %p; mov.u32 o, 0; setp.eq.u32 %p, n, 0; @%p ret;\n"
        "mov.u32 %v, s; mad.lo.u32 %w, t, 4, %v; mad.lo.u32 %k, n, 1000, t; st.shared.u32 [%w], %k; bar.sync 0; xor.b32 %w, t, 37; mad.lo.u32 %w, %w, 4, %v; ld.shared.u32 %k, [%w]; bar.sync 0;\n"
        "sub.u32 %v, n, 1; call (o), meet, (%v, t); mad.lo.u32 o, o, 3, %k; ret;\n}\n" KERNEL(
            "together", "call (%r), meet, (5, %a2);"));
    FOR_VARIANTS {
        launch_met(rig, "together");
        for (uint32_t i = 0; i < BLOCKS * COUNT; i++) {
            uint32_t expected = 0;
            for (uint32_t n = 1; n <= 5; n++)
                expected = expected * 3 + n * 1000 + (i % COUNT ^ 37);
            assert_int_equal(met[i], expected);
        }
    }
    rig_close(rig);
}

/*
 * Barriers of several numbers: even lanes wait at 2 and 5 among themselves, and then, a call deeper, with the odd ones,
 * which are there already, at 1 and 4.
 */
static void meeting_at_each_depth(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".shared .align 4 .b32 s[128];\n"
        ".func (.reg .b32 o) meet(.reg .b32 n, .reg .b32 t)\n{\n.reg .b32 %v, %w, %c, %k; .reg .pred %p; mov.u32 o, 0; setp.eq.u32 %p, n, 0; @%p ret;\n"
        "mov.u32 %v, s; mad.lo.u32 %w, t, 4, %v; mad.lo.u32 %k, n, 1000, t; st.shared.u32 [%w], %k; shr.u32 %c, 256, n; barrier.sync n, %c;\n"
        "xor.b32 %w, t, n; mad.lo.u32 %w, %w, 4, %v; ld.shared.u32 %k, [%w]; add.u32 %w, n, 3; barrier.sync %w, %c;\n"
        "sub.u32 %v, n, 1; call (o), meet, (%v, t); mad.lo.u32 o, o, 3, %k; ret;\n}\n" KERNEL(
            "all", "and.b32 %a3, %a2, 1; sub.u32 %a3, 2, %a3; call (%r), meet, (%a3, %a2);"));
    FOR_VARIANTS {
        launch_met(rig, "all");
        for (uint32_t i = 0; i < BLOCKS * COUNT; i++) {
            uint32_t t = i % COUNT, last = 1000 + (t ^ 1);
            assert_int_equal(met[i], t & 1 ? last : last * 3 + 2000 + (t ^ 2));
        }
    }
    rig_close(rig);
}

/* Other ways to wait at each depth: nanosleep until a word changes, which another lane of the warp changes from deeper
 * inside; and a phase of an mbarrier. */
static void waiting_otherwise(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".shared .align 8 .b64 mb; .shared .align 4 .b32 turn;\n"
        ".func (.reg .b32 o) sleep(.reg .b32 n, .reg .b32 t)\n{\n.reg .b32 %v; .reg .pred %p; mov.u32 o, n; setp.eq.u32 %p, n, 0; @!%p bra deeper;\n"
        "again: nanosleep.u32 20; ld.volatile.shared.u32 %v, [turn]; setp.ne.u32 %p, %v, t; @%p bra again; add.u32 %v, t, 1; st.volatile.shared.u32 [turn], %v; ret;\n"
        "deeper: sub.u32 %v, n, 1; call (%v), sleep, (%v, t); add.u32 o, o, %v; ret;\n}\n"
        ".func (.reg .b32 o) phase(.reg .b32 n, .reg .b32 t)\n{\n.reg .b64 %s; .reg .b32 %v; .reg .pred %p; mov.u32 o, n; setp.eq.u32 %p, n, 0; @%p ret;\n"
        "mbarrier.arrive.shared.b64 %s, [mb]; again: mbarrier.test_wait.shared.b64 %p, [mb], %s; @!%p bra again; sub.u32 %v, n, 1; call (%v), phase, (%v, t); mad.lo.u32 o, %v, 2, n; ret;\n}\n" KERNEL(
            "sleeps",
            "setp.ne.u32 %p1, %a2, 0; @!%p1 st.volatile.shared.u32 [turn], 0; bar.sync 0; sub.u32 %a3, 200, %a2; and.b32 %a3, %a3, 7; call (%r), sleep, (%a3, %a2);")
            KERNEL(
                "phases",
                "setp.ne.u32 %p1, %a2, 0; @!%p1 mbarrier.init.shared.b64 [mb], %a1; bar.sync 0; call (%r), phase, (4, %a2);"));
    FOR_VARIANTS {
        launch_met(rig, "sleeps");
        for (uint32_t i = 0; i < BLOCKS * COUNT; i++) {
            uint32_t n = (200 - i % COUNT) & 7;
            assert_int_equal(met[i], n * (n + 1) / 2);
        }
        launch_met(rig, "phases");
        for (uint32_t i = 0; i < BLOCKS * COUNT; i++)
            assert_int_equal(met[i], 26);
    }
    rig_close(rig);
}

/*
 * Phases of mbarriers by try_wait. Rounds as above, two phases each, of which each call does one and the last, at a
 * depth of the lane's own, the rest; with a hint and without, with the phase's parity and with the state of an arrival,
 * which goes through a function that waits. late: lanes that are not deep wait at once for a phase that those at the
 * bottom complete, and on their way back these wait for it too.
 */
static void patient_at_each_depth(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 8 .b64 mb[2]; .shared .align 4 .b32 s[128];\n"
        ".func (.reg .b32 tries) await(.reg .b32 mb, .reg .b64 state)\n{\n.reg .pred %p; mov.u32 tries, 0;\n"
        "again: add.u32 tries, tries, 1; mbarrier.try_wait.shared.b64 %p, [mb], state; @!%p bra again; ret;\n}\n"
        ".func (.reg .b32 o) rounds(.reg .b32 mb, .reg .b32 depth, .reg .b32 round, .reg .b32 t)\n{\n.reg .b32 %v, %w, %k; .reg .b64 %state; .reg .pred %p; mov.u32 o, 0;\n"
        "next: setp.ge.u32 %p, round, 6; @%p ret; mov.u32 %v, s; mad.lo.u32 %w, t, 4, %v; mad.lo.u32 %k, round, 1000, t; st.shared.u32 [%w], %k;\n"
        "mbarrier.arrive.shared.b64 _, [mb]; and.b32 %k, round, 1; first: mbarrier.try_wait.parity.shared.b64 %p, [mb], %k, 1000; @!%p bra first;\n"
        "xor.b32 %w, t, 37; mad.lo.u32 %w, %w, 4, %v; ld.shared.u32 %v, [%w]; mad.lo.u32 o, o, 3, %v;\n"
        "mbarrier.arrive.shared.b64 %state, [mb+8]; add.u32 %w, mb, 8; call (%v), await, (%w, %state); setp.eq.u32 %p, %v, 0; @%p mov.u32 o, 0;\n"
        "add.u32 round, round, 1; setp.eq.u32 %p, depth, 0; @%p bra next; sub.u32 %w, depth, 1; mov.u32 %k, o; call (o), rounds, (mb, %w, round, t); mad.lo.u32 o, %k, 7, o; ret;\n}\n"
        ".func (.reg .b32 o) late(.reg .b32 mb, .reg .b32 n)\n{\n.reg .b32 %v; .reg .pred %p; mov.u32 o, n; setp.eq.u32 %p, n, 0; @!%p bra deeper; mbarrier.arrive.shared.b64 _, [mb]; bra wait;\n"
        "deeper: sub.u32 %v, n, 1; call (%v), late, (mb, %v); add.u32 o, o, %v;\nwait: mbarrier.try_wait.parity.shared.b64 %p, [mb], 0; @!%p bra wait; ret;\n}\n" KERNEL(
            "rounds_all",
            "mov.u32 %a3, mb; setp.ne.u32 %p1, %a2, 0; @!%p1 mbarrier.init.shared.b64 [%a3], %a1; @!%p1 mbarrier.init.shared.b64 [%a3+8], %a1; bar.sync 0;\n"
            "and.b32 %a4, %a2, 3; call (%r), rounds, (%a3, %a4, 0, %a2);")
            KERNEL(
                "late_all",
                "mov.u32 %a3, mb; setp.ne.u32 %p1, %a2, 0; @!%p1 mbarrier.init.shared.b64 [%a3], %a1; bar.sync 0; rem.u32 %a4, %a2, 6; call (%r), late, (%a3, %a4);"));
    FOR_VARIANTS {
        launch_met(rig, "rounds_all");
        for (uint32_t i = 0; i < BLOCKS * COUNT; i++) {
            uint32_t t = i % COUNT, expected = 0, sum = 0;
            for (uint32_t round = 0; round < 6; round++) {
                uint32_t seen = round * 1000 + (t ^ 37);
                /* Each call but the last has one round, and what is behind it is added to seven times that. */
                if (round < (t & 3))
                    expected += 7 * seen;
                else
                    sum = sum * 3 + seen;
            }
            assert_int_equal(met[i], expected + sum);
        }
        launch_met(rig, "late_all");
        for (uint32_t i = 0; i < BLOCKS * COUNT; i++) {
            uint32_t n = i % COUNT % 6;
            assert_int_equal(met[i], n * (n + 1) / 2);
        }
    }
    rig_close(rig);
}

/* Copies in bulk that complete a phase: at each depth one thread asks for one, and all wait for it there. */
static void pulling_at_each_depth(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 8 .b64 mb; .shared .align 16 .b32 part[16]; .global .align 16 .b32 source[80];\n"
        ".func (.reg .b32 o) pull(.reg .b64 from, .reg .b32 n, .reg .b32 t)\n{\n.reg .b32 %v, %w, %k; .reg .b64 %from; .reg .pred %p, %leads; mov.u32 o, 0; setp.eq.u32 %p, n, 0; @%p ret;\n"
        "setp.eq.u32 %leads, t, n; mov.u32 %v, mb; mov.u32 %w, part; @%leads mbarrier.arrive.expect_tx.shared.b64 _, [%v], 64;\n"
        "@%leads cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%w], [from], 64, [%v];\n"
        "and.b32 %k, n, 1; xor.b32 %k, %k, 1; wait: mbarrier.try_wait.parity.shared.b64 %p, [%v], %k; @!%p bra wait;\n"
        "and.b32 %k, t, 15; mad.lo.u32 %w, %k, 4, %w; ld.shared.u32 %k, [%w]; bar.sync 0; add.u64 %from, from, 64; sub.u32 %v, n, 1; call (o), pull, (%from, %v, t); mad.lo.u32 o, o, 3, %k; ret;\n}\n" KERNEL(
            "pulls",
            "setp.ne.u32 %p1, %a2, 0; @!%p1 mbarrier.init.shared.b64 [mb], 1; bar.sync 0; mov.u64 %d1, source; cvta.global.u64 %d1, %d1; call (%r), pull, (%d1, 5, %a2);"));
    FOR_VARIANTS {
        uint32_t *source = rig_symbol(rig, "source");
        for (uint32_t i = 0; i < 80; i++)
            source[i] = i * i + 7;
        launch_met(rig, "pulls");
        for (uint32_t i = 0; i < BLOCKS * COUNT; i++) {
            uint32_t expected = 0;
            for (uint32_t part = 5; part-- > 0;)
                expected = expected * 3 + source[part * 16 + (i & 15)];
            assert_int_equal(met[i], expected);
        }
    }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_its_place),         cmocka_unit_test(of_all_kinds),
                                       cmocka_unit_test(calling_itself),       cmocka_unit_test(calling_itself_twice),
                                       cmocka_unit_test(calling_each_other),   cmocka_unit_test(going_deep),
                                       cmocka_unit_test(meeting_together),     cmocka_unit_test(meeting_at_each_depth),
                                       cmocka_unit_test(waiting_otherwise),    cmocka_unit_test(patient_at_each_depth),
                                       cmocka_unit_test(pulling_at_each_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
