/* SPDX-License-Identifier: Apache-2.0 */
/* The registry: what a handle finds, when it stops finding it, and that lookups hold while other threads create and
 * destroy. */
#include "support.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/visit.h"
#include "object/handle.h"

struct thing {
    struct mr_object object;
    uint64_t value;
};

static _Atomic int finished;

static void thing_finish(void *object)
{
    (void)object;
    atomic_fetch_add(&finished, 1);
}

static struct thing *thing_new(void)
{
    return mr_object_new(MR_KIND_MEMPOOL, sizeof(struct thing), thing_finish);
}

static void test_find(void **state)
{
    (void)state;
    struct thing *thing = thing_new();
    void *handle = mr_object_handle(thing);
    assert_ptr_equal(mr_object_find(handle, MR_KIND_MEMPOOL), thing);
    assert_null(mr_object_find(handle, MR_KIND_ARRAY));
    assert_null(mr_object_find(NULL, MR_KIND_MEMPOOL));
    assert_null(mr_object_find(thing, MR_KIND_MEMPOOL));
    assert_null(mr_object_find((void *)(uintptr_t)0xdead0000beefu, MR_KIND_MEMPOOL));
    assert_null(mr_object_find((void *)UINTPTR_MAX, MR_KIND_MEMPOOL));
    assert_int_equal(mr_object_kind(handle), MR_KIND_MEMPOOL);
    assert_int_equal(mr_object_kind(thing), 0);
    assert_true((uintptr_t)handle > 2 && (uintptr_t)handle < (UINT64_C(1) << 47));
    int before = atomic_load(&finished);
    assert_true(mr_object_retire(thing));
    assert_false(mr_object_retire(thing));
    assert_null(mr_object_find(handle, MR_KIND_MEMPOOL));
    assert_int_equal(atomic_load(&finished), before);
    mr_object_drop(thing);
    assert_int_equal(atomic_load(&finished), before + 1);
}

static void end(struct thing *thing)
{
    assert_true(mr_object_retire(thing));
    mr_object_drop(thing);
}

/* How many things are made and ended until one has the record: at most `most`. */
static unsigned rounds_until(const struct thing *record, unsigned most)
{
    for (unsigned i = 0; i < most; i++) {
        uint64_t visit = mr_visit_begin();
        struct thing *thing = thing_new();
        bool same = thing == record;
        end(thing);
        mr_visit_end(visit);
        if (same)
            return i;
    }
    return most;
}

static void *rounds_elsewhere(void *record)
{
    return (void *)(uintptr_t)rounds_until(record, 5000);
}

/* What a visit found is no other object before it ends; afterwards its record comes back. */
static void test_visits_keep_records(void **state)
{
    pthread_t thread;
    void *rounds;
    (void)state;
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        uint64_t visit = mr_visit_begin(), inner = mr_visit_begin();
        struct thing *thing = thing_new();
        thing->value = 5;
        end(thing);
        mr_visit_end(inner);
        if (elsewhere) {
            assert_int_equal(pthread_create(&thread, NULL, rounds_elsewhere, thing), 0);
            pthread_join(thread, &rounds);
        } else {
            rounds = (void *)(uintptr_t)rounds_until(thing, 5000);
        }
        assert_int_equal((uintptr_t)rounds, 5000);
        assert_int_equal(thing->value, 5);
        assert_false(mr_object_try_hold(thing));
        mr_visit_end(visit);
        assert_true(rounds_until(thing, 5000) < 5000);
    }
}

static void test_visits_keep_references(void **state)
{
    (void)state;
    struct thing *things[8];
    int before = atomic_load(&finished);
    for (int i = 0; i < 8; i++)
        things[i] = thing_new();
    uint64_t visit = mr_visit_begin();
    assert_ptr_equal(mr_object_borrow(mr_object_handle(things[0]), MR_KIND_MEMPOOL), things[0]);
    end(things[0]);
    /* A thread that waits keeps them too; visits meanwhile have their own. */
    struct mr_visit_paused paused = mr_visit_pause();
    uint64_t other = mr_visit_begin();
    assert_ptr_equal(mr_object_borrow(mr_object_handle(things[1]), MR_KIND_MEMPOOL), things[1]);
    end(things[1]);
    assert_int_equal(atomic_load(&finished), before);
    mr_visit_end(other);
    assert_int_equal(atomic_load(&finished), before + 1);
    mr_visit_resume(paused);
    assert_int_equal(atomic_load(&finished), before + 1);
    mr_visit_end(visit);
    assert_int_equal(atomic_load(&finished), before + 2);
    /* More than there is room for, and outside of a visit: nothing is kept too long. */
    visit = mr_visit_begin();
    for (int i = 2; i < 8; i++) {
        assert_ptr_equal(mr_object_borrow(mr_object_handle(things[i]), MR_KIND_MEMPOOL), things[i]);
        end(things[i]);
    }
    mr_visit_end(visit);
    assert_int_equal(atomic_load(&finished), before + 8);
    struct thing *last = thing_new();
    assert_ptr_equal(mr_object_borrow(mr_object_handle(last), MR_KIND_MEMPOOL), last);
    end(last);
    assert_int_equal(atomic_load(&finished), before + 9);
}

static void test_lives_until_last_reference(void **state)
{
    (void)state;
    struct thing *thing = thing_new();
    void *handle = mr_object_handle(thing);
    int before = atomic_load(&finished);
    assert_ptr_equal(mr_object_acquire(handle, MR_KIND_MEMPOOL), thing);
    assert_true(mr_object_retire(thing));
    mr_object_drop(thing);
    assert_null(mr_object_acquire(handle, MR_KIND_MEMPOOL));
    assert_int_equal(atomic_load(&finished), before);
    mr_object_drop(thing);
    assert_int_equal(atomic_load(&finished), before + 1);
    assert_false(mr_object_try_hold(thing));
}

static void test_many_handles_differ(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    static struct thing *things[MANY];
    static void *old[MANY];
    for (int i = 0; i < MANY; i++) {
        assert_non_null(things[i] = thing_new());
        assert_int_equal(things[i]->value, 0);
        things[i]->value = (uint64_t)i;
        old[i] = mr_object_handle(things[i]);
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(((struct thing *)mr_object_find(old[i], MR_KIND_MEMPOOL))->value, i);
    for (int i = 0; i < MANY; i++) {
        assert_true(mr_object_retire(things[i]));
        mr_object_drop(things[i]);
    }
    for (int i = 0; i < MANY; i++)
        assert_non_null(things[i] = thing_new());
    for (int i = 0; i < MANY; i++) {
        assert_null(mr_object_find(old[i], MR_KIND_MEMPOOL));
        assert_true(mr_object_retire(things[i]));
        mr_object_drop(things[i]);
    }
}

static void count_visit(void *object, void *data)
{
    (void)object;
    ++*(int *)data;
}

static void test_each(void **state)
{
    (void)state;
    int before = 0, after = 0;
    mr_object_each(MR_KIND_MEMPOOL, count_visit, &before);
    struct thing *one = thing_new(), *two = thing_new();
    mr_object_each(MR_KIND_MEMPOOL, count_visit, &after);
    assert_int_equal(after, before + 2);
    assert_true(mr_object_retire(one) && mr_object_retire(two));
    mr_object_drop(one);
    mr_object_drop(two);
}

/* One thread makes and ends objects and shows their handles; others acquire what they see. */
static _Atomic(void *) shown;
static _Atomic bool stop;

static void *looker(void *data)
{
    uintptr_t found = 0;
    (void)data;
    while (!atomic_load(&stop)) {
        struct thing *thing = mr_object_acquire(atomic_load(&shown), MR_KIND_MEMPOOL);
        if (thing) {
            found++;
            mr_object_drop(thing);
        }
    }
    return (void *)found;
}

static void test_races(void **state)
{
    (void)state;
    pthread_t threads[2];
    int before = atomic_load(&finished);
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, looker, NULL), 0);
    for (int i = 0; i < 3000; i++) {
        struct thing *thing = thing_new();
        atomic_store(&shown, mr_object_handle(thing));
        if (i % 64 == 0)
            sched_yield();
        assert_true(mr_object_retire(thing));
        mr_object_drop(thing);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&finished), before + 3000);
}

static void test_memory_short(void **state)
{
    (void)state;
    /* A kind that nothing else uses, so that its first object needs a chunk. */
    mr_alloc_fail_after(1);
    assert_null(mr_object_new(MR_KIND_SURFACE, sizeof(struct thing), NULL));
    mr_alloc_fail_after(0);
    struct thing *thing = mr_object_new(MR_KIND_SURFACE, sizeof *thing, NULL);
    assert_non_null(thing);
    assert_true(mr_object_retire(thing));
    mr_object_drop(thing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_lives_until_last_reference),
        cmocka_unit_test(test_visits_keep_records),
        cmocka_unit_test(test_visits_keep_references),
        cmocka_unit_test(test_many_handles_differ),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_memory_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
