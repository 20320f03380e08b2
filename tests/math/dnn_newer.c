/* SPDX-License-Identifier: Apache-2.0 */
/* What cuDNN 9.20 to 9.26 added: functions that are refused, attributes and operations of graphs that are refused or
 * done, and the workspace of a plan. */
#include "dnn.h"

#include <string.h>

static cudnnHandle_t handle;

#define IS(call, status) CHECK((call) == (status))
#define REFUSED(call) IS(call, CUDNN_STATUS_NOT_SUPPORTED)

static cudnnBackendDescriptor_t descriptor(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d;
    OK(cudnnBackendCreateDescriptor(type, &d));
    return d;
}

static void drop(cudnnBackendDescriptor_t d)
{
    OK(cudnnBackendDestroyDescriptor(d));
}

static cudnnStatus_t number(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t value)
{
    return cudnnBackendSetAttribute(d, name, type, 1, &value);
}

static void hold(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t other)
{
    OK(cudnnBackendSetAttribute(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other));
}

/* A tensor of 2 x 3 floats, not final yet. */
static cudnnBackendDescriptor_t open_tensor(int64_t uid)
{
    cudnnBackendDescriptor_t t = descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t dims[] = {1, 2, 3}, strides[] = {6, 3, 1};
    OK(number(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
    OK(number(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, uid));
    OK(number(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 16));
    OK(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 3, dims));
    OK(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 3, strides));
    return t;
}

static cudnnBackendDescriptor_t tensor(int64_t uid)
{
    cudnnBackendDescriptor_t t = open_tensor(uid);
    OK(cudnnBackendFinalize(t));
    return t;
}

/* A reshape of tensor 1 to tensor 2, not final yet. */
static cudnnBackendDescriptor_t open_reshape(void)
{
    cudnnBackendDescriptor_t op = descriptor(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR), x = tensor(1), y = tensor(2);
    hold(op, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
    hold(op, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    drop(x);
    drop(y);
    return op;
}

/* A graph of one operation, which it takes over; not final yet. */
static cudnnBackendDescriptor_t open_graph(cudnnBackendDescriptor_t op)
{
    cudnnBackendDescriptor_t graph = descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    OK(cudnnBackendSetAttribute(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    hold(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, op);
    drop(op);
    return graph;
}

static cudnnBackendDescriptor_t plan_of(cudnnBackendDescriptor_t graph)
{
    cudnnBackendDescriptor_t engine = descriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
                             config = descriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
                             plan = descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    hold(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    OK(number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 0));
    OK(cudnnBackendFinalize(engine));
    hold(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    OK(cudnnBackendFinalize(config));
    OK(cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    hold(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    drop(engine);
    drop(config);
    return plan;
}

/* Functions that are exported, refused, and write nothing. */
static void functions(void)
{
    const float in[64] = {0};
    float out[64];
    size_t sizes[] = {5, 5};
    const cudnnGnnCscGraph_t graph = {in, in, NULL, NULL, 1, 1, 1, CUDNN_DATA_INT32};
    memset(out, 7, sizeof out);
    OK(cudnnSubquadraticOpsVersionCheck());
    REFUSED(cudnnGnnAggSimpleForward(NULL, &graph, in, NULL, NULL, out, NULL, 1, 0, 0, CUDNN_DATA_FLOAT,
                                     CUDNN_GNN_AGG_SUM));
    REFUSED(cudnnGnnAggSimpleBackward(NULL, &graph, in, NULL, out, NULL, NULL, 1, 0, 0, CUDNN_DATA_FLOAT,
                                      CUDNN_GNN_AGG_SUM));
#define ACTIVATION CUDNN_DATA_FLOAT, CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU
    REFUSED(cudnnCausalConv1dForward(NULL, in, in, in, out, 1, 1, 8, 4, ACTIVATION));
    REFUSED(cudnnCausalConv1dNwhForward(NULL, in, in, in, out, 1, 1, 8, 4, ACTIVATION));
    REFUSED(cudnnCausalConv1dBackward(NULL, in, in, in, in, out, out, out, 1, 1, 8, 4, CUDNN_DATA_FLOAT, ACTIVATION));
    REFUSED(
        cudnnCausalConv1dNwhBackward(NULL, in, in, in, in, out, out, out, 1, 1, 8, 4, CUDNN_DATA_FLOAT, ACTIVATION));
    REFUSED(cudnnB2BCausalConv1dForward(NULL, in, in, in, in, out, out, 1, 1, 8, 4, 4, CUDNN_DATA_FLOAT));
    REFUSED(cudnnB2BCausalConv1dBackward(NULL, in, in, in, in, in, in, out, out, out, out, 1, 1, 8, 4, 4,
                                         CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT));
    REFUSED(cudnnFFTCausalConv1dForward(NULL, in, in, out, 1, 1, 8, 4, CUDNN_DATA_FLOAT));
    REFUSED(cudnnFFTCausalConv1dBackward(NULL, in, in, in, out, out, 1, 1, 8, 4, CUDNN_DATA_FLOAT));
    REFUSED(cudnnLongFFTCausalConv1dGetBufferSizes(1, 1, 8, 8, CUDNN_DATA_FLOAT, &sizes[0], &sizes[1]));
    REFUSED(cudnnLongFFTCausalConv1dForward(NULL, in, in, out, 1, 1, 8, 8, CUDNN_DATA_FLOAT, out, 4, out, 4));
    REFUSED(cudnnLongFFTCausalConv1dBackward(NULL, in, out, out, 1, 1, 8, 8, CUDNN_DATA_FLOAT, out, 4, out, 4));
    for (size_t i = 0; i < sizeof out; i++)
        CHECK(((const char *)out)[i] == 7);
    CHECK(sizes[0] == 5 && sizes[1] == 5);
}

/* Attributes that would change the result are refused when they are set, others when they have such a value. */
static void attributes(void)
{
    static const cudnnBackendAttributeName_t of_tensors[] = {CUDNN_ATTR_TENSOR_CONSTANT_VALUE,
                                                             CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER};
    static const cudnnBackendAttributeName_t of_packs[] = {CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS,
                                                           CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES,
                                                           CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES};
    cudnnBackendDescriptor_t t = open_tensor(1), pack = descriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR),
                             reduction = descriptor(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR), offsets = tensor(2);
    for (int i = 0; i < 2; i++)
        REFUSED(number(t, of_tensors[i], CUDNN_TYPE_INT64, 1));
    for (int name = 911; name <= 912; name++) /* no attributes have these numbers */
        IS(number(t, (cudnnBackendAttributeName_t)name, CUDNN_TYPE_INT64, 1), CUDNN_STATUS_BAD_PARAM);
    OK(cudnnBackendFinalize(t));
    for (int i = 0; i < 3; i++)
        REFUSED(number(pack, of_packs[i], CUDNN_TYPE_INT64, 1));
    for (int name = 1004; name <= 1009; name++)
        IS(number(pack, (cudnnBackendAttributeName_t)name, CUDNN_TYPE_INT64, 1), CUDNN_STATUS_BAD_PARAM);
    REFUSED(cudnnBackendSetAttribute(reduction, CUDNN_ATTR_OPERATION_REDUCTION_GROUP_OFFSET_DESC,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &offsets));
    drop(t);
    drop(pack);
    drop(reduction);
    drop(offsets);

    static const cudnnDataType_t newer[] = {CUDNN_DATA_BYTE_BOOLEAN, CUDNN_DATA_FP8_E5M3};
    for (int i = 0; i < 2; i++) {
        t = open_tensor(1);
        OK(number(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, newer[i]));
        REFUSED(cudnnBackendFinalize(t));
        drop(t);
    }

    cudnnBackendDescriptor_t op = open_reshape();
    OK(number(op, CUDNN_ATTR_OPERATION_RESHAPE_MODE, CUDNN_TYPE_RESHAPE_MODE, CUDNN_RESHAPE_LOGICAL));
    REFUSED(cudnnBackendFinalize(op));
    OK(number(op, CUDNN_ATTR_OPERATION_RESHAPE_MODE, CUDNN_TYPE_RESHAPE_MODE, CUDNN_RESHAPE_VIEW_ONLY));
    OK(cudnnBackendFinalize(op));
    cudnnBackendDescriptor_t graph = open_graph(op);
    OK(number(graph, CUDNN_ATTR_OPERATIONGRAPH_MODE, CUDNN_TYPE_OPERATIONGRAPH_MODE, CUDNN_OPERATIONGRAPH_MODE_AUTO));
    OK(number(graph, CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED, CUDNN_TYPE_BOOLEAN, 1));
    REFUSED(cudnnBackendFinalize(graph));
    OK(number(graph, CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED, CUDNN_TYPE_BOOLEAN, 0));
    OK(cudnnBackendFinalize(graph));
    drop(graph);
}

/* The new operations can be described; a graph that has one is refused. */
static void operations(void)
{
    static const struct {
        cudnnBackendDescriptorType_t type;
        int first, last;
    } rows[] = {
        {CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC,
         CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_QDESC},
        {CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR, CUDNN_ATTR_OPERATION_SOFTMAX_XDESC,
         CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC},
        {CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR, CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC,
         CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION},
        {CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR, CUDNN_ATTR_OPERATION_SLICE_XDESC,
         CUDNN_ATTR_OPERATION_SLICE_STRIDES},
        {CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR,
         CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_MATH_PREC,
         CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DOUTPUT_DESC},
        {CUDNN_BACKEND_OPERATION_ROPE_FWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_ROPE_FWD_XDESC,
         CUDNN_ATTR_OPERATION_ROPE_FWD_ROPE_DIM},
        {CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_ROPE_BWD_DYDESC,
         CUDNN_ATTR_OPERATION_ROPE_BWD_ROPE_DIM},
        {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,
         CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_ODESC},
        {CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC,
         CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH_OUTPUT_UID},
    };
    cudnnBackendDescriptor_t none;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cudnnBackendDescriptor_t op = descriptor(rows[i].type);
        for (int name = rows[i].first; name <= rows[i].last; name++)
            OK(number(op, (cudnnBackendAttributeName_t)name, CUDNN_TYPE_INT64, 1));
        for (int turn = 0; turn < 2; turn++)
            IS(number(op, (cudnnBackendAttributeName_t)(turn ? rows[i].first - 1 : rows[i].last + 1), CUDNN_TYPE_INT64,
                      1),
               CUDNN_STATUS_BAD_PARAM);
        OK(cudnnBackendFinalize(op));
        cudnnBackendDescriptor_t graph = open_graph(op);
        REFUSED(cudnnBackendFinalize(graph));
        drop(graph);
    }
    CHECK(cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)(CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR + 1),
                                       &none) != CUDNN_STATUS_SUCCESS);
}

/* The size is the one that the plan tells, and as for an execution, plan and pack are looked at. */
static void workspace(void)
{
    cudnnBackendDescriptor_t op = open_reshape(), graph, plan, pack = descriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    OK(cudnnBackendFinalize(op));
    graph = open_graph(op);
    OK(cudnnBackendFinalize(graph));
    plan = plan_of(graph);
    float *room;
    RT(cudaMallocManaged((void **)&room, 12 * sizeof *room, cudaMemAttachGlobal));
    void *pointers[] = {room, room + 6};
    int64_t uids[] = {1, 2}, told = -1, count;
    size_t size = 77;
    OK(cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 2, pointers));
    OK(cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 2, uids));
    IS(cudnnGetExecutionPlanWorkspaceSize(handle, plan, pack, &size), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    OK(cudnnBackendFinalize(plan));
    IS(cudnnGetExecutionPlanWorkspaceSize(handle, plan, pack, &size), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    OK(cudnnBackendFinalize(pack));
    IS(cudnnGetExecutionPlanWorkspaceSize(handle, pack, plan, &size), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    IS(cudnnGetExecutionPlanWorkspaceSize(handle, NULL, pack, &size), CUDNN_STATUS_BAD_PARAM);
    IS(cudnnGetExecutionPlanWorkspaceSize(handle, plan, pack, NULL), CUDNN_STATUS_BAD_PARAM);
    CHECK(size == 77);
    OK(cudnnGetExecutionPlanWorkspaceSize(handle, plan, pack, &size));
    OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &told));
    CHECK(count == 1 && (size_t)told == size);
    /* That much is enough: none was given. */
    for (int i = 0; i < 12; i++)
        room[i] = (float)(i < 6 ? i : -1);
    OK(cudnnBackendExecute(handle, plan, pack));
    RT(cudaDeviceSynchronize());
    for (int i = 0; i < 6; i++)
        CHECK((int)room[6 + i] == i);
    RT(cudaFree(room));
    drop(graph);
    drop(plan);
    drop(pack);
}

int main(void)
{
    CHECK(cudnnGetVersion() == CUDNN_VERSION && CUDNN_VERSION == 92600);
    OK(cudnnCreate(&handle));
    functions();
    attributes();
    operations();
    workspace();
    OK(cudnnDestroy(handle));
    return 0;
}
