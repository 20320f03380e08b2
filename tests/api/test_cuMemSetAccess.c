/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemSetAccess, cuMemGetAccess: who may do what with mapped memory; and what the driver tells of such addresses. */
#include "vmm_support.h"

static unsigned long long access_of(CUdeviceptr address, CUmemLocation location)
{
    unsigned long long flags = 77;
    OK(cuMemGetAccess(&flags, &location, address));
    return flags;
}

static void test_rights_are_kept(void **state)
{
    unsigned word = 5;
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(UNIT, device_memory());
    CUdeviceptr address = mapped(handle, UNIT);
    OK(cuMemcpyHtoD(address, &word, 4));
    assert_int_equal(access_of(address, on_device), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_int_equal(access_of(address + 99, on_host), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(access_set(address, UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READ));
    assert_int_equal(access_of(address, on_device), CU_MEM_ACCESS_FLAGS_PROT_READ);
    assert_int_equal(word_at(address), 5);
    FAILS(cuMemcpyHtoD(address, &word, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD32(address, 1, 1), CUDA_ERROR_INVALID_VALUE);
    OK(access_set(address, UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    FAILS(cuMemcpyDtoH(&word, address, 4), CUDA_ERROR_INVALID_VALUE);
    OK(access_set(address, UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    assert_int_equal(word_at(address), 5);
    OK(cuMemRelease(handle));
    unmapped(address, UNIT);
}

static void test_ranges(void **state)
{
    unsigned long long flags = 77;
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(2 * UNIT, device_memory());
    CUdeviceptr address = addresses(8 * UNIT);
    FAILS(access_set(address, 8 * UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READ), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemGetAccess(&flags, &on_device, address), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(flags, 0);
    OK(cuMemMap(address, 2 * UNIT, 0, handle, 0));
    OK(cuMemMap(address + 4 * UNIT, 2 * UNIT, 0, handle, 0));
    FAILS(access_set(address, UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READ), CUDA_ERROR_INVALID_VALUE);
    FAILS(access_set(address, 5 * UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READ), CUDA_ERROR_INVALID_VALUE);
    FAILS(access_set(address + 4096, UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READ), CUDA_ERROR_INVALID_VALUE);
    FAILS(access_set(address, 16 * UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READ), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(access_of(address, on_device), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(access_set(address, 8 * UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READ));
    assert_int_equal(access_of(address + 5 * UNIT, on_device), CU_MEM_ACCESS_FLAGS_PROT_READ);
    unmapped(address, 8 * UNIT);
    OK(cuMemRelease(handle));
}

static void test_bad(void **state)
{
    CUmemAccessDesc description = {.location = on_device, .flags = CU_MEM_ACCESS_FLAGS_PROT_READ};
    unsigned long long flags = 77;
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(UNIT, device_memory());
    CUdeviceptr address = mapped(handle, UNIT);
    FAILS(cuMemSetAccess(address, UNIT, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemSetAccess(address, UNIT, &description, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(access_set(address, UNIT, on_device, (CUmemAccess_flags)2), CUDA_ERROR_INVALID_VALUE);
    FAILS(access_set(address, UNIT, on_host, CU_MEM_ACCESS_FLAGS_PROT_READ), CUDA_ERROR_NOT_SUPPORTED);
    description.location.id = 99;
    FAILS(cuMemSetAccess(address, UNIT, &description, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemGetAccess(&flags, &description.location, address), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuMemGetAccess(NULL, &on_device, address), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemGetAccess(&flags, NULL, address), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemGetAccess(&flags, &on_device, 0), CUDA_ERROR_INVALID_VALUE);
    unmapped(address, UNIT);
    OK(cuMemRelease(handle));
}

static void test_copies_cross_mappings(void **state)
{
    static unsigned char there[3 * 4096], back[3 * 4096];
    (void)state;
    CUdeviceptr address = addresses(4 * UNIT);
    CUmemGenericAllocationHandle one = memory_of(UNIT, device_memory()), two = memory_of(UNIT, device_memory());
    OK(cuMemMap(address, UNIT, 0, one, 0));
    OK(cuMemMap(address + UNIT, UNIT, 0, two, 0));
    OK(access_set(address, 2 * UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    pattern_put(there, sizeof there, 3);
    OK(cuMemcpyHtoD(address + UNIT - 5000, there, sizeof there));
    OK(cuMemcpyDtoH(back, address + UNIT - 5000, sizeof back));
    assert_true(pattern_is(back, sizeof back, 3));
    OK(cuMemsetD8(address, 9, 2 * UNIT));
    OK(cuCtxSynchronize());
    FAILS(cuMemsetD8(address, 9, 2 * UNIT + 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD(address + 2 * UNIT - 100, there, 101), CUDA_ERROR_INVALID_VALUE);
    OK(access_set(address + UNIT, UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READ));
    FAILS(cuMemcpyHtoD(address + UNIT - 5000, there, sizeof there), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyDtoH(back, address + UNIT - 5000, sizeof back));
    OK(cuMemRelease(one));
    OK(cuMemRelease(two));
    unmapped(address, 4 * UNIT);
}

static void test_what_is_told(void **state)
{
    CUdeviceptr base = 0, pointer = 0;
    size_t size = 0;
    CUcontext context = the_context;
    unsigned flags = 9, on = 1;
    unsigned long long types = 9;
    (void)state;
    CUmemGenericAllocationHandle handle = memory_of(2 * UNIT, shared_memory());
    CUdeviceptr address = addresses(2 * UNIT);
    OK(cuMemMap(address, 2 * UNIT, 0, handle, 0));
    FAILS(cuMemGetAddressRange(&base, &size, address), CUDA_ERROR_NOT_FOUND);
    FAILS(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address), CUDA_ERROR_INVALID_VALUE);
    OK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address));
    assert_int_equal(flags, 0);
    OK(access_set(address, 2 * UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(cuMemGetAddressRange(&base, &size, address + UNIT));
    assert_true(base == address && size == 2 * UNIT);
    OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    assert_null(context);
    OK(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address));
    assert_int_equal(types, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    FAILS(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFreeHost((void *)(uintptr_t)address), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(handle));
    unmapped(address, 2 * UNIT);
}

static void test_host_memory(void **state)
{
    CUmemAllocationProp properties = device_memory();
    unsigned type = 9;
    void *pointer = NULL;
    (void)state;
    properties.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 0};
    CUmemGenericAllocationHandle handle = memory_of(UNIT, properties);
    CUdeviceptr address = mapped(handle, UNIT);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    FAILS(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address), CUDA_ERROR_INVALID_VALUE);
    OK(access_set(address, UNIT, properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
    *(unsigned *)pointer = 12;
    assert_int_equal(word_at(address), 12);
    OK(cuMemRelease(handle));
    unmapped(address, UNIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rights_are_kept),
                                       cmocka_unit_test(test_ranges),
                                       cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_copies_cross_mappings),
                                       cmocka_unit_test(test_what_is_told),
                                       cmocka_unit_test(test_host_memory)};
    return cmocka_run_group_tests_name("cuMemSetAccess", tests, support_begin, support_end);
}
