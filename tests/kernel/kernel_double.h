/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins that let tests run blocks without the rest of the driver: a context, and launches whose "generated code" is
 * a C function.
 *
 * A C function with the kernel ABI is as good as compiled PTX here; it says itself which lanes are active. */
#ifndef MR_TESTS_KERNEL_DOUBLE_H
#define MR_TESTS_KERNEL_DOUBLE_H

#include "compile/compile.h"
#include "kernel/launch.h"
#include "object/context.h"

/* A context with the default limits and no error. Free with mr_free. */
struct mr_context *double_context(void);

/* A launch of `function` in a one-dimensional grid; with 4 KiB of shared memory; `param_bytes` of parameters are copied
 * from `params`. Free with double_launch_free. */
struct mr_launch *double_launch(struct mr_context *context, mr_kernel_function *function, unsigned flags,
                                unsigned blocks, unsigned threads, const void *params, size_t param_bytes);
void double_launch_free(struct mr_launch *launch);

/* Runs all blocks on the calling thread. */
CUresult double_run(struct mr_launch *launch);

#endif
