/* SPDX-License-Identifier: Apache-2.0 */
/* Two- and three-dimensional copies, between contexts too.
 *
 * Every descriptor, old or new, is widened to CUDA_MEMCPY3D and goes through mr_transfer_box. What a box may be is
 * checked in prepare/box.c. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>

#include "api/memory/transfer.h"
#include "api_impl.h"
#include "capture/capture.h"
#include "object/context.h"
#include "prepare/box.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

/* In a captured stream the node shows the box as it was given. */
static CUresult box_captured(const CUDA_MEMCPY3D *box, CUstream handle, bool *captured)
{
    struct mr_stream *stream;
    struct mr_work *work;
    *captured = false;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_route(stream, captured);
    if (!*captured || !box->WidthInBytes || !box->Height || !box->Depth)
        return status;
    status = mr_work_from_copy(box, mr_stream_context(stream), &work);
    return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
}

CUresult mr_transfer_box_between(const CUDA_MEMCPY3D *box, int to_by, int from_by, CUstream stream,
                                 enum mr_transfer_mode mode)
{
    struct mr_context *context;
    struct mr_side to = {0}, from = {0};
    CUresult status = mr_context_require(&context);
    if (mr_capture_open() && status == CUDA_SUCCESS && mode != MR_TRANSFER_SYNC) {
        bool captured;
        status = box_captured(box, stream, &captured);
        if (captured)
            return status;
    }
    /* Of a copy of nothing hardware looks at nothing. */
    if (status == CUDA_SUCCESS && box->WidthInBytes && box->Height && box->Depth)
        status = mr_box_sides(box, &to, &from);
    if (status != CUDA_SUCCESS)
        return status;
    to.by = to_by;
    from.by = from_by;
    return mr_transfer_copy(&to, &from, box->WidthInBytes, box->Height, box->Depth, stream, mode);
}

CUresult mr_transfer_box(const CUDA_MEMCPY3D *box, CUstream stream, enum mr_transfer_mode mode)
{
    return mr_transfer_box_between(box, 0, 0, stream, mode);
}

/* A null descriptor: the context's own status comes first. */
static CUresult no_descriptor(void)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    return status != CUDA_SUCCESS ? status : mr_bad_value("the descriptor is null");
}

/* The fields that all descriptors share, one to one. */
#define TAKE_PLANE(to, from) \
    (to).srcXInBytes = (from)->srcXInBytes, (to).srcY = (from)->srcY, (to).srcMemoryType = (from)->srcMemoryType, \
    (to).srcHost = (from)->srcHost, (to).srcDevice = (from)->srcDevice, (to).srcArray = (from)->srcArray, \
    (to).srcPitch = (from)->srcPitch, (to).dstXInBytes = (from)->dstXInBytes, (to).dstY = (from)->dstY, \
    (to).dstMemoryType = (from)->dstMemoryType, (to).dstHost = (from)->dstHost, (to).dstDevice = (from)->dstDevice, \
    (to).dstArray = (from)->dstArray, (to).dstPitch = (from)->dstPitch, (to).WidthInBytes = (from)->WidthInBytes, \
    (to).Height = (from)->Height

#define TAKE_SPACE(to, from) \
    (to).srcZ = (from)->srcZ, (to).srcHeight = (from)->srcHeight, (to).dstZ = (from)->dstZ, \
    (to).dstHeight = (from)->dstHeight, (to).Depth = (from)->Depth

static CUresult copy_2d(const CUDA_MEMCPY2D *plane, CUstream stream, enum mr_transfer_mode mode)
{
    if (!plane)
        return no_descriptor();
    CUDA_MEMCPY3D box = {.Depth = 1};
    TAKE_PLANE(box, plane);
    return mr_transfer_box(&box, stream, mode);
}

static CUresult copy_2d_old(const CUDA_MEMCPY2D_v1 *plane, CUstream stream, enum mr_transfer_mode mode)
{
    if (!plane)
        return no_descriptor();
    CUDA_MEMCPY3D box = {.Depth = 1};
    TAKE_PLANE(box, plane);
    return mr_transfer_box(&box, stream, mode);
}

static CUresult copy_3d_old(const CUDA_MEMCPY3D_v1 *old, CUstream stream, enum mr_transfer_mode mode)
{
    if (!old)
        return no_descriptor();
    CUDA_MEMCPY3D box = {0};
    TAKE_PLANE(box, old);
    TAKE_SPACE(box, old);
    return mr_transfer_box(&box, stream, mode);
}

static CUresult copy_peer(const CUDA_MEMCPY3D_PEER *peer, CUstream stream, enum mr_transfer_mode mode)
{
    CUresult status = CUDA_SUCCESS;
    int to = 0, from = 0;
    if (!peer)
        return no_descriptor();
    if (peer->srcMemoryType == CU_MEMORYTYPE_DEVICE)
        status = mr_transfer_peer(peer->srcContext, &from);
    if (status == CUDA_SUCCESS && peer->dstMemoryType == CU_MEMORYTYPE_DEVICE)
        status = mr_transfer_peer(peer->dstContext, &to);
    if (status != CUDA_SUCCESS)
        return status;
    CUDA_MEMCPY3D box = {0};
    TAKE_PLANE(box, peer);
    TAKE_SPACE(box, peer);
    return mr_transfer_box_between(&box, to, from, stream, mode);
}

CUresult mr_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy, CUstream mr_default)
{
    return copy_2d(pCopy, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy, CUstream mr_default)
{
    return copy_2d(pCopy, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return copy_2d(pCopy, hStream, MR_TRANSFER_ASYNC);
}

CUresult mr_cuMemcpy2D(const CUDA_MEMCPY2D_v1 *pCopy)
{
    return copy_2d_old(pCopy, CU_STREAM_LEGACY, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1 *pCopy)
{
    return copy_2d_old(pCopy, CU_STREAM_LEGACY, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1 *pCopy, CUstream hStream)
{
    return copy_2d_old(pCopy, hStream, MR_TRANSFER_ASYNC);
}

CUresult mr_cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy, CUstream mr_default)
{
    return pCopy ? mr_transfer_box(pCopy, mr_default, MR_TRANSFER_SYNC) : no_descriptor();
}

CUresult mr_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return pCopy ? mr_transfer_box(pCopy, hStream, MR_TRANSFER_ASYNC) : no_descriptor();
}

CUresult mr_cuMemcpy3D(const CUDA_MEMCPY3D_v1 *pCopy)
{
    return copy_3d_old(pCopy, CU_STREAM_LEGACY, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1 *pCopy, CUstream hStream)
{
    return copy_3d_old(pCopy, hStream, MR_TRANSFER_ASYNC);
}

CUresult mr_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy, CUstream mr_default)
{
    return copy_peer(pCopy, mr_default, MR_TRANSFER_SYNC);
}

CUresult mr_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    CUresult status = mr_transfer_refuse_captured(hStream);
    return status != CUDA_SUCCESS ? status : copy_peer(pCopy, hStream, MR_TRANSFER_ASYNC);
}
