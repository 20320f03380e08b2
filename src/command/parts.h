/* SPDX-License-Identifier: Apache-2.0 */
/* Work in parts: what a library beside the driver, such as libcublas, puts into a stream. The library cuts it into
 * parts, which the engine shares out among its threads as it does the blocks of a grid. A command and any number of
 * graphs may have the same record: each holds a reference. */
#ifndef MR_COMMAND_PARTS_H
#define MR_COMMAND_PARTS_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdint.h>

struct mr_parts {
    _Atomic uint32_t references;
    uint64_t count;
    void (*run)(void *data, uint64_t first, uint64_t end); /* parts first to end - 1; in any order, on any threads */
    void (*release)(void *data); /* gives up `data`, which the record owns; may be NULL */
    void *data;
};

/* A record with one reference that owns `data`; NULL when memory is short, and then the caller still does. */
struct mr_parts *mr_parts_new(uint64_t count, void (*run)(void *data, uint64_t first, uint64_t end),
                              void (*release)(void *data), void *data) __attribute__((warn_unused_result));
void mr_parts_hold(struct mr_parts *parts);

/* The last drop releases the data. NULL is allowed. Any thread. */
void mr_parts_drop(struct mr_parts *parts);

/* All parts one after the other, as a host function (CUhostFn) whose data is the record. */
void CUDA_CB mr_parts_run_all(void *parts);

/* How parts that the calling thread has run have ended: `status` if that is a failure, else what one of them has said
 * by millrace_fail_part since the last time, else success. */
CUresult mr_parts_ended(CUresult status) __attribute__((warn_unused_result));

/* Private, for Millrace's libraries of mathematics (src/libs/math/): puts work in parts at the end of a stream, or into
 * the graph to which the stream is captured, as a host node. No part may call the driver. A part that faults fails the
 * context as a kernel does. `data` goes to the driver on success alone; it is released once the work has run, or the
 * last graph with it has gone. Any thread. CUDA_ERROR_INVALID_VALUE for no parts or no function, and as
 * cuLaunchHostFunc. */
__attribute__((visibility("default"))) CUresult millrace_submit_parts(CUstream stream, uint64_t count,
                                                                      void (*run)(void *data, uint64_t first,
                                                                                  uint64_t end),
                                                                      void (*release)(void *data), void *data);

/* Private as well: the part that the calling thread runs could not do its work. Its context fails with this status. */
__attribute__((visibility("default"))) void millrace_fail_part(CUresult status);

#endif
