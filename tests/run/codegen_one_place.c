/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loads whose address is the same for all lanes that run, which only the running code can tell: an element's row is
 * found by a division. Rows as long as a warp and more, rows that end within a warp, lanes that don't run and hold an
 * address where nothing is, the first lane among them, and warps of which no lane runs; bytes to pairs of 16.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_numbers.h"
#include "codegen_rig.h"

enum { THREADS = 256, WARP = 32, BYTES = 16, KINDS = 5, ROUNDS = 64 };

static unsigned char rows[(THREADS + 64) * BYTES];
static uint32_t runs[THREADS];
static unsigned char out[KINDS][THREADS][BYTES];

static uint64_t seed = 7;

static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry read(.param .u64 rows, .param .u64 runs, .param .u64 out, .param .u32 first, .param .u32 length)\n"
    "{\n.reg .b32 %t, %i, %n, %w<4>; .reg .b64 %a, %g, %o, %d, %v<2>; .reg .b16 %h; .reg .pred %p;\n"
    "mov.u32 %t, %tid.x; ld.param.u64 %g, [runs]; mul.wide.u32 %d, %t, 4; add.u64 %g, %g, %d;\n"
    "ld.global.u32 %i, [%g]; setp.ne.u32 %p, %i, 0;\n"
    "ld.param.u32 %i, [first]; add.u32 %i, %i, %t; ld.param.u32 %n, [length]; div.u32 %i, %i, %n;\n"
    "mul.wide.u32 %d, %i, 16; ld.param.u64 %a, [rows]; add.u64 %a, %a, %d; @!%p mov.u64 %a, 16;\n"
    "mul.wide.u32 %d, %t, 16; ld.param.u64 %o, [out]; add.u64 %o, %o, %d;\n";

static const char *const loads[KINDS] = {
    "@%p ld.global.u8 %h, [%a]; @%p st.global.u8 [%o], %h;\n",
    "@%p ld.global.u16 %h, [%a]; @%p st.global.u16 [%o+4096], %h;\n",
    "@%p ld.global.nc.u32 %w0, [%a]; @%p st.global.u32 [%o+8192], %w0;\n",
    "@%p ld.global.v2.u64 {%v0, %v1}, [%a]; @%p st.global.v2.u64 [%o+12288], {%v0, %v1};\n",
    "@%p ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%a]; @%p st.global.v4.u32 [%o+16384], {%w0, %w1, %w2, %w3};\n",
};
static const unsigned sizes[KINDS] = {1, 2, 4, 16, 16};

static void draw_runs(uint32_t round)
{
    for (unsigned warp = 0; warp < THREADS / WARP; warp++) {
        static const uint32_t masks[] = {0xffffffff, 0, 0xfffffffe, 1, 0x80000000, 0x55555555};
        uint32_t kind = (round + warp) % 8, mask = kind < 6 ? masks[kind] : draw_from(&seed);
        for (unsigned lane = 0; lane < WARP; lane++)
            runs[warp * WARP + lane] = mask >> lane & 1;
    }
}

static void test_read(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1, 2, 31, 32, 33, 64, 100, 256};
    static char program[4096];
    size_t at = (size_t)snprintf(program, sizeof program, "%s", head);
    for (unsigned k = 0; k < KINDS; k++)
        at += (size_t)snprintf(program + at, sizeof program - at, "%s", loads[k]);
    snprintf(program + at, sizeof program - at, "ret;\n}\n");
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (unsigned char)draw_from(&seed);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct {
            const void *rows, *runs, *out;
            uint32_t first, length;
        } params = {rows, runs, out, draw_from(&seed) % 40, lengths[round / RIG_VARIANTS % 8]};
        draw_runs(draw_from(&seed));
        memset(out, 0, sizeof out);
        struct rig *rig = rig_open(program);
        rig_variant = round % RIG_VARIANTS;
        rig_run(rig, "read", 1, THREADS, &params, sizeof params);
        for (unsigned k = 0; k < KINDS; k++)
            for (unsigned t = 0; t < THREADS; t++) {
                unsigned char wanted[BYTES] = {0};
                if (runs[t])
                    memcpy(wanted, rows + (size_t)((params.first + t) / params.length) * BYTES, sizes[k]);
                if (memcmp(out[k][t], wanted, BYTES) != 0)
                    fail_msg("variant %u, load %u, thread %u, rows of %u from %u", rig_variant, k, t, params.length,
                             params.first);
            }
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
