/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of JSON that both forms of a timeline have. No text in them has a `<`, so they may stand in a page. */
#ifndef MILLRACE_TRACE_JSON_H
#define MILLRACE_TRACE_JSON_H

#include "model.h"

/* A text in quotes. */
void json_text(FILE *out, const char *text);

/* A further member of an object: a text, or a time in microseconds with three digits after the point. */
void json_put_text(FILE *out, const char *key, const char *text);
void json_put_time(FILE *out, const char *key, uint64_t time);

/* What viewers sort and colour lanes by. */
const char *json_lane_kind(enum lane_kind kind);

/* The system's number of a host thread, a stream's or a worker's. */
uint64_t json_lane_number(const struct timeline_process *process, const struct timeline_lane *lane);

/* The figures, totals and findings of each process, as the list "processes" (summary.c). */
void json_put_summaries(FILE *out, const struct timeline *timeline);

#endif
