/* SPDX-License-Identifier: Apache-2.0 */
/* cusolverRf: settings, statuses, calls out of order, and systems of four rows by each format and unit diagonal. */
#include "sv.h"

#include <cusolverRf.h>
#include <math.h>

#define N 4

/* A, its factors' patterns with the whole diagonals; orders that change nothing. Rows and columns are alike, so the
 * same arrays serve CSR and CSC. */
static int starts[N + 1] = {0, 2, 5, 8, 10}, inner[10] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
static double values[10] = {4, 1, 1, 4, 1, 1, 4, 1, 1, 4};
static int l_starts[2][N + 1] = {{0, 0, 1, 2, 3}, {0, 1, 3, 5, 7}}, l_inner[2][7] = {{0, 1, 2}, {0, 0, 1, 1, 2, 2, 3}};
static int u_starts[2][N + 1] = {{0, 1, 2, 3, 3}, {0, 2, 4, 6, 7}}, u_inner[2][7] = {{1, 2, 3}, {0, 1, 1, 2, 2, 3, 3}};
static double ones[7] = {1, 1, 1, 1, 1, 1, 1};
static int order[N] = {0, 1, 2, 3};

static cusolverRfHandle_t made(void)
{
    cusolverRfHandle_t h = NULL;
    SV_NEED(cusolverRfCreate(&h));
    return h;
}

static void *copy(const void *from, size_t bytes)
{
    void *at = NULL;
    RT_NEED(cudaMalloc(&at, bytes));
    RT_NEED(cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice));
    return at;
}

/* Which arrays hold the diagonal: L, U. `csc` has the factors' arrays change places, since rows become columns. */
static cusolverStatus_t setup(cusolverRfHandle_t h, bool csc, bool l_whole, bool u_whole)
{
    int(*ls)[N + 1] = csc ? u_starts : l_starts, (*us)[N + 1] = csc ? l_starts : u_starts;
    int(*li)[7] = csc ? u_inner : l_inner, (*ui)[7] = csc ? l_inner : u_inner;
    return cusolverRfSetupHost(N, 10, starts, inner, values, ls[l_whole][N], ls[l_whole], li[l_whole], ones,
                               us[u_whole][N], us[u_whole], ui[u_whole], ones, order, order, h);
}

/* Solves for 1 2 3 4 and says the largest residual, as whether it is small. */
static void solve(cusolverRfHandle_t h)
{
    double b[N] = {1, 2, 3, 4}, x[N], most = 0;
    double *side = copy(b, sizeof b), *temp = copy(b, sizeof b);
    int *p = copy(order, sizeof order), *q = copy(order, sizeof order);
    sv(cusolverRfSolve(h, p, q, 1, temp, N, side, N));
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(x, side, sizeof x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        double rest = -b[i];
        for (int k = starts[i]; k < starts[i + 1]; k++)
            rest += values[k] * x[inner[k]];
        most = fabs(rest) > most ? fabs(rest) : most;
    }
    say_if("solved", most < 1e-12);
}

static void whole(cusolverRfMatrixFormat_t format, cusolverRfUnitDiagonal_t unit)
{
    cusolverRfHandle_t h = made();
    sv(cusolverRfSetMatrixFormat(h, format, unit));
    sv(setup(h, format == CUSOLVERRF_MATRIX_FORMAT_CSC, unit != CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L,
             unit != CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U));
    sv(cusolverRfAnalyze(h));
    sv(cusolverRfRefactor(h));
    solve(h);
}

#define WHOLE(name, format, unit) \
    CASE(rf_value, name, .alone = true) \
    { \
        whole(format, unit); \
    }
WHOLE(csr_stored_l, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_STORED_L)
WHOLE(csr_stored_u, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_STORED_U)
WHOLE(csr_assumed_l, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L)
WHOLE(csr_assumed_u, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U)
WHOLE(csc_stored_l, CUSOLVERRF_MATRIX_FORMAT_CSC, CUSOLVERRF_UNIT_DIAGONAL_STORED_L)
WHOLE(csc_stored_u, CUSOLVERRF_MATRIX_FORMAT_CSC, CUSOLVERRF_UNIT_DIAGONAL_STORED_U)
WHOLE(csc_assumed_l, CUSOLVERRF_MATRIX_FORMAT_CSC, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L)
WHOLE(csc_assumed_u, CUSOLVERRF_MATRIX_FORMAT_CSC, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U)

/* A handle that is ready to compute. */
static cusolverRfHandle_t ready(void)
{
    cusolverRfHandle_t h = made();
    SV_NEED(setup(h, false, true, true));
    SV_NEED(cusolverRfAnalyze(h));
    return h;
}

CASE(rf_value, split_factors, .alone = true)
{
    cusolverRfHandle_t h = ready();
    int l = 0, u = 0, *ls = NULL, *li = NULL, *us = NULL, *ui = NULL;
    double *lv = NULL, *uv = NULL;
    SV_NEED(cusolverRfRefactor(h));
    sv(cusolverRfExtractSplitFactorsHost(h, &l, &ls, &li, &lv, &u, &us, &ui, &uv));
    say_int(l);
    say_int(u);
    for (int k = 0; k < l; k++)
        say_int(li[k]);
    for (int k = 0; k < u; k++)
        say_int(ui[k]);
    say_if("first pivot", uv[0] == 4);
    say_if("first factor", u > 1 && l > 1 && (lv[0] == 0.25 || lv[1] == 0.25));
}

CASE(rf_value, bundled_factors_host, .alone = true)
{
    cusolverRfHandle_t h = ready();
    int count = 0, *ms = NULL, *mi = NULL;
    double *mv = NULL;
    SV_NEED(cusolverRfRefactor(h));
    sv(cusolverRfExtractBundledFactorsHost(h, &count, &ms, &mi, &mv));
    say_int(count);
    for (int i = 0; i <= N; i++)
        say_int(ms[i]);
    for (int k = 0; k < count; k++)
        say_int(mi[k]);
    say_if("first pivot", mv[0] == 4);
}

CASE(rf_value, reset_values, .alone = true)
{
    cusolverRfHandle_t h = ready();
    SV_NEED(cusolverRfRefactor(h));
    for (int k = 0; k < 10; k++)
        values[k] *= 2 + (k % 3 == 0);
    sv(cusolverRfResetValues(N, 10, copy(starts, sizeof starts), copy(inner, sizeof inner), copy(values, sizeof values),
                             copy(order, sizeof order), copy(order, sizeof order), h));
    sv(cusolverRfRefactor(h));
    solve(h);
}

CASE(rf_value, zero_pivot, .alone = true)
{
    cusolverRfHandle_t h = made();
    values[0] = 0;
    sv(setup(h, false, true, true));
    sv(cusolverRfAnalyze(h));
    sv(cusolverRfRefactor(h));
}

CASE(rf_value, boosted, .alone = true)
{
    cusolverRfHandle_t h = made();
    cusolverRfNumericBoostReport_t report = 9;
    values[0] = 0;
    sv(cusolverRfSetNumericProperties(h, 1e-8, 2));
    sv(setup(h, false, true, true));
    sv(cusolverRfAnalyze(h));
    sv(cusolverRfRefactor(h));
    sv(cusolverRfGetNumericBoostReport(h, &report));
    say_int(report);
}

CASE(rf_value, batch, .alone = true)
{
    double second[10], *each[2] = {values, second}, b[N] = {1, 2, 3, 4};
    cusolverRfHandle_t h = made();
    int position[2] = {-7, -7};
    for (int k = 0; k < 10; k++)
        second[k] = k < 2 ? 0 : values[k];
    sv(cusolverRfBatchSetupHost(2, N, 10, starts, inner, each, l_starts[1][N], l_starts[1], l_inner[1], ones,
                                u_starts[1][N], u_starts[1], u_inner[1], ones, order, order, h));
    sv(cusolverRfBatchAnalyze(h));
    sv(cusolverRfBatchRefactor(h));
    sv(cusolverRfBatchZeroPivot(h, position));
    say_int(position[0]);
    say_int(position[1]);
    double *sides[2] = {copy(b, sizeof b), copy(b, sizeof b)}, x[N], *temp = NULL;
    RT_NEED(cudaMalloc((void **)&temp, 2 * 2 * N * sizeof *temp));
    double **array = copy(sides, sizeof sides);
    sv(cusolverRfBatchSolve(h, copy(order, sizeof order), copy(order, sizeof order), 1, temp, N, array, N));
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(x, sides[0], sizeof x, cudaMemcpyDeviceToHost));
    say_if("solved", fabs(4 * x[0] + x[1] - 1) < 1e-12);
}

CASE(rf_status, create_null, .alone = true)
{
    sv(cusolverRfCreate(NULL));
}

CASE(rf_status, null_handle, .alone = true)
{
    sv(cusolverRfAnalyze(NULL));
    sv(cusolverRfRefactor(NULL));
    sv(cusolverRfDestroy(NULL));
}

CASE(rf_status, defaults, .alone = true)
{
    cusolverRfHandle_t h = made();
    cusolverRfMatrixFormat_t format = 9;
    cusolverRfUnitDiagonal_t unit = 9;
    cusolverRfFactorization_t factorization = 9;
    cusolverRfTriangularSolve_t triangular = 9;
    cusolverRfResetValuesFastMode_t fast = 9;
    double zero = 9, boost = 9;
    sv(cusolverRfGetMatrixFormat(h, &format, &unit));
    sv(cusolverRfGetAlgs(h, &factorization, &triangular));
    sv(cusolverRfGetResetValuesFastMode(h, &fast));
    sv(cusolverRfGetNumericProperties(h, &zero, &boost));
    say_int(format);
    say_int(unit);
    say_int(factorization);
    say_int(triangular);
    say_int(fast);
    say_if("no limit", zero == 0);
    say_if("no boost", boost == 0);
}

CASE(rf_status, wrong_settings, .alone = true)
{
    cusolverRfHandle_t h = made();
    sv(cusolverRfSetMatrixFormat(h, 5, 0));
    sv(cusolverRfSetMatrixFormat(h, 0, 7));
    sv(cusolverRfSetAlgs(h, 0, 9));
    sv(cusolverRfSetAlgs(h, 9, 1));
    sv(cusolverRfSetResetValuesFastMode(h, 3));
    sv(cusolverRfSetNumericProperties(h, -1, 0));
    sv(cusolverRfGetMatrixFormat(h, NULL, NULL));
    sv(cusolverRfGetAlgs(h, NULL, NULL));
    sv(cusolverRfGetNumericBoostReport(h, NULL));
}

#define STATUS(name, ...) \
    CASE(rf_status, name, .alone = true) \
    { \
        cusolverRfHandle_t h = made(); \
        __VA_ARGS__; \
    }
STATUS(analyze_first, sv(cusolverRfAnalyze(h)))
STATUS(refactor_first, sv(cusolverRfRefactor(h)))
STATUS(batch_analyze_first, sv(cusolverRfBatchAnalyze(h)))
STATUS(boost_report_first, {
    cusolverRfNumericBoostReport_t report = 9;
    sv(cusolverRfGetNumericBoostReport(h, &report));
    say_int(report);
})
STATUS(solve_first, solve(h))
STATUS(refactor_before_analyze, {
    sv(setup(h, false, true, true));
    sv(cusolverRfRefactor(h));
})
STATUS(solve_before_refactor, {
    sv(setup(h, false, true, true));
    sv(cusolverRfAnalyze(h));
    solve(h);
})
STATUS(setup_twice, {
    sv(setup(h, false, true, true));
    sv(setup(h, false, true, true));
    sv(cusolverRfAnalyze(h));
    sv(cusolverRfRefactor(h));
    solve(h);
})
STATUS(destroy_twice, {
    sv(cusolverRfDestroy(h));
    sv(cusolverRfDestroy(h));
})

#define SETUP(n, count, rows, columns, numbers, p, q) \
    sv(cusolverRfSetupHost(n, count, rows, columns, numbers, 7, l_starts[1], l_inner[1], ones, 7, u_starts[1], \
                           u_inner[1], ones, p, q, h))
STATUS(setup_no_rows, SETUP(0, 10, starts, inner, values, order, order))
STATUS(setup_negative, SETUP(-1, 10, starts, inner, values, order, order))
STATUS(setup_no_elements, SETUP(N, 0, starts, inner, values, order, order))
STATUS(setup_null_rows, SETUP(N, 10, NULL, inner, values, order, order))
STATUS(setup_null_columns, SETUP(N, 10, starts, NULL, values, order, order))
STATUS(setup_null_values, SETUP(N, 10, starts, inner, NULL, order, order))
STATUS(setup_null_p, SETUP(N, 10, starts, inner, values, NULL, order))
STATUS(setup_null_q, SETUP(N, 10, starts, inner, values, order, NULL))
STATUS(setup_other_count, SETUP(N, 9, starts, inner, values, order, order))
STATUS(setup_order_twice, {
    int twice[N] = {0, 1, 1, 3};
    SETUP(N, 10, starts, inner, values, twice, order);
})
STATUS(setup_column_outside, {
    inner[3] = 9;
    SETUP(N, 10, starts, inner, values, order, order);
})
STATUS(setup_outside_pattern, {
    inner[1] = 3;
    SETUP(N, 10, starts, inner, values, order, order);
    sv(cusolverRfAnalyze(h));
})

#define SOLVE(columns, temp, ldt, side, ldxf) \
    double b[N] = {1, 2, 3, 4}; \
    SV_NEED(setup(h, false, true, true)); \
    SV_NEED(cusolverRfAnalyze(h)); \
    SV_NEED(cusolverRfRefactor(h)); \
    int *p = copy(order, sizeof order); \
    void *memory = copy(b, sizeof b); \
    (void)memory; \
    sv(cusolverRfSolve(h, p, p, columns, temp, ldt, side, ldxf))
STATUS(solve_no_columns, SOLVE(0, memory, N, memory, N))
STATUS(solve_short_ldt, SOLVE(1, copy(b, sizeof b), 1, memory, N))
STATUS(solve_short_ldxf, SOLVE(1, copy(b, sizeof b), N, memory, 1))
STATUS(solve_null_temp, SOLVE(1, NULL, N, memory, N))
STATUS(solve_null_side, SOLVE(1, memory, N, NULL, N))
