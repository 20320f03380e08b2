/* SPDX-License-Identifier: Apache-2.0 */
/* Generations: what lay at an address, and when.
 *
 * Each call that allocates, registers, maps or imports memory makes a generation, with a number of its own; a free ends
 * it. The same address handed out again is another generation. So the use of a buffer that went back to its pool is
 * never taken for one of the buffer that lies there now, and what was touched in one life of the memory is not compared
 * with the next.
 *
 * Which generation an operation means is told by its call: the latest one that was made before the call was entered. An
 * operation may be told long after the memory has been freed and handed out again, so ended generations are kept for a
 * while, OBS_GENERATIONS_ENDED of them; those that ended first go first.
 *
 * Addresses. Device, pool, pinned, managed, module and graph memory lies where the program sees it. An array has no
 * address: the driver tells of it at one above OBS_ARRAYS. No two arrays have the same, so none comes in another's
 * place. If no call is known to have made it, its generation is made when it is first looked up. Memory that can be
 * mapped at several places (cuMemCreate), or imported at several (shares.h), has a made-up range as well, and each
 * mapping is an alias of a part of it: what is touched through one alias is compared with what is touched through the
 * others.
 *
 * Order of calls: obs_generation_made when the call that allocates returns, and before it returns to the program;
 * obs_generation_ended before the driver is asked to free. So memory that is handed out again has always been ended.
 * Should they come in the other order, the new generation pushes the old one aside, whose end is still found.
 *
 * Threads: any number. The lock of generations is taken for a moment; below it, at most one history's. */
#ifndef MR_OBSERVER_GENERATION_H
#define MR_OBSERVER_GENERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/finding.h"
#include "libs/observer/operation.h"
#include "libs/observer/written.h"
#include "observe/host.h"

enum { OBS_GENERATIONS_ENDED = 16384 };

/* Where arrays are told of: each has a range of OBS_ARRAY_ROOM bytes. */
#define OBS_ARRAYS ((uintptr_t)1 << 63)
#define OBS_ARRAY_ROOM ((uintptr_t)1 << 36)

/* A range of `size` addresses that no memory has, with a gap behind it. */
uintptr_t obs_generation_range(size_t size);

/* An allocation: `made` is the operation of the call that made it, or of the stream or graph for memory in stream
 * order. A reference is kept. Returns the generation's number, from 1 up; 0: memory is short, and nothing is known of
 * it. */
uint64_t obs_generation_made(struct obs_operation *made, enum mr_allocation_kind kind, uintptr_t base, size_t size);

/* The same for those parts of the range in which nothing is alive. */
void obs_generation_fill(struct obs_operation *made, enum mr_allocation_kind kind, uintptr_t base, size_t size);

/* Another view of size bytes from `target` on, at `base`. `target` lies in a generation. */
uint64_t obs_generation_alias(struct obs_operation *made, enum mr_allocation_kind kind, uintptr_t base, size_t size,
                              uintptr_t target);

/* The free of the generation that begins at `base`. Reports uses that `ended` doesn't come after. False: there is none
 * that is alive. */
bool obs_generation_ended(struct obs_operation *ended, uintptr_t base);

/* The first byte of the lowest generation of this kind in the range that is alive; 0: there is none. */
uintptr_t obs_generation_alive_in(uintptr_t first, uintptr_t end, enum mr_allocation_kind kind);

/* Nothing can lie in the generation at `base` any more: it goes when its turn comes, and nothing is compared with its
 * end. For memory whose mappings have ended. */
void obs_generation_over(uintptr_t base);

/* A copy of what is known of a generation. */
struct obs_generation_view {
    uint64_t number;
    enum mr_allocation_kind kind;
    uintptr_t base;
    size_t size;
    uintptr_t target;           /* of an alias: where its bytes are; else 0 */
    struct mr_side made, ended; /* ended.call is NULL if it is alive */
    bool alive;
};

/* The generation at this address for a call with this number (UINT64_MAX: the latest). False: none. */
bool obs_generation_at(uintptr_t address, uint64_t call, struct obs_generation_view *out);
/* Its kind alone, which is quick. */
bool obs_generation_kind_at(uintptr_t address, uint64_t call, enum mr_allocation_kind *kind);

/* The latest generation that begins at or below this address, whether or not it reaches it: for telling by how much an
 * access was outside. False: none. */
bool obs_generation_below(uintptr_t address, struct obs_generation_view *out);

/* Calls `each` for the latest one at each address, or, with `alive`, for those that are alive, in the order of their
 * addresses, until it returns false. `each` may call nothing of this header. Arrays are left out. */
void obs_generation_each(bool alive, bool (*each)(const struct obs_generation_view *view, void *data), void *data);

/* Memory that host code can use as well as device code. */
bool obs_generation_is_shared(enum mr_allocation_kind kind);

/* Where memory of such kinds has been; with obs_generation_bounds_all, which is set before anything else, memory of all
 * kinds. */
extern struct mr_host_bounds obs_generation_bounds;
extern bool obs_generation_bounds_all;

/* How many were made since the start; of pinned, registered and managed memory. */
uint64_t obs_generation_count(void);
uint64_t obs_generation_count_hosts(void);

/* For the shadow.
 *
 * A generation that was found, or nothing: the bytes first up to end - 1 of what was asked for belong to it. */
struct obs_generation;
struct obs_found {
    struct obs_generation *generation; /* NULL: no call had allocated these bytes */
    uintptr_t first, end;
};

/* What lies at `first`, for this operation; `end` bounds the answer. The generation is kept: obs_generation_drop. */
struct obs_found obs_generation_find(uintptr_t first, uintptr_t end, const struct obs_operation *operation);
void obs_generation_drop(struct obs_generation *generation); /* NULL is allowed */
struct obs_generation *obs_generation_keep(struct obs_generation *generation);

struct obs_history *obs_generation_history(struct obs_generation *generation);

/* Which of its bytes have been written; it is the generation's, and made when it is first asked for. NULL: memory is
 * short. */
struct obs_written *obs_generation_written(struct obs_generation *generation);
struct mr_finding_allocation obs_generation_allocation(const struct obs_generation *generation);

bool obs_generation_is_alias(const struct obs_generation *generation);

/* Has it not ended? And all that is known of it. */
bool obs_generation_is_alive(const struct obs_generation *generation);
struct obs_generation_view obs_generation_view_of(const struct obs_generation *generation);

/* Of an alias: what must be added to an address in it for that of its bytes; else 0. */
ptrdiff_t obs_generation_shift(const struct obs_generation *generation);

/* Forgets half of the generations that have ended, those that ended first: memory for notes is short. */
void obs_generation_forget_ended(void);

#endif
