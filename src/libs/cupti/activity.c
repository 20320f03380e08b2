/* SPDX-License-Identifier: Apache-2.0 */
/* The activity interface: which kinds of records are wished, and its settings. */
#include "libs/cupti/cupti.h"

#include <string.h>

#include "base/log.h"

#define BIT(kind) (UINT64_C(1) << (unsigned)(kind))
#define CALLS 1024u
#define CONTEXTS 64u

static const uint64_t of_works = BIT(CUPTI_ACTIVITY_KIND_MEMCPY) | BIT(CUPTI_ACTIVITY_KIND_MEMSET) |
                                 BIT(CUPTI_ACTIVITY_KIND_KERNEL) | BIT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) |
                                 BIT(CUPTI_ACTIVITY_KIND_MEMCPY2) | BIT(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
/* Kinds for which the driver tells nothing. */
static const uint64_t of_nothing = BIT(CUPTI_ACTIVITY_KIND_OVERHEAD) | BIT(CUPTI_ACTIVITY_KIND_NAME) |
                                   BIT(CUPTI_ACTIVITY_KIND_MARKER) | BIT(CUPTI_ACTIVITY_KIND_MARKER_DATA);

static _Atomic uint64_t everywhere, somewhere; /* kinds; `somewhere`: of some contexts */
/* Kinds of single contexts, by their numbers; changed under `lock`, never taken away. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    _Atomic uint32_t context;
    _Atomic uint64_t kinds;
} single[CONTEXTS];
static _Atomic bool latency;
/* Numbers of the calls that the program has left out. */
static _Atomic uint8_t left_out[2][CALLS];

bool mr_cupti_wants(CUpti_ActivityKind kind)
{
    return ((atomic_load_explicit(&everywhere, memory_order_relaxed) |
             atomic_load_explicit(&somewhere, memory_order_relaxed)) &
            BIT(kind)) != 0;
}

bool mr_cupti_wants_of(CUpti_ActivityKind kind, uint32_t context)
{
    if (atomic_load_explicit(&everywhere, memory_order_relaxed) & BIT(kind))
        return true;
    if (!(atomic_load_explicit(&somewhere, memory_order_relaxed) & BIT(kind)))
        return false;
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (atomic_load_explicit(&single[i].context, memory_order_acquire) == context)
            return (atomic_load_explicit(&single[i].kinds, memory_order_relaxed) & BIT(kind)) != 0;
    return false;
}

bool mr_cupti_wants_call(bool runtime, uint32_t cbid)
{
    return mr_cupti_wants(runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER) && cbid < CALLS &&
           !atomic_load_explicit(&left_out[runtime][cbid], memory_order_relaxed);
}

bool mr_cupti_wants_any(void)
{
    return ((atomic_load(&everywhere) | atomic_load(&somewhere)) & ~of_nothing) != 0;
}

bool mr_cupti_wants_works(void)
{
    return ((atomic_load(&everywhere) | atomic_load(&somewhere)) & of_works) != 0;
}

bool mr_cupti_latency(void)
{
    return atomic_load_explicit(&latency, memory_order_relaxed);
}

/* ---- enabling ---- */

/* CUPTI_SUCCESS for kinds of which this library makes records. For others: what NVIDIA's library answers, or
 * NOT_SUPPORTED where it makes such records. */
static CUptiResult look_at(CUpti_ActivityKind kind)
{
    if (mr_cupti_record_bytes(kind))
        return CUPTI_SUCCESS;
    if ((int)kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
        return CUPTI_ERROR_NOT_COMPATIBLE;
    mr_log(MR_LOG_INFO, "cuptiActivityEnable: Millrace makes no records of kind %d (docs/profilers.md)", (int)kind);
    switch ((int)kind) {
    case CUPTI_ACTIVITY_KIND_MODULE:
    case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE:
        return CUPTI_ERROR_INVALID_KIND;
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
        return CUPTI_ERROR_NOT_READY;
    case CUPTI_ACTIVITY_KIND_CDP_KERNEL:
    case CUPTI_ACTIVITY_KIND_PREEMPTION:
    case CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE:
        return CUPTI_ERROR_NOT_COMPATIBLE;
    case CUPTI_ACTIVITY_KIND_EVENT:
    case CUPTI_ACTIVITY_KIND_METRIC:
    case CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR:
    case CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS:
    case CUPTI_ACTIVITY_KIND_BRANCH:
    case CUPTI_ACTIVITY_KIND_EVENT_INSTANCE:
    case CUPTI_ACTIVITY_KIND_METRIC_INSTANCE:
    case CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION:
    case CUPTI_ACTIVITY_KIND_SHARED_ACCESS:
    case CUPTI_ACTIVITY_KIND_PC_SAMPLING:
    case CUPTI_ACTIVITY_KIND_PC_SAMPLING_RECORD_INFO:
    case CUPTI_ACTIVITY_KIND_INSTRUCTION_CORRELATION:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT_INSTANCE:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC_INSTANCE:
        return CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
    default:
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
}

/* Kinds that exclude each other: the two of kernels, and a graph's runs beside kernels that run one by one. */
static bool is_hindered(CUpti_ActivityKind kind)
{
    uint64_t others = 0;
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL)
        others = BIT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) | BIT(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    else if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
        others = BIT(CUPTI_ACTIVITY_KIND_KERNEL);
    return (atomic_load(&everywhere) & others) != 0;
}

CUptiResult mr_cuptiActivityEnable(CUpti_ActivityKind kind)
{
    CUptiResult status = look_at(kind);
    if (status != CUPTI_SUCCESS)
        return status;
    if (is_hindered(kind))
        return CUPTI_ERROR_NOT_COMPATIBLE;
    if (!mr_cupti_open())
        return CUPTI_ERROR_NOT_INITIALIZED;
    atomic_fetch_or(&everywhere, BIT(kind));
    return mr_cupti_update();
}

/* Also puts records of what is there already. */
CUptiResult mr_cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
    CUptiResult status = mr_cuptiActivityEnable(kind);
    if (status == CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_DEVICE)
        mr_cupti_tell_devices();
    if (status == CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONTEXT)
        mr_cupti_tell_contexts();
    return status;
}

CUptiResult mr_cuptiActivityDisable(CUpti_ActivityKind kind)
{
    CUptiResult status = look_at(kind);
    if (status == CUPTI_ERROR_NOT_READY || status == CUPTI_ERROR_INVALID_KIND)
        return status;
    if (status != CUPTI_SUCCESS)
        return CUPTI_SUCCESS; /* it is disabled */
    atomic_fetch_and(&everywhere, ~BIT(kind));
    return mr_cupti_update();
}

/* Where the context's kinds are; NULL if there are too many contexts. With the lock. */
static _Atomic uint64_t *kinds_of(uint32_t context)
{
    for (unsigned i = 0; i < CONTEXTS; i++) {
        uint32_t there = atomic_load_explicit(&single[i].context, memory_order_relaxed);
        if (there == 0)
            atomic_store_explicit(&single[i].context, context, memory_order_release);
        if (there == 0 || there == context)
            return &single[i].kinds;
    }
    return NULL;
}

static CUptiResult enable_of(CUcontext context, CUpti_ActivityKind kind, bool on)
{
    uint32_t number;
    CUptiResult status = look_at(kind);
    if (status != CUPTI_SUCCESS)
        return status;
    if (!context)
        return CUPTI_ERROR_INVALID_CONTEXT;
    if ((status = mr_cuptiGetContextId(context, &number)) != CUPTI_SUCCESS)
        return status;
    pthread_mutex_lock(&lock);
    _Atomic uint64_t *kinds = kinds_of(number);
    if (kinds && on)
        atomic_fetch_or(kinds, BIT(kind));
    else if (kinds)
        atomic_fetch_and(kinds, ~BIT(kind));
    uint64_t all = 0;
    for (unsigned i = 0; i < CONTEXTS; i++)
        all |= atomic_load(&single[i].kinds);
    atomic_store(&somewhere, all);
    pthread_mutex_unlock(&lock);
    return kinds ? mr_cupti_update() : CUPTI_ERROR_OUT_OF_MEMORY;
}

CUptiResult mr_cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
    return enable_of(context, kind, true);
}

CUptiResult mr_cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
    return enable_of(context, kind, false);
}

void mr_cupti_activities_end(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < CONTEXTS; i++)
        atomic_store(&single[i].kinds, 0);
    atomic_store(&somewhere, 0);
    atomic_store(&everywhere, 0);
    pthread_mutex_unlock(&lock);
    mr_cupti_flush();
}

static CUptiResult enable_call(bool runtime, CUpti_CallbackId cbid, bool on)
{
    const char *name;
    CUpti_CallbackDomain domain = runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    if (mr_cuptiGetCallbackName(domain, cbid, &name) != CUPTI_SUCCESS || cbid >= CALLS)
        return CUPTI_ERROR_INVALID_PARAMETER;
    atomic_store(&left_out[runtime][cbid], !on);
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
    return enable_call(false, cbid, enable != 0);
}

CUptiResult mr_cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
    return enable_call(true, cbid, enable != 0);
}

CUptiResult mr_cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
    atomic_store(&latency, enable != 0);
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
                                                          uint32_t count)
{
    if (!config || !count)
        return CUPTI_ERROR_INVALID_PARAMETER;
    mr_log(MR_LOG_INFO, "cuptiActivityConfigureUnifiedMemoryCounter: managed memory doesn't move here");
    return CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED;
}

/* ---- settings of the device's own buffers: there are no such buffers, so values are kept and given back ---- */

static struct {
    size_t bytes; /* of a value */
    _Atomic size_t value;
} attributes[] = {
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = {sizeof(size_t), 3200000},
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = {sizeof(size_t), 8 << 20},
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = {sizeof(size_t), 250},
    [CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER] = {sizeof(uint8_t), 0},
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = {sizeof(size_t), 3},
    [CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED] = {sizeof(uint8_t), 0},
    [CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER] = {sizeof(uint8_t), 1},
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = {sizeof(size_t), 16 << 20},
};

static CUptiResult look_at_attribute(CUpti_ActivityAttribute attr, const size_t *size, const void *value)
{
    if (!size || !value || (size_t)attr >= sizeof attributes / sizeof *attributes)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!attributes[attr].bytes)
        return CUPTI_ERROR_NOT_SUPPORTED;
    return *size < attributes[attr].bytes ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT : CUPTI_SUCCESS;
}

CUptiResult mr_cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
    CUptiResult status = look_at_attribute(attr, valueSize, value);
    if (status != CUPTI_SUCCESS)
        return status;
    size_t found = atomic_load(&attributes[attr].value);
    memcpy(value, &found, attributes[attr].bytes); /* the lowest bytes come first */
    *valueSize = attributes[attr].bytes;
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
    CUptiResult status = look_at_attribute(attr, valueSize, value);
    size_t given = 0;
    if (status != CUPTI_SUCCESS)
        return status;
    memcpy(&given, value, attributes[attr].bytes);
    atomic_store(&attributes[attr].value, given);
    return CUPTI_SUCCESS;
}
