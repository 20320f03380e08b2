/* SPDX-License-Identifier: Apache-2.0 */
/* What a timeline shows, event by event, for the forms in which it is written. */
#ifndef MILLRACE_TRACE_EVENTS_H
#define MILLRACE_TRACE_EVENTS_H

#include "model.h"

enum event_phase { EVENT_SPAN, EVENT_MARK, EVENT_ARROW };

/* EVENT_LITERAL: a value as JSON has it, in `literal`. */
enum event_type { EVENT_TEXT, EVENT_NUMBER, EVENT_ADDRESS, EVENT_LITERAL };

struct event_detail {
    const char *key, *text;
    uint64_t number;
    enum event_type type;
    char literal[48];
};

enum { EVENT_DETAILS = 20 };

/* Times are from the timeline's start on. A mark has no `to`; an arrow leads from the lane to another one. */
struct event {
    const struct timeline_process *process;
    enum event_phase phase;
    const char *name, *category;
    uint64_t from, to;
    uint32_t lane, to_lane;
    bool critical;
    size_t count;
    struct event_detail details[EVENT_DETAILS];
};

typedef void event_take(void *form, const struct event *event);

/* All events of all processes, in the order of the model. */
void events_each(const struct timeline *timeline, event_take *take, void *form);

#endif
