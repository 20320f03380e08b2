/* SPDX-License-Identifier: Apache-2.0 */
/* A host half without the bodies of device functions.
 *
 * clang checks in a source's host half what kernels and device functions call, and makes every instance of a template
 * that one of them uses. nvcc's host half does not: there a template may call what is declared under __CUDA_ARCH__
 * alone. So where clang refuses a host half whose device half it took, the source is preprocessed, the bodies of
 * functions of the device are taken out of the text, and what is left is compiled: nothing of the host needs them.
 * Bodies that may say what a function's type is, or that belong to the host as well, are kept.
 *
 * The text is read as tokens, without names being looked up. A function's body is the brace behind a declaration that
 * has an attribute of the device, none of the host, and a list of parameters. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bodies.h"
#include "ptx/ranges.h"
#include "ptx/sized.h"
#include "ptx/spelling.h"
#include "shim.h"

/* What is known of the declaration at hand. */
struct declaration {
    bool host, device, kernel;
    bool open_type;     /* auto without an arrow behind it: the body says what type there is */
    bool constant;      /* constexpr: the host may want the value */
    bool lambda;        /* the attribute is a lambda's */
    bool parameters;    /* a list in parentheses that is no attribute's */
    bool initialisers;  /* a constructor's, or what looks so */
    int last;           /* the last token's last character; attributes do not count */
    bool last_word;     /* it was a name */
    int before;         /* of the token before it */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Behind a literal, a blank or a comment; `at` itself if there is none. Lines that begin with # count as blank. */
static const char *skip_inert(const char *begin, const char *at)
{
    if (*at == '#' && (at == begin || at[-1] == '\n'))
        return at + strcspn(at, "\n");
    if (isspace((unsigned char)*at))
        return at + 1;
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    return at;
}

/* Behind R"mark( ... )mark", which begins at the quote. */
static const char *skip_raw(const char *quote)
{
    char close[20] = ")";
    size_t length = strcspn(quote + 1, "(");
    if (length > 16 || quote[1 + length] != '(')
        return quote + 1;
    memcpy(close + 1, quote + 1, length);
    close[1 + length] = '"';
    close[2 + length] = '\0';
    const char *end = strstr(quote, close);
    return end ? end + length + 2 : quote + strlen(quote);
}

static const char *skip_quoted(const char *at)
{
    char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

/* Behind the token at `at`: a name or number, a literal, or one character. */
static const char *skip_token(const char *at)
{
    const char *end = at;
    if (*at == '"' || *at == '\'')
        return skip_quoted(at);
    while (is_word(*end) || (end > at && *end == '\'' && isdigit((unsigned char)*at) && is_word(end[1])))
        end++;
    if (end > at && *end == '"' && end[-1] == 'R')
        return skip_raw(end);
    return end > at ? end : at + 1;
}

/* Behind what closes the bracket at `at`. */
static const char *skip_group(const char *begin, const char *at, char open, char close)
{
    unsigned depth = 0;
    while (*at) {
        const char *next = skip_inert(begin, at);
        if (next != at) {
            at = next;
            continue;
        }
        depth += *at == open;
        depth -= *at == close;
        at = skip_token(at);
        if (depth == 0)
            break;
    }
    return at;
}

static bool word_is(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && memcmp(at, word, (size_t)(end - at)) == 0;
}

/* Reads the words of an attribute's group. */
static void read_attribute(const char *at, const char *end, struct declaration *declaration)
{
    while (at < end) {
        const char *next = skip_token(at);
        declaration->host = declaration->host || word_is(at, next, "host");
        declaration->device = declaration->device || word_is(at, next, "device");
        declaration->kernel = declaration->kernel || word_is(at, next, "global");
        at = next;
    }
    declaration->lambda = declaration->lambda || (declaration->last == ']' && declaration->before != ']');
}

static void note_token(const char *at, const char *end, struct declaration *declaration)
{
    bool word = is_word(*at);
    declaration->open_type = declaration->open_type || word_is(at, end, "auto");
    declaration->constant = declaration->constant || word_is(at, end, "constexpr") || word_is(at, end, "consteval");
    if (*at == '>' && declaration->last == '-')
        declaration->open_type = false;
    /* One colon, with no other beside it. */
    if (declaration->parameters && declaration->last == ':' && declaration->before != ':' && *at != ':')
        declaration->initialisers = true;
    declaration->before = declaration->last_word ? 'a' : declaration->last;
    declaration->last = (unsigned char)end[-1];
    declaration->last_word = word;
}

/* Does a body begin here that the host does not need? */
static bool is_spare(const struct declaration *declaration)
{
    return (declaration->device || declaration->kernel) && !declaration->host && declaration->parameters &&
           !declaration->open_type && !declaration->constant && !declaration->lambda && !declaration->initialisers &&
           declaration->last != '=' && declaration->last != ']';
}

/* A body that is never run, on as many lines as `at` to `end`, with the marks of lines that are in there. */
static void put_empty(const char *begin, const char *at, const char *end, struct mr_text *out)
{
    mr_text_put(out, "{ __builtin_unreachable(); ");
    while (at < end) {
        size_t length = strcspn(at, "\n");
        bool mark =
            at[0] == '#' && (at == begin || at[-1] == '\n') && isdigit((unsigned char)at[1 + strspn(at + 1, " ")]);
        if (at + length > end)
            break;
        if (mark)
            mr_text_add(out, at, length);
        if (at[length] == '\n' && at + length < end)
            mr_text_put(out, "\n");
        at += length + 1;
    }
    mr_text_put(out, "}");
}

/* A group in parentheses behind one of these words is no list of parameters. */
static bool is_operand(const char *at, const char *end)
{
    static const char *const words[] = {"decltype", "noexcept", "alignas",       "explicit", "sizeof",    "requires",
                                        "asm",      "__asm__",  "static_assert", "_Alignas", "__declspec"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_is(at, end, words[i]))
            return true;
    return false;
}

size_t bodies_drop(const char *text, struct mr_text *out)
{
    const struct declaration nothing = {.last = ';'};
    struct declaration declaration = nothing;
    const char *at = text, *copied = text;
    bool operand = false; /* the last word was one of is_operand's */
    size_t dropped = 0;
    while (*at) {
        const char *end = skip_inert(text, at);
        if (end != at) {
            at = end;
            continue;
        }
        end = skip_token(at);
        if (word_is(at, end, "__attribute__") || word_is(at, end, "__attribute")) {
            const char *group = end + strspn(end, " ");
            at = *group == '(' ? skip_group(text, group, '(', ')') : end;
            read_attribute(group, at, &declaration);
        } else if (*at == '(') {
            /* Lambdas in arguments are left as they are. */
            declaration.parameters = declaration.parameters || !operand;
            at = skip_group(text, at, '(', ')');
            declaration.before = 'a';
            declaration.last = ')';
            declaration.last_word = operand = false;
        } else if (*at == '{' && is_spare(&declaration)) {
            mr_text_add(out, copied, (size_t)(at - copied));
            copied = skip_group(text, at, '{', '}');
            put_empty(text, at, copied, out);
            at = copied;
            declaration = nothing;
            dropped++;
        } else if (*at == ';' || *at == '{' || *at == '}') {
            at = end;
            declaration = nothing;
            operand = false;
        } else {
            note_token(at, end, &declaration);
            operand = is_operand(at, end);
            at = end;
        }
    }
    mr_text_add(out, copied, (size_t)(at - copied));
    return dropped;
}

/* The words of the host half, for a source that is preprocessed. */
static void words_of_text(const struct request *request, const struct mr_words *words, struct mr_words *out)
{
    /* clang's driver hands less of it on for such a text: not for which device it is, nor that it is relocatable. */
    static const char *const more[] = {"-Xclang", "-aux-triple", "-Xclang", "nvptx64-nvidia-cuda", "-Wno-unused"};
    for (size_t i = 0; i < words->count; i++)
        mr_words_add(out,
                     i && strcmp(words->items[i - 1], "-x") == 0 && strcmp(words->items[i], "cuda") == 0
                         ? "cuda-cpp-output"
                         : words->items[i],
                     "");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        mr_words_add(out, more[i], "");
    if (request->relocatable) {
        mr_words_add(out, "-Xclang", "");
        mr_words_add(out, "-fgpu-rdc", "");
    }
    out->failed = out->failed || words->failed;
}

/* The words but the last, -c, as those of a preprocessor. */
static int preprocess(const struct request *request, const struct mr_words *words, const char *source,
                      const char *output)
{
    struct mr_words run = {.items = NULL};
    for (size_t i = 0; i + 1 < words->count; i++)
        mr_words_add(&run, words->items[i], "");
    const char *const last[] = {"-E", "-o", output, "--", source};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(&run, last[i], "");
    int status = step_run(request, &run, NULL);
    mr_words_clear(&run);
    return status;
}

bool bodies_text(const struct request *request, const struct mr_words *words, const char *source, const char *said,
                 const char *output, struct mr_words *out)
{
    struct mr_text text = {.data = NULL}, less = {.data = NULL}, filled = {.data = NULL}, messages = {.data = NULL};
    struct mr_words places = {.items = NULL};
    bool good = preprocess(request, words, source, output) == 0 && file_read(output, &text) && text.data;
    size_t changes = 0;
    if (good) {
        changes = mr_spelling_mend(&text); /* those that macros make */
        changes += bodies_drop(text.data, &less);
        if (access(said, R_OK) == 0 && file_read(said, &messages))
            (void)(mr_sized_places(mr_text_chars(&messages), &places) +
                   mr_ranges_places(mr_text_chars(&messages), &places));
        changes += mr_sized_mend(mr_text_chars(&less), &places, &filled);
    }
    good = good && !less.failed && !filled.failed && !places.failed &&
           file_write(request, output, mr_text_chars(&filled), filled.length);
    if (good)
        words_of_text(request, words, out);
    if (good && mr_ranges_known(&places))
        changes += again_ranges(request, out, output);
    mr_words_clear(&places);
    mr_text_clear(&messages);
    mr_text_clear(&filled);
    mr_text_clear(&text);
    mr_text_clear(&less);
    return good && changes;
}
