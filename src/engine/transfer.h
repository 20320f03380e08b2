/* SPDX-License-Identifier: Apache-2.0 */
/* Executing copies and fills: the one place where bytes of commands move.
 *
 * Both run on whatever thread executes the command, hold no lock, and never fail: the ranges were checked when the
 * command was built. */
#ifndef MR_ENGINE_TRANSFER_H
#define MR_ENGINE_TRANSFER_H

#include "command/command.h"

/* Copies the box. Ranges that overlap give the result of a copy through a buffer where the box is a single row (linear
 * copies); rows of an overlapping two- or three-dimensional copy are taken in an order that keeps equal pitches right. */
void mr_copy_execute(const struct mr_copy *copy);

/* Stores `value` (its low `element` bytes) in every element of the rows. */
void mr_fill_execute(const struct mr_fill *fill);

#endif
