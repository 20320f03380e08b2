/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices in one program: work ordered across them, memory of one used from the other, and what is refused. */
#include <pthread.h>

#include "memory_support.h"

#define UNIT ((size_t)2 << 20)

static CUcontext other_context;

static int begin(void **state)
{
    setenv("MILLRACE_DEVICES", "2", 1);
    if (support_begin(state) != 0 || cuCtxCreate(&other_context, NULL, 0, 1) != CUDA_SUCCESS)
        return -1;
    return cuCtxSetCurrent(the_context) == CUDA_SUCCESS ? 0 : -1;
}

static int end(void **state)
{
    return cuCtxDestroy(other_context) == CUDA_SUCCESS ? support_end(state) : -1;
}

static CUstream stream_in(CUcontext context)
{
    CUstream stream;
    OK(cuCtxPushCurrent(context));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuCtxPopCurrent(NULL));
    return stream;
}

static CUevent event_in(CUcontext context)
{
    CUevent event;
    OK(cuCtxPushCurrent(context));
    OK(cuEventCreate(&event, 0));
    OK(cuCtxPopCurrent(NULL));
    return event;
}

static CUdeviceptr bytes_in(CUcontext context, size_t size)
{
    CUdeviceptr address;
    OK(cuCtxPushCurrent(context));
    OK(cuMemAlloc(&address, size));
    OK(cuCtxPopCurrent(NULL));
    return address;
}

/* A chain of copies that goes back and forth between the devices, each step behind an event of the other. */
static void test_order_across_devices(void **state)
{
    CUcontext contexts[2] = {the_context, other_context};
    CUdeviceptr words[2] = {bytes_in(the_context, 4), bytes_in(other_context, 4)};
    CUstream streams[2] = {stream_in(the_context), stream_in(other_context)};
    CUevent events[2] = {event_in(the_context), event_in(other_context)};
    struct gate gate;
    unsigned back = 0;
    (void)state;
    gate_put(&gate, streams[0]);
    OK(cuMemsetD32Async(words[0], 7, 1, streams[0]));
    for (int step = 0; step < 20; step++) {
        int from = step % 2, to = 1 - from;
        OK(cuEventRecord(events[from], streams[from]));
        OK(cuStreamWaitEvent(streams[to], events[from], 0));
        OK(cuMemcpyPeerAsync(words[to], contexts[to], words[from], contexts[from], 4, streams[to]));
    }
    FAILS(cuStreamQuery(streams[0]), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(streams[0]));
    OK(cuStreamSynchronize(streams[1]));
    OK(cuMemcpyDtoH(&back, words[0], 4));
    assert_int_equal(back, 7);
    for (int i = 0; i < 2; i++) {
        OK(cuMemFree(words[i]));
        OK(cuStreamDestroy(streams[i]));
        OK(cuEventDestroy(events[i]));
    }
}

static void test_refusals(void **state)
{
    CUstream theirs = stream_in(other_context);
    CUevent event = event_in(the_context), foreign = event_in(other_context);
    float ms;
    (void)state;
    FAILS(cuEventRecord(event, theirs), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuEventRecord(foreign, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(foreign, theirs));
    OK(cuEventRecord(event, NULL));
    OK(cuEventSynchronize(foreign));
    OK(cuEventSynchronize(event));
    FAILS(cuEventElapsedTime(&ms, event, foreign), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy(theirs));
    OK(cuEventDestroy(event));
    OK(cuEventDestroy(foreign));
}

static void test_access_for_fills_and_pointers(void **state)
{
    CUdeviceptr theirs = bytes_in(other_context, 64), told = 0;
    unsigned back[4];
    (void)state;
    OK(cuMemcpyDtoH(back, theirs, sizeof back));
    FAILS(cuMemsetD32(theirs, 3, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, theirs), CUDA_ERROR_INVALID_VALUE);
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    int ordinal = 9;
    told = 1;
    OK(cuPointerGetAttributes(2, asked, (void *[]){&told, &ordinal}, theirs));
    assert_int_equal(told, 0);
    assert_int_equal(ordinal, 1);
    OK(cuCtxEnablePeerAccess(other_context, 0));
    OK(cuMemsetD32(theirs, 3, 4));
    OK(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, theirs));
    assert_int_equal(told, theirs);
    OK(cuCtxDisablePeerAccess(other_context));
    FAILS(cuMemsetD32(theirs, 3, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyDtoH(back, theirs, sizeof back));
    assert_int_equal(back[3], 3);
    OK(cuMemFree(theirs));
}

static size_t free_on(CUcontext context)
{
    size_t free, total;
    OK(cuCtxPushCurrent(context));
    OK(cuMemGetInfo(&free, &total));
    OK(cuCtxPopCurrent(NULL));
    return free;
}

/* Memory of the second device, mapped for either, both or none of them. */
static void test_mappings(void **state)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};
    CUmemAccessDesc both[2] = {{{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}, CU_MEM_ACCESS_FLAGS_PROT_READ},
                               {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    size_t first = free_on(the_context), second = free_on(other_context);
    CUmemGenericAllocationHandle handle;
    unsigned long long right = 0;
    CUdeviceptr address;
    unsigned word = 0;
    int ordinal = 9;
    (void)state;
    OK(cuMemCreate(&handle, UNIT, &properties, 0));
    assert_int_equal(free_on(the_context), first);
    assert_int_equal(second - free_on(other_context), UNIT);
    OK(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    OK(cuMemMap(address, UNIT, 0, handle, 0));
    OK(cuMemSetAccess(address, UNIT, both, 2));
    OK(cuMemGetAccess(&right, &both[0].location, address));
    assert_int_equal(right, CU_MEM_ACCESS_FLAGS_PROT_READ);
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    assert_int_equal(ordinal, 1);
    FAILS(cuMemsetD32(address, 5, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxPushCurrent(other_context));
    OK(cuMemsetD32(address, 5, 1));
    OK(cuCtxSynchronize());
    OK(cuCtxPopCurrent(NULL));
    OK(cuMemcpyDtoH(&word, address, 4));
    assert_int_equal(word, 5);
    both[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cuMemSetAccess(address, UNIT, both, 1));
    FAILS(cuMemcpyDtoH(&word, address, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(address, UNIT));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(address, UNIT));
    assert_int_equal(free_on(other_context), second);
}

static void test_atomic_capabilities(void **state)
{
    CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_FLOAT_MIN};
    unsigned capabilities[2] = {9, 9};
    (void)state;
    OK(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 1));
    assert_true(capabilities[0] & CU_ATOMIC_CAPABILITY_SCALAR_32);
    assert_int_equal(capabilities[1], 0);
    FAILS(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 0), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuDeviceGetP2PAtomicCapabilities(NULL, operations, 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 1));
    assert_true(capabilities[0] & CU_ATOMIC_CAPABILITY_SCALAR_64);
    FAILS(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 7), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGetHostAtomicCapabilities(capabilities, NULL, 2, 0), CUDA_ERROR_INVALID_VALUE);
    operations[1] = CU_ATOMIC_OPERATION_MAX;
    FAILS(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

enum { EXCHANGES = 200, LARGE = 64 << 10 };

struct exchange {
    CUcontext own, other;
    CUdeviceptr mine, theirs;
    unsigned value;
    CUresult status;
};

/* Fills its own word and copies it to the other device, and a large piece back, in the default stream; what the other
 * thread does meanwhile has its own words. */
static void *exchange(void *data)
{
    struct exchange *job = data;
    job->status = cuCtxSetCurrent(job->own);
    for (unsigned i = 0; i < EXCHANGES && job->status == CUDA_SUCCESS; i++) {
        job->status = cuMemsetD32Async(job->mine, job->value + i, LARGE / 4, NULL);
        if (job->status == CUDA_SUCCESS)
            job->status = cuMemcpyPeerAsync(job->theirs, job->other, job->mine, job->own, i % 2 ? 4 : LARGE, NULL);
        if (job->status == CUDA_SUCCESS)
            job->status = cuMemcpyDtoDAsync(job->mine, job->theirs, 4, NULL);
        if (job->status == CUDA_SUCCESS && i % 16 == 0)
            job->status = cuStreamSynchronize(NULL);
    }
    if (job->status == CUDA_SUCCESS)
        job->status = cuCtxSynchronize();
    return NULL;
}

/* Copies in the default streams of two devices wait for each other's streams. Two threads that copy both ways never
 * make a circle of that. */
static void test_copies_both_ways(void **state)
{
    CUcontext contexts[2] = {the_context, other_context};
    struct exchange jobs[2];
    pthread_t threads[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        jobs[i] = (struct exchange){
            contexts[i],    contexts[1 - i], bytes_in(contexts[i], LARGE), bytes_in(contexts[1 - i], LARGE),
            1000 * (i + 1), CUDA_SUCCESS};
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, exchange, &jobs[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < 2; i++) {
        unsigned words[2] = {0, 0};
        assert_int_equal(jobs[i].status, CUDA_SUCCESS);
        OK(cuMemcpyDtoH(&words[0], jobs[i].mine, 4));
        OK(cuMemcpyDtoH(&words[1], jobs[i].theirs, 4));
        assert_int_equal(words[0], jobs[i].value + EXCHANGES - 1);
        assert_int_equal(words[1], jobs[i].value + EXCHANGES - 1);
        OK(cuMemFree(jobs[i].mine));
        OK(cuMemFree(jobs[i].theirs));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order_across_devices),
                                       cmocka_unit_test(test_copies_both_ways),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_access_for_fills_and_pointers),
                                       cmocka_unit_test(test_mappings),
                                       cmocka_unit_test(test_atomic_capabilities)};
    return cmocka_run_group_tests_name("devices together", tests, begin, end);
}
