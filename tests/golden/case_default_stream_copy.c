/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a copy out of host memory reads it, if work in another stream that the
 * default-stream rules put in front of it has yet to write there.
 */
#include "gold.h"

#include <string.h>

enum { WORDS = 1 << 18 };
enum memory { PINNED, MANAGED, REGISTERED };
enum form { TYPED, UNTYPED, BOX };
/* What the copy's own stream was given before. */
enum before { NOTHING, RECORD, WAIT, STORE, PENDING };

static const size_t sizes[] = {4, 64, 1024, 4096, 16384, 32768, 65536, 65540, 131072, 1 << 20};

static unsigned *host_memory(enum memory memory)
{
    static unsigned ours[WORDS + 1024];
    void *words = ours;
    CUdeviceptr managed;
    if (memory == MANAGED) {
        NEED(cuMemAllocManaged(&managed, WORDS * 4, CU_MEM_ATTACH_GLOBAL));
        words = (void *)(uintptr_t)managed;
    } else if (memory == REGISTERED) {
        words = (void *)(((uintptr_t)ours + 4095) & ~(uintptr_t)4095);
        NEED(cuMemHostRegister(words, WORDS * 4, CU_MEMHOSTREGISTER_DEVICEMAP));
    } else {
        NEED(cuMemHostAlloc(&words, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
    }
    memset(words, 0, WORDS * 4);
    return words;
}

static void copy(enum form form, CUdeviceptr to, unsigned *from, size_t bytes, CUstream stream)
{
    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = from,
                         .srcPitch = bytes / 2,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = to,
                         .dstPitch = bytes / 2,
                         .WidthInBytes = bytes / 2,
                         .Height = 2};
    switch (form) {
    case TYPED:
        NEED(cuMemcpyHtoDAsync(to, from, bytes, stream));
        break;
    case UNTYPED:
        NEED(cuMemcpyAsync(to, (CUdeviceptr)(uintptr_t)from, bytes, stream));
        break;
    case BOX:
        NEED(cuMemcpy2DAsync(&box, stream));
        break;
    }
}

/* For each size: was the copy in LATER behind the store in EARLIER ('o'), or did it take what was there before ('e')?
 */
static void when(CUstream earlier, CUstream later, enum memory memory, enum form form, enum before before)
{
    unsigned *from = host_memory(memory);
    CUdeviceptr to = gold_alloc(WORDS * 4), word = gold_alloc_words(1, 0), source = (CUdeviceptr)(uintptr_t)from;
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    char order[sizeof sizes / sizeof sizes[0] + 1] = "";
    if (memory != MANAGED)
        NEED(cuMemHostGetDevicePointer(&source, from, 0));
    gold_function("store");
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct gold_gate own = {0};
        from[0] = 1;
        NEED(cuMemsetD32(to, 9, 1));
        NEED(cuCtxSynchronize());
        if (before == PENDING)
            own = gold_gate_close(later);
        struct gold_gate gate = gold_gate_close(earlier);
        gold_store(earlier, source, 2);
        switch (before) {
        case RECORD:
            NEED(cuEventRecord(event, later));
            break;
        case WAIT:
            NEED(cuEventRecord(event, earlier));
            NEED(cuStreamWaitEvent(later, event, 0));
            break;
        case STORE:
            gold_store(later, word, 3);
            break;
        default:
            break;
        }
        copy(form, to, from, sizes[i], later);
        gold_sleep_ms(5);
        if (before == PENDING)
            gold_gate_open(own);
        gold_gate_open(gate);
        NEED(cuCtxSynchronize());
        unsigned got = gold_word(to);
        order[i] = got == 2 ? 'o' : got == 1 ? 'e' : '?';
    }
    say_text(order);
}

CASE(default_stream, small_copy_reads_early_in_legacy)
{
    when(gold_stream(0), NULL, PINNED, TYPED, NOTHING);
}

CASE(default_stream, small_copy_reads_early_in_blocking)
{
    when(NULL, gold_stream(0), PINNED, TYPED, NOTHING);
}

CASE(default_stream, small_copy_reads_early_in_per_thread)
{
    when(NULL, CU_STREAM_PER_THREAD, PINNED, TYPED, NOTHING);
}

CASE(default_stream, small_copy_reads_early_untyped)
{
    when(gold_stream(0), NULL, PINNED, UNTYPED, NOTHING);
}

CASE(default_stream, small_copy_reads_early_box)
{
    when(gold_stream(0), NULL, PINNED, BOX, NOTHING);
}

CASE(default_stream, small_copy_reads_early_registered)
{
    when(gold_stream(0), NULL, REGISTERED, TYPED, NOTHING);
}

CASE(default_stream, small_copy_reads_early_behind_record)
{
    when(gold_stream(0), NULL, PINNED, TYPED, RECORD);
}

CASE(default_stream, small_copy_behind_wait)
{
    when(gold_stream(0), NULL, PINNED, TYPED, WAIT);
}

CASE(default_stream, small_copy_behind_wait_in_blocking)
{
    when(NULL, gold_stream(0), PINNED, TYPED, WAIT);
}

CASE(default_stream, small_copy_behind_wait_in_non_blocking)
{
    when(gold_stream(CU_STREAM_NON_BLOCKING), gold_stream(CU_STREAM_NON_BLOCKING), PINNED, TYPED, WAIT);
}

CASE(default_stream, small_copy_behind_own_store)
{
    when(gold_stream(0), NULL, PINNED, TYPED, STORE);
}

CASE(default_stream, small_copy_behind_own_pending_work)
{
    when(gold_stream(0), NULL, PINNED, TYPED, PENDING);
}

CASE(default_stream, small_copy_in_the_same_stream)
{
    CUstream stream = gold_stream(0);
    when(stream, stream, PINNED, TYPED, NOTHING);
}

CASE(default_stream, small_copy_of_managed_memory)
{
    when(gold_stream(0), NULL, MANAGED, UNTYPED, NOTHING);
}
