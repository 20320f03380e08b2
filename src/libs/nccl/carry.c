/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of all types, and copies from rank to rank. */
#include "libs/nccl/carry.h"

#include <library_types.h>
#include <string.h>

#include "libs/math/convert.h"

#define CHUNK 1024u /* elements that are summed at a time */

#define IS_NAN(x) false
#define T int8_t
#define U uint32_t
#define D int32_t
#define NAME sum_int8
#include "libs/nccl/sums.inc"
#undef T
#undef NAME
#define T uint8_t
#define NAME sum_uint8
#include "libs/nccl/sums.inc"
#undef T
#undef NAME
#define T int32_t
#define NAME sum_int32
#include "libs/nccl/sums.inc"
#undef T
#undef NAME
#undef D
#define T uint32_t
#define D uint32_t
#define NAME sum_uint32
#include "libs/nccl/sums.inc"
#undef T
#undef U
#undef D
#undef NAME
#define T int64_t
#define U uint64_t
#define D int64_t
#define NAME sum_int64
#include "libs/nccl/sums.inc"
#undef T
#undef NAME
#undef D
#define T uint64_t
#define D uint64_t
#define NAME sum_uint64
#include "libs/nccl/sums.inc"
#undef T
#undef U
#undef D
#undef NAME
#undef IS_NAN
#define IS_NAN(x) ((x) != (x))
#define T float
#define U float
#define D float
#define NAME sum_float
#include "libs/nccl/sums.inc"
#undef T
#undef U
#undef D
#undef NAME
#define T double
#define U double
#define D double
#define NAME sum_double
#include "libs/nccl/sums.inc"
#undef T
#undef U
#undef D
#undef NAME

size_t mr_nccl_size(unsigned type)
{
    static const unsigned char sizes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return sizes[type];
}

/* ---- sizes ---- */

/* What a rank brings and gets by each kind: nothing, the operation's count of elements, or that for each rank. */
enum amount { NOTHING, COUNT, ALL };
static const struct {
    unsigned char sends, gets;
    bool root_sends, root_gets; /* the root alone does */
} amounts[] = {[MR_WAY_ALL_REDUCE] = {COUNT, COUNT, false, false},   [MR_WAY_REDUCE] = {COUNT, COUNT, false, true},
               [MR_WAY_REDUCE_SCATTER] = {ALL, COUNT, false, false}, [MR_WAY_BROADCAST] = {COUNT, COUNT, true, false},
               [MR_WAY_ALL_GATHER] = {COUNT, ALL, false, false},     [MR_WAY_ALL_TO_ALL] = {ALL, ALL, false, false},
               [MR_WAY_GATHER] = {COUNT, ALL, false, true},          [MR_WAY_SCATTER] = {ALL, COUNT, true, false},
               [MR_WAY_SEND] = {COUNT, NOTHING, false, false},       [MR_WAY_RECV] = {NOTHING, COUNT, false, false}};

static uint64_t bytes_of(const struct mr_posting *posting, unsigned char amount, bool takes_part, int ranks)
{
    uint64_t bytes = posting->count * mr_nccl_size(posting->type);
    return !takes_part || amount == NOTHING ? 0 : amount == ALL ? bytes * (uint64_t)ranks : bytes;
}

uint64_t mr_nccl_send_bytes(const struct mr_posting *posting, int rank, int ranks)
{
    bool takes_part = !amounts[posting->way].root_sends || rank == posting->peer;
    return bytes_of(posting, amounts[posting->way].sends, takes_part, ranks);
}

uint64_t mr_nccl_recv_bytes(const struct mr_posting *posting, int rank, int ranks)
{
    bool takes_part = !amounts[posting->way].root_gets || rank == posting->peer;
    return bytes_of(posting, amounts[posting->way].gets, takes_part, ranks);
}

/* ---- sums ---- */

static cudaDataType_t small_type(unsigned type)
{
    switch (type) {
    case ncclFloat16:
        return CUDA_R_16F;
    case ncclBfloat16:
        return CUDA_R_16BF;
    case ncclFloat8e4m3:
        return CUDA_R_8F_E4M3;
    default:
        return CUDA_R_8F_E5M2;
    }
}

union element {
    int8_t i8;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    unsigned char bytes[8];
};

/* The scalar of a posting, as the type in which it is used. */
static union element scalar_of(const struct mr_posting *posting, unsigned type, bool small)
{
    union element scalar = {.i64 = 0};
    if (small)
        mr_load(small_type(type), posting->scalar, 1, 1, 1, false, &scalar.f32);
    else
        memcpy(&scalar, posting->scalar, mr_nccl_size(type));
    return scalar;
}

/* Small floats: summed as floats, with buffers of their own. */
static void sum_small(const struct mr_posting *first, unsigned type, unsigned ranks, const struct mr_match *match,
                      const char *const *from, uint64_t count, char *to)
{
    float sum[CHUNK], next[CHUNK];
    cudaDataType_t form = small_type(type);
    unsigned op = first->op;
    for (unsigned r = 0; r < ranks; r++) {
        mr_load(form, from[r], (int64_t)count, (int64_t)count, 1, false, r == 0 ? sum : next);
        float scalar[2] = {1, op == MR_OP_PREMUL ? scalar_of(match->posting[r], type, true).f32 : 1};
        const float *both[2] = {sum, next};
        if (r == 0) {
            for (uint64_t i = 0; i < count && op == MR_OP_PREMUL; i++)
                sum[i] *= scalar[1];
            continue;
        }
        float out[CHUNK];
        sum_float(op == ncclAvg ? ncclSum : op, 2, both, scalar, count, out);
        memcpy(sum, out, count * sizeof *sum);
    }
    for (uint64_t i = 0; i < count && op == ncclAvg; i++)
        sum[i] /= (float)ranks;
    mr_store(form, to, (int64_t)count, (int64_t)count, 1, false, sum);
}

#define SUM(type_, name_, member_) \
    { \
        type_ scalar[MR_MEETING_RANKS]; \
        for (unsigned r = 0; r < ranks && first->op == MR_OP_PREMUL; r++) \
            scalar[r] = (type_)scalar_of(match->posting[r], type, false).member_; \
        name_(first->op, ranks, (const type_ *const *)(const void *)from, scalar, count, (type_ *)(void *)to); \
        break; \
    }

/* The sum, or what the operation says, of `count` elements of each rank. */
static void sum_chunk(const struct mr_match *match, const char *const *from, uint64_t count, char *to)
{
    const struct mr_posting *first = match->posting[0];
    unsigned type = first->type, ranks = match->count;
    switch (type) {
    case ncclInt8:
        SUM(int8_t, sum_int8, i8)
    case ncclUint8:
        SUM(uint8_t, sum_uint8, i8)
    case ncclInt32:
        SUM(int32_t, sum_int32, i32)
    case ncclUint32:
        SUM(uint32_t, sum_uint32, i32)
    case ncclInt64:
        SUM(int64_t, sum_int64, i64)
    case ncclUint64:
        SUM(uint64_t, sum_uint64, i64)
    case ncclFloat32:
        SUM(float, sum_float, f32)
    case ncclFloat64:
        SUM(double, sum_double, f64)
    default:
        sum_small(first, type, ranks, match, from, count, to);
    }
}

/* Elements `begin` to `end` of the whole sum. */
static void reduce(const struct mr_match *match, char *const *send, char *const *recv, uint64_t begin, uint64_t end)
{
    const struct mr_posting *first = match->posting[0];
    size_t size = mr_nccl_size(first->type);
    const char *from[MR_MEETING_RANKS];
    _Alignas(64) char sum[CHUNK * 8];
    for (uint64_t at = begin; at < end;) {
        uint64_t count = end - at < CHUNK ? end - at : CHUNK, block = 0, inside = at;
        if (first->way == MR_WAY_REDUCE_SCATTER) {
            block = at / first->count;
            inside = at % first->count;
            count = count < first->count - inside ? count : first->count - inside;
        }
        for (unsigned r = 0; r < match->count; r++)
            from[r] = send[r] + at * size;
        sum_chunk(match, from, count, sum);
        if (first->way == MR_WAY_REDUCE_SCATTER)
            memcpy(recv[block] + inside * size, sum, count * size);
        else if (first->way == MR_WAY_REDUCE)
            memcpy(recv[first->peer] + at * size, sum, count * size);
        else
            for (unsigned r = 0; r < match->count; r++)
                memcpy(recv[r] + at * size, sum, count * size);
        at += count;
    }
}

/* ---- copies ---- */

static void copy(char *to, const char *from, uint64_t bytes)
{
    if (to != from)
        memmove(to, from, bytes);
}

/* Bytes `begin` to `end` of a block that goes from one rank to one or all others. `from` and `to` are blocks of `bytes`
 * in the ranks' memory. */
struct route {
    unsigned sender, receiver; /* receiver: the number of ranks for all of them */
    uint64_t from, to;
};

/* Where block `block` of an operation that copies goes. */
static struct route route_of(const struct mr_match *match, uint64_t block)
{
    unsigned ranks = match->count, root = (unsigned)match->posting[0]->peer, number = (unsigned)block;
    switch (match->way) {
    case MR_WAY_BROADCAST:
        return (struct route){root, ranks, 0, 0};
    case MR_WAY_ALL_GATHER:
        return (struct route){number, ranks, 0, number};
    case MR_WAY_ALL_TO_ALL:
        return (struct route){number / ranks, number % ranks, number % ranks, number / ranks};
    case MR_WAY_GATHER:
        return (struct route){number, root, 0, number};
    case MR_WAY_SCATTER:
        return (struct route){root, number, number, 0};
    default:
        return (struct route){0, 1, 0, 0};
    }
}

static uint64_t blocks_of(const struct mr_match *match)
{
    uint64_t ranks = match->count;
    if (match->way == MR_WAY_BROADCAST || match->way == MR_WAY_SEND)
        return 1;
    return match->way == MR_WAY_ALL_TO_ALL ? ranks * ranks : ranks;
}

static void copy_blocks(const struct mr_match *match, char *const *send, char *const *recv, uint64_t begin,
                        uint64_t end, uint64_t block_bytes)
{
    for (uint64_t at = begin; at < end;) {
        uint64_t inside = at % block_bytes, count = block_bytes - inside < end - at ? block_bytes - inside : end - at;
        struct route route = route_of(match, at / block_bytes);
        const char *from = send[route.sender] + route.from * block_bytes + inside;
        unsigned last = route.receiver == match->count ? match->count - 1 : route.receiver;
        for (unsigned r = route.receiver == match->count ? 0 : route.receiver; r <= last; r++)
            copy(recv[r] + route.to * block_bytes + inside, from, count);
        at += count;
    }
}

void mr_nccl_carry_out(const struct mr_match *match, char *const *send, char *const *recv, uint64_t first, uint64_t end,
                       uint64_t shares)
{
    const struct mr_posting *posting = match->posting[0];
    bool sums = match->way <= MR_WAY_REDUCE_SCATTER;
    uint64_t block = sums ? posting->count : posting->count * mr_nccl_size(posting->type), all = block;
    if (match->way == MR_WAY_REDUCE_SCATTER)
        all = block * match->count;
    else if (!sums)
        all = block * blocks_of(match);
    uint64_t each = all / shares + (all % shares != 0);
    each = (each + 63) & ~(uint64_t)63;
    uint64_t from = each * first < all ? each * first : all, to = each * end < all ? each * end : all;
    if (from == to)
        return;
    if (sums)
        reduce(match, send, recv, from, to);
    else
        copy_blocks(match, send, recv, from, to, block);
}
