/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of spans of addresses, which may overlap: which of them meet a given range is found in O(log n + found).
 *
 * The tree is a treap: ordered by `first`, balanced by a number that each span draws when it is put in. Each span knows
 * how far the spans below it reach. Spans lie in their owner's records; nothing here allocates or locks. */
#ifndef MR_OBSERVER_SPANS_H
#define MR_OBSERVER_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct obs_span {
    uintptr_t first, end; /* first up to end - 1; set by the owner before obs_span_insert, constant while in a tree */
    uintptr_t reach;      /* the largest end at and below it; from here on: spans.c's */
    uint64_t weight;
    struct obs_span *low, *high;
};

void obs_span_insert(struct obs_span **root, struct obs_span *span);
void obs_span_remove(struct obs_span **root, struct obs_span *span);

/* Of the spans that meet first up to end - 1: the one that begins lowest; NULL: there is none. */
struct obs_span *obs_span_lowest(struct obs_span *root, uintptr_t first, uintptr_t end);

/* Fills `out` with the spans that meet first up to end - 1, in the order of their `first`, at most `room`. Returns how
 * many there are in all. */
size_t obs_span_collect(struct obs_span *root, uintptr_t first, uintptr_t end, struct obs_span **out, size_t room);

/* The span with the largest `first` that is at most `at`; NULL: there is none. */
struct obs_span *obs_span_before(struct obs_span *root, uintptr_t at);

#endif
