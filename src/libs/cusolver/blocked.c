/* SPDX-License-Identifier: Apache-2.0 */
/* Factorisations by panels. A *panel* is some neighbouring columns (of Cholesky's: a block of the diagonal and what
 * stands below it, or right of it). One part factors a panel; then the columns right of it, cut into *strips* of equal
 * width, are changed by what it found, each by a part of its own. Each of these steps is a work of its own in the
 * stream, in this order; all of them use the same *job*, which lives until the last of them has gone. A graph that has
 * them runs them again: the first step sets the job up anew.
 *
 * Panels and strips follow from the sizes alone, so results are the same on every run. */
#include "libs/cusolver/blocked.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "libs/math/lu.h"

#define LEAST 512 /* rows and columns of a problem that is cut */
#define WIDTH 128 /* columns of a panel, and of a strip */
#define QR_WIDTH 64

struct job {
    atomic_uint references;
    struct mr_dense r;
    int least; /* of rows and columns */
    int width; /* of a panel */
    int info;
    int *pivots; /* `least` of them; NULL: rows are not exchanged */
    void *t; /* QR: the triangle that goes with a panel's reflectors */
    int own_pivots[];
};

struct step {
    struct job *job;
    int at, wide; /* the panel's first column, and how many it has */
};

static const void *one(enum mr_cpu_type type)
{
    static const float single = 1;
    static const double two = 1;
    return type == MR_CPU_S ? (const void *)&single : &two;
}

static const void *minus_one(enum mr_cpu_type type)
{
    static const float single = -1;
    static const double two = -1;
    return type == MR_CPU_S ? (const void *)&single : &two;
}

static char *element(const struct job *job, int64_t row, int64_t column)
{
    return mr_behind(job->r.a, row + column * job->r.lda, mr_size_of(job->r.type));
}

/* The columns (of Cholesky's: the rows and columns) of strip `part` behind the panel. */
struct strip {
    int at, wide;
};

static struct strip strip_of(const struct step *step, uint64_t part, int64_t all)
{
    int at = step->at + step->wide + (int)part * WIDTH;
    return (struct strip){at, all - at < WIDTH ? (int)(all - at) : WIDTH};
}

static uint64_t strips_of(const struct step *step, int64_t all)
{
    return mr_parts_of((uint64_t)(all - step->at - step->wide), WIDTH);
}

static void fail(struct job *job, int info)
{
    if (info && job->info == 0)
        job->info = info;
}

/* ---- LU ---- */

static void lu_panel(void *data, uint64_t first, uint64_t end)
{
    const struct step *s = data;
    struct job *job = s->job;
    enum mr_cpu_type type = job->r.type;
    int rows = (int)job->r.m - s->at, lda = (int)job->r.lda, info = 0;
    char *a = element(job, s->at, s->at);
    (void)first, (void)end;
    if (s->at == 0)
        job->info = 0;
    if (job->pivots) {
        int *pivots = job->pivots + s->at;
        mr_cpu.getrf[type](&rows, &s->wide, a, &lda, pivots, &info);
        for (int i = 0; i < s->wide && i < rows; i++)
            pivots[i] += s->at;
    } else {
        info = mr_plain_lu(type, rows, s->wide, a, lda);
    }
    fail(job, info ? info + s->at : 0);
}

static void exchange(const struct job *job, int column, int columns, int from, int to)
{
    int lda = (int)job->r.lda, step = 1, first = from + 1;
    if (job->pivots && from < to)
        mr_lapack.laswp[job->r.type](&columns, element(job, 0, column), &lda, &first, &to, job->pivots, &step);
}

static void lu_strips(void *data, uint64_t first, uint64_t end)
{
    const struct step *s = data;
    const struct job *job = s->job;
    enum mr_cpu_type type = job->r.type;
    int lda = (int)job->r.lda, below = (int)job->r.m - s->at - s->wide;
    for (uint64_t part = first; part < end; part++) {
        struct strip strip = strip_of(s, part, job->r.n);
        char *top = element(job, s->at, strip.at);
        exchange(job, strip.at, strip.wide, s->at, s->at + s->wide);
        mr_cpu.trsm[type]("L", "L", "N", "U", &s->wide, &strip.wide, one(type), element(job, s->at, s->at), &lda, top,
                          &lda);
        if (below > 0)
            mr_cpu.gemm[type]("N", "N", &below, &strip.wide, &s->wide, minus_one(type),
                              element(job, s->at + s->wide, s->at), &lda, top, &lda, one(type),
                              element(job, s->at + s->wide, strip.at), &lda);
    }
}

/* The exchanges of later panels, in the earlier ones: a part is a panel. */
static void lu_end(void *data, uint64_t first, uint64_t end)
{
    const struct step *s = data;
    const struct job *job = s->job;
    for (uint64_t part = first; part < end; part++) {
        int at = (int)part * job->width, wide = job->least - at < job->width ? job->least - at : job->width;
        exchange(job, at, wide, at + wide, job->least);
    }
    if (first > 0)
        return;
    for (int i = 0; job->r.wide_pivots && i < job->least; i++)
        job->r.wide_pivots[i] = job->pivots[i];
    mr_dense_tell(&job->r, 0, job->info);
}

/* ---- Cholesky ---- */

static void cholesky_block(void *data, uint64_t first, uint64_t end)
{
    const struct step *s = data;
    struct job *job = s->job;
    int lda = (int)job->r.lda, info = 0;
    (void)first, (void)end;
    if (s->at == 0)
        job->info = 0;
    if (job->info == 0)
        mr_lapack.potrf[job->r.type](&job->r.uplo, &s->wide, element(job, s->at, s->at), &lda, &info, 1);
    fail(job, info ? info + s->at : 0);
    if (s->at + s->wide == job->least)
        mr_dense_tell(&job->r, 0, job->info);
}

/* What stands below the block, or right of it. */
static void cholesky_panel(void *data, uint64_t first, uint64_t end)
{
    const struct step *s = data;
    const struct job *job = s->job;
    enum mr_cpu_type type = job->r.type;
    int lda = (int)job->r.lda;
    for (uint64_t part = first; part < end && job->info == 0; part++) {
        struct strip strip = strip_of(s, part, job->r.n);
        const void *block = element(job, s->at, s->at);
        if (job->r.uplo == 'L')
            mr_cpu.trsm[type]("R", "L", "T", "N", &strip.wide, &s->wide, one(type), block, &lda,
                              element(job, strip.at, s->at), &lda);
        else
            mr_cpu.trsm[type]("L", "U", "T", "N", &s->wide, &strip.wide, one(type), block, &lda,
                              element(job, s->at, strip.at), &lda);
    }
}

static void cholesky_strips(void *data, uint64_t first, uint64_t end)
{
    const struct step *s = data;
    const struct job *job = s->job;
    enum mr_cpu_type type = job->r.type;
    int lda = (int)job->r.lda;
    for (uint64_t part = first; part < end && job->info == 0; part++) {
        struct strip strip = strip_of(s, part, job->r.n);
        int next = strip.at + strip.wide, rest = (int)job->r.n - next;
        if (job->r.uplo == 'L') {
            const void *here = element(job, strip.at, s->at);
            mr_cpu.syrk[type]("L", "N", &strip.wide, &s->wide, minus_one(type), here, &lda, one(type),
                              element(job, strip.at, strip.at), &lda);
            if (rest > 0)
                mr_cpu.gemm[type]("N", "T", &rest, &strip.wide, &s->wide, minus_one(type), element(job, next, s->at),
                                  &lda, here, &lda, one(type), element(job, next, strip.at), &lda);
        } else {
            const void *here = element(job, s->at, strip.at);
            mr_cpu.syrk[type]("U", "T", &strip.wide, &s->wide, minus_one(type), here, &lda, one(type),
                              element(job, strip.at, strip.at), &lda);
            if (rest > 0)
                mr_cpu.gemm[type]("T", "N", &strip.wide, &rest, &s->wide, minus_one(type), here, &lda,
                                  element(job, s->at, next), &lda, one(type), element(job, strip.at, next), &lda);
        }
    }
}

/* ---- QR ---- */

static void qr_panel(void *data, uint64_t first, uint64_t end)
{
    const struct step *s = data;
    struct job *job = s->job;
    enum mr_cpu_type type = job->r.type;
    int rows = (int)job->r.m - s->at, lda = (int)job->r.lda, room = QR_WIDTH * QR_WIDTH, info = 0;
    void *a = element(job, s->at, s->at), *tau = mr_behind(job->r.tau, s->at, mr_size_of(type));
    void *work = mr_math_scratch(0, (size_t)room * mr_size_of(type));
    (void)first, (void)end;
    if (!work) {
        mr_math_short_of_memory(job->r.function);
        return;
    }
    mr_cpu.geqrf[type](&rows, &s->wide, a, &lda, tau, work, &room, &info);
    if (s->at + s->wide < job->r.n)
        mr_lapack.larft[type]("F", "C", &rows, &s->wide, a, &lda, tau, job->t, &job->width, 1, 1);
    if (s->at + s->wide == job->least)
        mr_dense_tell(&job->r, 0, 0);
}

static void qr_strips(void *data, uint64_t first, uint64_t end)
{
    const struct step *s = data;
    const struct job *job = s->job;
    enum mr_cpu_type type = job->r.type;
    int rows = (int)job->r.m - s->at, lda = (int)job->r.lda;
    void *work = mr_math_scratch(0, (size_t)WIDTH * QR_WIDTH * mr_size_of(type));
    if (!work) {
        mr_math_short_of_memory(job->r.function);
        return;
    }
    for (uint64_t part = first; part < end; part++) {
        struct strip strip = strip_of(s, part, job->r.n);
        mr_lapack.larfb[type]("L", "T", "F", "C", &rows, &strip.wide, &s->wide, element(job, s->at, s->at), &lda,
                              job->t, &job->width, element(job, s->at, strip.at), &lda, work, &strip.wide, 1, 1, 1, 1);
    }
}

/* ---- submitting ---- */

bool mr_is_blocked(const struct mr_dense *r, enum mr_blocked_kind kind)
{
    bool is_large = r->n >= LEAST && (kind == MR_BLOCKED_CHOLESKY || r->m >= LEAST);
    return is_large && !mr_is_complex(r->type) && r->m <= INT_MAX && r->n <= INT_MAX && r->lda <= INT_MAX;
}

static void drop(struct job *job)
{
    if (atomic_fetch_sub_explicit(&job->references, 1, memory_order_acq_rel) != 1)
        return;
    free(job->t);
    free(job);
}

static void release(void *data)
{
    struct step *step = data;
    drop(step->job);
    free(step);
}

/* One step of the job; with a reference of its own. */
static CUresult submit(const struct mr_solver *solver, const struct step *step, uint64_t parts,
                       void (*run)(void *, uint64_t, uint64_t))
{
    if (parts == 0)
        return CUDA_SUCCESS;
    struct step *own = malloc(sizeof *own);
    if (!own)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *own = *step;
    atomic_fetch_add_explicit(&step->job->references, 1, memory_order_relaxed);
    CUresult status = mr_math_submit_own(solver->stream, parts, run, release, own);
    if (status != CUDA_SUCCESS)
        release(own);
    return status;
}

static struct job *job_new(const struct mr_dense *r, enum mr_blocked_kind kind)
{
    int least = (int)(kind == MR_BLOCKED_CHOLESKY || r->n < r->m ? r->n : r->m);
    bool has_own = kind == MR_BLOCKED_LU && r->wide_pivots;
    struct job *job = calloc(1, sizeof *job + (has_own ? (size_t)least * sizeof(int) : 0));
    if (!job)
        return NULL;
    atomic_init(&job->references, 1);
    job->r = *r;
    job->least = least;
    job->width = kind == MR_BLOCKED_QR ? QR_WIDTH : WIDTH;
    job->pivots = has_own ? job->own_pivots : r->pivots;
    if (kind == MR_BLOCKED_QR && !(job->t = malloc((size_t)QR_WIDTH * QR_WIDTH * mr_size_of(r->type)))) {
        free(job);
        return NULL;
    }
    return job;
}

cusolverStatus_t mr_blocked_submit(const struct mr_form *form, const struct mr_solver *solver, const struct mr_dense *r,
                                   enum mr_blocked_kind kind)
{
    struct job *job = job_new(r, kind);
    if (!job)
        return mr_solver_status(form, CUDA_ERROR_OUT_OF_MEMORY);
    job->r.function = form->name;
    struct step step = {.job = job};
    CUresult status = CUDA_SUCCESS;
    for (; step.at < job->least && status == CUDA_SUCCESS; step.at += job->width) {
        step.wide = job->least - step.at < job->width ? job->least - step.at : job->width;
        uint64_t strips = strips_of(&step, job->r.n);
        status = submit(solver, &step, 1,
                        kind == MR_BLOCKED_LU         ? lu_panel
                        : kind == MR_BLOCKED_CHOLESKY ? cholesky_block
                                                      : qr_panel);
        if (status == CUDA_SUCCESS && kind == MR_BLOCKED_CHOLESKY)
            status = submit(solver, &step, strips, cholesky_panel);
        if (status == CUDA_SUCCESS)
            status = submit(solver, &step, strips,
                            kind == MR_BLOCKED_LU         ? lu_strips
                            : kind == MR_BLOCKED_CHOLESKY ? cholesky_strips
                                                          : qr_strips);
    }
    if (status == CUDA_SUCCESS && kind == MR_BLOCKED_LU)
        status = submit(solver, &step, mr_parts_of((uint64_t)job->least, (uint64_t)job->width), lu_end);
    drop(job);
    return mr_solver_status(form, status);
}
