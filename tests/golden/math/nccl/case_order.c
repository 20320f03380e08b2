/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL in stream order: behind and before kernels, with events, in captures and graphs; streams and communicators that
 * meet in one group. */
#include "nc.h"

#define F ncclUint32

static void end(cudaStream_t stream, unsigned *at)
{
    rt(cudaStreamSynchronize(stream));
    say_int(rt_word(at));
}

CASE(nc_order, kernel_reduce_kernel)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(1, 0), *b = rt_words(1, 0);
    struct rt_gate gate = rt_gate_close(stream);
    rt_store(stream, a, 5);
    nc(ncclAllReduce(a, b, 1, F, ncclSum, nc_alone(), stream));
    rt_add(stream, b, 1);
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    end(stream, b);
}

CASE(nc_order, other_stream_waits)
{
    cudaStream_t first = rt_stream(cudaStreamNonBlocking), second = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(1, 0), *b = rt_words(1, 0), *c = rt_words(1, 0);
    struct rt_gate gate = rt_gate_close(first);
    rt_store(first, a, 5);
    nc(ncclAllReduce(a, b, 1, F, ncclSum, nc_alone(), first));
    nc(ncclAllReduce(b, c, 1, F, ncclSum, nc_alone(), second));
    rt(cudaStreamQuery(first));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(second));
    say_int(rt_word(b));
}

CASE(nc_order, two_streams_one_group)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    cudaStream_t first = rt_stream(cudaStreamNonBlocking), second = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(2, 0), *b = rt_words(2, 0);
    struct rt_gate gate = rt_gate_close(second);
    rt_store(second, a, 5);
    nc(ncclGroupStart());
    nc(ncclAllReduce(a + 1, b + 1, 1, F, ncclSum, comm, first));
    nc(ncclAllReduce(a, b, 1, F, ncclSum, comm, second));
    nc(ncclGroupEnd());
    rt(cudaStreamQuery(first));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(first));
    say_int(rt_word(b));
    rt(cudaStreamSynchronize(second));
}

CASE(nc_order, default_stream)
{
    unsigned *a = rt_words(1, 0), *b = rt_words(1, 0);
    rt_store(NULL, a, 6);
    nc(ncclAllReduce(a, b, 1, F, ncclSum, nc_alone(), NULL));
    end(NULL, b);
}

CASE(nc_order, per_thread_stream)
{
    unsigned *a = rt_words(1, 0), *b = rt_words(1, 0);
    RT_NEED(cudaDeviceSynchronize());
    rt_store(cudaStreamPerThread, a, 6);
    nc(ncclAllReduce(a, b, 1, F, ncclSum, nc_alone(), cudaStreamPerThread));
    end(cudaStreamPerThread, b);
}

CASE(nc_order, group_not_before_its_end)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(1, 3), *b = rt_words(1, 0);
    RT_NEED(cudaDeviceSynchronize());
    nc(ncclGroupStart());
    nc(ncclAllReduce(a, b, 1, F, ncclSum, comm, stream));
    rt_store(stream, a, 8); /* before the group's end, so before the operation */
    nc(ncclGroupEnd());
    end(stream, b);
}

CASE(nc_order, captured)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned *a = rt_words(1, 1), *b = rt_words(1, 0);
    RT_NEED(cudaDeviceSynchronize());
    rt(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    nc(ncclAllReduce(a, b, 1, F, ncclSum, nc_alone(), stream));
    rt_add(stream, a, 1);
    rt(cudaStreamEndCapture(stream, &graph));
    rt(cudaGraphInstantiate(&exec, graph, 0));
    say_int(rt_word(b));
    for (int i = 0; i < 3; i++) {
        rt(cudaGraphLaunch(exec, stream));
        end(stream, b);
    }
    rt(cudaGraphExecDestroy(exec));
    rt(cudaGraphDestroy(graph));
}

CASE(nc_order, captured_group)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    unsigned *a = rt_words(2, 1), *b = rt_words(2, 0);
    RT_NEED(cudaDeviceSynchronize());
    rt(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    nc(ncclGroupStart());
    nc(ncclSend(a, 2, F, 0, comm, stream));
    nc(ncclRecv(b, 2, F, 0, comm, stream));
    nc(ncclGroupEnd());
    rt(cudaStreamEndCapture(stream, &graph));
    rt(cudaGraphInstantiate(&exec, graph, 0));
    rt(cudaGraphLaunch(exec, stream));
    end(stream, b + 1);
    nc(ncclAllReduce(b, a, 1, F, ncclSum, comm, stream));
    end(stream, a);
    rt(cudaGraphExecDestroy(exec));
    rt(cudaGraphDestroy(graph));
}

CASE(nc_order, destroy_with_work_pending, .alone = true)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(1, 4), *b = rt_words(1, 0);
    RT_NEED(cudaDeviceSynchronize());
    nc(ncclAllReduce(a, b, 1, F, ncclSum, nc_alone(), stream));
    nc(ncclCommDestroy(nc_alone()));
    end(stream, b);
}

CASE(nc_order, send_receive_self)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(2, 3), *b = rt_words(2, 0);
    RT_NEED(cudaDeviceSynchronize());
    nc(ncclGroupStart());
    nc(ncclRecv(b, 2, F, 0, comm, stream));
    nc(ncclSend(a, 2, F, 0, comm, stream));
    nc(ncclGroupEnd());
    end(stream, b + 1);
}

CASE(nc_order, send_self_alone, .alone = true)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(2, 3);
    RT_NEED(cudaDeviceSynchronize());
    nc(ncclSend(a, 2, F, 0, nc_alone(), stream));
}

CASE(nc_order, receive_self_alone, .alone = true)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(2, 3);
    RT_NEED(cudaDeviceSynchronize());
    nc(ncclRecv(a, 2, F, 0, nc_alone(), stream));
}

CASE(nc_order, send_receive_self_sizes, .alone = true)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *a = rt_words(2, 3), *b = rt_words(2, 0);
    RT_NEED(cudaDeviceSynchronize());
    nc(ncclGroupStart());
    nc(ncclRecv(b, 2, F, 0, comm, stream));
    nc(ncclSend(a, 1, F, 0, comm, stream));
    nc(ncclGroupEnd());
}

/* ---- two devices ---- */

CASE(nc_order, two_without_group, .devices = 2,
     NC_CRASHES("Success Success Success Success Success Success cudaSuccess 28 cudaSuccess 28"))
{
    struct nc_pair *pair = nc_pair();
    unsigned *a[2];
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        a[i] = rt_words(1, 3 + (unsigned)i);
        RT_NEED(cudaDeviceSynchronize());
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++)
            nc(ncclAllReduce(a[i], a[i], 1, F, ncclSum, pair->comm[i], pair->stream[i]));
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        end(pair->stream[i], a[i]);
    }
    RT_NEED(cudaSetDevice(0));
}

CASE(nc_order, two_wrong_device_current, .devices = 2)
{
    struct nc_pair *pair = nc_pair();
    unsigned *a[2];
    int device = -1;
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        a[i] = rt_words(1, 3 + (unsigned)i);
        RT_NEED(cudaDeviceSynchronize());
    }
    NC_NEED(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        nc(ncclAllReduce(a[i], a[i], 1, F, ncclMax, pair->comm[i], pair->stream[i]));
    nc(ncclGroupEnd());
    rt(cudaGetDevice(&device));
    say_int(device);
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        end(pair->stream[i], a[i]);
    }
    RT_NEED(cudaSetDevice(0));
}

CASE(nc_order, two_captured, .devices = 2)
{
    struct nc_pair *pair = nc_pair();
    unsigned *a[2];
    cudaGraph_t graph[2];
    cudaGraphExec_t exec[2];
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        a[i] = rt_words(1, 3 + (unsigned)i);
        RT_NEED(cudaDeviceSynchronize());
    }
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        rt(cudaStreamBeginCapture(pair->stream[i], cudaStreamCaptureModeThreadLocal));
    }
    NC_NEED(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        nc(ncclAllReduce(a[i], a[i], 1, F, ncclSum, pair->comm[i], pair->stream[i]));
    nc(ncclGroupEnd());
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        rt(cudaStreamEndCapture(pair->stream[i], &graph[i]));
    }
    for (int i = 0; i < 2; i++)
        rt(cudaGraphInstantiate(&exec[i], graph[i], 0));
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++)
            rt(cudaGraphLaunch(exec[i], pair->stream[i]));
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        end(pair->stream[i], a[i]);
    }
    RT_NEED(cudaSetDevice(0));
}

CASE(nc_order, two_split, .devices = 2, .alone = true)
{
    struct nc_pair *pair = nc_pair();
    ncclComm_t made[2];
    int value = -1;
    NC_NEED(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        nc(ncclCommSplit(pair->comm[i], 0, 1 - i, &made[i], NULL));
    nc(ncclGroupEnd());
    for (int i = 0; i < 2; i++) {
        nc(ncclCommUserRank(made[i], &value));
        say_int(value);
        nc(ncclCommCuDevice(made[i], &value));
        say_int(value);
    }
    nc(ncclCommDestroy(made[0]));
    nc(ncclCommDestroy(made[1]));
}

CASE(nc_order, two_split_apart, .devices = 2, .alone = true)
{
    struct nc_pair *pair = nc_pair();
    ncclComm_t made[2];
    int value = -1;
    NC_NEED(ncclGroupStart());
    nc(ncclCommSplit(pair->comm[0], 0, 0, &made[0], NULL));
    nc(ncclCommSplit(pair->comm[1], NCCL_SPLIT_NOCOLOR, 0, &made[1], NULL));
    nc(ncclGroupEnd());
    nc(ncclCommCount(made[0], &value));
    say_int(value);
    say_if("null", made[1] == NULL);
}

CASE(nc_order, two_shrink, .devices = 2, .alone = true)
{
    struct nc_pair *pair = nc_pair();
    ncclComm_t made = NULL;
    int value = -1, gone = 0;
    nc(ncclCommShrink(pair->comm[1], &gone, 1, &made, NULL, NCCL_SHRINK_DEFAULT));
    nc(ncclCommCount(made, &value));
    say_int(value);
    nc(ncclCommUserRank(made, &value));
    say_int(value);
}

CASE(nc_order, two_abort_pending, .devices = 2, NC_CRASHES("Success cudaErrorNotReady Success cudaSuccess Success"))
{
    struct nc_pair *pair = nc_pair();
    unsigned *a = rt_words(1, 3);
    RT_NEED(cudaDeviceSynchronize());
    nc(ncclAllReduce(a, a, 1, F, ncclSum, pair->comm[0], pair->stream[0]));
    rt(cudaStreamQuery(pair->stream[0]));
    nc(ncclCommAbort(pair->comm[0]));
    rt(cudaStreamSynchronize(pair->stream[0]));
    nc(ncclCommAbort(pair->comm[1]));
}

CASE(nc_order, two_ring, .devices = 2)
{
    struct nc_pair *pair = nc_pair();
    unsigned *a[2], *b[2];
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        a[i] = rt_words(3, 10u * (unsigned)(i + 1));
        b[i] = rt_words(3, 0);
        RT_NEED(cudaDeviceSynchronize());
    }
    NC_NEED(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        for (int part = 0; part < 3; part++) {
            nc(ncclSend(a[i] + part, 1, F, 1 - i, pair->comm[i], pair->stream[i]));
            nc(ncclRecv(b[i] + part, 1, F, 1 - i, pair->comm[i], pair->stream[i]));
        }
    nc(ncclGroupEnd());
    for (int i = 0; i < 2; i++) {
        RT_NEED(cudaSetDevice(i));
        end(pair->stream[i], b[i] + 2);
    }
    RT_NEED(cudaSetDevice(0));
}
