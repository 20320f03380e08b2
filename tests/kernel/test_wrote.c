/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch has written until now, compared with an array that has a byte for each; by several threads at once; and
 * with little memory. */
#include "kernel/wrote.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

#define ROOM (1u << 16)
#define NEAR (UINT64_C(0x7f0000000000) - ROOM / 2) /* two chunks */
#define THREADS 4

static unsigned char wanted[ROOM];
static uint64_t seed = 1;

static uint32_t some(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* All gaps from `from` up to `to` - 1 are those of the array. */
static void compare(struct mr_wrote *wrote, uint32_t from, uint32_t to)
{
    uint64_t gap, gap_end;
    uint32_t at = from;
    while (mr_wrote_gap(wrote, NEAR + at, NEAR + to, &gap, &gap_end)) {
        assert_true(gap >= NEAR + at && gap < gap_end && gap_end <= NEAR + to);
        for (; at < gap - NEAR; at++)
            assert_int_equal(wanted[at], 1);
        for (; at < gap_end - NEAR; at++)
            assert_int_equal(wanted[at], 0);
    }
    for (; at < to; at++)
        assert_int_equal(wanted[at], 1);
}

static void test_model(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct mr_wrote *wrote = mr_wrote_new();
        assert_non_null(wrote);
        memset(wanted, 0, ROOM);
        for (unsigned i = 0; i < 400; i++) {
            uint32_t from = some(ROOM), most = i % 3 == 0 ? 9000 : 70, to = from + some(most);
            to = to > ROOM ? ROOM : to;
            memset(wanted + from, 1, to - from);
            mr_wrote_add(wrote, NEAR + from, NEAR + to);
            from = some(ROOM);
            compare(wrote, from, from + some(ROOM - from));
        }
        compare(wrote, 0, ROOM);
        assert_false(mr_wrote_is_short(wrote));
        mr_wrote_free(wrote);
    }
    assert_int_equal(mr_alloc_live(), 0);
}

/* Each thread writes its own bytes of every word. */
struct writer {
    pthread_t thread;
    struct mr_wrote *wrote;
    unsigned number;
};

static void *write_all(void *data)
{
    struct writer *writer = data;
    for (uint64_t at = writer->number; at < ROOM; at += THREADS)
        mr_wrote_add(writer->wrote, NEAR + at, NEAR + at + 1);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct mr_wrote *wrote = mr_wrote_new();
        struct writer writers[THREADS];
        uint64_t gap, gap_end;
        for (unsigned i = 0; i < THREADS; i++) {
            writers[i] = (struct writer){.wrote = wrote, .number = i};
            assert_int_equal(pthread_create(&writers[i].thread, NULL, write_all, &writers[i]), 0);
        }
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(writers[i].thread, NULL);
        assert_true(mr_wrote_gap(wrote, NEAR - 8, NEAR + ROOM, &gap, &gap_end));
        assert_true(gap == NEAR - 8 && gap_end == NEAR);
        assert_false(mr_wrote_gap(wrote, NEAR, NEAR + ROOM, &gap, &gap_end));
        mr_wrote_free(wrote);
    }
    assert_int_equal(mr_alloc_live(), 0);
}

static void test_short(void **state)
{
    (void)state;
    uint64_t gap, gap_end;
    mr_wrote_most = 40000;
    struct mr_wrote *wrote = mr_wrote_new(), *other;
    assert_non_null(wrote);
    mr_wrote_add(wrote, NEAR, NEAR + 1);
    assert_true(mr_wrote_gap(wrote, NEAR, NEAR + 8, &gap, &gap_end));
    mr_wrote_add(wrote, NEAR, NEAR + ((uint64_t)1 << 24));
    assert_true(mr_wrote_is_short(wrote));
    assert_false(mr_wrote_gap(wrote, NEAR, NEAR + 8, &gap, &gap_end));
    mr_wrote_free(wrote);
    mr_wrote_most = 100;
    assert_null(mr_wrote_new());
    mr_wrote_most = (size_t)256 << 20;
    other = mr_wrote_new();
    mr_alloc_fail_after(1);
    mr_wrote_add(other, NEAR, NEAR + 1);
    assert_true(mr_wrote_is_short(other));
    mr_wrote_free(other);
    assert_int_equal(mr_alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
