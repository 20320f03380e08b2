/* SPDX-License-Identifier: Apache-2.0 */
/* Level 1 with types as arguments (…Ex). A *combination* is a word of letters, one for each type argument in their
 * order, the type that is computed in last: h half, b bfloat16, s and d real, c and z complex. Where the elements have
 * the type that is computed in, the functions of level1.c do the work. Halves and bfloats are computed in double here,
 * and rounded once. */
#include <math.h>
#include <string.h>

#include "libs/cublas/blas.h"
#include "libs/math/convert.h"

#define PART ((int64_t)1 << 17) /* elements in a part */
#define ROW 256                 /* elements that are converted at a time */
#define SHORT 2                 /* bytes of a half or a bfloat */

enum operation { EX_DOT, EX_NRM2, EX_ASUM, EX_EXTREME, EX_SCAL, EX_AXPY, EX_COPY, EX_SWAP, EX_ROT, EX_ROTM };

struct level1_ex {
    enum operation operation;
    cudaDataType type;        /* of the elements: half or bfloat */
    cudaDataType scalar_type; /* of the factors */
    cudaDataType result_type; /* of a sum of magnitudes; other sums have the elements' type */
    struct mr_scalar alpha, s;
    int64_t n, incx, incy;
    char *x, *y;
    void *result;
    bool least, wide;
    const void *parameters; /* of rotm on the device; NULL: `copied` has them */
    _Alignas(16) unsigned char copied[5 * sizeof(float)];
};

static char letter_of(cudaDataType type)
{
    switch (type) {
    case CUDA_R_16F:
        return 'h';
    case CUDA_R_16BF:
        return 'b';
    case CUDA_R_32F:
        return 's';
    case CUDA_R_64F:
        return 'd';
    case CUDA_C_32F:
        return 'c';
    case CUDA_C_64F:
        return 'z';
    default:
        return '?';
    }
}

/* Whether the types' letters are a word of `known`, whose words have one space between them. */
static bool is_combination(const char *known, const cudaDataType *types, size_t count)
{
    for (const char *word = known; *word; word += count + (word[count] == ' ')) {
        size_t same = 0;
        while (same < count && word[same] == letter_of(types[same]))
            same++;
        if (same == count)
            return true;
    }
    return false;
}

#define TYPES(...) ((const cudaDataType[]){__VA_ARGS__})

/* Takes the handle, and refuses types that are no combination. `own` is the form of the function for one type. */
#define ENTER(known, first, ...) \
    struct mr_cublas *blas; \
    cublasStatus_t entered = mr_cublas_enter(form, handle, &blas); \
    if (entered != CUBLAS_STATUS_SUCCESS) \
        return entered; \
    if (!is_combination(known, TYPES(first, __VA_ARGS__), sizeof TYPES(first, __VA_ARGS__) / sizeof(cudaDataType))) \
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "the manual lists no such combination of types"); \
    struct mr_form own = *form; \
    own.type = (char)(letter_of(first) - 'a' + 'A')

static bool is_short(cudaDataType type)
{
    return type == CUDA_R_16F || type == CUDA_R_16BF;
}

/* ---- the work ---- */

/* Element i, as BLAS counts: with a negative increment from the end. */
static char *element(char *x, int64_t inc, int64_t n, int64_t i)
{
    return x + SHORT * (inc >= 0 ? i * inc : (i + 1 - n) * inc);
}

/* Elements from .. to - 1 as doubles, and back. */
static void load(const struct level1_ex *r, char *x, int64_t inc, int64_t from, int64_t to, double *out)
{
    mr_load(r->type, element(x, inc, r->n, from), inc, 1, to - from, true, out);
}

static void store(const struct level1_ex *r, char *x, int64_t inc, int64_t from, int64_t to, const double *in)
{
    mr_store(r->type, element(x, inc, r->n, from), inc, 1, to - from, true, in);
}

static void sum_row(const struct level1_ex *r, const double *x, const double *y, int64_t from, int64_t count,
                    double *sum, int64_t *place)
{
    for (int64_t i = 0; i < count; i++) {
        double size = fabs(x[i]);
        switch (r->operation) {
        case EX_DOT:
            *sum += x[i] * y[i];
            break;
        case EX_NRM2:
            *sum += x[i] * x[i];
            break;
        case EX_ASUM:
            *sum += size;
            break;
        default:
            if (*place == 0 || (r->least ? size < *sum : size > *sum)) {
                *sum = size;
                *place = from + i + 1;
            }
        }
    }
}

static void run_sum(void *data, uint64_t first, uint64_t end)
{
    const struct level1_ex *r = data;
    double x[ROW], y[ROW], sum = 0;
    int64_t place = 0;
    (void)first, (void)end;
    for (int64_t from = 0; from < r->n; from += ROW) {
        int64_t to = from + ROW < r->n ? from + ROW : r->n;
        load(r, r->x, r->incx, from, to, x);
        if (r->operation == EX_DOT)
            load(r, r->y, r->incy, from, to, y);
        sum_row(r, x, y, from, to - from, &sum, &place);
    }
    if (r->operation == EX_NRM2)
        sum = sqrt(sum);
    if (r->operation != EX_EXTREME)
        mr_store(r->operation == EX_ASUM ? r->result_type : r->type, r->result, 1, 1, 1, true, &sum);
    else if (r->wide)
        *(int64_t *)r->result = place;
    else
        *(int *)r->result = (int)place;
}

/* The matrix h11 h21 h12 h22 of a modified rotation. */
static void modified(const struct level1_ex *r, double h[4])
{
    const unsigned char *at = r->parameters ? r->parameters : r->copied;
    double p[5];
    for (size_t i = 0; i < 5; i++)
        p[i] = mr_load_one(r->scalar_type, at + i * mr_element_size(r->scalar_type));
    bool has_diagonal = p[0] == -1 || p[0] == 1, has_others = p[0] == -1 || p[0] == 0;
    h[0] = has_diagonal ? p[1] : 1;
    h[1] = has_others ? p[2] : p[0] == 1 ? -1 : 0;
    h[2] = has_others ? p[3] : p[0] == 1 ? 1 : 0;
    h[3] = has_diagonal ? p[4] : 1;
}

static void change_row(const struct level1_ex *r, const double h[4], double *x, double *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double a = x[i], b = r->operation == EX_SCAL ? 0 : y[i];
        switch (r->operation) {
        case EX_SCAL:
            x[i] = h[0] * a;
            break;
        case EX_AXPY:
            y[i] = h[0] * a + b;
            break;
        case EX_COPY:
            y[i] = a;
            break;
        case EX_SWAP:
            x[i] = b;
            y[i] = a;
            break;
        default:
            x[i] = h[0] * a + h[2] * b;
            y[i] = h[1] * a + h[3] * b;
        }
    }
}

static void run_elements(void *data, uint64_t first, uint64_t end)
{
    const struct level1_ex *r = data;
    double x[ROW], y[ROW], h[4] = {0};
    int64_t last = (int64_t)end * PART < r->n ? (int64_t)end * PART : r->n;
    int64_t row = r->incx == 0 || r->incy == 0 ? 1 : ROW; /* 0: each element depends on the one before */
    if (r->operation == EX_ROTM) {
        modified(r, h);
    } else if (r->operation != EX_COPY && r->operation != EX_SWAP) {
        h[0] = h[3] = mr_load_one(r->scalar_type, mr_scalar_at(&r->alpha));
        h[2] = r->operation == EX_ROT ? mr_load_one(r->scalar_type, mr_scalar_at(&r->s)) : 0;
        h[1] = -h[2];
    }
    for (int64_t from = (int64_t)first * PART; from < last; from += row) {
        int64_t to = from + row < last ? from + row : last;
        load(r, r->x, r->incx, from, to, x);
        if (r->operation != EX_SCAL)
            load(r, r->y, r->incy, from, to, y);
        change_row(r, h, x, y, to - from);
        if (r->operation != EX_AXPY && r->operation != EX_COPY)
            store(r, r->x, r->incx, from, to, x);
        if (r->operation != EX_SCAL)
            store(r, r->y, r->incy, from, to, y);
    }
}

/* For observers. What a modified rotation does is in its parameters, and isn't told. */
static void tell_elements(const struct mr_form *form, const struct level1_ex *r)
{
    const unsigned both = MR_READS | MR_WRITES;
    size_t scalar = mr_element_size(r->scalar_type);
    bool is_scaled = r->operation == EX_SCAL || r->operation == EX_AXPY;
    if (r->operation == EX_ROTM || (is_scaled && mr_scalar_is_0(&r->alpha, scalar)))
        return;
    bool asked = mr_tell_vector(form->name, r->x, r->n, r->incx, SHORT,
                                r->operation == EX_AXPY || r->operation == EX_COPY ? MR_READS : both);
    if (asked && r->operation != EX_SCAL)
        asked = mr_tell_vector(form->name, r->y, r->n, r->incy, SHORT, r->operation == EX_COPY ? MR_WRITES : both);
    if (asked && (is_scaled || r->operation == EX_ROT))
        (void)(mr_tell_scalar(form->name, &r->alpha, scalar) && mr_tell_scalar(form->name, &r->s, scalar));
}

static cublasStatus_t submit_elements(const struct mr_form *form, const struct mr_cublas *blas,
                                      const struct level1_ex *r)
{
    MR_FITS(form, r->incx);
    MR_FITS(form, r->incy);
    if (r->n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    if ((r->incx == 0 || r->incy == 0) && r->n > PART)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "an increment of 0 with more than %d elements",
                             (int)PART);
    tell_elements(form, r);
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)r->n, (uint64_t)PART), run_elements, r, sizeof *r);
}

static cublasStatus_t submit_sum(const struct mr_form *form, const struct mr_cublas *blas, struct level1_ex *r)
{
    MR_CHECK(form, r->result);
    MR_FITS(form, r->n);
    MR_FITS(form, r->incx);
    MR_FITS(form, r->incy);
    if (r->n <= 0 || (r->operation != EX_DOT && r->incx <= 0))
        r->n = 0;
    cublasStatus_t status = mr_cublas_submit(form, blas, 1, run_sum, r, sizeof *r);
    return status == CUBLAS_STATUS_SUCCESS ? mr_cublas_finish(form, blas) : status;
}

static struct mr_scalar take(const struct mr_cublas *blas, const void *pointer, cudaDataType type)
{
    return mr_scalar_take(pointer, mr_element_size(type), mr_cublas_on_device(blas));
}

/* ---- the functions ---- */

#define PAIRS "hh bb ss dd cc zz"

cublasStatus_t mr_cublas_Nrm2Ex(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                                cudaDataType xType, int64_t incx, void *result, cudaDataType resultType,
                                cudaDataType executionType)
{
    ENTER("hhs bbs sss ddd css zdd", xType, resultType, executionType);
    if (!is_short(xType))
        return mr_cublas_nrm2(&own, handle, n, x, incx, result);
    struct level1_ex r = {
        .operation = EX_NRM2, .type = xType, .n = n, .incx = incx, .x = (char *)(uintptr_t)x, .result = result};
    return submit_sum(form, blas, &r);
}

cublasStatus_t mr_cublas_AsumEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                                cudaDataType xType, int64_t incx, void *result, cudaDataType resultType,
                                cudaDataType executiontype)
{
    ENTER("hss bss sss ddd csc zdz", xType, resultType, executiontype);
    if (!is_short(xType))
        return mr_cublas_asum(&own, handle, n, x, incx, result);
    struct level1_ex r = {.operation = EX_ASUM,
                          .type = xType,
                          .result_type = resultType,
                          .n = n,
                          .incx = incx,
                          .x = (char *)(uintptr_t)x,
                          .result = result};
    return submit_sum(form, blas, &r);
}

static cublasStatus_t dot(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                          cudaDataType xType, int64_t incx, const void *y, cudaDataType yType, int64_t incy,
                          void *result, cudaDataType resultType, cudaDataType executionType, bool conjugate)
{
    ENTER("hhhs bbbs ssss dddd cccc zzzz", xType, yType, resultType, executionType);
    if (!is_short(xType))
        return (conjugate ? mr_cublas_dotc : mr_cublas_dotu)(&own, handle, n, x, incx, y, incy, result);
    struct level1_ex r = {.operation = EX_DOT,
                          .type = xType,
                          .n = n,
                          .incx = incx,
                          .incy = incy,
                          .x = (char *)(uintptr_t)x,
                          .y = (char *)(uintptr_t)y,
                          .result = result};
    return submit_sum(form, blas, &r);
}

cublasStatus_t mr_cublas_DotEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                               cudaDataType xType, int64_t incx, const void *y, cudaDataType yType, int64_t incy,
                               void *result, cudaDataType resultType, cudaDataType executionType)
{
    return dot(form, handle, n, x, xType, incx, y, yType, incy, result, resultType, executionType, false);
}

cublasStatus_t mr_cublas_DotcEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                                cudaDataType xType, int64_t incx, const void *y, cudaDataType yType, int64_t incy,
                                void *result, cudaDataType resultType, cudaDataType executionType)
{
    return dot(form, handle, n, x, xType, incx, y, yType, incy, result, resultType, executionType, true);
}

cublasStatus_t mr_cublas_ScalEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *alpha,
                                cudaDataType alphaType, void *x, cudaDataType xType, int64_t incx,
                                cudaDataType executionType)
{
    ENTER("hss bss sss ddd ccc zzz", xType, alphaType, executionType);
    if (!is_short(xType))
        return mr_cublas_scal(&own, handle, n, alpha, x, incx);
    if (n <= 0 || incx <= 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha);
    struct level1_ex r = {.operation = EX_SCAL,
                          .type = xType,
                          .scalar_type = alphaType,
                          .alpha = take(blas, alpha, alphaType),
                          .n = n,
                          .incx = incx,
                          .incy = 1,
                          .x = x};
    return submit_elements(form, blas, &r);
}

cublasStatus_t mr_cublas_AxpyEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *alpha,
                                cudaDataType alphaType, const void *x, cudaDataType xType, int64_t incx, void *y,
                                cudaDataType yType, int64_t incy, cudaDataType executiontype)
{
    ENTER("hhss bbss ssss dddd cccc zzzz", xType, yType, alphaType, executiontype);
    if (!is_short(xType))
        return mr_cublas_axpy(&own, handle, n, alpha, x, incx, y, incy);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha);
    struct level1_ex r = {.operation = EX_AXPY,
                          .type = xType,
                          .scalar_type = alphaType,
                          .alpha = take(blas, alpha, alphaType),
                          .n = n,
                          .incx = incx,
                          .incy = incy,
                          .x = (char *)(uintptr_t)x,
                          .y = y};
    return submit_elements(form, blas, &r);
}

cublasStatus_t mr_cublas_CopyEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                                cudaDataType xType, int64_t incx, void *y, cudaDataType yType, int64_t incy)
{
    ENTER(PAIRS, xType, yType);
    if (!is_short(xType))
        return mr_cublas_copy(&own, handle, n, x, incx, y, incy);
    struct level1_ex r = {
        .operation = EX_COPY, .type = xType, .n = n, .incx = incx, .incy = incy, .x = (char *)(uintptr_t)x, .y = y};
    return submit_elements(form, blas, &r);
}

cublasStatus_t mr_cublas_SwapEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *x,
                                cudaDataType xType, int64_t incx, void *y, cudaDataType yType, int64_t incy)
{
    ENTER(PAIRS, xType, yType);
    if (!is_short(xType))
        return mr_cublas_swap(&own, handle, n, x, incx, y, incy);
    struct level1_ex r = {.operation = EX_SWAP, .type = xType, .n = n, .incx = incx, .incy = incy, .x = x, .y = y};
    return submit_elements(form, blas, &r);
}

static cublasStatus_t extreme(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                              cudaDataType xType, int64_t incx, void *result, bool least)
{
    ENTER(PAIRS, xType, xType);
    if (!is_short(xType))
        return (least ? mr_cublas_iamin : mr_cublas_iamax)(&own, handle, n, x, incx, result);
    struct level1_ex r = {.operation = EX_EXTREME,
                          .type = xType,
                          .n = n,
                          .incx = incx,
                          .x = (char *)(uintptr_t)x,
                          .result = result,
                          .least = least,
                          .wide = form->wide};
    return submit_sum(form, blas, &r);
}

cublasStatus_t mr_cublas_IamaxEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                                 cudaDataType xType, int64_t incx, void *result)
{
    return extreme(form, handle, n, x, xType, incx, result, false);
}

cublasStatus_t mr_cublas_IaminEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, const void *x,
                                 cudaDataType xType, int64_t incx, void *result)
{
    return extreme(form, handle, n, x, xType, incx, result, true);
}

cublasStatus_t mr_cublas_RotEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *x,
                               cudaDataType xType, int64_t incx, void *y, cudaDataType yType, int64_t incy,
                               const void *c, const void *s, cudaDataType csType, cudaDataType executiontype)
{
    ENTER("hhhs bbbs ssss dddd ccsc cccc zzdz zzzz", xType, yType, csType, executiontype);
    if (!is_short(xType))
        return (xType != csType ? mr_cublas_rrot : mr_cublas_rot)(&own, handle, n, x, incx, y, incy, c, s);
    MR_CHECK(form, c && s);
    struct level1_ex r = {.operation = EX_ROT,
                          .type = xType,
                          .scalar_type = csType,
                          .alpha = take(blas, c, csType),
                          .s = take(blas, s, csType),
                          .n = n,
                          .incx = incx,
                          .incy = incy,
                          .x = x,
                          .y = y};
    return submit_elements(form, blas, &r);
}

cublasStatus_t mr_cublas_RotmEx(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *x,
                                cudaDataType xType, int64_t incx, void *y, cudaDataType yType, int64_t incy,
                                const void *param, cudaDataType paramType, cudaDataType executiontype)
{
    ENTER("hhhs bbbs ssss dddd", xType, yType, paramType, executiontype);
    if (!is_short(xType))
        return mr_cublas_rotm(&own, handle, n, x, incx, y, incy, param);
    MR_CHECK(form, param);
    struct level1_ex r = {.operation = EX_ROTM,
                          .type = xType,
                          .scalar_type = paramType,
                          .n = n,
                          .incx = incx,
                          .incy = incy,
                          .x = x,
                          .y = y};
    if (mr_cublas_on_device(blas))
        r.parameters = param;
    else
        memcpy(r.copied, param, 5 * (size_t)mr_element_size(paramType));
    return submit_elements(form, blas, &r);
}

/* ---- rotations' parameters: on the host at once, or on the device in stream order ---- */

struct rotation_ex {
    cudaDataType type;
    void *at[5];
    bool modified;
};

/* In float, by the CPU library. */
static void run_rotation(void *data, uint64_t first, uint64_t end)
{
    const struct rotation_ex *r = data;
    float x[4] = {0}, p[5] = {0};
    (void)first, (void)end;
    for (size_t i = 0; i < (r->modified ? 4 : 2); i++)
        x[i] = (float)mr_load_one(r->type, r->at[i]);
    if (r->modified) {
        mr_load(r->type, r->at[4], 5, 5, 1, false, p);
        mr_cpu.rotmg[MR_CPU_S](&x[0], &x[1], &x[2], &x[3], p);
        mr_store(r->type, r->at[4], 5, 5, 1, false, p);
    } else {
        mr_cpu.rotg[MR_CPU_S](&x[0], &x[1], &x[2], &x[3]);
    }
    for (size_t i = 0; i < (r->modified ? 3 : 4); i++)
        mr_store(r->type, r->at[i], 1, 1, 1, false, &x[i]);
}

static cublasStatus_t rotation(const struct mr_form *form, const struct mr_cublas *blas, struct rotation_ex *r)
{
    if (mr_cublas_on_device(blas))
        return mr_cublas_submit(form, blas, 1, run_rotation, r, sizeof *r);
    run_rotation(r, 0, 1);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_RotgEx(const struct mr_form *form, cublasHandle_t handle, void *a, void *b,
                                cudaDataType abType, void *c, void *s, cudaDataType csType, cudaDataType executiontype)
{
    ENTER("hhs bbs sss ddd", abType, csType, executiontype);
    if (!is_short(abType))
        return mr_cublas_rotg(&own, handle, a, b, c, s);
    MR_CHECK(form, a && b && c && s);
    return rotation(form, blas, &(struct rotation_ex){.type = abType, .at = {a, b, c, s}});
}

cublasStatus_t mr_cublas_RotmgEx(const struct mr_form *form, cublasHandle_t handle, void *d1, cudaDataType d1Type,
                                 void *d2, cudaDataType d2Type, void *x1, cudaDataType x1Type, const void *y1,
                                 cudaDataType y1Type, void *param, cudaDataType paramType, cudaDataType executiontype)
{
    ENTER("hhhhhs bbbbbs ssssss dddddd", d1Type, d2Type, x1Type, y1Type, paramType, executiontype);
    if (!is_short(d1Type))
        return mr_cublas_rotmg(&own, handle, d1, d2, x1, y1, param);
    MR_CHECK(form, d1 && d2 && x1 && y1 && param);
    return rotation(
        form, blas,
        &(struct rotation_ex){.type = d1Type, .at = {d1, d2, x1, (void *)(uintptr_t)y1, param}, .modified = true});
}
