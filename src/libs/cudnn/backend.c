/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors and their attributes. */
#include "libs/cudnn/backend.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

size_t mr_attribute_size(cudnnBackendAttributeType_t type)
{
    switch ((int)type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
        return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return 8;
    case CUDNN_TYPE_FRACTION:
        return sizeof(cudnnFraction_t);
    default:
        return type <= CUDNN_TYPE_OPERATIONGRAPH_MODE ? 4 : 0;
    }
}

const struct mr_attribute *mr_attribute_of(const struct mr_descriptor *d, cudnnBackendAttributeName_t name)
{
    for (const struct mr_attribute *a = d ? d->attributes : NULL; a; a = a->next)
        if (a->name == name && a->count > 0)
            return a;
    return NULL;
}

int64_t mr_attribute_number(const struct mr_descriptor *d, cudnnBackendAttributeName_t name, int64_t otherwise)
{
    const struct mr_attribute *a = mr_attribute_of(d, name);
    if (!a)
        return otherwise;
    switch (mr_attribute_size(a->type)) {
    case 1:
        return *(const unsigned char *)a->elements;
    case 4:
        return *(const int32_t *)a->elements;
    default:
        return *(const int64_t *)a->elements;
    }
}

double mr_attribute_factor(const struct mr_descriptor *d, cudnnBackendAttributeName_t name, double otherwise)
{
    const struct mr_attribute *a = mr_attribute_of(d, name);
    if (!a)
        return otherwise;
    if (a->type == CUDNN_TYPE_FLOAT)
        return (double)*(const float *)a->elements;
    return a->type == CUDNN_TYPE_DOUBLE ? *(const double *)a->elements : otherwise;
}

struct mr_descriptor *mr_attribute_descriptor(const struct mr_descriptor *d, cudnnBackendAttributeName_t name)
{
    const struct mr_attribute *a = mr_attribute_of(d, name);
    return a && a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR ? *(struct mr_descriptor *const *)a->elements : NULL;
}

static struct mr_descriptor *keep(struct mr_descriptor *d)
{
    if (d)
        __atomic_add_fetch(&d->references, 1, __ATOMIC_RELAXED);
    return d;
}

static void attribute_end(struct mr_attribute *a)
{
    for (int64_t i = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < a->count; i++)
        mr_descriptor_drop(((struct mr_descriptor **)a->elements)[i]);
    free(a->elements);
    free(a);
}

void mr_descriptor_drop(struct mr_descriptor *d)
{
    if (!d || __atomic_sub_fetch(&d->references, 1, __ATOMIC_ACQ_REL))
        return;
    if (d->end_plan)
        d->end_plan(d->plan);
    while (d->attributes) {
        struct mr_attribute *a = d->attributes;
        d->attributes = a->next;
        attribute_end(a);
    }
    free(d);
}

bool mr_attribute_put(struct mr_descriptor *d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      int64_t count, const void *elements)
{
    struct mr_attribute *a = calloc(1, sizeof *a);
    size_t bytes = (size_t)count * mr_attribute_size(type);
    if (!a || !(a->elements = calloc(1, bytes ? bytes : 1))) {
        free(a);
        return false;
    }
    a->name = name;
    a->type = type;
    a->count = count;
    if (bytes)
        memcpy(a->elements, elements, bytes);
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; i++)
        keep(((struct mr_descriptor **)a->elements)[i]);
    for (struct mr_attribute **at = &d->attributes; *at; at = &(*at)->next)
        if ((*at)->name == name) {
            struct mr_attribute *old = *at;
            *at = old->next;
            attribute_end(old);
            break;
        }
    a->next = d->attributes;
    d->attributes = a;
    return true;
}

/* Whether two elements of the tensor may lie in one place. */
static bool overlaps(const struct mr_tensor *t)
{
    bool seen[CUDNN_DIM_MAX] = {false};
    int64_t reach = 0; /* how far the dimensions with smaller strides lead */
    for (int turn = 0; turn < t->n; turn++) {
        int next = -1;
        for (int i = 0; i < t->n; i++)
            if (!seen[i] && (next < 0 || t->stride[i] < t->stride[next]))
                next = i;
        seen[next] = true;
        if (t->dim[next] == 1)
            continue;
        if (t->stride[next] <= reach)
            return true;
        reach += (t->dim[next] - 1) * t->stride[next];
    }
    return false;
}

struct mr_tensor mr_backend_tensor(const struct mr_descriptor *d)
{
    const struct mr_attribute *dims = mr_attribute_of(d, CUDNN_ATTR_TENSOR_DIMENSIONS);
    const struct mr_attribute *strides = mr_attribute_of(d, CUDNN_ATTR_TENSOR_STRIDES);
    struct mr_tensor t = {.type = (cudnnDataType_t)mr_attribute_number(d, CUDNN_ATTR_TENSOR_DATA_TYPE, 0),
                          .n = (int)dims->count};
    for (int i = 0; i < t.n; i++) {
        t.dim[i] = ((const int64_t *)dims->elements)[i];
        t.stride[i] = ((const int64_t *)strides->elements)[i];
    }
    if (mr_attribute_number(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) && mr_tensor_fits(&t) && overlaps(&t))
        mr_tensor_pack(&t, false);
    return t;
}

const struct mr_attribute *mr_plan_operations(const struct mr_descriptor *plan)
{
    struct mr_descriptor *config = mr_attribute_descriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    struct mr_descriptor *engine = mr_attribute_descriptor(config, CUDNN_ATTR_ENGINECFG_ENGINE);
    return mr_attribute_of(mr_attribute_descriptor(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH),
                           CUDNN_ATTR_OPERATIONGRAPH_OPS);
}
