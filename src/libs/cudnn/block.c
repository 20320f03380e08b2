/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks; some that nobody uses are kept for the next call. */
#include "libs/cudnn/block.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define HEAD 64 /* before the bytes, so that they begin on a boundary of 64 */
#define KEPT 16 /* blocks */
#define KEPT_BYTES ((size_t)256 << 20)

struct mr_block {
    struct mr_block *next;
    size_t size; /* of the bytes */
    unsigned references; /* atomic */
};
_Static_assert(sizeof(struct mr_block) <= HEAD, "the head holds the structure");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what follows */
static struct mr_block *unused; /* the one given back last stands first */
static size_t unused_bytes;
static unsigned unused_count;

struct mr_block *mr_block_get(size_t bytes)
{
    struct mr_block *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct mr_block **at = &unused; *at; at = &(*at)->next)
        if ((*at)->size >= bytes && (*at)->size / 4 <= bytes) {
            found = *at;
            *at = found->next;
            unused_bytes -= found->size;
            unused_count--;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (!found) {
        if (bytes > SIZE_MAX - 2 * HEAD)
            return NULL;
        size_t size = (bytes + HEAD - 1) / HEAD * HEAD;
        found = aligned_alloc(HEAD, HEAD + size);
        if (!found)
            return NULL;
        found->size = size;
    }
    found->next = NULL;
    found->references = 1;
    return found;
}

char *mr_block_bytes(struct mr_block *block)
{
    return (char *)block + HEAD;
}

struct mr_block *mr_block_keep(struct mr_block *block)
{
    if (block)
        __atomic_add_fetch(&block->references, 1, __ATOMIC_RELAXED);
    return block;
}

void mr_block_drop(struct mr_block *block)
{
    if (!block || __atomic_sub_fetch(&block->references, 1, __ATOMIC_ACQ_REL))
        return;
    pthread_mutex_lock(&lock);
    bool fits = unused_count < KEPT && unused_bytes + block->size <= KEPT_BYTES;
    if (fits) {
        block->next = unused;
        unused = block;
        unused_bytes += block->size;
        unused_count++;
    }
    pthread_mutex_unlock(&lock);
    if (!fits)
        free(block);
}
