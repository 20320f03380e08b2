/* SPDX-License-Identifier: Apache-2.0 */
/* The log: one line per message on standard error, or in the file that MILLRACE_LOG_FILE names.
 *
 * MILLRACE_LOG chooses the level: off, error, warn (the default), info, debug. A line reads
 * `millrace: info: cuMemcpyHtoD: 4096 bytes at 0x… run past the end of the allocation (1024 bytes)`.
 * Lines are written whole, with one write call, from any thread. */
#ifndef MR_BASE_LOG_H
#define MR_BASE_LOG_H

#include <stdbool.h>

enum mr_log_level { MR_LOG_OFF, MR_LOG_ERROR, MR_LOG_WARN, MR_LOG_INFO, MR_LOG_DEBUG };

/* The level in force; atomic, read through mr_log_enabled. */
extern enum mr_log_level mr_log_threshold;

static inline bool mr_log_enabled(enum mr_log_level level)
{
    return __builtin_expect(level <= __atomic_load_n(&mr_log_threshold, __ATOMIC_RELAXED), 0);
}

/* Reads the settings; called by a library's initialisation, and again by tests. Any thread. */
void mr_log_setup(void);

/* The driver's: from now on the latest messages up to level info are kept as well, written or not (log_kept.h). */
void mr_log_setup_keeping(void);

/* Writes a line if `level` is enabled. The format has no trailing newline. */
void mr_log(enum mr_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same whatever level is in force, for what has a setting of its own. */
void mr_log_always(enum mr_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
