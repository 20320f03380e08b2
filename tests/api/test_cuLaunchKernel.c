/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: parameters in every form, limits of shapes and shared memory, wrong handles, the extended and the old
 * calls. */
#include "api_support.h"

#include <pthread.h>

#define PTX PTX_HEAD PTX_COUNTER PTX_STORE PTX_BOUNDED PTX_EMPTY

static CUmodule module;

static int set_up(void **state)
{
    return begin_context(state) != 0 || cuModuleLoadData(&module, PTX) != CUDA_SUCCESS ? -1 : 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, end_context)

static CUresult shape(const char *name, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared)
{
    static CUdeviceptr to;
    if (!to || cuMemsetD32(to, 0, 1) != CUDA_SUCCESS)
        OK(cuMemAlloc(&to, 16));
    void *params[] = {&to};
    return cuLaunchKernel(get_function(module, name), gx, gy, gz, bx, by, bz, shared, NULL, params, NULL);
}

static void shapes(void **state)
{
    static const struct {
        unsigned g[3], b[3];
        CUresult status;
    } rows[] = {
        {{1, 1, 1}, {1024, 1, 1}, CUDA_SUCCESS},
        {{1, 1, 1}, {16, 1, 64}, CUDA_SUCCESS},
        {{1, 65535, 1}, {1, 1, 1}, CUDA_SUCCESS},
        {{0, 1, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 0, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 0}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {0, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 0, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1025, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {32, 33, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 1, 65}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {UINT32_MAX, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {65536, 65536, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 65536, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 65536}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
        {{0x80000000u, 1, 1}, {1, 1, 1}, CUDA_ERROR_INVALID_VALUE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const unsigned *g = rows[i].g, *b = rows[i].b;
        assert_int_equal(shape("empty", g[0], g[1], g[2], b[0], b[1], b[2], 0), rows[i].status);
    }
    OK(cuCtxSynchronize());
    OK(shape("bounded", 1, 1, 1, 64, 1, 1, 0));
    FAILS(shape("bounded", 1, 1, 1, 65, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
    OK(shape("exactly", 1, 1, 1, 32, 1, 1, 0));
    FAILS(shape("exactly", 1, 1, 1, 31, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(shape("exactly", 1, 1, 1, 16, 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize());
}

static void shared_memory(void **state)
{
    CUfunction function = get_function(module, "bounded");
    (void)state;
    OK(shape("bounded", 1, 1, 1, 1, 1, 1, 49152 - 1024));
    FAILS(shape("bounded", 1, 1, 1, 1, 1, 1, 49152 - 1023), CUDA_ERROR_INVALID_VALUE);
    FAILS(shape("bounded", 1, 1, 1, 1, 1, 1, UINT32_MAX), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    OK(shape("bounded", 1, 1, 1, 1, 1, 1, 65536));
    FAILS(shape("bounded", 1, 1, 1, 1, 1, 1, 65537), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
    FAILS(shape("bounded", 1, 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize());
}

struct store_params {
    CUdeviceptr to;
    unsigned value;
};

static CUresult by_buffer(struct store_params *params, size_t size)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(get_function(module, "store"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
}

static void parameters(void **state)
{
    struct store_params p = {.value = 11};
    CUfunction store = get_function(module, "store"), empty = get_function(module, "empty");
    void *pointers[] = {&p.to, &p.value}, *holed[] = {&p.to, NULL}, *nothing[] = {CU_LAUNCH_PARAM_END},
         *unknown[] = {(void *)77, &p, CU_LAUNCH_PARAM_END},
         *no_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_END};
    (void)state;
    OK(cuMemAlloc(&p.to, 16));
    OK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, pointers, NULL));
    p.value = 12; /* was copied at the call */
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(p.to), 11);
    OK(by_buffer(&p, 12));
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(p.to), 12);
    p.value = 13;
    OK(by_buffer(&p, sizeof p)); /* with the padding of the struct */
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(p.to), 13);
    OK(by_buffer(&p, 8)); /* what is missing is zero */
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(p.to), 0);
    FAILS(by_buffer(&p, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(by_buffer(NULL, 12), CUDA_ERROR_INVALID_VALUE);
    FAILS(by_buffer(&p, 24), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    FAILS(by_buffer(&p, (size_t)1 << 40), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    FAILS(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, holed, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, nothing), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, unknown), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, no_size), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, pointers, nothing), CUDA_ERROR_INVALID_VALUE);
    OK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}

static void handles(void **state)
{
    CUcontext own = *state, other;
    CUstream stream;
    CUfunction function = get_function(module, "empty");
    FAILS(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLaunchKernel(WILD(CUfunction), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLaunchKernel((CUfunction)(void *)module, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, WILD(CUstream), NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, NULL, NULL));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    FAILS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamCreate(&stream, 0));
    FAILS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(NULL));
    FAILS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(own));
    OK(cuModuleUnload(module));
    FAILS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* Unloading while the launch waits in the stream: it still runs. */
static void CUDA_CB wait_for_gate(void *data)
{
    pthread_mutex_lock(data);
    pthread_mutex_unlock(data);
}

struct unloading {
    CUcontext context;
    CUmodule module;
    CUresult status;
};

static void *unload(void *of)
{
    struct unloading *unloading = of;
    unloading->status = cuCtxSetCurrent(unloading->context);
    if (unloading->status == CUDA_SUCCESS)
        unloading->status = cuModuleUnload(unloading->module);
    return NULL;
}

/* The call waits for the launch, which waits for the gate, as on hardware. */
static void a_module_outlives_its_launches(void **state)
{
    static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    static const char constant_only[] = PTX_HEAD PTX_STORE;
    CUmodule own = load_module(constant_only);
    CUfunction function = get_function(own, "store");
    CUstream stream;
    CUdeviceptr to;
    unsigned value = 44;
    (void)state;
    OK(cuMemAlloc(&to, 4));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    void *params[] = {&to, &value};
    pthread_mutex_lock(&gate);
    OK(cuLaunchHostFunc(stream, wait_for_gate, &gate));
    CUresult launched = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
    CUresult query = cuStreamQuery(stream);
    struct unloading unloading = {.module = own};
    CUresult current = cuCtxGetCurrent(&unloading.context);
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, unload, &unloading);
    pthread_mutex_unlock(&gate); /* whatever came back: a test that fails must still end */
    assert_int_equal(failed, 0);
    pthread_join(thread, NULL);
    OK(current);
    OK(launched);
    assert_int_equal(query, CUDA_ERROR_NOT_READY);
    OK(unloading.status);
    OK(cuStreamQuery(stream));
    assert_int_equal(read_word(to), 44);
    OK(cuStreamDestroy(stream));
}

static void extended(void **state)
{
    CUfunction empty = get_function(module, "empty");
    CUlaunchAttribute attribute;
    CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    (void)state;
    OK(cuLaunchKernelEx(&config, empty, NULL, NULL));
    FAILS(cuLaunchKernelEx(NULL, empty, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernelEx(&config, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    config.numAttrs = 1;
    FAILS(cuLaunchKernelEx(&config, empty, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    config.attrs = &attribute;
    memset(&attribute, 0, sizeof attribute);
    static const struct {
        CUlaunchAttributeID id;
        CUresult status;
    } zeros[] = {
        {CU_LAUNCH_ATTRIBUTE_IGNORE, CUDA_SUCCESS},
        {CU_LAUNCH_ATTRIBUTE_PRIORITY, CUDA_SUCCESS},
        {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CUDA_SUCCESS},
        {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, CUDA_SUCCESS},
        {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CUDA_ERROR_INVALID_HANDLE},
        {CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, CUDA_ERROR_INVALID_HANDLE},
        {(CUlaunchAttributeID)999, CUDA_ERROR_INVALID_VALUE},
    };
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        attribute.id = zeros[i].id;
        FAILS(cuLaunchKernelEx(&config, empty, NULL, NULL), zeros[i].status);
    }
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    OK(cuLaunchKernelEx(&config, empty, NULL, NULL));
    attribute.value.clusterDim.x = 2;
    FAILS(cuLaunchKernelEx(&config, empty, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    OK(cuLaunchKernelEx(&config, empty, NULL, NULL));
    OK(cuCtxSynchronize());
}

static CUlaunchAttribute recording(bool programmatic, CUevent event, int flags)
{
    CUlaunchAttribute attribute = {.id = programmatic ? CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
                                                      : CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    if (programmatic) {
        attribute.value.programmaticEvent.event = event;
        attribute.value.programmaticEvent.flags = flags;
        attribute.value.programmaticEvent.triggerAtBlockStart = 1;
    } else {
        attribute.value.launchCompletionEvent.event = event;
        attribute.value.launchCompletionEvent.flags = flags;
    }
    return attribute;
}

/* Attributes that have a launch record events: what waits for them comes after what stands before the launch, at least,
 * and in time. */
static void events_of_a_launch(void **state)
{
    CUfunction add = get_function(module, "increase");
    CUdeviceptr word;
    CUstream stream, other;
    CUevent events[2], timed, shared, foreign;
    CUcontext elsewhere;
    CUgraph graph;
    CUgraphExec exec;
    size_t edges = 0;
    OK(cuModuleGetGlobal(&word, NULL, module, "counter"));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++)
        OK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&timed, 0));
    OK(cuEventCreate(&shared, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    OK(cuCtxCreate(&elsewhere, NULL, 0, 0));
    OK(cuEventCreate(&foreign, CU_EVENT_DISABLE_TIMING));
    OK(cuCtxSetCurrent(*state));
    CUlaunchAttribute attributes[3];
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = attributes,
                             .numAttrs = 1};
    for (int programmatic = 0; programmatic < 2; programmatic++) {
        attributes[0] = recording(programmatic, timed, 0);
        FAILS(cuLaunchKernelEx(&config, add, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
        attributes[0] = recording(programmatic, shared, 0);
        FAILS(cuLaunchKernelEx(&config, add, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
        attributes[0] = recording(programmatic, events[0], CU_EVENT_RECORD_EXTERNAL);
        FAILS(cuLaunchKernelEx(&config, add, NULL, NULL), CUDA_ERROR_ILLEGAL_STATE);
        attributes[0] = recording(programmatic, events[0], 2);
        FAILS(cuLaunchKernelEx(&config, add, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
        attributes[0] = recording(programmatic, foreign, 0);
        FAILS(cuLaunchKernelEx(&config, add, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    }
    OK(cuMemsetD32(word, 0, 1));
    OK(cuCtxSynchronize());
    /* The completion's event is complete when the programmatic one is, whichever the attributes name first. */
    for (int i = 0; i < 100; i++) {
        attributes[i / 2 % 2 * 2] = recording(true, events[0], 0);
        attributes[1] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
        attributes[2 - i / 2 % 2 * 2] = recording(false, events[1], 0);
        config.numAttrs = 3;
        OK(cuLaunchKernelEx(&config, add, NULL, NULL));
        OK(cuStreamWaitEvent(other, events[i % 2], 0));
        OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
        OK(cuStreamSynchronize(other));
        OK(cuEventSynchronize(events[0]));
        OK(cuEventQuery(events[1]));
        OK(cuStreamSynchronize(stream));
    }
    assert_int_equal(read_word(word), 200);
    /* In a captured stream the event forks, and the node itself has no such attribute. */
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernelEx(&config, add, NULL, NULL));
    OK(cuStreamWaitEvent(other, events[1], 0));
    OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
    OK(cuEventRecord(events[0], other));
    OK(cuStreamWaitEvent(stream, events[0], 0));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
    assert_int_equal(edges, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(read_word(word), 202);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuCtxDestroy(elsewhere));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(other));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void old_calls(void **state)
{
    CUfunction store = get_function(module, "store"), increase = get_function(module, "increase");
    CUdeviceptr to, counter;
    CUstream stream;
    (void)state;
    OK(cuMemAlloc(&to, 4));
    OK(cuFuncSetBlockShape(store, 1, 1, 1));
    OK(cuParamSetv(store, 0, &to, sizeof to));
    OK(cuParamSeti(store, 8, 123));
    OK(cuParamSetSize(store, 12));
    OK(cuLaunch(store));
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(to), 123);
    OK(cuParamSetf(store, 8, 1.0f));
    OK(cuLaunchGrid(store, 1, 1));
    OK(cuCtxSynchronize());
    assert_int_equal(read_word(to), 0x3f800000);
    OK(cuModuleGetGlobal(&counter, NULL, module, "counter"));
    OK(cuStreamCreate(&stream, 0));
    OK(cuFuncSetBlockShape(increase, 4, 1, 1));
    OK(cuFuncSetSharedSize(increase, 64));
    OK(cuLaunchGridAsync(increase, 3, 2, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(read_word(counter), 7 + 24);
    FAILS(cuFuncSetBlockShape(store, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncSetBlockShape(store, 2000, 1, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncSetBlockShape(store, -1, 1, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuFuncSetBlockShape(NULL, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuParamSetSize(store, 100000), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuParamSeti(store, 100000, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuParamSeti(store, -4, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuParamSetv(store, 0, NULL, 8), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchGrid(store, 0, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunch(get_function(module, "empty")), CUDA_ERROR_INVALID_VALUE); /* no block shape yet */
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(shapes),   TEST(shared_memory),      TEST(parameters), TEST(handles), TEST(a_module_outlives_its_launches),
        TEST(extended), TEST(events_of_a_launch), TEST(old_calls),
    };
    return cmocka_run_group_tests_name("cuLaunchKernel", tests, NULL, NULL);
}
