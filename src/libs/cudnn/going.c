/* SPDX-License-Identifier: Apache-2.0 */
/* What operations of a graph find and do while a plan is gone through. */
#include "libs/cudnn/going.h"

#include <stdlib.h>
#include <string.h>

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

struct mr_place *mr_place_of(const struct mr_plan *plan, int64_t uid)
{
    for (int64_t i = 0; i < plan->placed; i++)
        if (plan->places[i].uid == uid)
            return &plan->places[i];
    return NULL;
}

void *mr_given_place(const struct mr_descriptor *pack, int64_t uid)
{
    const struct mr_attribute *uids = mr_attribute_of(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const struct mr_attribute *pointers = mr_attribute_of(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (int64_t i = 0; uids && pointers && i < uids->count && i < pointers->count; i++)
        if (((const int64_t *)uids->elements)[i] == uid)
            return ((void *const *)pointers->elements)[i];
    return NULL;
}

cudnnStatus_t mr_going_tensor(struct mr_going *going, const struct mr_descriptor *d, struct mr_tensor *t, void **at)
{
    *at = NULL;
    if (d->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR)
        return mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM, "a descriptor of type %d is no tensor",
                          (int)d->type);
    *t = mr_backend_tensor(d);
    if (!going->pack)
        return CUDNN_STATUS_SUCCESS;
    int64_t uid = mr_attribute_number(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
    const struct mr_place *place = mr_place_of(going->plan, uid);
    *at = place ? going->workspace + place->at : mr_given_place(going->pack, uid);
    if (!*at)
        return mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM, "the variant pack has no tensor %lld",
                          (long long)uid);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_going_value(struct mr_going *going, const struct mr_descriptor *d, double *number)
{
    *number = 0;
    if (!mr_attribute_number(d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0))
        return mr_dnn_bad(going->function, CUDNN_STATUS_NOT_SUPPORTED, "a parameter that is not given by value");
    const void *at =
        going->pack ? mr_given_place(going->pack, mr_attribute_number(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0)) : number;
    if (!at)
        return mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM, "the variant pack lacks a value");
    if (going->pack)
        mr_line_load((cudnnDataType_t)mr_attribute_number(d, CUDNN_ATTR_TENSOR_DATA_TYPE, 0), at, 0, 1, 1, true,
                     number);
    return CUDNN_STATUS_SUCCESS;
}

void *mr_going_space(struct mr_going *going, size_t bytes)
{
    if (bytes > going->most)
        going->most = bytes;
    return going->workspace ? going->workspace + going->base : NULL;
}

/* A record with the block that it uses. */
struct held {
    struct mr_block *block;
    void (*run)(void *, uint64_t, uint64_t);
    _Alignas(64) unsigned char record[];
};

static void run_held(void *data, uint64_t first, uint64_t end)
{
    struct held *held = data;
    held->run(held->record, first, end);
}

static void release_held(void *data)
{
    struct held *held = data;
    mr_block_drop(held->block);
    free(held);
}

cudnnStatus_t mr_going_submit(struct mr_going *going, uint64_t parts, void (*run)(void *, uint64_t, uint64_t),
                              const void *record, size_t size)
{
    if (!going->pack || parts == 0)
        return CUDNN_STATUS_SUCCESS;
    struct held *held = aligned_alloc(64, aligned(sizeof *held + size));
    if (!held)
        return mr_dnn_bad(going->function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    held->block = mr_block_keep(going->block);
    held->run = run;
    memcpy(held->record, record, size);
    CUresult result = mr_math_submit_own(going->handle->stream, parts, run_held, release_held, held);
    if (result == CUDA_SUCCESS)
        return CUDNN_STATUS_SUCCESS;
    release_held(held);
    return mr_dnn_bad(going->function, CUDNN_STATUS_EXECUTION_FAILED, "the driver answers %d", (int)result);
}

cudnnStatus_t mr_going_take(struct mr_going *going, const struct mr_descriptor *op, cudnnBackendAttributeName_t name,
                            struct mr_tensor *t, void **at)
{
    const struct mr_descriptor *d = mr_attribute_descriptor(op, name);
    if (!d)
        return mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM, "attribute %d of an operation is not set",
                          (int)name);
    return mr_going_tensor(going, d, t, at);
}

void mr_going_integers(const struct mr_descriptor *d, cudnnBackendAttributeName_t name, int count, int64_t otherwise,
                       int64_t *to)
{
    const struct mr_attribute *a = mr_attribute_of(d, name);
    for (int i = 0; i < count; i++)
        to[i] = a && i < a->count ? ((const int64_t *)a->elements)[i] : otherwise;
}
