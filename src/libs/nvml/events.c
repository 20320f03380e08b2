/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of events, and fields. A processor reports none of NVML's events, so a set never has one: a wait gives
 * TIMEOUT. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "base/mutex.h"
#include "libs/nvml/nvml.h"

struct event_set {
    struct mr_list link;
};

static struct mr_list sets = {&sets, &sets}; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under lock. */
static bool is_set(nvmlEventSet_t set)
{
    MR_MUTEX_HELD(&lock);
    for (struct mr_list *at = sets.next; at != &sets; at = at->next)
        if ((void *)at == (void *)set)
            return true;
    return false;
}

nvmlReturn_t mr_nvmlEventSetCreate(nvmlEventSet_t *set)
{
    if (!set)
        return NVML_ERROR_INVALID_ARGUMENT;
    struct event_set *made = malloc(sizeof *made);
    if (!made)
        return NVML_ERROR_MEMORY;
    pthread_mutex_lock(&lock);
    mr_list_append(&sets, &made->link);
    pthread_mutex_unlock(&lock);
    *set = (nvmlEventSet_t)(void *)made;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlEventSetFree(nvmlEventSet_t set)
{
    pthread_mutex_lock(&lock);
    bool found = is_set(set);
    if (found)
        mr_list_remove((struct mr_list *)(void *)set);
    pthread_mutex_unlock(&lock);
    if (found)
        free(set);
    return found ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t mr_nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeoutms)
{
    pthread_mutex_lock(&lock);
    bool found = is_set(set);
    pthread_mutex_unlock(&lock);
    if (!found || !data)
        return NVML_ERROR_INVALID_ARGUMENT;
    struct timespec rest = {timeoutms / 1000, (long)(timeoutms % 1000) * 1000000};
    while (nanosleep(&rest, &rest) != 0)
        ; /* a signal's handler ran */
    return NVML_ERROR_TIMEOUT;
}

nvmlReturn_t mr_nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeoutms)
{
    return mr_nvmlEventSetWait_v2(set, data, timeoutms);
}

nvmlReturn_t mr_nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *eventTypes)
{
    (void)device;
    if (!eventTypes)
        return NVML_ERROR_INVALID_ARGUMENT;
    *eventTypes = nvmlEventTypeNone;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long eventTypes, nvmlEventSet_t set)
{
    (void)device;
    pthread_mutex_lock(&lock);
    bool found = is_set(set);
    pthread_mutex_unlock(&lock);
    if (!found)
        return NVML_ERROR_INVALID_ARGUMENT;
    return eventTypes == nvmlEventTypeNone ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

/* The values of all fields are unknown. */
nvmlReturn_t mr_nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t *values)
{
    (void)device;
    if (valuesCount <= 0 || !values)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < valuesCount; i++) {
        bool known = values[i].fieldId > 0 && values[i].fieldId < NVML_FI_MAX;
        values[i].nvmlReturn = known ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
    }
    return NVML_SUCCESS;
}
