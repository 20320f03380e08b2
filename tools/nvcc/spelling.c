/* SPDX-License-Identifier: Apache-2.0 */
/* Spellings that nvcc takes and clang does not (ptx/spelling.h), in a source and in the headers that it may include.
 *
 * Headers are looked for as the preprocessor would, but conditions around an include are ignored, and so are names that
 * macros make: beside the file that includes them and in the folders of -I and -isystem. A file with such a spelling is
 * written anew, and an overlay of clang's file system shows the new text in the file's place, so that its name, its
 * lines and what lies beside it are as they were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ptx/spelling.h"
#include "shim.h"

#define FILES_MAX 20000

struct search {
    const struct request *request;
    struct mr_words files;      /* absolute; those before `done` have been read */
    size_t done;
    struct mr_words folders;
    struct mr_text overlay;     /* an entry for each file with a new text */
};

/* An absolute path without . and .. that leads to the same file, as clang makes it of the same name. */
static void add_absolute(struct mr_words *list, const char *path)
{
    char folder[PATH_MAX] = "", whole[2 * PATH_MAX], clean[2 * PATH_MAX];
    size_t length = 0;
    if (*path != '/' && !getcwd(folder, sizeof folder))
        return;
    if (snprintf(whole, sizeof whole, "%s/%s", folder, path) >= (int)sizeof whole)
        return;
    for (const char *at = whole; *(at += strspn(at, "/"));) {
        size_t part = strcspn(at, "/");
        if (part == 2 && at[0] == '.' && at[1] == '.') {
            while (length && clean[--length] != '/')
                ;
        } else if (part != 1 || *at != '.') {
            clean[length++] = '/';
            memcpy(clean + length, at, part);
            length += part;
        }
        at += part;
    }
    if (!mr_words_have(list, clean, length)) {
        clean[length] = '\0';
        mr_words_add(list, clean, "");
    }
}

static bool add_file(struct search *search, const char *folder, size_t folder_length, const char *name, size_t length)
{
    char path[PATH_MAX];
    int size = *name == '/' ? snprintf(path, sizeof path, "%.*s", (int)length, name)
                            : snprintf(path, sizeof path, "%.*s/%.*s", (int)folder_length, folder, (int)length, name);
    if (size < 0 || size >= (int)sizeof path || access(path, R_OK) != 0)
        return false;
    if (search->files.count < FILES_MAX)
        add_absolute(&search->files, path);
    return true;
}

static void add_included(struct search *search, const char *includer, const char *name, size_t length, bool quoted)
{
    const char *slash = strrchr(includer, '/');
    bool found = quoted && add_file(search, includer, slash ? (size_t)(slash - includer) : 0, name, length);
    for (size_t i = 0; i < search->folders.count && !found; i++)
        found = add_file(search, search->folders.items[i], strlen(search->folders.items[i]), name, length);
}

static void add_all_included(struct search *search, const char *includer, const char *text)
{
    for (const char *at = text; (at = strstr(at, "include"));) {
        const char *before = at;
        at += strlen("include");
        while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
            before--;
        bool directive = before > text && before[-1] == '#';
        at += directive && strncmp(at, "_next", 5) == 0 ? 5 : 0;
        const char *name = at + strspn(at, " \t");
        if (!directive || (*name != '"' && *name != '<'))
            continue;
        size_t length = strcspn(name + 1, *name == '"' ? "\"\n" : ">\n");
        add_included(search, includer, name + 1, length, *name == '"');
        at = name + 1 + length;
    }
}

/* A path as a string of JSON. */
static void put_string(struct mr_text *text, const char *path)
{
    mr_text_put(text, "\"");
    for (; *path; path++)
        if (*path == '"' || *path == '\\' || (unsigned char)*path < ' ')
            mr_text_format(text, "\\u%04x", (unsigned char)*path);
        else
            mr_text_add(text, path, 1);
    mr_text_put(text, "\"");
}

static void look_into(struct search *search, const char *path)
{
    struct mr_text text = {.data = NULL};
    if (!file_read(path, &text) || !text.data)
        goto done;
    add_all_included(search, path, text.data);
    if (mr_spelling_mend(&text)) {
        char ending[40];
        snprintf(ending, sizeof ending, ".spelling-%zu", search->done);
        char *copy = step_file(search->request, path, ending);
        if (file_write(search->request, copy, text.data, text.length)) {
            mr_text_put(&search->overlay, search->overlay.length ? ",\n" : "");
            mr_text_put(&search->overlay, "{\"type\": \"file\", \"name\": ");
            put_string(&search->overlay, path);
            mr_text_put(&search->overlay, ", \"external-contents\": ");
            put_string(&search->overlay, copy);
            mr_text_put(&search->overlay, "}");
        }
        mr_free(copy);
    }
done:
    mr_text_clear(&text);
}

static void find_folders(struct search *search)
{
    static const char *const options[] = {"-I", "-isystem", "-iquote"};
    const struct mr_words *words = &search->request->both;
    for (size_t i = 0; i < words->count; i++)
        for (size_t j = 0; j < sizeof options / sizeof *options; j++)
            if (strncmp(words->items[i], options[j], strlen(options[j])) == 0) {
                const char *value = words->items[i] + strlen(options[j]);
                if (!*value && i + 1 < words->count)
                    value = words->items[++i];
                add_absolute(&search->folders, value);
                break;
            }
}

/* The overlay's file for a source, or "" if nothing has to be spelt anew. */
static char *make_overlay(const struct request *request, const char *source)
{
    struct search search = {.request = request};
    struct mr_text file = {.data = NULL};
    char *path = NULL;
    find_folders(&search);
    add_absolute(&search.files, source);
    for (; search.done < search.files.count; search.done++)
        if (access(search.files.items[search.done], R_OK) == 0)
            look_into(&search, search.files.items[search.done]);
    if (search.overlay.length) {
        path = step_file(request, source, ".spelling.json");
        mr_text_put(&file,
                    "{\"version\": 0, \"case-sensitive\": \"true\", \"use-external-names\": \"false\", \"roots\": [\n");
        mr_text_put(&file, mr_text_chars(&search.overlay));
        mr_text_put(&file, "\n]}\n");
        if (file.failed || !file_write(request, path, file.data, file.length)) {
            mr_free(path);
            path = NULL;
        }
    }
    if (search.files.failed || search.folders.failed || search.overlay.failed)
        failed("out of memory, so a spelling may be refused in", source);
    mr_text_clear(&file);
    mr_text_clear(&search.overlay);
    mr_words_clear(&search.files);
    mr_words_clear(&search.folders);
    return path;
}

void spelling_words(const struct request *request, const char *source, struct mr_words *words)
{
    static struct mr_words sources, overlays; /* looked for once: a source is compiled several times */
    size_t i = 0;
    while (i < sources.count && strcmp(sources.items[i], source) != 0)
        i++;
    if (i == sources.count) {
        char *made = make_overlay(request, source);
        mr_words_add(&sources, source, "");
        mr_words_add(&overlays, made ? made : "", "");
        words_check(&overlays);
        mr_free(made);
    }
    if (*overlays.items[i]) {
        mr_words_add(words, "-ivfsoverlay", "");
        mr_words_add(words, overlays.items[i], "");
    }
}
