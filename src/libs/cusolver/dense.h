/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of dense matrices: one record for all, and for each kind the function that checks it and submits it. The
 * typed functions (cusolverDnDpotrf) and the 64-bit ones (cusolverDnXpotrf) fill in the same record.
 *
 * Matrices are by columns. Arrays are in device memory, unless it says otherwise. The info of a problem is written when
 * the work runs. */
#ifndef MR_CUSOLVER_DENSE_H
#define MR_CUSOLVER_DENSE_H

#include "libs/cusolver/solver.h"

struct mr_dense {
    const char *function; /* for the log */
    enum mr_cpu_type type;
    char uplo, trans, side, diag, job, job2, range; /* LAPACK's letters */
    bool economy; /* of singular vectors: as many as there are values */
    bool adjoint; /* the right singular vectors are the columns of V, not the rows of V^H */
    int itype;
    int64_t m, n, k, nrhs;
    int64_t lda, ldb, ldc, ldu, ldv;
    int64_t il, iu; /* from 1 */
    double vl, vu;
    void *a, *b, *c, *d, *e, *tau, *tau2, *w, *u, *v;
    int *pivots; /* one of the two is NULL */
    int64_t *wide_pivots;
    int *info; /* NULL: nobody asks */
    int *found; /* how many eigenvalues: written by the host or by the work; or NULL */
    int64_t *wide_found;
    const void *results; /* the program's syevjInfo_t or gesvdjInfo_t, to which sweeps and residual are told; or NULL */
    double *norms; /* host memory, in which each member's residual is stored; or NULL */
    bool complex_values; /* eigenvalues of a real matrix are stored as complex numbers */
    int64_t batch, each; /* members, and how many a part does; a batch of 0 is one problem */
    int64_t stride_a, stride_w, stride_u, stride_v; /* in elements, of batches */
    unsigned reads, writes; /* of MR_LEND_…: matrices that LAPACK gets as copies where the type is complex */
    void (*run)(void *record, uint64_t first, uint64_t end); /* set by mr_dense_submit */
};

/* Of a complex vector that has gaps, OpenBLAS reads one element too many. A row of a matrix is such a vector, so
 * OpenBLAS may read a column behind the matrix, where there may be no memory. So LAPACK gets copies of complex
 * matrices, which have room behind them. The comments give rows x columns; the members of a batch are copied by the
 * functions themselves. */
enum mr_lend {
    MR_LEND_A = 1, /* m (n if that is 0) x n */
    MR_LEND_B = 2, /* n x nrhs (n if that is 0) */
    MR_LEND_C = 4, /* m x n */
    MR_LEND_U = 8, /* by the job: m x m, m x the smaller of both, or none */
    MR_LEND_V = 16, /* likewise: n x n or the smaller of both x n */
    MR_LEND_SIDE = 32, /* a, of m or n rows, by the side, and k columns, or as many as rows where k is 0 */
    MR_LEND_BLOCK = 64, /* a: n x k; b: k x k */
};

/* Runs a record whose matrices are lent. */
void mr_dense_run_lent(void *record, uint64_t first, uint64_t end);

/* A copy of a batch's member, of `rows` elements from column to column, with room behind it; and what is in it, back.
 * The matrix itself where the type is real. NULL, and the context has failed, if memory is short. */
void *mr_dense_lend(const struct mr_dense *r, void *matrix, int64_t rows, int64_t columns, int64_t ld)
    __attribute__((warn_unused_result));
void mr_dense_back(const struct mr_dense *r, const void *lent, void *matrix, int64_t rows, int64_t columns, int64_t ld);
void mr_dense_copy(enum mr_cpu_type type, int64_t rows, int64_t columns, const void *from, int64_t ldf, void *to,
                   int64_t ldt);

/* Checks the sizes against 31 bits and submits. */
cusolverStatus_t mr_dense_submit(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r,
                                 void (*run)(void *record, uint64_t first, uint64_t end))
    __attribute__((warn_unused_result));

/* The same for a batch: about `work` operations for a member. */
cusolverStatus_t mr_dense_submit_batch(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r,
                                       double work, void (*run)(void *record, uint64_t first, uint64_t end))
    __attribute__((warn_unused_result));

/* The members of a part. */
#define MR_MEMBERS(r, first, end, i) \
    for (int64_t i = (int64_t)(first) * (r)->each, \
                 i##_end = (int64_t)(end) * (r)->each < (r)->batch ? (int64_t)(end) * (r)->each : (r)->batch; \
         i < i##_end; i++)

typedef cusolverStatus_t mr_dense_step(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r);

/* linear.c */
mr_dense_step mr_dense_potrf, mr_dense_potrs, mr_dense_potri, mr_dense_lauum, mr_dense_trtri;
mr_dense_step mr_dense_getrf, mr_dense_getrs;
/* indefinite.c */
mr_dense_step mr_dense_sytrs;
/* orthogonal.c */
mr_dense_step mr_dense_geqrf, mr_dense_larft;
/* eigen.c */
mr_dense_step mr_dense_syev, mr_dense_syev_range, mr_dense_syev_batch, mr_dense_geev;
/* singular.c */
mr_dense_step mr_dense_gesvd, mr_dense_gesvd_all;

/* The order n and A's leading dimension, arguments `number` and `number` + 2. */
#define MR_ARGUMENT_SQUARE(r, number) \
    do { \
        MR_ARGUMENT(r, number, (r)->n >= 0); \
        MR_ARGUMENT(r, (number) + 2, (r)->lda >= mr_at_least_1((r)->n)); \
    } while (0)

/* What the functions `…_bufferSize` answer: Millrace needs no workspace, and programs want one that is not empty.
 * Hardware takes any leading dimension there, and programs rely on it (CuPy's QR gives the columns). Where such a
 * function has a record, MR_ANY_LEADING_DIMENSION makes it pass the checks of the work itself. */
#define MR_ANY_LEADING_DIMENSION(r) ((r)->lda = (r)->ldb = (r)->ldc = (r)->ldu = (r)->ldv = INT64_MAX)
cusolverStatus_t mr_dense_buffer(const struct mr_form *form, int64_t rows, int64_t columns, int *lwork);
cusolverStatus_t mr_dense_buffers(const struct mr_form *form, int64_t rows, int64_t columns, size_t *on_device,
                                  size_t *on_host);

/* Stores an info. */
static inline void mr_dense_tell(const struct mr_dense *r, int64_t member, int info)
{
    if (r->info)
        r->info[member] = info;
}

/* LAPACK's letters of values that are checked elsewhere; 'X' for a value that is wrong. */
static inline char mr_uplo_letter(cublasFillMode_t uplo)
{
    if (!mr_is_uplo(uplo))
        return 'X';
    return mr_letter_of_uplo(uplo);
}

static inline char mr_op_letter(cublasOperation_t op)
{
    if (!mr_is_op(op))
        return 'X';
    return mr_letter_of_op(op);
}

static inline char mr_job_letter(cusolverEigMode_t jobz)
{
    if (!mr_is_jobz(jobz))
        return 'X';
    return mr_letter_of_jobz(jobz);
}

/* For a wrong argument whose number (without the handle) the info tells, negative, in stream order, as on hardware.
 * INVALID_VALUE. */
cusolverStatus_t mr_dense_wrong(const struct mr_form *form, const struct mr_solver *solver, int *info, int told,
                                const char *condition);

/* Returns INVALID_VALUE from a body unless the condition about an argument holds. */
#define MR_ARGUMENT(r, number, condition) \
    do { \
        if (__builtin_expect(!(condition), 0)) \
            return mr_dense_wrong(form, solver, (r)->info, -(number), #condition); \
    } while (0)

/* The type of an element, where it is one of the four; MR_CPU_TYPES else. */
enum mr_cpu_type mr_type_of_data(cudaDataType_t type);

#endif
