/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI answers by itself: versions, names, wrong arguments, settings, calls out of order. */
#include "cu.h"

#include <string.h>
#include <time.h>

CASE(cu_library, version, .bare = true)
{
    uint32_t version = 0;
    cu(cuptiGetVersion(NULL));
    cu(cuptiGetVersion(&version));
    say_int(version);
}

CASE(cu_library, status_names, .bare = true)
{
    for (int status = -1; status <= 60; status++) {
        const char *name = NULL;
        CUptiResult found = cuptiGetResultString((CUptiResult)status, &name);
        say_text(found == CUPTI_SUCCESS ? name : "none");
    }
    const char *name = NULL;
    cu(cuptiGetResultString(CUPTI_ERROR_UNKNOWN, &name));
    cu(cuptiGetResultString(CUPTI_SUCCESS, NULL));
    cu(cuptiGetErrorMessage(CUPTI_SUCCESS, NULL));
    cu(cuptiGetErrorMessage((CUptiResult)-1, &name));
    name = NULL;
    cu(cuptiGetErrorMessage(CUPTI_ERROR_INVALID_KIND, &name));
    say_if("text", name != NULL && *name);
}

CASE(cu_library, last_error, .bare = true)
{
    cu(cuptiGetLastError());
    cu(cuptiGetVersion(NULL));
    cu(cuptiGetLastError());
    cu(cuptiGetLastError());
    cu(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID));
    uint32_t version;
    cu(cuptiGetVersion(&version));
    cu(cuptiGetLastError());
    uint8_t buffer[8] = {0};
    CUpti_Activity *record = NULL;
    cu(cuptiActivityGetNextRecord(buffer, 0, &record));
    cu(cuptiGetLastError());
}

static uint64_t clock_ns(clockid_t which)
{
    struct timespec time;
    clock_gettime(which, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

CASE(cu_library, clock, .bare = true)
{
    uint64_t first = 0, second = 0;
    cu(cuptiGetTimestamp(NULL));
    NEED(cuInit(0));
    cu(cuptiGetTimestamp(&first));
    cu(cuptiGetTimestamp(&second));
    say_if("goes_on", second >= first && first > 0);
    uint64_t real = clock_ns(CLOCK_REALTIME);
    say_if("is_system_time", real > first ? real - first < 1000000000u : first - real < 1000000000u);
    cu(cuptiActivityRegisterTimestampCallback(NULL));
}

static uint64_t own_clock(void)
{
    static uint64_t now = 1000;
    return now += 10;
}

CASE(cu_library, own_clock, .bare = true)
{
    uint64_t now = 0;
    cu(cuptiActivityRegisterTimestampCallback(own_clock));
    cu_begin();
    cu(cuptiGetTimestamp(&now));
    say_if("own", now > 1000 && now < 100000);
    cu(cuptiActivityRegisterTimestampCallback(NULL));
    cu(cuptiGetTimestamp(&now));
    say_if("own", now > 1000 && now < 100000);
}

CASE(cu_library, thread_id_type, .bare = true)
{
    CUpti_ActivityThreadIdType type = CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE;
    cu(cuptiGetThreadIdType(NULL));
    cu(cuptiGetThreadIdType(&type));
    say_int(type);
    cu(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
    cu(cuptiGetThreadIdType(&type));
    say_int(type);
    cu(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE));
    cu(cuptiSetThreadIdType((CUpti_ActivityThreadIdType)-1));
}

CASE(cu_library, support, .bare = true)
{
    int support = -1;
    cu(cuptiComputeCapabilitySupported(9, 0, NULL));
    static const int capabilities[][2] = {{3, 0}, {5, 0}, {7, 0}, {7, 5}, {8, 0}, {9, 0}, {12, 0}, {99, 0}};
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        support = -1;
        cu(cuptiComputeCapabilitySupported(capabilities[i][0], capabilities[i][1], &support));
        say_int(support);
    }
    NEED(cuInit(0));
    cu(cuptiDeviceSupported(0, NULL));
    cu(cuptiDeviceSupported(0, &support));
    say_int(support);
    cu(cuptiDeviceSupported(1000, &support));
}

/* ---- callbacks ---- */

CASE(cu_subscribe, statuses, .bare = true)
{
    CUpti_SubscriberHandle handle = NULL, second = NULL;
    cu(cuptiSubscribe(NULL, NULL, NULL));
    cu(cuptiSubscribe(&handle, NULL, NULL));
    say_if("handle", handle != NULL);
    cu(cuptiUnsubscribe(handle));
    handle = cu_subscribe();
    cu(cuptiSubscribe(&second, (CUpti_CallbackFunc)GOLD_WILD, NULL));
    cu(cuptiUnsubscribe(NULL));
    cu(cuptiUnsubscribe(handle));
    cu(cuptiUnsubscribe(handle));
    cu(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_DRIVER_API));
}

CASE(cu_subscribe, names, .bare = true)
{
    CUpti_SubscriberHandle handle = NULL, second = NULL;
    char old[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "untouched";
    CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE, .subscriberName = "cases"};
    cu(cuptiSubscribe_v2(&handle, (CUpti_CallbackFunc)GOLD_WILD, NULL, &params));
    CUpti_SubscriberParams other = {
        .structSize = CUpti_SubscriberParams_STRUCT_SIZE, .oldSubscriberName = old, .oldSubscriberSize = sizeof old};
    cu(cuptiSubscribe_v2(&second, (CUpti_CallbackFunc)GOLD_WILD, NULL, &other));
    say_text(old);
    cu(cuptiUnsubscribe(handle));
    params.structSize = 0;
    cu(cuptiSubscribe_v2(&handle, (CUpti_CallbackFunc)GOLD_WILD, NULL, &params));
}

CASE(cu_subscribe, enable, .bare = true)
{
    CUpti_SubscriberHandle handle = cu_subscribe();
    uint32_t on = 7;
    cu(cuptiEnableCallback(1, NULL, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
    cu(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_INVALID, 1));
    cu(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, 0));
    cu(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE));
    cu(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE));
    cu(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_SIZE));
    cu(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_SIZE));
    cu(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_SIZE, 1));
    cu(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_INVALID));
    cu(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_SIZE));
    cu(cuptiEnableDomain(1, NULL, CUPTI_CB_DOMAIN_DRIVER_API));
    cu(cuptiEnableAllDomains(1, NULL));
    cu(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
    cu(cuptiGetCallbackState(NULL, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
    cu(cuptiGetCallbackState(&on, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
    say_int(on);
    cu(cuptiGetCallbackState(&on, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2));
    say_int(on);
    cu(cuptiGetCallbackState(&on, handle, CUPTI_CB_DOMAIN_DRIVER_API, 0));
    cu(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_DRIVER_API));
    cu(cuptiGetCallbackState(&on, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2));
    say_int(on);
    cu(cuptiEnableAllDomains(0, handle));
    cu(cuptiGetCallbackState(&on, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
    say_int(on);
    cu(cuptiUnsubscribe(handle));
}

CASE(cu_subscribe, domains, .bare = true)
{
    size_t count = 0;
    CUpti_DomainTable table = NULL;
    cu(cuptiSupportedDomains(NULL, &table));
    cu(cuptiSupportedDomains(&count, NULL));
    cu(cuptiSupportedDomains(&count, &table));
    for (size_t i = 0; i < count; i++)
        say_int(table[i]);
}

static void say_names(CUpti_CallbackDomain domain, uint32_t from, uint32_t to)
{
    for (uint32_t cbid = from; cbid <= to; cbid++) {
        const char *name = NULL;
        CUptiResult status = cuptiGetCallbackName(domain, cbid, &name);
        if (status == CUPTI_SUCCESS)
            say_text(name ? name : "NULL");
        else
            cu(status);
    }
}

CASE(cu_names, driver, .bare = true)
{
    say_names(CUPTI_CB_DOMAIN_DRIVER_API, 0, 807);
}

CASE(cu_names, runtime, .bare = true)
{
    say_names(CUPTI_CB_DOMAIN_RUNTIME_API, 0, 523);
}

CASE(cu_names, resource, .bare = true)
{
    say_names(CUPTI_CB_DOMAIN_RESOURCE, 0, 25);
}

CASE(cu_names, synchronize, .bare = true)
{
    say_names(CUPTI_CB_DOMAIN_SYNCHRONIZE, 0, 4);
}

CASE(cu_names, nvtx, .bare = true)
{
    say_names(CUPTI_CB_DOMAIN_NVTX, 0, 51);
}

CASE(cu_names, state, .bare = true)
{
    say_names(CUPTI_CB_DOMAIN_STATE, 0, 5);
}

CASE(cu_names, wrong, .bare = true)
{
    const char *name;
    cu(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 1, NULL));
    cu(cuptiGetCallbackName(CUPTI_CB_DOMAIN_INVALID, 1, &name));
    cu(cuptiGetCallbackName(CUPTI_CB_DOMAIN_SIZE, 1, &name));
}

/* ---- activities ---- */

CASE(cu_activity, enable_kinds, .bare = true)
{
    cu_begin();
    for (int kind = -1; kind <= 60; kind++)
        cu(cuptiActivityEnable((CUpti_ActivityKind)kind));
}

CASE(cu_activity, disable_kinds, .bare = true)
{
    cu_begin();
    for (int kind = -1; kind <= 60; kind++)
        cu(cuptiActivityDisable((CUpti_ActivityKind)kind));
}

CASE(cu_activity, before_init, .bare = true)
{
    cu(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    cu(cuptiActivityFlushAll(0));
    cu(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    cu(cuptiActivityFlushPeriod(0));
}

CASE(cu_activity, register_wrong, .bare = true)
{
    cu(cuptiActivityRegisterCallbacks(NULL, NULL));
    cu(cuptiActivityFlushAll(0));
    cu(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

CASE(cu_activity, next_record_wrong, .bare = true)
{
    uint64_t buffer[16] = {0};
    CUpti_Activity *record = NULL;
    cu(cuptiActivityGetNextRecord(NULL, sizeof buffer, &record));
    cu(cuptiActivityGetNextRecord((uint8_t *)buffer, sizeof buffer, NULL));
    cu(cuptiActivityGetNextRecord((uint8_t *)buffer, 0, &record));
    cu(cuptiActivityGetNextRecord((uint8_t *)buffer, sizeof buffer, &record));
}

CASE(cu_activity, attributes, .bare = true)
{
    for (int attribute = -1; attribute <= 11; attribute++) {
        uint64_t value = 0;
        size_t size = sizeof value;
        CUptiResult status = cuptiActivityGetAttribute((CUpti_ActivityAttribute)attribute, &size, &value);
        cu(status);
        if (status == CUPTI_SUCCESS) {
            say_value("bytes", (long long)size);
            say_value("value", (long long)value);
        }
    }
    uint64_t value = 0;
    size_t size = 1;
    cu(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    cu(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, NULL, &value));
    size = sizeof value;
    cu(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, NULL));
    value = 1 << 20;
    cu(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    value = 0;
    cu(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    say_int((long long)value);
    size = 1;
    cu(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
}

CASE(cu_activity, external_stack, .bare = true)
{
    uint64_t id = 77;
    cu(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id));
    cu(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_INVALID, 1));
    cu(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_SIZE, 1));
    cu(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 5));
    cu(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 6));
    cu(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &id));
    cu(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id));
    say_int((long long)id);
    cu(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL));
    cu(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id));
}

CASE(cu_activity, dropped_wrong, .bare = true)
{
    size_t dropped = 9;
    cu_begin();
    cu(cuptiActivityGetNumDroppedRecords(NULL, 0, NULL));
    cu(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    say_int((long long)dropped);
}

/* ---- numbers of objects ---- */

CASE(cu_number, context, .bare = true)
{
    uint32_t id = 9, device = 9;
    CUcontext context = cu_begin();
    cu(cuptiGetContextId(context, NULL));
    cu(cuptiGetContextId(context, &id));
    say_int(id);
    cu(cuptiGetContextId(NULL, &id));
    cu(cuptiGetDeviceId(context, NULL));
    cu(cuptiGetDeviceId(context, &device));
    say_int(device);
    cu(cuptiGetDeviceId(NULL, &device));
}

CASE(cu_number, stream, .bare = true)
{
    uint32_t legacy = 0, explicit_legacy = 0, own = 0, own_handle = 0, other = 0, again = 0, third = 0;
    CUcontext context = cu_begin();
    CUstream stream, more;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamCreate(&more, CU_STREAM_DEFAULT));
    cu(cuptiGetStreamIdEx(context, NULL, 0, NULL));
    cu(cuptiGetStreamIdEx(context, NULL, 0, &legacy));
    cu(cuptiGetStreamIdEx(context, CU_STREAM_LEGACY, 0, &explicit_legacy));
    cu(cuptiGetStreamIdEx(context, NULL, 1, &own));
    cu(cuptiGetStreamIdEx(context, CU_STREAM_PER_THREAD, 0, &own_handle));
    cu(cuptiGetStreamIdEx(context, stream, 0, &other));
    cu(cuptiGetStreamIdEx(context, stream, 1, &again));
    cu(cuptiGetStreamId(context, more, &third));
    say_if("one_legacy", legacy == explicit_legacy);
    say_if("one_own", own == own_handle);
    say_if("four", legacy != own && own != other && other != legacy && third != other && third != own);
    say_if("same", other == again);
    cu(cuptiGetStreamIdEx(NULL, stream, 0, &other));
    unsigned long long id = 0;
    NEED(cuStreamGetId(stream, &id));
    say_if("of_driver", id == again);
}
