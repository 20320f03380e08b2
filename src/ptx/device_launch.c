/* SPDX-License-Identifier: Apache-2.0 */
/* Launches from kernels, in C++ that clang takes; see device_launch.h. */
#include "ptx/device_launch.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "ptx/cxx_text.h"
#include "ptx/places.h"

#define REFUSED "error: reference to __global__ function '"
#define UNMATCHED "error: no matching function for call to '" /* of a template, or where a kernel launches itself */
#define OVERLOADED "error: reference to overloaded function could not be resolved" /* of what has been changed once */
#define OTHER_TYPES "error: address of overloaded function '" /* and once more */
#define BY_NAME " kernel "
#define BY_ARGUMENTS " by arguments"
#define BY_COUNT " by count"

static size_t add_place(struct mr_words *places, const char *place, const char *kind, const char *name, size_t length)
{
    struct mr_text whole = {.data = NULL};
    mr_text_format(&whole, "%s%s%.*s", place, kind, (int)length, name);
    bool known = whole.failed || mr_words_have(places, whole.data, whole.length);
    if (!known)
        mr_words_add(places, whole.data, "");
    places->failed = places->failed || whole.failed;
    mr_text_clear(&whole);
    return !known;
}

/* Places with the kernel's name behind them, which ends the message's words. */
static size_t add_named(const char *messages, const char *refused, struct mr_words *places)
{
    size_t count = 0;
    for (const char *at = messages; (at = strstr(at, refused)); at++) {
        struct mr_text exact = {.data = NULL};
        struct mr_words found = {.items = NULL};
        const char *end = at + strlen(refused), *word;
        end += strcspn(end, "'<(\n");
        for (word = end; word[-1] != ':' && word[-1] != '\'';)
            word--;
        mr_text_add(&exact, at, (size_t)(end - at) + (*end != '\0'));
        mr_places_add(messages, mr_text_chars(&exact), &found);
        for (size_t i = 0; i < found.count; i++)
            count += add_place(places, found.items[i], BY_NAME, word, (size_t)(end - word));
        places->failed = places->failed || found.failed || exact.failed;
        mr_words_clear(&found);
        mr_text_clear(&exact);
    }
    return count;
}

static size_t add_unnamed(const char *messages, const char *refused, const char *kind, struct mr_words *places)
{
    struct mr_words found = {.items = NULL};
    size_t count = 0;
    mr_places_add(messages, refused, &found);
    for (size_t i = 0; i < found.count; i++)
        count += add_place(places, found.items[i], kind, "", 0);
    places->failed = places->failed || found.failed;
    mr_words_clear(&found);
    return count;
}

size_t mr_device_launch_places(const char *messages, struct mr_words *places)
{
    struct mr_text plain = {.data = NULL};
    mr_places_plain(messages, strlen(messages), &plain);
    size_t count = add_named(mr_text_chars(&plain), REFUSED, places);
    if (strstr(mr_text_chars(&plain), "call to __global__ function from __"))
        count += add_named(mr_text_chars(&plain), UNMATCHED, places);
    count += add_unnamed(mr_text_chars(&plain), OVERLOADED, BY_ARGUMENTS, places);
    count += add_unnamed(mr_text_chars(&plain), OTHER_TYPES, BY_COUNT, places);
    places->failed = places->failed || plain.failed;
    mr_text_clear(&plain);
    return count;
}

/* What names a kernel, and what makes a launch of it. Parts that are not there are empty. */
struct launch {
    struct mr_cxx_token name;       /* with namespaces, classes and template arguments */
    struct mr_cxx_token configured; /* between <<< and >>> */
    struct mr_cxx_token arguments;  /* between the brackets behind */
    size_t end;                     /* behind >>>, or behind the name */
};

static bool begins_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Behind a group in brackets of any kind; `at` itself if there is none that ends. */
static size_t behind_group(const struct mr_cxx_scanner *s, size_t at)
{
    int depth = 0;
    for (size_t now = at; (now = mr_cxx_behind_blanks(s, now)) < s->length;) {
        struct mr_cxx_token token = mr_cxx_token_at(s, now);
        char c = s->text[now];
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        now = token.end;
        if (depth <= 0)
            return depth == 0 && now > at + 1 ? now : at;
    }
    return at;
}

/* Behind the template arguments that begin at `at`; `at` itself if there are none that end. */
static size_t behind_arguments(const struct mr_cxx_scanner *s, size_t at)
{
    int depth = 0;
    for (size_t now = at; (now = mr_cxx_behind_blanks(s, now)) < s->length;) {
        struct mr_cxx_token token = mr_cxx_token_at(s, now);
        char c = s->text[now];
        if (c == '(' || c == '[') {
            size_t behind = behind_group(s, now);
            if (behind == now)
                return at;
            now = behind;
            continue;
        }
        if (c == ';' || c == '{' || c == '}')
            return at;
        if (c == '<')
            depth += (int)(token.end - token.begin);
        for (size_t i = token.begin; c == '>' && i < token.end; i++)
            if (--depth == 0)
                return i + 1;
        now = token.end;
    }
    return at;
}

/* The `>>>` for the `<<<` in front of `at`: where it begins; 0 if there is none. */
static size_t end_of_configuration(const struct mr_cxx_scanner *s, size_t at)
{
    while ((at = mr_cxx_behind_blanks(s, at)) < s->length) {
        struct mr_cxx_token token = mr_cxx_token_at(s, at);
        char c = s->text[at];
        if (c == '>' && token.end - token.begin >= 3)
            return token.end - 3;
        if (c == ';' || c == '}')
            return 0;
        size_t behind = c == '(' || c == '[' || c == '{' ? behind_group(s, at) : token.end;
        at = behind > at ? behind : token.end;
    }
    return 0;
}

static bool read_launch(const struct mr_cxx_scanner *s, struct mr_cxx_token word, struct launch *launch)
{
    *launch = (struct launch){.name = {mr_cxx_begin_of_name(s->text, word.begin), word.end}, .end = word.end};
    size_t at = mr_cxx_behind_blanks(s, word.end);
    if (mr_cxx_peek(s, at) == '<' && strncmp(s->text + at, "<<<", 3) != 0) {
        size_t behind = behind_arguments(s, at);
        if (behind == at)
            return false;
        launch->name.end = launch->end = behind;
        at = mr_cxx_behind_blanks(s, behind);
    }
    if (strncmp(s->text + at, "<<<", 3) != 0)
        return true;
    launch->configured.begin = at + 3;
    launch->configured.end = end_of_configuration(s, at + 3);
    if (!launch->configured.end)
        return false;
    launch->end = launch->configured.end + 3;
    at = mr_cxx_behind_blanks(s, launch->end);
    size_t behind = behind_group(s, at);
    if (mr_cxx_peek(s, at) != '(' || behind == at)
        return false;
    launch->arguments = (struct mr_cxx_token){at + 1, behind - 1};
    return true;
}

/* A part of the text in one line. */
static void put_part(const struct mr_cxx_scanner *s, struct mr_cxx_token part, struct mr_text *out)
{
    for (size_t i = part.begin; i < part.end; i++)
        mr_text_add(out, s->text[i] == '\n' ? " " : s->text + i, 1);
}

/* How a kernel is found by its name: it is the only one, it is the one for the call's types, or the one for their
 * number. */
enum how { ALONE, TYPES, COUNT };

/* The kernel's type and the kernel, as arguments of a template. */
static void put_kernel(const struct mr_cxx_scanner *s, const struct launch *launch, enum how how, struct mr_text *out)
{
    struct mr_text name = {.data = NULL}, type = {.data = NULL}, found = {.data = NULL};
    put_part(s, launch->name, &name);
    mr_text_put(&type, "decltype(::mr_device_kernel_for(");
    put_part(s, launch->arguments, &type);
    mr_text_put(&type, "))");
    if (how == ALONE)
        mr_text_format(&found, "&%s", mr_text_chars(&name));
    else
        mr_text_format(&found, how == TYPES ? "static_cast<%s>(&%s)" : "::mr_device_overload<%s>::of(&%s)",
                       mr_text_chars(&type), mr_text_chars(&name));
    mr_text_format(out, "<decltype(%s), %s>", mr_text_chars(&found), mr_text_chars(&found));
    out->failed = out->failed || name.failed || type.failed || found.failed;
    mr_text_clear(&found);
    mr_text_clear(&type);
    mr_text_clear(&name);
}

/* Among overloaded kernels clang chooses none inside a function that could not call it, but does inside a class. */
static void put_launch(const struct mr_cxx_scanner *s, const struct launch *launch, enum how how, struct mr_text *out)
{
    bool launches = launch->configured.end > 0;
    mr_text_put(out, !launches      ? "(::mr_device_kernel"
                     : how == ALONE ? "::mr_device_launch"
                                    : "([&]() { struct mr_named { using type = ::mr_device_launch");
    put_kernel(s, launch, how, out);
    mr_text_put(out, !launches ? "::value)" : how == ALONE ? "(" : "; }; return typename mr_named::type(");
    put_part(s, launch->configured, out);
    mr_text_put(out, !launches ? "" : how == ALONE ? ")" : "); }())");
    for (size_t i = launch->name.begin; i < launch->end; i++)
        if (s->text[i] == '\n')
            mr_text_put(out, "\n");
}

/* Takes the `&` away that ends the text, if it takes an address. */
static void drop_address_of(struct mr_text *out)
{
    size_t end = mr_cxx_before_blanks(mr_text_chars(out), out->length);
    if (end == 0 || out->data[end - 1] != '&' || (end > 1 && out->data[end - 2] == '&'))
        return;
    size_t before = mr_cxx_before_blanks(out->data, end - 1);
    if (before == 0 || strchr("=(,{?:;", out->data[before - 1]) || out->data[before - 1] == ')')
        out->data[end - 1] = ' ';
}

/* Whether that was met there, with the word as the kernel's name. */
static bool is_meant(const struct mr_origin *origin, const struct mr_words *places, const char *kind, const char *text,
                     struct mr_cxx_token word)
{
    size_t kind_length = strlen(kind), length = kind_length + word.end - word.begin;
    for (size_t i = 0; i < places->count; i++) {
        size_t whole = strlen(places->items[i]);
        if (whole <= length || memcmp(places->items[i] + whole - length, kind, kind_length) != 0 ||
            memcmp(places->items[i] + whole - length + kind_length, text + word.begin, word.end - word.begin) != 0)
            continue;
        if (mr_origin_is(origin, places->items[i], whole - length))
            return true;
    }
    return false;
}

size_t mr_device_launch_mend(const char *text, const struct mr_words *places, struct mr_text *out)
{
    struct mr_cxx_scanner s = {.text = (char *)text, .length = strlen(text)};
    struct mr_origin origin = {.text = text};
    size_t copied = 0, count = 0;
    for (size_t at = 0; places->count && (at = mr_cxx_behind_blanks(&s, at)) < s.length;) {
        if (text[at] == '#' && (at == 0 || text[at - 1] == '\n')) {
            at += strcspn(text + at, "\n");
            continue;
        }
        struct mr_cxx_token token = mr_cxx_token_at(&s, at);
        struct launch launch;
        at = token.end;
        if (!begins_name(text[token.begin]))
            continue;
        mr_origin_move(&origin, token.begin);
        if (!is_meant(&origin, places, BY_NAME, text, token) || !read_launch(&s, token, &launch))
            continue;
        bool launches = launch.configured.end > 0;
        const struct mr_cxx_token none = {0, 0};
        enum how how = !launches                                             ? ALONE
                       : is_meant(&origin, places, BY_COUNT, text, none)     ? COUNT
                       : is_meant(&origin, places, BY_ARGUMENTS, text, none) ? TYPES
                                                                             : ALONE;
        mr_text_add(out, text + copied, launch.name.begin - copied);
        if (!launches)
            drop_address_of(out);
        put_launch(&s, &launch, how, out);
        copied = at = launch.end;
        count++;
    }
    mr_text_put(out, text + copied);
    return count;
}
