/* SPDX-License-Identifier: Apache-2.0 */
/* A rule is a line of conditions, KEY=PATTERN, with blanks between. A pattern with blanks stands in double quotes; in
 * these a backslash before a quote or a backslash takes its meaning away. A rule hides a finding for which each of its
 * conditions holds. */
#include "suppress.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { KIND, TOOL, KERNEL, FUNCTION, FILE_NAME, MODULE, CALL, KEYS };

static const char *const keys[KEYS] = {"kind", "tool", "kernel", "function", "file", "module", "call"};

static bool fits(const char *pattern, const char *text)
{
    return text && fnmatch(pattern, text, 0) == 0;
}

/* A path fits as a whole or, for a pattern without a slash, by its last part. */
static bool path_fits(const char *pattern, const char *path)
{
    const char *last = path ? strrchr(path, '/') : NULL;
    return fits(pattern, path) || (last && !strchr(pattern, '/') && fits(pattern, last + 1));
}

/* A function fits with its parameters or without. */
static bool function_fits(const char *pattern, const char *function)
{
    if (fits(pattern, function))
        return true;
    const char *parameters = function ? strchr(function, '(') : NULL;
    if (!parameters || parameters == function)
        return false;
    char *name = strndup(function, (size_t)(parameters - function));
    bool result = fits(pattern, name);
    free(name);
    return result;
}

static bool frame_fits(int key, const char *pattern, const struct report_frame *frame)
{
    switch (key) {
    case FUNCTION:
        return function_fits(pattern, frame->function);
    case FILE_NAME:
        return path_fits(pattern, frame->file);
    default:
        return path_fits(pattern, frame->module);
    }
}

static bool side_fits(int key, const char *pattern, const struct report_side *side)
{
    switch (key) {
    case KERNEL:
        return function_fits(pattern, side->kernel) || fits(pattern, side->symbol) ||
               function_fits(pattern, side->within) || fits(pattern, side->within_symbol);
    case CALL:
        return fits(pattern, side->call);
    case FILE_NAME:
        if (path_fits(pattern, side->file))
            return true;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < side->stack.count; i++)
        if (frame_fits(key, pattern, &side->stack.frames[i]))
            return true;
    return false;
}

static bool condition_holds(int key, const char *pattern, const struct report_finding *finding)
{
    if (key == KIND)
        return fits(pattern, finding->kind);
    if (key == TOOL)
        return fits(pattern, finding->tool);
    for (size_t i = 0; i < finding->side_count; i++)
        if (side_fits(key, pattern, &finding->sides[i]))
            return true;
    return false;
}

void suppress_apply(struct suppressions *suppressions, struct report *report)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        struct report_finding *finding = &report->findings[i];
        for (size_t r = 0; !finding->suppressed && r < suppressions->count; r++) {
            struct suppress_rule *rule = &suppressions->rules[r];
            bool holds = true;
            for (size_t c = 0; holds && c < rule->condition_count; c++)
                holds = condition_holds(rule->conditions[c].key, rule->conditions[c].pattern, finding);
            if (holds) {
                finding->suppressed = rule->place;
                rule->used++;
            }
        }
    }
}

static bool bad_line(const char *path, size_t line, const char *what, const char *text)
{
    fprintf(stderr, "%s:%zu: %s: '%s'\n", path, line, what, text);
    return false;
}

/* Takes one pattern from *text into `out`, which has room for it. False: a quote is not closed. */
static bool take_pattern(char **text, char *out)
{
    char *at = *text;
    bool quoted = *at == '"';
    for (at += quoted; *at && (quoted ? *at != '"' : !isspace((unsigned char)*at)); at++) {
        if (quoted && *at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        *out++ = *at;
    }
    *out = 0;
    if (quoted && *at++ != '"')
        return false;
    *text = at;
    return true;
}

/* Does the pattern fit one of the names that findings have under this key? Other keys have any names. */
static bool fits_any(int key, const char *pattern)
{
    static const char *const kinds[] = {
#define MR_KIND(kind, name) name,
#include "libs/observer/kinds.def"
#undef MR_KIND
        NULL};
    static const char *const tools[] = {"race", "mem", "init", NULL};
    bool found = key != KIND && key != TOOL;
    for (const char *const *name = key == KIND ? kinds : tools; !found && *name; name++)
        found = fits(pattern, *name);
    return found;
}

static const char *no_such(int key)
{
    return key == TOOL ? "there is no such tool (race, mem, init)" :
#define MR_KIND(kind, name) " " name
                       "there is no such kind; there are"
#include "libs/observer/kinds.def"
#undef MR_KIND
        ;
}

static bool add_condition(struct suppress_rule *rule, int key, const char *pattern)
{
    void *more = realloc(rule->conditions, (rule->condition_count + 1) * sizeof *rule->conditions);
    char *copy = strdup(pattern);
    if (more)
        rule->conditions = more;
    if (!more || !copy) {
        free(copy);
        return false;
    }
    rule->conditions[rule->condition_count].key = key;
    rule->conditions[rule->condition_count++].pattern = copy;
    return true;
}

/* The conditions of one line, which has no comment left. */
static bool read_rule(struct suppress_rule *rule, char *text, const char *path, size_t line)
{
    char *pattern = malloc(strlen(text) + 1);
    bool good = pattern != NULL;
    while (good) {
        text += strspn(text, " \t");
        if (!*text || *text == '#')
            break;
        size_t length = strcspn(text, "= \t");
        int key = 0;
        while (key < KEYS && (strlen(keys[key]) != length || strncmp(text, keys[key], length) != 0))
            key++;
        if (text[length] != '=' || key == KEYS) {
            good = bad_line(path, line,
                            text[length] != '='
                                ? "a condition has the form KEY=PATTERN"
                                : "there is no such key (kind, tool, kernel, function, file, module, call)",
                            text);
            break;
        }
        char *value = text + length + 1;
        if (!take_pattern(&value, pattern))
            good = bad_line(path, line, "a quote is not closed", text);
        else if (*value && !isspace((unsigned char)*value))
            good = bad_line(path, line, "a blank is missing after the quote", text);
        else if (!*pattern)
            good = bad_line(path, line, "a pattern is empty", text);
        else if (!fits_any(key, pattern))
            good = bad_line(path, line, no_such(key), text);
        else
            good = add_condition(rule, key, pattern) || bad_line(path, line, "memory is short", text);
        text = value;
    }
    free(pattern);
    return good;
}

static void free_rule(struct suppress_rule *rule)
{
    for (size_t i = 0; i < rule->condition_count; i++)
        free(rule->conditions[i].pattern);
    free(rule->conditions);
    free(rule->place);
}

static bool add_line(struct suppressions *suppressions, char *text, const char *path, size_t line)
{
    struct suppress_rule rule = {0};
    char *start = text + strspn(text, " \t");
    if (!*start || *start == '#')
        return true;
    size_t size = strlen(path) + 24;
    rule.place = malloc(size);
    void *more = realloc(suppressions->rules, (suppressions->count + 1) * sizeof *suppressions->rules);
    if (more)
        suppressions->rules = more;
    if (!rule.place || !more) {
        free_rule(&rule);
        return bad_line(path, line, "memory is short", text);
    }
    snprintf(rule.place, size, "%s:%zu", path, line);
    if (!read_rule(&rule, start, path, line)) {
        free_rule(&rule);
        return false;
    }
    suppressions->rules[suppressions->count++] = rule;
    return true;
}

bool suppress_read(struct suppressions *suppressions, const char *path)
{
    char *text = NULL;
    size_t room = 0, line = 0;
    bool good = true;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: cannot read suppressions: %s\n", path, strerror(errno));
        return false;
    }
    errno = 0;
    for (ssize_t length; (length = getline(&text, &room, file)) >= 0;) {
        line++;
        if (memchr(text, 0, (size_t)length)) {
            good = bad_line(path, line, "this is no text", text);
            break;
        }
        text[strcspn(text, "\r\n")] = 0;
        good = add_line(suppressions, text, path, line) && good; /* and the other lines are looked at too */
    }
    if (ferror(file)) {
        fprintf(stderr, "%s: cannot read suppressions: %s\n", path, strerror(errno));
        good = false;
    }
    free(text);
    fclose(file);
    return good;
}

/* A text as a pattern that fits nothing else. */
static void write_pattern(FILE *out, int key, const char *text)
{
    fprintf(out, " %s=\"", keys[key]);
    for (; *text; text++) {
        if (strchr("*?[\\", *text))
            fputs("\\\\", out); /* a backslash of the pattern, which the quotes take as two */
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void suppress_write_rule(FILE *out, const struct report_finding *finding)
{
    fprintf(out, "kind=%s", finding->kind);
    for (size_t i = 0; i < finding->side_count; i++) {
        const struct report_side *side = &finding->sides[i];
        if (side->kernel)
            write_pattern(out, KERNEL, side->kernel);
        else if (side->call)
            fprintf(out, " call=%s", side->call);
        for (size_t f = 0; f < side->stack.count; f++)
            if (side->stack.frames[f].function) {
                write_pattern(out, FUNCTION, side->stack.frames[f].function);
                break;
            }
    }
    fputc('\n', out);
}

void suppress_tell_unused(FILE *out, const struct suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->count; i++)
        if (suppressions->rules[i].used == 0)
            fprintf(out, "%s: this suppression has hidden nothing\n", suppressions->rules[i].place);
}

void suppress_free(struct suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->count; i++)
        free_rule(&suppressions->rules[i]);
    free(suppressions->rules);
    *suppressions = (struct suppressions){0};
}
