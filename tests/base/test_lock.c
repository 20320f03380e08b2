/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that are checked (base/thread.h, lock_check.c): what is in order passes, and each thing that isn't ends the
 * process with a line that names it. Built with the check on, whatever the build. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mutex.h"
#include "base/thread.h"

static mr_lock exec = MR_LOCK_INIT(EXEC), memory = MR_LOCK_INIT(MEMORY), vmm = MR_LOCK_INIT(VMM),
               order = MR_LOCK_INIT(ORDER), legacy = MR_LOCK_INIT(LEGACY), stream = MR_LOCK_INIT(STREAM),
               other_stream = MR_LOCK_INIT(STREAM), engine = MR_LOCK_INIT(ENGINE), event = MR_LOCK_INIT(EVENT),
               pool = MR_LOCK_INIT(POOL), unranked;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;

static void on_thread(void *(*run)(void *))
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
    pthread_join(thread, NULL);
}

/* Runs `wrong` in a process of its own, which must end by SIGABRT and say `text`. */
static void assert_dies(void (*wrong)(void), const char *text)
{
    char said[8192];
    size_t length = 0;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        dup2(ends[1], 2);
        wrong();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; length < sizeof said - 1 && (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(said, text))
        fail_msg("wanted SIGABRT and \"%s\"; got status %#x and \"%s\"", text, (unsigned)status, said);
}

static void take_and_drop(mr_lock *outer, mr_lock *inner)
{
    mr_lock_take(outer);
    mr_lock_take(inner);
    MR_HELD(outer);
    MR_HELD(inner);
    mr_lock_drop(inner);
    mr_lock_drop(outer);
}

static void *take_engine(void *data)
{
    mr_lock_take(&engine);
    return data;
}

static void not_held(void)
{
    MR_HELD(&stream);
}
#ifdef __GLIBC__
static void mutex_not_held(void)
{
    MR_MUTEX_HELD(&mutex);
}
static void *take_mutex(void *data)
{
    pthread_mutex_lock(&mutex);
    return data;
}
static void mutex_held_by_another(void)
{
    on_thread(take_mutex);
    MR_MUTEX_HELD(&mutex);
}
static void read_not_written(void)
{
    pthread_rwlock_rdlock(&shared);
    MR_WRITE_HELD(&shared);
}
#endif
static void held_by_another(void)
{
    on_thread(take_engine);
    MR_HELD(&engine);
}
static void dropped_before(void)
{
    mr_lock_take(&stream);
    mr_lock_drop(&stream);
    MR_HELD(&stream);
}
static void wrong_order(void)
{
    take_and_drop(&engine, &stream);
}
static void two_of_a_rank(void)
{
    take_and_drop(&stream, &other_stream);
}
static void twice(void)
{
    take_and_drop(&stream, &stream);
}
static void without_rank(void)
{
    mr_lock_take(&unranked);
}
static void under_a_leaf(void)
{
    take_and_drop(&event, &pool);
}
static void leaf_beside_the_order(void)
{
    take_and_drop(&stream, &memory);
}
static void order_under_a_leaf(void)
{
    take_and_drop(&memory, &stream);
}
static void memory_the_other_way(void)
{
    take_and_drop(&memory, &vmm);
}
static void below_the_first(void)
{
    mr_lock_take(&legacy);
    mr_lock_take(&engine);
    mr_lock_take(&order);
}
static void dropped_by_another(void)
{
    on_thread(take_engine);
    mr_lock_drop(&engine);
}
static void dropped_twice(void)
{
    mr_lock_take(&stream);
    mr_lock_drop(&stream);
    mr_lock_drop(&stream);
}
static void under_a_tried_one(void)
{
    (void)!mr_lock_try(&engine);
    mr_lock_take(&stream);
}
static void waits_with_a_short_one(void)
{
    mr_lock_take(&exec);
    mr_lock_take(&stream);
    MR_MAY_WAIT();
}

static void order_passes(void **state)
{
    (void)state;
    take_and_drop(&order, &legacy);
    take_and_drop(&legacy, &stream);
    take_and_drop(&stream, &engine);
    take_and_drop(&stream, &pool);
    take_and_drop(&exec, &memory);
    take_and_drop(&vmm, &memory);
    take_and_drop(&memory, &pool);
    mr_lock_take(&order);
    mr_lock_take(&legacy);
    mr_lock_take(&stream);
    mr_lock_drop(&legacy); /* in any order */
    MR_HELD(&order);
    MR_HELD(&stream);
    mr_lock_drop(&order);
    mr_lock_drop(&stream);
    MR_MAY_WAIT();
    mr_lock_take(&exec);
    MR_MAY_WAIT();
    mr_lock_drop(&exec);
    mr_lock_take(&engine);
    assert_true(mr_lock_try(&stream)); /* never waits, so it needs no order */
    MR_HELD(&stream);
    mr_lock_drop(&stream);
    mr_lock_drop(&engine);
}

static void holder_is_asserted(void **state)
{
    (void)state;
    assert_dies(not_held, "must be held here: a stream: &stream; held by this thread: nothing");
    assert_dies(held_by_another, "must be held here: the engine");
    assert_dies(dropped_before, "must be held here: a stream");
    assert_dies(dropped_by_another, "dropped by a thread that doesn't hold it: the engine");
    assert_dies(dropped_twice, "dropped by a thread that doesn't hold it: a stream");
    assert_dies(
        waits_with_a_short_one,
        "held where a thread may wait: a stream: waits_with_a_short_one; held by this thread: an executable graph, a stream");
}

#ifdef __GLIBC__
static void mutexes_are_asserted(void **state)
{
    (void)state;
    pthread_mutex_lock(&mutex);
    MR_MUTEX_HELD(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_wrlock(&shared);
    MR_WRITE_HELD(&shared);
    pthread_rwlock_unlock(&shared);
    assert_dies(mutex_not_held, "must be held here: a mutex: &mutex");
    assert_dies(mutex_held_by_another, "must be held here: a mutex: &mutex");
    assert_dies(read_not_written, "must be held here: a mutex: &shared");
}
#endif

static void order_is_asserted(void **state)
{
    (void)state;
    assert_dies(wrong_order, "taken out of order: a stream; held by this thread: the engine");
    assert_dies(two_of_a_rank, "taken out of order: a stream");
    assert_dies(twice, "taken twice: a stream");
    assert_dies(without_rank, "taken before it has a rank");
    assert_dies(under_a_leaf, "taken out of order: a pool of records; held by this thread: an event");
    assert_dies(leaf_beside_the_order, "taken out of order: allocations; held by this thread: a stream");
    assert_dies(order_under_a_leaf, "taken out of order: a stream; held by this thread: allocations");
    assert_dies(memory_the_other_way, "taken out of order: handles and mappings");
    assert_dies(
        below_the_first,
        "taken out of order: a context's lists of streams; held by this thread: a context's legacy stream, the engine");
    assert_dies(under_a_tried_one, "taken out of order: a stream; held by this thread: the engine");
}

#define THREADS 4
#define ROUNDS 20000

static long counted;

static void *count(void *data)
{
    for (int i = 0; i < ROUNDS; i++) {
        mr_lock_take(&stream);
        MR_HELD(&stream);
        counted++;
        mr_lock_drop(&stream);
    }
    return data;
}

static void threads_exclude_each_other(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    counted = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counted, THREADS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_passes),         cmocka_unit_test(holder_is_asserted),
#ifdef __GLIBC__
        cmocka_unit_test(mutexes_are_asserted),
#endif
        cmocka_unit_test(order_is_asserted),    cmocka_unit_test(threads_exclude_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
