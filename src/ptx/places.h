/* SPDX-License-Identifier: Apache-2.0 */
/* Where a compiler's messages say that it met something, and whether a part of the preprocessed text comes from there.
 *
 * A *place* is a line of a file, "LINE FILE". What of a line is meant is not looked at: what is done there does the
 * rest of it no harm. */
#ifndef MR_PTX_PLACES_H
#define MR_PTX_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Adds the places of the messages that have `refused` in them, which is what stands behind a message's place, each
 * place once; how many are new. */
size_t mr_places_add(const char *messages, const char *refused, struct mr_words *places);

/* Adds the messages without their colours. */
void mr_places_plain(const char *messages, size_t length, struct mr_text *out);

/* Where in the sources a part of the preprocessed text comes from. Begins with the text alone. */
struct mr_origin {
    const char *text;
    size_t at;
    unsigned long line;
    const char *file;
    size_t file_length;
};

/* Moves forward, never back. */
void mr_origin_move(struct mr_origin *origin, size_t to);

/* Whether it is that place, whose text has so many characters. */
bool mr_origin_is(const struct mr_origin *origin, const char *place, size_t length);

/* Whether it is one of the places. */
bool mr_origin_is_at(const struct mr_origin *origin, const struct mr_words *places);

#endif
