/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that end while other threads use them in every way.
 *
 * A few threads draw random calls on the contexts of a small table; one more replaces the contexts, one after the
 * other. What a user thread knows of a context is one record that never changes, so it may well be of one that is gone.
 * A call may then say so, in one of the documented ways; it may never say anything else, crash, or fail a context by
 * touching memory that went too early. */
#include "api_support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { SLOTS = 3, USERS = 4, CELL = 16, CELLS = 32, WORDS = USERS * CELLS * CELL, RECORDS = 4096 };

struct world {
    CUcontext context;
    CUstream blocking, free;
    CUevent event, other_event;
    CUfunction store;
    CUdeviceptr memory;
    unsigned *pinned;
    bool primary;
};

static _Atomic(struct world *) slots[SLOTS];
static _Atomic bool over;
static struct world worlds[RECORDS];
static _Atomic unsigned wrong, calls, refused;
static _Atomic int seen[300];      /* the last status of each call that it may not have */

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static bool may_be(CUresult status)
{
    switch (status) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_ILLEGAL_STATE: /* the capture went with its context */
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: /* another thread captures */
        return true;
    default:
        return false;
    }
}

static bool saw(int call, CUresult status)
{
    atomic_fetch_add(&calls, 1);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY)
        atomic_fetch_add(&refused, 1);
    if (!may_be(status)) {
        atomic_fetch_add(&wrong, 1);
        atomic_store(&seen[call], (int)status);
    }
    return status == CUDA_SUCCESS;
}

static void nothing(void *data)
{
    (void)data;
}

/* Each user and each kind of call, which always takes the same stream, has words of its own: only the driver's data can
 * be raced for. */
static _Thread_local unsigned my_number;

static CUdeviceptr cell(const struct world *in, unsigned call)
{
    return in->memory + 4 * CELL * (my_number * CELLS + call);
}

static CUresult launch(const struct world *in, CUstream stream, unsigned value)
{
    CUdeviceptr to = cell(in, value % 4);
    void *parameters[] = {&to, &value};
    return cuLaunchKernel(in->store, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

/* Captures a launch, runs it as a graph. */
static void call_graph(const struct world *in)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    if (!saw(130, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)))
        return;
    if (saw(131, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))) {
        saw(132, launch(in, stream, 3));
        if (saw(133, cuStreamEndCapture(stream, &graph)) && graph) {
            if (saw(134, cuGraphInstantiate(&exec, graph, 0)))
                saw(135, cuGraphLaunch(exec, in->free)), saw(136, cuGraphExecDestroy(exec));
            saw(137, cuGraphDestroy(graph));
        }
    }
    saw(138, cuStreamDestroy(stream));
}

/* If the context has just ended, its memory may be another thread's, which is then written to and freed by two: a
 * mistake that only a program which ends contexts in use makes. The driver has to bear it; ThreadSanitizer would report
 * the program. */
static CUresult write_to(CUdeviceptr memory)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
#endif
#endif
    return cuMemsetD32Async(memory, 5, 100, NULL);
}

/* Calls that make something and give it back. */
static void call_making(const struct world *in, unsigned what)
{
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CUmodule module;
    void *host;
    CUresult status;
    static _Thread_local unsigned mine[2048];
    switch (what % 10) {
    case 8:
        call_graph(in);
        break;
    case 9:
        if (saw(123, cuMemAllocAsync(&memory, 30000, in->free)))
            saw(124, cuMemsetD8Async(memory, 1, 30000, in->free)), saw(125, cuMemFreeAsync(memory, in->free));
        break;
    case 0:
        if (saw(100, cuMemAlloc(&memory, 70000)))
            saw(101, write_to(memory)), saw(102, cuMemFree(memory));
        break;
    case 1:
        if (saw(103, cuStreamCreate(&stream, what & 64 ? CU_STREAM_NON_BLOCKING : 0)))
            saw(104, launch(in, stream, what)), saw(105, cuStreamDestroy(stream));
        break;
    case 2:
        if (saw(106, cuEventCreate(&event, 0)))
            saw(107, cuEventRecord(event, in->blocking)), saw(108, cuStreamWaitEvent(in->free, event, 0)),
                saw(109, cuEventDestroy(event));
        break;
    case 3:
        if (saw(110, cuModuleLoadData(&module, PTX_HEAD PTX_COUNTER)))
            saw(111, cuModuleUnload(module));
        break;
    case 4:
        /* A registration ends with its context, which another thread may be ending still. */
        status = cuMemHostRegister(mine, sizeof mine, 0);
        if (status != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED && saw(112, status))
            saw(113, cuMemcpyHtoDAsync(cell(in, 21), mine, 64, in->free)), saw(114, cuStreamSynchronize(in->free)),
                (void)cuMemHostUnregister(mine);
        break;
    case 5:
        if (saw(116, cuMemHostAlloc(&host, 5000, 0)))
            saw(117, cuMemFreeHost(host));
        break;
    case 6:
        if (saw(118, cuMemAllocManaged(&memory, 8192, CU_MEM_ATTACH_GLOBAL)))
            saw(119,
                cuMemPrefetchAsync(memory, 8192, (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE}, 0, in->free)),
                saw(120, cuMemFree(memory));
        break;
    default:
        saw(121, cuCtxRecordEvent(in->context, in->other_event));
        saw(122, cuCtxWaitEvent(in->context, in->other_event));
        break;
    }
}

/* Calls on what is there. */
static void call_using(const struct world *in, const struct world *other, unsigned what)
{
    unsigned word;
    float ms;
    CUcontext told;
    int number;
    switch (what % 22) {
    case 20:
        saw(20, cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, in->store));
        break;
    case 21:
        saw(21, cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, in->store, 32, 0));
        break;
    case 0:
        saw(0, launch(in, in->blocking, what));
        break;
    case 1:
        saw(1, launch(in, in->free, what));
        break;
    case 2:
        saw(2, launch(in, NULL, what));
        break;
    case 3:
        saw(3, launch(in, CU_STREAM_PER_THREAD, what));
        break;
    case 4:
        saw(4, cuMemcpyDtoHAsync(in->pinned + my_number, cell(in, 4), 4, in->free));
        break;
    case 5:
        saw(5, cuMemcpyDtoH(&word, cell(in, 5), 4));
        break;
    case 6:
        saw(6, cuMemcpyHtoD(cell(in, 6), &what, 4));
        break;
    case 7:
        saw(7, cuMemsetD32Async(cell(in, 7), what, CELL, in->blocking));
        break;
    case 8:
        saw(8, cuEventRecord(in->event, in->free));
        break;
    case 9:
        saw(9, cuEventQuery(in->event));
        break;
    case 10:
        saw(10, cuEventSynchronize(in->event));
        break;
    case 11:
        saw(11, cuStreamWaitEvent(other->free, in->event, 0));
        break;
    case 12:
        saw(12, cuStreamQuery(in->blocking));
        break;
    case 13:
        saw(13, cuStreamSynchronize(in->free));
        break;
    case 14:
        saw(14, cuCtxSynchronize());
        break;
    case 15:
        saw(15, cuLaunchHostFunc(in->blocking, nothing, NULL));
        break;
    case 16:
        saw(16, cuEventElapsedTime(&ms, in->event, in->event));
        break;
    case 17:
        saw(17, cuStreamGetCtx(in->free, &told));
        break;
    case 18:
        saw(18, cuMemcpyPeerAsync(cell(in, 8), other->context, cell(in, 9), in->context, 64, in->free));
        break;
    default:
        saw(19, cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_CONTEXT, in->memory));
        break;
    }
}

static void *user(void *data)
{
    unsigned seed = 17 + *(unsigned *)data;
    my_number = *(unsigned *)data;
    while (!atomic_load(&over)) {
        struct world *in = atomic_load(&slots[draw(&seed) % SLOTS]), *other = atomic_load(&slots[draw(&seed) % SLOTS]);
        if (!saw(200, cuCtxSetCurrent(in->context)))
            continue;
        for (unsigned i = draw(&seed) % 30; i > 0; i--) {
            unsigned what = draw(&seed);
            if (what % 5 == 0)
                call_making(in, what / 5);
            else
                call_using(in, in->primary == other->primary && what & 256 ? in : other, what / 5);
        }
    }
    cuCtxSetCurrent(NULL);
    return NULL;
}

/* Fills a record; true on success. The new context is left current on the stack of the calling thread, and popped. */
static bool world_begin(struct world *made, bool primary)
{
    CUmodule module;
    made->primary = primary;
    bool good = primary ? cuDevicePrimaryCtxRetain(&made->context, 0) == CUDA_SUCCESS &&
                              cuCtxPushCurrent(made->context) == CUDA_SUCCESS
                        : cuCtxCreate(&made->context, NULL, 0, 0) == CUDA_SUCCESS;
    return good && cuStreamCreate(&made->blocking, 0) == CUDA_SUCCESS &&
           cuStreamCreate(&made->free, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
           cuEventCreate(&made->event, 0) == CUDA_SUCCESS &&
           cuEventCreate(&made->other_event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
           cuModuleLoadData(&module, PTX_HEAD PTX_STORE) == CUDA_SUCCESS &&
           cuModuleGetFunction(&made->store, module, "store") == CUDA_SUCCESS &&
           cuMemAlloc(&made->memory, WORDS * 4) == CUDA_SUCCESS &&
           cuMemHostAlloc((void **)&made->pinned, WORDS * 4, 0) == CUDA_SUCCESS &&
           cuCtxPopCurrent(NULL) == CUDA_SUCCESS;
}

static CUresult world_end(const struct world *what)
{
    return what->primary ? cuDevicePrimaryCtxReset(0) : cuCtxDestroy(what->context);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void test_contexts_end_in_use(void **state)
{
    pthread_t threads[USERS];
    unsigned numbers[USERS], used = 0;
    (void)state;
    OK(cuInit(0));
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_true(world_begin(&worlds[used], i == 0));
        atomic_store(&slots[i], &worlds[used++]);
    }
    /* The compiler sets itself up on one thread: ThreadSanitizer cannot see how LLVM would share that. */
    OK(cuCtxSetCurrent(worlds[1].context));
    OK(launch(&worlds[1], NULL, 1));
    OK(cuCtxSynchronize());
    OK(cuCtxPopCurrent(NULL));
    for (unsigned i = 0; i < USERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, user, &numbers[i]), 0);
    }
    uint64_t end = now_ms() + 1500;
    for (unsigned at = 0; now_ms() < end && used < RECORDS; at = (at + 1) % SLOTS) {
        struct timespec nap = {0, 2000000};
        struct world *old = atomic_load(&slots[at]);
        nanosleep(&nap, NULL);
        if (at == 0) /* the primary context: gone before it can be made again */
            OK(world_end(old));
        assert_true(world_begin(&worlds[used], at == 0));
        atomic_store(&slots[at], &worlds[used++]);
        if (at != 0)
            OK(world_end(old));
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < USERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < SLOTS; i++)
        OK(world_end(atomic_load(&slots[i])));
    for (int i = 0; i < 300; i++)
        if (seen[i])
            fprintf(stderr, "call %d ended with status %d\n", i, seen[i]);
    assert_int_equal(wrong, 0);
    assert_true(calls > 100);
    if (getenv("MILLRACE_TEST_VERBOSE"))
        fprintf(stderr, "%u contexts, %u calls, %u refused\n", used, calls, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contexts_end_in_use)};
    return cmocka_run_group_tests_name("contexts that end in use", tests, NULL, NULL);
}
