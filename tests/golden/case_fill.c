/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills: element sizes 1, 2 and 4, linear and by rows, synchronous and in a
 * stream; alignment, range and null operands.
 */
#include "gold.h"

#include <stdlib.h>

enum { SIZE = 2048 };

static void say_device(CUdeviceptr address)
{
    unsigned char bytes[SIZE] = {0};
    NEED(cuMemcpyDtoH(bytes, address, SIZE));
    say_hash(bytes, SIZE);
}

static CUdeviceptr zeroes(void)
{
    return gold_alloc_words(SIZE / 4, 0);
}

CASE(fill, bytes)
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD8(address + 3, 0xab, 77));
    say_device(address);
}

CASE(fill, shorts)
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD16(address + 6, 0xabcd, 77));
    say_device(address);
}

CASE(fill, words)
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD32(address + 12, 0xabcd1234, 77));
    say_device(address);
}

CASE(fill, async_each)
{
    CUdeviceptr address = zeroes();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuMemsetD32Async(address, 0x01020304, 200, stream));
    say(cuMemsetD16Async(address + 2, 0x0506, 100, stream));
    say(cuMemsetD8Async(address + 1, 7, 31, stream));
    say(cuStreamSynchronize(stream));
    say_device(address);
}

CASE(fill, rows_each)
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD2D8(address, 64, 0x11, 17, 5));
    say(cuMemsetD2D16(address + 512, 128, 0x2233, 9, 4));
    say(cuMemsetD2D32(address + 1024, 256, 0x44556677, 20, 3));
    say_device(address);
}

CASE(fill, rows_async_each)
{
    CUdeviceptr address = zeroes();
    CUstream stream = gold_stream(0);
    say(cuMemsetD2D8Async(address, 100, 0x11, 17, 5, stream));
    say(cuMemsetD2D16Async(address + 512, 100, 0x2233, 9, 4, stream));
    say(cuMemsetD2D32Async(address + 1024, 100, 0x44556677, 20, 3, stream));
    say(cuStreamSynchronize(stream));
    say_device(address);
}

CASE(fill, zero_count)
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD8(address, 1, 0));
    say(cuMemsetD16(address, 1, 0));
    say(cuMemsetD32(address, 1, 0));
    say(cuMemsetD32Async(address, 1, 0, NULL));
    say(cuMemsetD2D8(address, 64, 1, 0, 4));
    say(cuMemsetD2D8(address, 64, 1, 4, 0));
}

CASE(fill, zero_count_null)
{
    say(cuMemsetD8(0, 1, 0));
    say(cuMemsetD2D32(0, 0, 1, 0, 0));
}

CASE(fill, null)
{
    say(cuMemsetD8(0, 1, 16));
    say(cuMemsetD32(0, 1, 16));
    say(cuMemsetD8Async(0, 1, 16, NULL));
    say(cuMemsetD2D8(0, 64, 1, 16, 2));
}

CASE(fill, misaligned)
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD16(address + 1, 1, 4));
    say(cuMemsetD32(address + 2, 1, 4));
    say(cuMemsetD32(address + 1, 1, 4));
    say(cuMemsetD32Async(address + 1, 1, 4, NULL));
    say(cuMemsetD2D16(address + 1, 64, 1, 4, 2));
}

CASE(fill, misaligned_pitch)
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD2D16(address, 33, 1, 4, 2));
    say(cuMemsetD2D32(address, 34, 1, 4, 2));
}

CASE(fill, pitch_too_small)
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD2D8(address, 8, 1, 16, 2));
    say(cuMemsetD2D32(address, 32, 1, 16, 2));
    say(cuMemsetD2D8(address, 0, 1, 16, 2));
    say(cuMemsetD2D8(address, 0, 1, 16, 1));
}

CASE(fill, past_the_end)
{
    enum { BIG = 4 << 20 };
    CUdeviceptr address = gold_alloc(BIG);
    say(cuMemsetD8(address, 1, BIG + 1));
    say(cuMemsetD32(address + BIG - 8, 1, 3));
    say(cuMemsetD8Async(address, 1, BIG + 1, NULL));
    say(cuMemsetD2D8(address, 4096, 1, 4096, 1025));
}

CASE(fill, huge_count,
     .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver lets the size wrap around and fills nothing or little")
{
    CUdeviceptr address = zeroes();
    say(cuMemsetD8(address, 1, SIZE_MAX));
    say(cuMemsetD32(address, 1, SIZE_MAX));
    say(cuMemsetD32(address, 1, (SIZE_MAX >> 2) + 2));
    say(cuMemsetD2D32(address, SIZE_MAX & ~3ull, 1, 4, 4));
}

CASE(fill, host_memory)
{
    static char local[4096];
    say(cuMemsetD8((CUdeviceptr)(uintptr_t)local, 1, 64));
}

CASE(fill, pinned_memory)
{
    unsigned char *pinned;
    NEED(cuMemHostAlloc((void **)&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    pinned[10] = 9;
    say(cuMemsetD8((CUdeviceptr)(uintptr_t)pinned, 1, 10));
    say(cuCtxSynchronize());
    say_int(pinned[9]);
    say_int(pinned[10]);
    NEED(cuMemFreeHost(pinned));
}

CASE(fill, managed_memory)
{
    CUdeviceptr address;
    NEED(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
    say(cuMemsetD16(address, 0x1234, 5));
    say(cuCtxSynchronize());
    say_hex(((unsigned short *)(uintptr_t)address)[4]);
    NEED(cuMemFree(address));
}

CASE(fill, is_ordered_in_stream)
{
    CUdeviceptr address = zeroes();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuMemsetD32Async(address, 5, 4, stream));
    gold_add(stream, address, 1);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(address));
    say_int(gold_word(address + 4));
}

CASE(fill, freed)
{
    CUdeviceptr address = gold_alloc(4 << 20);
    NEED(cuMemFree(address));
    say(cuMemsetD8(address, 1, 16));
}

CASE(fill, without_context, .alone = true)
{
    CUdeviceptr address = zeroes();
    NEED(cuCtxSetCurrent(NULL));
    say(cuMemsetD8(address, 1, 16));
    say(cuMemsetD8Async(address, 1, 16, NULL));
}
