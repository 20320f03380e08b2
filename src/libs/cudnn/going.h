/* SPDX-License-Identifier: Apache-2.0 */
/* Going through a plan, from operation to operation: what an operation finds on the way, and how it submits its work.
 */
#ifndef MR_CUDNN_GOING_H
#define MR_CUDNN_GOING_H

#include "libs/cudnn/backend.h"
#include "libs/cudnn/block.h"

struct mr_place {
    int64_t uid;
    size_t at; /* bytes from the beginning of the plan's memory */
};

struct mr_plan {
    int64_t count;
    const struct mr_descriptor **operations; /* in the order in which they run */
    size_t bytes; /* of memory */
    size_t places_end; /* where the places end: what operations need for themselves lies behind */
    int64_t placed; /* how many places: of virtual tensors, and of those given by value */
    struct mr_place *places;
};

/* Going through a plan: to measure it (no variant pack), or to submit its work. */
struct mr_going {
    const char *function; /* for messages */
    const struct mr_plan *plan;
    const struct mr_descriptor *pack;
    cudnnHandle_t handle;
    struct mr_block *block; /* the work's memory, or NULL if it needs none; the records hold it */
    char *workspace; /* its bytes */
    size_t base; /* where in it an operation's own space begins */
    size_t most; /* bytes of that space: what the operation needs that needs most */
    cudnnStatus_t status;
};

/* The tensor of a descriptor, and where it is; NULL while measuring. */
cudnnStatus_t mr_going_tensor(struct mr_going *going, const struct mr_descriptor *d, struct mr_tensor *t, void **at)
    __attribute__((warn_unused_result));

/* Space of the operation's own, until it is done; NULL while measuring. */
void *mr_going_space(struct mr_going *going, size_t bytes);

/* Submits parts; nothing while measuring. */
cudnnStatus_t mr_going_submit(struct mr_going *going, uint64_t parts, void (*run)(void *, uint64_t, uint64_t),
                              const void *record, size_t size) __attribute__((warn_unused_result));

/* A number that the variant pack gives by value; 0 while measuring. NOT_SUPPORTED for one in device memory. */
cudnnStatus_t mr_going_value(struct mr_going *going, const struct mr_descriptor *d, double *number)
    __attribute__((warn_unused_result));

/* The tensor of an attribute of the operation. */
cudnnStatus_t mr_going_take(struct mr_going *going, const struct mr_descriptor *op, cudnnBackendAttributeName_t name,
                            struct mr_tensor *t, void **at) __attribute__((warn_unused_result));

/* Integers of an attribute, `count` of them; what isn't set is `otherwise`. */
void mr_going_integers(const struct mr_descriptor *d, cudnnBackendAttributeName_t name, int count, int64_t otherwise,
                       int64_t *to);

/* Where the tensor with that number lies in the work's memory, or NULL. */
struct mr_place *mr_place_of(const struct mr_plan *plan, int64_t uid);

/* What the variant pack says of the number: a place in device memory, or of a value; NULL if it lacks it. */
void *mr_given_place(const struct mr_descriptor *pack, int64_t uid);

#endif
