/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between global and shared memory that the PTX manual calls asynchronous: in bulk, with or without a reduction,
 * and by thread with zeros behind a shorter source. They are done when these functions return; a barrier that waits for
 * them then hears of their bytes. */
#include "kernel/executor.h"
#include "kernel/notes.h"

#include <string.h>

void mr_copy_part(struct mr_block *block, uint32_t mask, uint32_t bytes, const uint64_t *to, const uint64_t *from,
                  const uint32_t *reads)
{
    (void)block;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        unsigned char *place = (unsigned char *)(uintptr_t)to[lane];
        uint32_t count = reads[lane] < bytes ? reads[lane] : bytes;
        memcpy(place, (const void *)(uintptr_t)from[lane], count);
        memset(place + count, 0, bytes - count);
    }
}

/* --- Floats of 16 bits --------------------------------------------------------- */

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float from_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31)
        return float_of(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
        float size = (float)fraction * 0x1p-24f;
        return sign ? -size : size;
    }
    return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

/* To nearest even. Below the normal numbers, adding 0.5 (whose last place is the smallest half) rounds. */
static uint16_t to_half(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u)
        return 0x7fff;
    if (size >= 0x477ff000u)
        return (uint16_t)(sign | 0x7c00u);
    if (size < 0x38800000u)
        return (uint16_t)(sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
    return (uint16_t)(sign | (size + 0xfffu + (size >> 13 & 1) - 0x38000000u) >> 13);
}

static uint16_t to_bfloat(float value)
{
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

/* --- Reductions ------------------------------------------------------------------ */

struct reduction {
    uint32_t reduce, number;
};

/* Subnormal numbers count here, other than for red in global memory; so it is on hardware. */
static uint32_t add_floats(uint32_t a, uint32_t b)
{
    float sum = float_of(a) + float_of(b);
    return sum != sum ? 0x7fffffffu : bits_of(sum);
}

static uint64_t add_doubles(uint64_t a, uint64_t b)
{
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

/* The smaller or larger of two numbers; a NaN gives way, and -0 is below +0. */
static uint16_t choose_half(bool bfloat, bool larger, uint16_t a, uint16_t b)
{
    float x = bfloat ? float_of((uint32_t)a << 16) : from_half(a),
          y = bfloat ? float_of((uint32_t)b << 16) : from_half(b);
    if (x != x)
        return y != y ? 0x7fff : b;
    if (y != y)
        return a;
    if (x == y)
        return ((a & 0x8000u) != 0) == larger ? b : a;
    return (x < y) == larger ? b : a;
}

static uint16_t combine_halves(const struct reduction *reduction, uint16_t a, uint16_t b)
{
    bool bfloat = reduction->number == MR_NUMBER_BF16;
    if (reduction->reduce != MR_REDUCE_ADD)
        return choose_half(bfloat, reduction->reduce == MR_REDUCE_MAX, a, b);
    if (bfloat)
        return to_bfloat(float_of((uint32_t)a << 16) + float_of((uint32_t)b << 16));
    return to_half(from_half(a) + from_half(b));
}

static bool is_less(uint32_t number, uint64_t a, uint64_t b)
{
    switch (number) {
    case MR_NUMBER_S32:
        return (int32_t)a < (int32_t)b;
    case MR_NUMBER_S64:
        return (int64_t)a < (int64_t)b;
    default:
        return a < b;
    }
}

/* What a place holds afterwards, as bits; `b` comes from the source. */
static uint64_t combine(const struct reduction *reduction, uint64_t a, uint64_t b)
{
    if (reduction->number == MR_NUMBER_F16 || reduction->number == MR_NUMBER_BF16)
        return combine_halves(reduction, (uint16_t)a, (uint16_t)b);
    switch (reduction->reduce) {
    case MR_REDUCE_AND:
        return a & b;
    case MR_REDUCE_OR:
        return a | b;
    case MR_REDUCE_XOR:
        return a ^ b;
    case MR_REDUCE_MIN:
        return is_less(reduction->number, b, a) ? b : a;
    case MR_REDUCE_MAX:
        return is_less(reduction->number, a, b) ? b : a;
    case MR_REDUCE_INC:
        return a >= b ? 0 : a + 1;
    case MR_REDUCE_DEC:
        return a == 0 || a > b ? b : a - 1;
    default:
        if (reduction->number == MR_NUMBER_F32)
            return add_floats((uint32_t)a, (uint32_t)b);
        return reduction->number == MR_NUMBER_F64 ? add_doubles(a, b) : a + b;
    }
}

static unsigned element_bytes(uint32_t number)
{
    switch (number) {
    case MR_NUMBER_F16:
    case MR_NUMBER_BF16:
        return 2;
    case MR_NUMBER_U64:
    case MR_NUMBER_S64:
    case MR_NUMBER_F64:
        return 8;
    default:
        return 4;
    }
}

/* Other blocks may reduce into the same places: one atomic operation for each element. */
static void reduce(const struct reduction *reduction, void *to, const void *from, uint32_t bytes)
{
    unsigned width = element_bytes(reduction->number);
    for (uint32_t i = 0; i < bytes / width; i++) {
        if (width == 2) {
            uint16_t *place = (uint16_t *)to + i, old = __atomic_load_n(place, __ATOMIC_RELAXED);
            while (!__atomic_compare_exchange_n(place, &old,
                                                (uint16_t)combine(reduction, old, ((const uint16_t *)from)[i]), true,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            }
        } else if (width == 4) {
            uint32_t *place = (uint32_t *)to + i, old = __atomic_load_n(place, __ATOMIC_RELAXED);
            while (!__atomic_compare_exchange_n(place, &old,
                                                (uint32_t)combine(reduction, old, ((const uint32_t *)from)[i]), true,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            }
        } else {
            uint64_t *place = (uint64_t *)to + i, old = __atomic_load_n(place, __ATOMIC_RELAXED);
            while (!__atomic_compare_exchange_n(place, &old, combine(reduction, old, ((const uint64_t *)from)[i]), true,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            }
        }
    }
}

void mr_copy_reduce(uint32_t operation, uint32_t number, void *to, const void *from, uint32_t bytes)
{
    reduce(&(struct reduction){.reduce = operation, .number = number}, to, from, bytes);
}

void mr_copy_bulk(struct mr_block *block, uint32_t operation, uint32_t number, uint32_t mask, const uint64_t *to,
                  const uint64_t *from, const uint32_t *size, const uint64_t *barrier)
{
    struct mr_executor *executor = block->engine;
    struct reduction reduction = {.reduce = operation, .number = number};
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        void *place = (void *)(uintptr_t)to[lane];
        const void *source = (const void *)(uintptr_t)from[lane];
        if (operation == MR_REDUCE_NONE)
            memmove(place, source, size[lane]);
        else if (operation == MR_REDUCE_ZERO)
            memset(place, 0, size[lane]);
        else
            reduce(&reduction, place, source, size[lane]);
        if (barrier)
            mr_mbarrier_complete(executor, barrier[lane], size[lane]);
    }
}

/* Bytes first to end - 1 of each 16, of a piece at `from`. */
static void copy_run(struct mr_executor *executor, uint64_t to, uint64_t from, unsigned first, unsigned end)
{
    void *place = (void *)(uintptr_t)(to + first);
    if (executor->code->sites)
        mr_note_touch(executor, place, end - first);
    memmove(place, (const void *)(uintptr_t)(from + first), end - first);
}

void mr_copy_masked(struct mr_block *block, uint32_t mask, const uint64_t *to, const uint64_t *from,
                    const uint32_t *size, const uint32_t *bytes)
{
    enum { PIECE = 16, ALL = 0xffff };
    struct mr_executor *executor = block->engine;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint32_t bits = bytes[lane] & ALL;
        if (bits == ALL) {
            copy_run(executor, to[lane], from[lane], 0, size[lane]);
            continue;
        }
        for (uint32_t at = 0; at + PIECE <= size[lane]; at += PIECE)
            for (uint32_t left = bits; left;) {
                unsigned first = (unsigned)__builtin_ctz(left), count = (unsigned)__builtin_ctz(~(left >> first));
                copy_run(executor, to[lane] + at, from[lane] + at, first, first + count);
                left &= ~(((1u << count) - 1) << first);
            }
    }
}
