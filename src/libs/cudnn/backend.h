/* SPDX-License-Identifier: Apache-2.0 */
/* Backend descriptors: what a graph is described with. A descriptor is a list of attributes, each with a name and
 * elements: numbers, or other descriptors, to which it holds references. Once it is finalized a descriptor doesn't
 * change any more, so any thread may read it. */
#ifndef MR_CUDNN_BACKEND_H
#define MR_CUDNN_BACKEND_H

#include "libs/cudnn/tensor.h"

struct mr_attribute {
    struct mr_attribute *next;
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t count;
    void *elements; /* descriptors among them: each with a reference */
};

struct mr_plan; /* going.h */

struct mr_descriptor {
    cudnnBackendDescriptorType_t type;
    bool is_final;
    unsigned references; /* atomic */
    struct mr_attribute *attributes;
    struct mr_plan *plan; /* of an execution plan that is final */
    void (*end_plan)(struct mr_plan *plan); /* NULL: there is no plan */
};

/* One reference less; NULL is left alone. */
void mr_descriptor_drop(struct mr_descriptor *d);

/* Bytes of an element; 0 for types that don't exist. */
size_t mr_attribute_size(cudnnBackendAttributeType_t type);

/* Sets the attribute to a copy of the elements, in place of what it was. False: memory is short. */
bool mr_attribute_put(struct mr_descriptor *d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      int64_t count, const void *elements);

/* The attribute, or NULL if it was not set. */
const struct mr_attribute *mr_attribute_of(const struct mr_descriptor *d, cudnnBackendAttributeName_t name);

/* The first element; of integers, enumerations and descriptors; 0 or NULL if it was not set. */
int64_t mr_attribute_number(const struct mr_descriptor *d, cudnnBackendAttributeName_t name, int64_t otherwise);
double mr_attribute_factor(const struct mr_descriptor *d, cudnnBackendAttributeName_t name, double otherwise);
struct mr_descriptor *mr_attribute_descriptor(const struct mr_descriptor *d, cudnnBackendAttributeName_t name);

/* The operations of a plan's graph: from its engine configuration, its engine, its graph. */
const struct mr_attribute *mr_plan_operations(const struct mr_descriptor *plan);

/* A tensor's descriptor as a tensor. A virtual tensor whose strides would put two elements into one place is packed:
 * only the graph's operations see it, and attention's gradients have one. */
struct mr_tensor mr_backend_tensor(const struct mr_descriptor *d);

#endif
