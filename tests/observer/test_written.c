/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of written bytes (src/libs/observer/written.h), compared with an array of bools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libs/observer/written.h"

enum { SIZE = 5 * 1024 * 1024 + 777, STEPS = 3000 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 20) % below;
}

/* A place that is often an edge of a word, a page or a chunk. */
static size_t place(void)
{
    static const size_t units[] = {1, 64, 4096, 2 << 20};
    size_t unit = units[draw(4)], at = draw(SIZE / unit + 1) * unit + draw(3);
    return at < SIZE ? at : SIZE - draw(3);
}

static void expect_same(struct obs_written *map, const unsigned char *model, size_t first, size_t end)
{
    size_t gap, gap_end;
    for (size_t at = first; at < end; at = gap_end) {
        const unsigned char *zero = memchr(model + at, 0, end - at);
        bool found = obs_written_gap(map, at, end, &gap, &gap_end);
        assert_int_equal(found, zero != NULL);
        if (!found)
            return;
        const unsigned char *one = memchr(zero, 1, (size_t)(model + end - zero));
        assert_int_equal(gap, zero - model);
        assert_int_equal(gap_end, one ? (size_t)(one - model) : end);
    }
}

static void maps_are_as_the_model(void **unused)
{
    unsigned char *model = calloc(1, SIZE);
    (void)unused;
    assert_non_null(model);
    for (state = 1; state < 4; state++) {
        uint64_t seed = state;
        struct obs_written *map = obs_written_new(SIZE);
        assert_non_null(map);
        memset(model, 0, SIZE);
        for (int step = 0; step < STEPS; step++) {
            size_t one = place(), other = draw(3) ? one + draw(200) : place();
            size_t first = one < other ? one : other, end = one < other ? other : one;
            end = end < SIZE ? end : SIZE;
            if (first >= end)
                continue;
            bool add = draw(3) > 0;
            if (add)
                obs_written_add(map, first, end);
            else
                obs_written_remove(map, first, end);
            memset(model + first, add, end - first);
            size_t from = first > 300 ? first - 300 : 0, to = end + 300 < SIZE ? end + 300 : SIZE;
            expect_same(map, model, from, to);
        }
        expect_same(map, model, 0, SIZE);
        obs_written_free(map);
        state = seed;
    }
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps_are_as_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
