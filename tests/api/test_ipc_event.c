/* SPDX-License-Identifier: Apache-2.0 */
/* cuIpcGetEventHandle, cuIpcOpenEventHandle: order between processes, many recordings at once, damaged handles, other
 * users, processes that end at a bad moment. What hardware was asked is in tests/golden/case_ipc_event.c. */
#include "ipc_support.h"

#define SHARED (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)
#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

/* What the helper is asked to do with the event that it opened last. */
enum verb {
    OPEN = 1,
    QUERY,
    SYNCHRONIZE,
    WAIT,
    RECORD,
    GATED_RECORD,
    OPEN_GATE,
    STREAM_QUERY,
    STREAM_SYNCHRONIZE,
    DESTROY,
    EXPORT
};

struct order {
    int verb;
    CUipcEventHandle handle;
};
struct answer {
    CUresult status;
    CUipcEventHandle handle;
};

static void role_obey(int socket)
{
    struct order order;
    CUevent event = NULL;
    CUstream stream;
    struct gate gate;
    role_begin();
    ROLE_NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    while (receive_bytes(socket, &order, sizeof order)) {
        struct answer answer = {.status = CUDA_SUCCESS};
        switch ((enum verb)order.verb) {
        case OPEN:
            answer.status = cuIpcOpenEventHandle(&event, order.handle);
            break;
        case QUERY:
            answer.status = cuEventQuery(event);
            break;
        case SYNCHRONIZE:
            answer.status = cuEventSynchronize(event);
            break;
        case WAIT:
            answer.status = cuStreamWaitEvent(stream, event, 0);
            break;
        case GATED_RECORD:
            gate_put(&gate, stream); /* fall through */
        case RECORD:
            answer.status = cuEventRecord(event, stream);
            break;
        case OPEN_GATE:
            gate_open(&gate);
            break;
        case STREAM_QUERY:
            answer.status = cuStreamQuery(stream);
            break;
        case STREAM_SYNCHRONIZE:
            answer.status = cuStreamSynchronize(stream);
            break;
        case DESTROY:
            answer.status = cuEventDestroy(event);
            break;
        case EXPORT:
            answer.status = cuEventCreate(&event, SHARED);
            ROLE_NEED(cuIpcGetEventHandle(&answer.handle, event) == CUDA_SUCCESS);
            break;
        }
        ROLE_NEED(send_bytes(socket, &answer, sizeof answer));
    }
}

static void role_stranger(int socket)
{
    role_begin();
    ROLE_NEED(setgid(65534) == 0 && setuid(65534) == 0);
    role_obey(socket);
}

/* Plays a game of turns: waits for the other side's event, adds one to the shared word, records its own. */
enum { GAME_ROUNDS = 300 };
struct game {
    CUipcEventHandle event;
    CUipcMemHandle memory;
};

static void role_play(int socket)
{
    struct game theirs;
    CUipcEventHandle own_handle;
    CUevent own = NULL, other;
    CUstream stream;
    CUdeviceptr word;
    role_begin();
    ROLE_NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
              cuEventCreate(&own, SHARED) == CUDA_SUCCESS);
    ROLE_NEED(cuIpcGetEventHandle(&own_handle, own) == CUDA_SUCCESS &&
              send_bytes(socket, &own_handle, sizeof own_handle));
    ROLE_NEED(receive_bytes(socket, &theirs, sizeof theirs));
    ROLE_NEED(cuIpcOpenEventHandle(&other, theirs.event) == CUDA_SUCCESS);
    ROLE_NEED(cuIpcOpenMemHandle(&word, theirs.memory, LAZY) == CUDA_SUCCESS);
    for (unsigned round = 0; round < GAME_ROUNDS; round++) {
        unsigned seen = 0;
        ROLE_NEED(take_turn(socket));
        ROLE_NEED(cuStreamWaitEvent(stream, other, 0) == CUDA_SUCCESS);
        ROLE_NEED(cuMemcpyDtoHAsync(&seen, word, 4, stream) == CUDA_SUCCESS &&
                  cuStreamSynchronize(stream) == CUDA_SUCCESS);
        ROLE_NEED(seen == 2 * round + 1);
        ROLE_NEED(cuMemsetD32Async(word, seen + 1, 1, stream) == CUDA_SUCCESS &&
                  cuEventRecord(own, stream) == CUDA_SUCCESS);
        ROLE_NEED(give_turn(socket));
    }
    ROLE_NEED(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

/* Does what threads do to events, some thousand times: `events` have handles, `count` of them. */
enum { STIR_EVENTS = 6, STIR_STEPS = 3000 };

static bool stir(CUevent events[STIR_EVENTS], CUstream stream, unsigned seed)
{
    for (int step = 0; step < STIR_STEPS; step++) {
        seed = seed * 1103515245 + 12345;
        CUevent event = events[(seed >> 8) % STIR_EVENTS];
        CUresult status = CUDA_SUCCESS;
        switch ((seed >> 16) % 5) {
        case 0:
        case 1:
            status = cuEventRecord(event, stream);
            break;
        case 2:
            status = cuStreamWaitEvent(stream, event, 0);
            break;
        case 3:
            status = cuEventQuery(event);
            break;
        case 4:
            status = (seed >> 24) % 8 ? CUDA_SUCCESS : cuEventSynchronize(event);
            break;
        }
        if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY)
            return false;
    }
    return cuStreamSynchronize(stream) == CUDA_SUCCESS;
}

static void role_stir(int socket)
{
    CUipcEventHandle handles[STIR_EVENTS];
    CUevent events[STIR_EVENTS];
    CUstream stream;
    role_begin();
    ROLE_NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    ROLE_NEED(receive_bytes(socket, handles, sizeof handles));
    for (int i = 0; i < STIR_EVENTS; i++)
        ROLE_NEED(cuIpcOpenEventHandle(&events[i], handles[i]) == CUDA_SUCCESS);
    ROLE_NEED(stir(events, stream, (unsigned)getpid()));
}

static const struct role roles[] = {
    {"stir", role_stir}, {"obey", role_obey}, {"stranger", role_stranger}, {"play", role_play}, {NULL, NULL}};

static void tell(struct helper *helper, enum verb verb, const CUipcEventHandle *handle)
{
    struct order order = {.verb = (int)verb};
    if (handle)
        order.handle = *handle;
    assert_true(send_bytes(helper->socket, &order, sizeof order));
}

static CUresult hear(struct helper *helper, CUipcEventHandle *handle)
{
    struct answer answer;
    assert_true(receive_bytes(helper->socket, &answer, sizeof answer));
    if (handle)
        *handle = answer.handle;
    return answer.status;
}

static CUresult ask(struct helper *helper, enum verb verb, const CUipcEventHandle *handle)
{
    tell(helper, verb, handle);
    return hear(helper, NULL);
}

static CUevent shared_event(CUipcEventHandle *handle)
{
    CUevent event;
    OK(cuEventCreate(&event, SHARED));
    OK(cuIpcGetEventHandle(handle, event));
    return event;
}

static CUstream stream_new(void)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static void nap_ms(unsigned ms)
{
    struct timespec nap = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&nap, NULL);
}

/* Either side records, the other asks, waits on the host and in a stream. */
static void test_both_ways(void **state)
{
    CUipcEventHandle handle;
    struct gate gate;
    (void)state;
    CUevent event = shared_event(&handle);
    CUstream stream = stream_new();
    struct helper helper = helper_start("obey");
    FAILS(ask(&helper, OPEN, &handle), CUDA_SUCCESS);
    FAILS(ask(&helper, SYNCHRONIZE, NULL), CUDA_SUCCESS);
    gate_put(&gate, stream);
    OK(cuEventRecord(event, stream));
    FAILS(ask(&helper, QUERY, NULL), CUDA_ERROR_NOT_READY);
    FAILS(ask(&helper, WAIT, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper, STREAM_QUERY, NULL), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    FAILS(ask(&helper, SYNCHRONIZE, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper, STREAM_SYNCHRONIZE, NULL), CUDA_SUCCESS);
    OK(cuEventQuery(event));

    FAILS(ask(&helper, GATED_RECORD, NULL), CUDA_SUCCESS);
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(cuStreamWaitEvent(stream, event, 0));
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    FAILS(ask(&helper, OPEN_GATE, NULL), CUDA_SUCCESS);
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(helper_end(&helper), 0);
    OK(cuEventQuery(event));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

/* A thread that sleeps is woken by the other process, and by nothing else: no processor time to speak of. */
static void test_sleepers_are_woken(void **state)
{
    CUipcEventHandle handle;
    CUevent event;
    (void)state;
    struct helper helper = helper_start("obey");
    tell(&helper, EXPORT, NULL);
    FAILS(hear(&helper, &handle), CUDA_SUCCESS);
    OK(cuIpcOpenEventHandle(&event, handle));
    CUstream stream = stream_new();
    FAILS(ask(&helper, GATED_RECORD, NULL), CUDA_SUCCESS);
    OK(cuStreamWaitEvent(stream, event, 0));
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    tell(&helper, QUERY, NULL);   /* its answer waits in the socket */
    nap_ms(500);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    double used = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    FAILS(hear(&helper, NULL), CUDA_ERROR_NOT_READY);
    if (used > 0.1)
        fail_msg("waiting for half a second took %.3f s of processor time", used);
    tell(&helper, OPEN_GATE, NULL);
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(stream));
    FAILS(hear(&helper, NULL), CUDA_SUCCESS);
    assert_int_equal(helper_end(&helper), 0);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

/* Turns through events of both sides, hundreds of recordings deep, the work ahead of the host. */
static void test_turns(void **state)
{
    struct game ours;
    CUipcEventHandle their_handle;
    CUevent other;
    (void)state;
    struct helper helper = helper_start("play");
    CUevent own = shared_event(&ours.event);
    CUstream stream = stream_new();
    CUdeviceptr word = device_bytes(4096);
    OK(cuMemsetD32(word, 0, 1024));
    OK(cuCtxSynchronize());
    OK(cuIpcGetMemHandle(&ours.memory, word));
    assert_true(receive_bytes(helper.socket, &their_handle, sizeof their_handle));
    OK(cuIpcOpenEventHandle(&other, their_handle));
    assert_true(send_bytes(helper.socket, &ours, sizeof ours));
    for (unsigned round = 0; round < GAME_ROUNDS; round++) {
        OK(cuStreamWaitEvent(stream, other, 0));
        OK(cuMemsetD32Async(word, 2 * round + 1, 1, stream));
        OK(cuEventRecord(own, stream));
        assert_true(give_turn(helper.socket));
        assert_true(take_turn(helper.socket));
    }
    assert_int_equal(helper_end(&helper), 0);
    unsigned last = 0;
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(&last, word, 4));
    assert_int_equal(last, 2 * GAME_ROUNDS);
    OK(cuEventDestroy(own));
    OK(cuEventDestroy(other));
    OK(cuMemFree(word));
    OK(cuStreamDestroy(stream));
}

/* Recordings in many streams, pending at once: a wait is for the one that was the latest at its call, whichever
 * completes first. */
static void test_many_pending(void **state)
{
    enum { STREAMS = 20 };
    CUipcEventHandle handle;
    struct gate gate[STREAMS];
    CUstream stream[STREAMS];
    (void)state;
    CUevent event = shared_event(&handle);
    struct helper helper[2] = {helper_start("obey"), helper_start("obey")};
    for (int i = 0; i < 2; i++)
        FAILS(ask(&helper[i], OPEN, &handle), CUDA_SUCCESS);
    for (int i = 0; i < STREAMS; i++) {
        stream[i] = stream_new();
        gate_put(&gate[i], stream[i]);
        for (int j = 0; j < 10; j++)
            OK(cuEventRecord(event, stream[i]));
        if (i == STREAMS / 2)
            FAILS(ask(&helper[0], WAIT, NULL), CUDA_SUCCESS);
    }
    FAILS(ask(&helper[1], WAIT, NULL), CUDA_SUCCESS);
    for (int i = STREAMS - 1; i > STREAMS / 2; i--) {
        gate_open(&gate[i]);
        OK(cuStreamSynchronize(stream[i]));
    }
    FAILS(ask(&helper[1], STREAM_SYNCHRONIZE, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper[1], QUERY, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper[0], STREAM_QUERY, NULL), CUDA_ERROR_NOT_READY);
    for (int i = 0; i < STREAMS / 2; i++) {
        gate_open(&gate[i]);
        OK(cuStreamSynchronize(stream[i]));
    }
    FAILS(ask(&helper[0], STREAM_QUERY, NULL), CUDA_ERROR_NOT_READY);
    gate_open(&gate[STREAMS / 2]);
    FAILS(ask(&helper[0], STREAM_SYNCHRONIZE, NULL), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(helper_end(&helper[i]), 0);
    for (int i = 0; i < STREAMS; i++)
        OK(cuStreamDestroy(stream[i]));
    OK(cuEventDestroy(event));
}

/* More streams than an event has lanes: the recording is refused, and nothing else suffers. */
static void test_too_many_pending(void **state)
{
    enum { STREAMS = 40 };
    CUipcEventHandle handle;
    struct gate gate[STREAMS];
    CUstream stream[STREAMS];
    int refused = 0;
    (void)state;
    CUevent event = shared_event(&handle);
    for (int i = 0; i < STREAMS; i++) {
        stream[i] = stream_new();
        gate_put(&gate[i], stream[i]);
        CUresult status = cuEventRecord(event, stream[i]);
        assert_true(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY);
        refused += status != CUDA_SUCCESS;
    }
    assert_in_range(refused, 1, STREAMS - 20);
    for (int i = 0; i < STREAMS; i++)
        gate_open(&gate[i]);
    OK(cuCtxSynchronize());
    OK(cuEventSynchronize(event));
    OK(cuEventRecord(event, stream[0]));
    OK(cuEventSynchronize(event));
    for (int i = 0; i < STREAMS; i++)
        OK(cuStreamDestroy(stream[i]));
    OK(cuEventDestroy(event));
}

/* Threads of several processes do everything at once. */
struct stirrer {
    CUevent *events;
    CUstream stream;
    unsigned seed;
};

static void *stir_main(void *data)
{
    struct stirrer *stirrer = data;
    return cuCtxSetCurrent(the_context) == CUDA_SUCCESS && stir(stirrer->events, stirrer->stream, stirrer->seed)
               ? stirrer
               : NULL;
}

static void test_all_at_once(void **state)
{
    enum { THREADS = 4, HELPERS = 3 };
    CUipcEventHandle handles[STIR_EVENTS];
    CUevent events[STIR_EVENTS];
    struct helper helper[HELPERS];
    struct stirrer stirrer[THREADS];
    pthread_t thread[THREADS];
    (void)state;
    for (int i = 0; i < STIR_EVENTS; i++)
        events[i] = shared_event(&handles[i]);
    for (int i = 0; i < HELPERS; i++) {
        helper[i] = helper_start("stir");
        assert_true(send_bytes(helper[i].socket, handles, sizeof handles));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        stirrer[i] = (struct stirrer){events, stream_new(), i + 1};
        assert_int_equal(pthread_create(&thread[i], NULL, stir_main, &stirrer[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        assert_int_equal(pthread_join(thread[i], &result), 0);
        assert_non_null(result);
        OK(cuStreamDestroy(stirrer[i].stream));
    }
    for (int i = 0; i < HELPERS; i++)
        assert_int_equal(helper_end(&helper[i]), 0);
    for (int i = 0; i < STIR_EVENTS; i++) {
        OK(cuEventSynchronize(events[i]));
        OK(cuEventDestroy(events[i]));
    }
}

/* The nodes of a graph record and wait for shared events like streams. */
static void test_graph_nodes(void **state)
{
    CUipcEventHandle handle, their_handle;
    CUevent theirs;
    CUgraph graph;
    CUgraphNode wait, record;
    CUgraphExec exec;
    (void)state;
    struct helper helper = helper_start("obey");
    CUevent event = shared_event(&handle);
    CUstream stream = stream_new();
    tell(&helper, EXPORT, NULL);
    FAILS(hear(&helper, &their_handle), CUDA_SUCCESS);
    OK(cuIpcOpenEventHandle(&theirs, their_handle));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, theirs));
    OK(cuGraphAddEventRecordNode(&record, graph, &wait, 1, event));
    OK(cuGraphInstantiate(&exec, graph, 0));
    FAILS(ask(&helper, GATED_RECORD, NULL), CUDA_SUCCESS);
    OK(cuGraphLaunch(exec, stream));
    FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    FAILS(ask(&helper, OPEN_GATE, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper, OPEN, &handle), CUDA_SUCCESS);
    FAILS(ask(&helper, SYNCHRONIZE, NULL), CUDA_SUCCESS);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(helper_end(&helper), 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
    OK(cuEventDestroy(theirs));
    OK(cuStreamDestroy(stream));
}

/* A process dies between recording and completing: whoever waits goes on, whoever asks hears that the recording is
 * lost. */
static void test_recorder_dies(void **state)
{
    (void)state;
    for (int opener_dies = 0; opener_dies < 2; opener_dies++) {
        CUipcEventHandle handle;
        CUevent event;
        CUstream stream = stream_new();
        struct helper helper = helper_start("obey");
        if (opener_dies) {
            event = shared_event(&handle);
            FAILS(ask(&helper, OPEN, &handle), CUDA_SUCCESS);
        } else {
            tell(&helper, EXPORT, NULL);
            FAILS(hear(&helper, &handle), CUDA_SUCCESS);
            OK(cuIpcOpenEventHandle(&event, handle));
        }
        FAILS(ask(&helper, GATED_RECORD, NULL), CUDA_SUCCESS);
        OK(cuStreamWaitEvent(stream, event, 0));
        FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        kill(helper.pid, SIGKILL);
        FAILS(cuEventSynchronize(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        FAILS(cuEventQuery(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        OK(cuStreamSynchronize(stream));
        OK(cuEventRecord(event, stream));
        OK(cuEventSynchronize(event));
        assert_int_equal(helper_end(&helper), 256 + SIGKILL);
        OK(cuEventDestroy(event));
        OK(cuStreamDestroy(stream));
    }
}

/* The other side destroys its end, or the context, with a recording pending. */
static void test_destroyed_while_open(void **state)
{
    CUipcEventHandle handle;
    struct gate gate;
    (void)state;
    CUevent event = shared_event(&handle);
    CUstream stream = stream_new();
    struct helper helper = helper_start("obey");
    FAILS(ask(&helper, OPEN, &handle), CUDA_SUCCESS);
    gate_put(&gate, stream);
    OK(cuEventRecord(event, stream));
    FAILS(ask(&helper, WAIT, NULL), CUDA_SUCCESS);
    OK(cuEventDestroy(event));
    FAILS(ask(&helper, QUERY, NULL), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    FAILS(ask(&helper, SYNCHRONIZE, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper, STREAM_SYNCHRONIZE, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper, RECORD, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper, SYNCHRONIZE, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper, DESTROY, NULL), CUDA_SUCCESS);
    FAILS(ask(&helper, OPEN, &handle), CUDA_ERROR_MAP_FAILED);
    assert_int_equal(helper_end(&helper), 0);
    OK(cuStreamDestroy(stream));
}

static void test_damaged_handles(void **state)
{
    unsigned seed = 99;
    CUipcEventHandle handle, bad;
    (void)state;
    CUevent event = shared_event(&handle);
    struct helper helper = helper_start("obey");
    for (unsigned bit = 0; bit < 8 * sizeof handle; bit++) {
        bad = handle;
        ((unsigned char *)&bad)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        FAILS(ask(&helper, OPEN, &bad), CUDA_ERROR_MAP_FAILED);
    }
    for (int i = 0; i < 1000; i++) {
        for (size_t j = 0; j < sizeof bad; j++)
            ((unsigned char *)&bad)[j] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
        FAILS(ask(&helper, OPEN, &bad), CUDA_ERROR_MAP_FAILED);
    }
    FAILS(ask(&helper, OPEN, &handle), CUDA_SUCCESS);
    assert_int_equal(helper_end(&helper), 0);
    OK(cuEventDestroy(event));
}

static void test_other_user(void **state)
{
    CUipcEventHandle handle;
    (void)state;
    if (geteuid() != 0)
        skip();
    CUevent event = shared_event(&handle);
    struct helper helper = helper_start("stranger");
    FAILS(ask(&helper, OPEN, &handle), CUDA_ERROR_MAP_FAILED);
    assert_int_equal(helper_end(&helper), 0);
    OK(cuEventDestroy(event));
}

/* Opening and closing thousands of times leaves no descriptor and no memory behind, also when the other side goes each
 * time. */
static void test_nothing_left(void **state)
{
    CUipcEventHandle handle;
    CUevent event;
    enum { SPARE = 8 };   /* workers come and go */
    unsigned descriptors = 0, threads = 0;
    (void)state;
    struct helper helper = helper_start("obey");
    CUstream stream = stream_new();
    for (int round = 0; round < 3000; round++) {
        tell(&helper, EXPORT, NULL);
        FAILS(hear(&helper, &handle), CUDA_SUCCESS);
        OK(cuIpcOpenEventHandle(&event, handle));
        if (round % 3 == 0) {
            FAILS(ask(&helper, RECORD, NULL), CUDA_SUCCESS);
            OK(cuStreamWaitEvent(stream, event, 0));
        }
        FAILS(ask(&helper, DESTROY, NULL), CUDA_SUCCESS);
        OK(cuEventDestroy(event));
        if (round == 10)
            descriptors = count_descriptors();
    }
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(helper_end(&helper), 0);
    for (int round = 0; round < 20; round++) {
        helper = helper_start("obey");
        tell(&helper, EXPORT, NULL);
        FAILS(hear(&helper, &handle), CUDA_SUCCESS);
        OK(cuIpcOpenEventHandle(&event, handle));
        FAILS(ask(&helper, GATED_RECORD, NULL), CUDA_SUCCESS);
        OK(cuStreamWaitEvent(stream, event, 0));   /* makes a thread */
        FAILS(ask(&helper, OPEN_GATE, NULL), CUDA_SUCCESS);
        OK(cuStreamSynchronize(stream));
        OK(cuEventDestroy(event));
        assert_int_equal(helper_end(&helper), 0);
        unsigned tasks = count_entries("/proc/self/task");
        for (int i = 0; i < 2000 && round > 0 && tasks > threads + SPARE; i++) {
            nap_ms(1);
            tasks = count_entries("/proc/self/task");
        }
        if (round == 0)
            threads = tasks;
        assert_true(tasks <= threads + SPARE);
    }
    OK(cuStreamDestroy(stream));
}

int main(int argc, char **argv)
{
    role_run(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_sleepers_are_woken),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_many_pending),
        cmocka_unit_test(test_too_many_pending),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_graph_nodes),
        cmocka_unit_test(test_recorder_dies),
        cmocka_unit_test(test_destroyed_while_open),
        cmocka_unit_test(test_damaged_handles),
        cmocka_unit_test(test_other_user),
        cmocka_unit_test(test_nothing_left),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
