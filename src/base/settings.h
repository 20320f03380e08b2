/* SPDX-License-Identifier: Apache-2.0 */
/* The settings: every MILLRACE_* environment variable in one table (settings.def), read once.
 *
 * `millrace env` and docs/settings.md are made from the same table. A value that can't be understood is reported
 * with a warning that names the variable and what it may hold, and the default is used. */
#ifndef MR_BASE_SETTINGS_H
#define MR_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mr_setting {
#define MR_SETTING(id, name, kind, initial, help) MR_SETTING_##id,
#include "base/settings.def"
#undef MR_SETTING
    MR_SETTING_COUNT
};

enum mr_setting_kind { MR_SETTING_TEXT, MR_SETTING_NUMBER, MR_SETTING_BYTES, MR_SETTING_SWITCH };

struct mr_setting_row {
    const char *name;    /* the environment variable */
    enum mr_setting_kind kind;
    const char *initial; /* the default, as text; "" means: chosen by the driver */
    const char *help;    /* one sentence */
};

/* Gives `say` a sentence for each thing that is wrong with the environment's MILLRACE_* variables: a name that does not
 * exist, with the nearest one that does; a value that can't be understood. */
void mr_settings_faults(void (*say)(void *context, const char *sentence), void *context);

/* Says all that in the log, at level warn, unless the command that started this program has said it. What was said
 * once is not said again when the setting is read. Called when a library sets itself up, behind mr_log_setup. */
void mr_settings_check(void);

/* False: there is something wrong with the setting's value, which mr_settings_check says, or the command has said. */
bool mr_setting_is_good(enum mr_setting setting);

/* As mr_settings_check, for a command: the environment gets a note of what was said, so that the programs which the
 * command starts don't repeat it. No other thread may run. */
void mr_settings_check_for_programs(void);

/* What a setting comes to: the environment's text if it can be understood, else the default's, and the log says so
 * once. As mr_setting_text. */
const char *mr_setting_in_force(enum mr_setting setting);

/* The table's row. */
const struct mr_setting_row *mr_setting_describe(enum mr_setting setting);

/* The environment's text, or the default's. Never NULL; valid until the process ends or the variable changes. */
const char *mr_setting_text(enum mr_setting setting);

/* A number, or a size in bytes (suffixes K, M, G, T are powers of 1024); `fallback` when unset and the default is
 * empty. */
uint64_t mr_setting_number(enum mr_setting setting, uint64_t fallback);

/* The most devices that there can be. */
#define MR_DEVICE_LIMIT 16

/* The number of devices: MILLRACE_DEVICES, or 1 if that is not in 1 to MR_DEVICE_LIMIT. */
unsigned mr_setting_devices(void);

/* The folder of compiled kernels, from MILLRACE_CACHE_DIR or by default. False if neither that nor a home is set, or
 * the path does not fit. */
bool mr_setting_cache_folder(char *out, size_t room);

/* A switch: 1/0, on/off, yes/no, true/false. */
bool mr_setting_on(enum mr_setting setting);

#endif
