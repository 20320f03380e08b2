/* SPDX-License-Identifier: Apache-2.0 */
/* Handles that one thread destroys while others use them. A call then answers what it would have answered before or
 * after the destruction, and whatever it does never meets an object that was made later: some are made all the time
 * that nobody else knows, and they have to stay as they were made.
 *
 *     test_threads_destroy [ROUNDS]     objects that each maker makes and destroys, of each kind (200) */
#include "api_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAKERS = 2, USERS = 2, SLOTS = 4 };

static unsigned rounds = 200;
static CUcontext context;
static CUstream own;
static CUevent idle_event;
static CUdeviceptr words;
static CUmodule keeper;
static void *_Atomic slots[SLOTS];
static _Atomic int makers_left, wrong;

/* assert_* may not be used off the main thread: what is wrong is counted, and told. */
static void blame(const char *what, int line, int status)
{
    if (atomic_fetch_add(&wrong, 1) < 10)
        fprintf(stderr, "line %d: %s: %d\n", line, what, status);
}
#define STEP(call) \
    do { \
        CUresult step_ = (call); \
        if (step_ != CUDA_SUCCESS) \
            blame(#call, __LINE__, (int)step_); \
    } while (0)
#define HOLDS(what) ((what) ? (void)0 : blame(#what, __LINE__, 0))
/* A call with a handle that may have ended: `gone` is the status if it has. */
#define TRY(gone, call) \
    do { \
        CUresult try_ = (call); \
        if (try_ != CUDA_SUCCESS && try_ != CUDA_ERROR_NOT_READY && try_ != (gone)) \
            blame(#call, __LINE__, (int)try_); \
    } while (0)

struct kind {
    void *(*make)(void);
    void (*use)(void *handle, unsigned turn);
    void (*end)(void *handle);
    void (*make_clean)(void);          /* makes one that nobody knows, looks at it, ends it */
};
static const struct kind *kind;

static void *maker(void *data)
{
    (void)data;
    STEP(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < rounds; i++) {
        void *old = atomic_exchange(&slots[i % SLOTS], kind->make());
        if (old)
            kind->end(old);
        if (kind->make_clean)
            kind->make_clean();
        if (i % 16 == 0)
            sched_yield();
    }
    atomic_fetch_sub(&makers_left, 1);
    return NULL;
}

static void *user(void *data)
{
    unsigned turn = (unsigned)(uintptr_t)data;
    STEP(cuCtxSetCurrent(context));
    while (atomic_load(&makers_left) > 0) {
        void *handle = atomic_load(&slots[turn++ % SLOTS]);
        for (unsigned i = 0; handle && i < 4; i++)
            kind->use(handle, turn + i);
        /* What calls queue must not grow faster than it is done. */
        STEP(cuStreamSynchronize(own));
    }
    return NULL;
}

static void hammer(const struct kind *what)
{
    pthread_t threads[MAKERS + USERS];
    kind = what;
    atomic_store(&wrong, 0);
    atomic_store(&makers_left, MAKERS);
    for (uintptr_t i = 0; i < MAKERS + USERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < MAKERS ? maker : user, (void *)i), 0);
    for (int i = 0; i < MAKERS + USERS; i++)
        pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
    for (int i = 0; i < SLOTS; i++) {
        void *handle = atomic_exchange(&slots[i], NULL);
        if (handle)
            kind->end(handle);
    }
    assert_int_equal(atomic_load(&wrong), 0);
}

static void CUDA_CB nothing(void *data)
{
    (void)data;
}

/* ---- events ---- */

static void *event_make(void)
{
    CUevent event = NULL;
    STEP(cuEventCreate(&event, 0));
    return event;
}

static void event_end(void *event)
{
    STEP(cuEventDestroy(event));
}

static void event_use(void *event, unsigned turn)
{
    float time;
    switch (turn % 8) {
    case 0:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, own));
        break;
    case 1:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
        break;
    case 2:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuStreamWaitEvent(own, event, 0));
        break;
    case 3:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(event));
        break;
    case 4:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&time, event, event));
        break;
    case 5:
        STEP(cuLaunchHostFunc(own, nothing, NULL));
        break;   /* so that recordings are pending */
    case 6:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuEventRecordWithFlags(event, own, 0));
        break;
    default:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuCtxRecordEvent(context, event));
        break;
    }
}

/* One that was never recorded. */
static void event_make_clean(void)
{
    CUevent event = event_make();
    float time;
    for (int i = 0; i < 3; i++) {
        sched_yield();
        HOLDS(cuEventElapsedTime(&time, event, event) == CUDA_ERROR_INVALID_HANDLE);
    }
    STEP(cuEventQuery(event));
    event_end(event);
}

static void events(void **state)
{
    (void)state;
    hammer(&(struct kind){event_make, event_use, event_end, event_make_clean});
}

/* ---- streams ---- */

static void *stream_make(void)
{
    CUstream stream = NULL;
    STEP(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

static void stream_end(void *stream)
{
    STEP(cuStreamDestroy(stream));
}

static void stream_use(void *stream, unsigned turn)
{
    CUstreamAttrValue value = {.priority = -3};
    CUdeviceptr memory;
    unsigned flags;
    switch (turn % 9) {
    case 0:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuLaunchHostFunc(stream, nothing, NULL));
        break;
    case 1:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(idle_event, stream));
        break;
    case 2:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuStreamWaitEvent(stream, idle_event, 0));
        break;
    case 3:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
        break;
    case 4:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
        break;
    case 5:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
        break;
    case 6:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuStreamGetFlags(stream, &flags));
        break;
    case 7: {
        CUresult status = cuMemAllocAsync(&memory, 4096, stream);
        TRY(CUDA_ERROR_INVALID_HANDLE, status);
        if (status == CUDA_SUCCESS)
            TRY(CUDA_ERROR_INVALID_HANDLE, cuMemFreeAsync(memory, own));
        break;
    }
    default: {
        unsigned value32 = 5;
        void *params[] = {&words, &value32};
        CUfunction store;
        STEP(cuModuleGetFunction(&store, keeper, "store"));
        TRY(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    }
    }
}

static void stream_make_clean(void)
{
    CUstream stream = stream_make();
    int priority = 1;
    sched_yield();
    STEP(cuStreamGetPriority(stream, &priority));
    HOLDS(priority == 0);
    STEP(cuStreamQuery(stream));
    stream_end(stream);
}

static void streams(void **state)
{
    (void)state;
    hammer(&(struct kind){stream_make, stream_use, stream_end, stream_make_clean});
}

/* ---- executable graphs and graphs ---- */

static CUgraph pattern;

static void *exec_make(void)
{
    CUgraphExec exec = NULL;
    STEP(cuGraphInstantiate(&exec, pattern, 0));
    return exec;
}

static void exec_end(void *exec)
{
    STEP(cuGraphExecDestroy(exec));
}

static void exec_use(void *exec, unsigned turn)
{
    cuuint64_t flags;
    switch (turn % 3) {
    case 0:
        TRY(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, own));
        break;
    case 1:
        TRY(CUDA_ERROR_INVALID_VALUE, cuGraphUpload(exec, own));
        break;
    default:
        TRY(CUDA_ERROR_INVALID_VALUE, cuGraphExecGetFlags(exec, &flags));
        break;
    }
}

static void execs(void **state)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = words, .elementSize = 1, .width = 64, .height = 1};
    (void)state;
    OK(cuGraphCreate(&pattern, 0));
    OK(cuGraphAddMemsetNode(&node, pattern, NULL, 0, &fill, context));
    hammer(&(struct kind){exec_make, exec_use, exec_end, NULL});
    OK(cuGraphDestroy(pattern));
}

static void *graph_make(void)
{
    CUgraph graph = NULL;
    CUgraphNode node;
    STEP(cuGraphCreate(&graph, 0));
    STEP(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    return graph;
}

static void graph_end(void *graph)
{
    STEP(cuGraphDestroy(graph));
}

static void graph_use(void *graph, unsigned turn)
{
    CUgraphNode node;
    CUgraph clone;
    size_t count = 0;
    switch (turn % 3) {
    case 0:
        TRY(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&node, graph, NULL, 0));
        break;
    case 1:
        TRY(CUDA_ERROR_INVALID_VALUE, cuGraphGetNodes(graph, NULL, &count));
        break;
    default: {
        CUresult status = cuGraphClone(&clone, graph);
        TRY(CUDA_ERROR_INVALID_VALUE, status);
        if (status == CUDA_SUCCESS)
            graph_end(clone);
    }
    }
}

static void graph_make_clean(void)
{
    CUgraph graph = graph_make();
    size_t count = 0;
    sched_yield();
    STEP(cuGraphGetNodes(graph, NULL, &count));
    HOLDS(count == 1);
    graph_end(graph);
}

static void graphs(void **state)
{
    (void)state;
    hammer(&(struct kind){graph_make, graph_use, graph_end, graph_make_clean});
}

/* ---- modules, functions, libraries, kernels ---- */

static const char code[] = PTX_HEAD PTX_STORE PTX_COUNTER;

static void *module_make(void)
{
    CUmodule module = NULL;
    STEP(cuModuleLoadData(&module, code));
    return module;
}

static void module_end(void *module)
{
    STEP(cuModuleUnload(module));
}

static void module_use(void *module, unsigned turn)
{
    CUfunction function;
    CUdeviceptr address;
    unsigned value = 9;
    int attribute;
    void *params[] = {&words, &value};
    if (turn % 3 == 0) {
        TRY(CUDA_ERROR_INVALID_HANDLE, cuModuleGetGlobal(&address, NULL, module, "counter"));
        return;
    }
    CUresult status = cuModuleGetFunction(&function, module, "store");
    TRY(CUDA_ERROR_INVALID_HANDLE, status);
    if (status == CUDA_SUCCESS) {
        TRY(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, own, params, NULL));
        TRY(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    }
}

static void modules(void **state)
{
    (void)state;
    hammer(&(struct kind){module_make, module_use, module_end, NULL});
}

static void *library_make(void)
{
    CUlibrary library = NULL;
    STEP(cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static void library_end(void *library)
{
    STEP(cuLibraryUnload(library));
}

static void library_use(void *library, unsigned turn)
{
    CUkernel kernel;
    CUfunction function;
    CUmodule module;
    CUdeviceptr address;
    const char *name;
    unsigned count, value = 9;
    void *params[] = {&words, &value};
    switch (turn % 4) {
    case 0:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernelCount(&count, library));
        return;
    case 1:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetGlobal(&address, NULL, library, "counter"));
        return;
    case 2:
        TRY(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetModule(&module, library));
        return;
    default:
        break;
    }
    CUresult status = cuLibraryGetKernel(&kernel, library, "store");
    TRY(CUDA_ERROR_INVALID_HANDLE, status);
    if (status == CUDA_SUCCESS) {
        TRY(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&function, kernel));
        TRY(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, own, params, NULL));
        TRY(CUDA_ERROR_INVALID_HANDLE, cuKernelGetName(&name, kernel));
    }
}

static void libraries(void **state)
{
    (void)state;
    hammer(&(struct kind){library_make, library_use, library_end, NULL});
}

/* ---- links, user objects, pools ---- */

static void *link_make(void)
{
    CUlinkState link = NULL;
    STEP(cuLinkCreate(0, NULL, NULL, &link));
    return link;
}

static void link_end(void *link)
{
    STEP(cuLinkDestroy(link));
}

static void link_use(void *link, unsigned turn)
{
    void *image;
    size_t size;
    (void)(turn % 2 ? cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)code, sizeof code, "code", 0, NULL, NULL)
                    : cuLinkComplete(link, &image, &size));
}

static void links(void **state)
{
    (void)state;
    hammer(&(struct kind){link_make, link_use, link_end, NULL});
}

static void *user_object_make(void)
{
    CUuserObject object = NULL;
    STEP(cuUserObjectCreate(&object, NULL, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

static void user_object_end(void *object)
{
    STEP(cuUserObjectRelease(object, 1));
}

static void user_object_use(void *object, unsigned turn)
{
    (void)turn;
    CUresult status = cuUserObjectRetain(object, 1);
    TRY(CUDA_ERROR_INVALID_VALUE, status);
    if (status == CUDA_SUCCESS)
        TRY(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
}

static void user_objects(void **state)
{
    (void)state;
    hammer(&(struct kind){user_object_make, user_object_use, user_object_end, NULL});
}

static void *pool_make(void)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemoryPool pool = NULL;
    STEP(cuMemPoolCreate(&pool, &props));
    return pool;
}

static void pool_end(void *pool)
{
    STEP(cuMemPoolDestroy(pool));
}

static void pool_use(void *pool, unsigned turn)
{
    CUdeviceptr memory;
    cuuint64_t value;
    if (turn % 2) {
        TRY(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
        return;
    }
    CUresult status = cuMemAllocFromPoolAsync(&memory, 1000, pool, own);
    TRY(CUDA_ERROR_INVALID_VALUE, status);
    if (status == CUDA_SUCCESS)
        STEP(cuMemFreeAsync(memory, own));
}

static void pools(void **state)
{
    (void)state;
    hammer(&(struct kind){pool_make, pool_use, pool_end, NULL});
}

static int begin(void **state)
{
    (void)state;
    bool good = cuInit(0) == CUDA_SUCCESS && cuCtxCreate_v4(&context, NULL, 0, 0) == CUDA_SUCCESS &&
                cuStreamCreate(&own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
                cuEventCreate(&idle_event, 0) == CUDA_SUCCESS && cuMemAlloc(&words, 4096) == CUDA_SUCCESS &&
                cuModuleLoadData(&keeper, PTX_HEAD PTX_STORE) == CUDA_SUCCESS;
    return good ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return cuCtxDestroy(context) == CUDA_SUCCESS ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events), cmocka_unit_test(streams),      cmocka_unit_test(execs),
        cmocka_unit_test(graphs), cmocka_unit_test(modules),      cmocka_unit_test(libraries),
        cmocka_unit_test(links),  cmocka_unit_test(user_objects), cmocka_unit_test(pools),
    };
    if (argc > 1)
        rounds = (unsigned)strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, begin, end);
}
