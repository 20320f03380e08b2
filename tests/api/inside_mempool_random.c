/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools under random load, against the one rule that matters: memory is never two allocations' at the same time,
 * as the streams see it.
 *
 * Each allocation is filled with a value of its own, and before it is freed, or on the way, the stream that has it
 * looks whether all of it still holds that value. Were it given out again while work that uses it is pending, the other
 * one's fill would show. Streams are held up at random, allocations move from stream to stream by events, several
 * threads share a pool whose reuse attributes change all the time. The pool's own books are checked meanwhile. */
#include "memory_support.h"

#include <stdio.h>

#include "memory/mempool.h"

#define STREAMS 4
#define SLOTS 48

static _Atomic unsigned next_value = 1, wrong;

struct piece {
    CUdeviceptr address;
    size_t words;
    unsigned value;
    unsigned stream;
};

struct player {
    pthread_t thread;
    CUmemoryPool pool;
    unsigned seed, steps;
    bool large;
    CUstream streams[STREAMS];
    struct piece pieces[SLOTS];
    unsigned count;
};

static unsigned draw(struct player *p, unsigned below)
{
    p->seed = p->seed * 1664525u + 1013904223u;
    return (p->seed >> 8) % below;
}

/* In stream order: does the piece still hold its value? */
static void look(void *data)
{
    struct piece *piece = data;
    const volatile unsigned *words = (const volatile unsigned *)(uintptr_t)piece->address;
    for (size_t i = 0; i < piece->words; i += 1 + i / 64)
        if (words[i] != piece->value) {
            if (!atomic_fetch_add(&wrong, 1))
                fprintf(stderr, "word %zu of %zu at %#llx: %u, not %u\n", i, piece->words,
                        (unsigned long long)piece->address, words[i], piece->value);
            break;
        }
    free(piece);
}

static void nap(void *data)
{
    struct timespec time = {0, (long)(uintptr_t)data};
    nanosleep(&time, NULL);
}

static void check(CUresult status, const char *what)
{
    if (status != CUDA_SUCCESS && !atomic_fetch_add(&wrong, 1))
        fprintf(stderr, "%s: %d\n", what, (int)status);
}
#define WELL(call) check(call, #call)

static void put_look(struct player *p, const struct piece *piece)
{
    struct piece *copy = malloc(sizeof *copy);
    *copy = *piece;
    WELL(cuLaunchHostFunc(p->streams[piece->stream], look, copy));
}

static void take(struct player *p)
{
    struct piece *piece = &p->pieces[p->count];
    piece->stream = draw(p, STREAMS);
    piece->words = 1 + (p->large ? draw(p, 1u << 21) : draw(p, 8) ? draw(p, 16384) : draw(p, 1u << 20));
    piece->value = atomic_fetch_add(&next_value, 1);
    CUresult status = cuMemAllocFromPoolAsync(&piece->address, piece->words * 4, p->pool, p->streams[piece->stream]);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        return;
    check(status, "allocation");
    WELL(cuMemsetD32Async(piece->address, piece->value, piece->words, p->streams[piece->stream]));
    p->count++;
}

static void order(struct player *p, unsigned first, unsigned second)
{
    CUevent event;
    WELL(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    WELL(cuEventRecord(event, p->streams[first]));
    WELL(cuStreamWaitEvent(p->streams[second], event, 0));
    WELL(cuEventDestroy(event));
}

static void give(struct player *p, unsigned which)
{
    struct piece *piece = &p->pieces[which];
    put_look(p, piece);
    if (draw(p, 64) == 0)
        WELL(cuMemFree(piece->address));
    else
        WELL(cuMemFreeAsync(piece->address, p->streams[piece->stream]));
    *piece = p->pieces[--p->count];
}

static void change_reuse(struct player *p)
{
    int on = (int)draw(p, 2);
    WELL(cuMemPoolSetAttribute(
        p->pool, (CUmemPool_attribute)(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES + draw(p, 3)), &on));
}

static void step(struct player *p)
{
    unsigned kind = draw(p, 100), which = p->count ? draw(p, p->count) : 0, other = draw(p, STREAMS);
    if (kind < 35 && p->count < SLOTS) {
        take(p);
    } else if (kind < 65 && p->count) {
        give(p, which);
    } else if (kind < 75 && p->count) {
        order(p, p->pieces[which].stream, other);
        p->pieces[which].stream = other;
    } else if (kind < 80 && p->count) {
        put_look(p, &p->pieces[which]);
    } else if (kind < 85) {
        order(p, draw(p, STREAMS), other);
    } else if (kind < 92) {
        WELL(cuLaunchHostFunc(p->streams[other], nap, (void *)(uintptr_t)(1000 + draw(p, 300000))));
    } else if (kind < 95) {
        WELL(cuStreamSynchronize(p->streams[other]));
    } else if (kind < 97) {
        WELL(cuMemPoolTrimTo(p->pool, draw(p, 4) * ((size_t)32 << 20)));
    } else if (kind < 99) {
        change_reuse(p);
    } else {
        struct mr_mempool_statistics now;
        mr_mempool_statistics_get(mr_mempool_find(p->pool), &now);
    }
}

static void *play(void *data)
{
    struct player *p = data;
    WELL(cuCtxSetCurrent(the_context));
    for (unsigned i = 0; i < STREAMS; i++)
        WELL(cuStreamCreate(&p->streams[i], i % 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    /* Some play with the default streams as well. */
    CUstream own[2] = {p->streams[2], p->streams[3]};
    if (p->seed % 3)
        p->streams[3] = CU_STREAM_PER_THREAD;
    if (p->seed % 2)
        p->streams[2] = CU_STREAM_LEGACY;
    for (unsigned i = 0; i < p->steps && !atomic_load(&wrong); i++)
        step(p);
    while (p->count)
        give(p, 0);
    for (unsigned i = 0; i < STREAMS; i++) {
        WELL(cuStreamSynchronize(p->streams[i]));
        WELL(cuStreamDestroy(i < 2 ? p->streams[i] : own[i - 2]));
    }
    return NULL;
}

static void run(unsigned threads, unsigned steps, unsigned seed, size_t most, bool shareable)
{
    struct player players[16];
    struct mr_mempool_statistics after;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                            .maxSize = most,
                            .handleTypes =
                                shareable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE};
    CUmemoryPool pool;
    cuuint64_t used = 1;
    OK(cuMemPoolCreate(&pool, &props));
    for (unsigned i = 0; i < threads; i++) {
        players[i] = (struct player){.pool = pool, .seed = seed * 31 + i, .steps = steps, .large = most != 0};
        assert_int_equal(pthread_create(&players[i].thread, NULL, play, &players[i]), 0);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(players[i].thread, NULL);
    OK(cuCtxSynchronize());
    if (atomic_load(&wrong))
        fprintf(stderr, "seed %u, %u threads\n", seed, threads);
    assert_int_equal(atomic_load(&wrong), 0);
    OK(cuMemPoolTrimTo(pool, 0));
    mr_mempool_statistics_get(mr_mempool_find(pool), &after);
    assert_int_equal(after.live, 0);
    assert_int_equal(after.waiting, 0);
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 0);
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &used));
    assert_int_equal(used, 0);
    OK(cuMemPoolDestroy(pool));
}

static unsigned rounds(void)
{
    const char *asked = getenv("MEMPOOL_ROUNDS");
    return asked ? (unsigned)atoi(asked) : 1;
}

static void test_one_thread(void **state)
{
    (void)state;
    for (unsigned i = 0; i < rounds(); i++)
        run(1, 1500, 1 + i, 0, false);
}

static void test_threads(void **state)
{
    (void)state;
    for (unsigned i = 0; i < rounds(); i++)
        run(6, 500, 100 + i, 0, false);
}

/* A pool so small that most allocations have to wait for frees, or fail. */
static void test_small_pool(void **state)
{
    (void)state;
    for (unsigned i = 0; i < rounds(); i++)
        run(4, 500, 200 + i, (size_t)32 << 20, false);
}

static void test_shareable(void **state)
{
    (void)state;
    for (unsigned i = 0; i < rounds(); i++)
        run(3, 400, 300 + i, 0, true);
}

/* The limit of the device's memory, as each pool and cuMemAlloc see it, comes out even. */
static void test_accounts(void **state)
{
    (void)state;
    size_t before, after, total;
    OK(cuMemGetInfo(&before, &total));
    run(2, 300, 400, 0, false);
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_thread), cmocka_unit_test(test_threads),  cmocka_unit_test(test_small_pool),
        cmocka_unit_test(test_shareable),  cmocka_unit_test(test_accounts),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
