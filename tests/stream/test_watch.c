/* SPDX-License-Identifier: Apache-2.0 */
/* Watches by themselves: over once, whoever sees it; taken back; memory that goes; many at a time; the poller's rest.
 */
#include "support.h"

#include <sys/mman.h>
#include <time.h>

#include "base/sanitizer.h"
#include "engine/watch.h"

struct word_watch {
    struct mr_watch watch;
    _Atomic uint32_t *word;
    uint32_t wanted;
    _Atomic int over;
    struct word_watch *chain;
};

static bool word_ready(struct mr_watch *watch)
{
    struct word_watch *self = (struct word_watch *)watch;
    return atomic_load_explicit(self->word, memory_order_acquire) >= self->wanted;
}

static void word_done(struct mr_watch *watch)
{
    atomic_fetch_add(&((struct word_watch *)watch)->over, 1);
}

static struct word_watch make_watch(_Atomic uint32_t *word, uint32_t wanted)
{
    struct word_watch made = {.watch = {.ready = word_ready, .done = word_done, .word = (const void *)(uintptr_t)word},
                              .word = word,
                              .wanted = wanted};
    return made;
}

static void await(_Atomic int *count, int wanted)
{
    while (atomic_load(count) < wanted)
        sched_yield();
}

static void test_ready_is_not_added(void **state)
{
    (void)state;
    _Atomic uint32_t word = 5;
    struct word_watch watch = make_watch(&word, 5);
    assert_false(mr_watch_add(&watch.watch));
    assert_int_equal(watch.over, 0);
    assert_false(mr_watch_any());
}

static void test_ring(void **state)
{
    (void)state;
    static _Alignas(64) _Atomic uint32_t words[4];
    struct word_watch first = make_watch(&words[0], 1), second = make_watch(&words[2], 1);
    assert_true(mr_watch_add(&first.watch));
    assert_true(mr_watch_add(&second.watch));
    mr_watch_ring();
    assert_int_equal(first.over + second.over, 0);
    atomic_store(&words[2], 1);
    mr_watch_ring_at((void *)(uintptr_t)&words[3]); /* the same eight bytes */
    await(&second.over, 1);
    assert_int_equal(first.over, 0);
    atomic_store(&words[0], 1);
    mr_watch_ring();
    await(&first.over, 1);
    assert_int_equal(first.watch.status, CUDA_SUCCESS);
    assert_false(mr_watch_cancel(&first.watch));
    assert_false(mr_watch_any());
    atomic_store(&words[0], 0);
    atomic_store(&words[2], 0);
}

static void test_cancel(void **state)
{
    (void)state;
    static _Atomic uint32_t word;
    struct word_watch watch = make_watch(&word, 1);
    assert_true(mr_watch_add(&watch.watch));
    assert_true(mr_watch_cancel(&watch.watch));
    assert_false(mr_watch_cancel(&watch.watch));
    atomic_store(&word, 1);
    mr_watch_ring();
    assert_int_equal(watch.over, 0);
    atomic_store(&word, 0);
}

/* Nobody rings: the poller finds out. */
static void test_poller(void **state)
{
    (void)state;
    static _Atomic uint32_t word;
    atomic_store(&word, 0);
    for (uint32_t round = 1; round <= 50; round++) {
        struct word_watch watch = make_watch(&word, round);
        assert_true(mr_watch_add(&watch.watch));
        atomic_store(&word, round);
        await(&watch.over, 1);
        assert_int_equal(watch.over, 1);
    }
}

/* Without watches the poller looks no more. */
static void test_poller_rests(void **state)
{
    (void)state;
    assert_false(mr_watch_any());
    const struct timespec nap = {.tv_nsec = 20000000};
    uint64_t before = UINT64_MAX;
    while (before != mr_watch_rounds()) {
        before = mr_watch_rounds();
        nanosleep(&nap, NULL);
    }
}

enum { MANY = 10000 };

static void test_many(void **state)
{
    (void)state;
    static _Atomic uint32_t words[MANY], same;
    static struct word_watch watches[MANY];
    for (int round = 0; round < 2; round++) { /* on words of their own, then on one word */
        for (int i = 0; i < MANY; i++) {
            atomic_store(&words[i], 0);
            watches[i] = make_watch(round ? &same : &words[i], 1);
            assert_true(mr_watch_add(&watches[i].watch));
        }
        for (int i = 0; i < MANY; i++)
            atomic_store(&words[i], 1);
        atomic_store(&same, 1);
        for (int i = 0; i < MANY; i++)
            await(&watches[i].over, 1);
        for (int i = 0; i < MANY; i++)
            assert_int_equal(watches[i].over, 1);
        atomic_store(&same, 0);
        assert_false(mr_watch_any());
    }
}

/* Each watch that is over brings the next one about: no stack grows. */
static void chain_done(struct mr_watch *watch)
{
    struct word_watch *self = (struct word_watch *)watch;
    atomic_fetch_add(&self->over, 1);
    if (self->chain) {
        atomic_store(self->chain->word, 1);
        mr_watch_ring_at((void *)(uintptr_t)self->chain->word);
    }
}

static void test_chain(void **state)
{
    (void)state;
    static _Atomic uint32_t words[MANY];
    static struct word_watch watches[MANY];
    for (int i = 0; i < MANY; i++) {
        watches[i] = make_watch(&words[i], 1);
        watches[i].watch.done = chain_done;
        watches[i].chain = i + 1 < MANY ? &watches[i + 1] : NULL;
        assert_true(mr_watch_add(&watches[i].watch));
    }
    atomic_store(&words[0], 1);
    mr_watch_ring_at((void *)(uintptr_t)&words[0]);
    await(&watches[MANY - 1].over, 1);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(watches[i].over, 1);
}

/* Memory that the program takes away ends the watch, and only that. */
static void test_memory_goes(void **state)
{
    (void)state;
#if !defined(MR_ASAN) && !defined(MR_TSAN)
    static _Atomic uint32_t good;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    atomic_store(&good, 0);
    struct word_watch kept = make_watch(&good, 1), lost = make_watch(memory, 1), late = make_watch(memory, 1);
    assert_true(mr_watch_add(&kept.watch));
    assert_true(mr_watch_add(&lost.watch));
    assert_int_equal(munmap(memory, 4096), 0);
    await(&lost.over, 1);
    assert_int_equal(lost.watch.status, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(kept.over, 0);
    assert_false(mr_watch_add(&late.watch));
    assert_int_equal(late.watch.status, CUDA_ERROR_ILLEGAL_ADDRESS);
    atomic_store(&good, 1);
    await(&kept.over, 1);
    assert_int_equal(kept.watch.status, CUDA_SUCCESS);
#else
    skip();
#endif
}

/* Threads add, store, ring and take back, all at once, on a few words: each watch is over once, or was refused or taken
 * back. */
enum { THREADS = 4, ROUNDS = 3000 };
static _Atomic uint32_t shared_words[8];

static void *add_and_end(void *data)
{
    unsigned seed = (unsigned)(uintptr_t)data;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1664525u + 1013904223u;
        _Atomic uint32_t *word = &shared_words[(seed >> 16) % 8];
        struct word_watch watch = make_watch(word, atomic_load(word) + (seed >> 24) % 2);
        bool added = mr_watch_add(&watch.watch), taken = false;
        atomic_fetch_add(word, 1);
        if ((seed >> 28) % 3 == 0)
            mr_watch_ring();
        else if ((seed >> 28) % 3 == 1)
            mr_watch_ring_at((void *)(uintptr_t)word);
        else if (added)
            taken = mr_watch_cancel(&watch.watch);
        if (added && !taken)
            await(&watch.over, 1);
        if (watch.over != (added && !taken))
            return "a watch was over when it shouldn't, or more than once";
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_end, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_false(mr_watch_any());
}

static int begin(void **state)
{
    return support_begin(state) == 0 && mr_watch_begin() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_is_not_added),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_poller),
        cmocka_unit_test(test_poller_rests),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_memory_goes),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, begin, support_end);
}
