/* SPDX-License-Identifier: Apache-2.0 */
/* What a refusing stub checks before it refuses: the same things, in the same order, that the
 * real function would check first. The stubs themselves are generated (exports.c). */
#ifndef MR_API_STUB_H
#define MR_API_STUB_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* Kinds of handles that a stub can be given. A kind whose objects cannot exist in this version
 * refuses every handle. */
enum mr_stub_kind {
    MR_STUB_DEVICE, /* the ordinal, cast to a pointer */
    MR_STUB_CONTEXT,
    MR_STUB_MODULE,
    MR_STUB_FUNCTION,
    MR_STUB_LIBRARY,
    MR_STUB_KERNEL,
    MR_STUB_STREAM, /* 0, 1 and 2 are the default streams */
    MR_STUB_EVENT,
    MR_STUB_ARRAY,
    MR_STUB_TEXREF,
    MR_STUB_SURFREF,
    MR_STUB_GRAPH,
    MR_STUB_GRAPH_NODE,
    MR_STUB_GRAPH_EXEC,
    MR_STUB_POOL,
    MR_STUB_LINK,
    MR_STUB_USER_OBJECT,
    MR_STUB_GREEN_CONTEXT,
    MR_STUB_GRAPHICS,
    MR_STUB_EXTERNAL,
};

/* Whether a call that failed with `result` is told by the table's order of complaints instead (`order` in spec/): it
 * failed for its arguments, or the thread has no usable context. *lacks is then what hardware says of the context:
 * CUDA_ERROR_INVALID_CONTEXT if there is none, CUDA_ERROR_CONTEXT_IS_DESTROYED, its sticky error, or CUDA_SUCCESS.
 * Never in a host function. */
bool mr_stub_reorder(CUresult result, CUresult *lacks) __attribute__((cold));

/* What mr_stub_reorder says of the context, CUDA_SUCCESS in a host function. */
CUresult mr_stub_context_missing(void) __attribute__((cold));

/* Whether functions as they were before CUDA 3.2, with sizes and addresses of 32 bits, may be called: not in a context
 * that a later version made. */
bool mr_stub_first_interface(void);

/* CUDA_SUCCESS if the calling thread has a usable current context, else the status that says
 * what is wrong with it (INVALID_CONTEXT, CONTEXT_IS_DESTROYED, a sticky fault). */
CUresult mr_stub_check_context(void);

/* CUDA_SUCCESS if `handle` is live and of `kind` (an enum mr_stub_kind); else the code that the
 * kind implies. Never dereferences a handle that the registry does not know. */
CUresult mr_stub_check_handle(const void *handle, int kind);

/* Logs that `name` is not supported (level info) and returns CUDA_ERROR_NOT_SUPPORTED. */
CUresult mr_stub_refuse(const char *name);

#endif
