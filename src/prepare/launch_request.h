/* SPDX-License-Identifier: Apache-2.0 */
/* One launch, however it was asked for, and the launch record (kernel/launch.h) that it becomes. The entry points fill
 * a request in; nothing of it is used after the call. */
#ifndef MR_PREPARE_LAUNCH_REQUEST_H
#define MR_PREPARE_LAUNCH_REQUEST_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

struct mr_launch_request {
    CUfunction function;           /* or a CUkernel cast to one */
    CUstream stream;
    unsigned grid[3], block[3];
    unsigned shared;               /* dynamic shared memory, bytes */
    void **params;                 /* a pointer to each parameter, or NULL */
    const void *buffer;            /* or all of them in one buffer, or NULL */
    size_t buffer_size;
    bool has_priority;             /* `priority` holds, in place of the stream's */
    int priority;                  /* moved into the range */
    const CUlaunchAttribute *attributes; /* as given, checked; for captures */
    size_t attribute_count;
    bool cooperative;              /* one of the attributes asks for all blocks together */
};

struct mr_context;
struct mr_entry;
struct mr_function;
struct mr_launch;

/* Checks everything except the stream and makes the launch, for `context`; NULL: the function's own, or the current one
 * for a kernel of a library. The caller owns the launch. *info is the entry's description, which lives as long as the
 * launch. */
CUresult mr_launch_prepare(const struct mr_launch_request *request, struct mr_context *context, struct mr_launch **out,
                           const struct mr_entry **info) __attribute__((warn_unused_result));

/* Can the function be launched in that shape, with that much dynamic shared memory? */
bool mr_launch_fits(const struct mr_launch_request *request, struct mr_function *function);

/* Whether attribute COOPERATIVE is among them, and set. */
bool mr_attributes_cooperative(const CUlaunchAttribute *attributes, size_t count);

/* Can a launch or a kernel node have this attribute? CUDA_ERROR_NOT_SUPPORTED for what demands something that there
 * isn't, CUDA_ERROR_INVALID_VALUE for unknown ones. */
CUresult mr_launch_attribute_check(const CUlaunchAttribute *attribute) __attribute__((warn_unused_result));

/* Reads the `extra` array, pairs of key and value up to CU_LAUNCH_PARAM_END, into the request; it may be NULL. */
CUresult mr_launch_read_extra(struct mr_launch_request *request, void **extra) __attribute__((warn_unused_result));

#endif
