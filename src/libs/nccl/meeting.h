/* SPDX-License-Identifier: Apache-2.0 */
/* A meeting: what the ranks of a communicator share. It lies in a file without a name, to which the unique id leads.
 *
 * Ranks join it when their communicator is made. From then on it matches postings (office.h): a collective operation is
 * matched when the last rank posts its part; a send is matched when the peer posts the receive, or the other way round.
 * Each rank's collectives are matched in the order in which it posts them, and so are sends and receives between two
 * ranks. The rank that posts the last part carries the operation out for all. So no thread waits for another rank. */
#ifndef MR_NCCL_MEETING_H
#define MR_NCCL_MEETING_H

#include <nccl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libs/nccl/office.h"

#define MR_MEETING_RANKS 256 /* the most that a communicator may have */

enum mr_presence { MR_RANK_ABSENT, MR_RANK_HERE, MR_RANK_LEFT };

struct mr_rank {
    uint64_t process; /* as mr_process_self */
    struct mr_share_handle office;
    unsigned char device[16]; /* its UUID */
    _Atomic uint32_t presence;
    uint32_t first, last; /* collectives that were posted and are not matched yet; numbers count from 1 */
    /* Splitting: how often the rank has said what it wants, and has read what all others want. */
    _Atomic uint32_t said, heard;
    int32_t color, key;
    /* How often it has given an id to the other ranks of a new communicator, by splitting and by shrinking. */
    _Atomic uint32_t given, shrunk;
    ncclUniqueId id;
};

/* Postings from one rank to another that are not matched yet. */
struct mr_pair {
    uint32_t first_send, last_send, first_recv, last_recv;
};

struct mr_meeting {
    uint64_t magic;
    pthread_mutex_t lock; /* of processes; guards what is not atomic */
    uint32_t ranks;
    uint32_t posted; /* ranks that have a collective to match */
    _Atomic uint32_t joined;
    _Atomic uint32_t doing; /* launches that carry matched operations out */
    _Atomic int failed; /* ncclResult_t: why there will be no operation any more */
    struct mr_rank rank[MR_MEETING_RANKS];
    struct mr_pair pair[MR_MEETING_RANKS][MR_MEETING_RANKS];
};

/* A matched operation. */
struct mr_match {
    enum mr_way way; /* a send and its receive: MR_WAY_SEND */
    unsigned count; /* postings: of all ranks in their order, or of the sender and the receiver */
    struct mr_posting *const *posting;
    int rank[2]; /* the sender and the receiver */
};

/* A new meeting and the id that leads to it. The process keeps it until all ranks have joined. */
ncclResult_t mr_meeting_new(ncclUniqueId *id);

/* Opens the meeting; NULL if mr_meeting_new did not make the id, or if the process that made it has ended. Each open is
 * closed once. All opens in one process give the same address. */
struct mr_meeting *mr_meeting_open(const ncclUniqueId *id);
void mr_meeting_close(struct mr_meeting *meeting);

/* Takes the lock. False, without it, if the meeting has failed. */
bool mr_meeting_lock(struct mr_meeting *meeting);
void mr_meeting_unlock(struct mr_meeting *meeting);

/* Fails the meeting: no operation is done any more. The first reason stays. The lock may be held. */
void mr_meeting_fail(struct mr_meeting *meeting, ncclResult_t why);

/* Posts the rank's posting `number` (counted from 0); the lock is held. `office` holds each rank's office. True if that
 * made a match: then `match` describes it and `room` holds its postings. `room` has a place for each rank, at least
 * two. Fails the meeting if the ranks don't agree, or if one of them has left. */
bool mr_meeting_post(struct mr_meeting *meeting, struct mr_office *const *office, int rank, uint32_t number,
                     struct mr_posting **room, struct mr_match *match);

/* Whether the rank has joined, has not left, and its process is alive. */
bool mr_meeting_is_here(const struct mr_meeting *meeting, int rank);

/* Whether the processes of all ranks that have not left are alive. If one is not, the meeting fails with
 * ncclRemoteError. */
bool mr_meeting_all_live(struct mr_meeting *meeting);

/* The rank leaves. Operations that need it will fail. */
void mr_meeting_leave(struct mr_meeting *meeting, int rank);

#endif
