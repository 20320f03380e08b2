/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: each element of the result goes through what it is made of, by rows; sums are of doubles. */
#include "libs/cudnn/sums.h"

#include <math.h>

/* A result in the making. */
struct sum {
    double value;
    int64_t index;
};

uint64_t mr_sums_prepare(struct mr_sums *s)
{
    mr_tensors_join((struct mr_tensor *[]){&s->x, &s->y}, 2);
    s->groups = mr_groups_of(&s->x, &s->y);
    return mr_groups_parts(&s->groups);
}

static double first_value(cudnnReduceTensorOp_t op)
{
    switch ((int)op) {
    case CUDNN_REDUCE_TENSOR_MUL:
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
        return 1;
    case CUDNN_REDUCE_TENSOR_MIN:
        return INFINITY;
    case CUDNN_REDUCE_TENSOR_MAX:
        return -INFINITY;
    default:
        return 0;
    }
}

static void add_line(cudnnReduceTensorOp_t op, struct sum *sum, const double *line, int64_t n, int64_t index)
{
    double value = sum->value;
    switch ((int)op) {
    case CUDNN_REDUCE_TENSOR_MUL:
        for (int64_t i = 0; i < n; i++)
            value *= line[i];
        break;
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
        for (int64_t i = 0; i < n; i++)
            value *= line[i] == 0 ? 1 : line[i];
        break;
    case CUDNN_REDUCE_TENSOR_NORM1:
        for (int64_t i = 0; i < n; i++)
            value += fabs(line[i]);
        break;
    case CUDNN_REDUCE_TENSOR_NORM2:
        for (int64_t i = 0; i < n; i++)
            value += line[i] * line[i];
        break;
    case CUDNN_REDUCE_TENSOR_MIN:
    case CUDNN_REDUCE_TENSOR_MAX:
    case CUDNN_REDUCE_TENSOR_AMAX:
        for (int64_t i = 0; i < n; i++) {
            double next = op == CUDNN_REDUCE_TENSOR_AMAX ? fabs(line[i]) : line[i];
            if (op == CUDNN_REDUCE_TENSOR_MIN ? next < value : next > value) {
                value = next;
                sum->index = index + i;
            } else if (next != next) {
                value = next;
            }
        }
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            value += line[i];
    }
    sum->value = value;
}

static bool one(const struct mr_sums *s, int64_t group)
{
    const struct mr_rows *over = &s->groups.over;
    double *line = mr_math_scratch(0, MR_LINE * sizeof *line);
    if (!line)
        return false;
    int64_t x = mr_groups_at(&s->groups, &s->x, group), y = mr_groups_at(&s->groups, &s->y, group), index = 0;
    struct sum sum = {.value = first_value(s->op)};
    int64_t stride = mr_rows_stride(over, &s->x);
    for (int64_t row = 0; row < over->count; row++)
        for (int64_t from = 0; from < over->length; from += MR_LINE) {
            int64_t left = over->length - from, n = left < MR_LINE ? left : MR_LINE;
            mr_line_load(s->x.type, s->x_at, x + mr_rows_at(over, &s->x, row) + from * stride, stride, n, true, line);
            for (int64_t i = 0; i < n && s->squares; i++)
                line[i] *= line[i];
            add_line(s->op, &sum, line, n, index);
            index += n;
        }
    if (s->op == CUDNN_REDUCE_TENSOR_AVG)
        sum.value /= (double)s->groups.size;
    else if (s->op == CUDNN_REDUCE_TENSOR_NORM2)
        sum.value = sqrt(sum.value);
    sum.value *= s->alpha;
    if (s->beta != 0) {
        double old;
        mr_line_load(s->y.type, s->y_at, y, 1, 1, true, &old);
        sum.value += s->beta * old;
    }
    mr_line_store(s->y.type, s->y_at, y, 1, 1, true, &sum.value);
    if (s->indices)
        s->indices[group] = (uint32_t)sum.index;
    return true;
}

void mr_sums_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_sums *s = record;
    int64_t last = mr_groups_first(&s->groups, end);
    for (int64_t group = mr_groups_first(&s->groups, first); group < last; group++)
        if (!one(s, group)) {
            mr_math_short_of_memory("a reduction");
            return;
        }
}
