/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies: every linear form in its synchronous and asynchronous way, 1D, 2D,
 * 3D and peer, and what out-of-range or overlapping operands give.
 */
#include "gold.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 4096 };

static void pattern(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

static bool has_pattern(const unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != (unsigned char)(i * 7 + i / 251 + seed))
            return false;
    return true;
}

static void say_device(CUdeviceptr address, size_t size)
{
    unsigned char *bytes = calloc(1, size);
    if (!bytes)
        gold_stop("calloc");
    NEED(cuMemcpyDtoH(bytes, address, size));
    say_hash(bytes, size);
    free(bytes);
}

/* ---- linear ---- */

CASE(copy, there_and_back)
{
    unsigned char out[SIZE], in[SIZE];
    CUdeviceptr address = gold_alloc(SIZE);
    pattern(out, SIZE, 3);
    memset(in, 0, SIZE);
    say(cuMemcpyHtoD(address, out, SIZE));
    say(cuMemcpyDtoH(in, address, SIZE));
    say_if("same", has_pattern(in, SIZE, 3));
}

CASE(copy, device_to_device)
{
    unsigned char out[SIZE], in[SIZE];
    CUdeviceptr one = gold_alloc(SIZE), two = gold_alloc(SIZE);
    pattern(out, SIZE, 5);
    NEED(cuMemcpyHtoD(one, out, SIZE));
    say(cuMemcpyDtoD(two, one, SIZE));
    NEED(cuMemcpyDtoH(in, two, SIZE));
    say_if("same", has_pattern(in, SIZE, 5));
}

CASE(copy, odd_sizes_and_offsets)
{
    unsigned char out[SIZE];
    CUdeviceptr one = gold_alloc(SIZE), two = gold_alloc(SIZE);
    pattern(out, SIZE, 1);
    NEED(cuMemsetD8(one, 0, SIZE));
    NEED(cuMemsetD8(two, 0, SIZE));
    say(cuMemcpyHtoD(one + 13, out + 1, 1021));
    say(cuMemcpyDtoD(two + 7, one + 10, 333));
    say_device(one, SIZE);
    say_device(two, SIZE);
}

CASE(copy, unified)
{
    unsigned char out[SIZE], in[SIZE];
    CUdeviceptr address = gold_alloc(SIZE);
    pattern(out, SIZE, 9);
    memset(in, 0, SIZE);
    say(cuMemcpy(address, (CUdeviceptr)(uintptr_t)out, SIZE));
    say(cuMemcpy((CUdeviceptr)(uintptr_t)in, address, SIZE));
    say_if("same", has_pattern(in, SIZE, 9));
}

CASE(copy, unified_host_to_host)
{
    unsigned char out[SIZE], in[SIZE];
    pattern(out, SIZE, 2);
    memset(in, 0, SIZE);
    say(cuMemcpy((CUdeviceptr)(uintptr_t)in, (CUdeviceptr)(uintptr_t)out, SIZE));
    say_if("same", has_pattern(in, SIZE, 2));
}

CASE(copy, unified_async)
{
    unsigned char out[SIZE], in[SIZE];
    CUdeviceptr address = gold_alloc(SIZE);
    CUstream stream = gold_stream(0);
    pattern(out, SIZE, 19);
    memset(in, 0, SIZE);
    say(cuMemcpyAsync(address, (CUdeviceptr)(uintptr_t)out, SIZE, stream));
    say(cuMemcpyAsync((CUdeviceptr)(uintptr_t)in, address, SIZE, stream));
    say(cuStreamSynchronize(stream));
    say_if("same", has_pattern(in, SIZE, 19));
}

CASE(copy, peer_same_context)
{
    unsigned char out[SIZE], in[SIZE];
    CUdeviceptr one = gold_alloc(SIZE), two = gold_alloc(SIZE);
    CUcontext context = gold_context();
    pattern(out, SIZE, 8);
    NEED(cuMemcpyHtoD(one, out, SIZE));
    say(cuMemcpyPeer(two, context, one, context, SIZE));
    NEED(cuMemcpyDtoH(in, two, SIZE));
    say_if("same", has_pattern(in, SIZE, 8));
    say(cuMemcpyPeerAsync(one, context, two, context, SIZE, NULL));
    say(cuStreamSynchronize(NULL));
}

CASE(copy, peer_two_contexts, .alone = true)
{
    CUdeviceptr one = gold_alloc_words(4, 11);
    CUcontext other = gold_context_new();
    CUdeviceptr two = gold_alloc_words(4, 22);
    say(cuMemcpyPeer(two, other, one, gold_context(), 16));
    say_int(gold_word(two + 12));
}

CASE(copy, peer_null_context)
{
    CUdeviceptr one = gold_alloc_words(4, 1), two = gold_alloc_words(4, 2);
    say(cuMemcpyPeer(two, NULL, one, gold_context(), 16));
    say(cuMemcpyPeer(two, gold_context(), one, NULL, 16));
    say(cuMemcpyPeerAsync(two, NULL, one, NULL, 16, NULL));
}

CASE(copy, zero_bytes)
{
    CUdeviceptr address = gold_alloc(16);
    char local[16];
    say(cuMemcpyHtoD(address, local, 0));
    say(cuMemcpyDtoH(local, address, 0));
    say(cuMemcpyDtoD(address, address, 0));
    say(cuMemcpy(address, address, 0));
}

CASE(copy, zero_bytes_null)
{
    say(cuMemcpyHtoD(0, NULL, 0));
    say(cuMemcpyDtoH(NULL, 0, 0));
    say(cuMemcpyDtoD(0, 0, 0));
    say(cuMemcpyHtoDAsync(0, NULL, 0, NULL));
}

CASE(copy, null_operands)
{
    CUdeviceptr address = gold_alloc(16);
    char local[16] = {0};
    say(cuMemcpyHtoD(0, local, 16));
    say(cuMemcpyHtoD(address, NULL, 16));
    say(cuMemcpyDtoH(NULL, address, 16));
    say(cuMemcpyDtoH(local, 0, 16));
    say(cuMemcpyDtoD(address, 0, 16));
    say(cuMemcpyDtoD(0, address, 16));
}

CASE(copy, null_operands_async)
{
    CUdeviceptr address = gold_alloc(16);
    char local[16] = {0};
    say(cuMemcpyHtoDAsync(0, local, 16, NULL));
    say(cuMemcpyHtoDAsync(address, NULL, 16, NULL));
    say(cuMemcpyDtoHAsync(NULL, address, 16, NULL));
    say(cuMemcpyDtoHAsync(local, 0, 16, NULL));
    say(cuMemcpyDtoDAsync(address, 0, 16, NULL));
}

CASE(copy, host_operand_as_device)
{
    char local[64] = {0}, other[64] = {0};
    say(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)other, local, 64));
    say(cuMemcpyDtoH(local, (CUdeviceptr)(uintptr_t)other, 64));
    say(cuMemcpyDtoD((CUdeviceptr)(uintptr_t)other, (CUdeviceptr)(uintptr_t)local, 64));
}

CASE(copy, device_operand_as_host)
{
    CUdeviceptr one = gold_alloc_words(16, 4), two = gold_alloc_words(16, 5);
    say(cuMemcpyHtoD(two, (void *)(uintptr_t)one, 64));
    say_int(gold_word(two));
    NEED(cuMemsetD32(two, 6, 16));
    say(cuMemcpyDtoH((void *)(uintptr_t)one, two, 64));
    say_int(gold_word(one));
}

CASE(copy, pinned_operand_as_device)
{
    unsigned *pinned;
    unsigned local = 12;
    NEED(cuMemHostAlloc((void **)&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)pinned;
    say(cuMemcpyHtoD(address, &local, 4));
    say_int(pinned[0]);
    say(cuMemcpyDtoD(address + 4, address, 4));
    NEED(cuCtxSynchronize());
    say_int(pinned[1]);
    NEED(cuMemFreeHost(pinned));
}

CASE(copy, past_the_end)
{
    enum { BIG = 4 << 20 };
    CUdeviceptr address = gold_alloc(BIG);
    unsigned char *host = calloc(1, BIG + 64);
    if (!host)
        gold_stop("calloc");
    say(cuMemcpyHtoD(address, host, BIG + 1));
    say(cuMemcpyDtoH(host, address, BIG + 1));
    say(cuMemcpyHtoD(address + BIG - 4, host, 8));
    say(cuMemcpyDtoH(host, address + BIG, 1));
    say(cuMemcpyDtoD(address + 8, address, BIG));
    free(host);
}

CASE(copy, past_the_end_small)
{
    CUdeviceptr address = gold_alloc(100);
    unsigned char host[128] = {0};
    say(cuMemcpyHtoD(address, host, 101));
    say(cuMemcpyDtoH(host, address, 101));
    say(cuMemcpyHtoD(address + 100, host, 4));
}

CASE(copy, past_the_end_async)
{
    enum { BIG = 4 << 20 };
    CUdeviceptr address = gold_alloc(BIG);
    unsigned char *host = calloc(1, BIG + 64);
    if (!host)
        gold_stop("calloc");
    say(cuMemcpyHtoDAsync(address, host, BIG + 1, NULL));
    say(cuMemcpyDtoHAsync(host, address, BIG + 1, NULL));
    say(cuMemcpyDtoDAsync(address + 8, address, BIG, NULL));
    say(cuStreamSynchronize(NULL));
    free(host);
}

CASE(copy, huge_size)
{
    CUdeviceptr address = gold_alloc(64);
    char local[64];
    say(cuMemcpyHtoD(address, local, SIZE_MAX));
    say(cuMemcpyDtoH(local, address, (size_t)1 << 60));
    say(cuMemcpyDtoD(address, address, SIZE_MAX - 8));
}

CASE(copy, freed_operand)
{
    CUdeviceptr address = gold_alloc(4 << 20);
    char local[64] = {0};
    NEED(cuMemFree(address));
    say(cuMemcpyHtoD(address, local, 64));
    say(cuMemcpyDtoH(local, address, 64));
}

CASE(copy, overlapping, .alone = true)
{
    CUdeviceptr address = gold_alloc(SIZE);
    unsigned char out[SIZE];
    pattern(out, SIZE, 0);
    NEED(cuMemcpyHtoD(address, out, SIZE));
    say(cuMemcpyDtoD(address + 16, address, SIZE - 16));
    say(cuMemcpyDtoD(address, address + 16, SIZE - 16));
    say(cuMemcpyDtoD(address, address, SIZE));
}

CASE(copy, without_context, .alone = true)
{
    CUdeviceptr address = gold_alloc(64);
    char local[64] = {0};
    NEED(cuCtxSetCurrent(NULL));
    say(cuMemcpyHtoD(address, local, 64));
    say(cuMemcpyDtoH(local, address, 64));
    say(cuMemcpyHtoDAsync(address, local, 64, NULL));
}

CASE(copy, memory_of_other_context, .alone = true)
{
    CUdeviceptr address = gold_alloc_words(16, 3);
    gold_context_new();
    say_int(gold_word(address));
    unsigned local = 4;
    say(cuMemcpyHtoD(address, &local, 4));
    say(cuMemcpyDtoD(address + 4, address, 4));
    say_int(gold_word(address + 4));
}

CASE(copy, stream_of_other_context, .alone = true)
{
    CUstream stream = gold_stream(0);
    gold_context_new();
    CUdeviceptr address = gold_alloc_words(2, 3);
    say(cuMemcpyDtoDAsync(address, address + 4, 4, stream));
    say(cuStreamSynchronize(stream));
}

/* ---- pageable and pinned host memory ---- */

CASE(copy, pageable_source_may_change_at_once)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr address = gold_alloc(SIZE);
    unsigned char out[SIZE], in[SIZE];
    pattern(out, SIZE, 6);
    say(cuMemcpyHtoDAsync(address, out, SIZE, stream));
    memset(out, 0, SIZE);
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemcpyDtoH(in, address, SIZE));
    say_if("first_contents", has_pattern(in, SIZE, 6));
}

CASE(copy, pageable_large_source_may_change_at_once)
{
    enum { BIG = 3 << 20 };
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr address = gold_alloc(BIG);
    unsigned char *out = malloc(BIG), *in = malloc(BIG);
    if (!out || !in)
        gold_stop("malloc");
    pattern(out, BIG, 6);
    say(cuMemcpyHtoDAsync(address, out, BIG, stream));
    memset(out, 0, BIG);
    NEED(cuStreamSynchronize(stream));
    NEED(cuMemcpyDtoH(in, address, BIG));
    say_if("first_contents", has_pattern(in, BIG, 6));
    free(out);
    free(in);
}

CASE(copy, pageable_destination_is_written_on_return)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr address = gold_alloc_words(1024, 0);
    unsigned in[1024] = {0};
    gold_add(stream, address + 4092, 8);
    say(cuMemcpyDtoHAsync(in, address, sizeof in, stream));
    say_int(in[1023]);
    say(cuStreamQuery(stream));
}

CASE(copy, pinned_destination_is_asynchronous)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr address = gold_alloc_words(16, 5);
    volatile unsigned *pinned;
    NEED(cuMemHostAlloc((void **)(uintptr_t)&pinned, 64, 0));
    *pinned = 1;
    struct gold_gate gate = gold_gate_close(stream);
    say(cuMemcpyDtoHAsync((void *)(uintptr_t)pinned, address, 64, stream));
    say_int(*pinned);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(*pinned);
}

CASE(copy, pinned_source_is_read_late)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr address = gold_alloc_words(16, 5);
    volatile unsigned *pinned;
    NEED(cuMemHostAlloc((void **)(uintptr_t)&pinned, 64, 0));
    *pinned = 1;
    struct gold_gate gate = gold_gate_close(stream);
    say(cuMemcpyHtoDAsync(address, (void *)(uintptr_t)pinned, 64, stream));
    *pinned = 2;
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(address));
}

CASE(copy, device_to_device_is_asynchronous)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr one = gold_alloc_words(16, 5), two = gold_alloc_words(16, 6);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuMemcpyDtoDAsync(one, two, 64, stream));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(one));
}

CASE(copy, synchronous_from_device_waits_for_legacy_work)
{
    CUdeviceptr word = gold_alloc_words(1, 1);
    gold_add(NULL, word, 41);
    unsigned value = 0;
    say(cuMemcpyDtoH(&value, word, 4));
    say_int(value);
}

/* ---- two dimensions ---- */

static CUDA_MEMCPY2D rows_to_device(CUdeviceptr to, size_t to_pitch, const void *from, size_t pitch, size_t width,
                                    size_t height)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = from,
                           .srcPitch = pitch,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = to_pitch,
                           .WidthInBytes = width,
                           .Height = height};
}

CASE(copy, rows_to_device_and_back)
{
    unsigned char out[SIZE], in[SIZE];
    CUdeviceptr address;
    size_t pitch;
    NEED(cuMemAllocPitch(&address, &pitch, 100, 20, 4));
    NEED(cuMemsetD8(address, 0, pitch * 20));
    pattern(out, SIZE, 4);
    memset(in, 0, SIZE);
    CUDA_MEMCPY2D go = rows_to_device(address, pitch, out, 128, 100, 20);
    say(cuMemcpy2D(&go));
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = address,
                          .srcPitch = pitch,
                          .srcXInBytes = 3,
                          .srcY = 2,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = in,
                          .dstPitch = 90,
                          .dstXInBytes = 1,
                          .dstY = 1,
                          .WidthInBytes = 80,
                          .Height = 10};
    say(cuMemcpy2D(&back));
    say_hash(in, SIZE);
}

CASE(copy, rows_device_to_device)
{
    unsigned char out[SIZE];
    CUdeviceptr one = gold_alloc(SIZE), two = gold_alloc(SIZE);
    pattern(out, SIZE, 7);
    NEED(cuMemcpyHtoD(one, out, SIZE));
    NEED(cuMemsetD8(two, 0, SIZE));
    CUDA_MEMCPY2D go = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = one,
                        .srcPitch = 64,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = two,
                        .dstPitch = 128,
                        .WidthInBytes = 48,
                        .Height = 16};
    say(cuMemcpy2D(&go));
    say(cuMemcpy2DUnaligned(&go));
    say(cuMemcpy2DAsync(&go, NULL));
    say(cuStreamSynchronize(NULL));
    say_device(two, SIZE);
}

CASE(copy, rows_unified)
{
    unsigned char out[SIZE];
    CUdeviceptr two = gold_alloc(SIZE);
    pattern(out, SIZE, 7);
    NEED(cuMemsetD8(two, 0, SIZE));
    CUDA_MEMCPY2D go = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                        .srcDevice = (CUdeviceptr)(uintptr_t)out,
                        .srcPitch = 64,
                        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                        .dstDevice = two,
                        .dstPitch = 80,
                        .WidthInBytes = 33,
                        .Height = 5};
    say(cuMemcpy2D(&go));
    say_device(two, SIZE);
}

CASE(copy, rows_pitch_too_small)
{
    unsigned char out[SIZE] = {0};
    CUdeviceptr address = gold_alloc(SIZE);
    CUDA_MEMCPY2D go = rows_to_device(address, 64, out, 32, 48, 4);
    say(cuMemcpy2D(&go));
    go = rows_to_device(address, 32, out, 64, 48, 4);
    say(cuMemcpy2D(&go));
}

CASE(copy, rows_pitch_zero)
{
    unsigned char out[SIZE];
    CUdeviceptr address = gold_alloc(SIZE);
    pattern(out, SIZE, 7);
    NEED(cuMemsetD8(address, 0, SIZE));
    CUDA_MEMCPY2D go = rows_to_device(address, 0, out, 0, 48, 4);
    say(cuMemcpy2D(&go));
    say_device(address, SIZE);
}

CASE(copy, rows_offset_beyond_pitch)
{
    unsigned char out[SIZE] = {0};
    CUdeviceptr address = gold_alloc(SIZE);
    CUDA_MEMCPY2D go = rows_to_device(address, 64, out, 64, 48, 4);
    go.dstXInBytes = 32;
    say(cuMemcpy2D(&go));
    go.dstXInBytes = 0;
    go.srcXInBytes = 17;
    say(cuMemcpy2D(&go));
}

CASE(copy, rows_empty)
{
    unsigned char out[SIZE] = {0};
    CUdeviceptr address = gold_alloc(SIZE);
    CUDA_MEMCPY2D go = rows_to_device(address, 64, out, 64, 0, 4);
    say(cuMemcpy2D(&go));
    go = rows_to_device(address, 64, out, 64, 16, 0);
    say(cuMemcpy2D(&go));
}

CASE(copy, rows_bad_type)
{
    unsigned char out[SIZE] = {0};
    CUdeviceptr address = gold_alloc(SIZE);
    CUDA_MEMCPY2D go = rows_to_device(address, 64, out, 64, 16, 4);
    go.srcMemoryType = (CUmemorytype)0;
    say(cuMemcpy2D(&go));
    go.srcMemoryType = (CUmemorytype)9;
    say(cuMemcpy2D(&go));
}

CASE(copy, rows_null)
{
    unsigned char out[SIZE] = {0};
    CUdeviceptr address = gold_alloc(SIZE);
    say(cuMemcpy2D(NULL));
    CUDA_MEMCPY2D go = rows_to_device(address, 64, NULL, 64, 16, 4);
    say(cuMemcpy2D(&go));
    go = rows_to_device(0, 64, out, 64, 16, 4);
    say(cuMemcpy2D(&go));
}

CASE(copy, rows_past_the_end)
{
    enum { BIG = 4 << 20 };
    unsigned char *out = calloc(1, BIG + 65536);
    if (!out)
        gold_stop("calloc");
    CUdeviceptr address = gold_alloc(BIG);
    CUDA_MEMCPY2D go = rows_to_device(address, 4096, out, 4096, 4096, 1025);
    say(cuMemcpy2D(&go));
    go = rows_to_device(address, 4096, out, 4096, 100, 1024);
    go.dstXInBytes = 100;
    say(cuMemcpy2D(&go));
    go = rows_to_device(address, 4096, out, 64, 64, SIZE_MAX);
    say(cuMemcpy2D(&go));
    free(out);
}

CASE(copy, rows_huge_pitch)
{
    unsigned char out[SIZE] = {0};
    CUdeviceptr address = gold_alloc(SIZE);
    CUDA_MEMCPY2D go = rows_to_device(address, (size_t)1 << 40, out, 64, 16, 2);
    say(cuMemcpy2D(&go));
    go = rows_to_device(address, (size_t)1 << 40, out, 64, 16, 1);
    say(cuMemcpy2D(&go));
}

/* ---- three dimensions ---- */

static CUDA_MEMCPY3D box(CUdeviceptr to, const void *from)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = from,
                           .srcPitch = 16,
                           .srcHeight = 8,
                           .srcXInBytes = 1,
                           .srcY = 1,
                           .srcZ = 1,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = 32,
                           .dstHeight = 6,
                           .dstXInBytes = 2,
                           .dstZ = 1,
                           .WidthInBytes = 10,
                           .Height = 5,
                           .Depth = 3};
}

CASE(copy, box_to_device)
{
    unsigned char out[SIZE];
    CUdeviceptr address = gold_alloc(SIZE);
    pattern(out, SIZE, 12);
    NEED(cuMemsetD8(address, 0, SIZE));
    CUDA_MEMCPY3D go = box(address, out);
    say(cuMemcpy3D(&go));
    say_device(address, SIZE);
}

CASE(copy, box_async)
{
    unsigned char out[SIZE];
    CUdeviceptr address = gold_alloc(SIZE);
    pattern(out, SIZE, 12);
    NEED(cuMemsetD8(address, 0, SIZE));
    CUDA_MEMCPY3D go = box(address, out);
    go.Depth = 2;
    say(cuMemcpy3DAsync(&go, NULL));
    say(cuStreamSynchronize(NULL));
    say_device(address, SIZE);
}

CASE(copy, box_bad)
{
    unsigned char out[SIZE] = {0};
    CUdeviceptr address = gold_alloc(SIZE);
    say(cuMemcpy3D(NULL));
    CUDA_MEMCPY3D go = box(address, out);
    go.srcPitch = 4;
    say(cuMemcpy3D(&go));
    go = box(address, out);
    go.srcHeight = 2;
    say(cuMemcpy3D(&go));
    go = box(address, out);
    go.dstLOD = 1;
    say(cuMemcpy3D(&go));
    go = box(address, out);
    go.reserved0 = out;
    say(cuMemcpy3D(&go));
    go = box(address, out);
    go.Depth = 0;
    say(cuMemcpy3D(&go));
    go = box(address, NULL);
    say(cuMemcpy3D(&go));
}
