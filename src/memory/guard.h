/* SPDX-License-Identifier: Apache-2.0 */
/* Finding stray accesses: MILLRACE_GUARD; private to src/memory.
 *
 * With the setting, an allocation's end is the end of its pages, so that the next byte faults. What its alignment
 * leaves free behind it, and what is left of its first page before it, is filled with a pattern that is looked at when
 * it is freed. Freed memory loses its pages at once, and its addresses rest before they are given out again.
 * mr_guard_place and mr_guard_check under mr_memory_lock; the others under what guards the memory. */
#ifndef MR_MEMORY_GUARD_H
#define MR_MEMORY_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/space.h"
#include "observe/hooks.h"

/* The setting's alignment; 0: it is off. Written by mr_guard_init alone. */
extern size_t mr_guard_alignment;

/* Reads the setting; called once, by mr_memory_init. */
void mr_guard_init(void);

/* Whether the setting is on. */
static inline bool mr_guard_on(void)
{
    return __builtin_expect(mr_guard_alignment != 0, 0);
}

/* Whether allocations lie far apart: with the setting, and where an observer wants it (MR_OBSERVE_APART). */
static inline bool mr_guard_apart(void)
{
    return mr_guard_on() || mr_observes(MR_OBSERVE_APART);
}

/* If they lie apart: how many inaccessible bytes belong behind an allocation of `size` bytes in a space of `space`
 * bytes that has `others` of them, which is as much as the space allows. Less is allowed where this much is not free.
 * (If they don't, it is a page.) */
size_t mr_guard_gap(size_t size, size_t space, size_t others);

/* Where an allocation of `size` bytes starts in `mapped` bytes of pages at `pages`: bytes from there. `exact`: with the
 * setting's alignment, not the ordinary one. With the setting. */
size_t mr_guard_shift(size_t mapped, size_t size, bool exact);

/* Puts the pattern around an allocation of `size` bytes, `shift` bytes behind the start of its pages. */
void mr_guard_fill(uintptr_t pages, size_t mapped, size_t shift, size_t size);

/* A log line if the pattern is no longer what it was. */
void mr_guard_compare(uintptr_t pages, size_t mapped, size_t shift, size_t size);

/* Where an allocation of `size` bytes starts in its chunk, whose bytes before and behind it get the pattern:
 * bytes from the chunk's base. 0 without the setting. */
size_t mr_guard_place(struct mr_chunk *chunk, enum mr_memory_kind kind, size_t size);

/* The allocation of `size` bytes at `base`, the chunk's, is about to be freed: a log line if the pattern is no longer
 * what it was. */
void mr_guard_check(const struct mr_chunk *chunk, uintptr_t base);

#endif
