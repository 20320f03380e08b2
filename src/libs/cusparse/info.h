/* SPDX-License-Identifier: Apache-2.0 */
/* Infos: what an analysis of the older interface leaves for the solver, and where it says which pivot is zero. */
#ifndef MR_CUSPARSE_INFO_H
#define MR_CUSPARSE_INFO_H

#include "libs/cusparse/sparse.h"

enum mr_info_kind {
    MR_INFO_CSRIC,
    MR_INFO_BSRIC,
    MR_INFO_CSRILU,
    MR_INFO_BSRILU,
    MR_INFO_BSRSV,
    MR_INFO_BSRSM,
    MR_INFO_CSRU,
    MR_INFO_COLOR,
    MR_INFO_PRUNE,
};

/* What work writes when its turn has come: the first row whose pivot is zero or missing, with the index base; -1: none.
 * It lives as long as the info. */
struct mr_found {
    int pivot;
};

struct mr_info {
    enum mr_kind kind;
    enum mr_info_kind of;
    struct mr_found *found;
    bool used; /* work that writes `found` was submitted */
    bool analysed, boost;
    struct mr_scalar tolerance, value; /* boost: pivots not greater than the one are replaced by the other */
    int *order; /* of csru2csr: order_size places */
    int64_t order_size;
};

/* The info, or NULL if it is not of that kind. */
struct mr_info *mr_cusparse_info(void *info, enum mr_info_kind of);

/* Waits for the stream and says which pivot is zero, or -1: ZERO_PIVOT if there is one. */
cusparseStatus_t mr_cusparse_pivot(const struct mr_form *form, cusparseHandle_t handle, void *info,
                                   enum mr_info_kind kind, int *position);

/* Memory for at least `count` places; the info owns it. False when memory is short. May wait for the context. */
bool mr_cusparse_info_order(struct mr_info *info, int64_t count);

#endif
