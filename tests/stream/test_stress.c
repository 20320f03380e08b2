/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads, streams and events at once, bounded. What kernels do is plain memory traffic that is right only if the
 * driver keeps its order, so that ThreadSanitizer sees a mistake as well as the sums do. */
#include "support.h"

enum { THREADS = 4, STREAMS = 6, ROUNDS = 150 };

/* A counter that belongs to one stream: its kernels add to it one after the other. */
static int counters[STREAMS];

static void kernel_add_plain(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    ++*(int *)kernel_data(block);
}

static const struct mr_code code_add_plain = {.function = kernel_add_plain, .stack_bytes = 16384};

static CUstream streams[STREAMS];
static CUevent events[STREAMS];
static _Atomic int launched[STREAMS];

static unsigned random_next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static CUresult one_step(unsigned *seed)
{
    unsigned which = random_next(seed) % STREAMS;
    switch (random_next(seed) % 8) {
    case 0:
    case 1:
    case 2:
        atomic_fetch_add(&launched[which], 1);
        return launch(streams[which], &code_add_plain, 1, &counters[which]);
    case 3:
        return cuEventRecord(events[which], streams[which]);
    case 4:
        /* Only forwards, so that no circle can come about: stream i waits for streams before it. */
        return which ? cuStreamWaitEvent(streams[which], events[random_next(seed) % which], 0) : CUDA_SUCCESS;
    case 5: {
        CUresult status = cuStreamQuery(streams[which]);
        return status == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : status;
    }
    case 6:
        return cuStreamSynchronize(streams[which]);
    default:
        return cuEventSynchronize(events[which]);
    }
}

static void *worker(void *data)
{
    unsigned seed = (unsigned)(uintptr_t)data * 7919u + 1;
    CUresult status = cuCtxSetCurrent(the_context);
    for (int i = 0; i < ROUNDS && status == CUDA_SUCCESS; i++)
        status = one_step(&seed);
    return (void *)(uintptr_t)status;
}

static void test_random_traffic(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < STREAMS; i++) {
            streams[i] = new_stream(i % 2 ? CU_STREAM_NON_BLOCKING : 0);
            events[i] = new_event(i % 3 ? 0 : CU_EVENT_DISABLE_TIMING);
            counters[i] = 0;
            launched[i] = 0;
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, worker, (void *)(uintptr_t)(round * THREADS + i)), 0);
        for (int i = 0; i < THREADS; i++) {
            void *result;
            pthread_join(threads[i], &result);
            assert_int_equal((uintptr_t)result, CUDA_SUCCESS);
        }
        OK(cuCtxSynchronize());
        for (int i = 0; i < STREAMS; i++) {
            assert_int_equal(counters[i], launched[i]);
            OK(cuStreamDestroy(streams[i]));
            OK(cuEventDestroy(events[i]));
        }
    }
}

/* A value handed from stream to stream around a ring of events, each hop in another stream, submitted by one thread
 * while another synchronises. */
enum { HOPS = 200 };
static int baton[HOPS + 1];

static void kernel_hand_on(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    int *at = kernel_data(block);
    at[1] = at[0] + 1;
}

static const struct mr_code code_hand_on = {.function = kernel_hand_on, .stack_bytes = 16384};

static void *synchroniser(void *data)
{
    _Atomic bool *stop = data;
    if (cuCtxSetCurrent(the_context) != CUDA_SUCCESS)
        return (void *)1;
    while (!atomic_load(stop)) {
        for (int i = 0; i < 3; i++)
            if (cuStreamSynchronize(streams[i]) != CUDA_SUCCESS)
                return (void *)2;
        sched_yield();
    }
    return NULL;
}

static void test_baton(void **state)
{
    (void)state;
    _Atomic bool stop = false;
    pthread_t thread;
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    for (int i = 0; i < 3; i++)
        streams[i] = new_stream(CU_STREAM_NON_BLOCKING);
    assert_int_equal(pthread_create(&thread, NULL, synchroniser, &stop), 0);
    for (int round = 0; round < 10; round++) {
        memset(baton, 0, sizeof baton);
        for (int hop = 0; hop < HOPS; hop++) {
            OK(cuStreamWaitEvent(streams[hop % 3], event, 0));
            OK(launch(streams[hop % 3], &code_hand_on, 1, &baton[hop]));
            OK(cuEventRecord(event, streams[hop % 3]));
        }
        OK(cuEventSynchronize(event));
        assert_int_equal(baton[HOPS], HOPS);
    }
    atomic_store(&stop, true);
    void *result;
    pthread_join(thread, &result);
    assert_null(result);
    for (int i = 0; i < 3; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuEventDestroy(event));
}

/* Threads that make, use and destroy their own streams and events; the shared tables have to hold. */
static void *churner(void *data)
{
    (void)data;
    _Atomic int count = 0;
    CUresult status = cuCtxSetCurrent(the_context);
    for (int i = 0; i < ROUNDS && status == CUDA_SUCCESS; i++) {
        CUstream stream;
        CUevent event;
        if (cuStreamCreate(&stream, i % 2) || cuEventCreate(&event, 0) ||
            launch(stream, &code_count, i % 5 + 1, &count) || cuEventRecord(event, stream) ||
            launch(CU_STREAM_PER_THREAD, &code_count, 1, &count) || cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0) ||
            cuStreamDestroy(stream) || (i % 4 == 0 && cuEventSynchronize(event)) || cuEventDestroy(event))
            status = CUDA_ERROR_UNKNOWN;
    }
    if (status == CUDA_SUCCESS)
        status = cuCtxSynchronize();
    return (void *)(uintptr_t)status;
}

static void test_churn(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churner, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_int_equal((uintptr_t)result, CUDA_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traffic),
        cmocka_unit_test(test_baton),
        cmocka_unit_test(test_churn),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
