/* SPDX-License-Identifier: Apache-2.0 */

/* The lexer: every spelling of a number, words, comments, places, bad input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/lexer.h"

static struct mr_ptx_token lex_first(const char *text)
{
    struct mr_ptx_lexer lexer;
    struct mr_ptx_token token;
    mr_ptx_lexer_init(&lexer, text, strlen(text));
    mr_ptx_lexer_next(&lexer, &token);
    return token;
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        bool is_unsigned;
    } cases[] = {
        {"0", 0, false},
        {"42", 42, false},
        {"42U", 42, true},
        {"0x1F", 31, false},
        {"0XfU", 15, true},
        {"017", 15, false},
        {"0b101", 5, false},
        {"0B11U", 3, true},
        {"9223372036854775807", INT64_MAX, false},
        {"9223372036854775808", UINT64_C(1) << 63, true},
        {"18446744073709551615", UINT64_MAX, true},
        {"0xffffffffffffffff", UINT64_MAX, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mr_ptx_token token = lex_first(cases[i].text);
        assert_int_equal(token.kind, MR_PTX_TOKEN_INT);
        assert_int_equal(token.value, cases[i].value);
        assert_int_equal(token.is_unsigned, cases[i].is_unsigned);
        assert_int_equal(token.length, strlen(cases[i].text));
    }
}

static void test_floats(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bits;
        bool is_single;
    } cases[] = {
        {"0f3f800000", 0x3f800000, true},
        {"0F3F800000", 0x3f800000, true},
        {"0d3FF0000000000000", UINT64_C(0x3ff0000000000000), false},
        {"1.5", UINT64_C(0x3ff8000000000000), false},
        {".5", UINT64_C(0x3fe0000000000000), false},
        {"2.", UINT64_C(0x4000000000000000), false},
        {"1e1", UINT64_C(0x4024000000000000), false},
        {"5.0E-1", UINT64_C(0x3fe0000000000000), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mr_ptx_token token = lex_first(cases[i].text);
        assert_int_equal(token.kind, MR_PTX_TOKEN_FLOAT);
        assert_int_equal(token.value, cases[i].bits);
        assert_int_equal(token.is_single, cases[i].is_single);
    }
}

static void test_bad(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "0x",        "0xg",         "08",        "0b2",  "12ab",   "18446744073709551616",
        "0f3f80000", "0f3f8000000", "0d3ff",     "1.5x", "\"open", "/* open",
        "`",         "\x80",        "#define X", "#",    "# 5",    "#line",
        "# 5 \"a",   "# 5 \"a\" x", "#5x \"a\"",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mr_ptx_token token = lex_first(cases[i]);
        assert_int_equal(token.kind, MR_PTX_TOKEN_ERROR);
        assert_non_null(token.message);
    }
}

/* Marks of a preprocessor are blanks. */
static void test_line_marks(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "# 5 \"a.cu\"\nret",
        "#line 5 \"a b\"\nret",
        "  # 1 \"a\" 2 3 \r\n ret",
        "# line 7 \"\"\n#5\"b\"\nret",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(lex_first(cases[i]).kind, MR_PTX_TOKEN_NAME);
    assert_int_equal(lex_first("# 5 \"a.cu\"").kind, MR_PTX_TOKEN_END);
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        int kind;
        const char *text;
        uint32_t line, column;
    } expected[] = {
        {'@', "@", 1, 1},
        {'!', "!", 1, 2},
        {MR_PTX_TOKEN_NAME, "%p1", 1, 3},
        {MR_PTX_TOKEN_NAME, "ld", 1, 7},
        {MR_PTX_TOKEN_DOT, "shared::cta", 1, 9},
        {MR_PTX_TOKEN_DOT, "v2", 1, 21},
        {MR_PTX_TOKEN_NAME, "$L_1", 3, 2},
        {':', ":", 3, 6},
        {MR_PTX_TOKEN_NAME, "tex", 4, 1},
        {MR_PTX_TOKEN_DOT, "1d", 4, 4},
        {MR_PTX_TOKEN_NAME, "_", 4, 8},
        {MR_PTX_TOKEN_SHIFT_LEFT, "<<", 4, 10},
        {MR_PTX_TOKEN_STRING, "a\\\"b", 4, 13},
        {MR_PTX_TOKEN_END, "", 4, 19},
        {MR_PTX_TOKEN_END, "", 4, 19},
    };
    static const char text[] = "@!%p1 ld.shared::cta.v2 // comment\n/* two\nlines */ $L_1:\ntex.1d _ << \"a\\\"b\"";
    struct mr_ptx_lexer lexer;
    mr_ptx_lexer_init(&lexer, text, sizeof text);
    /* The comment ends in column 9 of line 3. */
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct mr_ptx_token token;
        mr_ptx_lexer_next(&lexer, &token);
        assert_int_equal(token.kind, expected[i].kind);
        assert_int_equal(token.line, expected[i].line);
        if (token.kind != MR_PTX_TOKEN_END) {
            assert_int_equal(token.length, strlen(expected[i].text));
            assert_memory_equal(token.text, expected[i].text, token.length);
        }
        if (token.line == 1)
            assert_int_equal(token.column, expected[i].column);
    }
}

/* The text ends at its first NUL, and nothing behind the length is read. */
static void test_ends(void **state)
{
    (void)state;
    static const char text[] = "abc\0def";
    struct mr_ptx_lexer lexer;
    struct mr_ptx_token token;
    mr_ptx_lexer_init(&lexer, text, sizeof text);
    mr_ptx_lexer_next(&lexer, &token);
    assert_int_equal(token.length, 3);
    mr_ptx_lexer_next(&lexer, &token);
    assert_int_equal(token.kind, MR_PTX_TOKEN_END);
    mr_ptx_lexer_init(&lexer, text, 2);
    mr_ptx_lexer_next(&lexer, &token);
    assert_int_equal(token.length, 2);
    mr_ptx_lexer_init(&lexer, text, 0);
    mr_ptx_lexer_next(&lexer, &token);
    assert_int_equal(token.kind, MR_PTX_TOKEN_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),   cmocka_unit_test(test_floats), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_line_marks), cmocka_unit_test(test_words),  cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
