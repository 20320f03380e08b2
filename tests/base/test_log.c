/* SPDX-License-Identifier: Apache-2.0 */
/* The log (base/log.h), the messages that are kept (base/log_kept.h), the call's name before a message (base/call.h).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/call.h"
#include "base/log.h"
#include "base/log_kept.h"

static char logged[] = "/tmp/millrace-log-XXXXXX";
static int log_file;
static char text[MR_LOG_KEPT_BYTES * 4];

static const char *news(void)
{
    size_t length = 0;
    for (ssize_t got; (got = read(log_file, text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    return text;
}

static void levels(void **state)
{
    (void)state;
    assert_true(mr_log_enabled(MR_LOG_WARN));
    assert_true(mr_log_enabled(MR_LOG_ERROR));
    mr_log(MR_LOG_ERROR, "%s %d", "one", 1);
    mr_log(MR_LOG_WARN, "two");
    mr_log(MR_LOG_INFO, "three");
    mr_log(MR_LOG_DEBUG, "four");
    assert_string_equal(news(), "millrace: error: one 1\nmillrace: warn: two\n");
    char line[5000];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    mr_log(MR_LOG_WARN, "%s", line);
    const char *said = news();
    assert_true(strlen(said) > 1000 && strlen(said) < 3000 &&
                said[strlen(said) - 1] == '\n'); /* cut, but still a line */
    mr_call_name = NULL;
    mr_call_log(MR_LOG_WARN, "no call");
    mr_call_name = "cuMemAlloc";
    mr_call_log(MR_LOG_WARN, "%d bytes", 5);
    mr_call_name = NULL;
    assert_string_equal(news(), "millrace: warn: no call\nmillrace: warn: cuMemAlloc: 5 bytes\n");
}

static void messages_are_kept(void **state)
{
    (void)state;
    char dump[MR_LOG_KEPT_BYTES];
    size_t written;
    mr_log(MR_LOG_WARN, "before");
    mr_log_setup_keeping();
    unsigned first = mr_log_kept_next(), from = first;
    assert_true(mr_log_kept_copy(&from, dump, sizeof dump, &written));
    assert_int_equal(written, 0);
    mr_log(MR_LOG_INFO, "kept, though it is not written");
    mr_log(MR_LOG_ERROR, "both");
    mr_log(MR_LOG_DEBUG, "neither");
    (void)news();
    assert_int_equal(mr_log_kept_next(), first + 2);
    assert_true(mr_log_kept_copy(&from, dump, sizeof dump, &written));
    assert_string_equal(dump, "info: kept, though it is not written\nerror: both\n");
    assert_int_equal(written, strlen(dump));
    assert_int_equal(from, first + 2);
    assert_true(mr_log_kept_copy(&from, dump, sizeof dump, &written));
    assert_int_equal(written, 0);
    from = first;
    /* Not all fit: a line says so, and the latest is there. */
    const char wanted[] = "[earlier messages are left out]\nerror: both\n";
    assert_true(mr_log_kept_copy(&from, dump, sizeof wanted, &written));
    assert_string_equal(dump, wanted);
    from = first;
    assert_false(mr_log_kept_copy(&from, dump, sizeof wanted - 1, &written));
    assert_int_equal(from, first);
    from = first + 3;
    assert_false(mr_log_kept_copy(&from, dump, sizeof dump, &written)); /* still to come */
    struct mr_log_kept_message message;
    assert_true(mr_log_kept_one(first + 1, &message));
    assert_string_equal(message.text, "error: both");
    assert_int_equal(message.level, MR_LOG_ERROR);
    assert_false(mr_log_kept_one(first + 2, &message));
}

static void the_oldest_are_forgotten(void **state)
{
    (void)state;
    static char dump[MR_LOG_KEPT_BYTES];
    size_t written;
    unsigned first = mr_log_kept_next();
    for (int i = 0; i < 3000; i++)
        mr_log(MR_LOG_INFO, "message number %d", i);
    assert_int_equal(mr_log_kept_next(), first + 3000);
    assert_true(mr_log_kept_copy(NULL, dump, sizeof dump, &written));
    assert_int_equal(strncmp(dump, "[earlier messages are left out]\n", 32), 0);
    assert_string_equal(dump + written - strlen("info: message number 2999\n"), "info: message number 2999\n");
    /* What is there has no gap. */
    int number = -1, last = -1;
    for (char *line = strchr(dump, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        assert_int_equal(sscanf(line, "info: message number %d\n", &number), 1);
        assert_true(last < 0 || number == last + 1);
        last = number;
    }
    struct mr_log_kept_message message;
    assert_false(mr_log_kept_one(first, &message));
    assert_true(mr_log_kept_one(first + 2999, &message));
    assert_string_equal(message.text, "info: message number 2999");
}

static unsigned heard, heard_last;
static int thing;

static void *from_here(void)
{
    return &thing;
}
static void hear(unsigned number)
{
    heard++;
    heard_last = number;
}

static void listeners_hear(void **state)
{
    (void)state;
    static const struct mr_log_listener listener = {from_here, hear};
    struct mr_log_kept_message message;
    mr_log_listen(&listener);
    unsigned next = mr_log_kept_next();
    mr_log(MR_LOG_INFO, "heard");
    mr_log(MR_LOG_DEBUG, "not heard");
    mr_log_listen(NULL);
    mr_log(MR_LOG_INFO, "nobody listens");
    assert_int_equal(heard, 1);
    assert_int_equal(heard_last, next);
    assert_true(mr_log_kept_one(next, &message));
    assert_ptr_equal(message.from, &thing);
    assert_true(mr_log_kept_one(next + 1, &message));
    assert_null(message.from);
}

#define THREADS 4
#define LINES 500

static void *write_lines(void *data)
{
    for (int i = 0; i < LINES; i++)
        mr_log(MR_LOG_WARN, "thread %d line %d of some length, so that lines could mix", *(int *)data, i);
    return data;
}

static void lines_never_mix(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS] = {0}, number, line, total = 0, end;
    (void)news();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    static char all[THREADS * LINES * 100];
    size_t length = 0;
    for (ssize_t got; (got = read(log_file, all + length, sizeof all - 1 - length)) > 0;)
        length += (size_t)got;
    for (char *at = all; *at; at += end, total++) {
        end = 0;
        assert_int_equal(sscanf(at, "millrace: warn: thread %d line %d of some length, so that lines could mix\n%n",
                                &number, &line, &end),
                         2);
        assert_true(end > 0 && number >= 0 && number < THREADS);
        assert_int_equal(line, next[number]++);
    }
    assert_int_equal(total, THREADS * LINES);
}

static int set_up(void **state)
{
    (void)state;
    log_file = mkstemp(logged);
    setenv("MILLRACE_LOG_FILE", logged, 1);
    setenv("MILLRACE_LOG", "warn", 1);
    mr_log_setup();
    return log_file < 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(log_file);
    return unlink(logged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(messages_are_kept),
        cmocka_unit_test(the_oldest_are_forgotten),
        cmocka_unit_test(listeners_hear),
        cmocka_unit_test(lines_never_mix),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
