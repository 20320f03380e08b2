/* SPDX-License-Identifier: Apache-2.0 */
/* A launch: everything that the engine needs to run a grid. Built by the API, owned by its command. */
#ifndef MR_KERNEL_LAUNCH_H
#define MR_KERNEL_LAUNCH_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/abi.h"

struct mr_code;
struct mr_context;
struct mr_module;

struct mr_launch {
    const struct mr_code *code;
    struct mr_module *module;          /* counted: keeps code and variables alive while the launch runs */
    struct mr_context *context;        /* borrowed: gets the sticky error of a fault */
    const char *name;                  /* of the kernel, for the log; lives as long as the module */
    const uintptr_t *symbols;
    uint64_t id;                       /* %gridid: unique over the process */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared, dynamic_offset, shared_size;
    size_t param_bytes;
    unsigned char *params;             /* points into the same allocation, 16-byte aligned */
    unsigned room;                     /* size class of the allocation; launch.c's own */
    struct mr_launch *next_free;       /* launch.c's own */
};

/* A launch with room for `param_bytes` of parameters, zeroed; NULL when memory is short. From a per-thread cache: cheap. */
struct mr_launch *mr_launch_new(size_t param_bytes) __attribute__((warn_unused_result));
void mr_launch_free(struct mr_launch *launch);   /* drops the module too */

/* Runs blocks [first, end) of the grid in linear order on the calling thread. Returns CUDA_SUCCESS or the fault's status (context already failed then).
 * `worker` is a small number unique among threads that run at this time. Called by the engine only. */
extern void (*mr_engine_note_waiting)(void);   /* set by the engine at start-up: called when a block can only wait for what other blocks or streams do */
CUresult mr_launch_run_blocks(struct mr_launch *launch, uint64_t first, uint64_t end, unsigned worker) __attribute__((warn_unused_result));

#endif
