/* SPDX-License-Identifier: Apache-2.0 */
/* Words for a text that has been through the preprocessor; see again.h. */
#include "ptx/again.h"

#include <string.h>

bool mr_again_is_hopeless(const char *messages)
{
    static const char fatal[] = "fatal error: ", many[] = "too many errors emitted";
    for (const char *at = messages; (at = strstr(at, fatal)); at += sizeof fatal - 1)
        if (strncmp(at + sizeof fatal - 1, many, sizeof many - 1) != 0)
            return true;
    return false;
}

/* Macros of the preprocessor, and files before the source: as one word, or with the value in the next. */
static bool is_spent(const char *word, bool *with_next)
{
    static const char *const begins[] = {"-D", "-U", "-include", "-imacros"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t length = strlen(begins[i]);
        if (strncmp(word, begins[i], length) == 0) {
            *with_next = word[length] == '\0';
            return true;
        }
    }
    return false;
}

void mr_again_words(const struct mr_words *words, struct mr_words *out)
{
    bool with_next = false;
    for (size_t i = 0; i < words->count; i++) {
        bool value = i && strcmp(words->items[i - 1], "-Xclang") == 0;
        if (!value && is_spent(words->items[i], &with_next))
            i += with_next;
        else
            mr_words_add(out, words->items[i], "");
    }
    /* The macros are expanded already, and clang has given its warnings about the source before. */
    mr_words_add(out, "-Wno-unused", "");
    out->failed = out->failed || words->failed;
}
