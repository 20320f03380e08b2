/* SPDX-License-Identifier: Apache-2.0 */
/* libmillrace-mpi.so: the functions of MPI that read or write the program's memory. Each does what the MPI library's
 * does (library.h), and tells an observer of the bytes (observe/mpi.h). Read this first.
 *
 * A call makes a *message*: which bytes the MPI library may touch, from the call on. What blocks ends it when the
 * library's function returns (point.c, collective.c); what doesn't, when the program learns that the request is
 * complete (request.h). A type's layout is asked of the MPI library itself (layout.h). */
#ifndef MR_MPI_MESSAGE_H
#define MR_MPI_MESSAGE_H

#include "libs/mpi/layout.h"

struct message {
    const char *call;
    const void *site;
    struct boxes boxes;
    bool outermost;  /* else it is a call of the MPI library's own, of which nobody wants to know */
    uint64_t number; /* the observer's, while it is under way */
};

/* The message of a call by the program, which has touched nothing yet. */
struct message mr_message(const char *call, const void *site);

/* The call reads, or writes, `count` elements of the type at `buffer`. `how`: MR_ACCESS_READ, MR_ACCESS_WRITE. */
void mr_message_touches(struct message *message, const void *buffer, int64_t count, word type, uint32_t how);

/* The observer is told. */
void mr_message_begin(struct message *message);
/* The call that made the message returns. With `request` the message stays under way until that is complete (at
 * `request` is the request's value), else it has ended. */
void mr_message_returns(struct message *message, const void *request);

#define SITE __builtin_return_address(0)

/* Does what the MPI library's function does, and tells of the message meanwhile. */
#define BLOCKING(message, expression) \
    __extension__({ \
        mr_message_begin(&(message)); \
        int status_of_call = (expression); \
        mr_message_returns(&(message), NULL); \
        status_of_call; \
    })

/* The same, and the message ends with the request. */
#define IMMEDIATE(message, expression, request) \
    __extension__({ \
        mr_message_begin(&(message)); \
        int status_of_call = (expression); \
        mr_message_returns(&(message), status_of_call == MPI_DONE ? (request) : NULL); \
        status_of_call; \
    })

#endif
