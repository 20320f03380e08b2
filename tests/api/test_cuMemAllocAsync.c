/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemAllocAsync, cuMemAllocFromPoolAsync, cuMemFreeAsync: memory that unfinished work uses is never given out again,
 * whatever the streams; frees of ordinary memory in stream order; contexts that end or fail meanwhile. Which block
 * comes back when is asked of hardware in tests/golden/case_mempool_order.c. */
#include "memory_support.h"

#define MIB ((size_t)1 << 20)

static CUstream stream_new(unsigned flags)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, flags));
    return stream;
}

static CUdeviceptr take(size_t size, CUstream stream)
{
    CUdeviceptr address = 0;
    OK(cuMemAllocAsync(&address, size, stream));
    assert_int_not_equal(address, 0);
    return address;
}

/* Frees behind gates in several streams; what each gets until then is apart from all of these. */
static void test_pending_frees_are_kept(void **state)
{
    (void)state;
    enum { COUNT = 8 };
    struct gate gates[COUNT];
    CUstream streams[COUNT], other = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr freed[COUNT], now[COUNT];
    for (int i = 0; i < COUNT; i++) {
        streams[i] = stream_new(CU_STREAM_NON_BLOCKING);
        freed[i] = take(MIB, streams[i]);
        OK(cuMemsetD32Async(freed[i], (unsigned)i, MIB / 4, streams[i]));
        OK(cuStreamSynchronize(streams[i]));
        gate_put(&gates[i], streams[i]);
        OK(cuMemFreeAsync(freed[i], streams[i]));
    }
    for (int i = 0; i < COUNT; i++) {
        now[i] = take(MIB, other);
        OK(cuMemsetD32Async(now[i], 99, MIB / 4, other));
        for (int j = 0; j < COUNT; j++)
            assert_true(now[i] >= freed[j] + MIB || freed[j] >= now[i] + MIB);
    }
    OK(cuStreamSynchronize(other));
    for (int i = 0; i < COUNT; i++)
        for (size_t word = 0; word < MIB / 4; word += 500)
            assert_int_equal(((volatile unsigned *)(uintptr_t)freed[i])[word], i);
    for (int i = 0; i < COUNT; i++) {
        gate_open(&gates[i]);
        OK(cuStreamSynchronize(streams[i]));
        OK(cuStreamDestroy(streams[i]));
        OK(cuMemFreeAsync(now[i], other));
    }
    OK(cuStreamSynchronize(other));
    OK(cuStreamDestroy(other));
}

/* An allocation that took over a pending block of its own stream is freed in another stream, without order between:
 * what is behind the gate still has the memory, so the other stream's free must not make it anybody's. */
static void test_free_elsewhere_of_taken_over_memory(void **state)
{
    (void)state;
    struct gate gate;
    CUstream a = stream_new(CU_STREAM_NON_BLOCKING), b = stream_new(CU_STREAM_NON_BLOCKING),
             c = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr first = take(MIB, a);
    OK(cuStreamSynchronize(a));
    gate_put(&gate, a);
    OK(cuMemsetD32Async(first, 5, MIB / 4, a));
    OK(cuMemFreeAsync(first, a));
    CUdeviceptr second = take(MIB, a);
    assert_int_equal(first, second);
    OK(cuMemFreeAsync(second, b));
    CUdeviceptr third = take(MIB, c);
    assert_int_not_equal(third, first);
    OK(cuMemsetD32Async(third, 6, MIB / 4, c));
    OK(cuStreamSynchronize(c));
    FAILS(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(b));
    assert_int_equal(*(volatile unsigned *)(uintptr_t)third, 6);
    OK(cuMemFreeAsync(third, c));
    OK(cuCtxSynchronize());
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuStreamDestroy(c));
}

/* A free in a blocking stream comes after what the legacy stream had, although the blocking stream itself is idle. */
static void test_legacy_work_keeps_memory(void **state)
{
    (void)state;
    struct gate gate;
    CUstream blocking = stream_new(CU_STREAM_DEFAULT), free_one = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr used = take(MIB, NULL);
    gate_put(&gate, CU_STREAM_LEGACY);
    OK(cuMemsetD32Async(used, 1, MIB / 4, CU_STREAM_LEGACY));
    OK(cuMemFreeAsync(used, blocking));
    CUdeviceptr now = take(MIB, free_one);
    assert_int_not_equal(now, used);
    OK(cuMemsetD32Async(now, 2, MIB / 4, free_one));
    OK(cuStreamSynchronize(free_one));
    FAILS(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(blocking));
    assert_int_equal(*(volatile unsigned *)(uintptr_t)now, 2);
    OK(cuMemFreeAsync(now, free_one));
    OK(cuStreamDestroy(blocking));
    OK(cuStreamDestroy(free_one));
}

static void test_plain_memory(void **state)
{
    (void)state;
    struct gate gate;
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr plain = device_bytes(4 * MIB), start;
    size_t before, during, after, total;
    OK(cuCtxSynchronize());   /* pools give back what they hold */
    OK(cuMemGetInfo(&before, &total));
    gate_put(&gate, stream);
    OK(cuMemsetD32Async(plain, 3, MIB, stream));
    OK(cuMemFreeAsync(plain, stream));
    FAILS(cuMemFreeAsync(plain, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFree(plain), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, plain), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD32Async(plain, 4, 1, stream), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemGetInfo(&during, &total));
    assert_int_equal(during, before);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(after, before + 4 * MIB);
    OK(cuStreamDestroy(stream));
}

/* The context that owned the memory ends before the stream comes to the free. */
static void test_context_ends_with_plain_free_pending(void **state)
{
    (void)state;
    struct gate gate;
    CUcontext other;
    size_t before, after, total;
    OK(cuCtxSynchronize());   /* pools give back what they hold */
    OK(cuMemGetInfo(&before, &total));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    CUdeviceptr plain = device_bytes(4 * MIB);
    OK(cuCtxSetCurrent(the_context));
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    gate_put(&gate, stream);
    OK(cuMemFreeAsync(plain, stream));
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(the_context));
    CUdeviceptr next = device_bytes(4 * MIB);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    OK(cuMemsetD8(next, 1, 4 * MIB));
    OK(cuMemFree(next));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(after, before);
    OK(cuStreamDestroy(stream));
}

/* Pool memory is of no context: it stays, and work of the context that ended is over. */
static void test_context_ends_with_pool_memory(void **state)
{
    (void)state;
    CUcontext other;
    OK(cuCtxCreate(&other, NULL, 0, 0));
    CUdeviceptr kept = take(MIB, NULL), freed = take(MIB, NULL);
    OK(cuMemsetD32Async(kept, 8, MIB / 4, NULL));
    OK(cuMemFreeAsync(freed, NULL));
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(the_context));
    assert_int_equal(*(volatile unsigned *)(uintptr_t)kept, 8);
    OK(cuMemFreeAsync(kept, NULL));
    OK(cuStreamSynchronize(NULL));
}

static void inside(void *data)
{
    CUresult *results = data;
    CUdeviceptr address;
    results[0] = cuMemAllocAsync(&address, 16, NULL);
    results[1] = cuMemFreeAsync(1, NULL);
}

static void test_host_function(void **state)
{
    (void)state;
    CUresult results[2] = {CUDA_SUCCESS, CUDA_SUCCESS};
    OK(cuLaunchHostFunc(NULL, inside, results));
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(results[0], CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(results[1], CUDA_ERROR_NOT_PERMITTED);
}

/* Blocks don't touch, sizes are as asked for, inner addresses are known, and every byte can be used. */
static void test_many_sizes(void **state)
{
    (void)state;
    static CUdeviceptr addresses[600];
    for (unsigned i = 0; i < 600; i++) {
        size_t size = 1 + (size_t)i * i * 3, known = 0;
        CUdeviceptr start = 0;
        addresses[i] = take(size, NULL);
        assert_int_equal(addresses[i] % 512, 0);
        OK(cuMemGetAddressRange(&start, &known, addresses[i] + size - 1));
        assert_int_equal(start, addresses[i]);
        assert_int_equal(known, size);
        if (size % 512)
            FAILS(cuMemGetAddressRange(&start, &known, addresses[i] + size), CUDA_ERROR_NOT_FOUND);
        OK(cuMemsetD8Async(addresses[i], (unsigned char)i, size, NULL));
    }
    OK(cuStreamSynchronize(NULL));
    for (unsigned i = 0; i < 600; i++) {
        size_t size = 1 + (size_t)i * i * 3;
        const volatile unsigned char *bytes = (const volatile unsigned char *)(uintptr_t)addresses[i];
        assert_int_equal(bytes[0], i % 256);
        assert_int_equal(bytes[size / 2], i % 256);
        assert_int_equal(bytes[size - 1], i % 256);
    }
    for (unsigned i = 0; i < 600; i++)
        OK(cuMemFreeAsync(addresses[i * 7 % 600], NULL));
    OK(cuStreamSynchronize(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pending_frees_are_kept),
        cmocka_unit_test(test_free_elsewhere_of_taken_over_memory),
        cmocka_unit_test(test_legacy_work_keeps_memory),
        cmocka_unit_test(test_plain_memory),
        cmocka_unit_test(test_context_ends_with_plain_free_pending),
        cmocka_unit_test(test_context_ends_with_pool_memory),
        cmocka_unit_test(test_host_function),
        cmocka_unit_test(test_many_sizes),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
