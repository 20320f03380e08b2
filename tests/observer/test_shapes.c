/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of bytes and trees of spans (libs/observer/shape.h, gather.h, spans.h) against a model with one flag for each
 * byte: random runs, rows and scattered runs that meet, cover, lose bytes, are cut and put together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libs/observer/gather.h"
#include "libs/observer/shape.h"
#include "libs/observer/spans.h"

enum { SPACE = 1200, ROUNDS = 60000, BASE = 0x10000 };

static uint64_t dice_state;

static unsigned dice(unsigned limit)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(dice_state >> 33) % limit;
}

/* The bytes of a shape as flags. Walks by the shape's own fields, not by the functions under test. */
static void paint(const struct obs_shape *shape, bool flags[SPACE])
{
    if (shape->runs)
        for (uint32_t i = 0; i < shape->runs->count; i++)
            for (uint32_t at = shape->runs->run[i].first; at < shape->runs->run[i].end; at++)
                flags[shape->first - BASE + at] = true;
    for (size_t row = 0; row < shape->rows; row++)
        for (size_t at = 0; at < shape->width; at++)
            flags[shape->first - BASE + row * shape->pitch + at] = true;
}

/* Often a pitch of its own, often one that others have too. */
static struct mr_access random_box(void)
{
    static const size_t pitches[] = {8, 16, 24, 64, 64, 64, 100};
    size_t pitch = dice(2) ? pitches[dice(7)] : 2 + dice(90);
    size_t width = dice(8) == 0 ? 1 + dice(120) : 1 + dice((unsigned)pitch);
    size_t rows = dice(3) == 0 ? 1 : 1 + dice(14);
    uintptr_t first = BASE + (dice(2) ? dice(300) : dice(20) * 16);
    while (rows > 1 && first + (rows - 1) * pitch + width > BASE + SPACE - 400)
        rows--;
    return (struct mr_access){.first = first, .width = width, .rows = rows, .pitch = pitch, .how = MR_ACCESS_READ};
}

static struct obs_shape random_shape(void)
{
    struct obs_run runs[40];
    struct obs_shape shape;
    if (dice(3) > 0) {
        struct mr_access box = random_box();
        return obs_shape_rows(box.first, box.width, box.rows, box.pitch);
    }
    size_t count = 2 + dice(30);
    uintptr_t at = BASE + dice(300);
    for (size_t i = 0; i < count; i++) {
        runs[i] = (struct obs_run){at, at + 1 + dice(12)};
        at = runs[i].end + 1 + dice(10);
    }
    assert_true(obs_shape_scattered(runs, count, &shape));
    return shape;
}

static void check_meet(const struct obs_shape *one, const struct obs_shape *other, const bool a[SPACE],
                       const bool b[SPACE])
{
    struct obs_run run = {0, 0};
    size_t common = 0;
    while (common < SPACE && !(a[common] && b[common]))
        common++;
    assert_int_equal(obs_shape_meet(one, other, &run), common < SPACE);
    if (common == SPACE)
        return;
    assert_int_equal(run.first, BASE + common);
    assert_true(run.end > run.first);
    for (uintptr_t at = run.first; at < run.end; at++)
        assert_true(a[at - BASE] && b[at - BASE]);
}

static void check_subtract(const struct obs_shape *from, const struct obs_shape *minus, const bool a[SPACE],
                           const bool b[SPACE], size_t *kept, size_t *exact)
{
    struct obs_shape pieces[OBS_SHAPE_PIECES];
    bool left[SPACE] = {false};
    int count = obs_shape_subtract(from, minus, pieces);
    assert_in_range(count + 1, 0, OBS_SHAPE_PIECES + 1);
    if (count < 0) {
        ++*kept;
        return;
    }
    for (int i = 0; i < count; i++) {
        paint(&pieces[i], left);
        obs_shape_free(&pieces[i]);
    }
    bool same = true, less = false;
    for (size_t i = 0; i < SPACE; i++) {
        assert_false(left[i] && !a[i]);
        assert_false(a[i] && !b[i] && !left[i]);
        same = same && left[i] == (a[i] && !b[i]);
        less = less || (a[i] && !left[i]);
    }
    assert_true(less);
    *exact += same;
}

static void shapes_are_as_their_bytes(void **state)
{
    (void)state;
    size_t kept = 0, exact = 0;
    dice_state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct obs_shape one = random_shape(), other = random_shape();
        bool a[SPACE] = {false}, b[SPACE] = {false};
        paint(&one, a);
        paint(&other, b);
        bool covers = true;
        for (size_t i = 0; i < SPACE; i++)
            covers = covers && (a[i] || !b[i]);
        check_meet(&one, &other, a, b);
        assert_int_equal(obs_shape_covers(&one, &other), covers);
        check_subtract(&one, &other, a, b, &kept, &exact);
        struct obs_shape both = one;
        if (obs_shape_grow(&both, &other)) {
            bool grown[SPACE] = {false};
            paint(&both, grown);
            for (size_t i = 0; i < SPACE; i++)
                assert_int_equal(grown[i], a[i] || b[i]);
        }
        obs_shape_free(&one);
        obs_shape_free(&other);
    }
    assert_true(exact > ROUNDS / 10); /* subtraction does something */
}

/* Two members of structures in large arrays, of pitches that no loop over the rows would finish with. */
static void long_rows_meet_at_once(void **state)
{
    (void)state;
    const size_t many = (size_t)1 << 40;
    struct obs_run run;
    struct obs_shape one = obs_shape_rows(0x1000, 4, many, 24), other = obs_shape_rows(0x1008, 4, many, 48);
    assert_false(obs_shape_meet(&one, &other, &run));
    assert_false(obs_shape_meet(&other, &one, &run));
    other = obs_shape_rows(0x1009, 4, many, 25); /* 9 + 25 j = 24 i + 0 to 3, so j = 15 for 24 * 16 = 9 + 375 */
    assert_true(obs_shape_meet(&one, &other, &run));
    struct obs_shape same = obs_shape_rows(0x1002, 4, many, 24);
    assert_true(obs_shape_meet(&one, &same, &run));
    assert_int_equal(run.first, 0x1002);
    assert_int_equal(run.end, 0x1004);
}

static void boxes_are_cut(void **state)
{
    (void)state;
    dice_state = 2;
    for (int round = 0; round < ROUNDS; round++) {
        struct mr_access box = random_box();
        struct obs_shape whole = obs_shape_rows(box.first, box.width, box.rows, box.pitch), parts[3];
        bool a[SPACE] = {false}, b[SPACE] = {false};
        uintptr_t first = BASE + dice(500), end = first + 1 + dice(400);
        int count = obs_shape_clip(&box, first, end, parts);
        paint(&whole, a);
        for (int i = 0; i < count; i++)
            paint(&parts[i], b);
        for (size_t i = 0; i < SPACE; i++)
            assert_int_equal(b[i], a[i] && BASE + i >= first && BASE + i < end);
    }
}

static int by_first(const void *one, const void *other)
{
    const struct obs_shape *a = one, *b = other;
    return a->first < b->first ? -1 : a->first > b->first;
}

static void gathering_keeps_all_bytes(void **state)
{
    (void)state;
    dice_state = 3;
    for (int round = 0; round < ROUNDS / 10; round++) {
        struct obs_shape shapes[60];
        bool a[SPACE] = {false}, b[SPACE] = {false};
        size_t count = 1 + dice(60), step = 1 + dice(20), width = 1 + dice(16);
        for (size_t i = 0; i < count; i++) {
            struct mr_access box = random_box();
            shapes[i] = dice(3) ? obs_shape_run(BASE + dice(30) * step, BASE + 600)
                                : obs_shape_rows(box.first, box.width, box.rows, box.pitch);
            if (shapes[i].end == BASE + 600)
                shapes[i] = obs_shape_run(shapes[i].first, shapes[i].first + width);
            paint(&shapes[i], a);
        }
        qsort(shapes, count, sizeof *shapes, by_first);
        size_t left = obs_gather(shapes, count);
        assert_in_range(left, 1, count);
        for (size_t i = 0; i < left; i++) {
            paint(&shapes[i], b);
            obs_shape_free(&shapes[i]);
        }
        assert_memory_equal(a, b, sizeof a);
    }
}

/* Tiles of a matrix, as blocks write them, are the matrix; single elements of a column are rows; the rest is one. */
static void gathering_makes_few(void **state)
{
    (void)state;
    struct obs_shape shapes[256];
    size_t count = 0;
    for (size_t tile = 0; tile < 16; tile++)
        for (size_t column = 0; column < 16; column++)
            shapes[count++] = obs_shape_rows(BASE + tile * 16 * 1024 + column * 64, 64, 16, 1024);
    qsort(shapes, count, sizeof *shapes, by_first);
    assert_int_equal(obs_gather(shapes, count), 1);
    assert_int_equal(shapes[0].rows, 1);
    assert_int_equal(shapes[0].width, 16 * 16 * 1024);

    for (size_t i = 0; i < 256; i++)
        shapes[i] = obs_shape_run(BASE + i * 1024, BASE + i * 1024 + 4);
    assert_int_equal(obs_gather(shapes, 256), 1);
    assert_int_equal(shapes[0].rows, 256);
    assert_int_equal(shapes[0].pitch, 1024);

    for (size_t i = 0; i < 256; i++)
        shapes[i] = obs_shape_run(BASE + i * i * 8, BASE + i * i * 8 + 4);
    assert_int_equal(obs_gather(shapes, 256), 1);
    assert_non_null(shapes[0].runs);
    assert_int_equal(shapes[0].runs->count, 256);
    obs_shape_free(&shapes[0]);
}

enum { SPANS = 400 };

static void spans_are_found(void **state)
{
    (void)state;
    static struct obs_span spans[SPANS];
    static bool in[SPANS];
    struct obs_span *root = NULL, *found[SPANS];
    dice_state = 4;
    for (int step = 0; step < 30000; step++) {
        size_t which = dice(SPANS);
        if (in[which]) {
            obs_span_remove(&root, &spans[which]);
        } else {
            spans[which].first = dice(5000);
            spans[which].end = spans[which].first + 1 + dice(dice(4) ? 20 : 600);
            obs_span_insert(&root, &spans[which]);
        }
        in[which] = !in[which];
        uintptr_t first = dice(5000), end = first + 1 + dice(100);
        size_t count = obs_span_collect(root, first, end, found, SPANS), expected = 0;
        uintptr_t lowest = UINTPTR_MAX, before = 0;
        for (size_t i = 0; i < SPANS; i++) {
            bool meets = in[i] && spans[i].first < end && spans[i].end > first;
            expected += meets;
            if (meets && spans[i].first < lowest)
                lowest = spans[i].first;
            if (in[i] && spans[i].first <= first && spans[i].first + 1 > before)
                before = spans[i].first + 1;
        }
        assert_int_equal(count, expected);
        for (size_t i = 0; i < count; i++) {
            assert_true(found[i]->first < end && found[i]->end > first);
            assert_true(i == 0 || found[i]->first >= found[i - 1]->first);
        }
        assert_int_equal(obs_span_collect(root, first, end, found, 2), expected);
        struct obs_span *low = obs_span_lowest(root, first, end), *below = obs_span_before(root, first);
        assert_int_equal(low ? low->first : UINTPTR_MAX, lowest);
        assert_int_equal(below ? below->first + 1 : 0, before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_as_their_bytes),
        cmocka_unit_test(long_rows_meet_at_once),
        cmocka_unit_test(boxes_are_cut),
        cmocka_unit_test(gathering_keeps_all_bytes),
        cmocka_unit_test(gathering_makes_few),
        cmocka_unit_test(spans_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
