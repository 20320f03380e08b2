/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemPrefetchBatchAsync, cuMemDiscardBatchAsync, cuMemDiscardAndPrefetchBatchAsync; and prefetches, which take place
 * in stream order. */
#include "memory_support.h"

#include <sys/mman.h>

enum { PAGE = 4096, SIZE = 64 * PAGE };

static const CUmemLocation on_device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
static const CUmemLocation on_host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};

static CUdeviceptr managed_bytes(size_t size)
{
    CUdeviceptr address;
    OK(cuMemAllocManaged(&address, size, CU_MEM_ATTACH_GLOBAL));
    return address;
}

static int last_place(CUdeviceptr address, size_t size)
{
    int value = 99;
    OK(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, size));
    return value;
}

static CUstream own_stream(void)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static void test_places(void **state)
{
    enum { COUNT = 5 };
    CUdeviceptr ranges[COUNT];
    size_t sizes[COUNT], starts[] = {0, 2, 2};
    CUmemLocation places[] = {on_device, on_device, on_host};
    CUstream stream = own_stream();
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        ranges[i] = managed_bytes(SIZE);
        sizes[i] = SIZE - (size_t)i * 100;
        pattern_put((void *)(uintptr_t)ranges[i], SIZE, (unsigned)i);
    }
    OK(cuMemPrefetchBatchAsync(ranges, sizes, COUNT, places, starts, 3, 0, stream));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(last_place(ranges[i], sizes[i]), i < 2 ? 0 : CU_DEVICE_CPU);
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i++) {
        assert_true(pattern_is((void *)(uintptr_t)ranges[i], SIZE, (unsigned)i));
        OK(cuMemFree(ranges[i]));
    }
    OK(cuStreamDestroy(stream));
}

static void test_bad(void **state)
{
    CUdeviceptr ranges[2] = {managed_bytes(SIZE), managed_bytes(SIZE)};
    size_t sizes[2] = {SIZE, SIZE}, starts[2] = {0, 1}, late[2] = {0, 2}, falling[2] = {1, 0};
    CUmemLocation places[2] = {on_device, on_host}, nowhere = {.type = (CUmemLocationType)77};
    CUstream stream = own_stream();
    (void)state;
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 0, places, starts, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(NULL, sizes, 2, places, starts, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, NULL, 2, places, starts, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, NULL, starts, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, NULL, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, starts, 3, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, late, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, falling, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, &nowhere, starts, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, starts, 2, 1, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, starts, 2, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    sizes[1] = SIZE + 1;
    FAILS(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, starts, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemDiscardBatchAsync(ranges, sizes, 2, 0, stream), CUDA_ERROR_INVALID_VALUE);
    /* A batch that is refused leaves no trace. */
    assert_int_equal(last_place(ranges[0], SIZE), CU_DEVICE_INVALID);
    OK(cuMemFree(ranges[0]));
    OK(cuMemFree(ranges[1]));
    OK(cuStreamDestroy(stream));
}

/* Work before a discard still sees what was there, work after it what was written later; bytes beside the range stay.
 */
static void test_discard_is_in_order(void **state)
{
    CUdeviceptr address = managed_bytes(SIZE), inner = address + 100, copy = device_bytes(SIZE);
    size_t size = SIZE - 200;
    CUmemLocation place = on_device;
    size_t start = 0;
    unsigned char *bytes = (unsigned char *)(uintptr_t)address;
    static unsigned char back[SIZE];
    struct gate gate;
    CUstream stream = own_stream();
    (void)state;
    for (int round = 0; round < 2; round++) {
        pattern_put(bytes, SIZE, 7);
        gate_put(&gate, stream);
        OK(cuMemcpyDtoDAsync(copy, address, SIZE, stream));
        if (round == 0)
            OK(cuMemDiscardBatchAsync(&inner, &size, 1, 0, stream));
        else
            OK(cuMemDiscardAndPrefetchBatchAsync(&inner, &size, 1, &place, &start, 1, 0, stream));
        OK(cuMemsetD8Async(inner, 5, size, stream));
        assert_true(pattern_is(bytes, SIZE, 7));
        gate_open(&gate);
        OK(cuStreamSynchronize(stream));
        OK(cuMemcpyDtoH(back, copy, SIZE));
        assert_true(pattern_is(back, SIZE, 7));
        assert_true(pattern_is(bytes, 100, 7));
        for (size_t i = 100; i < SIZE - 100; i++)
            assert_int_equal(bytes[i], 5);
    }
    assert_int_equal(last_place(inner, size), 0);
    OK(cuMemFree(address));
    OK(cuMemFree(copy));
    OK(cuStreamDestroy(stream));
}

/* The device can use pageable memory, so hints about it are taken. */
static void test_pageable(void **state)
{
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int value;
    (void)state;
    memory[5] = 5;
    OK(cuMemPrefetchAsync(ADDRESS(memory), SIZE, on_device, 0, NULL));
    OK(cuMemAdvise(ADDRESS(memory), SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, on_device));
    OK(cuCtxSynchronize());
    assert_int_equal(memory[5], 5);
    FAILS(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, ADDRESS(memory), SIZE),
          CUDA_ERROR_INVALID_VALUE);
    munmap(memory, SIZE);
    FAILS(cuMemPrefetchAsync(ADDRESS(memory), SIZE, on_device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAdvise(ADDRESS(memory), SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, on_device), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_discard_is_in_order), cmocka_unit_test(test_pageable)};
    return cmocka_run_group_tests_name("cuMemPrefetchBatchAsync", tests, support_begin, support_end);
}
