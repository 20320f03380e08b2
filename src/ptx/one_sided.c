/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels among functions of both sides; see one_sided.h. */
#include "ptx/one_sided.h"

#include <string.h>

#include "ptx/cxx_text.h"

#define PRAGMA "clang force_cuda_host_device"

bool mr_one_sided_refused(const char *messages)
{
    return strstr(messages, "'global' and 'device' attributes are not compatible") != NULL ||
           strstr(messages, "'device' and 'global' attributes are not compatible") != NULL;
}

/* Behind a directive's line; `at` itself if no directive begins there. */
static size_t behind_directive(const struct mr_cxx_scanner *s, size_t at)
{
    if (s->text[at] != '#' || (at && s->text[at - 1] != '\n'))
        return at;
    return at + strcspn(s->text + at, "\n");
}

/* `__global__`, or the attribute that it stands for. */
static bool is_kernel(const struct mr_cxx_scanner *s, struct mr_cxx_token token)
{
    static const char *const rest[] = {"(", "(", "global", ")", ")"};
    if (mr_cxx_is(s, token, "__global__"))
        return true;
    if (!mr_cxx_is(s, token, "__attribute__"))
        return false;
    for (size_t i = 0, at = token.end; i < sizeof rest / sizeof *rest; i++) {
        at = mr_cxx_behind_blanks(s, at);
        if (at >= s->length)
            return false;
        token = mr_cxx_token_at(s, at);
        if (!mr_cxx_is(s, token, rest[i]))
            return false;
        at = token.end;
    }
    return true;
}

/* Behind the brace that opens the kernel's body, or the semicolon of a declaration; 0 if there is none. */
static size_t behind_declaration(const struct mr_cxx_scanner *s, size_t at)
{
    int depth = 0;
    while ((at = mr_cxx_behind_blanks(s, at)) < s->length) {
        size_t behind = behind_directive(s, at);
        if (behind != at) {
            at = behind;
            continue;
        }
        char c = s->text[at];
        if (depth == 0 && (c == '{' || c == ';'))
            return at + 1;
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        if (depth < 0)
            return 0;
        at = mr_cxx_token_at(s, at).end;
    }
    return 0;
}

size_t mr_one_sided_mend(struct mr_text *text)
{
    struct mr_cxx_scanner s = {.text = text->data, .length = text->length};
    struct mr_text out = {.data = NULL};
    size_t copied = 0, count = 0;
    bool both = false;
    for (size_t at = 0; (at = mr_cxx_behind_blanks(&s, at)) < s.length;) {
        size_t behind = behind_directive(&s, at);
        if (behind != at) {
            if (strncmp(s.text + at, "#pragma " PRAGMA " ", sizeof "#pragma " PRAGMA " " - 1) == 0)
                both = strncmp(s.text + at + sizeof "#pragma " PRAGMA " " - 1, "begin", 5) == 0;
            at = behind;
            continue;
        }
        struct mr_cxx_token token = mr_cxx_token_at(&s, at);
        size_t end = both && is_kernel(&s, token) ? behind_declaration(&s, token.end) : 0;
        if (end) {
            mr_text_add(&out, s.text + copied, token.begin - copied);
            mr_text_put(&out, "_Pragma(\"" PRAGMA " end\") ");
            mr_text_add(&out, s.text + token.begin, end - token.begin);
            mr_text_put(&out, " _Pragma(\"" PRAGMA " begin\") ");
            copied = end;
            count++;
        }
        at = end ? end : token.end;
    }
    if (count)
        mr_text_add(&out, s.text + copied, s.length - copied);
    if (!count || out.failed) {
        text->failed |= out.failed;
        mr_text_clear(&out);
        return 0;
    }
    mr_text_clear(text);
    *text = out;
    return count;
}
