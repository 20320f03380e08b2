/* SPDX-License-Identifier: Apache-2.0 */
/* What functions and kernels share on the API's side: finding them, their attributes, their launch limits. */
#ifndef MR_API_FUNCTION_H
#define MR_API_FUNCTION_H

#include <cuda.h>

#include "module/module.h"
#include "object/context.h"

/* The function behind a CUfunction, for a call on the current context that does not take kernels (hardware refuses them
 * outside of launches and occupancy). CUDA_ERROR_INVALID_HANDLE, or the errors of mr_context_require. Its module is
 * held: mr_object_drop(function->module). */
CUresult mr_function_require(CUfunction handle, struct mr_function **out) __attribute__((warn_unused_result));

/* CU_FUNC_ATTRIBUTE_* of a function with these settings. CUDA_ERROR_INVALID_VALUE for one that does not exist or cannot
 * be set. */
CUresult mr_function_attribute_get(const struct mr_entry *info, struct mr_function_settings *settings,
                                   CUfunction_attribute attribute, int *value) __attribute__((warn_unused_result));
CUresult mr_function_attribute_set(const struct mr_entry *info, struct mr_function_settings *settings,
                                   const struct mr_device *device, CUfunction_attribute attribute, int value)
    __attribute__((warn_unused_result));

/* Offset and size of a parameter; `size` may be NULL. CUDA_ERROR_INVALID_VALUE past the last one. */
CUresult mr_function_param(const struct mr_entry *info, size_t index, size_t *offset, size_t *size)
    __attribute__((warn_unused_result));

#endif
