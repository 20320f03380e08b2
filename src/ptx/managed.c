/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables in clang's PTX; see managed.h. Works on lines as clang writes them: one declaration is one line,
 * from its first column on. */
#include "ptx/managed.h"

#include <string.h>

#include "ptx/statics.h"

#define WORD "__managed__"
#define SECTION ", section \"millrace_managed\""

bool mr_ptx_managed_in(const char *text, size_t length)
{
    return memmem(text, length, WORD, strlen(WORD)) != NULL;
}

static bool in_file(const char *path)
{
    struct mr_text text = {.data = NULL};
    bool found = mr_text_read(&text, path) && mr_ptx_managed_in(mr_text_chars(&text), text.length);
    mr_text_clear(&text);
    return found;
}

static bool is_ours(const char *path, const char *const *ours, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(path, ours[i], strlen(ours[i])) == 0 && path[strlen(ours[i])] == '/')
            return true;
    return false;
}

bool mr_ptx_managed_in_files(const char *depends, const char *const *ours, size_t count)
{
    struct mr_text path = {.data = NULL};
    const char *at = strstr(depends, ": ");
    bool found = false;
    for (at += at ? 2 : 0; at && !found && mr_text_next_path(&at, &path);)
        found = !is_ours(mr_text_chars(&path), ours, count) && in_file(mr_text_chars(&path));
    mr_text_clear(&path);
    return found;
}

/* PTX has no '.' and '@' in names. */
static void add_name(struct mr_words *names, const char *name, size_t length)
{
    struct mr_text text = {.data = NULL};
    for (size_t i = 0; i < length; i++)
        if (name[i] == '.' || name[i] == '@')
            mr_text_put(&text, "_$_");
        else
            mr_text_add(&text, name + i, 1);
    mr_words_add(names, mr_text_chars(&text), "");
    names->failed = names->failed || text.failed;
    mr_text_clear(&text);
}

void mr_ptx_managed_names(const char *ir, struct mr_words *names)
{
    for (const char *at = ir; *at;) {
        size_t length = strcspn(at, "\n");
        if (*at == '@' && memmem(at, length, SECTION, strlen(SECTION))) {
            bool quoted = at[1] == '"';
            const char *name = at + 1 + quoted;
            add_name(names, name, strcspn(name, quoted ? "\"\n" : " \n"));
        }
        at += length + (at[length] == '\n');
    }
}

/* The offset in the line at which a declaration of one of the names gets its attribute; 0: it is no such line. */
static size_t place_of_attribute(const char *line, const struct mr_words *names)
{
    static const char global[] = ".global ";
    size_t length;
    const char *space, *name = mr_ptx_line_variable(line, &length, &space);
    if (!name || strncmp(space, global, strlen(global)) != 0)
        return 0;
    return mr_words_have(names, name, length) ? (size_t)(space - line) + strlen(global) : 0;
}

void mr_ptx_managed_mark(const char *ptx, const struct mr_words *names, struct mr_text *out)
{
    for (const char *at = ptx; *at;) {
        size_t length = strcspn(at, "\n"), whole = length + (at[length] == '\n');
        size_t place = *at == '.' ? place_of_attribute(at, names) : 0;
        mr_text_add(out, at, place);
        if (place)
            mr_text_put(out, ".attribute(.managed) ");
        mr_text_add(out, at + place, whole - place);
        at += whole;
    }
}
