/* SPDX-License-Identifier: Apache-2.0 */
/* What the callback interface tells of calls, objects and waits. */
#include "cu.h"

#include <string.h>

static void driver(CUpti_SubscriberHandle handle, CUpti_CallbackId cbid)
{
    CU_NEED(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, cbid));
}

static void runtime(CUpti_SubscriberHandle handle, CUpti_CallbackId cbid)
{
    CU_NEED(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API, cbid));
}

static void say_seen(void)
{
    for (unsigned i = 0; i < cu_seen_count(); i++) {
        const struct cu_seen *seen = cu_seen(i);
        say_int(seen->domain);
        say_int(seen->cbid);
        if (*seen->function) {
            say_text(seen->function);
            say_text(seen->site == CUPTI_API_ENTER ? "enter" : "exit");
        }
    }
}

CASE(cu_call, driver, .bare = true)
{
    CUdeviceptr memory;
    CUcontext context = cu_begin();
    CUpti_SubscriberHandle handle = cu_subscribe();
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2);
    NEED(cuMemAlloc(&memory, 64));
    NEED(cuMemsetD8(memory, 1, 64));
    NEED(cuMemFree(memory));
    say(cuMemFree(memory + 64));
    say_seen();
    const struct cu_seen *enter = cu_seen_call("cuMemAlloc_v2", CUPTI_API_ENTER, 0);
    const struct cu_seen *leave = cu_seen_call("cuMemAlloc_v2", CUPTI_API_EXIT, 0);
    if (!enter || !leave)
        gold_stop("cuMemAlloc_v2 was not seen");
    say_if("same_correlation", enter->correlation == leave->correlation && enter->correlation != 0);
    say_if("data_kept", leave->correlation_data == 1001);
    say_value("data", (long long)enter->correlation_data);
    uint32_t id = 0;
    CU_NEED(cuptiGetContextId(context, &id));
    say_if("context", enter->context_uid == id);
    say_value("last", cu_seen(cu_seen_count() - 1)->status);
}

CASE(cu_call, all_of_a_domain, .bare = true)
{
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    cu_begin();
    CUpti_SubscriberHandle handle = cu_subscribe();
    cu(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_DRIVER_API));
    NEED(cuMemAlloc(&memory, 64));
    NEED(cuStreamCreate(&stream, 0));
    NEED(cuEventCreate(&event, 0));
    NEED(cuEventRecord(event, stream));
    NEED(cuStreamWaitEvent(stream, event, 0));
    NEED(cuEventSynchronize(event));
    NEED(cuStreamSynchronize(stream));
    NEED(cuEventDestroy(event));
    NEED(cuStreamDestroy(stream));
    NEED(cuMemFree(memory));
    cu(cuptiEnableDomain(0, handle, CUPTI_CB_DOMAIN_DRIVER_API));
    NEED(cuMemAlloc(&memory, 64));
    say_seen();
}

CASE(cu_call, launch, .bare = true)
{
    cu_begin();
    cu_kernel();
    CUpti_SubscriberHandle handle = cu_subscribe();
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
    cu_launch(NULL, 2, 32, 0);
    NEED(cuCtxSynchronize());
    say_seen();
    say_text(cu_seen(0)->symbol);
    say_text(cu_seen(1)->symbol);
}

CASE(cu_call, runtime, .bare = true)
{
    void *memory = NULL;
    CUpti_SubscriberHandle handle = cu_subscribe();
    runtime(handle, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
    runtime(handle, CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020);
    runtime(handle, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020);
    say_int(cudaMalloc(&memory, 64));
    say_int(cudaMemset(memory, 0, 64));
    say_int(cudaMemset(memory, 0, (size_t)1 << 40));
    say_int(cudaFree(memory));
    say_seen();
    const struct cu_seen *first = cu_seen_call("cudaMalloc", CUPTI_API_ENTER, 0);
    const struct cu_seen *end = cu_seen_call("cudaMalloc", CUPTI_API_EXIT, 0);
    if (!first || !end)
        gold_stop("cudaMalloc was not seen");
    say_value("context_before", first->context_uid);
    say_value("context_after", end->context_uid);
    const struct cu_seen *failed = cu_seen(5);
    say_value("failed", failed->status);
}

/* A runtime's call and the driver's call inside of it. */
CASE(cu_call, nested, .bare = true)
{
    void *memory = NULL;
    NEED((CUresult)cudaMalloc(&memory, 64));
    CUpti_SubscriberHandle handle = cu_subscribe();
    runtime(handle, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
    NEED((CUresult)cudaMalloc(&memory, 64));
    NEED((CUresult)cudaMalloc(&memory, 64));
    say_seen();
    say_value("seen", cu_seen_count());
    if (cu_seen_count() == 8) {
        say_if("same", cu_seen(0)->correlation == cu_seen(1)->correlation);
        say_value("next", (long long)cu_seen(4)->correlation - (long long)cu_seen(0)->correlation);
    }
}

CASE(cu_call, unsubscribed, .bare = true)
{
    CUdeviceptr memory;
    cu_begin();
    CUpti_SubscriberHandle handle = cu_subscribe();
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
    NEED(cuMemAlloc(&memory, 64));
    cu(cuptiUnsubscribe(handle));
    NEED(cuMemAlloc(&memory, 64));
    say_value("seen", cu_seen_count());
    handle = cu_subscribe();
    NEED(cuMemAlloc(&memory, 64));
    say_value("seen", cu_seen_count());
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
    NEED(cuMemAlloc(&memory, 64));
    say_value("seen", cu_seen_count());
    cu(cuptiFinalize());
    NEED(cuMemAlloc(&memory, 64));
    say_value("seen", cu_seen_count());
}

CASE(cu_call, init, .bare = true)
{
    CUpti_SubscriberHandle handle = cu_subscribe();
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuInit);
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount);
    CU_NEED(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED));
    int count;
    NEED(cuInit(0));
    NEED(cuDeviceGetCount(&count));
    NEED(cuInit(0));
    say_seen();
}

/* ---- parameters ---- */

static CUdeviceptr *given_at;
static size_t given_bytes;
static CUdeviceptr found;

struct alloc_params {
    CUdeviceptr *dptr;
    size_t bytesize;
};

static void look(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    const CUpti_CallbackData *call = data;
    const struct alloc_params *params = call->functionParams;
    (void)user, (void)domain, (void)cbid;
    given_at = params->dptr;
    given_bytes = params->bytesize;
    if (call->callbackSite == CUPTI_API_EXIT)
        found = *params->dptr;
}

CASE(cu_call, params, .bare = true)
{
    CUdeviceptr memory;
    CUpti_SubscriberHandle handle;
    cu_begin();
    CU_NEED(cuptiSubscribe(&handle, look, NULL));
    driver(handle, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
    NEED(cuMemAlloc(&memory, 12345));
    say_if("where", given_at == &memory);
    say_value("bytes", (long long)given_bytes);
    say_if("found", found == memory);
}

/* ---- objects ---- */

static char listed[1024];

static void list(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    const CUpti_ResourceData *resource = data;
    char text[32];
    (void)user;
    int size = 0;
    text[size++] = domain == CUPTI_CB_DOMAIN_RESOURCE ? 'r' : 's';
    text[size++] = (char)('0' + cbid / 10);
    text[size++] = (char)('0' + cbid % 10);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid <= 4)
        text[size++] = resource->context ? 'c' : 'n';
    text[size++] = ' ';
    text[size] = '\0';
    strncat(listed, text, sizeof listed - strlen(listed) - 1);
}

static void say_listed(const char *what)
{
    say_text(what);
    say_text(*listed ? listed : "nothing");
    listed[0] = '\0';
}

CASE(cu_resource, objects, .bare = true)
{
    CUpti_SubscriberHandle handle;
    CUcontext context;
    CUdevice device;
    CUstream stream;
    CUgraph graph, clone;
    CUgraphNode node, second;
    CUgraphExec exec;
    CU_NEED(cuptiSubscribe(&handle, list, NULL));
    cu(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_RESOURCE));
    NEED(cuInit(0));
    say_listed("init");
    NEED(cuDeviceGet(&device, 0));
    NEED(cuDevicePrimaryCtxRetain(&context, device));
    say_listed("primary");
    NEED(cuDevicePrimaryCtxRetain(&context, device));
    say_listed("again");
    NEED(cuCtxSetCurrent(context));
    NEED(cuStreamCreate(&stream, 0));
    say_listed("stream");
    NEED(cuStreamDestroy(stream));
    say_listed("destroy");
    cu_kernel();
    say_listed("module");
    NEED(cuGraphCreate(&graph, 0));
    say_listed("graph");
    NEED(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    say_listed("node");
    NEED(cuGraphAddEmptyNode(&second, graph, &node, 1));
    say_listed("node_behind");
    NEED(cuGraphClone(&clone, graph));
    say_listed("clone");
    NEED(cuGraphInstantiate(&exec, graph, 0));
    say_listed("instantiate");
    NEED(cuGraphExecDestroy(exec));
    say_listed("exec_destroy");
    NEED(cuGraphDestroy(graph));
    say_listed("graph_destroy");
}

CASE(cu_resource, own_context, .bare = true)
{
    CUpti_SubscriberHandle handle;
    CUcontext context;
    CUdevice device;
    CU_NEED(cuptiSubscribe(&handle, list, NULL));
    CU_NEED(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_RESOURCE));
    NEED(cuInit(0));
    NEED(cuDeviceGet(&device, 0));
    listed[0] = '\0';
    NEED(cuCtxCreate(&context, NULL, 0, device));
    say_listed("create");
    NEED(cuCtxDestroy(context));
    say_listed("destroy");
}

CASE(cu_resource, primary_release, .bare = true)
{
    CUpti_SubscriberHandle handle;
    CUdevice device;
    cu_begin();
    NEED(cuDeviceGet(&device, 0));
    CU_NEED(cuptiSubscribe(&handle, list, NULL));
    CU_NEED(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_RESOURCE));
    NEED(cuDevicePrimaryCtxRelease(device));
    say_listed("release");
}

CASE(cu_resource, waits, .bare = true)
{
    CUpti_SubscriberHandle handle;
    CUstream stream;
    CUevent event;
    cu_begin();
    NEED(cuStreamCreate(&stream, 0));
    NEED(cuEventCreate(&event, 0));
    CU_NEED(cuptiSubscribe(&handle, list, NULL));
    CU_NEED(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_SYNCHRONIZE));
    NEED(cuStreamSynchronize(stream));
    say_listed("stream");
    NEED(cuStreamSynchronize(NULL));
    say_listed("default_stream");
    NEED(cuCtxSynchronize());
    say_listed("context");
    NEED(cuEventRecord(event, stream));
    NEED(cuEventSynchronize(event));
    say_listed("event");
    NEED(cuStreamQuery(stream));
    say_listed("query");
}
