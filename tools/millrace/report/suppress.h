/* SPDX-License-Identifier: Apache-2.0 */
/* Suppressions: rules by which findings are left out of a report. */
#ifndef MILLRACE_REPORT_SUPPRESS_H
#define MILLRACE_REPORT_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model.h"

struct suppress_rule {
    char *place;                                  /* "file:line" of the rule */
    struct {
        int key;
        char *pattern;
    } *conditions; /* all must hold */
    size_t condition_count;
    size_t used;                                  /* findings that it has hidden */
};

struct suppressions {
    struct suppress_rule *rules;
    size_t count;
};

/* Adds the rules of a file. False, with a message on standard error that names the file and the line, if it can't be
 * read. */
bool suppress_read(struct suppressions *suppressions, const char *path);

/* Marks each finding that a rule hides, and counts. */
void suppress_apply(struct suppressions *suppressions, struct report *report);

/* Writes a rule that hides this finding and its like, as a line of a suppression file. */
void suppress_write_rule(FILE *out, const struct report_finding *finding);

/* Names the rules that have hidden nothing. */
void suppress_tell_unused(FILE *out, const struct suppressions *suppressions);

void suppress_free(struct suppressions *suppressions);

#endif
