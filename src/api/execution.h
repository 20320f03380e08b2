/* SPDX-License-Identifier: Apache-2.0 */
/* One launch, however it was asked for: the public entry points in execution.c and execution_old.c fill this in. */
#ifndef MR_API_EXECUTION_H
#define MR_API_EXECUTION_H

#include <cuda.h>
#include <stddef.h>

struct mr_launch_request {
    const char *entry;             /* the entry point, for the log */
    CUfunction function;           /* or a CUkernel cast to one */
    CUstream stream;
    unsigned grid[3], block[3];
    unsigned shared;               /* dynamic shared memory, bytes */
    void **params;                 /* a pointer to each parameter, or NULL */
    const void *buffer;            /* or all of them in one buffer, or NULL */
    size_t buffer_size;
};

/* Checks everything and queues the launch. Nothing of the request is used after the return. */
CUresult mr_execute(const struct mr_launch_request *request) __attribute__((warn_unused_result));

#endif
