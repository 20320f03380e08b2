/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor maps and the copies that follow them: what is moved where, what stands where the tensor ends, shuffles of
 * shared memory, reductions, pixels in columns.
 */
#include "gold_tensor.h"

#include <stdio.h>
#include <string.h>

#define U8 CU_TENSOR_MAP_DATA_TYPE_UINT8
#define U16 CU_TENSOR_MAP_DATA_TYPE_UINT16
#define U32 CU_TENSOR_MAP_DATA_TYPE_UINT32
#define S32 CU_TENSOR_MAP_DATA_TYPE_INT32
#define U64 CU_TENSOR_MAP_DATA_TYPE_UINT64
#define S64 CU_TENSOR_MAP_DATA_TYPE_INT64
#define F16 CU_TENSOR_MAP_DATA_TYPE_FLOAT16
#define F32 CU_TENSOR_MAP_DATA_TYPE_FLOAT32
#define F64 CU_TENSOR_MAP_DATA_TYPE_FLOAT64
#define BF16 CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
#define FTZ CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ
#define TF32 CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
#define TF32_FTZ CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ
#define NANS CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
#define SW32 CU_TENSOR_MAP_SWIZZLE_32B
#define SW64 CU_TENSOR_MAP_SWIZZLE_64B
#define SW128 CU_TENSOR_MAP_SWIZZLE_128B
#define IL16 CU_TENSOR_MAP_INTERLEAVE_16B
#define IL32 CU_TENSOR_MAP_INTERLEAVE_32B

/* Rows leave out what they do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Woverride-init"

/* ---- loads and stores of boxes ---- */

struct move {
    const char *name;
    struct tensor tensor;
    int at[5];
    unsigned bytes;  /* that the barrier expects; 0: a store */
    unsigned offset; /* of the box in shared memory */
    unsigned short more[3];
    const char *instruction; /* NULL: the usual one */
    const uint32_t *words;
    unsigned count;
};

static void run_move(const struct gold_case *self)
{
    static uint16_t room[TENSOR_ROOM / 2], memory[TENSOR_BYTES / 2];
    const struct move *move = self->data;
    CUtensorMap map;
    bool late = false;
    CUdeviceptr tensor = tensor_memory(move->words, move->count);
    CUresult status = tensor_encode(&move->tensor, tensor, &map);
    if (status != CUDA_SUCCESS) {
        say_text("encode");
        say(status);
        return;
    }
    unsigned rank = move->tensor.rank;
    const char *instruction = move->instruction ? move->instruction
                              : move->bytes     ? tensor_load(rank)
                                                : tensor_store(rank);
    status = tensor_run(&map, instruction, move->at, move->more, move->bytes, move->offset, room, &late);
    if (status != CUDA_SUCCESS) {
        say(status);
        return;
    }
    if (late)
        say_text("late");
    NEED(cuMemcpyDtoH(memory, tensor, TENSOR_BYTES));
    if (move->bytes)
        tensor_say(self->name, room, TENSOR_ROOM / 2);
    else
        tensor_say(self->name, memory, 16384);
    NEED(cuMemFree(tensor));
}

#define MOVES(rows) \
    static struct gold_case rows##_cases[sizeof(rows) / sizeof(rows)[0]]; \
    __attribute__((constructor)) static void rows##_add(void) \
    { \
        size_t count = sizeof(rows) / sizeof(rows)[0]; \
        for (size_t i = 0; i < count; i++) \
            rows##_cases[i] = \
                (struct gold_case){.name = rows[i].name, .run = run_move, .data = &rows[i], .alone = ALONE}; \
        gold_register_all(rows##_cases, count); \
    } \
    extern int gold_semicolon

#define PLANE(type_, w, h, bw, bh) .type = type_, .rank = 2, .dim = {w, h}, .box = {bw, bh}

/* Floats that show what is rounded and flushed. */
static const uint32_t floats[] = {0x00000001, 0x007fffff, 0x80000001, 0x3f800fff, 0x3f801000, 0x3f801001,
                                  0x3f803000, 0x7f7fffff, 0x7f800001, 0xff800000, 0x7fc12345, 0xbf801fff,
                                  0x00800000, 0x80000000, 0xffffffff, 0x3f801800};

#define SLICES(w, h, c) .type = U16, .rank = 3, .dim = {16, 16, 4}, .stride = {512, 16384}, .box = {w, h, c}

static const struct move loads[] = {
    {"tensor.load_1d", {.type = U16, .rank = 1, .dim = {1000}, .box = {64}}, {40}, 128},
    {"tensor.load_1d_end", {.type = U16, .rank = 1, .dim = {1000}, .box = {64}}, {976}, 128},
    {"tensor.load_1d_before", {.type = U16, .rank = 1, .dim = {1000}, .box = {64}}, {-8}, 128},
    {"tensor.load_1d_outside", {.type = U16, .rank = 1, .dim = {1000}, .box = {64}}, {-64}, 128},
    {"tensor.load_1d_far", {.type = U16, .rank = 1, .dim = {1000}, .box = {64}}, {-2147483640}, 128},
    {"tensor.load_1d_u8", {.type = U8, .rank = 1, .dim = {2001}, .box = {256}}, {1808}, 256},
    {"tensor.load_1d_f64", {.type = F64, .rank = 1, .dim = {500}, .box = {32}}, {2}, 256},
    {"tensor.load_2d", {PLANE(U16, 64, 60, 16, 8)}, {8, 4}, 256},
    {"tensor.load_2d_offset", {PLANE(U16, 64, 60, 16, 8)}, {8, 4}, 256, .offset = 128},
    {"tensor.load_2d_odd", {PLANE(U16, 61, 60, 16, 8), .stride = {128}}, {8, 3}, 256},
    {"tensor.load_2d_corner", {PLANE(U16, 61, 60, 16, 8), .stride = {128}}, {56, 57}, 256},
    {"tensor.load_2d_before", {PLANE(U16, 61, 60, 16, 8), .stride = {128}}, {-8, -2}, 256},
    {"tensor.load_2d_begin", {PLANE(U16, 64, 60, 16, 8), .begin = 16}, {0, 0}, 256},
    {"tensor.load_2d_step", {PLANE(U16, 64, 60, 16, 8), .step = {1, 2}}, {8, 4}, 128},
    {"tensor.load_2d_step_3", {PLANE(U16, 64, 60, 16, 8), .step = {1, 3}}, {8, 4}, 96},
    {"tensor.load_2d_step_inner", {PLANE(U16, 64, 60, 16, 8), .step = {2, 1}}, {8, 4}, 256},
    {"tensor.load_2d_step_end", {PLANE(U16, 64, 60, 16, 8), .step = {1, 3}}, {8, 55}, 96},
    {"tensor.load_2d_flat", {PLANE(U16, 64, 60, 16, 8), .stride = {16}}, {8, 4}, 256},
    {"tensor.load_3d", {.type = U16, .rank = 3, .dim = {32, 16, 8}, .box = {8, 4, 3}}, {8, 3, 2}, 192},
    {"tensor.load_3d_end",
     {.type = U16, .rank = 3, .dim = {30, 15, 7}, .stride = {64, 1024}, .box = {8, 4, 3}},
     {24, 13, 5},
     192},
    {"tensor.load_4d", {.type = U32, .rank = 4, .dim = {16, 8, 4, 4}, .box = {4, 3, 2, 2}}, {12, 6, 3, -1}, 192},
    {"tensor.load_5d", {.type = U32, .rank = 5, .dim = {8, 4, 4, 4, 4}, .box = {4, 2, 2, 2, 2}}, {4, 2, 1, 2, 3}, 256},
    {"tensor.load_5d_step",
     {.type = U32, .rank = 5, .dim = {8, 4, 4, 4, 4}, .box = {4, 2, 4, 4, 3}, .step = {1, 1, 2, 3, 2}},
     {4, 2, -1, 1, 0},
     256},
    {"tensor.load_nan_f16", {PLANE(F16, 64, 60, 16, 8), .fill = NANS}, {56, 57}, 256},
    {"tensor.load_nan_bf16", {PLANE(BF16, 64, 60, 16, 8), .fill = NANS}, {56, 57}, 256},
    {"tensor.load_nan_f32", {PLANE(F32, 64, 60, 16, 8), .fill = NANS}, {56, 57}, 512},
    {"tensor.load_nan_f64", {PLANE(F64, 64, 60, 16, 8), .fill = NANS}, {56, 57}, 1024},
    {"tensor.load_nan_tf32", {PLANE(TF32, 64, 60, 16, 8), .fill = NANS}, {56, 57}, 512},
    {"tensor.load_nan_ftz", {PLANE(FTZ, 64, 60, 16, 8), .fill = NANS}, {56, 57}, 512},
    {"tensor.load_nan_u16", {PLANE(U16, 64, 60, 16, 8), .fill = NANS}, {56, 57}, 256},
    {"tensor.load_floats", {.type = F32, .rank = 1, .dim = {500}, .box = {16}}, {0}, 64, .words = floats, .count = 16},
    {"tensor.load_floats_ftz",
     {.type = FTZ, .rank = 1, .dim = {500}, .box = {16}},
     {0},
     64,
     .words = floats,
     .count = 16},
    {"tensor.load_floats_tf32",
     {.type = TF32, .rank = 1, .dim = {500}, .box = {16}},
     {0},
     64,
     .words = floats,
     .count = 16},
    {"tensor.load_floats_tf32_ftz",
     {.type = TF32_FTZ, .rank = 1, .dim = {500}, .box = {16}},
     {0},
     64,
     .words = floats,
     .count = 16},
    {"tensor.load_swizzle_32", {PLANE(U16, 64, 60, 16, 32), .swizzle = SW32}, {8, 4}, 1024},
    {"tensor.load_swizzle_64", {PLANE(U16, 64, 60, 32, 32), .swizzle = SW64}, {8, 4}, 2048},
    {"tensor.load_swizzle_128", {PLANE(U16, 64, 60, 64, 32), .swizzle = SW128}, {0, 4}, 4096},
    {"tensor.load_swizzle_128_offset", {PLANE(U16, 64, 60, 64, 32), .swizzle = SW128}, {0, 4}, 4096, .offset = 256},
    {"tensor.load_swizzle_64_offset", {PLANE(U16, 64, 60, 32, 32), .swizzle = SW64}, {8, 4}, 2048, .offset = 128},
    {"tensor.load_swizzle_128_end", {PLANE(U8, 128, 60, 128, 16), .swizzle = SW128}, {64, 50}, 2048},
    {"tensor.load_swizzle_128_narrow", {PLANE(U16, 64, 60, 16, 16), .swizzle = SW128}, {8, 4}, 512},
    {"tensor.load_swizzle_64_narrow", {PLANE(U16, 64, 60, 8, 16), .swizzle = SW64}, {8, 4}, 256},
    {"tensor.load_swizzle_128_three", {PLANE(U16, 64, 60, 24, 16), .swizzle = SW128}, {8, 4}, 768},
    {"tensor.load_swizzle_128_3d",
     {.type = U16, .rank = 3, .dim = {64, 16, 8}, .box = {64, 3, 3}, .swizzle = SW128},
     {0, 3, 2},
     1152},
    {"tensor.load_interleave_16_4", {SLICES(8, 4, 2), .interleave = IL16}, {0, 1, 1}, 256},
    {"tensor.load_interleave_16_8", {SLICES(8, 8, 2), .interleave = IL16}, {0, 1, 1}, 256},
    {"tensor.load_interleave_16_16", {SLICES(8, 16, 2), .interleave = IL16}, {0, 1, 1}, 256},
    {"tensor.load_interleave_16_24", {SLICES(8, 24, 2), .interleave = IL16}, {0, 1, 1}, 256},
    {"tensor.load_interleave_16_at", {SLICES(8, 8, 2), .interleave = IL16}, {3, 14, 2}, 256},
    {"tensor.load_interleave_16_half", {SLICES(16, 8, 1), .interleave = IL16}, {0, 1, 1}, 256},
    {"tensor.load_interleave_16_step", {SLICES(8, 8, 3), .interleave = IL16, .step = {2, 1, 2}}, {0, 1, 1}, 128},
    {"tensor.load_interleave_16_4d",
     {.type = U16,
      .rank = 4,
      .dim = {6, 5, 4, 3},
      .stride = {256, 2048, 16384},
      .box = {8, 8, 2, 2},
      .interleave = IL16},
     {1, 1, 1, 1},
     2048},
    {"tensor.load_interleave_32_16", {SLICES(16, 16, 2), .interleave = IL32, .swizzle = SW32}, {0, 1, 1}, 1024},
    {"tensor.load_interleave_32_32", {SLICES(16, 32, 2), .interleave = IL32}, {0, 1, 1}, 1024},
    {"tensor.load_interleave_32_u32", {SLICES(8, 16, 2), .type = U32, .interleave = IL32}, {0, 1, 1}, 512},
    {"tensor.load_interleave_16_swizzle", {SLICES(8, 8, 2), .interleave = IL16, .swizzle = SW128}, {0, 1, 1}, 256},
    {"tensor.load_interleave_16_swizzle_narrow",
     {SLICES(4, 1, 3), .type = U32, .interleave = IL16, .swizzle = SW64, .step = {2, 1, 1}},
     {0, 1, 1},
     96},
    {"tensor.load_multicast",
     {PLANE(U16, 64, 60, 16, 8)},
     {8, 4},
     256,
     .more = {1},
     .instruction =
         "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%rm, {%c0, %c1}], [%b], %h0;"},
    {"tensor.load_hint",
     {PLANE(U16, 64, 60, 16, 8)},
     {8, 4},
     256,
     .instruction =
         "createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0; "
         "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%s], [%rm, {%c0, %c1}], [%b], %rd5;"},
    {"tensor.load_late", {PLANE(U16, 64, 60, 16, 8)}, {8, 4}, 272},
    {"tensor.prefetch",
     {PLANE(U16, 64, 60, 16, 8)},
     {8, 4},
     0,
     .instruction = "prefetch.tensormap [%rm]; cp.async.bulk.prefetch.tensor.2d.L2.global [%rm, {%c0, %c1}];"},
};

static const struct move stores[] = {
    {"tensor.store_1d", {.type = U16, .rank = 1, .dim = {1000}, .box = {64}}, {40}},
    {"tensor.store_1d_end", {.type = U16, .rank = 1, .dim = {1000}, .box = {64}}, {976}},
    {"tensor.store_2d", {PLANE(U16, 64, 60, 16, 8)}, {8, 4}},
    {"tensor.store_2d_odd", {PLANE(U16, 61, 60, 16, 8), .stride = {128}}, {56, 57}},
    {"tensor.store_2d_before", {PLANE(U16, 61, 60, 16, 8), .stride = {128}}, {-8, -2}},
    {"tensor.store_2d_step", {PLANE(U16, 64, 60, 16, 8), .step = {1, 3}}, {8, 4}},
    {"tensor.store_3d",
     {.type = U16, .rank = 3, .dim = {30, 15, 7}, .stride = {64, 1024}, .box = {8, 4, 3}},
     {24, 13, 5}},
    {"tensor.store_4d", {.type = U32, .rank = 4, .dim = {16, 8, 4, 4}, .box = {4, 3, 2, 2}}, {12, 6, 3, -1}},
    {"tensor.store_5d", {.type = U32, .rank = 5, .dim = {8, 4, 4, 4, 4}, .box = {4, 2, 2, 2, 2}}, {4, 2, 1, 2, 3}},
    {"tensor.store_swizzle_128", {PLANE(U16, 64, 60, 64, 32), .swizzle = SW128}, {0, 4}},
    {"tensor.store_swizzle_32", {PLANE(U16, 64, 60, 16, 32), .swizzle = SW32}, {8, 40}},
    {"tensor.store_swizzle_128_narrow", {PLANE(U16, 64, 60, 16, 16), .swizzle = SW128}, {8, 4}},
    {"tensor.store_interleave_16", {SLICES(8, 8, 2), .interleave = IL16}, {0, 1, 1}},
    {"tensor.store_floats_tf32",
     {.type = TF32, .rank = 1, .dim = {500}, .box = {16}},
     {0},
     .words = floats,
     .count = 16},
    {"tensor.store_floats_ftz", {.type = FTZ, .rank = 1, .dim = {500}, .box = {16}}, {0}, .words = floats, .count = 16},
    {"tensor.store_hint",
     {PLANE(U16, 64, 60, 16, 8)},
     {8, 4},
     .instruction =
         "createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%rm, {%c0, %c1}], [%s], %rd5;"},
};

#define AT 56
#define REDUCE(title, what, type_) \
    {"tensor.reduce_" title, \
     {PLANE(type_, 64, 60, 16, 8)}, \
     {AT, 56}, \
     .instruction = \
         "cp.reduce.async.bulk.tensor.2d.global.shared::cta." what ".tile.bulk_group [%rm, {%c0, %c1}], [%s];"}

static const struct move reductions[] = {
    REDUCE("add_u32", "add", U32),
    REDUCE("add_s32", "add", S32),
    REDUCE("add_u64", "add", U64),
    REDUCE("add_f32", "add", F32),
    REDUCE("add_ftz", "add", FTZ),
    REDUCE("add_f16", "add", F16),
    REDUCE("add_bf16", "add", BF16),
    REDUCE("min_u32", "min", U32),
    REDUCE("min_s32", "min", S32),
    REDUCE("max_s32", "max", S32),
    REDUCE("max_u64", "max", U64),
    REDUCE("min_s64", "min", S64),
    REDUCE("min_f16", "min", F16),
    REDUCE("max_bf16", "max", BF16),
    REDUCE("inc_u32", "inc", U32),
    {"tensor.reduce_odd_end",
     {PLANE(U32, 61, 60, 16, 8), .stride = {256}},
     {56, 57},
     .instruction = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rm, {%c0, %c1}], [%s];"},
    {"tensor.reduce_before",
     {PLANE(U32, 64, 60, 16, 8)},
     {8, -1},
     .instruction = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rm, {%c0, %c1}], [%s];"},
    REDUCE("dec_u32", "dec", U32),
    REDUCE("and_u32", "and", U32),
    REDUCE("or_u64", "or", U64),
    REDUCE("xor_u32", "xor", U32),
};

/* What an operation has no number for. */
#undef AT
#define AT 48
static const struct move wrong_reductions[] = {
    REDUCE("add_u16", "add", U16),   REDUCE("add_u8", "add", U8),   REDUCE("add_f64", "add", F64),
    REDUCE("min_f32", "min", F32),   REDUCE("add_s64", "add", S64), REDUCE("inc_s32", "inc", S32),
    REDUCE("xor_s32", "xor", S32),   REDUCE("and_f32", "and", F32), REDUCE("and_s64", "and", S64),
    REDUCE("add_tf32", "add", TF32), REDUCE("xor_u16", "xor", U16),
};

/* ---- pixels in columns ---- */

#define COLUMNS3(pixels_, lower_, upper_) \
    .type = U16, .rank = 3, .dim = {16, 10, 5}, .im2col = true, .lower = {lower_}, .upper = {upper_}, .channels = 8, \
    .pixels = pixels_
#define COLUMNS4(pixels_) \
    .type = U16, .rank = 4, .dim = {16, 9, 7, 3}, .im2col = true, .lower = {-1, -1}, .upper = {-1, -1}, \
    .channels = 16, .pixels = pixels_
#define LOAD3 \
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%s], [%rm, {%c0, %c1, %c2}], [%b], {%h0};"
#define LOAD4 \
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%s], [%rm, {%c0, %c1, %c2, %c3}], [%b], {%h0, %h1};"
#define LOAD5 \
    "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%s], [%rm, {%c0, %c1, %c2, %c3, %c4}], [%b], {%h0, %h1, %h2};"
#define STORE4 "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rm, {%c0, %c1, %c2, %c3}], [%s];"

static const struct move columns[] = {
    {"tensor.im2col_3d", {COLUMNS3(12, -1, -1)}, {0, -1, 0}, 192, .instruction = LOAD3},
    {"tensor.im2col_3d_taps", {COLUMNS3(12, -1, -1)}, {8, 3, 1}, 192, .more = {2}, .instruction = LOAD3},
    {"tensor.im2col_3d_end", {COLUMNS3(12, 0, 0)}, {0, 5, 4}, 192, .instruction = LOAD3},
    {"tensor.im2col_3d_upper", {COLUMNS3(12, -2, 1)}, {0, -2, 3}, 192, .more = {1}, .instruction = LOAD3},
    {"tensor.im2col_4d", {COLUMNS4(64)}, {0, -1, -1, 0}, 2048, .instruction = LOAD4},
    {"tensor.im2col_4d_taps", {COLUMNS4(64)}, {0, 2, 1, 1}, 2048, .more = {2, 1}, .instruction = LOAD4},
    {"tensor.im2col_4d_step",
     {COLUMNS4(32), .step = {1, 2, 2, 1}},
     {0, -1, -1, 0},
     1024,
     .more = {1, 1},
     .instruction = LOAD4},
    {"tensor.im2col_4d_channels", {COLUMNS4(8)}, {8, 0, 0, 2}, 256, .more = {1, 0}, .instruction = LOAD4},
    {"tensor.im2col_4d_outside", {COLUMNS4(16)}, {0, 8, 6, 2}, 512, .instruction = LOAD4},
    {"tensor.im2col_4d_nan",
     {COLUMNS4(16), .fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE},
     {0, 5, 5, 2},
     512,
     .more = {2, 2},
     .instruction = LOAD4},
    {"tensor.im2col_4d_swizzle", {COLUMNS4(32), .swizzle = SW32}, {0, -1, 0, 0}, 1024, .instruction = LOAD4},
    {"tensor.im2col_5d",
     {.type = U32,
      .rank = 5,
      .dim = {4, 5, 4, 3, 2},
      .im2col = true,
      .lower = {-1, 0, -1},
      .upper = {0, -1, -1},
      .channels = 4,
      .pixels = 64},
     {0, -1, 0, -1, 0},
     1024,
     .more = {1, 1, 1},
     .instruction = LOAD5},
    {"tensor.im2col_store", {COLUMNS4(16)}, {0, 2, 1, 1}, 0, .instruction = STORE4},
    {"tensor.im2col_store_plain",
     {COLUMNS4(16), .lower = {0, 0}, .upper = {0, 0}},
     {0, 2, 1, 1},
     0,
     .instruction = STORE4},
    {"tensor.im2col_store_begin",
     {COLUMNS4(16), .lower = {0, 0}, .upper = {0, 0}},
     {0, 0, 0, 0},
     0,
     .instruction = STORE4},
    {"tensor.im2col_store_end",
     {COLUMNS4(16), .lower = {0, 0}, .upper = {0, 0}},
     {0, 6, 6, 2},
     0,
     .instruction = STORE4},
    {"tensor.im2col_store_3d",
     {COLUMNS3(12, 0, 0)},
     {0, 2, 1},
     0,
     .instruction =
         "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%rm, {%c0, %c1, %c2}], [%s];"},
    {"tensor.im2col_reduce",
     {COLUMNS4(16), .type = U32, .channels = 8, .lower = {0, 0}, .upper = {0, 0}},
     {0, 2, 1, 1},
     0,
     .instruction =
         "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [%rm, {%c0, %c1, %c2, %c3}], [%s];"},
    {"tensor.im2col_4d_before", {COLUMNS4(16)}, {0, -2, 0, 0}, 512, .instruction = LOAD4},
    {"tensor.im2col_4d_last", {COLUMNS4(16)}, {0, 7, 5, 2}, 512, .instruction = LOAD4},
    {"tensor.im2col_4d_beyond", {COLUMNS4(16)}, {0, 7, 5, 3}, 512, .instruction = LOAD4},
    {"tensor.im2col_4d_odd", {COLUMNS4(16)}, {4, 0, 0, 0}, 512, .instruction = LOAD4},
    {"tensor.im2col_4d_swizzle_narrow",
     {COLUMNS4(16), .channels = 8, .swizzle = SW64},
     {0, 0, 0, 0},
     256,
     .instruction = LOAD4},
};

#define ALONE false
MOVES(loads);
MOVES(stores);
MOVES(reductions);
#undef ALONE
#define ALONE true
MOVES(wrong_reductions);
MOVES(columns);

/* ---- what fails ---- */

static const struct move faults[] = {
    {"tensor.fault_coordinate", {PLANE(U16, 64, 60, 16, 8)}, {7, 4}, 256},
    {"tensor.fault_store_coordinate", {PLANE(U32, 64, 60, 16, 8)}, {6, 4}},
    {"tensor.fault_offset_64", {PLANE(U16, 64, 60, 16, 8)}, {8, 4}, 256, .offset = 64},
    {"tensor.fault_offset_16", {PLANE(U16, 64, 60, 16, 8)}, {8, 4}, 256, .offset = 16},
    {"tensor.fault_offset_8", {PLANE(U16, 64, 60, 16, 8)}, {8, 4}, 256, .offset = 8},
    {"tensor.fault_store_offset_16", {PLANE(U16, 64, 60, 16, 8)}, {8, 4}, .offset = 16},
    {"tensor.fault_rank",
     {PLANE(U16, 64, 60, 16, 8)},
     {8, 4, 1},
     256,
     .instruction =
         "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rm, {%c0, %c1, %c2}], [%b];"},
    {"tensor.fault_rank_less",
     {PLANE(U16, 64, 60, 16, 8)},
     {8, 4, 1},
     256,
     .instruction =
         "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rm, {%c0}], [%b];"},
    {"tensor.fault_mode", {PLANE(U16, 64, 60, 16, 8)}, {8, 4, 1}, 256, .instruction = LOAD3},
    {"tensor.fault_address",
     {PLANE(U16, 64, 60, 16, 8)},
     {8, 4},
     256,
     .instruction =
         "add.u64 %rm, %rm, 16; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rm, {%c0, %c1}], [%b];"},
    {"tensor.fault_block",
     {PLANE(U16, 64, 60, 16, 8)},
     {8, 4},
     256,
     .more = {2},
     .instruction =
         "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%rm, {%c0, %c1}], [%b], %h0;"},
    {"tensor.fault_tile_of_columns", {COLUMNS3(12, -1, -1)}, {0, 0, 0}, 192},
};
MOVES(faults);

/* A map of zeros, or of noise. */
static void run_bytes(unsigned char first)
{
    static uint16_t room[TENSOR_ROOM / 2];
    CUtensorMap map;
    bool late;
    for (unsigned i = 0; i < sizeof map; i++)
        ((unsigned char *)&map)[i] = (unsigned char)(first * (i + 3));
    say(tensor_run(&map, tensor_load(2), (int[5]){8, 4}, NULL, 256, 0, room, &late));
}

CASE(tensor, fault_zeros, .alone = true)
{
    run_bytes(0);
}
CASE(tensor, fault_noise, .alone = true)
{
    run_bytes(37);
}

/* Memory that was freed. */
CASE(tensor, fault_freed, .alone = true)
{
    static uint16_t room[TENSOR_ROOM / 2];
    CUtensorMap map;
    bool late;
    CUdeviceptr memory;
    NEED(cuMemAlloc(&memory, 64 << 20));
    NEED(tensor_encode(&(struct tensor){PLANE(U16, 64, 60, 16, 8)}, memory, &map));
    NEED(cuMemFree(memory));
    say(tensor_run(&map, tensor_load(2), (int[5]){8, 4}, NULL, 256, 0, room, &late));
}

/* ---- what can be encoded ---- */

static void encode(const char *what, struct tensor tensor)
{
    CUtensorMap map;
    say_text(what);
    say(tensor_encode(&tensor, 0x10000000, &map));
}

#define GOOD PLANE(U16, 64, 60, 16, 8)
#define CUBE(...) \
    (struct tensor) \
    { \
        .type = U16, .rank = 3, .dim = {32, 16, 8}, .stride = {64, 1024}, .box = {8, 4, 3}, __VA_ARGS__ \
    }

CASE(tensor, encode_sizes)
{
    encode("good", (struct tensor){GOOD});
    encode("rank_0", (struct tensor){GOOD, .rank = 0});
    encode("rank_6", (struct tensor){GOOD, .rank = 6});
    encode("dim_0", (struct tensor){PLANE(U16, 0, 60, 16, 8), .stride = {128}});
    encode("dim_2^32", (struct tensor){PLANE(U8, 64, 4294967296, 16, 8)});
    encode("dim_2^32+1", (struct tensor){PLANE(U8, 64, 4294967297, 16, 8)});
    encode("dim_second_0", (struct tensor){PLANE(U16, 64, 0, 16, 8)});
    encode("box_0", (struct tensor){PLANE(U16, 64, 60, 0, 8)});
    encode("box_second_0", (struct tensor){PLANE(U16, 64, 60, 16, 0)});
    encode("box_256", (struct tensor){PLANE(U16, 64, 60, 16, 256)});
    encode("box_257", (struct tensor){PLANE(U16, 64, 60, 16, 257)});
    encode("box_inner_256", (struct tensor){PLANE(U64, 64, 60, 256, 8)});
    encode("box_inner_264", (struct tensor){PLANE(U16, 64, 60, 264, 8)});
    encode("box_larger", (struct tensor){PLANE(U16, 64, 60, 128, 128)});
    encode("box_huge", (struct tensor){PLANE(U64, 64, 60, 256, 256)});
    encode("box_64k", (struct tensor){PLANE(U8, 256, 600, 256, 256)});
    encode("box_128k", (struct tensor){PLANE(U16, 256, 600, 256, 256)});
    encode("box_192k", (struct tensor){.type = U8, .rank = 3, .dim = {256, 256, 16}, .box = {256, 256, 3}});
    encode("box_224k", (struct tensor){.type = U8, .rank = 3, .dim = {256, 256, 16}, .box = {256, 128, 7}});
    encode("box_227k", (struct tensor){.type = U8, .rank = 3, .dim = {256, 256, 16}, .box = {256, 227, 4}});
    encode("box_228k", (struct tensor){.type = U8, .rank = 3, .dim = {256, 256, 16}, .box = {256, 228, 4}});
    encode("box_232k", (struct tensor){.type = U8, .rank = 3, .dim = {256, 256, 16}, .box = {256, 232, 4}});
    encode("box_240k", (struct tensor){.type = U8, .rank = 3, .dim = {256, 256, 16}, .box = {256, 240, 4}});
    encode("box_256k", (struct tensor){.type = U8, .rank = 3, .dim = {256, 256, 16}, .box = {256, 256, 4}});
    encode("box_256k_step",
           (struct tensor){.type = U8, .rank = 3, .dim = {256, 256, 16}, .box = {256, 256, 8}, .step = {1, 1, 4}});
    encode("box_odd", (struct tensor){PLANE(U16, 64, 60, 12, 8)});
    encode("stride_8", (struct tensor){GOOD, .stride = {136}});
    encode("stride_16", (struct tensor){GOOD, .stride = {16}});
    encode("stride_2^40", (struct tensor){GOOD, .stride = {1099511627776}});
    encode("stride_2^40-16", (struct tensor){GOOD, .stride = {1099511627760}});
    encode("stride_falls", CUBE(.stride = {1024, 64}));
    encode("begin_8", (struct tensor){GOOD, .begin = 8});
    encode("begin_16", (struct tensor){GOOD, .begin = 16});
    encode("begin_2^47", (struct tensor){GOOD, .begin = (size_t)1 << 47});
    encode("begin_2^48", (struct tensor){GOOD, .begin = (size_t)1 << 48});
    encode("begin_2^49", (struct tensor){GOOD, .begin = (size_t)1 << 49});
    encode("begin_2^52", (struct tensor){GOOD, .begin = (size_t)1 << 52});
    encode("begin_2^56", (struct tensor){GOOD, .begin = (size_t)1 << 56});
    encode("begin_2^57", (struct tensor){GOOD, .begin = (size_t)1 << 57});
    encode("begin_2^63", (struct tensor){GOOD, .begin = (size_t)1 << 63});
    encode("step_8", (struct tensor){GOOD, .step = {1, 8}});
    encode("step_9", (struct tensor){GOOD, .step = {1, 9}});
    encode("step_inner_9", (struct tensor){GOOD, .step = {9, 1}});
    encode("step_inner_3", (struct tensor){GOOD, .step = {3, 1}});
    encode("step_beyond_box", (struct tensor){PLANE(U16, 64, 60, 16, 2), .step = {1, 5}});
}

CASE(tensor, encode_enumerations)
{
    encode("type_13", (struct tensor){PLANE(CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 128, 60, 32, 8)});
    encode("type_14", (struct tensor){PLANE(CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, 128, 60, 128, 8)});
    encode("type_15", (struct tensor){PLANE(CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 128, 60, 128, 8)});
    encode("interleave_3", CUBE(.interleave = (CUtensorMapInterleave)3));
    encode("swizzle_4", (struct tensor){GOOD, .swizzle = (CUtensorMapSwizzle)4});
    encode("swizzle_5", (struct tensor){GOOD, .swizzle = (CUtensorMapSwizzle)5});
    encode("swizzle_6", (struct tensor){GOOD, .swizzle = (CUtensorMapSwizzle)6});
    encode("swizzle_7", (struct tensor){GOOD, .swizzle = (CUtensorMapSwizzle)7});
    encode("fill_2", (struct tensor){GOOD, .fill = (CUtensorMapFloatOOBfill)2});
    encode("nan_u16", (struct tensor){GOOD, .fill = NANS});
    encode("nan_f16", (struct tensor){PLANE(F16, 64, 60, 16, 8), .fill = NANS});
    encode("nan_f64", (struct tensor){PLANE(F64, 64, 60, 16, 8), .fill = NANS});
    encode("nan_s32", (struct tensor){PLANE(S32, 64, 60, 16, 8), .fill = NANS});
}

CASE(tensor, encode_layouts)
{
    encode("swizzle_32", (struct tensor){PLANE(U16, 64, 60, 16, 8), .swizzle = SW32});
    encode("swizzle_32_wide", (struct tensor){PLANE(U16, 64, 60, 24, 8), .swizzle = SW32});
    encode("swizzle_64_wide", (struct tensor){PLANE(U16, 64, 60, 40, 8), .swizzle = SW64});
    encode("swizzle_128_wide", (struct tensor){PLANE(U16, 128, 60, 72, 8), .swizzle = SW128});
    encode("swizzle_128", (struct tensor){PLANE(U16, 128, 60, 64, 8), .swizzle = SW128});
    encode("interleave_rank_2", (struct tensor){GOOD, .interleave = IL16});
    encode("interleave_16", CUBE(.interleave = IL16));
    encode("interleave_16_odd_box", CUBE(.interleave = IL16, .box = {3, 4, 3}));
    encode("interleave_16_swizzle", CUBE(.interleave = IL16, .swizzle = SW32));
    encode("interleave_16_swizzle_128", CUBE(.interleave = IL16, .swizzle = SW128));
    encode("interleave_32", CUBE(.interleave = IL32, .swizzle = SW32));
    encode("interleave_32_plain", CUBE(.interleave = IL32));
    encode("interleave_32_swizzle_64", CUBE(.interleave = IL32, .swizzle = SW64));
    encode("interleave_32_stride", CUBE(.interleave = IL32, .swizzle = SW32, .stride = {48, 1024}));
    encode("interleave_32_begin", CUBE(.interleave = IL32, .swizzle = SW32, .begin = 16));
    encode("interleave_step", CUBE(.interleave = IL16, .step = {9, 1, 1}));
}

CASE(tensor, encode_columns)
{
    encode("good", (struct tensor){COLUMNS4(64)});
    encode("rank_2", (struct tensor){PLANE(U16, 64, 60, 16, 8), .im2col = true, .channels = 8, .pixels = 8});
    encode("channels_0", (struct tensor){COLUMNS4(64), .channels = 0});
    encode("channels_256", (struct tensor){COLUMNS4(64), .channels = 256});
    encode("channels_257", (struct tensor){COLUMNS4(64), .channels = 257});
    encode("channels_odd", (struct tensor){COLUMNS4(64), .channels = 12});
    encode("pixels_0", (struct tensor){COLUMNS4(0)});
    encode("pixels_1024", (struct tensor){COLUMNS4(1024)});
    encode("pixels_1025", (struct tensor){COLUMNS4(1025)});
    encode("lower_-128", (struct tensor){COLUMNS4(64), .lower = {-128, 0}});
    encode("lower_-129", (struct tensor){COLUMNS4(64), .lower = {-129, 0}});
    encode("lower_7", (struct tensor){COLUMNS4(64), .lower = {7, 0}});
    encode("lower_8", (struct tensor){COLUMNS4(64), .lower = {8, 0}});
    encode("upper_-9", (struct tensor){COLUMNS4(64), .upper = {-9, 0}});
    encode("upper_-10", (struct tensor){COLUMNS4(64), .upper = {-10, 0}});
    encode("upper_127", (struct tensor){COLUMNS4(64), .upper = {0, 127}});
    encode("column_512k", (struct tensor){COLUMNS4(1024), .channels = 256});
    encode("column_256k", (struct tensor){COLUMNS4(512), .channels = 256});
    encode("lower_127", (struct tensor){COLUMNS4(64), .lower = {127, 0}});
    encode("lower_128", (struct tensor){COLUMNS4(64), .lower = {128, 0}});
    encode("upper_128", (struct tensor){COLUMNS4(64), .upper = {0, 128}});
    encode("lower_3d", (struct tensor){COLUMNS3(12, -32768, 0)});
    encode("lower_3d_beyond", (struct tensor){COLUMNS3(12, -32769, 0)});
    encode("upper_3d", (struct tensor){COLUMNS3(12, 0, 32767)});
    encode("upper_3d_beyond", (struct tensor){COLUMNS3(12, 0, 32768)});
    encode("lower_5d", (struct tensor){.type = U32,
                                       .rank = 5,
                                       .dim = {4, 5, 4, 3, 2},
                                       .im2col = true,
                                       .lower = {-16, 15, 0},
                                       .channels = 4,
                                       .pixels = 64});
    encode("lower_5d_beyond", (struct tensor){.type = U32,
                                              .rank = 5,
                                              .dim = {4, 5, 4, 3, 2},
                                              .im2col = true,
                                              .lower = {-17, 0, 0},
                                              .channels = 4,
                                              .pixels = 64});
    encode("swizzle_wide", (struct tensor){COLUMNS4(64), .swizzle = SW32, .channels = 24});
    encode("step_9", (struct tensor){COLUMNS4(64), .step = {1, 9, 1, 1}});
}

static void encode_into(CUtensorMap *map, bool dims, bool box)
{
    cuuint64_t dim[2] = {64, 60}, stride[1] = {128};
    cuuint32_t size[2] = {16, 8}, step[2] = {1, 1};
    say(cuTensorMapEncodeTiled(map, U16, 2, (void *)0x10000000, dims ? dim : NULL, stride, box ? size : NULL, step,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

CASE(tensor, encode_null)
{
    CUtensorMap map;
    encode_into(NULL, true, true);
    encode_into(&map, false, true);
    encode_into(&map, true, false);
}

CASE(tensor, encode_null_more)
{
    CUtensorMap map;
    cuuint64_t dim[2] = {64, 60}, stride[1] = {128};
    cuuint32_t size[2] = {16, 8}, step[2] = {1, 1};
#define TILED(rank, memory, strides, steps, promotion) \
    say(cuTensorMapEncodeTiled(&map, U16, rank, memory, dim, strides, size, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, \
                               CU_TENSOR_MAP_SWIZZLE_NONE, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    TILED(2, NULL, stride, step, CU_TENSOR_MAP_L2_PROMOTION_NONE);
    TILED(2, (void *)0x10000000, NULL, step, CU_TENSOR_MAP_L2_PROMOTION_NONE);
    TILED(2, (void *)0x10000000, stride, NULL, CU_TENSOR_MAP_L2_PROMOTION_NONE);
    TILED(1, (void *)0x10000000, NULL, step, CU_TENSOR_MAP_L2_PROMOTION_NONE);
    TILED(2, (void *)0x10000000, stride, step, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    TILED(2, (void *)0x10000000, stride, step, (CUtensorMapL2promotion)4);
    TILED(2, (void *)0xfffffffffffffff0, stride, step, CU_TENSOR_MAP_L2_PROMOTION_NONE);
#undef TILED
}

CASE(tensor, encode_unaligned)
{
    _Alignas(128) unsigned char room[2 * sizeof(CUtensorMap)];
    for (unsigned i = 0; i <= 64; i += 16)
        encode_into((CUtensorMap *)(void *)(room + i), true, true);
}

CASE(tensor, encode_without_context, .alone = true)
{
    CUtensorMap map;
    CUcontext context;
    NEED(cuCtxPopCurrent(&context));
    encode_into(&map, true, true);
    encode_into(NULL, true, true);
}

CASE(tensor, encode_before_init, .bare = true)
{
    CUtensorMap map;
    encode_into(&map, true, true);
}

/* Another address for a map: the load reads there. */
CASE(tensor, replace_address)
{
    static uint16_t room[TENSOR_ROOM / 2];
    CUtensorMap map, other;
    bool late;
    CUdeviceptr memory = tensor_memory(NULL, 0);
    NEED(tensor_encode(&(struct tensor){GOOD}, memory, &map));
    other = map;
    say(cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(memory + 1024)));
    say_if("changed", memcmp(&map, &other, sizeof map) != 0);
    say(tensor_run(&map, tensor_load(2), (int[5]){8, 4}, NULL, 256, 0, room, &late));
    tensor_say(self->name, room, TENSOR_ROOM / 2);
}

static void replace(unsigned char fill, uint64_t address)
{
    CUtensorMap map;
    NEED(tensor_encode(&(struct tensor){GOOD}, 0x10000000, &map));
    if (fill)
        memset(&map, fill - 1, sizeof map);
    say(cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)address));
}

CASE(tensor, replace_address_unaligned, .alone = true)
{
    replace(0, 0x10000008);
}
CASE(tensor, replace_address_null, .alone = true)
{
    replace(0, 0);
}
CASE(tensor, replace_address_far, .alone = true)
{
    replace(0, 0xfffffffffffffff0);
}
CASE(tensor, replace_address_of_zeros, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "what is no map is told here")
{
    replace(1, 0x10000000);
}

/* A map in global memory and in constant memory, not in a parameter. */
CASE(tensor, map_in_memory)
{
    static uint16_t room[TENSOR_ROOM / 2];
    CUtensorMap map;
    bool late;
    char text[512];
    CUdeviceptr memory = tensor_memory(NULL, 0), place = gold_alloc(sizeof map);
    NEED(tensor_encode(&(struct tensor){GOOD}, memory, &map));
    NEED(cuMemcpyHtoD(place, &map, sizeof map));
    snprintf(text, sizeof text, "mov.u64 %%rm, %llu; fence.proxy.tensormap::generic.acquire.gpu [%%rm], 128; %s", place,
             tensor_load(2));
    say(tensor_run(&map, text, (int[5]){8, 4}, NULL, 256, 0, room, &late));
    tensor_say(self->name, room, TENSOR_ROOM / 2);
}

CASE(tensor, attribute)
{
    int value = -1;
    say(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, gold_device()));
    say_int(value);
}
