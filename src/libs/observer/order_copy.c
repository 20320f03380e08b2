/* SPDX-License-Identifier: Apache-2.0 */
/* Which copies and fills the host has waited for when the call returns (order_call.h).
 *
 * The manual's page on the synchronisation behaviour of the API says it by the kinds of memory on both sides. A
 * synchronous copy to host memory, or from pinned memory, has been done. One from pageable memory has read its source,
 * and the rest may follow; of more than 64 KiB it has been done, by luck. One between device memory waits for nothing.
 * An asynchronous copy to pageable memory has been done. A synchronous fill has been done if it filled pinned or
 * managed memory. Managed memory counts as the device's in copies.
 *
 * Copies between contexts also say which contexts they are in order with (obs_order_meet_before). */
#include "libs/observer/order_call.h"

enum side { DEVICE, PAGEABLE, PINNED, MANAGED };

/* Memory that is made first and mapped later, and that of pools, may be the host's. */
static enum side side_by_driver(uint64_t address)
{
    int device;
    if (!obs_driver.driver->kind)
        return DEVICE;
    enum mr_observed_memory_kind kind = obs_driver.driver->kind((uintptr_t)address, &device);
    return kind == MR_OBSERVED_PINNED ? PINNED : kind == MR_OBSERVED_MANAGED ? MANAGED : DEVICE;
}

static enum side side_of(uint64_t address)
{
    enum mr_allocation_kind kind;
    if (!obs_generation_kind_at((uintptr_t)address, UINT64_MAX, &kind))
        return PAGEABLE;
    switch (kind) {
    case MR_ALLOCATION_PINNED:
    case MR_ALLOCATION_REGISTERED:
        return PINNED;
    case MR_ALLOCATION_MANAGED:
        return MANAGED;
    case MR_ALLOCATION_MAPPED:
    case MR_ALLOCATION_POOL:
    case MR_ALLOCATION_IMPORTED:
        return side_by_driver(address);
    default:
        return DEVICE;
    }
}

static bool waits(enum side to, enum side from, bool asynchronous)
{
    if (to == PAGEABLE)
        return true;
    if (asynchronous)
        return to == PINNED && from == PAGEABLE;
    return (to == PINNED || from == PINNED) && to != MANAGED && from != MANAGED;
}

static void decide(struct obs_call *call, enum side to, enum side from, bool asynchronous)
{
    call->waits = waits(to, from, asynchronous);
    call->waits_if_large = !asynchronous && to == DEVICE && from == PAGEABLE;
}

/* `to` and `from` of a family are 0 where that side is an array. */
static void between(struct obs_call *call, bool asynchronous)
{
    const struct obs_family *family = call->family;
    enum side to = family->to ? side_of(obs_param_handle(call, family->to)) : DEVICE;
    enum side from = family->from ? side_of(obs_param_handle(call, family->from)) : DEVICE;
    decide(call, to, from, asynchronous);
}

void obs_copy_enter(struct obs_call *call)
{
    between(call, false);
}

void obs_copy_async_enter(struct obs_call *call)
{
    between(call, true);
}

static void between_contexts(struct obs_call *call, CUcontext to, CUcontext from, bool asynchronous)
{
    call->peers[0] = to;
    call->peers[1] = from == to ? NULL : from;
    call->peers_by_luck = asynchronous;
}

static void peer(struct obs_call *call, bool asynchronous)
{
    CUcontext to = (CUcontext)obs_param_handle(call, call->family->object);
    CUcontext from = (CUcontext)obs_param_handle(call, call->family->size);
    between(call, asynchronous);
    between_contexts(call, to, from, asynchronous);
}

void obs_peer_enter(struct obs_call *call)
{
    peer(call, false);
}

void obs_peer_async_enter(struct obs_call *call)
{
    peer(call, true);
}

static enum side side_of_box(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_ARRAY  ? DEVICE
           : type == CU_MEMORYTYPE_HOST ? side_of((uintptr_t)host)
                                        : side_of(device);
}

/* `number` of a family says which record describes the box. */
static void box(struct obs_call *call, bool asynchronous)
{
    const void *record = (const void *)obs_param_handle(call, call->family->object);
    enum side to, from;
    if (!record)
        return;
    if (call->family->number == 2) {
        const CUDA_MEMCPY2D *copy = record;
        to = side_of_box(copy->dstMemoryType, copy->dstHost, copy->dstDevice);
        from = side_of_box(copy->srcMemoryType, copy->srcHost, copy->srcDevice);
    } else if (call->family->number == 3) {
        const CUDA_MEMCPY3D *copy = record;
        to = side_of_box(copy->dstMemoryType, copy->dstHost, copy->dstDevice);
        from = side_of_box(copy->srcMemoryType, copy->srcHost, copy->srcDevice);
    } else {
        const CUDA_MEMCPY3D_PEER *copy = record;
        to = side_of_box(copy->dstMemoryType, copy->dstHost, copy->dstDevice);
        from = side_of_box(copy->srcMemoryType, copy->srcHost, copy->srcDevice);
        between_contexts(call, copy->dstContext, copy->srcContext, asynchronous);
    }
    decide(call, to, from, asynchronous);
}

void obs_box_enter(struct obs_call *call)
{
    box(call, false);
}

void obs_box_async_enter(struct obs_call *call)
{
    box(call, true);
}

void obs_fill_enter(struct obs_call *call)
{
    enum side to = side_of(obs_param_handle(call, call->family->to));
    call->waits = to == PINNED || to == MANAGED;
}

/* bind has left in `point` where the work stands. */
void obs_copy_leave(struct obs_call *call)
{
    if (!call->waits && !call->lucky)
        return;
    obs_order_lock();
    obs_order_known(&call->point, call->waits ? OBS_EDGES_DOCUMENTED : OBS_EDGES_ALL);
    struct obs_stream *stream = obs_call_stream(call);
    if (stream)
        obs_order_settle_stream(stream);
    obs_order_unlock();
}
