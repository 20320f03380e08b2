/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Lanes of one warp that wait for each other in functions: locks that are taken
 * in a function and given back by its caller, so that lanes which come back
 * from the call have to go on while others are still in it. The functions are called through pointers or move the stack pointer.
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
#define KERNEL(name, declarations, body)                                                                                            \
    declarations "\n.visible .entry " name "(.param .u64 out)\n{\n"                                                                  \
    ".reg .b32 %t, %r, %k, %a<8>; .reg .b64 %out, %lock, %f, %d<8>; .reg .pred %p<4>;\n"                                             \
    "ld.param.u64 %out, [out]; mov.u32 %a0, %ctaid.x; mov.u32 %a1, %ntid.x; mov.u32 %a2, %tid.x; mad.lo.u32 %t, %a0, %a1, %a2;\n"      \
    "add.u64 %lock, %out, 576; mul.wide.u32 %d0, %t, 4; add.u64 %out, %out, %d0; mov.u32 %r, 0;\n" body                              \
    "\nst.global.u32 [%out], %r;\nret;\n}\n"

/* Adds %x to the sum and gives the lock back. */
#define ADD_AND_LEAVE(lock, x) "ld.relaxed.gpu.u32 %k, [" lock "+4]; add.u32 %k, %k, " x "; st.relaxed.gpu.u32 [" lock "+4], %k; st.release.gpu.u32 [" lock "], 0;\n"

/* A function of the lock and x that takes the lock and gives x + number. */
#define TAKE(name, number)                                                                                                          \
    ".func (.param .b32 o) " name "(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %p; .reg .b32 %v, %x; .reg .pred %c;\n"             \
    "ld.param.u64 %p, [lock]; ld.param.u32 %x, [x];\n"                                                                               \
    "again: atom.acquire.gpu.cas.b32 %v, [%p], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again;\n"                                        \
    "add.u32 %x, %x, " number "; st.param.b32 [o], %x; ret;\n}\n"
#define CALL(what, x, r, end) "{ .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %lock; st.param.b32 [b], " x "; call (c), " what ", (a, b)" end "; ld.param.b32 " r ", [c]; }\n"

static void launch(struct rig *rig, const char *entry)
{
    struct { uint32_t *out; } params = {out};
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
    struct rig *rig = rig_open(HEAD TAKE("one", "1") TAKE("two", "2")
        ".func (.param .b32 o) none(.param .b64 lock, .param .b32 x)\n{\n.reg .b32 %x; ld.param.u32 %x, [x]; add.u32 %x, %x, 100; st.param.b32 [o], %x; ret;\n}\n"
        ".global .align 8 .u64 table[4] = {one, two, none, two};\n"
        KERNEL("pointers", "",
            PROTO "and.b32 %a3, %t, 3; mul.wide.u32 %d1, %a3, 8; mov.u64 %d2, table; add.u64 %d2, %d2, %d1; ld.global.u64 %f, [%d2];\n"
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

/* What is called through a pointer calls through one, functions of the same signature: of which only the inner one waits. */
static void pointers_in_pointers(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE("inner", "7")
        ".func (.param .b32 o) outer(.param .b64 lock, .param .b32 x);\n.global .align 8 .u64 table[2] = {inner, outer};\n"
        ".func (.param .b32 o) outer(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %lock, %f; .reg .b32 %r, %x; " PROTO
        "ld.param.u64 %lock, [lock]; ld.param.u32 %x, [x]; ld.global.u64 %f, [table];\n" CALL("%f", "%x", "%r", ", P") "add.u32 %r, %r, 10; st.param.b32 [o], %r; ret;\n}\n"
        KERNEL("deep", "",
            PROTO "and.b32 %a3, %t, 1; mul.wide.u32 %d1, %a3, 8; mov.u64 %d2, table; add.u64 %d2, %d2, %d1; ld.global.u64 %f, [%d2]; mov.u32 %a5, 0;\n"
            "round:\n" CALL("%f", "%t", "%r", ", P") ADD_AND_LEAVE("%lock", "%r") "add.u32 %a5, %a5, 1; setp.lt.u32 %p1, %a5, 3; @%p1 bra round;"));
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
    struct rig *rig = rig_open(HEAD
        ".func (.param .b32 o) take(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %p, %m; .reg .b32 %v, %x; .reg .pred %c;\n"
        "ld.param.u64 %p, [lock]; ld.param.u32 %x, [x]; alloca.u64 %m, 1024; st.local.u32 [%m+1020], %x;\n"
        "again: atom.acquire.gpu.cas.b32 %v, [%p], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again;\n"
        "ld.local.u32 %v, [%m+1020]; st.param.b32 [o], %v; setp.gt.u32 %c, %x, 50; @%c ret; add.u32 %v, %v, 5; st.param.b32 [o], %v; ret;\n}\n"
        KERNEL("alloca", "",
            "and.b32 %a3, %t, 15; setp.ne.u32 %p1, %a3, 9; mov.u32 %a5, 0; mov.u32 %a4, 0;\n"
            "round: { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %lock; st.param.b32 [b], %t; @%p1 call (c), take, (a, b); @%p1 ld.param.b32 %r, [c]; }\n"
            "@!%p1 bra past;\n" ADD_AND_LEAVE("%lock", "%r") "past: add.u32 %a5, %a5, 1; setp.lt.u32 %p2, %a5, 20; @%p2 bra round;"));
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

/* What calls itself is taken in once; that lanes could wait for each other further in is said, and that other kernels are without that too. */
static void notes(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD TAKE("take", "1")
        ".func (.param .b32 o) again(.param .b64 lock, .param .b32 x)\n{\n.reg .b64 %lock; .reg .b32 %r, %x; .reg .pred %c; ld.param.u64 %lock, [lock]; ld.param.u32 %x, [x];\n"
        "setp.eq.u32 %c, %x, 0; mov.u32 %r, 1000; @%c bra last; sub.u32 %x, %x, 1;\n" CALL("again", "%x", "%r", "") "add.u32 %r, %r, 1; bra.uni done;\n"
        "last: " CALL("take", "%x", "%x", "") "st.release.gpu.u32 [%lock], 0;\ndone: st.param.b32 [o], %r; ret;\n}\n"
        KERNEL("recursive", "", "setp.gt.u32 %p1, %t, 0; @%p1 bra done; mov.u32 %a3, 4;" CALL("again", "%a3", "%r", "") "done:")
        KERNEL("plain", "", CALL("take", "%t", "%r", "") "st.release.gpu.u32 [%lock], 0;"));
    FOR_VARIANTS {
        launch(rig, "recursive");
        assert_int_equal(out[0], 1004);
    }
    rig_variant = 0;
    assert_non_null(rig_note(rig, "recursive"));
    assert_non_null(strstr(rig_note(rig, "recursive"), "'again'"));
    assert_null(rig_note(rig, "plain"));
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(called_through_pointers), cmocka_unit_test(pointers_in_pointers), cmocka_unit_test(moving_the_stack_pointer), cmocka_unit_test(notes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
