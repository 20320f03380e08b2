/* SPDX-License-Identifier: Apache-2.0 */
/* What check, trace, replay and --explore share: a program that runs with an observer (src/libs/observer), and the
 * folder in which its processes leave what they have seen. `command` is the name in messages: `millrace COMMAND`. */
#ifndef MILLRACE_OBSERVED_H
#define MILLRACE_OBSERVED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "millrace.h"

/* Exit statuses as a shell has them. */
enum { OBSERVED_FAILED = 125, OBSERVED_CANNOT_START = 126, OBSERVED_NOT_FOUND = 127 };

/* Says on standard error that `what` failed for `name`, with errno's reason. Returns false. */
bool observed_cannot(const char *command, const char *what, const char *name);

/* Says that an option's value is not what it may be. Returns 2, the exit status. */
int observed_bad_value(const char *command, const char *option, const char *value, const char *may);

/* Says that an option needs a value. Returns 2. */
int observed_no_value(const char *command, const char *option);

/* Makes a folder of the command's own below TMPDIR, and removes a folder with all that is in it. False, with a
 * message. */
bool observed_make_folder(const char *command, char folder[PATH_MAX]);
void observed_remove_folder(const char *folder);

/* The folder for what processes leave: the user's, made if it is not there, in which there must be no file with this
 * ending; or, for NULL, one of the command's own. False, with a message. */
bool observed_results_folder(const char *command, const char *wanted, const char *ending, char folder[PATH_MAX]);

/* How many files with this ending are in the folder. */
size_t observed_count(const char *folder, const char *ending);

/* Sets the environment for a program with these tools of the observer, whose processes leave their files in the
 * folder. False, with a message. */
bool observed_environment(const char *command, const struct tool_paths *paths, const char *tools, const char *folder);

/* The same for a program that runs on the driver of a GPU: it gets nothing of Millrace's but a driver that hands calls
 * on to that one (src/libs/forward). */
bool observed_environment_gpu(const char *command, const struct tool_paths *paths, const char *tools,
                              const char *folder);

/* Runs the program; *status is its exit status as a shell tells it. False, with a message and *status that of the
 * command: it could not be started. */
bool observed_run(const char *command, char **program, int *status);

#endif
