/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Vectors that are stronger than weak move as one: scans by many blocks (CUB's, Thrust's, CuPy's) pass a sum and its
 * status in one vector of 16 bytes. A thread of the host writes or reads pairs that are always equal, 16 bytes at a
 * time, while a kernel reads or writes them in all the ways that addresses can vary.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "codegen_rig.h"

enum { PLACES = 64 };

typedef uint64_t pair __attribute__((vector_size(16)));

static volatile pair places[PLACES];
static uint32_t halves[32];
static atomic_bool over;

/* %p is where a lane reads or writes, and %i counts its rounds; what was seen in halves is counted in %bad. */
#define KERNEL(name, where, body) \
    ".visible .entry " name "(.param .u64 places, .param .u64 halves, .param .u32 rounds, .param .u64 step)\n{\n" \
    ".reg .b64 %p, %q, %o, %a, %b; .reg .b32 %t, %i, %n, %bad, %c<5>; .reg .b16 %h<5>; .reg .pred %d, %more;\n" \
    "ld.param.u64 %p, [places]; ld.param.u64 %q, [halves]; ld.param.u32 %n, [rounds]; mov.u32 %t, %tid.x; mov.u32 %bad, 0; mov.u32 %i, 0; mul.wide.u32 %o, %t, 4;\n" \
    "add.u64 %q, %q, %o; add.u64 %p, %p, 512; " where "\nmore:\n" body \
    "\nadd.u32 %i, %i, 1; setp.lt.u32 %more, %i, %n; @%more bra more;\n" \
    "st.global.u32 [%q], %bad; ret;\n}\n"
#define EQUAL(type, a, b) "setp.ne." type " %d, " a ", " b "; @%d add.u32 %bad, %bad, 1;\n"
#define READ "ld.relaxed.gpu.global.v2.u64 {%a, %b}, [%p];" EQUAL("u64", "%a", "%b")
#define WRITE "cvt.u64.u32 %a, %i; shl.b64 %b, %a, 32; or.b64 %a, %a, %b; st.relaxed.gpu.global.v2.u64 [%p], {%a, %a};"
#define DOWN "mul.wide.u32 %o, %t, 16; sub.u64 %p, %p, %o;"
#define UP "mul.wide.u32 %o, %t, 16; add.u64 %p, %p, %o;"
#define STEPPED "ld.param.u64 %a, [step]; cvt.u64.u32 %o, %t; mul.lo.u64 %o, %o, %a; add.u64 %p, %p, %o;"
#define SCATTERED "mul.lo.u32 %c1, %t, %t; and.b32 %c1, %c1, 31; mul.wide.u32 %o, %c1, 16; add.u64 %p, %p, %o;"

static const char text[] = ".version 8.3\n.target sm_80\n.address_size 64\n" KERNEL("read_same", "", READ)
KERNEL("read_down", DOWN, READ)
KERNEL("read_up", UP, READ)
KERNEL("read_stepped", STEPPED, READ)
KERNEL("read_scattered", SCATTERED, READ)
KERNEL("read_volatile", DOWN, "ld.volatile.global.v2.u64 {%a, %b}, [%p];" EQUAL("u64", "%a", "%b"))
KERNEL("read_cg", DOWN, "ld.global.cg.v2.u64 {%a, %b}, [%p];" EQUAL("u64", "%a", "%b"))
KERNEL("read_acquire", DOWN, "ld.acquire.gpu.v2.b64 {%a, %b}, [%p];" EQUAL("u64", "%a", "%b"))
KERNEL("read_quarters", DOWN,
       "ld.relaxed.gpu.global.v4.u32 {%c1, %c2, %c3, %c4}, [%p];" EQUAL("u32", "%c1", "%c3") EQUAL("u32", "%c2", "%c4"))
KERNEL("read_words", DOWN, "ld.relaxed.gpu.global.v2.u32 {%c1, %c2}, [%p];" EQUAL("u32", "%c1", "%c2"))
KERNEL("read_shorts", DOWN, "ld.relaxed.gpu.global.v4.u16 {%h1, %h2, %h3, %h4}, [%p];" EQUAL("u16", "%h1", "%h3"))
KERNEL("write_same", "", WRITE)
KERNEL("write_down", DOWN, WRITE)
KERNEL("write_up", UP, WRITE)
KERNEL("write_stepped", STEPPED, WRITE)
KERNEL("write_scattered", SCATTERED, WRITE)
KERNEL("write_first", "setp.ne.u32 %d, %t, 0; @%d exit;", WRITE)
KERNEL("write_quarters", DOWN, "st.relaxed.gpu.global.v4.u32 [%p], {%i, %i, %i, %i};")
KERNEL("write_words", DOWN, "st.release.gpu.global.v2.u32 [%p], {%i, %i};");

/* All four words of a place are equal. */
static void *write_places(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; !atomic_load(&over); i++)
        for (unsigned place = 0; place < PLACES; place++) {
            uint64_t word = (i & 0xffff) * 0x0001000100010001;
            places[place] = (pair){word, word};
        }
    return NULL;
}

/* How many were seen in halves: of a place that holds words of 32 bits in its first half only, that half's. */
static void *read_places(void *words)
{
    uint64_t bad = 0;
    while (!atomic_load(&over))
        for (unsigned place = 0; place < PLACES; place++) {
            pair seen = places[place];
            bad +=
                words ? (uint32_t)seen[0] != seen[0] >> 32 : seen[0] != seen[1] || (uint32_t)seen[0] != seen[0] >> 32;
        }
    return (void *)(uintptr_t)bad;
}

/* Returns how many were seen in halves, by either side. */
static uint64_t race(struct rig *rig, const char *kernel, void *(*against)(void *), void *words)
{
    struct {
        volatile pair *places;
        uint32_t *halves;
        uint32_t rounds;
        uint64_t step;
    } params = {places, halves, 3000, 16};
    pthread_t thread;
    void *seen = NULL;
    memset((void *)(uintptr_t)places, 0, sizeof places);
    memset(halves, 0, sizeof halves);
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, against, words), 0);
    rig_run(rig, kernel, 1, 32, &params, sizeof params);
    atomic_store(&over, true);
    assert_int_equal(pthread_join(thread, &seen), 0);
    uint64_t bad = against == read_places ? (uint64_t)(uintptr_t)seen : 0;
    for (unsigned lane = 0; lane < 32; lane++)
        bad += halves[lane];
    return bad;
}

static void nobody_sees_halves(void **unused)
{
    static const char *const reads[] = {"read_same",      "read_down",     "read_up",    "read_stepped",
                                        "read_scattered", "read_volatile", "read_cg",    "read_acquire",
                                        "read_quarters",  "read_words",    "read_shorts"};
    static const char *const writes[] = {"write_same",      "write_down",  "write_up",       "write_stepped",
                                         "write_scattered", "write_first", "write_quarters", "write_words"};
    struct rig *rig = rig_open(text);
    (void)unused;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        for (unsigned i = 0; i < sizeof reads / sizeof *reads; i++)
            if (race(rig, reads[i], write_places, NULL))
                fail_msg("%s, variant %u", reads[i], rig_variant);
        for (unsigned i = 0; i < sizeof writes / sizeof *writes; i++)
            if (race(rig, writes[i], read_places, strstr(writes[i], "words") ? rig : NULL))
                fail_msg("%s, variant %u", writes[i], rig_variant);
    }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nobody_sees_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
