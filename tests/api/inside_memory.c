/* SPDX-License-Identifier: Apache-2.0 */
/* Memory entry points when the driver's own memory runs out: each allocation is made to fail in turn. The call then
 * fails with CUDA_ERROR_OUT_OF_MEMORY or does without, leaves nothing behind, and works when called again. */
#include "memory_support.h"

#include "each_failure.h"
#include "memory/allocation.h"

static char host[200000];

/* A call with nothing left in the caches that would save it an allocation. */
#define COLD(call) (mr_memory_trim(), call)

static void test_allocation(void **state)
{
    (void)state;
    CUdeviceptr address;
    size_t pitch, before, after, total;
    void *pinned;
    OK(cuMemGetInfo(&before, &total));
    EACH_FAILURE_UNDONE(COLD(cuMemAlloc(&address, 100)), OK(cuMemFree(address)));
    EACH_FAILURE_UNDONE(COLD(cuMemAlloc(&address, 3000000)), OK(cuMemFree(address)));
    EACH_FAILURE_UNDONE(COLD(cuMemAllocPitch(&address, &pitch, 3000, 300, 4)), OK(cuMemFree(address)));
    EACH_FAILURE_UNDONE(COLD(cuMemAllocManaged(&address, 70000, CU_MEM_ATTACH_GLOBAL)), OK(cuMemFree(address)));
    EACH_FAILURE_UNDONE(COLD(cuMemHostAlloc(&pinned, 30000, 0)), OK(cuMemFreeHost(pinned)));
    EACH_FAILURE_UNDONE(COLD(cuMemHostRegister(host, 4096, 0)), OK(cuMemHostUnregister(host)));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

static void test_transfer(void **state)
{
    (void)state;
    static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_HOST};
    CUstream stream;
    CUdeviceptr device = device_bytes(sizeof host), managed;
    OK(cuMemAllocManaged(&managed, 65536, CU_MEM_ATTACH_GLOBAL));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EACH_FAILURE(COLD(cuMemcpyHtoD(device, host, 1000)), (void)0);
    EACH_FAILURE(COLD(cuMemcpyHtoDAsync(device, host, 1000, stream)), (void)0);
    EACH_FAILURE(COLD(cuMemcpyHtoDAsync(device, host, sizeof host, stream)), (void)0);
    EACH_FAILURE(COLD(cuMemcpyDtoHAsync(host, device, 1000, stream)), (void)0);
    EACH_FAILURE(COLD(cuMemsetD8Async(device, 1, 1000, stream)), (void)0);
    EACH_FAILURE(COLD(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here)), (void)0);
    EACH_FAILURE(COLD(cuMemPrefetchAsync(managed + 8192, 4096, here, 0, stream)), (void)0);
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(managed));
    OK(cuMemFree(device));
}

/* A held-up stream: the small copy cannot be staged, so it is waited for instead. */
static void test_staging_fails(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr device = device_bytes(1000);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemcpyHtoDAsync(device, host, 1000, stream));   /* fills the caches of commands */
    pattern_put(host, 1000, 3);
    for (uint64_t nth = 1; nth <= 3; nth++) {
        (void)mr_alloc_fail_mine(nth);
        CUresult status = cuMemcpyHtoDAsync(device, host, 1000, stream);
        (void)mr_alloc_fail_mine(0);
        assert_true(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY);
    }
    char back[1000];
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(back, device, 1000));
    assert_true(pattern_is(back, 1000, 3));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocation),
        cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_staging_fails),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
