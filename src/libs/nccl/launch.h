/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: what a communicator puts into its streams in one step.
 *
 * A launch is work and a wait. The first part of the work posts the operations to the meeting. The parts that follow
 * carry the matched operations out. Then the stream waits, as with cuStreamWaitValue32, until all operations of the
 * launch are over. So an operation whose other ranks are not there yet blocks no thread. If ranks are in several
 * processes, data are copied into a segment before, and out of it afterwards. */
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
    bool submitted; /* before the group's end */
};

/* Puts the calls of one communicator into the stream of the first call. That stream waits for the other calls' streams
 * before, and they wait for it afterwards. */
ncclResult_t mr_launch_submit(struct mr_comm *comm, const struct mr_call *calls, unsigned count);

/* Makes the streams of one communicator's calls wait for each other; the calls were submitted before the group's end.
 */
ncclResult_t mr_launch_join(struct mr_comm *comm, const struct mr_call *calls, unsigned count);

/* Starts the thread that looks after waiting launches: it lets their streams go on when a rank's process has died, or
 * the meeting has failed for another reason. False if the thread can't be made. */
bool mr_launch_begin(void);

/* Whether launches of the communicator are posted and not over. */
bool mr_launch_any(struct mr_comm *comm);

#endif
