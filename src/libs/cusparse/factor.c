/* SPDX-License-Identifier: Apache-2.0 */
/* Incomplete factorisations without fill, in place: LU and Cholesky, of CSR and of BSR. A matrix in blocks is factored
 * as the one of its elements whose pattern is all of the blocks'. Rows follow from each other, so there is one part.
 *
 * An info says which pivot is zero: by the analysis, the first row without a diagonal; then by the factorisation, the
 * first row (or block row) whose pivot is zero as well. */
#include "libs/cusparse/info.h"
#include "libs/cusparse/older.h"
#include "libs/math/driver.h"
#include "libs/math/hypot.h"

#include <math.h>

struct factor {
    struct cusparseSpMatDescr a;
    enum mr_type type;
    bool cholesky, boost;
    struct mr_scalar tolerance, value;
    struct mr_found *found;
    int64_t block; /* rows that count as one, in the pivot's place */
    const char *name;
};

/* Notes the row whose pivot is zero, unless an earlier one is noted. Called by one part alone. */
static void say_pivot(const struct factor *r, int64_t row)
{
    if (r->found->pivot < 0)
        r->found->pivot = (int)(row / r->block + r->a.base);
}

#define FACTOR(s, element, real, conjugate) \
    static bool lu_##s(const struct factor *r, int64_t *where, int64_t *diagonal) \
    { \
        struct mr_reader mine = {.matrix = &r->a, .type = r->type, .places = true}; \
        struct mr_reader others = {.matrix = &r->a, .type = r->type, .places = true, .slot = 2}; \
        struct mr_entries e, o; \
        element *v = r->a.values, boost = 0; \
        double tolerance = 0; \
        if (r->boost) { \
            memcpy(&tolerance, mr_scalar_at(&r->tolerance), sizeof tolerance); \
            memcpy(&boost, mr_scalar_at(&r->value), sizeof boost); \
        } \
        for (int64_t i = 0; i < r->a.rows; i++) { \
            if (!mr_line(&mine, i, &e)) \
                return false; \
            for (int64_t k = 0; k < e.count; k++) \
                where[e.index[k]] = e.place[k]; \
            for (int64_t k = 0; k < e.count && e.index[k] < i; k++) { \
                int64_t row = e.index[k]; \
                element factor = diagonal[row] < 0 ? v[e.place[k]] / (element)0 : v[e.place[k]] / v[diagonal[row]]; \
                v[e.place[k]] = factor; \
                if (!mr_line(&others, row, &o)) \
                    return false; \
                for (int64_t l = 0; l < o.count; l++) \
                    if (o.index[l] > row && where[o.index[l]] >= 0) \
                        v[where[o.index[l]]] -= factor * v[o.place[l]]; \
            } \
            diagonal[i] = where[i]; \
            if (diagonal[i] >= 0 && r->boost && mr_hypot(creal(v[diagonal[i]]), cimag(v[diagonal[i]])) <= tolerance) \
                v[diagonal[i]] = boost; \
            if (diagonal[i] < 0 || v[diagonal[i]] == 0) \
                say_pivot(r, i); \
            for (int64_t k = 0; k < e.count; k++) \
                where[e.index[k]] = -1; \
        } \
        return true; \
    } \
    static bool cholesky_##s(const struct factor *r, int64_t *where, int64_t *diagonal) \
    { \
        struct mr_reader mine = {.matrix = &r->a, .type = r->type, .places = true}; \
        struct mr_reader others = {.matrix = &r->a, .type = r->type, .places = true, .slot = 2}; \
        struct mr_entries e, o; \
        element *v = r->a.values; \
        for (int64_t i = 0; i < r->a.rows; i++) { \
            if (!mr_line(&mine, i, &e)) \
                return false; \
            for (int64_t k = 0; k < e.count; k++) \
                where[e.index[k]] = e.place[k]; \
            diagonal[i] = where[i]; \
            real square = 0; \
            for (int64_t k = 0; k < e.count; k++) { \
                int64_t row = e.index[k]; \
                if (row >= i) \
                    continue; \
                element sum = v[e.place[k]]; \
                if (!mr_line(&others, row, &o)) \
                    return false; \
                for (int64_t l = 0; l < o.count; l++) \
                    if (o.index[l] < row && where[o.index[l]] >= 0) \
                        sum -= v[where[o.index[l]]] * conjugate(v[o.place[l]]); \
                sum = diagonal[row] < 0 ? sum / (element)0 : sum / v[diagonal[row]]; \
                v[e.place[k]] = sum; \
                square += (real)creal(sum * conjugate(sum)); \
            } \
            real pivot = diagonal[i] < 0 ? 0 : (real)creal(v[diagonal[i]]) - square; \
            if (!(pivot > 0)) \
                say_pivot(r, i); \
            if (diagonal[i] >= 0) \
                v[diagonal[i]] = (real)sqrt((double)pivot); \
            for (int64_t k = 0; k < e.count; k++) \
                where[e.index[k]] = -1; \
        } \
        return true; \
    }
MR_FOR_TYPES(FACTOR)

/* Two numbers for each row, from the buffer, which is the program's. */
struct with_buffer {
    struct factor factor;
    int64_t *buffer;
};

static void run_factor(void *data, uint64_t first, uint64_t end)
{
    static bool (*const lu[])(const struct factor *, int64_t *, int64_t *) = MR_FAMILY(lu);
    static bool (*const cholesky[])(const struct factor *, int64_t *, int64_t *) = MR_FAMILY(cholesky);
    const struct with_buffer *w = data;
    const struct factor *r = &w->factor;
    (void)first, (void)end;
    for (int64_t i = 0; i < r->a.rows; i++)
        w->buffer[i] = -1;
    r->found->pivot = -1;
    if (!(r->cholesky ? cholesky : lu)[r->type](r, w->buffer, w->buffer + r->a.rows))
        mr_math_short_of_memory(r->name);
}

static void run_analysis(void *data, uint64_t first, uint64_t end)
{
    const struct with_buffer *w = data;
    const struct factor *r = &w->factor;
    struct mr_reader mine = {.matrix = &r->a, .type = r->type, .places = true};
    struct mr_entries e;
    (void)first, (void)end;
    r->found->pivot = -1;
    for (int64_t i = 0; i < r->a.rows && r->found->pivot < 0; i++) {
        bool is_there = false;
        if (!mr_line(&mine, i, &e)) {
            mr_math_short_of_memory(r->name);
            return;
        }
        for (int64_t k = 0; k < e.count; k++)
            is_there = is_there || e.index[k] == i;
        if (!is_there)
            say_pivot(r, i);
    }
}

static size_t bytes_of(int64_t rows)
{
    return (size_t)rows * 2 * sizeof(int64_t) + 1;
}

/* What a factorisation is of. */
struct source {
    const cusparseMatDescr_t descr;
    cusparseDirection_t dir;
    int64_t rows, nnz, block; /* in blocks; block 0: CSR */
    const void *values;
    const int *offsets, *columns;
    void *info;
    enum mr_info_kind kind;
};

static cusparseStatus_t check(const struct mr_form *form, const struct source *s)
{
    MR_CHECK(form, mr_is(s->descr, MR_KIND_MATDESCR) && s->rows >= 0 && s->nnz >= 0 && s->block >= 0);
    MR_CHECK(form, mr_is_direction(s->dir) && mr_cusparse_info(s->info, s->kind));
    MR_CHECK(form, s->rows == 0 || s->offsets);
    MR_CHECK(form, s->nnz == 0 || (s->values && s->columns));
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t submit(const struct mr_form *form, cusparseHandle_t handle, const struct source *s,
                               void *buffer, bool is_analysis)
{
    MR_ENTER(form, handle);
    MR_STEP(check(form, s));
    MR_CHECK(form, buffer || s->rows == 0);
    struct mr_info *info = mr_cusparse_info(s->info, s->kind);
    enum mr_type type = mr_type_of(form);
    struct with_buffer w = {.buffer = buffer};
    w.factor = (struct factor){.type = type,
                               .cholesky = s->kind == MR_INFO_CSRIC || s->kind == MR_INFO_BSRIC,
                               .boost = info->boost,
                               .tolerance = info->tolerance,
                               .value = info->value,
                               .found = info->found,
                               .block = s->block ? s->block : 1,
                               .name = form->name};
    w.factor.a =
        s->block ? mr_older_bsr(s->descr, s->dir, s->rows, s->rows, s->nnz, s->values, s->offsets, s->columns, s->block,
                                s->block, mr_stored(type))
                 : mr_older_csr(s->descr, s->rows, s->rows, s->nnz, s->values, s->offsets, s->columns, mr_stored(type));
    info->used = true;
    if (!is_analysis)
        MR_CHECK(form, info->analysed);
    info->analysed = true;
    return mr_cusparse_submit(form, sparse, s->rows > 0, is_analysis ? run_analysis : run_factor, &w, sizeof w);
}

static cusparseStatus_t tell_size(const struct mr_form *form, cusparseHandle_t handle, const struct source *s,
                                  int *bytes, size_t *more)
{
    MR_ENTER(form, handle);
    (void)sparse;
    MR_STEP(check(form, s));
    MR_CHECK(form, bytes || more);
    size_t size = bytes_of(s->rows * (s->block ? s->block : 1));
    if (more)
        *more = size;
    else
        *bytes = (int)size;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_pivot(const struct mr_form *form, cusparseHandle_t handle, void *info,
                                   enum mr_info_kind kind, int *position)
{
    MR_ENTER(form, handle);
    struct mr_info *known = mr_cusparse_info(info, kind);
    MR_CHECK(form, known && position);
    MR_STEP(mr_cusparse_wait(form, sparse));
    if (!mr_on_device(sparse))
        *position = known->found->pivot;
    else if (mr_math_driver.cuMemcpy2D_v2) {
        CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = &known->found->pivot,
                              .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                              .dstDevice = (CUdeviceptr)(uintptr_t)position,
                              .WidthInBytes = sizeof(int),
                              .Height = 1};
        MR_STEP(mr_cusparse_status(form, mr_math_driver.cuMemcpy2D_v2(&copy)));
    }
    return known->found->pivot >= 0 ? CUSPARSE_STATUS_ZERO_PIVOT : CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t set_boost(const struct mr_form *form, cusparseHandle_t handle, void *info,
                                  enum mr_info_kind kind, int64_t enable, const double *tol, const void *value)
{
    MR_ENTER(form, handle);
    struct mr_info *known = mr_cusparse_info(info, kind);
    MR_CHECK(form, known && (!enable || (tol && value)));
    known->boost = enable != 0;
    if (enable) {
        known->tolerance = mr_scalar_take(tol, sizeof *tol, mr_on_device(sparse));
        known->value = mr_scalar_take(value, mr_type_size(mr_type_of(form)), mr_on_device(sparse));
    }
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- the functions ---- */

#define OF_CSR(info_kind, values_, offsets_, columns_) \
    {.descr = descrA, \
     .rows = m, \
     .nnz = nnz, \
     .values = values_, \
     .offsets = offsets_, \
     .columns = columns_, \
     .info = info, \
     .kind = info_kind}
#define OF_BSR(info_kind, block_) \
    {.descr = descrA, \
     .dir = dirA, \
     .rows = mb, \
     .nnz = nnzb, \
     .block = block_, \
     .values = bsrSortedVal, \
     .offsets = bsrSortedRowPtr, \
     .columns = bsrSortedColInd, \
     .info = info, \
     .kind = info_kind}

cusparseStatus_t mr_cusparse_csrilu02_numericBoost(const struct mr_form *form, cusparseHandle_t handle,
                                                   csrilu02Info_t info, int64_t enable_boost, void *tol,
                                                   void *boost_val)
{
    return set_boost(form, handle, info, MR_INFO_CSRILU, enable_boost, tol, boost_val);
}

cusparseStatus_t mr_cusparse_Xcsrilu02_zeroPivot(const struct mr_form *form, cusparseHandle_t handle,
                                                 csrilu02Info_t info, int *position)
{
    return mr_cusparse_pivot(form, handle, info, MR_INFO_CSRILU, position);
}

cusparseStatus_t mr_cusparse_csrilu02_bufferSize(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                 int64_t nnz, const cusparseMatDescr_t descrA, void *csrSortedValA,
                                                 const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                                 csrilu02Info_t info, int *pBufferSizeInBytes)
{
    struct source s = OF_CSR(MR_INFO_CSRILU, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA);
    return tell_size(form, handle, &s, pBufferSizeInBytes, NULL);
}

cusparseStatus_t mr_cusparse_csrilu02_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                    int64_t nnz, const cusparseMatDescr_t descrA, void *csrSortedVal,
                                                    const int *csrSortedRowPtr, const int *csrSortedColInd,
                                                    csrilu02Info_t info, size_t *pBufferSize)
{
    struct source s = OF_CSR(MR_INFO_CSRILU, csrSortedVal, csrSortedRowPtr, csrSortedColInd);
    return tell_size(form, handle, &s, NULL, pBufferSize);
}

cusparseStatus_t mr_cusparse_csrilu02_analysis(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                               int64_t nnz, const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                               const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                               csrilu02Info_t info, cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy;
    struct source s = OF_CSR(MR_INFO_CSRILU, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA);
    return submit(form, handle, &s, pBuffer, true);
}

cusparseStatus_t mr_cusparse_csrilu02(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t nnz,
                                      const cusparseMatDescr_t descrA, void *csrSortedValA_valM,
                                      const int *csrSortedRowPtrA, const int *csrSortedColIndA, csrilu02Info_t info,
                                      cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy;
    struct source s = OF_CSR(MR_INFO_CSRILU, csrSortedValA_valM, csrSortedRowPtrA, csrSortedColIndA);
    return submit(form, handle, &s, pBuffer, false);
}

cusparseStatus_t mr_cusparse_bsrilu02_numericBoost(const struct mr_form *form, cusparseHandle_t handle,
                                                   bsrilu02Info_t info, int64_t enable_boost, void *tol,
                                                   void *boost_val)
{
    return set_boost(form, handle, info, MR_INFO_BSRILU, enable_boost, tol, boost_val);
}

cusparseStatus_t mr_cusparse_Xbsrilu02_zeroPivot(const struct mr_form *form, cusparseHandle_t handle,
                                                 bsrilu02Info_t info, int *position)
{
    return mr_cusparse_pivot(form, handle, info, MR_INFO_BSRILU, position);
}

cusparseStatus_t mr_cusparse_bsrilu02_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                                 cusparseDirection_t dirA, int64_t mb, int64_t nnzb,
                                                 const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                                 const int *bsrSortedRowPtr, const int *bsrSortedColInd,
                                                 int64_t blockDim, bsrilu02Info_t info, int *pBufferSizeInBytes)
{
    struct source s = OF_BSR(MR_INFO_BSRILU, blockDim);
    return tell_size(form, handle, &s, pBufferSizeInBytes, NULL);
}

cusparseStatus_t mr_cusparse_bsrilu02_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                    cusparseDirection_t dirA, int64_t mb, int64_t nnzb,
                                                    const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                                    const int *bsrSortedRowPtr, const int *bsrSortedColInd,
                                                    int64_t blockSize, bsrilu02Info_t info, size_t *pBufferSize)
{
    struct source s = OF_BSR(MR_INFO_BSRILU, blockSize);
    return tell_size(form, handle, &s, NULL, pBufferSize);
}

cusparseStatus_t mr_cusparse_bsrilu02_analysis(const struct mr_form *form, cusparseHandle_t handle,
                                               cusparseDirection_t dirA, int64_t mb, int64_t nnzb,
                                               const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                               const int *bsrSortedRowPtr, const int *bsrSortedColInd, int64_t blockDim,
                                               bsrilu02Info_t info, cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy;
    struct source s = OF_BSR(MR_INFO_BSRILU, blockDim);
    return submit(form, handle, &s, pBuffer, true);
}

cusparseStatus_t mr_cusparse_bsrilu02(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                      int64_t mb, int64_t nnzb, const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                      const int *bsrSortedRowPtr, const int *bsrSortedColInd, int64_t blockDim,
                                      bsrilu02Info_t info, cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy;
    struct source s = OF_BSR(MR_INFO_BSRILU, blockDim);
    return submit(form, handle, &s, pBuffer, false);
}

cusparseStatus_t mr_cusparse_Xcsric02_zeroPivot(const struct mr_form *form, cusparseHandle_t handle, csric02Info_t info,
                                                int *position)
{
    return mr_cusparse_pivot(form, handle, info, MR_INFO_CSRIC, position);
}

cusparseStatus_t mr_cusparse_csric02_bufferSize(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                int64_t nnz, const cusparseMatDescr_t descrA, void *csrSortedValA,
                                                const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                                csric02Info_t info, int *pBufferSizeInBytes)
{
    struct source s = OF_CSR(MR_INFO_CSRIC, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA);
    return tell_size(form, handle, &s, pBufferSizeInBytes, NULL);
}

cusparseStatus_t mr_cusparse_csric02_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                   int64_t nnz, const cusparseMatDescr_t descrA, void *csrSortedVal,
                                                   const int *csrSortedRowPtr, const int *csrSortedColInd,
                                                   csric02Info_t info, size_t *pBufferSize)
{
    struct source s = OF_CSR(MR_INFO_CSRIC, csrSortedVal, csrSortedRowPtr, csrSortedColInd);
    return tell_size(form, handle, &s, NULL, pBufferSize);
}

cusparseStatus_t mr_cusparse_csric02_analysis(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                              int64_t nnz, const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                              const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                              csric02Info_t info, cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy;
    struct source s = OF_CSR(MR_INFO_CSRIC, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA);
    return submit(form, handle, &s, pBuffer, true);
}

cusparseStatus_t mr_cusparse_csric02(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t nnz,
                                     const cusparseMatDescr_t descrA, void *csrSortedValA_valM,
                                     const int *csrSortedRowPtrA, const int *csrSortedColIndA, csric02Info_t info,
                                     cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy;
    struct source s = OF_CSR(MR_INFO_CSRIC, csrSortedValA_valM, csrSortedRowPtrA, csrSortedColIndA);
    return submit(form, handle, &s, pBuffer, false);
}

cusparseStatus_t mr_cusparse_Xbsric02_zeroPivot(const struct mr_form *form, cusparseHandle_t handle, bsric02Info_t info,
                                                int *position)
{
    return mr_cusparse_pivot(form, handle, info, MR_INFO_BSRIC, position);
}

cusparseStatus_t mr_cusparse_bsric02_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                                cusparseDirection_t dirA, int64_t mb, int64_t nnzb,
                                                const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                                const int *bsrSortedRowPtr, const int *bsrSortedColInd,
                                                int64_t blockDim, bsric02Info_t info, int *pBufferSizeInBytes)
{
    struct source s = OF_BSR(MR_INFO_BSRIC, blockDim);
    return tell_size(form, handle, &s, pBufferSizeInBytes, NULL);
}

cusparseStatus_t mr_cusparse_bsric02_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                   cusparseDirection_t dirA, int64_t mb, int64_t nnzb,
                                                   const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                                   const int *bsrSortedRowPtr, const int *bsrSortedColInd,
                                                   int64_t blockSize, bsric02Info_t info, size_t *pBufferSize)
{
    struct source s = OF_BSR(MR_INFO_BSRIC, blockSize);
    return tell_size(form, handle, &s, NULL, pBufferSize);
}

cusparseStatus_t mr_cusparse_bsric02_analysis(const struct mr_form *form, cusparseHandle_t handle,
                                              cusparseDirection_t dirA, int64_t mb, int64_t nnzb,
                                              const cusparseMatDescr_t descrA, const void *bsrSortedVal,
                                              const int *bsrSortedRowPtr, const int *bsrSortedColInd, int64_t blockDim,
                                              bsric02Info_t info, cusparseSolvePolicy_t policy, void *pInputBuffer)
{
    (void)policy;
    struct source s = OF_BSR(MR_INFO_BSRIC, blockDim);
    return submit(form, handle, &s, pInputBuffer, true);
}

cusparseStatus_t mr_cusparse_bsric02(const struct mr_form *form, cusparseHandle_t handle, cusparseDirection_t dirA,
                                     int64_t mb, int64_t nnzb, const cusparseMatDescr_t descrA, void *bsrSortedVal,
                                     const int *bsrSortedRowPtr, const int *bsrSortedColInd, int64_t blockDim,
                                     bsric02Info_t info, cusparseSolvePolicy_t policy, void *pBuffer)
{
    (void)policy;
    struct source s = OF_BSR(MR_INFO_BSRIC, blockDim);
    return submit(form, handle, &s, pBuffer, false);
}
