/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Lanes of one warp that wait for each other in functions: locks that are taken
 * in a function and given back by its caller, so that lanes which come back
 * from the call have to go on while others are still in it. The functions are called through pointers, move the stack
 * pointer, or call themselves.
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

/* [out + 4 t] = %r; %lock is the lock, %lock + 4 the sum that it guards. */
#define KERNEL(name, declarations, body) \
    declarations \
        "\n.visible .entry " name "(.param .u64 out)\n{\n" \
        ".reg .b32 %t, %r, %k, %a<8>; .reg .b64 %out, %lock, %f, %d<8>; .reg .pred %p<4>;\n" \
        "ld.param.u64 %out, [out]; mov.u32 %a0, %ctaid.x; mov.u32 %a1, %ntid.x; mov.u32 %a2, %tid.x; mad.lo.u32 %t, %a0, %a1, %a2;\n" \
        "add.u64 %lock, %out, 576; mul.wide.u32 %d0, %t, 4; add.u64 %out, %out, %d0; mov.u32 %r, 0;\n" body \
        "\nst.global.u32 [%out], %r;\nret;\n}\n"

/* Adds %x to the sum and gives the lock back. */
#define ADD_AND_LEAVE(lock, x) \
    "ld.relaxed.gpu.u32 %k, [" lock "+4]; add.u32 %k, %k, " x "; st.relaxed.gpu.u32 [" lock \
    "+4], %k; st.release.gpu.u32 [" lock "], 0;\n"

/* A function of the lock and x that takes the lock and gives x + number. */
#define TAKE(name, number) \
    ".func (.param .b32 o) " name \
    "(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %p; .reg .b32 %v, %x; .reg .pred %c;\n" \
    "ld.param.u64 %p, [lock]; ld.param.u32 %x, [x];\n" \
    "again: atom.acquire.gpu.cas.b32 %v, [%p], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again;\n" \
    "add.u32 %x, %x, " number "; st.param.b32 [o], %x; ret;\n}\n"
#define CALL(what, x, r, end) \
    "{ .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %lock; st.param.b32 [b], " x "; call (c), " what \
    ", (a, b)" end "; ld.param.b32 " r ", [c]; }\n"

static void launch(struct rig *rig, const char *entry)
{
    struct {
        uint32_t *out;
    } params = {out};
    for (uint32_t i = 0; i < BLOCKS * THREADS + 2; i++)
        out[i] = 0;
    rig_run(rig, entry, BLOCKS, THREADS, &params, sizeof params);
    assert_int_equal(out[BLOCKS * THREADS], 0);
}

#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)

#define PROTO "P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);\n"

/* Lanes have three targets, one of which does not wait; some have none, since the call is guarded. */
static void called_through_pointers(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE("one", "1") TAKE(
        "two",
        "2") ".func (.param .b32 o) none(.param .b64 lock, .param .b32 x)\n{\n.reg .b32 %x; ld.param.u32 %x, [x]; add.u32 %x, %x, 100; st.param.b32 [o], %x; ret;\n}\n"
             ".global .align 8 .u64 table[4] = {one, two, none, two};\n" KERNEL(
                 "pointers", "",
                 PROTO
                 "and.b32 %a3, %t, 3; mul.wide.u32 %d1, %a3, 8; mov.u64 %d2, table; add.u64 %d2, %d2, %d1; ld.global.u64 %f, [%d2];\n"
                 "setp.ne.u32 %p1, %t, 41; setp.eq.u32 %p2, %a3, 2; mov.u32 %a4, 0;\n"
                 "{ .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %lock; st.param.b32 [b], %t; @%p1 call (c), %f, (a, b), P; @%p1 ld.param.b32 %r, [c]; }\n"
                 "@%p2 bra done; @!%p1 bra done;\n" ADD_AND_LEAVE("%lock", "%r") "done:"));
    FOR_VARIANTS {
        uint32_t total = 0;
        launch(rig, "pointers");
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
            static const uint32_t more[4] = {1, 2, 100, 2};
            uint32_t expected = t == 41 ? 0 : t + more[t & 3];
            assert_int_equal(out[t], expected);
            total += (t & 3) == 2 ? 0 : expected;
        }
        assert_int_equal(out[BLOCKS * THREADS + 1], total);
    }
    rig_close(rig);
}

/* What is called through a pointer calls through one, functions of the same signature: of which only the inner one
 * waits. */
static void pointers_in_pointers(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE(
        "inner",
        "7") ".func (.param .b32 o) outer(.param .b64 lock, .param .b32 x);\n.global .align 8 .u64 table[2] = {inner, outer};\n"
             ".func (.param .b32 o) outer(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %lock, %f; .reg .b32 %r, %x; " PROTO
             "ld.param.u64 %lock, [lock]; ld.param.u32 %x, [x]; ld.global.u64 %f, [table];\n" CALL("%f", "%x", "%r", ", P") "add.u32 %r, %r, 10; st.param.b32 [o], %r; ret;\n}\n" KERNEL(
                 "deep", "",
                 PROTO
                 "and.b32 %a3, %t, 1; mul.wide.u32 %d1, %a3, 8; mov.u64 %d2, table; add.u64 %d2, %d2, %d1; ld.global.u64 %f, [%d2]; mov.u32 %a5, 0;\n"
                 "round:\n" CALL("%f", "%t", "%r", ", P")
                     ADD_AND_LEAVE("%lock", "%r") "add.u32 %a5, %a5, 1; setp.lt.u32 %p1, %a5, 3; @%p1 bra round;"));
    FOR_VARIANTS {
        uint32_t total = 0;
        launch(rig, "deep");
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
            assert_int_equal(out[t], t + (t & 1 ? 17 : 7));
            total += 3 * out[t];
        }
        assert_int_equal(out[BLOCKS * THREADS + 1], total);
    }
    rig_close(rig);
}

/* The function takes memory of the stack, more in all rounds than there is, and comes back in two places. */
static void moving_the_stack_pointer(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".func (.param .b32 o) take(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %p, %m; .reg .b32 %v, %x; .reg .pred %c;\n"
        "ld.param.u64 %p, [lock]; ld.param.u32 %x, [x]; alloca.u64 %m, 1024; st.local.u32 [%m+1020], %x;\n"
        "again: atom.acquire.gpu.cas.b32 %v, [%p], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again;\n"
        "ld.local.u32 %v, [%m+1020]; st.param.b32 [o], %v; setp.gt.u32 %c, %x, 50; @%c ret; add.u32 %v, %v, 5; st.param.b32 [o], %v; ret;\n}\n" KERNEL(
            "alloca", "",
            "and.b32 %a3, %t, 15; setp.ne.u32 %p1, %a3, 9; mov.u32 %a5, 0; mov.u32 %a4, 0;\n"
            "round: { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %lock; st.param.b32 [b], %t; @%p1 call (c), take, (a, b); @%p1 ld.param.b32 %r, [c]; }\n"
            "@!%p1 bra past;\n" ADD_AND_LEAVE(
                "%lock", "%r") "past: add.u32 %a5, %a5, 1; setp.lt.u32 %p2, %a5, 20; @%p2 bra round;"));
    FOR_VARIANTS {
        uint32_t total = 0;
        launch(rig, "alloca");
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
            uint32_t expected = t % 16 == 9 ? 0 : t > 50 ? t : t + 5;
            assert_int_equal(out[t], expected);
            total += 20 * expected;
        }
        assert_int_equal(out[BLOCKS * THREADS + 1], total);
    }
    rig_close(rig);
}

/* Lanes take the lock at the bottom of calls of different depth, and give it back in the kernel. */
static void calling_itself(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE(
        "take",
        "1") ".func (.param .b32 o) again(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %lock; .reg .b32 %r, %x; .reg .pred %c; ld.param.u64 %lock, [lock]; ld.param.u32 %x, [x];\n"
             "setp.eq.u32 %c, %x, 0; @%c bra last; sub.u32 %r, %x, 1;\n" CALL(
                 "again", "%r", "%r",
                 "") "add.u32 %r, %r, %x; st.param.b32 [o], %r; ret;\n"
                     "last: " CALL("take", "%x", "%r", "") "st.param.b32 [o], %r; ret;\n}\n" KERNEL(
                         "recursive", "",
                         "rem.u32 %a3, %t, 7; setp.ne.u32 %p1, %t, 40; @!%p1 bra done;" CALL("again", "%a3", "%r", "")
                             ADD_AND_LEAVE("%lock", "%r") "done:"));
    FOR_VARIANTS {
        uint32_t total = 0;
        launch(rig, "recursive");
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
            uint32_t n = t % 7, expected = t == 40 ? 0 : 1 + n * (n + 1) / 2;
            assert_int_equal(out[t], expected);
            total += expected;
        }
        assert_int_equal(out[BLOCKS * THREADS + 1], total);
    }
    rig_variant = 0;
    assert_null(rig_note(rig, "recursive"));
    rig_close(rig);
}

/*
 * What belongs to one call stays what it is while calls in it run: registers of all kinds, predicates, parameters that
 * are read late, a result that is written early, a local variable that the calls in it write to through its address, an
 * array of any bytes that is passed, and the stack pointer. It calls itself twice.
 *
 * tree(lock, n, up, {n, n + 1, .. as bytes}): with n = 0 takes the lock, adds 1 to the sum, gives it back. Adds n + 1
 * to *up. Gives n plus what both calls in it give, and all that they added.
 */
static uint32_t tree(uint32_t n, uint32_t *up)
{
    uint32_t mine = 100, result = n;
    if (n > 0)
        result += tree(n - 1, &mine);
    if (n > 1)
        result += tree(n - 2, &mine);
    *up += n + 1;
    return result + mine + (uint8_t)(n + 4) + (n & 1 ? 1000 : 0);
}

static uint32_t leaves(uint32_t n)
{
    return n == 0 ? 1 : leaves(n - 1) + (n > 1 ? leaves(n - 2) : 0);
}

#define TREE_CALL(n) \
    "{ .param .b64 a; .param .b32 b; .param .b64 c; .param .align 1 .b8 d[5]; .param .b32 r; st.param.b64 [a], %lock; st.param.b32 [b], " n \
    "; st.param.b64 [c], %m;\n" \
    "st.param.b8 [d], " n "; add.u32 %v, " n \
    ", 4; st.param.b8 [d+4], %v; call (r), tree, (a, b, c, d); ld.param.b32 %v, [r]; }\n"

static void keeping_what_is_its_own(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".func (.param .b32 o) tree(.param .b64 lock, .param .b32 n, .param .b64 up, .param .align 1 .b8 bytes[5])\n{\n.local .align 8 .b32 mine[3];\n"
        ".reg .b64 %lock, %m, %s, %up; .reg .b32 %v, %n, %less, %k; .reg .b16 %h; .reg .f64 %d; .reg .pred %c, %odd;\n"
        "ld.param.u64 %lock, [lock]; ld.param.u32 %n, [n]; cvt.u16.u32 %h, %n; cvt.rn.f64.u32 %d, %n; and.b32 %v, %n, 1; setp.ne.u32 %odd, %v, 0;\n"
        "mov.u32 %v, mine+8; cvt.u64.u32 %m, %v; alloca.u64 %s, 16; st.local.u32 [%s+4], %n; st.local.u32 [mine+8], 100; cvta.local.u64 %m, %m; st.param.b32 [o], %n;\n"
        "setp.eq.u32 %c, %n, 0; @!%c bra first;\n"
        "again: atom.acquire.gpu.cas.b32 %v, [%lock], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again; " ADD_AND_LEAVE(
            "%lock",
            "1") "bra out;\n"
                 "first: sub.u32 %less, %n, 1;\n" TREE_CALL(
                     "%less") "ld.param.u32 %k, [o]; add.u32 %k, %k, %v; st.param.b32 [o], %k;\n"
                              "setp.gt.u32 %c, %n, 1; @!%c bra out; sub.u32 %less, %n, 2;\n" TREE_CALL(
                                  "%less") "ld.param.u32 %k, [o]; add.u32 %k, %k, %v; st.param.b32 [o], %k;\n"
                                           "out: ld.param.u64 %up, [up]; ld.u32 %v, [%up]; add.u32 %v, %v, 1; ld.local.u32 %k, [%s+4]; add.u32 %v, %v, %k; st.u32 [%up], %v;\n"
                                           "ld.param.u32 %v, [o]; ld.local.u32 %k, [mine+8]; add.u32 %v, %v, %k; ld.param.u8 %k, [bytes+4]; add.u32 %v, %v, %k; @%odd add.u32 %v, %v, 1000;\n"
                                           "cvt.u32.u16 %k, %h; sub.u32 %k, %k, %n; add.u32 %v, %v, %k; cvt.rzi.u32.f64 %k, %d; sub.u32 %k, %k, %n; add.u32 %v, %v, %k; st.param.b32 [o], %v; ret;\n}\n" KERNEL(
                                               "branches", "",
                                               ".local .b32 mine; .reg .b32 %v; .reg .b64 %m; rem.u32 %a3, %t, 6; st.local.u32 [mine], 0; mov.u64 %m, mine; cvta.local.u64 %m, %m;\n" TREE_CALL(
                                                   "%a3") "mov.u32 %r, %v; ld.local.u32 %v, [mine]; add.u32 %r, %r, %v;"));
    FOR_VARIANTS {
        uint32_t total = 0;
        launch(rig, "branches");
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
            uint32_t up = 0, result = tree(t % 6, &up);
            assert_int_equal(out[t], result + up);
            total += leaves(t % 6);
        }
        assert_int_equal(out[BLOCKS * THREADS + 1], total);
    }
    rig_close(rig);
}

/* Frames are on the lane's stack: as many as the context's limit lets be there, and more end the launch. */
static void going_deep(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE(
        "take",
        "1") ".func (.param .b32 o) again(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %lock; .reg .b32 %r, %x, %k; .reg .pred %c; ld.param.u64 %lock, [lock]; ld.param.u32 %x, [x];\n"
             "setp.eq.u32 %c, %x, 0; @%c bra last; sub.u32 %r, %x, 1;\n" CALL(
                 "again", "%r", "%r", "") "add.u32 %r, %r, %x; st.param.b32 [o], %r; ret;\n"
                                          "last: " CALL("take", "%x", "%r", "")
                                              ADD_AND_LEAVE("%lock", "1") "st.param.b32 [o], %r; ret;\n}\n" KERNEL(
                                                  "deep", "", "add.u32 %a3, %t, 1000;" CALL("again", "%a3", "%r", "")));
    FOR_VARIANTS {
        rig_stack_limit = 256 << 10;
        launch(rig, "deep");
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++)
            assert_int_equal(out[t], 1 + (t + 1000) * (t + 1001) / 2);
        rig_stack_limit = 0;
        void *to = out;
        assert_int_equal(rig_launch(rig, "deep", (unsigned[3]){1, 1, 1}, (unsigned[3]){1, 1, 1}, 0, &to, sizeof to),
                         CUDA_ERROR_HARDWARE_STACK_ERROR);
    }
    rig_close(rig);
}

/* Two functions that call each other, through a pointer and by name, and one that waits inside, which calls neither.
 * Some lanes are not there for a call. */
static void calling_each_other(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE(
        "take",
        "1") ".func (.param .b32 o) even(.param .b64 lock, .param .b32 x);\n.func (.param .b32 o) odd(.param .b64 lock, .param .b32 x);\n.global .align 8 .u64 table[2] = {even, odd};\n"
             ".func (.param .b32 o) even(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %lock, %f, %table; .reg .b32 %r, %x, %k; .reg .pred %c; " PROTO
             "ld.param.u64 %lock, [lock]; ld.param.u32 %x, [x]; setp.ne.u32 %c, %x, 0; mov.u64 %table, table; ld.global.u64 %f, [%table+8]; sub.u32 %k, %x, 1; mov.u32 %r, 50;\n"
             "{ .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %lock; st.param.b32 [b], %k; @%c call (c), %f, (a, b), P; @%c ld.param.b32 %r, [c]; }\n"
             "@%c bra done;\n" CALL("take", "%r", "%r", "") ADD_AND_LEAVE(
                 "%lock",
                 "1") "done: mad.lo.u32 %r, %r, 3, %x; st.param.b32 [o], %r; ret;\n}\n"
                      ".func (.param .b32 o) odd(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %lock; .reg .b32 %r, %x, %k; ld.param.u64 %lock, [lock]; ld.param.u32 %x, [x]; sub.u32 %k, %x, 1;\n" CALL(
                          "even", "%k", "%r", "") CALL("take", "%r", "%r", "")
                                   ADD_AND_LEAVE("%lock", "1") "mad.lo.u32 %r, %r, 5, %x; st.param.b32 [o], %r; ret;\n}\n" KERNEL(
                                       "pair", "",
                                       PROTO
                                       "rem.u32 %a3, %t, 9; and.b32 %a4, %a3, 1; mul.wide.u32 %d1, %a4, 8; mov.u64 %d2, table; add.u64 %d2, %d2, %d1; ld.global.u64 %f, [%d2];\n" CALL(
                                           "%f", "%a3", "%r", ", P")));
    FOR_VARIANTS {
        uint32_t total = 0;
        launch(rig, "pair");
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++) {
            uint32_t expected = 51 * 3;
            for (uint32_t n = 1; n <= t % 9; n++)
                expected = n & 1 ? (expected + 1) * 5 + n : expected * 3 + n;
            assert_int_equal(out[t], expected);
            total += 1 + (t % 9 + 1) / 2;
        }
        assert_int_equal(out[BLOCKS * THREADS + 1], total);
    }
    rig_close(rig);
}

/*
 * Barriers of several numbers in a function that calls itself: even lanes wait at 2 and 5 among themselves, and then, a
 * call deeper, with the odd ones, which are there already, at 1 and 4. Between the two barriers of a call each lane
 * reads what another wrote.
 */
static void meeting_at_each_depth(void **unused)
{
    (void)unused;
    enum { COUNT = 128 };
    static uint32_t met[BLOCKS * COUNT];
    struct {
        uint32_t *out;
    } params = {met};
    struct rig *rig = rig_open(
        HEAD
        ".shared .align 4 .b32 s[128];\n"
        ".func (.param .b32 o) meet(.param .b32 n, .param .b32 t)\n{\n.reg .b32 %n, %t, %v, %w, %c, %k, %r; .reg .pred %p;\n"
        "ld.param.u32 %n, [n]; ld.param.u32 %t, [t]; mov.u32 %r, 0; setp.eq.u32 %p, %n, 0; @%p bra out;\n"
        "mov.u32 %v, s; mad.lo.u32 %w, %t, 4, %v; mad.lo.u32 %k, %n, 1000, %t; st.shared.u32 [%w], %k; shr.u32 %c, 256, %n; barrier.sync %n, %c;\n"
        "xor.b32 %w, %t, %n; mad.lo.u32 %w, %w, 4, %v; ld.shared.u32 %k, [%w]; add.u32 %w, %n, 3; barrier.sync %w, %c;\n"
        "sub.u32 %v, %n, 1; { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %v; st.param.b32 [b], %t; call (c), meet, (a, b); ld.param.b32 %r, [c]; }\n"
        "mad.lo.u32 %r, %r, 3, %k; out: st.param.b32 [o], %r; ret;\n}\n" KERNEL(
            "all", "",
            "and.b32 %a3, %a2, 1; sub.u32 %a3, 2, %a3;\n"
            "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %a3; st.param.b32 [b], %a2; call (c), meet, (a, b); ld.param.b32 %r, [c]; }\n"));
    FOR_VARIANTS {
        memset(met, 0, sizeof met);
        rig_run(rig, "all", BLOCKS, COUNT, &params, sizeof params);
        for (uint32_t i = 0; i < BLOCKS * COUNT; i++) {
            uint32_t t = i % COUNT, last = 1000 + (t ^ 1);
            assert_int_equal(met[i], t & 1 ? last : last * 3 + 2000 + (t ^ 2));
        }
    }
    rig_close(rig);
}

/* What takes an array of any size stays a call; that lanes could wait for each other in it is said, and that other
 * kernels are without that too. */
static void notes(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE(
        "take",
        "1") ".func (.param .b32 o) open(.param .b64 lock, .param .align 4 .b8 more[])\n{\n.reg .b64 %lock; .reg .b32 %v; .reg .pred %c; ld.param.u64 %lock, [lock];\n"
             "again: atom.acquire.gpu.cas.b32 %v, [%lock], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again; st.release.gpu.u32 [%lock], 0; ld.param.u32 %v, [more+4]; st.param.b32 [o], %v; ret;\n}\n" KERNEL(
                 "any_size", "",
                 "{ .param .b64 a; .param .align 4 .b8 b[8]; .param .b32 c; st.param.b64 [a], %lock; st.param.b32 [b+4], 1004; call (c), open, (a, b); ld.param.b32 %r, [c]; }")
                                   KERNEL("plain", "", CALL("take", "%t", "%r", "") "st.release.gpu.u32 [%lock], 0;"));
    FOR_VARIANTS {
        launch(rig, "any_size");
        assert_int_equal(out[0], 1004);
    }
    rig_variant = 0;
    assert_non_null(rig_note(rig, "any_size"));
    assert_non_null(strstr(rig_note(rig, "any_size"), "'open'"));
    assert_null(rig_note(rig, "plain"));
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(called_through_pointers),
                                       cmocka_unit_test(pointers_in_pointers),
                                       cmocka_unit_test(moving_the_stack_pointer),
                                       cmocka_unit_test(calling_itself),
                                       cmocka_unit_test(keeping_what_is_its_own),
                                       cmocka_unit_test(calling_each_other),
                                       cmocka_unit_test(going_deep),
                                       cmocka_unit_test(meeting_at_each_depth),
                                       cmocka_unit_test(notes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
