/* SPDX-License-Identifier: Apache-2.0 */
/* Packing dense operands. A packed member has no gaps; it has the order of its description unless it is turned. */
#include "libs/cusparse/dense.h"

#include "libs/math/convert.h"

#define PIECE 16384 /* elements of a part, about */
#define BLOCK 16 /* elements of a run that are turned at once: where they go stays in the nearest cache */

struct mr_operand mr_operand(const struct cusparseDnMatDescr *from, cusparseOperation_t op, enum mr_type type)
{
    bool is_conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && mr_element_is_complex(from->type);
    return (struct mr_operand){
        .from = *from, .op = op, .type = type, .pack = is_conjugated || from->type != mr_stored(type)};
}

/* What lies together: rows, or columns. */
static int64_t runs(const struct mr_operand *o)
{
    return o->from.order == CUSPARSE_ORDER_ROW ? o->from.rows : o->from.cols;
}

static int64_t run_length(const struct mr_operand *o)
{
    return o->from.order == CUSPARSE_ORDER_ROW ? o->from.cols : o->from.rows;
}

bool mr_operand_is_by_columns(const struct mr_operand *o)
{
    return (o->from.order == CUSPARSE_ORDER_COL) == (o->op == CUSPARSE_OPERATION_NON_TRANSPOSE);
}

size_t mr_operand_bytes(const struct mr_operand *o)
{
    return o->pack ? (size_t)o->from.rows * (size_t)o->from.cols * mr_type_size(o->type) : 0;
}

int64_t mr_operand_members(const struct mr_operand *o)
{
    return o->from.batch_stride == 0 ? 1 : o->from.batch_count;
}

/* Takes `count` elements of run `run` of a member. */
static void take(const struct mr_operand *o, const char *member, int64_t run, int64_t first, int64_t count, char *to)
{
    mr_take(o->from.type, member + (run * o->from.ld + first) * mr_element_size(o->from.type), 1, count, o->type, to);
    if (o->op != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE || !mr_type_is_complex(o->type))
        return;
    for (int64_t i = 0; i < count; i++)
        if (o->type == MR_C)
            ((float *)(void *)to)[2 * i + 1] = -((float *)(void *)to)[2 * i + 1];
        else
            ((double *)(void *)to)[2 * i + 1] = -((double *)(void *)to)[2 * i + 1];
}

static const char *member_at(const struct mr_operand *o, int64_t member)
{
    return (const char *)o->from.values + member * o->from.batch_stride * mr_element_size(o->from.type);
}

static void pack_runs(const struct mr_operand *o, int64_t member, int64_t begin, int64_t stop, char *to)
{
    int64_t length = run_length(o), size = (int64_t)mr_type_size(o->type);
    for (int64_t i = begin; i < stop; i++)
        take(o, member_at(o, member), i, 0, length, to + i * length * size);
}

/* Elements of `size` bytes go `step` bytes apart. */
static void spread(const char *from, int64_t count, size_t size, char *to, int64_t step)
{
    for (int64_t i = 0; i < count; i++)
        if (size == 4)
            memcpy(to + i * step, from + i * 4, 4);
        else if (size == 8)
            memcpy(to + i * step, from + i * 8, 8);
        else
            memcpy(to + i * step, from + i * 16, 16);
}

/* Elements begin to stop of every run. */
static void turn_runs(const struct mr_operand *o, int64_t member, int64_t begin, int64_t stop, char *to)
{
    _Alignas(64) char block[BLOCK * 16];
    int64_t size = (int64_t)mr_type_size(o->type), count = runs(o);
    for (int64_t first = begin; first < stop; first += BLOCK) {
        int64_t length = stop - first < BLOCK ? stop - first : BLOCK;
        for (int64_t run = 0; run < count; run++) {
            take(o, member_at(o, member), run, first, length, block);
            spread(block, length, (size_t)size, to + (first * count + run) * size, count * size);
        }
    }
}

void mr_operand_pack(const struct mr_operand *o, int64_t member, void *to)
{
    if (o->turned)
        turn_runs(o, member, 0, run_length(o), to);
    else
        pack_runs(o, member, 0, runs(o), to);
}

/* Parts are some runs of a member, or some blocks of all runs. */
static int64_t pieces(const struct mr_operand *o)
{
    return o->turned ? run_length(o) : runs(o);
}

static int64_t pieces_each(const struct mr_operand *o)
{
    return o->turned ? (PIECE / (runs(o) + 1) / BLOCK + 1) * BLOCK : PIECE / (run_length(o) + 1) + 1;
}

static uint64_t parts_of_member(const struct mr_operand *o)
{
    return mr_parts_of((uint64_t)pieces(o), (uint64_t)pieces_each(o));
}

static void run_pack(void *data, uint64_t first, uint64_t end)
{
    const struct mr_operand *o = data;
    uint64_t parts = parts_of_member(o);
    for (uint64_t part = first; part < end; part++) {
        uint64_t member = part / parts;
        struct mr_span span = mr_span(part % parts, part % parts + 1, pieces_each(o), pieces(o));
        (o->turned ? turn_runs : pack_runs)(o, (int64_t)member, span.begin, span.stop,
                                            (char *)o->packed + member * mr_operand_bytes(o));
    }
}

cusparseStatus_t mr_operand_submit(const struct mr_form *form, const struct mr_cusparse *sparse,
                                   const struct mr_operand *o)
{
    uint64_t parts = parts_of_member(o) * (uint64_t)mr_operand_members(o);
    return mr_cusparse_submit(form, sparse, mr_operand_bytes(o) > 0 ? parts : 0, run_pack, o, sizeof *o);
}

struct mr_view mr_operand_view(const struct mr_operand *o, int64_t member)
{
    bool by_row = o->from.order == CUSPARSE_ORDER_ROW;
    int64_t ld = o->pack ? run_length(o) : o->from.ld;
    struct mr_view view = {.row_step = by_row ? ld : 1, .column_step = by_row ? 1 : ld};
    if (mr_operand_members(o) == 1)
        member = 0;
    if (o->pack)
        view.at = (char *)o->packed + (size_t)member * mr_operand_bytes(o);
    else
        view.at = (char *)o->from.values + member * o->from.batch_stride * (int64_t)mr_type_size(o->type);
    if (o->turned)
        view.row_step = runs(o), view.column_step = 1;
    else if (o->op != CUSPARSE_OPERATION_NON_TRANSPOSE) {
        int64_t step = view.row_step;
        view.row_step = view.column_step;
        view.column_step = step;
    }
    return view;
}
