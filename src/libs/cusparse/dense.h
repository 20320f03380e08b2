/* SPDX-License-Identifier: Apache-2.0 */
/* Dense operands of products. A *view* has an element (i, j) at i * row_step + j * column_step, in the type that is
 * computed in. An operand that is stored in another type, or whose conjugate is wanted, is *packed* first: converted
 * into memory of its own. One that is read by rows and lies by columns can be *turned* as it is packed. */
#ifndef MR_CUSPARSE_DENSE_H
#define MR_CUSPARSE_DENSE_H

#include "libs/cusparse/element.h"
#include "libs/cusparse/sparse.h"

struct mr_view {
    const void *at;
    int64_t row_step, column_step;
};

/* An operand op(D), and how it is packed. */
struct mr_operand {
    struct cusparseDnMatDescr from;
    cusparseOperation_t op;
    enum mr_type type;
    bool pack;
    bool turned; /* rows of op(D) lie together when it is packed, however D lies */
    void *packed; /* mr_operand_bytes; NULL: not yet */
};

/* D with its op. */
struct mr_operand mr_operand(const struct cusparseDnMatDescr *from, cusparseOperation_t op, enum mr_type type);

/* Rows and columns of op(D). */
static inline int64_t mr_operand_rows(const struct mr_operand *o)
{
    return o->op == CUSPARSE_OPERATION_NON_TRANSPOSE ? o->from.rows : o->from.cols;
}

static inline int64_t mr_operand_columns(const struct mr_operand *o)
{
    return o->op == CUSPARSE_OPERATION_NON_TRANSPOSE ? o->from.cols : o->from.rows;
}

/* Whether rows of op(D) lie apart, so that it can be turned. */
bool mr_operand_is_by_columns(const struct mr_operand *o);

/* Bytes of one member of the batch when packed; 0 if it need not be. */
size_t mr_operand_bytes(const struct mr_operand *o);

/* Members of the batch that differ: 1 if all members are the same memory. */
int64_t mr_operand_members(const struct mr_operand *o);

/* Submits the packing of all members into o->packed. */
cusparseStatus_t mr_operand_submit(const struct mr_form *form, const struct mr_cusparse *sparse,
                                   const struct mr_operand *o) __attribute__((warn_unused_result));

/* In a part: packs one member into `to`. */
void mr_operand_pack(const struct mr_operand *o, int64_t member, void *to);

/* op(D) of a member, packed (all members lie behind each other at o->packed) or as it is. */
struct mr_view mr_operand_view(const struct mr_operand *o, int64_t member);

/* The result's member as a view of stored elements. */
static inline struct mr_view mr_dense_view(const struct cusparseDnMatDescr *d, int64_t member, unsigned size)
{
    bool by_row = d->order == CUSPARSE_ORDER_ROW;
    return (struct mr_view){(char *)d->values + member * d->batch_stride * size, by_row ? d->ld : 1,
                            by_row ? 1 : d->ld};
}

#endif
