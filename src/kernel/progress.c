/* SPDX-License-Identifier: Apache-2.0 */
/* Holding runs, and taking blocks back from them. */
#define _GNU_SOURCE
#include "kernel/progress.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/launch.h"

/* Where the system has no such barrier: as long as a store may take to be seen, many times over. */
#define SETTLE_NS 2000000

static _Thread_local struct mr_progress self
    __attribute__((tls_model("initial-exec"))) = {.lock = MR_LOCK_INIT(PROGRESS)};

_Atomic bool mr_progress_watched;
void (*mr_progress_watch)(void);

struct mr_progress *mr_progress_self(void)
{
    return &self;
}

static pthread_once_t barrier_once = PTHREAD_ONCE_INIT;
static bool have_barrier;

static void register_barrier(void)
{
    have_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void mr_progress_barrier(void)
{
    pthread_once(&barrier_once, register_barrier);
    atomic_thread_fence(memory_order_seq_cst);
    if (have_barrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return;
    struct timespec rest = {0, SETTLE_NS};
    nanosleep(&rest, NULL);
    atomic_thread_fence(memory_order_seq_cst);
}

void mr_progress_begin(struct mr_progress *progress, struct mr_launch *launch, uint64_t end, uint64_t spare)
{
    progress->end = end;
    atomic_store_explicit(&progress->id, launch->id, memory_order_relaxed);
    atomic_store_explicit(&progress->blocks, 1, memory_order_relaxed);
    atomic_store_explicit(&progress->spare, spare, memory_order_relaxed);
    mr_progress_add(&progress->begun);
    atomic_store_explicit(&progress->launch, launch, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(!atomic_load_explicit(&mr_progress_watched, memory_order_relaxed), 0) && mr_progress_watch)
        mr_progress_watch();
}

void mr_progress_end(struct mr_progress *progress)
{
    atomic_store_explicit(&progress->launch, NULL, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&progress->attention, memory_order_acquire) != 0, 0))
        (void)mr_progress_heed(progress);
}

uint64_t mr_progress_heed(struct mr_progress *progress)
{
    mr_lock_take(&progress->lock);
    uint64_t cut = progress->cut, spare = atomic_load_explicit(&progress->spare, memory_order_relaxed);
    progress->cut = 0;
    /* The latest note was made before the cut. */
    atomic_store_explicit(&progress->spare, spare > cut ? spare - cut : 0, memory_order_relaxed);
    atomic_store_explicit(&progress->attention, 0, memory_order_relaxed);
    mr_lock_drop(&progress->lock);
    return cut;
}

struct mr_launch *mr_progress_hold(struct mr_progress *progress)
{
    mr_lock_take(&progress->lock);
    atomic_fetch_or_explicit(&progress->attention, MR_ATTENTION_HELD, memory_order_relaxed);
    mr_progress_barrier();
    struct mr_launch *launch = atomic_load_explicit(&progress->launch, memory_order_acquire);
    if (!launch)
        mr_progress_let_go(progress);
    return launch;
}

void mr_progress_let_go(struct mr_progress *progress)
{
    /* The thread that sees this ends its run, and the next owner of the launch's record writes to it, after what was
     * read of it here. */
    atomic_fetch_and_explicit(&progress->attention, ~(uint32_t)MR_ATTENTION_HELD, memory_order_release);
    mr_lock_drop(&progress->lock);
}

bool mr_progress_spare(const struct mr_progress *progress, uint64_t *first, uint64_t *end)
{
    MR_HELD(&progress->lock);
    uint64_t spare = atomic_load_explicit(&progress->spare, memory_order_relaxed);
    if (spare <= progress->cut)
        return false;
    *end = progress->end;
    *first = progress->end - (spare - progress->cut);
    return true;
}

void mr_progress_cut(struct mr_progress *progress, uint64_t first)
{
    progress->cut += progress->end - first;
    progress->end = first;
    atomic_fetch_or_explicit(&progress->attention, MR_ATTENTION_CUT, memory_order_relaxed);
}

bool mr_progress_give(struct mr_progress *progress, uint64_t *block)
{
    uint64_t first, end;
    mr_lock_take(&progress->lock);
    bool some = mr_progress_spare(progress, &first, &end);
    if (some) {
        *block = end - 1;
        mr_progress_cut(progress, end - 1);
    }
    mr_lock_drop(&progress->lock);
    return some;
}

void mr_progress_tell(struct mr_progress *progress, uint64_t blocks, uint64_t ns)
{
    progress->tell.blocks = blocks;
    progress->tell.ns = ns;
    atomic_fetch_or_explicit(&progress->attention, MR_ATTENTION_TELL, memory_order_relaxed);
}
