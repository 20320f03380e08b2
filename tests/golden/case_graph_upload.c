/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where cuGraphUpload stands in the order of work: behind what its stream has, behind
 * earlier launches and uploads of the same executable graph, and before later ones.
 */
#include "gold_exec.h"

static CUgraphExec some(CUdeviceptr word)
{
    CUgraph graph = ge_graph();
    ge_add(graph, ge_add(graph, NULL, word, 1), word, 2);
    return ge_exec(graph);
}

/* Does a stream that had nothing to do wait now?  And has it ended once the gate is open? */
static void say_waits(CUstream stream, struct gold_gate gate)
{
    CUevent event = gold_event(0);
    gold_sleep_ms(20);
    say(cuStreamQuery(stream));
    NEED(cuEventRecord(event, stream));
    gold_sleep_ms(5);
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
    say(cuStreamQuery(stream));
}

CASE(graph_upload, in_an_idle_stream)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    say(cuGraphUpload(exec, stream));
    say(gold_wait_stream(stream, 2000));
}

CASE(graph_upload, behind_a_launch_elsewhere)
{
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    struct gold_gate gate = gold_gate_close(one);
    NEED(cuGraphLaunch(exec, one));
    say(cuGraphUpload(exec, two));
    say_waits(two, gate);
}

CASE(graph_upload, before_a_launch_elsewhere)
{
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = some(word);
    struct gold_gate gate = gold_gate_close(one);
    say(cuGraphUpload(exec, one));
    say(cuGraphLaunch(exec, two));
    say_waits(two, gate);
    say_int(gold_word(word));
}

CASE(graph_upload, behind_an_upload_elsewhere)
{
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    struct gold_gate gate = gold_gate_close(one);
    say(cuGraphUpload(exec, one));
    say(cuGraphUpload(exec, two));
    say_waits(two, gate);
}

CASE(graph_upload, second_time_behind_an_upload_elsewhere)
{
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING), two = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    NEED(cuGraphUpload(exec, one));
    NEED(cuStreamSynchronize(one));
    struct gold_gate gate = gold_gate_close(one);
    say(cuGraphUpload(exec, one));
    say(cuGraphUpload(exec, two));
    say_waits(two, gate);
}

CASE(graph_upload, blocking_stream_behind_legacy)
{
    CUstream stream = gold_stream(0);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    struct gold_gate gate = gold_gate_close(CU_STREAM_LEGACY);
    say(cuGraphUpload(exec, stream));
    say_waits(stream, gate);
}

CASE(graph_upload, legacy_behind_blocking_stream)
{
    CUstream stream = gold_stream(0);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    struct gold_gate gate = gold_gate_close(stream);
    say(cuGraphUpload(exec, CU_STREAM_LEGACY));
    say_waits(CU_STREAM_LEGACY, gate);
}

CASE(graph_upload, empty_graph_behind_legacy)
{
    CUstream stream = gold_stream(0);
    CUgraphExec exec = ge_exec(ge_graph());
    struct gold_gate gate = gold_gate_close(CU_STREAM_LEGACY);
    say(cuGraphUpload(exec, stream));
    say_waits(stream, gate);
}

CASE(graph_upload, with_params_behind_legacy)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUgraphExec exec;
    CUgraph graph = ge_graph();
    ge_add(graph, NULL, gold_alloc_words(1, 0), 1);
    memset(&params, 0, sizeof params);
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    params.hUploadStream = gold_stream(0);
    struct gold_gate gate = gold_gate_close(CU_STREAM_LEGACY);
    say(cuGraphInstantiateWithParams(&exec, graph, &params));
    say_waits(params.hUploadStream, gate);
}

CASE(graph_upload, query_alone)
{
    /* Of an upload behind the legacy stream's work nothing is recorded or queried before that is over. */
    CUstream stream = gold_stream(0);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    struct gold_gate gate = gold_gate_close(CU_STREAM_LEGACY);
    say(cuGraphUpload(exec, stream));
    say(cuStreamQuery(stream));
    say(cuStreamQuery(CU_STREAM_LEGACY));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
}

CASE(graph_upload, exec_destroyed_meanwhile)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    struct gold_gate gate = gold_gate_close(stream);
    say(cuGraphUpload(exec, stream));
    say(cuGraphExecDestroy(exec));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
}

CASE(graph_upload, behind_memory_wait)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = some(gold_alloc_words(1, 0));
    CUevent event = gold_event(0);
    NEED(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    say(cuGraphUpload(exec, stream));
    NEED(cuEventRecord(event, stream));
    gold_sleep_ms(5);
    say(cuStreamQuery(stream));
    say(cuEventQuery(event));
    NEED(cuMemsetD32Async(word, 1, 1, gold_stream(CU_STREAM_NON_BLOCKING)));
    say(cuEventSynchronize(event));
    say(cuStreamSynchronize(stream));
}
