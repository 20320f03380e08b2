/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory operations on streams: waits for a value, writes of a value, batches.
 *
 * The rows of the first table ask when a wait is over: the word holds START, the
 * stream waits, and what comes is "ready", or "waits" followed by what the stream
 * says once the host has stored RELEASE.  The rest asks where, in which order and
 * with which arguments.
 */
#include "gold.h"

#include <string.h>

/* Words that the host and the device see, all zero. */
static unsigned *pinned_words(size_t count)
{
    void *memory;
    NEED(cuMemHostAlloc(&memory, count * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, count * sizeof(unsigned));
    return memory;
}

static CUdeviceptr address_of(void *host)
{
    CUdeviceptr address;
    NEED(cuMemHostGetDevicePointer(&address, host, 0));
    return address;
}

static void store32(unsigned *word, unsigned value)
{
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static void store64(unsigned *word, uint64_t value)
{
    __atomic_store_n((uint64_t *)(void *)word, value, __ATOMIC_SEQ_CST);
}

static unsigned load32(unsigned *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* ---- when a wait is over ---- */

struct wait_row {
    unsigned bits, flags;
    uint64_t value, start, release;
};

static void run_wait_row(const struct gold_case *self)
{
    const struct wait_row *row = self->data;
    unsigned *word = pinned_words(2);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUresult status;
    store64(word, row->start);
    if (row->bits == 64)
        status = cuStreamWaitValue64(stream, address_of(word), row->value, row->flags);
    else
        status = cuStreamWaitValue32(stream, address_of(word), (unsigned)row->value, row->flags);
    say(status);
    if (status != CUDA_SUCCESS)
        return;
    if (gold_wait_stream(stream, 150) == CUDA_SUCCESS) {
        say_text("ready");
        return;
    }
    say_text("waits");
    store64(word, row->release);
    say(gold_wait_stream(stream, 3000));
}

#define WAIT_ROW(title, bits, flags, value, start, release) \
    { \
        .name = "streammem." title, .run = run_wait_row, .data = &(const struct wait_row) \
        { \
            bits, flags, value, start, release \
        } \
    }

#define GEQ CU_STREAM_WAIT_VALUE_GEQ
#define EQ CU_STREAM_WAIT_VALUE_EQ
#define AND CU_STREAM_WAIT_VALUE_AND
#define NOR CU_STREAM_WAIT_VALUE_NOR
#define FLUSH CU_STREAM_WAIT_VALUE_FLUSH

static struct gold_case wait_rows[] = {
    WAIT_ROW("wait32_geq_equal", 32, GEQ, 5, 5, 5),
    WAIT_ROW("wait32_geq_greater", 32, GEQ, 5, 6, 5),
    WAIT_ROW("wait32_geq_less", 32, GEQ, 5, 4, 5),
    WAIT_ROW("wait32_geq_less_then_far", 32, GEQ, 5, 4, 0x7fffffff),
    WAIT_ROW("wait32_geq_wrapped_past", 32, GEQ, 0xfffffff0, 5, 0xfffffff0),
    WAIT_ROW("wait32_geq_wrapped_before", 32, GEQ, 5, 0xfffffff0, 5),
    WAIT_ROW("wait32_geq_half_way", 32, GEQ, 0, 0x7fffffff, 0),
    WAIT_ROW("wait32_geq_more_than_half", 32, GEQ, 0, 0x80000000, 0),
    WAIT_ROW("wait32_geq_high_word_is_ignored", 32, GEQ, 5, UINT64_C(0x700000004), 5),
    WAIT_ROW("wait32_eq_equal", 32, EQ, 5, 5, 5),
    WAIT_ROW("wait32_eq_greater", 32, EQ, 5, 6, 5),
    WAIT_ROW("wait32_eq_zero", 32, EQ, 0, 0, 0),
    WAIT_ROW("wait32_and_some", 32, AND, 6, 4, 6),
    WAIT_ROW("wait32_and_none", 32, AND, 6, 1, 2),
    WAIT_ROW("wait32_and_top_bit", 32, AND, 0x80000000, 0xffffffff, 6),
    WAIT_ROW("wait32_nor_some", 32, NOR, 0x0f, 0xf0, 0),
    WAIT_ROW("wait32_nor_all", 32, NOR, 0x0f, 0xfffffff0, 0),
    WAIT_ROW("wait32_nor_zero", 32, NOR, 0, 0, 0),
    WAIT_ROW("wait32_flag_4", 32, 4, 0, 0, 0),
    WAIT_ROW("wait32_flag_16", 32, 16, 0, 0, 0),
    WAIT_ROW("wait32_flag_high", 32, 1u << 31, 0, 0, 0),
    WAIT_ROW("wait32_flag_29", 32, 1u << 29, 0, 0, 0),
    WAIT_ROW("wait32_flush", 32, GEQ | FLUSH, 5, 5, 5),
    WAIT_ROW("wait32_flush_eq", 32, EQ | FLUSH, 5, 5, 5),
    WAIT_ROW("wait64_geq_equal", 64, GEQ, UINT64_C(0x500000005), UINT64_C(0x500000005), 5),
    WAIT_ROW("wait64_geq_greater", 64, GEQ, UINT64_C(0x500000005), UINT64_C(0x600000000), 5),
    WAIT_ROW("wait64_geq_less", 64, GEQ, UINT64_C(0x500000005), UINT64_C(0x400000009), UINT64_C(0x500000005)),
    WAIT_ROW("wait64_geq_wrapped_past", 64, GEQ, UINT64_MAX - 2, 5, UINT64_MAX),
    WAIT_ROW("wait64_geq_wrapped_before", 64, GEQ, 5, UINT64_MAX - 2, 5),
    WAIT_ROW("wait64_geq_half_way", 64, GEQ, 0, INT64_MAX, 0),
    WAIT_ROW("wait64_eq_equal", 64, EQ, UINT64_C(0x100000000), UINT64_C(0x100000000), 0),
    WAIT_ROW("wait64_eq_low_word_only", 64, EQ, UINT64_C(0x100000005), 5, UINT64_C(0x100000005)),
    WAIT_ROW("wait64_and_high_bit", 64, AND, UINT64_C(1) << 63, UINT64_MAX, 0),
    WAIT_ROW("wait64_and_none", 64, AND, UINT64_C(1) << 40, 0xffffffff, UINT64_C(1) << 40),
    WAIT_ROW("wait64_nor_some", 64, NOR, 0xffffffff, 0, 0),
    WAIT_ROW("wait64_nor_all", 64, NOR, 0xffffffff, UINT64_MAX << 32, 0),
    WAIT_ROW("wait64_flag_4", 64, 4, 0, 0, 0),
    WAIT_ROW("wait64_flush", 64, GEQ | FLUSH, 5, 5, 5),
};

__attribute__((constructor)) static void add_wait_rows(void)
{
    gold_register_all(wait_rows, sizeof wait_rows / sizeof *wait_rows);
}

/* ---- device ---- */

CASE(streammem, attributes)
{
    static const int numbers[] = {92, 93, 94, 98, 122, 123};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int value = -1;
        say(cuDeviceGetAttribute(&value, (CUdevice_attribute)numbers[i], gold_device()));
        say_int(value);
    }
}

/* ---- writes, and the kinds of memory ---- */

CASE(streammem, write32_device)
{
    CUdeviceptr words = gold_alloc_words(3, 9);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue32(stream, words + 4, 0x12345678, CU_STREAM_WRITE_VALUE_DEFAULT));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
    say_hex(gold_word(words + 4));
    say_int(gold_word(words + 8));
}

CASE(streammem, write64_device)
{
    CUdeviceptr words = gold_alloc_words(4, 9);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue64(stream, words, UINT64_C(0x1122334455667788), CU_STREAM_WRITE_VALUE_DEFAULT));
    say(cuStreamSynchronize(stream));
    say_hex(gold_word(words));
    say_hex(gold_word(words + 4));
    say_int(gold_word(words + 8));
}

CASE(streammem, write32_pinned)
{
    unsigned *words = pinned_words(2);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue32(stream, address_of(words), 77, 0));
    say(cuStreamSynchronize(stream));
    say_int(load32(words));
    say_int(load32(words + 1));
}

CASE(streammem, write64_pinned)
{
    unsigned *words = pinned_words(4);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue64(stream, address_of(words), UINT64_MAX, 0));
    say(cuStreamSynchronize(stream));
    say_hex(load32(words));
    say_hex(load32(words + 1));
    say_int(load32(words + 2));
}

CASE(streammem, pinned_by_its_host_address)
{
    unsigned *words = pinned_words(2);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue32(stream, (CUdeviceptr)(uintptr_t)words, 5, 0));
    say(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)words, 5, EQ));
    say(gold_wait_stream(stream, 3000));
    say_int(load32(words));
}

CASE(streammem, registered)
{
    static _Alignas(4096) unsigned words[2048];
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemHostRegister(words, sizeof words, CU_MEMHOSTREGISTER_DEVICEMAP));
    say(cuStreamWriteValue32(stream, address_of(words), 6, 0));
    say(cuStreamWaitValue32(stream, address_of(words), 6, EQ));
    say(gold_wait_stream(stream, 3000));
    say_int(words[0]);
    NEED(cuMemHostUnregister(words));
}

CASE(streammem, managed)
{
    CUdeviceptr words;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemAllocManaged(&words, 64, CU_MEM_ATTACH_GLOBAL));
    memset((void *)(uintptr_t)words, 0, 64);
    say(cuStreamWriteValue32(stream, words, 8, 0));
    say(cuStreamWaitValue32(stream, words, 8, GEQ));
    say(gold_wait_stream(stream, 3000));
    NEED(cuCtxSynchronize());
    say_int(*(unsigned *)(uintptr_t)words);
}

CASE(streammem, module_global)
{
    CUdeviceptr counter;
    size_t size;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuModuleGetGlobal(&counter, &size, gold_module(), "counter"));
    unsigned before = gold_word(counter);
    say(cuStreamWriteValue32(stream, counter, 1234, 0));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(counter));
    NEED(cuMemcpyHtoD(counter, &before, 4));
}

CASE(streammem, async_allocation)
{
    CUdeviceptr words;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemAllocAsync(&words, 64, stream));
    NEED(cuStreamSynchronize(stream));
    say(cuStreamWriteValue32(stream, words, 3, 0));
    say(cuStreamWaitValue32(stream, words, 3, EQ));
    say(gold_wait_stream(stream, 3000));
    NEED(cuMemFreeAsync(words, stream));
}

CASE(streammem, mapped_memory)
{
    CUmemAllocationProp properties;
    CUmemGenericAllocationHandle handle;
    CUmemAccessDesc access;
    size_t size = 0;
    CUdeviceptr words;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = gold_device();
    memset(&access, 0, sizeof access);
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    NEED(cuMemGetAllocationGranularity(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    NEED(cuMemAddressReserve(&words, size, 0, 0, 0));
    NEED(cuMemCreate(&handle, size, &properties, 0));
    NEED(cuMemMap(words, size, 0, handle, 0));
    NEED(cuMemSetAccess(words, size, &access, 1));
    say(cuStreamWriteValue32(stream, words, 6, 0));
    say(cuStreamWaitValue32(stream, words, 6, EQ));
    say(gold_wait_stream(stream, 3000));
}

CASE(streammem, pool_memory_made_here)
{
    CUmemPoolProps properties;
    CUmemoryPool pool;
    CUdeviceptr words;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = gold_device();
    NEED(cuMemPoolCreate(&pool, &properties));
    NEED(cuMemAllocFromPoolAsync(&words, 64, pool, stream));
    NEED(cuStreamSynchronize(stream));
    say(cuStreamWriteValue32(stream, words, 6, 0));
    say(cuStreamWaitValue32(stream, words, 0, GEQ));
    NEED(cuMemFreeAsync(words, stream));
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemPoolDestroy(pool));
}

CASE(streammem, pageable_memory, .alone = true,
     .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE|CUDA_SUCCESS CUDA_SUCCESS",
     .why = "depends on whether the device reaches pageable memory")
{
    static unsigned words[4];
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue32(stream, (CUdeviceptr)(uintptr_t)words, 6, 0));
    say(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)words, 0, GEQ));
}

/* ---- arguments ---- */

CASE(streammem, write_flags)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue32(stream, words, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    say(cuStreamWriteValue32(stream, words, 2, 2));
    say(cuStreamWriteValue32(stream, words, 3, 0x100));
    say(cuStreamWriteValue32(stream, words, 4, 1u << 30));
    say(cuStreamWriteValue64(stream, words, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    say(cuStreamWriteValue64(stream, words, 2, 2));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
}

CASE(streammem, unaligned32)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned step = 1; step < 4; step++) {
        say(cuStreamWriteValue32(stream, words + step, 1, 0));
        say(cuStreamWaitValue32(stream, words + step, 0, GEQ));
    }
    say(gold_wait_stream(stream, 3000));
}

CASE(streammem, unaligned64, .alone = true)
{
    CUdeviceptr words = gold_alloc_words(8, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned step = 1; step < 8; step++) {
        say(cuStreamWriteValue64(stream, words + step, 1, 0));
        say(cuStreamWaitValue64(stream, words + step, 0, GEQ));
    }
    say(gold_wait_stream(stream, 3000));
}

CASE(streammem, null_address, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue32(stream, 0, 1, 0));
    say(cuStreamWriteValue64(stream, 0, 1, 0));
    say(cuStreamWaitValue32(stream, 0, 1, 0));
    say(cuStreamWaitValue64(stream, 0, 1, 0));
    say(gold_wait_stream(stream, 3000));
}

CASE(streammem, wild_write32, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWriteValue32(stream, UINT64_C(0x7000deadbee0), 1, 0));
}

CASE(streammem, wild_wait32, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitValue32(stream, UINT64_C(0x7000deadbee0), 0, 0));
}

CASE(streammem, freed_address, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = gold_alloc_words(64 << 20, 0);
    NEED(cuMemFree(words));
    say(cuStreamWriteValue32(stream, words, 1, 0));
}

CASE(streammem, past_the_end, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = gold_alloc_words(16, 0);
    say(cuStreamWriteValue32(stream, words + 60, 7, 0));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words + 60));
}

CASE(streammem, default_streams)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    say(cuStreamWriteValue32(NULL, words, 1, 0));
    say(cuStreamWaitValue32(NULL, words, 1, EQ));
    say(cuStreamWriteValue32(CU_STREAM_LEGACY, words, 2, 0));
    say(cuStreamWaitValue32(CU_STREAM_LEGACY, words, 2, EQ));
    say(cuStreamWriteValue32(CU_STREAM_PER_THREAD, words, 3, 0));
    say(cuStreamWaitValue32(CU_STREAM_PER_THREAD, words, 3, EQ));
    say(cuCtxSynchronize());
    say_int(gold_word(words));
}

CASE(streammem, without_context, .alone = true)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuCtxSetCurrent(NULL));
    say(cuStreamWriteValue32(NULL, words, 1, 0));
    say(cuStreamWriteValue32(stream, words, 1, 0));
    say(cuStreamWaitValue32(stream, words, 1, 0));
    say(cuStreamBatchMemOp(NULL, 0, NULL, 0));
}

CASE(streammem, stream_of_other_context, .alone = true)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    gold_context_new();
    say(cuStreamWriteValue32(stream, words, 1, 0));
    say(cuStreamWaitValue32(stream, words, 1, 0));
    say(gold_wait_stream(stream, 3000));
}

CASE(streammem, bad_stream_first, .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_CONTEXT_IS_DESTROYED",
     .why = "hardware's driver may crash with a foreign handle")
{
    say(cuStreamWriteValue32((CUstream)gold_foreign(), 1, 1, 99));
}

static CUresult inner[3];
static CUdeviceptr inner_words;

static void calls_inside(void *data)
{
    CUstream stream = data;
    inner[0] = cuStreamWriteValue32(stream, inner_words, 1, 0);
    inner[1] = cuStreamWaitValue32(stream, inner_words, 0, 0);
    inner[2] = cuStreamBatchMemOp(stream, 0, NULL, 0);
}

CASE(streammem, inside_host_function, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    inner_words = gold_alloc_words(2, 0);
    NEED(cuLaunchHostFunc(stream, calls_inside, stream));
    say(cuStreamSynchronize(stream));
    for (int i = 0; i < 3; i++)
        say(inner[i]);
}

/* ---- order ---- */

CASE(streammem, write_comes_after_earlier_work)
{
    unsigned *words = pinned_words(1);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuStreamWriteValue32(stream, address_of(words), 1, 0));
    gold_sleep_ms(20);
    say_int(load32(words));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(load32(words));
}

CASE(streammem, unordered_write_comes_after_earlier_work, .allow = "* CUDA_SUCCESS 1",
     .why = "the flag permits the write to come early")
{
    unsigned *words = pinned_words(1);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuStreamWriteValue32(stream, address_of(words), 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    gold_sleep_ms(20);
    say_int(load32(words));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(load32(words));
}

CASE(streammem, wait_holds_later_work)
{
    unsigned *words = pinned_words(1);
    CUdeviceptr target = gold_alloc_words(1, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    say(cuStreamWaitValue32(stream, address_of(words), 1, GEQ));
    gold_store(stream, target, 5);
    NEED(cuEventRecord(event, stream));
    gold_sleep_ms(20);
    say(cuStreamQuery(stream));
    say(cuEventQuery(event));
    store32(words, 1);
    say(gold_wait_stream(stream, 3000));
    say(cuEventQuery(event));
    say_int(gold_word(target));
}

CASE(streammem, between_streams)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitValue32(second, words, 7, EQ));
    gold_store(second, words + 4, 8);
    say(cuStreamQuery(second));
    say(cuStreamWriteValue32(first, words, 7, 0));
    say(gold_wait_stream(second, 3000));
    say_int(gold_word(words + 4));
}

CASE(streammem, kernel_releases_wait)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitValue32(second, words, 7, EQ));
    gold_store(first, words, 7);
    say(gold_wait_stream(second, 3000));
}

CASE(streammem, copy_releases_wait)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    unsigned seven = 7;
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitValue32(second, words, 7, EQ));
    say(cuMemcpyHtoDAsync(words, &seven, 4, first));
    say(gold_wait_stream(second, 3000));
}

CASE(streammem, fill_releases_wait)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream first = gold_stream(CU_STREAM_NON_BLOCKING), second = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitValue64(second, words, UINT64_C(0x700000007), EQ));
    say(cuMemsetD32Async(words, 7, 2, first));
    say(gold_wait_stream(second, 3000));
}

CASE(streammem, ping_pong)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream streams[2] = {gold_stream(CU_STREAM_NON_BLOCKING), gold_stream(CU_STREAM_NON_BLOCKING)};
    for (unsigned round = 1; round <= 100; round++) {
        NEED(cuStreamWriteValue32(streams[0], words, round, 0));
        NEED(cuStreamWaitValue32(streams[0], words + 4, round, GEQ));
        NEED(cuStreamWaitValue32(streams[1], words, round, GEQ));
        NEED(cuStreamWriteValue32(streams[1], words + 4, round, 0));
    }
    say(gold_wait_stream(streams[0], 5000));
    say(gold_wait_stream(streams[1], 5000));
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
}

CASE(streammem, host_function_releases_wait)
{
    unsigned *words = pinned_words(1);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamWaitValue32(stream, address_of(words), 3, GEQ));
    store32(words, 3);
    say(cuStreamSynchronize(stream));
}

CASE(streammem, synchronous_copy_behind_wait_in_other_stream)
{
    unsigned *words = pinned_words(1);
    CUdeviceptr target = gold_alloc_words(1, 4);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamWaitValue32(stream, address_of(words), 3, GEQ));
    say_int(gold_word(target));
    say(cuStreamQuery(stream));
    store32(words, 3);
    say(gold_wait_stream(stream, 3000));
}

CASE(streammem, destroyed_while_waiting)
{
    unsigned *words = pinned_words(1);
    CUdeviceptr target = gold_alloc_words(1, 4);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamWaitValue32(stream, address_of(words), 3, GEQ));
    NEED(cuStreamWriteValue32(stream, target, 9, 0));
    say(cuStreamDestroy(stream));
    store32(words, 3);
    say(cuCtxSynchronize());
    say_int(gold_word(target));
}

CASE(streammem, many_waits_on_one_word)
{
    enum { STREAMS = 16 };
    unsigned *words = pinned_words(1);
    CUstream streams[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = gold_stream(CU_STREAM_NON_BLOCKING);
        NEED(cuStreamWaitValue32(streams[i], address_of(words), 1, GEQ));
    }
    int pending = 0;
    for (int i = 0; i < STREAMS; i++)
        pending += cuStreamQuery(streams[i]) == CUDA_ERROR_NOT_READY;
    say_int(pending);
    store32(words, 1);
    say(cuCtxSynchronize());
}

/* ---- batches ---- */

static CUstreamBatchMemOpParams batch_write32(CUdeviceptr address, unsigned value)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = address;
    op.writeValue.value = value;
    return op;
}

static CUstreamBatchMemOpParams batch_write64(CUdeviceptr address, uint64_t value)
{
    CUstreamBatchMemOpParams op = batch_write32(address, 0);
    op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    op.writeValue.value64 = value;
    return op;
}

static CUstreamBatchMemOpParams batch_wait32(CUdeviceptr address, unsigned value, unsigned flags)
{
    CUstreamBatchMemOpParams op = batch_write32(address, value);
    op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    op.waitValue.flags = flags;
    return op;
}

static CUstreamBatchMemOpParams batch_barrier(unsigned flags)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    op.memoryBarrier.flags = flags;
    return op;
}

CASE(streammem, batch_counts)
{
    static const unsigned counts[] = {1, 2, 3, 16, 64, 255, 256, 257, 512, 1000};
    static CUstreamBatchMemOpParams ops[1000];
    CUdeviceptr words = gold_alloc_words(1000, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned i = 0; i < 1000; i++)
        ops[i] = batch_write32(words + 4 * i, i + 1);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        NEED(cuMemsetD32(words, 0, 1000));
        NEED(cuCtxSynchronize());
        CUresult status = cuStreamBatchMemOp(stream, counts[i], ops, 0);
        say(status);
        NEED(cuStreamSynchronize(stream));
        say_int(gold_word(words));
        say_int(gold_word(words + 4 * (counts[i] - 1)));
    }
}

CASE(streammem, batch_of_none, .alone = true)
{
    CUstreamBatchMemOpParams op = batch_barrier(0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuStreamBatchMemOp(stream, 0, &op, 0));
    say(cuStreamSynchronize(stream));
}

CASE(streammem, batch_of_none_from_nowhere, .alone = true, .allow = "CUDA_SUCCESS",
     .why = "in case hardware's driver crashes")
{
    say(cuStreamBatchMemOp(gold_stream(CU_STREAM_NON_BLOCKING), 0, NULL, 0));
}

CASE(streammem, batch_from_nowhere, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver crashes")
{
    say(cuStreamBatchMemOp(gold_stream(CU_STREAM_NON_BLOCKING), 1, NULL, 0));
}

CASE(streammem, batch_flags)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstreamBatchMemOpParams op = batch_write32(words, 4);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned flags = 1; flags <= 8; flags *= 2)
        say(cuStreamBatchMemOp(stream, 1, &op, flags));
    say(cuStreamBatchMemOp(stream, 1, &op, 1u << 30));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
}

CASE(streammem, batch_unknown_operations)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr words = gold_alloc_words(2, 0);
    static const int kinds[] = {0, 7, 8, 99, -1};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        CUstreamBatchMemOpParams op = batch_write32(words, 4);
        op.operation = (CUstreamBatchMemOpType)kinds[i];
        say(cuStreamBatchMemOp(stream, 1, &op, 0));
    }
}

CASE(streammem, batch_flush)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.flushRemoteWrites.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    say(cuStreamBatchMemOp(stream, 1, &op, 0));
    op.flushRemoteWrites.flags = 1;
    say(cuStreamBatchMemOp(stream, 1, &op, 0));
    say(cuStreamSynchronize(stream));
}

CASE(streammem, batch_barriers)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned flags = 0; flags < 4; flags++) {
        CUstreamBatchMemOpParams op = batch_barrier(flags);
        say(cuStreamBatchMemOp(stream, 1, &op, 0));
    }
    CUstreamBatchMemOpParams op = batch_barrier(0x100);
    say(cuStreamBatchMemOp(stream, 1, &op, 0));
    say(cuStreamSynchronize(stream));
}

CASE(streammem, batch_bad_in_the_middle)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams ops[3] = {batch_write32(words, 1), batch_write32(words + 4, 2),
                                       batch_write32(words + 8, 3)};
    ops[1].operation = (CUstreamBatchMemOpType)99;
    say(cuStreamBatchMemOp(stream, 3, ops, 0));
    say(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < 3; i++)
        say_int(gold_word(words + 4 * i));
}

CASE(streammem, batch_bad_address_in_the_middle)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams ops[3] = {batch_write32(words, 1), batch_write32(words + 5, 2),
                                       batch_write32(words + 8, 3)};
    say(cuStreamBatchMemOp(stream, 3, ops, 0));
    say(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < 3; i++)
        say_int(gold_word(words + 4 * i));
}

CASE(streammem, batch_bad_flags_in_the_middle)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams ops[3] = {batch_write32(words, 1), batch_write32(words + 4, 2),
                                       batch_write32(words + 8, 3)};
    ops[1].writeValue.flags = 0x40;
    say(cuStreamBatchMemOp(stream, 3, ops, 0));
    ops[1] = batch_wait32(words + 4, 0, 0x40);
    say(cuStreamBatchMemOp(stream, 3, ops, 0));
    say(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < 3; i++)
        say_int(gold_word(words + 4 * i));
}

CASE(streammem, batch_no_barrier_write)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams op = batch_write32(words, 1);
    op.writeValue.flags = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    say(cuStreamBatchMemOp(stream, 1, &op, 0));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
}

CASE(streammem, batch_write_then_wait)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams ops[4] = {batch_write32(words, 1), batch_wait32(words, 1, EQ), batch_barrier(0),
                                       batch_write64(words + 8, UINT64_C(0x300000002))};
    say(cuStreamBatchMemOp(stream, 4, ops, 0));
    say(gold_wait_stream(stream, 3000));
    say_int(gold_word(words));
    say_int(gold_word(words + 8));
    say_int(gold_word(words + 12));
}

CASE(streammem, batch_wait_holds_later_writes)
{
    unsigned *words = pinned_words(4);
    CUdeviceptr at = address_of(words);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams ops[3] = {batch_write32(at, 1), batch_wait32(at + 4, 1, GEQ), batch_write32(at + 8, 1)};
    say(cuStreamBatchMemOp(stream, 3, ops, 0));
    for (int i = 0; i < 2000 && !load32(words); i++)
        gold_sleep_ms(1);
    say_int(load32(words));
    say_int(load32(words + 2));
    say(cuStreamQuery(stream));
    store32(words + 1, 1);
    say(gold_wait_stream(stream, 3000));
    say_int(load32(words + 2));
}

CASE(streammem, batch_two_waits)
{
    unsigned *words = pinned_words(4);
    CUdeviceptr at = address_of(words);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams ops[2] = {batch_wait32(at, 1, GEQ), batch_wait32(at + 4, 1, GEQ)};
    say(cuStreamBatchMemOp(stream, 2, ops, 0));
    store32(words + 1, 1);
    gold_sleep_ms(10);
    say(cuStreamQuery(stream));
    store32(words, 1);
    say(gold_wait_stream(stream, 3000));
}

CASE(streammem, batch_array_may_change_after)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    CUstreamBatchMemOpParams op = batch_write32(words, 5);
    say(cuStreamBatchMemOp(stream, 1, &op, 0));
    memset(&op, 0xee, sizeof op);
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
}

CASE(streammem, batch_alias_is_ignored, .allow = "CUDA_SUCCESS CUDA_SUCCESS 5 *",
     .why = "the driver may use the member for itself")
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams op = batch_write32(words, 5);
    op.writeValue.alias = 0x123;
    say(cuStreamBatchMemOp(stream, 1, &op, 0));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
    say_hex(op.writeValue.alias);
}

CASE(streammem, batch_nor_and_flush)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUstreamBatchMemOpParams op = batch_wait32(words, 0, NOR);
    say(cuStreamBatchMemOp(stream, 1, &op, 0));
    op = batch_wait32(words, 0, EQ | FLUSH);
    say(cuStreamBatchMemOp(stream, 1, &op, 0));
    say(gold_wait_stream(stream, 3000));
}

/* ---- the first version of the interface ---- */

typedef CUresult(CUDAAPI *value32_fn)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
typedef CUresult(CUDAAPI *value64_fn)(CUstream, CUdeviceptr, cuuint64_t, unsigned);
typedef CUresult(CUDAAPI *batch_fn)(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);

static void *first_version(const char *name, int version)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult found;
    NEED(cuGetProcAddress(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    if (!function)
        gold_stop("no first version");
    return function;
}

CASE(streammem, first_version_write)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    value32_fn write32 = (value32_fn)first_version("cuStreamWriteValue32", 8000);
    value64_fn write64 = (value64_fn)first_version("cuStreamWriteValue64", 9000);
    say(write32(stream, words, 3, 0));
    say(write32(stream, words, 4, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    say(write32(stream, words, 5, 2));
    say(write64(stream, words + 8, 6, 0));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
    say_int(gold_word(words + 8));
}

CASE(streammem, first_version_wait)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    value32_fn wait32 = (value32_fn)first_version("cuStreamWaitValue32", 8000);
    value64_fn wait64 = (value64_fn)first_version("cuStreamWaitValue64", 9000);
    say(wait32(stream, words, 0, EQ));
    say(wait32(stream, words, 0, GEQ));
    say(wait32(stream, words, 0, NOR));
    say(wait32(stream, words, 0, 4));
    say(wait64(stream, words + 8, 0, GEQ));
    say(gold_wait_stream(stream, 3000));
}

CASE(streammem, first_version_batch)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    batch_fn batch = (batch_fn)first_version("cuStreamBatchMemOp", 8000);
    CUstreamBatchMemOpParams ops[2] = {batch_write32(words, 1), batch_wait32(words, 1, EQ)};
    say(batch(stream, 2, ops, 0));
    ops[0] = batch_barrier(0);
    say(batch(stream, 1, ops, 0));
    say(batch(stream, 1, NULL, 0));
    say(gold_wait_stream(stream, 3000));
}
