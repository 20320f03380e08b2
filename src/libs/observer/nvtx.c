/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: what the program says that it is doing, written down for a timeline.
 *
 * A program with NVTX in it, by its headers or by libnvToolsExt, looks for the library that NVTX_INJECTION64_PATH
 * names, and calls its function InitializeInjectionNvtx2. `millrace trace` names this library. The function puts the
 * functions of this file into the program's table. A program may have several such tables, each of which comes here by
 * itself.
 *
 * Messages are copied into the file of the trace. Domains and registered strings stay as long as the process.
 * What findings say of it is in nvtx_told.c. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "libs/observer/folder.h"
#include "libs/observer/nvtx_told.h"
#include "libs/observer/order_call.h"
#include "libs/observer/trace.h"
#include "libs/observer/trace_file.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>

enum { NO_RANGE = -1 };

/* Classes of nvToolsExtCuda.h and nvToolsExtCudaRt.h, which number their kinds of things alike. */
enum { CLASS_CUDA = 4, CLASS_CUDART = 5, THING_DEVICE = 1, THING_CONTEXT, THING_STREAM, THING_EVENT };
enum { CUDART_STREAM = 2, CUDART_EVENT };

struct nvtxDomainRegistration_st {
    uint64_t number; /* from 1 up; the default domain, which is no such thing, has 0 */
    struct nvtxDomainRegistration_st *next;
    char name[];
};

struct nvtxStringRegistration_st {
    struct nvtxStringRegistration_st *next;
    size_t length;
    char text[];
};

/* A lock of the program's own: waiting for it is a range. */
struct nvtxSyncUser {
    nvtxDomainHandle_t domain;
    size_t length;
    char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two lists, which only grow */
static struct nvtxDomainRegistration_st *domains;
static struct nvtxStringRegistration_st *strings;
static _Atomic uint64_t last_id; /* of started ranges */

static bool writes, tells; /* a trace is written; findings are told; set before any function of the program's table */

/* How many ranges of each domain the thread is in, by the domain's number. */
struct depths {
    size_t room;
    int of[];
};
static _Thread_local struct depths *depths;
static pthread_key_t depths_key;

/* ---- texts ---- */

/* A text in UTF-8, at most TRACE_TEXT bytes. */
struct text {
    const char *bytes;
    size_t length;
};

/* Text of ASCII, or whatever the program takes for that. A cut leaves no part of a character. */
static struct text of_bytes(const char *bytes)
{
    size_t length = bytes ? strnlen(bytes, TRACE_TEXT + 1) : 0;
    if (length > TRACE_TEXT)
        for (length = TRACE_TEXT; length > 0 && ((unsigned char)bytes[length] & 0xc0) == 0x80;)
            length--;
    return (struct text){bytes ? bytes : "", length};
}

/* One character in UTF-8; how many bytes it has. */
static size_t put_character(char *out, uint32_t character)
{
    if (character >= 0x110000 || (character >= 0xd800 && character < 0xe000))
        character = 0xfffd;
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--, character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    out[0] = (char)((0xff00 >> (more + 1) & 0xff) | character);
    return more + 1;
}

static struct text of_wide(const wchar_t *wide, char room[TRACE_TEXT])
{
    size_t length = 0;
    while (wide && *wide && length + 4 <= TRACE_TEXT)
        length += put_character(room + length, (uint32_t)*wide++);
    return (struct text){room, length};
}

static struct text of_message(int32_t type, nvtxMessageValue_t message, char room[TRACE_TEXT])
{
    if (type == NVTX_MESSAGE_TYPE_ASCII)
        return of_bytes(message.ascii);
    if (type == NVTX_MESSAGE_TYPE_UNICODE)
        return of_wide(message.unicode, room);
    if (type == NVTX_MESSAGE_TYPE_REGISTERED && message.registered)
        return (struct text){message.registered->text, message.registered->length};
    return (struct text){"", 0};
}

/* ---- records ---- */

static uint64_t number_of(nvtxDomainHandle_t domain)
{
    return domain ? domain->number : 0;
}

static size_t padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

/* What a range or mark has beside its message. */
static const nvtxEventAttributes_t plain = {0};

static bool put_range(enum trace_range_kind kind, uint64_t domain, uint64_t id, const nvtxEventAttributes_t *with,
                      struct text text)
{
    if (!writes)
        return true;
    uint64_t now = mr_clock_ns();
    struct trace_writer *writer = trace_writer_here();
    size_t bytes = sizeof(struct trace_range) + padded(text.length);
    struct trace_range *record = writer ? trace_room(writer, bytes, TRACE_RANGE) : NULL;
    if (!record)
        return false;
    record->record.more = (uint32_t)text.length;
    record->time = now;
    record->id = id;
    record->domain = domain;
    record->category = with->category;
    record->colour = with->colorType == NVTX_COLOR_ARGB ? with->color : 0;
    record->kind = (uint16_t)kind;
    if (with->payloadType >= NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 && with->payloadType <= NVTX_PAYLOAD_TYPE_FLOAT) {
        record->payload_type = (uint16_t)with->payloadType;
        record->payload = with->payload.ullValue;
    }
    if (text.length)
        memcpy(record + 1, text.bytes, text.length);
    trace_done(record, bytes);
    return true;
}

static bool put_end(enum trace_range_kind kind, uint64_t domain, uint64_t id)
{
    if (!writes)
        return true;
    uint64_t now = mr_clock_ns();
    struct trace_writer *writer = trace_writer_here();
    struct trace_range_end *record = writer ? trace_room(writer, sizeof *record, TRACE_RANGE_END) : NULL;
    if (!record)
        return false;
    record->record.more = kind;
    record->time = now;
    record->id = id;
    record->domain = domain;
    trace_done(record, sizeof *record);
    return true;
}

static void put_given(enum trace_given_kind kind, uint64_t domain, uint64_t key, struct text text)
{
    if (!writes)
        return;
    uint64_t now = mr_clock_ns();
    struct trace_writer *writer = trace_writer_here();
    size_t bytes = sizeof(struct trace_given) + padded(text.length);
    struct trace_given *record = writer ? trace_room(writer, bytes, TRACE_GIVEN) : NULL;
    if (!record)
        return;
    record->record.more = (uint32_t)text.length;
    record->time = now;
    record->key = key;
    record->domain = domain;
    record->kind = kind;
    if (text.length)
        memcpy(record + 1, text.bytes, text.length);
    trace_done(record, bytes);
}

/* ---- ranges ---- */

/* The place that counts the thread's ranges in a domain; NULL: memory is short. */
static int *depth_of(uint64_t domain)
{
    if (!depths || depths->room <= domain) {
        size_t before = depths ? depths->room : 0, room = 8;
        while (room <= domain)
            room *= 2;
        struct depths *grown = realloc(depths, sizeof *grown + room * sizeof *grown->of);
        if (!grown)
            return NULL;
        memset(grown->of + before, 0, (room - before) * sizeof *grown->of);
        grown->room = room;
        depths = grown;
        pthread_setspecific(depths_key, grown);
    }
    return &depths->of[domain];
}

/* Answers how deep the range lies, from 0. */
static int push(uint64_t domain, const nvtxEventAttributes_t *with, struct text text)
{
    int *depth = depth_of(domain);
    if (!depth || !put_range(TRACE_PUSHED, domain, 0, with, text))
        return NO_RANGE;
    if (tells)
        nvtx_told_push(domain, text.bytes, text.length);
    return (*depth)++;
}

static int pop(uint64_t domain)
{
    int *depth = depth_of(domain);
    if (!depth || *depth == 0)
        return NO_RANGE;
    put_end(TRACE_PUSHED, domain, 0);
    if (tells)
        nvtx_told_pop(domain);
    return --*depth;
}

static nvtxRangeId_t start(uint64_t domain, const nvtxEventAttributes_t *with, struct text text)
{
    uint64_t id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    return put_range(TRACE_STARTED, domain, id, with, text) ? id : 0;
}

/* Without attributes there is nothing to tell. */
static bool take(const nvtxEventAttributes_t *attributes, char room[TRACE_TEXT], struct text *text)
{
    if (attributes)
        *text = of_message(attributes->messageType, attributes->message, room);
    return attributes != NULL;
}

static void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    char room[TRACE_TEXT];
    struct text text;
    if (take(attributes, room, &text))
        put_range(TRACE_MARK, number_of(domain), 0, attributes, text);
}

static nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    char room[TRACE_TEXT];
    struct text text;
    return take(attributes, room, &text) ? start(number_of(domain), attributes, text) : 0;
}

static void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    if (id)
        put_end(TRACE_STARTED, number_of(domain), id);
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    char room[TRACE_TEXT];
    struct text text;
    return take(attributes, room, &text) ? push(number_of(domain), attributes, text) : NO_RANGE;
}

static int domain_pop(nvtxDomainHandle_t domain)
{
    return pop(number_of(domain));
}

static void mark_ex(const nvtxEventAttributes_t *attributes)
{
    domain_mark(NULL, attributes);
}

static void mark(const char *message)
{
    put_range(TRACE_MARK, 0, 0, &plain, of_bytes(message));
}

static void mark_wide(const wchar_t *message)
{
    char room[TRACE_TEXT];
    put_range(TRACE_MARK, 0, 0, &plain, of_wide(message, room));
}

static nvtxRangeId_t start_ex(const nvtxEventAttributes_t *attributes)
{
    return domain_start(NULL, attributes);
}

static nvtxRangeId_t start_bytes(const char *message)
{
    return start(0, &plain, of_bytes(message));
}

static nvtxRangeId_t start_wide(const wchar_t *message)
{
    char room[TRACE_TEXT];
    return start(0, &plain, of_wide(message, room));
}

static void end(nvtxRangeId_t id)
{
    domain_end(NULL, id);
}

static int push_ex(const nvtxEventAttributes_t *attributes)
{
    return domain_push(NULL, attributes);
}

static int push_bytes(const char *message)
{
    return push(0, &plain, of_bytes(message));
}

static int push_wide(const wchar_t *message)
{
    char room[TRACE_TEXT];
    return push(0, &plain, of_wide(message, room));
}

static int pop_default(void)
{
    return pop(0);
}

/* ---- domains, strings, names ---- */

/* Domains of one name are one domain. */
static nvtxDomainHandle_t create(struct text name)
{
    pthread_mutex_lock(&lock);
    struct nvtxDomainRegistration_st *domain = domains;
    while (domain && (strlen(domain->name) != name.length || memcmp(domain->name, name.bytes, name.length) != 0))
        domain = domain->next;
    if (!domain && (domain = calloc(1, sizeof *domain + name.length + 1))) {
        memcpy(domain->name, name.bytes, name.length);
        domain->number = domains ? domains->number + 1 : 1;
        domain->next = domains;
        domains = domain;
        put_given(TRACE_GIVEN_DOMAIN, 0, domain->number, name);
    }
    pthread_mutex_unlock(&lock);
    return domain;
}

static nvtxDomainHandle_t create_bytes(const char *name)
{
    return name ? create(of_bytes(name)) : NULL;
}

static nvtxDomainHandle_t create_wide(const wchar_t *name)
{
    char room[TRACE_TEXT];
    return name ? create(of_wide(name, room)) : NULL;
}

static nvtxStringHandle_t keep(struct text text)
{
    struct nvtxStringRegistration_st *string = malloc(sizeof *string + text.length + 1);
    if (!string)
        return NULL;
    string->length = text.length;
    memcpy(string->text, text.bytes, text.length);
    string->text[text.length] = 0;
    pthread_mutex_lock(&lock);
    string->next = strings;
    strings = string;
    pthread_mutex_unlock(&lock);
    return string;
}

static nvtxStringHandle_t register_bytes(nvtxDomainHandle_t domain, const char *text)
{
    (void)domain;
    return text ? keep(of_bytes(text)) : NULL;
}

static nvtxStringHandle_t register_wide(nvtxDomainHandle_t domain, const wchar_t *text)
{
    char room[TRACE_TEXT];
    (void)domain;
    return text ? keep(of_wide(text, room)) : NULL;
}

static void domain_category(nvtxDomainHandle_t domain, uint32_t category, const char *name)
{
    put_given(TRACE_GIVEN_CATEGORY, number_of(domain), category, of_bytes(name));
}

static void domain_category_wide(nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name)
{
    char room[TRACE_TEXT];
    put_given(TRACE_GIVEN_CATEGORY, number_of(domain), category, of_wide(name, room));
}

static void category(uint32_t number, const char *name)
{
    domain_category(NULL, number, name);
}

static void category_wide(uint32_t number, const wchar_t *name)
{
    domain_category_wide(NULL, number, name);
}

static void name_stream(CUstream stream, struct text name)
{
    uint64_t number = writes ? trace_stream_number(stream) : obs_stream_number(stream);
    if (number)
        put_given(TRACE_GIVEN_STREAM, 0, number, name);
    if (number && tells)
        nvtx_told_stream(number, name.bytes, name.length);
}

/* Names for a thing by its number or handle: with bytes, and with wide characters. */
#define NAMES(thing, type, put) \
    static void name_##thing(type handle, const char *name) \
    { \
        struct text text = of_bytes(name); \
        put; \
    } \
    static void name_##thing##_wide(type handle, const wchar_t *name) \
    { \
        char room[TRACE_TEXT]; \
        struct text text = of_wide(name, room); \
        put; \
    }
NAMES(thread, uint32_t, put_given(TRACE_GIVEN_THREAD, 0, handle, text))
NAMES(device, int, put_given(TRACE_GIVEN_DEVICE, 0, (uint64_t)handle, text))
NAMES(context, CUcontext, put_given(TRACE_GIVEN_CONTEXT, 0, (uintptr_t)handle, text))
NAMES(cuda_stream, CUstream, name_stream(handle, text))
NAMES(event, CUevent, put_given(TRACE_GIVEN_EVENT, 0, (uintptr_t)handle, text))

/* Resources are another way to name things. The handle says nothing more. */
static nvtxResourceHandle_t create_resource(nvtxDomainHandle_t domain, nvtxResourceAttributes_t *attributes)
{
    char room[TRACE_TEXT];
    if (!attributes)
        return NULL;
    struct text name = of_message(attributes->messageType, attributes->message, room);
    uint64_t value = attributes->identifier.ullValue;
    uint32_t class = (uint32_t)attributes->identifierType >> 16, thing = attributes->identifierType & 0xffff;
    bool cuda = class == CLASS_CUDA, runtime = class == CLASS_CUDART;
    if (attributes->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE)
        put_given(TRACE_GIVEN_THREAD, 0, value & UINT32_MAX, name);
    else if ((cuda || runtime) && thing == THING_DEVICE)
        put_given(TRACE_GIVEN_DEVICE, 0, value & UINT32_MAX, name);
    else if (cuda && thing == THING_CONTEXT)
        put_given(TRACE_GIVEN_CONTEXT, 0, value, name);
    else if ((cuda && thing == THING_STREAM) || (runtime && thing == CUDART_STREAM))
        name_stream((CUstream)(uintptr_t)value, name);
    else if ((cuda && thing == THING_EVENT) || (runtime && thing == CUDART_EVENT))
        put_given(TRACE_GIVEN_EVENT, 0, value, name);
    return (nvtxResourceHandle_t)(domain ? (void *)domain : (void *)&plain);
}

/* ---- locks of the program's own ---- */

static nvtxSyncUser_t create_sync(nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t *attributes)
{
    char room[TRACE_TEXT];
    struct text text =
        attributes ? of_message(attributes->messageType, attributes->message, room) : (struct text){"", 0};
    struct nvtxSyncUser *made = malloc(sizeof *made + text.length);
    if (!made)
        return NULL;
    made->domain = domain;
    made->length = text.length;
    memcpy(made->text, text.bytes, text.length);
    return made;
}

static void destroy_sync(nvtxSyncUser_t sync)
{
    free(sync);
}

static void acquire_sync(nvtxSyncUser_t sync)
{
    if (sync)
        push(number_of(sync->domain), &plain, (struct text){sync->text, sync->length});
}

static void acquired_sync(nvtxSyncUser_t sync)
{
    if (sync)
        pop(number_of(sync->domain));
}

/* ---- the program's table ---- */

#define CALL(function) ((millrace_nvtx_function)(function))

static const millrace_nvtx_function functions[MILLRACE_NVTX_MODULES][MILLRACE_NVTX_MOST] = {
    [MILLRACE_NVTX_CORE] = {NULL, CALL(mark_ex), CALL(mark), CALL(mark_wide), CALL(start_ex), CALL(start_bytes),
                            CALL(start_wide), CALL(end), CALL(push_ex), CALL(push_bytes), CALL(push_wide),
                            CALL(pop_default), CALL(category), CALL(category_wide), CALL(name_thread),
                            CALL(name_thread_wide)},
    [MILLRACE_NVTX_CORE2] = {NULL, CALL(domain_mark), CALL(domain_start), CALL(domain_end), CALL(domain_push),
                             CALL(domain_pop), CALL(create_resource), NULL, CALL(domain_category),
                             CALL(domain_category_wide), CALL(register_bytes), CALL(register_wide), CALL(create_bytes),
                             CALL(create_wide)},
    [MILLRACE_NVTX_CUDA] = {NULL, CALL(name_device), CALL(name_device_wide), CALL(name_context),
                            CALL(name_context_wide), CALL(name_cuda_stream), CALL(name_cuda_stream_wide),
                            CALL(name_event), CALL(name_event_wide)},
    [MILLRACE_NVTX_CUDART] = {NULL, CALL(name_device), CALL(name_device_wide), CALL(name_cuda_stream),
                              CALL(name_cuda_stream_wide), CALL(name_event), CALL(name_event_wide)},
    [MILLRACE_NVTX_SYNC] = {NULL, CALL(create_sync), CALL(destroy_sync), CALL(acquire_sync), CALL(acquired_sync),
                            CALL(acquired_sync)},
};

static void begin(void)
{
    pthread_key_create(&depths_key, free);
    writes = trace_begin_early();
    tells = obs_options("race") || obs_options("mem") || obs_options("init");
    if (tells)
        nvtx_told_begin();
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(millrace_nvtx_exports exports);

/* 0: nothing is to be written down. Any thread; it may come before cuInit. */
int InitializeInjectionNvtx2(millrace_nvtx_exports exports)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct millrace_nvtx_calls *calls = exports ? exports(1) : NULL;
    if (!calls || calls->struct_size < sizeof *calls)
        return 0;
    pthread_once(&once, begin);
    if (!writes && !tells)
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
