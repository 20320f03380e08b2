/* SPDX-License-Identifier: Apache-2.0 */
/* millrace_submit_parts, the driver's private function for libraries of mathematics: order, parts, captures, replays,
 * when data is released, faults. */
#include "capture_support.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

CUresult millrace_submit_parts(CUstream stream, uint64_t count, void (*run)(void *data, uint64_t first, uint64_t end),
                               void (*release)(void *data), void *data);
void millrace_fail_part(CUresult status);

#define PARTS 1000

struct work {
    atomic_int runs[PARTS];
    int *value, add, times; /* the first part: *value = *value * times + add */
    atomic_int *released;
};

static void run(void *data, uint64_t first, uint64_t end)
{
    struct work *work = data;
    for (uint64_t i = first; i < end; i++) {
        atomic_fetch_add(&work->runs[i], 1);
        if (i == 0)
            *work->value = (*work->value * work->times + work->add) % 1000003;
    }
}

static void release(void *data)
{
    struct work *work = data;
    atomic_fetch_add(work->released, 1);
    free(work);
}

/* Records go a moment after their work is seen to be done. */
static void wait_for(atomic_int *count, int wanted)
{
    for (int i = 0; i < 10000 && atomic_load(count) < wanted; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(atomic_load(count), wanted);
}

static struct work *new_work(int *value, int times, int add, atomic_int *released)
{
    struct work *work = calloc(1, sizeof *work);
    work->value = value;
    work->times = times;
    work->add = add;
    work->released = released;
    return work;
}

static void CUDA_CB check_runs(void *data)
{
    struct work *work = data;
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(atomic_load(&work->runs[i]), 1);
}

static void test_order_and_parts(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    atomic_int released = 0;
    int value = 0, expected = 0;
    for (int i = 1; i <= 200; i++) {
        struct work *work = new_work(&value, 3, i, &released);
        OK(millrace_submit_parts(stream, i % 2 ? PARTS : 1, run, release, work));
        expected = (expected * 3 + i) % 1000003;
    }
    OK(cuStreamSynchronize(stream));
    assert_int_equal(value, expected);
    struct work *work = new_work(&value, 1, 1, &released);
    OK(millrace_submit_parts(stream, PARTS, run, NULL, work));
    OK(cuLaunchHostFunc(stream, check_runs, work));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy(stream));
    OK(cuCtxSynchronize());
    wait_for(&released, 200);
    free(work);
}

static void test_bad(void **state)
{
    (void)state;
    atomic_int released = 0;
    int value = 0;
    struct work *work = new_work(&value, 1, 1, &released);
    FAILS(millrace_submit_parts((CUstream)FOREIGN, 1, run, release, work), CUDA_ERROR_INVALID_HANDLE);
    FAILS(millrace_submit_parts(NULL, 0, run, release, work), CUDA_ERROR_INVALID_VALUE);
    FAILS(millrace_submit_parts(NULL, 1, NULL, release, work), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(atomic_load(&released), 0);
    free(work);
}

static void test_capture_and_replay(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUgraph graph, clone;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    CUgraphNodeType type;
    size_t count = 2;
    atomic_int released = 0;
    int value = 1, expected = 1;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(millrace_submit_parts(stream, PARTS, run, release, new_work(&value, 2, 1, &released)));
    OK(millrace_submit_parts(stream, 1, run, release, new_work(&value, 3, 0, &released)));
    OK(cuStreamEndCapture(stream, &graph));
    assert_int_equal(value, 1);
    OK(cuGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 2);
    OK(cuGraphNodeGetType(nodes[0], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_HOST);
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(graph));
    OK(cuGraphInstantiate(&exec, clone, 0));
    OK(cuGraphDestroy(clone));
    assert_int_equal(atomic_load(&released), 0);
    for (int i = 0; i < 5; i++) {
        OK(cuGraphLaunch(exec, stream));
        expected = (expected * 2 + 1) * 3;
    }
    OK(cuStreamSynchronize(stream));
    assert_int_equal(value, expected);
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(stream));
    OK(cuCtxSynchronize());
    wait_for(&released, 2);
}

static void run_fault(void *data, uint64_t first, uint64_t end)
{
    (void)data;
    for (uint64_t i = first; i < end; i++)
        if (i == PARTS / 2)
            *(volatile int *)strtoul("0x10", NULL, 0) = 1;
}

static void run_short(void *data, uint64_t first, uint64_t end)
{
    (void)data;
    if (first == 0 && end > 0)
        millrace_fail_part(CUDA_ERROR_OUT_OF_MEMORY);
}

static void run_nothing(void *data, uint64_t first, uint64_t end)
{
    (void)data, (void)first, (void)end;
}

/* In a context of its own, which it spoils. */
static void test_fault(void **state)
{
    (void)state;
    CUcontext context, outer;
    CUdevice device;
    atomic_int released = 0;
    int value = 0;
    OK(cuCtxGetCurrent(&outer));
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate(&context, NULL, 0, device));
    /* cmocka has just installed a handler for the signal. The driver looks for such every few milliseconds, when work
     * runs, and puts its own in front again. */
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    OK(millrace_submit_parts(NULL, PARTS, run_nothing, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(millrace_submit_parts(NULL, PARTS, run_fault, NULL, NULL));
    FAILS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    struct work *work = new_work(&value, 1, 1, &released);
    if (millrace_submit_parts(NULL, 1, run, release, work) != CUDA_SUCCESS)
        free(work);
    assert_int_equal(value, 0);
    (void)cuCtxDestroy(context);
    OK(cuCtxSetCurrent(outer));
}

/* A part that can't do its work spoils the context: of one part, of many, and in a graph. */
static void test_failure(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        uint64_t count = form % 2 ? PARTS : 1;
        CUcontext context, outer;
        CUdevice device;
        OK(cuCtxGetCurrent(&outer));
        OK(cuDeviceGet(&device, 0));
        OK(cuCtxCreate(&context, NULL, 0, device));
        CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
        if (form < 2) {
            OK(millrace_submit_parts(stream, count, run_short, NULL, NULL));
        } else {
            CUgraph graph;
            CUgraphExec exec;
            OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            OK(millrace_submit_parts(stream, count, run_short, NULL, NULL));
            OK(cuStreamEndCapture(stream, &graph));
            OK(cuGraphInstantiate(&exec, graph, 0));
            (void)cuGraphLaunch(exec, stream);
        }
        FAILS(cuCtxSynchronize(), CUDA_ERROR_OUT_OF_MEMORY);
        (void)cuCtxDestroy(context);
        OK(cuCtxSetCurrent(outer));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_parts),    cmocka_unit_test(test_bad),   cmocka_unit_test(test_failure),
        cmocka_unit_test(test_capture_and_replay), cmocka_unit_test(test_fault),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
