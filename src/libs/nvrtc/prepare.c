/* SPDX-License-Identifier: Apache-2.0 */
/* What is done once for many compilations; see prepare.h. Both ways read the device headers before they know the
 * program's macros, which the device headers therefore don't look at, except for NDEBUG and the architecture.
 *
 * Many programs begin with the same includes: CuPy's kernels with four, which take clang longer than all the rest. A
 * compiler that waits reads them too, behind the program's macros, and waits after the last. What it is then given is
 * the source with these lines empty. It has read files that may change: what a compilation lists as included must be
 * older than the compiler that waited. And it must have had nothing to say about them. */
#include "libs/nvrtc/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "compile/cache.h"
#include "libs/nvrtc/keep.h"
#include "libs/nvrtc/standby.h"
#include "libs/nvrtc/standby_protocol.h"

void mr_prepare_last_words(struct mr_words *words)
{
    static const char *const last[MR_LAST_WORDS] = {"-S", "-MD", "-MF/dev/fd/3", "-o-", "-"};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(words, last[i], "");
}

static bool begins(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

/* A word that defines a macro, or takes its definition back, of which the device headers know nothing. They ask for
 * the architecture, which is in such words if clang does not know it. */
static bool is_macro(const char *word)
{
    static const char arch[] = "__CUDA_ARCH__";
    if (strlen(word) >= sizeof arch + 1 && strncmp(word + 2, arch, sizeof arch - 1) == 0 &&
        (word[sizeof arch + 1] == '\0' || word[sizeof arch + 1] == '='))
        return false;
    bool debug = begins(word, "-DNDEBUG") && (word[8] == '\0' || word[8] == '=');
    bool known = begins(word, "-D__CUDACC_") && !begins(word, "-D__CUDACC_RDC__");
    return begins(word, "-U") || (begins(word, "-D") && !known && !debug);
}

static bool is_device_header(const char *word, const char *device)
{
    size_t length = strlen(device);
    return begins(word, "-include") && strncmp(word + 8, device, length) == 0 &&
           strcmp(word + 8 + length, "/millrace_device.h") == 0;
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
    const char *const last[] = {"-S", "-Xclang", "-emit-pch", "-o", temporary, "-"};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(making, last[i], "");
    struct mr_run run = {.words = making->items, .input = "", .input_length = 0};
    bool good = !making->failed && mr_run(&run) == MR_RUN_DONE && rename(temporary, path) == 0;
    if (!good)
        unlink(temporary);
    mr_run_forget(&run);
    return good;
}

bool mr_prepare_precompiled(const struct mr_words *words, const char *device, struct mr_words *faster,
                            char path[PATH_MAX])
{
    struct mr_words making = {.items = NULL};
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
    snprintf(path, PATH_MAX, "%.3900s/%016llx%016llx.mrk", mr_cache_folder(), (unsigned long long)key.high,
             (unsigned long long)key.low);
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
        snprintf(text, sizeof text, "%d %llu %llu", there, there ? (unsigned long long)facts.st_dev : 0,
                 there ? (unsigned long long)facts.st_ino : 0);
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

/* clang ends there, unless there is a header of nearly that name: it then names that one and goes on with it. */
const char *mr_prepare_missing_name(const char *line, size_t size, size_t *place, size_t *length)
{
    static const char *const begins[] = {": fatal error: '", ": error: '"};
    static const char end[] = "' file not found";
    const char *last = memmem(line, size, end, sizeof end - 1);
    for (size_t i = 0; last && i < sizeof begins / sizeof *begins; i++) {
        const char *at = memmem(line, (size_t)(last - line), begins[i], strlen(begins[i]));
        if (!at)
            continue;
        const char *name = at + strlen(begins[i]);
        *place = (size_t)(at - line);
        *length = (size_t)(last - name);
        return name;
    }
    return NULL;
}

bool mr_prepare_header_missing(const struct mr_text *messages)
{
    size_t place, length;
    for (const char *at = mr_text_chars(messages); *at;) {
        size_t line = strcspn(at, "\n");
        if (mr_prepare_missing_name(at, line, &place, &length))
            return true;
        at += line + (at[line] == '\n');
    }
    return false;
}

enum mr_run_status mr_prepare_run_preprocessor(struct mr_run *run, const struct mr_words *words)
{
    static const char *const last[] = {"-E", "-o/dev/null", "-"};
    struct mr_words looking = {.items = NULL};
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

/* The length of the lines at the source's begin that include headers by names in angle brackets, with empty lines
 * between them; 0 if there are none. */
static size_t includes_length(const char *source, size_t length)
{
    static const char blank[] = " \t\r\f\v";
    size_t found = 0;
    for (size_t at = 0; at < length;) {
        const char *line = source + at, *end = memchr(line, '\n', length - at);
        if (!end || memchr(line, '\0', (size_t)(end - line)))
            break;
        at = (size_t)(end - source) + 1;
        line += strspn(line, blank);
        if (line == end)
            continue;
        if (*line++ != '#')
            break;
        line += strspn(line, blank);
        if (!begins(line, "include"))
            break;
        line += 7;
        line += strspn(line, blank);
        size_t name = *line == '<' ? strcspn(line, ">\n\\") : 0;
        if (!name || line[name] != '>')
            break;
        line += name + 1;
        if (line + strspn(line, blank) != end)
            break;
        found = at;
    }
    return found;
}

/* Moves the includes of run->input into `program`, which the compiler reads before it waits, with what stands before
 * them: the macros, and lines of ours before the marker that names the source. The rest, with as many lines, is put
 * into `source`. False, with nothing changed, where there are none, or headers in memory. */
static bool split(const struct mr_run *run, const struct mr_text *macros, const struct mr_folder *folder,
                  struct mr_text *program, struct mr_text *source)
{
    const char *marker = run->input, *begin, *end = run->input + run->input_length;
    if (!begins(marker, "# 1 \""))
        marker = (marker = strstr(marker, "\n# 1 \"")) ? marker + 1 : NULL;
    begin = marker ? strchr(marker, '\n') : NULL;
    if (!begin || folder->search[0])
        return false;
    begin++;
    size_t length = includes_length(begin, (size_t)(end - begin));
    if (!length)
        return false;
    mr_text_put(program, MR_STANDBY_MARKER);
    mr_text_add(program, mr_text_chars(macros), macros->length);
    mr_text_add(program, run->input, (size_t)(marker - run->input));
    mr_text_add(program, begin, length);
    mr_text_put(program, MR_STANDBY_PROGRAM);
    mr_text_add(source, marker, (size_t)(begin - marker));
    for (const char *at = begin; at < begin + length; at++)
        if (*at == '\n')
            mr_text_put(source, "\n");
    mr_text_add(source, begin + length, (size_t)(end - begin) - length);
    return true;
}

/* Whether a compilation in a compiler that had read the program's includes is as good as one that reads them now. */
static bool still_true(const struct mr_run *inside, const struct mr_standby *standby)
{
    return mr_keep_older(&inside->depends, standby->begun) &&
           !strstr(mr_text_chars(&inside->messages), MR_STANDBY_NAME);
}

/* A compiler that waits for this, under a key of its words, the places where it looks for headers, and its program. */
static bool take(struct mr_standby *standby, const struct mr_words *waiting, const struct mr_text *program,
                 const char *device)
{
    struct mr_words places = {.items = NULL};
    struct mr_cache_key key;
    for (size_t i = 0; i < waiting->count; i++)
        mr_words_add(&places, waiting->items[i], "");
    add_places(&places, waiting);
    mr_words_add(&places, mr_text_chars(program), "");
    *standby = (struct mr_standby){.control = -1};
    bool taken = !places.failed && !program->failed && mr_keep_key(NULL, NULL, &places, device, &key) &&
                 mr_standby_take(standby, key, waiting, mr_text_chars(program));
    mr_words_clear(&places);
    return taken;
}

/* Compiles in it; on success, or where a header is missing, the texts are run's. */
static enum mr_run_status run_inside(struct mr_run *run, const struct mr_text *source, const struct mr_standby *standby,
                                     bool reads)
{
    struct mr_run inside = {.input = source->data,
                            .input_length = source->length,
                            .cancel = run->cancel,
                            .cancel_data = run->cancel_data,
                            .standby = standby};
    enum mr_run_status status = mr_run(&inside);
    drop_own_lines(&inside.messages);
    bool missing = status == MR_RUN_FAILED && mr_prepare_header_missing(&inside.messages);
    if (reads && (status == MR_RUN_DONE || missing) && !still_true(&inside, standby)) {
        mr_standby_drop(standby);
        status = MR_RUN_FAILED;
        missing = false;
    }
    if (status == MR_RUN_DONE || missing) {
        run->output = inside.output;
        run->messages = inside.messages;
        run->depends = inside.depends;
        mr_log(MR_LOG_DEBUG, "nvrtcCompileProgram: compiled by a process that waited for it%s%s",
               reads ? " and had read its includes" : "", missing ? ", as far as a header that is missing" : "");
    } else {
        mr_run_forget(&inside);
    }
    return status;
}

enum mr_run_status mr_prepare_run_waiting(struct mr_run *run, const struct mr_words *words, const char *device,
                                          const struct mr_folder *folder)
{
    struct mr_words waiting = {.items = NULL};
    struct mr_text macros = {.data = NULL}, program = {.data = NULL}, source = {.data = NULL};
    struct mr_standby standby = {.control = -1};
    enum mr_run_status status = MR_RUN_FAILED;
    bool good = true;
    for (size_t i = 0; i < words->count && good; i++) {
        const char *word = words->items[i];
        if (begins(word, "-include") && !is_device_header(word, device))
            good = false;
        else if (is_macro(word))
            good = put_macro(&macros, word);
        else
            mr_words_add(&waiting, folder->search[0] && i == MR_HEADERS_AT ? "-I" MR_STANDBY_HEADERS : word, "");
    }
    mr_prepare_last_words(&waiting);
    if (!good || waiting.failed || macros.failed)
        goto done;
    bool reads = split(run, &macros, folder, &program, &source),
         taken = reads && take(&standby, &waiting, &program, device);
    if (!reads || standby.broken) {
        reads = false;
        mr_text_clear(&program);
        mr_text_clear(&source);
        mr_text_put(&program, MR_STANDBY_PROGRAM);
        mr_text_add(&source, mr_text_chars(&macros), macros.length);
        mr_text_add(&source, run->input, run->input_length);
        taken = take(&standby, &waiting, &program, device);
    }
    if (taken && !source.failed) {
        standby.folder = folder->search[0] ? folder->search : NULL;
        status = run_inside(run, &source, &standby, reads);
    }
    mr_standby_release(&standby);
done:
    mr_text_clear(&source);
    mr_text_clear(&program);
    mr_text_clear(&macros);
    mr_words_clear(&waiting);
    return status;
}
