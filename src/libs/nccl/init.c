/* SPDX-License-Identifier: Apache-2.0 */
/* Making communicators and ending them, and what they say of themselves. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libs/math/driver.h"
#include "libs/nccl/group.h"
#include "libs/nccl/monitor.h"
#include "libs/nccl/refuse.h"
#include "nccl_impl.h"

#define MAGIC 0xcafebeefu

ncclResult_t mr_nccl_GetVersion(const struct mr_form *form, int *version)
{
    if (!version)
        return mr_nccl_bad(form->name, ncclInvalidArgument, "version is NULL");
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

ncclResult_t mr_nccl_GetUniqueId(const struct mr_form *form, ncclUniqueId *id)
{
    if (!id)
        return mr_nccl_bad(form->name, ncclInvalidArgument, "uniqueId is NULL");
    return mr_meeting_new(id);
}

/* ---- configurations ---- */

static bool is_switch(int value)
{
    return value == NCCL_CONFIG_UNDEF_INT || value == 0 || value == 1;
}

static bool is_above(int value, int least, int most)
{
    return value == NCCL_CONFIG_UNDEF_INT || (value >= least && value <= most);
}

/* The name of a member whose value is out of range, or NULL. */
static const char *wrong_member(const ncclConfig_t *config)
{
    int least = config->minCTAs, most = config->maxCTAs;
    if (!is_switch(config->blocking))
        return "blocking";
    if (!is_above(config->cgaClusterSize, 0, INT_MAX))
        return "cgaClusterSize";
    if (!is_above(least, 1, INT_MAX) || least > most) /* also without a most, as on hardware */
        return "minCTAs";
    if (!is_above(most, 1, INT_MAX))
        return "maxCTAs";
    if (!is_switch(config->splitShare))
        return "splitShare";
    if (!is_switch(config->collnetEnable))
        return "collnetEnable";
    if (!is_above(config->CTAPolicy, 0, NCCL_CTA_POLICY_EFFICIENCY | NCCL_CTA_POLICY_ZERO))
        return "CTAPolicy";
    if (!is_switch(config->shrinkShare))
        return "shrinkShare";
    if (!is_above(config->nvlsCTAs, 1, INT_MAX))
        return "nvlsCTAs";
    if (!is_above(config->nChannelsPerNetPeer, 1, INT_MAX))
        return "nChannelsPerNetPeer";
    return is_switch(config->nvlinkCentricSched) ? NULL : "nvlinkCentricSched";
}

/* Whether calls of a communicator with this configuration block, in *blocking. Older ones are shorter. */
static ncclResult_t read_config(const char *function, const ncclConfig_t *given, bool *blocking)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (!given)
        return ncclSuccess;
    size_t size = given->size;
    if (size < offsetof(ncclConfig_t, cgaClusterSize) || size > 4096 || given->magic != MAGIC)
        return mr_nccl_bad(function, ncclInvalidArgument,
                           "the configuration doesn't begin as NCCL_CONFIG_INITIALIZER does");
    memcpy(&config, given, size < sizeof config ? size : sizeof config);
    const char *wrong = wrong_member(&config);
    if (wrong)
        return mr_nccl_bad(function, ncclInvalidArgument, "%s of the configuration is out of range", wrong);
    if (config.netName && strcasecmp(config.netName, "Socket") != 0 && strcasecmp(config.netName, "IB") != 0)
        return mr_nccl_bad(function, ncclInvalidUsage, "there is no network '%s'", config.netName);
    if (config.blocking != NCCL_CONFIG_UNDEF_INT)
        *blocking = config.blocking;
    return ncclSuccess;
}

/* ---- making ---- */

static struct mr_job *job_new(enum mr_job_kind kind, const char *function, struct mr_comm *comm, ncclComm_t *out)
{
    struct mr_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->kind = kind;
    job->function = function;
    job->comm = comm;
    job->out = out;
    job->blocking = !comm || comm->blocking;
    if (comm)
        mr_comm_hold(comm);
    return job;
}

static ncclResult_t init_rank(const char *function, ncclComm_t *out, int64_t ranks, const ncclUniqueId *id,
                              int64_t rank, const ncclConfig_t *config)
{
    bool blocking = true;
    if (!out)
        return mr_nccl_bad(function, ncclInvalidArgument, "comm is NULL");
    if (ranks < 1 || rank < 0 || rank >= ranks) {
        if (ranks >= 1)
            *out = NULL;
        return mr_nccl_bad(function, ncclInvalidArgument, "rank %lld of %lld", (long long)rank, (long long)ranks);
    }
    if (ranks > MR_MEETING_RANKS)
        return mr_nccl_bad(function, ncclInvalidArgument, "%lld ranks; at most %d are possible", (long long)ranks,
                           MR_MEETING_RANKS);
    ncclResult_t status = read_config(function, config, &blocking);
    if (status != ncclSuccess) {
        *out = NULL;
        return status;
    }
    CUcontext context = mr_math_driver_open() ? mr_math_context(NULL) : NULL;
    if (!context)
        return mr_nccl_bad(function, ncclUnhandledCudaError, "there is no driver or no device");
    struct mr_comm *comm = mr_comm_new(context, 0, (int)ranks, (int)rank, blocking);
    struct mr_job *job = comm ? job_new(MR_JOB_INIT, function, comm, out) : NULL;
    if (!job) {
        if (comm)
            mr_comm_end(comm);
        return mr_nccl_bad(function, ncclSystemError, "memory is short");
    }
    job->id = *id;
    *out = comm->handle;
    return mr_group_job(job);
}

ncclResult_t mr_nccl_CommInitRank(const struct mr_form *form, ncclComm_t *comm, int64_t ranks, ncclUniqueId id,
                                  int64_t rank)
{
    return mr_group_error(init_rank(form->name, comm, ranks, &id, rank, NULL));
}

ncclResult_t mr_nccl_CommInitRankConfig(const struct mr_form *form, ncclComm_t *comm, int64_t ranks, ncclUniqueId id,
                                        int64_t rank, ncclConfig_t *config)
{
    return mr_group_error(init_rank(form->name, comm, ranks, &id, rank, config));
}

/* Further ids only help NCCL to begin faster: all meet by the first. */
ncclResult_t mr_nccl_CommInitRankScalable(const struct mr_form *form, ncclComm_t *comm, int64_t ranks, int64_t rank,
                                          int64_t count, ncclUniqueId *ids, ncclConfig_t *config)
{
    if (!ids || count < 1 || count > ranks)
        return mr_group_error(mr_nccl_bad(form->name, ncclInvalidArgument, "%lld ids for %lld ranks", (long long)count,
                                          (long long)ranks));
    return mr_group_error(init_rank(form->name, comm, ranks, &ids[0], rank, config));
}

/* Makes the device's primary context current; the communicator made then holds it. */
static ncclResult_t use_device(const char *function, int ordinal, CUcontext *context)
{
    CUdevice device;
    int status = (int)mr_math_driver.cuDeviceGet(&device, ordinal);
    if (status == CUDA_SUCCESS)
        status = (int)mr_math_driver.cuDevicePrimaryCtxRetain(context, device);
    if (status == CUDA_SUCCESS)
        status = (int)mr_math_driver.cuCtxSetCurrent(*context);
    return mr_nccl_driver(function, status);
}

static ncclResult_t init_all(const char *function, ncclComm_t *comms, int count, const int *devices)
{
    ncclUniqueId id;
    ncclResult_t status = mr_meeting_new(&id);
    const struct mr_form none = {function, 'X', false};
    if (status != ncclSuccess)
        return status;
    (void)mr_nccl_GroupStart(&none);
    for (int i = 0; i < count && status == ncclSuccess; i++) {
        CUcontext context = NULL;
        struct mr_comm *comm;
        status = use_device(function, devices ? devices[i] : i, &context);
        if (status == ncclSuccess)
            status = init_rank(function, &comms[i], count, &id, i, NULL);
        if (status == ncclSuccess && mr_comm_find_any(function, comms[i], &comm) == ncclSuccess)
            comm->retained = true;
    }
    if (status != ncclSuccess)
        (void)mr_group_error(status);
    ncclResult_t ended = mr_nccl_GroupEnd(&none);
    return status != ncclSuccess ? status : ended;
}

ncclResult_t mr_nccl_CommInitAll(const struct mr_form *form, ncclComm_t *comms, int64_t count, const int *devices)
{
    int known = 0;
    CUcontext before = NULL;
    if (!comms || count < 1)
        return mr_nccl_bad(form->name, ncclInvalidArgument, "%lld devices, or nowhere for the communicators",
                           (long long)count);
    if (!mr_math_driver_open() || mr_math_driver.cuDeviceGetCount(&known) != CUDA_SUCCESS)
        return mr_nccl_bad(form->name, ncclUnhandledCudaError, "there is no driver or no device");
    for (int64_t i = 0; i < count; i++) {
        int device = devices && i < known ? devices[i] : (int)i;
        if (device < 0 || device >= known)
            return mr_nccl_bad(form->name, devices ? ncclInvalidArgument : ncclUnhandledCudaError,
                               "there is no device %d (MILLRACE_DEVICES makes more of them)", device);
        for (int64_t k = 0; k < i && devices; k++)
            if (devices[k] == device)
                return mr_nccl_bad(form->name, ncclInvalidUsage, "device %d stands twice in the list", device);
    }
    (void)mr_math_driver.cuCtxGetCurrent(&before);
    ncclResult_t status = init_all(form->name, comms, (int)count, devices);
    (void)mr_math_driver.cuCtxSetCurrent(before);
    return status;
}

/* ---- from others ---- */

ncclResult_t mr_nccl_CommSplit(const struct mr_form *form, ncclComm_t handle, int64_t color, int64_t key,
                               ncclComm_t *out, ncclConfig_t *config)
{
    struct mr_comm *parent, *comm = NULL;
    ncclResult_t status = mr_comm_find(form->name, handle, &parent);
    if (status != ncclSuccess)
        return mr_group_error(status);
    if (!out)
        return mr_group_error(mr_nccl_bad(form->name, ncclInvalidArgument, "newcomm is NULL"));
    *out = NULL;
    bool blocking = parent->blocking;
    status = read_config(form->name, config, &blocking);
    if (status != ncclSuccess)
        return mr_group_error(status);
    if (color != NCCL_SPLIT_NOCOLOR)
        comm = mr_comm_new(parent->context, parent->device, parent->ranks, parent->rank, blocking);
    struct mr_job *job = comm || color == NCCL_SPLIT_NOCOLOR ? job_new(MR_JOB_SPLIT, form->name, comm, out) : NULL;
    if (!job) {
        if (comm)
            mr_comm_end(comm);
        return mr_group_error(mr_nccl_bad(form->name, ncclSystemError, "memory is short"));
    }
    mr_comm_hold(parent);
    job->parent = parent;
    job->color = (int)color;
    job->key = (int)key;
    job->blocking = blocking;
    job->turn = ++parent->splits;
    *out = comm ? comm->handle : NULL;
    return mr_group_error(mr_group_job(job));
}

/* Which ranks a shrink leaves out; NULL if the list is wrong. */
static unsigned char *read_excluded(const struct mr_comm *parent, const int *list, int64_t count)
{
    unsigned char *excluded = calloc((size_t)parent->ranks, 1);
    bool good = excluded && list && count >= 1 && count < parent->ranks;
    for (int64_t i = 0; i < count && good; i++) {
        good = list[i] >= 0 && list[i] < parent->ranks && list[i] != parent->rank;
        if (good)
            excluded[list[i]] = 1;
    }
    if (good)
        return excluded;
    free(excluded);
    return NULL;
}

ncclResult_t mr_nccl_CommShrink(const struct mr_form *form, ncclComm_t handle, int *list, int64_t count,
                                ncclComm_t *out, ncclConfig_t *config, int64_t flags)
{
    struct mr_comm *parent;
    ncclResult_t status = mr_comm_find_any(form->name, handle, &parent);
    if (status != ncclSuccess)
        return mr_group_error(status);
    if (!out || !parent->meeting || (flags != NCCL_SHRINK_DEFAULT && flags != NCCL_SHRINK_ABORT))
        return mr_group_error(
            mr_nccl_bad(form->name, ncclInvalidArgument, "newcomm is NULL, or the flags are not known"));
    bool blocking = parent->blocking;
    status = read_config(form->name, config, &blocking);
    if (status != ncclSuccess)
        return mr_group_error(status);
    unsigned char *excluded = read_excluded(parent, list, count);
    if (!excluded)
        return mr_group_error(mr_nccl_bad(form->name, ncclInvalidArgument,
                                          "the list is empty, or holds this rank or a number that is not a rank"));
    if (flags == NCCL_SHRINK_ABORT) {
        mr_meeting_fail(parent->meeting, ncclRemoteError);
        mr_monitor_wake();
    }
    struct mr_comm *comm = mr_comm_new(parent->context, parent->device, parent->ranks, parent->rank, blocking);
    struct mr_job *job = comm ? job_new(MR_JOB_SHRINK, form->name, comm, out) : NULL;
    if (!job) {
        free(excluded);
        if (comm)
            mr_comm_end(comm);
        return mr_group_error(mr_nccl_bad(form->name, ncclSystemError, "memory is short"));
    }
    mr_comm_hold(parent);
    job->parent = parent;
    job->excluded = excluded;
    job->turn = ++parent->shrinks;
    *out = comm->handle;
    return mr_group_error(mr_group_job(job));
}

/* ---- ending ---- */

static void flush_in_background(void *data)
{
    struct mr_comm *comm = data;
    (void)mr_comm_flush(comm);
    atomic_store(&comm->state, ncclSuccess);
    mr_comm_drop(comm);
}

ncclResult_t mr_nccl_CommFinalize(const struct mr_form *form, ncclComm_t handle)
{
    struct mr_comm *comm;
    if (!handle)
        return ncclSuccess;
    ncclResult_t status = mr_comm_find(form->name, handle, &comm);
    if (status != ncclSuccess)
        return mr_group_error(status);
    if (comm->finalized)
        return mr_group_error(mr_nccl_bad(form->name, ncclInvalidArgument, "it was finalized before"));
    comm->finalized = true;
    if (comm->blocking)
        return mr_comm_flush(comm);
    atomic_store(&comm->state, ncclInProgress);
    mr_comm_hold(comm);
    if (mr_group_background(flush_in_background, comm))
        return ncclInProgress;
    flush_in_background(comm);
    return ncclSuccess;
}

/* Waits until the work in the background is done. */
static void settle(const struct mr_comm *comm)
{
    while (atomic_load(&comm->state) == ncclInProgress)
        mr_nccl_nap();
}

ncclResult_t mr_nccl_CommDestroy(const struct mr_form *form, ncclComm_t handle)
{
    struct mr_comm *comm;
    if (!handle)
        return ncclSuccess;
    ncclResult_t status = mr_comm_find_any(form->name, handle, &comm);
    if (status != ncclSuccess)
        return mr_group_error(status);
    settle(comm);
    (void)mr_comm_flush(comm);
    mr_comm_end(comm);
    return ncclSuccess;
}

ncclResult_t mr_nccl_CommAbort(const struct mr_form *form, ncclComm_t handle)
{
    struct mr_comm *comm;
    if (!handle)
        return ncclSuccess;
    ncclResult_t status = mr_comm_find_any(form->name, handle, &comm);
    if (status != ncclSuccess)
        return mr_group_error(status);
    /* Work in the background that makes the communicator gives up. */
    if (comm->meeting && atomic_load(&comm->state) == ncclInProgress)
        mr_meeting_fail(comm->meeting, ncclRemoteError);
    settle(comm);
    while (comm->meeting && mr_launch_any(comm)) {
        mr_meeting_fail(comm->meeting, ncclRemoteError);
        mr_monitor_wake();
        mr_nccl_nap();
    }
    mr_comm_end(comm);
    return ncclSuccess;
}

ncclResult_t mr_nccl_CommRevoke(const struct mr_form *form, ncclComm_t handle, int64_t flags)
{
    struct mr_comm *comm;
    ncclResult_t status = mr_comm_find(form->name, handle, &comm);
    if (status != ncclSuccess)
        return mr_group_error(status);
    if (flags != NCCL_REVOKE_DEFAULT)
        return mr_nccl_bad(form->name, ncclInvalidArgument, "flags are %lld and must be 0", (long long)flags);
    mr_meeting_fail(comm->meeting, ncclInvalidUsage);
    mr_monitor_wake();
    while (mr_launch_any(comm))
        mr_nccl_nap();
    return ncclSuccess;
}

/* ---- questions ---- */

ncclResult_t mr_nccl_CommGetAsyncError(const struct mr_form *form, ncclComm_t handle, ncclResult_t *error)
{
    struct mr_comm *comm;
    ncclResult_t status = mr_comm_find_any(form->name, handle, &comm);
    if (status != ncclSuccess)
        return status;
    if (!error)
        return mr_nccl_bad(form->name, ncclInvalidArgument, "asyncError is NULL");
    *error = mr_comm_state(comm);
    return ncclSuccess;
}

/* The communicator, for a question whose answer goes to `to`. */
static ncclResult_t ask(const char *function, ncclComm_t handle, const int *to, struct mr_comm **comm)
{
    ncclResult_t status = mr_comm_find_any(function, handle, comm);
    if (status != ncclSuccess)
        return status;
    if (!to)
        return mr_nccl_bad(function, ncclInvalidArgument, "there is nowhere for the answer");
    if (atomic_load(&(*comm)->state) == ncclInProgress)
        return mr_nccl_bad(function, ncclInvalidArgument, "the communicator is not made yet");
    return ncclSuccess;
}

ncclResult_t mr_nccl_CommCount(const struct mr_form *form, const ncclComm_t handle, int *count)
{
    struct mr_comm *comm;
    ncclResult_t status = ask(form->name, handle, count, &comm);
    if (status == ncclSuccess)
        *count = comm->ranks;
    return status;
}

ncclResult_t mr_nccl_CommCuDevice(const struct mr_form *form, const ncclComm_t handle, int *device)
{
    struct mr_comm *comm;
    ncclResult_t status = ask(form->name, handle, device, &comm);
    if (status == ncclSuccess)
        *device = comm->device;
    return status;
}

ncclResult_t mr_nccl_CommUserRank(const struct mr_form *form, const ncclComm_t handle, int *rank)
{
    struct mr_comm *comm;
    ncclResult_t status = ask(form->name, handle, rank, &comm);
    if (status == ncclSuccess)
        *rank = comm->rank;
    return status;
}
