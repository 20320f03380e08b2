/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loads and stores at a base and an index of 32 bits for each lane, which only the running code knows: indexes that
 * follow each other, also past the greatest one to the least; those of two rows, one for all, and any; with lanes that
 * don't run, the first among them; widened with and without a sign, elements of 1 to 8 bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "codegen_numbers.h"
#include "codegen_rig.h"

enum { THREADS = 128, WARP = 32, PATTERNS = 6, ROUNDS = 48 };

#define GIB ((size_t)1 << 30)

static uint32_t runs[THREADS], indexes[THREADS];
static uint64_t out[THREADS], seed = 11;
static unsigned char *memory; /* from 2 GiB before the base to 4 GiB behind it */

static const char form[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry move(.param .u64 base, .param .u64 indexes, .param .u64 runs, .param .u64 out)\n"
    "{\n.reg .b32 %%t, %%i, %%r; .reg .b64 %%a, %%g, %%o, %%d, %%v; .reg .pred %%p;\n"
    "mov.u32 %%t, %%tid.x; mul.wide.u32 %%d, %%t, 4;\n"
    "ld.param.u64 %%g, [runs]; add.u64 %%g, %%g, %%d; ld.global.u32 %%r, [%%g]; setp.ne.u32 %%p, %%r, 0;\n"
    "ld.param.u64 %%g, [indexes]; add.u64 %%g, %%g, %%d; ld.global.u32 %%i, [%%g];\n"
    "mul.wide.%s32 %%d, %%i, %u; ld.param.u64 %%a, [base]; add.s64 %%a, %%a, %%d; mul.wide.u32 %%d, %%t, 8;\n"
    "ld.param.u64 %%o, [out]; add.u64 %%o, %%o, %%d; @!%%p bra DONE;\n"
    "ld.global.nc.u%u %%v, [%%a]; st.global.u64 [%%o], %%v;\n"
    "not.b64 %%v, %%v; st.global.u%u [%%a+%u], %%v;\nDONE: ret;\n}\n";

/* What is stored lies so far behind what is loaded. */
enum { BEHIND = 1 << 16 };

static uint32_t index_of(unsigned pattern, unsigned lane, uint32_t start, bool sign)
{
    uint32_t least = sign ? (uint32_t)INT32_MIN : 0;
    switch (pattern) {
    case 0:
        return start + lane;
    case 1: /* past the greatest: the least follows */
        return least - 1 - start % 40 + lane;
    case 2:
        return start + lane + (lane > start % 32 ? 33 : 0);
    case 3:
        return start;
    case 4: /* the last that fit */
        return least - WARP + lane;
    default:
        return draw_from(&seed) % 1000;
    }
}

static void draw(unsigned pattern, bool sign)
{
    static const uint32_t masks[] = {0xffffffff, 0xffffffff, 0, 0xfffffffe, 1, 0x80000000};
    for (unsigned warp = 0; warp < THREADS / WARP; warp++) {
        uint32_t kind = draw_from(&seed) % 8, mask = kind < 6 ? masks[kind] : draw_from(&seed);
        uint32_t start = draw_from(&seed) % 1000;
        for (unsigned lane = 0; lane < WARP; lane++) {
            indexes[warp * WARP + lane] = index_of(pattern, lane, start, sign);
            runs[warp * WARP + lane] = mask >> lane & 1;
        }
    }
}

static unsigned char *place(unsigned thread, bool sign, unsigned size)
{
    int64_t index = sign ? (int64_t)(int32_t)indexes[thread] : (int64_t)indexes[thread];
    return memory + 2 * GIB + index * (int64_t)size;
}

static uint64_t value_of(unsigned thread, unsigned size)
{
    uint64_t all = indexes[thread] * UINT64_C(0x9e3779b97f4a7c15) ^ UINT64_C(0x1234567), value = 0;
    memcpy(&value, &all, size);
    return value;
}

static void check(unsigned round, unsigned pattern, bool sign, unsigned size)
{
    for (unsigned t = 0; t < THREADS; t++) {
        uint64_t stored = 0, value = value_of(t, size), other = runs[t] ? ~value : 0;
        memcpy(&stored, place(t, sign, size) + BEHIND, size);
        if (out[t] != (runs[t] ? value : 0) || (runs[t] && memcmp(&stored, &other, size) != 0))
            fail_msg("round %u, pattern %u, %s, %u bytes, thread %u, index %#x", round, pattern,
                     sign ? "signed" : "unsigned", size, t, indexes[t]);
    }
}

static void test_moves(void **state)
{
    (void)state;
    static char program[2048];
    size_t room = 6 * GIB + 2 * BEHIND;
    memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool sign = round & 1;
        unsigned size = 1u << round / 2 % 4;
        snprintf(program, sizeof program, form, sign ? "s" : "u", size, 8 * size, 8 * size, (unsigned)BEHIND);
        struct rig *rig = rig_open(program);
        rig_variant = round / 8 % RIG_VARIANTS;
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
            const struct {
                const void *base, *indexes, *runs, *out;
            } params = {memory + 2 * GIB, indexes, runs, out};
            if (size > 1 && (pattern == 1 || pattern == 4))
                continue; /* they would need more memory */
            draw(pattern, sign);
            memset(out, 0, sizeof out);
            for (unsigned t = 0; t < THREADS; t++) {
                uint64_t value = value_of(t, size);
                memcpy(place(t, sign, size), &value, size);
                memset(place(t, sign, size) + BEHIND, 0, size);
            }
            rig_run(rig, "move", 1, THREADS, &params, sizeof params);
            check(round, pattern, sign, size);
        }
        rig_close(rig);
    }
    munmap(memory, room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
