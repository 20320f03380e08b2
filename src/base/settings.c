/* SPDX-License-Identifier: Apache-2.0 */
/* The settings table and its readers. Nothing is cached here: callers read a setting when they are set up. */
#include "base/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

uint64_t mr_setting_number(enum mr_setting setting, uint64_t fallback)
{
    uint64_t value;
    const char *text = mr_setting_text(setting);
    if (parse_number(text, &value))
        return value;
    if (*text)
        mr_log(MR_LOG_WARN, "%s='%s' is not a number; the default is used", rows[setting].name, text);
    return parse_number(rows[setting].initial, &value) ? value : fallback;
}

unsigned mr_setting_devices(void)
{
    uint64_t wanted = mr_setting_number(MR_SETTING_DEVICES, 1);
    return wanted >= 1 && wanted <= MR_DEVICE_LIMIT ? (unsigned)wanted : 1;
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
    mr_log(MR_LOG_WARN, "%s='%s' is neither on nor off; the default is used", rows[setting].name, text);
    return strcmp(rows[setting].initial, "on") == 0;
}
