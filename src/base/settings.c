/* SPDX-License-Identifier: Apache-2.0 */
/* The settings table and its readers. Nothing is cached here: callers read a setting when they are set up. */
#include "base/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"

static const struct mr_setting_row rows[MR_SETTING_COUNT] = {
#define MR_SETTING(id, name, kind, initial, help) [MR_SETTING_##id] = {name, kind, initial, help},
#include "base/settings.def"
#undef MR_SETTING
};

const struct mr_setting_row *mr_setting_describe(enum mr_setting setting)
{
    return &rows[setting];
}

const char *mr_setting_text(enum mr_setting setting)
{
    const char *value = getenv(rows[setting].name);
    return value && *value ? value : rows[setting].initial;
}

/* Parses a count with an optional binary suffix; false if the text is anything else. */
static bool parse_number(const char *text, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    unsigned shift = 0;
    switch (toupper((unsigned char)*end)) {
    case 'K':
        shift = 10;
        end++;
        break;
    case 'M':
        shift = 20;
        end++;
        break;
    case 'G':
        shift = 30;
        end++;
        break;
    case 'T':
        shift = 40;
        end++;
        break;
    default:
        break;
    }
    if (errno || *end || (shift && value > (UINT64_MAX >> shift)))
        return false;
    *out = (uint64_t)value << shift;
    return true;
}

/* A value that is no use; once. */
static void complain(enum mr_setting setting, const char *what)
{
    static uint32_t told[MR_SETTING_COUNT]; /* atomic; a mark of the value that was complained of last */
    uint32_t mark = 2166136261u;
    for (const char *at = mr_setting_text(setting); *at; at++)
        mark = (mark ^ (unsigned char)*at) * 16777619u;
    if (__atomic_exchange_n(&told[setting], mark, __ATOMIC_RELAXED) != mark)
        mr_log(MR_LOG_WARN, "%s='%s' %s; the default is used%s%s", rows[setting].name, mr_setting_text(setting), what,
               *rows[setting].initial ? ": " : "", rows[setting].initial);
}

uint64_t mr_setting_number(enum mr_setting setting, uint64_t fallback)
{
    uint64_t value;
    const char *text = mr_setting_text(setting);
    if (parse_number(text, &value))
        return value;
    if (*text)
        complain(setting, "is not a number");
    return parse_number(rows[setting].initial, &value) ? value : fallback;
}

unsigned mr_setting_devices(void)
{
    uint64_t wanted = mr_setting_number(MR_SETTING_DEVICES, 1);
    if (wanted >= 1 && wanted <= MR_DEVICE_LIMIT)
        return (unsigned)wanted;
    complain(MR_SETTING_DEVICES, "is not from 1 to 16");
    return 1;
}

bool mr_setting_cache_folder(char *out, size_t room)
{
    const char *wanted = mr_setting_text(MR_SETTING_CACHE_DIR), *base = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int length = -1;
    if (*wanted)
        length = snprintf(out, room, "%s", wanted);
    else if (base && *base == '/')
        length = snprintf(out, room, "%s/millrace", base);
    else if (home && *home == '/')
        length = snprintf(out, room, "%s/.cache/millrace", home);
    return length >= 0 && (size_t)length < room;
}

bool mr_setting_on(enum mr_setting setting)
{
    static const char *const yes[] = {"1", "on", "yes", "true"}, *const no[] = {"0", "off", "no", "false"};
    const char *text = mr_setting_text(setting);
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (strcasecmp(text, yes[i]) == 0)
            return true;
        if (strcasecmp(text, no[i]) == 0)
            return false;
    }
    complain(setting, "is neither on nor off");
    return strcmp(rows[setting].initial, "on") == 0;
}

/* ---- what is wrong with the environment ---- */

/* Settings that are one of some words. */
static const struct {
    enum mr_setting setting;
    const char *words[6], *what;
} choices[] = {
    {MR_SETTING_LOG, {"off", "error", "warn", "info", "debug"}, "is no level (off, error, warn, info, debug)"},
    {MR_SETTING_PERF, {"map", "jitdump", "off"}, "is not map, jitdump or off"},
};

static bool is_choice(size_t row, const char *text)
{
    for (size_t i = 0; i < sizeof choices[row].words / sizeof *choices[row].words && choices[row].words[i]; i++)
        if (strcmp(text, choices[row].words[i]) == 0)
            return true;
    return false;
}

static bool is_switch(const char *text)
{
    static const char *const words[] = {"1", "on", "yes", "true", "0", "off", "no", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* Why the setting's value is no use; NULL: it may be. */
static const char *fault_of(enum mr_setting setting)
{
    const char *text = mr_setting_text(setting);
    uint64_t number = 0;
    bool counts = rows[setting].kind == MR_SETTING_NUMBER || rows[setting].kind == MR_SETTING_BYTES;
    if (!*text)
        return NULL;
    if (counts && !parse_number(text, &number))
        return "is not a number";
    if (setting == MR_SETTING_DEVICES && (number < 1 || number > MR_DEVICE_LIMIT))
        return "is not from 1 to 16";
    if (rows[setting].kind == MR_SETTING_SWITCH && !is_switch(text))
        return "is neither on nor off";
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (choices[i].setting == setting && !is_choice(i, text))
            return choices[i].what;
    return NULL;
}

const char *mr_setting_in_force(enum mr_setting setting)
{
    return fault_of(setting) ? rows[setting].initial : mr_setting_text(setting);
}

/* How many letters must be changed, added or left out to make one text of the other. (Levenshtein's distance.) */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[64];
    size_t width = strlen(b);
    if (width >= sizeof row / sizeof *row)
        return UINT32_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; *a; i++, a++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= width; j++) {
            unsigned changed = corner + (*a != b[j - 1]), shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = changed < shorter ? changed : shorter;
        }
    }
    return row[width];
}

/* A name that begins like ours: one of the table, or one that the project's own tests and builds use. */
static void check_name(const char *name)
{
    static const char *const others[] = {"MILLRACE_TEST_", "MILLRACE_BENCH_", "MILLRACE_FAKE_", "MILLRACE_CLIENTS_",
                                         "MILLRACE_STANDBY_SECONDS"};
    unsigned least = UINT32_MAX;
    const char *nearest = "";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return;
    for (int i = 0; i < MR_SETTING_COUNT; i++) {
        unsigned far = distance(name, rows[i].name);
        if (far == 0)
            return;
        if (far < least) {
            least = far;
            nearest = rows[i].name;
        }
    }
    mr_log(MR_LOG_WARN, "%s is no setting, and does nothing; %s%s%s'millrace env' lists them all", name,
           least <= 6 ? "did you mean " : "", least <= 6 ? nearest : "", least <= 6 ? "? " : "");
}

void mr_settings_check(void)
{
    for (char **variable = environ; variable && *variable; variable++) {
        char name[64];
        size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, "MILLRACE_", 9) != 0 || length >= sizeof name)
            continue;
        memcpy(name, *variable, length);
        name[length] = '\0';
        check_name(name);
    }
    for (int i = 0; i < MR_SETTING_COUNT; i++) {
        const char *fault = fault_of((enum mr_setting)i);
        if (fault)
            complain((enum mr_setting)i, fault);
    }
}
