/* SPDX-License-Identifier: Apache-2.0 */
/* Making first versions of kernels' code before a launch asks for them, on processors that have nothing else to do.
 *
 * Two things tell which kernels a program will launch. It has asked for the kernel by name (mr_program_expect); or it
 * launches another one of the module for the first time, and its code is not on disk: those that come next in the text
 * are likely to follow (mr_ahead_follow). A job is one such kernel. Threads of our own take the jobs.
 *
 * Launches come first: what waits here is taken off by the launch that needs it, and what is being made it waits for.
 * What nobody launches is work for nothing. So there is room for a few jobs in the whole process, and a job has its
 * place until a launch has asked for its code, or its program has ended. Of code that the cache has on disk nothing is
 * made, because a launch gets it sooner than by waiting for a thread.
 *
 * The code is for the class of block shapes that the kernel's directives tell, or for whole warps in one row. If the
 * launch has another one, it makes its own. A version that can't be made is left to the launch, which says why. */
#include <pthread.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "base/share.h"
#include "compile/program.h"

#define JOBS 16u
#define NEXT 32u /* how far behind a kernel the next ones are looked for */
#define THREADS_MOST 8u

static mr_lock lock = MR_LOCK_INIT(AHEAD); /* held while jobs are looked at and changed */
static struct job {
    enum { JOB_FREE, JOB_WAITS, JOB_IS_MADE, JOB_READY } state;
    uint64_t turn; /* a later job has a higher one */
    struct mr_program *program; /* with a reference until it is ready: then its program lets go of it */
    size_t entry;
    unsigned shape;
    bool wrong; /* a launch had another shape, so nobody comes for it */
    struct mr_variant *variant; /* ready */
} jobs[JOBS];
static uint64_t turns;
static unsigned threads, unmade; /* how many there are; jobs that are not ready */
static _Atomic uint32_t bell, done; /* rung when a job is there; when one is no longer made */

/* Threads there may be. The program's thread reads the settings. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned threads_most;

static void read_settings(void)
{
    unsigned others = mr_share_of_machine().processors - 1;
    uint64_t said = mr_setting_number(MR_SETTING_COMPILE_THREADS, others < THREADS_MOST ? others : THREADS_MOST);
    threads_most = said < JOBS ? (unsigned)said : JOBS;
}

/* Lock held. */
static struct job *find(const struct mr_program *program, size_t entry)
{
    MR_HELD(&lock);
    for (struct job *job = jobs; job < jobs + JOBS; job++)
        if (job->state != JOB_FREE && job->program == program && job->entry == entry)
            return job;
    return NULL;
}

/* The job that has waited longest is for the launch that comes next, if there is another one for us: it makes that code
 * itself meanwhile, and does not wait. Lock held. */
static struct job *take_next(void)
{
    MR_HELD(&lock);
    struct job *first = NULL, *second = NULL;
    for (struct job *job = jobs; job < jobs + JOBS; job++) {
        if (job->state != JOB_WAITS)
            continue;
        if (!first || job->turn < first->turn) {
            second = first;
            first = job;
        } else if (!second || job->turn < second->turn) {
            second = job;
        }
    }
    struct job *next = second ? second : first;
    if (next)
        next->state = JOB_IS_MADE;
    return next;
}

/* Whether nobody has the program any more but jobs. Lock held. */
static bool is_left(const struct mr_program *program)
{
    MR_HELD(&lock);
    uint32_t references = 0;
    for (struct job *job = jobs; job < jobs + JOBS; job++)
        references += (job->state == JOB_WAITS || job->state == JOB_IS_MADE) && job->program == program;
    return atomic_load_explicit(&program->references, memory_order_relaxed) == references;
}

/* The code of a job, NULL if there is no use for it or it can't be made. */
static struct mr_variant *make(const struct job *job)
{
    struct mr_program *program = job->program;
    if (mr_variant_on_disk(program, job->entry, job->shape))
        return NULL;
    struct mr_variant *variant = mr_calloc(1, sizeof *variant);
    if (variant && mr_variant_new(program, job->entry, job->shape, MR_WANTED_AHEAD, variant) != CUDA_SUCCESS) {
        mr_free(variant);
        return NULL;
    }
    if (variant)
        mr_tier_begin(variant);
    return variant;
}

static void *ahead_main(void *data)
{
    (void)data;
    pthread_setname_np(pthread_self(), "millrace-ahead");
    for (;;) {
        uint32_t heard = atomic_load_explicit(&bell, memory_order_relaxed);
        mr_lock_take(&lock);
        struct job *job = take_next();
        bool useful = job && !is_left(job->program);
        mr_lock_drop(&lock);
        if (!job) {
            mr_futex_wait(&bell, heard, UINT64_MAX);
            continue;
        }
        struct mr_program *program = job->program;
        struct mr_variant *variant = useful ? make(job) : NULL, *spare = NULL;
        mr_lock_take(&lock);
        unmade--;
        bool keep = variant && !job->wrong;
        job->state = keep ? JOB_READY : JOB_FREE;
        job->variant = variant;
        if (variant && !keep)
            spare = mr_variant_put(program, job->entry, job->shape, variant);
        mr_lock_drop(&lock);
        mr_variant_free(spare);
        mr_program_drop(program);
        atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
        mr_futex_wake(&done, INT32_MAX);
    }
    return NULL;
}

/* Makes a job of a kernel that nobody has asked for, if there is room. Lock held. */
static bool add(struct mr_program *program, size_t entry, unsigned shape)
{
    MR_HELD(&lock);
    struct job *job = jobs;
    while (job < jobs + JOBS && job->state != JOB_FREE)
        job++;
    if (job == jobs + JOBS)
        return false;
    if (shape == MR_SHAPE_COUNT || atomic_exchange_explicit(&program->code[entry].asked, true, memory_order_relaxed))
        return true;
    mr_program_hold(program);
    *job = (struct job){.state = JOB_WAITS, .turn = turns++, .program = program, .entry = entry, .shape = shape};
    unmade++;
    return true;
}

/* Has as many threads as there is work for, and wakes them. Without them nothing is made ahead, which is no reason to
 * fail. */
static void call_threads(void)
{
    bool work, start, failed = false;
    do {
        mr_lock_take(&lock);
        work = unmade > 0;
        start = threads < unmade && threads < threads_most;
        threads += start;
        mr_lock_drop(&lock);
        failed = start && mr_thread_start(ahead_main, NULL) != 0;
    } while (start && !failed);
    if (failed) {
        mr_lock_take(&lock);
        threads--;
        mr_lock_drop(&lock);
    }
    if (work) {
        atomic_fetch_add_explicit(&bell, 1, memory_order_relaxed);
        mr_futex_wake(&bell, INT32_MAX);
    }
}

unsigned mr_ahead_threads(void)
{
    pthread_once(&once, read_settings);
    return threads_most;
}

/* Code that is written to files is that of launches. */
static bool is_allowed(const struct mr_program *program)
{
    return program->settings.threads > 0 && !program->settings.stages;
}

void mr_program_expect(struct mr_program *program, size_t entry)
{
    if (atomic_load_explicit(&program->code[entry].asked, memory_order_relaxed) || !is_allowed(program))
        return;
    mr_lock_take(&lock);
    add(program, entry, program->code[entry].guess);
    mr_lock_drop(&lock);
    call_threads();
}

void mr_ahead_follow(struct mr_program *program, size_t entry, unsigned shape)
{
    size_t end = program->entry_count - entry > NEXT ? entry + NEXT : program->entry_count;
    if (entry + 1 == end || !is_allowed(program))
        return;
    mr_lock_take(&lock);
    for (size_t next = entry + 1; next < end; next++) {
        unsigned guess = program->code[next].guess;
        if (!add(program, next, guess != MR_SHAPE_COUNT ? guess : shape))
            break;
    }
    mr_lock_drop(&lock);
    call_threads();
}

void mr_ahead_collect(struct mr_program *program, size_t entry, unsigned shape)
{
    struct job *job;
    struct mr_variant *spare = NULL;
    bool let_go = false;
    mr_lock_take(&lock);
    while ((job = find(program, entry)) && job->state == JOB_IS_MADE && job->shape == shape) {
        uint32_t seen = atomic_load_explicit(&done, memory_order_relaxed);
        mr_lock_drop(&lock);
        mr_futex_wait(&done, seen, UINT64_MAX);
        mr_lock_take(&lock);
    }
    if (job && job->state == JOB_IS_MADE) {
        job->wrong = true;
    } else if (job) {
        let_go = job->state == JOB_WAITS;
        unmade -= let_go;
        /* With the lock held: a launch that finds no job finds the code. */
        if (job->state == JOB_READY)
            spare = mr_variant_put(program, entry, job->shape, job->variant);
        job->state = JOB_FREE;
    }
    mr_lock_drop(&lock);
    mr_variant_free(spare);
    if (let_go)
        mr_program_drop(program);
}

void mr_ahead_forget(const struct mr_program *program)
{
    for (struct job *job = jobs; job < jobs + JOBS; job++) {
        mr_lock_take(&lock);
        bool its = job->state == JOB_READY && job->program == program;
        struct mr_variant *variant = its ? job->variant : NULL;
        if (its)
            job->state = JOB_FREE;
        mr_lock_drop(&lock);
        mr_variant_free(variant);
    }
}

void mr_ahead_settle(void)
{
    for (;;) {
        uint32_t seen = atomic_load_explicit(&done, memory_order_relaxed);
        mr_lock_take(&lock);
        bool busy = unmade > 0;
        mr_lock_drop(&lock);
        if (!busy)
            return;
        mr_futex_wait(&done, seen, UINT64_MAX);
    }
}
