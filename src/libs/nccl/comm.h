/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators: a rank's part in a meeting (meeting.h), with its device's context and what it has under way. */
#ifndef MR_NCCL_COMM_H
#define MR_NCCL_COMM_H

#include <cuda.h>
#include <nccl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libs/nccl/meeting.h"

struct mr_launch;

/* An operation that the program has made: multiplies by a scalar and adds. */
struct mr_own_op {
    bool live;
    ncclDataType_t type;
    const void *at; /* device memory that is read when the operation runs; NULL: `value` has it */
    unsigned char value[8];
};

/* Memory that the program has registered. */
struct mr_registered {
    struct mr_registered *next;
};

struct mr_comm {
    ncclComm_t handle;
    _Atomic unsigned references; /* the handle's, those of launches, and of work in the background */
    _Atomic int state; /* ncclResult_t; ncclInProgress while it is made or ended in the background */
    struct mr_meeting *meeting; /* NULL until the communicator has joined; so are the members below, up to `office` */
    int ranks, rank, device;
    bool crosses; /* some ranks are in other processes: data go through segments */
    bool blocking, finalized;
    CUcontext context;
    bool retained; /* the context, by this communicator */
    CUevent event, fork; /* behind the last launch; between streams of one launch */
    struct mr_peer **peer; /* of each rank */
    struct mr_office **office;

    pthread_mutex_t lock; /* guards what follows; held while a launch is submitted */
    struct mr_launch *launches;
    bool has_last;
    CUstream last; /* of the last launch */
    cuuint64_t capture; /* the capture that holds the last launch, or 0 */
    struct mr_own_op *ops;
    unsigned op_count;
    struct mr_registered *registered;
    uint32_t splits, shrinks; /* how often it has been split and shrunk */

    struct mr_comm *next; /* in the list of the process */
};

/* A new communicator for `context`, with a handle and one reference, and without a meeting; NULL: memory is short. */
struct mr_comm *mr_comm_new(CUcontext context, int device, int ranks, int rank, bool blocking);
void mr_comm_hold(struct mr_comm *comm);
void mr_comm_drop(struct mr_comm *comm);

/* Finds the communicator of a handle, in *out, if it may be used now; else NCCL's status for its state. */
ncclResult_t mr_comm_find(const char *function, ncclComm_t handle, struct mr_comm **out);

/* The same, whatever its state. */
ncclResult_t mr_comm_find_any(const char *function, ncclComm_t handle, struct mr_comm **out);

/* Its state: ncclSuccess, ncclInProgress, or why its meeting has failed. */
ncclResult_t mr_comm_state(const struct mr_comm *comm);

/* Enters the meeting, without waiting for others. */
ncclResult_t mr_comm_enter(struct mr_comm *comm, const ncclUniqueId *id);

/* Waits until all ranks have entered. `can_join`, which may be NULL, is asked now and then: false fails the meeting. */
ncclResult_t mr_comm_await(struct mr_comm *comm, bool (*can_join)(const void *data), const void *data);

/* Waits until all that it has submitted to streams is over. Launches of graphs are not waited for. */
ncclResult_t mr_comm_flush(struct mr_comm *comm);

/* Ends the handle and leaves the meeting. Captured launches keep what they need. */
void mr_comm_end(struct mr_comm *comm);

/* Calls `see` for each of the process's communicators that has a meeting, with a lock held. */
void mr_comm_each(void (*see)(struct mr_comm *comm));

/* Sleeps for a tenth of a millisecond, in a loop that waits for another rank. Such a loop looks now and then whether
 * that rank is still there. */
enum { MR_NAPS_BETWEEN_LOOKS = 200 };
void mr_nccl_nap(void);

/* Makes the communicator's context current until mr_comm_pop. */
ncclResult_t mr_comm_push(const char *function, struct mr_comm *comm);
void mr_comm_pop(void);

#endif
