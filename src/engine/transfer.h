/* SPDX-License-Identifier: Apache-2.0 */
/* Executing copies and fills: the one place where bytes of commands move.
 *
 * Both run on whatever thread executes the command, hold no lock, and never fail: the ranges were checked when the
 * command was built. */
#ifndef MR_ENGINE_TRANSFER_H
#define MR_ENGINE_TRANSFER_H

#include <stdint.h>

#include "command/command.h"

/* Copies the box. Ranges that overlap give the result of a copy through a buffer where the box is a single row (linear
 * copies); rows of an overlapping two- or three-dimensional copy are taken in an order that keeps equal pitches right.
 */
void mr_copy_execute(const struct mr_copy *copy);

/* Stores `value` (its low `element` bytes) in every element of the rows. */
void mr_fill_execute(const struct mr_fill *fill);

/* The value widened to 32 bits by repetition: the pattern of a fill's bytes. */
uint32_t mr_fill_pattern(uint32_t value, unsigned element);

/* In how many pieces several threads may carry out a command: 1 unless it is work in parts, or a long copy or fill of
 * one run of bytes whose source and destination do not overlap. */
uint64_t mr_transfer_pieces(const struct mr_command *command);

/* Carries out pieces [first, end) of such a command. Pieces may run at the same time, in any order. */
void mr_transfer_run(const struct mr_command *command, uint64_t first, uint64_t end);

#endif
