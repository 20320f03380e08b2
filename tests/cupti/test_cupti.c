/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI under load: several threads, graphs, small buffers, periods, attaching and leaving while kernels run. What one
 * call or one work gives is in the conformance cases (../golden/cupti). Each test has a process of its own. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "observe/attach.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)
#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)
#define CUPTI(call) CHECK((call) == CUPTI_SUCCESS)

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry add(.param .u64 at)\n{\n    .reg .u64 %a;\n    .reg .u32 %r;\n"
                           "    ld.param.u64 %a, [at];\n    atom.global.add.u32 %r, [%a], 1;\n    ret;\n}\n"
                           ".visible .entry other(.param .u64 at)\n{\n    .reg .u64 %a;\n    .reg .u32 %r;\n"
                           "    ld.param.u64 %a, [at];\n    atom.global.add.u32 %r, [%a], 2;\n    ret;\n}\n";

static CUcontext context;
static CUfunction kernel, other;
static CUdeviceptr word;

static void begin(void)
{
    CUmodule module;
    CUdevice device;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuModuleLoadData(&module, text));
    DRIVER(cuModuleGetFunction(&kernel, module, "add"));
    DRIVER(cuModuleGetFunction(&other, module, "other"));
    DRIVER(cuMemAlloc(&word, 4));
    DRIVER(cuMemsetD32(word, 0, 1));
}

static void launch(CUfunction function, CUstream stream)
{
    void *params[] = {&word};
    DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

/* ---- records ---- */

#define MOST 200000u

static size_t buffer_size = 1 << 16, most_records;
static _Atomic unsigned requested, completed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct seen {
    CUpti_ActivityKind kind;
    uint32_t correlation, stream, cbid, graph;
    uint64_t start, end, node;
    const char *name;
} *seen;
static unsigned count;

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(8, buffer_size);
    *size = buffer_size;
    *most = most_records;
    atomic_fetch_add(&requested, 1);
}

static void take(const CUpti_Activity *record)
{
    struct seen *out = &seen[count++];
    CHECK(count < MOST);
    memset(out, 0, sizeof *out);
    out->kind = record->kind;
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const CUpti_ActivityKernel10 *k = (const void *)record;
        out->correlation = k->correlationId;
        out->stream = k->streamId;
        out->start = k->start;
        out->end = k->end;
        out->name = k->name;
        out->graph = k->graphId;
        out->node = k->graphNodeId;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER || record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
        const CUpti_ActivityAPI *call = (const void *)record;
        out->correlation = call->correlationId;
        out->cbid = call->cbid;
        out->start = call->start;
        out->end = call->end;
    }
}

static void complete(CUcontext of, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    CUptiResult status = CUPTI_ERROR_MAX_LIMIT_REACHED;
    size_t records = 0;
    (void)of, (void)stream;
    CHECK(size == buffer_size && valid <= size);
    pthread_mutex_lock(&lock);
    while (valid && (status = cuptiActivityGetNextRecord(buffer, valid, &record)) == CUPTI_SUCCESS) {
        take(record);
        records++;
    }
    pthread_mutex_unlock(&lock);
    CHECK(status == CUPTI_ERROR_MAX_LIMIT_REACHED && (!most_records || records <= most_records));
    atomic_fetch_add(&completed, 1);
    free(buffer);
}

static void collect(void)
{
    seen = calloc(MOST, sizeof *seen);
    CHECK(seen);
    CUPTI(cuptiActivityRegisterCallbacks(request, complete));
}

static unsigned of_kind(CUpti_ActivityKind kind)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found += seen[i].kind == kind;
    return found;
}

static int by_correlation(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

/* Each kernel has the record of its launch, which began before it, and no two have the same. */
static void check_correlation(unsigned kernels)
{
    static struct seen works[MOST], calls[MOST];
    unsigned work_count = 0, call_count = 0;
    for (unsigned i = 0; i < count; i++)
        if (seen[i].kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            works[work_count++] = seen[i];
        else if (seen[i].kind == CUPTI_ACTIVITY_KIND_DRIVER && seen[i].cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
            calls[call_count++] = seen[i];
    CHECK(work_count == kernels && call_count == kernels);
    qsort(works, work_count, sizeof *works, by_correlation);
    qsort(calls, call_count, sizeof *calls, by_correlation);
    for (unsigned i = 0; i < kernels; i++) {
        CHECK(works[i].correlation == calls[i].correlation);
        CHECK(i == 0 || works[i].correlation != works[i - 1].correlation);
        CHECK(works[i].start >= calls[i].start && works[i].end >= works[i].start);
        CHECK(works[i].name && (strcmp(works[i].name, "add") == 0 || strcmp(works[i].name, "other") == 0));
    }
}

/* ---- threads ---- */

enum { THREADS = 4, LAUNCHES = 400 };

static void *launches(void *nothing)
{
    CUstream stream;
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < LAUNCHES; i++)
        launch(i % 2 ? kernel : other, stream);
    DRIVER(cuStreamSynchronize(stream));
    DRIVER(cuStreamDestroy(stream));
    return nothing;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, launches, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void test_threads(void)
{
    begin();
    collect();
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    run_threads();
    CUPTI(cuptiActivityFlushAll(0));
    check_correlation(THREADS * LAUNCHES);
    CHECK(atomic_load(&requested) - atomic_load(&completed) <= 1);
    size_t dropped = 1;
    CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    CHECK(dropped == 0);
}

/* Buffers that hold few records, and of those one at most. */
static void test_small_buffers(void)
{
    begin();
    buffer_size = 512;
    most_records = 1;
    collect();
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    run_threads();
    CUPTI(cuptiActivityFlushAll(0));
    check_correlation(THREADS * LAUNCHES);
    CHECK(atomic_load(&completed) >= 2 * THREADS * LAUNCHES);
}

/* A buffer that is too small for any record: all are dropped, and counted. */
static void test_tiny_buffers(void)
{
    begin();
    buffer_size = 64;
    collect();
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (unsigned i = 0; i < 10; i++)
        launch(kernel, NULL);
    DRIVER(cuCtxSynchronize());
    CUPTI(cuptiActivityFlushAll(0));
    size_t dropped = 0;
    CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    CHECK(dropped == 10 && count == 0);
}

/* ---- attaching and leaving ---- */

static _Atomic unsigned calls_begun, calls_ended;

static void count_calls(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    const CUpti_CallbackData *call = data;
    CHECK(user == &calls_begun && domain == CUPTI_CB_DOMAIN_DRIVER_API &&
          cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
    CHECK(strcmp(call->symbolName, "add") == 0 || strcmp(call->symbolName, "other") == 0);
    atomic_fetch_add(call->callbackSite == CUPTI_API_ENTER ? &calls_begun : &calls_ended, 1);
}

static _Atomic bool over;

static void *come_and_go(void *nothing)
{
    while (!atomic_load(&over)) {
        CUpti_SubscriberHandle handle;
        CUPTI(cuptiSubscribe(&handle, count_calls, &calls_begun));
        CUPTI(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
        CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
        CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
        nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
        CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY));
        CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
        CUPTI(cuptiUnsubscribe(handle));
        CUPTI(cuptiActivityFlushAll(0));
    }
    return nothing;
}

static void test_come_and_go(void)
{
    pthread_t thread;
    unsigned value;
    begin();
    collect();
    CHECK(pthread_create(&thread, NULL, come_and_go, NULL) == 0);
    for (unsigned i = 0; i < 5; i++)
        run_threads();
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    DRIVER(cuMemcpyDtoH(&value, word, 4));
    CHECK(value == 5 * THREADS * LAUNCHES / 2 * 3);
    /* Afterwards all is as at the beginning. (What was on its way at the last change may have left a record.) */
    CUPTI(cuptiActivityFlushAll(0));
    unsigned before = count;
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch(kernel, NULL);
    DRIVER(cuCtxSynchronize());
    CUPTI(cuptiActivityFlushAll(0));
    CHECK(count == before + 1 && seen[before].end >= seen[before].start && seen[before].start != 0);
}

/* A table that wants no more calls from the begin of one on is told the end of that one, and of no other. */
static mr_attach_function *attach_table;
static struct mr_observer table;
static unsigned begun, ended;

static void give_up(struct mr_observed_call *call)
{
    begun++;
    call->data = &begun;
    CHECK(attach_table(&table, 0));
}

static void see_end(struct mr_observed_call *call, CUresult status)
{
    CHECK(call->data == &begun && status == CUDA_SUCCESS);
    ended++;
}

static void see_runtime_end(struct mr_observed_call *call, int status)
{
    see_end(call, (CUresult)status);
}

static void test_end_of_call(void)
{
    attach_table = (mr_attach_function *)dlsym(RTLD_DEFAULT, MR_ATTACH_SYMBOL);
    table = (struct mr_observer){.version = MR_OBSERVER_VERSION,
                                 .enter = give_up,
                                 .leave = see_end,
                                 .runtime_enter = give_up,
                                 .runtime_leave = see_runtime_end};
    CHECK(attach_table);
    begin();
    CHECK(attach_table(&table, MR_OBSERVE_CALLS));
    DRIVER(cuCtxSynchronize());
    DRIVER(cuCtxSynchronize());
    CHECK(begun == 1 && ended == 1);
    CHECK(cudaFree(NULL) == cudaSuccess); /* the runtime finds the driver */
    CHECK(attach_table(&table, MR_ATTACH_RUNTIME));
    CHECK(cudaStreamSynchronize(NULL) == cudaSuccess);
    CHECK(cudaStreamSynchronize(NULL) == cudaSuccess);
    CHECK(begun == 2 && ended == 2);
}

/* A callback may unsubscribe, and call the driver, of which nothing is told. */
static CUpti_SubscriberHandle own;
static unsigned own_calls;

static void unsubscribe_inside(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    CUdeviceptr memory;
    (void)user, (void)domain, (void)cbid, (void)data;
    own_calls++;
    DRIVER(cuMemAlloc(&memory, 64));
    DRIVER(cuMemFree(memory));
    if (own_calls == 2)
        CUPTI(cuptiUnsubscribe(own));
}

static void test_callback_calls(void)
{
    begin();
    CUPTI(cuptiSubscribe(&own, unsubscribe_inside, NULL));
    CUPTI(cuptiEnableDomain(1, own, CUPTI_CB_DOMAIN_DRIVER_API));
    CUdeviceptr memory;
    DRIVER(cuMemAlloc(&memory, 64));
    DRIVER(cuMemFree(memory));
    CHECK(own_calls == 2);
}

/* ---- graphs ---- */

static void test_graphs(void)
{
    enum { NODES = 20, RUNS = 50 };
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUstream stream;
    void *params[] = {&word};
    uint32_t number;
    begin();
    collect();
    DRIVER(cuGraphCreate(&graph, 0));
    CUDA_KERNEL_NODE_PARAMS shape = {.func = kernel,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
    for (unsigned i = 0; i < NODES; i++)
        DRIVER(cuGraphAddKernelNode(&node, graph, NULL, 0, &shape));
    DRIVER(cuGraphInstantiate(&exec, graph, 0));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CUPTI(cuptiGetGraphExecId(exec, &number));
    for (unsigned i = 0; i < RUNS; i++)
        DRIVER(cuGraphLaunch(exec, stream));
    DRIVER(cuStreamSynchronize(stream));
    CUPTI(cuptiActivityFlushAll(0));
    CHECK(of_kind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == NODES * RUNS);
    for (unsigned i = 0; i < count; i++)
        CHECK(seen[i].graph == number && seen[i].node != 0 && seen[i].correlation != 0 && seen[i].start != 0);
    unsigned runs = 1;
    qsort(seen, count, sizeof *seen, by_correlation);
    for (unsigned i = 1; i < count; i++)
        runs += seen[i].correlation != seen[i - 1].correlation;
    CHECK(runs == RUNS);
}

/* ---- the period ---- */

static void test_period(void)
{
    begin();
    collect();
    CUPTI(cuptiActivityFlushPeriod(10));
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch(kernel, NULL);
    DRIVER(cuCtxSynchronize());
    while (atomic_load(&completed) == 0) /* the deliverer does it by itself */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pthread_mutex_lock(&lock);
    CHECK(count == 1);
    pthread_mutex_unlock(&lock);
}

/* ---- the runtime ---- */

/* The first call of the runtime opens the driver, and is told of all the same. */
static void test_runtime_first(void)
{
    void *memory;
    collect();
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
    CHECK(cudaMalloc(&memory, 64) == cudaSuccess);
    CHECK(cudaMemset(memory, 0, 64) == cudaSuccess);
    CHECK(cudaStreamSynchronize(NULL) == cudaSuccess);
    CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME));
    CHECK(cudaFree(memory) == cudaSuccess);
    CUPTI(cuptiActivityFlushAll(0));
    CHECK(count == 3);
    CHECK(seen[0].cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
    CHECK(seen[1].cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020);
    CHECK(seen[2].cbid == CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);
}

/* ---- faults ---- */

/* A kernel that faults has no record, and the library goes on. */
static void test_fault(void)
{
    CUdeviceptr wild = 64;
    void *params[] = {&wild};
    begin();
    collect();
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    launch(kernel, NULL);
    DRIVER(cuCtxSynchronize());
    DRIVER(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    CHECK(cuCtxSynchronize() != CUDA_SUCCESS);
    CUPTI(cuptiActivityFlushAll(0));
    CHECK(of_kind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1);
    CHECK(of_kind(CUPTI_ACTIVITY_KIND_DRIVER) == 4);
}

/* ---- work of a library ---- */

/* The driver's own functions for libraries (src/command/parts.h). */
enum { ONLY_NAME = 4 };
CUresult millrace_submit_parts(CUstream stream, uint64_t count, void (*run)(void *data, uint64_t first, uint64_t end),
                               void (*release)(void *data), void *data);
bool millrace_touch_part(const char *function, const void *first, size_t width, size_t rows, size_t pitch,
                         unsigned how);

static void do_nothing(void *data, uint64_t first, uint64_t end)
{
    (void)data;
    (void)first;
    (void)end;
}

/* It has the name of the library's function, also in a graph; without one, the library's. */
static void test_library_work(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    begin();
    collect();
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    millrace_touch_part("libraryDoes", NULL, 0, 0, 0, ONLY_NAME);
    DRIVER(millrace_submit_parts(stream, 3, do_nothing, NULL, NULL));
    DRIVER(millrace_submit_parts(stream, 1, do_nothing, NULL, NULL));
    DRIVER(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    millrace_touch_part("libraryDoesMore", NULL, 0, 0, 0, ONLY_NAME);
    DRIVER(millrace_submit_parts(stream, 1, do_nothing, NULL, NULL));
    DRIVER(cuStreamEndCapture(stream, &graph));
    DRIVER(cuGraphInstantiate(&exec, graph, 0));
    DRIVER(cuGraphLaunch(exec, stream));
    DRIVER(cuStreamSynchronize(stream));
    CUPTI(cuptiActivityFlushAll(0));
    static const char *const names[] = {"libraryDoes", "test_cupti work", "libraryDoesMore"};
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++) {
        if (seen[i].kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            continue;
        CHECK(found < 3 && strcmp(seen[i].name, names[found]) == 0);
        found++;
    }
    CHECK(found == 3);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {{"threads", test_threads},
                 {"small_buffers", test_small_buffers},
                 {"tiny_buffers", test_tiny_buffers},
                 {"come_and_go", test_come_and_go},
                 {"end_of_call", test_end_of_call},
                 {"callback_calls", test_callback_calls},
                 {"graphs", test_graphs},
                 {"period", test_period},
                 {"runtime_first", test_runtime_first},
                 {"fault", test_fault},
                 {"library_work", test_library_work}};
    int failed = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            tests[i].run();
            exit(0);
        }
        bool good = child > 0 && waitpid(child, &status, 0) == child && status == 0;
        printf("%s: %s\n", tests[i].name, good ? "ok" : "FAILED");
        failed += !good;
    }
    return failed != 0;
}
