/* SPDX-License-Identifier: Apache-2.0 */
/* Classes called like clang's type traits; see traits.h. */
#include "ptx/traits.h"

#include <stdbool.h>
#include <string.h>

#include "ptx/cxx_text.h"

#define BEGINS "__is_"
#define PREFIX "mr_"

static bool may_be_trait(const struct mr_cxx_scanner *s, struct mr_cxx_token token)
{
    return token.end - token.begin > sizeof BEGINS - 1 && memcmp(s->text + token.begin, BEGINS, sizeof BEGINS - 1) == 0;
}

/* A trait stands before a bracket. */
static bool is_used_as_trait(const struct mr_cxx_scanner *s, struct mr_cxx_token token)
{
    return mr_cxx_peek(s, mr_cxx_behind_blanks(s, token.end)) == '(';
}

/* The names of classes, and of what is used as a trait. */
static void find_names(const struct mr_cxx_scanner *s, struct mr_words *classes, struct mr_words *traits)
{
    struct mr_cxx_token before = {0, 0};
    for (size_t at = 0; (at = mr_cxx_behind_blanks(s, at)) < s->length; at = before.end) {
        struct mr_cxx_token token = mr_cxx_token_at(s, at);
        if (may_be_trait(s, token)) {
            struct mr_words *names = is_used_as_trait(s, token)                                        ? traits
                                     : mr_cxx_is(s, before, "struct") || mr_cxx_is(s, before, "class") ? classes
                                                                                                       : NULL;
            struct mr_text name = {.data = NULL};
            mr_text_add(&name, s->text + token.begin, token.end - token.begin);
            if (names && !name.failed && !mr_words_have(names, name.data, name.length))
                mr_words_add(names, name.data, "");
            mr_text_clear(&name);
        }
        before = token;
    }
}

static void rename_classes(const struct mr_cxx_scanner *s, const struct mr_words *names, struct mr_text *out)
{
    size_t copied = 0;
    for (size_t at = 0; (at = mr_cxx_behind_blanks(s, at)) < s->length;) {
        struct mr_cxx_token token = mr_cxx_token_at(s, at);
        if (may_be_trait(s, token) && !is_used_as_trait(s, token) &&
            mr_words_have(names, s->text + token.begin, token.end - token.begin)) {
            mr_text_add(out, s->text + copied, token.begin - copied);
            mr_text_put(out, PREFIX);
            copied = token.begin;
        }
        at = token.end;
    }
    mr_text_add(out, s->text + copied, s->length - copied);
}

size_t mr_traits_mend(struct mr_text *text)
{
    struct mr_cxx_scanner s = {.text = text->data, .length = text->length};
    struct mr_words classes = {.items = NULL}, traits = {.items = NULL}, both = {.items = NULL};
    struct mr_text out = {.data = NULL};
    find_names(&s, &classes, &traits);
    for (size_t i = 0; i < classes.count; i++)
        if (mr_words_have(&traits, classes.items[i], strlen(classes.items[i])))
            mr_words_add(&both, classes.items[i], "");
    size_t count = both.count;
    if (count)
        rename_classes(&s, &both, &out);
    if (classes.failed || traits.failed || both.failed || out.failed) {
        text->failed = true;
        count = 0;
    }
    if (count) {
        mr_text_clear(text);
        *text = out;
    } else {
        mr_text_clear(&out);
    }
    mr_words_clear(&both);
    mr_words_clear(&traits);
    mr_words_clear(&classes);
    return count;
}
