/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamWaitValue32/64, cuStreamWriteValue32/64, cuStreamBatchMemOp: conditions, order, memory that may be used,
 * refusals, many streams at once. */
#include "stream_support.h"

#include <dirent.h>
#include <pthread.h>
#include <string.h>

#define GEQ CU_STREAM_WAIT_VALUE_GEQ
#define EQ CU_STREAM_WAIT_VALUE_EQ
#define AND CU_STREAM_WAIT_VALUE_AND
#define NOR CU_STREAM_WAIT_VALUE_NOR

/* Pinned words, all zero; for the group. */
static _Atomic uint32_t *words;
static CUdeviceptr at;

static int begin(void **state)
{
    void *memory;
    if (support_begin(state) != 0 || cuMemHostAlloc(&memory, 1 << 16, CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS)
        return -1;
    memset(memory, 0, 1 << 16);
    words = memory;
    return cuMemHostGetDevicePointer(&at, memory, 0) == CUDA_SUCCESS ? 0 : -1;
}

static int end(void **state)
{
    return cuMemFreeHost((void *)(uintptr_t)words) == CUDA_SUCCESS ? support_end(state) : -1;
}

static int clear(void **state)
{
    (void)state;
    memset((void *)(uintptr_t)words, 0, 1 << 16);
    return 0;
}

static void store64(uint64_t value)
{
    __atomic_store_n((uint64_t *)(void *)words, value, __ATOMIC_SEQ_CST);
}

/* ---- conditions ---- */

struct condition {
    unsigned bits, flags;
    uint64_t value, no, yes;
};

static const struct condition conditions[] = {
    {32, GEQ, 5, 4, 5},
    {32, GEQ, 5, 0x80000005, 0x80000004},
    {32, GEQ, 0xfffffff0, 0xffffffef, 3},
    {32, EQ, 5, 6, 5},
    {32, EQ, 0, 1, 0},
    {32, AND, 6, 9, 2},
    {32, NOR, 0xff, 0xffffff00, 0x7fffff00},
    {64, GEQ, UINT64_C(5) << 32, (UINT64_C(5) << 32) - 1, UINT64_C(5) << 32},
    {64, GEQ, 0, UINT64_C(1) << 63, INT64_MAX},
    {64, GEQ, UINT64_MAX, UINT64_MAX - 1, 0},
    {64, EQ, UINT64_C(1) << 40, 0, UINT64_C(1) << 40},
    {64, AND, UINT64_C(1) << 63, INT64_MAX, UINT64_MAX},
    {64, NOR, UINT32_MAX, UINT64_MAX << 32, 0},
};

static CUresult wait_for(CUstream stream, const struct condition *condition)
{
    return condition->bits == 64 ? cuStreamWaitValue64(stream, at, condition->value, condition->flags)
                                 : cuStreamWaitValue32(stream, at, (cuuint32_t)condition->value, condition->flags);
}

static void test_conditions(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        store64(conditions[i].yes);
        OK(wait_for(stream, &conditions[i]));
        OK(cuStreamQuery(stream)); /* over at once, on the calling thread */
        store64(conditions[i].no);
        OK(wait_for(stream, &conditions[i]));
        FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        store64(conditions[i].yes);
        OK(cuStreamSynchronize(stream));
    }
    OK(cuStreamDestroy(stream));
}

/* ---- memory ---- */

static void test_memory(void **state)
{
    (void)state;
    static _Alignas(4096) uint64_t registered[512];
    CUstream stream = new_stream(0);
    CUdeviceptr device, managed;
    OK(cuMemAlloc(&device, 64));
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostRegister(registered, sizeof registered, 0));
    const CUdeviceptr good[] = {device, device + 56, at, (CUdeviceptr)(uintptr_t)&registered[511]};
    for (int i = 0; i < 4; i++) {
        uint64_t value = 0;
        OK(cuStreamWriteValue64(stream, good[i], UINT64_C(0x1122334455667788), 0));
        OK(cuStreamWriteValue32(stream, good[i], 7, 0));
        OK(cuStreamWaitValue32(stream, good[i] + 4, 0x11223344, EQ));
        OK(cuStreamSynchronize(stream));
        OK(cuMemcpyDtoH(&value, good[i], 8));
        assert_int_equal(value, UINT64_C(0x1122334400000007));
    }
    uint64_t local = 0;
    const CUdeviceptr bad[] = {
        0,         managed, (CUdeviceptr)(uintptr_t)&local, (CUdeviceptr)(uintptr_t)WILD & ~UINT64_C(7), device + 4096,
        device + 2};
    for (int i = 0; i < 6; i++) {
        FAILS(cuStreamWriteValue32(stream, bad[i], 1, 0), CUDA_ERROR_INVALID_VALUE);
        FAILS(cuStreamWriteValue64(stream, bad[i], 1, 0), CUDA_ERROR_INVALID_VALUE);
        FAILS(cuStreamWaitValue32(stream, bad[i], 0, 0), CUDA_ERROR_INVALID_VALUE);
        FAILS(cuStreamWaitValue64(stream, bad[i], 0, 0), CUDA_ERROR_INVALID_VALUE);
    }
    FAILS(cuStreamWaitValue64(stream, device + 4, 0, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamQuery(stream));
    OK(cuMemHostUnregister(registered));
    OK(cuMemFree(managed));
    OK(cuMemFree(device));
    OK(cuStreamDestroy(stream));
}

static void test_bad(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    FAILS(cuStreamWaitValue32(stream, at, 0, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWaitValue32(stream, at, 0, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWaitValue64(stream, at, 0, CU_STREAM_WAIT_VALUE_FLUSH), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuStreamWriteValue32(stream, at, 0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWriteValue64(stream, at, 0, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWriteValue32((CUstream)FOREIGN, at, 0, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamWaitValue32((CUstream)WILD, at, 0, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamBatchMemOp((CUstream)WILD, 0, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamBatchMemOp(stream, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamBatchMemOp(stream, 1, &op, 0), CUDA_ERROR_INVALID_VALUE);
    op.operation = CU_STREAM_MEM_OP_BARRIER;
    FAILS(cuStreamBatchMemOp(stream, 1, &op, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamBatchMemOp(stream, 1, &op, 0));
    op.memoryBarrier.flags = 2;
    FAILS(cuStreamBatchMemOp(stream, 1, &op, 0), CUDA_ERROR_INVALID_VALUE);
    op.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    op.memoryBarrier.flags = 0;
    FAILS(cuStreamBatchMemOp(stream, 1, &op, 0), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuStreamQuery(stream));
    OK(cuStreamDestroy(stream));
    FAILS(cuStreamWriteValue32(stream, at, 0, 0), CUDA_ERROR_INVALID_HANDLE);
}

/* ---- batches ---- */

static CUstreamBatchMemOpParams make_op(CUstreamBatchMemOpType kind, unsigned word, uint32_t value)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.writeValue.operation = kind;
    op.writeValue.address = at + 4 * word;
    op.writeValue.value = value;
    return op;
}

static void test_batch(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams ops[256];
    for (unsigned i = 0; i < 256; i++)
        ops[i] = make_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, i, i + 1);
    FAILS(cuStreamBatchMemOp(stream, 256, ops, 0), CUDA_ERROR_INVALID_VALUE);
    ops[200].writeValue.address++;
    FAILS(cuStreamBatchMemOp(stream, 255, ops, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(words[0], 0); /* nothing of a bad batch is done */
    ops[200].writeValue.address--;
    ops[100] = make_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, 300, 1);
    ops[150] = make_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, 301, 1);
    OK(cuStreamBatchMemOp(stream, 255, ops, 0));
    memset(ops, 0xee, sizeof ops); /* the array is the program's again */
    assert_int_equal(words[99], 100);
    assert_int_equal(words[101], 0);
    atomic_store(&words[301], 1);
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    assert_int_equal(words[101], 0);
    atomic_store(&words[300], 1);
    OK(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < 255; i++)
        assert_int_equal(words[i], i == 100 || i == 150 ? 0 : i + 1);
    OK(cuStreamDestroy(stream));
}

/* ---- order ---- */

static void test_order(void **state)
{
    (void)state;
    CUstream stream = new_stream(0), other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    struct gate gate;
    gate_put(&gate, stream);
    OK(cuStreamWriteValue32(stream, at, 1, 0));
    OK(cuStreamWaitValue32(other, at, 1, GEQ));
    OK(cuEventRecord(event, other));
    OK(cuStreamWriteValue32(other, at + 4, 2, 0));
    OK(cuStreamWriteValue32(NULL, at + 8, 3, 0)); /* behind `stream` by the default stream's rule */
    assert_int_equal(words[0] + words[1] + words[2], 0);
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(other));
    OK(cuEventQuery(event));
    assert_int_equal(words[1], 2);
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(words[2], 3);
    /* A destroyed stream still does what it has. */
    OK(cuStreamWaitValue32(other, at + 12, 1, GEQ));
    OK(cuStreamWriteValue32(other, at + 16, 5, 0));
    OK(cuStreamDestroy(other));
    assert_int_equal(words[4], 0);
    atomic_store(&words[3], 1);
    OK(cuCtxSynchronize());
    assert_int_equal(words[4], 5);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

/* Two streams that take turns: the chain unrolls whoever starts it, however long it is. */
static void test_ping_pong(void **state)
{
    (void)state;
    enum { TURNS = 20000 };
    CUstream streams[2] = {new_stream(CU_STREAM_NON_BLOCKING), new_stream(CU_STREAM_NON_BLOCKING)};
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        OK(cuStreamWaitValue32(streams[0], at, 2 * turn - 1, EQ));
        OK(cuStreamWriteValue32(streams[0], at, 2 * turn, 0));
        OK(cuStreamWaitValue32(streams[1], at, 2 * turn, EQ));
        OK(cuStreamWriteValue32(streams[1], at, 2 * turn + 1, 0));
    }
    OK(cuStreamWriteValue32(NULL, at, 1, 0));
    OK(cuStreamSynchronize(streams[1]));
    OK(cuStreamSynchronize(streams[0]));
    assert_int_equal(words[0], 2 * TURNS + 1);
    OK(cuStreamDestroy(streams[0]));
    OK(cuStreamDestroy(streams[1]));
}

/* ---- with the host ---- */

static void *answer(void *data)
{
    for (uint32_t turn = 1; turn <= *(uint32_t *)data; turn++) {
        while (atomic_load(&words[0]) != turn)
            sched_yield();
        atomic_store(&words[1], turn);
    }
    return NULL;
}

static void test_host(void **state)
{
    (void)state;
    uint32_t turns = 300;
    pthread_t thread;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    assert_int_equal(pthread_create(&thread, NULL, answer, &turns), 0);
    for (uint32_t turn = 1; turn <= turns; turn++) {
        OK(cuStreamWriteValue32(stream, at, turn, 0));
        OK(cuStreamWaitValue32(stream, at + 4, turn, GEQ));
    }
    OK(cuStreamSynchronize(stream));
    pthread_join(thread, NULL);
    OK(cuStreamDestroy(stream));
}

static void CUDA_CB set_word(void *data)
{
    atomic_store((_Atomic uint32_t *)data, 1);
}

/* What a host function, a copy and a fill store is seen. */
static void test_other_work(void **state)
{
    (void)state;
    CUstream waiting = new_stream(CU_STREAM_NON_BLOCKING), storing = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr device;
    uint32_t one = 1;
    OK(cuMemAlloc(&device, 8));
    for (int kind = 0; kind < 3; kind++) {
        atomic_store(&words[0], 0);
        OK(cuMemsetD32(device, 0, 2));
        OK(cuStreamWaitValue32(waiting, kind ? device : at, 1, EQ));
        if (kind == 0)
            OK(cuLaunchHostFunc(storing, set_word, (void *)(uintptr_t)words));
        else if (kind == 1)
            OK(cuMemcpyHtoDAsync(device, &one, 4, storing));
        else
            OK(cuMemsetD32Async(device, 1, 1, storing));
        OK(cuStreamSynchronize(waiting));
        OK(cuStreamSynchronize(storing));
    }
    OK(cuMemFree(device));
    OK(cuStreamDestroy(waiting));
    OK(cuStreamDestroy(storing));
}

/* ---- many ---- */

static unsigned threads_now(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Thousands of streams that wait take no thread each, and all go on. */
static void test_many(void **state)
{
    (void)state;
    enum { STREAMS = 10000 };
    static CUstream streams[STREAMS];
    unsigned before = threads_now();
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = new_stream(CU_STREAM_NON_BLOCKING);
        OK(cuStreamWaitValue32(streams[i], at + 4 * (CUdeviceptr)(i % 4096), 1, GEQ));
        OK(cuStreamWriteValue32(streams[i], at + 4 * (4096 + (CUdeviceptr)i), 7, 0));
    }
    assert_true(threads_now() <= before + 4);
    for (int i = 0; i < STREAMS; i++)
        FAILS(cuStreamQuery(streams[i]), CUDA_ERROR_NOT_READY);
    for (int i = 0; i < 4096; i++)
        atomic_store(&words[i], 1);
    OK(cuCtxSynchronize());
    for (int i = 0; i < STREAMS; i++) {
        assert_int_equal(words[4096 + i], 7);
        OK(cuStreamDestroy(streams[i]));
    }
}

/* ---- inside a host function, and the first version ---- */

static CUresult inner[2];

static void CUDA_CB call_inside(void *data)
{
    inner[0] = cuStreamWriteValue32(data, at, 9, 0);
    inner[1] = cuStreamWaitValue32(data, at, 9, EQ);
}

static void test_inside(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuLaunchHostFunc(stream, call_inside, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamSynchronize(stream));
    OK(inner[0]);
    OK(inner[1]);
    assert_int_equal(words[0], 9);
    OK(cuStreamDestroy(stream));
}

#undef cuStreamWaitValue32
#undef cuStreamWriteValue64
static void test_first_version(void **state)
{
    (void)state;
    FAILS(cuStreamWaitValue32(NULL, at, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuStreamWriteValue64(NULL, at, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_conditions, clear),    cmocka_unit_test_setup(test_memory, clear),
        cmocka_unit_test_setup(test_bad, clear),           cmocka_unit_test_setup(test_batch, clear),
        cmocka_unit_test_setup(test_order, clear),         cmocka_unit_test_setup(test_ping_pong, clear),
        cmocka_unit_test_setup(test_host, clear),          cmocka_unit_test_setup(test_other_work, clear),
        cmocka_unit_test_setup(test_many, clear),          cmocka_unit_test_setup(test_inside, clear),
        cmocka_unit_test_setup(test_first_version, clear),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
