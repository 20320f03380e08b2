/* SPDX-License-Identifier: Apache-2.0 */
/* A job's blocks, divided among the threads that run them. Private to src/engine.
 *
 * Each thread has a share of neighbouring blocks, the same ones in launch after launch as far as it is there: what they
 * read and write is then likely to be in its core's cache. A thread that has finished its own goes on with what is left
 * of the others'. So none is idle while a block is left, as with one counter for all, and threads that work on their
 * own shares do not write to each other's cache lines. */
#ifndef MR_ENGINE_SHARES_H
#define MR_ENGINE_SHARES_H

#include <stdbool.h>
#include <stdint.h>

struct mr_shares;

/* Divides blocks 0 to `total` - 1 into `count` shares. NULL if all tables are in use: the caller then does without.
 * Thread-safe, as all of these. */
struct mr_shares *mr_shares_take(uint64_t total, unsigned count);

/* When no thread looks at them any more. NULL is allowed. */
void mr_shares_give_back(struct mr_shares *shares);

/* The share of a thread that comes in: the one that goes with the runner's number, unless another thread has it and one
 * is free. */
unsigned mr_shares_own(struct mr_shares *shares, unsigned number);

/* Claims `most` blocks or fewer, at least one: *first to *end - 1, of the share `own` as long as it lasts. Never more
 * than half of what a share has left and one, so that some is left for helpers. False if all blocks are claimed. */
bool mr_shares_claim(struct mr_shares *shares, unsigned own, uint64_t most, uint64_t *first, uint64_t *end);

/* A number that grows with each claim. */
uint64_t mr_shares_progress(struct mr_shares *shares);

#endif
