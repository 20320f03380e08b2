/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which freed memory a pool hands out again, and when: by the order of one
 * stream, by dependency on another, because the free is complete, or by a
 * dependency that the driver adds.
 *
 * A case draws a situation in which a block was freed and another is asked
 * for, and says whether the block came back.  Most do so for all eight settings of
 * the three reuse attributes: bit 0 follow events, bit 1 opportunistic, bit 2
 * internal dependencies.
 *
 * Blocks of 32 MiB fill the smallest piece that the H200's pools reserve, so a block
 * that is not given back means that the pool grew.
 */
#include "gold.h"

#include <string.h>

#define MIB ((size_t)1 << 20)
#define BLOCK (32 * MIB)

static CUmemoryPool pool_with(unsigned reuse, size_t most)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = gold_device();
    props.maxSize = most;
    CUmemoryPool pool;
    NEED(cuMemPoolCreate(&pool, &props));
    for (int i = 0; i < 3; i++) {
        int on = reuse >> i & 1;
        NEED(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES + i),
                                   &on));
    }
    cuuint64_t all = UINT64_MAX;
    NEED(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    return pool;
}

static CUdeviceptr take(CUmemoryPool pool, size_t size, CUstream stream)
{
    CUdeviceptr address;
    NEED(cuMemAllocFromPoolAsync(&address, size, pool, stream));
    return address;
}

static long long number(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t value = 0;
    NEED(cuMemPoolGetAttribute(pool, attribute, &value));
    return (long long)value;
}

/* One situation: frees `block`, which is live, and asks for another; gates are opened and streams awaited after it. */
struct scene {
    CUmemoryPool pool;
    CUstream a, b, c;
    CUdeviceptr block;
    struct gold_gate gate;
    bool gated;
};

static void scene_gate(struct scene *scene, CUstream stream)
{
    scene->gate = gold_gate_close(stream);
    scene->gated = true;
}

static void scene_free(struct scene *scene, CUstream stream)
{
    NEED(cuMemFreeAsync(scene->block, stream));
}

static void scene_order(CUstream first, CUstream second)
{
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    NEED(cuEventRecord(event, first));
    NEED(cuStreamWaitEvent(second, event, 0));
    NEED(cuEventDestroy(event));
}

static void each_setting(CUdeviceptr (*situation)(struct scene *), unsigned flags)
{
    for (unsigned reuse = 0; reuse < 8; reuse++) {
        struct scene scene = {.pool = pool_with(reuse, 0)};
        scene.a = gold_stream(flags);
        scene.b = gold_stream(flags);
        scene.c = gold_stream(flags);
        scene.block = take(scene.pool, BLOCK, scene.a);
        NEED(cuStreamSynchronize(scene.a));
        CUdeviceptr next = situation(&scene);
        say_text(next == scene.block ? "same" : "other");
        if (scene.gated)
            gold_gate_open(scene.gate);
        NEED(cuStreamSynchronize(scene.a));
        NEED(cuStreamSynchronize(scene.b));
        NEED(cuStreamSynchronize(scene.c));
        NEED(cuMemFreeAsync(next, scene.a));
        NEED(cuStreamSynchronize(scene.a));
        NEED(cuMemPoolDestroy(scene.pool));
        NEED(cuStreamDestroy(scene.a));
        NEED(cuStreamDestroy(scene.b));
        NEED(cuStreamDestroy(scene.c));
    }
}

/* ---- one stream ---- */

static CUdeviceptr same_stream(struct scene *s)
{
    scene_gate(s, s->a);
    scene_free(s, s->a);
    return take(s->pool, BLOCK, s->a);
}

CASE(mempool_order, same_stream)
{
    each_setting(same_stream, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr same_stream_smaller(struct scene *s)
{
    scene_gate(s, s->a);
    scene_free(s, s->a);
    return take(s->pool, 4096, s->a);
}

CASE(mempool_order, same_stream_smaller)
{
    each_setting(same_stream_smaller, CU_STREAM_NON_BLOCKING);
}

/* ---- another stream, nothing between ---- */

static CUdeviceptr other_pending(struct scene *s)
{
    scene_gate(s, s->a);
    scene_free(s, s->a);
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, other_pending)
{
    each_setting(other_pending, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr other_complete(struct scene *s)
{
    scene_free(s, s->a);
    NEED(cuStreamSynchronize(s->a));
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, other_complete)
{
    each_setting(other_complete, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr other_complete_by_query(struct scene *s)
{
    scene_free(s, s->a);
    NEED(gold_wait_stream(s->a, 2000));
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, other_complete_by_query)
{
    each_setting(other_complete_by_query, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr other_complete_by_event(struct scene *s)
{
    CUevent event = gold_event(0);
    scene_free(s, s->a);
    NEED(cuEventRecord(event, s->a));
    NEED(cuEventSynchronize(event));
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, other_complete_by_event)
{
    each_setting(other_complete_by_event, CU_STREAM_NON_BLOCKING);
}

/* ---- another stream, ordered by events ---- */

static CUdeviceptr event_pending(struct scene *s)
{
    scene_gate(s, s->a);
    scene_free(s, s->a);
    scene_order(s->a, s->b);
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, event_pending)
{
    each_setting(event_pending, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr event_before_free(struct scene *s)
{
    scene_gate(s, s->a);
    scene_order(s->a, s->b);
    scene_free(s, s->a);
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, event_before_free)
{
    each_setting(event_before_free, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr event_through_third(struct scene *s)
{
    scene_gate(s, s->a);
    scene_free(s, s->a);
    scene_order(s->a, s->c);
    scene_order(s->c, s->b);
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, event_through_third)
{
    each_setting(event_through_third, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr event_with_work_between(struct scene *s)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    scene_gate(s, s->a);
    scene_free(s, s->a);
    gold_store(s->a, word, 1);
    scene_order(s->a, s->b);
    gold_store(s->b, word, 2);
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, event_with_work_between)
{
    each_setting(event_with_work_between, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr event_recorded_again(struct scene *s)
{
    CUevent event = gold_event(0);
    NEED(cuEventRecord(event, s->a));
    scene_gate(s, s->a);
    scene_free(s, s->a);
    NEED(cuEventRecord(event, s->a));
    NEED(cuStreamWaitEvent(s->b, event, 0));
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, event_recorded_again)
{
    each_setting(event_recorded_again, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr event_wrong_way(struct scene *s)
{
    scene_gate(s, s->a);
    scene_free(s, s->a);
    scene_order(s->b, s->a);
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, event_wrong_way)
{
    each_setting(event_wrong_way, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr freed_elsewhere(struct scene *s)
{
    /* The stream that allocated asks again, but the free is another's. */
    scene_gate(s, s->b);
    scene_free(s, s->b);
    return take(s->pool, BLOCK, s->a);
}

CASE(mempool_order, freed_elsewhere)
{
    each_setting(freed_elsewhere, CU_STREAM_NON_BLOCKING);
}

/* ---- the default streams ---- */

static CUdeviceptr legacy_after(struct scene *s)
{
    scene_gate(s, s->a);
    scene_free(s, s->a);
    return take(s->pool, BLOCK, CU_STREAM_LEGACY);
}

CASE(mempool_order, legacy_after_blocking)
{
    each_setting(legacy_after, 0);
}

CASE(mempool_order, legacy_after_non_blocking)
{
    each_setting(legacy_after, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr legacy_before(struct scene *s)
{
    scene_gate(s, CU_STREAM_LEGACY);
    scene_free(s, CU_STREAM_LEGACY);
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, legacy_before_blocking)
{
    each_setting(legacy_before, 0);
}

CASE(mempool_order, legacy_before_non_blocking)
{
    each_setting(legacy_before, CU_STREAM_NON_BLOCKING);
}

static CUdeviceptr legacy_between(struct scene *s)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    scene_gate(s, s->a);
    scene_free(s, s->a);
    gold_store(NULL, word, 1);
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, legacy_between_blocking, .alone = true, .allow = "other same other same other same other same",
     .why = "hardware may crash")
{
    each_setting(legacy_between, 0);
}

/* ---- a free in the legacy stream, while a blocking stream uses the block ---- */

/* Says also whether work of the new owner waits, where it got the block. */
static CUdeviceptr used_then_taken(struct scene *s, CUstream freer, CUstream taker)
{
    scene_gate(s, s->a);
    gold_store(s->a, s->block, 1);
    scene_free(s, freer);
    gold_sleep_ms(50);
    CUdeviceptr next = take(s->pool, BLOCK, taker);
    if (next == s->block) {
        gold_store(taker, next, 2);
        say_if("waits", gold_wait_stream(taker, 200) == CUDA_ERROR_NOT_READY);
    }
    return next;
}

static CUdeviceptr freed_in_legacy_for_blocking(struct scene *s)
{
    return used_then_taken(s, CU_STREAM_LEGACY, s->b);
}

CASE(mempool_order, freed_in_legacy_for_blocking)
{
    each_setting(freed_in_legacy_for_blocking, 0);
}

static CUdeviceptr freed_in_legacy_for_legacy(struct scene *s)
{
    return used_then_taken(s, CU_STREAM_LEGACY, CU_STREAM_LEGACY);
}

CASE(mempool_order, freed_in_legacy_for_legacy)
{
    each_setting(freed_in_legacy_for_legacy, 0);
}

static CUdeviceptr freed_in_legacy_for_non_blocking(struct scene *s)
{
    CUstream apart = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr next = used_then_taken(s, CU_STREAM_LEGACY, apart);
    NEED(cuStreamDestroy(apart));
    return next;
}

CASE(mempool_order, freed_in_legacy_for_non_blocking)
{
    each_setting(freed_in_legacy_for_non_blocking, 0);
}

/* The stream that uses the block is destroyed before the free. */
static CUdeviceptr freed_after_stream(struct scene *s)
{
    CUstream used, apart = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamCreate(&used, 0));
    scene_gate(s, used);
    gold_store(used, s->block, 1);
    NEED(cuStreamDestroy(used));
    scene_free(s, CU_STREAM_LEGACY);
    gold_sleep_ms(50);
    CUdeviceptr next = take(s->pool, BLOCK, apart);
    NEED(cuStreamDestroy(apart));
    return next;
}

CASE(mempool_order, freed_in_legacy_after_stream)
{
    each_setting(freed_after_stream, 0);
}

/* The same without the legacy stream's rules: nothing orders the free and the use. */
static CUdeviceptr freed_apart_for_non_blocking(struct scene *s)
{
    CUstream apart = gold_stream(CU_STREAM_NON_BLOCKING), taker = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr next = used_then_taken(s, apart, taker);
    NEED(cuStreamDestroy(apart));
    NEED(cuStreamDestroy(taker));
    return next;
}

CASE(mempool_order, freed_apart_for_non_blocking)
{
    each_setting(freed_apart_for_non_blocking, 0);
}

/* The legacy stream uses the block, and a blocking one frees it. */
static CUdeviceptr used_in_legacy(struct scene *s)
{
    CUstream apart = gold_stream(CU_STREAM_NON_BLOCKING);
    scene_gate(s, CU_STREAM_LEGACY);
    gold_store(CU_STREAM_LEGACY, s->block, 1);
    scene_free(s, s->b);
    gold_sleep_ms(50);
    CUdeviceptr next = take(s->pool, BLOCK, apart);
    if (next == s->block) {
        gold_store(apart, next, 2);
        say_if("waits", gold_wait_stream(apart, 200) == CUDA_ERROR_NOT_READY);
    }
    NEED(cuStreamDestroy(apart));
    return next;
}

CASE(mempool_order, used_in_legacy_freed_in_blocking)
{
    each_setting(used_in_legacy, 0);
}

/* An allocation that waits for its block's old owner, and nothing behind it in its stream: does other work wait, too?
 */
struct awaited {
    CUmemoryPool pool;
    CUstream old;
    struct gold_gate gate;
    CUdeviceptr block;
};

static struct awaited awaited_begin(CUstream taker)
{
    struct awaited awaited = {.pool = pool_with(6, BLOCK), .old = gold_stream(CU_STREAM_NON_BLOCKING)};
    CUdeviceptr first = take(awaited.pool, BLOCK, awaited.old);
    NEED(cuStreamSynchronize(awaited.old));
    awaited.gate = gold_gate_close(awaited.old);
    NEED(cuMemFreeAsync(first, awaited.old));
    awaited.block = take(awaited.pool, BLOCK, taker);
    return awaited;
}

static void awaited_end(struct awaited *awaited)
{
    gold_gate_open(awaited->gate);
    NEED(cuCtxSynchronize());
    NEED(cuMemPoolDestroy(awaited->pool));
}

static void awaited_and_used(CUstream taker, CUstream user)
{
    struct awaited awaited = awaited_begin(taker);
    gold_store(user, awaited.block, 1);
    say_if("waits", gold_wait_stream(user, 200) == CUDA_ERROR_NOT_READY);
    NEED(cuMemFreeAsync(awaited.block, user));
    awaited_end(&awaited);
}

static void awaited_and_freed(CUstream taker, CUstream freer, bool ends)
{
    struct awaited awaited = awaited_begin(taker);
    if (ends)
        NEED(cuStreamDestroy(taker));
    NEED(cuMemFreeAsync(awaited.block, freer));
    gold_sleep_ms(50);
    int off = 0;
    NEED(cuMemPoolSetAttribute(awaited.pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &off));
    CUdeviceptr next = 0;
    CUstream apart = gold_stream(CU_STREAM_NON_BLOCKING);
    CUresult status = cuMemAllocFromPoolAsync(&next, BLOCK, awaited.pool, apart);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuMemFreeAsync(next, apart));
    awaited_end(&awaited);
}

CASE(mempool_order, awaited_in_blocking_used_in_legacy)
{
    awaited_and_used(gold_stream(0), CU_STREAM_LEGACY);
}

CASE(mempool_order, awaited_in_legacy_used_in_blocking)
{
    awaited_and_used(CU_STREAM_LEGACY, gold_stream(0));
}

CASE(mempool_order, awaited_in_blocking_freed_there)
{
    CUstream stream = gold_stream(0);
    awaited_and_freed(stream, stream, false);
}

CASE(mempool_order, awaited_in_blocking_freed_in_legacy)
{
    awaited_and_freed(gold_stream(0), CU_STREAM_LEGACY, false);
}

CASE(mempool_order, awaited_in_blocking_freed_after_it)
{
    CUstream stream;
    NEED(cuStreamCreate(&stream, 0));
    awaited_and_freed(stream, CU_STREAM_LEGACY, true);
}

CASE(mempool_order, awaited_in_legacy_freed_in_blocking)
{
    awaited_and_freed(CU_STREAM_LEGACY, gold_stream(0), false);
}

CASE(mempool_order, trim_while_freed_in_legacy)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(0);
    CUdeviceptr block = take(pool, BLOCK, a);
    NEED(cuStreamSynchronize(a));
    struct gold_gate gate = gold_gate_close(a);
    NEED(cuMemFreeAsync(block, CU_STREAM_LEGACY));
    gold_sleep_ms(50);
    say(cuStreamQuery(CU_STREAM_LEGACY));
    NEED(cuMemPoolTrimTo(pool, 0));
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(CU_STREAM_LEGACY));
    NEED(cuMemPoolTrimTo(pool, 0));
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    NEED(cuMemPoolDestroy(pool));
}

/* ---- streams that end ---- */

static CUdeviceptr stream_ended(struct scene *s)
{
    CUstream gone = gold_stream(CU_STREAM_NON_BLOCKING);
    scene_gate(s, gone);
    scene_free(s, gone);
    NEED(cuStreamDestroy(gone));
    return take(s->pool, BLOCK, s->b);
}

CASE(mempool_order, stream_ended)
{
    each_setting(stream_ended, CU_STREAM_NON_BLOCKING);
}

/* ---- a dependency that the driver adds ---- */

static void limited(unsigned reuse)
{
    CUmemoryPool pool = pool_with(reuse, BLOCK);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING), b = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = take(pool, BLOCK, a), next = 0;
    NEED(cuStreamSynchronize(a));
    struct gold_gate gate = gold_gate_close(a);
    NEED(cuMemFreeAsync(block, a));
    CUresult status = cuMemAllocFromPoolAsync(&next, BLOCK, pool, b);
    say(status);
    if (status == CUDA_SUCCESS)
        say_text(next == block ? "same" : "other");
    say(cuStreamQuery(a));
    say(cuStreamQuery(b));
    gold_gate_open(gate);
    say(gold_wait_stream(b, 2000));
    NEED(cuStreamSynchronize(a));
    if (status == CUDA_SUCCESS)
        NEED(cuMemFreeAsync(next, b));
    NEED(cuStreamSynchronize(b));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, internal_when_full)
{
    limited(7);
}

CASE(mempool_order, internal_alone_when_full)
{
    limited(4);
}

CASE(mempool_order, no_internal_when_full)
{
    limited(3);
}

CASE(mempool_order, opportunistic_when_full)
{
    limited(2);
}

CASE(mempool_order, internal_keeps_contents)
{
    /* What was in the block is read by its old owner after the new owner asked for it. */
    CUmemoryPool pool = pool_with(7, BLOCK);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING), b = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = take(pool, BLOCK, a), next = 0, word = gold_alloc_words(1, 0);
    NEED(cuMemsetD32Async(block, 11, 1024, a));
    struct gold_gate gate = gold_gate_close(a);
    NEED(cuMemcpyDtoDAsync(word, block, 4, a));
    NEED(cuMemFreeAsync(block, a));
    say(cuMemAllocFromPoolAsync(&next, BLOCK, pool, b));
    NEED(cuMemsetD32Async(next, 22, 1024, b));
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(a));
    NEED(cuStreamSynchronize(b));
    say_int(gold_word(word));
    say_int(gold_word(next));
    NEED(cuMemFreeAsync(next, b));
    NEED(cuStreamSynchronize(b));
    NEED(cuMemPoolDestroy(pool));
}

/* ---- how calls behave while work is pending ---- */

CASE(mempool_order, alloc_returns_at_once)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(a);
    CUdeviceptr block = 0;
    say(cuMemAllocFromPoolAsync(&block, 4096, pool, a));
    say(cuStreamQuery(a));
    CUdeviceptr size_start = 0;
    say(cuPointerGetAttribute(&size_start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, block));
    say_if("known", size_start == block);
    say(cuMemFreeAsync(block, a));
    say(cuStreamQuery(a));
    gold_gate_open(gate);
    say(cuStreamSynchronize(a));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, alloc_in_other_stream_is_ready)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING), b = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(a);
    CUdeviceptr one = take(pool, 4096, a), two = take(pool, 4096, b);
    say(cuStreamSynchronize(b));
    say_if("differ", one != two);
    say(cuStreamQuery(a));
    gold_gate_open(gate);
    say(cuStreamSynchronize(a));
    NEED(cuMemFreeAsync(one, a));
    NEED(cuMemFreeAsync(two, a));
    NEED(cuStreamSynchronize(a));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, used_while_free_is_pending)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = take(pool, BLOCK, a);
    struct gold_gate gate = gold_gate_close(a);
    say_value("live", number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    NEED(cuMemFreeAsync(block, a));
    say_value("pending", number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(a));
    say_value("done", number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, attributes_after_pending_free, .alone = true)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = take(pool, BLOCK, a), start = 0;
    struct gold_gate gate = gold_gate_close(a);
    NEED(cuMemFreeAsync(block, a));
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, block));
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(a));
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, block));
    say(cuMemPoolTrimTo(pool, 0));
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, block));
}

CASE(mempool_order, sync_free_while_pending)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = take(pool, 4096, a);
    struct gold_gate gate = gold_gate_close(a);
    NEED(cuMemFreeAsync(block, a));
    say(cuMemFree(block));
    gold_gate_open(gate);
    say(cuStreamSynchronize(a));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, trim_while_free_is_pending)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = take(pool, BLOCK, a);
    struct gold_gate gate = gold_gate_close(a);
    NEED(cuMemFreeAsync(block, a));
    say(cuMemPoolTrimTo(pool, 0));
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    say(cuStreamQuery(a));
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(a));
    say(cuMemPoolTrimTo(pool, 0));
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, destroy_while_free_is_pending)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = take(pool, BLOCK, a);
    struct gold_gate gate = gold_gate_close(a);
    NEED(cuMemFreeAsync(block, a));
    say(cuMemPoolDestroy(pool));
    say(cuStreamQuery(a));
    gold_gate_open(gate);
    say(cuStreamSynchronize(a));
}

/* ---- splitting and joining ---- */

CASE(mempool_order, split)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = take(pool, BLOCK, a);
    NEED(cuMemFreeAsync(block, a));
    bool inside = true;
    for (int i = 0; i < 8; i++) {
        CUdeviceptr part = take(pool, 4 * MIB, a);
        inside = inside && part >= block && part + 4 * MIB <= block + BLOCK;
    }
    say_if("inside", inside);
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    NEED(cuStreamSynchronize(a));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, join)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr parts[8];
    for (int i = 0; i < 8; i++)
        parts[i] = take(pool, 4 * MIB, a);
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    for (int i = 0; i < 8; i++)
        NEED(cuMemFreeAsync(parts[i], a));
    CUdeviceptr whole = take(pool, BLOCK, a);
    say_if("same", whole == parts[0]);
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    NEED(cuStreamSynchronize(a));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, newest_first)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr one = take(pool, BLOCK, a), two = take(pool, BLOCK, a);
    NEED(cuMemFreeAsync(one, a));
    NEED(cuMemFreeAsync(two, a));
    CUdeviceptr next = take(pool, BLOCK, a);
    say_if("one_of_them", next == one || next == two);
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    NEED(cuStreamSynchronize(a));
    NEED(cuMemPoolDestroy(pool));
}

CASE(mempool_order, loop_needs_one_block)
{
    CUmemoryPool pool = pool_with(7, 0);
    CUstream a = gold_stream(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < 100; i++) {
        CUdeviceptr block = take(pool, 20 * MIB, a);
        NEED(cuMemsetD32Async(block, (unsigned)i, 16, a));
        NEED(cuMemFreeAsync(block, a));
    }
    say_value("reserved", number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
    NEED(cuStreamSynchronize(a));
    NEED(cuMemPoolDestroy(pool));
}

/* ---- contexts ---- */

static CUdeviceptr other_context(struct scene *s)
{
    scene_gate(s, s->a);
    scene_free(s, s->a);
    gold_context_new();
    CUstream there = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr next = take(s->pool, BLOCK, there);
    NEED(cuStreamSynchronize(there));
    NEED(cuCtxSetCurrent(gold_context()));
    return next;
}

CASE(mempool_order, other_context_pending, .alone = true)
{
    struct scene scene = {.pool = pool_with(3, 0)};
    scene.a = gold_stream(CU_STREAM_NON_BLOCKING);
    scene.b = gold_stream(CU_STREAM_NON_BLOCKING);
    scene.block = take(scene.pool, BLOCK, scene.a);
    CUdeviceptr next = other_context(&scene);
    say_text(next == scene.block ? "same" : "other");
    gold_gate_open(scene.gate);
    say(cuStreamSynchronize(scene.a));
}
