/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of records (base/pool.h): no record is given out twice, also when one thread makes what another frees, and a
 * thread that ends gives its records back. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/pool.h"

struct record {
    void *link[2];
    uint64_t owner, value;
};

static struct mr_pool pool = {.place = MR_POOL_MARKS,
                              .size = sizeof(struct record),
                              .link = offsetof(struct record, link),
                              .lock = MR_LOCK_INIT(POOL)};

#define MANY 5000

static int by_address(const void *one, const void *other)
{
    uintptr_t a = (uintptr_t)*(void *const *)one, b = (uintptr_t)*(void *const *)other;
    return a < b ? -1 : a > b;
}

static void records_are_apart(void **state)
{
    (void)state;
    static struct record *records[MANY];
    for (int i = 0; i < MANY; i++) {
        records[i] = mr_pool_get(&pool);
        assert_non_null(records[i]);
        assert_int_equal(records[i]->value, 0);
        records[i]->value = 1;
    }
    qsort(records, MANY, sizeof *records, by_address);
    for (int i = 1; i < MANY; i++)
        assert_true((char *)records[i] - (char *)records[i - 1] >= (ptrdiff_t)sizeof(struct record));
    for (int i = 0; i < MANY; i++)
        mr_pool_put(&pool, records[i]);
    /* They come back, with what they last held. */
    uint64_t live = mr_alloc_live();
    int again = 0;
    for (int i = 0; i < MANY; i++) {
        records[i] = mr_pool_get(&pool);
        again += records[i]->value == 1;
    }
    assert_true(again >= MANY - 2 * (int)MR_POOL_BATCH); /* but for a few new ones that the thread had */
    assert_int_equal(mr_alloc_live(), live);
    for (int i = 0; i < MANY; i++)
        mr_pool_put(&pool, records[i]);
}

#define THREADS 4
#define SLOTS 256
#define ROUNDS 30000

static _Atomic(struct record *) slots[SLOTS];
static _Atomic uint64_t wrong;

/* Puts its records where others find them, and frees what it finds there. */
static void *exchange(void *data)
{
    uint64_t self = (uint64_t)(uintptr_t)data, draw = self * 7919;
    for (int i = 0; i < ROUNDS; i++) {
        struct record *record = mr_pool_get(&pool);
        if (!record) {
            atomic_fetch_add(&wrong, 1);
            break;
        }
        record->owner = self;
        record->value = self + (uint64_t)i;
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        struct record *found = atomic_exchange(&slots[(draw >> 33) % SLOTS], record);
        if (found) {
            /* Whoever has a record has it alone: nobody changes it meanwhile. */
            if (found->value - found->owner >= ROUNDS)
                atomic_fetch_add(&wrong, 1);
            found->owner = found->value = UINT64_MAX;
            mr_pool_put(&pool, found);
        }
    }
    return NULL;
}

static void threads_trade(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, exchange, (void *)((uintptr_t)(i + 1) << 32)), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&wrong), 0);
    for (int i = 0; i < SLOTS; i++) {
        struct record *record = atomic_exchange(&slots[i], NULL);
        if (record)
            mr_pool_put(&pool, record);
    }
}

static void *take_some(void *data)
{
    struct record **records = data;
    for (int i = 0; i < 40; i++)
        records[i] = mr_pool_get(&pool);
    for (int i = 0; i < 40; i++)
        mr_pool_put(&pool, records[i]);
    return NULL;
}

static void a_thread_that_ends_gives_back(void **state)
{
    (void)state;
    static struct record *records[40];
    pthread_t thread;
    uint64_t live = 0;
    /* More threads, one after the other, than a slab has batches: if any kept its records, new slabs would be made. */
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pthread_create(&thread, NULL, take_some, records), 0);
        pthread_join(thread, NULL);
        if (i == 0)
            live = mr_alloc_live();
        assert_non_null(records[39]);
    }
    assert_int_equal(mr_alloc_live(), live);
}

static void short_memory_is_told(void **state)
{
    (void)state;
    static struct mr_pool other = {.place = MR_POOL_LAUNCHES, .size = 64, .link = 0, .lock = MR_LOCK_INIT(POOL)};
    mr_alloc_fail_after(1);
    assert_null(mr_pool_get(&other));
    mr_alloc_fail_after(0);
    void *record = mr_pool_get(&other);
    assert_non_null(record);
    mr_pool_put(&other, record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_apart),
        cmocka_unit_test(threads_trade),
        cmocka_unit_test(a_thread_that_ends_gives_back),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
