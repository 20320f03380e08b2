/* SPDX-License-Identifier: Apache-2.0 */
/* Compilations kept on disk; see keep.h. An item is three texts, each behind its length: the files (size, time and
 * path, NUL-ended each), the output, the messages. The cache checks that it is whole; a length that doesn't fit is
 * still looked for. */
#include "libs/nvrtc/keep.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libs/nvrtc/standby_protocol.h"

/* The compiler's file, looked for as the system does it. */
static bool find_program(const char *name, struct stat *facts)
{
    const char *path = getenv("PATH");
    char full[4096];
    if (strchr(name, '/'))
        return stat(name, facts) == 0;
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        int wrote = snprintf(full, sizeof full, "%.*s/%s", (int)length, at, name);
        if (wrote > 0 && (size_t)wrote < sizeof full && access(full, X_OK) == 0 && stat(full, facts) == 0)
            return true;
        at += length;
        at += *at == ':';
    }
    return false;
}

static void add_file(struct mr_cache_hash *hash, const struct stat *facts)
{
    uint64_t numbers[] = {(uint64_t)facts->st_dev, (uint64_t)facts->st_ino, (uint64_t)facts->st_size,
                          (uint64_t)facts->st_mtim.tv_sec, (uint64_t)facts->st_mtim.tv_nsec};
    mr_cache_hash_add(hash, numbers, sizeof numbers);
}

static int is_header(const struct dirent *one)
{
    return one->d_name[0] != '.';
}

/* Each file of a folder, by size and time. */
static void add_folder(struct mr_cache_hash *hash, const char *folder)
{
    struct dirent **list;
    char path[4096];
    int count = scandir(folder, &list, is_header, alphasort);
    for (int i = 0; i < count; i++) {
        struct stat facts;
        int wrote = snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        if (wrote > 0 && (size_t)wrote < sizeof path && stat(path, &facts) == 0 && S_ISREG(facts.st_mode)) {
            mr_cache_hash_text(hash, path);
            add_file(hash, &facts);
        }
        free(list[i]);
    }
    if (count >= 0)
        free(list);
}

bool mr_keep_key(const struct _nvrtcProgram *program, const struct mr_text *source, const struct mr_words *words,
                 const char *device, struct mr_cache_key *key)
{
    struct mr_cache_hash hash;
    struct stat facts;
    char folder[4096];
    if (!mr_cache_folder() || !find_program(words->items[0], &facts) || !getcwd(folder, sizeof folder) ||
        !mr_cache_hash_begin(&hash))
        return false;
    mr_cache_hash_text(&hash, "nvrtc 2 " MR_VERSION);
    mr_cache_hash_text(&hash, folder);
    add_file(&hash, &facts);
    for (size_t i = 0; i < words->count; i++)
        mr_cache_hash_text(&hash, words->items[i]);
    add_folder(&hash, device);
    snprintf(folder, sizeof folder, "%.4000s/include", device);
    add_folder(&hash, folder);
    if (source)
        mr_cache_hash_add(&hash, source->data, source->length);
    for (size_t i = 0; program && i < program->header_count; i++) {
        mr_cache_hash_text(&hash, program->headers[i].name);
        mr_cache_hash_text(&hash, program->headers[i].text);
    }
    *key = mr_cache_hash_end(&hash);
    return true;
}

/* One of an item's texts; false if it doesn't fit. */
static bool take(const unsigned char **at, size_t *room, const char **data, size_t *length)
{
    uint64_t size;
    if (*room < sizeof size)
        return false;
    memcpy(&size, *at, sizeof size);
    if (size > *room - sizeof size)
        return false;
    *data = (const char *)*at + sizeof size;
    *length = size;
    *at += sizeof size + size;
    *room -= sizeof size + size;
    return true;
}

static void describe(struct mr_text *text, const char *path, const struct stat *facts)
{
    mr_text_format(text, "%lld %lld.%09ld %s", (long long)facts->st_size, (long long)facts->st_mtim.tv_sec,
                   facts->st_mtim.tv_nsec, path);
    mr_text_add(text, "", 1);
}

/* Whether the listed files are as they were. */
static bool unchanged(const char *list, size_t length)
{
    struct mr_text now = {.data = NULL};
    for (const char *at = list; at < list + length;) {
        const char *path = strchr(at, ' ');
        path = path ? strchr(path + 1, ' ') : NULL;
        struct stat facts;
        if (!path || stat(path + 1, &facts) != 0)
            break;
        describe(&now, path + 1, &facts);
        at += strlen(at) + 1;
    }
    bool same = !now.failed && now.length == length && (!length || memcmp(now.data, list, length) == 0);
    mr_text_clear(&now);
    return same;
}

bool mr_keep_find(struct mr_cache_key key, struct mr_text *output, struct mr_text *messages)
{
    struct mr_cache_item item;
    if (!mr_cache_find(key, &item))
        return false;
    const unsigned char *at = item.object;
    size_t room = item.object_size, length[3];
    const char *data[3];
    bool good = take(&at, &room, &data[0], &length[0]) && take(&at, &room, &data[1], &length[1]) &&
                take(&at, &room, &data[2], &length[2]) && (!length[0] || data[0][length[0] - 1] == '\0') &&
                unchanged(data[0], length[0]);
    if (good) {
        mr_text_add(output, data[1], length[1]);
        mr_text_add(messages, data[2], length[2]);
    }
    mr_cache_release(&item);
    return good;
}

static bool later(struct timespec a, struct timespec b)
{
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec >= b.tv_nsec);
}

/* Whether a path is of something in this folder; in none if it is NULL or empty. */
static bool is_under(const char *path, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;
    return length && strncmp(path, folder, length) == 0 && (path[length] == '/' || folder[length - 1] == '/');
}

static bool list_files(struct mr_text *list, const char *depends, const char *temporary, struct timespec begun)
{
    struct mr_text path = {.data = NULL};
    const char *at = strstr(depends, ": ");
    bool good = at != NULL;
    const char *cache = mr_cache_folder();
    for (at += good ? 2 : 0; good && mr_text_next_path(&at, &path);) {
        struct stat facts;
        const char *slash = strrchr(path.data, '/');
        if (strcmp(path.data, "-") == 0 || strcmp(slash ? slash + 1 : path.data, MR_STANDBY_SOURCE) == 0 ||
            is_under(path.data, MR_STANDBY_HEADERS) || is_under(path.data, cache) || is_under(path.data, temporary))
            continue;
        good = stat(path.data, &facts) == 0 && !later(facts.st_mtim, begun) && !later(facts.st_ctim, begun);
        if (good)
            describe(list, path.data, &facts);
    }
    good = good && !path.failed && !list->failed;
    mr_text_clear(&path);
    return good;
}

void mr_keep_store(struct mr_cache_key key, const struct mr_text *output, const struct mr_text *messages,
                   const struct mr_text *depends, const char *temporary, struct timespec begun)
{
    struct mr_text list = {.data = NULL}, all = {.data = NULL};
    if (list_files(&list, mr_text_chars(depends), temporary, begun)) {
        const struct mr_text *parts[] = {&list, output, messages};
        for (size_t i = 0; i < 3; i++) {
            uint64_t size = parts[i]->length;
            mr_text_add(&all, (const char *)&size, sizeof size);
            mr_text_add(&all, mr_text_chars(parts[i]), parts[i]->length);
        }
        if (!all.failed)
            mr_cache_store(
                key, &(struct mr_cache_item){.object = (const unsigned char *)all.data, .object_size = all.length});
    }
    mr_text_clear(&all);
    mr_text_clear(&list);
}

bool mr_keep_older(const struct mr_text *depends, struct timespec begun)
{
    struct mr_text list = {.data = NULL};
    bool older = list_files(&list, mr_text_chars(depends), "", begun);
    mr_text_clear(&list);
    return older;
}
