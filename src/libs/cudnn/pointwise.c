/* SPDX-License-Identifier: Apache-2.0 */
/* Operations element by element, line by line. */
#include "libs/cudnn/pointwise.h"

#include <math.h>

int mr_pointwise_operands(cudnnPointwiseMode_t mode)
{
    switch ((int)mode) {
    case CUDNN_POINTWISE_GEN_INDEX:
        return 0;
    case CUDNN_POINTWISE_BINARY_SELECT:
        return 3;
    case CUDNN_POINTWISE_LOGICAL_NOT:
    case CUDNN_POINTWISE_SQRT:
        return 1;
    default:
        if (mode <= CUDNN_POINTWISE_SUB || mode == CUDNN_POINTWISE_ATAN2)
            return 2;
        if (mode <= CUDNN_POINTWISE_RECIPROCAL ||
            (mode >= CUDNN_POINTWISE_RELU_FWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_FWD))
            return 1;
        if (mr_pointwise_is_backward(mode) || (mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE) ||
            mode == CUDNN_POINTWISE_LOGICAL_AND || mode == CUDNN_POINTWISE_LOGICAL_OR)
            return 2;
        return -1;
    }
}

bool mr_pointwise_is_backward(cudnnPointwiseMode_t mode)
{
    return mode >= CUDNN_POINTWISE_RELU_BWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD;
}

struct mr_pointwise mr_pointwise_of(cudnnPointwiseMode_t mode)
{
    return (struct mr_pointwise){.mode = mode,
                                 .alpha = 1,
                                 .alpha_b = 1,
                                 .gamma = 1,
                                 .high = INFINITY,
                                 .elu_alpha = 1,
                                 .softplus_beta = 1,
                                 .swish_beta = 1,
                                 .axis = -1};
}

/* The index along the axis of each element of the line. */
static void index_line(const struct mr_pointwise *p, int64_t row, int64_t from, int64_t n, bool wide, void *to)
{
    int64_t index = 0, step = p->axis == p->rows.inner;
    for (int i = p->rows.n - 1; i >= 0; i--)
        if (i != p->rows.inner) {
            if (i == p->axis)
                index = row % p->rows.dim[i];
            row /= p->rows.dim[i];
        }
    index += step * from;
    for (int64_t i = 0; i < n; i++, index += step)
        if (wide)
            ((double *)to)[i] = (double)index;
        else
            ((float *)to)[i] = (float)index;
}

#define REAL float
#define NAME(name) name##_f
#define F(name) name##f
#include "libs/cudnn/pointwise_line.inc"
#undef REAL
#undef NAME
#undef F
#define REAL double
#define NAME(name) name##_d
#define F(name) name
#include "libs/cudnn/pointwise_line.inc"
#undef REAL
#undef NAME
#undef F

uint64_t mr_pointwise_prepare(struct mr_pointwise *p)
{
    int operands = mr_pointwise_operands(p->mode);
    p->wide = mr_dnn_is_wide(p->y.type) || (operands >= 1 && mr_dnn_is_wide(p->x.type)) ||
              (operands >= 2 && mr_dnn_is_wide(p->b.type));
    struct mr_tensor *const all[] = {&p->y, &p->x, &p->b, &p->t};
    if (operands >= 1)
        mr_tensors_join(all, 1 + operands);
    p->rows = mr_rows_of(&p->y, -1);
    return mr_parts_of((uint64_t)p->rows.count, (uint64_t)mr_rows_each(&p->rows));
}

void mr_pointwise_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_pointwise *p = record;
    int64_t each = mr_rows_each(&p->rows),
            last = (int64_t)end * each < p->rows.count ? (int64_t)end * each : p->rows.count;
    for (int64_t row = (int64_t)first * each; row < last; row++)
        for (int64_t from = 0; from < p->rows.length; from += MR_LINE) {
            int64_t left = p->rows.length - from, n = left < MR_LINE ? left : MR_LINE;
            if (!(p->wide ? piece_d(p, row, from, n) : piece_f(p, row, from, n))) {
                mr_math_short_of_memory("a pointwise operation");
                return;
            }
        }
}
