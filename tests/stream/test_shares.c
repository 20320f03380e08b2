/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a grid: each block is claimed once, by whom it belongs to or by a helper; and launches find all the threads
 * that they have work for. Eight workers (MILLRACE_WORKERS=8), however few processors there are. */
#include "support.h"

#include <unistd.h>

#include "base/clock.h"
#include "engine/shares.h"

enum { THREADS = 8, TABLES_AT_LEAST = 4, TABLES_AT_MOST = 1000 };

/* How often each block was claimed. */
struct tally {
    struct mr_shares *shares;
    uint64_t total;
    _Atomic unsigned char *times;
};

static void claim_all(const struct tally *tally, unsigned number)
{
    uint64_t first, end, most = 1;
    unsigned own = mr_shares_own(tally->shares, number);
    for (; mr_shares_claim(tally->shares, own, most, &first, &end); most = most * 3 % 17) {
        assert_true(first < end && end - first <= most && end <= tally->total);
        for (uint64_t i = first; i < end; i++)
            atomic_fetch_add(&tally->times[i], 1);
    }
    assert_false(mr_shares_claim(tally->shares, own, 1, &first, &end));
}

struct claimer {
    pthread_t thread;
    const struct tally *tally;
    unsigned number;
};

static void *claimer_main(void *data)
{
    struct claimer *claimer = data;
    claim_all(claimer->tally, claimer->number);
    return NULL;
}

static void check_once(uint64_t total, unsigned count, unsigned threads)
{
    struct tally tally = {.shares = mr_shares_take(total, count), .total = total, .times = calloc(total, 1)};
    struct claimer claimers[THREADS];
    assert_non_null(tally.shares);
    for (unsigned i = 0; i < threads; i++) {
        claimers[i] = (struct claimer){.tally = &tally, .number = i * 5};
        assert_int_equal(pthread_create(&claimers[i].thread, NULL, claimer_main, &claimers[i]), 0);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(claimers[i].thread, NULL);
    for (uint64_t i = 0; i < total; i++)
        assert_int_equal(tally.times[i], 1);
    mr_shares_give_back(tally.shares);
    free((void *)tally.times);
}

static void test_each_block_is_claimed_once(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= THREADS; threads += threads == 1 ? 2 : 5)
        for (unsigned count = 1; count <= 1000; count = count * 3 + 1)
            for (uint64_t total = 1; total <= 100000; total = total * 7 + 2)
                check_once(total, count, threads);
}

/* A thread alone gets its own share first, from the first block to the last, and then the others'. */
static void test_own_share_first(void **state)
{
    (void)state;
    struct mr_shares *shares = mr_shares_take(4003, 4); /* 1001, 1001, 1001, 1000 */
    uint64_t first, end, at = 2002, seen = 0;
    assert_non_null(shares);
    unsigned own = mr_shares_own(shares, 6);
    while (seen < 1001) {
        assert_true(mr_shares_claim(shares, own, 100, &first, &end));
        assert_true(first == at && end <= 3003);
        seen += end - first;
        at = end;
    }
    uint64_t progress = mr_shares_progress(shares);
    while (mr_shares_claim(shares, own, 100, &first, &end)) {
        assert_true(mr_shares_progress(shares) > progress);
        progress = mr_shares_progress(shares);
        assert_true(end <= 2002 || first >= 3003);
        seen += end - first;
    }
    assert_int_equal(seen, 4003);
    mr_shares_give_back(shares);
}

/* No two threads have the same share as long as there is another, and each has the one of its number if it is the first
 * to want it. */
static void test_who_owns_what(void **state)
{
    (void)state;
    struct mr_shares *shares = mr_shares_take(100, 4);
    assert_non_null(shares);
    assert_int_equal(mr_shares_own(shares, 0), 0);
    assert_int_equal(mr_shares_own(shares, 7), 3);
    assert_int_equal(mr_shares_own(shares, 8), 1);
    assert_int_equal(mr_shares_own(shares, 5), 2);
    assert_int_equal(mr_shares_own(shares, 5), 1);
    mr_shares_give_back(shares);
}

static void test_tables_run_out(void **state)
{
    (void)state;
    struct mr_shares *taken[TABLES_AT_MOST];
    unsigned count = 0;
    while ((taken[count] = mr_shares_take(10, 2)) != NULL)
        assert_true(++count < TABLES_AT_MOST);
    assert_true(count >= TABLES_AT_LEAST);
    mr_shares_give_back(taken[1]);
    assert_ptr_equal(mr_shares_take(20, 3), taken[1]);
    assert_null(mr_shares_take(20, 3));
    for (unsigned i = 0; i < count; i++)
        mr_shares_give_back(taken[i]);
    mr_shares_give_back(NULL);
}

/* ---- launches ---- */

struct meeting {
    _Atomic unsigned here;
    unsigned all;
};

/* Each of the blocks waits until all have begun, on as many threads. Nobody knows of this kernel that it waits, but
 * that its blocks are worth sharing out. */
static void kernel_meet(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct meeting *meeting = kernel_data(block);
    uint64_t begin = mr_clock_ns();
    atomic_fetch_add(&meeting->here, 1);
    while (atomic_load(&meeting->here) < meeting->all || mr_clock_ns() - begin < 40000)
        sched_yield();
}

/* Whether workers sleep, poll or have not been started: all that a grid has blocks for come, launch after launch. */
static void test_all_workers_come(void **state)
{
    (void)state;
    static struct mr_code code = {.function = kernel_meet, .stack_bytes = 16384};
    CUstream stream = new_stream(0);
    for (unsigned round = 0; round < 200; round++) {
        struct meeting meeting = {.all = 2 + round % (THREADS - 1)};
        if (round % 20 == 10)
            usleep(2000); /* long enough for some to fall asleep; nothing depends on it */
        OK(launch(stream, &code, meeting.all, &meeting));
        OK(cuStreamSynchronize(stream));
        assert_int_equal(meeting.here, meeting.all);
    }
    OK(cuStreamDestroy(stream));
}

struct crowd {
    _Atomic unsigned inside, most, run;
};

/* Takes its time, so that the monitor thinks that nothing goes on. */
static void kernel_crowd(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct crowd *crowd = kernel_data(block);
    unsigned inside = atomic_fetch_add(&crowd->inside, 1) + 1, most = atomic_load(&crowd->most);
    while (inside > most && !atomic_compare_exchange_weak(&crowd->most, &most, inside))
        ;
    usleep(4000);
    atomic_fetch_add(&crowd->run, 1);
    atomic_fetch_sub(&crowd->inside, 1);
}

/* Blocks that take long, and don't wait for each other, get no more threads than there are processors, whether the
 * program's thread is one of them or not. */
static void test_no_more_threads_than_help(void **state)
{
    (void)state;
    enum { BLOCKS = 10 * THREADS };
    static struct mr_code code = {.function = kernel_crowd, .stack_bytes = 16384};
    CUstream stream = new_stream(0);
    for (unsigned round = 0; round < 4; round++) {
        struct crowd crowd = {0};
        OK(launch(stream, &code, BLOCKS, &crowd));
        while (round % 2 && cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
            usleep(1000);
        OK(cuStreamSynchronize(stream));
        assert_int_equal(crowd.run, BLOCKS);
        assert_in_range(crowd.most, 1, THREADS);
    }
    OK(cuStreamDestroy(stream));
}

struct visits {
    _Atomic unsigned char times[5000];
};

static void kernel_visit(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct visits *visits = kernel_data(block);
    atomic_fetch_add(&visits->times[block->ctaid[0]], 1);
    for (volatile unsigned i = 0; i < 300; i++)
        ;
}

/* More grids at a time than there are tables: those without one are as good. */
static void test_each_block_runs_once(void **state)
{
    (void)state;
    enum { STREAMS = 24, ROUNDS = 4 };
    static struct mr_code code = {.function = kernel_visit, .stack_bytes = 16384};
    static struct visits visits[STREAMS];
    CUstream streams[STREAMS];
    for (unsigned i = 0; i < STREAMS; i++)
        streams[i] = new_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < STREAMS; i++)
            OK(launch(streams[i], &code, sizeof visits->times - i, &visits[i]));
        for (unsigned i = 0; i < STREAMS; i++) {
            OK(cuStreamSynchronize(streams[i]));
            for (unsigned k = 0; k < sizeof visits->times; k++)
                assert_int_equal(visits[i].times[k], k < sizeof visits->times - i ? round : 0);
        }
    }
    for (unsigned i = 0; i < STREAMS; i++)
        OK(cuStreamDestroy(streams[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_block_is_claimed_once),
        cmocka_unit_test(test_own_share_first),
        cmocka_unit_test(test_who_owns_what),
        cmocka_unit_test(test_tables_run_out),
        cmocka_unit_test(test_all_workers_come),
        cmocka_unit_test(test_no_more_threads_than_help),
        cmocka_unit_test(test_each_block_runs_once),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
