/* SPDX-License-Identifier: Apache-2.0 */
/* Order within and between streams, and the default-stream rules, with gates in place of time.
 *
 * "X doesn't wait" is shown by X ending while the gate is closed; "X waits" by X not being done although later work
 * elsewhere is. */
#include "support.h"

struct step {
    _Atomic int *next;
    int value;
    int *slot;
};

static void CUDA_CB note_step(void *data)
{
    struct step *step = data;
    *step->slot = atomic_fetch_add(step->next, 1);
}

static void test_fifo(void **state)
{
    (void)state;
    enum { STEPS = 500 };
    static struct step steps[STEPS];
    static int slots[STEPS];
    _Atomic int next = 0;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < STEPS; i++) {
        steps[i] = (struct step){&next, i, &slots[i]};
        OK(cuLaunchHostFunc(stream, note_step, &steps[i]));
    }
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < STEPS; i++)
        assert_int_equal(slots[i], i);
    OK(cuStreamDestroy(stream));
}

/* Work in `later` waits for a gate in `earlier`, or doesn't: then it ends while the gate is closed. */
static void expect(bool waits, CUstream earlier, CUstream later)
{
    struct gate gate = {0};
    _Atomic int count = 0, aside = 0;
    CUevent done = new_event(CU_EVENT_DISABLE_TIMING);
    gate_put(&gate, earlier);
    OK(launch(later, &code_count, 1, &count));
    OK(cuEventRecord(done, later));
    if (waits) {
        CUstream bystander = new_stream(CU_STREAM_NON_BLOCKING);
        for (int i = 0; i < 20; i++) {
            OK(launch(bystander, &code_count, 1, &aside));
            OK(cuStreamSynchronize(bystander));
        }
        FAILS(cuEventQuery(done), CUDA_ERROR_NOT_READY);
        assert_int_equal(count, 0);
        OK(cuStreamDestroy(bystander));
    } else {
        OK(cuEventSynchronize(done));
        assert_int_equal(count, 1);
    }
    gate_open(&gate);
    OK(cuCtxSynchronize());
    OK(cuEventQuery(done));
    assert_int_equal(count, 1);
    OK(cuEventDestroy(done));
}

static void test_default_stream_rules(void **state)
{
    (void)state;
    CUstream blocking = new_stream(0), other = new_stream(0), free_stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (int round = 0; round < 3; round++) {
        expect(true, blocking, NULL);
        expect(true, NULL, blocking);
        expect(true, CU_STREAM_LEGACY, blocking);
        expect(true, blocking, CU_STREAM_LEGACY);
        expect(true, CU_STREAM_PER_THREAD, NULL);
        expect(true, NULL, CU_STREAM_PER_THREAD);
        expect(false, free_stream, NULL);
        expect(false, NULL, free_stream);
        expect(false, blocking, other);
        expect(false, CU_STREAM_PER_THREAD, blocking);
        expect(false, blocking, CU_STREAM_PER_THREAD);
    }
    CUstream all[] = {blocking, other, free_stream};
    for (int i = 0; i < 3; i++)
        OK(cuStreamDestroy(all[i]));
}

/* a, legacy, b: b's work comes after the legacy work and so after a's. */
static void test_legacy_is_a_barrier(void **state)
{
    (void)state;
    CUstream a = new_stream(0), b = new_stream(0);
    struct gate gate = {0};
    _Atomic int next = 0;
    int slots[3] = {-1, -1, -1};
    struct step steps[3];
    gate_put(&gate, a);
    for (int i = 0; i < 3; i++) {
        steps[i] = (struct step){&next, i, &slots[i]};
        OK(cuLaunchHostFunc(i == 0 ? a : i == 1 ? NULL : b, note_step, &steps[i]));
    }
    FAILS(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
    FAILS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(b));
    for (int i = 0; i < 3; i++)
        assert_int_equal(slots[i], i);
    OK(cuStreamQuery(NULL));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

/* The legacy stream's query and synchronise look at blocking streams as well. */
static void test_legacy_query(void **state)
{
    (void)state;
    CUstream stream = new_stream(0), free_stream = new_stream(CU_STREAM_NON_BLOCKING);
    struct gate gate = {0};
    gate_put(&gate, free_stream);
    OK(cuStreamQuery(NULL));
    OK(cuStreamSynchronize(NULL));
    gate_open(&gate);
    OK(cuStreamSynchronize(free_stream));
    gate_put(&gate, stream);
    FAILS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamQuery(stream));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(free_stream));
}

/* Threads submit to the legacy stream and to blocking ones at once: the two kinds of work never overlap, and nothing
 * locks up. */
static _Atomic int in_legacy, in_blocking, overlaps, ran;

static void CUDA_CB legacy_work(void *data)
{
    (void)data;
    atomic_fetch_add(&in_legacy, 1);
    if (atomic_load(&in_blocking))
        atomic_fetch_add(&overlaps, 1);
    sched_yield();
    atomic_fetch_sub(&in_legacy, 1);
    atomic_fetch_add(&ran, 1);
}

static void CUDA_CB blocking_work(void *data)
{
    (void)data;
    atomic_fetch_add(&in_blocking, 1);
    if (atomic_load(&in_legacy))
        atomic_fetch_add(&overlaps, 1);
    sched_yield();
    atomic_fetch_sub(&in_blocking, 1);
    atomic_fetch_add(&ran, 1);
}

enum { MIXERS = 4, MIXES = 60 };

static void *mixer(void *data)
{
    int number = (int)(intptr_t)data;
    CUstream stream = NULL;
    if (cuCtxSetCurrent(the_context) != CUDA_SUCCESS || (number && cuStreamCreate(&stream, 0) != CUDA_SUCCESS))
        return (void *)1;
    for (int i = 0; i < MIXES; i++) {
        if (cuLaunchHostFunc(stream, number ? blocking_work : legacy_work, NULL) != CUDA_SUCCESS)
            return (void *)2;
        if (i % 7 == number && cuStreamSynchronize(stream) != CUDA_SUCCESS)
            return (void *)3;
    }
    if (number && cuStreamDestroy(stream) != CUDA_SUCCESS)
        return (void *)4;
    return NULL;
}

static void test_legacy_and_blocking_never_overlap(void **state)
{
    (void)state;
    pthread_t threads[MIXERS];
    atomic_store(&overlaps, 0);
    atomic_store(&ran, 0);
    for (int i = 0; i < MIXERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mixer, (void *)(intptr_t)(i % MIXERS)), 0);
    for (int i = 0; i < MIXERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    OK(cuCtxSynchronize());
    assert_int_equal(ran, MIXERS * MIXES);
    assert_int_equal(overlaps, 0);
}

/* Waits in the legacy stream hold blocking streams, too. */
static void test_wait_in_legacy(void **state)
{
    (void)state;
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING), blocking = new_stream(0);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate = {0};
    _Atomic int count = 0;
    gate_put(&gate, other);
    OK(cuEventRecord(event, other));
    OK(cuStreamWaitEvent(NULL, event, 0));
    OK(launch(blocking, &code_count, 1, &count));
    FAILS(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(blocking));
    assert_int_equal(count, 1);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
    OK(cuStreamDestroy(blocking));
}

/* What the rules put behind a stream's work is none of the program's business: once an event shows the last work done,
 * so does the stream. */
static void test_records_that_trail_are_not_seen(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    for (int round = 0; round < 300; round++) {
        struct gate gate;
        _Atomic int count = 0;
        gate_put(&gate, stream);
        OK(cuEventRecord(event, stream));
        OK(launch(CU_STREAM_LEGACY, &code_count, 1, &count));
        gate_open(&gate);
        while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
            if (round % 2)
                sched_yield();
        OK(cuStreamQuery(stream));
        OK(cuStreamSynchronize(CU_STREAM_LEGACY));
        assert_int_equal(count, 1);
    }
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

/* The fast paths of the default-stream rules look at one word to learn that the other side has nothing left. What it
 * did is then there for this thread as well, though another thread has found out: ThreadSanitizer sees if it is not. */
struct finder {
    CUstream stream; /* NULL: the context is waited for */
    CUdeviceptr memory;
    _Atomic bool found;
};

static void *find_idle(void *data)
{
    struct finder *finder = data;
    OK(cuCtxSetCurrent(the_context));
    if (!finder->stream)
        OK(cuCtxSynchronize());
    for (int i = 0; finder->stream && i < 3; i++) {
        OK(cuMemsetD32Async(finder->memory, 0, 1, finder->stream));
        OK(cuStreamSynchronize(finder->stream));
    }
    atomic_store_explicit(&finder->found, true, memory_order_relaxed);
    return NULL;
}

/* Another thread finds out; this one learns of nothing but that it has. */
static pthread_t found_by_another(struct finder *finder)
{
    pthread_t thread;
    atomic_store(&finder->found, false);
    assert_int_equal(pthread_create(&thread, NULL, find_idle, finder), 0);
    while (!atomic_load_explicit(&finder->found, memory_order_relaxed))
        sched_yield();
    return thread;
}

static void test_idle_is_seen_whole(void **state)
{
    (void)state;
    CUstream stream = new_stream(0), other = new_stream(0);
    struct finder by_stream = {.stream = new_stream(0)}, by_context = {0};
    CUdeviceptr memory;
    OK(cuMemAlloc(&by_stream.memory, 4));
    OK(cuMemAlloc(&memory, 4));
    for (int round = 0; round < 50; round++) {
        struct gate early = {0}, late = {0};
        uint32_t word = 0;
        /* The stream is busy when the legacy stream gets its work, so it stays on the list, and ends before that. */
        gate_put(&early, stream);
        gate_put(&late, other);
        OK(cuMemsetD32Async(memory, 1, 1, NULL));
        gate_open(&early);
        OK(cuStreamSynchronize(stream));
        gate_open(&late);
        pthread_t thread = found_by_another(&by_stream);
        OK(cuMemsetD32Async(memory, 2, 1, stream));
        pthread_join(thread, NULL);

        /* The other way round: the legacy stream ends before the stream does. */
        gate_put(&early, stream);
        OK(cuMemsetD32Async(by_stream.memory, 0, 1, NULL));
        gate_put(&late, stream);
        OK(cuMemsetD32Async(memory, 3, 1, stream));
        gate_open(&early);
        gate_open(&late);
        thread = found_by_another(&by_context);
        OK(cuMemsetD32Async(memory, 4, 1, NULL));
        pthread_join(thread, NULL);
        OK(cuMemcpyDtoH(&word, memory, 4));
        assert_int_equal(word, 4);
    }
    OK(cuMemFree(memory));
    OK(cuMemFree(by_stream.memory));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(other));
    OK(cuStreamDestroy(by_stream.stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fifo),
        cmocka_unit_test(test_default_stream_rules),
        cmocka_unit_test(test_legacy_is_a_barrier),
        cmocka_unit_test(test_legacy_query),
        cmocka_unit_test(test_legacy_and_blocking_never_overlap),
        cmocka_unit_test(test_wait_in_legacy),
        cmocka_unit_test(test_records_that_trail_are_not_seen),
        cmocka_unit_test(test_idle_is_seen_whole),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
