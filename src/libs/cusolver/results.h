/* SPDX-License-Identifier: Apache-2.0 */
/* What the methods by rotations tell beside their infos: sweeps and a residual. A program has them in a syevjInfo_t or
 * a gesvdjInfo_t; the work writes them when it runs, if that still lives then.
 *
 * Millrace computes as the other methods do, not by rotations: so a tolerance and a limit of sweeps are kept and not
 * used, one sweep is told, and the residual is measured. */
#ifndef MR_CUSOLVER_RESULTS_H
#define MR_CUSOLVER_RESULTS_H

#include "libs/cusolver/dense.h"

/* Tells the work's results to the pointer's object; a negative residual: there is none, as of batches on hardware. Any
 * thread. */
void mr_results_tell(enum mr_solver_kind kind, const void *results, double residual);

/* The norm of A V - U diag(w), in which A has been copied before it was overwritten: a matrix of m rows and n columns,
 * without gaps. V and U have `count` columns; `adjoint`: the pointer v has V^H. `room` has m * count elements. */
double mr_residual(enum mr_cpu_type type, int m, int n, int count, const void *a, const void *v, int ldv, bool adjoint,
                   const void *u, int ldu, const void *w, void *room);

#endif
