/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several host threads at once: on streams of their own, on one stream, with
 * one event, with contexts of their own.  The answers are sums, which do not
 * depend on who came first.
 */
#include "gold.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 200 };

struct worker {
    pthread_t thread;
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUdeviceptr word;
    CUfunction function;
    atomic_int *failures;
};

/* Runs WORK on four threads with the given workers; each counts its failures. */
static int run_all(struct worker *workers, void *(*work)(void *))
{
    static atomic_int failures;
    atomic_store(&failures, 0);
    int started = 0;
    for (int i = 0; i < THREADS; i++) {
        workers[i].failures = &failures;
        started += pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
        if (started <= i)
            gold_stop("pthread_create");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    return atomic_load(&failures);
}

static void check(struct worker *worker, CUresult status)
{
    if (status != CUDA_SUCCESS)
        atomic_fetch_add(worker->failures, 1);
}

static void *launch_many(void *data)
{
    struct worker *worker = data;
    unsigned one = 1;
    void *params[] = {&worker->word, &one};
    check(worker, cuCtxSetCurrent(worker->context));
    for (int i = 0; i < ROUNDS; i++)
        check(worker, gold_launch(worker->function, 1, worker->stream, params));
    check(worker, cuStreamSynchronize(worker->stream));
    return NULL;
}

CASE(thread, streams_of_their_own)
{
    struct worker workers[THREADS];
    CUdeviceptr words = gold_alloc_words(THREADS, 0);
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.context = gold_context(),
                                     .stream = gold_stream(CU_STREAM_NON_BLOCKING),
                                     .word = words + 4 * i,
                                     .function = gold_function("add")};
    say_value("failures", run_all(workers, launch_many));
    for (unsigned i = 0; i < THREADS; i++)
        say_int(gold_word(words + 4 * i));
}

CASE(thread, one_stream)
{
    struct worker workers[THREADS];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){
            .context = gold_context(), .stream = stream, .word = word, .function = gold_function("add")};
    say_value("failures", run_all(workers, launch_many));
    say_int(gold_word(word));
}

CASE(thread, legacy_stream)
{
    struct worker workers[THREADS];
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.context = gold_context(), .word = word, .function = gold_function("add")};
    say_value("failures", run_all(workers, launch_many));
    say_int(gold_word(word));
}

static void *record_many(void *data)
{
    struct worker *worker = data;
    check(worker, cuCtxSetCurrent(worker->context));
    for (int i = 0; i < ROUNDS; i++) {
        check(worker, cuEventRecord(worker->event, worker->stream));
        check(worker, cuStreamWaitEvent(worker->stream, worker->event, 0));
        CUresult status = cuEventQuery(worker->event);
        if (status != CUDA_ERROR_NOT_READY)
            check(worker, status);
    }
    check(worker, cuEventSynchronize(worker->event));
    return NULL;
}

CASE(thread, one_event_from_all)
{
    struct worker workers[THREADS];
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] =
            (struct worker){.context = gold_context(), .stream = gold_stream(CU_STREAM_NON_BLOCKING), .event = event};
    say_value("failures", run_all(workers, record_many));
    say(cuEventQuery(event));
}

static void *make_many(void *data)
{
    struct worker *worker = data;
    check(worker, cuCtxSetCurrent(worker->context));
    for (int i = 0; i < ROUNDS; i++) {
        CUstream stream;
        CUevent event;
        CUdeviceptr address;
        check(worker, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        check(worker, cuEventCreate(&event, 0));
        check(worker, cuMemAlloc(&address, 1000));
        check(worker, cuMemsetD8Async(address, 1, 1000, stream));
        check(worker, cuEventRecord(event, stream));
        check(worker, cuEventSynchronize(event));
        check(worker, cuEventDestroy(event));
        check(worker, cuStreamDestroy(stream));
        check(worker, cuMemFree(address));
    }
    return NULL;
}

CASE(thread, make_and_destroy)
{
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.context = gold_context()};
    say_value("failures", run_all(workers, make_many));
}

CASE(thread, contexts_of_their_own, .alone = true)
{
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        CUcontext popped;
        workers[i] = (struct worker){.context = gold_context_new()};
        workers[i].word = gold_alloc_words(1, 0);
        NEED(cuModuleGetFunction(&workers[i].function, gold_load(gold_ptx), "add"));
        NEED(cuCtxPopCurrent(&popped));
    }
    say_value("failures", run_all(workers, launch_many));
    for (unsigned i = 0; i < THREADS; i++)
        say_int(gold_word(workers[i].word));
}

static void *synchronize_all(void *data)
{
    struct worker *worker = data;
    check(worker, cuCtxSetCurrent(worker->context));
    check(worker, cuEventSynchronize(worker->event));
    return NULL;
}

static void *open_gate(void *data)
{
    gold_sleep_ms(30);
    gold_gate_open(*(struct gold_gate *)data);
    return NULL;
}

CASE(thread, all_wait_for_one_event)
{
    struct worker workers[THREADS];
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_BLOCKING_SYNC);
    struct gold_gate gate = gold_gate_close(stream);
    pthread_t opener;
    NEED(cuEventRecord(event, stream));
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.context = gold_context(), .event = event};
    if (pthread_create(&opener, NULL, open_gate, &gate))
        gold_stop("pthread_create");
    say_value("failures", run_all(workers, synchronize_all));
    pthread_join(opener, NULL);
    say(cuEventQuery(event));
}
