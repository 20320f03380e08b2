/* SPDX-License-Identifier: Apache-2.0 */
/* What a chunk of address space has to do with other processes; private to src/memory. export.c makes these records,
 * zone.c ends them with the chunk's pages. */
#ifndef MR_MEMORY_SHARING_H
#define MR_MEMORY_SHARING_H

#include "base/list.h"
#include "share/share.h"

struct mr_chunk;
struct mr_context;

/* Under mr_memory_lock. */
struct mr_sharing {
    struct mr_share share;        /* an exported chunk's file; of an imported one only the token */
    bool imported;
    size_t done;                  /* exported: bytes that are the file's by now */
    uint64_t offset;              /* imported: of the allocation in the file */
    uint64_t opened;              /* imported: how many times */
    struct mr_chunk *chunk;       /* imported */
    struct mr_context *context;   /* imported; borrowed: the allocation goes before it does */
    struct mr_list link;          /* imported: in `imports` */
};

/* The pages of its chunk have been taken away: closes the file of an exported one, forgets an imported one. Lock
 * held. */
void mr_sharing_end(struct mr_sharing *sharing);

#endif
