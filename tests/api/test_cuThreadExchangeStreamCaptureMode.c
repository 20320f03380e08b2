/* SPDX-License-Identifier: Apache-2.0 */
/* cuThreadExchangeStreamCaptureMode, and which thread's calls which mode forbids; captures of several threads at the
 * same time. */
#include "capture_support.h"

#include <pthread.h>
#include <string.h>

enum { CAPTURE_MODES = 3 };

static void test_exchange(void **state)
{
    (void)state;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    FAILS(cuThreadExchangeStreamCaptureMode(NULL), CUDA_ERROR_INVALID_VALUE);
}

struct call {
    CUstreamCaptureMode mode;
    CUresult status;
};

/* An unsafe call, in a mode of the thread's own. */
static void *unsafe(void *data)
{
    struct call *call = data;
    CUstreamCaptureMode mode = call->mode;
    CUdeviceptr memory;
    if (cuCtxSetCurrent(the_context) != CUDA_SUCCESS || cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS)
        return NULL;
    call->status = cuMemAlloc(&memory, 64);
    if (call->status == CUDA_SUCCESS)
        call->status = cuMemFree(memory);
    cuThreadExchangeStreamCaptureMode(&mode);
    return NULL;
}

static void test_who_may(void **state)
{
    (void)state;
    for (int capture = 0; capture < CAPTURE_MODES; capture++) {
        for (int mode = 0; mode < CAPTURE_MODES; mode++) {
            for (int own = 0; own < 2; own++) {
                CUstream stream = new_capture((CUstreamCaptureMode)capture);
                struct call call = {.mode = (CUstreamCaptureMode)mode};
                pthread_t thread;
                if (own) {
                    unsafe(&call);
                } else {
                    assert_int_equal(pthread_create(&thread, NULL, unsafe, &call), 0);
                    pthread_join(thread, NULL);
                }
                bool forbidden =
                    capture != CU_STREAM_CAPTURE_MODE_RELAXED && mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
                    (own || (capture == CU_STREAM_CAPTURE_MODE_GLOBAL && mode == CU_STREAM_CAPTURE_MODE_GLOBAL));
                FAILS(call.status, forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
                if (forbidden)
                    end_fails(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
                else
                    end_with(stream, 0, 0);
                OK(cuStreamDestroy(stream));
            }
        }
    }
}

static void *end_here(void *data)
{
    CUgraph graph = NULL;
    CUstream stream = data;
    if (cuCtxSetCurrent(the_context) != CUDA_SUCCESS)
        return NULL;
    return (void *)(uintptr_t)cuStreamEndCapture(stream, &graph);
}

static void test_wrong_thread(void **state)
{
    (void)state;
    for (int mode = 0; mode < CAPTURE_MODES; mode++) {
        CUstream stream = new_capture((CUstreamCaptureMode)mode);
        pthread_t thread;
        void *status;
        assert_int_equal(pthread_create(&thread, NULL, end_here, stream), 0);
        pthread_join(thread, &status);
        FAILS((CUresult)(uintptr_t)status,
              mode == CU_STREAM_CAPTURE_MODE_RELAXED ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        NOT_CAPTURED(stream);
        OK(cuStreamDestroy(stream));
    }
}

/* A thread's own stream ends with the thread, and its capture with it. */
static void *capture_and_leave(void *data)
{
    CUresult status = cuCtxSetCurrent(the_context);
    if (status == CUDA_SUCCESS)
        status = cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL);
    if (status == CUDA_SUCCESS)
        status = cuLaunchHostFunc(CU_STREAM_PER_THREAD, do_nothing, NULL);
    *(CUresult *)data = status;
    return NULL;
}

static void test_thread_that_leaves(void **state)
{
    (void)state;
    CUresult status = CUDA_ERROR_UNKNOWN;
    CUdeviceptr memory;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, capture_and_leave, &status), 0);
    pthread_join(thread, NULL);
    OK(status);
    OK(cuMemAlloc(&memory, 64));
    OK(cuMemFree(memory));
}

/* Threads that capture at the same time, each for itself, while one goes on with plain work. */
enum { THREADS = 4, ROUNDS = 200, FORKS = 3 };

struct own {
    CUresult worst;
    size_t nodes, edges;
};

static CUresult capture_once(CUstream *streams, CUevent event, struct own *own)
{
    CUgraph graph = NULL;
    CUresult status = cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (status == CUDA_SUCCESS)
        status = cuLaunchHostFunc(streams[0], do_nothing, NULL);
    for (int i = 1; i <= FORKS && status == CUDA_SUCCESS; i++) {
        status = cuEventRecord(event, streams[0]);
        if (status == CUDA_SUCCESS)
            status = cuStreamWaitEvent(streams[i], event, 0);
        if (status == CUDA_SUCCESS)
            status = cuLaunchHostFunc(streams[i], do_nothing, NULL);
        if (status == CUDA_SUCCESS)
            status = cuEventRecord(event, streams[i]);
        if (status == CUDA_SUCCESS)
            status = cuStreamWaitEvent(streams[0], event, 0);
        if (status == CUDA_SUCCESS)
            status = cuLaunchHostFunc(streams[0], do_nothing, NULL);
    }
    if (status == CUDA_SUCCESS)
        status = cuStreamEndCapture(streams[0], &graph);
    if (status == CUDA_SUCCESS)
        status = cuGraphGetNodes(graph, NULL, &own->nodes);
    if (status == CUDA_SUCCESS)
        status = cuGraphGetEdges(graph, NULL, NULL, NULL, &own->edges);
    return status == CUDA_SUCCESS ? cuGraphDestroy(graph) : status;
}

static void *capture_often(void *data)
{
    struct own *own = data;
    CUstream streams[FORKS + 1];
    CUevent event;
    own->worst = cuCtxSetCurrent(the_context);
    for (int i = 0; i <= FORKS && own->worst == CUDA_SUCCESS; i++)
        own->worst = cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING);
    if (own->worst == CUDA_SUCCESS)
        own->worst = cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    for (int i = 0; i < ROUNDS && own->worst == CUDA_SUCCESS; i++)
        own->worst = capture_once(streams, event, own);
    for (int i = 0; i <= FORKS && own->worst == CUDA_SUCCESS; i++)
        own->worst = cuStreamDestroy(streams[i]);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct own own[THREADS];
    pthread_t threads[THREADS];
    CUstream plain = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, capture_often, &own[i]), 0);
    for (int i = 0; i < ROUNDS; i++) {
        OK(cuLaunchHostFunc(plain, do_nothing, NULL));
        OK(cuEventRecord(event, plain));
        OK(cuStreamWaitEvent(plain, event, 0));
        OK(cuEventSynchronize(event));
        OK(cuStreamSynchronize(plain));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        OK(own[i].worst);
        assert_int_equal(own[i].nodes, 1 + 2 * FORKS);
        assert_int_equal(own[i].edges, 3 * FORKS);
    }
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(plain));
}

/* One capture, several threads: each puts work into a fork of its own. */
struct part {
    CUstream stream;
    CUresult status;
};

static void *put_part(void *data)
{
    struct part *part = data;
    part->status = cuCtxSetCurrent(the_context);
    for (int i = 0; i < ROUNDS && part->status == CUDA_SUCCESS; i++)
        part->status = cuLaunchHostFunc(part->stream, do_nothing, NULL);
    return NULL;
}

static void test_one_capture_of_many_threads(void **state)
{
    (void)state;
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    CUstream first = new_capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    put_node(first);
    for (int i = 0; i < THREADS; i++) {
        parts[i].stream = new_stream(CU_STREAM_NON_BLOCKING);
        put_after(parts[i].stream, first);
        assert_int_equal(pthread_create(&threads[i], NULL, put_part, &parts[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++)
        put_node(first);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        OK(parts[i].status);
        put_after(first, parts[i].stream);
        OK(cuStreamDestroy(parts[i].stream));
    }
    put_node(first);
    end_with(first, 1 + ROUNDS + THREADS * ROUNDS + 1, ROUNDS + THREADS * ROUNDS + THREADS + 1);
    OK(cuStreamDestroy(first));
}

/* Threads that get in each other's way: an event that all share is recorded in captures and outside, captures are
 * spoilt, joined, destroyed. Whatever each call says, nothing is left behind. */
struct muddle {
    CUevent shared;
    unsigned seed;
    CUresult status;
};

static void *muddle_on(void *data)
{
    struct muddle *muddle = data;
    CUstream one, two;
    muddle->status = cuCtxSetCurrent(the_context);
    for (int i = 0; i < ROUNDS && muddle->status == CUDA_SUCCESS; i++) {
        CUgraph graph = NULL;
        muddle->status = cuStreamCreate(&one, CU_STREAM_NON_BLOCKING);
        if (muddle->status == CUDA_SUCCESS)
            muddle->status = cuStreamCreate(&two, CU_STREAM_NON_BLOCKING);
        if (muddle->status != CUDA_SUCCESS)
            break;
        muddle->status = cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED);
        muddle->seed = muddle->seed * 1103515245u + 12345u;
        unsigned way = muddle->seed >> 16;
        (void)cuLaunchHostFunc(one, do_nothing, NULL);
        (void)cuEventRecord(muddle->shared, way & 1 ? one : two);
        (void)cuStreamWaitEvent(two, muddle->shared, 0);
        (void)cuLaunchHostFunc(two, do_nothing, NULL);
        if (way & 2)
            (void)cuEventQuery(muddle->shared);
        if (way & 4)
            (void)cuStreamWaitEvent(one, muddle->shared, 0);
        if (way & 8)
            (void)cuStreamDestroy(one);
        (void)cuStreamDestroy(two);
        if (!(way & 8)) {
            (void)cuStreamEndCapture(one, &graph);
            (void)cuStreamDestroy(one);
        }
        if (graph)
            muddle->status = cuGraphDestroy(graph);
    }
    return NULL;
}

static void test_muddle(void **state)
{
    (void)state;
    CUdeviceptr memory;
    struct muddle muddles[THREADS];
    pthread_t threads[THREADS];
    CUevent shared = new_event(CU_EVENT_DISABLE_TIMING);
    for (int i = 0; i < THREADS; i++) {
        muddles[i] = (struct muddle){shared, (unsigned)i + 1, CUDA_SUCCESS};
        assert_int_equal(pthread_create(&threads[i], NULL, muddle_on, &muddles[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        OK(muddles[i].status);
    }
    OK(cuEventRecord(shared, NULL));
    OK(cuEventSynchronize(shared));
    OK(cuEventDestroy(shared));
    OK(cuCtxSynchronize());
    OK(cuMemAlloc(&memory, 64));
    OK(cuMemFree(memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange),     cmocka_unit_test(test_who_may),
        cmocka_unit_test(test_wrong_thread), cmocka_unit_test(test_thread_that_leaves),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_one_capture_of_many_threads),
        cmocka_unit_test(test_muddle),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
