/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of a thread, and the steps of jobs. */
#include "libs/nccl/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "libs/math/handles.h"
#include "libs/nccl/monitor.h"
#include "libs/nccl/refuse.h"
#include "nccl_impl.h"

#define SIM_MAGIC 0x74685283u

struct group {
    unsigned depth;
    ncclResult_t error;
    struct mr_call *calls;
    unsigned call_count, call_room;
    struct mr_job **jobs;
    unsigned job_count, job_room;
};
static _Thread_local struct group group;

/* ---- steps of jobs ---- */

/* Waits until `has(rank, turn)` for all ranks of the parent, or for those that a shrink keeps. */
static ncclResult_t wait_for_all(const struct mr_job *job, bool (*has)(struct mr_rank *rank, uint32_t turn),
                                 uint32_t turn, int only)
{
    struct mr_meeting *meeting = job->parent->meeting;
    for (int i = 0; i < job->parent->ranks; i++) {
        if (only >= 0 && i != only)
            continue;
        for (unsigned round = 1; !has(&meeting->rank[i], turn); round++) {
            if (round % MR_NAPS_BETWEEN_LOOKS == 0 && !mr_meeting_is_here(meeting, i) && !has(&meeting->rank[i], turn))
                return mr_nccl_bad(job->function, ncclRemoteError, "rank %d has gone", i);
            mr_nccl_nap();
        }
    }
    return ncclSuccess;
}

static bool has_said(struct mr_rank *rank, uint32_t turn)
{
    return atomic_load(&rank->said) >= turn;
}

static bool has_heard(struct mr_rank *rank, uint32_t turn)
{
    return atomic_load(&rank->heard) >= turn;
}

static bool has_given(struct mr_rank *rank, uint32_t turn)
{
    return atomic_load(&rank->given) >= turn;
}

static bool has_shrunk(struct mr_rank *rank, uint32_t turn)
{
    return atomic_load(&rank->shrunk) >= turn;
}

/* Says which colour and key the rank wants. */
static ncclResult_t say(struct mr_job *job)
{
    struct mr_rank *self = &job->parent->meeting->rank[job->parent->rank];
    ncclResult_t status = wait_for_all(job, has_heard, job->turn - 1, -1);
    if (status != ncclSuccess)
        return status;
    self->color = job->color;
    self->key = job->key;
    atomic_store(&self->said, job->turn);
    return ncclSuccess;
}

/* Whether rank a comes before rank b in the new communicator. */
static bool is_before(const struct mr_meeting *meeting, int a, int b)
{
    int32_t first = meeting->rank[a].key, second = meeting->rank[b].key;
    return first != second ? first < second : a < b;
}

/* The members of the new communicator: their number, the place of this rank, and the first of them. */
struct members {
    int count, rank, leader;
};

static bool is_member(const struct mr_job *job, int rank)
{
    return job->kind == MR_JOB_SPLIT ? job->parent->meeting->rank[rank].color == job->color : !job->excluded[rank];
}

static struct members members_of(const struct mr_job *job)
{
    const struct mr_meeting *meeting = job->parent->meeting;
    int self = job->parent->rank;
    struct members members = {.leader = self};
    for (int i = 0; i < job->parent->ranks; i++) {
        if (!is_member(job, i))
            continue;
        members.count++;
        bool before = job->kind == MR_JOB_SPLIT ? i != self && is_before(meeting, i, self) : i < self;
        members.rank += before;
        bool leads = job->kind == MR_JOB_SPLIT ? is_before(meeting, i, members.leader) : i < members.leader;
        if (leads)
            members.leader = i;
    }
    return members;
}

/* Whether all members can still join: none has left the parent, and their processes are alive. */
static bool can_join(const void *data)
{
    const struct mr_job *job = data;
    for (int i = 0; i < job->parent->ranks; i++)
        if (is_member(job, i) && !mr_meeting_is_here(job->parent->meeting, i)) {
            mr_log(MR_LOG_WARN, "NCCL: rank %d has gone before it joined the new communicator", i);
            return false;
        }
    return true;
}

/* The leader of the members gives them an id. */
static ncclResult_t give_id(struct mr_job *job)
{
    struct mr_meeting *meeting = job->parent->meeting;
    struct mr_rank *self = &meeting->rank[job->parent->rank];
    ncclResult_t status = job->kind == MR_JOB_SPLIT ? wait_for_all(job, has_said, job->turn, -1) : ncclSuccess;
    if (status != ncclSuccess || (job->kind == MR_JOB_SPLIT && job->color == NCCL_SPLIT_NOCOLOR))
        return status;
    if (members_of(job).leader != job->parent->rank)
        return ncclSuccess;
    status = mr_meeting_new(&self->id);
    if (status != ncclSuccess)
        return status;
    if (job->kind == MR_JOB_SPLIT)
        atomic_store(&self->given, job->turn);
    else
        atomic_store(&self->shrunk, job->turn);
    return ncclSuccess;
}

/* The members take the id, and enter. */
static ncclResult_t take_id(struct mr_job *job)
{
    struct mr_meeting *meeting = job->parent->meeting;
    bool splits = job->kind == MR_JOB_SPLIT;
    ncclResult_t status = ncclSuccess;
    if (!splits || job->color != NCCL_SPLIT_NOCOLOR) {
        struct members members = members_of(job);
        status = wait_for_all(job, splits ? has_given : has_shrunk, job->turn, members.leader);
        if (status == ncclSuccess) {
            job->id = meeting->rank[members.leader].id;
            job->comm->ranks = members.count;
            job->comm->rank = members.rank;
            status = mr_comm_enter(job->comm, &job->id);
        }
    }
    if (splits)
        atomic_store(&meeting->rank[job->parent->rank].heard, job->turn);
    return status;
}

static ncclResult_t step(struct mr_job *job, unsigned number)
{
    switch (number) {
    case 0:
        return job->kind == MR_JOB_SPLIT ? say(job) : ncclSuccess;
    case 1:
        return job->kind == MR_JOB_INIT ? ncclSuccess : give_id(job);
    case 2:
        if (!mr_launch_begin())
            return mr_nccl_bad(job->function, ncclSystemError, "there can't be another thread");
        return job->kind == MR_JOB_INIT ? mr_comm_enter(job->comm, &job->id) : take_id(job);
    default:
        return job->comm ? mr_comm_await(job->comm, job->parent ? can_join : NULL, job) : ncclSuccess;
    }
}

static void job_end(struct mr_job *job)
{
    struct mr_comm *comm = job->comm;
    if (comm) {
        atomic_store(&comm->state, job->status);
        if (job->status != ncclSuccess && comm->meeting)
            mr_meeting_fail(comm->meeting, ncclRemoteError);
        /* A communicator that is made in the background stays for ncclCommGetAsyncError and ncclCommAbort. */
        if (job->status != ncclSuccess && job->blocking) {
            *job->out = NULL;
            mr_comm_end(comm);
        }
        mr_comm_drop(comm);
    }
    if (job->parent)
        mr_comm_drop(job->parent);
    free(job->excluded);
    free(job);
}

struct jobs {
    unsigned count;
    struct mr_job *job[];
};

static ncclResult_t jobs_run(struct mr_job **jobs, unsigned count)
{
    ncclResult_t error = ncclSuccess;
    unsigned waves = 1;
    for (unsigned i = 0; i < count; i++)
        waves = jobs[i]->wave >= waves ? jobs[i]->wave + 1 : waves;
    for (unsigned wave = 0; wave < waves; wave++)
        for (unsigned number = 0; number < 4; number++)
            for (unsigned i = 0; i < count; i++)
                if (jobs[i]->wave == wave && jobs[i]->status == ncclSuccess) {
                    jobs[i]->status = step(jobs[i], number);
                    if (jobs[i]->status != ncclSuccess && jobs[i]->comm && jobs[i]->comm->meeting)
                        mr_meeting_fail(jobs[i]->comm->meeting, ncclRemoteError);
                }
    for (unsigned i = 0; i < count; i++) {
        if (error == ncclSuccess)
            error = jobs[i]->status;
        job_end(jobs[i]);
    }
    return error;
}

static void run_in_background(void *data)
{
    struct jobs *jobs = data;
    (void)jobs_run(jobs->job, jobs->count);
    free(jobs);
}

static ncclResult_t jobs_begin(struct mr_job **all, unsigned count)
{
    bool blocking = true;
    for (unsigned i = 0; i < count; i++)
        blocking = blocking && all[i]->blocking;
    if (blocking)
        return jobs_run(all, count);
    struct jobs *jobs = malloc(sizeof *jobs + count * sizeof(struct mr_job *));
    if (jobs) {
        jobs->count = count;
        memcpy(jobs->job, all, count * sizeof(struct mr_job *));
    }
    if (!jobs || !mr_group_background(run_in_background, jobs)) {
        free(jobs);
        return jobs_run(all, count);
    }
    return ncclInProgress;
}

struct background {
    void (*work)(void *data);
    void *data;
};

static void *background_main(void *data)
{
    struct background background = *(struct background *)data;
    free(data);
    background.work(background.data);
    return NULL;
}

bool mr_group_background(void (*work)(void *data), void *data)
{
    struct background *background = malloc(sizeof *background);
    if (!background)
        return false;
    *background = (struct background){work, data};
    if (mr_thread_start(background_main, background) != 0) {
        free(background);
        return false;
    }
    return true;
}

/* ---- groups ---- */

/* Submits the calls, those of a communicator together. */
static ncclResult_t calls_run(struct mr_call *calls, unsigned count)
{
    ncclResult_t error = ncclSuccess;
    struct mr_call *own = malloc((count ? count : 1) * sizeof *own);
    if (!own)
        return mr_nccl_bad("ncclGroupEnd", ncclSystemError, "memory is short");
    for (unsigned i = 0; i < count && error == ncclSuccess; i++) {
        struct mr_comm *comm = calls[i].comm;
        bool submitted = calls[i].submitted;
        unsigned found = 0;
        if (!comm)
            continue;
        for (unsigned k = i; k < count; k++)
            if (calls[k].comm == comm && calls[k].submitted == submitted) {
                own[found++] = calls[k];
                calls[k].comm = NULL;
            }
        error = submitted ? mr_launch_join(comm, own, found) : mr_launch_submit(comm, own, found);
    }
    free(own);
    return error;
}

/* Room for one more. */
static bool grow(void **array, unsigned *room, unsigned count, size_t size)
{
    if (count < *room)
        return true;
    unsigned wanted = *room ? *room * 2 : 16;
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return false;
    *array = larger;
    *room = wanted;
    return true;
}

ncclResult_t mr_group_error(ncclResult_t status)
{
    if (group.depth > 0 && group.error == ncclSuccess && status != ncclInProgress)
        group.error = status;
    return status;
}

ncclResult_t mr_group_call(const struct mr_call *call)
{
    struct mr_call own = *call;
    /* One rank alone waits for nobody: hardware does its operations at once, too. */
    own.submitted = group.depth == 0 || (call->comm->ranks == 1 && call->posting.way < MR_WAY_SEND);
    if (own.submitted) {
        ncclResult_t status = mr_launch_submit(call->comm, call, 1);
        if (status != ncclSuccess || group.depth == 0)
            return mr_group_error(status);
    }
    void *calls = group.calls;
    if (!grow(&calls, &group.call_room, group.call_count, sizeof *group.calls))
        return mr_group_error(mr_nccl_bad(call->function, ncclSystemError, "memory is short"));
    group.calls = calls;
    group.calls[group.call_count++] = own;
    return ncclSuccess;
}

ncclResult_t mr_group_job(struct mr_job *job)
{
    if (group.depth == 0)
        return jobs_begin(&job, 1);
    void *jobs = group.jobs;
    if (!grow(&jobs, &group.job_room, group.job_count, sizeof(struct mr_job *))) {
        job->status = ncclSystemError;
        job_end(job);
        return mr_group_error(mr_nccl_bad("ncclCommInitRank", ncclSystemError, "memory is short"));
    }
    group.jobs = jobs;
    for (unsigned i = 0; i < group.job_count; i++)
        job->wave += job->parent && group.jobs[i]->parent == job->parent;
    group.jobs[group.job_count++] = job;
    return ncclSuccess;
}

ncclResult_t mr_nccl_GroupStart(const struct mr_form *form)
{
    (void)form;
    group.depth++;
    return ncclSuccess;
}

/* Nothing of the group is done, and there is no estimate of how long it would take. */
ncclResult_t mr_nccl_GroupSimulateEnd(const struct mr_form *form, ncclSimInfo_t *info)
{
    if (group.depth == 0)
        return mr_nccl_bad(form->name, ncclInvalidUsage, "no group was started");
    if (--group.depth > 0)
        return ncclSuccess;
    struct group now = group;
    group = (struct group){0};
    for (unsigned i = 0; i < now.job_count; i++) {
        now.jobs[i]->status = ncclInvalidUsage;
        job_end(now.jobs[i]);
    }
    free(now.calls);
    free(now.jobs);
    if (info && (info->magic != SIM_MAGIC || info->size < sizeof *info))
        return mr_nccl_bad(form->name, ncclInvalidArgument, "simInfo doesn't begin as NCCL_SIM_INFO_INITIALIZER does");
    if (info)
        info->estimatedTime = NCCL_UNDEF_FLOAT;
    return now.error;
}

ncclResult_t mr_nccl_GroupEnd(const struct mr_form *form)
{
    if (group.depth == 0)
        return mr_nccl_bad(form->name, ncclInvalidUsage, "no group was started");
    if (--group.depth > 0)
        return ncclSuccess;
    struct group now = group;
    group = (struct group){0};
    for (unsigned i = 0; i < now.job_count && now.error != ncclSuccess; i++) {
        now.jobs[i]->status = now.error;
        job_end(now.jobs[i]);
    }
    ncclResult_t made = now.error;
    if (now.error == ncclSuccess && now.job_count > 0)
        made = jobs_begin(now.jobs, now.job_count);
    ncclResult_t status = made == ncclSuccess || made == ncclInProgress ? calls_run(now.calls, now.call_count) : made;
    free(now.calls);
    free(now.jobs);
    return status == ncclSuccess ? made : status;
}
