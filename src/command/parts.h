/* SPDX-License-Identifier: Apache-2.0 */
/* Work in parts: what a library beside the driver, such as libcublas, puts into a stream. The library cuts it into
 * parts, which the engine shares out among its threads as it does the blocks of a grid. A command and any number of
 * graphs may have the same record: each holds a reference. */
#ifndef MR_COMMAND_PARTS_H
#define MR_COMMAND_PARTS_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that the work touches: `rows` runs of `width` bytes, `pitch` bytes apart. */
struct mr_parts_touch {
    uintptr_t first;
    size_t width, rows, pitch;
    unsigned how; /* MR_PARTS_READ, MR_PARTS_WRITE */
};

/* Adds a touch, for a function that tells when the work has run. */
typedef void mr_parts_add(void *touches, const struct mr_parts_touch *touch);

/* Tells what a work has touched that depends on numbers in memory, such as pointers and indices: reads them, and adds
 * touches. Called once the work has run, on the thread that ran its end; it may fault, and owns nothing. `given` is
 * what the library has left for it. */
#define MR_PARTS_GIVEN 6
typedef void mr_parts_late(const int64_t *given, mr_parts_add *add, void *touches);
enum {
    MR_PARTS_READ = 1,
    MR_PARTS_WRITE = 2,
    MR_PARTS_NAME = 4, /* no touch: the function's name alone, if nothing is told yet */
};

/* What a library tells of its work for observers (millrace_touch_part). */
struct mr_parts_told {
    const char *function; /* the library's, as it names it; NULL: it tells nothing */
    struct mr_parts_tells {
        struct mr_parts_touch touch;
        mr_parts_late *late; /* tells in place of `touch`; or NULL */
        int64_t given[MR_PARTS_GIVEN];
    } *touches;
    size_t count, room;
    bool lost; /* memory was short for some */
};

struct mr_parts {
    _Atomic uint32_t references;
    uint64_t count;
    void (*run)(void *data, uint64_t first, uint64_t end); /* parts first to end - 1; in any order, on any threads */
    void (*release)(void *data); /* gives up `data`, which the record owns; may be NULL */
    void *data;
    struct mr_parts_told told; /* owned */
};

/* A record with one reference that owns `data`; NULL when memory is short, and then the caller still does. */
struct mr_parts *mr_parts_new(uint64_t count, void (*run)(void *data, uint64_t first, uint64_t end),
                              void (*release)(void *data), void *data) __attribute__((warn_unused_result));
void mr_parts_hold(struct mr_parts *parts);

/* The last drop releases the data. NULL is allowed. Any thread. */
void mr_parts_drop(struct mr_parts *parts);

/* All parts one after the other, as a host function (CUhostFn) whose data is the record. */
void CUDA_CB mr_parts_run_all(void *parts);

/* What this thread has told of the work that it is about to submit, for the caller, who frees `touches`. */
struct mr_parts_told mr_parts_take_told(void);

/* Adds to that; without a function it is forgotten. Memory that is short is as if the library told nothing. */
void mr_parts_tell(const char *function, const struct mr_parts_tells *tells);

/* Only names the function, unless something is told already. */
void mr_parts_name(const char *function);

/* How parts that the calling thread has run have ended: `status` if that is a failure, else what one of them has said
 * by millrace_fail_part since the last time, else success. */
CUresult mr_parts_ended(CUresult status) __attribute__((warn_unused_result));

/* Private, for Millrace's libraries of mathematics (src/libs/math/) and what runs PyTorch's operators
 * (lib/python/millrace_torch/): puts work in parts at the end of a stream, or into
 * the graph to which the stream is captured, as a host node. No part may call the driver. A part that faults fails the
 * context as a kernel does. `data` goes to the driver on success alone; it is released once the work has run, or the
 * last graph with it has gone. Any thread. CUDA_ERROR_INVALID_VALUE for no parts or no function, and as
 * cuLaunchHostFunc. */
__attribute__((visibility("default"))) CUresult millrace_submit_parts(CUstream stream, uint64_t count,
                                                                      void (*run)(void *data, uint64_t first,
                                                                                  uint64_t end),
                                                                      void (*release)(void *data), void *data);

/* Private as well, for observers: the work that this thread submits next is done by this function of the library, whose
 * name stays, and touches this memory (mr_parts_touch). A library tells all that its work touches for certain, or
 * nothing. With MR_PARTS_NAME alone the function has its name and touches what nobody knows. False: nobody wants to
 * know what is touched. Without a function, what was told since the last work is forgotten. */
__attribute__((visibility("default"))) bool millrace_touch_part(const char *function, const void *first, size_t width,
                                                                size_t rows, size_t pitch, unsigned how);

/* The same by a function that is called when the work has run. */
__attribute__((visibility("default"))) bool millrace_touch_late(const char *function, mr_parts_late *late,
                                                                const int64_t *given);

/* Private as well: the part that the calling thread runs could not do its work. Its context fails with this status. */
__attribute__((visibility("default"))) void millrace_fail_part(CUresult status);

#endif
