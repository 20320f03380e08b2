/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that goes with its context, and memory that nobody frees, for the tool mem. */
#ifndef MR_OBSERVER_MEM_LEAK_H
#define MR_OBSERVER_MEM_LEAK_H

#include "observe/observe.h"

/* After a call that may have ended or reset a context: what the driver has no more has ended. */
void obs_mem_context_ended(const struct mr_observed_driver *driver);

/* The program ends: makes a finding for each call site whose memory is still there. Device memory, that of pools and
 * graphs, pinned and managed memory, and memory of cuMemCreate count; modules' variables, arrays, registered and
 * imported memory do not. Takes locks, allocates. */
void obs_mem_find_leaks(const struct mr_observed_driver *driver);

#endif
