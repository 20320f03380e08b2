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
#include "base/processors.h"

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

enum { SENTENCE = 512 };

/* A number that tells texts apart. (FNV-1a.) */
#define MARK_OF_NOTHING 2166136261u
static uint32_t add_to_mark(uint32_t mark, const char *text)
{
    for (; *text; text++)
        mark = (mark ^ (unsigned char)*text) * 16777619u;
    return mark;
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

/* ---- values that are no use ---- */

static bool is_one_of(const char *const *words, int (*compare)(const char *, const char *), const char *text)
{
    while (*words && compare(*words, text) != 0)
        words++;
    return *words != NULL;
}

static bool is_yes(const char *text)
{
    return is_one_of((const char *const[]){"1", "on", "yes", "true", NULL}, strcasecmp, text);
}

static bool is_no(const char *text)
{
    return is_one_of((const char *const[]){"0", "off", "no", "false", NULL}, strcasecmp, text);
}

/* Settings that are one of some words. */
static const char *const levels[] = {"off", "error", "warn", "info", "debug", NULL};
static const char *const perf_files[] = {"map", "jitdump", "off", NULL};
static const char *const capabilities[] = {"auto",
#define MR_CAPABILITY(major, minor, ...) #major "." #minor,
#include "base/capabilities.def"
#undef MR_CAPABILITY
                                           NULL};
static const char *const versions[] = {"13.0", "13.1", "13.2", "13.3", "13.4", "13.5",
                                       "13.6", "13.7", "13.8", "13.9", NULL};
static const char *const guards[] = {"0", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", NULL};
static const struct {
    enum mr_setting setting;
    const char *const *words;
    const char *what;
} choices[] = {
    {MR_SETTING_LOG, levels, "is no level (off, error, warn, info, debug)"},
    {MR_SETTING_PERF, perf_files, "is not map, jitdump or off"},
    {MR_SETTING_COMPUTE_CAPABILITY, capabilities, "is neither auto nor a compute capability from 5.0 to 12.1"},
    {MR_SETTING_DRIVER_VERSION, versions, "is not a version from 13.0 to 13.9"},
    {MR_SETTING_GUARD, guards, "is not 0, 1, or an alignment (a power of two up to 512)"},
};

/* Tools with commas between, each perhaps with a colon and its options behind it. */
static bool are_tools(const char *list)
{
    static const char *const names[] = {
#define MR_TOOL(name) #name,
#include "base/tools.def"
#undef MR_TOOL
        NULL};
    char name[16];
    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        size_t length = strcspn(list, ",:");
        if (length >= sizeof name)
            return false;
        memcpy(name, list, length);
        name[length] = '\0';
        if (length > 0 && !is_one_of(names, strcmp, name))
            return false;
    }
    return true;
}

/* Settings that a function understands. */
static const struct {
    enum mr_setting setting;
    bool (*is_good)(const char *text);
    const char *what;
} understood[] = {
    {MR_SETTING_CPU, mr_processor_known, "is no processor that code can be made for"},
    {MR_SETTING_CPU_FEATURES, mr_processor_features_known,
     "is not a list of features (+NAME or -NAME, with commas between) that code can be made for"},
    {MR_SETTING_OBSERVE, are_tools,
#define MR_TOOL(name) " " #name
     "names a tool that is none of the observer's, which has"
#include "base/tools.def"
#undef MR_TOOL
    },
};

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
    if (rows[setting].kind == MR_SETTING_SWITCH && !is_yes(text) && !is_no(text))
        return "is neither on nor off";
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (choices[i].setting == setting && !is_one_of(choices[i].words, strcmp, text))
            return choices[i].what;
    if (setting == MR_SETTING_OBSERVE && *mr_setting_text(MR_SETTING_OBSERVER))
        return NULL; /* another library, with tools of its own */
    for (size_t i = 0; i < sizeof understood / sizeof *understood; i++)
        if (understood[i].setting == setting && !understood[i].is_good(text))
            return understood[i].what;
    return NULL;
}

/* Whether a word of MILLRACE_KEEP names something. */
static bool may_be_kept(const char *word, size_t length)
{
    static const char *const things[] = {"ptxas", "devices", "torch"};
    bool is_good = length == 0 || strncmp(word, "lib", 3) == 0;
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        is_good |= strlen(things[i]) == length && memcmp(things[i], word, length) == 0;
    return is_good;
}

/* Marks the setting's value as one that was complained of. False: it was already. */
static bool is_news(enum mr_setting setting)
{
    static uint32_t told[MR_SETTING_COUNT]; /* atomic; a mark of the value that was complained of last */
    uint32_t mark = add_to_mark(MARK_OF_NOTHING, mr_setting_text(setting));
    return __atomic_exchange_n(&told[setting], mark, __ATOMIC_RELAXED) != mark;
}

static void explain(enum mr_setting setting, const char *fault, char *out, size_t room)
{
    const char *outcome = setting == MR_SETTING_OBSERVE ? "nothing is observed" : "the default is used";
    snprintf(out, room, "%s='%.200s' %s; %s%s%s", rows[setting].name, mr_setting_text(setting), fault, outcome,
             *rows[setting].initial ? ": " : "", rows[setting].initial);
}

/* ---- what is wrong with the environment ---- */

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

/* What a command says of the environment, marked, for the programs that it starts. */
static const char said_by_command[] = "MILLRACE_SAID";

/* A name that begins like ours: one of the table, or one that the project's own tests and builds use. Else it is
 * explained in `out`: false. */
static bool is_name_good(const char *name, char *out, size_t room)
{
    static const char *const others[] = {"MILLRACE_TEST_",    "MILLRACE_BENCH_",          "MILLRACE_FAKE_",
                                         "MILLRACE_CLIENTS_", "MILLRACE_STANDBY_SECONDS", "MILLRACE_PYTEST_OUT",
                                         "MILLRACE_SAMPLES",  "MILLRACE_FAULTS",          said_by_command};
    unsigned least = UINT32_MAX;
    const char *nearest = "";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return true;
    for (int i = 0; i < MR_SETTING_COUNT; i++) {
        unsigned far = distance(name, rows[i].name);
        if (far == 0)
            return true;
        if (far < least) {
            least = far;
            nearest = rows[i].name;
        }
    }
    snprintf(out, room, "%s is no setting, and does nothing; %s%s%s'millrace env' lists them all", name,
             least <= 6 ? "did you mean " : "", least <= 6 ? nearest : "", least <= 6 ? "? " : "");
    return false;
}

static void find_faults(void (*say)(void *context, const char *sentence), void *context)
{
    char text[SENTENCE];
    for (char **variable = environ; variable && *variable; variable++) {
        char name[64];
        size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, "MILLRACE_", 9) != 0 || length >= sizeof name)
            continue;
        memcpy(name, *variable, length);
        name[length] = '\0';
        if (!is_name_good(name, text, sizeof text))
            say(context, text);
    }
    for (int i = 0; i < MR_SETTING_COUNT; i++) {
        const char *fault = fault_of((enum mr_setting)i);
        if (!fault)
            continue;
        explain((enum mr_setting)i, fault, text, sizeof text);
        say(context, text);
    }
    size_t length;
    for (const char *word = mr_setting_text(MR_SETTING_KEEP); *word; word += length + (word[length] != '\0')) {
        length = strcspn(word, ", ");
        if (may_be_kept(word, length))
            continue;
        snprintf(text, sizeof text,
                 "%s: '%.*s' is neither a library (libNAME), ptxas, devices nor torch, and is passed over",
                 rows[MR_SETTING_KEEP].name, (int)(length < 200 ? length : 200), word);
        say(context, text);
    }
}

void mr_settings_faults(void (*say)(void *context, const char *sentence), void *context)
{
    find_faults(say, context);
    for (int i = 0; i < MR_SETTING_COUNT; i++)
        if (fault_of((enum mr_setting)i))
            is_news((enum mr_setting)i); /* no longer */
}

static void add_sentence(void *context, const char *sentence)
{
    uint32_t *mark = context;
    *mark += add_to_mark(MARK_OF_NOTHING, sentence); /* in any order: a shell may change it */
}

static void log_sentence(void *context, const char *sentence)
{
    (void)context;
    mr_log(MR_LOG_WARN, "%s", sentence);
}

/* The mark of all that is wrong, as text; "" if nothing is. */
static void mark_faults(char out[16])
{
    uint32_t mark = MARK_OF_NOTHING;
    *out = '\0';
    find_faults(add_sentence, &mark);
    if (mark != MARK_OF_NOTHING)
        snprintf(out, 16, "%08x", mark);
}

/* Whether the command that started this program has said all that is wrong now. */
static bool is_said(void)
{
    char mark[16];
    const char *said = getenv(said_by_command);
    if (!said)
        return false;
    mark_faults(mark);
    return strcmp(said, mark) == 0;
}

void mr_settings_check(void)
{
    if (!is_said())
        mr_settings_faults(log_sentence, NULL);
}

void mr_settings_check_for_programs(void)
{
    char mark[16];
    mr_settings_check();
    mark_faults(mark);
    if (*mark)
        setenv(said_by_command, mark, 1);
}

/* ---- readers ---- */

bool mr_setting_is_good(enum mr_setting setting)
{
    return !fault_of(setting);
}

const char *mr_setting_in_force(enum mr_setting setting)
{
    const char *fault = fault_of(setting);
    char text[SENTENCE];
    if (!fault)
        return mr_setting_text(setting);
    if (is_news(setting) && !is_said()) {
        explain(setting, fault, text, sizeof text);
        mr_log(MR_LOG_WARN, "%s", text);
    }
    return rows[setting].initial;
}

uint64_t mr_setting_number(enum mr_setting setting, uint64_t fallback)
{
    uint64_t value;
    return parse_number(mr_setting_in_force(setting), &value) ? value : fallback;
}

unsigned mr_setting_devices(void)
{
    return (unsigned)mr_setting_number(MR_SETTING_DEVICES, 1);
}

bool mr_setting_on(enum mr_setting setting)
{
    return is_yes(mr_setting_in_force(setting));
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
