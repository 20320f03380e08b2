/* SPDX-License-Identifier: Apache-2.0 */
/* cusolverRf: the bundle's pattern, factorisation by rows (Gauss, each row against the rows above it), substitution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libs/cusolver/refactor.h"
#include "libs/math/driver.h"

bool mr_refactor_is_part(int n, const struct mr_refactor_part *part)
{
    if (part->nnz < 0 || part->starts[0] != 0 || part->starts[n] != part->nnz)
        return false;
    for (int i = 0; i < n; i++)
        if (part->starts[i] > part->starts[i + 1])
            return false;
    for (int k = 0; k < part->nnz; k++)
        if (part->inner[k] < 0 || part->inner[k] >= n)
            return false;
    return true;
}

bool mr_refactor_is_order(int n, const int *order)
{
    bool right = true;
    char *seen = calloc((size_t)n, 1);
    for (int i = 0; seen && right && i < n; i++)
        right = order[i] >= 0 && order[i] < n && !seen[order[i]]++;
    free(seen);
    return seen && right;
}

static void *device_memory(size_t bytes)
{
    CUdeviceptr at;
    return mr_math_driver.cuMemAlloc_v2(&at, bytes ? bytes : 1) == CUDA_SUCCESS ? (void *)(uintptr_t)at : NULL;
}

static void device_free(void *at)
{
    if (at)
        (void)mr_math_driver.cuMemFree_v2((CUdeviceptr)(uintptr_t)at);
}

void mr_refactor_clear(struct mr_refactor *r)
{
    device_free(r->rows);
    device_free(r->columns);
    device_free(r->values);
    free(r->diagonal);
    free(r->place);
    free(r->p);
    free(r->q);
    free(r->a);
    free(r->pivot);
    free(r->boosted);
    r->rows = r->columns = r->diagonal = r->place = r->p = r->q = r->pivot = r->boosted = NULL;
    r->values = r->a = NULL;
    r->members = 0;
    r->is_analyzed = false;
}

/* An element's row and column. */
struct cell {
    int row, column;
};

static struct cell cell_of(const struct mr_refactor *r, int outer, int inner)
{
    return r->format == CUSOLVERRF_MATRIX_FORMAT_CSR ? (struct cell){outer, inner} : (struct cell){inner, outer};
}

/* Counts the cells by key and puts each where its key's next one goes: an order that keeps equal ones in order. */
static void sort_cells(const struct cell *from, struct cell *to, int count, int n, int *starts, bool by_row)
{
    memset(starts, 0, ((size_t)n + 1) * sizeof *starts);
    for (int k = 0; k < count; k++)
        starts[(by_row ? from[k].row : from[k].column) + 1]++;
    for (int i = 0; i < n; i++)
        starts[i + 1] += starts[i];
    for (int k = 0; k < count; k++)
        to[starts[by_row ? from[k].row : from[k].column]++] = from[k];
}

/* Adds the part's cells of one triangle. */
static int collect(const struct mr_refactor *r, const struct mr_refactor_part *part, bool lower, struct cell *cells)
{
    int count = 0;
    for (int i = 0; i < r->n; i++)
        for (int k = part->starts[i]; k < part->starts[i + 1]; k++) {
            struct cell cell = cell_of(r, i, part->inner[k]);
            if (lower ? cell.row > cell.column : cell.row < cell.column)
                cells[count++] = cell;
        }
    return count;
}

/* The place of a cell in the bundle, or -1. */
static int find(const struct mr_refactor *r, struct cell cell)
{
    int low = r->rows[cell.row], high = r->rows[cell.row + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (r->columns[middle] < cell.column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->rows[cell.row + 1] && r->columns[low] == cell.column ? low : -1;
}

/* The bundle's rows, columns and diagonals from both triangles. */
static bool build_pattern(struct mr_refactor *r, const struct mr_refactor_part *l, const struct mr_refactor_part *u)
{
    size_t most = (size_t)l->nnz + (size_t)u->nnz + (size_t)r->n;
    struct cell *cells = calloc(most, sizeof *cells), *sorted = calloc(most, sizeof *sorted);
    int *starts = malloc(((size_t)r->n + 1) * sizeof *starts), count = 0;
    bool done = cells && sorted && starts && most <= INT_MAX;
    if (done) {
        count = collect(r, l, true, cells);
        count += collect(r, u, false, cells + count);
        for (int i = 0; i < r->n; i++)
            cells[count++] = (struct cell){i, i};
        sort_cells(cells, sorted, count, r->n, starts, false);
        sort_cells(sorted, cells, count, r->n, starts, true);
        r->rows = device_memory(((size_t)r->n + 1) * sizeof *r->rows);
        r->columns = device_memory((size_t)count * sizeof *r->columns);
        done = r->rows && r->columns;
    }
    r->nnz = 0;
    for (int k = 0, row = 0; done && k < count; k++) {
        if (k == 0)
            r->rows[0] = 0;
        while (row < cells[k].row)
            r->rows[++row] = r->nnz;
        if (k == 0 || cells[k].row != cells[k - 1].row || cells[k].column != cells[k - 1].column) {
            if (cells[k].row == cells[k].column)
                r->diagonal[row] = r->nnz;
            r->columns[r->nnz++] = cells[k].column;
        }
        r->rows[row + 1] = r->nnz;
    }
    free(cells);
    free(sorted);
    free(starts);
    return done;
}

/* A triangle's values, and the diagonal's if they are this factor's, for all members. */
static void fill(struct mr_refactor *r, const struct mr_refactor_part *part, bool lower)
{
    bool has_diagonal = lower == mr_refactor_has_unit_u(r);
    for (int i = 0; i < r->n; i++)
        for (int k = part->starts[i]; k < part->starts[i + 1]; k++) {
            struct cell cell = cell_of(r, i, part->inner[k]);
            bool wanted = cell.row == cell.column ? has_diagonal : (cell.row > cell.column) == lower;
            for (int m = 0; wanted && m < r->members; m++)
                r->values[(int64_t)m * r->nnz + find(r, cell)] = part->values[k];
        }
}

/* Where A's elements go. */
static cusolverStatus_t find_places(struct mr_refactor *r, const struct mr_refactor_part *a)
{
    int *turned = malloc(2 * (size_t)r->n * sizeof *turned);
    if (!turned)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    int *columns = turned + r->n;
    for (int i = 0; i < r->n; i++) {
        turned[r->p[i]] = i;
        columns[r->q[i]] = i;
    }
    cusolverStatus_t status = CUSOLVER_STATUS_SUCCESS;
    for (int i = 0; i < r->n; i++)
        for (int k = a->starts[i]; k < a->starts[i + 1]; k++) {
            struct cell cell = cell_of(r, i, a->inner[k]);
            r->place[k] = find(r, (struct cell){turned[cell.row], columns[cell.column]});
            if (r->place[k] < 0)
                status = CUSOLVER_STATUS_INVALID_VALUE;
        }
    free(turned);
    return status;
}

cusolverStatus_t mr_refactor_build(struct mr_refactor *r, const struct mr_refactor_part *a,
                                   const struct mr_refactor_part *l, const struct mr_refactor_part *u)
{
    size_t members = (size_t)r->members;
    r->diagonal = calloc((size_t)r->n, sizeof *r->diagonal);
    r->place = calloc((size_t)r->nnz_a + 1, sizeof *r->place);
    r->a = calloc(members * (size_t)r->nnz_a + 1, sizeof *r->a);
    r->pivot = malloc(members * sizeof *r->pivot);
    r->boosted = calloc(members, sizeof *r->boosted);
    if (!r->diagonal || !r->place || !r->a || !r->pivot || !r->boosted || !build_pattern(r, l, u))
        return CUSOLVER_STATUS_ALLOC_FAILED;
    r->values = device_memory(members * (size_t)r->nnz * sizeof *r->values);
    if (!r->values)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    memset(r->values, 0, members * (size_t)r->nnz * sizeof *r->values);
    for (int m = 0; m < r->members; m++)
        r->pivot[m] = -1;
    fill(r, l, true);
    fill(r, u, false);
    return find_places(r, a);
}

/* The pivot, or what it is replaced by. */
static double pivot_of(struct mr_refactor *r, int member, int row, double pivot)
{
    if (pivot != 0 && !(fabs(pivot) < r->zero))
        return pivot;
    if (r->boost != 0) {
        r->boosted[member] = 1;
        return r->boost;
    }
    if (r->pivot[member] < 0)
        r->pivot[member] = row;
    return pivot;
}

void mr_refactor_factorise(struct mr_refactor *r, int member, double *row, int *mark)
{
    double *values = r->values + (int64_t)member * r->nnz;
    const double *a = r->a + (int64_t)member * r->nnz_a;
    bool unit_u = mr_refactor_has_unit_u(r);
    r->pivot[member] = -1;
    r->boosted[member] = 0;
    memset(values, 0, (size_t)r->nnz * sizeof *values);
    for (int k = 0; k < r->nnz_a; k++)
        values[r->place[k]] += a[k];
    for (int i = 0; i < r->n; i++) {
        int first = r->rows[i], end = r->rows[i + 1], middle = r->diagonal[i];
        for (int k = first; k < end; k++) {
            row[r->columns[k]] = values[k];
            mark[r->columns[k]] = i;
        }
        for (int k = first; k < middle; k++) {
            int above = r->columns[k];
            double factor = unit_u ? row[above] : row[above] / values[r->diagonal[above]];
            row[above] = factor;
            for (int j = r->diagonal[above] + 1; factor != 0 && j < r->rows[above + 1]; j++)
                if (mark[r->columns[j]] == i) /* what the pattern has not is dropped */
                    row[r->columns[j]] -= factor * values[j];
        }
        row[i] = pivot_of(r, member, i, row[i]);
        for (int k = middle + 1; unit_u && k < end; k++)
            row[r->columns[k]] /= row[i];
        for (int k = first; k < end; k++)
            values[k] = row[r->columns[k]];
    }
}

void mr_refactor_solve(const struct mr_refactor *r, int member, const int *p, const int *q, double *x, double *row)
{
    const double *values = r->values + (int64_t)member * r->nnz;
    bool unit_u = mr_refactor_has_unit_u(r);
    for (int i = 0; i < r->n; i++) {
        double sum = x[p[i]];
        for (int k = r->rows[i]; k < r->diagonal[i]; k++)
            sum -= values[k] * row[r->columns[k]];
        row[i] = unit_u ? sum / values[r->diagonal[i]] : sum;
    }
    for (int i = r->n - 1; i >= 0; i--) {
        double sum = row[i];
        for (int k = r->diagonal[i] + 1; k < r->rows[i + 1]; k++)
            sum -= values[k] * row[r->columns[k]];
        row[i] = unit_u ? sum : sum / values[r->diagonal[i]];
    }
    for (int i = 0; i < r->n; i++)
        x[q[i]] = row[i];
}
