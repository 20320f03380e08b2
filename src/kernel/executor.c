/* SPDX-License-Identifier: Apache-2.0 */
/* Making and freeing executors: fiber stacks with guards, the shared memory window, the thread's signal stack.
 *
 * Everything here is sized on demand and kept: a launch that needs more stack or more shared memory than any before it
 * on this thread gets new mappings, later ones find them ready. The pages are touched only when used, so generous sizes
 * cost address space and no memory. */
#define _GNU_SOURCE
#include "kernel/executor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sanitizer.h"
#include "kernel/fault.h"

/* The guard below each stack: what a 32-bit offset can reach, as long as the process's share of address space lasts;
 * then less and less. The odd part keeps stacks a TLB's sets apart. */
#define GUARD_MOST ((size_t)4 << 30)
#define GUARD_LEAST ((size_t)64 << 10)
#define GUARD_ODD ((size_t)64 << 10)
/* Address space that all guards may take together: an eighth of what 47 bits have. */
#ifdef MR_TSAN
#define GUARDS_MOST ((size_t)64 << 30)
#else
#define GUARDS_MOST ((size_t)16 << 40)
#endif
/* And of what `ulimit -v` leaves. */
#define GUARDS_SHARE 16u
#define RED_ZONE 256u
#define STACK_LEAST (1u << 20)
#define STACK_COLOUR 1088u
#define SHARED_LEAST (256u << 10)
#define SHARED_HOLE (1u << 20)
/* What a 32-bit shared address can reach, so that a negative index hits nothing either. */
#define SHARED_REACH ((size_t)1 << 32)

_Thread_local struct mr_executor *mr_executor_self __attribute__((tls_model("initial-exec")));

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t executor_key;
static bool key_made;

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

/* Bytes of address space that guards have now. */
static _Atomic size_t guards;

static size_t guards_most(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur / GUARDS_SHARE > GUARDS_MOST)
        return GUARDS_MOST;
    return (size_t)limit.rlim_cur / GUARDS_SHARE;
}

static bool guards_claim(size_t bytes, size_t most)
{
    size_t before = atomic_load_explicit(&guards, memory_order_relaxed);
    do {
        if (bytes > most || before > most - bytes)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&guards, &before, before + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static void free_stacks(struct mr_executor *executor)
{
    for (unsigned i = 0; i < executor->prepared; i++)
        mr_fiber_release(&executor->warps[i].fiber);
    if (executor->stacks)
        munmap(executor->stacks, executor->stacks_bytes);
    atomic_fetch_sub_explicit(&guards, executor->guards_claimed, memory_order_relaxed);
    executor->guards_claimed = 0;
    executor->stacks = NULL;
    executor->stack_count = executor->prepared = 0;
    executor->stack_bytes = executor->stacks_bytes = 0;
}

/* Runs when a thread ends, through the key's destructor. */
static void free_executor(void *data)
{
    struct mr_executor *executor = data;
    mr_executor_self = NULL;
    mr_fault_thread_end(executor->signal_stack);
    while (executor) {
        struct mr_executor *next = executor->next;
        free_stacks(executor);
        if (executor->shared_map)
            munmap(executor->shared_map, executor->shared_map_bytes);
        mr_free(executor->params);
        mr_free(executor);
        executor = next;
    }
}

static void make_key(void)
{
    key_made = pthread_key_create(&executor_key, free_executor) == 0;
}

static struct mr_executor *new_executor(void)
{
    struct mr_executor *executor = mr_calloc_aligned(64, sizeof *executor);
    if (!executor)
        return NULL;
    for (unsigned i = 0; i < MR_WARPS_MAX; i++)
        executor->warps[i].executor = executor;
    mr_fiber_adopt_thread(&executor->home);
    executor->block.runtime = &mr_runtime_table;
    executor->block.engine = executor;
    executor->progress = mr_progress_self();
    return executor;
}

struct mr_executor *mr_executor_after(struct mr_executor *executor)
{
    if (!executor->next)
        executor->next = new_executor();
    return executor->next;
}

struct mr_executor *mr_executor_get(void)
{
    if (__builtin_expect(mr_executor_self != NULL, 1))
        return mr_executor_self;
    pthread_once(&key_once, make_key);
    if (!key_made)
        return NULL;
    struct mr_executor *executor = new_executor();
    if (!executor)
        return NULL;
    if (pthread_setspecific(executor_key, executor) != 0) {
        mr_free(executor);
        return NULL;
    }
    executor->signal_stack = mr_fault_thread_begin();
    executor->progress->thread = (int)syscall(SYS_gettid);
    mr_executor_self = executor;
    return executor;
}

#define LOW_END (UINT64_C(1) << 32)
#define LOW_STEP (UINT64_C(1) << 26)

/* Address space that nobody may use yet, if `low` below 4 GiB: the system takes a place that is asked for if it is
 * free. MAP_FAILED if there is none. */
static void *map_stacks(size_t total, bool low)
{
    for (uint64_t wish = low ? LOW_STEP : 0; !low || wish + total <= LOW_END; wish += LOW_STEP) {
        void *map = mmap((void *)(uintptr_t)wish, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (!low || map == MAP_FAILED || (uint64_t)(uintptr_t)map + total <= LOW_END)
            return map;
        munmap(map, total);
    }
    return MAP_FAILED;
}

/* Address space for `count` stacks of `bytes` with guards between and around them, the largest that there are. Stacks
 * below 4 GiB have the smallest: there is no room for more. MAP_FAILED if there is none. */
static void *map_guarded(unsigned count, size_t bytes, bool low, size_t *guard, size_t *total, size_t *claimed)
{
    size_t most = guards_most();
    for (size_t large = GUARD_MOST; large > GUARD_LEAST && !low; large /= 4) {
        *guard = large + GUARD_ODD;
        *claimed = *guard * (count + 1);
        *total = bytes * count + *claimed;
        if (!guards_claim(*claimed, most))
            continue;
        void *map = map_stacks(*total, false);
        if (map != MAP_FAILED)
            return map;
        atomic_fetch_sub_explicit(&guards, *claimed, memory_order_relaxed);
    }
    *guard = GUARD_LEAST;
    *claimed = 0;
    *total = bytes * count + *guard * (count + 1);
    return map_stacks(*total, low);
}

static bool provide_stacks(struct mr_executor *executor, unsigned count, size_t stack_bytes, bool low)
{
    size_t bytes = round_up(stack_bytes, 64u << 10), guard, total, claimed;
    if (bytes < STACK_LEAST)
        bytes = STACK_LEAST;
    if (bytes < executor->stack_bytes)
        bytes = executor->stack_bytes;
    if (count < executor->stack_count)
        count = executor->stack_count;
    unsigned char *map = map_guarded(count, bytes, low, &guard, &total, &claimed);
    if (map == MAP_FAILED)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (mprotect(map + guard + i * (bytes + guard), bytes, PROT_READ | PROT_WRITE) != 0) {
            munmap(map, total);
            atomic_fetch_sub_explicit(&guards, claimed, memory_order_relaxed);
            return false;
        }
    free_stacks(executor);
    executor->stacks = map;
    executor->stacks_bytes = total;
    executor->stack_bytes = bytes;
    executor->stack_guard = guard;
    executor->guards_claimed = claimed;
    executor->stack_count = count;
    executor->stacks_low = low;
    return true;
}

static bool provide_shared(struct mr_executor *executor, size_t bytes)
{
    size_t room = bytes < SHARED_LEAST ? SHARED_LEAST : round_up(bytes, 64u << 10);
    size_t total = room + SHARED_HOLE + SHARED_REACH;
    unsigned char *map = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        /* Address space is limited: a smaller hole catches most. */
        total = room + 2 * (size_t)SHARED_HOLE;
        map = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (map == MAP_FAILED)
        return false;
    if (mprotect(map + SHARED_HOLE, room, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, total);
        return false;
    }
    if (executor->shared_map)
        munmap(executor->shared_map, executor->shared_map_bytes);
    executor->shared_map = map;
    executor->shared_map_bytes = total;
    executor->shared_end = map + SHARED_HOLE + room;
    executor->shared_room = room;
    return true;
}

bool mr_executor_provide(struct mr_executor *executor, unsigned count, size_t stack_bytes, bool low,
                         size_t shared_bytes)
{
    bool high = low && !executor->stacks_low;
    if ((stack_bytes > executor->stack_bytes || count > executor->stack_count || high) &&
        !provide_stacks(executor, count, stack_bytes, low))
        return false;
    if (shared_bytes > executor->shared_room && !provide_shared(executor, shared_bytes))
        return false;
    size_t step = executor->stack_bytes + executor->stack_guard;
    for (unsigned i = executor->prepared; i < count; i++) {
        unsigned char *bottom = executor->stacks + i * step + executor->stack_guard;
        /* Tops a little apart, or all warps' frames would compete for the same few lines of the first-level cache. */
        size_t usable = executor->stack_bytes - i * STACK_COLOUR;
        mr_fiber_prepare(&executor->warps[i].fiber, bottom, usable, mr_warp_main, &executor->warps[i]);
        executor->prepared = i + 1;
    }
    return true;
}

enum mr_guard_hit mr_executor_guard_hit(const struct mr_executor *executor, uintptr_t address, uintptr_t stack_pointer)
{
    uintptr_t start = (uintptr_t)executor->stacks;
    size_t step = executor->stack_bytes + executor->stack_guard;
    if (!start || address < start || address - start >= executor->stacks_bytes ||
        (address - start) % step >= executor->stack_guard)
        return MR_GUARD_NONE;
    if (!stack_pointer)
        return MR_GUARD_STACK;
    /* A frame, or a call, that no longer fits has its stack pointer in the guard or at its end. */
    bool used_up = stack_pointer >= start && stack_pointer - start < executor->stacks_bytes &&
                   (stack_pointer - start) % step < executor->stack_guard + RED_ZONE;
    return used_up ? MR_GUARD_STACK : MR_GUARD_LOCAL;
}
