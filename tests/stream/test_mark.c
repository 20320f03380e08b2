/* SPDX-License-Identifier: Apache-2.0 */
/* Marks and events by themselves: completion once, waiters each notified once, sleeping threads, stamps. */
#include "support.h"

#include "event/event.h"

struct counted {
    struct mr_waiter waiter;
    _Atomic int calls;
};

static void count_notify(struct mr_waiter *waiter)
{
    atomic_fetch_add(&((struct counted *)waiter)->calls, 1);
}

static void test_complete(void **state)
{
    (void)state;
    struct mr_mark *mark = mr_mark_new();
    struct counted first = {.waiter.notify = count_notify}, late = {.waiter.notify = count_notify};
    assert_non_null(mark);
    assert_false(mr_mark_is_done(mark));
    assert_true(mr_mark_watch(mark, &first.waiter));
    mr_mark_complete(mark, CUDA_ERROR_LAUNCH_FAILED, 1234);
    assert_true(mr_mark_is_done(mark));
    assert_int_equal(mark->status, CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(mark->timestamp, 1234);
    assert_int_equal(first.calls, 1);
    assert_false(mr_mark_watch(mark, &late.waiter));
    assert_int_equal(late.calls, 0);
    mr_mark_sleep(mark, UINT64_MAX);
    mr_mark_drop(mark);
}

enum { WAITERS = 200 };

struct watching {
    struct mr_mark *mark;
    struct counted *waiters;
    _Atomic int registered;
};

static void *watcher(void *data)
{
    struct watching *watching = data;
    for (int i = 0; i < WAITERS; i++)
        if (mr_mark_watch(watching->mark, &watching->waiters[i].waiter))
            atomic_fetch_add(&watching->registered, 1);
    return NULL;
}

static void *sleeper(void *data)
{
    while (!mr_mark_is_done(data))
        mr_mark_sleep(data, UINT64_MAX);
    return NULL;
}

/* Threads register waiters while another completes the mark: whoever was told "registered" is notified once, the others
 * never. */
static void test_watch_races_with_completion(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        static struct counted waiters[2][WAITERS];
        struct watching watching[2];
        pthread_t threads[3];
        struct mr_mark *mark = mr_mark_new();
        assert_non_null(mark);
        memset(waiters, 0, sizeof waiters);
        for (int t = 0; t < 2; t++) {
            for (int i = 0; i < WAITERS; i++)
                waiters[t][i].waiter.notify = count_notify;
            watching[t] = (struct watching){.mark = mark, .waiters = waiters[t]};
            assert_int_equal(pthread_create(&threads[t], NULL, watcher, &watching[t]), 0);
        }
        assert_int_equal(pthread_create(&threads[2], NULL, sleeper, mark), 0);
        if (round % 2)
            sched_yield();
        mr_mark_complete(mark, CUDA_SUCCESS, 0);
        for (int t = 0; t < 3; t++)
            pthread_join(threads[t], NULL);
        for (int t = 0; t < 2; t++) {
            int calls = 0;
            for (int i = 0; i < WAITERS; i++) {
                assert_true(waiters[t][i].calls <= 1);
                calls += waiters[t][i].calls;
            }
            assert_int_equal(calls, watching[t].registered);
        }
        mr_mark_drop(mark);
    }
}

static void test_stamps(void **state)
{
    (void)state;
    CUevent handle;
    struct mr_event *event = mr_event_new(mr_context_current(), 0, &handle);
    assert_non_null(event);
    assert_int_equal(mr_event_stamp(event), MR_STAMP_NONE);
    assert_null(mr_event_mark(event));
    struct mr_mark *one = mr_mark_new(), *two = mr_mark_new(), *seen;
    mr_mark_hold(one);
    mr_event_set_mark(event, one);
    assert_int_equal(mr_event_stamp(event), MR_STAMP_PENDING);
    seen = mr_event_mark(event);
    assert_ptr_equal(seen, one);
    mr_mark_drop(seen);
    mr_mark_hold(two);
    mr_event_set_mark(event, two);
    mr_mark_complete(one, CUDA_SUCCESS, 500);
    assert_int_equal(mr_event_stamp(event), MR_STAMP_PENDING);
    mr_mark_complete(two, CUDA_SUCCESS, 700);
    assert_int_equal(mr_event_stamp(event), 700);
    assert_null(mr_event_mark(event));
    mr_event_set_stamp(event, 900);
    assert_int_equal(mr_event_stamp(event), 900);
    assert_int_equal(one->references, 1);
    assert_int_equal(two->references, 1);
    mr_mark_drop(one);
    mr_mark_drop(two);
    assert_true(mr_object_retire(event));
    mr_object_drop(event);
}

/* A complete recording replaces a pending one and isn't undone when that completes. */
static void test_stamp_replaces_pending(void **state)
{
    (void)state;
    CUevent handle;
    struct mr_event *event = mr_event_new(mr_context_current(), 0, &handle);
    struct mr_mark *mark = mr_mark_new();
    mr_mark_hold(mark);
    mr_event_set_mark(event, mark);
    mr_event_set_stamp(event, 900);
    mr_mark_complete(mark, CUDA_SUCCESS, 1000);
    assert_int_equal(mr_event_stamp(event), 900);
    mr_mark_drop(mark);
    assert_true(mr_object_retire(event));
    mr_object_drop(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_watch_races_with_completion),
        cmocka_unit_test(test_stamps),
        cmocka_unit_test(test_stamp_replaces_pending),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
