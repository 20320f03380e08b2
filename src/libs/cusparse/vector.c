/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse vectors beside dense ones. Indices are different from each other, as the manual asks; so parts of the sparse
 * vector are independent. A dot product is summed in pieces, whose sums lie in the external buffer. */
#include "libs/cusparse/lines.h"
#include "libs/cusparse/mix.h"

#define PIECE 16384

struct vectors {
    struct cusparseSpVecDescr x;
    struct cusparseDnVecDescr y;
    enum mr_type type;
    cudaDataType_t compute;
    struct mr_scalar alpha, beta; /* or a rotation's cosine and sine */
    bool conjugated;
    void *result, *partial;
    int64_t pieces;
};

static int64_t place(const struct vectors *r, int64_t i)
{
    return mr_index(r->x.indices, r->x.index_type, i) - r->x.base;
}

static void *at(const void *values, cudaDataType_t type, int64_t i)
{
    return (char *)values + i * mr_element_size(type);
}

#define KERNELS(s, element, real, conjugate_) \
    static void scale_##s(const struct vectors *r, int64_t begin, int64_t stop) \
    { \
        element beta, y; \
        mr_scalar_read(&r->beta, r->compute, r->type, &beta); \
        for (int64_t i = begin; i < stop; i++) { \
            void *to = at(r->y.values, r->y.type, i); \
            mr_take(r->y.type, to, 1, 1, r->type, &y); \
            y = beta == 0 ? 0 : beta * y; \
            mr_give(r->y.type, to, 1, 1, r->type, &y); \
        } \
    } \
    static void add_##s(const struct vectors *r, int64_t begin, int64_t stop) \
    { \
        element alpha, x, y; \
        mr_scalar_read(&r->alpha, r->compute, r->type, &alpha); \
        for (int64_t i = begin; i < stop; i++) { \
            void *to = at(r->y.values, r->y.type, place(r, i)); \
            mr_take(r->x.type, at(r->x.values, r->x.type, i), 1, 1, r->type, &x); \
            mr_take(r->y.type, to, 1, 1, r->type, &y); \
            y += alpha * x; \
            mr_give(r->y.type, to, 1, 1, r->type, &y); \
        } \
    } \
    static void rotate_##s(const struct vectors *r, int64_t begin, int64_t stop) \
    { \
        element c, sine, x, y; \
        mr_scalar_read(&r->alpha, r->compute, r->type, &c); \
        mr_scalar_read(&r->beta, r->compute, r->type, &sine); \
        for (int64_t i = begin; i < stop; i++) { \
            void *of_x = at(r->x.values, r->x.type, i), *of_y = at(r->y.values, r->y.type, place(r, i)); \
            mr_take(r->x.type, of_x, 1, 1, r->type, &x); \
            mr_take(r->y.type, of_y, 1, 1, r->type, &y); \
            element new_x = c * x + sine * y, new_y = c * y - conjugate_(sine) * x; \
            mr_give(r->x.type, of_x, 1, 1, r->type, &new_x); \
            mr_give(r->y.type, of_y, 1, 1, r->type, &new_y); \
        } \
    } \
    static void dot_##s(const struct vectors *r, int64_t begin, int64_t stop, void *result) \
    { \
        element sum = 0, x, y; \
        for (int64_t i = begin; i < stop; i++) { \
            mr_take(r->x.type, at(r->x.values, r->x.type, i), 1, 1, r->type, &x); \
            mr_take(r->y.type, at(r->y.values, r->y.type, place(r, i)), 1, 1, r->type, &y); \
            sum += (r->conjugated ? conjugate_(x) : x) * y; \
        } \
        memcpy(result, &sum, sizeof sum); \
    } \
    static void total_##s(const struct vectors *r) \
    { \
        element sum = 0; \
        for (int64_t i = 0; i < r->pieces; i++) \
            sum += ((const element *)r->partial)[i]; \
        mr_give(r->compute, r->result, 1, 1, r->type, &sum); \
    }
MR_FOR_TYPES(KERNELS)

#define RUN(name, all) \
    static void run_##name(void *data, uint64_t first, uint64_t end) \
    { \
        static void (*const function[])(const struct vectors *, int64_t, int64_t) = MR_FAMILY(name); \
        const struct vectors *r = data; \
        struct mr_span span = mr_span(first, end, PIECE, all); \
        function[r->type](r, span.begin, span.stop); \
    }
RUN(scale, r->y.size)
RUN(add, r->x.nnz)
RUN(rotate, r->x.nnz)

static void run_gather(void *data, uint64_t first, uint64_t end)
{
    const struct vectors *r = data;
    struct mr_span span = mr_span(first, end, PIECE, r->x.nnz);
    for (int64_t i = span.begin; i < span.stop; i++)
        memcpy(at(r->x.values, r->x.type, i), at(r->y.values, r->y.type, place(r, i)), mr_element_size(r->x.type));
}

static void run_scatter(void *data, uint64_t first, uint64_t end)
{
    const struct vectors *r = data;
    struct mr_span span = mr_span(first, end, PIECE, r->x.nnz);
    for (int64_t i = span.begin; i < span.stop; i++)
        memcpy(at(r->y.values, r->y.type, place(r, i)), at(r->x.values, r->x.type, i), mr_element_size(r->x.type));
}

static void (*const dot[])(const struct vectors *, int64_t, int64_t, void *) = MR_FAMILY(dot);
static void (*const total[])(const struct vectors *) = MR_FAMILY(total);

static void run_dot(void *data, uint64_t first, uint64_t end)
{
    const struct vectors *r = data;
    for (uint64_t part = first; part < end; part++) {
        struct mr_span span = mr_span(part, part + 1, PIECE, r->x.nnz);
        dot[r->type](r, span.begin, span.stop, (char *)r->partial + part * mr_type_size(r->type));
    }
}

static void run_total(void *data, uint64_t first, uint64_t end)
{
    (void)first, (void)end;
    total[((const struct vectors *)data)->type](data);
}

/* Without a buffer, or for one piece. */
static void run_dot_alone(void *data, uint64_t first, uint64_t end)
{
    struct vectors r = *(const struct vectors *)data;
    _Alignas(16) unsigned char sum[16];
    (void)first, (void)end;
    dot[r.type](&r, 0, r.x.nnz, sum);
    mr_give(r.compute, r.result, 1, 1, r.type, sum);
}

static cusparseStatus_t check(const struct mr_form *form, const struct cusparseSpVecDescr *x,
                              const struct cusparseDnVecDescr *y)
{
    MR_CHECK(form, mr_is(x, MR_KIND_SPVEC) && mr_is(y, MR_KIND_DNVEC));
    MR_CHECK(form, x->size == y->size);
    return CUSPARSE_STATUS_SUCCESS;
}

/* Integers are refused as hardware does. */
static cusparseStatus_t check_type(const struct mr_form *form, cudaDataType_t type)
{
    if (type == CUDA_R_8I || type == CUDA_R_32I)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_INTERNAL_ERROR, "there is none for integers");
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t submit(const struct mr_form *form, const struct mr_cusparse *sparse, int64_t all,
                               void (*run)(void *, uint64_t, uint64_t), const struct vectors *r)
{
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)all, PIECE), run, r, sizeof *r);
}

cusparseStatus_t mr_cusparse_Axpby(const struct mr_form *form, cusparseHandle_t handle, const void *alpha,
                                   cusparseConstSpVecDescr_t vecX, const void *beta, cusparseDnVecDescr_t vecY)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, alpha && beta);
    MR_STEP(check(form, vecX, vecY));
    MR_SUPPORT(form, vecX->type == vecY->type);
    MR_STEP(check_type(form, vecX->type));
    enum mr_type type = mr_type_for(vecX->type);
    struct vectors r = {.x = *vecX, .y = *vecY, .type = type, .compute = mr_stored(type)};
    r.alpha = mr_cusparse_scalar(sparse, alpha, r.compute);
    r.beta = mr_cusparse_scalar(sparse, beta, r.compute);
    MR_STEP(submit(form, sparse, r.y.size, run_scale, &r));
    return submit(form, sparse, r.x.nnz, run_add, &r);
}

cusparseStatus_t mr_cusparse_Rot(const struct mr_form *form, cusparseHandle_t handle, const void *c_coeff,
                                 const void *s_coeff, cusparseSpVecDescr_t vecX, cusparseDnVecDescr_t vecY)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, c_coeff && s_coeff);
    MR_STEP(check(form, vecX, vecY));
    MR_SUPPORT(form, vecX->type == vecY->type);
    MR_STEP(check_type(form, vecX->type));
    enum mr_type type = mr_type_for(vecX->type);
    struct vectors r = {.x = *vecX, .y = *vecY, .type = type, .compute = mr_stored(type)};
    r.alpha = mr_cusparse_scalar(sparse, c_coeff, r.compute);
    r.beta = mr_cusparse_scalar(sparse, s_coeff, r.compute);
    return submit(form, sparse, r.x.nnz, run_rotate, &r);
}

cusparseStatus_t mr_cusparse_Gather(const struct mr_form *form, cusparseHandle_t handle, cusparseConstDnVecDescr_t vecY,
                                    cusparseSpVecDescr_t vecX)
{
    MR_ENTER(form, handle);
    MR_STEP(check(form, vecX, vecY));
    MR_SUPPORT(form, vecX->type == vecY->type);
    struct vectors r = {.x = *vecX, .y = *vecY};
    return submit(form, sparse, r.x.nnz, run_gather, &r);
}

cusparseStatus_t mr_cusparse_Scatter(const struct mr_form *form, cusparseHandle_t handle,
                                     cusparseConstSpVecDescr_t vecX, cusparseDnVecDescr_t vecY)
{
    MR_ENTER(form, handle);
    MR_STEP(check(form, vecX, vecY));
    MR_SUPPORT(form, vecX->type == vecY->type);
    struct vectors r = {.x = *vecX, .y = *vecY};
    return submit(form, sparse, r.x.nnz, run_scatter, &r);
}

static cusparseStatus_t check_dot(const struct mr_form *form, cusparseOperation_t op,
                                  const struct cusparseSpVecDescr *x, const struct cusparseDnVecDescr *y,
                                  const void *result, cudaDataType compute)
{
    MR_STEP(check(form, x, y));
    MR_CHECK(form, op == CUSPARSE_OPERATION_NON_TRANSPOSE ||
                       (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && mr_element_is_complex(x->type)));
    MR_CHECK(form, result);
    MR_SUPPORT(form, x->type == y->type && mr_type_for(compute) != MR_TYPES);
    MR_SUPPORT(form, mr_mix_is_known(compute, x->type, y->type, x->type) ||
                         mr_mix_is_known(compute, x->type, y->type, compute));
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpVV_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseOperation_t opX, cusparseConstSpVecDescr_t vecX,
                                             cusparseConstDnVecDescr_t vecY, const void *result,
                                             cudaDataType computeType, size_t *bufferSize)
{
    MR_ENTER(form, handle);
    MR_STEP(check_dot(form, opX, vecX, vecY, result, computeType));
    MR_CHECK(form, bufferSize);
    *bufferSize = mr_parts_of((uint64_t)vecX->nnz, PIECE) * 16;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpVV(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opX,
                                  cusparseConstSpVecDescr_t vecX, cusparseConstDnVecDescr_t vecY, void *result,
                                  cudaDataType computeType, void *externalBuffer)
{
    MR_ENTER(form, handle);
    MR_STEP(check_dot(form, opX, vecX, vecY, result, computeType));
    _Alignas(16) unsigned char here[16] = {0};
    struct vectors r = {.x = *vecX, .y = *vecY, .type = mr_type_for(computeType), .compute = computeType};
    r.conjugated = opX == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    /* In a capture the host's result is written whenever the graph runs. */
    bool waits = !mr_on_device(sparse) && !mr_cusparse_captures(sparse);
    r.result = waits ? here : result;
    r.partial = externalBuffer;
    r.pieces = (int64_t)mr_parts_of((uint64_t)r.x.nnz, PIECE);
    if (r.pieces <= 1 || !externalBuffer) {
        MR_STEP(mr_cusparse_submit(form, sparse, 1, run_dot_alone, &r, sizeof r));
    } else {
        MR_STEP(submit(form, sparse, r.x.nnz, run_dot, &r));
        MR_STEP(mr_cusparse_submit(form, sparse, 1, run_total, &r, sizeof r));
    }
    if (!waits)
        return CUSPARSE_STATUS_SUCCESS;
    MR_STEP(mr_cusparse_wait(form, sparse));
    memcpy(result, here, mr_element_size(computeType));
    return CUSPARSE_STATUS_SUCCESS;
}
