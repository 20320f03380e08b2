/* SPDX-License-Identifier: Apache-2.0 */
/* A set of bytes: what a launch has touched at one site. Private to src/kernel.
 *
 * A set has boxes, and pages. What comes in a pattern becomes boxes, of which those that touch become one. Where there
 * are too many, and where single lanes touch what they like, pages of 4 KiB are noted: one stretch of each, or else a
 * bit for each byte. Together both are exact.
 *
 * Single lanes that touch many pages go to fields in the end: a field is 256 KiB of memory, with a bit for each unit of
 * it, which is as large as what a lane touches. Fields take no more memory than the bits of the set's pages.
 *
 * All sets of the process share mr_touched_most bytes of memory. Beyond that a page has one stretch from its first byte
 * to its last, and if there is no memory for pages, the set has one from its first to its last. Both are *rough*: they
 * may hold bytes that were not touched.
 *
 * One thread at a time works on a set. */
#ifndef MR_KERNEL_TOUCHED_H
#define MR_KERNEL_TOUCHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `rows` stretches of `width` bytes, `pitch` bytes apart; with several rows the pitch is larger than the width. */
struct mr_box {
    uint64_t first, width, rows, pitch;
};

struct mr_page {
    uint64_t number;    /* address / 4096 */
    uint64_t *bits;     /* a bit for each byte; NULL: the stretch is all */
    uint16_t from, to;  /* a stretch, up to 4096; to == 0: the place in the table is free */
    bool rough;
};

struct mr_field {
    uint64_t number; /* address / MR_FIELD */
    uint64_t *bits;  /* a bit for each unit; NULL: the place in the table is free */
};

#define MR_FIELD_SHIFT 18u
#define MR_FIELD (UINT64_C(1) << MR_FIELD_SHIFT)

/* All zero: empty. */
struct mr_touched {
    struct mr_box *boxes;
    uint32_t count, room;
    uint32_t last;             /* the box that was changed last */
    bool poured;               /* boxes have become pages because they did not join; so few rows go there at once */
    uint16_t *recent;          /* places of boxes by hash, to find those that come again; NULL: there are few boxes */
    struct mr_page *pages;     /* a hash table; page_room is a power of two, or 0 */
    uint32_t page_count, page_room, page_last;
    struct mr_bits *bits;      /* memory of pages' bits, */
    uint64_t bits_bytes;       /* and how much of it there is */
    struct mr_field *fields;   /* a hash table; field_room is a power of two, or 0 */
    uint32_t field_count, field_room;
    uint32_t unit;             /* of fields: its binary logarithm */
    uint64_t low, high;        /* if high is not 0: a rough stretch */
    uint32_t misaligned; /* the size of an access that was at no multiple of it, and was not done; 0: none was */
    uint64_t misaligned_at; /* where; 0: not known */
};

/* The bound, in bytes. Tests lower it. */
extern _Atomic size_t mr_touched_most;

static inline bool mr_touched_is_empty(const struct mr_touched *set)
{
    return !set->count && !set->page_count && !set->field_count && !set->high && !set->misaligned;
}

/* Adds `rows` stretches of `width` bytes (neither is 0); pitch <= width is allowed. */
void mr_touched_add(struct mr_touched *set, uint64_t first, uint64_t width, uint64_t rows, uint64_t pitch);
/* Adds a few bytes that belong to no pattern. */
void mr_touched_mark(struct mr_touched *set, uint64_t from, uint64_t to);
/* The same of a lane, which touches 1 << unit bytes at a multiple of that: by a field if memory for fields allows. */
void mr_touched_lane(struct mr_touched *set, uint64_t address, uint32_t unit);
/* Adds the lanes that lie in fields; copies the addresses of all others to `left`, and returns how many. */
unsigned mr_touched_lanes(struct mr_touched *set, const uint64_t *address, unsigned count, uint32_t unit,
                          uint64_t *left);
/* Adds all of another set, which is empty then. */
void mr_touched_join(struct mr_touched *set, struct mr_touched *from);
/* Calls `take` for boxes that together are the set. They may overlap. */
void mr_touched_each(struct mr_touched *set, void (*take)(void *data, const struct mr_box *box, bool rough),
                     void *data);
void mr_touched_clear(struct mr_touched *set);

/* touched_boxes.c: makes what touches one, in any order; the new count. */
uint32_t mr_boxes_join(struct mr_box *boxes, uint32_t count);

#endif
