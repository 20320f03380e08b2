/* SPDX-License-Identifier: Apache-2.0 */
/* The product of two dense matrices at the places of a sparse one: C = alpha * (op(A) * op(B) at C's places) + beta *
 * C. Parts are lines of C. */
#include "libs/cusparse/dense.h"
#include "libs/cusparse/finish.h"
#include "libs/cusparse/lines.h"
#include "libs/cusparse/mix.h"

struct sddmm {
    struct mr_operand a, b;
    struct cusparseSpMatDescr c;
    enum mr_type type;
    cudaDataType_t compute;
    struct mr_scalar alpha, beta;
    int64_t inner, members;
    uint64_t parts;
    const char *name;
};

#define DOTS(s, element, real, conjugate) \
    static bool dots_##s(const struct sddmm *r, const struct cusparseSpMatDescr *c, int64_t begin, int64_t stop, \
                         const struct mr_view *a, const struct mr_view *b, const struct mr_finish *finish) \
    { \
        struct mr_reader reader = {.matrix = c, .type = r->type, .places = true}; \
        struct mr_entries e; \
        bool is_by_column = c->format == CUSPARSE_FORMAT_CSC; \
        for (int64_t line = begin; line < stop; line++) { \
            if (!mr_line(&reader, line, &e)) \
                return false; \
            for (int64_t k = 0; k < e.count; k++) { \
                int64_t i = is_by_column ? e.index[k] : line, j = is_by_column ? line : e.index[k]; \
                const element *x = (const element *)a->at + i * a->row_step; \
                const element *y = (const element *)b->at + j * b->column_step; \
                element sum = 0, more = 0; \
                int64_t l = 0; \
                for (; l + 2 <= r->inner; l += 2) { \
                    sum += x[l * a->column_step] * y[l * b->row_step]; \
                    more += x[(l + 1) * a->column_step] * y[(l + 1) * b->row_step]; \
                } \
                if (l < r->inner) \
                    sum += x[l * a->column_step] * y[l * b->row_step]; \
                mr_finish_##s(finish, c->values, e.place[k], sum + more); \
            } \
        } \
        return true; \
    }
MR_FOR_TYPES(DOTS)

static bool do_part(const struct sddmm *r, int64_t member, uint64_t part)
{
    static bool (*const dots[])(const struct sddmm *, const struct cusparseSpMatDescr *, int64_t, int64_t,
                                const struct mr_view *, const struct mr_view *, const struct mr_finish *) =
        MR_FAMILY(dots);
    struct mr_finish finish = mr_finish_of(r->type, r->c.type, &r->alpha, &r->beta, r->compute);
    struct cusparseSpMatDescr c = mr_member(&r->c, member);
    struct mr_view a = mr_operand_view(&r->a, member), b = mr_operand_view(&r->b, member);
    return dots[r->type](r, &c, mr_lines_cut(&c, part, r->parts), mr_lines_cut(&c, part + 1, r->parts), &a, &b,
                         &finish);
}

static void run(void *data, uint64_t first, uint64_t end)
{
    const struct sddmm *r = data;
    for (uint64_t part = first; part < end; part++)
        if (!do_part(r, (int64_t)(part / r->parts), part % r->parts))
            mr_math_short_of_memory(r->name);
}

/* Without a buffer. */
static void *pack(struct mr_operand *o, unsigned slot)
{
    size_t bytes = mr_operand_bytes(o), members = (size_t)mr_operand_members(o);
    o->packed = mr_math_scratch(slot, bytes * members);
    for (size_t member = 0; o->pack && o->packed && member < members; member++)
        mr_operand_pack(o, (int64_t)member, (char *)o->packed + member * bytes);
    return o->packed;
}

static void run_alone(void *data, uint64_t first, uint64_t end)
{
    struct sddmm r = *(const struct sddmm *)data;
    (void)first, (void)end;
    bool is_done = pack(&r.a, 2) && pack(&r.b, 3);
    for (int64_t part = 0; is_done && part < r.members * (int64_t)r.parts; part++)
        is_done = do_part(&r, part / (int64_t)r.parts, (uint64_t)part % r.parts);
    if (!is_done)
        mr_math_short_of_memory(r.name);
}

static size_t bytes_of(const struct mr_operand *o)
{
    return (mr_operand_bytes(o) * (size_t)mr_operand_members(o) + 255) & ~(size_t)255;
}

static cusparseStatus_t prepare(const struct mr_form *form, const struct mr_cusparse *sparse, cusparseOperation_t opA,
                                cusparseOperation_t opB, const void *alpha, const struct cusparseDnMatDescr *a,
                                const struct cusparseDnMatDescr *b, const void *beta,
                                const struct cusparseSpMatDescr *c, cudaDataType compute, struct sddmm *r)
{
    MR_CHECK(form, alpha && beta);
    MR_CHECK(form, mr_is(a, MR_KIND_DNMAT) && mr_is(b, MR_KIND_DNMAT) && mr_is(c, MR_KIND_SPMAT));
    MR_CHECK(form, mr_is_op(opA) && mr_is_op(opB));
    enum mr_type type = mr_type_for(compute);
    MR_SUPPORT(form, type != MR_TYPES && mr_mix_is_known(compute, a->type, b->type, c->type));
    MR_SUPPORT(form, c->format == CUSPARSE_FORMAT_CSR || c->format == CUSPARSE_FORMAT_BSR);
    *r = (struct sddmm){.a = mr_operand(a, opA, type),
                        .b = mr_operand(b, opB, type),
                        .c = *c,
                        .type = type,
                        .compute = compute,
                        .alpha = mr_cusparse_scalar(sparse, alpha, compute),
                        .beta = mr_cusparse_scalar(sparse, beta, compute),
                        .members = c->batch_count,
                        .name = form->name};
    r->inner = mr_operand_columns(&r->a);
    MR_CHECK(form, r->inner == mr_operand_rows(&r->b));
    MR_CHECK(form, c->rows == mr_operand_rows(&r->a) && c->cols == mr_operand_columns(&r->b));
    MR_CHECK(form, a->batch_count == 1 || a->batch_count == c->batch_count);
    MR_CHECK(form, b->batch_count == 1 || b->batch_count == c->batch_count);
    r->parts = mr_lines_parts(c, r->inner);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SDDMM_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                              cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                              cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                              const void *beta, cusparseSpMatDescr_t matC, cudaDataType computeType,
                                              cusparseSDDMMAlg_t alg, size_t *bufferSize)
{
    (void)alg;
    struct sddmm r;
    MR_ENTER(form, handle);
    MR_STEP(prepare(form, sparse, opA, opB, alpha, matA, matB, beta, matC, computeType, &r));
    MR_CHECK(form, bufferSize);
    *bufferSize = bytes_of(&r.a) + bytes_of(&r.b);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SDDMM_preprocess(const struct mr_form *form, cusparseHandle_t handle,
                                              cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                              cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                              const void *beta, cusparseSpMatDescr_t matC, cudaDataType computeType,
                                              cusparseSDDMMAlg_t alg, void *externalBuffer)
{
    (void)alg, (void)externalBuffer;
    struct sddmm r;
    MR_ENTER(form, handle);
    return prepare(form, sparse, opA, opB, alpha, matA, matB, beta, matC, computeType, &r);
}

cusparseStatus_t mr_cusparse_SDDMM(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opA,
                                   cusparseOperation_t opB, const void *alpha, cusparseConstDnMatDescr_t matA,
                                   cusparseConstDnMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,
                                   cudaDataType computeType, cusparseSDDMMAlg_t alg, void *externalBuffer)
{
    (void)alg;
    struct sddmm r;
    MR_ENTER(form, handle);
    MR_STEP(prepare(form, sparse, opA, opB, alpha, matA, matB, beta, matC, computeType, &r));
    if ((r.a.pack || r.b.pack) && !externalBuffer)
        return mr_cusparse_submit(form, sparse, r.parts > 0, run_alone, &r, sizeof r);
    r.a.packed = externalBuffer;
    r.b.packed = externalBuffer ? (char *)externalBuffer + bytes_of(&r.a) : NULL;
    if (r.a.pack)
        MR_STEP(mr_operand_submit(form, sparse, &r.a));
    if (r.b.pack)
        MR_STEP(mr_operand_submit(form, sparse, &r.b));
    return mr_cusparse_submit(form, sparse, r.parts * (uint64_t)r.members, run, &r, sizeof r);
}
