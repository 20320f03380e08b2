/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices: what they say of one another, peer access, copies between them,
 * and streams, events and memory of one used where the other is current.
 *
 * Every case says .devices = 2 and has a process of its own.  The answers are
 * recorded on a machine with two GPUs into a file of their own.
 */
#include "gold.h"

#include <string.h>

#define MIB ((size_t)1 << 20)
#define UNIT (2 * MIB)
#define TWO .devices = 2, .alone = true

static CUdevice device_two(void)
{
    CUdevice device;
    NEED(cuDeviceGet(&device, 1));
    return device;
}

/* A context of the second device, current. */
static CUcontext context_two(void)
{
    CUcontext context;
    NEED(cuCtxCreate(&context, NULL, 0, device_two()));
    return context;
}

static CUmemLocation on(CUdevice device)
{
    CUmemLocation location;
    memset(&location, 0, sizeof location);
    location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device;
    return location;
}

static void use(CUcontext context)
{
    NEED(cuCtxSetCurrent(context));
}

/* A function of the common module, loaded for the current context. */
static CUfunction function_here(const char *name)
{
    CUfunction function;
    NEED(cuModuleGetFunction(&function, gold_load(gold_ptx), name));
    return function;
}

static CUresult add_here(CUdeviceptr address, unsigned value, CUstream stream)
{
    void *params[] = {&address, &value};
    return gold_launch(function_here("add"), 1, stream, params);
}

/* ---- what devices say of one another ---- */

CASE(multi, can_access, TWO)
{
    int can = 9;
    say(cuDeviceCanAccessPeer(&can, 0, 1));
    say_int(can);
    say(cuDeviceCanAccessPeer(&can, 1, 0));
    say_int(can);
    say(cuDeviceCanAccessPeer(&can, 1, 1));
    say_int(can);
}

CASE(multi, p2p_attributes, TWO, .allow = "CUDA_SUCCESS 1 CUDA_SUCCESS 1 CUDA_SUCCESS 0 CUDA_SUCCESS rank=yes",
     .why = "whether arrays can be reached belongs to the device")
{
    CUdevice_P2PAttribute row[] = {CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
                                   CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
                                   CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED};
    for (size_t i = 0; i < 3; i++) {
        int value = 99;
        say(cuDeviceGetP2PAttribute(&value, row[i], 0, 1));
        say_int(value);
    }
    int rank = -1;
    say(cuDeviceGetP2PAttribute(&rank, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1));
    say_if("rank", rank >= 0);
}

CASE(multi, p2p_attributes_bad, TWO)
{
    int value = 99;
    say(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)0, 0, 1));
    say(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)99, 0, 1));
    say(cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    say(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 999));
    say_int(value);
}

CASE(multi, atomic_capabilities, TWO, .allow = "CUDA_SUCCESS 31 31 14 CUDA_ERROR_INVALID_VALUE*",
     .why = "what a link can do belongs to the device: here both are one processor")
{
    CUatomicOperation operations[] = {(CUatomicOperation)0, (CUatomicOperation)1, (CUatomicOperation)4};
    unsigned capabilities[3] = {77, 77, 77};
    say(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 3, 0, 1));
    say_int(capabilities[0]);
    say_int(capabilities[1]);
    say_int(capabilities[2]);
    say(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 0, 0, 1));
    say(cuDeviceGetP2PAtomicCapabilities(NULL, operations, 3, 0, 1));
    operations[0] = (CUatomicOperation)99;
    say(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 1, 0, 1));
    say(cuDeviceGetP2PAtomicCapabilities(capabilities, operations + 1, 1, 0, 999));
}

CASE(multi, identities_differ, TWO)
{
    CUuuid one, two;
    char bus_one[32], bus_two[32];
    NEED(cuDeviceGetUuid(&one, 0));
    NEED(cuDeviceGetUuid(&two, 1));
    say_if("uuids_differ", memcmp(&one, &two, sizeof one) != 0);
    NEED(cuDeviceGetPCIBusId(bus_one, sizeof bus_one, 0));
    NEED(cuDeviceGetPCIBusId(bus_two, sizeof bus_two, 1));
    say_if("bus_ids_differ", strcmp(bus_one, bus_two) != 0);
    CUdevice found = 99;
    say(cuDeviceGetByPCIBusId(&found, bus_two));
    say_int(found);
}

/* ---- peer access ---- */

CASE(multi, access_states, TWO)
{
    CUcontext two = context_two();
    use(gold_context());
    say(cuCtxDisablePeerAccess(two));
    say(cuCtxEnablePeerAccess(two, 0));
    say(cuCtxEnablePeerAccess(two, 0));
    say(cuCtxDisablePeerAccess(two));
    say(cuCtxDisablePeerAccess(two));
    say(cuCtxEnablePeerAccess(two, 1));
    say(cuCtxEnablePeerAccess(two, 0));
}

CASE(multi, access_is_one_way, TWO)
{
    CUcontext two = context_two();
    say(cuCtxEnablePeerAccess(gold_context(), 0));
    use(gold_context());
    say(cuCtxDisablePeerAccess(two));
    say(cuCtxEnablePeerAccess(two, 0));
    use(two);
    say(cuCtxDisablePeerAccess(gold_context()));
}

CASE(multi, access_to_destroyed_context, TWO)
{
    CUcontext two = context_two();
    use(gold_context());
    NEED(cuCtxEnablePeerAccess(two, 0));
    NEED(cuCtxDestroy(two));
    CUcontext again = context_two();
    use(gold_context());
    say(cuCtxEnablePeerAccess(again, 0));
}

CASE(multi, two_contexts_of_peer, TWO)
{
    CUcontext two = context_two(), three = context_two();
    use(gold_context());
    say(cuCtxEnablePeerAccess(two, 0));
    say(cuCtxEnablePeerAccess(three, 0));
    say(cuCtxDisablePeerAccess(three));
    say(cuCtxDisablePeerAccess(two));
}

CASE(multi, kernel_with_access, TWO)
{
    CUcontext two = context_two();
    CUdeviceptr theirs = gold_alloc_words(4, 5);
    use(gold_context());
    NEED(cuCtxEnablePeerAccess(two, 0));
    say(add_here(theirs, 3, NULL));
    say(cuCtxSynchronize());
    say_int(gold_word(theirs));
}

CASE(multi, kernel_without_access, TWO, .allow = "CUDA_SUCCESS CUDA_SUCCESS",
     .why = "memory is shared between Millrace's devices, so nothing faults (docs/devices.md)")
{
    CUcontext two = context_two();
    CUdeviceptr theirs = gold_alloc_words(4, 5);
    use(gold_context());
    say(add_here(theirs, 3, NULL));
    say(cuCtxSynchronize());
    (void)two;
}

CASE(multi, copies_without_access, TWO)
{
    CUcontext two = context_two();
    CUdeviceptr theirs = gold_alloc_words(64, 5);
    use(gold_context());
    CUdeviceptr mine = gold_alloc_words(64, 6);
    unsigned local[64] = {0};
    say(cuMemcpyDtoD(mine, theirs, 128));
    say(cuMemcpy(mine + 128, theirs, 64));
    say(cuMemcpyDtoH(local, theirs, 256));
    NEED(cuCtxSynchronize());
    say_int(gold_word(mine + 4));
    say_int(gold_word(mine + 132));
    say_int(gold_word(mine + 252));
    say_int(local[9]);
    say(cuMemsetD32(theirs, 1, 4));
    say(cuCtxSynchronize());
    (void)two;
}

CASE(multi, pinned_memory_for_both, TWO)
{
    unsigned *words;
    NEED(cuMemHostAlloc((void **)&words, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    words[0] = 1;
    CUcontext two = context_two();
    CUdeviceptr device = 0;
    say(cuMemHostGetDevicePointer(&device, words, 0));
    say(add_here(device, 2, NULL));
    say(cuCtxSynchronize());
    say_int(words[0]);
    (void)two;
}

CASE(multi, pinned_memory_not_portable, TWO)
{
    unsigned *words;
    NEED(cuMemHostAlloc((void **)&words, 4096, 0));
    words[0] = 1;
    context_two();
    CUdeviceptr device = 0;
    say(cuMemHostGetDevicePointer(&device, words, 0));
    say(add_here((CUdeviceptr)(uintptr_t)words, 2, NULL));
    say(cuCtxSynchronize());
    say_int(words[0]);
}

CASE(multi, managed_memory_for_both, TWO)
{
    CUdeviceptr address;
    NEED(cuMemAllocManaged(&address, UNIT, CU_MEM_ATTACH_GLOBAL));
    *(unsigned *)(uintptr_t)address = 1;
    gold_add(NULL, address, 1);
    NEED(cuCtxSynchronize());
    context_two();
    say(add_here(address, 5, NULL));
    say(cuCtxSynchronize());
    say_int(*(unsigned *)(uintptr_t)address);
}

/* ---- copies between devices ---- */

CASE(multi, copy_peer, TWO)
{
    CUdeviceptr mine = gold_alloc_words(256, 3);
    CUcontext two = context_two();
    CUdeviceptr theirs = gold_alloc_words(256, 4);
    CUstream stream = gold_stream(0);
    say(cuMemcpyPeer(theirs, two, mine, gold_context(), 512));
    say(cuMemcpyPeerAsync(theirs + 512, two, mine, gold_context(), 256, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(theirs + 508));
    say_int(gold_word(theirs + 764));
    say_int(gold_word(theirs + 768));
}

CASE(multi, copy_peer_in_stream_of_other, TWO)
{
    CUdeviceptr mine = gold_alloc_words(256, 3);
    CUstream stream = gold_stream(0);
    CUcontext two = context_two();
    CUdeviceptr theirs = gold_alloc_words(256, 4);
    say(cuMemcpyPeerAsync(theirs, two, mine, gold_context(), 256, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(theirs + 252));
}

CASE(multi, copy_peer_wrong_contexts, TWO)
{
    CUdeviceptr mine = gold_alloc_words(256, 3);
    CUcontext two = context_two();
    CUdeviceptr theirs = gold_alloc_words(256, 4);
    say(cuMemcpyPeer(theirs, gold_context(), mine, two, 256));
    say(cuCtxSynchronize());
    say_int(gold_word(theirs + 252));
}

CASE(multi, box_between_devices, TWO)
{
    CUdeviceptr mine = gold_alloc_words(256, 3);
    CUcontext two = context_two();
    CUdeviceptr theirs = gold_alloc_words(256, 4);
    CUDA_MEMCPY3D_PEER copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = mine;
    copy.srcContext = gold_context();
    copy.srcPitch = copy.dstPitch = 64;
    copy.srcHeight = copy.dstHeight = 4;
    copy.dstDevice = theirs;
    copy.dstContext = two;
    copy.WidthInBytes = 32;
    copy.Height = 2;
    copy.Depth = 2;
    say(cuMemcpy3DPeer(&copy));
    NEED(cuCtxSynchronize());
    say_int(gold_word(theirs));
    say_int(gold_word(theirs + 32));
    CUstream stream = gold_stream(0);
    copy.WidthInBytes = 64;
    say(cuMemcpy3DPeerAsync(&copy, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(theirs + 32));
}

/* ---- streams and events ---- */

CASE(multi, record_in_stream_of_other, TWO)
{
    CUevent mine = gold_event(0);
    CUstream own = gold_stream(0);
    context_two();
    CUevent theirs = gold_event(0);
    CUstream stream = gold_stream(0);
    say(cuEventRecord(mine, stream));
    say(cuEventRecord(theirs, own));
    say(cuEventRecord(mine, own));
    say(cuEventRecord(mine, NULL));
    say(cuEventRecord(theirs, NULL));
}

CASE(multi, wait_across_devices, TWO)
{
    CUstream own = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    struct gold_gate gate = gold_gate_close(own);
    NEED(cuEventRecord(event, own));
    context_two();
    CUstream theirs = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitEvent(theirs, event, 0));
    say(cuStreamQuery(theirs));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuStreamSynchronize(theirs));
    say(cuEventQuery(event));
}

CASE(multi, wait_for_stream_of_other, TWO)
{
    CUstream own = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(own);
    context_two();
    say(cuStreamQuery(own));
    say(cuCtxSynchronize());
    gold_gate_open(gate);
    say(cuStreamSynchronize(own));
}

CASE(multi, elapsed_across_devices, TWO)
{
    CUevent mine = gold_event(0);
    NEED(cuEventRecord(mine, NULL));
    NEED(cuCtxSynchronize());
    context_two();
    CUevent theirs = gold_event(0);
    NEED(cuEventRecord(theirs, NULL));
    NEED(cuCtxSynchronize());
    float ms = -1;
    say(cuEventElapsedTime(&ms, mine, theirs));
    say(cuEventElapsedTime(&ms, theirs, mine));
}

CASE(multi, launch_in_stream_of_other, TWO)
{
    CUstream own = gold_stream(0);
    CUdeviceptr mine = gold_alloc_words(4, 1);
    context_two();
    CUfunction theirs = function_here("empty");
    say(gold_launch(theirs, 1, own, NULL));
    say(cuMemsetD32Async(mine, 5, 4, own));
    say(gold_launch(gold_function("empty"), 1, NULL, NULL));
    use(gold_context());
    say(gold_launch(theirs, 1, NULL, NULL));
}

CASE(multi, context_events_across, TWO)
{
    CUevent mine = gold_event(0);
    NEED(cuEventRecord(mine, NULL));
    CUcontext two = context_two();
    CUevent theirs = gold_event(0);
    say(cuCtxRecordEvent(two, theirs));
    say(cuCtxRecordEvent(two, mine));
    say(cuCtxRecordEvent(gold_context(), mine));
    say(cuCtxWaitEvent(two, mine));
    say(cuCtxWaitEvent(gold_context(), theirs));
}

CASE(multi, stream_device_told, TWO)
{
    CUstream own = gold_stream(0);
    CUdevice device = 99;
    context_two();
    say(cuStreamGetDevice(own, &device));
    say_int(device);
    say(cuStreamGetDevice(NULL, &device));
    say_int(device);
}

/* ---- memory ---- */

CASE(multi, pointer_tells_its_device, TWO)
{
    CUdeviceptr mine = gold_alloc(64);
    CUcontext two = context_two(), told = NULL;
    CUdeviceptr theirs = gold_alloc(64);
    int ordinal = 99;
    say(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, mine));
    say_int(ordinal);
    say(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, theirs));
    say_int(ordinal);
    say(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_CONTEXT, mine));
    say_if("first", told == gold_context());
    CUdeviceptr device = 0;
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, mine));
    say_if("same", device == mine);
    (void)two;
}

CASE(multi, freed_from_other_device, TWO)
{
    CUdeviceptr mine = gold_alloc(64);
    context_two();
    say(cuMemFree(mine));
    say(cuMemFree(mine));
}

CASE(multi, memory_is_counted_by_device, TWO)
{
    size_t before, after, total;
    CUcontext two = context_two();
    use(gold_context());
    gold_alloc(64);
    NEED(cuMemGetInfo(&before, &total));
    use(two);
    gold_alloc(64 * MIB);
    use(gold_context());
    NEED(cuMemGetInfo(&after, &total));
    say_if("untouched", before == after);
}

CASE(multi, advice_for_both, TWO)
{
    CUdeviceptr address;
    int by[4] = {99, 99, 99, 99}, where = 99;
    NEED(cuMemAllocManaged(&address, UNIT, CU_MEM_ATTACH_GLOBAL));
    say(cuMemAdvise(address, UNIT, CU_MEM_ADVISE_SET_ACCESSED_BY, on(1)));
    say(cuMemAdvise(address, UNIT, CU_MEM_ADVISE_SET_ACCESSED_BY, on(0)));
    say(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, UNIT));
    for (int i = 0; i < 4; i++)
        say_int(by[i]);
    say(cuMemAdvise(address, UNIT, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, on(1)));
    say(cuMemRangeGetAttribute(&where, sizeof where, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, UNIT));
    say_int(where);
}

CASE(multi, prefetch_to_other, TWO)
{
    CUdeviceptr address;
    int where = 99;
    NEED(cuMemAllocManaged(&address, UNIT, CU_MEM_ATTACH_GLOBAL));
    say(cuMemPrefetchAsync(address, UNIT, on(1), 0, NULL));
    say(cuCtxSynchronize());
    say(cuMemRangeGetAttribute(&where, sizeof where, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, UNIT));
    say_int(where);
}

CASE(multi, mapping_for_both, TWO)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = on(0);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    NEED(cuMemCreate(&handle, UNIT, &prop, 0));
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    CUmemAccessDesc descs[2];
    memset(descs, 0, sizeof descs);
    descs[0].location = on(0);
    descs[1].location = on(1);
    descs[0].flags = descs[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    say(cuMemSetAccess(address, UNIT, descs, 2));
    unsigned long long flags = 77;
    say(cuMemGetAccess(&flags, &descs[1].location, address));
    say_int((long long)flags);
    NEED(cuMemsetD32(address, 6, 4));
    NEED(cuCtxSynchronize());
    context_two();
    say(add_here(address, 2, NULL));
    say(cuCtxSynchronize());
    say_int(gold_word(address));
}

CASE(multi, mapping_of_other_device_only, TWO)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = on(1);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CUmemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.location = on(0);
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    say(cuMemCreate(&handle, UNIT, &prop, 0));
    NEED(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    NEED(cuMemMap(address, UNIT, 0, handle, 0));
    say(cuMemSetAccess(address, UNIT, &desc, 1));
    unsigned long long flags = 77;
    CUmemLocation other = on(1);
    say(cuMemGetAccess(&flags, &other, address));
    say_int((long long)flags);
    int ordinal = 99;
    say(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    say_int(ordinal);
    gold_store(NULL, address, 5);
    say(cuCtxSynchronize());
    say_int(gold_word(address));
}

CASE(multi, fault_on_one_device, TWO, .allow = "CUDA_SUCCESS CUDA_ERROR_ILLEGAL_ADDRESS CUDA_SUCCESS 5",
     .why = "contexts are isolated in Millrace (design, section 8)")
{
    CUdeviceptr mine = gold_alloc_words(4, 5);
    CUcontext two = context_two();
    say(add_here(0x100, 1, NULL));
    say(cuCtxSynchronize());
    use(gold_context());
    say(cuCtxSynchronize());
    say_int(gold_word(mine));
    (void)two;
}

CASE(multi, primary_contexts_are_two, TWO)
{
    CUcontext one, two;
    NEED(cuDevicePrimaryCtxRetain(&one, 0));
    NEED(cuDevicePrimaryCtxRetain(&two, 1));
    say_if("differ", one != two);
    use(two);
    CUdevice device = 99;
    say(cuCtxGetDevice(&device));
    say_int(device);
    say(cuCtxEnablePeerAccess(one, 0));
    NEED(cuDevicePrimaryCtxRelease(0));
    NEED(cuDevicePrimaryCtxRelease(1));
}
