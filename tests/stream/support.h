/* SPDX-License-Identifier: Apache-2.0 */
/* What the stream tests share: contexts, gates that hold a stream up, and launches whose "machine code" is a C
 * function.
 *
 * The tests are linked with the driver itself, not with libcuda.so.1, so that they may look inside and hand commands to
 * streams. Nothing here waits for time to pass: a gate is open or closed, and everything else is waited for by its own
 * means. */
#ifndef TESTS_STREAM_SUPPORT_H
#define TESTS_STREAM_SUPPORT_H

#include <cuda.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command/command.h"
#include "compile/compile.h"
#include "engine/engine.h"
#include "kernel/launch.h"
#include "object/context.h"
#include "stream/stream.h"

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, status) assert_int_equal(call, status)

__attribute__((unused)) static CUcontext the_context;

/* Group fixtures: a context that is current. */
__attribute__((unused)) static int support_begin(void **state)
{
    CUdevice device;
    (void)state;
    return cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
                   cuCtxCreate_v2(&the_context, 0, device) == CUDA_SUCCESS
               ? 0
               : -1;
}

__attribute__((unused)) static int support_end(void **state)
{
    (void)state;
    return cuCtxDestroy(the_context) == CUDA_SUCCESS ? 0 : -1;
}

/* ---- gates ---- */

struct gate {
    _Atomic int entered, open;
};

__attribute__((unused)) static void CUDA_CB gate_wait(void *data)
{
    struct gate *gate = data;
    atomic_fetch_add(&gate->entered, 1);
    while (!atomic_load(&gate->open))
        sched_yield();
}

/* Holds the stream up until gate_open. The gate outlives the work behind it. */
static inline void gate_put(struct gate *gate, CUstream stream)
{
    atomic_store(&gate->open, 0);
    atomic_store(&gate->entered, 0);
    OK(cuLaunchHostFunc(stream, gate_wait, gate));
}

static inline void gate_open(struct gate *gate)
{
    atomic_store(&gate->open, 1);
}

static inline CUstream new_stream(unsigned flags)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, flags));
    return stream;
}

static inline CUevent new_event(unsigned flags)
{
    CUevent event;
    OK(cuEventCreate(&event, flags));
    return event;
}

__attribute__((unused)) static struct mr_stream *inside(CUstream handle)
{
    struct mr_stream *stream;
    OK(mr_stream_find(handle, &stream));
    return stream;
}

/* ---- launches of C functions ---- */

/* A launch of `blocks` blocks of one thread; `data` is the kernel's only parameter, read with kernel_data. */
__attribute__((unused)) static CUresult launch(CUstream handle, const struct mr_code *code, unsigned blocks, void *data)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_launch *made = mr_launch_new(sizeof data);
    struct mr_command *command = mr_command_new(MR_COMMAND_LAUNCH);
    if (!made || !command) {
        if (made)
            mr_launch_free(made);
        if (command)
            mr_command_free(command);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->code = code;
    made->context = mr_stream_context(stream);
    for (int i = 0; i < 3; i++)
        made->grid[i] = made->block[i] = 1;
    made->grid[0] = blocks;
    memcpy(made->params, &data, sizeof data);
    command->launch = made;
    return mr_stream_submit(stream, command);
}

static inline void *kernel_data(const struct mr_block *block)
{
    void *data;
    memcpy(&data, block->params, sizeof data);
    return data;
}

/* Adds one to an _Atomic int. */
__attribute__((unused)) static void kernel_count(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    atomic_fetch_add((_Atomic int *)kernel_data(block), 1);
}

__attribute__((unused)) static const struct mr_code code_count = {.function = kernel_count, .stack_bytes = 16384};

/* A kernel that spins until the gate opens, as generated code does: it yields now and then. */
__attribute__((unused)) static void kernel_spin(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct gate *gate = kernel_data(block);
    atomic_fetch_add(&gate->entered, 1);
    while (!atomic_load(&gate->open))
        block->runtime->yield(block);
}

__attribute__((unused)) static const struct mr_code code_spin = {
    .function = kernel_spin, .flags = MR_CODE_COOPERATIVE | MR_CODE_WAITS, .stack_bytes = 16384};

/* A kernel that spins without ever yielding: nothing in it tells the engine that it waits. */
__attribute__((unused)) static void kernel_spin_deaf(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct gate *gate = kernel_data(block);
    atomic_fetch_add(&gate->entered, 1);
    while (!atomic_load(&gate->open))
        sched_yield();
}

__attribute__((unused)) static const struct mr_code code_spin_deaf = {.function = kernel_spin_deaf,
                                                                      .stack_bytes = 16384};

#endif
