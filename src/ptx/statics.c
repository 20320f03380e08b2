/* SPDX-License-Identifier: Apache-2.0 */
/* Variables local to a source; see statics.h. Works on lines as clang writes them: one declaration is one line, from
 * its first column on. */
#include "ptx/statics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* `.visible .global .align 4 .u32 name[10] = {…};` */
const char *mr_ptx_line_variable(const char *line, size_t *length, const char **space)
{
    static const char *const linkages[] = {".visible ", ".extern ", ".weak ", ".common "};
    static const char *const spaces[] = {".global ", ".const "};
    const char *at = line;
    size_t kind = 0;
    for (size_t i = 0; i < sizeof linkages / sizeof *linkages; i++)
        if (strncmp(line, linkages[i], strlen(linkages[i])) == 0)
            at += strlen(linkages[i]);
    *space = at;
    while (kind < 2 && strncmp(at, spaces[kind], strlen(spaces[kind])) != 0)
        kind++;
    if (kind == 2)
        return NULL;
    for (at += strlen(spaces[kind]); *at == '.'; at += strspn(at, " ")) {
        bool align = strncmp(at, ".align ", 7) == 0;
        at += align ? 7 : strcspn(at, " \n");
        at += strspn(at, align ? " 0123456789" : "");
    }
    *length = strcspn(at, " \t\n[;=");
    return at;
}

bool mr_ptx_debug_tells(const char *ptx, const char *name)
{
    static const char row[] = "\n.b64 ";
    size_t length = sizeof row - 1;
    return name >= ptx + length && memcmp(name - length, row, length) == 0;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool is_extern(const char *line)
{
    return strncmp(line, ".extern ", 8) == 0;
}

/* The variables that are declared elsewhere (`wanted`) or here. */
static void find_variables(const char *ptx, bool wanted, struct mr_words *names)
{
    for (const char *at = ptx; *at;) {
        size_t whole = strcspn(at, "\n"), length;
        const char *space, *name = *at == '.' ? mr_ptx_line_variable(at, &length, &space) : NULL;
        if (name && is_extern(at) == wanted) {
            struct mr_text word = {.data = NULL};
            mr_text_add(&word, name, length);
            mr_words_add(names, mr_text_chars(&word), "");
            mr_text_clear(&word);
        }
        at += whole + (at[whole] == '\n');
    }
}

static void replace(const char *ptx, const struct mr_words *names, const char *ending, struct mr_text *out)
{
    for (const char *at = ptx; *at;) {
        size_t length = strcspn(at, "\n"), name_length;
        const char *end = at + length + (at[length] == '\n'), *space;
        const char *declared = is_extern(at) ? mr_ptx_line_variable(at, &name_length, &space) : NULL;
        if (declared && mr_words_have(names, declared, name_length)) {
            at = end;
            continue;
        }
        while (at < end) {
            size_t word = 0, other = 0;
            while (at + word < end && is_name(at[word]))
                word++;
            mr_text_add(out, at, word);
            if (word && mr_words_have(names, at, word))
                mr_text_put(out, ending);
            for (at += word; at + other < end && !is_name(at[other]);)
                other++;
            mr_text_add(out, at, other);
            at += other;
        }
    }
}

/* The ending of the long name that one of `names` is of this short one, or NULL. */
static const char *long_ending(const struct mr_words *names, const char *name)
{
    static const char begin[] = "__static__";
    size_t length = strlen(name);
    for (size_t i = 0; i < names->count; i++)
        if (strncmp(names->items[i], name, length) == 0 && strncmp(names->items[i] + length, begin, strlen(begin)) == 0)
            return names->items[i] + length;
    return NULL;
}

void mr_ptx_join_statics(const char *ptx, struct mr_text *out)
{
    struct mr_words wanted = {.items = NULL}, here = {.items = NULL}, names = {.items = NULL};
    const char *ending = NULL;
    find_variables(ptx, true, &wanted);
    find_variables(ptx, false, &here);
    for (size_t i = 0; i < wanted.count; i++) {
        const char *of_this = long_ending(&here, wanted.items[i]);
        if (!of_this || (ending && strcmp(of_this, ending) != 0))
            continue;
        ending = of_this;
        mr_words_add(&names, wanted.items[i], "");
    }
    if (ending)
        replace(ptx, &names, ending, out);
    else
        mr_text_put(out, ptx);
    out->failed = out->failed || wanted.failed || here.failed || names.failed;
    mr_words_clear(&wanted);
    mr_words_clear(&here);
    mr_words_clear(&names);
}

/* A declaration of a variable, and what else there is of its names. */
struct variable {
    const char *name;
    size_t length;
    bool referred; /* by another line, or by its own initialiser */
    bool drop;
    bool taken; /* something else has its own name */
    const char *own; /* within `name`: the name in the source of a variable of no namespace; else NULL */
    size_t own_length;
};

struct variables {
    struct variable *items;
    size_t count;
};

/* Texts of known length, as strcmp would have them. */
static int compare_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int by_name(const void *a, const void *b)
{
    const struct variable *one = a, *other = b;
    return compare_text(one->name, one->length, other->name, other->length);
}

static struct variable *find(const struct variables *variables, const char *name, size_t length)
{
    struct variable key = {.name = name, .length = length};
    return variables->count ? bsearch(&key, variables->items, variables->count, sizeof key, by_name) : NULL;
}

/* The variable that a line declares in global, constant or shared memory; the last is not what mr_ptx_line_variable
 * finds. */
static const char *declared(const char *line, size_t *length)
{
    static const char shared[] = ".shared ";
    const char *space, *name = *line == '.' ? mr_ptx_line_variable(line, length, &space) : NULL;
    if (name || strncmp(line, shared, strlen(shared)) != 0)
        return name;
    size_t end = strcspn(line, "[;\n"), begin = end;
    while (begin && is_name(line[begin - 1]))
        begin--;
    *length = end - begin;
    return *length ? line + begin : NULL;
}

/* `name` in `_ZL4name`: a variable of no namespace that is local to its source. */
static void set_own_name(struct variable *variable)
{
    char *own;
    if (variable->length < 4 || strncmp(variable->name, "_ZL", 3) != 0 || !isdigit((unsigned char)variable->name[3]))
        return;
    size_t length = strtoul(variable->name + 3, &own, 10);
    if (length && own + length == variable->name + variable->length) {
        variable->own = own;
        variable->own_length = length;
    }
}

static bool begins_with(const char *text, const char *what)
{
    return strncmp(text, what, strlen(what)) == 0;
}

/* Of the C++ library's headers, CUDA's or this project's: by the outermost namespace or class, or by its own name. */
static bool is_of_headers(const struct variable *variable)
{
    static const char *const outermost[] = {
        "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZN4cuda", "_ZN6nvcuda", "_ZN18cooperative_groups"};
    const char *name = variable->name;
    const char *part = begins_with(name, "_ZN") ? name + 3 + strspn(name + 3, "0123456789") : "";
    bool found = begins_with(part, "mr_");
    for (unsigned i = 0; i < sizeof outermost / sizeof *outermost; i++)
        found |= begins_with(name, outermost[i]);
    if (variable->own)
        found |=
            begins_with(variable->own, "mr_") || (variable->own_length == 8 && begins_with(variable->own, "warpSize"));
    return found;
}

/* So many bytes of constants that nothing refers to are kept: the host's may be larger than constant memory is. */
#define CONSTANTS_KEPT 16384u

/* The bytes of a constant with a first value, or more, as clang writes it: `.const .align 4 .b8 name[12] = {…};`.
 * 0: it has no such value. */
static size_t constant_bytes(const char *line, const struct variable *variable)
{
    size_t whole = strcspn(line, "\n");
    const char *behind = variable->name + variable->length,
               *value = memchr(behind, '=', whole - (size_t)(behind - line));
    if (!begins_with(line, ".const ") || !value)
        return 0;
    size_t count = *behind == '[' ? strtoul(behind + 1, NULL, 10) : 1;
    size_t element = strncmp(variable->name - 4, ".b8 ", 4) == 0 ? 1 : 8;
    return count > SIZE_MAX / 8 ? SIZE_MAX : count * element;
}

/* Whether it is left out where nothing refers to it. NVIDIA's compilers keep every variable for the device. What clang
 * puts into .global is one. What it puts into .const may as well be a constant of the host's that kernels could read,
 * and those of headers, templates and functions are left out. */
static bool may_drop(const char *line, const struct variable *variable)
{
    if (begins_with(line, ".visible ") || is_extern(line))
        return false;
    if (begins_with(line, ".shared "))
        return true;
    if (begins_with(line, ".weak .const ") || (begins_with(line, ".const ") && begins_with(variable->name, "_ZZ")))
        return true;
    return begins_with(line, ".const ") ? is_of_headers(variable) : variable->own && begins_with(variable->own, "mr_");
}

static bool list_variables(const char *ptx, struct variables *variables)
{
    size_t room = 0, kept = 0;
    for (const char *at = ptx; *at;) {
        size_t whole = strcspn(at, "\n"), length;
        const char *name = declared(at, &length);
        if (name) {
            if (variables->count == room) {
                struct variable *more = mr_realloc(variables->items, (room = room ? room * 2 : 256) * sizeof *more);
                if (!more)
                    return false;
                variables->items = more;
            }
            struct variable *variable = &variables->items[variables->count++];
            *variable = (struct variable){.name = name, .length = length};
            set_own_name(variable);
            size_t bytes = constant_bytes(at, variable);
            variable->drop = may_drop(at, variable) || bytes > CONSTANTS_KEPT - kept;
            kept += variable->drop ? 0 : bytes;
        }
        at += whole + (at[whole] == '\n');
    }
    if (variables->count)
        qsort(variables->items, variables->count, sizeof *variables->items, by_name);
    return true;
}

/* The length of the name that begins here, or of what stands before the next. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    bool name = is_name(*at);
    while (at[length] && is_name(at[length]) == name)
        length++;
    return length;
}

static int by_own_name(const void *a, const void *b)
{
    const struct variable *one = *(struct variable *const *)a, *other = *(struct variable *const *)b;
    return compare_text(one->own, one->own_length, other->own, other->own_length);
}

/* Notes which variables the text refers to, and which of their own names something else has. */
static bool read_words(const char *ptx, struct variables *variables)
{
    struct variable **own = mr_calloc(variables->count + 1, sizeof *own);
    size_t count = 0;
    if (!own)
        return false;
    for (size_t i = 0; i < variables->count; i++)
        if (variables->items[i].own)
            own[count++] = &variables->items[i];
    if (count)
        qsort(own, count, sizeof *own, by_own_name);
    size_t length;
    for (const char *at = ptx; *at; at += length) {
        length = word_length(at);
        if (!is_name(*at))
            continue;
        struct variable key = {.own = at, .own_length = length}, *wanted = &key,
                        *variable = find(variables, at, length);
        if (variable && variable->name != at && !mr_ptx_debug_tells(ptx, at))
            variable->referred = true;
        struct variable **taken = count ? bsearch(&wanted, own, count, sizeof *own, by_own_name) : NULL;
        if (taken)
            (*taken)->taken = true;
    }
    mr_free(own);
    return true;
}

static bool left_out(const struct variable *variable)
{
    return variable->drop && !variable->referred;
}

static void write_tidied(const char *ptx, const struct variables *variables, struct mr_text *out)
{
    for (const char *at = ptx; *at;) {
        size_t whole = strcspn(at, "\n") + 1, length;
        const char *name = declared(at, &length), *end = at + (at[whole - 1] ? whole : whole - 1);
        const struct variable *declares = name ? find(variables, name, length) : NULL;
        bool drop = declares && left_out(declares);
        for (; at < end; at += length) {
            length = word_length(at);
            if (length > (size_t)(end - at))
                length = (size_t)(end - at);
            const struct variable *variable = is_name(*at) ? find(variables, at, length) : NULL;
            bool own = variable && variable->own && !variable->taken;
            if (variable && left_out(variable) && mr_ptx_debug_tells(ptx, at))
                mr_text_put(out, "0");
            else if (!drop)
                mr_text_add(out, own ? variable->own : at, own ? variable->own_length : length);
        }
    }
}

void mr_ptx_tidy_statics(const char *ptx, struct mr_text *out)
{
    struct variables variables = {.items = NULL};
    if (list_variables(ptx, &variables) && read_words(ptx, &variables))
        write_tidied(ptx, &variables, out);
    else
        out->failed = true;
    mr_free(variables.items);
}

void mr_ptx_define_externs(const char *ptx, struct mr_text *out)
{
    static const char external[] = ".extern ", *const spaces[] = {".const ", ".global "};
    for (const char *at = ptx; *at;) {
        size_t length = strcspn(at, "\n"), whole = length + (at[length] == '\n');
        const char *space = at + strlen(external);
        bool defines = strncmp(at, external, strlen(external)) == 0 && !memmem(at, length, "[]", 2);
        if (defines &&
            (strncmp(space, spaces[0], strlen(spaces[0])) == 0 || strncmp(space, spaces[1], strlen(spaces[1])) == 0)) {
            mr_text_put(out, ".visible ");
            mr_text_add(out, space, whole - strlen(external));
        } else {
            mr_text_add(out, at, whole);
        }
        at += whole;
    }
}
