/* SPDX-License-Identifier: Apache-2.0 */

/* Loops that end by plain loads: those that can go round without getting any further wait for somebody, the others
 * don't (codegen/analysis/idle.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "abi/abi.h"
#include "codegen_rig.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(body) \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %a, %b, %c, %k, %l, %n, %x; .reg .b64 %d, %e, %f; .reg .pred %p, %q; .local .u32 mine;\nld.param.u64 %d, [p]; mov.u64 %f, %d;\n" \
    "mov.u32 %x, %tid.x; mov.u32 %a, 0; mov.u32 %b, 64; mov.u32 %n, 3; mov.u32 %l, 0;\n" body \
    "\nst.global.u32 [%d], %a; ret;\n}\n"
#define AT(index) "mul.wide.u32 %e, " index ", 4; add.u64 %e, %d, %e; "

static unsigned flags_of(const char *text)
{
    struct rig *rig = rig_open(text);
    unsigned flags = rig_flags(rig, "k") & (MR_CODE_WAITS | MR_CODE_MAY_WAIT);
    rig_close(rig);
    return flags;
}

static void loops_that_wait(void **unused)
{
    static const char *const texts[] =
    { HEAD KERNEL("again: ld.global.u32 %a, [%d]; setp.eq.u32 %p, %a, 0; @%p bra again;"),
        /* Rounds are counted, and nobody asks how many. */
      HEAD KERNEL(
          "again: ld.global.u32 %a, [%d]; add.u32 %l, %l, 1; setp.eq.u32 %p, %a, 0; @%p bra again; add.u32 %a, %l, %a;"),
        /* A count that a branch lowers; the place goes with it. */
      HEAD KERNEL("again: " AT(
          "%n") "ld.global.u32 %a, [%e]; setp.eq.u32 %p, %a, 0; @%p bra skip; sub.u32 %n, %n, 1; skip: setp.gt.s32 %p, %n, 0; @%p bra again;"),
        /* It is lowered by a choice, or under a guard. */
      HEAD KERNEL(
          "again: ld.global.u32 %a, [%d]; setp.ne.u32 %p, %a, 0; selp.u32 %k, 1, 0, %p; sub.u32 %l, %n, %k; mov.u32 %n, %l; setp.gt.s32 %p, %n, 0; @%p bra again;"),
      HEAD KERNEL(
          "again: ld.global.u32 %a, [%d]; setp.ne.u32 %p, %a, 0; @%p sub.u32 %n, %n, 1; setp.gt.s32 %p, %n, 0; @%p bra again;"),
      HEAD KERNEL(
          "again: ld.global.u32 %a, [%d]; setp.ne.u32 %p, %a, 0; sub.u32 %l, %n, 1; selp.u32 %n, %l, %n, %p; setp.gt.s32 %p, %n, 0; @%p bra again;"),
        /* The same is stored in each round. */
      HEAD KERNEL("again: st.global.u32 [%f], %x; ld.global.u32 %a, [%d]; setp.eq.u32 %p, %a, 0; @%p bra again;"),
        /* The count lies in memory, and is written only when something has come. */
      HEAD KERNEL(
          "st.local.u32 [mine], 3; again: ld.global.u32 %a, [%d]; setp.eq.u32 %p, %a, 0; @%p bra skip; ld.local.u32 %n, [mine]; sub.u32 %n, %n, 1; st.local.u32 [mine], %n;\n"
          "skip: ld.local.u32 %n, [mine]; setp.gt.s32 %p, %n, 0; @%p bra again;"),
        /* A state, with what was loaded last kept for the next one. */
      HEAD KERNEL(
          "mov.u32 %k, 0; round: setp.eq.u32 %p, %k, 1; @%p bra take; setp.eq.u32 %p, %k, 2; @%p bra done;\n"
          "ld.global.u32 %a, [%d]; setp.eq.u32 %p, %a, 0; @%p bra round; mov.u32 %k, 1; bra round;\n"
          "take: add.u32 %b, %b, %a; sub.u32 %n, %n, 1; setp.eq.u32 %p, %n, 0; selp.u32 %k, 2, 0, %p; bra round; done:"),
        /* It waits for so many rounds at most. */
      HEAD KERNEL(
          "again: ld.global.u32 %a, [%d]; setp.ne.u32 %p, %a, 0; @%p bra done; add.u32 %l, %l, 1; setp.lt.u32 %p, %l, 9000; @%p bra again; done:"),
        /* Each round stores something new, elsewhere. */
      HEAD KERNEL(
          "again: add.u32 %l, %l, 1; st.global.u32 [%f+4], %l; ld.global.u32 %a, [%d]; setp.eq.u32 %p, %a, 0; @%p bra again;"),
      HEAD KERNEL("again: add.u32 %l, %l, 1; " AT(
          "%l") "st.global.u32 [%e], %x; ld.global.u32 %a, [%d]; setp.eq.u32 %p, %a, 0; @%p bra again;"),
        /* A function that loads. */
      HEAD ".func (.reg .b32 v) look(.reg .b64 at)\n{\nld.global.u32 v, [at]; ret;\n}\n" KERNEL(
          "again: call (%a), look, (%d); setp.eq.u32 %p, %a, 0; @%p bra again;"),
    };
    (void)unused;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        if (flags_of(texts[i]) != MR_CODE_WAITS)
            fail_msg("text %u: a loop that waits is not found", i);
}

static void loops_that_get_further(void **unused)
{
    static const char *const texts[] = {
        /* A list is followed, with the last one kept. */
        HEAD KERNEL(
            "again: mov.b64 %f, %d; ld.global.u64 %d, [%d]; setp.ne.u64 %p, %d, 0; @%p bra again; mov.b64 %d, %f;"),
        /* A place is looked for between two others. */
        HEAD KERNEL("again: add.u32 %k, %a, %b; shr.u32 %k, %k, 1; " AT(
            "%k") "ld.global.u32 %l, [%e]; setp.lt.u32 %q, %l, %x; @%q bra up; mov.u32 %b, %k; bra next;\n"
                  "up: add.u32 %a, %k, 1; next: setp.lt.u32 %p, %a, %b; @%p bra again;"),
        HEAD KERNEL("again: add.u32 %k, %a, %b; shr.u32 %k, %k, 1; " AT(
            "%k") "ld.global.u32 %l, [%e]; setp.lt.u32 %q, %l, %x; add.u32 %c, %k, 1; selp.b32 %a, %c, %a, %q; selp.b32 %b, %b, %k, %q;\n"
                  "add.u32 %n, %n, 1; setp.lt.u32 %p, %a, %b; setp.lt.and.u32 %p, %n, 40, %p; @%p bra again;"),
        /* A table of hashes. */
        HEAD KERNEL("again: " AT(
            "%a") "ld.global.u32 %l, [%e]; setp.eq.u32 %p, %l, %x; @%p bra done; setp.eq.u32 %p, %l, 0; @%p bra done; add.u32 %a, %a, 1; and.b32 %a, %a, 63; bra again; done:"),
        /* A sum until it is enough. */
        HEAD KERNEL("again: " AT(
            "%n") "ld.global.u32 %l, [%e]; add.u32 %a, %a, %l; add.u32 %n, %n, 1; setp.lt.u32 %p, %a, 100; @%p bra again;"),
        /* Nodes of a list until one is marked; the sum says how many were not. */
        HEAD KERNEL(
            "again: ld.global.u64 %d, [%d]; ld.global.u32 %a, [%d+8]; add.u32 %l, %l, 1; setp.eq.u32 %p, %a, 0; @%p bra again;"),
        /* A bound in memory. */
        HEAD KERNEL("again: " AT(
            "%l") "st.global.u32 [%e], %x; add.u32 %l, %l, 1; ld.global.u32 %a, [%f]; setp.lt.u32 %p, %l, %a; @%p bra again;"),
        /* As compilers write it that keep variables in memory. */
        HEAD KERNEL(
            "again: ld.u32 %l, [%d]; ld.u32 %a, [%d+4]; setp.ge.u32 %p, %l, %a; @%p bra done; add.u32 %l, %l, 1; st.u32 [%d], %l; bra again; done:"),
        /* What is in memory gets less. */
        HEAD KERNEL(
            "again: ld.global.u32 %a, [%d]; shr.u32 %a, %a, 1; st.global.u32 [%d], %a; setp.ne.u32 %p, %a, 0; @%p bra again;"),
    };
    (void)unused;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        if (flags_of(texts[i]) != MR_CODE_MAY_WAIT)
            fail_msg("text %u: is taken for a loop that waits (%#x)", i, flags_of(texts[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_that_wait),
        cmocka_unit_test(loops_that_get_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
