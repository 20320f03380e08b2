/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text and lists of words (base/text.h). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"

static void text_grows(void **state)
{
    (void)state;
    struct mr_text text = {.data = NULL};
    assert_string_equal(mr_text_chars(&text), "");
    mr_text_put(&text, "one");
    mr_text_add(&text, " two three", 4);
    mr_text_format(&text, ", %d and %s", 3, "four");
    assert_string_equal(mr_text_chars(&text), "one two, 3 and four");
    assert_int_equal(text.length, strlen(text.data));
    for (int i = 0; i < 500; i++)
        mr_text_format(&text, "%03d;", i);
    assert_false(text.failed);
    assert_int_equal(text.length, 19 + 2000);
    assert_string_equal(text.data + text.length - 8, "498;499;");
    mr_text_clear(&text);
    assert_null(text.data);
    assert_int_equal(text.length, 0);
}

static void failures_are_remembered(void **state)
{
    (void)state;
    struct mr_text text = {.data = NULL};
    mr_text_put(&text, "kept");
    mr_alloc_fail_after(1);
    mr_text_format(&text, "%0100d", 1);
    assert_true(text.failed);
    mr_text_put(&text, "dropped");
    assert_string_equal(text.data, "kept");
    mr_text_clear(&text);
    struct mr_words words = {.items = NULL};
    mr_words_add(&words, "a", "");
    mr_alloc_fail_after(1);
    mr_words_add(&words, "b", "");
    mr_alloc_fail_after(0);
    assert_true(words.failed);
    mr_words_add(&words, "c", "");
    assert_int_equal(words.count, 1);
    mr_words_clear(&words);
}

static void words_are_found(void **state)
{
    (void)state;
    uint64_t live = mr_alloc_live();
    struct mr_words words = {.items = NULL};
    assert_false(mr_words_have(&words, "-I", 2));
    mr_words_add(&words, "-I", "/usr/include");
    mr_words_add(&words, "-o", "");
    assert_int_equal(words.count, 2);
    assert_string_equal(words.items[0], "-I/usr/include");
    assert_null(words.items[2]);
    assert_true(mr_words_have(&words, "-output", 2));
    assert_false(mr_words_have(&words, "-output", 3));
    assert_false(mr_words_have(&words, "-I", 2));
    mr_words_clear(&words);
    assert_int_equal(mr_alloc_live(), live);
}

static void paths_lose_their_escapes(void **state)
{
    (void)state;
    const char *at = " /a/b.h \\\n  /with\\ space.h /hash\\#.h \\\n /money$$.h /back\\\\slash.h /other\\n.h\n";
    static const char *const wanted[] = {"/a/b.h",    "/with space.h",  "/hash#.h",
                                         "/money$.h", "/back\\slash.h", "/other\\n.h"};
    struct mr_text path = {.data = NULL};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_true(mr_text_next_path(&at, &path));
        assert_string_equal(mr_text_chars(&path), wanted[i]);
    }
    assert_false(mr_text_next_path(&at, &path));
    assert_int_equal(*at, '\0');
    mr_text_clear(&path);
}

/* Files whose size is none, one, and two of the pieces in which they are read, and a byte more. */
static void files_are_read_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 65536, 2 * 65536, 2 * 65536 + 1};
    char path[] = "/tmp/millrace-text-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(ftruncate(file, (off_t)sizes[i]), 0);
        if (sizes[i])
            assert_int_equal(pwrite(file, "z", 1, (off_t)sizes[i] - 1), 1);
        struct mr_text text = {.data = NULL};
        mr_text_put(&text, "before");
        assert_true(mr_text_read(&text, path));
        assert_int_equal(text.length, 6 + sizes[i]);
        assert_memory_equal(text.data, "before", 6);
        if (sizes[i])
            assert_int_equal(text.data[text.length - 1], 'z');
        mr_text_clear(&text);
    }
    close(file);
    unlink(path);
    struct mr_text text = {.data = NULL};
    assert_false(mr_text_read(&text, path));
    assert_int_equal(errno, ENOENT);
    assert_false(mr_text_read(&text, "/tmp"));
    assert_int_equal(errno, EISDIR);
    mr_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),           cmocka_unit_test(failures_are_remembered),
        cmocka_unit_test(words_are_found),      cmocka_unit_test(paths_lose_their_escapes),
        cmocka_unit_test(files_are_read_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
