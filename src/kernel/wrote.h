/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch has written until now: a bit for each byte, which all threads that run its blocks share. Private to
 * src/kernel.
 *
 * Who reads a byte can so tell whether the launch itself wrote it before. A byte that is written at the same time
 * counts as written or not.
 *
 * All launches of the process share mr_wrote_most bytes of memory. Beyond that, and where memory is short, bytes count
 * as written that are not, and mr_wrote_is_short says so.
 *
 * All functions but mr_wrote_free may be called by any number of threads at once. */
#ifndef MR_KERNEL_WROTE_H
#define MR_KERNEL_WROTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_wrote;

/* The bound, in bytes. Tests lower it. */
extern _Atomic size_t mr_wrote_most;

/* Nothing is written. NULL: memory is short. */
struct mr_wrote *mr_wrote_new(void);
void mr_wrote_free(struct mr_wrote *wrote); /* NULL is allowed; no other thread uses it */

/* from up to to - 1 are written now. */
void mr_wrote_add(struct mr_wrote *wrote, uint64_t from, uint64_t to);

/* The first run of bytes in from up to to - 1 that are not written. False: all are. */
bool mr_wrote_gap(struct mr_wrote *wrote, uint64_t from, uint64_t to, uint64_t *gap, uint64_t *gap_end);

bool mr_wrote_is_short(const struct mr_wrote *wrote);

#endif
