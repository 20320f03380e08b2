/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX: a program tells a tool what it is doing: ranges of time, marks, names of threads, streams and the like.
 *
 * All of it is in the headers. The first call looks for a tool: the library that NVTX_INJECTION64_PATH names, whose
 * function InitializeInjectionNvtx2 puts its own functions into the table below. Without a tool every function does
 * nothing: ranges are not tracked, and handles are NULL. `millrace trace` is such a tool.
 *
 * The interface between headers and tool is NVIDIA's, so programs compiled with either headers work with any tool.
 * NVTX_NO_IMPL, defined before this header, leaves the types alone.
 */
#ifndef MILLRACE_NVTOOLSEXT_H
#define MILLRACE_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#ifndef NVTX_NO_IMPL
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#endif

#define NVTX_VERSION 3
#define NVTX_API
#ifndef NVTX_INLINE_STATIC
#define NVTX_INLINE_STATIC static __inline__
#endif
#ifndef NVTX_DECLSPEC
#define NVTX_DECLSPEC NVTX_INLINE_STATIC
#endif

#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_ERR_INIT_LOAD_PROPERTY 2
#define NVTX_ERR_INIT_ACCESS_LIBRARY 3
#define NVTX_ERR_INIT_LOAD_LIBRARY 4
#define NVTX_ERR_INIT_MISSING_LIBRARY_ENTRY_POINT 5
#define NVTX_ERR_INIT_FAILED_LIBRARY_ENTRY_POINT 6
#define NVTX_ERR_NO_INJECTION_LIBRARY_AVAILABLE 7

/* What pushing and popping a range answer where nothing tracks them. */
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxResourceAttributes_t))
#define NVTX_RESOURCE_CLASS_GENERIC 1
#define NVTX_RESOURCE_MAKE_TYPE(CLASS, INDEX) \
    ((((uint32_t)NVTX_RESOURCE_CLASS_##CLASS) << 16) | ((uint32_t)(INDEX)))

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t nvtxRangeId_t;
struct nvtxDomainRegistration_st;
typedef struct nvtxDomainRegistration_st nvtxDomainRegistration;
typedef nvtxDomainRegistration *nvtxDomainHandle_t;
struct nvtxStringRegistration_st;
typedef struct nvtxStringRegistration_st nvtxStringRegistration;
typedef nvtxStringRegistration *nvtxStringHandle_t;
struct nvtxResourceHandle;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;

typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;

typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef enum nvtxResourceGenericType_t {
    NVTX_RESOURCE_TYPE_UNKNOWN = 0,
    NVTX_RESOURCE_TYPE_GENERIC_POINTER = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 1),
    NVTX_RESOURCE_TYPE_GENERIC_HANDLE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 2),
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 3),
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 4)
} nvtxResourceGenericType_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef struct nvtxEventAttributes_v2 nvtxEventAttributes_t;

typedef struct nvtxResourceAttributes_v0 {
    uint16_t version;
    uint16_t size;
    int32_t identifierType;
    union identifier_t {
        const void *pValue;
        uint64_t ullValue;
    } identifier;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxResourceAttributes_v0;
typedef struct nvtxResourceAttributes_v0 nvtxResourceAttributes_t;

/* ---- Between headers and a tool ----
 *
 * Functions stand in tables, one for each module; a function's number is its index. */
typedef void (*millrace_nvtx_function)(void);

enum {
    MILLRACE_NVTX_CORE = 1,
    MILLRACE_NVTX_CUDA = 2,
    MILLRACE_NVTX_CUDART = 4,
    MILLRACE_NVTX_CORE2 = 5,
    MILLRACE_NVTX_SYNC = 6,
    MILLRACE_NVTX_MODULES = 7, /* one more than the last */
    MILLRACE_NVTX_MOST = 16    /* functions of a module at most, and the table's unused first place */
};

/* What the tool is given: a function that answers a table for a number; 1: the calls, 3: the version. */
typedef const void *(*millrace_nvtx_exports)(uint32_t number);

struct millrace_nvtx_calls {
    size_t struct_size;
    /* *table: for each function the place where its address stands; *size: how many places. 1: it is there. */
    int (*table)(int module, millrace_nvtx_function ***table, unsigned *size);
};

struct millrace_nvtx_version {
    size_t struct_size;
    uint32_t version, reserved;
    void (*tool_version)(uint32_t version);
};

#ifndef NVTX_NO_IMPL
struct millrace_nvtx_state {
    int state; /* 0: nobody has asked for a tool; 1: a thread looks for it; 2: that is done */
    millrace_nvtx_function functions[MILLRACE_NVTX_MODULES][MILLRACE_NVTX_MOST];
    millrace_nvtx_function *places[MILLRACE_NVTX_MODULES][MILLRACE_NVTX_MOST + 1];
};

/* One for each program or library, whatever the number of its files that include this. */
__attribute__((weak, visibility("hidden"))) struct millrace_nvtx_state millrace_nvtx;

NVTX_INLINE_STATIC int millrace_nvtx_table(int module, millrace_nvtx_function ***table, unsigned *size)
{
    static const unsigned char sizes[MILLRACE_NVTX_MODULES] = { 0, 16, 9, 0, 7, 16, 7 };
    if (module < 1 || module >= MILLRACE_NVTX_MODULES || sizes[module] == 0)
        return 0;
    for (unsigned i = 1; i < sizes[module]; i++)
        millrace_nvtx.places[module][i] = &millrace_nvtx.functions[module][i];
    if (table)
        *table = millrace_nvtx.places[module];
    if (size)
        *size = sizes[module];
    return 1;
}

NVTX_INLINE_STATIC void millrace_nvtx_tool_version(uint32_t version)
{
    (void)version;
}

NVTX_INLINE_STATIC const void *millrace_nvtx_export(uint32_t number)
{
    static const struct millrace_nvtx_calls calls = { sizeof(struct millrace_nvtx_calls), millrace_nvtx_table };
    static const struct millrace_nvtx_version version = { sizeof(struct millrace_nvtx_version), NVTX_VERSION, 0,
                                                          millrace_nvtx_tool_version };
    return number == 1 ? (const void *)&calls : number == 3 ? (const void *)&version : NULL;
}

NVTX_INLINE_STATIC void millrace_nvtx_load(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *tool = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
    void *symbol = tool ? dlsym(tool, "InitializeInjectionNvtx2") : NULL;
    int (*initialize)(millrace_nvtx_exports);
    __builtin_memcpy(&initialize, &symbol, sizeof symbol);
    if (symbol && initialize(millrace_nvtx_export))
        return;
    __builtin_memset(millrace_nvtx.functions, 0, sizeof millrace_nvtx.functions);
    if (tool)
        dlclose(tool);
}

/* The tool's function; NULL: there is none. */
NVTX_INLINE_STATIC millrace_nvtx_function millrace_nvtx_find(int module, int number)
{
    int none = 0;
    if (__atomic_load_n(&millrace_nvtx.state, __ATOMIC_ACQUIRE) != 2) {
        if (__atomic_compare_exchange_n(&millrace_nvtx.state, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            millrace_nvtx_load();
            __atomic_store_n(&millrace_nvtx.state, 2, __ATOMIC_RELEASE);
        }
        while (__atomic_load_n(&millrace_nvtx.state, __ATOMIC_ACQUIRE) != 2)
            sched_yield();
    }
    return millrace_nvtx.functions[module][number];
}

/* Calls the tool's function if there is one: with types and values in parentheses. ASK returns its answer, or
 * `otherwise`. */
#define MILLRACE_NVTX_DO(module, number, types, values) \
    do { \
        millrace_nvtx_function millrace_found = millrace_nvtx_find(MILLRACE_NVTX_##module, number); \
        if (millrace_found) \
            ((void (*) types)millrace_found) values; \
    } while (0)
#define MILLRACE_NVTX_ASK(module, number, type, types, values, otherwise) \
    millrace_nvtx_function millrace_found = millrace_nvtx_find(MILLRACE_NVTX_##module, number); \
    return millrace_found ? ((type (*) types)millrace_found) values : (otherwise)

/* ---- What programs call ---- */

NVTX_DECLSPEC void NVTX_API nvtxInitialize(const void *reserved)
{
    MILLRACE_NVTX_DO(CORE2, 15, (const void *), (reserved));
}

NVTX_DECLSPEC void NVTX_API nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    MILLRACE_NVTX_DO(CORE2, 1, (nvtxDomainHandle_t, const nvtxEventAttributes_t *), (domain, attributes));
}

NVTX_DECLSPEC void NVTX_API nvtxMarkEx(const nvtxEventAttributes_t *attributes)
{
    MILLRACE_NVTX_DO(CORE, 1, (const nvtxEventAttributes_t *), (attributes));
}

NVTX_DECLSPEC void NVTX_API nvtxMarkA(const char *message)
{
    MILLRACE_NVTX_DO(CORE, 2, (const char *), (message));
}

NVTX_DECLSPEC void NVTX_API nvtxMarkW(const wchar_t *message)
{
    MILLRACE_NVTX_DO(CORE, 3, (const wchar_t *), (message));
}

NVTX_DECLSPEC nvtxRangeId_t NVTX_API nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    MILLRACE_NVTX_ASK(CORE2, 2, nvtxRangeId_t, (nvtxDomainHandle_t, const nvtxEventAttributes_t *), (domain, attributes), 0);
}

NVTX_DECLSPEC nvtxRangeId_t NVTX_API nvtxRangeStartEx(const nvtxEventAttributes_t *attributes)
{
    MILLRACE_NVTX_ASK(CORE, 4, nvtxRangeId_t, (const nvtxEventAttributes_t *), (attributes), 0);
}

NVTX_DECLSPEC nvtxRangeId_t NVTX_API nvtxRangeStartA(const char *message)
{
    MILLRACE_NVTX_ASK(CORE, 5, nvtxRangeId_t, (const char *), (message), 0);
}

NVTX_DECLSPEC nvtxRangeId_t NVTX_API nvtxRangeStartW(const wchar_t *message)
{
    MILLRACE_NVTX_ASK(CORE, 6, nvtxRangeId_t, (const wchar_t *), (message), 0);
}

NVTX_DECLSPEC void NVTX_API nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    MILLRACE_NVTX_DO(CORE2, 3, (nvtxDomainHandle_t, nvtxRangeId_t), (domain, id));
}

NVTX_DECLSPEC void NVTX_API nvtxRangeEnd(nvtxRangeId_t id)
{
    MILLRACE_NVTX_DO(CORE, 7, (nvtxRangeId_t), (id));
}

NVTX_DECLSPEC int NVTX_API nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    MILLRACE_NVTX_ASK(CORE2, 4, int, (nvtxDomainHandle_t, const nvtxEventAttributes_t *), (domain, attributes), NVTX_NO_PUSH_POP_TRACKING);
}

NVTX_DECLSPEC int NVTX_API nvtxRangePushEx(const nvtxEventAttributes_t *attributes)
{
    MILLRACE_NVTX_ASK(CORE, 8, int, (const nvtxEventAttributes_t *), (attributes), NVTX_NO_PUSH_POP_TRACKING);
}

NVTX_DECLSPEC int NVTX_API nvtxRangePushA(const char *message)
{
    MILLRACE_NVTX_ASK(CORE, 9, int, (const char *), (message), NVTX_NO_PUSH_POP_TRACKING);
}

NVTX_DECLSPEC int NVTX_API nvtxRangePushW(const wchar_t *message)
{
    MILLRACE_NVTX_ASK(CORE, 10, int, (const wchar_t *), (message), NVTX_NO_PUSH_POP_TRACKING);
}

NVTX_DECLSPEC int NVTX_API nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    MILLRACE_NVTX_ASK(CORE2, 5, int, (nvtxDomainHandle_t), (domain), NVTX_NO_PUSH_POP_TRACKING);
}

NVTX_DECLSPEC int NVTX_API nvtxRangePop(void)
{
    MILLRACE_NVTX_ASK(CORE, 11, int, (void), (), NVTX_NO_PUSH_POP_TRACKING);
}

NVTX_DECLSPEC nvtxResourceHandle_t NVTX_API nvtxDomainResourceCreate(nvtxDomainHandle_t domain, nvtxResourceAttributes_t *attributes)
{
    MILLRACE_NVTX_ASK(CORE2, 6, nvtxResourceHandle_t, (nvtxDomainHandle_t, nvtxResourceAttributes_t *), (domain, attributes), NULL);
}

NVTX_DECLSPEC void NVTX_API nvtxDomainResourceDestroy(nvtxResourceHandle_t resource)
{
    MILLRACE_NVTX_DO(CORE2, 7, (nvtxResourceHandle_t), (resource));
}

NVTX_DECLSPEC void NVTX_API nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char *name)
{
    MILLRACE_NVTX_DO(CORE2, 8, (nvtxDomainHandle_t, uint32_t, const char *), (domain, category, name));
}

NVTX_DECLSPEC void NVTX_API nvtxDomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CORE2, 9, (nvtxDomainHandle_t, uint32_t, const wchar_t *), (domain, category, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCategoryA(uint32_t category, const char *name)
{
    MILLRACE_NVTX_DO(CORE, 12, (uint32_t, const char *), (category, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameCategoryW(uint32_t category, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CORE, 13, (uint32_t, const wchar_t *), (category, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameOsThreadA(uint32_t thread, const char *name)
{
    MILLRACE_NVTX_DO(CORE, 14, (uint32_t, const char *), (thread, name));
}

NVTX_DECLSPEC void NVTX_API nvtxNameOsThreadW(uint32_t thread, const wchar_t *name)
{
    MILLRACE_NVTX_DO(CORE, 15, (uint32_t, const wchar_t *), (thread, name));
}

NVTX_DECLSPEC nvtxStringHandle_t NVTX_API nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char *string)
{
    MILLRACE_NVTX_ASK(CORE2, 10, nvtxStringHandle_t, (nvtxDomainHandle_t, const char *), (domain, string), NULL);
}

NVTX_DECLSPEC nvtxStringHandle_t NVTX_API nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t *string)
{
    MILLRACE_NVTX_ASK(CORE2, 11, nvtxStringHandle_t, (nvtxDomainHandle_t, const wchar_t *), (domain, string), NULL);
}

NVTX_DECLSPEC nvtxDomainHandle_t NVTX_API nvtxDomainCreateA(const char *name)
{
    MILLRACE_NVTX_ASK(CORE2, 12, nvtxDomainHandle_t, (const char *), (name), NULL);
}

NVTX_DECLSPEC nvtxDomainHandle_t NVTX_API nvtxDomainCreateW(const wchar_t *name)
{
    MILLRACE_NVTX_ASK(CORE2, 13, nvtxDomainHandle_t, (const wchar_t *), (name), NULL);
}

NVTX_DECLSPEC void NVTX_API nvtxDomainDestroy(nvtxDomainHandle_t domain)
{
    MILLRACE_NVTX_DO(CORE2, 14, (nvtxDomainHandle_t), (domain));
}
#endif /* NVTX_NO_IMPL */

#ifdef __cplusplus
}
#endif

#ifdef UNICODE
#define MR_NVTX_CHOSEN(name) name##W
#else
#define MR_NVTX_CHOSEN(name) name##A
#endif
#define nvtxMark MR_NVTX_CHOSEN(nvtxMark)
#define nvtxRangeStart MR_NVTX_CHOSEN(nvtxRangeStart)
#define nvtxRangePush MR_NVTX_CHOSEN(nvtxRangePush)
#define nvtxNameCategory MR_NVTX_CHOSEN(nvtxNameCategory)
#define nvtxNameOsThread MR_NVTX_CHOSEN(nvtxNameOsThread)
#define nvtxDomainCreate MR_NVTX_CHOSEN(nvtxDomainCreate)
#define nvtxDomainRegisterString MR_NVTX_CHOSEN(nvtxDomainRegisterString)
#define nvtxDomainNameCategory MR_NVTX_CHOSEN(nvtxDomainNameCategory)

#endif
