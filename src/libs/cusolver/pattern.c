/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of sparse matrices in host memory: orders of rows that keep factors small, the matrix in such an order,
 * whether a pattern is symmetric. */
#include <stdlib.h>
#include <string.h>

#include "libs/cusolver/order.h"
#include "libs/cusolver/sparse.h"

#define ENTER() \
    struct mr_solver *solver; \
    cusolverStatus_t entered = mr_solver_enter(form, MR_SOLVER_SPARSE, handle, &solver); \
    if (entered != CUSOLVER_STATUS_SUCCESS) \
    return entered

static cusolverStatus_t order(const struct mr_form *form, cusolverSpHandle_t handle, int64_t n, int64_t nnz,
                              const cusparseMatDescr_t descr, const int *rows, const int *columns, int *p,
                              bool (*by)(const struct mr_csr *a, int *p))
{
    ENTER();
    struct mr_csr a;
    cusolverStatus_t status = mr_sparse_describe(form, n, nnz, descr, NULL, rows, columns, &a);
    if (status)
        return status;
    MR_CHECK(form, p || n == 0);
    return by(&a, p) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

#define ORDER(name, by) \
    cusolverStatus_t mr_cusolver_SpXcsr##name##Host(const struct mr_form *form, cusolverSpHandle_t handle, int64_t n, \
                                                    int64_t nnzA, const cusparseMatDescr_t descrA, \
                                                    const int *csrRowPtrA, const int *csrColIndA, int *p) \
    { \
        return order(form, handle, n, nnzA, descrA, csrRowPtrA, csrColIndA, p, by); \
    }

ORDER(symrcm, mr_sparse_order)
/* By exact or by approximate degrees: both orders are by the approximate ones. */
ORDER(symmdq, mr_sparse_minimum_degree)
ORDER(symamd, mr_sparse_minimum_degree)

/* The options are METIS's, which is not below. */
cusolverStatus_t mr_cusolver_SpXcsrmetisndHost(const struct mr_form *form, cusolverSpHandle_t handle, int64_t n,
                                               int64_t nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                               const int *csrColIndA, const int64_t *options, int *p)
{
    (void)options;
    return order(form, handle, n, nnzA, descrA, csrRowPtrA, csrColIndA, p, mr_sparse_dissection);
}

/* ---- a matrix in another order ---- */

/* The work area: the rows and columns as they were, the map, where each column goes, and one row's entries. */
static size_t area_of(int64_t m, int64_t n, int64_t nnz)
{
    return ((size_t)m + 1 + (size_t)n + 4 * (size_t)nnz + 1) * sizeof(int);
}

static bool is_permutation(const int *p, int64_t n, int *seen)
{
    memset(seen, 0, (size_t)n * sizeof *seen);
    for (int64_t i = 0; i < n; i++)
        if (p[i] < 0 || p[i] >= n || seen[p[i]]++)
            return false;
    return true;
}

/* The matrix, which need not be square, and the orders. */
static cusolverStatus_t check(const struct mr_form *form, int64_t m, int64_t n, int64_t nnz,
                              const cusparseMatDescr_t descr, const int *rows, const int *columns, const int *p,
                              const int *q, struct mr_csr *a)
{
    cusolverStatus_t status = mr_sparse_describe(form, m, nnz, descr, NULL, rows, columns, a);
    if (status)
        return status;
    MR_CHECK(form, n >= 0);
    MR_CHECK(form, (p || m == 0) && (q || n == 0));
    a->n = (int)n;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_SpXcsrperm_bufferSizeHost(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m,
                                                       int64_t n, int64_t nnzA, const cusparseMatDescr_t descrA,
                                                       const int *csrRowPtrA, const int *csrColIndA, const int *p,
                                                       const int *q, size_t *bufferSizeInBytes)
{
    ENTER();
    struct mr_csr a;
    cusolverStatus_t status = check(form, m, n, nnzA, descrA, csrRowPtrA, csrColIndA, p, q, &a);
    if (status)
        return status;
    MR_CHECK(form, bufferSizeInBytes);
    *bufferSizeInBytes = area_of(m, n, nnzA);
    return CUSOLVER_STATUS_SUCCESS;
}

static int by_first(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

cusolverStatus_t mr_cusolver_SpXcsrpermHost(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m, int64_t n,
                                            int64_t nnzA, const cusparseMatDescr_t descrA, int *csrRowPtrA,
                                            int *csrColIndA, const int *p, const int *q, int *map, void *pBuffer)
{
    ENTER();
    struct mr_csr a;
    cusolverStatus_t status = check(form, m, n, nnzA, descrA, csrRowPtrA, csrColIndA, p, q, &a);
    if (status)
        return status;
    MR_CHECK(form, pBuffer && (map || nnzA == 0));
    MR_CHECK(form, csrRowPtrA[m] - a.base == nnzA);
    int *rows = pBuffer, *place = rows + m + 1, *columns = place + n, *old_map = columns + nnzA,
        (*entries)[2] = (void *)(old_map + nnzA);
    MR_CHECK(form, is_permutation(p, m, rows));
    MR_CHECK(form, is_permutation(q, n, place));
    memcpy(rows, csrRowPtrA, ((size_t)m + 1) * sizeof(int));
    memcpy(columns, csrColIndA, (size_t)nnzA * sizeof(int));
    memcpy(old_map, map, (size_t)nnzA * sizeof(int));
    for (int64_t j = 0; j < n; j++)
        place[q[j]] = (int)j;
    int put = 0;
    for (int64_t i = 0; i < m; i++) { /* B's row i is A's row p[i] */
        int begin = rows[p[i]] - a.base, count = rows[p[i] + 1] - a.base - begin;
        for (int k = 0; k < count; k++) {
            entries[k][0] = place[columns[begin + k] - a.base];
            entries[k][1] = old_map[begin + k];
        }
        qsort(entries, (size_t)count, sizeof *entries, by_first);
        csrRowPtrA[i] = put + a.base;
        for (int k = 0; k < count; k++, put++) {
            csrColIndA[put] = entries[k][0] + a.base;
            map[put] = entries[k][1];
        }
    }
    csrRowPtrA[m] = put + a.base;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- symmetry ---- */

/* Whether row i has column j; columns may be in any order. */
static bool has(const struct mr_csr *a, const int *ends, int i, int j)
{
    for (int k = a->rows[i] - a->base; k < ends[i] - a->base; k++)
        if (a->columns[k] - a->base == j)
            return true;
    return false;
}

cusolverStatus_t mr_cusolver_SpXcsrissymHost(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m,
                                             int64_t nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                             const int *csrEndPtrA, const int *csrColIndA, int *issym)
{
    ENTER();
    struct mr_csr a;
    cusolverStatus_t status = mr_sparse_describe(form, m, nnzA, descrA, NULL, csrRowPtrA, csrColIndA, &a);
    if (status)
        return status;
    MR_CHECK(form, csrEndPtrA && issym);
    bool symmetric = true;
    for (int i = 0; i < a.m && symmetric; i++)
        for (int k = a.rows[i] - a.base; k < csrEndPtrA[i] - a.base && symmetric; k++)
            symmetric = has(&a, csrEndPtrA, a.columns[k] - a.base, i);
    *issym = symmetric;
    return CUSOLVER_STATUS_SUCCESS;
}
