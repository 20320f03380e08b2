/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemMap, cuMemUnmap, cuMemRetainAllocationHandle: memory at addresses. */
#include "vmm_support.h"

#include <stdio.h>

static void test_one_memory_at_two_addresses(void **state)
{
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(2 * UNIT, device_memory());
    CUdeviceptr one = mapped(handle, 2 * UNIT), two = mapped(handle, 2 * UNIT);
    OK(cuMemsetD32(one + UNIT, 7, 16));
    assert_int_equal(word_at(two + UNIT + 60), 7);
    OK(cuMemsetD32(two + UNIT, 8, 1));
    assert_int_equal(word_at(one + UNIT), 8);
    OK(cuMemRelease(handle));
    unmapped(one, 2 * UNIT);
    assert_int_equal(word_at(two + UNIT), 8);
    unmapped(two, 2 * UNIT);
}

/* As a growing array does it: addresses for the most that it may become, memory piece by piece. */
static void test_grows_in_place(void **state)
{
    enum { MOST = 40 };
    (void)state;
    CUdeviceptr array = addresses(MOST * UNIT);
    for (unsigned i = 0; i < MOST; i++) {
        CUmemGenericAllocationHandle handle = memory_of(UNIT, device_memory());
        OK(cuMemMap(array + i * UNIT, UNIT, 0, handle, 0));
        OK(cuMemRelease(handle));
        OK(access_set(array + i * UNIT, UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        OK(cuMemsetD32(array + i * UNIT, i, UNIT / 4));
    }
    OK(cuMemcpyDtoD(array, array + MOST / 2 * UNIT, MOST / 2 * UNIT));
    OK(cuCtxSynchronize());
    assert_int_equal(word_at(array), MOST / 2);
    assert_int_equal(word_at(array + MOST / 2 * UNIT - 4), MOST - 1);
    assert_int_equal(word_at(array + MOST * UNIT - 4), MOST - 1);
    unmapped(array, MOST * UNIT);
}

static void test_contents_stay_while_unmapped(void **state)
{
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(UNIT, device_memory());
    CUdeviceptr address = mapped(handle, UNIT);
    OK(cuMemsetD32(address, 5, 1));
    OK(cuCtxSynchronize());
    unmapped(address, UNIT);
    address = mapped(handle, UNIT);
    assert_int_equal(word_at(address), 5);
    unmapped(address, UNIT);
    OK(cuMemRelease(handle));
}

static void test_map_bad(void **state)
{
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(2 * UNIT, device_memory());
    CUdeviceptr address = addresses(4 * UNIT), plain = device_bytes(4 * UNIT);
    FAILS(cuMemMap(address, 2 * UNIT, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemMap(address, 2 * UNIT, 0, handle, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemMap(address + 4096, 2 * UNIT, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemMap(address, UNIT, 0, handle, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMemMap(address, UNIT, UNIT, handle, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMemMap(address, 4 * UNIT, 0, handle, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMemMap(address + 3 * UNIT, 2 * UNIT, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemMap((plain + UNIT) / UNIT * UNIT, 2 * UNIT, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemMap((CUdeviceptr)0 - 2 * UNIT, 2 * UNIT, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemMap(address, 2 * UNIT, 0, handle, 0));
    FAILS(cuMemMap(address, 2 * UNIT, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemMap(address + UNIT, 2 * UNIT, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressFree(address, 4 * UNIT), CUDA_ERROR_INVALID_VALUE);
    unmapped(address, 4 * UNIT);
    OK(cuMemFree(plain));
    OK(cuMemRelease(handle));
}

static void test_unmap(void **state)
{
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(2 * UNIT, device_memory());
    CUdeviceptr address = addresses(8 * UNIT);
    OK(cuMemMap(address, 2 * UNIT, 0, handle, 0));
    OK(cuMemMap(address + 4 * UNIT, 2 * UNIT, 0, handle, 0));
    FAILS(cuMemUnmap(address, UNIT), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemUnmap(address + UNIT, UNIT), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemUnmap(address, 5 * UNIT), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemUnmap(address, 9 * UNIT), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemUnmap(address, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemUnmap(address, 4096), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(address, 8 * UNIT));
    OK(cuMemUnmap(address, 8 * UNIT)); /* nothing is there: nothing to do */
    OK(cuMemAddressFree(address, 8 * UNIT));
    FAILS(cuMemUnmap(address, 8 * UNIT), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(handle));
}

static void test_retain(void **state)
{
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(UNIT, device_memory()), again;
    CUdeviceptr address = mapped(handle, UNIT);
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(address + 99)));
    assert_int_equal(again, handle);
    OK(cuMemRelease(handle));
    OK(cuMemRelease(again));
    FAILS(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)address));
    FAILS(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(again));
    FAILS(cuMemRetainAllocationHandle(NULL, (void *)(uintptr_t)address), CUDA_ERROR_INVALID_VALUE);
    unmapped(address, UNIT);
    FAILS(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)address), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemRetainAllocationHandle(&again, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* Threads map, look up, use and unmap at the same time. */
static void *churn(void *data)
{
    unsigned number = *(unsigned *)data;
    if (cuCtxSetCurrent(the_context) != CUDA_SUCCESS)
        return (void *)1;
    for (unsigned round = 0; round < 60; round++) {
        CUmemAllocationProp properties = round % 2 ? shared_memory() : device_memory();
        CUmemAccessDesc description = {.location = on_device, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        CUmemGenericAllocationHandle handle;
        CUdeviceptr address;
        unsigned word = 0;
        bool good = cuMemCreate(&handle, UNIT, &properties, 0) == CUDA_SUCCESS &&
                    cuMemAddressReserve(&address, UNIT, 0, 0, 0) == CUDA_SUCCESS &&
                    cuMemMap(address, UNIT, 0, handle, 0) == CUDA_SUCCESS && cuMemRelease(handle) == CUDA_SUCCESS &&
                    cuMemSetAccess(address, UNIT, &description, 1) == CUDA_SUCCESS &&
                    cuMemsetD32(address + 4096, number * 1000 + round, 1) == CUDA_SUCCESS &&
                    cuMemcpyDtoH(&word, address + 4096, 4) == CUDA_SUCCESS && word == number * 1000 + round &&
                    cuMemUnmap(address, UNIT) == CUDA_SUCCESS && cuMemAddressFree(address, UNIT) == CUDA_SUCCESS;
        if (!good)
            return (void *)1;
    }
    return NULL;
}

static void test_threads(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_memory_at_two_addresses),
                                       cmocka_unit_test(test_grows_in_place),
                                       cmocka_unit_test(test_contents_stay_while_unmapped),
                                       cmocka_unit_test(test_map_bad),
                                       cmocka_unit_test(test_unmap),
                                       cmocka_unit_test(test_retain),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests_name("cuMemMap", tests, support_begin, support_end);
}
