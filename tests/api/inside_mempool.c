/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools when the driver's own memory runs out: each allocation is made to fail in turn. A call then fails with
 * CUDA_ERROR_OUT_OF_MEMORY or does without, leaves nothing behind, and works when called again. */
#include "memory_support.h"

#include "base/alloc.h"
#include "memory/mempool.h"

#define MIB ((size_t)1 << 20)
#define MOST_TRIES 40

static uint64_t left_over; /* of the count to the allocation that shall fail */

/* What follows is not to fail: it waits, or tidies up. */
static void fail_no_more(void)
{
    left_over += mr_alloc_fail_mine(0);
}

/* Runs `call`, a function's name, with the first, second, ... allocation failing until it succeeds without any having
 * failed. What it must undo is in it. */
static void each_failure(CUresult (*call)(void *data), void *data)
{
    CUresult status = CUDA_ERROR_UNKNOWN;
    bool reached = true;
    for (uint64_t nth = 1; reached; nth++) {
        assert_true(nth < MOST_TRIES);
        left_over = 0;
        (void)mr_alloc_fail_mine(nth);
        status = call(data);
        fail_no_more();
        reached = left_over == 0;
        if (status != CUDA_SUCCESS)
            assert_int_equal(status, CUDA_ERROR_OUT_OF_MEMORY);
    }
    assert_int_equal(status, CUDA_SUCCESS);
}

static CUmemPoolProps props(unsigned handles)
{
    return (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = (CUmemAllocationHandleType)handles,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
}

static CUresult make(void *data)
{
    CUmemPoolProps wanted = props(*(unsigned *)data);
    CUmemoryPool pool;
    CUresult status = cuMemPoolCreate(&pool, &wanted);
    return status == CUDA_SUCCESS ? cuMemPoolDestroy(pool) : status;
}

/* A pool, its first memory, several blocks, their end. */
static CUresult live(void *data)
{
    CUmemPoolProps wanted = props(*(unsigned *)data);
    CUmemoryPool pool;
    CUdeviceptr addresses[6] = {0};
    CUresult status = cuMemPoolCreate(&pool, &wanted);
    if (status != CUDA_SUCCESS)
        return status;
    for (int i = 0; i < 6 && status == CUDA_SUCCESS; i++)
        status = cuMemAllocFromPoolAsync(&addresses[i], 1000000 * (size_t)(i + 1), pool, NULL);
    for (int i = 0; i < 6; i++)
        if (addresses[i])
            OK(cuMemFreeAsync(addresses[i * 5 % 6], NULL));
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuMemPoolDestroy(pool));
    return status;
}

struct set {
    CUmemoryPool pool, imported;
    CUstream a, b;
    int descriptor;
};

/* Work pending in one stream, memory that is freed behind it, and taken again there, elsewhere, and where an event
 * leads. Every call may fail. */
static CUresult pending(void *data)
{
    struct set *set = data;
    struct gate gate = {0};
    CUdeviceptr first = 0, second = 0, third = 0;
    CUevent event = NULL;
    CUresult status = cuMemAllocFromPoolAsync(&first, 20 * MIB, set->pool, set->a);
    CUresult held = cuLaunchHostFunc(set->a, gate_wait, &gate);
    if (status == CUDA_SUCCESS)
        status = held;
    if (status == CUDA_SUCCESS && (status = cuMemFreeAsync(first, set->a)) == CUDA_SUCCESS)
        first = 0;
    if (status == CUDA_SUCCESS)
        status = cuMemAllocFromPoolAsync(&second, 1000, set->pool, set->a);
    if (status == CUDA_SUCCESS)
        status = cuEventCreate(&event, 0);
    if (status == CUDA_SUCCESS)
        status = cuEventRecord(event, set->a);
    if (status == CUDA_SUCCESS)
        status = cuStreamWaitEvent(set->b, event, 0);
    if (status == CUDA_SUCCESS)
        status = cuMemAllocFromPoolAsync(&third, 18 * MIB, set->pool, set->b);
    gate_open(&gate);
    fail_no_more();
    OK(cuStreamSynchronize(set->a));
    OK(cuStreamSynchronize(set->b));
    if (first)
        OK(cuMemFreeAsync(first, set->a));
    if (second)
        OK(cuMemFreeAsync(second, set->a));
    if (third)
        OK(cuMemFreeAsync(third, set->b));
    if (event)
        OK(cuEventDestroy(event));
    return status;
}

static CUresult share(void *data)
{
    struct set *set = data;
    CUmemPoolPtrExportData exported;
    CUmemoryPool imported = NULL;
    CUdeviceptr address = 0, there = 0;
    CUresult status = cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)set->descriptor,
                                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (status == CUDA_SUCCESS)
        status = cuMemAllocFromPoolAsync(&address, 5 * MIB, set->pool, NULL);
    if (status == CUDA_SUCCESS)
        status = cuMemPoolExportPointer(&exported, address);
    if (status == CUDA_SUCCESS)
        status = cuMemPoolImportPointer(&there, imported, &exported);
    if (there)
        OK(cuMemFreeAsync(there, NULL));
    if (address)
        OK(cuMemFreeAsync(address, NULL));
    if (imported)
        OK(cuMemPoolDestroy(imported));
    return status;
}

static CUresult plain(void *data)
{
    struct gate gate = {0};
    struct set *set = data;
    CUdeviceptr address = 0;
    CUresult status = cuMemAlloc(&address, 1000);
    if (status != CUDA_SUCCESS)
        return status;
    CUresult held = cuLaunchHostFunc(set->a, gate_wait, &gate);
    status = cuMemFreeAsync(address, set->a);
    gate_open(&gate);
    fail_no_more();
    OK(cuStreamSynchronize(set->a));
    if (status != CUDA_SUCCESS)
        OK(cuMemFree(address));   /* it is still there */
    return status == CUDA_SUCCESS ? held : status;
}

static void test_pools(void **state)
{
    (void)state;
    unsigned none = 0, posix = 1;
    size_t before, after, total;
    OK(cuCtxSynchronize());
    OK(cuMemGetInfo(&before, &total));
    each_failure(make, &none);
    each_failure(make, &posix);
    each_failure(live, &none);
    each_failure(live, &posix);
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

static void test_allocations(void **state)
{
    (void)state;
    struct set set;
    struct mr_mempool_statistics now;
    CUmemPoolProps wanted = props(1);
    wanted.maxSize = 32 * MIB;
    OK(cuMemPoolCreate(&set.pool, &wanted));
    OK(cuMemPoolExportToShareableHandle(&set.descriptor, set.pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuStreamCreate(&set.a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&set.b, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; i++) {
        each_failure(pending, &set);
        each_failure(share, &set);
        each_failure(plain, &set);
    }
    OK(cuStreamSynchronize(set.a));
    OK(cuMemPoolTrimTo(set.pool, 0));
    mr_mempool_statistics_get(mr_mempool_find(set.pool), &now);
    assert_int_equal(now.live, 0);
    assert_int_equal(now.waiting, 0);
    OK(cuStreamDestroy(set.a));
    OK(cuStreamDestroy(set.b));
    OK(cuMemPoolDestroy(set.pool));
}

/* Pools that are made, used and ended again and again take no more of the driver's memory. */
static void test_nothing_stays(void **state)
{
    (void)state;
    unsigned posix = 1;
    for (int i = 0; i < 5; i++)
        OK(live(&posix));
    uint64_t before = mr_alloc_live();
    for (int i = 0; i < 50; i++)
        OK(live(&posix));
    assert_int_equal(mr_alloc_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_nothing_stays),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
