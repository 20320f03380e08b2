/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose order is that of dependent launches and of values that streams wait for, and their mended twins:
 * order_cases NAME [mended]. What each one is found guilty of stands in test_order_cases.py. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "cases.h"

enum { COUNT = 256 };

static bool mended;
static int *a, *b, *c, *word, *pinned;
static cudaStream_t one, two;
static cudaGraph_t captured;
static cudaGraphExec_t exec;

__global__ void fill(int *to, int value)
{
    to[threadIdx.x] = value;
    cudaTriggerProgrammaticLaunchCompletion();
}

/* Reads before it has waited. */
__global__ void hasty(int *to, const int *from)
{
    int value = from[threadIdx.x];
    cudaGridDependencySynchronize();
    to[threadIdx.x] = value;
}

__global__ void patient(int *to, const int *from)
{
    cudaGridDependencySynchronize();
    to[threadIdx.x] = from[threadIdx.x];
}

/* Reads what nobody else touches, waits, and reads the rest. */
__global__ void prepared(int *to, const int *from, const int *own)
{
    int more = own[threadIdx.x];
    cudaGridDependencySynchronize();
    to[threadIdx.x] = from[threadIdx.x] + more;
}

__global__ void waits_never(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

/* Waits in some threads. */
__global__ void waits_sometimes(int *to, const int *from, int limit)
{
    if (blockIdx.x < limit)
        cudaGridDependencySynchronize();
    to[threadIdx.x] = from[threadIdx.x];
}

__global__ void tell(int *to, int *flag, int value)
{
    to[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        *(volatile int *)flag = value;
    }
}

/* Waits until the host asks, works, and answers. */
__global__ void serve(int *to, const int *from, volatile int *asked, volatile int *answer)
{
    if (threadIdx.x == 0)
        while (*asked == 0)
            ;
    __syncthreads();
    to[threadIdx.x] = from[threadIdx.x];
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *answer = 1;
}

/* A launch that may begin before the kernel in front of it has ended. */
template <typename... Kernel, typename... Arguments>
static void launch(bool overlaps, cudaStream_t stream, void (*kernel)(Kernel...), Arguments... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(COUNT);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlaps;
    CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

static void early()
{
    launch(false, one, fill, a, 1);
    launch(true, one, mended ? patient : hasty, b, (const int *)a);
}

/* A record between the two keeps them apart if it takes the time. */
static void recorded()
{
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, mended ? cudaEventDefault : cudaEventDisableTiming));
    launch(false, one, fill, a, 1);
    CHECK(cudaEventRecord(event, one));
    launch(true, one, hasty, b, (const int *)a);
}

/* The same by an event of another process, none of which takes the time. */
static const char *handle_text;

/* Runs the case `name` in a process of its own, which is given the bytes as handle_text. */
static void run_elsewhere(const char *name, const void *bytes, size_t size)
{
    char text[257];
    for (size_t i = 0; i < size; i++)
        std::snprintf(text + 2 * i, 3, "%02x", static_cast<const unsigned char *>(bytes)[i]);
    pid_t child = fork();
    if (child == 0) {
        std::freopen("/dev/null", "w", stdout);
        execl("/proc/self/exe", "order_cases", name, mended ? "mended" : "lacking", text, nullptr);
        _exit(3);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) != child);
    CHECK(status);
}

static void take_bytes(void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        std::sscanf(handle_text + 2 * i, "%2hhx", static_cast<unsigned char *>(bytes) + i);
}

static void opened()
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event;
    take_bytes(&handle, sizeof handle);
    CHECK(cudaIpcOpenEventHandle(&event, handle));
    launch(false, one, fill, a, 1);
    CHECK(cudaEventRecord(event, one));
    launch(true, one, mended ? patient : hasty, b, (const int *)a);
}

static void lent()
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaIpcGetEventHandle(&handle, event));
    run_elsewhere("opened", &handle, sizeof handle);
}

/* So does a wait for another stream that has waited for the first one; a wait for anything else doesn't, not even one
 * for an event that stands for the first one. */
static void waited()
{
    cudaEvent_t first, second;
    CHECK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&second, cudaEventDisableTiming));
    launch(false, one, fill, a, 1);
    CHECK(cudaEventRecord(first, one));
    if (mended)
        CHECK(cudaStreamWaitEvent(two, first));
    CHECK(cudaEventRecord(second, two));
    CHECK(cudaStreamWaitEvent(one, second));
    CHECK(cudaStreamWaitEvent(one, first));
    launch(true, one, hasty, b, (const int *)a);
}

static void never()
{
    launch(false, one, fill, a, 1);
    launch(!mended, one, waits_never, b, (const int *)a);
}

/* The third kernel writes what the second one, which may still run, reads. */
static void third()
{
    launch(false, one, fill, a, 1);
    launch(true, one, patient, b, (const int *)a);
    if (mended)
        launch(true, one, patient, a, (const int *)c);
    else
        launch(true, one, waits_never, a, (const int *)c);
}

static void graph()
{
    cudaGraph_t made;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    early();
    CHECK(cudaStreamEndCapture(one, &made));
    CHECK(cudaGraphInstantiate(&exec, made, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(exec, one));
}

/* An edge that begins at a kernel's launch says nothing of its end. */
static void launch_edge()
{
    cudaGraph_t made;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    fill<<<1, COUNT, 0, one>>>(a, 1);
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *last;
    size_t count;
    CHECK(cuStreamGetCaptureInfo(one, (CUstreamCaptureStatus *)&status, nullptr, (CUgraph *)&made, (const CUgraphNode **)&last, nullptr, &count));
    CUgraphEdgeData edge = {};
    edge.from_port = mended ? CU_GRAPH_KERNEL_NODE_PORT_DEFAULT : CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    CUgraphNode node = *(const CUgraphNode *)last;
    CHECK(cuStreamUpdateCaptureDependencies(one, &node, &edge, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    waits_never<<<1, COUNT, 0, one>>>(b, a);
    CHECK(cudaStreamEndCapture(one, &made));
    CHECK(cudaGraphInstantiate(&exec, made, 0));
    CHECK(cudaGraphLaunch(exec, one));
}

static void ordinary()
{
    for (int i = 0; i < 5; i++) {
        launch(true, one, fill, c, i);
        launch(false, one, fill, a, i); /* as if it had the attribute not at all */
        launch(true, one, prepared, b, (const int *)a, (const int *)pinned);
        launch(true, one, waits_sometimes, a, (const int *)b, 1);
    }
}

/* A wait that was asked for before the value was written, by another stream. */
static void value_later()
{
    CHECK(cuStreamWaitValue32(two, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    waits_never<<<1, COUNT, 0, two>>>(b, a);
    if (!mended)
        CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
    fill<<<1, COUNT, 0, one>>>(a, 1);
    if (mended)
        CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
}

/* A wait of a graph's: for a value that another stream writes, before the launch or behind it. What comes after the
 * graph comes after the wait, too. */
static void graph_value(bool is_late)
{
    auto write = [] {
        if (!mended)
            CHECK(cuStreamWriteValue32(two, (CUdeviceptr)word, 1, 0));
        fill<<<1, COUNT, 0, two>>>(a, 1);
        if (mended)
            CHECK(cuStreamWriteValue32(two, (CUdeviceptr)word, 1, 0));
    };
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cuStreamWaitValue32(one, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    waits_never<<<1, COUNT, 0, one>>>(b, a);
    CHECK(cudaStreamEndCapture(one, &captured));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    if (!is_late)
        write();
    CHECK(cudaGraphLaunch(exec, one));
    if (is_late)
        write();
    if (mended)
        waits_never<<<1, COUNT, 0, one>>>(c, a);
}

static void graph_value_before()
{
    graph_value(false);
}

static void graph_value_later()
{
    graph_value(true);
}

/* A graph writes the value. */
static void graph_writes()
{
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    if (!mended)
        CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
    fill<<<1, COUNT, 0, one>>>(a, 1);
    if (mended)
        CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
    CHECK(cudaStreamEndCapture(one, &captured));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    CHECK(cuStreamWaitValue32(two, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    waits_never<<<1, COUNT, 0, two>>>(b, a);
    CHECK(cudaGraphLaunch(exec, one));
}

/* A graph would write 2, but its executable graph has been changed in one of three ways and writes 1: what waits for 2
 * comes after another write. */
static void graph_changes(int way)
{
    CUgraphNode node;
    size_t count = 1;
    cudaGraph_t other;
    cudaStream_t third;
    CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    for (int value = 2; value >= 1; value--) {
        CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
        CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, value, 0));
        CHECK(cudaStreamEndCapture(one, value == 2 ? &captured : &other));
    }
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    CHECK(cuGraphGetNodes(captured, &node, &count));
    CUDA_BATCH_MEM_OP_NODE_PARAMS ops;
    CHECK(cuGraphBatchMemOpNodeGetParams(node, &ops));
    ops.paramArray[0].writeValue.value = 1;
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    params.memOp.ctx = ops.ctx;
    params.memOp.count = ops.count;
    params.memOp.paramArray = ops.paramArray;
    if (way == 0)
        CHECK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &ops));
    else if (way == 1)
        CHECK(cuGraphExecNodeSetParams(exec, node, &params));
    else
        CHECK(cuGraphExecUpdate(exec, other, nullptr));
    CHECK(cuStreamWaitValue32(two, (CUdeviceptr)word, 2, CU_STREAM_WAIT_VALUE_GEQ));
    waits_never<<<1, COUNT, 0, two>>>(b, a);
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaStreamSynchronize(one));
    if (!mended)
        CHECK(cuStreamWriteValue32(third, (CUdeviceptr)word, 2, 0));
    fill<<<1, COUNT, 0, third>>>(a, 1);
    if (mended)
        CHECK(cuStreamWriteValue32(third, (CUdeviceptr)word, 2, 0));
}

static void graph_value_set()
{
    graph_changes(0);
}

static void graph_params_set()
{
    graph_changes(1);
}

static void graph_updated()
{
    graph_changes(2);
}

/* The executable graph waits for another event than its graph does. */
static void graph_event_set()
{
    cudaEvent_t before, event;
    cudaGraphNode_t node;
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventRecord(before, two));
    fill<<<1, COUNT, 0, two>>>(a, 1);
    CHECK(cudaEventRecord(event, two));
    CHECK(cudaGraphCreate(&captured, 0));
    CHECK(cudaGraphAddEventWaitNode(&node, captured, nullptr, 0, mended ? before : event));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    params.eventWait.event = mended ? event : before;
    CHECK(cuGraphExecNodeSetParams(exec, node, &params));
    CHECK(cudaGraphLaunch(exec, one));
    waits_never<<<1, COUNT, 0, one>>>(b, a);
}

/* A buffer of a pool that is shared, and how others come to it. */
struct shared {
    CUmemPoolPtrExportData data;
    int descriptor;
};

static int *new_shared(shared *how)
{
    CUmemPoolProps props = {};
    CUmemoryPool pool;
    CUdeviceptr address;
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CHECK(cuMemPoolCreate(&pool, &props));
    CHECK(cuMemPoolExportToShareableHandle(&how->descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuMemAllocFromPoolAsync(&address, COUNT * sizeof(int), pool, one));
    CHECK(cuMemsetD32Async(address, 0, COUNT, one));
    CHECK(cudaStreamSynchronize(one));
    CHECK(cuMemPoolExportPointer(&how->data, address));
    return reinterpret_cast<int *>(address);
}

static int *import(const shared &how)
{
    CUmemPoolPtrExportData data = how.data;
    CUmemoryPool pool;
    CUdeviceptr address;
    CHECK(cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void *>(static_cast<intptr_t>(how.descriptor)), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuMemPoolImportPointer(&address, pool, &data));
    return reinterpret_cast<int *>(address);
}

/* Stream one writes at one address, stream two reads at another one, where the same memory is. The first address goes
 * in between, if it is to. */
static void through(int *first, int *second, bool goes)
{
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    CHECK(first == second);
    fill<<<1, COUNT, 0, one>>>(first, 1);
    CHECK(cudaEventRecord(event, one));
    if (goes)
        CHECK(cudaFreeAsync(first, one));
    if (mended)
        CHECK(cudaStreamWaitEvent(two, event));
    waits_never<<<1, COUNT, 0, two>>>(b, second);
}

/* A process imports its own memory. */
static void exported_here()
{
    shared how;
    int *here = new_shared(&how);
    through(here, import(how), false);
}

/* A process imports another one's memory twice. */
static void imports_twice()
{
    shared how;
    take_bytes(&how, sizeof how);
    int *first = import(how);
    through(first, import(how), false);
}

static void imports_and_frees()
{
    shared how;
    take_bytes(&how, sizeof how);
    int *first = import(how);
    through(first, import(how), true);
}

static void imported_twice()
{
    shared how;
    new_shared(&how);
    run_elsewhere("imports_twice", &how, sizeof how);
}

static void imported_and_freed()
{
    shared how;
    new_shared(&how);
    run_elsewhere("imports_and_frees", &how, sizeof how);
}

/* A pointer is imported twice by one pool: that is one import, which one free ends. What comes later is another one. */
static void imported_again()
{
    shared how;
    int *here = new_shared(&how);
    CUmemoryPool pool;
    CUdeviceptr first, second, third;
    CHECK(cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void *>(static_cast<intptr_t>(how.descriptor)), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuMemPoolImportPointer(&first, pool, &how.data));
    CHECK(cuMemPoolImportPointer(&second, pool, &how.data));
    CHECK(first != second);
    CHECK(cuMemFree(first));
    CHECK(cuMemPoolImportPointer(&third, pool, &how.data));
    through(here, reinterpret_cast<int *>(third), false);
}

/* The same of memory that is made first and mapped later: a descriptor stands for it. */
static CUmemAllocationProp of_descriptor()
{
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return properties;
}

static size_t unit()
{
    CUmemAllocationProp properties = of_descriptor();
    size_t size;
    CHECK(cuMemGetAllocationGranularity(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return size;
}

static int *map(CUmemGenericAllocationHandle memory)
{
    CUmemAccessDesc access = {};
    CUdeviceptr address;
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemAddressReserve(&address, unit(), 0, 0, 0));
    CHECK(cuMemMap(address, unit(), 0, memory, 0));
    CHECK(cuMemSetAccess(address, unit(), &access, 1));
    return reinterpret_cast<int *>(address);
}

static CUmemGenericAllocationHandle new_memory()
{
    CUmemAllocationProp properties = of_descriptor();
    CUmemGenericAllocationHandle memory;
    CHECK(cuMemCreate(&memory, unit(), &properties, 0));
    return memory;
}

/* A descriptor of the memory, which a program that is started has as well. */
static int descriptor_of(CUmemGenericAllocationHandle memory)
{
    int descriptor;
    CHECK(cuMemExportToShareableHandle(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(fcntl(descriptor, F_SETFD, 0));
    return descriptor;
}

static CUmemGenericAllocationHandle import_memory(int descriptor)
{
    CUmemGenericAllocationHandle memory;
    CHECK(cuMemImportFromShareableHandle(&memory, reinterpret_cast<void *>(static_cast<intptr_t>(descriptor)), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    return memory;
}

/* A process imports its own memory, and releases the handle that it has made. */
static void memory_exported_here()
{
    CUmemGenericAllocationHandle memory = new_memory(), again;
    int descriptor = descriptor_of(memory), *here = map(memory);
    CHECK(cuMemRelease(memory));
    again = import_memory(descriptor);
    through(here, map(again), false);
}

/* A process imports another one's memory twice, by two descriptors. */
static void imports_memory_twice()
{
    int descriptors[2];
    take_bytes(descriptors, sizeof descriptors);
    int *first = map(import_memory(descriptors[0]));
    through(first, map(import_memory(descriptors[1])), false);
}

static void memory_imported_twice()
{
    CUmemGenericAllocationHandle memory = new_memory();
    int descriptors[2] = {descriptor_of(memory), descriptor_of(memory)};
    run_elsewhere("imports_memory_twice", descriptors, sizeof descriptors);
}

/* Two memories by descriptors are two. */
static void imports_two_memories()
{
    int descriptors[2];
    take_bytes(descriptors, sizeof descriptors);
    mended = false;
    int *first = map(import_memory(descriptors[0]));
    through(first, map(import_memory(descriptors[1])), false);
}

static void two_memories()
{
    int descriptors[2] = {descriptor_of(new_memory()), descriptor_of(new_memory())};
    run_elsewhere("imports_two_memories", descriptors, sizeof descriptors);
}

static void until_set(volatile int *flag)
{
    while (*flag == 0)
        ;
}

/* The host waits for a word that a kernel writes. */
static void told_by_kernel()
{
    tell<<<1, COUNT, 0, one>>>(a, pinned, 1);
    if (mended)
        until_set(pinned);
    waits_never<<<1, COUNT, 0, two>>>(b, a);
}

/* The host waits for a word that a stream writes. */
static void told_by_stream()
{
    fill<<<1, COUNT, 0, one>>>(a, 1);
    CHECK(cuStreamWriteValue32(one, (CUdeviceptr)pinned, 1, 0));
    if (mended)
        until_set(pinned);
    waits_never<<<1, COUNT, 0, two>>>(b, a);
}

/* A kernel waits for the host and the host for the kernel. */
static void told_by_both()
{
    volatile int *words = pinned;
    serve<<<1, COUNT, 0, one>>>(b, a, words, words + COUNT / 2);
    fill<<<1, COUNT, 0, two>>>(a, 1);
    CHECK(cudaStreamSynchronize(two));
    words[0] = 1;
    if (mended)
        until_set(words + COUNT / 2);
    waits_never<<<1, COUNT, 0, two>>>(c, b);
}

/* What comes after a graph comes after the event that the graph waits for. */
static void graph_event()
{
    cudaEvent_t event;
    cudaGraphNode_t node;
    CHECK(cudaEventCreate(&event));
    fill<<<1, COUNT, 0, two>>>(a, 1);
    CHECK(cudaEventRecord(event, two));
    CHECK(cudaGraphCreate(&captured, 0));
    if (mended)
        CHECK(cudaGraphAddEventWaitNode(&node, captured, nullptr, 0, event));
    else
        CHECK(cudaGraphAddEmptyNode(&node, captured, nullptr, 0));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    CHECK(cudaGraphLaunch(exec, one));
    waits_never<<<1, COUNT, 0, one>>>(b, a);
}

/* A kernel writes the value. */
static void value_of_kernel()
{
    CHECK(cuStreamWaitValue32(two, (CUdeviceptr)word, 7, CU_STREAM_WAIT_VALUE_EQ));
    waits_never<<<1, COUNT, 0, two>>>(b, a);
    tell<<<1, COUNT, 0, one>>>(mended ? a : c, word, 7);
    if (!mended)
        fill<<<1, COUNT, 0, one>>>(a, 1);
}

/* The host writes it, when it has waited for what the other stream did. */
static void value_of_host()
{
    CHECK(cuStreamWaitValue32(two, (CUdeviceptr)pinned, 3, CU_STREAM_WAIT_VALUE_EQ));
    waits_never<<<1, COUNT, 0, two>>>(b, a);
    if (!mended)
        *(volatile int *)pinned = 3;
    fill<<<1, COUNT, 0, one>>>(a, 1);
    CHECK(mended ? cudaStreamSynchronize(one) : cudaStreamSynchronize(two));
    *(volatile int *)pinned = 3;
}

/* The value goes on from stream to stream, and then by an event. */
static void value_chain()
{
    cudaStream_t third;
    cudaEvent_t event;
    CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cuStreamWaitValue32(two, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cudaEventRecord(event, two));
    CHECK(cudaStreamWaitEvent(third, event));
    waits_never<<<1, COUNT, 0, third>>>(b, a);
    if (!mended)
        tell<<<1, COUNT, 0, one>>>(c, word, 1);
    fill<<<1, COUNT, 0, one>>>(a, 1);
    if (mended)
        tell<<<1, COUNT, 0, one>>>(c, word, 1);
    CHECK(cudaStreamSynchronize(third));
}

/* One word for several rounds: the stream that has waited sets it back. If only the first round does that, the
 * wait of the third one ends by the value of the second. */
static void value_set_back(void (*set_back)())
{
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    for (int round = 0; round < 3; round++) {
        fill<<<1, COUNT, 0, one>>>(a, round);
        CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
        CHECK(cuStreamWaitValue32(two, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
        waits_never<<<1, COUNT, 0, two>>>(b, a);
        if (mended || round == 0)
            set_back();
        CHECK(cudaEventRecord(event, two));
        CHECK(cudaStreamWaitEvent(one, event));
    }
}

static void set_back_by_value()
{
    value_set_back([] { CHECK(cuStreamWriteValue32(two, (CUdeviceptr)word, 0, 0)); });
}

static void set_back_by_fill()
{
    value_set_back([] { CHECK(cudaMemsetAsync(word, 0, sizeof(int), two)); });
}

static void set_back_by_copy()
{
    value_set_back([] { CHECK(cudaMemcpyAsync(word, pinned, sizeof(int), cudaMemcpyHostToDevice, two)); });
}

static void set_back_by_kernel()
{
    value_set_back([] { fill<<<1, 1, 0, two>>>(word, 0); });
}

/* The wait is asked for before the value of its round is written. */
static void set_back_later()
{
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    for (int round = 0; round < 3; round++) {
        CHECK(cuStreamWaitValue32(two, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
        waits_never<<<1, COUNT, 0, two>>>(b, a);
        CHECK(cudaMemsetAsync(word, 0, sizeof(int), two));
        if (round)
            CHECK(cudaStreamWaitEvent(one, event));
        CHECK(cudaEventRecord(event, two));
        if (!mended)
            CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
        fill<<<1, COUNT, 0, one>>>(a, round);
        if (mended)
            CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
    }
}

/* A graph sets the word back. */
static void set_back_in_graph()
{
    cudaGraph_t captured;
    cudaGraphExec_t graph;
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    CHECK(cudaStreamBeginCapture(two, cudaStreamCaptureModeGlobal));
    CHECK(cuStreamWaitValue32(two, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    waits_never<<<1, COUNT, 0, two>>>(b, a);
    CHECK(cuStreamWriteValue32(two, (CUdeviceptr)word, 0, 0));
    CHECK(cudaStreamEndCapture(two, &captured));
    CHECK(cudaGraphInstantiate(&graph, captured, 0));
    for (int round = 0; round < 3; round++) {
        if (!mended)
            CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
        fill<<<1, COUNT, 0, one>>>(a, round);
        if (mended)
            CHECK(cuStreamWriteValue32(one, (CUdeviceptr)word, 1, 0));
        CHECK(cudaGraphLaunch(graph, two));
        CHECK(cudaEventRecord(event, two));
        CHECK(cudaStreamWaitEvent(one, event));
    }
}

/* A synchronous copy to host memory has been done when it returns, also to such that was made first and mapped. */
static void copied_to_host_memory()
{
    CUmemAllocationProp properties = of_descriptor();
    CUmemAccessDesc access[2] = {};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr address;
    size_t size;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    access[0].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access[1].location.type = properties.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    access[0].flags = access[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemGetAllocationGranularity(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMemCreate(&memory, size, &properties, 0));
    CHECK(cuMemAddressReserve(&address, size, 0, 0, 0));
    CHECK(cuMemMap(address, size, 0, memory, 0));
    CHECK(cuMemSetAccess(address, size, access, 2));
    if (!mended)
        waits_never<<<1, COUNT, 0, two>>>(b, reinterpret_cast<int *>(address));
    CHECK(cudaMemcpy(reinterpret_cast<void *>(address), a, COUNT * sizeof(int), cudaMemcpyDefault));
    if (mended)
        waits_never<<<1, COUNT, 0, two>>>(b, reinterpret_cast<int *>(address));
}

/* A host function tells the program, while it runs, that what is before it is done. */
static std::atomic<bool> has_begun, may_end;

static void wait_for(std::atomic<bool> &flag)
{
    while (!flag)
        sched_yield();
}

static void begin_and_wait(void *)
{
    has_begun = true;
    wait_for(may_end);
}

static void told_inside()
{
    if (!mended)
        waits_never<<<1, COUNT, 0, two>>>(b, a);
    fill<<<1, COUNT, 0, one>>>(a, 1);
    CHECK(cudaLaunchHostFunc(one, begin_and_wait, nullptr));
    wait_for(has_begun);
    if (mended)
        waits_never<<<1, COUNT, 0, two>>>(b, a);
    may_end = true;
}

/* The same in a graph. */
static void told_inside_graph()
{
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    fill<<<1, COUNT, 0, one>>>(a, 1);
    CHECK(cudaLaunchHostFunc(one, begin_and_wait, nullptr));
    CHECK(cudaStreamEndCapture(one, &captured));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    if (!mended)
        waits_never<<<1, COUNT, 0, two>>>(b, a);
    CHECK(cudaGraphLaunch(exec, one));
    wait_for(has_begun);
    if (mended)
        waits_never<<<1, COUNT, 0, two>>>(b, a);
    may_end = true;
}

/* Memory of a blocking stream is freed in the legacy stream, and the other way round. Between two blocking streams, or
 * where a stream is no blocking one, nothing orders the free. */
static void used_and_freed(cudaStream_t user, cudaStream_t freer, bool used)
{
    int *memory;
    CHECK(cudaMallocAsync(&memory, COUNT * sizeof(int), user));
    if (used)
        fill<<<1, COUNT, 0, user>>>(memory, 1);
    CHECK(cudaFreeAsync(memory, freer));
}

static void freed_in_legacy()
{
    cudaStream_t blocking, other;
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaStreamCreate(&other));
    for (int i = 0; i < 10; i++) {
        used_and_freed(blocking, cudaStreamLegacy, i % 2 != 0);
        used_and_freed(cudaStreamLegacy, other, i % 2 != 0);
    }
    used_and_freed(blocking, mended ? blocking : other, true);
}

int main(int count, char **words)
{
    static const one_case cases[] = {{"set_back_by_value", set_back_by_value}, {"set_back_by_fill", set_back_by_fill},
                 {"set_back_by_copy", set_back_by_copy}, {"set_back_by_kernel", set_back_by_kernel},
                 {"set_back_later", set_back_later}, {"set_back_in_graph", set_back_in_graph},
                 {"early", early}, {"recorded", recorded}, {"lent", lent}, {"opened", opened}, {"waited", waited}, {"never", never}, {"third", third}, {"graph", graph}, {"launch_edge", launch_edge}, {"ordinary", ordinary},
                 {"value_later", value_later}, {"graph_value_before", graph_value_before}, {"graph_value_later", graph_value_later},
                 {"graph_writes", graph_writes}, {"graph_event", graph_event},
                 {"told_by_kernel", told_by_kernel}, {"told_by_stream", told_by_stream}, {"told_by_both", told_by_both},
                 {"graph_value_set", graph_value_set}, {"graph_params_set", graph_params_set},
                 {"graph_updated", graph_updated}, {"graph_event_set", graph_event_set}, {"value_of_kernel", value_of_kernel}, {"value_of_host", value_of_host}, {"value_chain", value_chain}, {"exported_here", exported_here}, {"imports_twice", imports_twice},
                 {"imports_and_frees", imports_and_frees}, {"imported_twice", imported_twice}, {"imported_and_freed", imported_and_freed}, {"imported_again", imported_again},
                 {"memory_exported_here", memory_exported_here}, {"imports_memory_twice", imports_memory_twice}, {"memory_imported_twice", memory_imported_twice},
                 {"imports_two_memories", imports_two_memories}, {"two_memories", two_memories},
                 {"copied_to_host_memory", copied_to_host_memory}, {"freed_in_legacy", freed_in_legacy}, {"told_inside", told_inside}, {"told_inside_graph", told_inside_graph}};
    mended = count > 2 && std::strcmp(words[2], "mended") == 0;
    handle_text = count > 3 ? words[3] : nullptr;
    CHECK(cudaMalloc(&a, COUNT * sizeof(int)));
    CHECK(cudaMalloc(&b, COUNT * sizeof(int)));
    CHECK(cudaMalloc(&c, COUNT * sizeof(int)));
    CHECK(cudaMalloc(&word, 4096));
    CHECK(cudaMemset(word, 0, 4096));
    CHECK(cudaMemset(a, 0, COUNT * sizeof(int)));
    CHECK(cudaMemset(c, 0, COUNT * sizeof(int)));
    CHECK(cudaHostAlloc(&pinned, COUNT * sizeof(int), 0));
    std::memset(pinned, 0, COUNT * sizeof(int));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    return run_case(cases, words[1]);
}
