/* SPDX-License-Identifier: Apache-2.0 */
/* Making and freeing executors: fiber stacks with guards, the shared memory window, the thread's signal stack.
 *
 * Everything here is sized on demand and kept: a launch that needs more stack or more shared memory than any before it on this thread gets new
 * mappings, later ones find them ready. The pages are touched only when used, so generous sizes cost address space and no memory. */
#include "kernel/executor.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "kernel/fault.h"

#define STACK_GUARD (64u << 10)
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

static void free_stacks(struct mr_executor *executor)
{
    for (unsigned i = 0; i < executor->prepared; i++)
        mr_fiber_release(&executor->warps[i].fiber);
    if (executor->stacks)
        munmap(executor->stacks, executor->stacks_bytes);
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
    mr_executor_self = executor;
    return executor;
}

#define LOW_END (UINT64_C(1) << 32)
#define LOW_STEP (UINT64_C(1) << 26)

/* Address space that nobody may use yet, if `low` below 4 GiB: the system takes a place that is asked for if it is free. MAP_FAILED if there is none. */
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

static bool provide_stacks(struct mr_executor *executor, unsigned count, size_t stack_bytes, bool low)
{
    size_t bytes = round_up(stack_bytes, 64u << 10);
    if (bytes < STACK_LEAST)
        bytes = STACK_LEAST;
    if (bytes < executor->stack_bytes)
        bytes = executor->stack_bytes;
    if (count < executor->stack_count)
        count = executor->stack_count;
    size_t step = bytes + STACK_GUARD, total = step * count + STACK_GUARD;
    unsigned char *map = map_stacks(total, low);
    if (map == MAP_FAILED)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (mprotect(map + i * step + STACK_GUARD, bytes, PROT_READ | PROT_WRITE) != 0) {
            munmap(map, total);
            return false;
        }
    free_stacks(executor);
    executor->stacks = map;
    executor->stacks_bytes = total;
    executor->stack_bytes = bytes;
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

bool mr_executor_provide(struct mr_executor *executor, unsigned count, size_t stack_bytes, bool low, size_t shared_bytes)
{
    bool high = low && !executor->stacks_low;
    if ((stack_bytes > executor->stack_bytes || count > executor->stack_count || high) && !provide_stacks(executor, count, stack_bytes, low))
        return false;
    if (shared_bytes > executor->shared_room && !provide_shared(executor, shared_bytes))
        return false;
    size_t step = executor->stack_bytes + STACK_GUARD;
    for (unsigned i = executor->prepared; i < count; i++) {
        unsigned char *bottom = executor->stacks + i * step + STACK_GUARD;
        /* Tops a little apart, or all warps' frames would compete for the same few lines of the first-level cache. */
        size_t usable = executor->stack_bytes - i * STACK_COLOUR;
        mr_fiber_prepare(&executor->warps[i].fiber, bottom, usable, mr_warp_main, &executor->warps[i]);
        executor->prepared = i + 1;
    }
    return true;
}

bool mr_executor_is_guard(const struct mr_executor *executor, uintptr_t address)
{
    uintptr_t start = (uintptr_t)executor->stacks;
    if (!start || address < start || address - start >= executor->stacks_bytes)
        return false;
    return (address - start) % (executor->stack_bytes + STACK_GUARD) < STACK_GUARD;
}
