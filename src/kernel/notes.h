/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread notes of one launch: see footprint.h. Private to src/kernel. */
#ifndef MR_KERNEL_NOTES_H
#define MR_KERNEL_NOTES_H

#include "kernel/executor.h"
#include "kernel/touched.h"
#include "kernel/wrote.h"

struct mr_part {
    struct mr_part *next;              /* of the launch */
    const struct mr_executor *owner;   /* who runs its blocks; the thread may have ended since */
    const struct mr_code *code;        /* the version that makes these notes */
    struct mr_note *notes[MR_WARPS_MAX]; /* of each warp that has a stack; NULL: of none */
    struct mr_wrote *wrote; /* the launch's; NULL: nobody asks what is read first */
    struct mr_touched *first; /* by site: what was read before the launch wrote it; NULL without `wrote` */
    struct mr_touched touched[]; /* by site, `first` behind it */
};

/* footprint.c: gives the executor the part of its launch that it needs, with notes for so many warps. False when memory
 * is short. */
bool mr_footprint_begin(struct mr_executor *executor, uint32_t warps) __attribute__((warn_unused_result));

/* footprint.c: the block that the executor runs faults in this line of the PTX, by an access at no multiple of its
 * size. `address`: 0 if it is not known. */
void mr_footprint_misaligned(const struct mr_executor *executor, uint32_t line, uint64_t address);

/* notes.c: what is under way goes to the sets; nothing runs any more. */
void mr_part_close(struct mr_part *part);

/* The services; see struct mr_runtime. */
void mr_note_piece(struct mr_block *block, uint32_t site, uint64_t address, uint32_t bytes);
void mr_note_steps(struct mr_block *block, uint32_t site, uint64_t address, uint64_t step, uint64_t mask);
void mr_note_lanes(struct mr_block *block, uint32_t site, const uint64_t *address, uint64_t mask);
void mr_note_sizes(struct mr_block *block, uint32_t site, const uint64_t *address, const uint32_t *bytes,
                   uint64_t mask);
void mr_note_rows(struct mr_block *block, uint32_t site, uint64_t address, uint64_t bytes, uint32_t rows,
                  uint64_t pitch);

/* For services that touch memory of their own accord, at the site that the block's record names: so many bytes. */
void mr_note_touch(struct mr_executor *executor, const void *place, uint64_t bytes);

#endif
