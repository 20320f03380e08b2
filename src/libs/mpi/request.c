/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: messages that are under way, and the functions by which the program learns that they are done.
 *
 * A request's value names its messages. Several may have the same value: a library may give one for all that is done at
 * once. Then that of the variable where the request is goes first. */
#include "libs/mpi/request.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

OPEN int MPI_Wait(void *request, void *status);
OPEN int MPI_Waitall(int count, void *requests, void *statuses);
OPEN int MPI_Waitany(int count, void *requests, int *index, void *status);
OPEN int MPI_Waitsome(int count, void *requests, int *done, int *indices, void *statuses);
OPEN int MPI_Test(void *request, int *flag, void *status);
OPEN int MPI_Testall(int count, void *requests, int *flag, void *statuses);
OPEN int MPI_Testany(int count, void *requests, int *index, int *flag, void *status);
OPEN int MPI_Testsome(int count, void *requests, int *done, int *indices, void *statuses);
OPEN int MPI_Request_get_status(word request, int *flag, void *status);
OPEN int MPI_Request_free(void *request);
OPEN int MPI_Start(void *request);
OPEN int MPI_Startall(int count, void *requests);

enum { HEADS = 256, FEW = 32 };

struct pending {
    struct pending *next;
    word value;
    const void *at;
    uint64_t number;
};

/* What a persistent request does each time it is started. */
struct persistent {
    struct persistent *next;
    word value;
    struct boxes boxes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct pending *heads[HEADS];
static struct persistent *persistents;

static size_t size_of_request(void)
{
    return mr_mpi_is_open() ? sizeof(void *) : sizeof(int);
}

static const void *nth(const void *requests, int n)
{
    return (const char *)requests + (size_t)n * size_of_request();
}

static word value_at(const void *request)
{
    word value = 0;
    memcpy(&value, request, size_of_request());
    return value;
}

static struct pending **head_of(word value)
{
    return &heads[(value * 0x9e3779b97f4a7c15u) >> 56];
}

void mr_request_add(const void *request, uint64_t number)
{
    struct pending *pending = malloc(sizeof *pending);
    if (!pending) {
        millrace_mpi.end(number); /* what comes of it is not seen */
        return;
    }
    word value = value_at(request);
    pthread_mutex_lock(&lock);
    *pending = (struct pending){*head_of(value), value, request, number};
    *head_of(value) = pending;
    pthread_mutex_unlock(&lock);
}

/* The request that had this value, at this place, is complete. */
static void complete(word value, const void *at)
{
    pthread_mutex_lock(&lock);
    struct pending **found = NULL;
    for (struct pending **one = head_of(value); *one; one = &(*one)->next)
        if ((*one)->value == value && (!found || (*one)->at == at)) {
            found = one;
            if ((*one)->at == at)
                break;
        }
    struct pending *pending = found ? *found : NULL;
    if (pending)
        *found = pending->next;
    pthread_mutex_unlock(&lock);
    if (pending)
        millrace_mpi.end(pending->number);
    free(pending);
}

/* The values of requests before a call, which may change them. */
struct values {
    word few[FEW], *all;
    const void *requests;
    int count;
};

static void take(struct values *values, const void *requests, int count)
{
    bool outermost = mr_mpi_enter();
    values->requests = requests;
    values->count = outermost && count > 0 ? count : 0;
    values->all = values->few;
    if (values->count > FEW && !(values->all = malloc((size_t)count * sizeof *values->all)))
        values->count = 0;
    for (int i = 0; i < values->count; i++)
        values->all[i] = value_at(nth(requests, i));
}

static void complete_nth(const struct values *values, int n)
{
    if (n >= 0 && n < values->count) /* else there was no request that could be complete */
        complete(values->all[n], nth(values->requests, n));
}

static void complete_all(const struct values *values)
{
    for (int i = 0; i < values->count; i++)
        complete_nth(values, i);
}

static void give(const struct values *values)
{
    if (values->all != values->few)
        free(values->all);
    mr_mpi_leave();
}

/* Does what the MPI library's function does with these requests, and then what the last argument says. */
#define FOLLOWED(requests, count, call, then) \
    __extension__({ \
        struct values values; \
        take(&values, requests, count); \
        int result_of_call = call; \
        then; \
        give(&values); \
        result_of_call; \
    })

static void complete_some(const struct values *values, int count, const int *indices)
{
    for (int i = 0; i < count; i++)
        complete_nth(values, indices[i]);
}

static void complete_if(const struct values *values, bool done)
{
    if (done)
        complete_all(values);
}

int MPI_Wait(void *request, void *status)
{
    return FOLLOWED(request, 1, REAL(MPI_Wait)(request, status), complete_all(&values));
}

int MPI_Waitall(int count, void *requests, void *statuses)
{
    return FOLLOWED(requests, count, REAL(MPI_Waitall)(count, requests, statuses), complete_all(&values));
}

int MPI_Waitany(int count, void *requests, int *index, void *status)
{
    return FOLLOWED(requests, count, REAL(MPI_Waitany)(count, requests, index, status), complete_nth(&values, *index));
}

int MPI_Waitsome(int count, void *requests, int *done, int *indices, void *statuses)
{
    return FOLLOWED(requests, count, REAL(MPI_Waitsome)(count, requests, done, indices, statuses),
                    complete_some(&values, *done, indices));
}

int MPI_Test(void *request, int *flag, void *status)
{
    return FOLLOWED(request, 1, REAL(MPI_Test)(request, flag, status), complete_if(&values, *flag));
}

int MPI_Testall(int count, void *requests, int *flag, void *statuses)
{
    return FOLLOWED(requests, count, REAL(MPI_Testall)(count, requests, flag, statuses), complete_if(&values, *flag));
}

int MPI_Testany(int count, void *requests, int *index, int *flag, void *status)
{
    return FOLLOWED(requests, count, REAL(MPI_Testany)(count, requests, index, flag, status),
                    complete_nth(&values, *flag ? *index : -1));
}

int MPI_Testsome(int count, void *requests, int *done, int *indices, void *statuses)
{
    return FOLLOWED(requests, count, REAL(MPI_Testsome)(count, requests, done, indices, statuses),
                    complete_some(&values, *done, indices));
}

int MPI_Request_get_status(word request, int *flag, void *status)
{
    return FOLLOWED(&request, 1, REAL(MPI_Request_get_status)(request, flag, status), complete_if(&values, *flag));
}

static void forget(word value)
{
    struct persistent *freed = NULL;
    pthread_mutex_lock(&lock);
    for (struct persistent **at = &persistents; *at; at = &(*at)->next)
        if ((*at)->value == value) {
            freed = *at;
            *at = freed->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (freed)
        free(freed->boxes.at);
    free(freed);
}

/* The program gives up to learn when it is done. What it knows then by other means is not seen, so nothing is reported
 * against the message any more. */
int MPI_Request_free(void *request)
{
    word value = value_at(request);
    forget(value);
    return FOLLOWED(request, 1, REAL(MPI_Request_free)(request), complete_all(&values));
}

/* ---- persistent requests ---- */

void mr_request_keep(struct boxes *boxes, const void *request)
{
    struct persistent *persistent = boxes->count ? malloc(sizeof *persistent) : NULL;
    if (persistent) {
        *persistent = (struct persistent){.value = value_at(request), .boxes = *boxes};
        pthread_mutex_lock(&lock);
        persistent->next = persistents;
        persistents = persistent;
        pthread_mutex_unlock(&lock);
    } else {
        free(boxes->at);
    }
    *boxes = (struct boxes){0};
}

/* The observer's number for what begins with the request, or 0. */
static uint64_t begin(word value, const char *call, const void *site)
{
    uint64_t number = 0;
    pthread_mutex_lock(&lock);
    const struct persistent *persistent = persistents;
    while (persistent && persistent->value != value)
        persistent = persistent->next;
    if (persistent)
        number = millrace_mpi.begin(call, persistent->boxes.at, persistent->boxes.count, site);
    pthread_mutex_unlock(&lock);
    return number;
}

static void start(const void *request, const char *call, const void *site)
{
    uint64_t number = begin(value_at(request), call, site);
    if (number)
        mr_request_add(request, number);
}

int MPI_Start(void *request)
{
    start(request, "MPI_Start", __builtin_return_address(0));
    return REAL(MPI_Start)(request);
}

int MPI_Startall(int count, void *requests)
{
    for (int i = 0; i < count; i++)
        start(nth(requests, i), "MPI_Startall", __builtin_return_address(0));
    return REAL(MPI_Startall)(count, requests);
}
