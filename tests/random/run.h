/* SPDX-License-Identifier: Apache-2.0 */
/* A program while it runs: what its names stand for. */
#ifndef RANDOM_RUN_H
#define RANDOM_RUN_H

#include <cuda.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#ifdef RANDOM_RUNTIME
#include "by_runtime.h"
#endif
#include "program.h"

/* What a host function is told; kept until the program is over. */
struct call {
    struct call *next;
    uint32_t *to;
    const uint32_t *from;
    struct range to_range, from_range;
    int words;
    uint32_t factor, salt, delay;
};

/* An executable graph, and the graph that it came from (only if that was made by hand), whose nodes name what is to be
 * changed. */
struct exec {
    CUgraphExec exec;
    CUgraph graph;
    CUgraphNode node[NODES];
};

/* A device's part of libraries.c; the context is current. False if memory is short. */
bool run_libraries_begin(int device);

/* Work of FORM_LIBRARY; ranges by address, `count` words. */
CUresult run_library(const struct op *op, CUstream stream, int device, CUdeviceptr to, CUdeviceptr from,
                     CUdeviceptr with, int count);

struct run {
    const struct program *program;
    bool loud;
    _Atomic int failures;
    CUdeviceptr buffer[BUFFERS];
    uint8_t place[BUFFERS], home[BUFFERS]; /* home: the device */
    CUevent event[EVENTS][DEVICES];
    uint8_t recorded[EVENTS];          /* on which device last */
    CUstream stream[STREAMS];
    uint8_t device[STREAMS];
    struct exec exec[EXECS];
    uint32_t *flags;                   /* pinned; a word for each flag */
    _Atomic uint32_t posted[POSTS];    /* streams are released */
    sem_t told[POSTS];                 /* by one thread to another; observers see semaphores */
    _Atomic(struct call *) calls;
    _Atomic int at[THREADS];           /* which operation each thread is at, for the watchdog */
};

extern bool run_saw[OPS];               /* which queries of the program that was run last said that all is done */
extern bool run_in_turn; /* an operation begins when the one before it in the program is back, on whatever thread */
extern struct run *run_current;         /* what is being run, for the watchdog */
extern CUcontext run_context[DEVICES];
extern CUfunction run_kernel[DEVICES][3];

/* Makes a device's context current. */
void run_use(int device);

/* Allocations of the driver that are made to fail, in so many of a hundred calls; 0 without a driver that is linked
 * statically (see meson.build). */
extern unsigned run_scarce;
extern _Atomic unsigned long run_scarce_failures;
bool run_can_be_scarce(void);
uint64_t run_live_allocations(void);

/* Calls from places of their own (places.c), for programs with a number: 1 for the first; 0: all from the same place.
 */
enum { RUN_PLACES_PROGRAMS = 16 * 16 * 16 * 16 * 16 / OPS };
typedef CUresult run_step(struct run *run, int index);
extern unsigned run_program_number;
void run_tell_places(void);
CUresult run_from_place(run_step *step, struct run *run, int index);

/* Notes a failed call or a difference. */
void run_fail(struct run *run, int index, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* True if the status is success; else it is noted. */
bool run_ok(struct run *run, int index, const char *call, CUresult status);

CUdeviceptr run_address(const struct run *run, struct range range);

/* Work as the node of a graph, or in a stream. */
struct call *run_call(struct run *run, const struct op *op);
void CUDA_CB run_host(void *data);
CUresult run_work(struct run *run, const struct op *op, CUstream stream, int device);

/* The parameters of a kernel, with the pointers that a launch wants. */
struct kernel_values {
    CUdeviceptr to, from, with;
    unsigned count, factor, salt, spin, block, grid;
    void *pointers[7];
};
void run_values(const struct run *run, const struct op *op, struct kernel_values *values);

/* A context that is synchronised takes a capture in another thread with it: held around both. */
void run_capture_lock(void);
void run_capture_unlock(void);

CUresult run_graph_make(struct run *run, const struct op *op);
CUresult run_graph_update(struct run *run, const struct op *op);
void run_graph_end(struct exec *exec);

#endif
