/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: what a thread calls between ncclGroupStart and ncclGroupEnd happens at the latter. A *job* makes a
 * communicator; jobs of a group go on side by side, step by step, so that one thread can make all ranks. */
#ifndef MR_NCCL_GROUP_H
#define MR_NCCL_GROUP_H

#include "libs/nccl/launch.h"

enum mr_job_kind { MR_JOB_INIT, MR_JOB_SPLIT, MR_JOB_SHRINK };

struct mr_job {
    enum mr_job_kind kind;
    const char *function;
    struct mr_comm *comm; /* that is made, with a reference; of a split NULL until it is known */
    ncclComm_t *out; /* where the handle goes; it was NULL until then for a split */
    ncclUniqueId id;
    struct mr_comm *parent; /* of a split or shrink, with a reference */
    int color, key;
    unsigned char *excluded; /* of a shrink: for each rank of the parent */
    bool blocking;
    uint32_t turn; /* which of the parent's splits, or shrinks, it is */
    unsigned wave; /* how many jobs of the group are before it with the same parent */
    ncclResult_t status;
};

/* An operation: into the group, or at once. */
ncclResult_t mr_group_call(const struct mr_call *call);

/* A job, which is taken over: into the group, or at once. */
ncclResult_t mr_group_job(struct mr_job *job);

/* An argument was refused: so is the group, if there is one. Gives the status back. */
ncclResult_t mr_group_error(ncclResult_t status);

/* Runs `work(data)` on a thread of its own, once; false if there can't be one. */
bool mr_group_background(void (*work)(void *data), void *data);

#endif
