/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: sets of bytes that an operation touched, kept as compactly as they were told.
 *
 * A run is a range of neighbouring bytes. A shape is one run; or rows, runs of one width that lie a pitch apart (the
 * columns of a matrix, one member of many structures); or scattered runs, sorted. What a shape costs does not depend on
 * how many bytes it has, and for the first two not on how many runs.
 *
 * Whether two shapes meet is answered exactly: at once for one run and for rows, also for rows of different pitches;
 * in the number of runs for scattered ones. What is left of a shape when another is taken away is sometimes answered
 * with a little too much (obs_shape_subtract).
 *
 * Shapes are values; scattered runs are owned by the shape and are never changed. No locks, no threads. */
#ifndef MR_OBSERVER_SHAPE_H
#define MR_OBSERVER_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/observe.h"

/* first up to end - 1. */
struct obs_run {
    uintptr_t first, end;
};

/* Scattered runs: offsets from the shape's first byte, sorted, with gaps between them. */
struct obs_runs {
    uint32_t count;
    struct {
        uint32_t first, end;
    } run[];
};

struct obs_shape {
    uintptr_t first, end; /* of all of its bytes */
    size_t width, rows, pitch; /* one run: rows is 1, width is end - first, pitch is 0 */
    struct obs_runs *runs; /* scattered; rows is then 0 */
};

enum { OBS_SHAPE_PIECES = 4 };

struct obs_shape obs_shape_run(uintptr_t first, uintptr_t end); /* first < end */

/* Rows; those that touch or overlap each other are one run. rows and width are not 0. */
struct obs_shape obs_shape_rows(uintptr_t first, size_t width, size_t rows, size_t pitch);

/* Sorted runs with gaps between them, at most 4 GB from first to last. False: memory is short. */
bool obs_shape_scattered(const struct obs_run *runs, size_t count, struct obs_shape *out);

void obs_shape_free(struct obs_shape *shape);

/* Another shape of the same bytes, for the caller; false: memory is short. */
bool obs_shape_copy(const struct obs_shape *shape, struct obs_shape *out);

/* Bytes of memory that the shape has taken beside itself. */
size_t obs_shape_memory(const struct obs_shape *shape);

/* The first run of the shape that ends behind `at`; false: there is none. */
bool obs_shape_run_at(const struct obs_shape *shape, uintptr_t at, struct obs_run *out);

/* Have they a byte in common? `out` is then the first run of common bytes. */
bool obs_shape_meet(const struct obs_shape *one, const struct obs_shape *other, struct obs_run *out);

/* Has `shape` all bytes of `other`? */
bool obs_shape_covers(const struct obs_shape *shape, const struct obs_shape *other);

/* What is left of `from` without `minus`: fills in at most OBS_SHAPE_PIECES shapes, which the caller owns, and returns
 * how many; 0: nothing is left. -1: `from` stays as it is, since nothing would go, or what is left has no simple form,
 * or memory is short. Pieces may keep some bytes of `minus`, and never lack one that is not in it. */
int obs_shape_subtract(const struct obs_shape *from, const struct obs_shape *minus, struct obs_shape *out);

/* If `next` goes on where `shape` ends, so that both are one shape, makes `shape` both and returns true. Neither is
 * scattered. */
bool obs_shape_grow(struct obs_shape *shape, const struct obs_shape *next);

/* The part of a box in first up to end - 1, as at most three shapes; returns how many. */
int obs_shape_clip(const struct mr_access *box, uintptr_t first, uintptr_t end, struct obs_shape out[3]);

#endif
