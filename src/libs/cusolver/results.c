/* SPDX-License-Identifier: Apache-2.0 */
/* Objects with the settings and results of the methods by rotations, and the measure of a residual. */
#include "libs/cusolver/results.h"

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "libs/math/handles.h"

struct results {
    enum mr_solver_kind kind;
    double tolerance, residual;
    int max_sweeps, sort, sweeps;
};

/* Guards the objects' results: work writes them while the program may destroy the object. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void mr_results_tell(enum mr_solver_kind kind, const void *results, double residual)
{
    pthread_mutex_lock(&lock);
    struct results *object = mr_solver_find(kind, results);
    if (object) {
        object->residual = residual;
        object->sweeps = 1;
    }
    pthread_mutex_unlock(&lock);
}

double mr_residual(enum mr_cpu_type type, int m, int n, int count, const void *a, const void *v, int ldv, bool adjoint,
                   const void *u, int ldu, const void *w, void *room)
{
    static const float single[4] = {1, 0, 0, 0};
    static const double two[4] = {1, 0, 0, 0};
    bool narrow = mr_real_size_of(type) == 4;
    const void *one = narrow ? (const void *)single : two, *zero = narrow ? (const void *)(single + 2) : two + 2;
    const char *op = !adjoint ? "N" : mr_is_complex(type) ? "C" : "T";
    double sum = 0;
    mr_cpu.gemm[type]("N", op, &m, &count, &n, one, a, &m, v, &ldv, zero, room, &m);
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < m; i++) {
            int64_t at = i + j * m, other = i + j * ldu;
            double off;
            switch (type) {
            case MR_CPU_S:
                off = (double)((float *)room)[at] - (double)((const float *)u)[other] * (double)((const float *)w)[j];
                break;
            case MR_CPU_D:
                off = ((double *)room)[at] - ((const double *)u)[other] * ((const double *)w)[j];
                break;
            case MR_CPU_C:
                off = (double)cabsf(((float complex *)room)[at] -
                                    ((const float complex *)u)[other] * ((const float *)w)[j]);
                break;
            default:
                off = cabs(((double complex *)room)[at] - ((const double complex *)u)[other] * ((const double *)w)[j]);
            }
            sum += off * off;
        }
    return sqrt(sum);
}

/* ---- the objects ---- */

static cusolverStatus_t create(const struct mr_form *form, enum mr_solver_kind kind, void **info)
{
    MR_CHECK(form, info);
    struct results *made = calloc(1, sizeof *made);
    if (!made)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    *made = (struct results){.kind = kind, .tolerance = 1e-12, .max_sweeps = 100, .sort = 1};
    *info = mr_math_handle_new(made);
    if (*info)
        return CUSOLVER_STATUS_SUCCESS;
    free(made);
    return CUSOLVER_STATUS_ALLOC_FAILED;
}

static cusolverStatus_t destroy(enum mr_solver_kind kind, const void *info)
{
    pthread_mutex_lock(&lock);
    struct results *object = mr_solver_end(kind, info);
    pthread_mutex_unlock(&lock);
    free(object);
    return CUSOLVER_STATUS_SUCCESS;
}

static struct results *find(enum mr_solver_kind kind, const void *info)
{
    return mr_solver_find(kind, info);
}

#define FIND(form, kind, info) \
    struct results *object = find(kind, info); \
    MR_CHECK(form, object)

/* The functions of one kind. What the work told is read when the stream's work is done. */
#define OBJECT(Name, name, KIND, sort_name) \
    cusolverStatus_t mr_cusolver_Create##Name##Info(const struct mr_form *form, name##Info_t *info) \
    { \
        return create(form, KIND, (void **)info); \
    } \
    cusolverStatus_t mr_cusolver_Destroy##Name##Info(const struct mr_form *form, name##Info_t info) \
    { \
        (void)form; \
        return destroy(KIND, info); \
    } \
    cusolverStatus_t mr_cusolver_X##name##SetTolerance(const struct mr_form *form, name##Info_t info, \
                                                       double tolerance) \
    { \
        FIND(form, KIND, info); \
        object->tolerance = tolerance; \
        return CUSOLVER_STATUS_SUCCESS; \
    } \
    cusolverStatus_t mr_cusolver_X##name##SetMaxSweeps(const struct mr_form *form, name##Info_t info, \
                                                       int64_t max_sweeps) \
    { \
        FIND(form, KIND, info); \
        object->max_sweeps = (int)max_sweeps; \
        return CUSOLVER_STATUS_SUCCESS; \
    } \
    cusolverStatus_t mr_cusolver_X##name##SetSortEig(const struct mr_form *form, name##Info_t info, int64_t sort_name) \
    { \
        FIND(form, KIND, info); \
        object->sort = sort_name != 0; \
        return CUSOLVER_STATUS_SUCCESS; \
    } \
    cusolverStatus_t mr_cusolver_X##name##GetResidual(const struct mr_form *form, cusolverDnHandle_t handle, \
                                                      name##Info_t info, void *residual) \
    { \
        MR_ENTER(); \
        FIND(form, KIND, info); \
        MR_CHECK(form, residual); \
        cusolverStatus_t status = mr_solver_wait(form, solver); \
        if (object->residual < 0) \
            return mr_solver_bad(form, CUSOLVER_STATUS_NOT_SUPPORTED, "batches have no residual"); \
        *(double *)residual = object->residual; \
        return status; \
    } \
    cusolverStatus_t mr_cusolver_X##name##GetSweeps(const struct mr_form *form, cusolverDnHandle_t handle, \
                                                    name##Info_t info, int *executed_sweeps) \
    { \
        MR_ENTER(); \
        FIND(form, KIND, info); \
        MR_CHECK(form, executed_sweeps); \
        cusolverStatus_t status = mr_solver_wait(form, solver); \
        *executed_sweeps = object->sweeps; \
        return status; \
    }

OBJECT(Syevj, syevj, MR_SOLVER_SYEVJ, sort_eig)
OBJECT(Gesvdj, gesvdj, MR_SOLVER_GESVDJ, sort_svd)
