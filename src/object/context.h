/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts.
 *
 * A context owns streams, events, modules and allocations, and carries the sticky error that a fault leaves behind.
 * The current context is a per-thread stack (context_stack.c). A destroyed context's handle is retired at once; its
 * record lives until the last object or stack entry that refers to it is gone. */
#ifndef MR_OBJECT_CONTEXT_H
#define MR_OBJECT_CONTEXT_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/thread.h"
#include "object/device.h"
#include "object/handle.h"

struct mr_stream;

/* Stream priorities: lower numbers go first. */
#define MR_PRIORITY_LEAST 0
#define MR_PRIORITY_GREATEST (-5)

/* A priority moved into the range. */
static inline int mr_priority_clamp(int priority)
{
    return priority > MR_PRIORITY_LEAST      ? MR_PRIORITY_LEAST
           : priority < MR_PRIORITY_GREATEST ? MR_PRIORITY_GREATEST
                                             : priority;
}

struct mr_context {
    struct mr_object object;
    CUcontext handle;                  /* as given out; stays when object.handle is retired */
    struct mr_device *device;
    _Atomic unsigned flags;            /* CU_CTX_* as given; cuCtxSetFlags changes it under `lock` */
    unsigned long long id;             /* cuCtxGetId */
    unsigned api_version;
    bool is_primary;
    _Atomic bool destroyed;
    _Atomic int error; /* CUresult; sticky: once set by a fault, every later call that checks gets it */
    _Atomic bool fault_told; /* the log has a line of what set it */
    _Atomic uint32_t stream_most; /* weight that may wait in one stream (mr_stream_hold_back) */
    _Atomic size_t limits[16]; /* by CUlimit */
    _Atomic int cache_config; /* CUfunc_cache, a hint */
    _Atomic bool has_printed; /* a kernel with printf was launched: its buffer's size is fixed */
    unsigned usage; /* cuCtxAttach's count, under `lock` */
    unsigned slot; /* small number that no other live context has; libraries index by it */

    /* Streams: order_lock guards the lists; see stream/stream.h for the default-stream rules. */
    mr_lock order_lock;
    struct mr_stream *legacy; /* made with the context; lives as long as its record */
    struct mr_list streams; /* every live stream except the legacy one */
    uint32_t stream_count; /* of these */
    struct mr_list busy_blocking; /* blocking streams with work pending */

    mr_lock lock; /* guards what follows */
    struct mr_list modules;
    struct mr_list allocations; /* owned by the memory layer */
    _Atomic uint32_t
        makers; /* threads that fill memory of the context with what will be a module's; futex of its destruction */
};

/* What the layers above do when a context begins and ends; set once, by cuInit (api/wiring.c), before the first
 * context. `begin` makes the legacy stream; false when memory is short. `end` waits for all work and ends every stream.
 * `free` comes after `end`, when no thread fills memory of the context any more: it unloads modules, ends arrays and
 * frees memory. Called on the thread that creates or destroys, with no lock held. `release` gives up the legacy stream
 * when the last reference to the context has gone; any thread, no lock held. A hook that is NULL is left out. */
struct mr_context_hooks {
    bool (*begin)(struct mr_context *context);
    void (*end)(struct mr_context *context);
    void (*free)(struct mr_context *context);
    void (*release)(struct mr_context *context);
};
void mr_context_set_hooks(const struct mr_context_hooks *hooks);

/* A context on `device`, current nowhere. NULL when memory is short. mr_context_destroy ends it. */
struct mr_context *mr_context_new(struct mr_device *device, unsigned flags, bool is_primary)
    __attribute__((warn_unused_result));

/* Ends a context: retires the handle, waits for its work, ends streams, unloads modules, frees its memory. Other
 * threads that have it current get CUDA_ERROR_CONTEXT_IS_DESTROYED from then on. False if it was destroyed already (by
 * another thread). */
bool mr_context_destroy(struct mr_context *context);

/* CUDA_SUCCESS if a context can have these flags. CUDA_ERROR_INVALID_VALUE for two scheduling policies or unknown bits;
 * CUDA_ERROR_NOT_SUPPORTED for core dumps. */
CUresult mr_context_flags_check(unsigned flags) __attribute__((warn_unused_result));

/* For code that fills memory that the context owns, on the host and without a command: until mr_context_leave,
 * destruction waits before it frees memory. False if the context is destroyed. */
bool mr_context_enter(struct mr_context *context) __attribute__((warn_unused_result));
void mr_context_leave(struct mr_context *context);

/* The stack of the calling thread. Entries hold references. mr_context_push is false when memory is short;
 * mr_context_pop returns the context that was on top with its reference handed to the caller, or NULL.
 * mr_context_replace puts `context` in the place of the top (or pushes it on an empty stack); NULL pops. */
bool mr_context_push(struct mr_context *context) __attribute__((warn_unused_result));
struct mr_context *mr_context_pop(void);
bool mr_context_replace(struct mr_context *context) __attribute__((warn_unused_result));

/* The calling thread's current context, and whether the thread runs a host function of a stream (set by the engine
 * around the call). Small enough for static thread-local storage: an access is one instruction. */
#define MR_THREAD_LOCAL extern _Thread_local __attribute__((tls_model("initial-exec"), visibility("hidden")))
MR_THREAD_LOCAL struct mr_context *mr_thread_context;
MR_THREAD_LOCAL bool mr_in_host_function;

/* The calling thread's current context: NULL if none. A current context that was destroyed stays current until popped;
 * callers check with mr_context_require. */
static inline struct mr_context *mr_context_current(void)
{
    return mr_thread_context;
}

/* Whether the calling thread's current context was destroyed. */
static inline bool mr_context_was_destroyed(void)
{
    struct mr_context *context = mr_context_current();
    return context && atomic_load_explicit(&context->destroyed, memory_order_acquire);
}

/* The current context in *out and CUDA_SUCCESS; CUDA_ERROR_INVALID_CONTEXT if none; CUDA_ERROR_CONTEXT_IS_DESTROYED if
 * it was destroyed; the sticky error if the context has one; CUDA_ERROR_NOT_PERMITTED inside a host function. What
 * nearly every entry point calls first. */
CUresult mr_context_require_slow(struct mr_context **out) __attribute__((warn_unused_result));

__attribute__((warn_unused_result)) static inline CUresult mr_context_require(struct mr_context **out)
{
    struct mr_context *context = mr_thread_context;
    if (__builtin_expect(context != NULL && !atomic_load_explicit(&context->destroyed, memory_order_acquire) &&
                             atomic_load_explicit(&context->error, memory_order_acquire) == CUDA_SUCCESS,
                         1)) {
        *out = context;
        return CUDA_SUCCESS;
    }
    return mr_context_require_slow(out);
}

/* Sets the sticky error; the first one wins. Any thread. */
void mr_context_fail(struct mr_context *context, CUresult error);

/* The sticky error or CUDA_SUCCESS. */
static inline CUresult mr_context_error(struct mr_context *context)
{
    return (CUresult)atomic_load_explicit(&context->error, memory_order_acquire);
}

/* The live context behind a handle for a call that names one: NULL means the current context.
 * CUDA_ERROR_INVALID_CONTEXT for a value that is no context's handle; CUDA_ERROR_CONTEXT_IS_DESTROYED for one that was
 * destroyed while it is still current to the calling thread. No reference is taken. */
CUresult mr_context_resolve(CUcontext handle, struct mr_context **out) __attribute__((warn_unused_result));

#endif
