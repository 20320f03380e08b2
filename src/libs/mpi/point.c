/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from one process to another, and files. */
#include "libs/mpi/message.h"
#include "libs/mpi/request.h"

/* The process that there is not: a message to it touches nothing. */
static bool is_none(int rank)
{
    return rank == (mr_mpi_is_open() ? -2 : -1);
}

static struct message message_with(int rank, const void *buffer, int count, word type, uint32_t how, const char *call,
                                   const void *site)
{
    struct message message = mr_message(call, site);
    if (!is_none(rank))
        mr_message_touches(&message, buffer, count, type, how);
    return message;
}

#define SENDS(name) \
    OPEN int name(const void *buffer, int count, word type, int to, int tag, word comm); \
    int name(const void *buffer, int count, word type, int to, int tag, word comm) \
    { \
        struct message message = message_with(to, buffer, count, type, MR_ACCESS_READ, #name, SITE); \
        return BLOCKING(message, REAL(name)(buffer, count, type, to, tag, comm)); \
    }
SENDS(MPI_Send)
SENDS(MPI_Bsend)
SENDS(MPI_Ssend)
SENDS(MPI_Rsend)

#define SENDS_LATER(name) \
    OPEN int name(const void *buffer, int count, word type, int to, int tag, word comm, void *request); \
    int name(const void *buffer, int count, word type, int to, int tag, word comm, void *request) \
    { \
        struct message message = message_with(to, buffer, count, type, MR_ACCESS_READ, #name, SITE); \
        return IMMEDIATE(message, REAL(name)(buffer, count, type, to, tag, comm, request), request); \
    }
SENDS_LATER(MPI_Isend)
SENDS_LATER(MPI_Ibsend)
SENDS_LATER(MPI_Issend)
SENDS_LATER(MPI_Irsend)

/* A persistent request's message begins when it is started. */
#define PREPARES(name, how) \
    OPEN int name(const void *buffer, int count, word type, int rank, int tag, word comm, void *request); \
    int name(const void *buffer, int count, word type, int rank, int tag, word comm, void *request) \
    { \
        struct message message = message_with(rank, buffer, count, type, how, #name, SITE); \
        int status = REAL(name)(buffer, count, type, rank, tag, comm, request); \
        mr_request_keep(&message.boxes, request); \
        mr_message_returns(&message, NULL); \
        return status; \
    }
PREPARES(MPI_Send_init, MR_ACCESS_READ)
PREPARES(MPI_Bsend_init, MR_ACCESS_READ)
PREPARES(MPI_Ssend_init, MR_ACCESS_READ)
PREPARES(MPI_Rsend_init, MR_ACCESS_READ)
PREPARES(MPI_Recv_init, MR_ACCESS_WRITE)

OPEN int MPI_Recv(void *buffer, int count, word type, int from, int tag, word comm, void *status);
OPEN int MPI_Irecv(void *buffer, int count, word type, int from, int tag, word comm, void *request);
OPEN int MPI_Mrecv(void *buffer, int count, word type, void *probed, void *status);
OPEN int MPI_Imrecv(void *buffer, int count, word type, void *probed, void *request);

int MPI_Recv(void *buffer, int count, word type, int from, int tag, word comm, void *status)
{
    struct message message = message_with(from, buffer, count, type, MR_ACCESS_WRITE, "MPI_Recv", SITE);
    return BLOCKING(message, REAL(MPI_Recv)(buffer, count, type, from, tag, comm, status));
}

int MPI_Irecv(void *buffer, int count, word type, int from, int tag, word comm, void *request)
{
    struct message message = message_with(from, buffer, count, type, MR_ACCESS_WRITE, "MPI_Irecv", SITE);
    return IMMEDIATE(message, REAL(MPI_Irecv)(buffer, count, type, from, tag, comm, request), request);
}

int MPI_Mrecv(void *buffer, int count, word type, void *probed, void *status)
{
    struct message message = message_with(0, buffer, count, type, MR_ACCESS_WRITE, "MPI_Mrecv", SITE);
    return BLOCKING(message, REAL(MPI_Mrecv)(buffer, count, type, probed, status));
}

int MPI_Imrecv(void *buffer, int count, word type, void *probed, void *request)
{
    struct message message = message_with(0, buffer, count, type, MR_ACCESS_WRITE, "MPI_Imrecv", SITE);
    return IMMEDIATE(message, REAL(MPI_Imrecv)(buffer, count, type, probed, request), request);
}

OPEN int MPI_Sendrecv(const void *out, int out_count, word out_type, int to, int out_tag, void *in, int in_count,
                      word in_type, int from, int in_tag, word comm, void *status);
OPEN int MPI_Sendrecv_replace(void *buffer, int count, word type, int to, int out_tag, int from, int in_tag, word comm,
                              void *status);

int MPI_Sendrecv(const void *out, int out_count, word out_type, int to, int out_tag, void *in, int in_count,
                 word in_type, int from, int in_tag, word comm, void *status)
{
    struct message message = message_with(to, out, out_count, out_type, MR_ACCESS_READ, "MPI_Sendrecv", SITE);
    if (!is_none(from))
        mr_message_touches(&message, in, in_count, in_type, MR_ACCESS_WRITE);
    return BLOCKING(message, REAL(MPI_Sendrecv)(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                                                in_tag, comm, status));
}

int MPI_Sendrecv_replace(void *buffer, int count, word type, int to, int out_tag, int from, int in_tag, word comm,
                         void *status)
{
    struct message message = message_with(to, buffer, count, type, MR_ACCESS_READ, "MPI_Sendrecv_replace", SITE);
    if (!is_none(from))
        mr_message_touches(&message, buffer, count, type, MR_ACCESS_WRITE);
    return BLOCKING(message, REAL(MPI_Sendrecv_replace)(buffer, count, type, to, out_tag, from, in_tag, comm, status));
}

/* ---- files ---- */

#define FILE_AT(name, constant, how) \
    OPEN int name(word file, int64_t offset, constant void *buffer, int count, word type, void *status); \
    int name(word file, int64_t offset, constant void *buffer, int count, word type, void *status) \
    { \
        struct message message = message_with(0, buffer, count, type, how, #name, SITE); \
        return BLOCKING(message, REAL(name)(file, offset, buffer, count, type, status)); \
    }
#define FILE_HERE(name, constant, how) \
    OPEN int name(word file, constant void *buffer, int count, word type, void *status); \
    int name(word file, constant void *buffer, int count, word type, void *status) \
    { \
        struct message message = message_with(0, buffer, count, type, how, #name, SITE); \
        return BLOCKING(message, REAL(name)(file, buffer, count, type, status)); \
    }
FILE_AT(MPI_File_read_at, , MR_ACCESS_WRITE)
FILE_AT(MPI_File_read_at_all, , MR_ACCESS_WRITE)
FILE_AT(MPI_File_write_at, const, MR_ACCESS_READ)
FILE_AT(MPI_File_write_at_all, const, MR_ACCESS_READ)
FILE_HERE(MPI_File_read, , MR_ACCESS_WRITE)
FILE_HERE(MPI_File_read_all, , MR_ACCESS_WRITE)
FILE_HERE(MPI_File_read_shared, , MR_ACCESS_WRITE)
FILE_HERE(MPI_File_read_ordered, , MR_ACCESS_WRITE)
FILE_HERE(MPI_File_write, const, MR_ACCESS_READ)
FILE_HERE(MPI_File_write_all, const, MR_ACCESS_READ)
FILE_HERE(MPI_File_write_shared, const, MR_ACCESS_READ)
FILE_HERE(MPI_File_write_ordered, const, MR_ACCESS_READ)
