/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of CUPTI stand on: words for its statuses, a context and a kernel, records that came, callbacks seen. */
#include "cu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- statuses ---- */

void cu(CUptiResult status)
{
    const char *name = NULL;
    if (cuptiGetResultString(status, &name) == CUPTI_SUCCESS && name)
        say_text(strncmp(name, "CUPTI_", 6) == 0 ? name + 6 : name);
    else
        say_value("status", status);
}

void cu_need(CUptiResult status, const char *what)
{
    if (status == CUPTI_SUCCESS)
        return;
    cu(status);
    gold_stop(what);
}

/* ---- a context and a kernel ---- */

static const char module_text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry add(.param .u64 at, .param .u32 value)\n{\n"
                                  "    .reg .u64 %a;\n    .reg .u32 %v, %t, %r;\n    .reg .pred %p;\n"
                                  "    .shared .align 4 .b8 room[256];\n"
                                  "    ld.param.u64 %a, [at];\n    ld.param.u32 %v, [value];\n"
                                  "    mov.u32 %t, %tid.x;\n    setp.ne.u32 %p, %t, 0;\n    @%p bra done;\n"
                                  "    st.volatile.shared.u32 [room], %v;\n    ld.volatile.shared.u32 %v, [room];\n"
                                  "    atom.global.add.u32 %r, [%a], %v;\ndone:\n    ret;\n}\n";

static CUfunction kernel;
static CUdeviceptr word;

CUcontext cu_begin(void)
{
    CUcontext context;
    CUdevice device;
    NEED(cuInit(0));
    NEED(cuDeviceGet(&device, 0));
    NEED(cuDevicePrimaryCtxRetain(&context, device));
    NEED(cuCtxSetCurrent(context));
    return context;
}

CUfunction cu_kernel(void)
{
    CUmodule module;
    if (!kernel) {
        NEED(cuModuleLoadData(&module, module_text));
        NEED(cuModuleGetFunction(&kernel, module, "add"));
        NEED(cuMemAlloc(&word, 4));
    }
    return kernel;
}

void cu_launch(CUstream stream, unsigned grid, unsigned block, unsigned shared)
{
    unsigned value = 1;
    CUfunction function = cu_kernel();
    void *params[] = {&word, &value};
    NEED(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, params, NULL));
}

/* ---- records ---- */

#define BUFFER 65536u
#define RECORDS 512u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static union {
    CUpti_ActivityKind kind;
    uint8_t room[512];
} records[RECORDS];
static unsigned record_count, buffer_count;

static size_t bytes_of(CUpti_ActivityKind kind)
{
    switch ((int)kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
        return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_DEVICE:
        return sizeof(CUpti_ActivityDevice5);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
        return sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
        return sizeof(CUpti_ActivityCudaEvent2);
    case CUPTI_ACTIVITY_KIND_STREAM:
        return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
        return sizeof(CUpti_ActivityMemoryPool3);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_MARKER:
        return sizeof(CUpti_ActivityMarker2);
    case CUPTI_ACTIVITY_KIND_MARKER_DATA:
        return sizeof(CUpti_ActivityMarkerData2);
    case CUPTI_ACTIVITY_KIND_NAME:
        return sizeof(CUpti_ActivityName);
    default:
        return sizeof(CUpti_Activity);
    }
}

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(8, BUFFER);
    *size = BUFFER;
    *most = 0;
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    pthread_mutex_lock(&lock);
    buffer_count++;
    while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS && record_count < RECORDS)
        memcpy(records[record_count++].room, record, bytes_of(record->kind));
    pthread_mutex_unlock(&lock);
    free(buffer);
}

void cu_collect(const CUpti_ActivityKind *kinds)
{
    CU_NEED(cuptiActivityRegisterCallbacks(request, complete));
    for (; *kinds != CUPTI_ACTIVITY_KIND_INVALID; kinds++)
        CU_NEED(cuptiActivityEnable(*kinds));
}

void cu_flush(void)
{
    CU_NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

/* When a record began: of kinds that have a begin; else the order in which they came. */
static uint64_t start_of(unsigned number)
{
    const void *record = records[number].room;
    switch ((int)records[number].kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return ((const CUpti_ActivityMemcpy6 *)record)->start;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return ((const CUpti_ActivityMemset4 *)record)->start;
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return ((const CUpti_ActivityKernel10 *)record)->start;
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
        return ((const CUpti_ActivityAPI *)record)->start;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return ((const CUpti_ActivitySynchronization2 *)record)->start;
    default:
        return number;
    }
}

const void *cu_record(CUpti_ActivityKind kind, unsigned number)
{
    for (unsigned i = 0; i < record_count; i++) {
        unsigned before = 0;
        if (records[i].kind != kind)
            continue;
        for (unsigned j = 0; j < record_count; j++)
            before += records[j].kind == kind && j != i &&
                      (start_of(j) < start_of(i) || (start_of(j) == start_of(i) && j < i));
        if (before == number)
            return records[i].room;
    }
    return NULL;
}

unsigned cu_count(CUpti_ActivityKind kind)
{
    unsigned count = 0;
    for (unsigned i = 0; i < record_count; i++)
        count += records[i].kind == kind;
    return count;
}

unsigned cu_buffers(void)
{
    return buffer_count;
}

/* ---- callbacks ---- */

#define SEEN 256u

static struct cu_seen seen[SEEN];
static unsigned seen_count;

static void see(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    (void)user;
    if (seen_count == SEEN)
        return;
    struct cu_seen *out = &seen[seen_count++];
    *out = (struct cu_seen){.domain = domain, .cbid = cbid};
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API)
        return;
    const CUpti_CallbackData *call = data;
    out->site = call->callbackSite;
    out->correlation = call->correlationId;
    out->context_uid = call->contextUid;
    strncpy(out->function, call->functionName, sizeof out->function - 1);
    if (call->symbolName)
        strncpy(out->symbol, call->symbolName, sizeof out->symbol - 1);
    out->correlation_data = *call->correlationData;
    if (call->callbackSite == CUPTI_API_ENTER)
        *call->correlationData = 1000 + seen_count;
    else
        out->status = *(const int *)call->functionReturnValue;
}

CUpti_SubscriberHandle cu_subscribe(void)
{
    CUpti_SubscriberHandle handle;
    CU_NEED(cuptiSubscribe(&handle, see, NULL));
    return handle;
}

unsigned cu_seen_count(void)
{
    return seen_count;
}

const struct cu_seen *cu_seen(unsigned number)
{
    return &seen[number];
}

const struct cu_seen *cu_seen_call(const char *function, CUpti_ApiCallbackSite site, unsigned from)
{
    for (unsigned i = from; i < seen_count; i++)
        if (strcmp(seen[i].function, function) == 0 && seen[i].site == (uint32_t)site)
            return &seen[i];
    return NULL;
}
