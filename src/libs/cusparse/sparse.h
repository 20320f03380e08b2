/* SPDX-License-Identifier: Apache-2.0 */
/* What the bodies of libcusparse share: handles, descriptions of matrices and vectors, checks of arguments, the way
 * into the stream.
 *
 * A body takes the handle (mr_cusparse_enter), checks its arguments (MR_CHECK), copies the descriptions into a record,
 * and submits the record with the function that carries it out (libs/math/work.h). What several steps of one call hand
 * to each other lies in the program's external buffer: steps are submitted one after the other, in stream order. */
#ifndef MR_CUSPARSE_SPARSE_H
#define MR_CUSPARSE_SPARSE_H

#include <stdint.h>

#include "cusparse_impl.h"
#include "libs/math/work.h"

/* Behind a handle. Settings are changed without a lock: the manual asks programs not to do so from two threads. */
struct mr_cusparse {
    CUcontext context; /* current when the handle was made */
    CUstream stream;
    cusparsePointerMode_t pointer_mode;
};

/* What a description is. A description that was destroyed has none of these. */
enum mr_kind {
    MR_KIND_SPVEC = 0x53500001,
    MR_KIND_DNVEC,
    MR_KIND_SPMAT,
    MR_KIND_DNMAT,
    MR_KIND_MATDESCR,
    MR_KIND_INFO,
    MR_KIND_SPSV,
    MR_KIND_SPSM,
    MR_KIND_SPGEMM,
};

struct cusparseSpVecDescr {
    enum mr_kind kind; /* first in every description */
    int64_t size, nnz;
    void *indices, *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType_t type;
};

struct cusparseDnVecDescr {
    enum mr_kind kind;
    int64_t size;
    void *values;
    cudaDataType_t type;
};

struct cusparseDnMatDescr {
    enum mr_kind kind;
    int64_t rows, cols, ld;
    void *values;
    cudaDataType_t type;
    cusparseOrder_t order;
    int batch_count;
    int64_t batch_stride;
};

/* A sparse matrix. `offsets` are a CSR's or BSR's rows, a CSC's columns, a sliced ELL's slices, a COO's row indices. */
struct cusparseSpMatDescr {
    enum mr_kind kind;
    cusparseFormat_t format;
    int64_t rows, cols, nnz; /* in elements; nnz of BSR and ELL counts all that are stored */
    void *offsets, *indices, *values;
    cusparseIndexType_t offset_type, index_type;
    cusparseIndexBase_t base;
    cudaDataType_t type;
    int64_t block_rows, block_cols; /* BSR, blocked ELL: elements of a block */
    cusparseOrder_t block_order; /* BSR: how a block's elements lie */
    int64_t ell_cols; /* blocked ELL */
    int64_t slice_size, values_size; /* sliced ELL */
    cusparseFillMode_t fill;
    cusparseDiagType_t diag;
    int batch_count;
    int64_t offsets_stride, columns_stride, values_stride;
};

/* An older matrix: what is not in the arguments of the functions. */
struct cusparseMatDescr {
    enum mr_kind kind;
    cusparseMatrixType_t type;
    cusparseFillMode_t fill;
    cusparseDiagType_t diag;
    cusparseIndexBase_t base;
};

/* A description of `kind` and `size` bytes (MR_DESCRIPTION_SIZE at most), all zero; NULL when memory is short. Memory
 * of descriptions is used for descriptions alone, so that a destroyed one is recognised. Any thread, as all of these.
 */
#define MR_DESCRIPTION_SIZE 256
void *mr_cusparse_description(enum mr_kind kind, size_t size) __attribute__((warn_unused_result));

/* Ends a description: false if it is not of `kind`. */
bool mr_cusparse_forget(const void *description, enum mr_kind kind);

static inline bool mr_is(const void *description, enum mr_kind kind)
{
    return description && *(const enum mr_kind *)description == kind;
}

/* The handle's record in *sparse, and a current context in the thread. NOT_INITIALIZED, with a line in the log, for a
 * handle that is not live; INVALID_VALUE for NULL. */
cusparseStatus_t mr_cusparse_enter(const struct mr_form *form, cusparseHandle_t handle, struct mr_cusparse **sparse)
    __attribute__((warn_unused_result));

/* Says in the log why a call is refused, and returns the status. */
cusparseStatus_t mr_cusparse_bad(const struct mr_form *form, cusparseStatus_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns INVALID_VALUE from a body unless the condition holds; the log names the condition. */
#define MR_CHECK(form, condition) \
    do { \
        if (__builtin_expect(!(condition), 0)) { \
            mr_cusparse_bad(form, CUSPARSE_STATUS_INVALID_VALUE, "%s does not hold", #condition); \
            return CUSPARSE_STATUS_INVALID_VALUE; \
        } \
    } while (0)

/* The same with NOT_SUPPORTED: what the manual does not allow either. */
#define MR_SUPPORT(form, condition) \
    do { \
        if (__builtin_expect(!(condition), 0)) { \
            mr_cusparse_bad(form, CUSPARSE_STATUS_NOT_SUPPORTED, "%s does not hold", #condition); \
            return CUSPARSE_STATUS_NOT_SUPPORTED; \
        } \
    } while (0)

/* Declares `sparse`, and enters. */
#define MR_ENTER(form, handle) \
    struct mr_cusparse *sparse; \
    cusparseStatus_t entered = mr_cusparse_enter(form, handle, &sparse); \
    if (entered != CUSPARSE_STATUS_SUCCESS) \
    return entered

/* Returns a step's status from a body unless the step succeeds. */
#define MR_STEP(call) \
    do { \
        cusparseStatus_t step = (call); \
        if (step != CUSPARSE_STATUS_SUCCESS) \
            return step; \
    } while (0)

/* The status of a call whose work the driver took or refused. */
cusparseStatus_t mr_cusparse_status(const struct mr_form *form, CUresult result);

/* Submits on the handle's stream. */
cusparseStatus_t mr_cusparse_submit(const struct mr_form *form, const struct mr_cusparse *sparse, uint64_t parts,
                                    void (*run)(void *record, uint64_t first, uint64_t end), const void *record,
                                    size_t size) __attribute__((warn_unused_result));

/* Whether the handle's stream is captured. */
bool mr_cusparse_captures(const struct mr_cusparse *sparse);

/* Waits for the stream: for results that go to the host. In a capture INTERNAL_ERROR, and the capture goes on. */
cusparseStatus_t mr_cusparse_wait(const struct mr_form *form, const struct mr_cusparse *sparse)
    __attribute__((warn_unused_result));

static inline bool mr_on_device(const struct mr_cusparse *sparse)
{
    return sparse->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE;
}

static inline bool mr_is_op(cusparseOperation_t op)
{
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE || op == CUSPARSE_OPERATION_TRANSPOSE ||
           op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

static inline bool mr_is_base(cusparseIndexBase_t base)
{
    return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE;
}

/* Parts first to end - 1 of `each` things of `all`: begin <= i < stop. */
struct mr_span {
    int64_t begin, stop;
};

static inline struct mr_span mr_span(uint64_t first, uint64_t end, int64_t each, int64_t all)
{
    int64_t stop = (int64_t)end * each;
    return (struct mr_span){(int64_t)first * each, stop < all ? stop : all};
}

#endif
