/* SPDX-License-Identifier: Apache-2.0 */
/* cuPointerGetAttribute, cuPointerGetAttributes and cuPointerSetAttribute over all kinds of memory. */
#include "memory_support.h"

static void check_facts(CUdeviceptr address, CUdeviceptr base, size_t size, unsigned type, bool host, bool managed)
{
    CUcontext context = NULL;
    unsigned found_type = 0, access = 0;
    CUdeviceptr device = 0, start = 0;
    void *pointer = NULL;
    bool is_managed = !managed, mapped = false;
    int ordinal = 9;
    size_t found_size = 0, mapping = 0;
    unsigned long long id = 0, types = 5;
    OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    assert_ptr_equal(context, the_context);
    OK(cuPointerGetAttribute(&found_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    assert_int_equal(found_type, type);
    OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    assert_int_equal(device, address);
    FAILS(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address),
          host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(ADDRESS(pointer), host ? address : 0);
    OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    assert_int_equal(is_managed, managed);
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    assert_int_equal(ordinal, 0);
    OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address));
    OK(cuPointerGetAttribute(&found_size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    assert_int_equal(start, base);
    assert_int_equal(found_size, size);
    OK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address));
    assert_true(mapped);
    OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address));
    assert_true(id != 0);
    OK(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address));
    assert_int_equal(types, 0);
    OK(cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address));
    assert_int_equal(access, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    OK(cuPointerGetAttribute(&mapping, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, address));
    assert_true(mapping >= size);
}

static void test_kinds(void **state)
{
    (void)state;
    CUdeviceptr device = device_bytes(5000), managed;
    void *pinned, *memory = malloc(9000);
    OK(cuMemAllocManaged(&managed, 100000, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocHost(&pinned, 700));
    OK(cuMemHostRegister(memory, 9000, 0));
    check_facts(device, device, 5000, CU_MEMORYTYPE_DEVICE, false, false);
    check_facts(device + 4999, device, 5000, CU_MEMORYTYPE_DEVICE, false, false);
    check_facts(managed + 50, managed, 100000, CU_MEMORYTYPE_DEVICE, true, true);
    check_facts(ADDRESS(pinned), ADDRESS(pinned), 700, CU_MEMORYTYPE_HOST, true, false);
    check_facts(ADDRESS(memory) + 8, ADDRESS(memory), 9000, CU_MEMORYTYPE_HOST, true, false);
    OK(cuMemFree(device));
    OK(cuMemFree(managed));
    OK(cuMemFreeHost(pinned));
    OK(cuMemHostUnregister(memory));
    free(memory);
}

static void test_unknown(void **state)
{
    (void)state;
    int local = 0;
    unsigned type = 9;
    unsigned long long room[4];
    CUdeviceptr device = device_bytes(16);
    FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ADDRESS(&local)), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 4096), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttribute(room, (CUpointer_attribute)0, device), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttribute(room, (CUpointer_attribute)1000, device), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(type, 9);
    OK(cuMemFree(device));
    FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device), CUDA_ERROR_INVALID_VALUE);
}

static void test_several(void **state)
{
    (void)state;
    int local = 0, ordinal = 9;
    unsigned type = 9;
    void *host = &local;
    CUdeviceptr device = device_bytes(16), found = 1;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *values[] = {&type, &found, &ordinal, &host};
    OK(cuPointerGetAttributes(4, names, values, device + 8));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_int_equal(found, device + 8);
    assert_int_equal(ordinal, 0);
    assert_null(host);
    OK(cuPointerGetAttributes(4, names, values, ADDRESS(&local)));
    assert_int_equal(type, 0);
    assert_int_equal(found, 0);
    assert_int_equal(ordinal, CU_DEVICE_INVALID);
    FAILS(cuPointerGetAttributes(0, names, values, device), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttributes(1, NULL, values, device), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttributes(1, names, NULL, device), CUDA_ERROR_INVALID_VALUE);
    names[1] = (CUpointer_attribute)1000;
    FAILS(cuPointerGetAttributes(2, names, values, device), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(device));
}

static void test_set(void **state)
{
    (void)state;
    void *pinned;
    unsigned on = 1;
    bool told = true;
    CUdeviceptr device = device_bytes(16);
    OK(cuMemAllocHost(&pinned, 16));
    OK(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    assert_false(told);
    OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    OK(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    assert_true(told);
    FAILS(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ADDRESS(pinned)), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
    OK(cuMemFree(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_set),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
