/* SPDX-License-Identifier: Apache-2.0 */
/* Level 1: vectors. Functions that treat each element by itself are done in parts; a sum is one part, so that its order
 * is always the same. */
#include <complex.h>
#include <string.h>

#include "libs/cublas/blas.h"

#define PART ((int64_t)1 << 17) /* elements in a part */

struct level1 {
    enum mr_cpu_type type;
    int64_t n;
    int incx, incy;
    struct mr_scalar alpha, c, s;
    void *x, *y;
    bool conjugate, wide;
    void *result; /* of a sum */
};

#define ENTER() \
    struct mr_cublas *blas; \
    cublasStatus_t entered = mr_cublas_enter(form, handle, &blas); \
    if (entered != CUBLAS_STATUS_SUCCESS) \
        return entered; \
    enum mr_cpu_type type = mr_type_of(form)

#define ALPHA(pointer) mr_scalar_take(pointer, mr_size_of(type), mr_cublas_on_device(blas))
#define REAL_ALPHA(pointer) mr_scalar_take(pointer, mr_real_size_of(type), mr_cublas_on_device(blas))

/* Where elements from .. to - 1 of a vector of n begin, as BLAS counts: with a negative increment from the end. */
static void *stretch(const struct level1 *r, void *x, int inc, int64_t from, int64_t to)
{
    return mr_behind(x, inc >= 0 ? from * inc : (r->n - to) * -(int64_t)inc, mr_size_of(r->type));
}

/* Where a real factor is 0, the CPU library stores 0; hardware multiplies, so that infinity and NaN become NaN. */
static void scale(enum mr_cpu_type type, const int *n, const void *alpha, void *x, const int *step)
{
    float *single = x;
    double *two = x;
    if (type == MR_CPU_S && *(const float *)alpha == 0)
        for (int64_t i = 0; i < *n; i++)
            single[i * *step] *= *(const float *)alpha;
    else if (type == MR_CPU_D && *(const double *)alpha == 0)
        for (int64_t i = 0; i < *n; i++)
            two[i * *step] *= *(const double *)alpha;
    else
        mr_cpu.scal[type](n, alpha, x, step);
}

/* A function over the parts first to end - 1: `call` sees r, n, x and y. */
#define ELEMENTWISE(name, call) \
    static void run_##name(void *data, uint64_t first, uint64_t end) \
    { \
        const struct level1 *r = data; \
        int64_t last = (int64_t)end * PART < r->n ? (int64_t)end * PART : r->n; \
        for (int64_t from = (int64_t)first * PART; from < last; from += PART) { \
            int64_t to = from + PART < last ? from + PART : last; \
            int n = (int)(to - from); \
            void *x = stretch(r, r->x, r->incx, from, to), *y = stretch(r, r->y, r->incy, from, to); \
            (void)y; \
            call; \
        } \
    }

ELEMENTWISE(axpy, mr_cpu.axpy[r->type](&n, mr_scalar_at(&r->alpha), x, &r->incx, y, &r->incy))
ELEMENTWISE(scal, scale(r->type, &n, mr_scalar_at(&r->alpha), x, &r->incx))
ELEMENTWISE(rscal, (r->type == MR_CPU_C ? mr_cpu.csscal : mr_cpu.zdscal)(&n, mr_scalar_at(&r->alpha), x, &r->incx))
ELEMENTWISE(copy, mr_cpu.copy[r->type](&n, x, &r->incx, y, &r->incy))
ELEMENTWISE(swap, mr_cpu.swap[r->type](&n, x, &r->incx, y, &r->incy))
ELEMENTWISE(rot, mr_cpu.rot[r->type](&n, x, &r->incx, y, &r->incy, mr_scalar_at(&r->c), mr_scalar_at(&r->s)))
ELEMENTWISE(rrot, (r->type == MR_CPU_C ? mr_cpu.csrot : mr_cpu.zdrot)(&n, x, &r->incx, y, &r->incy, mr_scalar_at(&r->c),
                                                                      mr_scalar_at(&r->s)))
ELEMENTWISE(rotm, mr_cpu.rotm[r->type](&n, x, &r->incx, y, &r->incy, r->result))

/* For observers: how a function treats x and y. */
static void tell(const struct mr_form *form, const struct level1 *r, void (*run)(void *, uint64_t, uint64_t))
{
    size_t size = mr_size_of(r->type);
    unsigned x = MR_READS | MR_WRITES, y = MR_READS | MR_WRITES;
    if (run == run_scal || run == run_rscal)
        y = 0;
    else if (run == run_axpy)
        x = MR_READS;
    else if (run == run_copy) {
        x = MR_READS;
        y = MR_WRITES;
    } else if (run == run_rotm) {
        return; /* the parameters say whether anything is done */
    }
    if ((run == run_axpy || !y) && mr_scalar_is_0(&r->alpha, run == run_rscal ? mr_real_size_of(r->type) : size))
        return;
    bool asked = mr_tell_vector(form->name, r->x, r->n, r->incx, size, x) &&
                 mr_tell_vector(form->name, r->y, r->n, r->incy, size, y);
    size_t scalar = run == run_rscal || run == run_rrot ? mr_real_size_of(r->type) : size;
    if (asked)
        (void)(mr_tell_scalar(form->name, &r->alpha, scalar) && mr_tell_scalar(form->name, &r->s, scalar) &&
               mr_tell_scalar(form->name, &r->c, mr_real_size_of(r->type)));
}

static cublasStatus_t submit_elements(const struct mr_form *form, const struct mr_cublas *blas,
                                      const struct level1 *record, void (*run)(void *, uint64_t, uint64_t))
{
    uint64_t parts = record->n <= 0                           ? 0
                     : record->incx == 0 || record->incy == 0 ? 1 /* one element, over and over: in order */
                                                              : mr_parts_of((uint64_t)record->n, (uint64_t)PART);
    if (parts == 1 && record->n > PART)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "an increment of 0 with more than %d elements",
                             (int)PART);
    if (parts)
        tell(form, record, run);
    return mr_cublas_submit(form, blas, parts, run, record, sizeof *record);
}

cublasStatus_t mr_cublas_axpy(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *alpha,
                              const void *x, int64_t incx, void *y, int64_t incy)
{
    ENTER();
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha);
    struct level1 r = {.type = type,
                       .n = n,
                       .incx = (int)incx,
                       .incy = (int)incy,
                       .alpha = ALPHA(alpha),
                       .x = (void *)(uintptr_t)x,
                       .y = y};
    return submit_elements(form, blas, &r, run_axpy);
}

cublasStatus_t mr_cublas_scal(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *alpha, void *x,
                              int64_t incx)
{
    ENTER();
    MR_FITS(form, incx);
    if (n <= 0 || incx <= 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha);
    struct level1 r = {.type = type, .n = n, .incx = (int)incx, .incy = 1, .alpha = ALPHA(alpha), .x = x, .y = x};
    return submit_elements(form, blas, &r, run_scal);
}

cublasStatus_t mr_cublas_rscal(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *alpha, void *x,
                               int64_t incx)
{
    ENTER();
    MR_FITS(form, incx);
    if (n <= 0 || incx <= 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha);
    struct level1 r = {.type = type, .n = n, .incx = (int)incx, .incy = 1, .alpha = REAL_ALPHA(alpha), .x = x, .y = x};
    return submit_elements(form, blas, &r, run_rscal);
}

static cublasStatus_t pair(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *x, int64_t incx, void *y,
                           int64_t incy, void (*run)(void *, uint64_t, uint64_t))
{
    ENTER();
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    struct level1 r = {.type = type, .n = n, .incx = (int)incx, .incy = (int)incy, .x = x, .y = y};
    return submit_elements(form, blas, &r, run);
}

cublasStatus_t mr_cublas_copy(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x, int64_t incx,
                              void *y, int64_t incy)
{
    return pair(form, handle, n, (void *)(uintptr_t)x, incx, y, incy, run_copy);
}

cublasStatus_t mr_cublas_swap(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *x, int64_t incx,
                              void *y, int64_t incy)
{
    return pair(form, handle, n, x, incx, y, incy, run_swap);
}

cublasStatus_t mr_cublas_rot(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *x, int64_t incx,
                             void *y, int64_t incy, const void *c, const void *s)
{
    ENTER();
    MR_CHECK(form, c && s);
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    struct level1 r = {
        .type = type, .n = n, .incx = (int)incx, .incy = (int)incy, .x = x, .y = y, .c = REAL_ALPHA(c), .s = ALPHA(s)};
    return submit_elements(form, blas, &r, run_rot);
}

cublasStatus_t mr_cublas_rrot(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *x, int64_t incx,
                              void *y, int64_t incy, const void *c, const void *s)
{
    ENTER();
    MR_CHECK(form, c && s);
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    struct level1 r = {.type = type,
                       .n = n,
                       .incx = (int)incx,
                       .incy = (int)incy,
                       .x = x,
                       .y = y,
                       .c = REAL_ALPHA(c),
                       .s = REAL_ALPHA(s)};
    return submit_elements(form, blas, &r, run_rrot);
}

/* The five parameters of a modified rotation come behind the record, or are where the device pointer says. */
struct rotm {
    struct level1 base;
    unsigned char parameters[5 * sizeof(double)];
};

static void run_rotm_copy(void *data, uint64_t first, uint64_t end)
{
    struct level1 base = ((struct rotm *)data)->base;
    if (!base.result)
        base.result = ((struct rotm *)data)->parameters;
    run_rotm(&base, first, end);
}

cublasStatus_t mr_cublas_rotm(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *x, int64_t incx,
                              void *y, int64_t incy, const void *param)
{
    ENTER();
    MR_CHECK(form, param);
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    struct rotm r = {.base = {.type = type, .n = n, .incx = (int)incx, .incy = (int)incy, .x = x, .y = y}};
    if (mr_cublas_on_device(blas))
        r.base.result = (void *)(uintptr_t)param;
    else
        memcpy(r.parameters, param, 5 * mr_size_of(type));
    uint64_t parts = n <= 0 ? 0 : mr_parts_of((uint64_t)n, (uint64_t)PART);
    return mr_cublas_submit(form, blas, parts, run_rotm_copy, &r, sizeof r);
}

/* ---- rotations' parameters: a few numbers, on the host at once, or on the device in stream order ---- */

struct rotation {
    enum mr_cpu_type type;
    void *at[5];
    bool modified;
};

static void run_rotation(void *data, uint64_t first, uint64_t end)
{
    const struct rotation *r = data;
    (void)first, (void)end;
    if (r->modified)
        mr_cpu.rotmg[r->type](r->at[0], r->at[1], r->at[2], r->at[3], r->at[4]);
    else
        mr_cpu.rotg[r->type](r->at[0], r->at[1], r->at[2], r->at[3]);
}

static cublasStatus_t rotation(const struct mr_form *form, const struct mr_cublas *blas, struct rotation *r)
{
    if (mr_cublas_on_device(blas))
        return mr_cublas_submit(form, blas, 1, run_rotation, r, sizeof *r);
    run_rotation(r, 0, 1);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_rotg(const struct mr_form *form, cublasHandle_t handle, void *a, void *b, void *c, void *s)
{
    ENTER();
    MR_CHECK(form, a && b && c && s);
    return rotation(form, blas, &(struct rotation){.type = type, .at = {a, b, c, s}});
}

cublasStatus_t mr_cublas_rotmg(const struct mr_form *form, cublasHandle_t handle, void *d1, void *d2, void *x1,
                               const void *y1, void *param)
{
    ENTER();
    MR_CHECK(form, d1 && d2 && x1 && y1 && param);
    return rotation(
        form, blas,
        &(struct rotation){.type = type, .at = {d1, d2, x1, (void *)(uintptr_t)y1, param}, .modified = true});
}

/* ---- sums, and the place of the largest and smallest ---- */

/* A complex product with gaps between the elements: the CPU library's own reads beyond the last one, where there may be
 * no memory. */
#define DOT(name, element, conjugate_of) \
    static void dot_##name(const struct level1 *r) \
    { \
        const element *x = stretch(r, r->x, r->incx, 0, r->incx < 0 ? 1 : r->n); \
        const element *y = stretch(r, r->y, r->incy, 0, r->incy < 0 ? 1 : r->n); \
        element sum = 0; \
        for (int64_t i = 0; i < r->n; i++) \
            sum += (r->conjugate ? conjugate_of(x[i * r->incx]) : x[i * r->incx]) * y[i * r->incy]; \
        *(element *)r->result = sum; \
    }
DOT(c, float complex, conjf)
DOT(z, double complex, conj)

static void run_dot(void *data, uint64_t first, uint64_t end)
{
    const struct level1 *r = data;
    int n = (int)r->n;
    (void)first, (void)end;
    switch (r->type) {
    case MR_CPU_S:
        *(float *)r->result = mr_cpu.sdot(&n, r->x, &r->incx, r->y, &r->incy);
        break;
    case MR_CPU_D:
        *(double *)r->result = mr_cpu.ddot(&n, r->x, &r->incx, r->y, &r->incy);
        break;
    case MR_CPU_C:
        if (r->incx != 1 || r->incy != 1)
            dot_c(r);
        else
            (r->conjugate ? mr_cpu.cdotc : mr_cpu.cdotu)(n, r->x, 1, r->y, 1, r->result);
        break;
    default:
        if (r->incx != 1 || r->incy != 1)
            dot_z(r);
        else
            (r->conjugate ? mr_cpu.zdotc : mr_cpu.zdotu)(n, r->x, 1, r->y, 1, r->result);
        break;
    }
}

static void run_nrm2(void *data, uint64_t first, uint64_t end)
{
    const struct level1 *r = data;
    int n = (int)r->n;
    (void)first, (void)end;
    if (r->type == MR_CPU_S || r->type == MR_CPU_C)
        *(float *)r->result = (r->type == MR_CPU_S ? mr_cpu.snrm2 : mr_cpu.scnrm2)(&n, r->x, &r->incx);
    else
        *(double *)r->result = (r->type == MR_CPU_D ? mr_cpu.dnrm2 : mr_cpu.dznrm2)(&n, r->x, &r->incx);
}

static void run_asum(void *data, uint64_t first, uint64_t end)
{
    const struct level1 *r = data;
    int n = (int)r->n;
    (void)first, (void)end;
    int twice = r->n <= INT_MAX / 2 ? 2 * n : 0;
    /* OpenBLAS 0.3.21 computes complex vectors without gaps wrongly on processors with AVX-512. They are a sum of real
     * elements, which it computes rightly. */
    if (r->type == MR_CPU_C && r->incx == 1 && twice)
        *(float *)r->result = mr_cpu.sasum(&twice, r->x, &r->incx);
    else if (r->type == MR_CPU_S || r->type == MR_CPU_C)
        *(float *)r->result = (r->type == MR_CPU_S ? mr_cpu.sasum : mr_cpu.scasum)(&n, r->x, &r->incx);
    else
        *(double *)r->result = (r->type == MR_CPU_D ? mr_cpu.dasum : mr_cpu.dzasum)(&n, r->x, &r->incx);
}

/* |x|, or |re| + |im|, as BLAS has it. */
static double magnitude(const struct level1 *r, int64_t i)
{
    const void *at = mr_behind(r->x, i * r->incx, mr_size_of(r->type));
    switch (r->type) {
    case MR_CPU_S:
        return __builtin_fabsf(*(const float *)at);
    case MR_CPU_D:
        return __builtin_fabs(*(const double *)at);
    case MR_CPU_C:
        return __builtin_fabsf(((const float *)at)[0]) + __builtin_fabsf(((const float *)at)[1]);
    default:
        return __builtin_fabs(((const double *)at)[0]) + __builtin_fabs(((const double *)at)[1]);
    }
}

/* The place of the largest or (`conjugate`) smallest element, the first of equals, counted from 1; 0 for an empty
 * vector. */
static void run_extreme(void *data, uint64_t first, uint64_t end)
{
    const struct level1 *r = data;
    int64_t best = r->n > 0 && r->incx > 0 ? 1 : 0;
    double most = best ? magnitude(r, 0) : 0;
    (void)first, (void)end;
    for (int64_t i = 1; best && i < r->n; i++) {
        double here = magnitude(r, i);
        if (r->conjugate ? here < most : here > most) {
            most = here;
            best = i + 1;
        }
    }
    if (r->wide)
        *(int64_t *)r->result = best;
    else
        *(int *)r->result = (int)best;
}

/* For observers. A result in the host's memory is written before the call returns. */
static void tell_sum(const struct mr_form *form, const struct mr_cublas *blas, const struct level1 *r,
                     void (*run)(void *, uint64_t, uint64_t))
{
    size_t size = mr_size_of(r->type);
    size_t result = run == run_dot ? size : run == run_extreme ? (r->wide ? 8 : 4) : mr_real_size_of(r->type);
    bool asked =
        (run == run_extreme && r->incx <= 0) || mr_tell_vector(form->name, r->x, r->n, r->incx, size, MR_READS);
    if (asked && run == run_dot)
        asked = mr_tell_vector(form->name, r->y, r->n, r->incy, size, MR_READS);
    if (asked && mr_cublas_on_device(blas))
        (void)mr_tell_rows(form->name, r->result, result, 1, 0, MR_WRITES);
}

static cublasStatus_t sum(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x, int64_t incx,
                          const void *y, int64_t incy, void *result, bool conjugate,
                          void (*run)(void *, uint64_t, uint64_t))
{
    ENTER();
    if (!result)
        return mr_cublas_bad(form, run == run_dot ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_INVALID_VALUE,
                             "the result's pointer is NULL");
    MR_FITS(form, n);
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    struct level1 r = {.type = type,
                       .n = n,
                       .incx = (int)incx,
                       .incy = (int)incy,
                       .x = (void *)(uintptr_t)x,
                       .y = (void *)(uintptr_t)y,
                       .result = result,
                       .conjugate = conjugate,
                       .wide = form->wide};
    if (n <= 0)
        r.n = 0;
    tell_sum(form, blas, &r, run);
    cublasStatus_t status = mr_cublas_submit(form, blas, 1, run, &r, sizeof r);
    return status == CUBLAS_STATUS_SUCCESS ? mr_cublas_finish(form, blas) : status;
}

cublasStatus_t mr_cublas_dot(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x, int64_t incx,
                             const void *y, int64_t incy, void *result)
{
    return sum(form, handle, n, x, incx, y, incy, result, false, run_dot);
}

cublasStatus_t mr_cublas_dotu(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x, int64_t incx,
                              const void *y, int64_t incy, void *result)
{
    return sum(form, handle, n, x, incx, y, incy, result, false, run_dot);
}

cublasStatus_t mr_cublas_dotc(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x, int64_t incx,
                              const void *y, int64_t incy, void *result)
{
    return sum(form, handle, n, x, incx, y, incy, result, true, run_dot);
}

cublasStatus_t mr_cublas_nrm2(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x, int64_t incx,
                              void *result)
{
    return sum(form, handle, incx > 0 ? n : 0, x, incx, NULL, 1, result, false, run_nrm2);
}

cublasStatus_t mr_cublas_asum(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x, int64_t incx,
                              void *result)
{
    return sum(form, handle, incx > 0 ? n : 0, x, incx, NULL, 1, result, false, run_asum);
}

cublasStatus_t mr_cublas_iamax(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                               int64_t incx, void *result)
{
    return sum(form, handle, n, x, incx, NULL, 1, result, false, run_extreme);
}

cublasStatus_t mr_cublas_iamin(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                               int64_t incx, void *result)
{
    return sum(form, handle, n, x, incx, NULL, 1, result, true, run_extreme);
}
