/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed memory's advice, prefetching and range attributes; peers; and the
 * attributes of streams.
 */
#include "gold.h"

#include <string.h>

static CUdeviceptr managed(size_t size)
{
    CUdeviceptr address;
    NEED(cuMemAllocManaged(&address, size, CU_MEM_ATTACH_GLOBAL));
    return address;
}

static CUmemLocation here(void)
{
    CUmemLocation location;
    memset(&location, 0, sizeof location);
    location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = gold_device();
    return location;
}

static CUmemLocation host(void)
{
    CUmemLocation location;
    memset(&location, 0, sizeof location);
    location.type = CU_MEM_LOCATION_TYPE_HOST;
    return location;
}

CASE(managed, prefetch)
{
    CUdeviceptr address = managed(1 << 20);
    CUstream stream = gold_stream(0);
    *(unsigned *)(uintptr_t)address = 5;
    say(cuMemPrefetchAsync(address, 1 << 20, here(), 0, stream));
    gold_add(stream, address, 2);
    say(cuMemPrefetchAsync(address, 1 << 20, host(), 0, stream));
    say(cuStreamSynchronize(stream));
    say_int(*(unsigned *)(uintptr_t)address);
    NEED(cuMemFree(address));
}

CASE(managed, prefetch_bad)
{
    CUdeviceptr address = managed(4096), plain = gold_alloc(4096);
    CUmemLocation nowhere = here();
    nowhere.id = 9999;
    say(cuMemPrefetchAsync(address, 0, here(), 0, NULL));
    say(cuMemPrefetchAsync(address, 4096, nowhere, 0, NULL));
    say(cuMemPrefetchAsync(address, 4096, here(), 1, NULL));
    say(cuMemPrefetchAsync(plain, 4096, here(), 0, NULL));
    say(cuMemPrefetchAsync(0, 4096, here(), 0, NULL));
    say(cuMemPrefetchAsync(address, (size_t)1 << 40, here(), 0, NULL));
    NEED(cuMemFree(address));
}

CASE(managed, advise)
{
    CUdeviceptr address = managed(1 << 20);
    say(cuMemAdvise(address, 1 << 20, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say(cuMemAdvise(address, 1 << 20, CU_MEM_ADVISE_UNSET_READ_MOSTLY, here()));
    say(cuMemAdvise(address, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here()));
    say(cuMemAdvise(address, 1 << 20, CU_MEM_ADVISE_SET_ACCESSED_BY, host()));
    NEED(cuMemFree(address));
}

CASE(managed, advise_bad)
{
    CUdeviceptr address = managed(4096), plain = gold_alloc(4096);
    say(cuMemAdvise(address, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say(cuMemAdvise(address, 4096, (CUmem_advise)99, here()));
    say(cuMemAdvise(plain, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say(cuMemAdvise(0, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    NEED(cuMemFree(address));
}

CASE(managed, range_read_mostly)
{
    CUdeviceptr address = managed(1 << 20);
    int value = 9;
    say(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 1 << 20));
    say_int(value);
    NEED(cuMemAdvise(address, 1 << 20, CU_MEM_ADVISE_SET_READ_MOSTLY, here()));
    say(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 1 << 20));
    say_int(value);
    NEED(cuMemFree(address));
}

CASE(managed, range_preferred_location)
{
    CUdeviceptr address = managed(1 << 20);
    int value = 9;
    say(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, 1 << 20));
    say_int(value);
    NEED(cuMemAdvise(address, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here()));
    say(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, 1 << 20));
    say_int(value);
    NEED(cuMemFree(address));
}

CASE(managed, range_bad)
{
    CUdeviceptr address = managed(4096);
    int value = 9;
    say(cuMemRangeGetAttribute(NULL, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 4096));
    say(cuMemRangeGetAttribute(&value, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 4096));
    say(cuMemRangeGetAttribute(&value, sizeof value, (CUmem_range_attribute)99, address, 4096));
    say(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 0));
    say(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 4096));
    NEED(cuMemFree(address));
}

CASE(managed, host_sees_kernel_after_synchronize)
{
    CUdeviceptr address = managed(4096 * 4);
    volatile unsigned *words = (volatile unsigned *)(uintptr_t)address;
    unsigned count = 4096, value = 7;
    void *params[] = {&address, &count, &value};
    for (unsigned i = 0; i < 4096; i++)
        words[i] = i;
    say(cuLaunchKernel(gold_function("fill"), 16, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
    say(cuCtxSynchronize());
    unsigned right = 0;
    for (unsigned i = 0; i < 4096; i++)
        right += words[i] == 7;
    say_int(right);
    NEED(cuMemFree(address));
}

CASE(managed, copies_with_device_and_host)
{
    CUdeviceptr address = managed(4096), plain = gold_alloc_words(4, 31);
    unsigned local[4] = {1, 2, 3, 4};
    say(cuMemcpyHtoD(address, local, sizeof local));
    say(cuMemcpyDtoD(address + 16, plain, 16));
    NEED(cuCtxSynchronize());
    say_int(((unsigned *)(uintptr_t)address)[3]);
    say_int(((unsigned *)(uintptr_t)address)[7]);
    say(cuMemcpyDtoH(local, address + 16, 16));
    say_int(local[0]);
    NEED(cuMemFree(address));
}

/* ---- peers ---- */

CASE(peer, attributes_of_one_device)
{
    int value = 9;
    say(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, gold_device(), gold_device()));
    say(cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, gold_device(), gold_device()));
    say(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)99, gold_device(), gold_device()));
    say(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, gold_device(), 9999));
}

CASE(peer, access_to_other_context_of_device, .alone = true)
{
    CUcontext other = gold_context_new();
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuCtxEnablePeerAccess(other, 0));
    say(cuCtxDisablePeerAccess(other));
}

CASE(peer, box_between_contexts, .alone = true)
{
    CUdeviceptr one = gold_alloc_words(256, 3);
    CUcontext other = gold_context_new();
    CUdeviceptr two = gold_alloc_words(256, 4);
    CUDA_MEMCPY3D_PEER copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = one;
    copy.srcContext = gold_context();
    copy.srcPitch = copy.dstPitch = 64;
    copy.srcHeight = copy.dstHeight = 4;
    copy.dstDevice = two;
    copy.dstContext = other;
    copy.WidthInBytes = 32;
    copy.Height = 2;
    copy.Depth = 2;
    say(cuMemcpy3DPeer(&copy));
    NEED(cuCtxSynchronize());
    say_int(gold_word(two));
    say_int(gold_word(two + 32));
    say_int(gold_word(two + 64 * 5));
    say_int(gold_word(two + 64 * 2));
}

/* ---- attributes of streams ---- */

CASE(stream_attribute, synchronization_policy)
{
    CUstream stream = gold_stream(0);
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    say(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    say_int(value.syncPolicy);
    value.syncPolicy = CU_SYNC_POLICY_BLOCKING_SYNC;
    say(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    memset(&value, 0, sizeof value);
    say(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    say_int(value.syncPolicy);
}

CASE(stream_attribute, priority)
{
    CUstream stream = gold_stream(0);
    CUstreamAttrValue value;
    memset(&value, 0x55, sizeof value);
    say(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
}

CASE(stream_attribute, bad)
{
    CUstream stream = gold_stream(0);
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    say(cuStreamGetAttribute(stream, (CUstreamAttrID)999, &value));
    say(cuStreamSetAttribute(stream, (CUstreamAttrID)999, &value));
}

CASE(stream_attribute, null_value, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    CUstream stream = gold_stream(0);
    say(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, NULL));
    say(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, NULL));
}

CASE(stream_attribute, copied)
{
    CUstream from = gold_stream(0), to = gold_stream(0);
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    NEED(cuStreamSetAttribute(from, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    say(cuStreamCopyAttributes(to, from));
    memset(&value, 0, sizeof value);
    say(cuStreamGetAttribute(to, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    say_int(value.syncPolicy);
}
