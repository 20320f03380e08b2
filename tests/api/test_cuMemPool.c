/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemPoolCreate, cuMemPoolDestroy, attributes, cuMemPoolTrimTo, access, default and current pools, on two devices.
 * What hardware was asked is in tests/golden/case_mempool*.c; here is what needs two devices, much memory, or a look
 * from the host. */
#include "memory_support.h"

#define MIB ((size_t)1 << 20)

static CUmemPoolProps props_of(int device)
{
    return (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static CUmemoryPool pool_on(int device)
{
    CUmemPoolProps props = props_of(device);
    CUmemoryPool pool = NULL;
    OK(cuMemPoolCreate(&pool, &props));
    assert_non_null(pool);
    return pool;
}

static cuuint64_t number(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t value = 12345;
    OK(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void hold_all(CUmemoryPool pool)
{
    cuuint64_t all = UINT64_MAX;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
}

static size_t free_memory(void)
{
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    return free_bytes;
}

static void test_devices_have_pools(void **state)
{
    (void)state;
    CUmemoryPool first, second, now;
    OK(cuDeviceGetDefaultMemPool(&first, 0));
    OK(cuDeviceGetDefaultMemPool(&second, 1));
    assert_ptr_not_equal(first, second);
    CUmemoryPool pool = pool_on(1);
    FAILS(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceSetMemPool(1, pool));
    OK(cuDeviceGetMemPool(&now, 1));
    assert_ptr_equal(now, pool);
    OK(cuDeviceGetMemPool(&now, 0));
    assert_ptr_equal(now, first);
    OK(cuMemPoolDestroy(pool));
    OK(cuDeviceGetMemPool(&now, 1));
    assert_ptr_equal(now, second);
    FAILS(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceSetMemPool(1, pool), CUDA_ERROR_INVALID_VALUE);
}

static void test_access(void **state)
{
    (void)state;
    CUmemoryPool pool = pool_on(0);
    CUmemLocation second = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    CUmemAccessDesc both[2] = {{second, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                               {{CU_MEM_LOCATION_TYPE_DEVICE, 9}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    CUmemAccess_flags flags = (CUmemAccess_flags)77;
    OK(cuMemPoolGetAccess(&flags, pool, &second));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    FAILS(cuMemPoolSetAccess(pool, both, 2), CUDA_ERROR_INVALID_DEVICE);
    OK(cuMemPoolGetAccess(&flags, pool, &second));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);   /* all or nothing */
    OK(cuMemPoolSetAccess(pool, both, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &second));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    both[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cuMemPoolSetAccess(pool, both, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &second));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(cuMemPoolDestroy(pool));
}

/* A pool of one device serves a stream of the other. */
static void test_pool_of_other_device(void **state)
{
    (void)state;
    CUmemoryPool pool = pool_on(1), of;
    CUdeviceptr address;
    int ordinal = -1;
    size_t before = free_memory();
    OK(cuMemAllocFromPoolAsync(&address, 10 * MIB, pool, NULL));
    assert_int_equal(free_memory(), before);
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    assert_int_equal(ordinal, 1);
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address + 5 * MIB));
    assert_ptr_equal(of, pool);
    CUmemAccessDesc here = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    FAILS(cuMemsetD8(address, 1, 100), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemPoolSetAccess(pool, &here, 1));
    OK(cuMemsetD8(address, 1, 100));
    OK(cuMemFreeAsync(address, NULL));
    OK(cuMemPoolDestroy(pool));
}

/* A copy between contexts uses the memory of each by the rights of that context's device. */
static void test_copies_between_contexts(void **state)
{
    (void)state;
    CUmemoryPool pool = pool_on(1);
    CUcontext other;
    CUdeviceptr there, here;
    unsigned words[4] = {1, 2, 3, 4}, got[4] = {0};
    OK(cuCtxCreate(&other, NULL, 0, 1));
    OK(cuCtxSetCurrent(the_context));
    OK(cuMemAllocFromPoolAsync(&there, sizeof words, pool, NULL));
    OK(cuMemAlloc(&here, 2 * sizeof words));
    OK(cuMemcpyHtoD(here, words, sizeof words));
    FAILS(cuMemcpyDtoD(there, here, sizeof words), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyPeer(there, the_context, here, the_context, sizeof words), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyPeer(there, NULL, here, NULL, sizeof words), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyPeer(there, other, here, the_context, sizeof words));
    OK(cuMemcpyPeerAsync(here + sizeof words, the_context, there, other, sizeof words, NULL));
    OK(cuMemcpyDtoH(got, here + sizeof words, sizeof got));
    assert_memory_equal(got, words, sizeof got);
    OK(cuMemsetD8(here, 0, sizeof words));
    CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = there,
                              .srcContext = other,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = here,
                              .dstContext = the_context,
                              .WidthInBytes = sizeof words,
                              .Height = 1,
                              .Depth = 1};
    OK(cuMemcpy3DPeer(&box));
    OK(cuMemcpyDtoH(got, here, sizeof got));
    assert_memory_equal(got, words, sizeof got);
    OK(cuMemcpy3DPeerAsync(&box, NULL));
    box.srcContext = the_context;
    FAILS(cuMemcpy3DPeer(&box), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeAsync(there, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(here));
    OK(cuCtxDestroy(other));
    OK(cuMemPoolDestroy(pool));
}

/* The device's memory is counted in the chunks that a pool reserves, and comes back. */
static void test_accounts(void **state)
{
    (void)state;
    CUmemoryPool pool = pool_on(0);
    CUdeviceptr a, b;
    size_t before = free_memory();
    hold_all(pool);
    OK(cuMemAllocFromPoolAsync(&a, 33 * MIB, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&b, 31 * MIB, pool, NULL));
    assert_int_equal(before - free_memory(), 64 * MIB);
    assert_int_equal(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 64 * MIB);
    OK(cuMemFreeAsync(a, NULL));
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(before - free_memory(), 64 * MIB);
    OK(cuMemPoolTrimTo(pool, 64 * MIB));
    assert_int_equal(before - free_memory(), 64 * MIB);
    OK(cuMemPoolTrimTo(pool, 0));
    assert_int_equal(before - free_memory(), 32 * MIB);
    assert_int_equal(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 32 * MIB);
    OK(cuMemsetD8(b, 7, 31 * MIB));
    OK(cuMemFreeAsync(b, NULL));
    OK(cuMemPoolDestroy(pool));
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(free_memory(), before);
}

/* A program that asks for all that is left gets what a pool only keeps; and the other way round. */
static void test_memory_is_short(void **state)
{
    (void)state;
    CUmemoryPool pool = pool_on(0), other = pool_on(0);
    CUdeviceptr address, rest;
    hold_all(pool);
    size_t most = free_memory() / (32 * MIB) * (32 * MIB);
    FAILS(cuMemAllocFromPoolAsync(&address, most + 64 * MIB, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAllocFromPoolAsync(&address, most, pool, NULL));
    FAILS(cuMemAllocFromPoolAsync(&rest, 64 * MIB, other, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFreeAsync(address, NULL));
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), most);
    OK(cuMemAllocFromPoolAsync(&rest, most, other, NULL));
    assert_int_equal(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    OK(cuMemFreeAsync(rest, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemAlloc(&rest, most));
    OK(cuMemFree(rest));
    OK(cuMemPoolDestroy(pool));
    OK(cuMemPoolDestroy(other));
}

/* Chunks that were given back fault; the rest of the pool does not. */
static void test_trim_keeps_contents(void **state)
{
    (void)state;
    CUmemoryPool pool = pool_on(0);
    CUdeviceptr pieces[20];
    hold_all(pool);
    for (unsigned i = 0; i < 20; i++) {
        OK(cuMemAllocFromPoolAsync(&pieces[i], 9 * MIB, pool, NULL));
        OK(cuMemsetD32Async(pieces[i], i, 9 * MIB / 4, NULL));
    }
    for (unsigned i = 0; i < 20; i++)
        if (i % 5)
            OK(cuMemFreeAsync(pieces[i], NULL));
    OK(cuMemPoolTrimTo(pool, 0));
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 20; i++)
            if (i % 5)
                OK(cuMemAllocFromPoolAsync(&pieces[i], (1 + i % 7) * MIB, pool, NULL));
        for (unsigned i = 0; i < 20; i++)
            if (i % 5)
                OK(cuMemsetD8Async(pieces[i], 0xee, (1 + i % 7) * MIB, NULL));
        for (unsigned i = 0; i < 20; i++)
            if (i % 5)
                OK(cuMemFreeAsync(pieces[i], NULL));
        OK(cuMemPoolTrimTo(pool, 0));
    }
    OK(cuStreamSynchronize(NULL));
    for (unsigned i = 0; i < 20; i += 5)
        for (size_t word = 0; word < 9 * MIB / 4; word += 1000)
            assert_int_equal(((volatile unsigned *)(uintptr_t)pieces[i])[word], i);
    for (unsigned i = 0; i < 20; i += 5)
        OK(cuMemFreeAsync(pieces[i], NULL));
    OK(cuMemPoolDestroy(pool));
}

/* A pool that was destroyed with allocations ends when the last is freed and its free is over: nobody has to ask. */
static void test_destroyed_pool_ends(void **state)
{
    (void)state;
    struct gate gate;
    CUstream stream;
    CUdeviceptr address;
    size_t before = free_memory();
    CUmemoryPool pool = pool_on(0);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocFromPoolAsync(&address, 10 * MIB, pool, stream));
    OK(cuMemPoolDestroy(pool));
    FAILS(cuMemAllocFromPoolAsync(&address, 10, pool, stream), CUDA_ERROR_INVALID_VALUE);
    gate_put(&gate, stream);
    OK(cuMemFreeAsync(address, stream));
    assert_int_equal(before - free_memory(), 32 * MIB);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(free_memory(), before);
    OK(cuStreamDestroy(stream));
}

/* Managed memory from a pool is managed memory: the host uses it, it can be prefetched and advised; and its advice ends
 * with it. */
static void test_managed_pool(void **state)
{
    (void)state;
    static const CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemPoolProps props = props_of(0);
    props.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    CUmemoryPool pool, of;
    CUdeviceptr address;
    OK(cuMemPoolCreate(&pool, &props));
    FAILS(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
    for (int round = 0; round < 2; round++) {
        int advised = 7;
        OK(cuMemAllocFromPoolAsync(&address, MIB, pool, NULL));
        OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
        assert_ptr_equal(of, pool);
        OK(cuMemRangeGetAttribute(&advised, sizeof advised, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, MIB));
        assert_int_equal(advised, 0);
        OK(cuMemAdvise(address, MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
        OK(cuMemRangeGetAttribute(&advised, sizeof advised, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, MIB));
        assert_int_equal(advised, 1);
        OK(cuMemPrefetchAsync(address, MIB, here, 0, NULL));
        OK(cuMemsetD32Async(address, 4, MIB / 4, NULL));
        OK(cuStreamSynchronize(NULL));
        assert_int_equal(((volatile unsigned *)(uintptr_t)address)[MIB / 4 - 1], 4);
        if (round)
            OK(cuMemFree(address));
        else
            OK(cuMemFreeAsync(address, NULL));
    }
    OK(cuMemPoolDestroy(pool));
}

static void *come_and_go(void *data)
{
    CUmemoryPool shared = data;
    OK(cuCtxSetCurrent(the_context));
    for (int i = 0; i < 200; i++) {
        CUmemoryPool own = pool_on(i % 2);
        CUdeviceptr a, b;
        CUmemAccessDesc here = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        OK(cuMemPoolSetAccess(own, &here, 1));
        OK(cuMemAllocFromPoolAsync(&a, 100 + (size_t)i, own, CU_STREAM_PER_THREAD));
        OK(cuMemAllocFromPoolAsync(&b, 100 + (size_t)i, shared, CU_STREAM_PER_THREAD));
        if (i % 3)
            OK(cuMemPoolDestroy(own));
        OK(cuMemsetD8Async(a, 1, 100, CU_STREAM_PER_THREAD));
        OK(cuMemFreeAsync(b, CU_STREAM_PER_THREAD));
        OK(cuMemFreeAsync(a, CU_STREAM_PER_THREAD));
        if (i % 3 == 0)
            OK(cuMemPoolDestroy(own));
        OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    }
    return NULL;
}

static void test_pools_come_and_go(void **state)
{
    (void)state;
    pthread_t threads[6];
    CUmemoryPool shared = pool_on(0);
    size_t before = free_memory();
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, shared), 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
    OK(cuMemPoolTrimTo(shared, 0));
    assert_int_equal(free_memory(), before);
    OK(cuMemPoolDestroy(shared));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_have_pools),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_pool_of_other_device),
        cmocka_unit_test(test_copies_between_contexts),
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_memory_is_short),
        cmocka_unit_test(test_trim_keeps_contents),
        cmocka_unit_test(test_destroyed_pool_ends),
        cmocka_unit_test(test_managed_pool),
        cmocka_unit_test(test_pools_come_and_go),
    };
    setenv("MILLRACE_DEVICES", "2", 1);
    setenv("MILLRACE_MEMORY", "600M", 1);
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
