/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for what passes between the stages of one call: the stages' records hold references, the last one gives it
 * back. So plans need no workspace of the program's: frameworks that don't measure plans give none.
 *
 * A graph that was captured keeps the block of its records. Two executable graphs of the same captured graph would
 * share it: they may not run at once. */
#ifndef MR_CUDNN_BLOCK_H
#define MR_CUDNN_BLOCK_H

#include <stddef.h>

struct mr_block; /* any thread */

/* At least that many bytes, on a boundary of 64, with one reference; NULL if memory is short. */
struct mr_block *mr_block_get(size_t bytes) __attribute__((warn_unused_result));
char *mr_block_bytes(struct mr_block *block);

/* One reference more, one less; NULL is left alone. */
struct mr_block *mr_block_keep(struct mr_block *block);
void mr_block_drop(struct mr_block *block);

#endif
