/* SPDX-License-Identifier: Apache-2.0 */
/* What the tool schedule knows and writes down.
 *
 * FOLDER/PID.schedule.json is one process's: "format": "millrace-schedule"; its program's identity; the options; what
 * was decided (struct obs_schedule_counts); and, for a witness, the bytes as they were when each of its operations
 * first began and last ended, in hexadecimal. */
#ifndef MR_OBSERVER_SCHEDULE_TOOL_H
#define MR_OBSERVER_SCHEDULE_TOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/schedule.h"
#include "libs/observer/threads.h"
#include "observe/observe.h"

enum { OBS_KEPT_MOST = 1 << 18 }; /* bytes that are kept; of more, the first ones */

enum obs_kept_when { OBS_HELD_BEGINS, OBS_HELD_ENDS, OBS_AWAITED_BEGINS, OBS_AWAITED_ENDS, OBS_KEPT };

struct obs_kept_bytes {
    uint8_t *bytes; /* room for kept_size; NULL: none are wanted */
    size_t size;    /* 0: none were kept */
};

struct obs_schedule_state {
    struct obs_schedule_options options;
    const char *text; /* the options as they were given */
    const struct obs_schedule *schedule;
    uint64_t identity;  /* of the program; 0: not known */
    bool other_program; /* the witness is another program's */
    _Atomic bool short_of_memory;
    _Atomic uintptr_t address; /* of the bytes; 0: their allocation was not made yet */
    size_t kept_size;
    struct obs_kept_bytes kept[OBS_KEPT];
};
extern struct obs_schedule_state obs_schedule_state;

/* A call that succeeded is about to return: if it made the allocation of the bytes, notes where they are. */
void obs_schedule_find_bytes(const struct mr_observed_call *call, const struct obs_thread *thread);

/* The tool's `write`. */
bool obs_schedule_write(const char *folder, const char *end);

#endif
