/* SPDX-License-Identifier: Apache-2.0 */
/* A process's office: memory in which the process tells others what its ranks bring to operations, and in which others
 * tell it that an operation is over. A process has one office for all of its communicators. It lies in a file without a
 * name, which others open by a handle (share/share.h).
 *
 * A *posting* is what one rank brings to one operation: its kind, size, and where the data lie. A *launch* is what one
 * rank puts into a stream at once: one operation, or those of a group. Its *flag* is what the stream waits for. A
 * *segment* is memory through which data go from process to process. */
#ifndef MR_NCCL_OFFICE_H
#define MR_NCCL_OFFICE_H

#include <nccl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "share/share.h"

#define MR_OFFICE_FLAGS 32768u
#define MR_OFFICE_POSTINGS 131072u
#define MR_OFFICE_SEGMENTS 8192u

/* The kinds of operations. */
enum mr_way {
    MR_WAY_ALL_REDUCE,
    MR_WAY_REDUCE,
    MR_WAY_REDUCE_SCATTER,
    MR_WAY_BROADCAST,
    MR_WAY_ALL_GATHER,
    MR_WAY_ALL_TO_ALL,
    MR_WAY_GATHER,
    MR_WAY_SCATTER,
    MR_WAY_SEND,
    MR_WAY_RECV,
};

#define MR_OP_PREMUL ncclNumOps /* the operation of a posting that multiplies by its scalar and adds */

struct mr_posting {
    uint32_t next;   /* in a list of the meeting: the number of the next posting, counted from 1; 0 ends it */
    uint32_t flag;   /* the launch's */
    uint32_t segment; /* where the data lie, counted from 1; 0: send and recv are addresses */
    uint8_t way, type, op;
    int32_t peer;    /* or the root */
    uint64_t count;  /* elements, as the function's count */
    uint64_t send, recv; /* addresses, or offsets in the segment */
    unsigned char scalar[8]; /* of MR_OP_PREMUL */
    uint64_t scalar_at; /* if not 0: the device memory from which `scalar` is read */
};

struct mr_flag {
    _Atomic uint32_t over; /* 1: the launch's operations are complete, or never will be; the stream waits for it */
    _Atomic uint32_t open; /* how many are not complete */
};

struct mr_segment {
    struct mr_share_handle handle;
    uint64_t size;
};

struct mr_office {
    struct mr_flag flag[MR_OFFICE_FLAGS];
    struct mr_posting posting[MR_OFFICE_POSTINGS];
    struct mr_segment segment[MR_OFFICE_SEGMENTS];
};

/* Another process's office, or this process's own, as this process sees it. */
struct mr_peer;

/* This process's office. The first call makes it and registers its flags with the driver. NULL: the log says why. A
 * context is current. */
struct mr_office *mr_office_own(void);

/* A handle that leads other processes to it. */
struct mr_share_handle mr_office_handle(void);

/* Opens an office; NULL if its process has ended. Each open is closed once. */
struct mr_peer *mr_peer_open(const struct mr_share_handle *handle) __attribute__((warn_unused_result));
void mr_peer_close(struct mr_peer *peer);
struct mr_office *mr_peer_office(struct mr_peer *peer);

/* Where a segment of the peer's lies here; NULL if it can't be opened. */
char *mr_peer_segment(struct mr_peer *peer, uint32_t segment);

/* Numbers of flags and of postings, counted from 0. False if there are not that many free ones. */
bool mr_office_take_flag(uint32_t *flag) __attribute__((warn_unused_result));
void mr_office_give_flag(uint32_t flag);
bool mr_office_take_postings(uint32_t count, uint32_t *numbers) __attribute__((warn_unused_result));
void mr_office_give_postings(uint32_t count, const uint32_t *numbers);

/* The number, counted from 1, of a segment of at least `size` bytes; 0 if memory is short. A segment that is given back
 * is kept, and used again. */
uint32_t mr_office_take_segment(size_t size);
void mr_office_give_segment(uint32_t segment);
char *mr_office_segment(uint32_t segment);

#endif
