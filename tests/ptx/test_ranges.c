/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that clang refuses, by its messages: what is changed, and messages that name no part of the text. */
#include <stdlib.h>
#include <string.h>

#include "ptx/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void becomes(const char *messages, const char *before, const char *after)
{
    struct mr_text out = {.data = NULL};
    size_t count = mr_ranges_mend(messages, before, &out);
    assert_string_equal(mr_text_chars(&out), after);
    assert_int_equal(count != 0, strcmp(before, after) != 0);
    mr_text_clear(&out);
}

static void stays(const char *messages, const char *text)
{
    becomes(messages, text, text);
}

#define QUALIFIED ": error: extra qualification on member 'f'\n"
#define POINTER ": error: arithmetic on a pointer to void\n"
#define OBJECT ": error: cannot pass non-trivial object of type 's' to variadic function\n"
#define BYPASSES ": note: jump bypasses variable initialization\n"

static void qualifications(void **state)
{
    (void)state;
    becomes("a.cu:3:20" QUALIFIED, "# 3 \"a.cu\"\nstruct s { void s::f(); };\n",
            "# 3 \"a.cu\"\nstruct s { void f(); };\n");
    becomes("a.cu:3:34" QUALIFIED, "# 3 \"a.cu\"\nstruct s { void n :: t<a, b<1>>::f(); };\n",
            "# 3 \"a.cu\"\nstruct s { void f(); };\n");
    becomes("a.cu:9:4" QUALIFIED, "# 8 \"a.cu\"\nint s::\n   f();\n", "# 8 \"a.cu\"\nint \nf();\n");
    /* A line in several pieces, as behind a macro. */
    becomes("a.cu:3:4" QUALIFIED, "# 3 \"a.cu\"\nint x;\n# 3 \"a.cu\"\ns::f();\n",
            "# 3 \"a.cu\"\nint x;\n# 3 \"a.cu\"\nf();\n");
    stays("a.cu:3:20" QUALIFIED, "# 3 \"b.cu\"\nstruct s { void s::f(); };\n");
    stays("a.cu:4:19" QUALIFIED, "# 3 \"a.cu\"\nstruct s { void s::f(); };\n");
    stays("a.cu:3:99" QUALIFIED, "# 3 \"a.cu\"\nstruct s { void s::f(); };\n");
    stays("a.cu:3:0" QUALIFIED, "# 3 \"a.cu\"\nstruct s { void s::f(); };\n");
    stays("a.cu" QUALIFIED "3" QUALIFIED ":3" QUALIFIED, "# 3 \"a.cu\"\nstruct s { void s::f(); };\n");
    stays("a.cu:3:20" QUALIFIED, "");
}

static void ranges(void **state)
{
    (void)state;
    becomes("a.cu:7:3:{2:1-2:2}" POINTER, "# 7 \"a.cu\"\np + 4;\n", "# 7 \"a.cu\"\n::mr_void_pointer(p) + 4;\n");
    becomes("a.cu:7:3:{1:5-1:6}" POINTER "a.cu:7:3:{1:5-1:6}" POINTER "a.cu:9:1:{1:12-2:2}" POINTER,
            "4 + p; 2 + (p\n);\n", "4 + ::mr_void_pointer(p); 2 + ::mr_void_pointer((p\n));\n");
    becomes("a.cu:1:12:{1:12-1:13}{1:4-1:6}" OBJECT, "f(\"%s\", 1, s);\n", "f(\"%s\", 1, ::mr_object_address(s));\n");
    stays("a.cu:7:3:{2:1-2:99}" POINTER, "# 7 \"a.cu\"\np + 4;\n");
    stays("a.cu:7:3:{9:1-9:2}" POINTER "a.cu:7:3:{0:1-0:2}" POINTER "a.cu:7:3:{1:2-1:1}" POINTER, "p + 4;\n");
    stays("a.cu:7:3:{1:1-1" POINTER "a.cu:7:3:{1" POINTER "a.cu:7:3:{" POINTER "a.cu:7:3" POINTER POINTER, "p + 4;\n");
    stays("a.cu:1:3:{1:12-1:13}" OBJECT, "f(\"%s\", 1, s);\n");
    stays("a.cu:1:1: error: something else\n", "p + 4;\n");
}

static void jumps(void **state)
{
    (void)state;
    becomes("a.cu:1:21" BYPASSES, "# 1 \"a.cu\"\n{ case 1: const int x = f(1, 2); g(x);\n",
            "# 1 \"a.cu\"\n{ case 1:  int x ; x = f(1, 2); g(x);\n");
    stays("a.cu:1:6" BYPASSES, "# 1 \"a.cu\"\nauto x = 1;\n");
    stays("a.cu:1:6" BYPASSES, "# 1 \"a.cu\"\nint &x = y;\n");
    stays("a.cu:1:5" BYPASSES, "# 1 \"a.cu\"\nint x = 1, y = 2;\n");
    stays("a.cu:1:5" BYPASSES, "# 1 \"a.cu\"\nint x = {1};\n");
    stays("a.cu:1:5" BYPASSES, "# 1 \"a.cu\"\nint x(1);\n");
    stays("a.cu:1:5" BYPASSES, "# 1 \"a.cu\"\nint x = 1");
}

static void places(void **state)
{
    struct mr_words places = {.items = NULL};
    (void)state;
    assert_int_equal(mr_ranges_places("a.cu:1:1: error: something else\n", &places), 0);
    assert_false(mr_ranges_known(&places));
    assert_int_equal(
        mr_ranges_places("a.cu:1:1: \033[0;1;31merror: \033[0m\033[1mextra qualification on member 'f'\033[0m\n",
                         &places),
        1);
    assert_true(mr_ranges_known(&places));
    assert_int_equal(mr_ranges_places("a.cu:1:3" POINTER, &places), 0);
    mr_words_clear(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(qualifications), cmocka_unit_test(ranges),
                                       cmocka_unit_test(jumps), cmocka_unit_test(places)};
    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
