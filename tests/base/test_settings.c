/* SPDX-License-Identifier: Apache-2.0 */
/* Settings (base/settings.h): each kind's values, and that what can't be understood is reported and the default used.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/settings.h"

static char logged[] = "/tmp/millrace-settings-XXXXXX";
static int log_file;

/* What was logged since the last time. */
static const char *news(void)
{
    static char text[4096];
    ssize_t length = read(log_file, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void every_row_is_whole(void **state)
{
    (void)state;
    for (int i = 0; i < MR_SETTING_COUNT; i++) {
        const struct mr_setting_row *row = mr_setting_describe((enum mr_setting)i);
        size_t length = strlen(row->help);
        assert_int_equal(strncmp(row->name, "MILLRACE_", 9), 0);
        assert_true(length > 10 && row->help[length - 1] == '.');
        for (int j = 0; j < i; j++)
            assert_string_not_equal(row->name, mr_setting_describe((enum mr_setting)j)->name);
        unsetenv(row->name);
        assert_string_equal(mr_setting_text((enum mr_setting)i), row->initial);
        if (row->kind == MR_SETTING_SWITCH)
            assert_int_equal(mr_setting_on((enum mr_setting)i), strcmp(row->initial, "on") == 0);
        if (row->kind == MR_SETTING_NUMBER || row->kind == MR_SETTING_BYTES)
            assert_true(!*row->initial == (mr_setting_number((enum mr_setting)i, 987654321) == 987654321));
    }
    assert_string_equal(news(), "");
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"0", 0},
        {"7", 7},
        {"3K", 3072},
        {"2m", 2u << 20},
        {"1G", 1u << 30},
        {"1T", UINT64_C(1) << 40},
        {"18446744073709551615", UINT64_MAX},
        {"16777215T", UINT64_C(16777215) << 40},
    };
    static const char *const bad[] = {"-1",        " 1",  "1X", "1KB", "K", "0x10", "18446744073709551616",
                                      "16777216T", "1.5G"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        setenv("MILLRACE_CACHE_SIZE", good[i].text, 1);
        assert_true(mr_setting_number(MR_SETTING_CACHE_SIZE, 1) == good[i].value);
    }
    assert_string_equal(news(), "");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("MILLRACE_CACHE_SIZE", bad[i], 1);
        assert_true(mr_setting_number(MR_SETTING_CACHE_SIZE, 1) == UINT64_C(1) << 30);
        const char *said = news();
        if (!strstr(said, "MILLRACE_CACHE_SIZE") || !strstr(said, bad[i]))
            fail_msg("%s: \"%s\"", bad[i], said);
    }
    setenv("MILLRACE_MEMORY", "much", 1); /* has no default of its own */
    assert_int_equal(mr_setting_number(MR_SETTING_MEMORY, 5), 5);
    assert_non_null(strstr(news(), "MILLRACE_MEMORY='much'"));
    setenv("MILLRACE_CACHE_SIZE", "", 1); /* as if it were not set */
    assert_true(mr_setting_number(MR_SETTING_CACHE_SIZE, 1) == UINT64_C(1) << 30);
    assert_string_equal(news(), "");
}

static void switches(void **state)
{
    (void)state;
    static const char *const yes[] = {"1", "on", "Yes", "TRUE"}, *const no[] = {"0", "off", "No", "FALSE"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        setenv("MILLRACE_CACHE", yes[i], 1);
        assert_true(mr_setting_on(MR_SETTING_CACHE));
        setenv("MILLRACE_CACHE", no[i], 1);
        assert_false(mr_setting_on(MR_SETTING_CACHE));
    }
    assert_string_equal(news(), "");
    setenv("MILLRACE_CACHE", "perhaps", 1);
    assert_true(mr_setting_on(MR_SETTING_CACHE));
    assert_non_null(strstr(news(), "MILLRACE_CACHE='perhaps'"));
}

static void choices(void **state)
{
    (void)state;
    news();
    static const struct {
        enum mr_setting setting;
        const char *good, *bad;
    } all[] = {
        {MR_SETTING_COMPUTE_CAPABILITY, "12.1", "4.0"},
        {MR_SETTING_COMPUTE_CAPABILITY, "auto", "8"},
        {MR_SETTING_DRIVER_VERSION, "13.9", "12.9"},
        {MR_SETTING_GUARD, "512", "1024"},
        {MR_SETTING_GUARD, "2", "3"},
        {MR_SETTING_PERF, "jitdump", "Map"},
        {MR_SETTING_CPU, "generic", "Generic"},
        {MR_SETTING_CPU, "generic", "gen"},
        {MR_SETTING_CPU_FEATURES, "", "+nothing-of-the-kind"},
        {MR_SETTING_OBSERVE, "race:strict,mem", "race,memory"},
        {MR_SETTING_OBSERVE, "trace",
         "trace:"
         "a,a-tool-whose-name-is-long"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct mr_setting_row *row = mr_setting_describe(all[i].setting);
        setenv(row->name, all[i].good, 1);
        assert_string_equal(mr_setting_in_force(all[i].setting), all[i].good);
        assert_string_equal(news(), "");
        setenv(row->name, all[i].bad, 1);
        assert_string_equal(mr_setting_in_force(all[i].setting), row->initial);
        assert_non_null(strstr(news(), row->name));
        unsetenv(row->name);
    }
}

/* What a command has said is not said again, in a program that it starts, unless something else is wrong there. */
static void said_once(void **state)
{
    (void)state;
    unsetenv("MILLRACE_CACHE");
    unsetenv("MILLRACE_MEMORY");
    setenv("MILLRACE_DEVICE", "2", 1);
    mr_settings_check();
    assert_non_null(strstr(news(), "did you mean MILLRACE_DEVICES?"));
    assert_null(getenv("MILLRACE_SAID"));
    mr_settings_check_for_programs();
    assert_non_null(strstr(news(), "MILLRACE_DEVICE is no setting"));
    mr_settings_check();
    assert_string_equal(news(), "");
    setenv("MILLRACE_CHAOS", "much", 1);
    mr_settings_check();
    assert_non_null(strstr(news(), "MILLRACE_CHAOS='much' is not a number"));
    mr_settings_check_for_programs();
    news();
    setenv("MILLRACE_CHAOS", "more", 1);
    assert_int_equal(mr_setting_number(MR_SETTING_CHAOS, 3), 3);
    assert_non_null(strstr(news(), "MILLRACE_CHAOS='more' is not a number"));
    unsetenv("MILLRACE_CHAOS");
    unsetenv("MILLRACE_DEVICE");
    unsetenv("MILLRACE_SAID");
    mr_settings_check_for_programs();
    assert_string_equal(news(), "");
    assert_null(getenv("MILLRACE_SAID"));
}

static void the_cache_has_a_folder(void **state)
{
    (void)state;
    char folder[32];
    setenv("MILLRACE_CACHE_DIR", "/there", 1);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("HOME", "/home/me", 1);
    assert_true(mr_setting_cache_folder(folder, sizeof folder));
    assert_string_equal(folder, "/there");
    unsetenv("MILLRACE_CACHE_DIR");
    assert_true(mr_setting_cache_folder(folder, sizeof folder));
    assert_string_equal(folder, "/xdg/millrace");
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    assert_true(mr_setting_cache_folder(folder, sizeof folder));
    assert_string_equal(folder, "/home/me/.cache/millrace");
    assert_false(mr_setting_cache_folder(folder, strlen("/home/me/.cache/millrace")));
    unsetenv("HOME");
    assert_false(mr_setting_cache_folder(folder, sizeof folder));
}

static void devices_are_few(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned devices;
    } cases[] = {{"1", 1}, {"16", MR_DEVICE_LIMIT}, {"17", 1}, {"0", 1}, {"4294967297", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("MILLRACE_DEVICES", cases[i].text, 1);
        assert_int_equal(mr_setting_devices(), cases[i].devices);
    }
    unsetenv("MILLRACE_DEVICES");
    assert_int_equal(mr_setting_devices(), 1);
}

static int set_up(void **state)
{
    (void)state;
    log_file = mkstemp(logged);
    setenv("MILLRACE_LOG_FILE", logged, 1);
    setenv("MILLRACE_LOG", "warn", 1);
    mr_log_setup();
    return log_file < 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(log_file);
    return unlink(logged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole), cmocka_unit_test(numbers),
        cmocka_unit_test(switches),           cmocka_unit_test(the_cache_has_a_folder),
        cmocka_unit_test(devices_are_few),    cmocka_unit_test(choices),
        cmocka_unit_test(said_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
