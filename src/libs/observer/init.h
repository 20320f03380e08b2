/* SPDX-License-Identifier: Apache-2.0 */
/* What the tool init (init.c) could not see, for the summary. */
#ifndef MR_OBSERVER_INIT_H
#define MR_OBSERVER_INIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libs/observer/finding.h"

struct obs_init_seen {
    _Atomic uint64_t rough;     /* accesses that were noted coarsely */
    _Atomic uint64_t libraries; /* works of libraries, which may write any memory */
    _Atomic bool shared;        /* memory is shared with other processes */
};
extern struct obs_init_seen obs_init_seen;

/* Adds it to the summary. Takes no lock. */
void obs_init_summary(struct mr_race_summary *out);

#endif
