/* SPDX-License-Identifier: Apache-2.0 */
/* What is done once for many compilations; see prepare.h. Both ways read the device headers before they know the program's macros, which the device headers
 * therefore don't look at, but for NDEBUG. */
#include "nvrtc/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "compile/cache.h"
#include "nvrtc/keep.h"
#include "nvrtc/standby.h"
#include "nvrtc/standby_protocol.h"

void mr_prepare_last_words(struct mr_words *words)
{
    static const char *const last[] = { "-S", "-MD", "-MF/dev/fd/3", "-o-", "-" };
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(words, last[i], "");
}

static bool begins(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

/* A word that defines a macro, or takes its definition back, of which the device headers know nothing. */
static bool is_macro(const char *word)
{
    bool debug = begins(word, "-DNDEBUG") && (word[8] == '\0' || word[8] == '=');
    return begins(word, "-U") || (begins(word, "-D") && !begins(word, "-D__CUDACC_") && !debug);
}

static bool is_device_header(const char *word, const char *device)
{
    size_t length = strlen(device);
    return begins(word, "-include") && strncmp(word + 8, device, length) == 0 && strcmp(word + 8 + length, "/millrace_device.h") == 0;
}

/* Makes the precompiled headers, a file that appears whole. */
static bool make_precompiled(struct mr_words *making, const char *path)
{
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof temporary, "%.3900s/tmp-nvrtc-XXXXXX", mr_cache_folder());
    int fd = mkstemp(temporary);
    if (fd < 0)
        return false;
    close(fd);
    const char *const last[] = { "-S", "-Xclang", "-emit-pch", "-o", temporary, "-" };
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(making, last[i], "");
    struct mr_run run = { .words = making->items, .input = "", .input_length = 0 };
    bool good = !making->failed && mr_run(&run) == MR_RUN_DONE && rename(temporary, path) == 0;
    if (!good)
        unlink(temporary);
    mr_run_forget(&run);
    return good;
}

bool mr_prepare_precompiled(const struct mr_words *words, const char *device, struct mr_words *faster, char path[PATH_MAX])
{
    struct mr_words making = { .items = NULL };
    struct mr_cache_key key;
    bool good = false;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        bool ours = is_device_header(word, device);
        if (ours || !(begins(word, "-I") || begins(word, "-include") || is_macro(word)))
            mr_words_add(&making, word, "");
        if (!ours)
            mr_words_add(faster, word, "");
    }
    if (making.failed || !mr_keep_key(NULL, NULL, &making, device, &key))
        goto done;
    snprintf(path, PATH_MAX, "%.3900s/%016llx%016llx.mrk", mr_cache_folder(), (unsigned long long)key.high, (unsigned long long)key.low);
    if (access(path, R_OK) != 0 && !make_precompiled(&making, path))
        goto done;
    mr_words_add(faster, "-Xclang", "");
    mr_words_add(faster, "-include-pch", "");
    mr_words_add(faster, "-Xclang", "");
    mr_words_add(faster, path, "");
    good = !faster->failed;
done:
    mr_words_clear(&making);
    return good;
}

/* A macro's word as a line of source. False for one that is more than a line. */
static bool put_macro(struct mr_text *text, const char *word)
{
    const char *name = word + 2, *value = strchr(name, '=');
    if (strpbrk(name, "\n\r"))
        return false;
    if (word[1] == 'U')
        mr_text_format(text, "#undef %s\n", name);
    else if (value)
        mr_text_format(text, "#define %.*s %s\n", (int)(value - name), name, value + 1);
    else
        mr_text_format(text, "#define %s 1\n", name);
    return true;
}

/* Which folders a compiler that waits has found at the places of the search path. */
static void add_places(struct mr_words *places, const struct mr_words *words)
{
    struct stat facts;
    char text[64];
    for (size_t i = 0; i < words->count; i++) {
        if (!begins(words->items[i], "-I"))
            continue;
        bool there = stat(words->items[i] + 2, &facts) == 0;
        snprintf(text, sizeof text, "%d %llu %llu", there, there ? (unsigned long long)facts.st_dev : 0, there ? (unsigned long long)facts.st_ino : 0);
        mr_words_add(places, text, "");
    }
}

/* Takes the lines that speak of the waiting compiler's own program out of its messages. */
static void drop_own_lines(struct mr_text *messages)
{
    static const char own[] = "In file included from " MR_STANDBY_NAME ":1:\n";
    char *at;
    while (messages->length && (at = strstr(messages->data, own)) != NULL) {
        size_t length = sizeof own - 1;
        memmove(at, at + length, messages->length - (size_t)(at - messages->data) - length + 1);
        messages->length -= length;
    }
}

bool mr_prepare_header_missing(const struct mr_text *messages)
{
    const char *at = strstr(mr_text_chars(messages), ": fatal error: '");
    return at && strstr(at, "' file not found\n");
}

enum mr_run_status mr_prepare_run_preprocessor(struct mr_run *run, const struct mr_words *words)
{
    static const char *const last[] = { "-E", "-o/dev/null", "-" };
    struct mr_words looking = { .items = NULL };
    enum mr_run_status status = MR_RUN_NOT_STARTED;
    for (size_t i = 0; i < words->count; i++)
        mr_words_add(&looking, words->items[i], "");
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(&looking, last[i], "");
    if (!looking.failed) {
        run->words = looking.items;
        status = mr_run(run);
        run->words = NULL;
    }
    mr_words_clear(&looking);
    return status;
}

enum mr_run_status mr_prepare_run_waiting(struct mr_run *run, const struct mr_words *words, const char *device, const struct mr_folder *folder)
{
    struct mr_words waiting = { .items = NULL }, places = { .items = NULL };
    struct mr_text source = { .data = NULL };
    struct mr_cache_key key;
    struct mr_standby standby;
    enum mr_run_status status = MR_RUN_FAILED;
    bool good = true;
    for (size_t i = 0; i < words->count && good; i++) {
        const char *word = words->items[i];
        if (begins(word, "-include") && !is_device_header(word, device))
            good = false;
        else if (is_macro(word))
            good = put_macro(&source, word);
        else
            mr_words_add(&waiting, folder->search[0] && i == MR_HEADERS_AT ? "-I" MR_STANDBY_HEADERS : word, "");
    }
    mr_prepare_last_words(&waiting);
    mr_words_add(&places, waiting.count ? waiting.items[0] : "", "");
    for (size_t i = 1; i < waiting.count; i++)
        mr_words_add(&places, waiting.items[i], "");
    add_places(&places, &waiting);
    mr_text_add(&source, run->input, run->input_length);
    if (!good || waiting.failed || places.failed || source.failed || !mr_keep_key(NULL, NULL, &places, device, &key) ||
        !mr_standby_take(&standby, key, &waiting))
        goto done;
    standby.folder = folder->search[0] ? folder->search : NULL;
    struct mr_run inside = { .input = source.data, .input_length = source.length, .cancel = run->cancel, .cancel_data = run->cancel_data,
        .standby = &standby };
    status = mr_run(&inside);
    mr_standby_release(&standby);
    bool missing = status == MR_RUN_FAILED && mr_prepare_header_missing(&inside.messages);
    if (status == MR_RUN_DONE || missing) {
        drop_own_lines(&inside.messages);
        run->output = inside.output;
        run->messages = inside.messages;
        run->depends = inside.depends;
        mr_log(MR_LOG_DEBUG, "nvrtcCompileProgram: compiled by a process that waited for it%s", missing ? ", as far as a header that is missing" : "");
    } else {
        mr_run_forget(&inside);
    }
done:
    mr_text_clear(&source);
    mr_words_clear(&places);
    mr_words_clear(&waiting);
    return status;
}
