/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the call: before messages, and the same as before once a function of the program's returns, which makes
 * calls itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/call.h"
#include "base/call_program.h"
#include "base/log_kept.h"

static char kept[MR_LOG_KEPT_BYTES + 64];

/* The messages since *from. */
static const char *messages(unsigned *from)
{
    size_t size;
    assert_true(mr_log_kept_copy(from, kept, sizeof kept, &size));
    return kept;
}

static void name_goes_first(void **state)
{
    unsigned from = mr_log_kept_next();
    (void)state;
    mr_call_name = NULL;
    mr_call_log(MR_LOG_INFO, "%d without", 1);
    mr_call_name = "cuOuter";
    mr_call_log(MR_LOG_INFO, "%d within", 2);
    const char *all = messages(&from);
    assert_non_null(strstr(all, "1 without\n"));
    assert_null(strstr(all, "null"));
    assert_true(strstr(all, "cuOuter") > strstr(all, "1 without"));
    assert_non_null(strstr(all, "cuOuter: 2 within\n"));
}

static void make_call(void *data)
{
    mr_call_name = "cuInner";
    mr_call_log(MR_LOG_INFO, "inside");
    if (data)
        pthread_exit(NULL);
}

static void functions_of_the_program(void **state)
{
    unsigned from = mr_log_kept_next();
    (void)state;
    mr_call_name = "cuOuter";
    assert_true(mr_call_program(make_call, NULL));
    mr_call_log(MR_LOG_INFO, "after one that returned");
    assert_false(mr_call_program(make_call, ""));
    mr_call_log(MR_LOG_INFO, "after one that ended the thread");
    const char *all = messages(&from);
    assert_non_null(strstr(all, "cuInner: inside\n"));
    assert_non_null(strstr(all, "cuOuter: after one that returned\n"));
    assert_non_null(strstr(all, "cuOuter: after one that ended the thread\n"));
}

static void *other_thread(void *data)
{
    const char *before = mr_call_name;
    mr_call_name = data;
    return (void *)(uintptr_t)before;
}

static void threads_have_their_own(void **state)
{
    pthread_t thread;
    void *before = "";
    (void)state;
    mr_call_name = "cuOuter";
    assert_int_equal(pthread_create(&thread, NULL, other_thread, "cuOther"), 0);
    assert_int_equal(pthread_join(thread, &before), 0);
    assert_null(before);
    assert_string_equal(mr_call_name, "cuOuter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_goes_first),
        cmocka_unit_test(functions_of_the_program),
        cmocka_unit_test(threads_have_their_own),
    };
    mr_log_setup_keeping();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
