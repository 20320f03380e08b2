/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default streams: the legacy one's implicit order with blocking streams,
 * the per-thread one, and streams that take no part in it.
 */
#include "gold.h"

#include <pthread.h>

/* Says whether work put into LATER while EARLIER is kept busy has to wait. */
static void order(CUstream earlier, CUstream later)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUevent done = gold_event(CU_EVENT_DISABLE_TIMING);
    gold_function("store");
    struct gold_gate gate = gold_gate_close(earlier);
    gold_store(later, word, 8);
    NEED(cuEventRecord(done, later));
    say_if("waits", gold_wait_event(done, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuCtxSynchronize());
    say_int(gold_word(word));
}

CASE(default_stream, legacy_waits_for_blocking)
{
    order(gold_stream(0), NULL);
}

CASE(default_stream, legacy_does_not_wait_for_non_blocking)
{
    order(gold_stream(CU_STREAM_NON_BLOCKING), NULL);
}

CASE(default_stream, blocking_waits_for_legacy)
{
    order(NULL, gold_stream(0));
}

CASE(default_stream, non_blocking_does_not_wait_for_legacy)
{
    order(NULL, gold_stream(CU_STREAM_NON_BLOCKING));
}

CASE(default_stream, legacy_handle_is_zero)
{
    order(CU_STREAM_LEGACY, gold_stream(0));
}

CASE(default_stream, legacy_handle_waits_for_blocking)
{
    order(gold_stream(0), CU_STREAM_LEGACY);
}

CASE(default_stream, legacy_waits_for_per_thread)
{
    order(CU_STREAM_PER_THREAD, NULL);
}

CASE(default_stream, per_thread_waits_for_legacy)
{
    order(NULL, CU_STREAM_PER_THREAD);
}

CASE(default_stream, per_thread_and_blocking_are_independent)
{
    order(CU_STREAM_PER_THREAD, gold_stream(0));
}

CASE(default_stream, blocking_and_per_thread_are_independent)
{
    order(gold_stream(0), CU_STREAM_PER_THREAD);
}

CASE(default_stream, blocking_streams_are_independent)
{
    order(gold_stream(0), gold_stream(0));
}

CASE(default_stream, blocking_created_after_legacy_work, .allow = "waits=yes CUDA_SUCCESS|waits=no CUDA_SUCCESS",
     .why = "See streams_created_while_legacy_is_busy.")
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    gold_function("store");
    struct gold_gate gate = gold_gate_close(NULL);
    CUstream stream = gold_stream(0);
    gold_store(stream, word, 8);
    say_if("waits", gold_wait_stream(stream, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuCtxSynchronize());
}

/* A graph of one kernel that spins until the gate is opened. */
static CUgraphExec gate_graph(struct gold_gate *gate)
{
    CUstream captured = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph;
    CUgraphExec exec;
    gold_function("spin");
    NEED(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    *gate = gold_gate_close(captured);
    NEED(cuStreamEndCapture(captured, &graph));
    NEED(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* Says whether a store into LATER waits for a graph that runs in EARLIER, and an event there, and what a graph in LATER
 * does. */
static void order_graph(CUstream earlier, CUstream later)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    struct gold_gate gate;
    CUgraphExec exec = gate_graph(&gate);
    gold_function("store");
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    NEED(cuGraphLaunch(exec, earlier));
    gold_store(later, word, 8);
    NEED(cuEventRecord(event, later));
    say_if("store_waits", gold_wait_event(event, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuCtxSynchronize());
    say_int(gold_word(word));
    NEED(cuGraphExecDestroy(exec));
}

CASE(default_stream, graph_in_legacy_holds_blocking)
{
    order_graph(NULL, gold_stream(0));
}

CASE(default_stream, graph_in_blocking_holds_legacy)
{
    order_graph(gold_stream(0), NULL);
}

CASE(default_stream, graph_in_legacy_and_non_blocking)
{
    order_graph(NULL, gold_stream(CU_STREAM_NON_BLOCKING));
}

/* The graph is the later one: its store waits for a kernel in the other stream, or doesn't. */
static void order_before_graph(CUstream earlier, CUstream later)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUstream captured = gold_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    CUgraph graph;
    CUgraphExec exec;
    gold_function("store");
    NEED(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    gold_store(captured, word, 5);
    NEED(cuStreamEndCapture(captured, &graph));
    NEED(cuGraphInstantiateWithFlags(&exec, graph, 0));
    NEED(cuGraphUpload(exec, captured));
    NEED(cuStreamSynchronize(captured));
    struct gold_gate gate = gold_gate_close(earlier);
    NEED(cuGraphLaunch(exec, later));
    NEED(cuEventRecord(event, later));
    say_if("graph_waits", gold_wait_event(event, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuCtxSynchronize());
    say_int(gold_word(word));
    NEED(cuGraphExecDestroy(exec));
}

CASE(default_stream, graph_in_blocking_waits_for_legacy)
{
    order_before_graph(NULL, gold_stream(0));
}

CASE(default_stream, graph_in_legacy_waits_for_blocking)
{
    order_before_graph(gold_stream(0), NULL);
}

/* Many streams made while the legacy stream is busy: does their first work wait for it? */
CASE(
    default_stream, streams_created_while_legacy_is_busy, .allow = "waiting=32 CUDA_SUCCESS",
    .why =
        "The manual has every blocking stream wait, and so do streams here; on hardware one that is made meanwhile may, or may not.")
{
    CUdeviceptr words = gold_alloc_words(32, 0);
    CUstream streams[32];
    gold_function("store");
    struct gold_gate gate = gold_gate_close(NULL);
    for (int i = 0; i < 32; i++) {
        streams[i] = gold_stream(0);
        gold_store(streams[i], words + 4 * (unsigned)i, 8);
    }
    gold_sleep_ms(100);
    int waiting = 0;
    for (int i = 0; i < 32; i++)
        waiting += cuStreamQuery(streams[i]) == CUDA_ERROR_NOT_READY;
    say_value("waiting", waiting);
    gold_gate_open(gate);
    say(cuCtxSynchronize());
}

/* A stream that was made while the legacy stream was busy, and legacy work that came after it: once while the old work
 * goes on, once when it is over. */
CASE(default_stream, created_while_busy_and_later_work, .allow = "waits=yes waits=yes CUDA_SUCCESS 8",
     .why = "See streams_created_while_legacy_is_busy.")
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUevent done = gold_event(CU_EVENT_DISABLE_TIMING);
    gold_function("store");
    struct gold_gate gate = gold_gate_close(NULL);
    CUstream stream = gold_stream(0);
    gold_store(NULL, words, 1);
    gold_store(stream, words + 4, 8);
    NEED(cuEventRecord(done, stream));
    say_if("waits", gold_wait_event(done, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    NEED(cuCtxSynchronize());
    gate = gold_gate_close(NULL);
    gold_store(stream, words + 4, 8);
    NEED(cuEventRecord(done, stream));
    say_if("waits", gold_wait_event(done, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuCtxSynchronize());
    say_int(gold_word(words + 4));
}

static void CUDA_CB hold(void *data)
{
    volatile int *open = data;
    while (!*open)
        gold_sleep_ms(1);
}

/* Says whether work put into LATER waits for a host function that is the last, or not the last, in EARLIER. */
static void order_host(CUstream earlier, CUstream later, bool last)
{
    static volatile int open;
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUevent done = gold_event(CU_EVENT_DISABLE_TIMING);
    gold_function("store");
    open = 0;
    gold_store(earlier, words, 1);
    NEED(cuLaunchHostFunc(earlier, hold, (void *)(uintptr_t)&open));
    if (!last)
        gold_store(earlier, words, 2);
    gold_store(later, words + 4, 8);
    NEED(cuEventRecord(done, later));
    say_if("waits", gold_wait_event(done, 300) == CUDA_ERROR_NOT_READY);
    open = 1;
    say(cuCtxSynchronize());
    say_int(gold_word(words + 4));
}

CASE(default_stream, legacy_and_host_function_in_blocking)
{
    order_host(gold_stream(0), NULL, true);
    order_host(gold_stream(0), NULL, false);
}

CASE(default_stream, blocking_and_host_function_in_legacy)
{
    order_host(NULL, gold_stream(0), true);
    order_host(NULL, gold_stream(0), false);
}

/* A copy from pageable memory, which a thread of the driver may carry out, and a fill, between default streams. */
CASE(default_stream, copies_and_fills_between)
{
    static unsigned source[256], back[256];
    CUstream stream = gold_stream(0);
    CUdeviceptr words = gold_alloc_words(256, 0);
    gold_function("store");
    for (int i = 0; i < 4; i++) {
        CUevent done = gold_event(CU_EVENT_DISABLE_TIMING);
        CUstream earlier = i & 1 ? stream : NULL, later = i & 1 ? NULL : stream;
        struct gold_gate gate = gold_gate_close(earlier);
        if (i & 2)
            NEED(cuMemsetD32Async(words, 7, 256, later));
        else
            NEED(cuMemcpyHtoDAsync(words, source, 64, later));
        NEED(cuEventRecord(done, later));
        say_if("waits", gold_wait_event(done, 300) == CUDA_ERROR_NOT_READY);
        gold_gate_open(gate);
        say(cuCtxSynchronize());
    }
    NEED(cuMemcpyDtoH(back, words, sizeof back));
    say_value("word", (int)back[3]);
}

/* blocking A, then legacy, then blocking B: B waits for the legacy work and so for A. */
CASE(default_stream, legacy_is_a_barrier)
{
    CUstream a = gold_stream(0), b = gold_stream(0);
    CUdeviceptr words = gold_alloc_words(2, 0);
    gold_function("store");
    struct gold_gate gate = gold_gate_close(a);
    gold_store(NULL, words, 1);
    gold_store(b, words + 4, 2);
    say_if("b_waits", gold_wait_stream(b, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuStreamSynchronize(b));
    say(cuStreamQuery(NULL));
    say_int(gold_word(words));
}

CASE(default_stream, query_of_legacy_sees_blocking_work)
{
    CUstream stream = gold_stream(0);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuStreamQuery(NULL));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say(cuStreamQuery(NULL));
}

CASE(default_stream, synchronize_of_legacy_waits_for_blocking)
{
    CUstream stream = gold_stream(0);
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (int i = 0; i < 200; i++)
        gold_add(stream, word, 1);
    say(cuStreamSynchronize(NULL));
    say(cuStreamQuery(stream));
}

CASE(default_stream, event_in_legacy_waits_for_blocking)
{
    CUstream stream = gold_stream(0);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuEventRecord(event, NULL));
    say_if("waits", gold_wait_event(event, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
}

CASE(default_stream, event_in_blocking_waits_for_legacy)
{
    CUstream stream = gold_stream(0);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    struct gold_gate gate = gold_gate_close(NULL);
    NEED(cuEventRecord(event, stream));
    say_if("waits", gold_wait_event(event, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
}

CASE(default_stream, wait_in_legacy_holds_blocking)
{
    CUstream other = gold_stream(CU_STREAM_NON_BLOCKING), blocking = gold_stream(0);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    gold_function("store");
    struct gold_gate gate = gold_gate_close(other);
    NEED(cuEventRecord(event, other));
    say(cuStreamWaitEvent(NULL, event, 0));
    gold_store(blocking, word, 3);
    say_if("waits", gold_wait_stream(blocking, 300) == CUDA_ERROR_NOT_READY);
    gold_gate_open(gate);
    say(cuStreamSynchronize(blocking));
}

CASE(default_stream, synchronous_copy_waits_for_blocking)
{
    CUstream stream = gold_stream(0);
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (int i = 0; i < 500; i++)
        gold_add(stream, word, 1);
    unsigned value = 0;
    say(cuMemcpyDtoH(&value, word, 4));
    say_int(value);
}

/* ---- a blocking stream with a history ---- */

/* What the stream and the legacy stream have been through when the legacy stream is held up. */
enum past { MADE_IDLE, MADE_BUSY_EVENT, MADE_BUSY_SYNCHRONIZED, PASTS };
enum use { UNUSED, USED_ALLOC, USED_VALUE, USED_RECORD, USED_LAUNCH };
enum work { COPY, FILL, LAUNCH, VALUE, WORKS };

static void put_work(enum work work, CUstream stream, CUdeviceptr words)
{
    switch (work) {
    case COPY:
        NEED(cuMemcpyDtoDAsync(words, words + 1024, 512, stream));
        break;
    case FILL:
        NEED(cuMemsetD32Async(words, 1, 128, stream));
        break;
    case LAUNCH:
        gold_store(stream, words, 1);
        break;
    default:
        NEED(cuStreamWriteValue32(stream, words, 1, 0));
        break;
    }
}

static CUstream stream_with_past(enum past past, CUdeviceptr words)
{
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    if (past == MADE_IDLE)
        return gold_stream(0);
    struct gold_gate gate = gold_gate_close(NULL);
    gold_store(NULL, words, 1);
    CUstream stream = gold_stream(0);
    NEED(cuEventRecord(event, NULL));
    gold_gate_open(gate);
    NEED(past == MADE_BUSY_EVENT ? cuEventSynchronize(event) : cuStreamSynchronize(NULL));
    return stream;
}

static void use_stream(enum use use, CUstream stream, CUdeviceptr words, CUdeviceptr *allocated)
{
    switch (use) {
    case USED_ALLOC:
        NEED(cuMemAllocAsync(allocated, 4096, stream));
        break;
    case USED_VALUE:
        put_work(VALUE, stream, words);
        break;
    case USED_RECORD:
        NEED(cuEventRecord(gold_event(CU_EVENT_DISABLE_TIMING), stream));
        break;
    case USED_LAUNCH:
        put_work(LAUNCH, stream, words);
        break;
    default:
        break;
    }
}

/* For each past, work in the held legacy stream, and work behind it in the blocking stream: does the latter wait? */
static void histories(enum use use)
{
    CUdeviceptr words = gold_alloc_words(1024, 0), other = gold_alloc_words(1024, 0), allocated = 0;
    gold_function("store");
    for (int past = 0; past < PASTS; past++) {
        char waits[WORKS * WORKS + 1] = "";
        for (int i = 0; i < WORKS * WORKS; i++) {
            CUstream stream = stream_with_past((enum past)past, words);
            use_stream(use, stream, words, &allocated);
            struct gold_gate gate = gold_gate_close(NULL);
            put_work((enum work)(i / WORKS), NULL, words);
            put_work((enum work)(i % WORKS), stream, other);
            waits[i] = gold_wait_stream(stream, 15) == CUDA_ERROR_NOT_READY ? 'w' : '-';
            gold_gate_open(gate);
            NEED(cuCtxSynchronize());
            if (allocated)
                NEED(cuMemFree(allocated));
            allocated = 0;
            NEED(cuStreamDestroy(stream));
        }
        say_text(waits);
    }
}

CASE(default_stream, history_unused)
{
    histories(UNUSED);
}

CASE(default_stream, history_allocation)
{
    histories(USED_ALLOC);
}

CASE(default_stream, history_value)
{
    histories(USED_VALUE);
}

CASE(default_stream, history_record)
{
    histories(USED_RECORD);
}

CASE(default_stream, history_launch)
{
    histories(USED_LAUNCH);
}

/* ---- per-thread streams of two threads ---- */

struct there {
    CUcontext context;
    CUdeviceptr word;
    CUresult status;
    bool waits;
    unsigned long long id;
};

static void *other_thread(void *data)
{
    struct there *there = data;
    unsigned value = 6;
    void *params[] = {&there->word, &value};
    there->status = cuCtxSetCurrent(there->context);
    if (there->status == CUDA_SUCCESS)
        there->status = cuStreamGetId(CU_STREAM_PER_THREAD, &there->id);
    CUfunction store;
    if (there->status == CUDA_SUCCESS)
        there->status = cuModuleGetFunction(&store, gold_module(), "store");
    if (there->status == CUDA_SUCCESS)
        there->status = gold_launch(store, 1, CU_STREAM_PER_THREAD, params);
    if (there->status == CUDA_SUCCESS) {
        there->status = gold_wait_stream(CU_STREAM_PER_THREAD, 2000);
        there->waits = there->status == CUDA_ERROR_NOT_READY;
    }
    return NULL;
}

CASE(default_stream, per_thread_differs_by_thread)
{
    struct there there = {.context = gold_context(), .word = gold_alloc_words(1, 0)};
    unsigned long long here = 0;
    NEED(cuStreamGetId(CU_STREAM_PER_THREAD, &here));
    gold_function("store");
    struct gold_gate gate = gold_gate_close(CU_STREAM_PER_THREAD);
    pthread_t thread;
    if (pthread_create(&thread, NULL, other_thread, &there))
        gold_stop("pthread_create");
    pthread_join(thread, NULL);
    gold_gate_open(gate);
    NEED(cuCtxSynchronize());
    say(there.status);
    say_if("waits", there.waits);
    say_if("ids_differ", there.id != here);
    say_int(gold_word(there.word));
}

/* ---- the symbols with their own default stream ---- */

CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, CUstream stream, void **params, void **extra);
CUresult CUDAAPI cuStreamQuery_ptsz(CUstream stream);
CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream stream);
CUresult CUDAAPI cuStreamGetId_ptsz(CUstream stream, unsigned long long *id);
CUresult CUDAAPI cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t size);
CUresult CUDAAPI cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned value, size_t count);
CUresult CUDAAPI cuEventRecord_ptsz(CUevent event, CUstream stream);

CASE(default_stream, ptsz_zero_is_per_thread)
{
    unsigned long long zero = 0, per_thread = 0, legacy = 1, plain = 1;
    say(cuStreamGetId_ptsz(NULL, &zero));
    say(cuStreamGetId(CU_STREAM_PER_THREAD, &per_thread));
    say(cuStreamGetId_ptsz(CU_STREAM_LEGACY, &legacy));
    say(cuStreamGetId(NULL, &plain));
    say_if("zero_is_per_thread", zero == per_thread);
    say_if("legacy_is_legacy", legacy == plain);
}

CASE(default_stream, ptsz_launch_and_query)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 5;
    void *params[] = {&word, &value};
    CUfunction store = gold_function("store");
    struct gold_gate gate = gold_gate_close(CU_STREAM_PER_THREAD);
    say(cuLaunchKernel_ptsz(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    say(cuStreamQuery_ptsz(NULL));
    gold_gate_open(gate);
    say(cuStreamSynchronize_ptsz(NULL));
    say_int(gold_word(word));
}

CASE(default_stream, ptds_copy_ignores_other_blocking)
{
    CUstream stream = gold_stream(0);
    CUdeviceptr word = gold_alloc_words(1, 7);
    unsigned value = 0;
    struct gold_gate gate = gold_gate_close(stream);
    say(cuMemcpyDtoH_v2_ptds(&value, word, 4));
    say_int(value);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
}

CASE(default_stream, ptds_fill_orders_with_per_thread)
{
    CUdeviceptr word = gold_alloc_words(1, 7);
    say(cuMemsetD32_v2_ptds(word, 9, 1));
    gold_add(CU_STREAM_PER_THREAD, word, 1);
    say(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    say_int(gold_word(word));
}

CASE(default_stream, ptsz_record)
{
    CUevent event = gold_event(0);
    struct gold_gate gate = gold_gate_close(CU_STREAM_PER_THREAD);
    say(cuEventRecord_ptsz(event, NULL));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
}
