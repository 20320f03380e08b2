/* SPDX-License-Identifier: Apache-2.0 */
/* From what processes have left in a folder to a timeline. */
#ifndef MILLRACE_TRACE_MAKE_H
#define MILLRACE_TRACE_MAKE_H

#include <stdbool.h>
#include <stdio.h>

struct report;

/* Makes the timeline of the processes that have left files in the folder: a page if the name `output` ends with .html,
 * else Chrome's trace format. With a report (else NULL) of the same run, its findings are drawn in. `command` is the
 * name in messages. False, with a message: there is none, or it is not whole. */
bool timeline_make(const char *command, const char *folder, const char *output, FILE *out, const struct report *report);

#endif
