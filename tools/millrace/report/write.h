/* SPDX-License-Identifier: Apache-2.0 */
/* A report in each of its forms. All write to `out` and leave errors there (ferror). */
#ifndef MILLRACE_REPORT_WRITE_H
#define MILLRACE_REPORT_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "model.h"

struct report_style {
    bool colour;       /* of text: for a terminal */
    bool verbose;      /* of text: modules and processes too */
    bool suppressions; /* of text: a ready rule after each finding */
};

void report_write_text(FILE *out, const struct report *report, const struct report_style *style);

/* False: memory is short, and nothing is written. */
bool report_write_json(FILE *out, const struct report *report);
bool report_write_sarif(FILE *out, const struct report *report);

void report_write_html(FILE *out, const struct report *report);

#endif
