/* SPDX-License-Identifier: Apache-2.0 */
/* What waits in one stream, and in all of a context, has a bound in memory: a thread that submits more kernels, copies,
 * fills and memory operations than so many waits, while other threads and streams go on. Hardware blocks after 1,021 in
 * a stream, and 8,168 in all. */
#include "stream_support.h"

#include <pthread.h>
#include <time.h>

enum { MOST = 65536, MANY = MOST + 2000, STREAMS = 63, ALL = 524288, HARDWARE = 8168 };

static CUstream stream, other;
static CUdeviceptr words;
static CUfunction empty, trap;

static const char kernels[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry empty() { ret; }\n"
                              ".visible .entry fails() { trap; }\n";

static CUresult fill(void)
{
    return cuMemsetD32Async(words, 7, 1, stream);
}

static CUresult copy(void)
{
    return cuMemcpyDtoDAsync(words + 8, words, 4, stream);
}

static CUresult write_value(void)
{
    return cuStreamWriteValue32(stream, words, 7, 0);
}

static CUresult launch(void)
{
    return cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

struct submitter {
    CUresult (*one)(void);
    CUcontext context;
    unsigned many;
    _Atomic unsigned done;
    CUresult status;
    pthread_t thread;
};

static void *submit(void *data)
{
    struct submitter *me = data;
    me->status = cuCtxSetCurrent(me->context);
    for (unsigned i = 0; i < me->many && me->status == CUDA_SUCCESS; i++) {
        me->status = me->one();
        atomic_fetch_add(&me->done, 1);
    }
    return NULL;
}

static void begin(struct submitter *me, CUresult (*one)(void))
{
    *me = (struct submitter){.one = one, .many = MANY};
    OK(cuCtxGetCurrent(&me->context));
    assert_int_equal(pthread_create(&me->thread, NULL, submit, me), 0);
}

static void wait_until_held(struct submitter *me)
{
    const struct timespec moment = {0, 20000000};
    while (atomic_load(&me->done) < MOST - 1) /* the gate counts, too */
        sched_yield();
    nanosleep(&moment, NULL);
    assert_int_equal(atomic_load(&me->done), MOST - 1);
}

static void close_gate(void)
{
    OK(cuMemsetD32(words + 64, 0, 1));
    OK(cuStreamWaitValue32(stream, words + 64, 1, CU_STREAM_WAIT_VALUE_EQ));
}

static void open_gate(void)
{
    OK(cuStreamWriteValue32(other, words + 64, 1, 0));
}

static void the_submitter_waits_and_nobody_else(void **state)
{
    CUresult (*const kinds[])(void) = {fill, copy, write_value, launch};
    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct submitter me;
        unsigned value = 0;
        close_gate();
        begin(&me, kinds[i]);
        wait_until_held(&me);
        FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        OK(cuMemsetD32Async(words + 128, i + 1, 1, other));
        OK(cuStreamSynchronize(other));
        OK(cuMemcpyDtoHAsync(&value, words + 128, 4, other));
        assert_int_equal(value, i + 1);
        open_gate();
        pthread_join(me.thread, NULL);
        OK(me.status);
        assert_int_equal(atomic_load(&me.done), MANY);
        OK(cuStreamSynchronize(stream));
    }
}

static CUstream streams[STREAMS];

static CUresult fill_in_turn(void)
{
    static unsigned next;
    unsigned i = next++ % STREAMS;
    return cuMemsetD32Async(words + 512 + 4 * i, 7, 1, streams[i]);
}

/* Which moment the submitter is held back in can't be known from outside: what is waiting is known. */
static void all_streams_have_a_bound(void **state)
{
    const struct timespec moment = {0, 20000000};
    struct submitter me;
    CUevent gate;
    unsigned before = 0, now = 0, same = 0;
    (void)state;
    OK(cuEventCreate(&gate, CU_EVENT_DISABLE_TIMING));
    close_gate();
    OK(cuEventRecord(gate, stream));
    for (unsigned i = 0; i < STREAMS; i++) {
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        OK(cuStreamWaitEvent(streams[i], gate, 0));
    }
    me = (struct submitter){.one = fill_in_turn, .many = 2 * ALL};
    OK(cuCtxGetCurrent(&me.context));
    assert_int_equal(pthread_create(&me.thread, NULL, submit, &me), 0);
    for (; now < 2 * ALL && (same < 50 || now < ALL / 2); before = now) {
        nanosleep(&moment, NULL);
        now = atomic_load(&me.done);
        same = now == before ? same + 1 : 0;
    }
    assert_in_range(now, 2 * HARDWARE, ALL);
    open_gate();
    pthread_join(me.thread, NULL);
    OK(me.status);
    assert_int_equal(atomic_load(&me.done), 2 * ALL);
    for (unsigned i = 0; i < STREAMS; i++) {
        OK(cuStreamSynchronize(streams[i]));
        OK(cuStreamDestroy(streams[i]));
    }
    OK(cuEventDestroy(gate));
}

static void CUDA_CB count(void *data)
{
    ++*(unsigned *)data;
}

static void what_hardware_does_not_bound_is_not(void **state)
{
    CUevent event;
    CUgraph graph;
    unsigned counted = 0;
    (void)state;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    close_gate();
    for (unsigned i = 0; i < MANY; i++) {
        OK(cuEventRecord(event, stream));
        OK(cuStreamWaitEvent(stream, event, 0));
        OK(cuLaunchHostFunc(stream, count, &counted));
    }
    OK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (unsigned i = 0; i < MANY; i++)
        OK(cuMemsetD32Async(words, 1, 1, other));
    OK(cuStreamEndCapture(other, &graph));
    open_gate();
    OK(cuStreamSynchronize(stream));
    assert_int_equal(counted, MANY);
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
}

static void a_failed_context_lets_the_submitter_go(void **state)
{
    struct submitter me;
    (void)state;
    close_gate();
    begin(&me, launch);
    wait_until_held(&me);
    OK(cuLaunchKernel(trap, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
    pthread_join(me.thread, NULL);
    assert_int_not_equal(me.status, CUDA_SUCCESS);
    assert_int_not_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

static int set_up(void **state)
{
    CUmodule module;
    if (support_begin(state))
        return -1;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&words, 4096));
    OK(cuModuleLoadData(&module, kernels));
    OK(cuModuleGetFunction(&empty, module, "empty"));
    OK(cuModuleGetFunction(&trap, module, "fails"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_submitter_waits_and_nobody_else),
        cmocka_unit_test(all_streams_have_a_bound),
        cmocka_unit_test(what_hardware_does_not_bound_is_not),
        cmocka_unit_test(a_failed_context_lets_the_submitter_go),
    };
    return cmocka_run_group_tests(tests, set_up, support_end);
}
