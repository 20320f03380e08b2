/* SPDX-License-Identifier: Apache-2.0 */
/* Packing dense operands. A packed member has the order of its description, and no gaps. */
#include "libs/cusparse/dense.h"

#include "libs/math/convert.h"

#define PIECE 16384 /* elements of a part, about */

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

size_t mr_operand_bytes(const struct mr_operand *o)
{
    return o->pack ? (size_t)o->from.rows * (size_t)o->from.cols * mr_type_size(o->type) : 0;
}

int64_t mr_operand_members(const struct mr_operand *o)
{
    return o->from.batch_stride == 0 ? 1 : o->from.batch_count;
}

static void pack_runs(const struct mr_operand *o, int64_t member, int64_t begin, int64_t stop, char *to)
{
    unsigned stored = mr_element_size(o->from.type);
    size_t length = (size_t)run_length(o), size = mr_type_size(o->type);
    const char *from = (const char *)o->from.values + member * o->from.batch_stride * stored;
    bool conjugated = o->op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && mr_type_is_complex(o->type);
    for (int64_t i = begin; i < stop; i++) {
        char *run = to + (size_t)i * length * size;
        mr_take(o->from.type, from + i * o->from.ld * stored, 1, (int64_t)length, o->type, run);
        for (size_t j = 0; conjugated && j < length; j++)
            if (o->type == MR_C)
                ((float *)(void *)run)[2 * j + 1] = -((float *)(void *)run)[2 * j + 1];
            else
                ((double *)(void *)run)[2 * j + 1] = -((double *)(void *)run)[2 * j + 1];
    }
}

void mr_operand_pack(const struct mr_operand *o, int64_t member, void *to)
{
    pack_runs(o, member, 0, runs(o), to);
}

/* Parts are some runs of a member. */
static int64_t runs_each(const struct mr_operand *o)
{
    return PIECE / (run_length(o) + 1) + 1;
}

static void run_pack(void *data, uint64_t first, uint64_t end)
{
    const struct mr_operand *o = data;
    uint64_t parts = mr_parts_of((uint64_t)runs(o), (uint64_t)runs_each(o));
    for (uint64_t part = first; part < end; part++) {
        uint64_t member = part / parts;
        struct mr_span span = mr_span(part % parts, part % parts + 1, runs_each(o), runs(o));
        pack_runs(o, (int64_t)member, span.begin, span.stop, (char *)o->packed + member * mr_operand_bytes(o));
    }
}

cusparseStatus_t mr_operand_submit(const struct mr_form *form, const struct mr_cusparse *sparse,
                                   const struct mr_operand *o)
{
    uint64_t parts = mr_parts_of((uint64_t)runs(o), (uint64_t)runs_each(o)) * (uint64_t)mr_operand_members(o);
    return mr_cusparse_submit(form, sparse, run_length(o) > 0 ? parts : 0, run_pack, o, sizeof *o);
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
    if (o->op != CUSPARSE_OPERATION_NON_TRANSPOSE) {
        int64_t step = view.row_step;
        view.row_step = view.column_step;
        view.column_step = step;
    }
    return view;
}
