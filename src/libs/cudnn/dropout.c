/* SPDX-License-Identifier: Apache-2.0 */
/* Dropout: y = x / (1 - p) for elements that are kept, 0 for the others. Which are kept lies in the reserve space, one
 * bit for each element in the order of its dimensions, whatever the strides: the gradient reads it there. */
#include "libs/cudnn/dropout.h"

#include <stdlib.h>
#include <string.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"

#define PART (1 << 15) /* elements of a part: whole bytes of bits */

struct dropping {
    struct mr_tensor x, y;
    const void *x_at;
    void *y_at;
    uint8_t *kept;
    struct mr_dropout_states *states; /* NULL: the bits are there already */
    double p;
    int64_t count;
    struct mr_rows rows;
};

/* What the elements are multiplied with; `line` elements from `index`, which lie in one row. */
static void scale(const struct dropping *d, int64_t index, int64_t line, double *x)
{
    double factor = d->p < 1 ? 1 / (1 - d->p) : 0;
    for (int64_t i = 0; i < line; i++)
        x[i] = d->kept[(index + i) / 8] >> (index + i) % 8 & 1 ? x[i] * factor : 0;
}

static void draw(const struct dropping *d, int64_t begin, int64_t end)
{
    memset(d->kept + begin / 8, 0, (size_t)(end - begin + 7) / 8);
    for (int64_t i = begin; i < end; i++)
        if (mr_dropout_keeps(d->states, (uint64_t)i, d->p))
            d->kept[i / 8] |= (uint8_t)(1 << i % 8);
}

static void run(void *record, uint64_t first, uint64_t end)
{
    const struct dropping *d = record;
    double line[MR_LINE];
    int64_t length = d->rows.length, from_x = mr_rows_stride(&d->rows, &d->x), from_y = mr_rows_stride(&d->rows, &d->y);
    int64_t last = (int64_t)end * PART < d->count ? (int64_t)end * PART : d->count, index = (int64_t)first * PART;
    if (d->states)
        draw(d, index, last);
    for (int64_t some; index < last; index += some) {
        int64_t row = index / length, in = index % length;
        some = length - in < last - index ? length - in : last - index;
        some = some < MR_LINE ? some : MR_LINE;
        mr_line_load(d->x.type, d->x_at, mr_rows_at(&d->rows, &d->x, row) + in * from_x, from_x, some, true, line);
        scale(d, index, some, line);
        mr_line_store(d->y.type, d->y_at, mr_rows_at(&d->rows, &d->y, row) + in * from_y, from_y, some, true, line);
    }
}

/* The states are moved on. */
static void run_on(void *record, uint64_t first, uint64_t end)
{
    const struct dropping *d = record;
    (void)first, (void)end;
    d->states->drawn += (uint64_t)d->count;
}

static cudnnStatus_t submit(const struct mr_form *form, cudnnHandle_t handle, struct dropping *d,
                            const struct cudnnDropoutStruct *dropout, size_t bytes)
{
    MR_WANT(d->x.n && mr_tensor_same(&d->x, &d->y), CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    MR_WANT(d->x_at && d->y_at && d->kept, CUDNN_STATUS_BAD_PARAM, "an address is NULL");
    d->count = mr_tensor_count(&d->x);
    MR_WANT(bytes >= (size_t)(d->count + 7) / 8, CUDNN_STATUS_BAD_PARAM,
            "the reserve space has %zu bytes, wanted are %zu", bytes, (size_t)(d->count + 7) / 8);
    d->p = (double)dropout->p;
    mr_tensors_join((struct mr_tensor *[]){&d->x, &d->y}, 2);
    d->rows = mr_rows_of(&d->x, d->x.n - 1);
    return mr_dnn_submit(form->name, handle, mr_parts_of((uint64_t)d->count, PART), run, d, sizeof *d);
}

cudnnStatus_t mr_cudnn_DropoutForward(const struct mr_form *form, cudnnHandle_t handle,
                                      const cudnnDropoutDescriptor_t dropoutDesc, const cudnnTensorDescriptor_t xdesc,
                                      const void *x, const cudnnTensorDescriptor_t ydesc, void *y, void *reserveSpace,
                                      size_t reserveSpaceSizeInBytes)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(dropoutDesc);
    MR_POINTER(xdesc);
    MR_POINTER(ydesc);
    static struct mr_dropout_states none; /* nothing is dropped: which numbers are drawn has no effect */
    MR_WANT(dropoutDesc->states || dropoutDesc->p == 0, CUDNN_STATUS_BAD_PARAM, "the descriptor has no states");
    struct dropping d = {.x = xdesc->t,
                         .y = ydesc->t,
                         .x_at = x,
                         .y_at = y,
                         .kept = reserveSpace,
                         .states = dropoutDesc->states ? dropoutDesc->states : &none};
    MR_STEP(submit(form, handle, &d, dropoutDesc, reserveSpaceSizeInBytes));
    return dropoutDesc->states ? mr_dnn_submit(form->name, handle, 1, run_on, &d, sizeof d) : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DropoutBackward(const struct mr_form *form, cudnnHandle_t handle,
                                       const cudnnDropoutDescriptor_t dropoutDesc, const cudnnTensorDescriptor_t dydesc,
                                       const void *dy, const cudnnTensorDescriptor_t dxdesc, void *dx,
                                       void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(dropoutDesc);
    MR_POINTER(dydesc);
    MR_POINTER(dxdesc);
    struct dropping d = {.x = dydesc->t, .y = dxdesc->t, .x_at = dy, .y_at = dx, .kept = reserveSpace};
    return submit(form, handle, &d, dropoutDesc, reserveSpaceSizeInBytes);
}

/* ---- descriptors ---- */

cudnnStatus_t mr_cudnn_CreateDropoutDescriptor(const struct mr_form *form, cudnnDropoutDescriptor_t *dropoutDesc)
{
    MR_POINTER(dropoutDesc);
    *dropoutDesc = calloc(1, sizeof **dropoutDesc);
    MR_WANT(*dropoutDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyDropoutDescriptor(const struct mr_form *form, cudnnDropoutDescriptor_t dropoutDesc)
{
    (void)form;
    free(dropoutDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DropoutGetStatesSize(const struct mr_form *form, cudnnHandle_t handle, size_t *sizeInBytes)
{
    MR_POINTER(handle);
    MR_POINTER(sizeInBytes);
    *sizeInBytes = sizeof(struct mr_dropout_states);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DropoutGetReserveSpaceSize(const struct mr_form *form, cudnnTensorDescriptor_t xdesc,
                                                  size_t *sizeInBytes)
{
    MR_POINTER(xdesc);
    MR_POINTER(sizeInBytes);
    *sizeInBytes = (size_t)(mr_tensor_count(&xdesc->t) + 7) / 8;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t take(const struct mr_form *form, cudnnDropoutDescriptor_t dropout, float p, void *states,
                          size_t bytes, unsigned long long seed)
{
    MR_POINTER(dropout);
    MR_WANT(!states || bytes >= sizeof(struct mr_dropout_states), CUDNN_STATUS_BAD_PARAM,
            "the states have %zu bytes, wanted are %zu", bytes, sizeof(struct mr_dropout_states));
    *dropout = (struct cudnnDropoutStruct){p, states, seed};
    return CUDNN_STATUS_SUCCESS;
}

struct seeding {
    struct mr_dropout_states *states, value;
};

static void run_seed(void *record, uint64_t first, uint64_t end)
{
    const struct seeding *s = record;
    (void)first, (void)end;
    *s->states = s->value;
}

cudnnStatus_t mr_cudnn_SetDropoutDescriptor(const struct mr_form *form, cudnnDropoutDescriptor_t dropoutDesc,
                                            cudnnHandle_t handle, float dropout, void *states, size_t stateSizeInBytes,
                                            unsigned long long seed)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_STEP(take(form, dropoutDesc, dropout, states, stateSizeInBytes, seed));
    struct seeding s = {states, {seed, 0}};
    return states ? mr_dnn_submit(form->name, handle, 1, run_seed, &s, sizeof s) : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_RestoreDropoutDescriptor(const struct mr_form *form, cudnnDropoutDescriptor_t dropoutDesc,
                                                cudnnHandle_t handle, float dropout, void *states,
                                                size_t stateSizeInBytes, unsigned long long seed)
{
    MR_POINTER(handle);
    return take(form, dropoutDesc, dropout, states, stateSizeInBytes, seed);
}

cudnnStatus_t mr_cudnn_GetDropoutDescriptor(const struct mr_form *form, cudnnDropoutDescriptor_t dropoutDesc,
                                            cudnnHandle_t handle, void *dropout, void **states,
                                            unsigned long long *seed)
{
    MR_POINTER(dropoutDesc);
    MR_POINTER(handle);
    if (dropout)
        *(float *)dropout = dropoutDesc->p;
    if (states)
        *states = dropoutDesc->states;
    if (seed)
        *seed = dropoutDesc->seed;
    return CUDNN_STATUS_SUCCESS;
}
