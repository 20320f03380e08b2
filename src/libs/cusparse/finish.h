/* SPDX-License-Identifier: Apache-2.0 */
/* How every product ends: result = alpha * sum + beta * result. A result whose beta is 0 is not read. */
#ifndef MR_CUSPARSE_FINISH_H
#define MR_CUSPARSE_FINISH_H

#include "libs/cusparse/element.h"
#include "libs/math/convert.h"

struct mr_finish {
    bool same; /* the result is stored as it is computed */
    bool keep; /* beta is not 0 */
    cudaDataType_t stored;
    enum mr_type type;
    unsigned size; /* bytes of a stored element */
    _Alignas(16) unsigned char alpha[16], beta[16]; /* of the type that is computed in */
};

/* In a part: reads the scalars, whose stored type is `scalars`. */
static inline struct mr_finish mr_finish_of(enum mr_type type, cudaDataType_t stored, const struct mr_scalar *alpha,
                                            const struct mr_scalar *beta, cudaDataType_t scalars)
{
    static const unsigned char zero[16];
    struct mr_finish finish = {
        .same = stored == mr_stored(type), .stored = stored, .type = type, .size = mr_element_size(stored)};
    mr_scalar_read(alpha, scalars, type, finish.alpha);
    mr_scalar_read(beta, scalars, type, finish.beta);
    finish.keep = memcmp(finish.beta, zero, mr_type_size(type)) != 0;
    return finish;
}

#define MR_FINISH(s, element, real, conjugate) \
    static inline void mr_finish_##s(const struct mr_finish *finish, void *result, int64_t i, element sum) \
    { \
        element alpha, beta, old = 0, value; \
        memcpy(&alpha, finish->alpha, sizeof alpha); \
        memcpy(&beta, finish->beta, sizeof beta); \
        if (finish->same) { \
            element *at = (element *)result + i; \
            *at = finish->keep ? alpha * sum + beta * *at : alpha * sum; \
            return; \
        } \
        char *at = (char *)result + i * finish->size; \
        if (finish->keep) \
            mr_take(finish->stored, at, 1, 1, finish->type, &old); \
        value = finish->keep ? alpha * sum + beta * old : alpha * sum; \
        mr_give(finish->stored, at, 1, 1, finish->type, &value); \
    } \
    /* `count` results from element `first` on. */ \
    static inline void mr_finish_row_##s(const struct mr_finish *finish, void *result, int64_t first, int64_t step, \
                                         int64_t count, const element *sums) \
    { \
        if (finish->same && !finish->keep && step == 1) { \
            element alpha, *at = (element *)result + first; \
            memcpy(&alpha, finish->alpha, sizeof alpha); \
            for (int64_t j = 0; j < count; j++) \
                at[j] = alpha * sums[j]; \
            return; \
        } \
        for (int64_t j = 0; j < count; j++) \
            mr_finish_##s(finish, result, first + j * step, sums[j]); \
    }
MR_FOR_TYPES(MR_FINISH)
#undef MR_FINISH

#endif
