/* SPDX-License-Identifier: Apache-2.0 */
/* One worker (MILLRACE_WORKERS=1): who runs what, and in which order, is then settled, except for the extra workers
 * that the monitor starts. Where those would blur the answer the monitor is kept asleep. */
#include "monitor.h"

/* ---- the first tests: before there is any worker ---- */

/* Records, waits, short copies and fills of an idle stream are done when the call returns, and need no other thread. */
static void test_short_work_is_done_by_the_caller(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUevent event = new_event(0);
    CUdeviceptr memory;
    unsigned char bytes[64] = {1, 2, 3};
    OK(cuMemAlloc(&memory, 4096));
    OK(cuMemsetD8Async(memory, 7, 4096, stream));
    OK(cuStreamQuery(stream));
    OK(cuEventRecord(event, stream));
    OK(cuEventQuery(event));
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(cuMemcpyDtoHAsync(bytes, memory, sizeof bytes, stream));
    OK(cuStreamQuery(stream));
    assert_int_equal(bytes[0], 7);
    assert_int_equal(bytes[63], 7);
    assert_int_equal(mr_engine_look().workers, 0);
    OK(cuMemFree(memory));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
}

enum { TASKS = 60 };
struct noted_task {
    struct mr_task task;
    int priority;
    uint64_t sequence;
};
static struct noted_task tasks[TASKS];
static struct noted_task *order[TASKS];
static _Atomic unsigned noted;

static void note_task(struct mr_task *task)
{
    unsigned place = atomic_load(&noted);
    order[place] = (struct noted_task *)task;
    atomic_store(&noted, place + 1);
}

/* Tasks queued in no particular order run by priority, and by age within a priority. The worker is called when all are
 * queued. */
static void test_order_of_tasks(void **state)
{
    (void)state;
    struct mr_call first = {0};
    keep_monitor_asleep(true);
    for (unsigned i = 0; i < TASKS; i++) {
        struct noted_task *task = &tasks[i * 7 % TASKS];
        *task = (struct noted_task){.task.run = note_task, .priority = -(int)(i % 6), .sequence = 1000 - i * 13 % 97};
        assert_true(mr_engine_task_begin());
        struct mr_call call = mr_engine_push(&task->task, mr_engine_key(task->priority, task->sequence));
        first = i == 0 ? call : mr_call_both(first, call);
    }
    assert_int_equal(first.spawn, 1);
    assert_int_equal(first.ring + first.arm, 0);
    mr_call_make(first);
    while (atomic_load(&noted) < TASKS)
        sched_yield();
    keep_monitor_asleep(false);
    for (unsigned i = 0; i < TASKS; i++) {
        mr_engine_task_end();
        if (i > 0)
            assert_true(order[i - 1]->priority < order[i]->priority ||
                        (order[i - 1]->priority == order[i]->priority && order[i - 1]->sequence <= order[i]->sequence));
    }
}

/* ---- with the worker ---- */

static _Atomic int place;

static void kernel_place(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    *(int *)kernel_data(block) = atomic_fetch_add(&place, 1);
}

static const struct mr_code code_place = {.function = kernel_place, .stack_bytes = 16384};

/* Streams that become ready at the same moment run by priority, then by age. */
static void test_priorities(void **state)
{
    (void)state;
    enum { COUNT = 24 };
    CUstream gated = new_stream(CU_STREAM_NON_BLOCKING), streams[COUNT];
    CUevent opened = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate = {0};
    int places[COUNT];
    keep_monitor_asleep(true);
    gate_put(&gate, gated);
    OK(cuEventRecord(opened, gated));
    atomic_store(&place, 0);
    for (int i = 0; i < COUNT; i++) {
        OK(cuStreamCreateWithPriority(&streams[i], CU_STREAM_NON_BLOCKING, -(i * 5 % 6)));
        OK(cuStreamWaitEvent(streams[i], opened, 0));
        OK(launch(streams[i], &code_place, 1, &places[i]));
    }
    gate_open(&gate);
    for (int i = 0; i < COUNT; i++)
        watch(streams[i]);
    keep_monitor_asleep(false);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            if (i * 5 % 6 > j * 5 % 6 || (i * 5 % 6 == j * 5 % 6 && i < j))
                assert_true(places[i] < places[j]);
    for (int i = 0; i < COUNT; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuStreamDestroy(gated));
    OK(cuEventDestroy(opened));
}

/* A long queue of the highest priority holds up one of the lowest, but not until it is empty. */
static void test_low_priority_gets_its_turn(void **state)
{
    (void)state;
    enum { LONG = 8000 };
    static int places[LONG];
    int low_place = -1, middle_place = -1;
    CUstream gated = new_stream(CU_STREAM_NON_BLOCKING), high, middle, low;
    CUevent opened = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate = {0};
    OK(cuStreamCreateWithPriority(&high, CU_STREAM_NON_BLOCKING, MR_PRIORITY_GREATEST));
    OK(cuStreamCreateWithPriority(&middle, CU_STREAM_NON_BLOCKING, MR_PRIORITY_GREATEST + 1));
    OK(cuStreamCreateWithPriority(&low, CU_STREAM_NON_BLOCKING, MR_PRIORITY_LEAST));
    keep_monitor_asleep(true);
    gate_put(&gate, gated);
    OK(cuEventRecord(opened, gated));
    atomic_store(&place, 0);
    OK(cuStreamWaitEvent(low, opened, 0));
    OK(cuStreamWaitEvent(middle, opened, 0));
    OK(cuStreamWaitEvent(high, opened, 0));
    OK(launch(low, &code_place, 1, &low_place));
    OK(launch(middle, &code_place, 1, &middle_place));
    for (int i = 0; i < LONG; i++)
        OK(launch(high, &code_place, 1, &places[i]));
    gate_open(&gate);
    watch(high);
    watch(middle);
    watch(low);
    keep_monitor_asleep(false);
    for (int i = 1; i < LONG; i++)
        assert_true(places[i - 1] < places[i]);
    assert_in_range(low_place, (MR_PATIENCE - 1) * MR_TURN, (MR_PATIENCE + 2) * MR_TURN);
    assert_in_range(middle_place, (MR_PATIENCE - 1) * MR_TURN, (MR_PATIENCE + 2) * MR_TURN);
    OK(cuStreamDestroy(gated));
    OK(cuStreamDestroy(high));
    OK(cuStreamDestroy(middle));
    OK(cuStreamDestroy(low));
    OK(cuEventDestroy(opened));
}

/* A worker goes on with the stream that it has while older work of the same priority waits, but not for long. */
static void test_older_work_waits_for_a_turn(void **state)
{
    (void)state;
    enum { LONG = 500 };
    static int places[LONG];
    int other_place = -1;
    CUstream gated = new_stream(CU_STREAM_NON_BLOCKING), first = new_stream(CU_STREAM_NON_BLOCKING),
             other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent opened = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate = {0};
    keep_monitor_asleep(true);
    gate_put(&gate, gated);
    OK(cuEventRecord(opened, gated));
    atomic_store(&place, 0);
    OK(cuStreamWaitEvent(other, opened, 0));
    OK(cuStreamWaitEvent(first, opened, 0));
    OK(launch(first, &code_place, 1, &places[0]));
    OK(launch(other, &code_place, 1, &other_place));
    for (int i = 1; i < LONG; i++)
        OK(launch(first, &code_place, 1, &places[i]));
    gate_open(&gate);
    watch(first);
    watch(other);
    keep_monitor_asleep(false);
    for (int i = 1; i < LONG; i++)
        assert_true(places[i - 1] < places[i]);
    assert_in_range(other_place, 2, MR_TURN);
    OK(cuStreamDestroy(gated));
    OK(cuStreamDestroy(first));
    OK(cuStreamDestroy(other));
    OK(cuEventDestroy(opened));
}

/* As cuLaunchKernelEx with a priority of its own. */
static void launch_at(CUstream handle, int priority, int *where)
{
    struct mr_stream *stream = inside(handle);
    struct mr_launch *made = mr_launch_new(sizeof where);
    struct mr_command *command = mr_command_new(MR_COMMAND_LAUNCH);
    assert_true(made && command);
    made->code = &code_place;
    made->context = mr_stream_context(stream);
    for (int i = 0; i < 3; i++)
        made->grid[i] = made->block[i] = 1;
    memcpy(made->params, &where, sizeof where);
    command->launch = made;
    command->has_priority = true;
    command->priority = (int8_t)priority;
    OK(mr_stream_submit(stream, command));
}

/* The priority of a launch goes before that of its stream, for this launch alone. */
static void test_priority_of_a_launch(void **state)
{
    (void)state;
    enum { COUNT = 6 };
    CUstream gated = new_stream(CU_STREAM_NON_BLOCKING), streams[COUNT];
    CUevent opened = new_event(CU_EVENT_DISABLE_TIMING);
    struct gate gate = {0};
    int first[COUNT], second[COUNT];
    keep_monitor_asleep(true);
    gate_put(&gate, gated);
    OK(cuEventRecord(opened, gated));
    atomic_store(&place, 0);
    for (int i = 0; i < COUNT; i++) {
        streams[i] = new_stream(CU_STREAM_NON_BLOCKING);
        OK(cuStreamWaitEvent(streams[i], opened, 0));
        launch_at(streams[i], -i, &first[i]);
        OK(launch(streams[i], &code_place, 1, &second[i]));
    }
    gate_open(&gate);
    for (int i = 0; i < COUNT; i++)
        watch(streams[i]);
    keep_monitor_asleep(false);
    for (int i = 1; i < COUNT; i++) {
        assert_true(first[i] < first[i - 1]);
        assert_true(second[i] > first[1]); /* back to the stream's own: behind all that is higher */
    }
    for (int i = 0; i < COUNT; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuStreamDestroy(gated));
    OK(cuEventDestroy(opened));
}

static void kernel_who(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    *(pthread_t *)kernel_data(block) = pthread_self();
}

static const struct mr_code code_who = {.function = kernel_who, .stack_bytes = 16384};

/* With the only worker away, a thread that waits runs what it waits for, through streams that wait for each other. */
static void test_waiting_thread_does_it(void **state)
{
    (void)state;
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING), first = new_stream(CU_STREAM_NON_BLOCKING),
             second = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    struct gate gate = {0};
    pthread_t who[3];
    keep_monitor_asleep(true);
    gate_put(&gate, busy);
    while (!atomic_load(&gate.entered))
        sched_yield();
    for (int round = 0; round < 20; round++) {
        memset(who, 0, sizeof who);
        OK(launch(first, &code_who, 1, &who[0]));
        OK(cuEventRecord(event, first));
        OK(launch(first, &code_who, 1, &who[1]));
        OK(cuStreamWaitEvent(second, event, 0));
        OK(launch(second, &code_who, 1, &who[2]));
        OK(cuStreamSynchronize(second));
        assert_true(pthread_equal(who[0], pthread_self()));
        assert_true(pthread_equal(who[2], pthread_self()));
        OK(cuStreamSynchronize(first));
        assert_true(pthread_equal(who[1], pthread_self()));
    }
    gate_open(&gate);
    OK(cuStreamSynchronize(busy));
    keep_monitor_asleep(false);
    OK(cuStreamDestroy(busy));
    OK(cuStreamDestroy(first));
    OK(cuStreamDestroy(second));
    OK(cuEventDestroy(event));
}

/* A blocking wait leaves the work to the workers, whichever way it was asked for; its thread's time is its own. */
static void test_blocking_wait_does_not_do_it(void **state)
{
    (void)state;
    CUstream plain = new_stream(CU_STREAM_NON_BLOCKING), blocking = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_BLOCKING_SYNC);
    CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_BLOCKING_SYNC};
    unsigned flags;
    OK(cuStreamSetAttribute(blocking, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    for (int round = 0; round < 20; round++) {
        pthread_t who[3];
        memset(who, 0, sizeof who);
        OK(launch(plain, &code_who, 1, &who[0]));
        OK(cuEventRecord(event, plain));
        OK(cuEventSynchronize(event));
        OK(launch(blocking, &code_who, 1, &who[1]));
        OK(cuStreamSynchronize(blocking));
        OK(cuCtxGetFlags(&flags));
        OK(cuCtxSetFlags((flags & ~(unsigned)CU_CTX_SCHED_MASK) | CU_CTX_SCHED_BLOCKING_SYNC));
        OK(launch(plain, &code_who, 1, &who[2]));
        OK(cuCtxSynchronize());
        OK(cuCtxSetFlags(flags));
        for (int i = 0; i < 3; i++)
            assert_true(who[i] != 0 && !pthread_equal(who[i], pthread_self()));
    }
    OK(cuStreamDestroy(plain));
    OK(cuStreamDestroy(blocking));
    OK(cuEventDestroy(event));
}

static void kernel_set(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    gate_open(kernel_data(block));
}

static const struct mr_code code_set = {.function = kernel_set, .stack_bytes = 16384};

/* A kernel spins until one that was launched later, in another stream, sets a flag; nobody helps, or the caller does.
 */
static void spin_and_set(const struct mr_code *code, bool help)
{
    CUstream spinning = new_stream(CU_STREAM_NON_BLOCKING), setting = new_stream(CU_STREAM_NON_BLOCKING);
    for (int round = 0; round < 5; round++) {
        struct gate gate = {0};
        OK(launch(spinning, code, 1, &gate));
        OK(launch(setting, &code_set, 1, &gate));
        if (help)
            OK(cuStreamSynchronize(spinning));
        watch(spinning);
        watch(setting);
        assert_int_equal(gate.entered, 1);
    }
    OK(cuStreamDestroy(spinning));
    OK(cuStreamDestroy(setting));
}

static void test_kernels_that_wait_for_each_other(void **state)
{
    (void)state;
    for (int help = 0; help < 2; help++) {
        spin_and_set(&code_spin, help);
        spin_and_set(&code_spin_deaf, help);
    }
}

/* Block 0 waits for the last block of its own grid. */
struct relay {
    _Atomic int set, passed;
};

static void kernel_relay(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct relay *relay = kernel_data(block);
    if (block->ctaid[0] == block->nctaid[0] - 1)
        atomic_store(&relay->set, 1);
    while (!atomic_load(&relay->set))
        block->runtime->yield(block);
    atomic_fetch_add(&relay->passed, 1);
}

static const struct mr_code code_relay = {
    .function = kernel_relay, .flags = MR_CODE_COOPERATIVE | MR_CODE_WAITS, .stack_bytes = 16384};

static void test_block_waits_for_a_later_one(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (int blocks = 2; blocks <= 20; blocks += 6) {
        struct relay relay = {0};
        OK(launch(stream, &code_relay, (unsigned)blocks, &relay));
        watch(stream);
        assert_int_equal(relay.passed, blocks);
    }
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    setenv("MILLRACE_WORKERS", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_work_is_done_by_the_caller),
        cmocka_unit_test(test_order_of_tasks),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_low_priority_gets_its_turn),
        cmocka_unit_test(test_older_work_waits_for_a_turn),
        cmocka_unit_test(test_priority_of_a_launch),
        cmocka_unit_test(test_waiting_thread_does_it),
        cmocka_unit_test(test_blocking_wait_does_not_do_it),
        cmocka_unit_test(test_kernels_that_wait_for_each_other),
        cmocka_unit_test(test_block_waits_for_a_later_one),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
