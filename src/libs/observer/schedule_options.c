/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule's options, as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libs/observer/schedule.h"

enum { WORD_MOST = 160 };

/* A number at *at, of digits alone; *at goes behind it. */
static bool number_at(const char **at, int base, uint64_t most, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    char *end;
    if (!**at || !memchr(digits, **at, (size_t)base))
        return false;
    errno = 0;
    *out = strtoull(*at, &end, base);
    bool good = errno == 0 && *out <= most && end > *at;
    *at = end;
    return good;
}

static bool sign_at(const char **at, char sign)
{
    bool there = **at == sign;
    *at += there;
    return there;
}

/* THREAD.CALL */
static bool call_at(const char **at, uint32_t *thread, uint64_t *call)
{
    uint64_t number = 0;
    if (!number_at(at, 10, UINT32_MAX, &number) || number == 0 || !sign_at(at, '.'))
        return false;
    *thread = (uint32_t)number;
    return number_at(at, 10, UINT64_MAX, call) && *call > 0;
}

static bool read_name(const char *text, struct obs_operation_name *out)
{
    uint64_t work = 0;
    *out = (struct obs_operation_name){0};
    if (strcmp(text, "rest") == 0) {
        out->kind = OBS_REST;
        return true;
    }
    if (!call_at(&text, &out->thread, &out->call) ||
        (sign_at(&text, '.') && !number_at(&text, 10, UINT32_MAX, &work)) ||
        (sign_at(&text, '@') && !number_at(&text, 16, UINT64_MAX, &out->node)))
        return false;
    out->work = (uint32_t)work;
    if (!out->work && !out->node && sign_at(&text, '+'))
        out->kind = OBS_OF_CODE;
    return !*text;
}

static bool read_bytes(const char *text, struct obs_bytes_name *out)
{
    return call_at(&text, &out->thread, &out->call) && sign_at(&text, '+') &&
           number_at(&text, 10, UINT64_MAX, &out->offset) && sign_at(&text, '+') &&
           number_at(&text, 10, UINT64_MAX, &out->size) && out->size > 0 && !*text;
}

static bool read_number(const char *text, int base, uint64_t least, uint64_t most, uint64_t *out)
{
    return number_at(&text, base, most, out) && *out >= least && !*text;
}

void obs_schedule_write_name(const struct obs_operation_name *name, char *out, size_t size)
{
    char work[16] = "", node[24] = "";
    if (name->kind == OBS_REST) {
        snprintf(out, size, "rest");
        return;
    }
    if (name->work)
        snprintf(work, sizeof work, ".%" PRIu32, name->work);
    if (name->node)
        snprintf(node, sizeof node, "@%" PRIx64, name->node);
    snprintf(out, size, "%" PRIu32 ".%" PRIu64 "%s%s%s", name->thread, name->call, work, node,
             name->kind == OBS_OF_CODE ? "+" : "");
}

struct seen {
    bool hold, until;
};

/* KEY=VALUE */
static bool read_value(const char *key, const char *value, struct obs_schedule_options *out, struct seen *seen)
{
    uint64_t number = 0;
    if (strcmp(key, "seed") == 0)
        return read_number(value, 10, 0, UINT64_MAX, &out->seed);
    if (strcmp(key, "length") == 0)
        return read_number(value, 10, 1, UINT64_MAX, &out->length);
    if (strcmp(key, "program") == 0)
        return read_number(value, 16, 1, UINT64_MAX, &out->program);
    if (strcmp(key, "bytes") == 0)
        return read_bytes(value, &out->bytes);
    if (strcmp(key, "hold") == 0)
        return seen->hold = read_name(value, &out->hold) && out->hold.kind != OBS_REST;
    if (strcmp(key, "until") == 0)
        return seen->until = read_name(value, &out->until);
    if (strcmp(key, "depth") == 0 && read_number(value, 10, 1, OBS_DEPTH_MOST, &number)) {
        out->depth = (uint32_t)number;
        return true;
    }
    if (strcmp(key, "patience") == 0 && read_number(value, 10, 1, 3600000, &number)) {
        out->patience = (unsigned)number;
        return true;
    }
    return false;
}

static bool read_word(char *word, struct obs_schedule_options *out, struct seen *seen)
{
    static const char *const modes[] = {[OBS_PLAIN] = "plain",
                                        [OBS_EAGER] = "eager",
                                        [OBS_LATE] = "late",
                                        [OBS_REVERSED] = "reversed",
                                        [OBS_RANDOM] = "random"};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(word, modes[i]) == 0) {
            out->mode = (enum obs_schedule_mode)i;
            return true;
        }
    char *equals = strchr(word, '=');
    if (!equals)
        return false;
    *equals = 0;
    bool good = read_value(word, equals + 1, out, seen);
    *equals = '=';
    return good;
}

bool obs_schedule_read(const char *text, struct obs_schedule_options *out, char *problem, size_t size)
{
    struct seen seen = {0};
    *out = (struct obs_schedule_options){.depth = OBS_DEPTH, .length = OBS_LENGTH, .patience = OBS_PATIENCE};
    while (*text) {
        char word[WORD_MOST];
        size_t length = strcspn(text, ":");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), text);
        if (length >= sizeof word || !read_word(word, out, &seen)) {
            snprintf(
                problem, size,
                "'%s' is no option of a schedule: there are plain, eager, late, reversed, random, seed=N, depth=N, "
                "length=N, patience=MS, hold=NAME, until=NAME, bytes=THREAD.CALL+OFFSET+SIZE and program=HEX",
                word);
            return false;
        }
        text += length + (text[length] == ':');
    }
    if (seen.hold != seen.until || (seen.hold && out->mode != OBS_PLAIN && out->mode != OBS_EAGER)) {
        snprintf(problem, size, "hold=NAME and until=NAME belong together, and to the schedules plain and eager");
        return false;
    }
    out->witness = seen.hold;
    return true;
}
