/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of parts of tensors between global and shared memory, as a tensor map describes them. Done when these
 * functions return; the mbarrier then hears of all bytes of the part, those outside of the tensor included.
 *
 * A part is a list of rows: elements that follow each other along the first dimension. In shared memory rows stand one
 * behind the other, or with a swizzle its span apart (32, 64, 128 bytes); it then exchanges pieces of 16 bytes within a
 * span by bits 7 to 9 of the address, counted from where the block's shared memory begins. */
#include "kernel/executor.h"
#include "kernel/notes.h"

#include <string.h>

#include "kernel/tensor.h"

enum { ROW_MAX = 2048, PIECE = 16 };

struct part {
    const struct mr_tensor_map *map;
    struct mr_executor *executor;
    unsigned char *window; /* where the block's shared memory begins */
    uint64_t shared; /* where the part begins, counted from there */
    unsigned bytes; /* of an element, or of a slice of an interleaved tensor */
    unsigned count; /* elements of a row */
    unsigned pitch; /* bytes from one row to the next in shared memory: a swizzle's span, or a row's bytes */
    uint32_t operation, number, code, line;
};

/* --- One row ----------------------------------------------------------------- */

static uint64_t swizzled(const struct part *part, uint64_t at)
{
    static const uint8_t masks[] = {0, 1, 3, 7};
    unsigned mask = part->map->swizzle < sizeof masks ? masks[part->map->swizzle] : 0;
    return at ^ (at >> 7 & mask) << 4;
}

/* Between a row and its pieces in shared memory, from `at` bytes behind the part's beginning. */
static void move_pieces(const struct part *part, uint64_t at, unsigned char *row, unsigned bytes, bool loads)
{
    for (unsigned done = 0; done < bytes;) {
        uint64_t place = part->shared + at + done;
        unsigned room = PIECE - (unsigned)(place % PIECE), size = bytes - done < room ? bytes - done : room;
        unsigned char *piece = part->window + swizzled(part, place);
        if (loads)
            memcpy(piece, row + done, size);
        else
            memcpy(row + done, piece, size);
        done += size;
    }
}

/* A tf32: 13 bits are rounded away, to even; a NaN is the canonical one of what is left. */
static uint32_t to_tf32(uint32_t bits)
{
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fffe000u;
    return (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u;
}

/* What stands outside of a tensor of floats that asks for it: the NaN that fma.oob looks for, and its like. */
static void fill_outside(const struct part *part, unsigned char *row, unsigned bytes)
{
    static const unsigned char half[2] = {0xf7, 0x7f};
    memset(row, 0, bytes);
    if (!part->map->nans)
        return;
    for (unsigned i = 0; i + 2 <= bytes; i += 2)
        memcpy(row + i, half, 2);
}

/* Loads of tf32 round; nothing else changes a number on its way. */
static void convert_row(const struct part *part, unsigned char *row, unsigned bytes)
{
    bool rounds =
        part->map->type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 || part->map->type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    for (unsigned i = 0; rounds && i + 4 <= bytes; i += 4) {
        uint32_t bits;
        memcpy(&bits, row + i, 4);
        bits = to_tf32(bits);
        memcpy(row + i, &bits, 4);
    }
}

/* A row that begins at these coordinates; outside in another dimension than the first if `inside` is false. */
static void move_row(const struct part *part, const int64_t *at, bool inside, uint64_t place)
{
    unsigned char row[ROW_MAX];
    const struct mr_tensor_map *map = part->map;
    unsigned bytes = part->count * part->bytes;
    bool loads = MR_TENSOR_GET(part->code, OP) == MR_TENSOR_LOAD;
    int64_t size = (int64_t)map->last[0] + 1, first = at[0] < 0 ? -at[0] : 0, end = size - at[0];
    uint64_t address = map->address;
    if (!loads) /* stores end with a whole piece, as on hardware */
        end += (PIECE - size * part->bytes % PIECE) % PIECE / part->bytes;
    if (end > part->count)
        end = part->count;
    if (!inside || first >= end)
        first = end = 0;
    for (unsigned i = 1; i < map->rank; i++)
        address += (uint64_t)at[i] * map->stride[i - 1];
    address += (uint64_t)(at[0] + first) * part->bytes;
    unsigned skipped = (unsigned)first * part->bytes, present = (unsigned)(end - first) * part->bytes;
    if (part->executor->code->sites && present)
        mr_note_touch(part->executor, (const void *)(uintptr_t)address, present);
    if (loads) {
        fill_outside(part, row, bytes);
        memcpy(row + skipped, (const void *)(uintptr_t)address, present);
        convert_row(part, row + skipped, present);
        move_pieces(part, place, row, bytes, true);
        return;
    }
    move_pieces(part, place, row, bytes, false);
    if (part->operation == MR_REDUCE_NONE)
        memcpy((void *)(uintptr_t)address, row + skipped, present);
    else
        mr_copy_reduce(part->operation, part->number, (void *)(uintptr_t)address, row + skipped, present);
}

/* The same where elements are slices of an interleaved tensor, of which every one, or every few, is taken. */
static void move_slices(const struct part *part, const int64_t *from, bool inside, uint64_t place)
{
    struct part slice = *part;
    int64_t at[MR_TENSOR_RANK];
    memcpy(at, from, sizeof at);
    slice.count = 1;
    for (unsigned i = 0; i < part->count; i++) {
        move_row(&slice, at, inside, place + (uint64_t)i * part->bytes);
        at[0] += part->map->step[0];
    }
}

static bool is_inside(const struct mr_tensor_map *map, unsigned dimension, int64_t at)
{
    return at >= 0 && at <= (int64_t)map->last[dimension];
}

/* --- Boxes, rows, columns of pixels ---------------------------------------------- */

static uint32_t move_box(const struct part *part, const int64_t *from)
{
    const struct mr_tensor_map *map = part->map;
    unsigned counts[MR_TENSOR_RANK] = {1, 1, 1, 1, 1}, index[MR_TENSOR_RANK] = {0}, dimension;
    uint32_t rows = 1;
    for (unsigned i = 1; i < map->rank; i++) {
        counts[i] = map->interleave && i == map->rank - 2u
                        ? 1
                        : (map->box[i] + map->step[i] - 1u) / map->step[i]; /* one slice */
        rows *= counts[i];
    }
    for (uint32_t row = 0; row < rows; row++) {
        int64_t at[MR_TENSOR_RANK] = {from[0]};
        bool inside = true;
        for (unsigned i = 1; i < map->rank; i++) {
            at[i] = from[i] + (int64_t)index[i] * map->step[i];
            inside = inside && is_inside(map, i, at[i]);
        }
        (map->interleave ? move_slices : move_row)(part, at, inside, (uint64_t)row * part->pitch);
        for (dimension = 1; dimension < map->rank && ++index[dimension] == counts[dimension]; dimension++)
            index[dimension] = 0;
    }
    return rows;
}

/* Four rows of a matrix: a column, then the rows. */
static uint32_t move_four(const struct part *part, const int64_t *from)
{
    for (unsigned i = 0; i < 4; i++) {
        int64_t at[MR_TENSOR_RANK] = {from[0], from[i + 1]};
        move_row(part, at, is_inside(part->map, 1, at[1]), (uint64_t)i * part->pitch);
    }
    return 4;
}

/* Pixels one after the other through the box that the corners span, each moved by the offsets. */
static uint32_t move_columns(const struct part *part, const int64_t *from, const uint32_t *offset)
{
    const struct mr_tensor_map *map = part->map;
    unsigned last = map->rank - 1u, pixels = map->box[1];
    int64_t base[MR_TENSOR_RANK];
    memcpy(base, from, sizeof base);
    for (unsigned pixel = 0; pixel < pixels; pixel++) {
        int64_t at[MR_TENSOR_RANK] = {base[0]};
        bool inside = true;
        for (unsigned i = 1; i < map->rank; i++) {
            at[i] = base[i] + (i < last ? (int64_t)offset[i - 1] : 0);
            inside = inside && is_inside(map, i, at[i]);
        }
        move_row(part, at, inside, (uint64_t)pixel * part->pitch);
        unsigned i = 1;
        for (; i < last; i++) {
            base[i] += map->step[i];
            if (base[i] <= (int64_t)map->last[i] + map->upper[i - 1])
                break;
            base[i] = map->lower[i - 1];
        }
        if (i == last)
            base[last] += map->step[last];
    }
    return pixels;
}

/* --- A lane --------------------------------------------------------------------- */

static unsigned number_of(unsigned type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
        return MR_NUMBER_U32;
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
        return MR_NUMBER_S32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        return MR_NUMBER_U64;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
        return MR_NUMBER_S64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        return MR_NUMBER_F16;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return MR_NUMBER_BF16;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return MR_NUMBER_F64;
    default:
        return MR_NUMBER_F32;
    }
}

unsigned mr_tensor_element_bytes(unsigned type)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < sizeof bytes ? bytes[type] : 0;
}

/* The program may have written anything into a map: what this file relies on is looked at. */
static bool is_map(const struct mr_tensor_map *map)
{
    if (map->mark != MR_TENSOR_MAP_MARK || map->rank < 1 || map->rank > MR_TENSOR_RANK ||
        mr_tensor_element_bytes(map->type) == 0)
        return false;
    for (unsigned i = 0; i < map->rank; i++)
        if (map->step[i] == 0)
            return false;
    return map->box[0] * mr_tensor_element_bytes(map->type) <= ROW_MAX && map->swizzle <= CU_TENSOR_MAP_SWIZZLE_128B &&
           map->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && (!map->interleave || (map->rank >= 3 && !map->columns)) &&
           (!map->columns || map->rank >= 3);
}

static void check_map(struct mr_executor *executor, const struct mr_tensor_map *map, uint32_t code, uint32_t line)
{
    /* No map is for wide columns: nothing makes one (cuTensorMapEncodeIm2colWide). */
    unsigned mode = MR_TENSOR_GET(code, MODE), columns = mode == MR_TENSOR_WIDE ? 2u : mode == MR_TENSOR_COLUMNS;
    if (!is_map(map))
        mr_executor_fault(executor, CUDA_ERROR_ILLEGAL_INSTRUCTION, line, "a copy by what is no tensor map");
    if (map->rank != MR_TENSOR_GET(code, RANK) || map->columns != columns)
        mr_executor_fault(executor, CUDA_ERROR_ILLEGAL_INSTRUCTION, line,
                          "a tensor map of other dimensions, or for another mode, than the copy's");
}

/* Which numbers an operation is for. */
static bool is_reduction(uint32_t operation, unsigned type)
{
    bool whole = type >= CU_TENSOR_MAP_DATA_TYPE_UINT32 && type <= CU_TENSOR_MAP_DATA_TYPE_INT64;
    bool halves = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    switch (operation) {
    case MR_REDUCE_NONE:
        return true;
    case MR_REDUCE_ADD:
        return type >= CU_TENSOR_MAP_DATA_TYPE_UINT32 && type != CU_TENSOR_MAP_DATA_TYPE_INT64;
    case MR_REDUCE_MIN:
    case MR_REDUCE_MAX:
        return whole || halves;
    case MR_REDUCE_INC:
    case MR_REDUCE_DEC:
        return type == CU_TENSOR_MAP_DATA_TYPE_UINT32;
    default:
        return whole && type != CU_TENSOR_MAP_DATA_TYPE_INT64;
    }
}

/* Where the first coordinate is in the middle of a piece, pixels begin outside of the box for them, or what is stored
 * would lie in front of the tensor, hardware stops. */
static void check_place(const struct part *part, const int64_t *at)
{
    const struct mr_tensor_map *map = part->map;
    bool stores = MR_TENSOR_GET(part->code, OP) == MR_TENSOR_STORE;
    bool good = at[0] * (int64_t)part->bytes % PIECE == 0 && is_reduction(part->operation, map->type);
    for (unsigned i = 0; stores && i < map->rank; i++)
        good = good && at[i] >= 0 && (!map->columns || i >= 3 || map->lower[i] >= 0);
    for (unsigned i = 1; map->columns && i + 1 < map->rank; i++)
        good = good && at[i] >= map->lower[i - 1] && at[i] <= (int64_t)map->last[i] + map->upper[i - 1];
    if (!good)
        mr_executor_fault(part->executor, CUDA_ERROR_ILLEGAL_INSTRUCTION, part->line,
                          "a copy of a tensor's part from where none can begin");
}

void mr_copy_tensor(struct mr_block *block, uint32_t mask, uint32_t code, uint32_t line,
                    const struct mr_tensor_lanes *lanes)
{
    struct mr_executor *executor = block->engine;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        struct mr_tensor_map map;
        memcpy(&map, (const void *)(uintptr_t)lanes->map[lane], sizeof map);
        check_map(executor, &map, code, line);
        int64_t at[MR_TENSOR_RANK];
        uint32_t offset[3];
        for (unsigned i = 0; i < MR_TENSOR_RANK; i++)
            at[i] = lanes->at[i][lane];
        for (unsigned i = 0; i < 3; i++)
            offset[i] = MR_TENSOR_GET(code, OP) == MR_TENSOR_LOAD ? lanes->offset[i][lane] : 0;
        struct part part = {
            .map = &map,
            .executor = executor,
            .window = block->shared,
            .shared = lanes->shared[lane] - (uint64_t)(uintptr_t)block->shared,
            .bytes = mr_tensor_element_bytes(map.type),
            .count = map.box[0],
            .operation = MR_TENSOR_GET(code, REDUCE),
            .number = number_of(map.type),
            .code = code,
            .line = line,
        };
        if (map.interleave) {
            part.bytes = map.interleave == CU_TENSOR_MAP_INTERLEAVE_16B ? 16 : 32;
            part.count = (map.box[0] + map.step[0] - 1u) / map.step[0];
        }
        part.pitch = map.swizzle && !map.interleave ? 16u << map.swizzle : part.count * part.bytes;
        check_place(&part, at);
        uint32_t mode = MR_TENSOR_GET(code, MODE), rows = 0;
        if (mode == MR_TENSOR_TILE)
            rows = move_box(&part, at);
        else if (mode == MR_TENSOR_ROWS)
            rows = move_four(&part, at);
        else
            rows = move_columns(&part, at, offset);
        if (MR_TENSOR_GET(code, OP) == MR_TENSOR_LOAD)
            mr_mbarrier_complete(executor, lanes->barrier[lane], rows * part.count * part.bytes);
    }
}
