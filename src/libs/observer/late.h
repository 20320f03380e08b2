/* SPDX-License-Identifier: Apache-2.0 */
/* Late edges: order that is known only when a wait for a value has ended, because whatever wrote the value was asked
 * for later than the wait, or is no operation of a stream's.
 *
 * Clocks are made when a call is made, so they can't hold such order. An edge says: what knows a timeline up to a tick,
 * the wait's, also comes after a point. Two operations that their clocks leave apart are looked up here. There are few
 * edges; the oldest go when there are too many, and what they ordered looks unordered then. */
#ifndef MR_OBSERVER_LATE_H
#define MR_OBSERVER_LATE_H

#include <stdatomic.h>

#include "libs/observer/objects.h"

/* What is behind an edge: a point, and how far a lane of the host had come (0: none). */
struct obs_late_source {
    const struct obs_point *point;
    uint32_t lane;
    uint64_t lane_tick;
    bool own; /* the operation at the tick itself comes after it, too */
};

/* What knows `timeline` up to `tick` comes after the source from now on. Needs the rules' lock. */
void obs_late_add(uint32_t timeline, uint64_t tick, const struct obs_late_source *source);

/* The operation as a source, into `point`, which the caller owns nothing of. */
struct obs_late_source obs_late_source_of(const struct obs_operation *operation, struct obs_point *point);

/* Does `later` come after `earlier` by late edges? Any thread, without the rules' lock. */
extern _Atomic uint32_t obs_late_edges;
bool obs_late_comes_after(const struct obs_operation *later, const struct obs_operation *earlier);

/* The same of two points, by clocks too; with the rules' lock. */
bool obs_late_point_after(const struct obs_point *later, const struct obs_point *earlier);

#endif
