/* SPDX-License-Identifier: Apache-2.0 */
/* A launch: everything that the engine needs to run a grid. Built by the API, owned by its command. */
#ifndef MR_KERNEL_LAUNCH_H
#define MR_KERNEL_LAUNCH_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"

struct mr_code;
struct mr_context;
struct mr_module;

/* What waits in a stream for each launch: kept small, 80 bytes and the parameters. */
struct mr_launch {
    const struct mr_code *code;
    struct mr_module *module;          /* counted: keeps code and variables alive while the launch runs */
    struct mr_context *context;        /* borrowed: gets the sticky error of a fault */
    const uintptr_t *symbols;
    uint64_t id;                       /* %gridid: unique over the process */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared, dynamic_offset, shared_size;
    uint16_t param_bytes;
    uint8_t room;                      /* size class of the record; launch.c's own */
    bool cooperative;                  /* its blocks may wait for each other: mr_launch_run_together runs them */
    _Alignas(16) unsigned char params[];
};

/* A launch with room for `param_bytes` of parameters (at most 65535), zeroed; NULL when memory is short. From a
 * per-thread cache: cheap. */
struct mr_launch *mr_launch_new(size_t param_bytes) __attribute__((warn_unused_result));
void mr_launch_free(struct mr_launch *launch);   /* drops the module too */
uint64_t mr_launch_module(const struct mr_launch *launch); /* its module's number for observers; 0: it has none */

/* A copy to run by itself, with a reference to the module of its own; NULL when memory is short. */
struct mr_launch *mr_launch_copy(const struct mr_launch *launch) __attribute__((warn_unused_result));

/* A new %gridid, for a record that runs again. */
void mr_launch_renew(struct mr_launch *launch);

/* Set by the engine at start-up: called now and then while a block can only wait for what other blocks or streams do;
 * `left`: since the latest call, lanes have left a loop that waits. */
extern void (*mr_engine_note_waiting)(bool left);

/* Set once, before any launch: gives a conditional handle a value; false if no run of its graph goes on. Called inside
 * kernels: takes no lock. */
extern bool (*mr_kernel_set_conditional)(uint64_t handle, uint32_t value);

/* Runs blocks [first, end) of the grid in linear order on the calling thread. Returns CUDA_SUCCESS or the fault's
 * status (context already failed then). `worker` is a small number unique among threads that run at this time. Called
 * by the engine only. */
CUresult mr_launch_run_blocks(struct mr_launch *launch, uint64_t first, uint64_t end, unsigned worker)
    __attribute__((warn_unused_result));

/* Where the threads that run a cooperative launch get its blocks from. */
struct mr_block_source {
    bool (*take)(void *data, uint64_t *index); /* the number of a block that no thread has yet; false when none is left.
                                                  Called by all these threads */
    void *data;
    struct mr_grid_workspace *workspace; /* of the launch; all zero except for its size before the first block runs */
};

/* Runs blocks of a cooperative launch by turns on the calling thread, taking another whenever all that it has can only
 * wait, until the source is empty and its blocks have ended. Any number of threads, one included, gets all blocks going
 * at the same time. Otherwise as above. */
CUresult mr_launch_run_together(struct mr_launch *launch, const struct mr_block_source *source, unsigned worker)
    __attribute__((warn_unused_result));

#endif
