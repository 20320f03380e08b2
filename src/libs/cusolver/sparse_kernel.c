/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse systems: orders, and what the two types' factorisations (sparse_kernel.inc) are used for. */
#include "libs/cusolver/sparse_kernel.h"

#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libs/math/convert.h"

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

/* ---- orders ---- */

struct graph {
    int n, *first, *next; /* neighbours of i: next[first[i]] to next[first[i + 1] - 1] */
};

/* The pattern of A + A^T without the diagonal; a neighbour may be there twice. */
static bool make_graph(const struct mr_csr *a, struct graph *g)
{
    int n = a->n, entries = a->rows[n] - a->base;
    g->n = n;
    g->first = calloc((size_t)n + 2, sizeof(int));
    g->next = malloc((2 * (size_t)entries + 1) * sizeof(int));
    if (!g->first || !g->next)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++)
            for (int p = a->rows[i] - a->base; p < a->rows[i + 1] - a->base; p++) {
                int j = a->columns[p] - a->base;
                if (i == j)
                    continue;
                if (pass == 0) {
                    g->first[i + 1]++;
                    g->first[j + 1]++;
                } else {
                    g->next[g->first[i]++] = j;
                    g->next[g->first[j]++] = i;
                }
            }
        if (pass == 0)
            for (int i = 0; i < n; i++)
                g->first[i + 1] += g->first[i];
    }
    for (int i = n; i > 0; i--) /* the second pass has moved each to its end */
        g->first[i] = g->first[i - 1];
    g->first[0] = 0;
    return true;
}

static int degree(const struct graph *g, int i)
{
    return g->first[i + 1] - g->first[i];
}

/* Visits all that can be reached from `start` by breadth, neighbours with fewer neighbours first; the last one visited.
 */
static int visit(const struct graph *g, int start, int *queue, int *count, int *mark, int stamp)
{
    int head = *count;
    queue[(*count)++] = start;
    mark[start] = stamp;
    while (head < *count) {
        int i = queue[head++], begin = *count;
        for (int p = g->first[i]; p < g->first[i + 1]; p++)
            if (mark[g->next[p]] != stamp) {
                mark[g->next[p]] = stamp;
                queue[(*count)++] = g->next[p];
            }
        for (int s = begin + 1; s < *count; s++) { /* by insertion: rows are short */
            int kept = queue[s], t = s;
            for (; t > begin && degree(g, queue[t - 1]) > degree(g, kept); t--)
                queue[t] = queue[t - 1];
            queue[t] = kept;
        }
    }
    return queue[*count - 1];
}

bool mr_sparse_order(const struct mr_csr *a, int *p)
{
    int n = a->n, count = 0;
    struct graph g = {0};
    int *mark = calloc((size_t)n + 1, sizeof *mark), *far = malloc(((size_t)n + 1) * sizeof *far);
    bool fine = make_graph(a, &g) && mark && far;
    for (int i = 0; fine && i < n; i++) {
        if (mark[i])
            continue;
        int found = 0, end = visit(&g, i, far, &found, mark, 1); /* an end of the piece, as far as a start needs */
        (void)visit(&g, end, p, &count, mark, 2);
    }
    for (int i = 0; fine && i < n / 2; i++) {
        int kept = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = kept;
    }
    free(g.first);
    free(g.next);
    free(mark);
    free(far);
    return fine;
}

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

bool mr_sparse_solve(const struct mr_csr *a, enum mr_sparse_method method, bool ordered, double tol, const void *b,
                     void *x, int *singular)
{
    struct prepared p;
    size_t size = wide_size(a->type);
    char *side = malloc(((size_t)a->m + 1) * size), *moved = malloc(((size_t)a->m + 1) * size);
    char *solution = malloc(((size_t)a->m + 1) * size);
    bool fine = prepare(a, ordered && a->m == a->n, &p) && side && moved && solution;
    *singular = -1;
    if (fine) {
        mr_load(a->type, b, a->m, a->m, 1, true, side);
        move(&p, size, a->m, side, moved, false);
    }
    if (fine && method == MR_SPARSE_CHOLESKY) {
        fine = is_complex(a->type)
                   ? complex_cholesky(a->n, p.rows, p.columns, p.values, (void *)moved, tol, (void *)solution, singular)
                   : real_cholesky(a->n, p.rows, p.columns, p.values, (void *)moved, tol, (void *)solution, singular);
    } else if (fine && is_complex(a->type)) {
        struct complex_qr qr;
        fine = complex_qr(&qr, a->m, a->n, p.rows, p.columns, p.values);
        if (fine) {
            *singular = complex_qr_singular(&qr, tol);
            complex_qr_solve(&qr, (void *)moved, (void *)solution);
        }
        complex_qr_end(&qr);
    } else if (fine) {
        struct real_qr qr;
        fine = real_qr(&qr, a->m, a->n, p.rows, p.columns, p.values);
        if (fine) {
            *singular = real_qr_singular(&qr, tol);
            real_qr_solve(&qr, (void *)moved, (void *)solution);
        }
        real_qr_end(&qr);
    }
    if (fine && !(method == MR_SPARSE_CHOLESKY && *singular >= 0)) {
        move(&p, size, a->n, solution, side, true);
        mr_store(a->type, x, a->n, a->n, 1, true, side);
    }
    end_prepared(&p);
    free(side);
    free(moved);
    free(solution);
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
