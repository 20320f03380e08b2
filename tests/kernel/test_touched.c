/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of bytes that a launch has touched, compared with an array that has a byte for each. */
#include "kernel/touched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROOM (1u << 20)
#define BASE UINT64_C(0x7f0000000000)
#define BOUND ((size_t)256 << 20)

static unsigned char wanted[ROOM], got[ROOM], roughly[ROOM];
static unsigned boxes, rough_boxes;
static uint64_t seed;

static uint32_t some(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void take(void *data, const struct mr_box *box, bool rough)
{
    (void)data;
    boxes++;
    rough_boxes += rough;
    assert_true(box->width > 0 && box->rows > 0 && (box->rows == 1 || box->pitch > box->width));
    for (uint64_t row = 0; row < box->rows; row++) {
        uint64_t at = box->first + row * box->pitch - BASE;
        assert_true(at < ROOM && box->width <= ROOM - at);
        memset((rough ? roughly : got) + at, 1, box->width);
    }
}

static void begin(void)
{
    memset(wanted, 0, ROOM);
    memset(got, 0, ROOM);
    memset(roughly, 0, ROOM);
    boxes = rough_boxes = 0;
}

static void add(struct mr_touched *set, uint64_t first, uint64_t width, uint64_t rows, uint64_t pitch)
{
    assert_true(first + (rows - 1) * pitch + width <= ROOM);
    for (uint64_t row = 0; row < rows; row++)
        memset(wanted + first + row * pitch, 1, width);
    mr_touched_add(set, BASE + first, width, rows, pitch);
}

static void mark(struct mr_touched *set, uint64_t from, uint64_t to)
{
    memset(wanted + from, 1, to - from);
    mr_touched_mark(set, BASE + from, BASE + to);
}

static void test_patterns(void **state)
{
    (void)state;
    struct mr_touched set = {0};
    /* One stretch, in pieces from both ends. */
    begin();
    for (unsigned i = 0; i < 100; i++)
        add(&set, 128 * i, 128, 1, 0);
    for (unsigned i = 0; i < 100; i++)
        add(&set, ROOM / 2 - 64 * i, 64, 1, 0);
    mr_touched_each(&set, take, NULL);
    assert_memory_equal(wanted, got, ROOM);
    assert_int_equal(boxes, 2);
    /* Columns of a matrix, in any order: all of its first 512 bytes a row. */
    begin();
    for (unsigned i = 0; i < 4096; i++)
        add(&set, 4 * (i * 77 % 128), 4, 500, 1024);
    mr_touched_each(&set, take, NULL);
    assert_memory_equal(wanted, got, ROOM);
    assert_int_equal(boxes, 1);
    /* The same as single bytes. */
    begin();
    for (unsigned row = 0; row < 500; row++)
        for (unsigned i = 0; i < 512; i++)
            mark(&set, 1024 * row + i, 1024 * row + i + 1);
    mr_touched_each(&set, take, NULL);
    assert_memory_equal(wanted, got, ROOM);
    assert_int_equal(boxes, 1);
    /* Every third word, one by one. */
    begin();
    for (unsigned i = 0; i < 20000; i++)
        mark(&set, 12 * (i * 7919 % 20000), 12 * (i * 7919 % 20000) + 4);
    mr_touched_each(&set, take, NULL);
    assert_memory_equal(wanted, got, ROOM);
    assert_int_equal(boxes, 1);
    assert_int_equal(rough_boxes, 0);
}

static void add_some(struct mr_touched *set)
{
    static const uint32_t widths[] = {1, 2, 4, 8, 16, 64, 128, 512, 5000};
    uint32_t width = widths[some(9)], kind = some(4);
    if (kind == 0) {
        uint32_t first = some(ROOM - width);
        mark(set, first, first + width);
        return;
    }
    uint32_t rows = kind == 1 ? 1 : 1 + some(40), pitch = 1 + some(2 * width + 300), first;
    if (kind == 3)
        pitch = 1024;
    first = some(ROOM - rows * pitch - width);
    if (some(2))
        first &= ~127u;
    add(set, first, width, rows, pitch);
}

static void test_random(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        struct mr_touched set = {0}, other = {0};
        seed = round;
        begin();
        for (uint32_t i = some(round % 3 == 0 ? 10 : round % 3 == 1 ? 300 : 5000); i > 0; i--)
            add_some(some(5) ? &set : &other);
        mr_touched_join(&set, &other);
        mr_touched_each(&set, take, NULL);
        if (memcmp(wanted, got, ROOM) != 0)
            fail_msg("round %u differs", round);
        assert_int_equal(rough_boxes, 0);
    }
}

/* As code's notes add the lanes of a warp. */
static void add_lanes(struct mr_touched *set, uint32_t unit, uint32_t from, uint32_t below)
{
    uint64_t address[32], left[32];
    for (unsigned lane = 0; lane < 32; lane++) {
        uint32_t at = (from + some(below)) >> unit << unit;
        memset(wanted + at, 1, 1u << unit);
        address[lane] = BASE + at;
    }
    unsigned count = mr_touched_lanes(set, address, 32, unit, left);
    for (unsigned i = 0; i < count; i++)
        mr_touched_lane(set, left[i], unit);
}

/* Lanes of any size go to fields at last, and these join with each other, with pages and with boxes. */
static void test_fields(void **state)
{
    (void)state;
    unsigned with = 0, of_two = 0;
    for (unsigned round = 0; round < 400; round++) {
        struct mr_touched sets[2] = {{0}, {0}};
        seed = round;
        begin();
        uint32_t unit = some(6), other = some(4) ? unit : some(6), pieces = some(2) ? some(200) : 0;
        uint32_t below = some(2) ? ROOM - 32 : 1 + some(ROOM / 4);
        for (uint32_t i = some(600); i > 0; i--)
            add_lanes(&sets[0], unit, 0, below);
        for (uint32_t i = some(600); i > 0; i--)
            add_lanes(&sets[1], other, ROOM - 32 - below, below);
        for (; pieces > 0; pieces--)
            add_some(&sets[some(2)]);
        with += sets[0].field_count != 0;
        of_two += sets[0].field_count && sets[1].field_count && sets[0].unit != sets[1].unit;
        mr_touched_join(&sets[0], &sets[1]);
        mr_touched_each(&sets[0], take, NULL);
        if (memcmp(wanted, got, ROOM) != 0)
            fail_msg("round %u differs", round);
        assert_int_equal(rough_boxes, 0);
    }
    assert_true(with > 50 && of_two > 5);
    /* All of it, lane by lane, is one box at the end. */
    struct mr_touched set = {0};
    begin();
    for (uint32_t i = 0; i < ROOM / 4; i++) {
        uint64_t address = BASE + i * 7919u % (ROOM / 4) * 4, left;
        memset(wanted + (address - BASE), 1, 4);
        if (mr_touched_lanes(&set, &address, 1, 2, &left))
            mr_touched_lane(&set, left, 2);
    }
    assert_int_equal(set.field_count, 4);
    mr_touched_each(&set, take, NULL);
    assert_memory_equal(wanted, got, ROOM);
    assert_int_equal(boxes, 1);
}

/* With little memory there may be more bytes, never fewer, and what is not said to be rough is exact. */
static void test_bound(void **state)
{
    (void)state;
    unsigned with = 0;
    for (unsigned round = 0; round < 200; round++) {
        struct mr_touched set = {0}, other = {0};
        seed = round;
        begin();
        atomic_store(&mr_touched_most, round % 4 * 3000u + some(20000));
        for (uint32_t i = some(3000); i > 0; i--)
            add_some(some(5) ? &set : &other);
        for (uint32_t i = some(100); i > 0; i--)
            add_lanes(some(3) ? &set : &other, 2, 0, ROOM - 32);
        mr_touched_join(&set, &other);
        mr_touched_each(&set, take, NULL);
        with += rough_boxes != 0;
        for (size_t i = 0; i < ROOM; i++) {
            if (wanted[i] && !got[i] && !roughly[i])
                fail_msg("round %u: byte %zu is lost", round, i);
            if (got[i] && !wanted[i])
                fail_msg("round %u: byte %zu was not touched", round, i);
        }
    }
    assert_true(with > 50);
    atomic_store(&mr_touched_most, BOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
