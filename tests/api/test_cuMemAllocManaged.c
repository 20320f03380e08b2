/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: cuMemAllocManaged, cuMemAdvise, cuMemPrefetchAsync, cuMemRangeGetAttribute(s). */
#include "memory_support.h"

enum { PAGE = 4096, SIZE = 16 * PAGE };

CUresult old_advise(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice device) __asm__("cuMemAdvise");
CUresult old_prefetch(CUdeviceptr address, size_t size, CUdevice device, CUstream stream) __asm__("cuMemPrefetchAsync");

static const CUmemLocation on_device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
static const CUmemLocation on_host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};

static CUdeviceptr managed_bytes(size_t size)
{
    CUdeviceptr address;
    OK(cuMemAllocManaged(&address, size, CU_MEM_ATTACH_GLOBAL));
    return address;
}

static int ask(CUmem_range_attribute attribute, CUdeviceptr address, size_t size)
{
    int value = 99;
    OK(cuMemRangeGetAttribute(&value, sizeof value, attribute, address, size));
    return value;
}

static void test_alloc(void **state)
{
    (void)state;
    CUdeviceptr address = managed_bytes(5000);
    int *host = (int *)(uintptr_t)address;
    host[0] = 5;
    OK(cuMemsetD32(address + 4, 6, 1));
    OK(cuCtxSynchronize());
    assert_int_equal(host[0], 5);
    assert_int_equal(host[1], 6);
    OK(cuMemFree(address));
    FAILS(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocManaged(&address, 16, CU_MEM_ATTACH_HOST));
    OK(cuMemFree(address));
    static const unsigned bad[] = {0, 3, CU_MEM_ATTACH_SINGLE, 0x10};
    for (int i = 0; i < 4; i++)
        FAILS(cuMemAllocManaged(&address, 16, bad[i]), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocManaged(NULL, 16, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocManaged(&address, SIZE_MAX, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY);
}

static void test_advice(void **state)
{
    (void)state;
    CUdeviceptr address = managed_bytes(SIZE);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, SIZE), 0);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, SIZE), CU_DEVICE_INVALID);
    OK(cuMemAdvise(address, SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, on_host));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, SIZE), 1);
    OK(cuMemAdvise(address + 4 * PAGE, PAGE, CU_MEM_ADVISE_UNSET_READ_MOSTLY, on_host));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, SIZE), 0);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 4 * PAGE), 1);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + 5 * PAGE, 3 * PAGE), 1);
    OK(cuMemAdvise(address + 2 * PAGE, 4 * PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, on_host));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address + 2 * PAGE, 4 * PAGE), CU_DEVICE_CPU);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, address + 2 * PAGE, 4 * PAGE),
                     CU_MEM_LOCATION_TYPE_HOST);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, 4 * PAGE), CU_DEVICE_INVALID);
    OK(old_advise(address, SIZE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 0));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, SIZE), 0);
    OK(cuMemAdvise(address, SIZE, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, on_host));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, SIZE), CU_DEVICE_INVALID);
    int by[3] = {9, 9, 9};
    OK(cuMemAdvise(address, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, on_device));
    OK(cuMemAdvise(address, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, on_host));
    OK(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, SIZE));
    assert_int_equal(by[0], 0);
    assert_int_equal(by[1], CU_DEVICE_CPU);
    assert_int_equal(by[2], CU_DEVICE_INVALID);
    OK(cuMemAdvise(address, PAGE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, on_device));
    OK(cuMemRangeGetAttribute(by, 4, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, SIZE));
    assert_int_equal(by[0], CU_DEVICE_CPU);
    OK(cuMemFree(address));
    /* What was said ends with the memory. */
    CUdeviceptr again = managed_bytes(SIZE);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, again, SIZE), 0);
    OK(cuMemFree(again));
}

static void test_prefetch(void **state)
{
    (void)state;
    CUdeviceptr address = managed_bytes(SIZE);
    int location = 9, mostly = 9;
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, SIZE), CU_DEVICE_INVALID);
    OK(cuMemPrefetchAsync(address, SIZE, on_device, 0, NULL));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, SIZE), 0);
    OK(old_prefetch(address, SIZE, CU_DEVICE_CPU, CU_STREAM_PER_THREAD));
    CUmem_range_attribute names[] = {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
    void *values[] = {&location, &mostly};
    size_t sizes[] = {4, 4};
    OK(cuMemRangeGetAttributes(values, sizes, names, 2, address, SIZE));
    assert_int_equal(location, CU_DEVICE_CPU);
    assert_int_equal(mostly, 0);
    OK(cuMemFree(address));
}

static void test_bad(void **state)
{
    (void)state;
    int value;
    CUdeviceptr address = managed_bytes(SIZE), device = device_bytes(SIZE);
    CUmemLocation nowhere = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 99}, unknown = {.type = (CUmemLocationType)77};
    FAILS(cuMemAdvise(address, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, on_host), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAdvise(address, SIZE + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, on_host), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAdvise(device, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, on_host), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAdvise(address, SIZE, (CUmem_advise)0, on_host), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAdvise(address, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, nowhere), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAdvise(address, SIZE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, unknown), CUDA_ERROR_INVALID_VALUE);
    FAILS(old_advise(address, SIZE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 99), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuMemPrefetchAsync(address, SIZE, nowhere, 0, NULL), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuMemPrefetchAsync(address, SIZE, on_device, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchAsync(device, SIZE, on_device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchAsync(address, SIZE, on_device, 0, (CUstream)(uintptr_t)0x1234567), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuMemRangeGetAttribute(&value, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, SIZE),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemRangeGetAttribute(NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, SIZE), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemRangeGetAttribute(&value, 4, (CUmem_range_attribute)99, address, SIZE), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemRangeGetAttribute(&value, 3, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, SIZE),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, device, SIZE),
          CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(address));
    OK(cuMemFree(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_prefetch),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
