/* SPDX-License-Identifier: Apache-2.0 */
/* Moving and storing long runs of bytes: what memmove and memset do, with stores that bypass the caches where the run
 * is longer than caches are, and with patterns of four bytes. */
#ifndef MR_ENGINE_BULK_H
#define MR_ENGINE_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As memmove. `part`: the run is a part of a longer one, and goes past the caches whatever its own size is. */
void mr_bulk_copy(void *to, const void *from, size_t size, bool part);

/* Stores the bytes of `pattern`, in the machine's order, over and over from `to` on; the last ones may be cut short.
 * `to` has any alignment. */
void mr_bulk_fill(void *to, uint32_t pattern, size_t size, bool part);

#endif
