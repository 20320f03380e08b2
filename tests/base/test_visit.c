/* SPDX-License-Identifier: Apache-2.0 */
/* Visits (base/visit.h): what was put aside during a visit is over only after it, on whatever thread; and a function of
 * the program's that ends its thread (base/call_program.h). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/call_program.h"
#include "base/visit.h"

static void advance_often(void)
{
    for (int i = 0; i < 8; i++)
        mr_visit_advance();
}

static void own_visits_hold_back(void **state)
{
    (void)state;
    uint64_t outer = mr_visit_begin(), inner = mr_visit_begin();
    uint64_t then = mr_visit_now();
    advance_often();
    assert_false(mr_visit_is_over(then));
    mr_visit_end(inner);
    advance_often();
    assert_false(mr_visit_is_over(then));
    mr_visit_end(outer);
    advance_often();
    assert_true(mr_visit_is_over(then));
}

static pthread_barrier_t barrier;

static void *visit(void *data)
{
    uint64_t outer = mr_visit_begin();
    pthread_barrier_wait(&barrier); /* inside */
    pthread_barrier_wait(&barrier);
    struct mr_visit_paused paused = mr_visit_pause();
    pthread_barrier_wait(&barrier); /* out of it for a while */
    pthread_barrier_wait(&barrier);
    mr_visit_resume(paused);
    pthread_barrier_wait(&barrier); /* inside of another */
    pthread_barrier_wait(&barrier);
    mr_visit_end(outer);
    return data;
}

static void other_threads_hold_back(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, visit, NULL), 0);
    pthread_barrier_wait(&barrier);
    uint64_t then = mr_visit_now();
    advance_often();
    assert_false(mr_visit_is_over(then));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    advance_often();
    assert_true(mr_visit_is_over(then));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    then = mr_visit_now();
    advance_often();
    assert_false(mr_visit_is_over(then));
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    advance_often();
    assert_true(mr_visit_is_over(then)); /* a thread that ended is no visitor */
    pthread_barrier_destroy(&barrier);
}

static int released;

static void release(void *thing)
{
    released += *(int *)thing;
}

static void references_go_with_the_visit(void **state)
{
    (void)state;
    int one = 1, ten = 10, hundred = 100;
    assert_false(mr_visit_keep(&one, release)); /* in no visit */
    uint64_t outer = mr_visit_begin();
    assert_true(mr_visit_keep(&one, release));
    assert_true(mr_visit_keep(&ten, release));
    struct mr_visit_paused paused = mr_visit_pause();
    uint64_t other = mr_visit_begin(); /* a call made meanwhile */
    assert_true(mr_visit_keep(&hundred, release));
    mr_visit_end(other);
    assert_int_equal(released, 100);
    mr_visit_resume(paused);
    assert_int_equal(released, 100);
    mr_visit_end(outer);
    assert_int_equal(released, 111);
    outer = mr_visit_begin();
    int kept = 0;
    while (kept < 100 && mr_visit_keep(&one, release))
        kept++;
    assert_true(kept >= 2 && kept < 100); /* there is an end to it */
    mr_visit_end(outer);
    assert_int_equal(released, 111 + kept);
}

static int cleaned;

static void clean(void *data)
{
    cleaned += *(int *)data;
}

static void returns(void *data)
{
    ++*(int *)data;
}

static void ends_its_thread(void *data)
{
    pthread_cleanup_push(clean, data);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

static void *call(void *data)
{
    int number = 41;
    if (!mr_call_program(returns, &number) || number != 42 || mr_call_program(ends_its_thread, &number))
        return NULL;
    return cleaned == 42 && mr_call_program(returns, &number) && number == 43 ? data : NULL;
}

static void a_thread_outlives_pthread_exit(void **state)
{
    (void)state;
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, call, &cleaned), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, &cleaned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_visits_hold_back),
        cmocka_unit_test(other_threads_hold_back),
        cmocka_unit_test(references_go_with_the_visit),
        cmocka_unit_test(a_thread_outlives_pthread_exit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
