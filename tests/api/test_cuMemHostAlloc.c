/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned memory (cuMemAllocHost, cuMemHostAlloc, cuMemFreeHost) and registered memory (cuMemHostRegister,
 * cuMemHostUnregister), with cuMemHostGetDevicePointer and cuMemHostGetFlags on both. */
#include "memory_support.h"

#include <sys/mman.h>

static void test_alloc(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 8; flags++) {
        void *pinned = NULL;
        CUdeviceptr address = 0;
        unsigned told = 0;
        OK(cuMemHostAlloc(&pinned, 5000, flags));
        OK(cuMemHostGetFlags(&told, (char *)pinned + 8));
        assert_int_equal(told, flags | CU_MEMHOSTALLOC_DEVICEMAP);
        memset(pinned, 1, 5000);
        OK(cuMemHostGetDevicePointer(&address, (char *)pinned + 100, 0));
        assert_int_equal(address, ADDRESS(pinned) + 100);
        OK(cuMemFreeHost(pinned));
    }
}

static void test_alloc_bad(void **state)
{
    (void)state;
    void *pinned = &pinned;
    FAILS(cuMemAllocHost(NULL, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostAlloc(NULL, 16, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostAlloc(&pinned, 16, 8), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostAlloc(&pinned, SIZE_MAX, 0), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemAllocHost(&pinned, (size_t)1 << 46), CUDA_ERROR_OUT_OF_MEMORY);
    assert_ptr_equal(pinned, &pinned);
    OK(cuMemAllocHost(&pinned, 0));
    assert_null(pinned);
    OK(cuMemFreeHost(NULL));
}

static void test_free_bad(void **state)
{
    (void)state;
    int local = 0;
    char *pinned;
    CUdeviceptr device = device_bytes(16);
    OK(cuMemAllocHost((void **)&pinned, 4096));
    FAILS(cuMemFreeHost(&local), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFreeHost(pinned + 256), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFreeHost((void *)(uintptr_t)device), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
    FAILS(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(device));
}

static void test_asking_bad(void **state)
{
    (void)state;
    int local = 0;
    unsigned flags;
    void *pinned;
    CUdeviceptr address = device_bytes(16), device = address;
    OK(cuMemAllocHost(&pinned, 16));
    FAILS(cuMemHostGetFlags(NULL, pinned), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostGetFlags(&flags, &local), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostGetFlags(&flags, (void *)(uintptr_t)device), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostGetDevicePointer(NULL, pinned, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostGetDevicePointer(&address, pinned, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostGetDevicePointer(&address, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
    OK(cuMemFree(device));
}

static void test_register(void **state)
{
    (void)state;
    char *memory = malloc(20000);
    CUdeviceptr address;
    unsigned flags = 0;
    OK(cuMemHostRegister(memory + 100, 10000, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&address, memory + 200, 0));
    assert_int_equal(address, ADDRESS(memory) + 200);
    OK(cuMemHostGetFlags(&flags, memory + 100));
    assert_int_equal(flags, CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE);
    OK(cuMemsetD8(address, 3, 100));
    assert_int_equal(memory[299], 3);
    FAILS(cuMemHostRegister(memory + 100, 10000, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    FAILS(cuMemHostRegister(memory, 20000, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    FAILS(cuMemHostUnregister(memory), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    FAILS(cuMemHostUnregister(memory + 164), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFreeHost(memory + 100), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostUnregister(memory + 100));
    FAILS(cuMemHostUnregister(memory + 100), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    free(memory);
}

static void test_register_bad(void **state)
{
    (void)state;
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *pinned;
    FAILS(cuMemHostRegister(NULL, 16, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostRegister(pages, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostRegister(pages, 16, 0x100), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostRegister(pages, SIZE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    munmap(pages, 8192);
    FAILS(cuMemHostRegister(pages, 8192, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostUnregister(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocHost(&pinned, 4096));
    FAILS(cuMemHostRegister(pinned, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemHostUnregister(pinned), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc),      cmocka_unit_test(test_alloc_bad), cmocka_unit_test(test_free_bad),
        cmocka_unit_test(test_asking_bad), cmocka_unit_test(test_register),  cmocka_unit_test(test_register_bad),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
