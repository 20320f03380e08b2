/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: what a communicator puts into its streams at once.
 *
 * A launch is some work and a wait. The first part of the work posts its operations to the meeting; what that matched
 * is carried out by the parts that follow; then the stream waits, as cuStreamWaitValue32 does, until all operations of
 * the launch are over. So no thread is blocked by an operation whose other ranks are not there yet. Where ranks are in
 * several processes, data are copied to a segment before, and from it afterwards. */
#ifndef MR_NCCL_LAUNCH_H
#define MR_NCCL_LAUNCH_H

#include <cuda.h>

#include "libs/nccl/comm.h"

/* An operation that a program has called. */
struct mr_call {
    const char *function;
    struct mr_comm *comm;
    CUstream stream;
    struct mr_posting posting; /* with addresses */
    bool submitted; /* at once, without waiting for the group's end */
};

/* Puts the calls, all of one communicator, into their streams: into the first one's, which waits for the others, and
 * they for it. */
ncclResult_t mr_launch_submit(struct mr_comm *comm, const struct mr_call *calls, unsigned count);

/* The streams of calls, all of one communicator, that were submitted at once wait for each other. */
ncclResult_t mr_launch_join(struct mr_comm *comm, const struct mr_call *calls, unsigned count);

/* Begins to look after launches that wait, on a thread of its own: when a rank's process has died, or the meeting has
 * failed for another reason, streams go on. False if there can't be that thread. */
bool mr_launch_begin(void);

/* Whether launches of the communicator are posted and not over. */
bool mr_launch_any(struct mr_comm *comm);

#endif
