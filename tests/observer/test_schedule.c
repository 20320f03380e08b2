/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules (src/libs/observer/schedule.h) over a model: host threads, streams, and an engine with one worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libs/observer/schedule.h"

/* ---- the model ---- */

/* What a host thread does, one letter each: A to Z queue the work of that name; '.' is another call; '0' to '7'
 * synchronise with a stream; '?' asks, until it is so, whether all is done. A work's stream is streams[work], and it
 * comes after the works of its stream and after the work after[work], if that is a letter. */
struct model {
    const char *threads[2];
    char streams[26], after[26];
};

struct run {
    const struct model *model;
    struct obs_schedule *schedule;
    size_t at[2];          /* the next letter of each thread */
    uint64_t calls[2];
    enum obs_host host[2];
    char queued[64];       /* works in the order in which they were queued */
    bool done[26];
    char log[128];         /* works as they were done; a small letter: a thread came to that call */
    size_t length, asked;  /* asked: asks without an answer of a thread that polls */
};

static void note(struct run *run, char what)
{
    assert_true(run->length + 1 < sizeof run->log);
    run->log[run->length++] = what;
}

static bool all_done(const struct run *run, int stream)
{
    for (const char *work = run->queued; *work; work++)
        if (!run->done[*work - 'A'] && (stream < 0 || run->model->streams[*work - 'A'] == '0' + stream))
            return false;
    return true;
}

static bool is_ready(const struct run *run, char work)
{
    char after = run->model->after[work - 'A'];
    if (run->done[work - 'A'] || (after && !run->done[after - 'A']))
        return false;
    for (const char *before = run->queued; *before != work; before++)
        if (run->model->streams[*before - 'A'] == run->model->streams[work - 'A'] && !run->done[*before - 'A'])
            return false;
    return true;
}

static void set_host(struct run *run, int thread, enum obs_host host, uint64_t wanted)
{
    run->host[thread] = host;
    obs_schedule_host(run->schedule, (uint32_t)thread + 1, host, wanted);
}

/* One call of a thread that runs; false at its end. */
static bool call(struct run *run, int thread)
{
    char what = run->model->threads[thread][run->at[thread]];
    uint32_t number = (uint32_t)thread + 1;
    if (!what) {
        set_host(run, thread, OBS_HOST_GONE, 0);
        return false;
    }
    if (what == '?' && !all_done(run, -1)) {
        run->calls[thread]++;
        if (++run->asked >= 8)
            set_host(run, thread, OBS_HOST_POLLS, 0);
        return true;
    }
    if (what >= '0' && what <= '7' && !all_done(run, what - '0')) {
        set_host(run, thread, OBS_HOST_WAITS, (uint64_t)(what - '0' + 100));
        return true;
    }
    run->at[thread]++;
    run->calls[thread]++;
    if (what >= 'A' && what <= 'Z') {
        run->queued[strlen(run->queued)] = what;
        note(run, (char)(what - 'A' + 'a'));
        assert_true(obs_schedule_bound(run->schedule, 1000 + (uint64_t)what,
                                       (uint64_t)(run->model->streams[what - 'A'] - '0' + 100), number,
                                       run->calls[thread]));
    }
    if (obs_schedule_left(run->schedule, number, run->calls[thread]))
        obs_schedule_forget(run->schedule);
    if (obs_schedule_stops(run->schedule) && !all_done(run, -1))
        set_host(run, thread, OBS_HOST_STOPS, 0);
    return true;
}

static void carry_out(struct run *run, char work)
{
    note(run, work);
    run->done[work - 'A'] = true;
    (void)obs_schedule_ended(run->schedule, 1000 + (uint64_t)work, 0);
    obs_schedule_forget(run->schedule);
    for (int i = 0; i < 2; i++)
        if (run->host[i] == OBS_HOST_WAITS && all_done(run, run->model->threads[i][run->at[i]] - '0'))
            set_host(run, i, OBS_HOST_RUNS, 0);
}

/* The worker asks for all that is ready; what may begin is done. False: nothing was. */
static bool worker(struct run *run)
{
    for (const char *work = run->queued; *work; work++)
        if (is_ready(run, *work) && obs_schedule_ask(run->schedule, 1000 + (uint64_t)*work, 0)) {
            carry_out(run, *work);
            return true;
        }
    return false;
}

/* Runs the model to its end; `log` is what happened. Returns the counts. */
static struct obs_schedule_counts play(const struct model *model, const char *options, char log[128])
{
    struct run run = {.model = model};
    struct obs_schedule_options read;
    char problem[256] = "";
    assert_true(obs_schedule_read(options, &read, problem, sizeof problem));
    run.schedule = obs_schedule_new(&read);
    assert_non_null(run.schedule);
    for (int i = 0; i < 2; i++)
        set_host(&run, i, model->threads[i] ? OBS_HOST_RUNS : OBS_HOST_GONE, 0);
    for (int round = 0;; round++) {
        bool moved = false;
        assert_true(round < 10000);
        for (int i = 0; i < 2; i++)
            while (run.host[i] == OBS_HOST_RUNS && call(&run, i))
                moved = true;
        if (worker(&run))
            continue;
        enum obs_decision decision = obs_schedule_rest(run.schedule);
        if (decision == OBS_NOTHING && !moved)
            decision = obs_schedule_overdue(run.schedule);
        if (decision == OBS_THREAD)
            for (int i = 0; i < 2; i++)
                if (run.host[i] != OBS_HOST_GONE && obs_schedule_runs(run.schedule, (uint32_t)i + 1))
                    run.host[i] = OBS_HOST_RUNS;
        if (decision == OBS_WORK)
            obs_schedule_forget(run.schedule);
        if (decision == OBS_NOTHING && !moved)
            break;
    }
    assert_false(obs_schedule_any(run.schedule));
    for (int i = 0; i < 2; i++)
        assert_true(!model->threads[i] || run.host[i] == OBS_HOST_GONE);
    run.log[run.length] = 0;
    memcpy(log, run.log, sizeof run.log);
    struct obs_schedule_counts counts = obs_schedule_count(run.schedule);
    obs_schedule_free(run.schedule);
    return counts;
}

/* Three streams, one work each, then a second one in the first stream; the host waits for the second stream, then for
 * all. */
static const struct model plain_model = {{"ABCD1012", NULL}, "0120", ""};

/* ---- the tests ---- */

static void eager_does_all_before_the_host_goes_on(void **state)
{
    (void)state;
    char log[128];
    play(&plain_model, "eager", log);
    assert_string_equal(log, "aAbBcCdD");
}

static void late_does_what_the_host_waits_for(void **state)
{
    (void)state;
    char log[128];
    play(&plain_model, "late", log);
    assert_string_equal(log, "abcdBADC");
    /* A work that another one stands before. */
    static const struct model blocked = {{"ABC201", NULL}, "012", "\0\0A"};
    play(&blocked, "late", log);
    assert_string_equal(log, "abcACB");
}

static void reversed_does_the_newest_first(void **state)
{
    (void)state;
    char log[128];
    play(&plain_model, "reversed", log);
    assert_string_equal(log, "abcdCBAD");
}

static void the_seed_decides(void **state)
{
    (void)state;
    char seen[256][128];
    size_t count = 0;
    for (int seed = 0; seed < 200; seed++) {
        char options[64], log[128], again[128];
        snprintf(options, sizeof options, "random:seed=%d:length=8", seed);
        struct obs_schedule_counts one = play(&plain_model, options, log), two = play(&plain_model, options, again);
        assert_string_equal(log, again);
        assert_true(one.trace == two.trace && one.decisions == two.decisions);
        size_t i = 0;
        while (i < count && strcmp(seen[i], log) != 0)
            i++;
        if (i == count)
            strcpy(seen[count++], log);
        /* Each work once, in the order of its stream. */
        assert_int_equal(strlen(log), 8 - (strchr(log, 'C') == NULL));
        assert_true(strchr(log, 'A') < strchr(log, 'D') && strchr(log, 'a') < strchr(log, 'A'));
    }
    assert_true(count > 12);
}

/* A fault that shows in one order of many: C, queued last, is done before A, and A before B. Seeds find it. */
static void random_schedules_reach_rare_orders(void **state)
{
    (void)state;
    int found = 0;
    for (int seed = 0; seed < 300; seed++) {
        char options[64], log[128];
        snprintf(options, sizeof options, "random:seed=%d:length=8", seed);
        play(&plain_model, options, log);
        found += strchr(log, 'C') && strchr(log, 'C') < strchr(log, 'A') && strchr(log, 'A') < strchr(log, 'B');
    }
    assert_true(found >= 3);
}

/* Without a change point the works of a stream come one behind the other; with one, a stream may be left between two.
 */
static void depth_allows_preemptions(void **state)
{
    (void)state;
    static const struct model model = {{"ABCDEF01", NULL}, "000111", ""};
    int apart[2] = {0};
    for (int seed = 0; seed < 300; seed++)
        for (int depth = 1; depth <= 2; depth++) {
            char options[64], log[128], works[8];
            size_t count = 0;
            snprintf(options, sizeof options, "random:seed=%d:depth=%d:length=10", seed, depth);
            play(&model, options, log);
            for (const char *at = log; *at; at++)
                if (*at >= 'A' && *at <= 'Z')
                    works[count++] = *at;
            works[count] = 0;
            apart[depth - 1] += strcmp(works, "ABCDEF") != 0 && strcmp(works, "DEFABC") != 0;
        }
    assert_int_equal(apart[0], 0);
    assert_true(apart[1] > 30);
}

static void a_thread_that_polls_holds_nothing_up(void **state)
{
    (void)state;
    static const struct model model = {{"AB?C?", NULL}, "011", ""};
    static const char *const options[] = {"plain",
                                          "eager",
                                          "late",
                                          "reversed",
                                          "random:seed=1",
                                          "random:seed=2",
                                          "random:seed=3:depth=1",
                                          "random:seed=4:depth=8:length=4"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char log[128];
        struct obs_schedule_counts counts = play(&model, options[i], log);
        assert_int_equal(counts.overdue, 0);
        assert_int_equal(strlen(log), 6);
    }
}

static void a_witness_holds_one_until_the_other_is_done(void **state)
{
    (void)state;
    char log[128];
    struct obs_schedule_counts counts = play(&plain_model, "plain", log);
    assert_string_equal(log, "abcdABCD");
    counts = play(&plain_model, "plain:hold=1.1:until=1.3", log); /* A until C */
    assert_string_equal(log, "abcdBCAD");
    assert_true(counts.ended && counts.until_ended && counts.let_go == 0 && counts.held);
    counts = play(&plain_model, "plain:hold=1.3:until=1.1", log); /* the plain order, forced */
    assert_string_equal(log, "abcdABCD");
    assert_false(counts.held);
    counts = play(&plain_model, "plain:hold=1.1.1:until=1.3.1", log); /* the works of those calls */
    assert_string_equal(log, "abcdBCAD");
}

static void what_everything_waits_for_is_let_go(void **state)
{
    (void)state;
    char log[128];
    struct obs_schedule_counts counts = play(&plain_model, "plain:hold=1.1:until=1.4", log); /* D comes after A */
    assert_string_equal(log, "abcdBCAD");
    assert_true(counts.let_go == 1 && counts.ended && counts.until_ended && counts.overdue == 0);
    /* The host comes to the second call only once the first is done. */
    static const struct model model = {{"A0B1", NULL}, "01", ""};
    counts = play(&model, "plain:hold=1.1:until=1.3", log);
    assert_string_equal(log, "aAbB");
    assert_true(counts.let_go == 1);
    /* Calls that never come. */
    counts = play(&model, "plain:hold=1.77:until=1.78", log);
    assert_true(!counts.began && !counts.until_began && counts.let_go == 0);
    counts = play(&model, "plain:hold=1.1:until=9.1", log);
    assert_true(counts.began && !counts.until_began && counts.let_go == 1);
}

/* Another thread still has the operation to queue that the first one's work is held for: no reason to let go. */
static void a_thread_that_runs_may_still_come_to_it(void **state)
{
    (void)state;
    char log[128];
    static const struct model model = {{"A0", "..B1"}, "01", ""};
    struct obs_schedule_counts counts = play(&model, "plain:hold=1.1:until=2.3", log);
    assert_string_equal(log, "abBA");
    assert_int_equal(counts.let_go, 0);
}

/* Steps of a run: asked for by node, and the run itself by node 0. */
static void steps_are_held_by_their_node(void **state)
{
    (void)state;
    struct obs_schedule_options options;
    char problem[256];
    assert_true(obs_schedule_read("plain:hold=1.5@a0:until=1.5@b0", &options, problem, sizeof problem));
    struct obs_schedule *schedule = obs_schedule_new(&options);
    obs_schedule_host(schedule, 1, OBS_HOST_RUNS, 0);
    assert_true(obs_schedule_bound(schedule, 7, 3, 1, 5));
    assert_false(obs_schedule_left(schedule, 1, 5));
    assert_true(obs_schedule_ask(schedule, 7, 0));
    assert_false(obs_schedule_ask(schedule, 7, 0xa0));
    assert_true(obs_schedule_ask(schedule, 7, 0xc0));
    assert_true(obs_schedule_ask(schedule, 7, 0xb0));
    assert_int_equal(obs_schedule_role(schedule, 7, 0xa0), OBS_HELD);
    assert_int_equal(obs_schedule_role(schedule, 7, 0xb0), OBS_AWAITED);
    assert_int_equal(obs_schedule_role(schedule, 7, 0), OBS_NO_ROLE);
    assert_false(obs_schedule_ended(schedule, 7, 0xc0));
    assert_int_equal(obs_schedule_rest(schedule), OBS_NOTHING);
    assert_true(obs_schedule_ended(schedule, 7, 0xb0));
    assert_true(obs_schedule_ask(schedule, 7, 0xa0));
    assert_false(obs_schedule_ended(schedule, 7, 0xa0));
    assert_false(obs_schedule_ended(schedule, 7, 0));
    assert_true(obs_schedule_count(schedule).ended);
    obs_schedule_free(schedule);
}

/* A work is held until the host's code behind a call is over: until the thread's next call, or its end. */
static void code_is_an_operation(void **state)
{
    (void)state;
    struct obs_schedule_options options;
    char problem[256];
    assert_true(obs_schedule_read("plain:hold=1.5:until=1.6+", &options, problem, sizeof problem));
    for (int ends = 0; ends < 2; ends++) {
        struct obs_schedule *schedule = obs_schedule_new(&options);
        obs_schedule_host(schedule, 1, OBS_HOST_RUNS, 0);
        assert_true(obs_schedule_bound(schedule, 7, 3, 1, 5));
        assert_false(obs_schedule_left(schedule, 1, 5));
        assert_false(obs_schedule_ask(schedule, 7, 0));
        assert_false(obs_schedule_entered(schedule, 1, 6));
        assert_false(obs_schedule_left(schedule, 1, 6));
        assert_int_equal(obs_schedule_code_role(schedule, 1, 6), OBS_AWAITED);
        assert_int_equal(obs_schedule_code_role(schedule, 1, 5), OBS_NO_ROLE);
        assert_false(obs_schedule_entered(schedule, 2, 7)); /* another thread */
        assert_false(obs_schedule_ask(schedule, 7, 0));
        assert_true(ends ? obs_schedule_gone(schedule, 1) : obs_schedule_entered(schedule, 1, 7));
        assert_true(obs_schedule_ask(schedule, 7, 0));
        struct obs_schedule_counts counts = obs_schedule_count(schedule);
        assert_true(counts.held && counts.began && counts.until_began && counts.until_ended && !counts.let_go);
        obs_schedule_free(schedule);
    }
}

/* A thread is held behind a call until a work is done; or it goes on, because everything waits for it. */
static void code_is_held(void **state)
{
    (void)state;
    struct obs_schedule_options options;
    char problem[256];
    assert_true(obs_schedule_read("plain:hold=1.5+:until=2.1", &options, problem, sizeof problem));
    for (int waits = 0; waits < 2; waits++) {
        struct obs_schedule *schedule = obs_schedule_new(&options);
        obs_schedule_host(schedule, 1, OBS_HOST_RUNS, 0);
        obs_schedule_host(schedule, 2, OBS_HOST_RUNS, 0);
        assert_false(obs_schedule_holds_code(schedule, 1, 4));
        assert_false(obs_schedule_left(schedule, 1, 5));
        assert_true(obs_schedule_holds_code(schedule, 1, 5));
        obs_schedule_host(schedule, 1, OBS_HOST_HELD, 0);
        assert_int_equal(obs_schedule_rest(schedule), OBS_NOTHING);
        assert_false(obs_schedule_runs(schedule, 1));
        if (waits) {
            obs_schedule_host(schedule, 2, OBS_HOST_WAITS, 0);
            assert_int_equal(obs_schedule_rest(schedule), OBS_WORK);
        } else {
            assert_true(obs_schedule_bound(schedule, 7, 3, 2, 1));
            assert_true(obs_schedule_ask(schedule, 7, 0));
            assert_false(obs_schedule_left(schedule, 2, 1));
            assert_true(obs_schedule_ended(schedule, 7, 0));
        }
        assert_true(obs_schedule_runs(schedule, 1));
        assert_int_equal(obs_schedule_count(schedule).let_go, waits);
        assert_false(obs_schedule_holds_code(schedule, 1, 5));
        obs_schedule_free(schedule);
    }
}

/* Held until nothing else can go on. */
static void all_the_rest_comes_first(void **state)
{
    (void)state;
    struct obs_schedule_options options;
    char problem[256];
    assert_true(obs_schedule_read("plain:hold=1.1:until=rest", &options, problem, sizeof problem));
    struct obs_schedule *schedule = obs_schedule_new(&options);
    obs_schedule_host(schedule, 1, OBS_HOST_RUNS, 0);
    assert_true(obs_schedule_bound(schedule, 7, 3, 1, 1) && obs_schedule_bound(schedule, 8, 4, 1, 2));
    assert_false(obs_schedule_ask(schedule, 7, 0));
    assert_true(obs_schedule_ask(schedule, 8, 0));
    assert_false(obs_schedule_ended(schedule, 8, 0));
    assert_int_equal(obs_schedule_rest(schedule), OBS_NOTHING);
    obs_schedule_host(schedule, 1, OBS_HOST_WAITS, 3);
    assert_int_equal(obs_schedule_rest(schedule), OBS_WORK);
    assert_true(obs_schedule_ask(schedule, 7, 0));
    struct obs_schedule_counts counts = obs_schedule_count(schedule);
    assert_true(counts.held && counts.began && counts.until_began && !counts.let_go);
    obs_schedule_free(schedule);
}

/* With eager a witness's operations are told apart, and not held for each other. */
static void eager_looks_at_a_witness(void **state)
{
    (void)state;
    struct obs_schedule_options options;
    char problem[256];
    assert_true(obs_schedule_read("eager:hold=1.1:until=1.2", &options, problem, sizeof problem));
    struct obs_schedule *schedule = obs_schedule_new(&options);
    obs_schedule_host(schedule, 1, OBS_HOST_RUNS, 0);
    assert_true(obs_schedule_bound(schedule, 7, 3, 1, 1));
    assert_int_equal(obs_schedule_role(schedule, 7, 0), OBS_HELD);
    assert_false(obs_schedule_ask(schedule, 7, 0));
    assert_false(obs_schedule_left(schedule, 1, 1));
    obs_schedule_host(schedule, 1, OBS_HOST_STOPS, 0);
    assert_int_equal(obs_schedule_rest(schedule), OBS_WORK);
    obs_schedule_forget(schedule);
    assert_true(obs_schedule_ask(schedule, 7, 0));
    assert_int_equal(obs_schedule_count(schedule).let_go, 0);
    obs_schedule_free(schedule);
}

/* Works that no call has queued are the driver's own: they begin whenever they are ready. */
static void unknown_works_are_free(void **state)
{
    (void)state;
    struct obs_schedule_options options;
    char problem[256];
    assert_true(obs_schedule_read("reversed", &options, problem, sizeof problem));
    struct obs_schedule *schedule = obs_schedule_new(&options);
    assert_true(obs_schedule_ask(schedule, 9, 0));
    assert_false(obs_schedule_ended(schedule, 9, 0));
    obs_schedule_free(schedule);
}

/* At the end of the process all that is held begins. */
static void an_open_schedule_holds_nothing(void **state)
{
    (void)state;
    struct obs_schedule_options options;
    char problem[256];
    assert_true(obs_schedule_read("reversed", &options, problem, sizeof problem));
    struct obs_schedule *schedule = obs_schedule_new(&options);
    assert_true(obs_schedule_bound(schedule, 1, 1, 1, 1) && obs_schedule_bound(schedule, 2, 2, 1, 2));
    assert_false(obs_schedule_ask(schedule, 1, 0));
    assert_true(obs_schedule_open(schedule));
    assert_true(obs_schedule_ask(schedule, 1, 0) && obs_schedule_ask(schedule, 2, 0));
    obs_schedule_free(schedule);
}

static void many_works(void **state)
{
    (void)state;
    struct obs_schedule_options options;
    char problem[256];
    assert_true(obs_schedule_read("late", &options, problem, sizeof problem));
    struct obs_schedule *schedule = obs_schedule_new(&options);
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 5000; i++)
            assert_true(obs_schedule_bound(schedule, round * 5000 + i, i % 7, 1, round * 5000 + i));
        for (uint64_t i = 0; i < 5000; i++)
            assert_false(obs_schedule_ask(schedule, round * 5000 + i, 0) && i > 0);
        obs_schedule_host(schedule, 1, OBS_HOST_WAITS, 0);
        assert_int_equal(obs_schedule_rest(schedule), OBS_WORK);
        obs_schedule_forget(schedule);
        assert_true(obs_schedule_ask(schedule, round * 5000, 0)); /* the oldest */
        for (uint64_t i = 0; i < 5000; i++)
            assert_false(obs_schedule_ended(schedule, round * 5000 + i, 0));
    }
    obs_schedule_free(schedule);
}

static void bad_options_are_told(void **state)
{
    (void)state;
    static const char *const bad[] = {"sideways",
                                      "seed=x",
                                      "seed=",
                                      "seed=-1",
                                      "depth=0",
                                      "depth=65",
                                      "length=0",
                                      "hold=1.1",
                                      "until=1.1",
                                      "hold=1:until=2",
                                      "hold=0.1:until=1.1",
                                      "hold=1.0:until=1.1",
                                      "hold=1.1.x:until=1.1",
                                      "late:hold=1.1:until=1.2",
                                      "hold=rest:until=1.1",
                                      "hold=1.1@a+:until=1.1",
                                      "reversed:hold=1.1:until=1.2",
                                      "bytes=1.1+4",
                                      "bytes=1.1+4+0",
                                      "program=xyz",
                                      "patience=0",
                                      "seed=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct obs_schedule_options options;
        char problem[256] = "";
        assert_false(obs_schedule_read(bad[i], &options, problem, sizeof problem));
        assert_true(strlen(problem) > 20);
    }
    struct obs_schedule_options options;
    char problem[256], name[64];
    char text[512];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_false(obs_schedule_read(text, &options, problem, sizeof problem));
    assert_true(obs_schedule_read("hold=3.44.2@ab12:until=3.45:bytes=1.7+16+4:program=c0ffee:patience=50", &options,
                                  problem, sizeof problem));
    assert_true(options.witness && options.bytes.offset == 16 && options.bytes.size == 4 &&
                options.program == 0xc0ffee && options.patience == 50);
    obs_schedule_write_name(&options.hold, name, sizeof name);
    assert_string_equal(name, "3.44.2@ab12");
    obs_schedule_write_name(&options.until, name, sizeof name);
    assert_string_equal(name, "3.45");
    assert_true(obs_schedule_read("hold=3.44+:until=rest", &options, problem, sizeof problem));
    obs_schedule_write_name(&options.hold, name, sizeof name);
    assert_string_equal(name, "3.44+");
    obs_schedule_write_name(&options.until, name, sizeof name);
    assert_string_equal(name, "rest");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eager_does_all_before_the_host_goes_on),
        cmocka_unit_test(late_does_what_the_host_waits_for),
        cmocka_unit_test(reversed_does_the_newest_first),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(random_schedules_reach_rare_orders),
        cmocka_unit_test(depth_allows_preemptions),
        cmocka_unit_test(a_thread_that_polls_holds_nothing_up),
        cmocka_unit_test(a_witness_holds_one_until_the_other_is_done),
        cmocka_unit_test(what_everything_waits_for_is_let_go),
        cmocka_unit_test(a_thread_that_runs_may_still_come_to_it),
        cmocka_unit_test(steps_are_held_by_their_node),
        cmocka_unit_test(code_is_an_operation),
        cmocka_unit_test(code_is_held),
        cmocka_unit_test(all_the_rest_comes_first),
        cmocka_unit_test(eager_looks_at_a_witness),
        cmocka_unit_test(unknown_works_are_free),
        cmocka_unit_test(an_open_schedule_holds_nothing),
        cmocka_unit_test(many_works),
        cmocka_unit_test(bad_options_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
