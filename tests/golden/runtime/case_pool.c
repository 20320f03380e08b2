/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, memory between processes, peers, arrays and textures. */
#include "rt.h"

#include <string.h>

/* ---- pools ---- */

static struct cudaMemPoolProps properties(void)
{
    struct cudaMemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    return properties;
}

static cudaMemPool_t pool_new(void)
{
    struct cudaMemPoolProps wanted = properties();
    cudaMemPool_t pool;
    RT_NEED(cudaMemPoolCreate(&pool, &wanted));
    return pool;
}

CASE(pool, allocate_and_free)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *memory = NULL;
    rt(cudaMallocAsync((void **)&memory, 64, stream));
    rt(cudaMemsetAsync(memory, 1, 64, stream));
    rt(cudaStreamSynchronize(stream));
    say_hex(rt_word(memory));
    rt(cudaFreeAsync(memory, stream));
    rt(cudaStreamSynchronize(stream));
}

CASE(pool, allocate_bad)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    void *memory = (void *)(uintptr_t)1;
    rt_noted(cudaMallocAsync(&memory, 0, stream));
    say_text(memory == NULL ? "null" : memory == (void *)(uintptr_t)1 ? "untouched" : "other");
    rt_noted(cudaMallocAsync(NULL, 64, stream));
    rt_noted(cudaMallocAsync(&memory, (size_t)1 << 60, stream));
    rt_noted(cudaMallocFromPoolAsync(&memory, 64, NULL, stream));
}

CASE(pool, free_bad)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    rt_noted(cudaFreeAsync(NULL, stream));
    rt_noted(cudaFreeAsync(GOLD_WILD, stream));
}

CASE(pool, free_async_of_malloc)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    rt_noted(cudaFreeAsync(rt_alloc(64), stream));
    rt(cudaStreamSynchronize(stream));
}

CASE(pool, free_of_malloc_async)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    void *memory;
    RT_NEED(cudaMallocAsync(&memory, 64, stream));
    RT_NEED(cudaStreamSynchronize(stream));
    rt_noted(cudaFree(memory));
    rt_noted(cudaFree(memory));
}

CASE(pool, free_async_twice)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    void *memory;
    RT_NEED(cudaMallocAsync(&memory, 64, stream));
    rt_noted(cudaFreeAsync(memory, stream));
    rt_noted(cudaFreeAsync(memory, stream));
    rt(cudaStreamSynchronize(stream));
}

CASE(pool, of_device)
{
    cudaMemPool_t first = NULL, current = NULL;
    rt(cudaDeviceGetDefaultMemPool(&first, 0));
    rt(cudaDeviceGetMemPool(&current, 0));
    say_if("same", first && first == current);
    rt_noted(cudaDeviceGetDefaultMemPool(NULL, 0));
    rt_noted(cudaDeviceGetDefaultMemPool(&first, -1));
    rt_noted(cudaDeviceGetMemPool(&first, 1 << 20));
    rt_noted(cudaMemPoolDestroy(current));
}

CASE(pool, set_of_device)
{
    cudaMemPool_t pool = pool_new(), current = NULL, first = NULL;
    rt(cudaDeviceSetMemPool(0, pool));
    rt(cudaDeviceGetMemPool(&current, 0));
    say_if("set", current == pool);
    rt(cudaMemPoolDestroy(pool));
    rt(cudaDeviceGetMemPool(&current, 0));
    RT_NEED(cudaDeviceGetDefaultMemPool(&first, 0));
    say_if("default again", current == first);
    rt_noted(cudaDeviceSetMemPool(0, NULL));
    rt_noted(cudaDeviceSetMemPool(-1, first));
    RT_NEED(cudaDeviceSetMemPool(0, first));
}

CASE(pool, create_bad)
{
    cudaMemPool_t pool = NULL;
    struct cudaMemPoolProps wanted = properties();
    rt_noted(cudaMemPoolCreate(NULL, &wanted));
    rt_noted(cudaMemPoolCreate(&pool, NULL));
    wanted.allocType = (enum cudaMemAllocationType)99;
    rt_noted(cudaMemPoolCreate(&pool, &wanted));
    wanted = properties();
    wanted.location.id = 1 << 20;
    rt_noted(cudaMemPoolCreate(&pool, &wanted));
    wanted = properties();
    wanted.location.type = (enum cudaMemLocationType)99;
    rt_noted(cudaMemPoolCreate(&pool, &wanted));
    wanted = properties();
    wanted.handleTypes = (enum cudaMemAllocationHandleType)64;
    rt_noted(cudaMemPoolCreate(&pool, &wanted));
    say_if("untouched", pool == NULL);
    rt_noted(cudaMemPoolDestroy(NULL));
}

CASE(pool, attributes)
{
    cudaMemPool_t pool = pool_new();
    unsigned long long value = 77;
    int flag = 77;
    rt(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &flag));
    say_int(flag);
    rt(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    say_int((long long)value);
    value = 4096;
    rt(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    value = 0;
    rt(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    say_int((long long)value);
    rt(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
    say_int((long long)value);
    rt_noted(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
    value = 5;
    rt_noted(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    rt_noted(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)99, &value));
    rt_noted(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, NULL));
    rt_noted(cudaMemPoolGetAttribute(NULL, cudaMemPoolAttrReleaseThreshold, &value));
    rt(cudaMemPoolDestroy(pool));
}

CASE(pool, trim)
{
    cudaMemPool_t pool = pool_new();
    rt(cudaMemPoolTrimTo(pool, 0));
    rt_noted(cudaMemPoolTrimTo(NULL, 0));
    rt(cudaMemPoolDestroy(pool));
}

CASE(pool, access)
{
    cudaMemPool_t pool = pool_new();
    struct cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    struct cudaMemAccessDesc wanted;
    enum cudaMemAccessFlags flags = (enum cudaMemAccessFlags)77;
    memset(&wanted, 0, sizeof wanted);
    wanted.location = here;
    wanted.flags = cudaMemAccessFlagsProtReadWrite;
    rt(cudaMemPoolGetAccess(&flags, pool, &here));
    say_int(flags);
    rt_noted(cudaMemPoolSetAccess(pool, &wanted, 1));
    wanted.flags = cudaMemAccessFlagsProtNone;
    rt_noted(cudaMemPoolSetAccess(pool, &wanted, 1));
    wanted.location.id = 1 << 20;
    rt_noted(cudaMemPoolSetAccess(pool, &wanted, 1));
    rt(cudaMemPoolDestroy(pool));
}

CASE(pool, access_null)
{
    struct cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    enum cudaMemAccessFlags flags = (enum cudaMemAccessFlags)77;
    rt_noted(cudaMemPoolGetAccess(&flags, NULL, &here));
}

CASE(pool, access_list_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    rt_noted(cudaMemPoolSetAccess(pool_new(), NULL, 1));
}

CASE(pool, access_result_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    struct cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    rt_noted(cudaMemPoolGetAccess(NULL, pool_new(), &here));
}

CASE(pool, access_place_null)
{
    enum cudaMemAccessFlags flags = (enum cudaMemAccessFlags)77;
    rt_noted(cudaMemPoolGetAccess(&flags, pool_new(), NULL));
}

CASE(pool, from_pool)
{
    cudaMemPool_t pool = pool_new();
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    void *memory = NULL;
    struct cudaPointerAttributes attributes;
    rt(cudaMallocFromPoolAsync(&memory, 64, pool, stream));
    rt(cudaPointerGetAttributes(&attributes, memory));
    say_int(attributes.type);
    rt(cudaFreeAsync(memory, stream));
    rt(cudaMemPoolDestroy(pool));
    rt(cudaStreamSynchronize(stream));
}

CASE(pool, not_shareable)
{
    cudaMemPool_t pool = pool_new();
    int descriptor = -1;
    rt_noted(cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    rt_noted(cudaMemPoolExportToShareableHandle(NULL, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    rt_noted(cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 1));
    struct cudaMemPoolPtrExportData data;
    rt_noted(cudaMemPoolExportPointer(&data, rt_alloc(64)));
    rt_noted(cudaMemPoolExportPointer(NULL, NULL));
    rt(cudaMemPoolDestroy(pool));
}

CASE(pool, by_location)
{
    cudaMemPool_t pool = NULL, first = NULL;
    struct cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    RT_NEED(cudaDeviceGetDefaultMemPool(&first, 0));
    rt_noted(cudaMemGetDefaultMemPool(&pool, &here, cudaMemAllocationTypePinned));
    say_if("same", pool == first);
    rt_noted(cudaMemGetMemPool(&pool, &here, cudaMemAllocationTypePinned));
    say_if("same", pool == first);
    rt_noted(cudaMemGetDefaultMemPool(NULL, &here, cudaMemAllocationTypePinned));
    rt_noted(cudaMemGetDefaultMemPool(&pool, NULL, cudaMemAllocationTypePinned));
}

/* ---- memory and events between processes: what one process may ask ---- */

CASE(ipc, memory_handle_bad)
{
    cudaIpcMemHandle_t handle;
    void *pinned, *managed;
    int local;
    RT_NEED(cudaMallocHost(&pinned, 64));
    RT_NEED(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
    rt_noted(cudaIpcGetMemHandle(&handle, NULL));
    rt_noted(cudaIpcGetMemHandle(&handle, &local));
    rt_noted(cudaIpcGetMemHandle(&handle, pinned));
    rt_noted(cudaIpcGetMemHandle(&handle, managed));
    RT_NEED(cudaFreeHost(pinned));
    RT_NEED(cudaFree(managed));
}

CASE(ipc, memory_handle_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    rt_noted(cudaIpcGetMemHandle(NULL, rt_alloc(64)));
}

CASE(ipc, open_bad_memory)
{
    cudaIpcMemHandle_t handle;
    void *address = NULL;
    memset(&handle, 0, sizeof handle);
    rt_noted(cudaIpcOpenMemHandle(&address, handle, cudaIpcMemLazyEnablePeerAccess));
    rt_noted(cudaIpcOpenMemHandle(NULL, handle, cudaIpcMemLazyEnablePeerAccess));
    rt_noted(cudaIpcOpenMemHandle(&address, handle, 0));
    say_if("untouched", address == NULL);
}

CASE(ipc, open_own_memory)
{
    cudaIpcMemHandle_t handle;
    void *address = NULL;
    rt(cudaIpcGetMemHandle(&handle, rt_alloc(64)));
    rt_noted(cudaIpcOpenMemHandle(&address, handle, cudaIpcMemLazyEnablePeerAccess));
}

CASE(ipc, close_bad_memory)
{
    rt_noted(cudaIpcCloseMemHandle(NULL));
    rt_noted(cudaIpcCloseMemHandle(rt_alloc(64)));
    rt_noted(cudaIpcCloseMemHandle(GOLD_WILD));
}

CASE(ipc, event_handle_bad)
{
    cudaIpcEventHandle_t handle;
    rt_noted(cudaIpcGetEventHandle(&handle, rt_event(0)));
    rt_noted(cudaIpcGetEventHandle(&handle, rt_event(cudaEventDisableTiming)));
    rt_noted(cudaIpcGetEventHandle(&handle, NULL));
}

CASE(ipc, event_handle_null, RT_CRASHES("cudaErrorInvalidValue"))
{
    rt_noted(cudaIpcGetEventHandle(NULL, rt_event(cudaEventDisableTiming | cudaEventInterprocess)));
}

CASE(ipc, open_bad_event)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event = NULL;
    memset(&handle, 0, sizeof handle);
    rt_noted(cudaIpcOpenEventHandle(&event, handle));
    rt_noted(cudaIpcOpenEventHandle(NULL, handle));
}

CASE(ipc, open_own_event)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event = NULL;
    rt(cudaIpcGetEventHandle(&handle, rt_event(cudaEventDisableTiming | cudaEventInterprocess)));
    rt_noted(cudaIpcOpenEventHandle(&event, handle));
}

/* ---- peers ---- */

CASE(peer, can_access)
{
    int can = 77;
    rt_noted(cudaDeviceCanAccessPeer(&can, 0, 0));
    say_int(can);
    rt_noted(cudaDeviceCanAccessPeer(NULL, 0, 0));
    rt_noted(cudaDeviceCanAccessPeer(&can, -1, 0));
    rt_noted(cudaDeviceCanAccessPeer(&can, 0, 1 << 20));
    say_int(can);
}

CASE(peer, enable_bad)
{
    rt_noted(cudaDeviceEnablePeerAccess(0, 0));
    rt_noted(cudaDeviceEnablePeerAccess(-1, 0));
    rt_noted(cudaDeviceEnablePeerAccess(1 << 20, 0));
    rt_noted(cudaDeviceEnablePeerAccess(0, 1));
}

CASE(peer, disable_bad)
{
    rt_noted(cudaDeviceDisablePeerAccess(0));
    rt_noted(cudaDeviceDisablePeerAccess(-1));
    rt_noted(cudaDeviceDisablePeerAccess(1 << 20));
}

CASE(peer, attribute)
{
    int value = 77;
    rt_noted(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    rt_noted(cudaDeviceGetP2PAttribute(NULL, cudaDevP2PAttrAccessSupported, 0, 0));
    rt_noted(cudaDeviceGetP2PAttribute(&value, (enum cudaDeviceP2PAttr)99, 0, 0));
    rt_noted(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1 << 20));
}

/* ---- arrays, textures, surfaces ---- */

static struct cudaChannelFormatDesc floats(void)
{
    return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
}

CASE(array, info)
{
    struct cudaChannelFormatDesc format = floats(), got;
    struct cudaExtent extent;
    cudaArray_t array = NULL;
    unsigned flags = 77;
    rt(cudaMallocArray(&array, &format, 8, 4, cudaArrayDefault));
    rt(cudaArrayGetInfo(&got, &extent, &flags, array));
    say_int(got.x);
    say_int(got.f);
    say_int((long long)extent.width);
    say_int((long long)extent.height);
    say_int((long long)extent.depth);
    say_hex(flags);
    rt(cudaGetChannelDesc(&got, array));
    say_int(got.x);
    rt(cudaFreeArray(array));
}

CASE(array, malloc_bad)
{
    struct cudaChannelFormatDesc format = floats();
    cudaArray_t array = NULL;
    rt_noted(cudaMallocArray(NULL, &format, 8, 4, 0));
    rt_noted(cudaMallocArray(&array, NULL, 8, 4, 0));
    rt_noted(cudaMallocArray(&array, &format, 0, 4, 0));
    rt_noted(cudaMallocArray(&array, &format, (size_t)1 << 40, 4, 0));
    rt_noted(cudaMallocArray(&array, &format, 8, 4, 0x8000));
    format.x = 7;
    rt_noted(cudaMallocArray(&array, &format, 8, 4, 0));
    say_if("untouched", array == NULL);
}

CASE(array, free_null)
{
    rt_noted(cudaFreeArray(NULL));
    rt_noted(cudaFreeMipmappedArray(NULL));
}

CASE(array, copies)
{
    struct cudaChannelFormatDesc format = floats();
    cudaArray_t array = NULL;
    float values[32], back[32] = {0};
    for (int i = 0; i < 32; i++)
        values[i] = (float)i;
    RT_NEED(cudaMallocArray(&array, &format, 8, 4, 0));
    rt(cudaMemcpy2DToArray(array, 0, 0, values, 32, 32, 4, cudaMemcpyHostToDevice));
    rt(cudaMemcpy2DFromArray(back, 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
    say_int((long long)back[31]);
    rt_noted(cudaMemcpy2DToArray(array, 0, 0, values, 32, 36, 4, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpy2DToArray(array, 0, 1, values, 32, 32, 4, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpy2DToArray(NULL, 0, 0, values, 32, 32, 4, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpy2DFromArray(back, 16, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2DFromArray(back, 32, array, 0, 0, 32, 4, (enum cudaMemcpyKind)9));
    rt(cudaFreeArray(array));
}

CASE(array, box)
{
    struct cudaChannelFormatDesc format = floats();
    cudaArray_t array = NULL;
    rt(cudaMalloc3DArray(&array, &format, (struct cudaExtent){8, 4, 2}, 0));
    rt(cudaFreeArray(array));
    rt(cudaMalloc3DArray(&array, &format, (struct cudaExtent){8, 4, 2}, cudaArrayLayered));
    rt(cudaFreeArray(array));
    rt_noted(cudaMalloc3DArray(&array, &format, (struct cudaExtent){8, 4, 2}, cudaArrayCubemap));
    rt_noted(cudaMalloc3DArray(&array, &format, (struct cudaExtent){0, 4, 2}, 0));
}

CASE(array, mipmapped)
{
    struct cudaChannelFormatDesc format = floats();
    cudaMipmappedArray_t mipmapped = NULL;
    cudaArray_t level = NULL;
    struct cudaExtent extent;
    rt(cudaMallocMipmappedArray(&mipmapped, &format, (struct cudaExtent){8, 4, 0}, 3, 0));
    rt(cudaGetMipmappedArrayLevel(&level, mipmapped, 1));
    rt(cudaArrayGetInfo(NULL, &extent, NULL, level));
    say_int((long long)extent.width);
    rt_noted(cudaGetMipmappedArrayLevel(&level, mipmapped, 3));
    rt_noted(cudaGetMipmappedArrayLevel(NULL, mipmapped, 0));
    rt(cudaFreeMipmappedArray(mipmapped));
    rt_noted(cudaMallocMipmappedArray(&mipmapped, &format, (struct cudaExtent){8, 4, 0}, 0, 0));
}

CASE(texture, object)
{
    struct cudaChannelFormatDesc format = floats();
    struct cudaResourceDesc resource, got;
    struct cudaTextureDesc texture;
    cudaTextureObject_t object = 0;
    cudaArray_t array;
    RT_NEED(cudaMallocArray(&array, &format, 8, 4, 0));
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    rt(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    rt(cudaGetTextureObjectResourceDesc(&got, object));
    say_if("array", got.resType == cudaResourceTypeArray && got.res.array.array == array);
    rt(cudaDestroyTextureObject(object));
    texture.filterMode = (enum cudaTextureFilterMode)9;
    rt_noted(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    rt_noted(cudaCreateTextureObject(NULL, &resource, &texture, NULL));
    rt_noted(cudaCreateTextureObject(&object, NULL, &texture, NULL));
    rt_noted(cudaDestroyTextureObject(0));
    rt(cudaFreeArray(array));
}

CASE(texture, linear)
{
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
    cudaTextureObject_t object = 0;
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = rt_alloc(1024);
    resource.res.linear.desc = floats();
    resource.res.linear.sizeInBytes = 1024;
    rt(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    rt(cudaDestroyTextureObject(object));
    resource.res.linear.devPtr = NULL;
    rt_noted(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    resource.resType = (enum cudaResourceType)9;
    rt_noted(cudaCreateTextureObject(&object, &resource, &texture, NULL));
}

CASE(texture, surface)
{
    struct cudaChannelFormatDesc format = floats();
    struct cudaResourceDesc resource;
    cudaSurfaceObject_t object = 0;
    cudaArray_t array, plain;
    RT_NEED(cudaMallocArray(&array, &format, 8, 4, cudaArraySurfaceLoadStore));
    RT_NEED(cudaMallocArray(&plain, &format, 8, 4, 0));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    rt(cudaCreateSurfaceObject(&object, &resource));
    rt(cudaDestroySurfaceObject(object));
    resource.res.array.array = plain;
    rt_noted(cudaCreateSurfaceObject(&object, &resource));
    rt_noted(cudaCreateSurfaceObject(NULL, &resource));
    rt_noted(cudaCreateSurfaceObject(&object, NULL));
    rt_noted(cudaDestroySurfaceObject(0));
}

CASE(texture, linear_width)
{
    struct cudaChannelFormatDesc format = floats();
    size_t width = 0;
    rt(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
    say_if("some", width > 0);
    rt_noted(cudaDeviceGetTexture1DLinearMaxWidth(NULL, &format, 0));
    rt_noted(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, -1));
}
