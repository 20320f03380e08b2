/* SPDX-License-Identifier: Apache-2.0 */
/* The header that every object behind a handle starts with, and the registry that tells live handles from stale ones.
 *
 * A handle is not a pointer: it packs a slot number, the slot's generation and the object's kind. Looking one up reads
 * the slot, compares the generation, and takes no lock and no reference. The object may end at any moment after that,
 * on another thread. Its record stays what it is for as long as the call lasts, since records are used again only when
 * all calls are over that may have found them (base/visit.h): so a record that was found may be read, locked and
 * counted until the call returns or waits, and is never another object meanwhile. But once the last reference has gone,
 * it owns nothing any more: a thread that needs what an object owns looks for that under the object's lock, or takes a
 * reference first, which only mr_object_try_hold and mr_object_acquire may do. A slot's memory is used for objects of
 * the same kind only and never given back.
 *
 * Reference counts: creation gives one reference to the handle. mr_object_retire ends the handle (lookups fail from
 * then on); the object itself lives until the last reference is dropped, when its kind's `finish` function runs. */
#ifndef MR_OBJECT_HANDLE_H
#define MR_OBJECT_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mr_kind {
    MR_KIND_NONE, /* of no handle */
    MR_KIND_CONTEXT,
    MR_KIND_STREAM,
    MR_KIND_EVENT,
    MR_KIND_MODULE,
    MR_KIND_FUNCTION,
    MR_KIND_LIBRARY,
    MR_KIND_KERNEL,
    MR_KIND_LINK,
    MR_KIND_GRAPH,
    MR_KIND_GRAPH_EXEC,
    MR_KIND_GRAPH_NODE,
    MR_KIND_MEMPOOL,
    MR_KIND_ARRAY,
    MR_KIND_TEXTURE,
    MR_KIND_SURFACE,
    MR_KIND_USER_OBJECT,
    MR_KIND_CONDITIONAL,
    MR_KIND_PHYSICAL,     /* memory without an address: cuMemCreate */
    MR_KIND_MIPMAP,
    MR_KIND_TEXREF,
    MR_KIND_SURFREF,
    MR_KIND_COUNT
};

struct mr_object {
    uint8_t kind;                 /* enum mr_kind */
    _Atomic bool orphan;          /* its handle ended with its context, and not by the program */
    _Atomic uint32_t references;
    uint32_t slot, generation;    /* registry's own */
    _Atomic uint64_t handle;      /* what the program holds; 0 once retired */
    void *link[2];                /* registry's own: chains of free records */
};

/* A new object of `kind` whose record has `size` bytes (the same for every call with that kind), zeroed past the
 * header, with one reference and a live handle. `finish` runs once, when the last reference goes, on whatever thread
 * drops it; it frees what the record owns but not the record. NULL when memory is short. The handle is published at
 * once: fill in the record before giving it to the program. */
void *mr_object_new(enum mr_kind kind, size_t size, void (*finish)(void *object)) __attribute__((warn_unused_result));

/* The live object behind a handle, or NULL if the handle is null, foreign, of another kind, or was destroyed.
 * Lock-free. No reference is taken: the record is good until the visit ends that the thread is in (every call of the
 * driver is one; others begin their own). */
void *mr_object_find(const void *handle, enum mr_kind kind);

/* As mr_object_find, with a reference taken (safe against a concurrent last drop). Pair with mr_object_drop. */
void *mr_object_acquire(const void *handle, enum mr_kind kind);

/* As mr_object_acquire, with a reference that is dropped when the visit ends, so that the object is whole until then,
 * also while the thread waits. */
void *mr_object_borrow(const void *handle, enum mr_kind kind);

/* A reference to an object that was found in this visit, dropped when the visit ends. False if it has none left. */
bool mr_object_keep(void *object) __attribute__((warn_unused_result));

/* The record of an object of that kind whose handle has ended, as long as no other has taken its place; else NULL. The
 * caller only reads it, unless it knows that somebody holds the object. */
const void *mr_object_find_ended(const void *handle, enum mr_kind kind);

/* Whether a handle is one of an object of that kind that ended with its context (mr_object_orphan), as long as no other
 * has taken its place. */
bool mr_object_is_orphan(const void *handle, enum mr_kind kind);

/* Notes that an object is about to end with its context; before mr_object_retire. */
static inline void mr_object_orphan(void *object)
{
    atomic_store_explicit(&((struct mr_object *)object)->orphan, true, memory_order_relaxed);
}

/* The kind of a live handle, or MR_KIND_NONE. */
enum mr_kind mr_object_kind(const void *handle);

/* Ends the handle; the first caller gets true and inherits the handle's reference (drop it), later ones false. */
bool mr_object_retire(void *object);

void mr_object_hold(void *object);
void mr_object_drop(void *object);

/* Takes a reference if the object still has one; for records that were found in this visit, or are reached through a
 * borrowed pointer, and may have ended. One that was borrowed before the visit may by then be another object of its
 * kind: look again at what matters once the reference is held. */
bool mr_object_try_hold(void *object) __attribute__((warn_unused_result));

/* The handle to give to the program, as its opaque pointer. */
static inline void *mr_object_handle(const void *object)
{
    return (void *)(uintptr_t)atomic_load_explicit(&((struct mr_object *)(uintptr_t)object)->handle,
                                                   memory_order_relaxed);
}

/* Calls `visit` for every live object of a kind (tests and `millrace info`); not for hot paths. */
void mr_object_each(enum mr_kind kind, void (*visit)(void *object, void *data), void *data);

#endif
