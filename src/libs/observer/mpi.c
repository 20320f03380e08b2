/* SPDX-License-Identifier: Apache-2.0 */
/* A message that is under way is kept by its number, with the point that the host knows when it has ended. */
#include "libs/observer/mpi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "libs/observer/generation.h"
#include "libs/observer/host.h"
#include "libs/observer/order_call.h"
#include "libs/observer/sites.h"
#include "observe/mpi.h"

enum { LOOKS = 4 };

/* Works' numbers are counted from 1 up, and never come here. */
#define FIRST_NUMBER ((uint64_t)1 << 62)

struct message {
    struct message *next;
    uint64_t number;
    struct obs_point point;
};

static obs_mpi_look *looks[LOOKS];
static size_t look_count;
static const struct mr_observed_driver *driver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct message *under_way;
static _Atomic uint64_t numbers = FIRST_NUMBER;

static bool concerns(uintptr_t first, uintptr_t end)
{
    struct obs_generation_view view;
    return end > first && obs_generation_below(end - 1, &view) && view.base + view.size > first;
}

static struct obs_operation *operation_of(const char *call, const void *site, struct obs_point *point)
{
    obs_order_lock();
    struct obs_operation *operation = obs_order_apart(obs_stamp(), point);
    if (operation)
        operation->side = (struct mr_side){.what = MR_SIDE_MESSAGE,
                                           .call = call,
                                           .number = obs_order_calls(),
                                           .thread = obs_thread_number(),
                                           .of_thread = obs_calls_of_thread()};
    obs_order_unlock();
    if (operation)
        operation->side.site = obs_site_here(site);
    return operation;
}

static uint64_t begin(const char *call, const struct mr_access *boxes, size_t count, const void *site)
{
    struct message *message = calloc(1, sizeof *message);
    if (!message)
        return 0;
    driver->pause(true);
    obs_host_settle();
    struct obs_operation *operation = operation_of(call, site, &message->point);
    if (!operation) {
        driver->pause(false);
        free(message);
        return 0;
    }
    struct mr_observed_work work = {.work = numbers++, .kind = MR_OBSERVED_COPY};
    message->number = work.work;
    for (size_t i = 0; i < look_count; i++)
        looks[i](&work, operation, boxes, count);
    obs_operation_drop(operation);
    driver->pause(false);
    pthread_mutex_lock(&lock);
    message->next = under_way;
    under_way = message;
    pthread_mutex_unlock(&lock);
    return message->number;
}

static void end(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct message **at = &under_way, *message;
    while ((message = *at) && message->number != number)
        at = &message->next;
    if (message)
        *at = message->next;
    pthread_mutex_unlock(&lock);
    if (!message)
        return;
    obs_host_settle();
    obs_order_lock();
    obs_order_apart_ends(&message->point);
    obs_order_unlock();
    free(message);
}

void obs_mpi_tell(obs_mpi_look *look, const struct mr_observed_driver *given)
{
    struct mr_mpi *mpi = dlsym(RTLD_DEFAULT, MR_MPI_SYMBOL);
    if (!mpi || mpi->version != MR_MPI_VERSION || look_count == LOOKS)
        return;
    driver = given;
    looks[look_count++] = look;
    mpi->begin = begin;
    mpi->end = end;
    atomic_store_explicit(&mpi->concerns, concerns, memory_order_release);
}
