/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and its logarithm, forward and backward, over channels or over whole images. */
#include <math.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"

struct softmax {
    bool logarithm, shifts, backward; /* shifts: the largest element is taken off first */
    struct mr_tensor x, dy, y; /* backward: x is y, and y is dx */
    const void *x_at, *dy_at;
    void *y_at;
    double alpha, beta;
    struct mr_groups groups;
};

/* The group's elements, from one end to the other: loaded into `to`, or stored from it. */
static void move(const struct softmax *s, const struct mr_tensor *t, const void *at, int64_t group, double *line,
                 bool out)
{
    const struct mr_rows *over = &s->groups.over;
    int64_t stride = mr_rows_stride(over, t);
    for (int64_t row = 0; row < over->count; row++, line += over->length) {
        int64_t begin = mr_groups_at(&s->groups, t, group) + mr_rows_at(over, t, row);
        if (out)
            mr_line_store(t->type, (void *)at, begin, stride, over->length, true, line);
        else
            mr_line_load(t->type, at, begin, stride, over->length, true, line);
    }
}

static void forward(const struct softmax *s, double *x)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < s->groups.size; i++)
        most = x[i] > most || x[i] != x[i] ? x[i] : most;
    if (!s->shifts)
        most = 0;
    for (int64_t i = 0; i < s->groups.size; i++) {
        double power = exp(x[i] - most);
        sum += power;
        x[i] = s->logarithm ? x[i] - most : power;
    }
    for (int64_t i = 0; i < s->groups.size; i++)
        x[i] = s->logarithm ? x[i] - log(sum) : x[i] / sum;
}

static void backward(const struct softmax *s, double *y, const double *dy)
{
    double sum = 0;
    for (int64_t i = 0; i < s->groups.size; i++)
        sum += s->logarithm ? dy[i] : y[i] * dy[i];
    for (int64_t i = 0; i < s->groups.size; i++)
        y[i] = s->logarithm ? dy[i] - exp(y[i]) * sum : y[i] * (dy[i] - sum);
}

static void run(void *record, uint64_t first, uint64_t end)
{
    const struct softmax *s = record;
    int64_t size = s->groups.size, last = mr_groups_first(&s->groups, end);
    double *x = mr_math_scratch(0, 2 * (size_t)size * sizeof *x), *more = x + size;
    if (!x) {
        mr_math_short_of_memory("softmax");
        return;
    }
    for (int64_t group = mr_groups_first(&s->groups, first); group < last; group++) {
        move(s, &s->x, s->x_at, group, x, false);
        if (s->backward) {
            move(s, &s->dy, s->dy_at, group, more, false);
            backward(s, x, more);
        } else {
            forward(s, x);
        }
        if (s->beta != 0)
            move(s, &s->y, s->y_at, group, more, false);
        for (int64_t i = 0; i < size; i++)
            x[i] = s->alpha * x[i] + (s->beta != 0 ? s->beta * more[i] : 0);
        move(s, &s->y, s->y_at, group, x, true);
    }
}

static cudnnStatus_t submit(const struct mr_form *form, cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                            cudnnSoftmaxMode_t mode, struct softmax *s)
{
    MR_WANT(algo <= CUDNN_SOFTMAX_LOG && mode <= CUDNN_SOFTMAX_MODE_CHANNEL, CUDNN_STATUS_BAD_PARAM,
            "there is no algorithm %d, or no mode %d", (int)algo, (int)mode);
    MR_WANT(s->x.n >= 2 && s->x.type == s->y.type && mr_tensor_same(&s->x, &s->y) &&
                (!s->backward || mr_tensor_same(&s->x, &s->dy)),
            CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    struct mr_tensor of = s->x;
    of.dim[1] = 1;
    for (int i = 2; i < of.n && mode == CUDNN_SOFTMAX_MODE_INSTANCE; i++)
        of.dim[i] = 1;
    s->logarithm = algo == CUDNN_SOFTMAX_LOG;
    s->shifts = algo != CUDNN_SOFTMAX_FAST;
    mr_tensors_join((struct mr_tensor *[]){&s->x, &s->y, &of, &s->dy}, s->backward ? 4 : 3);
    s->groups = mr_groups_of(&s->x, &of);
    return mr_dnn_submit(form->name, handle, mr_groups_parts(&s->groups), run, s, sizeof *s);
}

cudnnStatus_t mr_cudnn_SoftmaxForward(const struct mr_form *form, cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                      cudnnSoftmaxMode_t mode, const void *alpha, const cudnnTensorDescriptor_t xDesc,
                                      const void *x, const void *beta, const cudnnTensorDescriptor_t yDesc, void *y)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_WANT(alpha && beta && xDesc && yDesc && x && y, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    struct softmax s = {.x = xDesc->t,
                        .y = yDesc->t,
                        .x_at = x,
                        .y_at = y,
                        .alpha = mr_factor(&yDesc->t, alpha),
                        .beta = mr_factor(&yDesc->t, beta)};
    return submit(form, handle, algo, mode, &s);
}

cudnnStatus_t mr_cudnn_SoftmaxBackward(const struct mr_form *form, cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                       cudnnSoftmaxMode_t mode, const void *alpha, const cudnnTensorDescriptor_t yDesc,
                                       const void *y, const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                       const void *beta, const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_WANT(alpha && beta && yDesc && dyDesc && dxDesc && y && dy && dx, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    struct softmax s = {.backward = true,
                        .x = yDesc->t,
                        .dy = dyDesc->t,
                        .y = dxDesc->t,
                        .x_at = y,
                        .dy_at = dy,
                        .y_at = dx,
                        .alpha = mr_factor(&dxDesc->t, alpha),
                        .beta = mr_factor(&dxDesc->t, beta)};
    return submit(form, handle, algo, mode, &s);
}
