/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management, prefetches and events of whole contexts when the driver's own memory runs out: each
 * allocation is made to fail in turn. The call then fails with CUDA_ERROR_OUT_OF_MEMORY, leaves nothing behind, and
 * works when called again. */
#include "vmm_support.h"

#include <unistd.h>

#include "each_failure.h"
#include "memory/vmm.h"

static void test_memory_and_addresses(void **state)
{
    CUmemAllocationProp plain = device_memory(), shared = shared_memory();
    CUmemGenericAllocationHandle handle, other;
    struct mr_vmm_statistics statistics;
    size_t before, after, total;
    CUdeviceptr address;
    int descriptor;
    (void)state;
    OK(cuMemGetInfo(&before, &total));
    EACH_FAILURE_UNDONE(cuMemCreate(&handle, UNIT, &plain, 0), OK(cuMemRelease(handle)));
    EACH_FAILURE_UNDONE(cuMemCreate(&handle, UNIT, &shared, 0), OK(cuMemRelease(handle)));
    EACH_FAILURE_UNDONE(cuMemAddressReserve(&address, UNIT, 0, 0, 0), OK(cuMemAddressFree(address, UNIT)));
    handle = memory_of(UNIT, shared);
    address = addresses(UNIT);
    EACH_FAILURE_UNDONE(cuMemMap(address, UNIT, 0, handle, 0), OK(cuMemUnmap(address, UNIT)));
    OK(cuMemMap(address, UNIT, 0, handle, 0));
    EACH_FAILURE(access_set(address, UNIT, on_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE), (void)0);
    EACH_FAILURE_UNDONE(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                        close(descriptor));
    OK(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EACH_FAILURE_UNDONE(
        cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        OK(cuMemRelease(other)));
    OK(cuMemRelease(handle));
    EACH_FAILURE_UNDONE(cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)address), OK(cuMemRelease(handle)));
    close(descriptor);
    unmapped(address, UNIT);
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
    mr_vmm_statistics_get(&statistics);
    assert_int_equal(statistics.memories + statistics.mappings + statistics.reservations, 0);
}

static void test_batches(void **state)
{
    CUdeviceptr ranges[3];
    size_t sizes[3] = {65536, 65536, 65536}, starts[2] = {0, 1};
    CUmemLocation places[2] = {on_device, on_host};
    CUstream stream;
    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; i++)
        OK(cuMemAllocManaged(&ranges[i], 65536, CU_MEM_ATTACH_GLOBAL));
    EACH_FAILURE(cuMemPrefetchBatchAsync(ranges, sizes, 3, places, starts, 2, 0, stream), (void)0);
    EACH_FAILURE(cuMemDiscardBatchAsync(ranges, sizes, 3, 0, stream), (void)0);
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 3; i++)
        OK(cuMemFree(ranges[i]));
    OK(cuStreamDestroy(stream));
}

static void test_whole_contexts(void **state)
{
    CUstream streams[4];
    CUevent all, pending;
    struct gate gates[4];
    (void)state;
    OK(cuEventCreate(&all, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&pending, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 4; i++) {
        OK(cuStreamCreate(&streams[i], i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
        gate_put(&gates[i], streams[i]);
    }
    OK(cuEventRecord(pending, streams[1]));
    EACH_FAILURE(cuCtxRecordEvent(the_context, all), (void)0);
    EACH_FAILURE(cuCtxWaitEvent(the_context, pending), (void)0);
    for (int i = 0; i < 4; i++)
        gate_open(&gates[i]);
    OK(cuEventSynchronize(all));
    OK(cuCtxSynchronize());
    for (int i = 0; i < 4; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuEventDestroy(all));
    OK(cuEventDestroy(pending));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_and_addresses), cmocka_unit_test(test_batches),
                                       cmocka_unit_test(test_whole_contexts)};
    return cmocka_run_group_tests_name("virtual memory without memory", tests, support_begin, support_end);
}
