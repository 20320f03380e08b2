/* SPDX-License-Identifier: Apache-2.0 */
/* Operations come from slabs and go back through a list that any thread may push to (operation.h). */
#include "libs/observer/operation.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct obs_operation *free_operations;
static _Atomic(struct obs_operation *) put_aside;
static uint64_t live, made;
static size_t slabs;

void obs_order_lock(void)
{
    pthread_mutex_lock(&lock);
}

void obs_order_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void obs_operation_sweep(void)
{
    if (!atomic_load_explicit(&put_aside, memory_order_relaxed))
        return;
    struct obs_operation *operation = atomic_exchange_explicit(&put_aside, NULL, memory_order_acquire), *next;
    for (; operation; operation = next) {
        next = operation->next;
        obs_clock_drop(operation->before[OBS_EDGES_ALL]);
        obs_clock_drop(operation->before[OBS_EDGES_DOCUMENTED]);
        operation->next = free_operations;
        free_operations = operation;
        live--;
    }
}

struct obs_operation *obs_operation_new(void)
{
    obs_operation_sweep();
    if (!free_operations) {
        struct obs_operation *slab = calloc(SLAB, sizeof *slab);
        if (!slab)
            return NULL;
        slabs++;
        for (int i = 0; i < SLAB; i++) {
            slab[i].next = free_operations;
            free_operations = &slab[i];
        }
    }
    struct obs_operation *operation = free_operations;
    free_operations = operation->next;
    memset(operation, 0, sizeof *operation);
    atomic_init(&operation->references, 1);
    live++;
    made++;
    return operation;
}

void obs_operation_drop(struct obs_operation *operation)
{
    if (!operation || atomic_fetch_sub_explicit(&operation->references, 1, memory_order_acq_rel) > 1)
        return;
    struct obs_operation *head = atomic_load_explicit(&put_aside, memory_order_relaxed);
    do
        operation->next = head;
    while (!atomic_compare_exchange_weak_explicit(&put_aside, &head, operation, memory_order_release,
                                                  memory_order_relaxed));
}

uint64_t obs_operation_live(void)
{
    return live;
}

uint64_t obs_operation_made(void)
{
    return made;
}

size_t obs_operation_bytes(void)
{
    return slabs * SLAB * sizeof(struct obs_operation);
}
