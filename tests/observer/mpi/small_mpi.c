/* SPDX-License-Identifier: Apache-2.0 */
/* The small MPI library (mpi.h). A receive is asked for before its send, as in mpi_cases.cu; the send copies. */
#include "mpi.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, DONE = 100, SEND_DONE = 101, PERSISTENT = 102, VECTOR = 200, UNDEFINED = -32766 };

static struct {
    int count, length, stride;
    MPI_Aint extent;
} vectors[MOST];
static int vector_count;
static struct {
    void *buffer;
    int count, type;
    bool waits;
} receives[MOST]; /* the number is the request's */
static struct {
    const void *buffer;
    int count, type;
} persistent;

int MPI_Init(int *argc, char ***argv)
{
    return (void)argc, (void)argv, MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    return (void)comm, *rank = 0, MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    return (void)comm, *size = 1, MPI_SUCCESS;
}

int MPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    return (void)comm, *flag = 0, MPI_SUCCESS;
}

int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype *type)
{
    if (old != MPI_INT || vector_count == MOST)
        abort();
    vectors[vector_count].count = count;
    vectors[vector_count].length = length;
    vectors[vector_count].stride = stride;
    vectors[vector_count].extent = (MPI_Aint)sizeof(int) * ((count - 1) * stride + length);
    *type = VECTOR + vector_count++;
    return MPI_SUCCESS;
}

int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype *type)
{
    if (old < VECTOR || old >= VECTOR + vector_count || lower != 0 || vector_count == MOST)
        abort();
    vectors[vector_count] = vectors[old - VECTOR];
    vectors[vector_count].extent = extent;
    *type = VECTOR + vector_count++;
    return MPI_SUCCESS;
}

int MPI_Type_commit(MPI_Datatype *type)
{
    return (void)type, MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype *type)
{
    return *type = 0, MPI_SUCCESS;
}

static bool is_vector(MPI_Datatype type)
{
    return type >= VECTOR && type < VECTOR + vector_count;
}

int MPI_Type_size(MPI_Datatype type, int *size)
{
    if (is_vector(type))
        *size = vectors[type - VECTOR].count * vectors[type - VECTOR].length * (int)sizeof(int);
    else
        *size = type == MPI_INT ? 4 : 1;
    return MPI_SUCCESS;
}

int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint *lower, MPI_Aint *extent)
{
    *lower = 0;
    *extent = is_vector(type) ? vectors[type - VECTOR].extent : type == MPI_INT ? 4 : 1;
    return MPI_SUCCESS;
}

int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint *lower, MPI_Aint *extent)
{
    MPI_Type_get_extent(type, lower, extent);
    if (is_vector(type))
        *extent = (MPI_Aint)sizeof(int) *
                  ((vectors[type - VECTOR].count - 1) * vectors[type - VECTOR].stride + vectors[type - VECTOR].length);
    return MPI_SUCCESS;
}

int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *size)
{
    (void)comm;
    MPI_Type_size(type, size);
    *size *= count;
    return MPI_SUCCESS;
}

/* Between a row of bytes and elements of a type. */
static void move(char *packed, char *elements, int count, MPI_Datatype type, bool packs)
{
    MPI_Aint lower, extent;
    int size, length;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_size(type, &size);
    for (int i = 0; i < count; i++, elements += extent)
        for (int row = 0; row < (is_vector(type) ? vectors[type - VECTOR].count : 1); row++, packed += length) {
            char *at = elements + (is_vector(type) ? row * vectors[type - VECTOR].stride * (int)sizeof(int) : 0);
            length = is_vector(type) ? vectors[type - VECTOR].length * (int)sizeof(int) : size;
            memcpy(packs ? packed : at, packs ? at : packed, (size_t)length);
        }
}

int MPI_Unpack(const void *from, int size, int *position, void *to, int count, MPI_Datatype type, MPI_Comm comm)
{
    int all;
    MPI_Pack_size(count, type, comm, &all);
    if (comm != MPI_COMM_SELF || *position + all > size)
        abort();
    move((char *)(uintptr_t)from + *position, to, count, type, false);
    *position += all;
    return MPI_SUCCESS;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    int number = 0;
    if (from != 0 || tag != 1 || comm != MPI_COMM_WORLD)
        abort();
    while (number < MOST && receives[number].waits)
        number++;
    if (number == MOST)
        abort();
    receives[number].buffer = buffer;
    receives[number].count = count;
    receives[number].type = type;
    receives[number].waits = true;
    *request = DONE - 1 - number;
    return MPI_SUCCESS;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int number = 0, size, room;
    if (to == MPI_PROC_NULL)
        return MPI_SUCCESS;
    while (number < MOST && !receives[number].waits)
        number++;
    if (to != 0 || tag != 1 || comm != MPI_COMM_WORLD || number == MOST)
        abort();
    MPI_Pack_size(count, type, comm, &size);
    MPI_Pack_size(receives[number].count, receives[number].type, comm, &room);
    char *packed = malloc((size_t)size);
    if (!packed || size > room)
        abort();
    move(packed, (char *)(uintptr_t)buffer, count, type, true);
    MPI_Type_size(receives[number].type, &room);
    move(packed, receives[number].buffer, size / room, receives[number].type, false);
    free(packed);
    receives[number].waits = false;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    *request = SEND_DONE; /* the same for all */
    return MPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Send_init(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    if (to != 0 || tag != 1 || comm != MPI_COMM_WORLD)
        abort();
    persistent.buffer = buffer;
    persistent.count = count;
    persistent.type = type;
    *request = PERSISTENT;
    return MPI_SUCCESS;
}

int MPI_Start(MPI_Request *request)
{
    if (*request != PERSISTENT)
        abort();
    return MPI_Send(persistent.buffer, persistent.count, persistent.type, 0, 1, MPI_COMM_WORLD);
}

int MPI_Request_free(MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    if (*request < DONE && receives[DONE - 1 - *request].waits)
        abort(); /* it would wait forever */
    if (*request != PERSISTENT)
        *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    for (int i = 0; i < count; i++)
        MPI_Wait(&requests[i], statuses);
    return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    *flag = 1;
    *index = UNDEFINED;
    for (int i = count - 1; i >= 0; i--)
        if (requests[i] != MPI_REQUEST_NULL)
            *index = i;
    return *index == UNDEFINED ? MPI_SUCCESS : MPI_Wait(&requests[*index], status);
}

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
{
    if (out != MPI_IN_PLACE || !in || count < 0 || type != MPI_INT || operation != MPI_SUM || comm != MPI_COMM_WORLD)
        abort();
    return MPI_SUCCESS; /* of one process, its own */
}

int MPI_Gatherv(const void *out, int out_count, MPI_Datatype out_type, void *in, const int *in_counts,
                const int *in_places, MPI_Datatype in_type, int root, MPI_Comm comm)
{
    if (out_type != MPI_INT || in_type != MPI_INT || root != 0 || comm != MPI_COMM_WORLD || in_counts[0] != out_count)
        abort();
    memcpy((int *)in + in_places[0], out, (size_t)out_count * sizeof(int));
    return MPI_SUCCESS;
}

int MPIX_Query_cuda_support(void)
{
    return 0;
}
