/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between two contexts, of two devices or of one, and the work that the
 * other one has: what a copy comes after besides its own stream, and what comes after it.
 */
#include "gold.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define TWO .devices = 2, .alone = true
#define ONE .alone = true

enum { EARLIER = 1, LATER = 2, COPIED = 5, ADDED = 10, SMALL = 4, LARGE = 1 << 20 };

/* HOST: pinned memory has the place of the second context's. */
enum form { PEER, PEER_ASYNC, BOX, BOX_ASYNC, PLAIN, PLAIN_ASYNC, UNIFIED, UNIFIED_ASYNC, HOST, HOST_ASYNC };

/* Where work is put: the default stream, one that goes with it, one that does not. */
enum where { DEFAULT, BLOCKING, FREE, PLACES };

static CUstream stream_at(enum where where)
{
    return where == DEFAULT ? NULL : gold_stream(where == FREE ? CU_STREAM_NON_BLOCKING : 0);
}

/* The other context, current. */
static CUcontext context_two(int ordinal)
{
    CUdevice device;
    CUcontext context;
    NEED(cuDeviceGet(&device, ordinal));
    NEED(cuCtxCreate(&context, NULL, 0, device));
    return context;
}

static CUfunction function_here(const char *name)
{
    CUfunction function;
    NEED(cuModuleGetFunction(&function, gold_load(gold_ptx), name));
    return function;
}

static CUdeviceptr memory_two(enum form form)
{
    void *pinned;
    if (form != HOST && form != HOST_ASYNC)
        return gold_alloc(LARGE);
    NEED(cuMemHostAlloc(&pinned, LARGE, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    return (CUdeviceptr)(uintptr_t)pinned;
}

static CUresult copy_host(CUdeviceptr to, CUdeviceptr from, bool to_first, size_t bytes, CUstream stream, bool async)
{
    if (to_first)
        return async ? cuMemcpyHtoDAsync(to, (void *)(uintptr_t)from, bytes, stream)
                     : cuMemcpyHtoD(to, (void *)(uintptr_t)from, bytes);
    return async ? cuMemcpyDtoHAsync((void *)(uintptr_t)to, from, bytes, stream)
                 : cuMemcpyDtoH((void *)(uintptr_t)to, from, bytes);
}

static void copy(enum form form, CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                 size_t bytes, CUstream stream)
{
    CUDA_MEMCPY3D_PEER box;
    memset(&box, 0, sizeof box);
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = from;
    box.srcContext = from_context;
    box.dstDevice = to;
    box.dstContext = to_context;
    box.srcPitch = box.dstPitch = box.WidthInBytes = bytes;
    box.srcHeight = box.dstHeight = box.Height = box.Depth = 1;
    switch (form) {
    case PEER:
        NEED(cuMemcpyPeer(to, to_context, from, from_context, bytes));
        break;
    case PEER_ASYNC:
        NEED(cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream));
        break;
    case BOX:
        NEED(cuMemcpy3DPeer(&box));
        break;
    case BOX_ASYNC:
        NEED(cuMemcpy3DPeerAsync(&box, stream));
        break;
    case PLAIN:
        NEED(cuMemcpyDtoD(to, from, bytes));
        break;
    case PLAIN_ASYNC:
        NEED(cuMemcpyDtoDAsync(to, from, bytes, stream));
        break;
    case UNIFIED:
        NEED(cuMemcpy(to, from, bytes));
        break;
    case UNIFIED_ASYNC:
        NEED(cuMemcpyAsync(to, from, bytes, stream));
        break;
    default:
        NEED(copy_host(to, from, to_context == gold_context(), bytes, stream, form == HOST_ASYNC));
        break;
    }
}

static bool has_stream(enum form form)
{
    return form == PEER_ASYNC || form == BOX_ASYNC || form == PLAIN_ASYNC || form == UNIFIED_ASYNC ||
           form == HOST_ASYNC;
}

/* What is not held back has this long to get done, in milliseconds: a busy machine may take a while to come to it. What
 * is held back costs as long. */
enum { PATIENCE = 250 };

static void wait_until_done(CUstream stream)
{
    for (unsigned i = 0; i < PATIENCE && cuStreamQuery(stream) != CUDA_SUCCESS; i++)
        gold_sleep_ms(1);
}

struct opener {
    struct gold_gate gate;
    atomic_bool copied;
};

static void *open_later(void *data)
{
    struct opener *opener = data;
    for (unsigned i = 0; i < PATIENCE && !atomic_load(&opener->copied); i++)
        gold_sleep_ms(1);
    gold_gate_open(opener->gate);
    return NULL;
}

/* What the first context has pending when a copy is given to the second: 'o': the copy comes after it, 'e': it does
 * not. A letter for each place of the pending work; a word for each place of the copy. */
static void before(enum form form, int device, bool to_first, size_t bytes)
{
    CUdeviceptr mine = gold_alloc(LARGE);
    CUstream pending[PLACES], own[PLACES];
    for (unsigned i = 0; i < PLACES; i++)
        pending[i] = stream_at(i);
    gold_function("store");
    CUcontext two = context_two(device);
    CUdeviceptr theirs = memory_two(form);
    for (unsigned i = 0; i < PLACES; i++)
        own[i] = stream_at(i);
    for (unsigned at = 0; at < (has_stream(form) ? PLACES : 1); at++) {
        char order[PLACES + 1] = "";
        for (unsigned i = 0; i < PLACES; i++) {
            pthread_t thread;
            NEED(cuCtxSetCurrent(gold_context()));
            NEED(cuMemsetD32(mine, EARLIER, LARGE / 4));
            NEED(cuCtxSynchronize());
            NEED(cuCtxSetCurrent(two));
            NEED(cuMemsetD32(theirs, COPIED, LARGE / 4));
            NEED(cuCtxSynchronize());
            NEED(cuCtxSetCurrent(gold_context()));
            struct opener opener = {.gate = gold_gate_close(pending[i])};
            gold_store(pending[i], mine, LATER);
            NEED(cuCtxSetCurrent(two));
            pthread_create(&thread, NULL, open_later, &opener);
            if (to_first)
                copy(form, mine, gold_context(), theirs, two, bytes, own[at]);
            else
                copy(form, theirs, two, mine, gold_context(), bytes, own[at]);
            wait_until_done(own[at]);
            atomic_store(&opener.copied, true);
            pthread_join(thread, NULL);
            NEED(cuCtxSynchronize());
            NEED(cuCtxSetCurrent(gold_context()));
            NEED(cuCtxSynchronize());
            unsigned got = gold_word(to_first ? mine : theirs);
            order[i] = got == (to_first ? COPIED : LATER) ? 'o' : got == (to_first ? LATER : EARLIER) ? 'e' : '?';
            NEED(cuCtxSetCurrent(two));
        }
        say_text(order);
    }
}

/* The first context has a copy pending; the second is given work. 'o': that comes after the copy, 'e': it does not. */
static void after(enum form form, int device, bool to_first)
{
    CUdeviceptr mine = gold_alloc(LARGE);
    CUstream own[PLACES], theirs_at[PLACES];
    for (unsigned i = 0; i < PLACES; i++)
        own[i] = stream_at(i);
    CUcontext two = context_two(device);
    CUdeviceptr theirs = memory_two(form);
    CUfunction add = function_here("add");
    CUdeviceptr target = to_first ? mine : theirs;
    for (unsigned i = 0; i < PLACES; i++)
        theirs_at[i] = stream_at(i);
    if (to_first && device != 0)
        NEED(cuCtxEnablePeerAccess(gold_context(), 0));
    for (unsigned at = 0; at < PLACES; at++) {
        char order[PLACES + 1] = "";
        for (unsigned i = 0; i < PLACES; i++) {
            unsigned added = ADDED;
            void *params[] = {&target, &added};
            NEED(cuCtxSetCurrent(two));
            NEED(cuMemsetD32(theirs, to_first ? COPIED : 0, LARGE / 4));
            NEED(cuCtxSynchronize());
            NEED(cuCtxSetCurrent(gold_context()));
            NEED(cuMemsetD32(mine, to_first ? 0 : COPIED, LARGE / 4));
            NEED(cuCtxSynchronize());
            struct gold_gate gate = gold_gate_close(own[at]);
            if (to_first)
                copy(form, mine, gold_context(), theirs, two, SMALL, own[at]);
            else
                copy(form, theirs, two, mine, gold_context(), SMALL, own[at]);
            NEED(cuCtxSetCurrent(two));
            NEED(gold_launch(add, 1, theirs_at[i], params));
            wait_until_done(theirs_at[i]);
            gold_gate_open(gate);
            NEED(cuCtxSynchronize());
            NEED(cuCtxSetCurrent(gold_context()));
            NEED(cuCtxSynchronize());
            unsigned got = gold_word(target);
            order[i] = got == COPIED + ADDED ? 'o' : got == COPIED ? 'e' : '?';
        }
        say_text(order);
    }
}

#define BEFORE(name, form) \
    CASE(multi, copy_after_pending_##name, TWO) \
    { \
        before(form, 1, false, SMALL); \
    } \
    CASE(multi, copy_after_pending_##name##_large, TWO) \
    { \
        before(form, 1, false, LARGE); \
    } \
    CASE(multi, copy_after_pending_##name##_to, TWO) \
    { \
        before(form, 1, true, SMALL); \
    } \
    CASE(context_copy, after_pending_##name, ONE) \
    { \
        before(form, 0, false, SMALL); \
    } \
    CASE(context_copy, after_pending_##name##_to, ONE) \
    { \
        before(form, 0, true, SMALL); \
    }
BEFORE(peer, PEER)
BEFORE(peer_async, PEER_ASYNC)
BEFORE(box, BOX)
BEFORE(box_async, BOX_ASYNC)
BEFORE(plain, PLAIN)
BEFORE(plain_async, PLAIN_ASYNC)
BEFORE(unified, UNIFIED)
BEFORE(unified_async, UNIFIED_ASYNC)

#define AFTER(name, form) \
    CASE(multi, work_after_copy_##name, TWO) \
    { \
        after(form, 1, false); \
    } \
    CASE(multi, work_after_copy_##name##_to, TWO) \
    { \
        after(form, 1, true); \
    } \
    CASE(context_copy, work_after_##name, ONE) \
    { \
        after(form, 0, false); \
    } \
    CASE(context_copy, work_after_##name##_to, ONE) \
    { \
        after(form, 0, true); \
    }
AFTER(peer_async, PEER_ASYNC)
AFTER(box_async, BOX_ASYNC)
AFTER(plain_async, PLAIN_ASYNC)
AFTER(unified_async, UNIFIED_ASYNC)

CASE(context_copy, after_pending_host, ONE)
{
    before(HOST, 0, false, SMALL);
}
CASE(context_copy, after_pending_host_to, ONE)
{
    before(HOST, 0, true, SMALL);
}
CASE(context_copy, after_pending_host_async, ONE)
{
    before(HOST_ASYNC, 0, false, SMALL);
}
CASE(context_copy, after_pending_host_async_to, ONE)
{
    before(HOST_ASYNC, 0, true, SMALL);
}
CASE(context_copy, after_pending_host_async_to_large, ONE)
{
    before(HOST_ASYNC, 0, true, LARGE);
}
