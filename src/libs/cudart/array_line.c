/* SPDX-License-Identifier: Apache-2.0 */
/* The old copies of a run of bytes to and from arrays (cudaMemcpyToArray, …): a run begins somewhere in a row and goes
 * on in the next. It is copied row by row, cut where a row of either side ends. */
#include "libs/cudart/array.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* One side of such a copy: memory, or a place in an array. */
struct end {
    CUarray array;
    void *pointer;
    CUmemorytype type; /* CU_MEMORYTYPE_ARRAY if `array` is set */
    size_t x, y; /* in the array, in bytes and rows */
    size_t width; /* bytes of a row */
};

/* How a copy is ordered: behind a stream's work, or by itself. */
struct order {
    bool async, per_thread;
    CUstream stream;
};

static cudaError_t array_end(cudaArray_const_t array, size_t x, size_t y, size_t count, struct end *out)
{
    struct cudaChannelFormatDesc channels;
    struct cudaExtent extent;
    cudaError_t status = mr_cudaArrayGetInfo(&channels, &extent, NULL, (cudaArray_t)(uintptr_t)array);
    if (status != cudaSuccess)
        return status;
    size_t width = extent.width * (size_t)(channels.x + channels.y + channels.z + channels.w) / 8,
           rows = extent.height ? extent.height : 1;
    if (extent.depth > 0 || x >= width || y >= rows || count > (rows - y) * width - x)
        return mr_rt_bad(cudaErrorInvalidValue,
                         "%zu bytes at %zu in row %zu do not lie in an array of %zu rows of %zu bytes", count, x, y,
                         rows, width);
    *out =
        (struct end){.array = (CUarray)(uintptr_t)array, .type = CU_MEMORYTYPE_ARRAY, .x = x, .y = y, .width = width};
    return cudaSuccess;
}

static struct end memory_end(const void *pointer, bool host, enum cudaMemcpyKind kind)
{
    return (struct end){.pointer = (void *)(uintptr_t)pointer,
                        .type = kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
                                : host                    ? CU_MEMORYTYPE_HOST
                                                          : CU_MEMORYTYPE_DEVICE};
}

static size_t left_in_row(const struct end *end, size_t count)
{
    return end->array && end->width - end->x < count ? end->width - end->x : count;
}

static void move_on(struct end *end, size_t count)
{
    if (!end->array) {
        end->pointer = (char *)end->pointer + count;
        return;
    }
    end->x += count;
    if (end->x == end->width) {
        end->x = 0;
        end->y++;
    }
}

static cudaError_t copy_run(struct end dst, struct end src, size_t count, struct order order)
{
    while (count > 0) {
        size_t length = left_in_row(&dst, left_in_row(&src, count));
        const CUDA_MEMCPY2D row = {.srcMemoryType = src.type,
                                   .srcArray = src.array,
                                   .srcHost = src.pointer,
                                   .srcDevice = MR_PTR(src.pointer),
                                   .srcPitch = src.array ? 0 : length,
                                   .srcXInBytes = src.x,
                                   .srcY = src.y,
                                   .dstMemoryType = dst.type,
                                   .dstArray = dst.array,
                                   .dstHost = dst.pointer,
                                   .dstDevice = MR_PTR(dst.pointer),
                                   .dstPitch = dst.array ? 0 : length,
                                   .dstXInBytes = dst.x,
                                   .dstY = dst.y,
                                   .WidthInBytes = length,
                                   .Height = 1};
        CUresult status = order.async        ? mr_driver.cuMemcpy2DAsync(&row, order.stream)
                          : order.per_thread ? mr_driver.cuMemcpy2DUnaligned_v2_ptds(&row)
                                             : mr_driver.cuMemcpy2DUnaligned_v2(&row);
        if (status != CUDA_SUCCESS)
            return (cudaError_t)status;
        move_on(&dst, length);
        move_on(&src, length);
        count -= length;
    }
    return cudaSuccess;
}

static cudaError_t to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t count,
                            enum cudaMemcpyKind kind, struct order order)
{
    struct end end;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not go to an array", (int)kind);
    cudaError_t status = array_end(dst, x, y, count, &end);
    return status == cudaSuccess ? copy_run(end, memory_end(src, kind == cudaMemcpyHostToDevice, kind), count, order)
                                 : status;
}

static cudaError_t from_array(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t count,
                              enum cudaMemcpyKind kind, struct order order)
{
    struct end end;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not come from an array", (int)kind);
    cudaError_t status = array_end(src, x, y, count, &end);
    return status == cudaSuccess ? copy_run(memory_end(dst, kind == cudaMemcpyDeviceToHost, kind), end, count, order)
                                 : status;
}

cudaError_t mr_cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                 enum cudaMemcpyKind kind, bool per_thread)
{
    return to_array(dst, wOffset, hOffset, src, count, kind, (struct order){.per_thread = per_thread});
}

cudaError_t mr_cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return to_array(dst, wOffset, hOffset, src, count, kind, (struct order){.async = true, .stream = stream});
}

cudaError_t mr_cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                   enum cudaMemcpyKind kind, bool per_thread)
{
    return from_array(dst, src, wOffset, hOffset, count, kind, (struct order){.per_thread = per_thread});
}

cudaError_t mr_cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return from_array(dst, src, wOffset, hOffset, count, kind, (struct order){.async = true, .stream = stream});
}

cudaError_t mr_cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                      size_t wOffsetSrc, size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind,
                                      bool per_thread)
{
    struct end to, from;
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return mr_rt_bad(cudaErrorInvalidMemcpyDirection, "direction %d does not go from array to array", (int)kind);
    cudaError_t status = array_end(dst, wOffsetDst, hOffsetDst, count, &to);
    if (status == cudaSuccess)
        status = array_end(src, wOffsetSrc, hOffsetSrc, count, &from);
    return status == cudaSuccess ? copy_run(to, from, count, (struct order){.per_thread = per_thread}) : status;
}
