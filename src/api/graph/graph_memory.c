/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes that allocate and free memory tell, and what a device tells about such memory. Addresses and sums are
 * src/graph/graph_memory.c's. */
#include "api/graph/graph_calls.h"
#include "api_impl.h"
#include "command/command.h"
#include "graph/graph_memory.h"
#include "object/context.h"
#include "object/device.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

CUresult mr_cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
    struct mr_work *work;
    if (!params_out)
        return mr_bad_value("params_out is NULL");
    CUresult status = mr_node_work_require(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &work);
    if (status != CUDA_SUCCESS)
        return status;
    *params_out = work->alloc.params;
    mr_work_drop(work);
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    struct mr_work *work;
    if (!dptr_out)
        return mr_bad_value("dptr_out is NULL");
    CUresult status = mr_node_work_require(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, &work);
    if (status != CUDA_SUCCESS)
        return status;
    *dptr_out = work->free.address;
    mr_work_drop(work);
    return CUDA_SUCCESS;
}

CUresult mr_cuDeviceGraphMemTrim(CUdevice device)
{
    struct mr_device *found;
    CUresult status = mr_device_require(device, &found);
    if (status == CUDA_SUCCESS)
        mr_graph_memory_trim(found);
    return status;
}

CUresult mr_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    struct mr_device *found;
    uint64_t sum;
    if (!value)
        return mr_bad_value("value is NULL");
    CUresult status = mr_device_require(device, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_graph_memory_attribute(found, attr, &sum) != CUDA_SUCCESS)
        return mr_bad_value("there is no attribute %d", (int)attr);
    *(cuuint64_t *)value = sum;
    return CUDA_SUCCESS;
}

/* The high watermarks can be set, to 0 only, which means to what is now. */
CUresult mr_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    struct mr_device *found;
    if (!value)
        return mr_bad_value("value is NULL");
    CUresult status = mr_device_require(device, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if ((attr != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) ||
        *(cuuint64_t *)value != 0)
        return mr_bad_value("only high watermarks can be set, and only to 0");
    mr_graph_memory_reset_high(found, attr);
    return CUDA_SUCCESS;
}

/* ---- freeing what allocation nodes gave out ---- */

CUresult mr_graph_memory_free_now(CUdeviceptr address, struct mr_context *context)
{
    CUresult status = mr_context_synchronize(context);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_graph_memory *memory = mr_graph_memory_find(address);
    if (!memory)
        return mr_bad_value("%#llx was freed by another thread", (unsigned long long)address);
    if (!mr_graph_memory_end(memory))
        status = mr_bad_value("%#llx was freed by another thread", (unsigned long long)address);
    mr_graph_memory_drop(memory);
    return status;
}

static void end_use(void *data)
{
    mr_graph_memory_use(data, -1);
    mr_graph_memory_drop(data);
}

CUresult mr_graph_memory_free_in(CUdeviceptr address, struct mr_stream *stream)
{
    struct mr_graph_memory *memory = mr_graph_memory_find(address);
    struct mr_command *command = memory ? mr_command_new(MR_COMMAND_RELEASE) : NULL;
    if (!memory)
        return mr_bad_value("%#llx was freed by another thread", (unsigned long long)address);
    if (!command) {
        mr_graph_memory_drop(memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    command->release.function = end_use;
    command->release.data = memory;
    mr_graph_memory_use(memory, 1);
    if (!mr_graph_memory_end(memory)) {
        end_use(memory);
        mr_command_free(command);
        return mr_bad_value("%#llx was freed by another thread", (unsigned long long)address);
    }
    CUresult status = mr_stream_submit(stream, command);
    if (status != CUDA_SUCCESS)
        end_use(memory);               /* it stays freed: the context has failed */
    return status;
}
