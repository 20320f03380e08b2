/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: calls of a thread between ncclGroupStart and ncclGroupEnd take effect at ncclGroupEnd. A *job* makes a
 * communicator. The jobs of a group take their steps in turn, so that one thread can make all ranks. */
#ifndef MR_NCCL_GROUP_H
#define MR_NCCL_GROUP_H

#include "libs/nccl/launch.h"

enum mr_job_kind { MR_JOB_INIT, MR_JOB_SPLIT, MR_JOB_SHRINK };

struct mr_job {
    enum mr_job_kind kind;
    const char *function;
    struct mr_comm *comm; /* the new one, with a reference; NULL for a split without a colour */
    ncclComm_t *out; /* where the handle goes */
    ncclUniqueId id;
    struct mr_comm *parent; /* of a split or shrink, with a reference */
    int color, key;
    unsigned char *excluded; /* of a shrink: for each rank of the parent */
    bool blocking;
    uint32_t turn; /* the number of this split or shrink among the parent's */
    unsigned wave; /* how many earlier jobs of the group have the same parent */
    ncclResult_t status;
};

/* Adds an operation to the thread's group; does it at once if there is no group. */
ncclResult_t mr_group_call(const struct mr_call *call);

/* The same for a job, which then belongs to the group. */
ncclResult_t mr_group_job(struct mr_job *job);

/* A call was refused: its status becomes the group's, if there is one. Returns the status. */
ncclResult_t mr_group_error(ncclResult_t status);

/* Runs `work(data)` on a thread of its own, once; false if there can't be one. */
bool mr_group_background(void (*work)(void *data), void *data);

#endif
