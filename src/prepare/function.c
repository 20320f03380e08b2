/* SPDX-License-Identifier: Apache-2.0 */
/* From a handle to a function. */
#include "prepare/function.h"

#include "prepare/check.h"

CUresult mr_function_find(CUfunction handle, struct mr_context *context, struct mr_function **out)
{
    struct mr_function *function = mr_object_find(handle, MR_KIND_FUNCTION);
    if (__builtin_expect(function != NULL, 1)) {
        *out = function;
        return CUDA_SUCCESS;
    }
    /* Like the function's, the kernel's record is good for this visit; its function may have ended, which the call that
     * takes its module finds out. */
    struct mr_kernel *kernel = mr_object_find(handle, MR_KIND_KERNEL);
    function = kernel ? mr_kernel_function_near(kernel, context->slot) : NULL;
    if (__builtin_expect(function != NULL, 1)) {
        *out = function;
        return CUDA_SUCCESS;
    }
    kernel = mr_object_borrow(handle, MR_KIND_KERNEL);
    return kernel ? mr_kernel_function_in(kernel, context, out) : mr_bad_handle("function", handle);
}

struct mr_module *mr_function_hold(struct mr_function *function)
{
    void *handle = mr_object_handle(function);
    struct mr_module *module = mr_object_acquire(function->module_handle, MR_KIND_MODULE);
    if (module && (!handle || mr_object_find(handle, MR_KIND_FUNCTION) != function)) {
        mr_object_drop(module);
        module = NULL;
    }
    return module;
}
