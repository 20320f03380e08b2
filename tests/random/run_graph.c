/* SPDX-License-Identifier: Apache-2.0 */
/* A program's graphs: made by hand, node by node, or captured from streams that fork and join; and changed after they
 * were instantiated, by another graph or node by node. */
#include "run.h"

#include <sched.h>
#include <string.h>

static CUDA_KERNEL_NODE_PARAMS kernel_params(struct run *run, const struct op *op, struct kernel_values *values)
{
    run_values(run, op, values);
    CUDA_KERNEL_NODE_PARAMS params = {.func = run_kernel[0][op->kind - OP_MIX],
                                      .gridDimX = values->grid,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = values->block,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = values->pointers};
    return params;
}

static CUDA_MEMSET_NODE_PARAMS fill_params(const struct run *run, const struct op *op)
{
    size_t cell = (size_t)run->program->words * 4, row = cell / op->form;
    bool box = op->to.step > 1;
    unsigned value = op->form == 1 ? op->salt & 0xff : op->form == 2 ? op->salt & 0xffff : op->salt;
    CUDA_MEMSET_NODE_PARAMS params = {.dst = run_address(run, op->to),
                                      .pitch = box ? cell * op->to.step : 0,
                                      .value = value,
                                      .elementSize = op->form,
                                      .width = box ? row : row * op->to.count,
                                      .height = box ? op->to.count : 1};
    return params;
}

static CUDA_MEMCPY3D copy_params(const struct run *run, const struct op *op)
{
    size_t cell = (size_t)run->program->words * 4;
    bool box = op->form == FORM_BOX;
    CUDA_MEMCPY3D params = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                            .srcDevice = run_address(run, op->from),
                            .srcPitch = cell * op->from.step,
                            .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                            .dstDevice = run_address(run, op->to),
                            .dstPitch = cell * op->to.step,
                            .WidthInBytes = box ? cell : cell * op->to.count,
                            .Height = box ? op->to.count : 1,
                            .Depth = 1};
    if (!box)
        params.srcPitch = params.dstPitch = params.WidthInBytes;
    params.srcHeight = params.dstHeight = params.Height;
    return params;
}

static CUresult add_node(struct run *run, CUgraph graph, const struct op *op, const CUgraphNode *after, size_t count,
                         CUgraphNode *node)
{
    struct kernel_values values;
    switch (op->kind) {
    case OP_COPY: {
        CUDA_MEMCPY3D params = copy_params(run, op);
        return cuGraphAddMemcpyNode(node, graph, after, count, &params, run_context[0]);
    }
    case OP_FILL: {
        CUDA_MEMSET_NODE_PARAMS params = fill_params(run, op);
        return cuGraphAddMemsetNode(node, graph, after, count, &params, run_context[0]);
    }
    case OP_HOST: {
        CUDA_HOST_NODE_PARAMS params = {run_host, run_call(run, op)};
        return cuGraphAddHostNode(node, graph, after, count, &params);
    }
    default: {
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(run, op, &values);
        return cuGraphAddKernelNode(node, graph, after, count, &params);
    }
    }
}

static CUresult build_by_hand(struct run *run, const struct body *body, CUgraph *graph, CUgraphNode *node)
{
    CUresult status = cuGraphCreate(graph, 0);
    for (int i = 0; i < body->count && status == CUDA_SUCCESS; i++) {
        CUgraphNode after[NODES];
        size_t count = 0;
        for (int j = 0; j < i; j++)
            if (body->after[i] & (1u << j))
                after[count++] = node[j];
        status = add_node(run, *graph, &body->node[i], after, count, &node[i]);
    }
    return status;
}

static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag capturing = ATOMIC_FLAG_INIT;

/* A lock orders threads, which an observer may see and the model doesn't have: programs with a number wait otherwise.
 */
void run_capture_lock(void)
{
    if (!run_program_number)
        pthread_mutex_lock(&capture_lock);
    while (run_program_number && atomic_flag_test_and_set(&capturing))
        sched_yield();
}

void run_capture_unlock(void)
{
    if (run_program_number)
        atomic_flag_clear(&capturing);
    else
        pthread_mutex_unlock(&capture_lock);
}

/* Streams and events of one capture. */
struct capture {
    CUstream lane[LANES];
    CUevent done[NODES], fork, join[LANES];
};

static CUresult capture_nodes(struct run *run, const struct body *body, struct capture *capture)
{
    CUresult status = cuEventRecord(capture->fork, capture->lane[0]);
    for (int i = 1; i < LANES && status == CUDA_SUCCESS; i++)
        status = cuStreamWaitEvent(capture->lane[i], capture->fork, 0);
    for (int i = 0; i < body->count && status == CUDA_SUCCESS; i++) {
        CUstream lane = capture->lane[body->lane[i]];
        for (int j = 0; j < i && status == CUDA_SUCCESS; j++)
            if (body->after[i] & (1u << j))
                status = cuStreamWaitEvent(lane, capture->done[j], 0);
        if (status == CUDA_SUCCESS)
            status = run_work(run, &body->node[i], lane, 0);
        if (status == CUDA_SUCCESS)
            status = cuEventRecord(capture->done[i], lane);
    }
    for (int i = 1; i < LANES && status == CUDA_SUCCESS; i++) {
        status = cuEventRecord(capture->join[i], capture->lane[i]);
        if (status == CUDA_SUCCESS)
            status = cuStreamWaitEvent(capture->lane[0], capture->join[i], 0);
    }
    return status;
}

static CUresult build_by_capture(struct run *run, const struct body *body, CUgraph *graph)
{
    struct capture capture;
    CUresult status = CUDA_SUCCESS, ended;
    memset(&capture, 0, sizeof capture);
    for (int i = 0; i < LANES && status == CUDA_SUCCESS; i++) {
        status = cuStreamCreate(&capture.lane[i], CU_STREAM_NON_BLOCKING);
        if (status == CUDA_SUCCESS)
            status = cuEventCreate(&capture.join[i], CU_EVENT_DISABLE_TIMING);
    }
    for (int i = 0; i < body->count && status == CUDA_SUCCESS; i++)
        status = cuEventCreate(&capture.done[i], CU_EVENT_DISABLE_TIMING);
    if (status == CUDA_SUCCESS)
        status = cuEventCreate(&capture.fork, CU_EVENT_DEFAULT);
    run_capture_lock();
    if (status == CUDA_SUCCESS)
        status = cuStreamBeginCapture(capture.lane[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (status == CUDA_SUCCESS) {
        status = capture_nodes(run, body, &capture);
        ended = cuStreamEndCapture(capture.lane[0], graph);
        if (status == CUDA_SUCCESS)
            status = ended;
    }
    run_capture_unlock();
    for (int i = 0; i < LANES; i++) {
        if (capture.lane[i])
            (void)cuStreamDestroy(capture.lane[i]);
        if (capture.join[i])
            (void)cuEventDestroy(capture.join[i]);
    }
    for (int i = 0; i < NODES; i++)
        if (capture.done[i])
            (void)cuEventDestroy(capture.done[i]);
    if (capture.fork)
        (void)cuEventDestroy(capture.fork);
    return status;
}

CUresult run_graph_make(struct run *run, const struct op *op)
{
    struct exec *exec = &run->exec[op->exec];
    const struct body *body = &run->program->body[op->body];
    CUgraph graph = NULL;
    CUresult status = op->form ? build_by_capture(run, body, &graph) : build_by_hand(run, body, &graph, exec->node);
    if (status == CUDA_SUCCESS)
        status = cuGraphInstantiateWithFlags(&exec->exec, graph, 0);
    if (status != CUDA_SUCCESS && graph && !op->form) {
        (void)cuGraphDestroy(graph);
        graph = NULL;
    }
    if (op->form && graph) {
        CUresult destroyed = cuGraphDestroy(graph);
        status = status == CUDA_SUCCESS ? destroyed : status;
        graph = NULL;
    }
    exec->graph = graph;
    return status;
}

/* Gives each node of an executable graph its new parameters. */
static CUresult set_nodes(struct run *run, const struct exec *exec, const struct body *body)
{
    CUresult status = CUDA_SUCCESS;
    for (int i = 0; i < body->count && status == CUDA_SUCCESS; i++) {
        const struct op *op = &body->node[i];
        struct kernel_values values;
        if (op->kind <= OP_ADD) {
            CUDA_KERNEL_NODE_PARAMS params = kernel_params(run, op, &values);
            status = cuGraphExecKernelNodeSetParams(exec->exec, exec->node[i], &params);
        } else if (op->kind == OP_FILL) {
            CUDA_MEMSET_NODE_PARAMS params = fill_params(run, op);
            status = cuGraphExecMemsetNodeSetParams(exec->exec, exec->node[i], &params, run_context[0]);
        } else if (op->kind == OP_HOST) {
            CUDA_HOST_NODE_PARAMS params = {run_host, run_call(run, op)};
            status = cuGraphExecHostNodeSetParams(exec->exec, exec->node[i], &params);
        }
    }
    return status;
}

CUresult run_graph_update(struct run *run, const struct op *op)
{
    struct exec *exec = &run->exec[op->exec];
    const struct body *body = &run->program->body[op->body];
    CUgraphNode node[NODES];
    CUgraph graph = NULL;
    CUgraphExecUpdateResultInfo info = {0};
    if (exec->graph && (op->body & 1))
        return set_nodes(run, exec, body);
    CUresult status = exec->graph ? build_by_hand(run, body, &graph, node) : build_by_capture(run, body, &graph);
    if (status == CUDA_SUCCESS) {
        status = cuGraphExecUpdate(exec->exec, graph, &info);
        if (status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
            run_fail(run, -1, "the update's result is %d", (int)info.result);
    }
    if (graph)
        (void)cuGraphDestroy(graph);
    return status;
}

void run_graph_end(struct exec *exec)
{
    if (exec->exec)
        (void)cuGraphExecDestroy(exec->exec);
    if (exec->graph)
        (void)cuGraphDestroy(exec->graph);
    exec->exec = NULL;
    exec->graph = NULL;
}
