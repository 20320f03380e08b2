/* SPDX-License-Identifier: Apache-2.0 */
/* The life of communicators. */
#define _GNU_SOURCE
#include "libs/nccl/comm.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libs/math/driver.h"
#include "libs/math/handles.h"
#include "libs/nccl/monitor.h"
#include "libs/nccl/refuse.h"

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mr_comm *all; /* communicators that have a meeting; all_lock guards it */

struct mr_comm *mr_comm_new(CUcontext context, int device, int ranks, int rank, bool blocking)
{
    struct mr_comm *comm = calloc(1, sizeof *comm);
    if (!comm)
        return NULL;
    comm->context = context;
    comm->device = device;
    comm->ranks = ranks;
    comm->rank = rank;
    comm->blocking = blocking;
    atomic_store(&comm->references, 1);
    atomic_store(&comm->state, ncclInProgress);
    comm->peer = calloc((size_t)ranks, sizeof(struct mr_peer *));
    comm->office = calloc((size_t)ranks, sizeof(struct mr_office *));
    (void)pthread_mutex_init(&comm->lock, NULL);
    comm->handle = mr_math_handle_new(comm);
    if (!comm->handle || !comm->peer || !comm->office) {
        if (comm->handle)
            (void)mr_math_handle_end(comm->handle);
        mr_comm_drop(comm);
        return NULL;
    }
    return comm;
}

void mr_comm_hold(struct mr_comm *comm)
{
    atomic_fetch_add(&comm->references, 1);
}

void mr_comm_drop(struct mr_comm *comm)
{
    if (atomic_fetch_sub(&comm->references, 1) != 1)
        return;
    pthread_mutex_lock(&all_lock);
    struct mr_comm **link = &all;
    while (*link && *link != comm)
        link = &(*link)->next;
    if (*link)
        *link = comm->next;
    pthread_mutex_unlock(&all_lock);
    for (int i = 0; i < comm->ranks && comm->peer; i++)
        if (comm->peer[i])
            mr_peer_close(comm->peer[i]);
    if (comm->meeting)
        mr_meeting_close(comm->meeting);
    for (struct mr_registered *next; comm->registered; comm->registered = next) {
        next = comm->registered->next;
        free(comm->registered);
    }
    free(comm->peer);
    free(comm->office);
    free(comm->ops);
    (void)pthread_mutex_destroy(&comm->lock);
    free(comm);
}

ncclResult_t mr_comm_find_any(const char *function, ncclComm_t handle, struct mr_comm **out)
{
    if (!handle)
        return mr_nccl_bad(function, ncclInvalidArgument, "the communicator is NULL");
    struct mr_comm *comm = mr_math_handle_find(handle);
    if (!comm)
        return mr_nccl_bad(function, ncclInvalidArgument, "this is not a communicator, or it was destroyed");
    *out = comm;
    return ncclSuccess;
}

ncclResult_t mr_comm_state(const struct mr_comm *comm)
{
    int state = atomic_load(&comm->state);
    if (state == ncclSuccess && comm->meeting)
        state = atomic_load(&comm->meeting->failed);
    return (ncclResult_t)state;
}

ncclResult_t mr_comm_find(const char *function, ncclComm_t handle, struct mr_comm **out)
{
    ncclResult_t status = mr_comm_find_any(function, handle, out);
    if (status != ncclSuccess)
        return status;
    status = mr_comm_state(*out);
    if (status == ncclInProgress)
        return mr_nccl_bad(function, ncclInvalidArgument,
                           "the call before is in progress: ask ncclCommGetAsyncError until it is over");
    return status == ncclSuccess ? status : mr_nccl_bad(function, status, "the communicator has failed before");
}

void mr_comm_each(void (*see)(struct mr_comm *comm))
{
    pthread_mutex_lock(&all_lock);
    for (struct mr_comm *comm = all; comm; comm = comm->next)
        see(comm);
    pthread_mutex_unlock(&all_lock);
}

void mr_nccl_nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

ncclResult_t mr_comm_push(const char *function, struct mr_comm *comm)
{
    return mr_nccl_driver(function, (int)mr_math_driver.cuCtxPushCurrent_v2(comm->context));
}

void mr_comm_pop(void)
{
    CUcontext before;
    (void)mr_math_driver.cuCtxPopCurrent_v2(&before);
}

/* ---- joining ---- */

/* Takes the rank's place in the meeting, with its lock. */
static ncclResult_t take_place(struct mr_comm *comm, const unsigned char device[16])
{
    struct mr_meeting *meeting = comm->meeting;
    struct mr_rank *rank = &meeting->rank[comm->rank];
    if (meeting->ranks == 0)
        meeting->ranks = (uint32_t)comm->ranks;
    if (meeting->ranks != (uint32_t)comm->ranks)
        return mr_nccl_bad("ncclCommInitRank", ncclInvalidUsage, "rank %d counts %d ranks, others %u", comm->rank,
                           comm->ranks, meeting->ranks);
    if (atomic_load(&rank->presence) != MR_RANK_ABSENT)
        return mr_nccl_bad("ncclCommInitRank", ncclInvalidUsage, "there is a rank %d already", comm->rank);
    rank->process = mr_process_self();
    rank->office = mr_office_handle();
    memcpy(rank->device, device, sizeof rank->device);
    atomic_store(&rank->presence, MR_RANK_HERE);
    atomic_fetch_add(&meeting->joined, 1);
    return ncclSuccess;
}

static ncclResult_t make_events(struct mr_comm *comm)
{
    CUresult status = mr_math_driver.cuEventCreate(&comm->event, CU_EVENT_DISABLE_TIMING);
    if (status == CUDA_SUCCESS)
        status = mr_math_driver.cuEventCreate(&comm->fork, CU_EVENT_DISABLE_TIMING);
    return mr_nccl_driver("ncclCommInitRank", (int)status);
}

static ncclResult_t enter(struct mr_comm *comm, const ncclUniqueId *id)
{
    CUdevice device;
    CUuuid uuid;
    if (!mr_office_own())
        return mr_nccl_bad("ncclCommInitRank", ncclSystemError, "memory or descriptors are short");
    ncclResult_t status = make_events(comm);
    if (status == ncclSuccess)
        status = mr_nccl_driver("ncclCommInitRank", (int)mr_math_driver.cuCtxGetDevice(&device));
    if (status == ncclSuccess)
        status = mr_nccl_driver("ncclCommInitRank", (int)mr_math_driver.cuDeviceGetUuid_v2(&uuid, device));
    if (status != ncclSuccess)
        return status;
    comm->device = device;
    comm->meeting = mr_meeting_open(id);
    if (!comm->meeting)
        return mr_nccl_bad(
            "ncclCommInitRank", ncclSystemError,
            "ncclGetUniqueId did not make this id, its process has ended, or the system doesn't let this one open it");
    if (!mr_meeting_lock(comm->meeting))
        return mr_nccl_bad("ncclCommInitRank", ncclRemoteError, "another rank has failed");
    status = take_place(comm, (const unsigned char *)uuid.bytes);
    if (status != ncclSuccess)
        mr_meeting_fail(comm->meeting, status);
    mr_meeting_unlock(comm->meeting);
    return status;
}

ncclResult_t mr_comm_enter(struct mr_comm *comm, const ncclUniqueId *id)
{
    ncclResult_t status = mr_comm_push("ncclCommInitRank", comm);
    if (status != ncclSuccess)
        return status;
    status = enter(comm, id);
    mr_comm_pop();
    return status;
}

static ncclResult_t check_devices(const struct mr_meeting *meeting)
{
    for (uint32_t i = 0; i < meeting->ranks; i++)
        for (uint32_t k = 0; k < i; k++)
            if (memcmp(meeting->rank[i].device, meeting->rank[k].device, sizeof meeting->rank[i].device) == 0)
                return mr_nccl_bad("ncclCommInitRank", ncclInvalidUsage,
                                   "ranks %u and %u have the same device (MILLRACE_DEVICES makes more of them)", k, i);
    return ncclSuccess;
}

static ncclResult_t open_peers(struct mr_comm *comm)
{
    for (int i = 0; i < comm->ranks; i++) {
        struct mr_rank *rank = &comm->meeting->rank[i];
        comm->peer[i] = mr_peer_open(&rank->office);
        if (!comm->peer[i])
            return mr_nccl_bad("ncclCommInitRank", ncclSystemError,
                               "the process of rank %d has ended, or the system doesn't let this one open its memory",
                               i);
        comm->office[i] = mr_peer_office(comm->peer[i]);
        comm->crosses = comm->crosses || rank->process != mr_process_self();
    }
    return ncclSuccess;
}

ncclResult_t mr_comm_await(struct mr_comm *comm, bool (*can_join)(const void *data), const void *data)
{
    struct mr_meeting *meeting = comm->meeting;
    for (unsigned round = 1; atomic_load(&meeting->joined) < meeting->ranks; round++) {
        if (atomic_load(&meeting->failed) != 0)
            return mr_nccl_bad("ncclCommInitRank", ncclRemoteError, "another rank has failed");
        if (round % MR_NAPS_BETWEEN_LOOKS == 0 && mr_meeting_all_live(meeting) && can_join && !can_join(data) &&
            atomic_load(&meeting->joined) < meeting->ranks)
            mr_meeting_fail(meeting, ncclRemoteError);
        mr_nccl_nap();
    }
    ncclResult_t status = check_devices(meeting);
    if (status == ncclSuccess)
        status = open_peers(comm);
    if (status != ncclSuccess) {
        mr_meeting_fail(meeting, status);
        return status;
    }
    pthread_mutex_lock(&all_lock);
    comm->next = all;
    all = comm;
    pthread_mutex_unlock(&all_lock);
    return ncclSuccess;
}

/* ---- ending ---- */

ncclResult_t mr_comm_flush(struct mr_comm *comm)
{
    if (!comm->event || mr_comm_push("ncclCommFinalize", comm) != ncclSuccess)
        return ncclSuccess;
    if (comm->has_last && comm->capture == 0)
        (void)mr_math_driver.cuEventSynchronize(comm->event);
    mr_comm_pop();
    return ncclSuccess;
}

static void end_events(struct mr_comm *comm)
{
    if (!comm->event || mr_comm_push("ncclCommDestroy", comm) != ncclSuccess)
        return;
    (void)mr_math_driver.cuEventDestroy_v2(comm->event);
    if (comm->fork)
        (void)mr_math_driver.cuEventDestroy_v2(comm->fork);
    comm->event = comm->fork = NULL;
    mr_comm_pop();
}

void mr_comm_end(struct mr_comm *comm)
{
    (void)mr_math_handle_end(comm->handle);
    if (comm->meeting && atomic_load(&comm->meeting->rank[comm->rank].presence) == MR_RANK_HERE)
        mr_meeting_leave(comm->meeting, comm->rank);
    mr_monitor_wake();
    end_events(comm);
    if (comm->retained)
        (void)mr_math_driver.cuDevicePrimaryCtxRelease_v2(comm->device);
    comm->retained = false;
    mr_comm_drop(comm);
}
