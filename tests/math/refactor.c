/* SPDX-License-Identifier: Apache-2.0 */
/* cusolverRf: systems whose residuals are looked at, factors that are multiplied out, all places of the unit diagonal,
 * rows and columns, host and device, new values, batches, pivots that are 0 or replaced; bad input. */
#include <cuda_runtime_api.h>
#include <cusolverRf.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUSOLVER_STATUS_SUCCESS)

enum { N = 60, MOST = N * N, MEMBERS = 5 };

/* Compressed rows or columns of a full matrix's marked elements. */
struct part {
    int count, starts[N + 1], inner[MOST];
    double values[MOST];
};

static double full[N][N]; /* A */
static bool lower[N][N], upper[N][N]; /* the factors' patterns */
static int p[N], q[N];
static struct part a, l, u;
static unsigned state = 7;

static double drawn(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24) - 0.5;
}

static void shuffle(int *order)
{
    for (int i = 0; i < N; i++)
        order[i] = i;
    for (int i = N - 1; i > 0; i--) {
        int j = (int)((drawn() + 0.5) * (i + 1)) % (i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* Values on A's pattern; A' has a diagonal that is large enough to do without exchanges. */
static void draw_values(bool anew)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double *at = &full[p[i]][q[j]];
            if (anew)
                *at = i == j || drawn() > 0.45 ? 1 : 0;
            if (*at != 0)
                *at = i == j ? 5 + drawn() : 0.25 + drawn() / 4;
        }
}

/* The factors' patterns by elimination on A's. */
static void find_pattern(void)
{
    static bool filled[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            filled[i][j] = full[p[i]][q[j]] != 0;
    for (int k = 0; k < N; k++)
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; filled[i][k] && j < N; j++)
                filled[i][j] |= filled[k][j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            lower[i][j] = i > j && filled[i][j];
            upper[i][j] = i < j && filled[i][j];
        }
}

static void compress(struct part *to, bool by_columns, bool is_a, const bool (*pattern)[N], bool diagonal)
{
    to->count = 0;
    for (int i = 0; i < N; i++) {
        to->starts[i] = to->count;
        for (int k = N - 1; k >= 0; k--) { /* not sorted */
            int row = by_columns ? k : i, column = by_columns ? i : k;
            if (is_a ? full[row][column] != 0 : pattern[row][column] || (diagonal && row == column)) {
                to->inner[to->count] = k;
                to->values[to->count++] = is_a ? full[row][column] : 1;
            }
        }
    }
    to->starts[N] = to->count;
}

static void compress_all(bool by_columns, cusolverRfUnitDiagonal_t unit)
{
    compress(&a, by_columns, true, NULL, false);
    compress(&l, by_columns, false, lower, unit != CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L);
    compress(&u, by_columns, false, upper, unit != CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U);
}

static void *device(const void *from, size_t bytes)
{
    void *at;
    RT(cudaMalloc(&at, bytes));
    RT(cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice));
    return at;
}

static void check_solution(const double *b, const double *x)
{
    for (int i = 0; i < N; i++) {
        double rest = -b[i];
        for (int j = 0; j < N; j++)
            rest += full[i][j] * x[j];
        CHECK(fabs(rest) < 1e-11);
    }
}

/* L U = A', from the factors that are given out. */
static void check_factors(cusolverRfHandle_t h)
{
    int counts[2], *starts[2], *inner[2];
    double *values[2], sum[N][N] = {{0}}, dense[2][N][N] = {{{0}}};
    cusolverRfMatrixFormat_t format;
    cusolverRfUnitDiagonal_t unit;
    OK(cusolverRfGetMatrixFormat(h, &format, &unit));
    OK(cusolverRfExtractSplitFactorsHost(h, &counts[0], &starts[0], &inner[0], &values[0], &counts[1], &starts[1],
                                         &inner[1], &values[1]));
    for (int f = 0; f < 2; f++) {
        CHECK(starts[f][N] == counts[f]);
        for (int i = 0; i < N; i++) {
            dense[f][i][i] = 1; /* unless it is stored */
            for (int k = starts[f][i]; k < starts[f][i + 1]; k++)
                dense[f][i][inner[f][k]] = values[f][k];
        }
        free(starts[f]);
        free(inner[f]);
        free(values[f]);
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                sum[i][j] += dense[0][i][k] * dense[1][k][j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            CHECK(fabs(sum[i][j] - full[p[i]][q[j]]) < 1e-11);
    bool unit_u = unit == CUSOLVERRF_UNIT_DIAGONAL_STORED_U || unit == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U;
    for (int i = 0; i < N; i++)
        CHECK(dense[unit_u][i][i] == 1 && dense[!unit_u][i][i] != 1);
}

static void one(bool by_columns, cusolverRfUnitDiagonal_t unit, bool on_device)
{
    cusolverRfHandle_t h;
    static double b[2][N], x[2][N];
    shuffle(p);
    shuffle(q);
    draw_values(true);
    find_pattern();
    compress_all(by_columns, unit);
    OK(cusolverRfCreate(&h));
    OK(cusolverRfSetMatrixFormat(h, by_columns ? CUSOLVERRF_MATRIX_FORMAT_CSC : CUSOLVERRF_MATRIX_FORMAT_CSR, unit));
    CHECK(cusolverRfAnalyze(h) == CUSOLVER_STATUS_INVALID_VALUE);
    void *memory[] = {device(a.starts, sizeof a.starts),
                      device(a.inner, sizeof a.inner),
                      device(a.values, sizeof a.values),
                      device(l.starts, sizeof l.starts),
                      device(l.inner, sizeof l.inner),
                      device(l.values, sizeof l.values),
                      device(u.starts, sizeof u.starts),
                      device(u.inner, sizeof u.inner),
                      device(u.values, sizeof u.values),
                      device(p, sizeof p),
                      device(q, sizeof q),
                      device(b, sizeof b)};
    if (on_device)
        OK(cusolverRfSetupDevice(N, a.count, memory[0], memory[1], memory[2], l.count, memory[3], memory[4], memory[5],
                                 u.count, memory[6], memory[7], memory[8], memory[9], memory[10], h));
    else
        OK(cusolverRfSetupHost(N, a.count, a.starts, a.inner, a.values, l.count, l.starts, l.inner, l.values, u.count,
                               u.starts, u.inner, u.values, p, q, h));
    CHECK(cusolverRfRefactor(h) == CUSOLVER_STATUS_INVALID_VALUE);
    OK(cusolverRfAnalyze(h));
    for (int round = 0; round < 3; round++) {
        if (round > 0) {
            draw_values(false);
            compress_all(by_columns, unit);
            RT(cudaMemcpyAsync(memory[2], a.values, sizeof a.values, cudaMemcpyHostToDevice, NULL));
            OK(cusolverRfResetValues(N, a.count, memory[0], memory[1], memory[2], memory[9], memory[10], h));
        }
        OK(cusolverRfRefactor(h));
        check_factors(h);
        for (int i = 0; i < 2 * N; i++)
            b[i / N][i % N] = drawn();
        RT(cudaMemcpy(memory[11], b, sizeof b, cudaMemcpyHostToDevice));
        OK(cusolverRfSolve(h, memory[9], memory[10], 2, NULL, N, memory[11], N));
        RT(cudaMemcpy(x, memory[11], sizeof x, cudaMemcpyDeviceToHost));
        check_solution(b[0], x[0]);
        check_solution(b[1], x[1]);
    }
    int count, *rows, *columns;
    double *values, first;
    OK(cusolverRfAccessBundledFactorsDevice(h, &count, &rows, &columns, &values));
    RT(cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost));
    CHECK(count >= N && isfinite(first));
    for (int i = 0; i < 12; i++)
        RT(cudaFree(memory[i]));
    OK(cusolverRfDestroy(h));
    CHECK(cusolverRfDestroy(h) == CUSOLVER_STATUS_NOT_INITIALIZED);
}

/* One of the members has a column of zeros. */
static void batch(void)
{
    static double kept[MEMBERS][N][N], values[MEMBERS][MOST], b[N], x[N];
    double *each[MEMBERS], *sides[MEMBERS];
    int position[MEMBERS];
    cusolverRfHandle_t h;
    shuffle(p);
    shuffle(q);
    draw_values(true);
    find_pattern();
    for (int m = 0; m < MEMBERS; m++) {
        draw_values(false);
        compress_all(false, CUSOLVERRF_UNIT_DIAGONAL_STORED_L);
        memcpy(kept[m], full, sizeof full);
        memcpy(values[m], a.values, sizeof a.values);
        each[m] = values[m];
    }
    for (int k = 0; k < a.count; k++)
        if (a.inner[k] == q[3])
            values[2][k] = 0;
    OK(cusolverRfCreate(&h));
    OK(cusolverRfBatchSetupHost(MEMBERS, N, a.count, a.starts, a.inner, each, l.count, l.starts, l.inner, l.values,
                                u.count, u.starts, u.inner, u.values, p, q, h));
    OK(cusolverRfBatchAnalyze(h));
    CHECK(cusolverRfBatchRefactor(h) == CUSOLVER_STATUS_ZERO_PIVOT);
    OK(cusolverRfBatchZeroPivot(h, position));
    for (int m = 0; m < MEMBERS; m++)
        CHECK(position[m] == (m == 2 ? 3 : -1));
    for (int i = 0; i < N; i++)
        b[i] = drawn();
    for (int m = 0; m < MEMBERS; m++)
        sides[m] = device(b, sizeof b);
    double **array = device(sides, sizeof sides);
    int *dp = device(p, sizeof p), *dq = device(q, sizeof q);
    OK(cusolverRfBatchSolve(h, dp, dq, 1, NULL, N, array, N));
    for (int m = 0; m < MEMBERS; m++) {
        RT(cudaMemcpy(x, sides[m], sizeof x, cudaMemcpyDeviceToHost));
        memcpy(full, kept[m], sizeof full);
        if (m != 2)
            check_solution(b, x);
        RT(cudaFree(sides[m]));
    }
    RT(cudaFree(array));
    RT(cudaFree(dp));
    RT(cudaFree(dq));
    cusolverRfNumericBoostReport_t report;
    OK(cusolverRfGetNumericBoostReport(h, &report));
    CHECK(report == CUSOLVERRF_NUMERIC_BOOST_NOT_USED);
    OK(cusolverRfSetNumericProperties(h, 1e-8, 2));
    OK(cusolverRfBatchRefactor(h));
    OK(cusolverRfGetNumericBoostReport(h, &report));
    CHECK(report == CUSOLVERRF_NUMERIC_BOOST_USED);
    OK(cusolverRfDestroy(h));
}

static void bad_input(void)
{
    int starts[] = {0, 1}, inner[] = {0}, none[] = {0, 0}, outside[] = {1}, order[] = {0}, wrong[] = {1};
    double value[] = {4};
    cusolverRfHandle_t h;
    CHECK(cusolverRfCreate(NULL) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverRfAnalyze(NULL) == CUSOLVER_STATUS_NOT_INITIALIZED);
    OK(cusolverRfCreate(&h));
    CHECK(cusolverRfSetMatrixFormat(h, (cusolverRfMatrixFormat_t)5, 0) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverRfSetAlgs(h, 0, (cusolverRfTriangularSolve_t)9) == CUSOLVER_STATUS_INVALID_VALUE);
#define SETUP(n, rows, columns, p, q) \
    cusolverRfSetupHost(n, 1, rows, columns, value, 0, none, inner, value, 1, starts, inner, value, p, q, h)
    CHECK(SETUP(0, starts, inner, order, order) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(SETUP(1, starts, outside, order, order) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(SETUP(1, none, inner, order, order) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(SETUP(1, starts, inner, wrong, order) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(SETUP(1, starts, inner, order, NULL) == CUSOLVER_STATUS_INVALID_VALUE);
    OK(SETUP(1, starts, inner, order, order));
    OK(cusolverRfAnalyze(h));
    OK(cusolverRfRefactor(h));
    CHECK(cusolverRfSolve(h, order, order, 1, NULL, 1, value, 0) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverRfSolve(h, order, order, 1, NULL, 0, value, 1) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverRfSolve(h, order, order, 0, NULL, 1, value, 1) == CUSOLVER_STATUS_INVALID_VALUE);
    /* an element of A outside the factors' pattern */
    int two[] = {0, 1, 2}, across[] = {1, 0}, straight[] = {0, 1}, empty[] = {0, 0, 0};
    double pair[] = {1, 1};
    CHECK(cusolverRfSetupHost(2, 2, two, across, pair, 0, empty, inner, pair, 2, two, straight, pair, straight,
                              straight, h) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverRfRefactor(h) == CUSOLVER_STATUS_INVALID_VALUE);
    OK(cusolverRfDestroy(h));
}

int main(void)
{
    for (int unit = 0; unit < 4; unit++)
        for (int way = 0; way < 4; way++)
            one(way & 1, (cusolverRfUnitDiagonal_t)unit, way & 2);
    batch();
    bad_input();
    return 0;
}
