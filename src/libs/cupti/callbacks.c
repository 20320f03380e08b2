/* SPDX-License-Identifier: Apache-2.0 */
/* The callback interface: who subscribes, and which callbacks are enabled.
 *
 * There is one subscriber. Whoever is about to call its function counts itself in first, so that cuptiUnsubscribe can
 * wait until nobody is inside any more. */
#include "libs/cupti/cupti.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "observe/calls.h"

#include "cupti_names.inc"

#define DRIVER_SIZE (sizeof driver_names / sizeof *driver_names)
#define RUNTIME_SIZE (sizeof runtime_names / sizeof *runtime_names)
#define NVTX_SIZE (sizeof nvtx_names / sizeof *nvtx_names)
#define MOST (DRIVER_SIZE > RUNTIME_SIZE ? DRIVER_SIZE : RUNTIME_SIZE)

struct CUpti_Subscriber_st {
    CUpti_CallbackFunc function;
    void *data;
};

static const uint32_t sizes[CUPTI_CB_DOMAIN_SIZE] = {[CUPTI_CB_DOMAIN_DRIVER_API] = DRIVER_SIZE,
                                                     [CUPTI_CB_DOMAIN_RUNTIME_API] = RUNTIME_SIZE,
                                                     [CUPTI_CB_DOMAIN_RESOURCE] = CUPTI_CBID_RESOURCE_SIZE,
                                                     [CUPTI_CB_DOMAIN_SYNCHRONIZE] = CUPTI_CBID_SYNCHRONIZE_SIZE,
                                                     [CUPTI_CB_DOMAIN_NVTX] = NVTX_SIZE,
                                                     [CUPTI_CB_DOMAIN_STATE] = CUPTI_CBID_STATE_SIZE};

/* Guards `subscribed`, `name`, and changes of the next two. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool subscribed;
static char name[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
static struct CUpti_Subscriber_st subscriber;
static _Atomic uint8_t enabled[CUPTI_CB_DOMAIN_SIZE][MOST];
static _Atomic uint32_t count[CUPTI_CB_DOMAIN_SIZE]; /* how many are enabled */

static _Atomic(struct CUpti_Subscriber_st *) live; /* NULL: its function must not be called */
static _Atomic uint32_t inside;
static _Thread_local uint32_t own_inside;

bool mr_cupti_calls_back(CUpti_CallbackDomain domain, uint32_t cbid)
{
    return cbid < sizes[domain] && atomic_load_explicit(&enabled[domain][cbid], memory_order_relaxed);
}

bool mr_cupti_any_callback(CUpti_CallbackDomain domain)
{
    return atomic_load_explicit(&count[domain], memory_order_relaxed) != 0;
}

void mr_cupti_call_back(CUpti_CallbackDomain domain, uint32_t cbid, const void *data)
{
    atomic_fetch_add(&inside, 1);
    own_inside++;
    const struct CUpti_Subscriber_st *to = atomic_load(&live);
    if (to && to->function)
        to->function(to->data, domain, cbid, data);
    own_inside--;
    atomic_fetch_sub(&inside, 1);
}

uint32_t mr_cupti_driver_number(const struct mr_observed_call *call)
{
    return call->call < MR_CALL_COUNT ? driver_numbers[call->call][call->per_thread] : 0;
}

/* ---- enabling; with `lock` ---- */

static void set(CUpti_CallbackDomain domain, uint32_t cbid, bool on)
{
    if (atomic_exchange(&enabled[domain][cbid], on) == on)
        return;
    if (on)
        atomic_fetch_add(&count[domain], 1);
    else
        atomic_fetch_sub(&count[domain], 1);
}

/* There are gaps. Number 0 names no callback, but may be enabled, as on hardware. */
static bool exists(CUpti_CallbackDomain domain, uint32_t cbid)
{
    if (cbid >= sizes[domain])
        return false;
    if (cbid == 0)
        return true;
    switch ((int)domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
        return driver_names[cbid] != NULL;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
        return runtime_names[cbid] != NULL;
    case CUPTI_CB_DOMAIN_NVTX:
        return nvtx_names[cbid] != NULL;
    default:
        return true;
    }
}

static void set_domain(CUpti_CallbackDomain domain, bool on)
{
    for (uint32_t cbid = 1; cbid < sizes[domain]; cbid++)
        if (exists(domain, cbid))
            set(domain, cbid, on);
}

static bool is_domain(CUpti_CallbackDomain domain)
{
    return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}

static bool is_subscriber(CUpti_SubscriberHandle handle)
{
    return handle == &subscriber && subscribed;
}

CUptiResult mr_cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                   CUpti_CallbackId cbid)
{
    pthread_mutex_lock(&lock);
    bool good = is_subscriber(handle) && is_domain(domain) && exists(domain, cbid);
    if (good)
        set(domain, cbid, enable != 0);
    pthread_mutex_unlock(&lock);
    return good ? mr_cupti_update() : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult mr_cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
    pthread_mutex_lock(&lock);
    bool good = is_subscriber(handle) && is_domain(domain);
    if (good)
        set_domain(domain, enable != 0);
    pthread_mutex_unlock(&lock);
    return good ? mr_cupti_update() : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult mr_cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
    pthread_mutex_lock(&lock);
    bool good = is_subscriber(handle);
    for (unsigned domain = 1; good && domain < CUPTI_CB_DOMAIN_SIZE; domain++)
        set_domain((CUpti_CallbackDomain)domain, enable != 0);
    pthread_mutex_unlock(&lock);
    return good ? mr_cupti_update() : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult mr_cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                     CUpti_CallbackId cbid)
{
    pthread_mutex_lock(&lock);
    bool good = enable && is_subscriber(handle) && is_domain(domain) && exists(domain, cbid);
    if (good)
        *enable = atomic_load(&enabled[domain][cbid]);
    pthread_mutex_unlock(&lock);
    return good ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- subscribing ---- */

CUptiResult mr_cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
                                 CUpti_SubscriberParams *pParams)
{
    CUptiResult status = CUPTI_SUCCESS;
    if (!handle || (pParams && pParams->structSize < CUpti_SubscriberParams_STRUCT_SIZE))
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!mr_cupti_open())
        return CUPTI_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    if (subscribed) {
        if (pParams && pParams->oldSubscriberName)
            snprintf(pParams->oldSubscriberName, pParams->oldSubscriberSize, "%s", name);
        status = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    } else {
        const char *given = pParams && pParams->subscriberName ? pParams->subscriberName : "";
        snprintf(name, sizeof name, "CUPTI%s%.*s", *given ? " for " : "", CUPTI_SUBSCRIBER_NAME_MAX_LEN, given);
        subscribed = true;
        subscriber = (struct CUpti_Subscriber_st){callback, userdata};
        atomic_store(&live, &subscriber);
        *handle = &subscriber;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

CUptiResult mr_cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata)
{
    return mr_cuptiSubscribe_v2(handle, callback, userdata, NULL);
}

/* The lock is held, and given up meanwhile: a running function of the program may enable something. The subscriber
 * stays `subscribed` until no function runs: a new one must not be called with the old one's data. */
static void end(void)
{
    for (unsigned domain = 1; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
        set_domain((CUpti_CallbackDomain)domain, false);
    atomic_store(&live, NULL);
    pthread_mutex_unlock(&lock);
    while (atomic_load(&inside) > own_inside)
        sched_yield();
    pthread_mutex_lock(&lock);
    subscribed = false;
}

void mr_cupti_callbacks_end(void)
{
    pthread_mutex_lock(&lock);
    if (subscribed)
        end();
    pthread_mutex_unlock(&lock);
}

CUptiResult mr_cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    pthread_mutex_lock(&lock);
    if (is_subscriber(handle))
        end();
    pthread_mutex_unlock(&lock);
    return handle == &subscriber ? mr_cupti_update() : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- what there is ---- */

CUptiResult mr_cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable)
{
    static CUpti_CallbackDomain table[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                           CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE};
    if (!domainCount || !domainTable)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *domainCount = sizeof table / sizeof *table;
    *domainTable = table;
    return CUPTI_SUCCESS;
}

/* NVIDIA's library gives no names for the other domains either. */
CUptiResult mr_cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **out)
{
    if (!out || (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API) ||
        !exists(domain, cbid))
        return CUPTI_ERROR_INVALID_PARAMETER;
    *out = cbid == 0 ? "INVALID" : domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver_names[cbid] : runtime_names[cbid];
    return CUPTI_SUCCESS;
}

const char *mr_cupti_driver_name(uint32_t cbid)
{
    return cbid && cbid < DRIVER_SIZE ? driver_names[cbid] : NULL;
}
