/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the processes of a run have written (the observer's results.h), and names what is in it. */
#ifndef MILLRACE_REPORT_READ_H
#define MILLRACE_REPORT_READ_H

#include <stdbool.h>

#include "model.h"

/* Adds the results of all processes in `folder` and the folders in it, by the order of their numbers. Findings that
 * have the same sides with the same stacks are one, seen that many times. False, with messages on standard error, if a
 * file can't be read or holds no results: what could be read is added all the same. A folder without files is no error
 * (process_count stays). */
bool report_read(struct report *report, const char *folder);

#endif
