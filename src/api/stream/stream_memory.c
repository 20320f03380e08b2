/* SPDX-License-Identifier: Apache-2.0 */
/* Memory operations on streams: wait for a value, write a value, batches of both (driver API manual, Stream Memory
 * Operations).
 *
 * All four single forms are batches of one; src/engine/batch.c checks and runs them. The first version of the
 * interface, which a program gets by asking for CUDA 8 or 9, is refused on hardware unless the driver was told
 * otherwise when it was loaded (CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 is 0), and so it is here (its rows in
 * spec/ say so). Calls are allowed inside host functions, as on hardware. */
#include <string.h>

#include "api_impl.h"
#include "capture/capture.h"
#include "engine/batch.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

static CUresult submit(CUstream handle, unsigned count, const CUstreamBatchMemOpParams *ops)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_find(handle, &stream);
    if (status == CUDA_SUCCESS)
        status = mr_batch_check(ops, count);
    bool captured = false;
    if (status == CUDA_SUCCESS)
        status = mr_capture_route(stream, &captured);
    if (status != CUDA_SUCCESS || (count == 0 && !captured))
        return status;
    if (captured) { /* even if there is nothing in it */
        static CUstreamBatchMemOpParams none;
        CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.ctx = mr_stream_context(stream)->handle,
                                                .count = count,
                                                .paramArray =
                                                    count ? (CUstreamBatchMemOpParams *)(uintptr_t)ops : &none};
        struct mr_work *work;
        status = mr_work_from_batch(&params, &work);
        return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
    }
    struct mr_batch *batch = mr_batch_new(ops, count, mr_stream_context(stream));
    struct mr_command *command = batch ? mr_batch_command(batch) : NULL;
    if (!command) {
        mr_batch_free(batch);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_command_weigh(command, 0);
    status = mr_stream_submit(stream, command);
    mr_stream_hold_back(stream);
    return status;
}

static CUresult wait_value(CUstream stream, CUstreamBatchMemOpType operation, CUdeviceptr address, cuuint64_t value,
                           unsigned flags)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.waitValue.operation = operation;
    op.waitValue.address = address;
    op.waitValue.value64 = value;
    op.waitValue.flags = flags;
    return submit(stream, 1, &op);
}

static CUresult write_value(CUstream stream, CUstreamBatchMemOpType operation, CUdeviceptr address, cuuint64_t value,
                            unsigned flags)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.writeValue.operation = operation;
    op.writeValue.address = address;
    op.writeValue.value64 = value;
    op.writeValue.flags = flags;
    return submit(stream, 1, &op);
}

CUresult mr_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return wait_value(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}

CUresult mr_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return wait_value(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}

CUresult mr_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return write_value(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}

CUresult mr_cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return write_value(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}

CUresult mr_cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                  unsigned int flags)
{
    struct mr_stream *found;
    CUresult status = mr_stream_find(stream, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags != 0)
        return mr_bad_value("flags are %#x and must be 0", flags);
    if (count > 0 && !paramArray)
        return mr_bad_value("paramArray is NULL");
    return submit(stream, count, paramArray);
}
