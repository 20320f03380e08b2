/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemCreate, cuMemRelease, cuMemGetAllocationGranularity, cuMemGetAllocationPropertiesFromHandle: memory without an
 * address. */
#include "vmm_support.h"

static void test_granularity(void **state)
{
    CUmemAllocationProp properties = device_memory();
    size_t least = 0, best = 0;
    (void)state;
    OK(cuMemGetAllocationGranularity(&least, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cuMemGetAllocationGranularity(&best, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    assert_int_equal(least, UNIT);
    assert_int_equal(best, UNIT);
    FAILS(cuMemGetAllocationGranularity(NULL, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemGetAllocationGranularity(&least, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemGetAllocationGranularity(&least, &properties, (CUmemAllocationGranularity_flags)5),
          CUDA_ERROR_INVALID_VALUE);
}

static size_t free_bytes(void)
{
    size_t free, total;
    OK(cuMemGetInfo(&free, &total));
    return free;
}

static void test_is_counted(void **state)
{
    size_t before = free_bytes();
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(16 * UNIT, device_memory());
    assert_int_equal(before - free_bytes(), 16 * UNIT);
    CUdeviceptr address = mapped(handle, 16 * UNIT);
    OK(cuMemRelease(handle));
    assert_int_equal(before - free_bytes(), 16 * UNIT);
    unmapped(address, 16 * UNIT);
    assert_int_equal(before, free_bytes());
}

static void test_out_of_memory(void **state)
{
    CUmemAllocationProp properties = device_memory();
    CUmemGenericAllocationHandle handle = 77;
    size_t before = free_bytes();
    (void)state;
    FAILS(cuMemCreate(&handle, before / UNIT * UNIT + UNIT, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemCreate(&handle, SIZE_MAX / UNIT * UNIT, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(handle, 77);
    assert_int_equal(before, free_bytes());
}

static void test_properties(void **state)
{
    CUmemAllocationProp properties = shared_memory(), told;
    (void)state;
    properties.allocFlags.gpuDirectRDMACapable = 1;
    properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    CUmemGenericAllocationHandle handle = memory_of(UNIT, properties);
    OK(cuMemGetAllocationPropertiesFromHandle(&told, handle));
    assert_int_equal(told.type, CU_MEM_ALLOCATION_TYPE_PINNED);
    assert_int_equal(told.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    assert_int_equal(told.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    assert_int_equal(told.allocFlags.gpuDirectRDMACapable, 1);
    assert_int_equal(told.allocFlags.compressionType, CU_MEM_ALLOCATION_COMP_NONE);
    FAILS(cuMemGetAllocationPropertiesFromHandle(NULL, handle), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(handle));
    FAILS(cuMemGetAllocationPropertiesFromHandle(&told, handle), CUDA_ERROR_INVALID_VALUE);
}

static void test_bad(void **state)
{
    CUmemAllocationProp good = device_memory(), bad;
    CUmemGenericAllocationHandle handle = 77;
    (void)state;
    FAILS(cuMemCreate(NULL, UNIT, &good, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemCreate(&handle, UNIT, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemCreate(&handle, UNIT, &good, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemCreate(&handle, 0, &good, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemCreate(&handle, UNIT - 4096, &good, 0), CUDA_ERROR_INVALID_VALUE);
    bad = good;
    bad.type = (CUmemAllocationType)2;
    FAILS(cuMemCreate(&handle, UNIT, &bad, 0), CUDA_ERROR_INVALID_VALUE);
    bad = good;
    bad.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    FAILS(cuMemCreate(&handle, UNIT, &bad, 0), CUDA_ERROR_INVALID_VALUE);
    bad = good;
    bad.location.id = 99;
    FAILS(cuMemCreate(&handle, UNIT, &bad, 0), CUDA_ERROR_INVALID_DEVICE);
    bad.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 9999};
    FAILS(cuMemCreate(&handle, UNIT, &bad, 0), CUDA_ERROR_INVALID_VALUE);
    bad.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_INVALID};
    FAILS(cuMemCreate(&handle, UNIT, &bad, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(handle, 77);
    FAILS(cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemRelease((uintptr_t)&good), CUDA_ERROR_INVALID_VALUE);
    handle = memory_of(UNIT, good);
    OK(cuMemRelease(handle));
    FAILS(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
}

/* Pieces that can be exported hold a descriptor each: the program keeps its own. */
static void test_many_that_can_be_exported(void **state)
{
    enum { COUNT = 2000 };
    static CUmemGenericAllocationHandle handles[COUNT];
    (void)state;
    int made = 0;
    CUmemAllocationProp properties = shared_memory();
    while (made < COUNT && cuMemCreate(&handles[made], UNIT, &properties, 0) == CUDA_SUCCESS)
        made++;
    assert_true(made >= 200);
    for (int i = 0; i < made; i++)
        OK(cuMemRelease(handles[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_granularity),   cmocka_unit_test(test_is_counted),
        cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_properties),
        cmocka_unit_test(test_bad),           cmocka_unit_test(test_many_that_can_be_exported)};
    return cmocka_run_group_tests_name("cuMemCreate", tests, support_begin, support_end);
}
