/* SPDX-License-Identifier: Apache-2.0 */
/* The launch interface before CUDA 4.0: a function remembers block shape, shared memory and parameters until it is
 * launched. (Driver API manual, Execution Control [DEPRECATED].) The remembered state is guarded by the module's lock;
 * a launch works on a copy. */
#include "api_impl.h"

#include <string.h>

#include "api/module/function.h"
#include "api/stream/execution.h"
#include "base/alloc.h"
#include "module/reference.h"
#include "prepare/check.h"

CUresult mr_cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (x < 1 || y < 1 || z < 1 || (unsigned)x > MR_MAX_BLOCK_X || (unsigned)y > MR_MAX_BLOCK_Y ||
        (unsigned)z > MR_MAX_BLOCK_Z) {
        mr_object_drop(function->module);
        return mr_bad_value("a block can't have %dx%dx%d threads", x, y, z);
    }
    mr_lock_take(&function->module->lock);
    function->old.block[0] = (unsigned)x;
    function->old.block[1] = (unsigned)y;
    function->old.block[2] = (unsigned)z;
    mr_lock_drop(&function->module->lock);
    mr_object_drop(function->module);
    return CUDA_SUCCESS;
}

CUresult mr_cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    mr_lock_take(&function->module->lock);
    function->old.shared = bytes;
    mr_lock_drop(&function->module->lock);
    mr_object_drop(function->module);
    return CUDA_SUCCESS;
}

/* Makes room for `size` bytes of parameters, zeroed; the module's lock is held. */
static bool reserve(struct mr_function *function, size_t size)
{
    MR_HELD(&function->module->lock);
    size_t old = function->old.room;
    if (!mr_array_reserve((void **)&function->old.params, &function->old.room, size, 1))
        return false;
    memset(function->old.params + old, 0, function->old.room - old);
    return true;
}

CUresult mr_cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (numbytes > MR_PARAM_BYTES_LIMIT) {
        mr_object_drop(function->module);
        return mr_bad_value("%u bytes are more than %u", numbytes, MR_PARAM_BYTES_LIMIT);
    }
    mr_lock_take(&function->module->lock);
    if (reserve(function, numbytes))
        function->old.param_size = numbytes;
    else
        status = CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_drop(&function->module->lock);
    mr_object_drop(function->module);
    return status;
}

static CUresult set(CUfunction hfunc, int offset, const void *from, size_t size)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (offset < 0 || !from || size > MR_PARAM_BYTES_LIMIT || (size_t)offset + size > MR_PARAM_BYTES_LIMIT) {
        mr_object_drop(function->module);
        return mr_bad_value("the parameters have no room for %zu bytes at offset %d (from %p)", size, offset, from);
    }
    mr_lock_take(&function->module->lock);
    if (reserve(function, (size_t)offset + size))
        memcpy(function->old.params + offset, from, size);
    else
        status = CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_drop(&function->module->lock);
    mr_object_drop(function->module);
    return status;
}

CUresult mr_cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
    return set(hfunc, offset, &value, sizeof value);
}

CUresult mr_cuParamSetf(CUfunction hfunc, int offset, float value)
{
    return set(hfunc, offset, &value, sizeof value);
}

CUresult mr_cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes)
{
    return set(hfunc, offset, ptr, numbytes);
}

/* A kernel reads its module's references by their names, so there is nothing to arrange for them; one that
 * cuTexRefCreate made has no name. */
CUresult mr_cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref hTexRef)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_reference *reference = mr_object_acquire(hTexRef, MR_KIND_TEXREF);
    if (texunit != CU_PARAM_TR_DEFAULT)
        status = mr_bad_value("the texture unit %d; it has to be CU_PARAM_TR_DEFAULT", texunit);
    else if (!reference)
        status = mr_bad_value("%p is not a live texture reference", (void *)hTexRef);
    else if (!mr_module_owns(function->module, reference))
        status = mr_bad_value("the reference does not belong to the function's module");
    if (reference)
        mr_object_drop(reference);
    mr_object_drop(function->module);
    return status;
}

static CUresult launch(CUfunction hfunc, int width, int height, CUstream stream)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (width < 1 || height < 1) {
        mr_object_drop(function->module);
        return mr_bad_value("a grid can't have %dx%d blocks", width, height);
    }
    struct mr_launch_request request = {
        .function = hfunc,
        .stream = stream,
        .grid = {(unsigned)width, (unsigned)height, 1},
    };
    mr_lock_take(&function->module->lock);
    memcpy(request.block, function->old.block, sizeof request.block);
    request.shared = function->old.shared;
    request.buffer_size = function->old.param_size;
    void *copy = mr_memdup(function->old.params, request.buffer_size);
    mr_lock_drop(&function->module->lock);
    mr_object_drop(function->module);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    request.buffer = copy;
    status = mr_launch_queue(&request);
    mr_free(copy);
    return status;
}

CUresult mr_cuLaunch(CUfunction f)
{
    return launch(f, 1, 1, NULL);
}

CUresult mr_cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
    return launch(f, grid_width, grid_height, NULL);
}

CUresult mr_cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream)
{
    return launch(f, grid_width, grid_height, hStream);
}
