/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: what the program says that it is doing, as records (MARKER, MARKER_DATA, NAME).
 *
 * A program with NVTX in it, by its headers or by libnvToolsExt, looks for the library that NVTX_INJECTION64_PATH
 * names, and calls its function InitializeInjectionNvtx2. Where that is this library, the function puts the functions
 * of this file into the program's table. A program may have several such tables. Domains and registered strings stay as
 * long as the process. */
#include "libs/cupti/cupti.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

enum { TEXT = 4096 /* bytes of a message at most */, NO_RANGE = -1 };

struct nvtxDomainRegistration_st {
    const char *name; /* kept */
};

struct nvtxStringRegistration_st {
    const char *text; /* kept */
};

static _Atomic uint32_t last_id; /* of markers */

/* The ranges that the thread has pushed: their markers and domains. One more than there is room for is counted, and has
 * no records. */
enum { DEPTH = 128 };
static _Thread_local struct {
    unsigned depth;
    struct {
        uint32_t id;
        nvtxDomainHandle_t domain;
    } range[DEPTH];
} pushed;

static uint32_t new_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

/* ---- texts ---- */

/* Kept; NULL for NULL. A wide text in UTF-8 where the program's locale has that, else as far as it can be told. */
static const char *of_wide(const wchar_t *wide)
{
    char room[TEXT];
    size_t length = 0;
    for (; wide && *wide && length + 5 < sizeof room; wide++) {
        uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            room[length++] = (char)c;
            continue;
        }
        size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        for (size_t i = more; i > 0; i--, c >>= 6)
            room[length + i] = (char)(0x80 | (c & 0x3f));
        room[length] = (char)((0xff00 >> (more + 1) & 0xff) | c);
        length += more + 1;
    }
    room[length] = '\0';
    return wide ? mr_cupti_keep(room) : NULL;
}

static const char *of_message(int32_t type, nvtxMessageValue_t message)
{
    if (type == NVTX_MESSAGE_TYPE_ASCII)
        return mr_cupti_keep(message.ascii);
    if (type == NVTX_MESSAGE_TYPE_UNICODE)
        return of_wide(message.unicode);
    if (type == NVTX_MESSAGE_TYPE_REGISTERED && message.registered)
        return message.registered->text;
    return NULL;
}

/* ---- records ---- */

static void put_marker(CUpti_ActivityFlag flag, uint32_t id, nvtxDomainHandle_t domain, const char *name)
{
    if (!mr_cupti_wants(CUPTI_ACTIVITY_KIND_MARKER))
        return;
    CUpti_ActivityMarker2 record = {.kind = CUPTI_ACTIVITY_KIND_MARKER,
                                    .flags = flag,
                                    .timestamp = mr_cupti_now(),
                                    .id = id,
                                    .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
                                    .name = name,
                                    .domain = domain ? domain->name : NULL};
    record.objectId.pt.processId = (uint32_t)getpid();
    record.objectId.pt.threadId = mr_cupti_thread();
    mr_cupti_put(&record, sizeof record);
}

/* What a marker carries, if anything. */
static void put_data(uint32_t id, const nvtxEventAttributes_t *with)
{
    if (!with || !mr_cupti_wants(CUPTI_ACTIVITY_KIND_MARKER_DATA))
        return;
    CUpti_ActivityMarkerData2 record = {.kind = CUPTI_ACTIVITY_KIND_MARKER_DATA,
                                        .flags = with->colorType == NVTX_COLOR_ARGB
                                                     ? CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB
                                                     : CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE,
                                        .id = id,
                                        .color = with->colorType == NVTX_COLOR_ARGB ? with->color : 0,
                                        .category = with->category};
    switch (with->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        record.payloadKind = CUPTI_METRIC_VALUE_KIND_UINT64;
        record.payload.metricValueUint64 = with->payload.ullValue;
        break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        record.payloadKind = CUPTI_METRIC_VALUE_KIND_UINT64;
        record.payload.metricValueUint64 = with->payload.uiValue;
        break;
    case NVTX_PAYLOAD_TYPE_INT64:
        record.payloadKind = CUPTI_METRIC_VALUE_KIND_INT64;
        record.payload.metricValueInt64 = with->payload.llValue;
        break;
    case NVTX_PAYLOAD_TYPE_INT32:
        record.payloadKind = CUPTI_METRIC_VALUE_KIND_INT64;
        record.payload.metricValueInt64 = with->payload.iValue;
        break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
        record.payloadKind = CUPTI_METRIC_VALUE_KIND_DOUBLE;
        record.payload.metricValueDouble = with->payload.dValue;
        break;
    case NVTX_PAYLOAD_TYPE_FLOAT:
        record.payloadKind = CUPTI_METRIC_VALUE_KIND_DOUBLE;
        record.payload.metricValueDouble = (double)with->payload.fValue;
        break;
    default:
        break;
    }
    mr_cupti_put(&record, mr_cupti_record_bytes(CUPTI_ACTIVITY_KIND_MARKER_DATA));
}

/* ---- ranges ---- */

static uint32_t open_marker(CUpti_ActivityFlag flag, nvtxDomainHandle_t domain, const char *name,
                            const nvtxEventAttributes_t *with)
{
    uint32_t id = new_id();
    put_marker(flag, id, domain, name);
    put_data(id, with);
    return id;
}

/* Answers how deep the range lies in its domain, from 0. */
static int push(nvtxDomainHandle_t domain, const char *name, const nvtxEventAttributes_t *with)
{
    int level = 0;
    for (unsigned i = 0; i < pushed.depth && i < DEPTH; i++)
        level += pushed.range[i].domain == domain;
    if (pushed.depth++ >= DEPTH)
        return NO_RANGE;
    pushed.range[pushed.depth - 1].domain = domain;
    pushed.range[pushed.depth - 1].id = open_marker(CUPTI_ACTIVITY_FLAG_MARKER_START, domain, name, with);
    return level;
}

/* The last one of the domain: domains nest by themselves. */
static int pop(nvtxDomainHandle_t domain)
{
    int level = NO_RANGE;
    if (pushed.depth > DEPTH) {
        pushed.depth--;
        return NO_RANGE;
    }
    for (unsigned i = 0; i < pushed.depth; i++)
        level += pushed.range[i].domain == domain;
    for (unsigned i = pushed.depth; i-- > 0;) {
        if (pushed.range[i].domain != domain)
            continue;
        put_marker(CUPTI_ACTIVITY_FLAG_MARKER_END, pushed.range[i].id, domain, NULL);
        memmove(&pushed.range[i], &pushed.range[i + 1], (pushed.depth - i - 1) * sizeof pushed.range[0]);
        pushed.depth--;
        break;
    }
    return level;
}

static void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *with)
{
    if (with)
        open_marker(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, domain, of_message(with->messageType, with->message),
                    with);
}

static nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *with)
{
    return with ? open_marker(CUPTI_ACTIVITY_FLAG_MARKER_START, domain, of_message(with->messageType, with->message),
                              with)
                : 0;
}

static void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    if (id)
        put_marker(CUPTI_ACTIVITY_FLAG_MARKER_END, (uint32_t)id, domain, NULL);
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *with)
{
    return with ? push(domain, of_message(with->messageType, with->message), with) : NO_RANGE;
}

static int domain_pop(nvtxDomainHandle_t domain)
{
    return pop(domain);
}

static void mark_ex(const nvtxEventAttributes_t *with)
{
    domain_mark(NULL, with);
}

static void mark(const char *message)
{
    open_marker(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, NULL, mr_cupti_keep(message), NULL);
}

static void mark_wide(const wchar_t *message)
{
    open_marker(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, NULL, of_wide(message), NULL);
}

static nvtxRangeId_t start_ex(const nvtxEventAttributes_t *with)
{
    return domain_start(NULL, with);
}

static nvtxRangeId_t start(const char *message)
{
    return open_marker(CUPTI_ACTIVITY_FLAG_MARKER_START, NULL, mr_cupti_keep(message), NULL);
}

static nvtxRangeId_t start_wide(const wchar_t *message)
{
    return open_marker(CUPTI_ACTIVITY_FLAG_MARKER_START, NULL, of_wide(message), NULL);
}

static void end(nvtxRangeId_t id)
{
    domain_end(NULL, id);
}

static int push_ex(const nvtxEventAttributes_t *with)
{
    return domain_push(NULL, with);
}

static int push_bytes(const char *message)
{
    return push(NULL, mr_cupti_keep(message), NULL);
}

static int push_wide(const wchar_t *message)
{
    return push(NULL, of_wide(message), NULL);
}

static int pop_default(void)
{
    return pop(NULL);
}

/* ---- domains, strings, names ---- */

/* Domains of one name are one domain. */
static nvtxDomainHandle_t create(const char *kept)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct domain {
        struct domain *next;
        struct nvtxDomainRegistration_st domain;
    } *domains;
    if (!kept)
        return NULL;
    pthread_mutex_lock(&lock);
    struct domain *found = domains;
    while (found && strcmp(found->domain.name, kept) != 0)
        found = found->next;
    if (!found && (found = malloc(sizeof *found))) {
        found->domain.name = kept;
        found->next = domains;
        domains = found;
    }
    pthread_mutex_unlock(&lock);
    return found ? &found->domain : NULL;
}

static nvtxDomainHandle_t create_bytes(const char *name)
{
    return create(mr_cupti_keep(name));
}

static nvtxDomainHandle_t create_wide(const wchar_t *name)
{
    return create(of_wide(name));
}

static nvtxStringHandle_t keep(const char *kept)
{
    struct nvtxStringRegistration_st *string = kept ? malloc(sizeof *string) : NULL;
    if (string)
        string->text = kept;
    return string;
}

static nvtxStringHandle_t register_bytes(nvtxDomainHandle_t domain, const char *text)
{
    (void)domain;
    return keep(mr_cupti_keep(text));
}

static nvtxStringHandle_t register_wide(nvtxDomainHandle_t domain, const wchar_t *text)
{
    (void)domain;
    return keep(of_wide(text));
}

static void put_name(CUpti_ActivityObjectKind kind, CUpti_ActivityObjectKindId id, const char *name)
{
    if (!mr_cupti_wants(CUPTI_ACTIVITY_KIND_NAME))
        return;
    const CUpti_ActivityName record = {
        .kind = CUPTI_ACTIVITY_KIND_NAME, .objectKind = kind, .objectId = id, .name = name};
    mr_cupti_put(&record, sizeof record);
}

static void thread_named(uint32_t thread, const char *name)
{
    CUpti_ActivityObjectKindId id = {.pt = {(uint32_t)getpid(), thread}};
    put_name(CUPTI_ACTIVITY_OBJECT_THREAD, id, name);
}

static void device_named(int device, const char *name)
{
    CUpti_ActivityObjectKindId id = {.dcs = {(uint32_t)device, CUPTI_INVALID_CONTEXT_ID, CUPTI_INVALID_STREAM_ID}};
    put_name(CUPTI_ACTIVITY_OBJECT_DEVICE, id, name);
}

static void context_named(CUcontext context, const char *name)
{
    CUpti_ActivityObjectKindId id = {.dcs = {0, 0, CUPTI_INVALID_STREAM_ID}};
    if (mr_cuptiGetContextId(context, &id.dcs.contextId) == CUPTI_SUCCESS &&
        mr_cuptiGetDeviceId(context, &id.dcs.deviceId) == CUPTI_SUCCESS)
        put_name(CUPTI_ACTIVITY_OBJECT_CONTEXT, id, name);
}

static void stream_named(CUstream stream, const char *name)
{
    CUpti_ActivityObjectKindId id;
    if (mr_cuptiGetContextId(NULL, &id.dcs.contextId) == CUPTI_SUCCESS &&
        mr_cuptiGetDeviceId(NULL, &id.dcs.deviceId) == CUPTI_SUCCESS &&
        mr_cuptiGetStreamIdEx(NULL, stream, 0, &id.dcs.streamId) == CUPTI_SUCCESS)
        put_name(CUPTI_ACTIVITY_OBJECT_STREAM, id, name);
}

#define NAMES(thing, type) \
    static void name_##thing(type handle, const char *name) \
    { \
        thing##_named(handle, mr_cupti_keep(name)); \
    } \
    static void name_##thing##_wide(type handle, const wchar_t *name) \
    { \
        thing##_named(handle, of_wide(name)); \
    }
NAMES(thread, uint32_t)
NAMES(device, int)
NAMES(context, CUcontext)
NAMES(stream, CUstream)

/* ---- the program's table ---- */

#define CALL(function) ((millrace_nvtx_function)(function))

static const millrace_nvtx_function functions[MILLRACE_NVTX_MODULES][MILLRACE_NVTX_MOST] = {
    [MILLRACE_NVTX_CORE] = {NULL, CALL(mark_ex), CALL(mark), CALL(mark_wide), CALL(start_ex), CALL(start),
                            CALL(start_wide), CALL(end), CALL(push_ex), CALL(push_bytes), CALL(push_wide),
                            CALL(pop_default), NULL, NULL, CALL(name_thread), CALL(name_thread_wide)},
    [MILLRACE_NVTX_CORE2] = {NULL, CALL(domain_mark), CALL(domain_start), CALL(domain_end), CALL(domain_push),
                             CALL(domain_pop), NULL, NULL, NULL, NULL, CALL(register_bytes), CALL(register_wide),
                             CALL(create_bytes), CALL(create_wide)},
    [MILLRACE_NVTX_CUDA] = {NULL, CALL(name_device), CALL(name_device_wide), CALL(name_context),
                            CALL(name_context_wide), CALL(name_stream), CALL(name_stream_wide)},
    [MILLRACE_NVTX_CUDART] = {NULL, CALL(name_device), CALL(name_device_wide), CALL(name_stream),
                              CALL(name_stream_wide)},
};

/* 0: the program has no table. Any thread; it may come before cuInit. */
int mr_InitializeInjectionNvtx2(mr_nvtx_exports exports)
{
    const struct millrace_nvtx_calls *calls = exports ? exports(1) : NULL;
    if (!calls || calls->struct_size < sizeof *calls)
        return 0;
    for (int module = 1; module < MILLRACE_NVTX_MODULES; module++) {
        millrace_nvtx_function **places;
        unsigned size = 0;
        if (!functions[module][1] || !calls->table(module, &places, &size))
            continue;
        for (unsigned i = 1; i < size && i < MILLRACE_NVTX_MOST; i++)
            if (functions[module][i] && places[i])
                *places[i] = functions[module][i];
    }
    return 1;
}
