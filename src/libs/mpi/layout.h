/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of MPI's types lie. Any thread. */
#ifndef MR_MPI_LAYOUT_H
#define MR_MPI_LAYOUT_H

#include "libs/mpi/library.h"

struct boxes {
    struct mr_access *at; /* owned */
    size_t count, room;
};

/* Adds what `count` elements have at `buffer`. False, and nothing is added: memory is short, or the type is too large
 * or too scattered to tell. */
bool mr_layout_add(struct boxes *boxes, uintptr_t buffer, int64_t count, word type, uint32_t how);

/* From the first byte to behind the last one that `count` elements may have; false if there are none. */
bool mr_layout_span(word type, int64_t count, intptr_t *first, intptr_t *end);

/* How far the elements of a type lie apart; bytes. */
intptr_t mr_layout_extent(word type);

#endif
