/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks: how far each timeline had come.
 *
 * A timeline is something in which one thing happens after the other: a lane of the host (order.h), or the work that a
 * lane submits to one stream. It has a small number, and each thing on it a tick, from 1 up. A clock says for each
 * timeline up to which tick all is known to have happened; 0: nothing.
 *
 * A clock is never changed once it is shared. It is a tree: a leaf holds the ticks of OBS_CLOCK_FAN neighbouring
 * timelines, an inner node as many subtrees. Clocks that were made of each other share all that is the same, so that
 * one more tick costs a node for each level, however many timelines there are, and a join looks only at what differs.
 * The clock that knows of nothing is NULL.
 *
 * Threads: obs_clock_at and obs_clock_covers may run on any thread while somebody keeps the clock. All other functions
 * need the rules' lock (operation.h), since counts are not atomic. */
#ifndef MR_OBSERVER_CLOCK_H
#define MR_OBSERVER_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBS_CLOCK_FAN = 16 };

struct obs_clock;

/* Up to which tick the clock knows the timeline. */
uint64_t obs_clock_at(const struct obs_clock *clock, uint32_t timeline);

/* Does `clock` know of all that `other` knows? */
bool obs_clock_covers(const struct obs_clock *clock, const struct obs_clock *other);

/* One more reference to the clock, which is returned; obs_clock_drop gives one back. NULL is allowed. */
const struct obs_clock *obs_clock_keep(const struct obs_clock *clock);
void obs_clock_drop(const struct obs_clock *clock);

/* Both take the caller's reference to `clock` and return one to the result, which may be `clock` or `other` itself.
 * When memory is short they return what they could make, and obs_clock_short answers true from then on: what clocks
 * say after that may be less than what is known. */

/* What `clock` knows, and the timeline up to `tick`. */
const struct obs_clock *obs_clock_with(const struct obs_clock *clock, uint32_t timeline, uint64_t tick);
/* What `clock` knows or `other` knows. */
const struct obs_clock *obs_clock_join(const struct obs_clock *clock, const struct obs_clock *other);

bool obs_clock_short(void);

/* Nodes alive, and the bytes that nodes have taken from the system; they are used again, not given back. */
size_t obs_clock_nodes(void);
size_t obs_clock_bytes(void);

#endif
