/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices: which one a thread uses, peer access, copies between them, and streams, events, memory and kernels of
 * one used where the other is current.
 *
 * Every case says .devices = 2 and has a process of its own. The answers are recorded on a machine with two GPUs into a
 * file of their own.
 */
#include "rt.h"

#include <string.h>

#define TWO .devices = 2, .alone = true

static void use(int device)
{
    RT_NEED(cudaSetDevice(device));
}

static void *alloc_on(int device, size_t bytes)
{
    use(device);
    return rt_alloc(bytes);
}

static void say_device(void)
{
    int device = -1;
    rt(cudaGetDevice(&device));
    say_int(device);
}

static void say_active(int device)
{
    unsigned flags = 77;
    int active = -1;
    NEED(cuDevicePrimaryCtxGetState(device, &flags, &active));
    say_value("active", active);
}

/* ---- which device ---- */

CASE(multi, set_device, TWO)
{
    say_device();
    say_active(1);
    rt(cudaSetDevice(1));
    say_active(1);
    say_device();
    rt_noted(cudaSetDevice(2));
    say_device();
    rt(cudaSetDevice(0));
    say_device();
}

static void device_of_thread(void *argument)
{
    (void)argument;
    say_device();
    rt(cudaSetDevice(1));
    rt(cudaFree(rt_alloc(64)));
    say_device();
}

CASE(multi, set_device_in_thread, TWO)
{
    rt_thread(device_of_thread, NULL);
    say_device();
    use(1);
    rt_thread(device_of_thread, NULL);
    say_device();
}

CASE(multi, init_device, TWO)
{
    rt(cudaInitDevice(1, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
    say_active(1);
    say_device();
    unsigned flags = 0;
    use(1);
    rt(cudaGetDeviceFlags(&flags));
    say_hex(flags);
}

CASE(multi, valid_devices, .devices = 2, .bare = true)
{
    int order[] = {1, 0};
    rt(cudaSetValidDevices(order, 2));
    say_device();
    rt(cudaFree(NULL));
    say_device();
    say_active(0);
    say_active(1);
}

CASE(multi, reset_one, TWO)
{
    void *zero = alloc_on(0, 64), *one = alloc_on(1, 64);
    rt(cudaDeviceReset());
    say_active(0);
    say_active(1);
    rt_noted(cudaMemset(one, 0, 64));
    use(0);
    rt(cudaMemset(zero, 0, 64));
    rt(cudaDeviceSynchronize());
}

CASE(multi, driver_context_of_other, TWO)
{
    CUcontext context;
    NEED(cuDevicePrimaryCtxRetain(&context, 1));
    NEED(cuCtxSetCurrent(context));
    say_device();
    rt(cudaSetDevice(0));
    say_device();
    CUcontext current = NULL;
    NEED(cuCtxGetCurrent(&current));
    say_if("changed", current != context);
}

CASE(multi, properties_differ, TWO)
{
    static struct cudaDeviceProp zero, one;
    char bus[32] = "";
    int found = -1;
    rt(cudaGetDeviceProperties(&zero, 0));
    rt(cudaGetDeviceProperties(&one, 1));
    say_if("uuids_differ", memcmp(&zero.uuid, &one.uuid, sizeof one.uuid) != 0);
    rt(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
    rt(cudaDeviceGetByPCIBusId(&found, bus));
    say_int(found);
}

CASE(multi, choose, TWO)
{
    struct cudaDeviceProp wanted;
    int device = -1;
    memset(&wanted, 0, sizeof wanted);
    use(1);
    rt(cudaChooseDevice(&device, &wanted));
    say_int(device);
}

/* ---- peer access ---- */

CASE(multi, can_access, TWO)
{
    int can = 9;
    rt(cudaDeviceCanAccessPeer(&can, 0, 1));
    say_int(can);
    rt(cudaDeviceCanAccessPeer(&can, 1, 1));
    say_int(can);
    rt_noted(cudaDeviceCanAccessPeer(&can, 0, 2));
    rt_noted(cudaDeviceCanAccessPeer(NULL, 0, 1));
}

CASE(multi, p2p_attribute, TWO)
{
    int value = 99;
    rt(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    say_int(value);
    rt_noted(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    rt_noted(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 2));
    rt_noted(cudaDeviceGetP2PAttribute(&value, (enum cudaDeviceP2PAttr)99, 0, 1));
}

CASE(multi, access_states, TWO)
{
    rt_noted(cudaDeviceDisablePeerAccess(1));
    rt_noted(cudaDeviceEnablePeerAccess(1, 0));
    say_active(1);
    rt_noted(cudaDeviceEnablePeerAccess(1, 0));
    rt_noted(cudaDeviceDisablePeerAccess(1));
    rt_noted(cudaDeviceDisablePeerAccess(1));
    rt_noted(cudaDeviceDisablePeerAccess(0));
    rt_noted(cudaDeviceDisablePeerAccess(2));
    rt_noted(cudaDeviceEnablePeerAccess(1, 1));
    rt_noted(cudaDeviceEnablePeerAccess(0, 0));
}

CASE(multi, access_ends_with_reset, TWO)
{
    rt_noted(cudaDeviceEnablePeerAccess(1, 0));
    use(1);
    rt(cudaDeviceReset());
    use(1);
    rt(cudaFree(NULL));
    use(0);
    rt_noted(cudaDeviceEnablePeerAccess(1, 0));
    rt(cudaDeviceReset());
    rt_noted(cudaDeviceEnablePeerAccess(1, 0));
}

CASE(multi, kernel_reaches_peer, TWO)
{
    unsigned *word = alloc_on(1, 4);
    RT_NEED(cudaMemset(word, 0, 4));
    use(0);
    rt(cudaDeviceEnablePeerAccess(1, 0));
    rt_store(NULL, word, 21);
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
}

/* ---- copies ---- */

CASE(multi, copy_default, TWO)
{
    unsigned value = 5, back = 0;
    void *zero = alloc_on(0, 4), *one = alloc_on(1, 4);
    RT_NEED(cudaMemcpy(one, &value, 4, cudaMemcpyHostToDevice));
    use(0);
    rt(cudaMemcpy(zero, one, 4, cudaMemcpyDefault));
    rt(cudaMemcpy(zero, one, 4, cudaMemcpyDeviceToDevice));
    rt(cudaMemcpy(&back, zero, 4, cudaMemcpyDeviceToHost));
    say_int(back);
    use(1);
    rt(cudaMemcpy(&back, zero, 4, cudaMemcpyDeviceToHost)); /* memory of a device that is not current */
    say_int(back);
}

CASE(multi, copy_peer, TWO)
{
    unsigned value = 6, back = 0;
    void *zero = alloc_on(0, 4), *one = alloc_on(1, 4);
    RT_NEED(cudaMemcpy(one, &value, 4, cudaMemcpyHostToDevice));
    use(0);
    rt(cudaMemcpyPeer(zero, 0, one, 1, 4));
    rt(cudaMemcpy(&back, zero, 4, cudaMemcpyDeviceToHost));
    say_int(back);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    rt(cudaMemsetAsync(zero, 0, 4, stream));
    rt(cudaMemcpyPeerAsync(one, 1, zero, 0, 4, stream));
    rt(cudaStreamSynchronize(stream));
    rt(cudaMemcpy(&back, one, 4, cudaMemcpyDeviceToHost));
    say_int(back);
}

CASE(multi, copy_peer_bad, TWO)
{
    void *zero = alloc_on(0, 4), *one = alloc_on(1, 4);
    rt_noted(cudaMemcpyPeer(zero, 0, one, 2, 4));
    rt_noted(cudaMemcpyPeer(zero, 1, one, 0, 4)); /* the devices mistaken */
    rt_noted(cudaMemcpyPeer(NULL, 0, one, 1, 4));
    rt_noted(cudaMemcpyPeer(zero, 0, one, 1, 0));
}

CASE(multi, copy_3d_peer, TWO)
{
    unsigned values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {0};
    struct cudaMemcpy3DPeerParms box;
    void *zero = alloc_on(0, 32), *one = alloc_on(1, 32);
    RT_NEED(cudaMemcpy(one, values, 32, cudaMemcpyHostToDevice));
    memset(&box, 0, sizeof box);
    box.srcDevice = 1;
    box.dstDevice = 0;
    box.srcPtr = (struct cudaPitchedPtr){one, 8, 8, 2};
    box.dstPtr = (struct cudaPitchedPtr){zero, 8, 8, 2};
    box.extent = (struct cudaExtent){8, 2, 2};
    rt(cudaMemcpy3DPeer(&box));
    rt(cudaMemcpy3DPeerAsync(&box, NULL));
    rt(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(back, zero, 32, cudaMemcpyDeviceToHost));
    say_int(back[7]);
    box.srcDevice = 2;
    rt_noted(cudaMemcpy3DPeer(&box));
}

CASE(multi, fill_of_other, TWO)
{
    void *one = alloc_on(1, 64);
    use(0);
    rt_noted(cudaMemset(one, 1, 64));
    rt_noted(cudaMemsetAsync(one, 1, 64, NULL));
    rt(cudaDeviceEnablePeerAccess(1, 0));
    rt_noted(cudaMemset(one, 1, 64));
}

CASE(multi, free_of_other, TWO)
{
    void *one = alloc_on(1, 64);
    use(0);
    rt_noted(cudaFree(one));
    rt_noted(cudaFree(one));
}

CASE(multi, pointer_attributes, TWO)
{
    struct cudaPointerAttributes attributes;
    void *one = alloc_on(1, 64), *pinned, *managed;
    RT_NEED(cudaMallocHost(&pinned, 64));
    RT_NEED(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
    use(0);
    rt(cudaPointerGetAttributes(&attributes, one));
    say_int(attributes.type);
    say_int(attributes.device);
    rt(cudaPointerGetAttributes(&attributes, pinned));
    say_int(attributes.type);
    say_int(attributes.device);
    rt(cudaPointerGetAttributes(&attributes, managed));
    say_int(attributes.type);
    say_int(attributes.device);
}

/* ---- streams and events ---- */

CASE(multi, stream_of_other, TWO)
{
    use(1);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *word = rt_words(1, 0);
    int device = -1;
    use(0);
    rt(cudaStreamGetDevice(stream, &device));
    say_int(device);
    rt(cudaStreamQuery(stream));
    rt(cudaStreamSynchronize(stream));
    void *params[] = {&word, &(unsigned){9}};
    rt_noted(rt_launch(&rt_host_store, 1, stream, params));
    rt_noted(rt_launch(rt_kernel("store"), 1, stream, params));
    rt_noted(cudaMemsetAsync(word, 0, 4, stream));
    rt(cudaStreamSynchronize(stream));
    rt(cudaStreamDestroy(stream));
}

CASE(multi, event_recorded_across, TWO)
{
    use(1);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(0);
    use(0);
    rt(cudaEventRecord(event, stream)); /* both of one device, which is not current */
    rt(cudaEventSynchronize(event));
    rt_noted(cudaEventRecord(event, NULL)); /* the stream of another */
    rt_noted(cudaEventRecord(rt_event(0), stream));
    rt(cudaEventQuery(event));
}

CASE(multi, wait_across, TWO)
{
    unsigned *word = alloc_on(0, 4), back = 0;
    RT_NEED(cudaMemset(word, 0, 4));
    cudaStream_t here = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(cudaEventDisableTiming);
    struct rt_gate gate = rt_gate_close(here);
    rt_store(here, word, 4);
    rt(cudaEventRecord(event, here));
    use(1);
    cudaStream_t there = rt_stream(cudaStreamNonBlocking);
    void *copy = rt_alloc(4);
    rt(cudaStreamWaitEvent(there, event, 0));
    rt(cudaMemcpyPeerAsync(copy, 1, word, 0, 4, there));
    rt(cudaStreamQuery(there));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(there));
    RT_NEED(cudaMemcpy(&back, copy, 4, cudaMemcpyDeviceToHost));
    say_int(back);
}

CASE(multi, elapsed_across, TWO)
{
    float ms = -1;
    use(0);
    cudaEvent_t zero = rt_event(0);
    RT_NEED(cudaEventRecord(zero, NULL));
    RT_NEED(cudaEventSynchronize(zero));
    use(1);
    cudaEvent_t one = rt_event(0);
    RT_NEED(cudaEventRecord(one, NULL));
    RT_NEED(cudaEventSynchronize(one));
    rt_noted(cudaEventElapsedTime(&ms, zero, one));
    say_if("untouched", ms == -1);
}

CASE(multi, device_synchronize_is_of_one, TWO)
{
    use(1);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    struct rt_gate gate = rt_gate_close(stream);
    use(0);
    rt(cudaDeviceSynchronize());
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    use(1);
    rt(cudaDeviceSynchronize());
    rt(cudaStreamQuery(stream));
}

/* The legacy stream of one device does not wait for streams of the other. */
CASE(multi, legacy_stream_is_of_one, TWO)
{
    use(1);
    cudaStream_t stream = rt_stream(0);
    struct rt_gate gate = rt_gate_close(stream);
    use(0);
    unsigned *word = rt_words(1, 3);
    rt_store(NULL, word, 8);
    rt(cudaStreamSynchronize(NULL));
    say_int(rt_word(word));
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
}

/* ---- kernels and variables ---- */

CASE(multi, symbol_of_each, TWO)
{
    unsigned value = 31, back = 0;
    void *zero, *one;
    use(0);
    rt(cudaMemcpyToSymbol(&rt_host_counter, &value, 4, 0, cudaMemcpyHostToDevice));
    rt(cudaGetSymbolAddress(&zero, &rt_host_counter));
    use(1);
    rt(cudaMemcpyFromSymbol(&back, &rt_host_counter, 4, 0, cudaMemcpyDeviceToHost));
    say_int(back);
    rt(cudaGetSymbolAddress(&one, &rt_host_counter));
    say_if("differ", zero != one);
    use(0);
    rt(cudaMemcpyFromSymbol(&back, &rt_host_counter, 4, 0, cudaMemcpyDeviceToHost));
    say_int(back);
}

CASE(multi, kernel_on_each, TWO)
{
    for (int device = 0; device < 2; device++) {
        use(device);
        unsigned *word = rt_words(1, 0), value = 40 + (unsigned)device;
        void *params[] = {&word, &value};
        rt(rt_launch(&rt_host_store, 1, NULL, params));
        rt(rt_launch(rt_kernel("add"), 1, NULL, params));
        rt(cudaDeviceSynchronize());
        say_int(rt_word(word));
    }
}

CASE(multi, attribute_of_each, TWO)
{
    struct cudaFuncAttributes attributes;
    use(1);
    rt(cudaFuncSetAttribute(&rt_host_store, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    RT_NEED(cudaFuncGetAttributes(&attributes, &rt_host_store));
    say_int(attributes.preferredShmemCarveout);
    use(0);
    RT_NEED(cudaFuncGetAttributes(&attributes, &rt_host_store));
    say_int(attributes.preferredShmemCarveout);
}

/* ---- faults, pools, graphs ---- */

CASE(multi, fault_is_of_one, TWO)
{
    void *nowhere = NULL;
    unsigned value = 1;
    void *params[] = {&nowhere, &value};
    unsigned *word = alloc_on(0, 4);
    use(1);
    RT_NEED(rt_launch(&rt_host_store, 1, NULL, params));
    rt(cudaDeviceSynchronize());
    rt_last();
    use(0);
    rt_noted(cudaMemset(word, 0, 4));
    rt(cudaDeviceSynchronize());
}

CASE(multi, pool_of_other, TWO)
{
    cudaMemPool_t pool = NULL;
    void *memory = NULL;
    int device = -1;
    struct cudaMemAccessDesc wanted;
    enum cudaMemAccessFlags flags = (enum cudaMemAccessFlags)77;
    rt(cudaDeviceGetDefaultMemPool(&pool, 1));
    cudaStream_t stream = rt_stream(0);
    rt(cudaMallocFromPoolAsync(&memory, 64, pool, stream));
    struct cudaPointerAttributes attributes;
    rt(cudaPointerGetAttributes(&attributes, memory));
    device = attributes.device;
    say_int(device);
    memset(&wanted, 0, sizeof wanted);
    wanted.location = (struct cudaMemLocation){cudaMemLocationTypeDevice, 0};
    rt(cudaMemPoolGetAccess(&flags, pool, &wanted.location));
    say_int(flags);
    wanted.flags = cudaMemAccessFlagsProtReadWrite;
    rt_noted(cudaMemPoolSetAccess(pool, &wanted, 1));
    rt(cudaMemPoolGetAccess(&flags, pool, &wanted.location));
    say_int(flags);
    rt(cudaMemsetAsync(memory, 0, 64, stream));
    rt(cudaFreeAsync(memory, stream));
    rt(cudaStreamSynchronize(stream));
}

CASE(multi, graph_on_both, TWO)
{
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaGraph_t graph = rt_graph();
    unsigned *zero = alloc_on(0, 4), *one = alloc_on(1, 4), value = 17;
    void *params[] = {&one, &value};
    struct cudaKernelNodeParams kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.func = &rt_host_store;
    kernel.gridDim = kernel.blockDim = (dim3){1, 1, 1};
    kernel.kernelParams = params;
    rt(cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel)); /* device 1 is current */
    use(0);
    rt(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, zero, one, 4, cudaMemcpyDefault));
    rt(cudaGraphInstantiate(&exec, graph, 0));
    cudaStream_t stream = rt_stream(0);
    rt(cudaGraphLaunch(exec, stream));
    rt(cudaStreamSynchronize(stream));
    say_int(rt_word(zero));
}

CASE(multi, capture_across, TWO)
{
    cudaGraph_t graph = NULL;
    size_t count = 0;
    use(0);
    cudaStream_t here = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t fork = rt_event(cudaEventDisableTiming);
    unsigned *one = alloc_on(1, 4);
    cudaStream_t there = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t join = rt_event(cudaEventDisableTiming);
    rt(cudaStreamBeginCapture(here, cudaStreamCaptureModeGlobal));
    rt(cudaEventRecord(fork, here));
    rt(cudaStreamWaitEvent(there, fork, 0));
    rt(cudaMemsetAsync(one, 0, 4, there));
    rt(cudaEventRecord(join, there));
    rt(cudaStreamWaitEvent(here, join, 0));
    rt(cudaStreamEndCapture(here, &graph));
    if (graph)
        rt(cudaGraphGetNodes(graph, NULL, &count));
    say_value("nodes", (long long)count);
}

CASE(multi, managed_from_both, TWO)
{
    unsigned *managed;
    RT_NEED(cudaMallocManaged((void **)&managed, 4, cudaMemAttachGlobal));
    *managed = 1;
    for (int device = 0; device < 2; device++) {
        use(device);
        rt_add(NULL, managed, 10);
        rt(cudaDeviceSynchronize());
    }
    say_int(*managed);
    rt(cudaMemAdvise(managed, 4, cudaMemAdviseSetAccessedBy, (struct cudaMemLocation){cudaMemLocationTypeDevice, 1}));
    rt(cudaMemPrefetchAsync(managed, 4, (struct cudaMemLocation){cudaMemLocationTypeDevice, 1}, 0, NULL));
    rt(cudaDeviceSynchronize());
}
