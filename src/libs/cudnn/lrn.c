/* SPDX-License-Identifier: Apache-2.0 */
/* Local response normalisation: y = x / s^beta, where s = k + alpha / n * the sum of the squares of n channels around
 * the element's. Channels that are not there count as 0. */
#include <math.h>
#include <stdlib.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"

/* A line here is an image's channels at one place. */
struct lrn {
    struct cudnnLRNStruct by;
    int64_t behind, ahead; /* channels of a window on either side of its own */
    bool backward;
    struct mr_tensor x, dy, y; /* backward: y is dx */
    const void *x_at, *dy_at;
    void *y_at;
    double alpha, beta;
    struct mr_groups groups;
};

static void load(const struct lrn *l, const struct mr_tensor *t, const void *at, int64_t group, double *line)
{
    mr_line_load(t->type, at, mr_groups_at(&l->groups, t, group), mr_rows_stride(&l->groups.over, t), l->groups.size,
                 true, line);
}

/* The channels from `before` in front of channel `c` to `after` behind it, as far as they are there. */
static int64_t window(const struct lrn *l, int64_t c, int64_t before, int64_t after, int64_t *end)
{
    *end = c + after + 1 < l->groups.size ? c + after + 1 : l->groups.size;
    return c > before ? c - before : 0;
}

static void scales(const struct lrn *l, const double *x, double *s)
{
    for (int64_t c = 0, end; c < l->groups.size; c++) {
        double sum = 0;
        for (int64_t i = window(l, c, l->behind, l->ahead, &end); i < end; i++)
            sum += x[i] * x[i];
        s[c] = l->by.k + l->by.alpha / l->by.n * sum;
    }
}

/* dx = dy / s^beta - 2 alpha beta / n * x * the sum of dy y / s over the windows that the element is in. dy gives way
 * to it. */
static void gradient(const struct lrn *l, const double *x, const double *s, double *dy, double *more)
{
    for (int64_t c = 0; c < l->groups.size; c++) {
        double power = pow(s[c], -l->by.beta);
        more[c] = dy[c] * x[c] * power / s[c];
        dy[c] *= power;
    }
    for (int64_t c = 0, end; c < l->groups.size; c++) {
        double sum = 0;
        for (int64_t i = window(l, c, l->ahead, l->behind, &end); i < end; i++)
            sum += more[i];
        dy[c] -= 2 * l->by.alpha * l->by.beta / l->by.n * x[c] * sum;
    }
}

static void run(void *record, uint64_t first, uint64_t end)
{
    const struct lrn *l = record;
    int64_t size = l->groups.size, last = mr_groups_first(&l->groups, end);
    double *x = mr_math_scratch(0, 4 * (size_t)size * sizeof *x), *s = x + size, *y = s + size, *more = y + size;
    if (!x) {
        mr_math_short_of_memory("local response normalisation");
        return;
    }
    for (int64_t group = mr_groups_first(&l->groups, first); group < last; group++) {
        load(l, &l->x, l->x_at, group, x);
        scales(l, x, s);
        if (l->backward) {
            load(l, &l->dy, l->dy_at, group, y);
            gradient(l, x, s, y, more);
        } else {
            for (int64_t c = 0; c < size; c++)
                y[c] = x[c] * pow(s[c], -l->by.beta);
        }
        if (l->beta != 0)
            load(l, &l->y, l->y_at, group, more);
        for (int64_t c = 0; c < size; c++)
            y[c] = l->alpha * y[c] + (l->beta != 0 ? l->beta * more[c] : 0);
        mr_line_store(l->y.type, l->y_at, mr_groups_at(&l->groups, &l->y, group),
                      mr_rows_stride(&l->groups.over, &l->y), size, true, y);
    }
}

static cudnnStatus_t submit(const struct mr_form *form, cudnnHandle_t handle, cudnnLRNDescriptor_t norm,
                            cudnnLRNMode_t mode, struct lrn *l)
{
    MR_POINTER(norm);
    MR_WANT(mode == CUDNN_LRN_CROSS_CHANNEL_DIM1, CUDNN_STATUS_BAD_PARAM, "there is no mode %d", (int)mode);
    MR_WANT(norm->n, CUDNN_STATUS_BAD_PARAM, "the descriptor isn't set");
    MR_WANT(l->x_at && l->y_at && (!l->backward || l->dy_at), CUDNN_STATUS_BAD_PARAM, "a tensor's address is NULL");
    MR_WANT(l->x.n >= 2 && mr_tensor_same(&l->x, &l->y) && (!l->backward || mr_tensor_same(&l->x, &l->dy)),
            CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    struct mr_tensor of = l->x;
    of.dim[1] = 1;
    l->by = *norm;
    l->behind = (norm->n - 1) / 2;
    l->ahead = norm->n - 1 - l->behind;
    l->groups = mr_groups_of(&l->x, &of);
    return mr_dnn_submit(form->name, handle, mr_groups_parts(&l->groups), run, l, sizeof *l);
}

cudnnStatus_t mr_cudnn_LRNCrossChannelForward(const struct mr_form *form, cudnnHandle_t handle,
                                              cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode, const void *alpha,
                                              const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                              const cudnnTensorDescriptor_t yDesc, void *y)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_WANT(alpha && beta && xDesc && yDesc, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    struct lrn l = {.x = xDesc->t,
                    .y = yDesc->t,
                    .x_at = x,
                    .y_at = y,
                    .alpha = mr_factor(&yDesc->t, alpha),
                    .beta = mr_factor(&yDesc->t, beta)};
    return submit(form, handle, normDesc, lrnMode, &l);
}

cudnnStatus_t mr_cudnn_LRNCrossChannelBackward(const struct mr_form *form, cudnnHandle_t handle,
                                               cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode, const void *alpha,
                                               const cudnnTensorDescriptor_t yDesc, const void *y,
                                               const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                               const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                               const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_WANT(alpha && beta && xDesc && yDesc && dyDesc && dxDesc && y, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    MR_WANT(mr_tensor_same(&xDesc->t, &yDesc->t), CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    struct lrn l = {.backward = true,
                    .x = xDesc->t,
                    .dy = dyDesc->t,
                    .y = dxDesc->t,
                    .x_at = x,
                    .dy_at = dy,
                    .y_at = dx,
                    .alpha = mr_factor(&dxDesc->t, alpha),
                    .beta = mr_factor(&dxDesc->t, beta)};
    return submit(form, handle, normDesc, lrnMode, &l);
}

/* ---- descriptors ---- */

cudnnStatus_t mr_cudnn_CreateLRNDescriptor(const struct mr_form *form, cudnnLRNDescriptor_t *normDesc)
{
    MR_POINTER(normDesc);
    *normDesc = calloc(1, sizeof **normDesc);
    MR_WANT(*normDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    **normDesc = (struct cudnnLRNStruct){5, 1e-4, 0.75, 2};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyLRNDescriptor(const struct mr_form *form, cudnnLRNDescriptor_t lrnDesc)
{
    (void)form;
    free(lrnDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetLRNDescriptor(const struct mr_form *form, cudnnLRNDescriptor_t normDesc, unsigned lrnN,
                                        double lrnAlpha, double lrnBeta, double lrnK)
{
    MR_POINTER(normDesc);
    MR_WANT(lrnN >= CUDNN_LRN_MIN_N && lrnN <= CUDNN_LRN_MAX_N, CUDNN_STATUS_BAD_PARAM, "a window of %u channels",
            lrnN);
    MR_WANT(lrnK >= CUDNN_LRN_MIN_K && lrnBeta >= CUDNN_LRN_MIN_BETA, CUDNN_STATUS_BAD_PARAM, "k is %g, beta is %g",
            lrnK, lrnBeta);
    *normDesc = (struct cudnnLRNStruct){lrnN, lrnAlpha, lrnBeta, lrnK};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetLRNDescriptor(const struct mr_form *form, cudnnLRNDescriptor_t normDesc, unsigned *lrnN,
                                        void *lrnAlpha, void *lrnBeta, void *lrnK)
{
    MR_POINTER(normDesc);
    if (lrnN)
        *lrnN = normDesc->n;
    if (lrnAlpha)
        *(double *)lrnAlpha = normDesc->alpha;
    if (lrnBeta)
        *(double *)lrnBeta = normDesc->beta;
    if (lrnK)
        *(double *)lrnK = normDesc->k;
    return CUDNN_STATUS_SUCCESS;
}
