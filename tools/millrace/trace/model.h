/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline: what the processes of a run have left of themselves (src/libs/observer/trace_format.h), put together.
 *
 * Terms.
 *
 * - A span is a time from `from` to `to`, in nanoseconds of CLOCK_MONOTONIC. Calls, works and slices are spans.
 * - A work is one that a stream carried out, or a step of a graph's run (then `node` is not 0).
 * - A slice is one worker's part of a work.
 * - A lane holds spans that are disjoint or inside each other: a host thread's calls, a stream's works, a worker's
 *   slices. Where spans overlap, the later one gets a further lane of the same name.
 * - An arrow goes from a moment in one span to a later one in another.
 *
 * - A range is what the program says that it does (NVTX): one of a thread, one of the process, or a mark, which is a
 *   moment.
 *
 * Members of a process refer to each other by index; NONE stands for no index. */
#ifndef MILLRACE_TRACE_MODEL_H
#define MILLRACE_TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libs/observer/trace_format.h"
#include "observe/observe.h"

#define NONE UINT32_MAX

struct timeline_thread {
    uint64_t thread; /* as the system numbers it */
    char name[16];
};

/* Where calls came from. Texts are NULL where nothing is known. */
struct timeline_site {
    const char *function, *file, *module;
    uint64_t line, offset;
    bool is_known; /* it is in the program, not in the runtime library */
};

struct timeline_call {
    uint64_t from, to, number, event, stream;
    const char *name;
    uint32_t thread, site, lane; /* site: NONE: not known */
    uint32_t range;              /* the innermost one of its thread that it was made in, or NONE */
    const char *event_name;      /* that the program has given it, or NULL */
    enum trace_role role;
    int status;
    bool open; /* it had not returned when the process ended */
};

struct timeline_work {
    uint64_t from, to, bound, work, node, grid, stream, context, bytes;
    const char *kernel; /* its symbol; NULL: it is no kernel */
    const char *name;   /* what it is called in the timeline */
    const char *full;   /* of a kernel: its readable name with parameters */
    uint32_t blocks[3], threads[3];
    uint32_t call, lane; /* call: that bound it, or NONE */
    uint32_t before;     /* the work of its stream that it came after, or NONE */
    enum mr_observed_kind kind;
    int status;
    bool open, critical, is_bound;
};

struct timeline_slice {
    uint64_t from, to, work, node;
    uint32_t worker, of, lane; /* of: the index of the work, or NONE */
};

struct timeline_range {
    uint64_t from, to, domain, payload;
    uint64_t id; /* of one of the process, to find its end */
    const char *text;
    uint32_t thread, category, colour, lane;
    uint32_t around; /* the range of its thread in which it began, or NONE */
    enum trace_range_kind kind;
    enum trace_payload payload_type;
    bool open;
};

/* A name that the program has given. */
struct timeline_given {
    uint64_t key, domain, time;
    const char *text;
    enum trace_given_kind kind;
};

/* A range of the process has ended. */
struct timeline_range_end {
    uint64_t id, time;
};

struct timeline_context {
    uint64_t context;
    uint32_t device;
};

struct timeline_stream {
    uint64_t stream, context;
    enum trace_stream_kind kind;
};

/* In the order in which they are shown, except that a thread's ranges stand above its calls. */
enum lane_kind { LANE_RANGES, LANE_PUSHED, LANE_THREAD, LANE_STREAM, LANE_WORKER };

struct timeline_lane {
    enum lane_kind kind;
    uint64_t id;      /* unique in the timeline; of a host thread, the system's number where that is free */
    uint64_t of;      /* the thread's, stream's, worker's number, the domain's for LANE_RANGES */
    uint64_t domain;  /* of LANE_PUSHED, whose `of` is the thread */
    uint32_t order;   /* from 0 up */
    uint32_t further; /* 0: the first lane of this name */
    char name[128];
};

enum arrow_kind {
    ARROW_SUBMIT,
    ARROW_EVENT,
    ARROW_HOST,
    ARROW_DEFAULT, /* the rules of the legacy default stream */
    ARROW_VALUE,   /* from the write of a value to the wait for it */
    ARROW_STEP,    /* from a graph's run to a step in another lane */
};

/* Ends of arrows are times inside of a span of the lane. */
struct timeline_arrow {
    enum arrow_kind kind;
    uint64_t from, to;
    uint32_t from_lane, to_lane;
    uint32_t from_work, to_work; /* or NONE */
    uint32_t from_call, to_call; /* or NONE */
};

/* All works of one name. */
struct timeline_total {
    const char *name, *full;
    enum mr_observed_kind kind;
    uint64_t count, total, least, most, bytes;
};

/* All ranges of one text and domain. */
struct timeline_range_total {
    const char *text;
    uint64_t domain, count, total, least, most;
    uint64_t works, work; /* works that were asked for inside, and the sum of their times */
};

/* Where an operation of a finding is: a work, or a call. */
struct timeline_end {
    uint64_t time;
    uint32_t lane, work, call;
};

/* What `millrace check` has found. Texts are the report's. */
struct timeline_finding {
    uint32_t number; /* in the report, from 1 up */
    const char *kind, *title, *missing, *advice;
    uint64_t times;
    struct timeline_end ends[2]; /* by time */
    size_t ends_count;
};

struct timeline_figures {
    uint64_t span;          /* from the first moment to the last */
    uint64_t device;        /* from the first work's begin to the last one's end */
    uint64_t busy;          /* at least one kernel, copy, fill or host function ran */
    uint64_t overlap;       /* at least two did */
    uint64_t work;          /* the sum of all their times */
    uint64_t waited;        /* host threads, in calls that wait for work; the sum */
    uint64_t workers, worked; /* workers, and the sum of their slices */
    uint64_t critical, critical_works, critical_host; /* the critical path: works' time, works, the host's time */
};

#define LIST(type, name) \
    type *name; \
    size_t name##_count, name##_room

struct timeline_process {
    uint64_t pid, shown, start, end, lost; /* shown: a number that no other process of the timeline has */
    char how[32], program[TRACE_TEXT];
    LIST(struct timeline_thread, threads);
    LIST(struct timeline_site, sites);
    LIST(struct timeline_call, calls);
    LIST(struct timeline_work, works);
    LIST(struct timeline_slice, slices);
    LIST(struct timeline_lane, lanes);
    LIST(struct timeline_arrow, arrows);
    LIST(struct timeline_total, totals);
    LIST(struct timeline_range, ranges);
    LIST(struct timeline_range_end, range_ends);
    LIST(uint32_t, pushed); /* while reading: ranges of threads that have not ended */
    LIST(struct timeline_given, given);
    LIST(struct timeline_context, contexts);
    LIST(struct timeline_stream, streams);
    LIST(struct timeline_finding, findings);
    LIST(struct timeline_range_total, range_totals);
    struct timeline_figures figures;
    LIST(char *, texts); /* that the process owns */
};

struct timeline {
    LIST(struct timeline_process, processes);
    uint64_t start; /* the first moment */
};

/* Makes room for one more at a list's end; the new element is all 0. NULL: memory is short. */
void *list_grow(void *list, size_t *count, size_t *room, size_t size);
#define ADD(of, name) list_grow(&(of)->name, &(of)->name##_count, &(of)->name##_room, sizeof *(of)->name)

/* Reads all files PID.trace in the folder, processes in the order in which they began; calls and slices are then in the
 * order of time, an outer call before those inside it. False, with a message, if one is not whole or memory is short.
 * read.c */
bool timeline_read(struct timeline *timeline, const char *folder);

/* Takes one record of NVTX's, of the thread `thread`; false: it is no record of NVTX, or memory is short (then *memory
 * is false). ranges.c */
bool ranges_take(struct timeline_process *process, uint32_t thread, const struct trace_record *record, bool *memory);

/* Once all is read: ends ranges, puts them and names in order, and tells each call in which range it was made. `last`:
 * the last moment. False: memory is short. */
bool ranges_put_together(struct timeline_process *process, uint64_t last);

/* The name that a thing had at a time (UINT64_MAX: in the end), and since when; NULL: none. Once all is read. */
const struct timeline_given *ranges_given(const struct timeline_process *process, enum trace_given_kind kind,
                                          uint64_t domain, uint64_t key, uint64_t time);

/* Sums by text. False: memory is short. */
bool ranges_sum(struct timeline_process *process);

/* Gives spans their lanes (lanes.c), finds arrows (link.c). False: memory is short. */
bool timeline_link(struct timeline *timeline);
bool timeline_place(struct timeline_process *process, uint64_t number);

/* Adds what a report of the same run shows; it must stay. After timeline_link. False: memory is short. races.c */
struct report;
bool timeline_add_findings(struct timeline *timeline, const struct report *report);

/* Totals by name, figures, the critical path. False: memory is short. figures.c */
bool timeline_sum(struct timeline *timeline);

void timeline_free(struct timeline *timeline);

/* "kernel", "copy", ... */
const char *timeline_kind(enum mr_observed_kind kind);

/* Chrome's trace format, which Perfetto opens. No text in it has a `<`, so it may stand in a page. chrome.c */
void timeline_write_chrome(FILE *out, const struct timeline *timeline);

/* The same in few bytes, for a page. False: memory is short. packed.c */
bool timeline_write_packed(FILE *out, const struct timeline *timeline);

/* A page of HTML with all of it. False: memory is short. page.c */
bool timeline_write_page(FILE *out, const struct timeline *timeline);

#endif
