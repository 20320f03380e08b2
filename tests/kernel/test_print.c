/* SPDX-License-Identifier: Apache-2.0 */
/* printf in kernels: each conversion against the host's, argument packing, results, hostile formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kernel_double.h"

struct packed {
    _Alignas(8) unsigned char bytes[512];
    size_t used;
};

static void pack(struct packed *packed, const void *value, size_t size)
{
    packed->used = (packed->used + size - 1) / size * size;
    memcpy(packed->bytes + packed->used, value, size);
    packed->used += size;
}

static void pack_int(struct packed *packed, int value)
{
    pack(packed, &value, sizeof value);
}
static void pack_long(struct packed *packed, long long value)
{
    pack(packed, &value, sizeof value);
}
static void pack_double(struct packed *packed, double value)
{
    pack(packed, &value, sizeof value);
}
static void pack_text(struct packed *packed, const char *value)
{
    pack(packed, &value, sizeof value);
}

struct call {
    const char *format;
    const unsigned char *arguments;
    int32_t *result;
    uint32_t mask;
};

static void print_kernel(struct mr_block *block, uint32_t first, uint32_t end)
{
    const struct call *call = (const struct call *)block->params;
    uint64_t format[32], arguments[32];
    (void)first;
    (void)end;
    for (int i = 0; i < 32; i++) {
        format[i] = (uint64_t)(uintptr_t)call->format;
        arguments[i] = (uint64_t)(uintptr_t)call->arguments;
    }
    block->runtime->print(block, call->mask, format, arguments, call->result);
}

/* Runs the kernel with stdout in a temporary file; returns what was printed. */
static const char *printed(const char *format, const struct packed *packed, uint32_t mask, int32_t *result)
{
    static char text[8192];
    struct mr_context *context = double_context();
    struct call call = {format, packed ? packed->bytes : NULL, result, mask};
    struct mr_launch *launch = double_launch(context, print_kernel, 0, 1, 32, &call, sizeof call);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    FILE *file = tmpfile();
    assert_non_null(file);
    dup2(fileno(file), STDOUT_FILENO);
    CUresult status = double_run(launch);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(status, CUDA_SUCCESS);
    rewind(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    fclose(file);
    double_launch_free(launch);
    mr_free(context);
    return text;
}

static void conversions_match_the_host(void **unused)
{
    (void)unused;
    struct packed packed = {.used = 0};
    int32_t result[32] = {0};
    char expected[512];
    pack_int(&packed, -5);
    pack_double(&packed, 3.25);
    pack_int(&packed, 'x');
    pack_long(&packed, -1234567890123);
    pack_text(&packed, "text");
    pack_int(&packed, -1);
    pack_long(&packed, 255);
    pack_int(&packed, 12);
    pack_double(&packed, -1e-7);
    pack_int(&packed, 70000);
    snprintf(expected, sizeof expected, "%d|%8.3f|%c|%-20lld|%s|%u|%#llx|%+05d|%e|%hd|%%\n", -5, 3.25, 'x',
             -1234567890123ll, "text", -1, 255ll, 12, -1e-7, (short)70000);
    assert_string_equal(printed("%d|%8.3f|%c|%-20lld|%s|%u|%#llx|%+05d|%e|%hd|%%\n", &packed, 1, result), expected);
    assert_int_equal(result[0], 10);
}

static void width_and_precision_from_arguments(void **unused)
{
    (void)unused;
    struct packed packed = {.used = 0};
    int32_t result[32] = {0};
    pack_int(&packed, 6);
    pack_int(&packed, 2);
    pack_double(&packed, 2.71828);
    pack_int(&packed, -6);
    pack_text(&packed, "ab");
    pack_int(&packed, 1);
    pack_text(&packed, "xyz");
    assert_string_equal(printed("[%*.*f][%*s][%.*s]", &packed, 1, result), "[  2.72][ab    ][x]");
    assert_int_equal(result[0], 7);
}

static void lanes_print_in_order(void **unused)
{
    (void)unused;
    int32_t result[32];
    memset(result, 0x55, sizeof result);
    assert_string_equal(printed("hi\n", NULL, 0x80000101, result), "hi\nhi\nhi\n");
    assert_int_equal(result[0], 0);
    assert_int_equal(result[31], 0);
    assert_int_equal(result[1], 0x55555555);
}

static void odd_formats_do_no_harm(void **unused)
{
    (void)unused;
    struct packed packed = {.used = 0};
    int32_t result[32] = {0};
    for (int i = 0; i < 64; i++)
        pack_int(&packed, 1);
    printed("%", &packed, 1, result);
    printed("%99999999999999d%.99999999999999f", &packed, 1, result);
    assert_string_equal(printed("%y%n", &packed, 1, result), "%y%n");
    printed("%-+ #0-+ #0-+ #0lllllllld", &packed, 1, result);
    assert_string_equal(printed(NULL, &packed, 1, result), "");
    assert_int_equal(result[0], -1);
    printed("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", &packed, 1, result);
    assert_int_equal(result[0], 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_match_the_host),
        cmocka_unit_test(width_and_precision_from_arguments),
        cmocka_unit_test(lanes_print_in_order),
        cmocka_unit_test(odd_formats_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
