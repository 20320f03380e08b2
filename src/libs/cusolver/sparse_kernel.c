/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse systems: what the two types' factorisations (sparse_kernel.inc) are used for. */
#include "libs/cusolver/sparse_kernel.h"

#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libs/math/convert.h"
#include "libs/math/hypot.h"

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

#define T double
#define NAME(name) real_##name
#define CONJ(x) (x)
#define ABS(x) fabs(x)
#define REAL(x) (x)
#include "libs/cusolver/sparse_kernel.inc"

#define T double complex
#define NAME(name) complex_##name
#define CONJ(x) conj(x)
#define ABS(x) cabs(x)
#define REAL(x) creal(x)
#include "libs/cusolver/sparse_kernel.inc"

/* ---- a matrix as the factorisations want it ---- */

static bool is_complex(cudaDataType_t type)
{
    return mr_element_is_complex(type);
}

/* Bytes of what is computed in. */
static size_t wide_size(cudaDataType_t type)
{
    return is_complex(type) ? 16 : 8;
}

struct prepared {
    int *rows, *columns, *order, *place; /* order: NULL if rows stay where they are */
    void *values;
};

struct entry {
    int column, from;
};

static int by_column(const void *a, const void *b)
{
    return ascending(&((const struct entry *)a)->column, &((const struct entry *)b)->column);
}

static void end_prepared(struct prepared *p)
{
    free(p->rows);
    free(p->columns);
    free(p->order);
    free(p->place);
    free(p->values);
}

/* Wide, counted from 0, columns ascending, in the order. Entries that are there twice are added. */
static bool prepare(const struct mr_csr *a, bool ordered, struct prepared *p)
{
    int m = a->m, entries = a->rows[m] - a->base, put = 0;
    size_t size = wide_size(a->type);
    *p = (struct prepared){0};
    p->rows = malloc(((size_t)m + 1) * sizeof(int));
    p->columns = malloc(((size_t)entries + 1) * sizeof(int));
    p->values = malloc(((size_t)entries + 1) * size);
    char *wide = malloc(((size_t)entries + 1) * size);
    struct entry *row = malloc(((size_t)entries + 1) * sizeof *row);
    bool fine = p->rows && p->columns && p->values && wide && row;
    if (fine && ordered) {
        p->order = malloc(((size_t)m + 1) * sizeof(int));
        p->place = malloc(((size_t)m + 1) * sizeof(int));
        fine = p->order && p->place && mr_sparse_order(a, p->order);
        for (int i = 0; fine && i < m; i++)
            p->place[p->order[i]] = i;
    }
    if (fine)
        mr_load(a->type, a->values, entries, entries, 1, true, wide);
    for (int i = 0; fine && i < m; i++) {
        int from = p->order ? p->order[i] : i, begin = a->rows[from] - a->base,
            count = a->rows[from + 1] - a->base - begin;
        for (int k = 0; k < count; k++) {
            int column = a->columns[begin + k] - a->base;
            row[k] = (struct entry){p->place ? p->place[column] : column, begin + k};
        }
        qsort(row, (size_t)count, sizeof *row, by_column);
        p->rows[i] = put;
        for (int k = 0; k < count; k++) {
            double *to = (double *)p->values, *source = (double *)(void *)(wide + (size_t)row[k].from * size);
            int parts = (int)(size / 8);
            bool again = k && row[k].column == row[k - 1].column;
            put -= again;
            for (int part = 0; part < parts; part++)
                to[put * parts + part] = source[part] + (again ? to[put * parts + part] : 0);
            p->columns[put++] = row[k].column;
        }
    }
    if (fine)
        p->rows[m] = put;
    free(wide);
    free(row);
    return fine;
}

/* Elements, wide, in the order or (`back`) out of it. */
static void move(const struct prepared *p, size_t size, int n, const char *from, char *to, bool back)
{
    for (int i = 0; i < n; i++) {
        size_t there = p->order ? (size_t)p->order[i] : (size_t)i, here = (size_t)i;
        memcpy(to + (back ? there : here) * size, from + (back ? here : there) * size, size);
    }
}

/* ---- factors that are kept ---- */

struct mr_sparse_factor {
    enum mr_sparse_method method;
    cudaDataType_t type;
    int m, n;
    struct prepared p;
    bool is_made; /* one of the following holds the factorisation */
    union {
        struct real_qr real_qr;
        struct complex_qr complex_qr;
        struct real_cholesky real_cholesky;
        struct complex_cholesky complex_cholesky;
        struct real_lu real_lu;
        struct complex_lu complex_lu;
    };
};

/* Calls the function of the factor's method and type. */
#define OF_METHOD(f, verb, ...) \
    ((f)->method == MR_SPARSE_QR ? (is_complex((f)->type) ? complex_qr##verb(&(f)->complex_qr, __VA_ARGS__) \
                                                          : real_qr##verb(&(f)->real_qr, __VA_ARGS__)) \
     : (f)->method == MR_SPARSE_CHOLESKY \
         ? (is_complex((f)->type) ? complex_cholesky##verb(&(f)->complex_cholesky, __VA_ARGS__) \
                                  : real_cholesky##verb(&(f)->real_cholesky, __VA_ARGS__)) \
         : (is_complex((f)->type) ? complex_lu##verb(&(f)->complex_lu, __VA_ARGS__) \
                                  : real_lu##verb(&(f)->real_lu, __VA_ARGS__)))

static void end_made(struct mr_sparse_factor *f)
{
    if (!f->is_made)
        return;
    f->is_made = false;
    if (f->method == MR_SPARSE_QR) {
        if (is_complex(f->type))
            complex_qr_end(&f->complex_qr);
        else
            real_qr_end(&f->real_qr);
    } else if (f->method == MR_SPARSE_CHOLESKY) {
        if (is_complex(f->type))
            complex_cholesky_end(&f->complex_cholesky);
        else
            real_cholesky_end(&f->real_cholesky);
    } else if (is_complex(f->type)) {
        complex_lu_end(&f->complex_lu);
    } else {
        real_lu_end(&f->real_lu);
    }
}

void mr_sparse_factor_end(struct mr_sparse_factor *f)
{
    if (!f)
        return;
    end_made(f);
    end_prepared(&f->p);
    free(f);
}

/* An element behind those that are there: *values, or 0 for NULL, less *shift, or 0 for NULL. */
static void put_shifted(struct prepared *p, int *count, int parts, int column, const double *values,
                        const double *shift)
{
    for (int part = 0; part < parts; part++)
        ((double *)p->values)[*count * parts + part] = (values ? values[part] : 0) - (shift ? shift[part] : 0);
    p->columns[(*count)++] = column;
}

/* Takes the shift, one wide element, from the diagonal, to which entries that lack are added. */
static bool take_shift(struct prepared *p, size_t size, int m, int n, const double *shift)
{
    int parts = (int)(size / 8), count = 0;
    size_t room = (size_t)p->rows[m] + (size_t)n + 1;
    struct prepared made = {.order = p->order, .place = p->place};
    made.rows = malloc(((size_t)m + 1) * sizeof(int));
    made.columns = calloc(room, sizeof(int));
    made.values = calloc(room, size);
    if (!made.rows || !made.columns || !made.values) {
        free(made.rows);
        free(made.columns);
        free(made.values);
        return false;
    }
    for (int i = 0; i < m; i++) {
        bool has_diagonal = i >= n; /* below the square there is none */
        made.rows[i] = count;
        for (int k = p->rows[i]; k < p->rows[i + 1]; k++) {
            int column = p->columns[k];
            if (!has_diagonal && column > i)
                put_shifted(&made, &count, parts, i, NULL, shift);
            has_diagonal |= column >= i;
            put_shifted(&made, &count, parts, column, (double *)p->values + (ptrdiff_t)k * parts,
                        column == i ? shift : NULL);
        }
        if (!has_diagonal)
            put_shifted(&made, &count, parts, i, NULL, shift);
    }
    made.rows[m] = count;
    free(p->rows);
    free(p->columns);
    free(p->values);
    *p = made;
    return true;
}

/* Rows become columns. */
static bool transpose(struct prepared *p, size_t size, int n)
{
    int entries = p->rows[n];
    int *starts = calloc((size_t)n + 2, sizeof *starts), *rows = malloc(((size_t)entries + 1) * sizeof *rows);
    char *values = malloc(((size_t)entries + 1) * size);
    if (!starts || !rows || !values) {
        free(starts);
        free(rows);
        free(values);
        return false;
    }
    for (int k = 0; k < entries; k++)
        starts[p->columns[k] + 2]++;
    for (int i = 0; i < n; i++)
        starts[i + 2] += starts[i + 1];
    for (int i = 0; i < n; i++)
        for (int k = p->rows[i]; k < p->rows[i + 1]; k++) {
            int to = starts[p->columns[k] + 1]++;
            rows[to] = i;
            memcpy(values + (size_t)to * size, (char *)p->values + (size_t)k * size, size);
        }
    free(p->rows);
    free(p->columns);
    free(p->values);
    p->rows = starts;
    p->columns = rows;
    p->values = values;
    return true;
}

struct mr_sparse_factor *mr_sparse_factor_new(const struct mr_csr *a, enum mr_sparse_method method, bool ordered,
                                              const void *shift)
{
    size_t size = wide_size(a->type);
    double by[2] = {0, 0};
    struct mr_sparse_factor *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    *f = (struct mr_sparse_factor){.method = method, .type = a->type, .m = a->m, .n = a->n};
    bool fine = prepare(a, ordered && a->m == a->n, &f->p);
    if (shift)
        mr_load(a->type, shift, 1, 1, 1, true, by);
    if (fine && (by[0] != 0 || by[1] != 0))
        fine = take_shift(&f->p, size, a->m, a->n, by);
    if (fine && method == MR_SPARSE_LU)
        fine = transpose(&f->p, size, a->n);
    if (fine)
        return f;
    mr_sparse_factor_end(f);
    return NULL;
}

bool mr_sparse_factorise(struct mr_sparse_factor *f, double threshold)
{
    const struct prepared *p = &f->p;
    end_made(f);
    f->is_made = true;
    switch (f->method) {
    case MR_SPARSE_QR:
        return is_complex(f->type) ? complex_qr(&f->complex_qr, f->m, f->n, p->rows, p->columns, p->values)
                                   : real_qr(&f->real_qr, f->m, f->n, p->rows, p->columns, p->values);
    case MR_SPARSE_CHOLESKY:
        return is_complex(f->type) ? complex_cholesky(&f->complex_cholesky, f->n, p->rows, p->columns, p->values)
                                   : real_cholesky(&f->real_cholesky, f->n, p->rows, p->columns, p->values);
    default:
        return is_complex(f->type) ? complex_lu(&f->complex_lu, f->n, p->rows, p->columns, p->values, threshold)
                                   : real_lu(&f->real_lu, f->n, p->rows, p->columns, p->values, threshold);
    }
}

int mr_sparse_factor_singular(const struct mr_sparse_factor *f, double tol)
{
    return OF_METHOD(f, _singular, tol);
}

static void solve_wide(const struct mr_sparse_factor *f, const void *b, void *x)
{
    OF_METHOD(f, _solve, b, x);
}

bool mr_sparse_factor_solve(const struct mr_sparse_factor *f, const void *b, void *x)
{
    size_t size = wide_size(f->type), room = (size_t)(f->m > f->n ? f->m : f->n) + 1;
    char *side = malloc(room * size), *moved = calloc(room, size), *solution = malloc(room * size);
    bool fine = side && moved && solution;
    if (fine) {
        mr_load(f->type, b, f->m, f->m, 1, true, side);
        move(&f->p, size, f->m, side, moved, false);
        if (f->method == MR_SPARSE_CHOLESKY && mr_sparse_factor_singular(f, 0) >= 0)
            for (size_t k = 0; k < (size_t)f->n * (size / 8); k++)
                ((double *)(void *)solution)[k] = NAN;
        else
            solve_wide(f, moved, solution);
        move(&f->p, size, f->n, solution, side, true);
        mr_store(f->type, x, f->n, f->n, 1, true, side);
    }
    free(side);
    free(moved);
    free(solution);
    return fine;
}

void mr_sparse_factor_diagonal(const struct mr_sparse_factor *f, void *diagonal)
{
    const double *from = is_complex(f->type) ? f->complex_cholesky.diagonal : f->real_cholesky.diagonal;
    mr_store(f->type == CUDA_R_32F || f->type == CUDA_C_32F ? CUDA_R_32F : CUDA_R_64F, diagonal, f->n, f->n, 1, true,
             from);
}

void mr_sparse_factor_counts(const struct mr_sparse_factor *f, int *lower, int *upper)
{
    *lower = *upper = f->n;
    for (int k = 0; k < f->n; k++) {
        *lower += is_complex(f->type) ? f->complex_lu.l[k].count : f->real_lu.l[k].count;
        *upper += is_complex(f->type) ? f->complex_lu.u[k].count : f->real_lu.u[k].count;
    }
}

bool mr_sparse_factor_triangle(const struct mr_sparse_factor *f, bool upper, int base, int *rows, int *columns,
                               void *values)
{
    int counts[2];
    mr_sparse_factor_counts(f, &counts[0], &counts[1]);
    int count = counts[upper];
    void *wide = malloc(((size_t)count + 1) * wide_size(f->type));
    if (!wide)
        return false;
    if (is_complex(f->type))
        complex_lu_triangle(&f->complex_lu, upper, rows, columns, wide);
    else
        real_lu_triangle(&f->real_lu, upper, rows, columns, wide);
    for (int i = 0; i <= f->n; i++)
        rows[i] += base;
    for (int k = 0; k < count; k++)
        columns[k] += base;
    mr_store(f->type, values, count, count, 1, true, wide);
    free(wide);
    return true;
}

void mr_sparse_factor_orders(const struct mr_sparse_factor *f, int *p, int *q)
{
    for (int k = 0; k < f->n; k++) {
        p[k] = is_complex(f->type) ? f->complex_lu.order[k] : f->real_lu.order[k];
        q[k] = k;
    }
}

bool mr_sparse_solve(const struct mr_csr *a, enum mr_sparse_method method, bool ordered, double tol, const void *b,
                     void *x, int *singular)
{
    struct mr_sparse_factor *f = mr_sparse_factor_new(a, method, ordered, NULL);
    bool fine = f && mr_sparse_factorise(f, 1);
    *singular = fine ? mr_sparse_factor_singular(f, tol) : -1;
    if (fine && !(method == MR_SPARSE_CHOLESKY && *singular >= 0))
        fine = mr_sparse_factor_solve(f, b, x);
    mr_sparse_factor_end(f);
    return fine;
}

/* ---- inverse iteration, in complex numbers for both ---- */

/* A with the shift taken from its diagonal, which may lack entries. */
static bool shifted(const struct prepared *p, bool complex_values, int n, double complex shift, int *rows, int *columns,
                    double complex *values)
{
    int put = 0;
    for (int i = 0; i < n; i++) {
        bool done = false;
        rows[i] = put;
        for (int k = p->rows[i]; k < p->rows[i + 1] || !done; k++) {
            bool is_end = k >= p->rows[i + 1];
            int column = is_end ? n : p->columns[k];
            if (!done && column >= i) {
                done = true;
                columns[put] = i;
                values[put++] = -shift;
                if (column == i) {
                    values[put - 1] += complex_values ? ((double complex *)p->values)[k] : ((double *)p->values)[k];
                    continue;
                }
            }
            if (is_end)
                break;
            columns[put] = column;
            values[put++] = complex_values ? ((double complex *)p->values)[k] : ((double *)p->values)[k];
        }
    }
    rows[n] = put;
    return true;
}

static double norm(int n, const double complex *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += creal(x[i] * conj(x[i]));
    return sqrt(sum);
}

static void widen(cudaDataType_t type, int n, const void *from, double complex *to)
{
    mr_load(type, from, n, n, 1, true, to);
    for (int i = n - 1; !is_complex(type) && i >= 0; i--)
        to[i] = ((double *)to)[i];
}

static void narrow(cudaDataType_t type, int n, double complex *from, void *to)
{
    for (int i = 0; !is_complex(type) && i < n; i++)
        ((double *)from)[i] = creal(from[i]);
    mr_store(type, to, n, n, 1, true, from);
}

bool mr_sparse_eigen(const struct mr_csr *a, const void *shift, const void *x0, int most, double tol, void *value,
                     void *x)
{
    struct prepared p;
    int n = a->n, entries = a->rows[n] - a->base;
    double complex mu0, mu;
    struct complex_qr qr = {0};
    int *rows = malloc(((size_t)n + 1) * sizeof *rows),
        *columns = malloc(((size_t)(entries + n) + 1) * sizeof *columns);
    double complex *values = malloc(((size_t)(entries + n) + 1) * sizeof *values);
    double complex *at = malloc(((size_t)n + 1) * sizeof *at), *next = malloc(((size_t)n + 1) * sizeof *next);
    bool fine = prepare(a, false, &p) && rows && columns && values && at && next;
    widen(a->type, 1, shift, &mu0);
    mu = mu0;
    fine = fine && shifted(&p, is_complex(a->type), n, mu0, rows, columns, values) &&
           complex_qr(&qr, n, n, rows, columns, values);
    if (fine)
        widen(a->type, n, x0, at);
    double size = fine ? norm(n, at) : 0;
    for (int i = 0; size > 0 && i < n; i++)
        at[i] /= size;
    for (int step = 0; fine && step < most && size > 0; step++) {
        complex_qr_solve(&qr, at, next); /* next = (A - mu0)^-1 at */
        double complex together = 0, before = mu;
        for (int i = 0; i < n; i++)
            together += conj(at[i]) * next[i];
        size = norm(n, next);
        if (!(size > 0) || isinf(size))
            break;
        if (together != 0)
            mu = mu0 + 1 / together;
        for (int i = 0; i < n; i++)
            at[i] = next[i] / size;
        if (step && cabs(mu - before) <= tol * cabs(mu))
            break;
    }
    if (fine) {
        narrow(a->type, n, at, x);
        narrow(a->type, 1, &mu, value);
    }
    complex_qr_end(&qr);
    end_prepared(&p);
    free(rows);
    free(columns);
    free(values);
    free(at);
    free(next);
    return fine;
}
