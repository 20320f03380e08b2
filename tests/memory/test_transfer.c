/* SPDX-License-Identifier: Apache-2.0 */
/* The execution of copies and fills, against the same work byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/transfer.h"

static unsigned char space[4096], expected[4096], source[4096];

static void scramble(unsigned char *bytes, unsigned start)
{
    for (unsigned i = 0; i < 4096; i++)
        bytes[i] = (unsigned char)((i * 31 + start) ^ (i >> 5));
}

static void copy_plainly(const struct mr_copy *copy, unsigned char *to)
{
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            for (size_t x = 0; x < copy->width; x++)
                to[z * copy->destination_slice + y * copy->destination_pitch + x] =
                    source[(size_t)((const unsigned char *)copy->source - source) + z * copy->source_slice +
                           y * copy->source_pitch + x];
}

static void test_boxes(void **state)
{
    (void)state;
    static const struct mr_copy shapes[] = {
        {.width = 0, .height = 1, .depth = 1},
        {.width = 1000, .height = 1, .depth = 1},
        {.width = 16, .height = 10, .depth = 1, .destination_pitch = 16, .source_pitch = 16},
        {.width = 16, .height = 10, .depth = 1, .destination_pitch = 20, .source_pitch = 16},
        {.width = 7, .height = 9, .depth = 1, .destination_pitch = 11, .source_pitch = 64},
        {.width = 8,
         .height = 4,
         .depth = 3,
         .destination_pitch = 8,
         .source_pitch = 8,
         .destination_slice = 32,
         .source_slice = 32},
        {.width = 8,
         .height = 4,
         .depth = 3,
         .destination_pitch = 8,
         .source_pitch = 8,
         .destination_slice = 40,
         .source_slice = 64},
        {.width = 5,
         .height = 4,
         .depth = 3,
         .destination_pitch = 6,
         .source_pitch = 8,
         .destination_slice = 100,
         .source_slice = 64},
        {.width = 5,
         .height = 0,
         .depth = 3,
         .destination_pitch = 6,
         .source_pitch = 8,
         .destination_slice = 100,
         .source_slice = 64},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct mr_copy copy = shapes[i];
        scramble(source, 1);
        scramble(space, 2);
        memcpy(expected, space, sizeof expected);
        copy.destination = space + 3;
        copy.source = source + 5;
        copy_plainly(&copy, expected + 3);
        mr_copy_execute(&copy);
        assert_memory_equal(space, expected, sizeof space);
    }
}

static void test_overlap(void **state)
{
    (void)state;
    for (int shift = -40; shift <= 40; shift += 8) {
        struct mr_copy copy = {.width = 600, .height = 1, .depth = 1};
        scramble(space, 3);
        memcpy(expected, space, sizeof expected);
        memmove(expected + 1000 + shift, expected + 1000, 600);
        copy.destination = space + 1000 + shift;
        copy.source = space + 1000;
        mr_copy_execute(&copy);
        assert_memory_equal(space, expected, sizeof space);

        struct mr_copy box = {.width = 24,
                              .height = 12,
                              .depth = 3,
                              .destination_pitch = 32,
                              .source_pitch = 32,
                              .destination_slice = 512,
                              .source_slice = 512,
                              .destination = space + 1024 + shift * 8,
                              .source = space + 1024};
        scramble(space, 4);
        memcpy(source, space, sizeof source);
        memcpy(expected, space, sizeof expected);
        struct mr_copy plain = box;
        plain.source = source + 1024;
        copy_plainly(&plain, expected + 1024 + shift * 8);
        mr_copy_execute(&box);
        assert_memory_equal(space, expected, sizeof space);
    }
}

static void test_fills(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 0x11111111, 0x80, 0x1234, 0x12345678, 0xffffffff};
    for (unsigned element = 1; element <= 4; element *= 2) {
        for (unsigned i = 0; i < 6; i++) {
            for (unsigned height = 0; height <= 3; height++) {
                for (unsigned pitch = 13 * element; pitch <= 20 * element; pitch += 7 * element) {
                    struct mr_fill fill = {.destination = space + 8,
                                           .pitch = pitch,
                                           .width = 13,
                                           .height = height,
                                           .value = values[i],
                                           .element = (uint8_t)element};
                    scramble(space, i);
                    memcpy(expected, space, sizeof expected);
                    for (unsigned y = 0; y < height; y++)
                        for (unsigned x = 0; x < 13; x++)
                            memcpy(expected + 8 + y * pitch + x * element, &values[i], element);
                    mr_fill_execute(&fill);
                    assert_memory_equal(space, expected, sizeof space);
                }
            }
        }
    }
}

/* Runs long enough to bypass the caches, at odd addresses. */
static void test_long(void **state)
{
    (void)state;
    const size_t room = ((size_t)40 << 20) + 256;
    unsigned char *one = malloc(room), *two = malloc(room);
    assert_true(one && two);
    for (unsigned shift = 0; shift < 70; shift += 23) {
        const size_t size = room - 150 + shift;
        for (size_t i = 0; i < room; i++)
            one[i] = (unsigned char)(i * 7 + i / 1000);
        memset(two, 0, room);
        mr_copy_execute(
            &(struct mr_copy){.destination = two + shift, .source = one + 5, .width = size, .height = 1, .depth = 1});
        assert_memory_equal(two + shift, one + 5, size);
        assert_int_equal(two[shift + size], 0);
        memmove(one + 40, one, size);
        memcpy(two, one, room);
        memmove(one + 10, one + 40, size);
        mr_copy_execute(
            &(struct mr_copy){.destination = two + 10, .source = two + 40, .width = size, .height = 1, .depth = 1});
        assert_memory_equal(one, two, room);

        const uint32_t value = 0x12345678;
        const size_t start = shift & ~3u, count = (room - 128) / 4 - shift;
        mr_fill_execute(&(struct mr_fill){
            .destination = two + start, .pitch = count * 4, .width = count, .height = 1, .value = value, .element = 4});
        memcpy(two + start + count * 4, &(uint32_t){0}, 4);
        for (size_t i = 0; i < count; i++)
            if (memcmp(two + start + i * 4, &value, 4) != 0)
                fail_msg("element %zu", i);
        mr_fill_execute(&(struct mr_fill){.destination = two + start + 2,
                                          .pitch = count * 4,
                                          .width = count * 2,
                                          .height = 1,
                                          .value = 0xabcd,
                                          .element = 2});
        for (size_t i = 0; i < count * 2; i++)
            if (two[start + 2 + i * 2] != 0xcd || two[start + 3 + i * 2] != 0xab)
                fail_msg("half word %zu", i);
    }
    free(one);
    free(two);
}

/* Pieces put together are the whole; what must not be cut isn't. */
static void test_pieces(void **state)
{
    (void)state;
    const size_t size = ((size_t)5 << 20) + 77;
    unsigned char *one = malloc(size), *two = malloc(size);
    assert_true(one && two);
    for (size_t i = 0; i < size; i++)
        one[i] = (unsigned char)(i * 11 + i / 3000);
    struct mr_command command = {.kind = MR_COMMAND_COPY,
                                 .copy = {.destination = two, .source = one, .width = size, .height = 1, .depth = 1}};
    uint64_t pieces = mr_transfer_pieces(&command);
    assert_true(pieces > 1);
    memset(two, 0, size);
    mr_transfer_run(&command, 2, pieces);
    mr_transfer_run(&command, 0, 1);
    mr_transfer_run(&command, 1, 2);
    assert_memory_equal(one, two, size);

    command.copy = (struct mr_copy){.destination = two,
                                    .source = one,
                                    .width = 4096,
                                    .height = 20,
                                    .depth = 60,
                                    .destination_pitch = 4096,
                                    .source_pitch = 4096,
                                    .destination_slice = 4096 * 20,
                                    .source_slice = 4096 * 20};
    assert_true(mr_transfer_pieces(&command) > 1);
    command.copy.source_slice++;
    assert_int_equal(mr_transfer_pieces(&command), 1);
    command.copy =
        (struct mr_copy){.destination = one + 4096, .source = one, .width = size - 4096, .height = 1, .depth = 1};
    assert_int_equal(mr_transfer_pieces(&command), 1);
    command.copy.width = 1000;
    assert_int_equal(mr_transfer_pieces(&command), 1);

    command.kind = MR_COMMAND_FILL;
    command.fill = (struct mr_fill){
        .destination = two, .pitch = 0, .width = size / 2 - 1, .height = 1, .value = 0x1234, .element = 2};
    pieces = mr_transfer_pieces(&command);
    assert_true(pieces > 1);
    mr_transfer_run(&command, 1, pieces);
    mr_transfer_run(&command, 0, 1);
    for (size_t i = 0; i + 3 < size; i += 2)
        if (two[i] != 0x34 || two[i + 1] != 0x12)
            fail_msg("half word at %zu", i);
    assert_int_equal(two[size - 1], one[size - 1]);
    command.fill =
        (struct mr_fill){.destination = two, .pitch = 2000, .width = 1999, .height = 2600, .value = 1, .element = 1};
    assert_int_equal(mr_transfer_pieces(&command), 1);
    free(one);
    free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes), cmocka_unit_test(test_overlap), cmocka_unit_test(test_fills),
        cmocka_unit_test(test_long),  cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
