/* SPDX-License-Identifier: Apache-2.0 */
/* Long copies and fills.
 *
 * libc switches to stores that bypass the caches when a copy is about as long as the last-level cache that the
 * processor reports. In virtual machines that report is for the whole socket. But a store to a line that is not in a
 * cache reads the line first, and arrays that programs copy to a device are seldom there: stores that bypass the caches
 * are faster then, and faster still when four pages are walked side by side, which keeps more memory channels and
 * prefetchers busy (docs/benchmarks.md, "Single figures"). So runs from COPY_BYPASS on are done here. Shorter ones stay
 * in the second-level cache, where a kernel will look for them next. */
#include "engine/bulk.h"

#include <string.h>

#define COPY_BYPASS ((size_t)2 << 20)
#define FILL_BYPASS ((size_t)4 << 20)
#define PART_BYPASS ((size_t)64 << 10)
#define BLOCK ((size_t)4096)
#define LANES 4u            /* pages that are copied side by side */
#define AHEAD 512u          /* bytes to prefetch ahead in each */

#if defined(__SSE2__)
#include <emmintrin.h>

static inline void stream_line(char *to, const char *from)
{
    const __m128i *source = (const __m128i *)(const void *)from;
    __m128i *destination = (__m128i *)(void *)to;
    __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(destination, a);
    _mm_stream_si128(destination + 1, b);
    _mm_stream_si128(destination + 2, c);
    _mm_stream_si128(destination + 3, d);
}

/* `to` and `size` are multiples of 64; the ranges do not overlap. */
static void stream_copy(char *to, const char *from, size_t size)
{
    size_t done = 0;
    for (; size - done >= LANES * BLOCK; done += LANES * BLOCK) {
        for (size_t i = 0; i < BLOCK; i += 64) {
            for (size_t lane = 0; lane < LANES; lane++) {
                size_t at = done + lane * BLOCK + i;
                _mm_prefetch(from + at + AHEAD, _MM_HINT_T0);
                stream_line(to + at, from + at);
            }
        }
    }
    for (; done < size; done += 64)
        stream_line(to + done, from + done);
    _mm_sfence();
}

static void stream_fill(char *to, uint32_t pattern, size_t size)
{
    const __m128i value = _mm_set1_epi32((int)pattern);
    for (size_t i = 0; i < size; i += 64) {
        __m128i *destination = (__m128i *)(void *)(to + i);
        _mm_stream_si128(destination, value);
        _mm_stream_si128(destination + 1, value);
        _mm_stream_si128(destination + 2, value);
        _mm_stream_si128(destination + 3, value);
    }
    _mm_sfence();
}
#else
static void stream_copy(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
}

static void stream_fill(char *to, uint32_t pattern, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof pattern)
        memcpy(to + i, &pattern, sizeof pattern);
}
#endif

void mr_bulk_copy(void *to, const void *from, size_t size, bool part)
{
    uintptr_t low = (uintptr_t)to < (uintptr_t)from ? (uintptr_t)to : (uintptr_t)from;
    uintptr_t high = (uintptr_t)to < (uintptr_t)from ? (uintptr_t)from : (uintptr_t)to;
    if (size < (part ? PART_BYPASS : COPY_BYPASS) || high - low < size) {
        memmove(to, from, size);
        return;
    }
    size_t head = -(uintptr_t)to & 63, middle = (size - head) & ~(size_t)63;
    memcpy(to, from, head);
    stream_copy((char *)to + head, (const char *)from + head, middle);
    memcpy((char *)to + head + middle, (const char *)from + head + middle, size - head - middle);
}

/* The pattern as it stands `offset` bytes into a run. */
static uint32_t turn(uint32_t pattern, size_t offset)
{
    unsigned char bytes[8];
    uint32_t turned;
    memcpy(bytes, &pattern, 4);
    memcpy(bytes + 4, &pattern, 4);
    memcpy(&turned, bytes + offset % 4, 4);
    return turned;
}

/* A block is made by doubling, and then copied along: the copies read from the nearest cache. */
static void fill_short(char *to, uint32_t pattern, size_t size)
{
    size_t done = size < sizeof pattern ? size : sizeof pattern;
    memcpy(to, &pattern, done);
    while (done < size) {
        size_t step = done < BLOCK ? done : BLOCK;
        if (step > size - done)
            step = size - done;
        memcpy(to + done, to, step);
        done += step;
    }
}

void mr_bulk_fill(void *to, uint32_t pattern, size_t size, bool part)
{
    if (size < (part ? PART_BYPASS : FILL_BYPASS)) {
        if (pattern == (pattern & 0xff) * 0x01010101u)
            memset(to, (int)(pattern & 0xff), size);
        else
            fill_short(to, pattern, size);
        return;
    }
    size_t head = -(uintptr_t)to & 63, middle = (size - head) & ~(size_t)63;
    uint32_t turned = turn(pattern, head);
    fill_short(to, pattern, head);
    stream_fill((char *)to + head, turned, middle);
    fill_short((char *)to + head + middle, turned, size - head - middle);
}
