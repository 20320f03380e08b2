/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a context: creation with its default limits, the sticky error, and the order in which everything goes at
 * the end: work first, then streams, then modules, then memory. */
#include "object/context.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/log.h"
#include "share/use.h"

static struct mr_context_hooks hooks;

static mr_lock slots_lock = MR_LOCK_INIT(SLOTS);
static uint64_t *slots;              /* bit set: taken. Under slots_lock */
static size_t slot_words;

static _Atomic unsigned long long next_id = 1;

void mr_context_set_hooks(const struct mr_context_hooks *wanted)
{
    hooks = *wanted;
}

/* The smallest free slot number, or -1 when memory is short. */
static long take_slot(void)
{
    long slot = -1;
    mr_lock_take(&slots_lock);
    for (size_t word = 0; word < slot_words && slot < 0; word++)
        if (~slots[word])
            slot = (long)(word * 64 + (size_t)__builtin_ctzll(~slots[word]));
    if (slot < 0) {
        size_t room = slot_words, old = slot_words;
        if (mr_array_reserve((void **)&slots, &room, old + 1, sizeof *slots)) {
            memset(slots + old, 0, (room - old) * sizeof *slots);
            slot_words = room;
            slot = (long)(old * 64);
        }
    }
    if (slot >= 0)
        slots[slot / 64] |= UINT64_C(1) << (slot % 64);
    mr_lock_drop(&slots_lock);
    return slot;
}

static void give_slot(unsigned slot)
{
    mr_lock_take(&slots_lock);
    slots[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    mr_lock_drop(&slots_lock);
}

CUresult mr_context_flags_check(unsigned flags)
{
    unsigned policy = flags & CU_CTX_SCHED_MASK;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0 || (policy & (policy - 1)) != 0) {
        mr_call_log(MR_LOG_INFO, "flags %#x are not a set of CU_CTX_*", flags);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags & (CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE)) {
        mr_call_log(MR_LOG_INFO, "core dumps of contexts are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

static void context_finish(void *object)
{
    struct mr_context *context = object;
    if (context->legacy && hooks.release)
        hooks.release(context);
    give_slot(context->slot);
}

struct mr_context *mr_context_new(struct mr_device *device, unsigned flags, bool is_primary)
{
    static const size_t initial_limits[CU_LIMIT_MAX] = {
        [CU_LIMIT_STACK_SIZE] = 1024,
        [CU_LIMIT_PRINTF_FIFO_SIZE] = 8448 * 1024,
        [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
        [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
        [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
        [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
    };
    long slot = take_slot();
    if (slot < 0)
        return NULL;
    struct mr_context *context = mr_object_new(MR_KIND_CONTEXT, sizeof *context, context_finish);
    if (!context) {
        give_slot((unsigned)slot);
        return NULL;
    }
    mr_lock_init(&context->lock, MR_LOCK_CONTEXT);
    mr_lock_init(&context->order_lock, MR_LOCK_ORDER);
    context->handle = mr_object_handle(context);
    context->device = device;
    context->flags = flags;
    context->id = atomic_fetch_add(&next_id, 1);
    context->api_version = 3020;
    context->is_primary = is_primary;
    context->usage = 1;
    context->slot = (unsigned)slot;
    for (int i = 0; i < CU_LIMIT_MAX; i++)
        atomic_store_explicit(&context->limits[i], initial_limits[i], memory_order_relaxed);
    mr_list_init(&context->streams);
    mr_list_init(&context->busy_blocking);
    mr_list_init(&context->modules);
    mr_list_init(&context->allocations);
    if (hooks.begin && !hooks.begin(context)) {
        if (mr_object_retire(context))
            mr_object_drop(context);
        return NULL;
    }
    mr_use_context(device->number, 1);
    return context;
}

bool mr_context_enter(struct mr_context *context)
{
    atomic_fetch_add(&context->makers, 1);
    if (!atomic_load(&context->destroyed))
        return true;
    mr_context_leave(context);
    return false;
}

void mr_context_leave(struct mr_context *context)
{
    if (atomic_fetch_sub(&context->makers, 1) == 1 && atomic_load(&context->destroyed))
        mr_futex_wake(&context->makers, INT_MAX);
}

/* `destroyed` is set, so no thread enters any more; those inside are on the way out. */
static void wait_for_makers(struct mr_context *context)
{
    uint32_t inside;
    while ((inside = atomic_load(&context->makers)))
        mr_futex_wait(&context->makers, inside, 1000000);
}

bool mr_context_destroy(struct mr_context *context)
{
    if (!mr_object_retire(context))
        return false;
    atomic_store(&context->destroyed, true);
    mr_use_context(context->device->number, -1);
    if (hooks.end)
        hooks.end(context);
    wait_for_makers(context);
    if (hooks.free)
        hooks.free(context);
    mr_object_drop(context);
    return true;
}

void mr_context_fail(struct mr_context *context, CUresult error)
{
    int none = CUDA_SUCCESS;
    if (atomic_compare_exchange_strong_explicit(&context->error, &none, (int)error, memory_order_acq_rel,
                                                memory_order_acquire))
        mr_log(MR_LOG_INFO, "context %llu failed with status %d; every later call on it gets this status", context->id,
               (int)error);
}

CUresult mr_context_require_slow(struct mr_context **out)
{
    struct mr_context *context = mr_thread_context;
    if (mr_in_host_function) {
        mr_log(MR_LOG_INFO, "a host function called the driver, which is not permitted");
        return CUDA_ERROR_NOT_PERMITTED;
    }
    if (!context) {
        mr_call_log(MR_LOG_INFO, "no context is current to this thread (cuCtxSetCurrent makes one so)");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (atomic_load_explicit(&context->destroyed, memory_order_acquire)) {
        mr_call_log(MR_LOG_INFO, "the context that is current to this thread was destroyed");
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *out = context;
    return mr_context_error(context);
}

CUresult mr_context_resolve(CUcontext handle, struct mr_context **out)
{
    if (!handle)
        return mr_context_require(out);
    if (mr_in_host_function)
        return mr_context_require_slow(out);
    struct mr_context *context = mr_object_borrow(handle, MR_KIND_CONTEXT);
    if (!context) {
        mr_log(MR_LOG_INFO, "%p is not a live context", (void *)handle);
        bool current = mr_thread_context && mr_thread_context->handle == handle;
        return current ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
    }
    *out = context;
    return mr_context_error(context);
}
