/* SPDX-License-Identifier: Apache-2.0 */
/* The library itself: the driver behind it, statuses, time, numbers of objects. */
#include "libs/cupti/cupti.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;

struct mr_cupti_functions mr_cupti_cu;
const struct mr_observed_driver *mr_cupti_driver;

static mr_attach_function *attach; /* under state, as the next */
static uint32_t points;
static _Atomic(CUpti_TimestampCallbackFunc) clock_of_program;
static _Atomic CUpti_ActivityThreadIdType thread_id_type;
static _Thread_local CUptiResult last;

static const struct mr_observer observer = {.version = MR_OBSERVER_VERSION,
                                            .enter = mr_cupti_enter,
                                            .leave = mr_cupti_leave,
                                            .bind = mr_cupti_bind,
                                            .begin = mr_cupti_begin,
                                            .end = mr_cupti_end,
                                            .opened = mr_cupti_opened,
                                            .runtime_enter = mr_cupti_runtime_enter,
                                            .runtime_leave = mr_cupti_runtime_leave};

/* ---- the driver ---- */

/* Under state. */
static bool find_functions(void)
{
    const char *missing = NULL;
#define MR_FUNCTION(name) \
    if (!(mr_cupti_cu.name = (__typeof__(name) *)mr_cupti_driver->function(#name))) \
        missing = #name;
#include "libs/cupti/functions.def"
#undef MR_FUNCTION
    if (missing)
        mr_log(MR_LOG_WARN, "CUPTI: the driver that was found has no %s", missing);
    return !missing;
}

/* Under state. The driver stays open: it may call this library at any time. */
static bool open_driver(void)
{
    static bool is_set_up;
    if (!is_set_up)
        mr_log_setup();
    is_set_up = true;
    if (attach)
        return true;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        mr_log(MR_LOG_WARN, "CUPTI: there is no driver: %s (run the program through 'millrace run')", dlerror());
        return false;
    }
    mr_attach_function *found = (mr_attach_function *)dlsym(library, MR_ATTACH_SYMBOL);
    const struct mr_observed_driver *driver = found ? found(&observer, 0) : NULL;
    if (!driver) {
        mr_log(MR_LOG_WARN, found
                                ? "CUPTI: the driver has an observer already (another libcupti), or is of another build"
                                : "CUPTI: the driver that was found is not Millrace's, or an older one");
        return false;
    }
    mr_cupti_driver = driver;
    if (!find_functions())
        return false;
    attach = found;
    return true;
}

bool mr_cupti_open(void)
{
    pthread_mutex_lock(&state);
    bool open = open_driver();
    pthread_mutex_unlock(&state);
    return open;
}

static uint32_t wished(void)
{
    bool calls = mr_cupti_wants_any();
    for (unsigned domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE && !calls; domain++)
        calls = domain != CUPTI_CB_DOMAIN_NVTX && mr_cupti_any_callback((CUpti_CallbackDomain)domain);
    return (calls ? MR_OBSERVE_CALLS | MR_ATTACH_RUNTIME : 0) | (mr_cupti_wants_works() ? MR_OBSERVE_WORK : 0);
}

CUptiResult mr_cupti_update(void)
{
    pthread_mutex_lock(&state);
    uint32_t now = wished();
    bool good = now == points || (open_driver() && attach(&observer, now) != NULL);
    if (good && now != points) {
        if (!(now & MR_OBSERVE_WORK))
            mr_cupti_works_end();
        points = now;
    }
    pthread_mutex_unlock(&state);
    return good ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

CUptiResult mr_cuptiFinalize(void)
{
    mr_cupti_callbacks_end();
    mr_cupti_activities_end();
    return mr_cupti_update();
}

/* ---- statuses ---- */

static const struct {
    CUptiResult status;
    const char *name, *text;
} statuses[] = {
#define MR_STATUS(name, text) {name, #name, text},
#include "libs/cupti/statuses.def"
#undef MR_STATUS
};

CUptiResult mr_cupti_note(CUptiResult status)
{
    if (status != CUPTI_SUCCESS)
        last = status;
    return status;
}

CUptiResult mr_cupti_refuse(const char *function)
{
    mr_log(MR_LOG_INFO,
           "%s: Millrace has CUPTI's callbacks and activities; this function needs hardware, or is not implemented",
           function);
    return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult mr_cuptiGetLastError(void)
{
    CUptiResult status = last;
    last = CUPTI_SUCCESS;
    return status;
}

/* NVIDIA's library has no names for two of the statuses. */
CUptiResult mr_cuptiGetResultString(CUptiResult result, const char **str)
{
    if (result == CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED || result == CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; str && i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == result) {
            *str = statuses[i].name;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult mr_cuptiGetErrorMessage(CUptiResult result, const char **str)
{
    if (!str)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *str = "there is no such status";
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == result)
            *str = statuses[i].text;
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *version = MR_CUPTI_MAJOR == 12 ? 28 : CUPTI_API_VERSION; /* 28 is 12.9's */
    return CUPTI_SUCCESS;
}

/* ---- time ---- */

/* The system's time at the first call, carried on by a clock that never goes back. */
static uint64_t own_clock(void)
{
    static _Atomic uint64_t ahead; /* of the monotonic clock */
    struct timespec time;
    uint64_t by = atomic_load_explicit(&ahead, memory_order_relaxed);
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    if (__builtin_expect(by == 0, 0)) {
        clock_gettime(CLOCK_REALTIME, &time);
        uint64_t found = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec - now;
        by = atomic_compare_exchange_strong(&ahead, &by, found) ? found : by;
    }
    return now + by;
}

uint64_t mr_cupti_now(void)
{
    CUpti_TimestampCallbackFunc program = atomic_load_explicit(&clock_of_program, memory_order_acquire);
    return program ? program() : own_clock();
}

CUptiResult mr_cuptiGetTimestamp(uint64_t *timestamp)
{
    if (!timestamp)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *timestamp = mr_cupti_now();
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
    if (!funcTimestamp)
        return CUPTI_ERROR_INVALID_PARAMETER;
    atomic_store_explicit(&clock_of_program, funcTimestamp, memory_order_release);
    return CUPTI_SUCCESS;
}

/* ---- threads ---- */

uint32_t mr_cupti_thread(void)
{
    static _Thread_local uint32_t system;
    if (atomic_load_explicit(&thread_id_type, memory_order_relaxed) != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
        return (uint32_t)(uintptr_t)pthread_self();
    if (!system)
        system = (uint32_t)syscall(SYS_gettid);
    return system;
}

CUptiResult mr_cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
    if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT && type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
        return CUPTI_ERROR_NOT_SUPPORTED;
    atomic_store(&thread_id_type, type);
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
    if (!type)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *type = atomic_load(&thread_id_type);
    return CUPTI_SUCCESS;
}

/* ---- numbers of objects ---- */

#define LISTS 1024u

struct kept {
    struct kept *next;
    const void *handle; /* of a number; NULL: a text */
    uint32_t number;
    char text[];
};

static _Atomic(struct kept *) lists[LISTS];

/* Things are only ever put to the heads of lists. Two threads may keep the same text; a handle has one number, because
 * `numbering` is held. */
static struct kept *keep(unsigned list, const void *handle, uint32_t number, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    struct kept *made = malloc(sizeof *made + size);
    if (!made)
        return NULL;
    made->handle = handle;
    made->number = number;
    if (text)
        memcpy(made->text, text, size);
    made->next = atomic_load_explicit(&lists[list], memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&lists[list], &made->next, made, memory_order_release,
                                                  memory_order_relaxed))
        ;
    return made;
}

const char *mr_cupti_keep(const char *text)
{
    uint64_t sum = 0xcbf29ce484222325u;
    if (!text)
        return NULL;
    for (const char *at = text; *at; at++)
        sum = (sum ^ (unsigned char)*at) * 0x100000001b3u;
    unsigned list = (unsigned)((sum ^ sum >> 32) % LISTS);
    for (struct kept *at = atomic_load_explicit(&lists[list], memory_order_acquire); at; at = at->next)
        if (!at->handle && strcmp(at->text, text) == 0)
            return at->text;
    const struct kept *made = keep(list, NULL, 0, text);
    return made ? made->text : NULL;
}

uint32_t mr_cupti_number(const void *handle)
{
    static pthread_mutex_t numbering = PTHREAD_MUTEX_INITIALIZER;
    static uint32_t numbers;
    uint64_t mixed = (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u;
    unsigned list = (unsigned)((mixed >> 40) % LISTS);
    uint32_t number = 0;
    if (!handle)
        return 0;
    pthread_mutex_lock(&numbering);
    for (struct kept *at = atomic_load_explicit(&lists[list], memory_order_acquire); at && !number; at = at->next)
        if (at->handle == handle)
            number = at->number;
    if (!number && keep(list, handle, numbers + 1, NULL))
        number = ++numbers;
    pthread_mutex_unlock(&numbering);
    return number;
}

uint32_t mr_cupti_context_number(CUcontext context, uint32_t *device)
{
    static _Thread_local struct {
        CUcontext context;
        uint32_t number, device, gone;
    } seen;
    uint32_t gone = atomic_load_explicit(&mr_cupti_contexts_gone, memory_order_acquire);
    unsigned long long number = 0;
    if (!context)
        return 0;
    if (seen.context != context || seen.gone != gone) {
        CUcontext popped, current = NULL;
        CUdevice ordinal = 0;
        mr_cupti_driver->pause(true);
        bool good = mr_cupti_cu.cuCtxGetId(context, &number) == CUDA_SUCCESS;
        bool there = good && mr_cupti_cu.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context;
        bool pushed = good && !there && mr_cupti_cu.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
        if (there || pushed)
            (void)mr_cupti_cu.cuCtxGetDevice(&ordinal);
        if (pushed)
            (void)mr_cupti_cu.cuCtxPopCurrent_v2(&popped);
        mr_cupti_driver->pause(false);
        if (!there && !pushed)
            return 0;
        seen.context = context;
        seen.gone = gone;
        seen.number = (uint32_t)number;
        seen.device = (uint32_t)ordinal;
    }
    if (device)
        *device = seen.device;
    return seen.number;
}

uint32_t mr_cupti_stream_number(CUstream stream)
{
    uint64_t number;
    return mr_cupti_driver->stream(stream, &number) ? (uint32_t)number : CUPTI_INVALID_STREAM_ID;
}

/* The number of a stream of a context; NULL for the current one. */
static CUptiResult stream_of(CUcontext context, CUstream stream, uint32_t *out)
{
    CUcontext current = NULL, popped;
    mr_cupti_driver->pause(true);
    bool there = mr_cupti_cu.cuCtxGetCurrent(&current) == CUDA_SUCCESS && (!context || current == context);
    bool pushed = !there && mr_cupti_cu.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
    uint32_t number = there || pushed ? mr_cupti_stream_number(stream) : CUPTI_INVALID_STREAM_ID;
    if (pushed)
        (void)mr_cupti_cu.cuCtxPopCurrent_v2(&popped);
    mr_cupti_driver->pause(false);
    if (!there && !pushed)
        return CUPTI_ERROR_INVALID_CONTEXT;
    if (number == CUPTI_INVALID_STREAM_ID)
        return CUPTI_ERROR_INVALID_STREAM;
    *out = number;
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream, uint32_t *streamId)
{
    if (!streamId)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!mr_cupti_open())
        return CUPTI_ERROR_NOT_INITIALIZED;
    return stream_of(context, !stream && perThreadStream ? CU_STREAM_PER_THREAD : stream, streamId);
}

CUptiResult mr_cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *streamId)
{
    return mr_cuptiGetStreamIdEx(context, stream, 0, streamId);
}

static CUptiResult look_at_context(CUcontext context, uint32_t *number, uint32_t *device)
{
    if (!mr_cupti_open())
        return CUPTI_ERROR_NOT_INITIALIZED;
    if (!context) {
        mr_cupti_driver->pause(true);
        (void)mr_cupti_cu.cuCtxGetCurrent(&context);
        mr_cupti_driver->pause(false);
    }
    *number = mr_cupti_context_number(context, device);
    return *number ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult mr_cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
    uint32_t number;
    if (!contextId)
        return CUPTI_ERROR_INVALID_PARAMETER;
    CUptiResult status = look_at_context(context, &number, NULL);
    if (status == CUPTI_SUCCESS)
        *contextId = number;
    return status;
}

CUptiResult mr_cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
    uint32_t number, device = 0;
    if (!deviceId)
        return CUPTI_ERROR_INVALID_PARAMETER;
    CUptiResult status = look_at_context(context, &number, &device);
    if (status == CUPTI_SUCCESS)
        *deviceId = device;
    return status;
}

static CUptiResult number_of(const void *handle, uint32_t *out)
{
    if (!out || !handle)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *out = mr_cupti_number(handle);
    return *out ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

CUptiResult mr_cuptiGetGraphId(CUgraph graph, uint32_t *pId)
{
    return number_of(graph, pId);
}

CUptiResult mr_cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId)
{
    return number_of(graphExec, pId);
}

/* As in the records of a graph's works: the node of the graph that was instantiated. */
CUptiResult mr_cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
    if (!nodeId || !node)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *nodeId = (uint64_t)(uintptr_t)node;
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiComputeCapabilitySupported(int major, int minor, int *support)
{
    if (!support)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *support = 10 * major + minor >= (MR_CUPTI_MAJOR == 12 ? 50 : 75) && 10 * major + minor <= 121;
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiDeviceSupported(CUdevice dev, int *support)
{
    int count = 0;
    if (!support)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!mr_cupti_open())
        return CUPTI_ERROR_NOT_INITIALIZED;
    mr_cupti_driver->pause(true);
    CUresult status = mr_cupti_cu.cuDeviceGetCount(&count);
    mr_cupti_driver->pause(false);
    if (status != CUDA_SUCCESS)
        return CUPTI_ERROR_NOT_INITIALIZED;
    if (dev < 0 || dev >= count)
        return CUPTI_ERROR_INVALID_DEVICE;
    *support = 1;
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiDeviceVirtualizationMode(CUdevice dev, CUpti_DeviceVirtualizationMode *mode)
{
    int support;
    if (!mode)
        return CUPTI_ERROR_INVALID_PARAMETER;
    CUptiResult status = mr_cuptiDeviceSupported(dev, &support);
    if (status == CUPTI_SUCCESS)
        *mode = CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE;
    return status;
}
