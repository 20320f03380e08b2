/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and operations (libs/observer/clock.h, operation.h): a clock says what a plain array would say, also after
 * joins of clocks that share parts; what nobody has any more is taken again; operations come after each other by their
 * timeline, their lane and their clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libs/observer/clock.h"
#include "libs/observer/operation.h"

enum { LINES = 600, CLOCKS = 24, STEPS = 30000 };

static uint64_t dice_state;

static unsigned dice(unsigned limit)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(dice_state >> 33) % limit;
}

/* Timelines near each other and far apart, so that trees of several levels are joined. */
static uint32_t line_of(unsigned index)
{
    return index < 20 ? index : index < 500 ? index * 3 : index * 5000;
}

static void clocks_are_as_arrays(void **state)
{
    (void)state;
    static uint64_t model[CLOCKS][LINES];
    const struct obs_clock *clock[CLOCKS] = {0};
    memset(model, 0, sizeof model);
    for (dice_state = 1; dice_state < 8; dice_state++) {
        uint64_t seed = dice_state;
        for (int step = 0; step < STEPS; step++) {
            unsigned a = dice(CLOCKS), b = dice(CLOCKS), line = dice(2) ? dice(30) : dice(LINES);
            uint64_t tick = 1 + dice(1000);
            switch (dice(4)) {
            case 0:
                clock[a] = obs_clock_with(clock[a], line_of(line), tick);
                if (model[a][line] < tick)
                    model[a][line] = tick;
                break;
            case 1:
                clock[a] = obs_clock_join(clock[a], clock[b]);
                for (int i = 0; i < LINES; i++)
                    if (model[a][i] < model[b][i])
                        model[a][i] = model[b][i];
                break;
            case 2:
                if (a != b) {
                    obs_clock_drop(clock[a]);
                    clock[a] = dice(4) ? obs_clock_keep(clock[b]) : NULL;
                    if (clock[a])
                        memcpy(model[a], model[b], sizeof model[a]);
                    else
                        memset(model[a], 0, sizeof model[a]);
                }
                break;
            default: {
                bool covers = true;
                for (int i = 0; i < LINES; i++)
                    covers = covers && model[a][i] >= model[b][i];
                assert_int_equal(obs_clock_covers(clock[a], clock[b]), covers);
                assert_int_equal(obs_clock_at(clock[a], line_of(line)), model[a][line]);
            }
            }
        }
        for (int a = 0; a < CLOCKS; a++)
            for (int i = 0; i < LINES; i++)
                assert_int_equal(obs_clock_at(clock[a], line_of((unsigned)i)), model[a][i]);
        dice_state = seed;
    }
    for (int a = 0; a < CLOCKS; a++)
        obs_clock_drop(clock[a]);
    assert_int_equal(obs_clock_nodes(), 0);
    assert_false(obs_clock_short());
}

/* What is the same is shared: a join that adds nothing gives the clock itself. */
static void joins_share(void **state)
{
    (void)state;
    const struct obs_clock *one = NULL;
    for (uint32_t i = 0; i < 1000; i++)
        one = obs_clock_with(one, i, i + 1);
    size_t before = obs_clock_nodes();
    const struct obs_clock *more = obs_clock_with(obs_clock_keep(one), 500, 1000);
    assert_true(obs_clock_nodes() - before <= 3);
    const struct obs_clock *joined = obs_clock_join(obs_clock_keep(one), more);
    assert_ptr_equal(joined, more);
    joined = obs_clock_join(joined, one);
    assert_ptr_equal(joined, more);
    obs_clock_drop(joined);
    obs_clock_drop(more);
    assert_int_equal(obs_clock_nodes(), before);
    assert_int_equal(obs_clock_at(one, 500), 501);
    obs_clock_drop(one);
    assert_int_equal(obs_clock_nodes(), 0);
}

static struct obs_operation *operation(uint32_t timeline, uint64_t tick, uint64_t lane_tick,
                                       const struct obs_clock *before)
{
    struct obs_operation *made = obs_operation_new();
    assert_non_null(made);
    made->timeline = timeline;
    atomic_store(&made->tick, tick);
    made->lane_tick = lane_tick;
    made->before[OBS_EDGES_ALL] = obs_clock_keep(before);
    made->host = timeline == 0;
    return made;
}

static void operations_come_after(void **state)
{
    (void)state;
    obs_order_lock();
    const struct obs_clock *knows = obs_clock_with(NULL, 2, 5);
    struct obs_operation *first = operation(1, 1, 10, NULL), *second = operation(1, 2, 12, NULL),
                         *apart = operation(2, 5, 14, NULL), *after = operation(3, 1, 16, knows),
                         *not_yet = operation(2, 6, 18, NULL), *host = operation(0, UINT64_MAX, 11, NULL),
                         *lucky = operation(3, 2, 20, knows);
    assert_true(obs_comes_after(second, first));
    assert_false(obs_comes_after(first, second));
    assert_false(obs_comes_after(first, first));
    assert_false(obs_comes_after(apart, first));
    assert_true(obs_comes_after(after, apart));
    assert_false(obs_comes_after(after, not_yet));
    /* The host inside of a call: nothing comes after it until it has returned, and then what was asked for later. */
    assert_false(obs_comes_after(after, host));
    assert_false(obs_comes_after(host, host));
    atomic_store(&host->tick, 13);
    assert_false(obs_comes_after(second, host));
    assert_true(obs_comes_after(apart, host));
    assert_false(obs_comes_after_by_luck(after, apart));
    lucky->two = true;
    assert_true(obs_comes_after_by_luck(lucky, apart));
    assert_true(obs_comes_after(lucky, apart));
    assert_false(obs_comes_after_by_luck(lucky, after));
    assert_int_equal(obs_operation_live(), 7);
    struct obs_operation *all[] = {first, second, apart, after, not_yet, host, lucky};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        obs_operation_drop(obs_operation_keep(all[i]));
        obs_operation_drop(all[i]);
    }
    obs_operation_sweep();
    assert_int_equal(obs_operation_live(), 0);
    obs_clock_drop(knows);
    assert_int_equal(obs_clock_nodes(), 0);
    obs_order_unlock();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clocks_are_as_arrays), cmocka_unit_test(joins_share),
                                       cmocka_unit_test(operations_come_after)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
