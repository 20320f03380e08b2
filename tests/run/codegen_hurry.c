/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Code in a hurry is short: what a first launch waits for goes by its length. That it gives the same results is tested
 * with all other instructions, whose tests run in a hurry, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define ROUNDS 32

struct source {
    FILE *file;
    char *text;
    size_t length;
};

static void begin(struct source *source)
{
    FILE *file = source->file = open_memstream(&source->text, &source->length);
    assert_non_null(file);
    fputs(".version 7.8\n.target sm_80\n.address_size 64\n"
          ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %rd<200>;\n.reg .b32 %r<400>;\n.reg .pred "
          "%p<8>;\n.shared .align 16 .b8 tile[4096];\n"
          "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
          "mov.u32 %r3, tile;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r4, [%rd2];\n",
          file);
}

/* Bytes of the object, in a hurry and optimised. */
static void sizes(struct source *source, size_t found[2])
{
    fputs("ret;\n}\n", source->file);
    fclose(source->file);
    struct rig *rig = rig_open(source->text);
    found[0] = rig_object_size(rig, "k", 7, true);
    found[1] = rig_object_size(rig, "k", 7, false);
    rig_close(rig);
    free(source->text);
    printf("%zu bytes in a hurry, %zu optimised\n", found[0], found[1]);
}

/* Additions in shared memory at places that nobody knows: not written out lane by lane. */
static void atomics(void **state)
{
    (void)state;
    struct source source;
    size_t found[2];
    begin(&source);
    for (unsigned i = 0; i < ROUNDS; i++)
        fprintf(source.file,
                "shr.u32 %%r%u, %%r4, %u;\nand.b32 %%r%u, %%r%u, 1020;\nadd.s32 %%r%u, %%r3, %%r%u;\n"
                "atom.shared.add.u32 %%r%u, [%%r%u], 1;\nadd.s32 %%r4, %%r4, %%r%u;\n",
                i + 10, i % 20, i + 10, i + 10, i + 10, i + 10, i + 100, i + 10, i + 100);
    fputs("st.global.u32 [%rd2], %r4;\n", source.file);
    sizes(&source, found);
    assert_true(found[0] * 2 < found[1]);
}

/* Loads from and stores to global memory at places that nobody knows: one way each. */
static void scattered(void **state)
{
    (void)state;
    struct source source;
    size_t found[2];
    begin(&source);
    for (unsigned i = 0; i < ROUNDS; i++)
        fprintf(source.file,
                "and.b32 %%r%u, %%r4, 1023;\nmul.wide.u32 %%rd%u, %%r%u, 4;\nadd.s64 %%rd%u, %%rd1, %%rd%u;\n"
                "ld.global.u32 %%r4, [%%rd%u];\nst.global.u32 [%%rd%u+4096], %%r4;\n",
                i + 10, i + 10, i + 10, i + 10, i + 10, i + 10, i + 10);
    sizes(&source, found);
    assert_true(found[0] * 5 < found[1] * 4);
}

/* Locks one behind the other, with values that live across all of them: a value is not copied at each block's end. */
static void locks(void **state)
{
    (void)state;
    struct source source;
    size_t few[2], many[2];
    for (unsigned count = ROUNDS / 4; count <= ROUNDS; count *= 4) {
        begin(&source);
        for (unsigned i = 0; i < 24; i++)
            fprintf(source.file, "ld.global.u32 %%r%u, [%%rd2+%u];\n", i + 50, i * 128);
        for (unsigned i = 0; i < count; i++)
            fprintf(source.file,
                    "L%u:\natom.global.exch.b32 %%r5, [%%rd2+%u], 1;\nsetp.ne.u32 %%p1, %%r5, 0;\n@%%p1 bra L%u;\n"
                    "setp.gt.u32 %%p2, %%r%u, %%r1;\n@%%p2 bra S%u;\nadd.s32 %%r%u, %%r%u, %%r%u;\nS%u:\n"
                    "st.global.u32 [%%rd2+%u], 0;\n",
                    i, 8192 + i * 128, i, i % 24 + 50, i, i % 24 + 50, i % 24 + 50, i * 7 % 24 + 50, i, 8192 + i * 128);
        for (unsigned i = 0; i < 24; i++)
            fprintf(source.file, "st.global.u32 [%%rd2+%u], %%r%u;\n", i * 128, i + 50);
        sizes(&source, count == ROUNDS ? many : few);
    }
    assert_true(many[0] < few[0] * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomics),
        cmocka_unit_test(scattered),
        cmocka_unit_test(locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
