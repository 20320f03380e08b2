/* SPDX-License-Identifier: Apache-2.0 */
/* What all processes of a communicator do together. */
#include "libs/mpi/message.h"

int MPI_Comm_rank(word comm, int *rank);
int MPI_Comm_size(word comm, int *size);
int MPI_Comm_test_inter(word comm, int *flag);

struct group {
    int rank, size;
};

/* False: nobody wants to know, or there are two groups, which is not told of. */
static bool group_of(const struct message *message, word comm, struct group *group)
{
    int two = 0;
    return message->outermost && atomic_load_explicit(&millrace_mpi.concerns, memory_order_acquire) &&
           REAL(MPI_Comm_test_inter)(comm, &two) == MPI_DONE && !two &&
           REAL(MPI_Comm_rank)(comm, &group->rank) == MPI_DONE && REAL(MPI_Comm_size)(comm, &group->size) == MPI_DONE;
}

/* MPI_IN_PLACE stands in a buffer's place, and the arguments about that buffer mean nothing. */
static bool is_in_place(const void *buffer)
{
    return (uintptr_t)buffer == (mr_mpi_is_open() ? (uintptr_t)1 : UINTPTR_MAX);
}

static void reads(struct message *message, const void *buffer, int64_t count, word type)
{
    if (!is_in_place(buffer))
        mr_message_touches(message, buffer, count, type, MR_ACCESS_READ);
}

static void writes(struct message *message, void *buffer, int64_t count, word type)
{
    if (!is_in_place(buffer))
        mr_message_touches(message, buffer, count, type, MR_ACCESS_WRITE);
}

/* Parts of the buffer, one for each process. */
static void parts(struct message *message, const void *buffer, const int *counts, const int *places, int size,
                  word type, uint32_t how)
{
    if (is_in_place(buffer))
        return;
    intptr_t extent = mr_layout_extent(type);
    for (int i = 0; i < size; i++)
        mr_message_touches(message, (const char *)buffer + places[i] * extent, counts[i], type, how);
}

#define BARE(...) __VA_ARGS__

/* A function and its twin that returns at once. `touch` adds the boxes. */
#define BOTH(name, twin, touch, arguments, ...) \
    OPEN int MPI_##name(__VA_ARGS__); \
    OPEN int MPI_##twin(__VA_ARGS__, void *request); \
    int MPI_##name(__VA_ARGS__) \
    { \
        struct message message = mr_message("MPI_" #name, SITE); \
        touch(&message, BARE arguments); \
        return BLOCKING(message, REAL(MPI_##name)(BARE arguments)); \
    } \
    int MPI_##twin(__VA_ARGS__, void *request) \
    { \
        struct message message = mr_message("MPI_" #twin, SITE); \
        touch(&message, BARE arguments); \
        return IMMEDIATE(message, REAL(MPI_##twin)(BARE arguments, request), request); \
    }

static void touch_bcast(struct message *message, void *buffer, int count, word type, int root, word comm)
{
    struct group group;
    if (group_of(message, comm, &group))
        mr_message_touches(message, buffer, count, type, group.rank == root ? MR_ACCESS_READ : MR_ACCESS_WRITE);
}
BOTH(Bcast, Ibcast, touch_bcast, (buffer, count, type, root, comm), void *buffer, int count, word type, int root,
     word comm)

static void touch_reduce(struct message *message, const void *out, void *in, int count, word type, word operation,
                         int root, word comm)
{
    struct group group;
    (void)operation;
    if (!group_of(message, comm, &group))
        return;
    reads(message, out, count, type);
    if (group.rank == root)
        writes(message, in, count, type);
}
BOTH(Reduce, Ireduce, touch_reduce, (out, in, count, type, operation, root, comm), const void *out, void *in, int count,
     word type, word operation, int root, word comm)

static void touch_allreduce(struct message *message, const void *out, void *in, int count, word type, word operation,
                            word comm)
{
    struct group group;
    (void)operation;
    if (!group_of(message, comm, &group))
        return;
    reads(message, out, count, type);
    writes(message, in, count, type);
}
BOTH(Allreduce, Iallreduce, touch_allreduce, (out, in, count, type, operation, comm), const void *out, void *in,
     int count, word type, word operation, word comm)
BOTH(Scan, Iscan, touch_allreduce, (out, in, count, type, operation, comm), const void *out, void *in, int count,
     word type, word operation, word comm)
BOTH(Exscan, Iexscan, touch_allreduce, (out, in, count, type, operation, comm), const void *out, void *in, int count,
     word type, word operation, word comm)

static void touch_reduce_scatter(struct message *message, const void *out, void *in, const int *counts, word type,
                                 word operation, word comm)
{
    struct group group;
    int64_t sum = 0;
    (void)operation;
    if (!group_of(message, comm, &group))
        return;
    for (int i = 0; i < group.size; i++)
        sum += counts[i];
    reads(message, out, sum, type);
    writes(message, in, counts[group.rank], type);
}
BOTH(Reduce_scatter, Ireduce_scatter, touch_reduce_scatter, (out, in, counts, type, operation, comm), const void *out,
     void *in, const int *counts, word type, word operation, word comm)

static void touch_reduce_scatter_block(struct message *message, const void *out, void *in, int count, word type,
                                       word operation, word comm)
{
    struct group group;
    (void)operation;
    if (!group_of(message, comm, &group))
        return;
    reads(message, out, (int64_t)count * group.size, type);
    writes(message, in, count, type);
}
BOTH(Reduce_scatter_block, Ireduce_scatter_block, touch_reduce_scatter_block, (out, in, count, type, operation, comm),
     const void *out, void *in, int count, word type, word operation, word comm)

/* One part from each process, or to each; all parts alike. */
#define ALIKE const void *out, int out_count, word out_type, void *in, int in_count, word in_type
#define ALIKE_ARGUMENTS out, out_count, out_type, in, in_count, in_type

static void touch_gather(struct message *message, ALIKE, int root, word comm)
{
    struct group group;
    if (!group_of(message, comm, &group))
        return;
    reads(message, out, out_count, out_type);
    if (group.rank == root)
        writes(message, in, (int64_t)in_count * group.size, in_type);
}
BOTH(Gather, Igather, touch_gather, (ALIKE_ARGUMENTS, root, comm), ALIKE, int root, word comm)

static void touch_scatter(struct message *message, ALIKE, int root, word comm)
{
    struct group group;
    if (!group_of(message, comm, &group))
        return;
    if (group.rank == root)
        reads(message, out, (int64_t)out_count * group.size, out_type);
    writes(message, in, in_count, in_type);
}
BOTH(Scatter, Iscatter, touch_scatter, (ALIKE_ARGUMENTS, root, comm), ALIKE, int root, word comm)

static void touch_allgather(struct message *message, ALIKE, word comm)
{
    struct group group;
    if (!group_of(message, comm, &group))
        return;
    reads(message, out, out_count, out_type);
    writes(message, in, (int64_t)in_count * group.size, in_type);
}
BOTH(Allgather, Iallgather, touch_allgather, (ALIKE_ARGUMENTS, comm), ALIKE, word comm)

static void touch_alltoall(struct message *message, ALIKE, word comm)
{
    struct group group;
    if (!group_of(message, comm, &group))
        return;
    reads(message, out, (int64_t)out_count * group.size, out_type);
    writes(message, in, (int64_t)in_count * group.size, in_type);
}
BOTH(Alltoall, Ialltoall, touch_alltoall, (ALIKE_ARGUMENTS, comm), ALIKE, word comm)

/* Parts that differ. */
#define FROM_EACH \
    const void *out, int out_count, word out_type, void *in, const int *in_counts, const int *in_places, word in_type
#define FROM_EACH_ARGUMENTS out, out_count, out_type, in, in_counts, in_places, in_type

static void touch_gatherv(struct message *message, FROM_EACH, int root, word comm)
{
    struct group group;
    if (!group_of(message, comm, &group))
        return;
    reads(message, out, out_count, out_type);
    if (group.rank == root)
        parts(message, in, in_counts, in_places, group.size, in_type, MR_ACCESS_WRITE);
}
BOTH(Gatherv, Igatherv, touch_gatherv, (FROM_EACH_ARGUMENTS, root, comm), FROM_EACH, int root, word comm)

static void touch_allgatherv(struct message *message, FROM_EACH, word comm)
{
    struct group group;
    if (!group_of(message, comm, &group))
        return;
    reads(message, out, out_count, out_type);
    parts(message, in, in_counts, in_places, group.size, in_type, MR_ACCESS_WRITE);
}
BOTH(Allgatherv, Iallgatherv, touch_allgatherv, (FROM_EACH_ARGUMENTS, comm), FROM_EACH, word comm)

#define TO_EACH \
    const void *out, const int *out_counts, const int *out_places, word out_type, void *in, int in_count, word in_type
#define TO_EACH_ARGUMENTS out, out_counts, out_places, out_type, in, in_count, in_type

static void touch_scatterv(struct message *message, TO_EACH, int root, word comm)
{
    struct group group;
    if (!group_of(message, comm, &group))
        return;
    if (group.rank == root)
        parts(message, out, out_counts, out_places, group.size, out_type, MR_ACCESS_READ);
    writes(message, in, in_count, in_type);
}
BOTH(Scatterv, Iscatterv, touch_scatterv, (TO_EACH_ARGUMENTS, root, comm), TO_EACH, int root, word comm)

#define BOTH_WAYS \
    const void *out, const int *out_counts, const int *out_places, word out_type, void *in, const int *in_counts, \
        const int *in_places, word in_type
#define BOTH_WAYS_ARGUMENTS out, out_counts, out_places, out_type, in, in_counts, in_places, in_type

static void touch_alltoallv(struct message *message, BOTH_WAYS, word comm)
{
    struct group group;
    if (!group_of(message, comm, &group))
        return;
    parts(message, out, out_counts, out_places, group.size, out_type, MR_ACCESS_READ);
    parts(message, in, in_counts, in_places, group.size, in_type, MR_ACCESS_WRITE);
}
BOTH(Alltoallv, Ialltoallv, touch_alltoallv, (BOTH_WAYS_ARGUMENTS, comm), BOTH_WAYS, word comm)
