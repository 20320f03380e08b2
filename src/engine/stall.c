/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that make no progress: other threads get the blocks that have not begun, and the log says which block waits.
 *
 * A thread runs several blocks one after the other. If one of them runs long, it may wait for a later one, of which
 * nobody else knows. So runs of blocks are looked at now and then (kernel/progress.h). When no block of a launch has
 * begun for a while, its threads' blocks that they have not begun are taken back and put into the job, which workers
 * look for again; the monitor sees to it that there are workers. So in the end each thread that is inside runs one call
 * of generated code, and there is a thread for each call, up to MR_WORKERS_LIMIT.
 *
 * That is done soon (a tenth of a second) where blocks may wait for each other as far as the code tells, and one thread
 * in a second is added elsewhere: those blocks most likely just take long.
 *
 * In such a launch, a warp that has gone on for long on one thread, where others of its block could go on, or another
 * block of a cooperative launch, is interrupted, again and again, so that each has its turn.
 *
 * A launch whose blocks do nothing but wait for as long as a setting says is reported once, by one of its threads. A
 * warp that leaves a loop that waits, for a lock, say, or changes memory in one, has done something, unless the loop is
 * one whose stores are no progress (compile/codegen/analysis/steady.c). */
#include <limits.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/workers.h"
#include "kernel/launch.h"
#include "kernel/progress.h"

#define GAP_NS UINT64_C(1000000000) /* a block that has not waited for so long does something */
#define CALM_LOOKS 40u

static struct mr_runner *runner_at(struct mr_list *link)
{
    return MR_CONTAINER(link, struct mr_runner, link);
}

#define EACH_RUNNER(runner) \
    (struct mr_list *at = mr_engine.runners.next; at != &mr_engine.runners && ((runner) = runner_at(at)); at = at->next)

/* Notes how far the thread is. True if it runs blocks. */
static bool note(struct mr_runner *runner, uint64_t now)
{
    struct mr_progress *progress = runner->progress;
    struct mr_stall_look *look = &runner->look;
    if (!atomic_load_explicit(&progress->launch, memory_order_relaxed)) {
        look->id = 0;
        return false;
    }
    struct mr_stall_look is = {.id = atomic_load_explicit(&progress->id, memory_order_relaxed),
                               .begun = atomic_load_explicit(&progress->begun, memory_order_relaxed),
                               .spare = atomic_load_explicit(&progress->spare, memory_order_relaxed),
                               .waited = atomic_load_explicit(&progress->waited, memory_order_relaxed),
                               .moved = atomic_load_explicit(&progress->moved, memory_order_relaxed)};
    if (is.id != look->id || is.begun != look->begun || is.spare != look->spare) {
        is.since = is.waits_since = is.waited_at = now;
        is.told = look->told;
        *look = is;
    } else if (is.waited != look->waited) {
        if (now - look->waited_at > GAP_NS || is.moved != look->moved)
            look->waits_since = now;
        look->waited = is.waited;
        look->moved = is.moved;
        look->waited_at = now;
    }
    look->seen = false;
    return true;
}

/* A launch: what all of its threads have in common. */
struct still {
    uint64_t since, waits_since, helped, blocks;
    bool waits, told;
};

static struct still look_at_launch(uint64_t id, uint64_t now)
{
    struct still still = {.waits = true};
    struct mr_runner *runner;
    for
        EACH_RUNNER(runner)
        {
            struct mr_stall_look *look = &runner->look;
            if (look->id != id)
                continue;
            look->seen = true;
            still.since = look->since > still.since ? look->since : still.since;
            still.helped = look->helped > still.helped ? look->helped : still.helped;
            still.waits_since = look->waits_since > still.waits_since ? look->waits_since : still.waits_since;
            still.waits &= look->waited_at > look->waits_since && now - look->waited_at <= GAP_NS;
            still.told |= look->told == id;
            still.blocks += atomic_load_explicit(&runner->progress->blocks, memory_order_relaxed);
        }
    return still;
}

/* Puts back what the thread has not begun. True if that is some. */
static bool take_back(struct mr_runner *runner, uint64_t id, bool late)
{
    uint64_t first, end;
    if (atomic_load_explicit(&runner->progress->spare, memory_order_relaxed) == 0)
        return false;
    struct mr_launch *launch = mr_progress_hold(runner->progress);
    if (!launch)
        return false;
    struct mr_job *job = atomic_load_explicit(&runner->running, memory_order_relaxed);
    bool some = launch->id == id && job && (late || mr_job_may_wait(job)) &&
                mr_progress_spare(runner->progress, &first, &end) && mr_job_put_back(job, first, end);
    if (some) {
        mr_progress_cut(runner->progress, first);
        runner->cut = true;
        mr_engine.taken_back++;
    }
    mr_progress_let_go(runner->progress);
    return some;
}

/* Lets workers at a launch's blocks that nobody has begun. `late`: though nothing says that they may wait for each
 * other. */
static void help(uint64_t id, uint64_t now, bool late)
{
    bool helped = false;
    struct mr_runner *runner;
    for
        EACH_RUNNER(runner)
        {
            if (runner->look.id != id)
                continue;
            helped |= take_back(runner, id, late);
            runner->look.helped = now;
        }
    for (struct mr_list *link = mr_engine.jobs.next; link != &mr_engine.jobs; link = link->next) {
        struct mr_job *job = MR_CONTAINER(link, struct mr_job, link);
        if (job->launch && job->launch->id == id && mr_job_has_more(job) && (late || mr_job_may_wait(job))) {
            mr_job_heat(job);
            helped = true;
        }
    }
    mr_engine.monitor_armed |= helped;
}

/* Whether a thread that runs blocks of the launch may have others to run instead of the warp at hand, though it gives
 * way to none. */
static bool may_switch(const struct mr_launch *launch)
{
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return launch->cooperative ||
           (threads > MR_WARP_LANES && (launch->code->flags & (MR_CODE_COOPERATIVE | MR_CODE_MAY_WAIT)));
}

/* Lets other warps have their turn where one has gone on for long. True if there may be any. */
static bool force(uint64_t id, uint64_t now)
{
    bool any = false;
    struct mr_runner *runner;
    for
        EACH_RUNNER(runner)
        {
            if (runner->look.id != id || runner->look.waited_at == now)
                continue;
            struct mr_launch *launch = mr_progress_hold(runner->progress);
            if (!launch)
                continue;
            if (launch->id == id && may_switch(launch)) {
                mr_progress_force(runner->progress);
                any = true;
            }
            mr_progress_let_go(runner->progress);
        }
    return any;
}

/* Makes one of the launch's threads say what they wait for. */
static void tell(uint64_t id, const struct still *still, uint64_t now)
{
    struct mr_runner *runner;
    bool told = false;
    for
        EACH_RUNNER(runner)
        {
            if (runner->look.id != id)
                continue;
            struct mr_launch *launch = told ? NULL : mr_progress_hold(runner->progress);
            if (launch) {
                told = launch->id == id;
                if (told)
                    mr_progress_tell(runner->progress, still->blocks, now - still->since);
                mr_progress_let_go(runner->progress);
            }
            if (told)
                runner->look.told = id;
        }
}

/* True if any thread runs blocks. *soon: look again soon, for other warps to have a turn. */
static bool look_at_all(uint64_t now, bool *soon)
{
    const struct mr_stall_pace *pace = &mr_engine.stall_pace;
    bool any = false;
    struct mr_runner *runner;
    for
        EACH_RUNNER(runner)
    any |= note(runner, now);
    for
        EACH_RUNNER(runner)
        {
            uint64_t id = runner->look.id;
            if (!id || runner->look.seen || now - runner->look.since < pace->soon_ns)
                continue;
            struct still still = look_at_launch(id, now);
            uint64_t from = still.since > still.helped ? still.since : still.helped;
            if (now - from >= pace->late_ns || (now - still.since < pace->late_ns && now - from >= pace->soon_ns))
                help(id, now, now - from >= pace->late_ns);
            *soon |= force(id, now);
            if (mr_engine.stall_ns && still.waits && !still.told && now - still.waits_since >= mr_engine.stall_ns)
                tell(id, &still, now);
        }
    return any;
}

uint64_t mr_stall_look(void)
{
    static unsigned calm;
    uint64_t now = mr_clock_ns();
    bool soon = false;
    mr_lock_take(&mr_engine.lock);
    calm = look_at_all(now, &soon) ? 0 : calm + 1;
    if (calm >= CALM_LOOKS) {
        calm = 0;
        atomic_store_explicit(&mr_progress_watched, false, memory_order_relaxed);
        mr_progress_barrier();
        if (look_at_all(now, &soon))
            atomic_store_explicit(&mr_progress_watched, true, memory_order_relaxed);
    }
    mr_lock_drop(&mr_engine.lock);
    return soon ? mr_engine.stall_pace.turn_ns : mr_engine.stall_pace.tick_ns;
}

void mr_stall_watch(void)
{
    if (!atomic_exchange_explicit(&mr_progress_watched, true, memory_order_relaxed))
        mr_monitor_wake();
}
