/* SPDX-License-Identifier: Apache-2.0 */
/* What a process leaves for the command: one file with its findings, call stacks and modules, from which `millrace
 * check` makes its report. The file is JSON, "format": "millrace-results". */
#ifndef MR_OBSERVER_RESULTS_H
#define MR_OBSERVER_RESULTS_H

#include <stdbool.h>

#include "observe/observe.h"

/* Writes FOLDER/PID.results.json (PID-2 and so on if that was left by another process with the same number): first
 * under another name, then renamed, so that a file with that name is whole. The next time writes the same file anew.
 * `end` is how the process ends ("exit", "signal 11"), or "" while it goes on. False with errno
 * set if the file could not be written; what was there before stays, and the log has a line for each finding. One
 * thread at a time; allocates nothing, so that it serves a process that has crashed. */
bool obs_results_write(const char *folder, const char *end, const struct mr_observed_driver *driver);

#endif
