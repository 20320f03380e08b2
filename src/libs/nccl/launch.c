/* SPDX-License-Identifier: Apache-2.0 */
/* Submitting launches, and the parts that they consist of. */
#include "libs/nccl/launch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "libs/math/driver.h"
#include "libs/math/work.h"
#include "libs/nccl/carry.h"
#include "libs/nccl/monitor.h"
#include "libs/nccl/refuse.h"

#define SHARE_BYTES ((uint64_t)256 << 10) /* work that is worth a part of its own */
#define SHARES_MOST 64u
#define ALIGNMENT ((uint64_t)256)
/* Naps: how long operations of a failed meeting may still run before the streams that wait are let go. */
#define DOING_ROUNDS 20000u

/* Where the program has the data of an operation, if it goes through a segment. */
struct place {
    const char *send;
    char *recv;
    uint64_t send_at, recv_at; /* in the segment */
    uint64_t send_bytes, recv_bytes;
};

struct mr_launch {
    struct mr_launch *next; /* of the communicator's */
    struct mr_comm *comm;
    _Atomic unsigned references; /* of what was submitted */
    unsigned count;
    uint32_t flag, segment;
    uint64_t shares;
    _Atomic uint64_t staged, done; /* shares that have run */
    bool posted; /* ever */
    _Atomic bool ended; /* ever; each part of the last work says so */
    bool captured;
    bool begun; /* some of it was submitted */
    bool waits; /* for other launches, perhaps */
    uint32_t *numbers; /* of postings */
    struct place *places;
    unsigned matches; /* what its postings matched this time, with the lock of the meeting */
    struct mr_match *match;
    struct mr_posting **room;
};

static struct mr_flag *flag_of(const struct mr_launch *launch)
{
    return &launch->comm->office[launch->comm->rank]->flag[launch->flag];
}

static void give_back(struct mr_launch *launch)
{
    /* After a failure others may still write to them. */
    bool is_over = !launch->posted || atomic_load(&flag_of(launch)->open) == 0;
    if (!is_over)
        return;
    mr_office_give_postings(launch->count, launch->numbers);
    mr_office_give_flag(launch->flag);
    if (launch->segment)
        mr_office_give_segment(launch->segment);
}

static void launch_free(struct mr_launch *launch)
{
    free(launch->numbers);
    free(launch->places);
    free(launch->match);
    free(launch->room);
    free(launch);
}

/* One of the references goes. */
static void release(void *data)
{
    struct mr_launch *launch = data;
    if (atomic_fetch_sub(&launch->references, 1) != 1)
        return;
    struct mr_comm *comm = launch->comm;
    pthread_mutex_lock(&comm->lock);
    struct mr_launch **link = &comm->launches;
    while (*link && *link != launch)
        link = &(*link)->next;
    if (*link)
        *link = launch->next;
    pthread_mutex_unlock(&comm->lock);
    if (launch->matches > 0) /* a part has faulted */
        atomic_fetch_sub(&comm->meeting->doing, 1);
    /* Its context has failed, and with it what was in the stream: the other ranks would wait for ever. */
    if (!launch->ended && !launch->captured && atomic_load(&comm->meeting->failed) == 0) {
        mr_log(MR_LOG_WARN, "NCCL: the context of rank %d has failed: the communicator fails", comm->rank);
        mr_meeting_fail(comm->meeting, ncclUnhandledCudaError);
        mr_monitor_wake();
    }
    give_back(launch);
    launch_free(launch);
    mr_comm_drop(comm);
}

/* ---- parts ---- */

/* Copies shares of what the program sends into the segment, or of what it receives out of it. */
static void stage(struct mr_launch *launch, bool out, uint64_t first, uint64_t end)
{
    char *segment = launch->segment ? mr_office_segment(launch->segment) : NULL;
    for (unsigned i = 0; i < launch->count && segment; i++) {
        const struct place *place = &launch->places[i];
        uint64_t all = out ? place->recv_bytes : place->send_bytes;
        uint64_t each = all / launch->shares + (all % launch->shares != 0);
        uint64_t from = each * first < all ? each * first : all, to = each * end < all ? each * end : all;
        if (from == to)
            continue;
        if (out)
            memcpy(place->recv + from, segment + place->recv_at + from, to - from);
        else
            memcpy(segment + place->send_at + from, place->send + from, to - from);
    }
}

/* Posts the launch's operations, and remembers what that matched. */
static void post(struct mr_launch *launch)
{
    struct mr_comm *comm = launch->comm;
    struct mr_meeting *meeting = comm->meeting;
    struct mr_flag *flag = flag_of(launch);
    launch->matches = 0;
    if (atomic_exchange(&flag->over, 0) == 0) {
        mr_log(MR_LOG_WARN, "NCCL: a graph with operations runs twice at a time: the communicator fails");
        mr_meeting_fail(meeting, ncclInvalidUsage);
        mr_monitor_wake();
        return;
    }
    atomic_store(&flag->open, launch->count);
    launch->posted = true;
    for (unsigned i = 0; i < launch->count; i++) {
        struct mr_posting *posting = &comm->office[comm->rank]->posting[launch->numbers[i]];
        if (posting->scalar_at)
            memcpy(posting->scalar, (const void *)(uintptr_t)posting->scalar_at, mr_nccl_size(posting->type));
    }
    if (!mr_meeting_lock(meeting)) {
        atomic_store(&flag->over, 1);
        return;
    }
    if (atomic_load(&meeting->rank[comm->rank].presence) == MR_RANK_LEFT) { /* it was aborted meanwhile */
        mr_meeting_unlock(meeting);
        atomic_store(&flag->over, 1);
        return;
    }
    unsigned each = comm->ranks > 2 ? (unsigned)comm->ranks : 2;
    for (unsigned i = 0; i < launch->count; i++)
        if (mr_meeting_post(meeting, comm->office, comm->rank, launch->numbers[i], launch->room + i * (size_t)each,
                            &launch->match[launch->matches]))
            launch->matches++;
    if (launch->matches > 0)
        atomic_fetch_add(&meeting->doing, 1);
    mr_meeting_unlock(meeting);
    if (comm->ranks > 1)
        mr_monitor_look();
}

/* The memory of a match's posting, of the rank that posted it. False if its segment can't be opened. */
static bool memory_of(const struct mr_launch *launch, const struct mr_match *match, unsigned i, char **send,
                      char **recv)
{
    const struct mr_posting *posting = match->posting[i];
    unsigned rank = match->way == MR_WAY_SEND ? (unsigned)match->rank[i] : i;
    char *base = NULL;
    if (posting->segment) {
        base = mr_peer_segment(launch->comm->peer[rank], posting->segment);
        if (!base)
            return false;
    }
    *send = (char *)((uintptr_t)base + posting->send);
    *recv = (char *)((uintptr_t)base + posting->recv);
    return true;
}

static void carry_out(struct mr_launch *launch, uint64_t first, uint64_t end)
{
    struct mr_meeting *meeting = launch->comm->meeting;
    for (unsigned m = 0; m < launch->matches; m++) {
        const struct mr_match *match = &launch->match[m];
        char *send[MR_MEETING_RANKS], *recv[MR_MEETING_RANKS];
        bool found = true;
        for (unsigned i = 0; i < match->count; i++)
            found = memory_of(launch, match, i, &send[i], &recv[i]) && found;
        if (!found) {
            mr_log(MR_LOG_WARN, "NCCL: another rank's memory can't be opened: the communicator fails");
            mr_meeting_fail(meeting, ncclSystemError);
            return;
        }
        if (atomic_load(&meeting->failed) != 0)
            return;
        mr_nccl_carry_out(match, send, recv, first, end, launch->shares);
    }
}

/* Tells all ranks which of their operations are over. */
static void finish(struct mr_launch *launch)
{
    struct mr_comm *comm = launch->comm;
    bool good = atomic_load(&comm->meeting->failed) == 0;
    for (unsigned m = 0; m < launch->matches && good; m++) {
        const struct mr_match *match = &launch->match[m];
        for (unsigned i = 0; i < match->count; i++) {
            unsigned rank = match->way == MR_WAY_SEND ? (unsigned)match->rank[i] : i;
            uint32_t number = match->posting[i]->flag;
            struct mr_flag *flag = &comm->office[rank]->flag[number % MR_OFFICE_FLAGS];
            if (atomic_fetch_sub(&flag->open, 1) == 1)
                atomic_store(&flag->over, 1);
        }
    }
    if (launch->matches > 0)
        atomic_fetch_sub(&comm->meeting->doing, 1);
    launch->matches = 0;
}

static bool is_last(const struct mr_launch *launch, _Atomic uint64_t *ran, uint64_t count)
{
    if (atomic_fetch_add(ran, count) + count != launch->shares)
        return false;
    atomic_store(ran, 0);
    return true;
}

/* The first part of a launch that has no segment. */
static void run_post(void *data, uint64_t first, uint64_t end)
{
    (void)first;
    (void)end;
    post(data);
}

/* The first parts of a launch that has one. */
static void run_stage(void *data, uint64_t first, uint64_t end)
{
    struct mr_launch *launch = data;
    stage(launch, false, first, end);
    if (is_last(launch, &launch->staged, end - first))
        post(launch);
}

static void run_carry_out(void *data, uint64_t first, uint64_t end)
{
    struct mr_launch *launch = data;
    carry_out(launch, first, end);
    if (!is_last(launch, &launch->done, end - first))
        return;
    finish(launch);
    launch->ended = !launch->waits;
}

/* All of it, of little data. */
static void run_all(void *data, uint64_t first, uint64_t end)
{
    struct mr_launch *launch = data;
    stage(launch, false, first, end);
    post(launch);
    carry_out(launch, first, end);
    finish(launch);
    launch->ended = !launch->waits;
}

/* Behind the wait. The launch lives until then. */
static void run_end(void *data, uint64_t first, uint64_t end)
{
    struct mr_launch *launch = data;
    if (atomic_load(&launch->comm->meeting->failed) == 0)
        stage(launch, true, first, end);
    launch->ended = true;
}

/* ---- making a launch ---- */

/* Takes a flag and postings from the office. Waits for other launches if all are in use. */
static ncclResult_t take(struct mr_launch *launch, const char *function)
{
    if (launch->count > MR_OFFICE_POSTINGS / 2)
        return mr_nccl_bad(function, ncclInternalError, "the group has %u operations", launch->count);
    while (!mr_office_take_flag(&launch->flag)) {
        if (atomic_load(&launch->comm->meeting->failed) != 0)
            return mr_comm_state(launch->comm);
        mr_nccl_nap();
    }
    while (!mr_office_take_postings(launch->count, launch->numbers)) {
        if (atomic_load(&launch->comm->meeting->failed) != 0) {
            mr_office_give_flag(launch->flag);
            return mr_comm_state(launch->comm);
        }
        mr_nccl_nap();
    }
    atomic_store(&flag_of(launch)->over, 1);
    return ncclSuccess;
}

/* Lays the operations' data out in a segment. */
static bool take_segment(struct mr_launch *launch, const struct mr_call *calls)
{
    struct mr_comm *comm = launch->comm;
    uint64_t size = 0;
    for (unsigned i = 0; i < launch->count; i++) {
        const struct mr_posting *posting = &calls[i].posting;
        struct place *place = &launch->places[i];
        *place = (struct place){.send = (const char *)(uintptr_t)posting->send,
                                .recv = (char *)(uintptr_t)posting->recv,
                                .send_bytes = mr_nccl_send_bytes(posting, comm->rank, comm->ranks),
                                .recv_bytes = mr_nccl_recv_bytes(posting, comm->rank, comm->ranks)};
        place->send_at = size;
        size += (place->send_bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
        place->recv_at = size;
        size += (place->recv_bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    }
    launch->segment = mr_office_take_segment(size ? size : 1);
    return launch->segment != 0;
}

static void write_postings(struct mr_launch *launch, const struct mr_call *calls)
{
    assert(launch->numbers && (launch->places || !launch->segment));
    struct mr_office *office = launch->comm->office[launch->comm->rank];
    for (unsigned i = 0; i < launch->count; i++) {
        struct mr_posting *posting = &office->posting[launch->numbers[i]];
        *posting = calls[i].posting;
        posting->flag = launch->flag;
        posting->segment = launch->segment;
        if (launch->segment) {
            posting->send = launch->places[i].send_at;
            posting->recv = launch->places[i].recv_at;
        }
    }
}

static uint64_t shares_of(const struct mr_comm *comm, const struct mr_call *calls, unsigned count)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t sent = mr_nccl_send_bytes(&calls[i].posting, comm->rank, comm->ranks);
        uint64_t received = mr_nccl_recv_bytes(&calls[i].posting, comm->rank, comm->ranks);
        bytes += (sent > received ? sent : received) * (calls[i].posting.way < MR_WAY_SEND ? (uint64_t)comm->ranks : 1);
    }
    uint64_t shares = bytes / SHARE_BYTES;
    return shares < 1 ? 1 : shares > SHARES_MOST ? SHARES_MOST : shares;
}

static ncclResult_t launch_new(struct mr_comm *comm, const struct mr_call *calls, unsigned count,
                               struct mr_launch **out)
{
    const char *function = calls[0].function;
    size_t each = comm->ranks > 2 ? (size_t)comm->ranks : 2;
    struct mr_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return mr_nccl_bad(function, ncclSystemError, "memory is short");
    *launch = (struct mr_launch){.comm = comm, .count = count, .shares = shares_of(comm, calls, count)};
    launch->numbers = calloc(count, sizeof *launch->numbers);
    launch->match = calloc(count, sizeof *launch->match);
    launch->room = calloc(count * each, sizeof(struct mr_posting *));
    launch->places = comm->crosses ? calloc(count, sizeof *launch->places) : NULL;
    bool enough = launch->numbers && launch->match && launch->room && (launch->places || !comm->crosses);
    ncclResult_t status = enough ? take(launch, function) : mr_nccl_bad(function, ncclSystemError, "memory is short");
    if (status != ncclSuccess) {
        launch_free(launch);
        return status;
    }
    if (comm->crosses && !take_segment(launch, calls)) {
        give_back(launch);
        launch_free(launch);
        return mr_nccl_bad(function, ncclSystemError, "there is no memory to share with other processes");
    }
    write_postings(launch, calls);
    launch->waits = comm->ranks > 1;
    for (unsigned i = 0; i < count; i++)
        launch->waits = launch->waits || calls[i].posting.way >= MR_WAY_SEND;
    *out = launch;
    return ncclSuccess;
}

/* ---- submitting ---- */

static CUresult put(CUstream stream, struct mr_launch *launch, uint64_t parts,
                    void (*run)(void *data, uint64_t first, uint64_t end))
{
    atomic_fetch_add(&launch->references, 1);
    CUresult status = mr_math_submit_own(stream, parts, run, release, launch);
    if (status == CUDA_SUCCESS)
        launch->begun = true;
    else
        atomic_fetch_sub(&launch->references, 1); /* the caller has one */
    return status;
}

static CUresult put_all(CUstream stream, struct mr_launch *launch)
{
    struct mr_comm *comm = launch->comm;
    CUresult status;
    if (launch->shares == 1) {
        status = put(stream, launch, 1, run_all);
    } else {
        status = comm->crosses ? put(stream, launch, launch->shares, run_stage) : put(stream, launch, 1, run_post);
        if (status == CUDA_SUCCESS)
            status = put(stream, launch, launch->shares, run_carry_out);
    }
    if (status != CUDA_SUCCESS || !launch->waits)
        return status;
    status = mr_math_driver.cuStreamWaitValue32_v2(stream, (CUdeviceptr)(uintptr_t)&flag_of(launch)->over, 1,
                                                   CU_STREAM_WAIT_VALUE_EQ);
    if (status == CUDA_SUCCESS)
        status = put(stream, launch, comm->crosses ? launch->shares : 1, run_end);
    return status;
}

/* What the calls read and write of the rank's own memory. Other ranks do so for it; by its stream's order all of that
 * stands where the call has put it. */
static void tell(const struct mr_comm *comm, const struct mr_call *calls, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct mr_posting *posting = &calls[i].posting;
        (void)mr_tell_rows(calls[i].function, (const void *)(uintptr_t)posting->send,
                           mr_nccl_send_bytes(posting, comm->rank, comm->ranks), 1, 0, MR_READS);
        (void)mr_tell_rows(calls[i].function, (const void *)(uintptr_t)posting->recv,
                           mr_nccl_recv_bytes(posting, comm->rank, comm->ranks), 1, 0, MR_WRITES);
        if (posting->scalar_at)
            (void)mr_tell_rows(calls[i].function, (const void *)(uintptr_t)posting->scalar_at,
                               mr_nccl_size(posting->type), 1, 0, MR_READS);
    }
}

/* A launch waits for the one before, also where that is in another stream. */
static CUresult order(struct mr_comm *comm, CUstream stream, cuuint64_t capture)
{
    if (!comm->has_last || comm->last == stream || comm->capture != capture)
        return CUDA_SUCCESS;
    return mr_math_driver.cuStreamWaitEvent(stream, comm->event, 0);
}

/* Stream `to` waits for what is in `from`. */
static CUresult join(struct mr_comm *comm, CUstream from, CUstream to)
{
    CUresult status = mr_math_driver.cuEventRecord(comm->fork, from);
    return status == CUDA_SUCCESS ? mr_math_driver.cuStreamWaitEvent(to, comm->fork, 0) : status;
}

/* Each other stream of the calls once: before the launch (`back` false) or behind it. */
static CUresult join_others(struct mr_comm *comm, const struct mr_call *calls, unsigned count, bool back)
{
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 1; i < count && status == CUDA_SUCCESS; i++) {
        bool seen = false;
        for (unsigned k = 0; k < i && !seen; k++)
            seen = calls[k].stream == calls[i].stream;
        if (!seen)
            status = back ? join(comm, calls[0].stream, calls[i].stream) : join(comm, calls[i].stream, calls[0].stream);
    }
    return status;
}

static CUresult submit(struct mr_comm *comm, struct mr_launch *launch, const struct mr_call *calls, unsigned count)
{
    CUstream stream = calls[0].stream;
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t capture = 0;
    CUresult status = mr_math_driver.cuStreamGetCaptureInfo_v2(stream, &capturing, &capture, NULL, NULL, NULL);
    if (capturing != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        capture = 0;
    launch->captured = capture != 0;
    if (status == CUDA_SUCCESS)
        status = join_others(comm, calls, count, false);
    if (status == CUDA_SUCCESS)
        status = order(comm, stream, capture);
    if (mr_tell_call(calls[0].function))
        tell(comm, calls, count);
    if (status == CUDA_SUCCESS)
        status = put_all(stream, launch);
    mr_tell_call_over();
    if (status == CUDA_SUCCESS)
        status = mr_math_driver.cuEventRecord(comm->event, stream);
    if (status == CUDA_SUCCESS)
        status = join_others(comm, calls, count, true);
    comm->has_last = status == CUDA_SUCCESS;
    comm->last = stream;
    comm->capture = capture;
    return status;
}

/* What a rank sends to itself it receives in the same group. */
static bool is_balanced(const struct mr_comm *comm, const struct mr_call *calls, unsigned count)
{
    int64_t sends = 0;
    for (unsigned i = 0; i < count; i++)
        if (calls[i].posting.way >= MR_WAY_SEND && calls[i].posting.peer == comm->rank)
            sends += calls[i].posting.way == MR_WAY_SEND ? 1 : -1;
    return sends == 0;
}

ncclResult_t mr_launch_submit(struct mr_comm *comm, const struct mr_call *calls, unsigned count)
{
    struct mr_launch *launch = NULL;
    if (!is_balanced(comm, calls, count))
        return mr_nccl_bad(calls[0].function, ncclInvalidUsage,
                           "rank %d sends to itself without a receive in the group, or receives", comm->rank);
    ncclResult_t result = mr_comm_push(calls[0].function, comm);
    if (result != ncclSuccess)
        return result;
    result = launch_new(comm, calls, count, &launch);
    if (result == ncclSuccess && launch) {
        mr_comm_hold(comm);
        atomic_store(&launch->references, 1);
        pthread_mutex_lock(&comm->lock);
        launch->next = comm->launches;
        comm->launches = launch;
        pthread_mutex_unlock(&comm->lock);
        CUresult status = submit(comm, launch, calls, count);
        /* If some of it is in the stream, the other ranks would wait for the rest: release says so. */
        if (status != CUDA_SUCCESS && !launch->begun)
            launch->ended = true;
        release(launch);
        result = mr_nccl_driver(calls[0].function, (int)status);
    }
    mr_comm_pop();
    return result;
}

ncclResult_t mr_launch_join(struct mr_comm *comm, const struct mr_call *calls, unsigned count)
{
    ncclResult_t result = mr_comm_push(calls[0].function, comm);
    if (result != ncclSuccess)
        return result;
    CUresult status = join_others(comm, calls, count, false);
    if (status == CUDA_SUCCESS)
        status = join_others(comm, calls, count, true);
    mr_comm_pop();
    return mr_nccl_driver(calls[0].function, (int)status);
}

/* ---- after a failure ---- */

bool mr_launch_any(struct mr_comm *comm)
{
    bool any = false;
    pthread_mutex_lock(&comm->lock);
    for (struct mr_launch *launch = comm->launches; launch && !any; launch = launch->next)
        any = atomic_load(&flag_of(launch)->over) == 0;
    pthread_mutex_unlock(&comm->lock);
    return any;
}

/* Lets the streams go on that wait. */
static void release_all(struct mr_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    for (struct mr_launch *launch = comm->launches; launch; launch = launch->next)
        atomic_store(&flag_of(launch)->over, 1);
    pthread_mutex_unlock(&comm->lock);
}

static bool any_waits; /* the monitor's own */

static void look_at(struct mr_comm *comm)
{
    struct mr_meeting *meeting = comm->meeting;
    if (!mr_launch_any(comm))
        return;
    any_waits = true;
    if (comm->crosses)
        (void)mr_meeting_all_live(meeting);
    if (atomic_load(&meeting->failed) == 0)
        return;
    /* Within a process operations write to the memory of all ranks: that has to end first. */
    for (unsigned i = 0; i < DOING_ROUNDS && !comm->crosses && atomic_load(&meeting->doing) != 0; i++)
        mr_nccl_nap();
    release_all(comm);
}

static bool look(void)
{
    any_waits = false;
    mr_comm_each(look_at);
    return any_waits;
}

bool mr_launch_begin(void)
{
    return mr_monitor_begin(look);
}
