/* SPDX-License-Identifier: Apache-2.0 */
/* Setters of nodes, and the calls around streams that the other inside_ tests leave out, when the driver's own memory
 * runs out: each allocation of each call is made to fail in turn. The call then says CUDA_ERROR_OUT_OF_MEMORY or does
 * without, has changed nothing, and works when it is called again; nothing is left over in the end. */
#include "graph_support.h"

#include "each_failure.h"
#include "memory/allocation.h"

static CUfunction store;
static CUstream stream;
static CUdeviceptr words;
static CUcontext context;

static void CUDA_CB do_nothing(void *data)
{
    (void)data;
}

static CUDA_MEMSET_NODE_PARAMS fill_with(unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = words, .elementSize = 4, .width = 4, .height = 1, .value = value};
}

static CUstreamBatchMemOpParams write_of(unsigned value)
{
    return (CUstreamBatchMemOpParams){
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = words + 64, .value = value}};
}

struct zoo {
    CUgraph graph;
    CUgraphNode kernel, twin, fill, host, record, wait, batch;
    CUevent event, other;
};

static struct zoo make_zoo(void)
{
    struct zoo zoo = {.graph = new_graph()};
    unsigned value = 1;
    CUdeviceptr at = words + 128;
    void *params[] = {&at, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread(store, params);
    CUDA_MEMSET_NODE_PARAMS fill = fill_with(1);
    CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
    CUstreamBatchMemOpParams op = write_of(1);
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {context, 1, &op, 0};
    OK(cuEventCreate(&zoo.event, 0));
    OK(cuEventCreate(&zoo.other, 0));
    OK(cuGraphAddKernelNode(&zoo.kernel, zoo.graph, NULL, 0, &kernel));
    OK(cuGraphAddKernelNode(&zoo.twin, zoo.graph, NULL, 0, &kernel));
    OK(cuGraphAddMemsetNode(&zoo.fill, zoo.graph, NULL, 0, &fill, context));
    OK(cuGraphAddHostNode(&zoo.host, zoo.graph, NULL, 0, &host));
    OK(cuGraphAddEventRecordNode(&zoo.record, zoo.graph, NULL, 0, zoo.event));
    OK(cuGraphAddEventWaitNode(&zoo.wait, zoo.graph, NULL, 0, zoo.event));
    OK(cuGraphAddBatchMemOpNode(&zoo.batch, zoo.graph, NULL, 0, &batch));
    return zoo;
}

static void end_zoo(struct zoo *zoo)
{
    OK(cuGraphDestroy(zoo->graph));
    OK(cuEventDestroy(zoo->event));
    OK(cuEventDestroy(zoo->other));
}

/* What the nodes hold: all of it new, or all of it as it was. */
static void expect_fill(CUgraphNode node, unsigned value)
{
    CUDA_MEMSET_NODE_PARAMS found;
    OK(cuGraphMemsetNodeGetParams(node, &found));
    assert_int_equal(found.value, value);
}

static void expect_batch(CUgraphNode node, unsigned count, unsigned value)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS found;
    OK(cuGraphBatchMemOpNodeGetParams(node, &found));
    assert_int_equal(found.count, count);
    assert_int_equal(found.paramArray[count - 1].writeValue.value, value);
}

static void set_nodes(void)
{
    struct zoo zoo = make_zoo();
    CUDA_MEMSET_NODE_PARAMS fill = fill_with(2);
    CUDA_HOST_NODE_PARAMS host = {do_nothing, &zoo};
    CUstreamBatchMemOpParams ops[3] = {write_of(5), write_of(6), write_of(7)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {context, 3, ops, 0};
    unsigned value = 9;
    CUdeviceptr at = words + 132;
    void *params[] = {&at, &value};
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                             .kernel = {.func = store,
                                        .gridDimX = 2,
                                        .gridDimY = 1,
                                        .gridDimZ = 1,
                                        .blockDimX = 1,
                                        .blockDimY = 1,
                                        .blockDimZ = 1,
                                        .kernelParams = params}};
    CUkernelNodeAttrValue priority = {.priority = -1};
    CUevent found = NULL;
    EACH_FAILURE(cuGraphMemsetNodeSetParams(zoo.fill, &fill), (void)0);
    expect_fill(zoo.fill, 2);
    EACH_FAILURE(cuGraphHostNodeSetParams(zoo.host, &host), (void)0);
    for (uint64_t try = 1; try < MOST_TRIES; try++) {
        (void)mr_alloc_fail_mine(try);
        CUresult status = cuGraphBatchMemOpNodeSetParams(zoo.batch, &batch);
        (void)mr_alloc_fail_mine(0);
        expect_batch(zoo.batch, status == CUDA_SUCCESS ? 3 : 1, status == CUDA_SUCCESS ? 7 : 1);
        if (status == CUDA_SUCCESS)
            break;
        FAILS(status, CUDA_ERROR_OUT_OF_MEMORY);
    }
    expect_batch(zoo.batch, 3, 7);
    EACH_FAILURE(cuGraphEventRecordNodeSetEvent(zoo.record, zoo.other), (void)0);
    EACH_FAILURE(cuGraphEventWaitNodeSetEvent(zoo.wait, zoo.other), (void)0);
    OK(cuGraphEventWaitNodeGetEvent(zoo.wait, &found));
    assert_ptr_equal(found, zoo.other);
    EACH_FAILURE(cuGraphNodeSetParams(zoo.kernel, &any), (void)0);
    OK(cuGraphKernelNodeSetAttribute(zoo.kernel, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &priority));
    EACH_FAILURE(cuGraphKernelNodeCopyAttributes(zoo.twin, zoo.kernel), (void)0);
    end_zoo(&zoo);
}

static unsigned word_at(size_t place)
{
    unsigned found = 0;
    OK(cuMemcpyDtoH(&found, words + place, 4));
    return found;
}

static void run(CUgraphExec exec)
{
    OK(cuMemsetD32(words, 0, 256));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

static void set_in_execs(void)
{
    struct zoo zoo = make_zoo();
    CUDA_MEMSET_NODE_PARAMS fill = fill_with(2);
    CUDA_HOST_NODE_PARAMS host = {do_nothing, &zoo};
    CUstreamBatchMemOpParams op = write_of(7);
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {context, 1, &op, 0};
    unsigned value = 9;
    CUdeviceptr at = words + 132;
    void *params[] = {&at, &value};
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                             .kernel = {.func = store,
                                        .gridDimX = 1,
                                        .gridDimY = 1,
                                        .gridDimZ = 1,
                                        .blockDimX = 1,
                                        .blockDimY = 1,
                                        .blockDimZ = 1,
                                        .kernelParams = params}};
    CUDA_GRAPH_INSTANTIATE_PARAMS with = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD, .hUploadStream = stream};
    CUgraphExec exec;
    EACH_FAILURE(cuGraphInstantiateWithParams(&exec, zoo.graph, &with), OK(cuGraphExecDestroy(exec)));
    EACH_FAILURE(cuGraphUpload(exec, stream), (void)0);
    EACH_FAILURE(cuGraphExecMemsetNodeSetParams(exec, zoo.fill, &fill, context), (void)0);
    EACH_FAILURE(cuGraphExecHostNodeSetParams(exec, zoo.host, &host), (void)0);
    EACH_FAILURE(cuGraphExecEventRecordNodeSetEvent(exec, zoo.record, zoo.other), (void)0);
    EACH_FAILURE(cuGraphExecEventWaitNodeSetEvent(exec, zoo.wait, zoo.other), (void)0);
    EACH_FAILURE(cuGraphExecBatchMemOpNodeSetParams(exec, zoo.batch, &batch), (void)0);
    EACH_FAILURE(cuGraphExecNodeSetParams(exec, zoo.kernel, &any), (void)0);
    EACH_FAILURE(cuGraphNodeSetEnabled(exec, zoo.twin, 0), OK(cuGraphNodeSetEnabled(exec, zoo.twin, 1)));
    run(exec);
    assert_int_equal(word_at(0), 2);
    assert_int_equal(word_at(64), 7);
    assert_int_equal(word_at(128), 0);
    assert_int_equal(word_at(132), 9);
    OK(cuEventQuery(zoo.other));
    OK(cuGraphExecDestroy(exec));
    end_zoo(&zoo);
}

/* The calls of a stream, one after the other; the stream is idle, or holds its work back. */
static void fill_stream(bool held)
{
    static char host[4096];
    unsigned value = 3;
    CUdeviceptr managed, at = words + 512;
    void *params[] = {&at, &value};
    CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .hStream = stream};
    CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = words,
                           .srcPitch = 64,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = words + 1024,
                           .dstPitch = 64,
                           .WidthInBytes = 32,
                           .Height = 4};
    CUDA_MEMCPY3D box = linear_copy(words + 2048, words, 64);
    CUdeviceptr to[2] = {words + 3072, words + 3200}, from[2] = {words, words + 64};
    size_t sizes[2] = {64, 32}, first = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUevent event;
    OK(cuEventCreate(&event, 0));
    OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemsetD32(words, 0, 1024));
    OK(cuCtxSynchronize());
    if (held)
        OK(cuStreamWaitValue32(stream, words + 4000, 1, CU_STREAM_WAIT_VALUE_EQ));
    EACH_FAILURE(cuLaunchKernelEx(&config, store, params, NULL), (void)0);
    EACH_FAILURE(cuLaunchCooperativeKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, params), (void)0);
    EACH_FAILURE(cuMemcpy2DAsync(&plane, stream), (void)0);
    EACH_FAILURE(cuMemcpy3DAsync(&box, stream), (void)0);
    EACH_FAILURE(cuMemcpyPeerAsync(words + 2560, context, words, context, 64, stream), (void)0);
    EACH_FAILURE(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream), (void)0);
    if (!held)   /* without memory to set the source aside it would wait */
        EACH_FAILURE(cuMemcpyAsync(words + 2800, (CUdeviceptr)(uintptr_t)host, 64, stream), (void)0);
    EACH_FAILURE(cuMemsetD2D8Async(words + 3400, 64, 1, 16, 2, stream), (void)0);
    EACH_FAILURE(cuStreamWriteValue64(stream, words + 3600, 5, 0), (void)0);
    EACH_FAILURE(cuStreamWaitValue64(stream, words + 3600, 5, CU_STREAM_WAIT_VALUE_GEQ), (void)0);
    EACH_FAILURE(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE), (void)0);
    EACH_FAILURE(cuEventRecordWithFlags(event, stream, 0), (void)0);
    EACH_FAILURE(cuCtxRecordEvent(context, event), (void)0);
    EACH_FAILURE(cuCtxWaitEvent(context, event), (void)0);
    if (held)
        __atomic_store_n((unsigned *)(words + 4000), 1,
                         __ATOMIC_RELEASE);   /* by hand: every stream of the context waits */
    OK(cuCtxSynchronize());
    assert_int_equal(word_at(512), 3);
    assert_int_equal(word_at(3600), 5);
    OK(cuEventDestroy(event));
    OK(cuMemFree(managed));
}

static CUresult capture_to(CUgraph graph)
{
    CUgraph same = NULL;
    CUresult status = cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (status != CUDA_SUCCESS)
        return status;
    status = cuMemsetD32Async(words, 4, 4, stream);
    CUresult ended = cuStreamEndCapture(stream, &same);
    return status != CUDA_SUCCESS ? status : ended;
}

/* A capture that fails destroys its graph, so each try has one of its own. */
static void capture_into_graphs(void)
{
    bool reached = true;
    for (uint64_t try = 1; reached && try < MOST_TRIES; try++) {
        CUgraph graph = new_graph();
        (void)mr_alloc_fail_mine(try);
        CUresult status = capture_to(graph);
        reached = mr_alloc_fail_mine(0) == 0;
        if (status != CUDA_SUCCESS)
            FAILS(status, CUDA_ERROR_OUT_OF_MEMORY);
        CUstreamCaptureStatus now;
        OK(cuStreamIsCapturing(stream, &now));
        assert_int_equal(now, CU_STREAM_CAPTURE_STATUS_NONE);
        if (cuGraphDestroy(graph) == CUDA_SUCCESS && !reached)
            OK(status);
    }
    assert_false(reached);
}

static void set_access(void)
{
    const size_t size = (size_t)2 << 20;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr at;
    OK(cuMemCreate(&memory, size, &properties, 0));
    OK(cuMemAddressReserve(&at, size, 0, 0, 0));
    OK(cuMemMap(at, size, 0, memory, 0));
    EACH_FAILURE(cuMemSetAccess(at, size, &access, 1), (void)0);
    OK(cuMemsetD32(at, 1, 4));
    OK(cuMemUnmap(at, size));
    OK(cuMemAddressFree(at, size));
    OK(cuMemRelease(memory));
}

static void retain_primary(void)
{
    CUcontext primary;
    EACH_FAILURE_UNDONE(cuDevicePrimaryCtxRetain(&primary, 0), OK(cuDevicePrimaryCtxRelease(0)));
}

static void all(void)
{
    set_nodes();
    set_in_execs();
    fill_stream(false);
    fill_stream(true);
    capture_into_graphs();
    set_access();
    retain_primary();
}

static void test_all(void **state)
{
    context = *state;
    store = get_function(load_module(PTX_HEAD PTX_STORE), "store");
    OK(cuMemAlloc(&words, 8192));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    all();
    all();
    uint64_t before = live_at_rest();
    all();
    assert_in_range(live_once_settled(before + 8), 0, before + 8); /* records that a thread keeps for reuse */
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(test_all)};
    return cmocka_run_group_tests_name("ordering with short memory", tests, NULL, NULL);
}
