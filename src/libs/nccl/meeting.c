/* SPDX-License-Identifier: Apache-2.0 */
/* Meetings: making, opening, matching. */
#define _GNU_SOURCE
#include "libs/nccl/meeting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "libs/nccl/refuse.h"

#define MAGIC UINT64_C(0x314d4c434e524d31)

/* What a unique id holds. */
struct id {
    uint64_t magic;
    struct mr_share_handle handle;
};
_Static_assert(sizeof(struct id) <= sizeof(ncclUniqueId), "an id fits");

/* A meeting as this process sees it: mapped once, however many of its ranks are here, so that they all take the same
 * lock. What the process has made itself stays until all ranks have joined, for others open it through the process. */
struct view {
    struct view *next;
    struct mr_meeting *meeting;
    struct mr_share_handle handle;
    struct mr_share share; /* only if `is_made` */
    bool is_made;
    unsigned opened; /* and not closed */
};
static pthread_mutex_t views_lock = PTHREAD_MUTEX_INITIALIZER;
static struct view *views;

static bool is_needed(const struct view *view)
{
    uint32_t joined = atomic_load(&view->meeting->joined);
    return view->opened || (view->is_made && (joined == 0 || joined < view->meeting->ranks));
}

/* Ends the views that nobody needs any more. views_lock held. */
static void tidy(void)
{
    for (struct view **link = &views; *link;) {
        struct view *view = *link;
        if (is_needed(view)) {
            link = &view->next;
            continue;
        }
        *link = view->next;
        munmap(view->meeting, sizeof *view->meeting);
        if (view->is_made)
            mr_share_destroy(&view->share);
        free(view);
    }
}

static bool lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    bool good = pthread_mutexattr_init(&attributes) == 0;
    good = good && pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
           pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
           pthread_mutex_init(lock, &attributes) == 0;
    (void)pthread_mutexattr_destroy(&attributes);
    return good;
}

static struct mr_meeting *map(int fd)
{
    void *at = mmap(NULL, sizeof(struct mr_meeting), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

ncclResult_t mr_meeting_new(ncclUniqueId *out)
{
    struct view *view = calloc(1, sizeof *view);
    bool is_shared = view && mr_share_create(sizeof *view->meeting, &view->share);
    if (is_shared)
        view->meeting = map(view->share.fd);
    if (!is_shared || !view->meeting || !lock_init(&view->meeting->lock)) {
        if (is_shared && view->meeting)
            munmap(view->meeting, sizeof *view->meeting);
        if (is_shared)
            mr_share_destroy(&view->share);
        free(view);
        return mr_nccl_bad("ncclGetUniqueId", ncclSystemError, "there is no memory to share");
    }
    view->is_made = true;
    view->meeting->magic = MAGIC;
    struct id id = {.magic = MAGIC};
    static const uint64_t value[3];
    mr_share_handle_make(&view->share, MR_SHARE_MEMORY, value, &id.handle);
    view->handle = id.handle;
    memset(out, 0, sizeof *out);
    memcpy(out, &id, sizeof id);
    pthread_mutex_lock(&views_lock);
    tidy();
    view->next = views;
    views = view;
    pthread_mutex_unlock(&views_lock);
    return ncclSuccess;
}

/* A view of a meeting of another process, or NULL. */
static struct view *view_of_other(const struct mr_share_handle *handle)
{
    struct view *view = calloc(1, sizeof *view);
    size_t size = 0;
    int fd = view ? mr_share_open(handle, &size) : -1;
    if (fd >= 0 && size == sizeof *view->meeting)
        view->meeting = map(fd);
    if (fd >= 0)
        close(fd);
    if (view && view->meeting && view->meeting->magic == MAGIC) {
        view->handle = *handle;
        return view;
    }
    if (view && view->meeting)
        munmap(view->meeting, sizeof *view->meeting);
    free(view);
    return NULL;
}

struct mr_meeting *mr_meeting_open(const ncclUniqueId *from)
{
    struct id id;
    struct mr_share_handle handle;
    memcpy(&id, from, sizeof id);
    if (id.magic != MAGIC || !mr_share_handle_read(&id.handle, MR_SHARE_MEMORY, &handle))
        return NULL;
    pthread_mutex_lock(&views_lock);
    struct view *view = views;
    while (view && memcmp(&view->handle.token, &handle.token, sizeof handle.token) != 0)
        view = view->next;
    if (!view && (view = view_of_other(&handle))) {
        view->next = views;
        views = view;
    }
    if (view)
        view->opened++;
    pthread_mutex_unlock(&views_lock);
    return view ? view->meeting : NULL;
}

void mr_meeting_close(struct mr_meeting *meeting)
{
    pthread_mutex_lock(&views_lock);
    for (struct view *view = views; view; view = view->next)
        if (view->meeting == meeting)
            view->opened--;
    tidy();
    pthread_mutex_unlock(&views_lock);
}

void mr_meeting_fail(struct mr_meeting *meeting, ncclResult_t why)
{
    int none = 0;
    (void)atomic_compare_exchange_strong(&meeting->failed, &none, (int)why);
}

static bool take(struct mr_meeting *meeting)
{
    int error = pthread_mutex_lock(&meeting->lock);
    if (error == EOWNERDEAD) { /* a process has died with it: what it guards may be half changed */
        mr_meeting_fail(meeting, ncclRemoteError);
        (void)pthread_mutex_consistent(&meeting->lock);
        error = 0;
    }
    return error == 0;
}

bool mr_meeting_lock(struct mr_meeting *meeting)
{
    if (!take(meeting))
        return false;
    if (atomic_load(&meeting->failed) == 0)
        return true;
    pthread_mutex_unlock(&meeting->lock);
    return false;
}

void mr_meeting_unlock(struct mr_meeting *meeting)
{
    pthread_mutex_unlock(&meeting->lock);
}

/* ---- matching ---- */

static struct mr_posting *at(struct mr_office *office, uint32_t number)
{
    return number - 1 < MR_OFFICE_POSTINGS ? &office->posting[number - 1] : NULL;
}

static void append(struct mr_office *office, uint32_t *first, uint32_t *last, uint32_t number)
{
    struct mr_posting *before = *first ? at(office, *last) : NULL;
    at(office, number)->next = 0;
    if (before)
        before->next = number;
    else
        *first = number;
    *last = number;
}

static struct mr_posting *pop(struct mr_office *office, uint32_t *first)
{
    struct mr_posting *posting = at(office, *first);
    if (posting)
        *first = posting->next;
    return posting;
}

/* What the ranks don't agree on, or NULL. */
static const char *disagreement(const struct mr_posting *a, const struct mr_posting *b)
{
    bool rooted =
        a->way == MR_WAY_REDUCE || a->way == MR_WAY_BROADCAST || a->way == MR_WAY_GATHER || a->way == MR_WAY_SCATTER;
    if (a->way != b->way)
        return "function";
    if (a->count != b->count)
        return "number of elements";
    if (a->type != b->type)
        return "type";
    if (a->way <= MR_WAY_REDUCE_SCATTER && a->op != b->op)
        return "operation";
    return rooted && a->peer != b->peer ? "root" : NULL;
}

static bool match_all(struct mr_meeting *meeting, struct mr_office *const *office, struct mr_posting **room,
                      struct mr_match *match)
{
    for (uint32_t i = 0; i < meeting->ranks; i++) {
        struct mr_rank *rank = &meeting->rank[i];
        room[i] = pop(office[i], &rank->first);
        if (rank->first == 0)
            meeting->posted--;
        const char *what = room[i] ? disagreement(room[0], room[i]) : "posting";
        if (what) {
            mr_log(MR_LOG_WARN, "NCCL: ranks 0 and %u call with another %s: the communicator fails", i, what);
            mr_meeting_fail(meeting, ncclInvalidUsage);
            return false;
        }
    }
    *match = (struct mr_match){.way = (enum mr_way)room[0]->way, .count = meeting->ranks, .posting = room};
    return true;
}

static bool post_to_all(struct mr_meeting *meeting, struct mr_office *const *office, int rank, uint32_t number,
                        struct mr_posting **room, struct mr_match *match)
{
    struct mr_rank *self = &meeting->rank[rank];
    if (self->first == 0)
        meeting->posted++;
    append(office[rank], &self->first, &self->last, number + 1);
    if (meeting->posted == meeting->ranks)
        return match_all(meeting, office, room, match);
    for (uint32_t i = 0; i < meeting->ranks; i++)
        if (meeting->rank[i].first == 0 && atomic_load(&meeting->rank[i].presence) == MR_RANK_LEFT)
            mr_meeting_fail(meeting, ncclRemoteError);
    return false;
}

static bool post_to_one(struct mr_meeting *meeting, struct mr_office *const *office, int rank, uint32_t number,
                        struct mr_posting **room, struct mr_match *match)
{
    struct mr_posting *posting = &office[rank]->posting[number];
    int peer = posting->peer;
    bool sends = posting->way == MR_WAY_SEND;
    struct mr_pair *pair = sends ? &meeting->pair[rank][peer] : &meeting->pair[peer][rank];
    if ((sends ? pair->first_recv : pair->first_send) == 0) {
        if (sends)
            append(office[rank], &pair->first_send, &pair->last_send, number + 1);
        else
            append(office[rank], &pair->first_recv, &pair->last_recv, number + 1);
        if (atomic_load(&meeting->rank[peer].presence) == MR_RANK_LEFT)
            mr_meeting_fail(meeting, ncclRemoteError);
        return false;
    }
    room[0] = sends ? posting : pop(office[peer], &pair->first_send);
    room[1] = sends ? pop(office[peer], &pair->first_recv) : posting;
    if (!room[0] || !room[1] || room[0]->count != room[1]->count || room[0]->type != room[1]->type) {
        mr_log(MR_LOG_WARN,
               "NCCL: ranks %d and %d send and receive another number or type of elements: the communicator fails",
               rank, peer);
        mr_meeting_fail(meeting, ncclInvalidUsage);
        return false;
    }
    *match = (struct mr_match){
        .way = MR_WAY_SEND, .count = 2, .posting = room, .rank = {sends ? rank : peer, sends ? peer : rank}};
    return true;
}

bool mr_meeting_post(struct mr_meeting *meeting, struct mr_office *const *office, int rank, uint32_t number,
                     struct mr_posting **room, struct mr_match *match)
{
    bool to_one = office[rank]->posting[number].way >= MR_WAY_SEND;
    return (to_one ? post_to_one : post_to_all)(meeting, office, rank, number, room, match);
}

static bool lives(const struct mr_rank *rank)
{
    return rank->process == mr_process_self() || mr_process_lives(rank->process);
}

bool mr_meeting_is_here(const struct mr_meeting *meeting, int rank)
{
    return atomic_load(&meeting->rank[rank].presence) == MR_RANK_HERE && lives(&meeting->rank[rank]);
}

bool mr_meeting_all_live(struct mr_meeting *meeting)
{
    for (uint32_t i = 0; i < meeting->ranks; i++) {
        struct mr_rank *rank = &meeting->rank[i];
        if (atomic_load(&rank->presence) != MR_RANK_HERE || lives(rank) || atomic_load(&rank->presence) != MR_RANK_HERE)
            continue;
        if (atomic_load(&meeting->failed) == 0)
            mr_log(MR_LOG_WARN, "NCCL: the process of rank %u has died: the communicator fails", i);
        mr_meeting_fail(meeting, ncclRemoteError);
        return false;
    }
    return true;
}

void mr_meeting_leave(struct mr_meeting *meeting, int rank)
{
    if (!mr_meeting_lock(meeting)) {
        atomic_store(&meeting->rank[rank].presence, MR_RANK_LEFT);
        return;
    }
    atomic_store(&meeting->rank[rank].presence, MR_RANK_LEFT);
    bool is_missed = meeting->posted > 0;
    for (uint32_t i = 0; i < meeting->ranks; i++)
        is_missed = is_missed || meeting->pair[i][rank].first_send || meeting->pair[rank][i].first_recv ||
                    meeting->pair[rank][i].first_send || meeting->pair[i][rank].first_recv;
    if (is_missed)
        mr_meeting_fail(meeting, ncclRemoteError);
    mr_meeting_unlock(meeting);
}
