/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of an allocation have been written: a bit for each byte, where some of a page have been and some have
 * not; nothing for pages and chunks of which all or none have.
 *
 * Bytes are named by their offset in the allocation. Any thread, any number at once; each map has a lock, the last one.
 * When memory is short, bytes count as written that were not: nothing is reported wrongly then. */
#ifndef MR_OBSERVER_WRITTEN_H
#define MR_OBSERVER_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>

struct obs_written;

/* Nothing of `size` bytes has been written. NULL: memory is short. */
struct obs_written *obs_written_new(size_t size);
void obs_written_free(struct obs_written *written); /* NULL is allowed */

/* first up to end - 1 have been written; end is at most the size. */
void obs_written_add(struct obs_written *written, size_t first, size_t end);

/* They hold again what nobody has written: a copy has brought such bytes. */
void obs_written_remove(struct obs_written *written, size_t first, size_t end);

/* The first run of bytes in first up to end - 1 that have not been written. False: all have. */
bool obs_written_gap(struct obs_written *written, size_t first, size_t end, size_t *gap, size_t *gap_end);

#endif
