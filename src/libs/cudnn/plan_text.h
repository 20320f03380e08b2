/* SPDX-License-Identifier: Apache-2.0 */
/* Execution plans as text, for programs that keep plans or hand them on, as XLA does. */
#ifndef MR_CUDNN_PLAN_TEXT_H
#define MR_CUDNN_PLAN_TEXT_H

#include "libs/cudnn/backend.h"

/* The plan's engine configuration, with all descriptors that it leads to, as JSON: a string that the caller frees, or
 * NULL if memory is short. */
char *mr_plan_text(const struct mr_descriptor *plan) __attribute__((warn_unused_result));

/* What a descriptor is made of: the functions of the program's interface, with all their checks. */
struct mr_plan_maker {
    const char *function; /* for messages */
    const void *data;
    cudnnStatus_t (*create)(const void *data, cudnnBackendDescriptorType_t type, struct mr_descriptor **made);
    cudnnStatus_t (*set)(const void *data, struct mr_descriptor *d, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t count, const void *elements);
    cudnnStatus_t (*finalize)(const void *data, struct mr_descriptor *d);
};

/* Makes the engine configuration again: with one reference, the caller's. BAD_PARAM, with a line in the log, for text
 * that mr_plan_text did not write; the text may hold anything. */
cudnnStatus_t mr_plan_of_text(const struct mr_plan_maker *maker, const char *text, size_t length,
                              struct mr_descriptor **config) __attribute__((warn_unused_result));

#endif
