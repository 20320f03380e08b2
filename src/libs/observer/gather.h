/* SPDX-License-Identifier: Apache-2.0 */
/* Many small boxes become few shapes.
 *
 * A kernel's accesses are told site by site and worker by worker, scattered ones as many runs of a few bytes. Runs and
 * rows that go on where others end are joined, evenly spaced runs become rows, and what is left is one scattered shape
 * (shape.h). No byte is added or lost. */
#ifndef MR_OBSERVER_GATHER_H
#define MR_OBSERVER_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include "libs/observer/shape.h"

/* Works in place on shapes that are not scattered, sorted by their first byte. Returns how many are left; scattered
 * ones among them are the caller's. When memory is short, runs stay by themselves. */
size_t obs_gather(struct obs_shape *shapes, size_t count);

#endif
