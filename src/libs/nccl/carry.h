/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying operations out: sums and copies over the memory of all ranks. */
#ifndef MR_NCCL_CARRY_H
#define MR_NCCL_CARRY_H

#include "libs/nccl/meeting.h"

/* Bytes of an element. */
size_t mr_nccl_size(unsigned type);

/* Bytes that a rank of `ranks` sends from its memory, and receives into it. */
uint64_t mr_nccl_send_bytes(const struct mr_posting *posting, int rank, int ranks);
uint64_t mr_nccl_recv_bytes(const struct mr_posting *posting, int rank, int ranks);

/* The share `first` to `end` of `shares` of an operation: send and recv have the memory of the match's postings.
 * Results are the same however it is shared. Ranks are summed in their order, small floats in float with one rounding
 * at the end. */
void mr_nccl_carry_out(const struct mr_match *match, char *const *send, char *const *recv, uint64_t first, uint64_t end,
                       uint64_t shares);

#endif
