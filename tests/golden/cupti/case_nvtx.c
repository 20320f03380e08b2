/* SPDX-License-Identifier: Apache-2.0 */
/* What records say of NVTX's ranges and names, and some more of what calls inside of calls give. */
#define _GNU_SOURCE
#include "cu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

/* Before the first call of NVTX: the tool is the library that the cases are linked with. */
static void be_tool(void)
{
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)cuptiGetVersion, &self))
        gold_stop("where is libcupti?");
    setenv("NVTX_INJECTION64_PATH", self.dli_fname, 1);
}

static void say_markers(void)
{
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityMarker2 *marker = cu_record(CUPTI_ACTIVITY_KIND_MARKER, i);
        if (!marker)
            break;
        say_value("flags", marker->flags);
        say_value("id", marker->id);
        say_value("object", marker->objectKind);
        say_text(marker->name ? marker->name : "no_name");
        say_text(!marker->domain ? "NULL" : *marker->domain ? marker->domain : "empty");
        if (!marker->timestamp)
            say_text("wrong");
    }
}

CASE(cu_nvtx, ranges, .bare = true)
{
    be_tool();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_MARKER);
    nvtxMarkA("mark");
    say_int(nvtxRangePushA("outer"));
    say_int(nvtxRangePushA("inner"));
    say_int(nvtxRangePop());
    say_int(nvtxRangePop());
    say_int(nvtxRangePop());
    nvtxRangeId_t first = nvtxRangeStartA("first"), second = nvtxRangeStartA("second");
    nvtxRangeEnd(first);
    nvtxRangeEnd(second);
    cu_flush();
    say_markers();
}

CASE(cu_nvtx, domains, .bare = true)
{
    be_tool();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_MARKER, CUPTI_ACTIVITY_KIND_MARKER_DATA);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
    nvtxEventAttributes_t with = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};
    with.colorType = NVTX_COLOR_ARGB;
    with.color = 0xff123456;
    with.category = 7;
    with.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    with.payload.iValue = -5;
    with.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    with.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    say_int(nvtxDomainRangePushEx(domain, &with));
    say_int(nvtxRangePushA("plain"));
    say_int(nvtxDomainRangePop(domain));
    say_int(nvtxRangePop());
    with.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    with.payload.dValue = 1.5;
    nvtxDomainMarkEx(domain, &with);
    cu_flush();
    say_markers();
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityMarkerData2 *data = cu_record(CUPTI_ACTIVITY_KIND_MARKER_DATA, i);
        if (!data)
            break;
        say_value("data", data->id);
        say_value("flags", data->flags);
        say_value("payload", data->payloadKind);
        say_value("value", (long long)data->payload.metricValueInt64);
        say_hex(data->color);
        say_value("category", data->category);
    }
}

CASE(cu_nvtx, names, .bare = true)
{
    be_tool();
    CUcontext context = cu_begin();
    CUstream stream;
    uint32_t number = 0;
    NEED(cuStreamCreate(&stream, 0));
    CU_NEED(cuptiGetStreamIdEx(context, stream, 0, &number));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_NAME);
    nvtxNameOsThreadA(4711, "thread");
    nvtxNameCuDeviceA(0, "device");
    nvtxNameCuContextA(context, "context");
    nvtxNameCuStreamA(stream, "stream");
    cu_flush();
    for (unsigned i = 0;; i++) {
        const CUpti_ActivityName *name = cu_record(CUPTI_ACTIVITY_KIND_NAME, i);
        if (!name)
            break;
        say_value("object", name->objectKind);
        say_text(name->name);
        if (name->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
            say_int(name->objectId.pt.threadId);
        else
            say_int(name->objectId.dcs.deviceId);
        if (name->objectKind == CUPTI_ACTIVITY_OBJECT_STREAM)
            say_if("stream", name->objectId.dcs.streamId == number);
    }
}

/* ---- calls ---- */

CASE(cu_api, driver_inside_runtime, .bare = true)
{
    void *memory;
    NEED((CUresult)cudaMalloc(&memory, 64));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_MEMSET);
    NEED((CUresult)cudaMemset(memory, 0, 64));
    NEED((CUresult)cudaDeviceSynchronize());
    cu_flush();
    say_if("driver", cu_count(CUPTI_ACTIVITY_KIND_DRIVER) > 0);
    const CUpti_ActivityMemset4 *fill = cu_record(CUPTI_ACTIVITY_KIND_MEMSET, 0);
    say_if("fill", fill && fill->correlationId != 0);
}

CASE(cu_api, runtime_copy, .bare = true)
{
    void *memory, *host = calloc(1, 64);
    NEED((CUresult)cudaMalloc(&memory, 64));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_MEMCPY);
    NEED((CUresult)cudaMemcpy(memory, host, 64, cudaMemcpyHostToDevice));
    NEED((CUresult)cudaDeviceSynchronize());
    cu_flush();
    const CUpti_ActivityAPI *call = cu_record(CUPTI_ACTIVITY_KIND_RUNTIME, 0);
    const CUpti_ActivityMemcpy6 *copy = cu_record(CUPTI_ACTIVITY_KIND_MEMCPY, 0);
    say_if("both", call && copy);
    say_if("correlated", call && copy && call->correlationId == copy->correlationId);
    say_if("runtime", call && copy && call->correlationId == copy->runtimeCorrelationId);
    say_if("none", copy && copy->runtimeCorrelationId == 0);
}

CASE(cu_call, per_thread, .bare = true)
{
    cu_begin();
    CUpti_SubscriberHandle handle = cu_subscribe();
    CU_NEED(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_DRIVER_API));
    CUresult (*synchronize)(CUstream) = NULL;
    *(void **)&synchronize = dlsym(RTLD_DEFAULT, "cuStreamSynchronize_ptsz");
    if (!synchronize)
        gold_stop("no cuStreamSynchronize_ptsz");
    NEED(synchronize(NULL));
    for (unsigned i = 0; i < cu_seen_count(); i++) {
        say_int(cu_seen(i)->cbid);
        say_text(cu_seen(i)->function);
    }
}

CASE(cu_context, dumped, .bare = true)
{
    cu_begin();
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cu(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE));
    cu(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT));
    cu_flush();
    say_value("contexts", cu_count(CUPTI_ACTIVITY_KIND_CONTEXT));
    say_if("devices", cu_count(CUPTI_ACTIVITY_KIND_DEVICE) > 0);
}

CASE(cu_kernel, latency, .bare = true)
{
    cu_begin();
    cu_kernel();
    cu(cuptiActivityEnableLatencyTimestamps(1));
    CU_COLLECT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cu_launch(NULL, 1, 32, 0);
    NEED(cuCtxSynchronize());
    cu_flush();
    const CUpti_ActivityKernel10 *k = cu_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
    say_if("queued", k && k->queued > 0 && k->queued <= k->start);
    say_if("submitted", k && k->submitted >= k->queued && k->submitted <= k->start);
}
