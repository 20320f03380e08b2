/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemsetD8, D16, D32 and their two-dimensional and asynchronous forms. */
#include "memory_support.h"

enum { SIZE = 4096 };

static CUdeviceptr device;
static unsigned char result[SIZE], expected[SIZE];

static int fill_begin(void **state)
{
    return support_begin(state) || cuMemAlloc(&device, SIZE) ? -1 : 0;
}

static int fill_end(void **state)
{
    cuMemFree(device);
    return support_end(state);
}

static void begin_fill(void)
{
    OK(cuMemsetD8(device, 0xee, SIZE));
    memset(expected, 0xee, SIZE);
}

static void expect(size_t offset, size_t pitch, uint32_t value, size_t element, size_t width, size_t height)
{
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memcpy(expected + offset + y * pitch + x * element, &value, element);
}

static void check_fill(void)
{
    OK(cuMemcpyDtoH(result, device, SIZE));
    assert_memory_equal(result, expected, SIZE);
}

static void test_rows(void **state)
{
    (void)state;
    begin_fill();
    OK(cuMemsetD8(device + 3, 0x5a, 77));
    expect(3, 0, 0x5a, 1, 77, 1);
    OK(cuMemsetD16(device + 102, 0x1234, 77));
    expect(102, 0, 0x1234, 2, 77, 1);
    OK(cuMemsetD32(device + 400, 0x12345678, 77));
    expect(400, 0, 0x12345678, 4, 77, 1);
    OK(cuMemsetD8Async(device + 1001, 1, 50, CU_STREAM_PER_THREAD));
    expect(1001, 0, 1, 1, 50, 1);
    OK(cuMemsetD16Async(device + 1100, 0xffff, 50, CU_STREAM_PER_THREAD));
    expect(1100, 0, 0xffff, 2, 50, 1);
    OK(cuMemsetD32Async(device + 1300, 7, 50, CU_STREAM_PER_THREAD));
    expect(1300, 0, 7, 4, 50, 1);
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    check_fill();
}

static void test_two_dimensions(void **state)
{
    (void)state;
    begin_fill();
    OK(cuMemsetD2D8(device, 64, 0x11, 17, 5));
    expect(0, 64, 0x11, 1, 17, 5);
    OK(cuMemsetD2D16(device + 512, 100, 0x2233, 9, 4));
    expect(512, 100, 0x2233, 2, 9, 4);
    OK(cuMemsetD2D32(device + 1024, 80, 0x44556677, 20, 3));
    expect(1024, 80, 0x44556677, 4, 20, 3);
    OK(cuMemsetD2D8Async(device + 2048, 30, 9, 29, 4, NULL));
    expect(2048, 30, 9, 1, 29, 4);
    OK(cuMemsetD2D16Async(device + 2304, 30, 0x0a0b, 7, 4, NULL));
    expect(2304, 30, 0x0a0b, 2, 7, 4);
    OK(cuMemsetD2D32Async(device + 2560, 32, 0x0a0b0c0d, 7, 4, NULL));
    expect(2560, 32, 0x0a0b0c0d, 4, 7, 4);
    OK(cuMemsetD2D8(device + 3000, 0, 3, 10, 1));
    expect(3000, 0, 3, 1, 10, 1);
    OK(cuCtxSynchronize());
    check_fill();
}

static void test_asynchronous(void **state)
{
    (void)state;
    struct gate gate;
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    begin_fill();
    OK(cuCtxSynchronize());
    gate_put(&gate, stream);
    OK(cuMemsetD8Async(device, 4, SIZE, stream));
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    check_fill();
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    expect(0, 0, 4, 1, SIZE, 1);
    check_fill();
    OK(cuStreamDestroy(stream));
}

static void test_pinned(void **state)
{
    (void)state;
    unsigned char *pinned;
    OK(cuMemAllocHost((void **)&pinned, 100));
    OK(cuMemsetD8(ADDRESS(pinned), 3, 100));   /* complete on return */
    assert_int_equal(pinned[99], 3);
    OK(cuMemFreeHost(pinned));
}

static void test_bad(void **state)
{
    (void)state;
    static int local[4];
    begin_fill();
    FAILS(cuMemsetD8(0, 1, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD8(device, 1, SIZE + 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD8(device + SIZE, 1, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD8(device, 1, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD32(device, 1, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD32(device, 1, (SIZE_MAX >> 2) + 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD16(device + 1, 1, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD32(device + 2, 1, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD8(ADDRESS(local), 1, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD2D8(device, 8, 1, 16, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD2D16(device, 33, 1, 4, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD2D8(device, 64, 1, 64, SIZE / 64 + 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD2D32(device, SIZE_MAX & ~(size_t)3, 1, 4, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD8Async(device, 1, 4, (CUstream)(uintptr_t)0x1234567), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemsetD8(0, 1, 0));
    OK(cuMemsetD2D32(0, 0, 1, 0, 0));
    check_fill();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_two_dimensions),
        cmocka_unit_test(test_asynchronous), cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, fill_begin, fill_end);
}
