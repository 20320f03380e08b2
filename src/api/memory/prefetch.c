/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetching and discarding managed memory, one range or many at a time.
 *
 * Memory is not moved, but it can be made ready: a prefetch to a device takes place in stream order and gives the range
 * its pages, so that the kernels that follow need not stop for them. Discarding gives the system leave to take the
 * pages whose contents nobody wants any more. Where a range was last prefetched to is known from the call on, as on
 * hardware. Both are hints: what the system does not grant is not an error. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <sys/mman.h>

#include "api/memory/managed.h"
#include "api_impl.h"
#include "base/alloc.h"
#include "capture/capture.h"
#include "command/command.h"
#include "memory/advice.h"
#include "memory/allocation.h"
#include "object/device.h"
#include "object/machine.h"
#include "prepare/check.h"
#include "stream/stream.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older ones refuse it, which is no error here */
#endif

/* A range as it is given to the system. */
struct hint {
    uintptr_t start;
    size_t size;
    int advice[2]; /* 0: none */
};

/* What a command carries. */
struct hints {
    size_t count;
    struct hint ranges[];
};

static bool hints_begin(void *data, uint64_t key, struct mr_job *resume, CUresult *status)
{
    struct hints *hints = data;
    (void)key, (void)resume;
    for (size_t i = 0; i < hints->count; i++)
        for (int j = 0; j < 2; j++)
            if (hints->ranges[i].size && hints->ranges[i].advice[j])
                madvise((void *)hints->ranges[i].start, hints->ranges[i].size, hints->ranges[i].advice[j]);
    *status = CUDA_SUCCESS;
    return true;
}

/* A command with room for hints about `count` ranges, which go with it; NULL when memory is short. */
static struct mr_command *command_new(size_t count, struct hints **hints)
{
    bool fits = count < SIZE_MAX / 2 / sizeof(struct hint);
    *hints = fits ? mr_calloc(1, sizeof **hints + count * sizeof(struct hint)) : NULL;
    struct mr_command *command = *hints ? mr_command_new(MR_COMMAND_ASYNC) : NULL;
    if (!command) {
        mr_free(*hints);
        return NULL;
    }
    (*hints)->count = count;
    command->async = (struct mr_async){.begin = hints_begin, .free = mr_free, .data = *hints};
    return command;
}

/* The whole pages that a range touches. */
static void hint_pages(struct hint *hint, CUdeviceptr address, size_t size)
{
    uintptr_t page = mr_memory_page();
    hint->start = (uintptr_t)address & ~(page - 1);
    hint->size = (((uintptr_t)address + size + page - 1) & ~(page - 1)) - hint->start;
}

/* The pages that lie within a range as a whole; the rest may hold something else. */
static void hint_inner_pages(struct hint *hint, CUdeviceptr address, size_t size)
{
    uintptr_t page = mr_memory_page(), end = ((uintptr_t)address + size) & ~(page - 1);
    hint->start = ((uintptr_t)address + page - 1) & ~(page - 1);
    hint->size = end > hint->start ? end - hint->start : 0;
}

/* What a prefetch asks of the system. A large part of the machine's memory is left to come page by page. */
static int prefetch_advice(const CUmemLocation *location, size_t size, bool pageable)
{
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return 0;
    return pageable || size > mr_machine_memory() / 4 ? MADV_WILLNEED : MADV_POPULATE_WRITE;
}

static void apply_prefetch(struct mr_advice *to, const void *data)
{
    to->prefetched = *(const CUmemLocation *)data;
}

static bool remember(CUdeviceptr address, size_t size, const CUmemLocation *location, bool pageable)
{
    return pageable || mr_advice_update((uintptr_t)address, size, apply_prefetch, location);
}

static CUresult prefetch(CUdeviceptr address, size_t size, const CUmemLocation *location, unsigned flags,
                         CUstream handle)
{
    struct mr_stream *stream;
    bool pageable;
    CUresult status = mr_stream_resolve(handle, &stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_refuse(stream);
    if (status == CUDA_SUCCESS && flags)
        status = mr_bad_value("flags are %#x; they must be 0", flags);
    if (status == CUDA_SUCCESS)
        status = mr_managed_check(address, size, &pageable);
    if (status == CUDA_SUCCESS)
        status = mr_managed_location_check(location);
    if (status != CUDA_SUCCESS)
        return status;
    struct hints *hints;
    struct mr_command *command = command_new(1, &hints);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    hint_pages(&hints->ranges[0], address, size);
    hints->ranges[0].advice[0] = prefetch_advice(location, size, pageable);
    if (remember(address, size, location, pageable))
        return mr_stream_submit(stream, command);
    mr_command_free(command);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                  CUstream hStream)
{
    return prefetch(devPtr, count, &location, flags, hStream);
}

CUresult mr_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    CUmemLocation location;
    CUresult status = mr_managed_location(dstDevice, &location);
    return status == CUDA_SUCCESS ? prefetch(devPtr, count, &location, 0, hStream) : status;
}

/* ---- batches ---- */

/* What the three functions below have in common; `locations` is NULL for one that has none. */
struct batch {
    const CUdeviceptr *addresses;
    const size_t *sizes;
    size_t count;
    const CUmemLocation *locations;
    const size_t *starts;    /* the range from which on a location holds */
    size_t location_count;
    unsigned long long flags;
    CUstream stream;
    bool discards, prefetches;
};

static CUresult check_locations(const struct batch *batch)
{
    if (!batch->locations || !batch->starts || !batch->location_count || batch->location_count > batch->count)
        return mr_bad_value("there are %zu locations for %zu ranges, or a list is null", batch->location_count,
                            batch->count);
    for (size_t i = 0; i < batch->location_count; i++) {
        size_t before = i ? batch->starts[i - 1] : 0;
        if ((i == 0 && batch->starts[0] != 0) || batch->starts[i] < before || batch->starts[i] >= batch->count)
            return mr_bad_value("location %zu begins at range %zu: they begin with 0, rise, and are below %zu", i,
                                batch->starts[i], batch->count);
        CUresult status = mr_managed_location_check(&batch->locations[i]);
        if (status != CUDA_SUCCESS)
            return status;
    }
    return CUDA_SUCCESS;
}

static CUresult check_batch(const struct batch *batch)
{
    if (!batch->addresses || !batch->sizes || !batch->count)
        return mr_bad_value("there are no ranges, or a list is null");
    if (batch->flags)
        return mr_bad_value("flags are %#llx; they must be 0", batch->flags);
    if (batch->stream == NULL || batch->stream == CU_STREAM_LEGACY)
        return mr_bad_value("batches go to a stream of their own, not to the default stream");
    return batch->prefetches ? check_locations(batch) : CUDA_SUCCESS;
}

/* Checks range `i` and says what is to be done with it. */
static CUresult take_range(const struct batch *batch, size_t i, const CUmemLocation *location, struct hint *hint)
{
    bool pageable;
    CUresult status = mr_managed_check(batch->addresses[i], batch->sizes[i], &pageable);
    if (status == CUDA_SUCCESS && pageable && batch->discards)
        status = mr_bad_value("range %zu is not managed memory", i);
    if (status != CUDA_SUCCESS)
        return status;
    if (batch->discards) {
        hint_inner_pages(hint, batch->addresses[i], batch->sizes[i]);
        hint->advice[0] = MADV_FREE;
    } else {
        hint_pages(hint, batch->addresses[i], batch->sizes[i]);
    }
    if (batch->prefetches)
        hint->advice[1] = prefetch_advice(location, batch->sizes[i], pageable);
    return CUDA_SUCCESS;
}

/* The location that holds for range `i`; `at` is the one of the range before it. */
static size_t location_at(const struct batch *batch, size_t i, size_t at)
{
    while (at + 1 < batch->location_count && batch->starts[at + 1] <= i)
        at++;
    return at;
}

static CUresult run_batch(const struct batch *batch)
{
    struct mr_stream *stream;
    struct mr_allocation found;
    CUresult status = mr_stream_resolve(batch->stream, &stream);
    if (status == CUDA_SUCCESS || !batch->stream)
        status = check_batch(batch);
    if (status == CUDA_SUCCESS)
        status = mr_capture_refuse(stream);
    if (status != CUDA_SUCCESS)
        return status;
    struct hints *hints;
    struct mr_command *command = command_new(batch->count, &hints);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0, at = 0; i < batch->count && status == CUDA_SUCCESS; i++) {
        at = location_at(batch, i, at);
        status = take_range(batch, i, batch->prefetches ? &batch->locations[at] : NULL, &hints->ranges[i]);
    }
    for (size_t i = 0, at = 0; batch->prefetches && i < batch->count && status == CUDA_SUCCESS; i++) {
        at = location_at(batch, i, at);
        bool pageable = !mr_memory_find((uintptr_t)batch->addresses[i], &found);
        if (!remember(batch->addresses[i], batch->sizes[i], &batch->locations[at], pageable))
            status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (status == CUDA_SUCCESS)
        return mr_stream_submit(stream, command);
    mr_command_free(command);
    return status;
}

CUresult mr_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
                                    size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                    CUstream hStream)
{
    return run_batch(&(struct batch){.addresses = dptrs,
                                     .sizes = sizes,
                                     .count = count,
                                     .locations = prefetchLocs,
                                     .starts = prefetchLocIdxs,
                                     .location_count = numPrefetchLocs,
                                     .flags = flags,
                                     .stream = hStream,
                                     .prefetches = true});
}

CUresult mr_cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags,
                                   CUstream hStream)
{
    return run_batch(&(struct batch){
        .addresses = dptrs, .sizes = sizes, .count = count, .flags = flags, .stream = hStream, .discards = true});
}

CUresult mr_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                              CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                              size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
    return run_batch(&(struct batch){.addresses = dptrs,
                                     .sizes = sizes,
                                     .count = count,
                                     .locations = prefetchLocs,
                                     .starts = prefetchLocIdxs,
                                     .location_count = numPrefetchLocs,
                                     .flags = flags,
                                     .stream = hStream,
                                     .discards = true,
                                     .prefetches = true});
}
