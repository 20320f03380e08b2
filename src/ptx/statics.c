/* SPDX-License-Identifier: Apache-2.0 */
/* Variables local to a source; see statics.h. Works on lines as clang writes them: one declaration is one line, from its first column on. */
#include "ptx/statics.h"

#include <ctype.h>
#include <string.h>

/* `.visible .global .align 4 .u32 name[10] = {…};` */
const char *mr_ptx_line_variable(const char *line, size_t *length, const char **space)
{
    static const char *const linkages[] = { ".visible ", ".extern ", ".weak ", ".common " }, *const spaces[] = { ".global ", ".const " };
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
            struct mr_text word = { .data = NULL };
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
    struct mr_words wanted = { .items = NULL }, here = { .items = NULL }, names = { .items = NULL };
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
