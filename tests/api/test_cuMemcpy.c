/* SPDX-License-Identifier: Apache-2.0 */
/* Linear copies: every direction, synchronous or not, what the calling thread may rely on afterwards, and bad operands.
 */
#include "memory_support.h"

#include <sys/mman.h>

enum { SMALL = 1000, LARGE = 1 << 20 };

static void test_there_and_back(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 3, 4096, SMALL, LARGE + 1 };
    for (int i = 0; i < 5; i++) {
        size_t size = sizes[i];
        char *out = malloc(size), *in = malloc(size);
        CUdeviceptr one = device_bytes(size), two = device_bytes(size);
        pattern_put(out, size, (unsigned)i);
        memset(in, 0, size);
        OK(cuMemcpyHtoD(one, out, size));
        OK(cuMemcpyDtoD(two, one, size));
        OK(cuMemcpyDtoH(in, two, size));
        assert_true(pattern_is(in, size, (unsigned)i));
        memset(in, 0, size);
        OK(cuMemsetD8(two, 0, size));
        OK(cuMemcpy(two, ADDRESS(out), size));
        OK(cuMemcpy(one, two, size));
        OK(cuMemcpy(ADDRESS(in), one, size));
        assert_true(pattern_is(in, size, (unsigned)i));
        memset(in, 0, size);
        OK(cuMemcpy(ADDRESS(in), ADDRESS(out), size));
        assert_true(pattern_is(in, size, (unsigned)i));
        OK(cuMemFree(one));
        OK(cuMemFree(two));
        free(out);
        free(in);
    }
}

/* Pinned memory is used in stream order, after the call has returned. */
static void test_pinned_is_asynchronous(void **state)
{
    (void)state;
    struct gate gate;
    CUstream stream;
    char *out, *in;
    CUdeviceptr device = device_bytes(LARGE);
    OK(cuMemHostAlloc((void **)&out, LARGE, 0));
    OK(cuMemHostAlloc((void **)&in, LARGE, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memset(in, 0, LARGE);
    memset(out, 0, LARGE);
    gate_put(&gate, stream);
    OK(cuMemcpyHtoDAsync(device, out, LARGE, stream));
    OK(cuMemcpyDtoHAsync(in, device, LARGE, stream));
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    pattern_put(out, LARGE, 1);
    assert_int_equal(in[LARGE / 2], 0);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    assert_true(pattern_is(in, LARGE, 1));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(device));
    OK(cuMemFreeHost(out));
    OK(cuMemFreeHost(in));
}

/* A small pageable source is free on return although the stream is held up. */
static void test_pageable_source(void **state)
{
    (void)state;
    struct gate gate;
    CUstream stream;
    char bytes[SMALL];
    CUdeviceptr device = device_bytes(SMALL);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    gate_put(&gate, stream);
    pattern_put(bytes, SMALL, 2);
    OK(cuMemcpyHtoDAsync(device, bytes, SMALL, stream));
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    memset(bytes, 0, SMALL);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(bytes, device, SMALL));
    assert_true(pattern_is(bytes, SMALL, 2));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(device));
}

static void test_pageable_large(void **state)
{
    (void)state;
    CUstream stream;
    char *out = malloc(LARGE), *in = calloc(1, LARGE);
    CUdeviceptr device = device_bytes(LARGE);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    pattern_put(out, LARGE, 3);
    OK(cuMemcpyHtoDAsync(device, out, LARGE, stream));
    memset(out, 0, LARGE);
    OK(cuMemcpyDtoHAsync(in, device, LARGE, stream));
    assert_true(pattern_is(in, LARGE, 3));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(device));
    free(out);
    free(in);
}

/* A synchronous copy is ordered after earlier work of blocking streams. */
static void test_default_stream_order(void **state)
{
    (void)state;
    CUstream stream;
    int in = 0;
    CUdeviceptr device = device_bytes(LARGE);
    OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    OK(cuMemsetD8(device, 0, LARGE));
    for (int i = 1; i <= 100; i++) {
        OK(cuMemsetD32Async(device, (unsigned)i, LARGE / 4, stream));
        OK(cuMemcpyDtoH(&in, device + LARGE - 4, 4));
        assert_int_equal(in, i);
    }
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(device));
}

static void test_sync_memops(void **state)
{
    (void)state;
    CUstream stream;
    unsigned on = 1;
    int *pinned;
    CUdeviceptr device = device_bytes(LARGE);
    OK(cuMemAllocHost((void **)&pinned, LARGE));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    OK(cuMemsetD32Async(device, 77, LARGE / 4, stream));
    OK(cuStreamQuery(stream));
    OK(cuMemcpyDtoHAsync(pinned, device, LARGE, stream));
    assert_int_equal(pinned[LARGE / 4 - 1], 77);
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(device));
    OK(cuMemFreeHost(pinned));
}

static void test_overlap(void **state)
{
    (void)state;
    char bytes[SMALL], in[SMALL];
    CUdeviceptr device = device_bytes(SMALL);
    pattern_put(bytes, SMALL, 4);
    OK(cuMemcpyHtoD(device, bytes, SMALL));
    OK(cuMemcpyDtoD(device + 10, device, SMALL - 10));
    OK(cuMemcpyDtoH(in, device, SMALL));
    memmove(bytes + 10, bytes, SMALL - 10);
    assert_memory_equal(bytes, in, SMALL);
    OK(cuMemFree(device));
}

/* Copies and fills that several threads share, among others that they don't. */
static void test_shared(void **state)
{
    (void)state;
    enum { HUGE = (9 << 20) + 13, STREAMS = 4 };
    CUstream stream[STREAMS];
    CUdeviceptr device[STREAMS];
    char *out = malloc(HUGE), *in = malloc(HUGE);
    pattern_put(out, HUGE, 9);
    for (int i = 0; i < STREAMS; i++) {
        OK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
        device[i] = device_bytes(HUGE);
    }
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < STREAMS; i++)
            OK(cuMemsetD8Async(device[i], (unsigned char)round, HUGE, stream[i]));
        OK(cuMemcpyHtoDAsync(device[0], out, HUGE, stream[0]));
        for (int i = 0; i < STREAMS; i++) {
            OK(cuStreamSynchronize(stream[i]));
            if (i > 0)
                OK(cuMemcpyDtoDAsync(device[i], device[i - 1], HUGE, stream[i]));
            OK(cuStreamSynchronize(stream[i]));
        }
        OK(cuMemcpyDtoH(in, device[STREAMS - 1], HUGE));
        assert_true(pattern_is(in, HUGE, 9));
        in[HUGE / 2]++;
    }
    for (int i = 0; i < STREAMS; i++) {
        OK(cuStreamDestroy(stream[i]));
        OK(cuMemFree(device[i]));
    }
    free(out);
    free(in);
}

static void test_nothing(void **state)
{
    (void)state;
    OK(cuMemcpyHtoD(0, NULL, 0));
    OK(cuMemcpyDtoH(NULL, 0, 0));
    OK(cuMemcpyDtoD(0, 0, 0));
    OK(cuMemcpy(0, 0, 0));
    OK(cuMemcpyHtoDAsync(0, NULL, 0, NULL));
    OK(cuMemcpyDtoHAsync(NULL, 0, 0, CU_STREAM_PER_THREAD));
}

static void test_bad_operands(void **state)
{
    (void)state;
    char local[64] = {0};
    CUdeviceptr device = device_bytes(64), other = device_bytes(64);
    FAILS(cuMemcpyHtoD(0, local, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD(device, NULL, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoH(NULL, device, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoH(local, 0, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoD(0, device, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoD(device, 0, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD(device, local, 65), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD(device + 32, local, 33), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD(device + 64, local, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD(device - 1, local, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoH(local, device, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoD(other, device, 65), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoDAsync(device, local, 65, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoDAsync(device, local, 16, (CUstream)(uintptr_t)0x1234567), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemFree(other));
    FAILS(cuMemcpyDtoD(device, other, 16), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpy(ADDRESS(local), other, 16), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(device));
}

/* Pageable memory that is not there. Runs before cmocka's tests, each of which begins by putting cmocka's own handler
 * of SIGSEGV in front of the driver's. */
static bool unmapped_host_is_refused(void)
{
    void *state = NULL;
    CUdeviceptr device;
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (support_begin(&state) || pages == MAP_FAILED || munmap(pages + 4096, 4096) || cuMemAlloc(&device, 3 * 4096))
        return false;
    bool good =
        cuMemcpyHtoD(device, pages + 4096, 16) == CUDA_ERROR_INVALID_VALUE &&
        cuMemcpyDtoH(pages + 4096, device, 16) == CUDA_ERROR_INVALID_VALUE &&
        cuMemcpyHtoD(device, pages + 4000, 200) == CUDA_ERROR_INVALID_VALUE &&
        cuMemcpyHtoDAsync(device, (void *)(uintptr_t)16, 16, NULL) == CUDA_ERROR_INVALID_VALUE &&
        cuMemcpyHtoDAsync(device, pages, 3 * 4096, NULL) == CUDA_ERROR_INVALID_VALUE && /* the middle is missing */
        cuMemcpyHtoD(device, pages, 4096) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS;
    munmap(pages, 4096);
    munmap(pages + 2 * 4096, 4096);
    return cuMemFree(device) == CUDA_SUCCESS && support_end(&state) == 0 && good;
}

static void test_peer(void **state)
{
    (void)state;
    char out[SMALL], in[SMALL];
    CUdeviceptr one = device_bytes(SMALL), two = device_bytes(SMALL);
    pattern_put(out, SMALL, 5);
    OK(cuMemcpyHtoD(one, out, SMALL));
    OK(cuMemcpyPeer(two, the_context, one, the_context, SMALL));
    OK(cuMemcpyPeerAsync(one, the_context, two, the_context, SMALL, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    OK(cuMemcpyDtoH(in, one, SMALL));
    assert_true(pattern_is(in, SMALL, 5));
    FAILS(cuMemcpyPeer(two, (CUcontext)(uintptr_t)0x55, one, the_context, 4), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuMemFree(one));
    OK(cuMemFree(two));
}

static void test_without_context(void **state)
{
    (void)state;
    char local[16] = {0};
    CUdeviceptr device = device_bytes(16);
    OK(cuCtxSetCurrent(NULL));
    FAILS(cuMemcpyHtoD(device, local, 16), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuMemcpyDtoHAsync(local, device, 16, NULL), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuMemsetD8(device, 0, 16), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(the_context));
    OK(cuMemFree(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_pinned_is_asynchronous),
        cmocka_unit_test(test_pageable_source),
        cmocka_unit_test(test_pageable_large),
        cmocka_unit_test(test_default_stream_order),
        cmocka_unit_test(test_sync_memops),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_bad_operands),
        cmocka_unit_test(test_peer),
        cmocka_unit_test(test_without_context),
    };
    if (!unmapped_host_is_refused()) {
        print_error("a copy with unmapped host memory was not refused\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
