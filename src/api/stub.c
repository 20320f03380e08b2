/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of refusing stubs, and the refusal. */
#include "api/stub.h"

#include "base/call.h"
#include "object/context.h"
#include "object/handle.h"

/* What each kind of handle is in the registry (0: nothing of the kind can exist), and the status of a bad one. */
static const struct {
    enum mr_kind kind;
    CUresult bad;
} kinds[] = {
    [MR_STUB_DEVICE] = {0, CUDA_ERROR_INVALID_DEVICE},
    [MR_STUB_CONTEXT] = {MR_KIND_CONTEXT, CUDA_ERROR_INVALID_CONTEXT},
    [MR_STUB_MODULE] = {MR_KIND_MODULE, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_FUNCTION] = {MR_KIND_FUNCTION, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_LIBRARY] = {MR_KIND_LIBRARY, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_KERNEL] = {MR_KIND_KERNEL, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_STREAM] = {MR_KIND_STREAM, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_EVENT] = {MR_KIND_EVENT, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_ARRAY] = {MR_KIND_ARRAY, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_TEXREF] = {MR_KIND_TEXREF, CUDA_ERROR_INVALID_VALUE},
    [MR_STUB_SURFREF] = {MR_KIND_SURFREF, CUDA_ERROR_INVALID_VALUE},
    [MR_STUB_GRAPH] = {MR_KIND_GRAPH, CUDA_ERROR_INVALID_VALUE},
    [MR_STUB_GRAPH_NODE] = {MR_KIND_GRAPH_NODE, CUDA_ERROR_INVALID_VALUE},
    [MR_STUB_GRAPH_EXEC] = {MR_KIND_GRAPH_EXEC, CUDA_ERROR_INVALID_VALUE},
    [MR_STUB_POOL] = {MR_KIND_MEMPOOL, CUDA_ERROR_INVALID_VALUE},
    [MR_STUB_LINK] = {MR_KIND_LINK, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_USER_OBJECT] = {0, CUDA_ERROR_INVALID_VALUE},
    [MR_STUB_GREEN_CONTEXT] = {0, CUDA_ERROR_INVALID_CONTEXT},
    [MR_STUB_GRAPHICS] = {0, CUDA_ERROR_INVALID_HANDLE},
    [MR_STUB_EXTERNAL] = {0, CUDA_ERROR_INVALID_HANDLE},
};

bool mr_stub_reorder(CUresult result, CUresult *lacks)
{
    *lacks = CUDA_SUCCESS;
    if (mr_in_host_function)
        return false;
    struct mr_context *context = mr_context_current();
    if (!context)
        *lacks = CUDA_ERROR_INVALID_CONTEXT;
    else if (atomic_load_explicit(&context->destroyed, memory_order_acquire))
        *lacks = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    else
        *lacks = mr_context_error(context);
    return *lacks != CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_HANDLE ||
           result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_INVALID_DEVICE;
}

CUresult mr_stub_context_missing(void)
{
    CUresult lacks = CUDA_SUCCESS;
    mr_stub_reorder(CUDA_SUCCESS, &lacks);
    return lacks;
}

bool mr_stub_first_interface(void)
{
    struct mr_context *context = mr_context_current();
    return !context || atomic_load_explicit(&context->destroyed, memory_order_acquire) || context->api_version < 3020;
}

CUresult mr_stub_check_context(void)
{
    struct mr_context *context;
    return mr_context_require(&context);
}

CUresult mr_stub_check_handle(const void *handle, int kind)
{
    if (kind < 0 || (size_t)kind >= sizeof kinds / sizeof *kinds)
        return CUDA_ERROR_INVALID_HANDLE;
    if (kind == MR_STUB_DEVICE)
        return mr_device_get((int)(intptr_t)handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    if (kind == MR_STUB_STREAM && (uintptr_t)handle <= (uintptr_t)CU_STREAM_PER_THREAD)
        return CUDA_SUCCESS;
    if (kinds[kind].kind && mr_object_find(handle, kinds[kind].kind))
        return CUDA_SUCCESS;
    if (kind == MR_STUB_FUNCTION && mr_object_find(handle, MR_KIND_KERNEL))
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "%p is not a live handle of the kind that the call takes", handle);
    return kinds[kind].bad;
}

CUresult mr_stub_refuse(const char *name)
{
    mr_log(MR_LOG_INFO, "%s is not supported", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}
