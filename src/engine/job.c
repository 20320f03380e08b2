/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: how a launch's blocks are shared out.
 *
 * The thread that begins a launch decides whether it is worth sharing. What a block of this code took lately is
 * remembered in a small table; a launch that will be over in less than SHARE_NS is run alone, in one go. Otherwise the
 * job is opened: every thread inside claims chunks of blocks with one atomic addition, sized so that a chunk takes
 * about CHUNK_NS, of a share of its own first, then of the others' (shares.h). The job is closed by the first thread
 * that finds no block left; the last thread that leaves completes it. So nobody ever waits for a chunk of somebody
 * else. As many threads come in as there are processors, and another one whenever no block under way does anything but
 * wait; more, if nothing moves, where a block may wait and nobody can tell (MR_CODE_MAY_WAIT). When work of a higher
 * priority is ready, workers leave between two chunks and may come back later; one thread stays.
 *
 * Kernels with loops that poll memory (MR_CODE_WAITS) may need another block of their own grid to go on. Theirs are
 * claimed one at a time, the first one first, and the job is always opened, so that other threads can reach the
 * remaining blocks when one of them waits.
 *
 * A cooperative launch's blocks all have to be under way together: each thread inside takes them one by one, as many as
 * wait for each other (kernel/together.c).
 *
 * Launches that a kernel has made run when its own blocks have ended, one after the other, in the same job
 * (kernel/launched.h).
 *
 * Long copies and fills are shared out in the same way: a job without a launch, whose blocks are pieces of the run of
 * bytes. */
#include "base/alloc.h"
#include "base/clock.h"
#include "command/parts.h"
#include "engine/shares.h"
#include "engine/tell.h"
#include "engine/transfer.h"
#include "engine/workers.h"
#include "kernel/fault.h"
#include "kernel/launch.h"
#include "kernel/launched.h"

#define SHARE_NS 20000u
#define CHUNK_NS 40000u
#define STRIDE_NS 640000u                /* instead, where blocks that run together read side by side */
#define ESTIMATES 256u
#define SCALE 16u                        /* estimates are in 1/16 ns a block */

/* What a block takes, by code and block size; read and written without a lock, since a wrong value only costs time. */
static struct {
    _Atomic uint64_t key;
    _Atomic uint32_t cost;
} estimates[ESTIMATES];

static uint64_t estimate_key(const struct mr_launch *launch)
{
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return ((uint64_t)(uintptr_t)launch->code + threads * 0x9e3779b97f4a7c15u) | 1;
}

static unsigned estimate_place(uint64_t key)
{
    return (unsigned)((key * 0x9e3779b97f4a7c15u) >> 56) % ESTIMATES;
}

/* 1/16 ns a block, or 0 if nothing is known. */
static uint64_t estimate_get(uint64_t key)
{
    unsigned place = estimate_place(key);
    if (atomic_load_explicit(&estimates[place].key, memory_order_relaxed) != key)
        return 0;
    return atomic_load_explicit(&estimates[place].cost, memory_order_relaxed);
}

/* What a chunk shall take. */
static uint64_t chunk_ns(const struct mr_launch *launch)
{
    return launch && (launch->code->flags & MR_CODE_STRIDES) ? STRIDE_NS : CHUNK_NS;
}

static void estimate_put(uint64_t key, uint64_t ns, uint64_t blocks)
{
    uint64_t cost = ns * SCALE / blocks + 1;
    uint64_t before = estimate_get(key);
    unsigned place = estimate_place(key);
    if (before)
        cost = (before * 3 + cost) / 4;
    if (cost > UINT32_MAX)
        cost = UINT32_MAX;
    atomic_store_explicit(&estimates[place].cost, (uint32_t)cost, memory_order_relaxed);
    atomic_store_explicit(&estimates[place].key, key, memory_order_relaxed);
}

static CUresult run_blocks(struct mr_launch *launch, uint64_t first, uint64_t end, struct mr_runner *self)
{
    CUresult status = mr_launch_run_blocks(launch, first, end, self->number);
    if (self->noted)
        mr_runner_settle(self);
    return status;
}

struct pieces {
    const struct mr_command *command;
    uint64_t first, end;
};

static void pieces_work(void *data)
{
    const struct pieces *pieces = data;
    mr_transfer_run(pieces->command, pieces->first, pieces->end);
}

static CUresult run_chunk(struct mr_job *job, uint64_t first, uint64_t end, struct mr_runner *self)
{
    if (job->launch)
        return run_blocks(job->launch, first, end, self);
    struct pieces pieces = {job->command, first, end};
    CUresult status = mr_fault_guard(pieces_work, &pieces);
    return job->command->kind == MR_COMMAND_PARTS ? mr_parts_ended(status) : status;
}

/* Whether blocks of the thread's latest run were taken back (stall.c). The run has ended, so nobody takes any now. */
static bool was_cut(struct mr_runner *self)
{
    bool cut = self->cut;
    self->cut = false;
    return cut;
}

bool mr_job_has_more(const struct mr_job *job)
{
    return atomic_load_explicit(&job->next, memory_order_relaxed) < job->total ||
           atomic_load_explicit(&job->put_back, memory_order_relaxed) != NULL;
}

struct mr_job *mr_job_best(void)
{
    MR_HELD(&mr_engine.lock);
    struct mr_job *best = NULL;
    for (struct mr_list *link = mr_engine.jobs.next; link != &mr_engine.jobs; link = link->next) {
        struct mr_job *job = MR_CONTAINER(link, struct mr_job, link);
        if (job->hot && (!best || job->key < best->key) && mr_job_has_more(job))
            best = job;
    }
    return best;
}

void mr_job_heat(struct mr_job *job)
{
    MR_HELD(&mr_engine.lock);
    if (job->hot)
        return;
    job->hot = true;
    mr_engine.hot_jobs++;
    mr_engine_publish();
}

/* Where blocks may need one another, they have to begin in order, however many threads that takes. */
static bool is_in_order(const struct mr_job *job)
{
    return job->launch && (job->launch->cooperative || (job->launch->code->flags & MR_CODE_WAITS));
}

bool mr_job_may_wait(const struct mr_job *job)
{
    return is_in_order(job) || (job->launch && (job->launch->code->flags & MR_CODE_MAY_WAIT));
}

/* Workers need not look for it any more. Lock held. */
static void cool(struct mr_job *job)
{
    MR_HELD(&mr_engine.lock);
    if (!job->hot)
        return;
    job->hot = false;
    mr_engine.hot_jobs--;
    mr_engine_publish();
}

/* Whether threads beyond as many as there are processors come in only when all that are inside wait. */
static bool counts_stuck(const struct mr_job *job)
{
    return job->launch && !job->launch->cooperative && (job->launch->code->flags & MR_CODE_WAITS);
}

void mr_job_enter(struct mr_job *job)
{
    MR_HELD(&mr_engine.lock);
    uint32_t before = atomic_fetch_add_explicit(&job->inside, 1, memory_order_relaxed);
    if (before + 1 >= mr_engine.base && (!mr_job_may_wait(job) || counts_stuck(job)))
        cool(job);
}

bool mr_job_is_stuck(struct mr_job *job, struct mr_runner *self, bool left)
{
    if (!counts_stuck(job))
        return !self->noted;
    if (self->stuck == left) {
        self->stuck = !left;
        if (left)
            atomic_fetch_sub_explicit(&job->stuck, 1, memory_order_relaxed);
        else
            atomic_fetch_add_explicit(&job->stuck, 1, memory_order_relaxed);
    }
    return self->stuck && mr_job_has_more(job) &&
           atomic_load_explicit(&job->stuck, memory_order_relaxed) >=
               atomic_load_explicit(&job->inside, memory_order_relaxed);
}

/* No block is left to claim: nobody needs to come in any more. */
static void close_job(struct mr_job *job)
{
    if (!atomic_load_explicit(&job->open, memory_order_relaxed))
        return;
    mr_lock_take(&mr_engine.lock);
    if (atomic_load_explicit(&job->open, memory_order_relaxed) &&
        !atomic_load_explicit(&job->put_back, memory_order_relaxed)) {
        atomic_store_explicit(&job->open, false, memory_order_relaxed);
        mr_list_remove(&job->link);
        cool(job);
    }
    mr_lock_drop(&mr_engine.lock);
}

/* The thread is inside a job since `from`: it tells of that, if an observer wants to know. */
static void tell_part(struct mr_job *job, uint64_t from)
{
    if (__builtin_expect(job->told != NULL, 0))
        mr_tell_slice(job->told, from);
}

/* True if a worker has left the job before its end, for work of a higher priority that waits: it has been counted out
 * already. Somebody always stays. `since`: when it came in, or told of its part. */
static bool gives_way(struct mr_job *job, const struct mr_runner *self, uint64_t *since)
{
    uint64_t top = atomic_load_explicit(&mr_engine.top_key, memory_order_relaxed);
    if (__builtin_expect(mr_engine_level(top) >= mr_engine_level(job->key), 1) || !self->is_worker)
        return false;
    bool gone = false;
    tell_part(job, *since);
    *since = mr_clock_ns();
    mr_lock_take(&mr_engine.lock);
    if (atomic_load_explicit(&job->open, memory_order_relaxed) &&
        mr_engine_level(mr_engine.top_key) < mr_engine_level(job->key)) {
        uint32_t inside = atomic_load_explicit(&job->inside, memory_order_relaxed);
        mr_job_heat(job);
        while (inside > 1 && !gone)
            gone = atomic_compare_exchange_weak_explicit(&job->inside, &inside, inside - 1, memory_order_acq_rel,
                                                         memory_order_relaxed);
    }
    mr_lock_drop(&mr_engine.lock);
    return gone;
}

struct mr_put_back {
    struct mr_put_back *next;
    uint64_t first, end;
};

bool mr_job_put_back(struct mr_job *job, uint64_t first, uint64_t end)
{
    MR_HELD(&mr_engine.lock);
    struct mr_put_back *blocks = mr_alloc(sizeof *blocks);
    if (!blocks)
        return false;
    *blocks = (struct mr_put_back){atomic_load_explicit(&job->put_back, memory_order_relaxed), first, end};
    atomic_store_explicit(&job->put_back, blocks, memory_order_relaxed);
    if (!atomic_load_explicit(&job->open, memory_order_relaxed)) {
        atomic_store_explicit(&job->open, true, memory_order_relaxed);
        mr_list_append(&mr_engine.jobs, &job->link);
    }
    mr_job_heat(job);
    return true;
}

/* Claims some of what came back: `most` at most, and not much of a long stretch. */
static bool claim_again(struct mr_job *job, uint64_t most, uint64_t *first, uint64_t *end)
{
    mr_lock_take(&mr_engine.lock);
    struct mr_put_back *blocks = atomic_load_explicit(&job->put_back, memory_order_relaxed), *used_up = NULL;
    if (blocks) {
        uint64_t part = (blocks->end - blocks->first) / (2 * mr_engine.base) + 1;
        *first = blocks->first;
        *end = blocks->first += part < most ? part : most;
        used_up = blocks->first == blocks->end ? blocks : NULL;
        if (used_up)
            atomic_store_explicit(&job->put_back, blocks->next, memory_order_relaxed);
        mr_engine.takes++;
    }
    mr_lock_drop(&mr_engine.lock);
    mr_free(used_up);
    return blocks != NULL;
}

/* Something went wrong: no block is run any more but those under way. */
static void give_up(struct mr_job *job, CUresult status)
{
    int none = CUDA_SUCCESS;
    atomic_compare_exchange_strong(&job->status, &none, (int)status);
    atomic_store_explicit(&job->next, job->total, memory_order_relaxed);
    uint64_t first, end;
    while (atomic_load_explicit(&job->put_back, memory_order_relaxed) && claim_again(job, UINT64_MAX, &first, &end))
        ;
}

/* Claims up to `most` blocks that nobody has had. */
static bool claim_new(struct mr_job *job, unsigned own, uint64_t most, uint64_t *first, uint64_t *end)
{
    if (job->shares) {
        if (atomic_load_explicit(&job->next, memory_order_relaxed) >= job->total)
            return false;
        if (mr_shares_claim(job->shares, own, most, first, end))
            return true;
        atomic_store_explicit(&job->next, job->total, memory_order_relaxed);
        return false;
    }
    *first = atomic_fetch_add_explicit(&job->next, most, memory_order_relaxed);
    if (*first >= job->total)
        return false;
    *end = job->total - *first < most ? job->total : *first + most;
    return true;
}

/* Claims up to `most` blocks, *first to *end - 1, for the thread whose share is `own`. False if none is left. */
static bool claim(struct mr_job *job, unsigned own, uint64_t most, uint64_t *first, uint64_t *end)
{
    return claim_new(job, own, most, first, end) ||
           (atomic_load_explicit(&job->put_back, memory_order_relaxed) && claim_again(job, most, first, end));
}

/* Claims and runs chunks until none is left (true), or until the worker has left for something else (false). `grain`
 * adapts to what chunks take. */
static bool run_chunks(struct mr_job *job, struct mr_runner *self)
{
    bool stayed = true;
    bool fixed = !job->launch || (job->launch->code->flags & MR_CODE_WAITS) != 0;
    unsigned own = job->shares ? mr_shares_own(job->shares, self->number) : 0;
    uint64_t grain = job->grain, key = job->launch ? estimate_key(job->launch) : 0, first, end;
    uint64_t since = job->told ? mr_clock_ns() : 0;
    struct mr_job *outer = self->job;
    self->job = job;
    atomic_store_explicit(&self->running, job->launch ? job : NULL, memory_order_relaxed);
    while (stayed && claim(job, own, grain, &first, &end)) {
        uint64_t begin = mr_clock_ns();
        CUresult status = run_chunk(job, first, end, self);
        uint64_t took = mr_clock_ns() - begin;
        if (status != CUDA_SUCCESS) {
            give_up(job, status);
            break;
        }
        if (job->launch && !was_cut(self))
            estimate_put(key, took, end - first);
        if (!fixed) {
            uint64_t most = job->shares ? job->total : (job->total - end) / (2 * mr_engine.base) + 1;
            grain = took ? chunk_ns(job->launch) * (end - first) / took : most;
            grain = grain < 1 ? 1 : grain > most ? most : grain;
        }
        stayed = !gives_way(job, self, &since);
    }
    self->job = outer;
    atomic_store_explicit(&self->running, NULL, memory_order_relaxed);
    if (stayed) {
        tell_part(job, since);
        close_job(job);
    }
    return stayed;
}

static bool take_block(void *data, uint64_t *index)
{
    struct mr_job *job = data;
    *index = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    return *index < job->total;
}

/* The same for a launch whose blocks may all wait for each other. Nobody leaves before its blocks have ended. */
static bool run_cooperative(struct mr_job *job, struct mr_runner *self)
{
    struct mr_block_source source = {.take = take_block, .data = job, .workspace = &job->workspace};
    struct mr_job *outer = self ? self->job : NULL;
    uint64_t since = job->told ? mr_clock_ns() : 0;
    if (self)
        self->job = job;
    CUresult status = mr_launch_run_together(job->launch, &source, self ? self->number : 2 * MR_WORKERS_LIMIT);
    if (self) {
        self->job = outer;
        if (self->noted)
            mr_runner_settle(self);
    }
    if (status != CUDA_SUCCESS)
        give_up(job, status);
    tell_part(job, since);
    close_job(job);
    return true;
}

/* What a thread does in a job; as run_chunks. */
static bool run_share(struct mr_job *job, struct mr_runner *self)
{
    return job->launch && job->launch->cooperative ? run_cooperative(job, self) : run_chunks(job, self);
}

/* Leaves the job; true for the last one. */
static bool leave(struct mr_job *job)
{
    if (atomic_fetch_sub_explicit(&job->inside, 1, memory_order_acq_rel) != 1)
        return false;
    mr_shares_give_back(job->shares);
    return true;
}

/* How many threads beside this one will find work in the job, without those that are about to look for some anyway. Of
 * a kernel that has not run nobody knows that. Lock held. */
static unsigned helpers_for(const struct mr_job *job)
{
    MR_HELD(&mr_engine.lock);
    uint64_t most = mr_engine.base - 1, coming = (uint64_t)mr_engine.spinning + mr_engine.woken + mr_engine.starting;
    uint64_t cost = job->launch ? estimate_get(estimate_key(job->launch)) : 0;
    uint64_t paying = !job->launch ? job->total : cost ? job->total / (SHARE_NS * SCALE / cost + 1) : 0;
    most = paying < most ? paying : most;
    return most > coming ? (unsigned)(most - coming) : 0;
}

/* Opens a job whose size and grain are set, and runs what nobody else does. `hot`: workers shall look for it. */
static bool run_open(struct mr_job *job, bool hot, struct mr_runner *self, CUresult *status)
{
    job->shares = hot && !is_in_order(job) ? mr_shares_take(job->total, mr_engine.base) : NULL;
    atomic_store_explicit(&job->put_back, NULL, memory_order_relaxed);
    atomic_store_explicit(&job->next, 0, memory_order_relaxed);
    atomic_store_explicit(&job->inside, 1, memory_order_relaxed);
    atomic_store_explicit(&job->stuck, 0, memory_order_relaxed);
    atomic_store_explicit(&job->status, CUDA_SUCCESS, memory_order_relaxed);
    job->hot = false;
    struct mr_call call = {0};
    mr_lock_take(&mr_engine.lock);
    mr_list_append(&mr_engine.jobs, &job->link);
    atomic_store_explicit(&job->open, true, memory_order_relaxed);
    if (hot) {
        mr_job_heat(job);
        job->helpers = helpers_for(job);
        call = mr_engine_call_for(job);
    }
    mr_lock_drop(&mr_engine.lock);
    mr_call_make(call);
    if (!run_share(job, self) || !leave(job))
        return false;
    *status = (CUresult)atomic_load(&job->status);
    return true;
}

/* The whole launch, of several blocks, on this thread. False if others came in, and have not left. */
static bool run_alone(struct mr_job *job, uint64_t about, struct mr_runner *self, CUresult *status)
{
    uint64_t begin = mr_clock_ns();
    job->shares = NULL;
    job->grain = 1;
    job->hot = false;
    atomic_store_explicit(&job->put_back, NULL, memory_order_relaxed);
    atomic_store_explicit(&job->next, job->total, memory_order_relaxed);
    atomic_store_explicit(&job->inside, 1, memory_order_relaxed);
    atomic_store_explicit(&job->stuck, 0, memory_order_relaxed);
    atomic_store_explicit(&job->status, CUDA_SUCCESS, memory_order_relaxed);
    atomic_store_explicit(&self->running, job, memory_order_relaxed);
    *status = run_blocks(job->launch, 0, job->total, self);
    atomic_store_explicit(&self->running, NULL, memory_order_relaxed);
    tell_part(job, begin);
    if (__builtin_expect(!was_cut(self), 1)) {
        estimate_put(about, mr_clock_ns() - begin, job->total);
        return true;
    }
    if (*status != CUDA_SUCCESS)
        give_up(job, *status);
    if (!run_chunks(job, self) || !leave(job))
        return false;
    *status = (CUresult)atomic_load(&job->status);
    return true;
}

/* mr_job_run, but for what the launch's kernel launches. */
static bool run_grid(struct mr_job *job, struct mr_launch *launch, uint64_t key, CUresult *status)
{
    uint64_t total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    struct mr_runner *self = mr_runner_self();
    bool waits = (launch->code->flags & MR_CODE_WAITS) != 0;
    uint64_t about = estimate_key(launch), cost = estimate_get(about);
    bool small = cost != 0 && total < UINT32_MAX && cost * total < (uint64_t)SHARE_NS * SCALE;
    /* A first version of code can only be replaced between two chunks. */
    bool whole = small || (mr_engine.base == 1 && !launch->code->tier);
    if (!launch->cooperative && total == 1) {
        *status = run_blocks(launch, 0, 1, self);
        return true;
    }
    job->launch = launch;
    job->key = key;
    job->total = total;
    if (!launch->cooperative && !waits && whole)
        return run_alone(job, about, self, status);
    job->workspace = (struct mr_grid_workspace){.size = sizeof job->workspace};
    job->grain = waits || cost == 0 ? 1 : chunk_ns(launch) * SCALE / cost;
    if (job->grain > total / (2 * mr_engine.base) + 1)
        job->grain = total / (2 * mr_engine.base) + 1;
    if (job->grain < 1)
        job->grain = 1;
    return run_open(job, launch->cooperative || (!small && (waits || mr_engine.base > 1)), self, status);
}

/* What the kernel of a launch has launched. `launch` runs, or is NULL; `list` is still to come. */
struct mr_offspring {
    const struct mr_launch *root;
    struct mr_launch *launch;
    struct mr_launched *list;
    uint64_t key;
};

/* Runs launches one after the other. What the one that has ended has launched comes first. As mr_job_run. */
static bool run_offspring(struct mr_job *job, CUresult *status)
{
    struct mr_offspring *offspring = job->offspring;
    for (;;) {
        if (offspring->launch) {
            mr_launched_before(mr_launched_take(offspring->launch), &offspring->list);
            mr_tell_launched(job->told, offspring->launch);
            mr_launch_free(offspring->launch);
            offspring->launch = NULL;
        }
        if (!offspring->list || *status != CUDA_SUCCESS)
            break;
        *status = mr_launched_begin(&offspring->list, offspring->root, &offspring->launch);
        if (*status == CUDA_SUCCESS && !run_grid(job, offspring->launch, offspring->key, status))
            return false;
    }
    mr_launched_free(offspring->list);
    mr_free(offspring);
    job->offspring = NULL;
    return true;
}

/* The blocks of a launch have ended, and it may have launched others. As mr_job_run. An observer learns first what the
 * launch itself has touched. */
static bool begin_offspring(struct mr_job *job, struct mr_launch *launch, uint64_t key, CUresult *status)
{
    struct mr_launched *list = mr_launched_take(launch);
    if (!list)
        return true;
    mr_tell_launch(job->told, launch);
    job->offspring = mr_calloc(1, sizeof *job->offspring);
    if (job->offspring) {
        *job->offspring = (struct mr_offspring){.root = launch, .list = list, .key = key};
        return run_offspring(job, status);
    }
    mr_launched_free(list);
    *status = CUDA_ERROR_OUT_OF_MEMORY;
    return true;
}

bool mr_job_run(struct mr_job *job, struct mr_launch *launch, uint64_t key, CUresult *status)
{
    return run_grid(job, launch, key, status) && (__builtin_expect(!(launch->code->flags & MR_CODE_LAUNCHES), 1) ||
                                                  begin_offspring(job, launch, key, status));
}

/* The last thread has left: the launch has ended, unless kernels have launched more. */
static void end_job(struct mr_job *job)
{
    CUresult status = (CUresult)atomic_load(&job->status);
    bool ended = true;
    if (job->offspring)
        ended = run_offspring(job, &status);
    else if (job->launch && (job->launch->code->flags & MR_CODE_LAUNCHES))
        ended = begin_offspring(job, job->launch, job->key, &status);
    if (!ended)
        return;
    atomic_store(&job->status, (int)status);
    job->resume(job);
}

bool mr_job_run_pieces(struct mr_job *job, const struct mr_command *command, uint64_t pieces, uint64_t key,
                       CUresult *status)
{
    job->launch = NULL;
    job->command = command;
    job->key = key;
    job->total = pieces;
    job->grain = mr_engine.base > 1 ? 1 : pieces;
    return run_open(job, mr_engine.base > 1, mr_runner_self(), status);
}

void mr_job_work(struct mr_job *job, struct mr_runner *self)
{
    MR_MAY_WAIT();
    if (run_share(job, self) && leave(job))
        end_job(job);
}

void mr_job_offer(struct mr_job *job, struct mr_task *task)
{
    mr_lock_take(&mr_engine.lock);
    job->task = task;
    atomic_store_explicit(&job->open, task != NULL, memory_order_relaxed);
    mr_lock_drop(&mr_engine.lock);
}

bool mr_job_join(struct mr_job *job)
{
    if (!atomic_load_explicit(&job->open, memory_order_relaxed))
        return false;
    struct mr_task *task = NULL;
    mr_lock_take(&mr_engine.lock);
    bool open = atomic_load_explicit(&job->open, memory_order_relaxed) && job->hot;
    if (open)
        mr_job_enter(job);
    else if (job->task && mr_engine_remove(job->task))
        task = job->task;
    mr_lock_drop(&mr_engine.lock);
    if (open)
        mr_job_work(job, mr_runner_self());
    else if (task)
        task->run(task);
    return open || task;
}
