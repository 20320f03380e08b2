/* SPDX-License-Identifier: Apache-2.0 */
/* The log: formats a line into a buffer on the stack and writes it in one go, so that lines of several threads never
 * mix. */
#include "base/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log_kept.h"
#include "base/settings.h"

enum mr_log_level mr_log_threshold = MR_LOG_WARN; /* what is formatted */
/* All atomic: several threads may set a library up. */
static enum mr_log_level written = MR_LOG_WARN; /* what is written; a driver keeps more (log_kept.h) */
static bool keeping;
static int log_fd = STDERR_FILENO;

static const char *const level_names[] = {"off", "error", "warn", "info", "debug"};

void mr_log_setup(void)
{
    const char *wanted = mr_setting_text(MR_SETTING_LOG);
    enum mr_log_level now = __atomic_load_n(&written, __ATOMIC_RELAXED);
    for (int level = MR_LOG_OFF; level <= MR_LOG_DEBUG; level++)
        if (strcmp(wanted, level_names[level]) == 0)
            now = (enum mr_log_level)level;
    __atomic_store_n(&written, now, __ATOMIC_RELAXED);
    if (__atomic_load_n(&keeping, __ATOMIC_RELAXED) && now < MR_LOG_INFO)
        now = MR_LOG_INFO;
    __atomic_store_n(&mr_log_threshold, now, __ATOMIC_RELAXED);
    const char *path = mr_setting_text(MR_SETTING_LOG_FILE);
    int none = STDERR_FILENO;
    if (*path && __atomic_load_n(&log_fd, __ATOMIC_RELAXED) == none) {
        /* A FIFO that nobody reads is refused instead of waited for. One that somebody reads loses no lines. */
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
        if (fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) == 0) {
            if (!__atomic_compare_exchange_n(&log_fd, &none, fd, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                close(fd); /* another thread was faster */
        } else
            mr_log(MR_LOG_WARN, "cannot open MILLRACE_LOG_FILE '%s'; logging to standard error", path);
    }
}

void mr_log_setup_keeping(void)
{
    mr_log_keep();
    __atomic_store_n(&keeping, true, __ATOMIC_RELAXED);
    mr_log_setup();
}

/* `always`: written whatever the level in force. */
static void put(enum mr_log_level level, bool always, const char *format, va_list arguments)
{
    char line[2048];
    int length = snprintf(line, sizeof line, "millrace: %s: ", level_names[level]);
    int added = vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    if (added > 0)
        length += added;
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    if (level <= MR_LOG_INFO && __atomic_load_n(&keeping, __ATOMIC_RELAXED))
        mr_log_kept_add(level, line + sizeof "millrace: " - 1, (size_t)length - (sizeof "millrace: " - 1));
    if (level > __atomic_load_n(&written, __ATOMIC_RELAXED) && !always)
        return;
    line[length++] = '\n';
    for (int done = 0; done < length;) {
        ssize_t wrote = write(__atomic_load_n(&log_fd, __ATOMIC_RELAXED), line + done, (size_t)(length - done));
        if (wrote <= 0)
            return;
        done += (int)wrote;
    }
}

void mr_log(enum mr_log_level level, const char *format, ...)
{
    if (!mr_log_enabled(level))
        return;
    va_list arguments;
    va_start(arguments, format);
    put(level, false, format, arguments);
    va_end(arguments);
}

void mr_log_always(enum mr_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put(level, true, format, arguments);
    va_end(arguments);
}
