/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemAlloc, cuMemAllocPitch, cuMemFree, cuMemGetInfo, cuMemGetAddressRange, and their forms of CUDA before 3.2. */
#include "memory_support.h"

#include <limits.h>

CUresult old_create(CUcontext *context, unsigned flags, CUdevice device) __asm__("cuCtxCreate");
CUresult old_alloc(unsigned *address, unsigned size) __asm__("cuMemAlloc");
CUresult old_alloc_pitch(unsigned *address, unsigned *pitch, unsigned width, unsigned height,
                         unsigned element) __asm__("cuMemAllocPitch");
CUresult old_free(unsigned address) __asm__("cuMemFree");
CUresult old_info(unsigned *free_bytes, unsigned *total) __asm__("cuMemGetInfo");
CUresult old_range(unsigned *base, unsigned *size, unsigned address) __asm__("cuMemGetAddressRange");
CUresult old_to_device(unsigned to, const void *from, unsigned size) __asm__("cuMemcpyHtoD");
CUresult old_to_host(void *to, unsigned from, unsigned size) __asm__("cuMemcpyDtoH");
CUresult old_fill(unsigned to, unsigned char value, unsigned count) __asm__("cuMemsetD8");

static void test_alloc(void **state)
{
    (void)state;
    CUdeviceptr address[8];
    for (int i = 0; i < 8; i++) {
        OK(cuMemAlloc(&address[i], (size_t)1 << (i * 3)));
        assert_int_equal(address[i] % 256, 0);
        *(volatile char *)(uintptr_t)address[i] = 1;
    }
    for (int i = 0; i < 8; i++)
        OK(cuMemFree(address[i]));
}

static void test_alloc_bad(void **state)
{
    (void)state;
    CUdeviceptr address = 5;
    size_t free_bytes, total;
    OK(cuMemGetInfo(NULL, &total));
    OK(cuMemGetInfo(NULL, NULL));
    OK(cuMemGetInfo(&free_bytes, &total));
    FAILS(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAlloc(NULL, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAlloc(&address, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemAlloc(&address, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemAlloc(&address, SIZE_MAX / 2), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(address, 0);   /* hardware clears it */
}

static void test_free_bad(void **state)
{
    (void)state;
    int local = 0;
    void *pinned;
    CUdeviceptr address = device_bytes(10000);
    FAILS(cuMemFree(address + 256), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFree(ADDRESS(&local)), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFree((CUdeviceptr)-1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(0));
    OK(cuMemFree(address));
    FAILS(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocHost(&pinned, 16));
    FAILS(cuMemFree(ADDRESS(pinned)), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
}

static void *open_soon(void *data)
{
    struct timespec nap = {0, 5000000};
    nanosleep(&nap, NULL);
    gate_open(data);
    return NULL;
}

/* Work that uses the memory has ended when it is freed. */
static void test_free_waits(void **state)
{
    (void)state;
    struct gate gate;
    CUstream stream;
    pthread_t thread;
    CUdeviceptr address = device_bytes(1 << 20);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    gate_put(&gate, stream);
    OK(cuMemsetD8Async(address, 1, 1 << 20, stream));
    assert_int_equal(pthread_create(&thread, NULL, open_soon, &gate), 0);
    OK(cuMemFree(address));
    OK(cuStreamQuery(stream));
    pthread_join(thread, NULL);
    OK(cuStreamDestroy(stream));
}

static void test_without_context(void **state)
{
    (void)state;
    CUdeviceptr address = 1, mine = device_bytes(16);
    size_t size, pitch;
    OK(cuCtxSetCurrent(NULL));
    FAILS(cuMemAlloc(&address, 16), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuMemAllocPitch(&address, &pitch, 16, 16, 4), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuMemFree(mine));
    FAILS(cuMemGetInfo(&size, &size), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuMemGetAddressRange(&address, &size, 5), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(the_context));
}

static void test_pitch(void **state)
{
    (void)state;
    CUdeviceptr address;
    size_t pitch = 0, size;
    OK(cuMemAllocPitch(&address, &pitch, 100, 7, 4));
    assert_int_equal(pitch % 512, 0);
    assert_true(pitch >= 100);
    OK(cuMemGetAddressRange(NULL, &size, address));
    assert_true(size >= 7 * pitch);
    OK(cuMemFree(address));
    FAILS(cuMemAllocPitch(&address, &pitch, 100, 7, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocPitch(&address, &pitch, 100, 0, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocPitch(&address, &pitch, 0, 7, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocPitch(NULL, &pitch, 100, 7, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocPitch(&address, NULL, 100, 7, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocPitch(&address, &pitch, SIZE_MAX, 7, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocPitch(&address, &pitch, (size_t)1 << 40, (size_t)1 << 40, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAllocPitch(&address, &pitch, 64, SIZE_MAX, 4), CUDA_ERROR_OUT_OF_MEMORY);
}

static void test_info(void **state)
{
    (void)state;
    size_t before, during, after, total;
    OK(cuMemGetInfo(&before, &total));
    assert_true(before <= total);
    CUdeviceptr address = device_bytes(3 << 20);
    OK(cuMemGetInfo(&during, &total));
    assert_true(before - during >= 3 << 20);
    OK(cuMemFree(address));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

static void test_range(void **state)
{
    (void)state;
    CUdeviceptr address = device_bytes(1000), base = 0;
    size_t size = 0;
    int local = 0;
    OK(cuMemGetAddressRange(&base, &size, address + 999));
    assert_int_equal(base, address);
    assert_int_equal(size, 1000);
    OK(cuMemGetAddressRange(NULL, NULL, address));
    FAILS(cuMemGetAddressRange(&base, &size, address + 1000), CUDA_ERROR_NOT_FOUND);
    FAILS(cuMemGetAddressRange(&base, &size, 0), CUDA_ERROR_NOT_FOUND);
    FAILS(cuMemGetAddressRange(&base, &size, ADDRESS(&local)), CUDA_ERROR_NOT_FOUND);
    OK(cuMemFree(address));
    FAILS(cuMemGetAddressRange(&base, &size, address), CUDA_ERROR_NOT_FOUND);
}

static void test_context_end_frees(void **state)
{
    (void)state;
    size_t before, after, total;
    CUcontext other;
    OK(cuMemGetInfo(&before, &total));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    device_bytes(10 << 20);
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(the_context));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

static void test_old_forms(void **state)
{
    (void)state;
    unsigned address, pitch, base, size, total;
    CUcontext first;
    char out[64], in[64] = {0};
    pattern_put(out, 64, 7);
    FAILS(old_alloc(&address, 1000),
          CUDA_ERROR_INVALID_CONTEXT); /* as on hardware: only in a context that the first interface made */
    OK(old_create(&first, 0, 0));
    CUresult status = old_alloc(&address, 1000);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        skip();   /* something else, such as a sanitizer, holds all low addresses */
    assert_int_equal(status, CUDA_SUCCESS);
    OK(old_range(&base, &size, address + 5));
    assert_int_equal(base, address);
    assert_int_equal(size, 1000);
    OK(old_to_device(address, out, 64));
    OK(old_to_host(in, address, 64));
    assert_memory_equal(in, out, 64);
    OK(old_fill(address, 9, 64));
    OK(old_to_host(in, address + 63, 1));
    assert_int_equal(in[0], 9);
    OK(old_free(address));
    FAILS(old_free(address), CUDA_ERROR_INVALID_VALUE);
    OK(old_alloc_pitch(&address, &pitch, 100, 10, 4));
    assert_true(pitch >= 100);
    OK(old_free(address));
    OK(old_info(&size, &total));
    assert_true(size <= total);
    FAILS(old_alloc(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(old_alloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(old_alloc(&address, UINT_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuCtxDestroy(first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_alloc_bad),
        cmocka_unit_test(test_free_bad),
        cmocka_unit_test(test_free_waits),
        cmocka_unit_test(test_without_context),
        cmocka_unit_test(test_pitch),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_context_end_frees),
        cmocka_unit_test(test_old_forms),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
