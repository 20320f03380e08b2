/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies: each is submitted in turn, so that they are ordered more strictly than the manual asks.
 *
 * An operand that is refused ends the batch; the copies before it are in the stream then, and the forms of CUDA 12.8
 * say which one it was. Mistakes in the batch itself are found before anything is submitted. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "api/memory/transfer.h"
#include "api_impl.h"
#include "base/call.h"
#include "capture/capture.h"
#include "object/context.h"
#include "prepare/array_side.h"
#include "prepare/check.h"
#include "stream/stream.h"

/* What both kinds of batch demand of the call as a whole. */
static CUresult check_batch(CUstream handle, size_t count)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (handle == NULL || handle == CU_STREAM_LEGACY)
        return mr_bad_value("a batch needs a stream other than the legacy default stream");
    bool captured;
    status = mr_capture_route(stream, &captured);
    if (status != CUDA_SUCCESS)
        return status;
    if (captured) {
        mr_call_log(MR_LOG_INFO, "a batch of copies can't be captured");
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* the capture goes on, as on hardware */
    }
    return count ? CUDA_SUCCESS : mr_bad_value("the batch is empty");
}

static bool order_is_known(CUmemcpySrcAccessOrder order)
{
    return order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ||
           order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

static enum mr_transfer_mode mode_of(CUmemcpySrcAccessOrder order)
{
    return order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? MR_TRANSFER_ASYNC : MR_TRANSFER_STREAM_ORDER;
}

/* Attributes hold from their index on; the first index is 0 and they rise. */
static CUresult check_attributes(const CUmemcpyAttributes *attrs, const size_t *indices, size_t attr_count,
                                 size_t count)
{
    if (!attrs || !indices || !attr_count || attr_count > count)
        return mr_bad_value("%zu attributes do not fit %zu copies", attr_count, count);
    for (size_t i = 0; i < attr_count; i++) {
        if (i == 0 ? indices[0] != 0 : indices[i] <= indices[i - 1] || indices[i] >= count)
            return mr_bad_value("the index %zu of attribute %zu is out of order", indices[i], i);
        if (!order_is_known(attrs[i].srcAccessOrder) ||
            attrs[i].flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
            return mr_bad_value("attribute %zu has access order %d and flags %#x", i, (int)attrs[i].srcAccessOrder,
                                attrs[i].flags);
    }
    return CUDA_SUCCESS;
}

static CUresult linear_batch(const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes, size_t count,
                             const CUmemcpyAttributes *attrs, const size_t *indices, size_t attr_count, size_t *fail,
                             CUstream stream)
{
    *fail = SIZE_MAX;
    CUresult status = check_batch(stream, count);
    if (status != CUDA_SUCCESS)
        return status;
    if (!dsts || !srcs || !sizes)
        return mr_bad_value("a list of operands is null");
    status = check_attributes(attrs, indices, attr_count, count);
    for (size_t i = 0, attr = 0; status == CUDA_SUCCESS && i < count; i++) {
        struct mr_side to = {.address = (uintptr_t)dsts[i], .kind = MR_SIDE_UNIFIED};
        struct mr_side from = {.address = (uintptr_t)srcs[i], .kind = MR_SIDE_UNIFIED};
        if (attr + 1 < attr_count && indices[attr + 1] == i)
            attr++;
        status = mr_transfer_copy(&to, &from, sizes[i], 1, 1, stream, mode_of(attrs[attr].srcAccessOrder));
        if (status != CUDA_SUCCESS)
            *fail = i;
    }
    return status;
}

CUresult mr_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                  CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)
{
    size_t fail;
    return linear_batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, &fail, hStream);
}

CUresult mr_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,
                               CUstream hStream)
{
    size_t fail;
    CUresult status = linear_batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, &fail, hStream);
    if (failIdx && status != CUDA_SUCCESS)
        *failIdx = fail;
    return status;
}

/* The bytes of what a copy counts in: an element of its arrays, which have to agree, or one byte. */
static CUresult box_element(const CUDA_MEMCPY3D_BATCH_OP *op, size_t *element)
{
    const CUmemcpy3DOperand *const operands[] = {&op->src, &op->dst};
    *element = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct mr_array *array;
        if (operands[i]->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
            continue;
        CUresult status = mr_array_require(operands[i]->op.array.array, &array);
        if (status != CUDA_SUCCESS)
            return status;
        size_t bytes = array->format.bytes;
        mr_object_drop(array);
        if (*element && *element != bytes)
            return mr_bad_value("the arrays have elements of different sizes, %zu and %zu bytes", *element, bytes);
        *element = bytes;
    }
    if (!*element)
        *element = 1;
    return CUDA_SUCCESS;
}

/* `extent` is in elements, except for its width, which is in bytes. A row length or layer height of 0 means: as long as
 * the copied box. */
static CUresult box_side(const CUmemcpy3DOperand *operand, const CUextent3D *extent, size_t element,
                         struct mr_side *out)
{
    size_t row;
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const CUoffset3D *offset = &operand->op.array.offset;
        if (__builtin_mul_overflow(offset->x, element, &row))
            return mr_bad_value("an offset of %zu elements is out of range", offset->x);
        return mr_array_side("operand", operand->op.array.array, row, offset->y, offset->z, extent->width,
                             extent->height, extent->depth, out);
    }
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        return mr_bad_value("an operand has the unknown type %d", (int)operand->type);
    if (__builtin_mul_overflow(operand->op.ptr.rowLength, element, &row))
        return mr_bad_value("rows can't have %zu elements", operand->op.ptr.rowLength);
    size_t height = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
    *out = (struct mr_side){
        .address = (uintptr_t)operand->op.ptr.ptr, .kind = MR_SIDE_UNIFIED, .pitch = row ? row : extent->width};
    if (out->pitch < extent->width || height < extent->height ||
        __builtin_mul_overflow(out->pitch, height, &out->slice))
        return mr_bad_value("%zu x %zu bytes do not fit in rows of %zu bytes, %zu a layer", extent->width,
                            extent->height, out->pitch, height);
    return CUDA_SUCCESS;
}

static CUresult box_batch(size_t count, const CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags, size_t *fail,
                          CUstream stream)
{
    *fail = SIZE_MAX;
    CUresult status = check_batch(stream, count);
    if (status != CUDA_SUCCESS)
        return status;
    if (!ops || flags)
        return mr_bad_value("the list of copies is null, or flags %#llx are not 0", flags);
    for (size_t i = 0; i < count; i++)
        if (!order_is_known(ops[i].srcAccessOrder) ||
            ops[i].flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
            return mr_bad_value("copy %zu has access order %d and flags %#x", i, (int)ops[i].srcAccessOrder,
                                ops[i].flags);
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++) {
        struct mr_side to, from;
        CUextent3D extent = ops[i].extent;
        size_t element;
        status = box_element(&ops[i], &element);
        if (status == CUDA_SUCCESS && __builtin_mul_overflow(extent.width, element, &extent.width))
            status = mr_bad_value("rows can't have %zu elements", ops[i].extent.width);
        if (status == CUDA_SUCCESS)
            status = box_side(&ops[i].dst, &extent, element, &to);
        if (status == CUDA_SUCCESS)
            status = box_side(&ops[i].src, &extent, element, &from);
        if (status == CUDA_SUCCESS)
            status = mr_transfer_copy(&to, &from, extent.width, extent.height, extent.depth, stream,
                                      mode_of(ops[i].srcAccessOrder));
        if (status != CUDA_SUCCESS)
            *fail = i;
    }
    return status;
}

CUresult mr_cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                    CUstream hStream)
{
    size_t fail;
    return box_batch(numOps, opList, flags, &fail, hStream);
}

CUresult mr_cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                 unsigned long long flags, CUstream hStream)
{
    size_t fail;
    CUresult status = box_batch(numOps, opList, flags, &fail, hStream);
    if (failIdx && status != CUDA_SUCCESS)
        *failIdx = fail;
    return status;
}
