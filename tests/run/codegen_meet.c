/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Warp operations behind loops that wait: lanes that are through come first to
 * what the others wait for (a lock to be given back), but not past an operation
 * that names lanes which are still in the loop. And past one that doesn't.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define THREADS 64

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".global .align 4 .u32 lock, count, flag;\n"
#define BEGIN(name) \
    ".visible .entry " name "(.param .u64 out, .param .u32 all)\n{\n" \
    "    .reg .b32 %r<12>; .reg .b64 %d<4>; .reg .pred %p<3>;\n" \
    "    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.u64 %d2, %d2, %d1; ld.param.u32 %r9, [all];\n"

    /* Each lane takes the lock in turn; then all vote, shuffle and meet. */
    BEGIN(
        "locked") "AGAIN: atom.global.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra AGAIN;\n"
                  "    ld.volatile.global.u32 %r3, [count]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [count], %r3; membar.gl; st.volatile.global.u32 [lock], 0;\n"
                  "    vote.sync.ballot.b32 %r4, 1, -1;\n"
                  "    shfl.sync.bfly.b32 %r5, %r1, 1, 31, %r9; bar.warp.sync -1;\n"
                  "    redux.sync.add.u32 %r6, 1, %r9; add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; st.global.u32 [%d2], %r4; ret;\n}\n"

    /* The same with the mask in a register that is set in the same block, and a store before the vote that the lanes in
       the loop wait for. */
    BEGIN(
        "told") "    and.b32 %r8, %r1, 31; setp.ge.u32 %p1, %r8, 8; @%p1 bra TELL;\n"
                "WAIT: ld.volatile.global.u32 %r2, [flag]; setp.lt.u32 %p2, %r2, 24; @%p2 bra WAIT; bra ALL;\n"
                "TELL: atom.global.add.u32 %r2, [flag], 1;\n"
                "ALL: st.global.u32 [%d2], %r2; mov.b32 %r7, -1; vote.sync.ballot.b32 %r4, 1, %r7; st.global.u32 [%d2], %r4; ret;\n}\n"

    /* Eight lanes wait for what the others do only after a vote among themselves. */
    BEGIN(
        "apart") "    and.b32 %r8, %r1, 31; setp.ge.u32 %p1, %r8, 8; @%p1 bra TELL;\n"
                 "WAIT: ld.volatile.global.u32 %r2, [flag]; setp.lt.u32 %p2, %r2, 24; @%p2 bra WAIT; mov.u32 %r4, 5; bra ALL;\n"
                 "TELL: vote.sync.ballot.b32 %r4, 1, 0xffffff00; atom.global.add.u32 %r2, [flag], 1;\n"
                 "ALL: st.global.u32 [%d2], %r4; ret;\n}\n";

static void each_variant(const char *entry, uint32_t (*expected)(uint32_t thread))
{
    struct rig *rig = rig_open(text);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        uint32_t out[THREADS] = {0};
        struct {
            void *out;
            uint32_t all;
        } params = {out, UINT32_MAX};
        memset(rig_symbol(rig, "lock"), 0, 4);
        memset(rig_symbol(rig, "count"), 0, 4);
        memset(rig_symbol(rig, "flag"), 0, 4);
        rig_run(rig, entry, 1, THREADS, &params, sizeof params);
        for (uint32_t i = 0; i < THREADS; i++)
            if (out[i] != expected(i))
                fail_msg("%s, variant %u, thread %u: %#x, must be %#x", entry, rig_variant, i, out[i], expected(i));
        if (strcmp(entry, "locked") == 0)
            assert_int_equal(*(uint32_t *)rig_symbol(rig, "count"), THREADS);
    }
    rig_close(rig);
}

static uint32_t of_locked(uint32_t thread)
{
    return UINT32_MAX + (thread ^ 1) + 32;
}
static uint32_t of_told(uint32_t thread)
{
    (void)thread;
    return UINT32_MAX;
}
static uint32_t of_apart(uint32_t thread)
{
    return thread % 32 < 8 ? 5 : 0xffffff00;
}

static void locked(void **unused)
{
    (void)unused;
    each_variant("locked", of_locked);
}
static void told(void **unused)
{
    (void)unused;
    each_variant("told", of_told);
}
static void apart(void **unused)
{
    (void)unused;
    each_variant("apart", of_apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(locked), cmocka_unit_test(told), cmocka_unit_test(apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
