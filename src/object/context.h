/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and contexts.
 *
 * A context owns streams, events, modules and allocations, and carries the sticky error that a fault leaves behind.
 * The current context is a per-thread stack (context_stack.c). A destroyed context's handle is retired at once; its record
 * lives until the last object that refers to it is gone. */
#ifndef MR_OBJECT_CONTEXT_H
#define MR_OBJECT_CONTEXT_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/thread.h"
#include "object/object.h"

struct mr_stream;

#define MR_DEVICE_LIMIT 16

struct mr_device {
    int ordinal;
    char name[128];
    uint8_t uuid[16];
    int capability_major, capability_minor;
    size_t total_memory;               /* bytes; enforced by the memory layer */
    _Atomic size_t used_memory;        /* bytes */
    struct mr_context *primary;        /* under lock; NULL when inactive */
    unsigned primary_references;       /* under lock */
    unsigned primary_flags;            /* under lock */
    mr_lock lock;
};

struct mr_context {
    struct mr_object object;
    struct mr_device *device;
    unsigned flags;                    /* CU_CTX_* as given */
    unsigned long long id;             /* cuCtxGetId */
    unsigned api_version;
    bool is_primary;
    _Atomic bool destroyed;
    _Atomic int error;                 /* CUresult; sticky: once set by a fault, every later call that checks gets it */
    size_t limits[16];                 /* by CUlimit */
    int cache_config, shared_config;

    /* Streams: order_lock guards the lists; see stream/stream.h for the default-stream rules. */
    mr_lock order_lock;
    struct mr_stream *legacy;          /* made with the context */
    struct mr_list streams;            /* every live stream but the legacy one */
    struct mr_list busy_blocking;      /* blocking streams with work pending */

    mr_lock lock;                      /* guards what follows */
    struct mr_list modules;
    struct mr_list allocations;        /* owned by the memory layer */
};

/* The devices; count and records are fixed by driver initialisation. NULL if `ordinal` is out of range. */
int mr_device_count(void);
struct mr_device *mr_device_get(int ordinal);

/* The calling thread's current context: NULL if none. A current context that was destroyed stays current until popped; callers check
 * with mr_context_require. Lock-free, a few nanoseconds. */
struct mr_context *mr_context_current(void);

/* The current context in *out and CUDA_SUCCESS; CUDA_ERROR_INVALID_CONTEXT if none; CUDA_ERROR_CONTEXT_IS_DESTROYED if it was destroyed;
 * the sticky error if the context has one. What nearly every entry point calls first. */
CUresult mr_context_require(struct mr_context **out) __attribute__((warn_unused_result));

/* Sets the sticky error; the first one wins. Any thread. */
void mr_context_fail(struct mr_context *context, CUresult error);

/* The sticky error or CUDA_SUCCESS. */
static inline CUresult mr_context_error(struct mr_context *context)
{
    return (CUresult)atomic_load_explicit(&context->error, memory_order_acquire);
}

#endif
