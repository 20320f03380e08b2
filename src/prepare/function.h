/* SPDX-License-Identifier: Apache-2.0 */
/* From a handle to a function, and what a launch of it may ask for. */
#ifndef MR_PREPARE_FUNCTION_H
#define MR_PREPARE_FUNCTION_H

#include <cuda.h>

#include "module/module.h"
#include "object/context.h"

/* The function behind a CUfunction, or behind a CUkernel cast to one: the kernel's function in `context`, made on first
 * use. CUDA_ERROR_INVALID_HANDLE, or the errors of loading the kernel's library into the context. No reference is
 * taken. */
CUresult mr_function_find(CUfunction handle, struct mr_context *context, struct mr_function **out)
    __attribute__((warn_unused_result));

/* A reference to the module of a function that was found without one; NULL if the module went meanwhile, with its
 * context on another thread. */
struct mr_module *mr_function_hold(struct mr_function *function) __attribute__((warn_unused_result));

/* Most bytes of dynamic shared memory that a launch may ask for now. */
static inline unsigned mr_function_dynamic_limit(const struct mr_entry *info, struct mr_function_settings *settings)
{
    return mr_dynamic_limit(info, atomic_load_explicit(&settings->dynamic_shared, memory_order_relaxed));
}

#endif
