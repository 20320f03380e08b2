/* SPDX-License-Identifier: Apache-2.0 */
/* The interface by descriptors. One engine does every graph that can be done. */
#include <stdlib.h>
#include <string.h>

#include "cudnn_impl.h"
#include "libs/cudnn/backend.h"
#include "libs/cudnn/graph.h"
#include "libs/cudnn/plan_text.h"

/* Which names an attribute of a descriptor's type may have: hundreds, mostly one after the other. */
static const struct {
    int type, first, last;
} names[] = {
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, 0, 9},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, 100, 106},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, 200, 204},
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 300, 304},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, 400, 407},
    {CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR, 500, 503},
    {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, 600, 601},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, 700, 705},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, 706, 711},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, 712, 717},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, 750, 758},
    {CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR, 770, 774},
    {CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR, 780, 796},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, 800, 806},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, 900, 910},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, 913, 914},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, 1000, 1003},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, 1010, 1012},
    {CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR, 1100, 1101},
    {CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, 1200, 1203},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1300, 1308},
    {CUDNN_BACKEND_MATMUL_DESCRIPTOR, 1500, 1503},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, 1520, 1527},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, 1600, 1602},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, 1610, 1613},
    {CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR, 1620, 1630},
    {CUDNN_BACKEND_RESAMPLE_DESCRIPTOR, 1700, 1708},
    {CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR, 1710, 1716},
    {CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR, 1720, 1727},
    {CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR, 1800, 1803},
    {CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR, 1900, 1904},
    {CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR, 1950, 1953},
    {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, 2000, 2014},
    {CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR, 2100, 2110},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, 2200, 2202},
    {CUDNN_BACKEND_OPERATION_EXPAND_BAND_MATRIX_DESCRIPTOR, 2250, 2257},
    {CUDNN_BACKEND_OPERATION_CONTRACT_BAND_MATRIX_DESCRIPTOR, 2270, 2276},
    {CUDNN_BACKEND_RNG_DESCRIPTOR, 2300, 2305},
    {CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, 2310, 2313},
    {CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR, 2400, 2402},
    {CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR, 2500, 2504},
    {CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR, 2600, 2605},
    {CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, 2700, 2702},
    {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, 2800, 2829},
    {CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, 2851, 2869},
    {CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR, 2900, 2908},
    {CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR, 2951, 2955},
    {CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR, 3000, 3009},
    {CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR, 3100, 3105},
    {CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR, 3200, 3202},
    {CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR, 3300, 3304},
    {CUDNN_BACKEND_OPERATION_ROPE_FWD_DESCRIPTOR, 3400, 3404},
    {CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR, 3410, 3414},
};

static bool has_name(cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == (int)type && (int)name >= names[i].first && (int)name <= names[i].last)
            return true;
    return false;
}

/* Attributes of operations and tensors that are done without them. To leave such an attribute out of account would
 * give other results, so it can't be set. (Attributes of operations that can't be done at all are kept: the graph
 * refuses the operation.) */
static bool is_refused(cudnnBackendAttributeName_t name)
{
    switch ((int)name) {
    case CUDNN_ATTR_TENSOR_CONSTANT_VALUE:
    case CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER:
    case CUDNN_ATTR_OPERATION_REDUCTION_GROUP_OFFSET_DESC:
    case CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS:
    case CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES:
    case CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES:
        return true;
    default:
        return false;
    }
}

/* ---- the life of a descriptor ---- */

static cudnnStatus_t create(const struct mr_form *form, cudnnBackendDescriptorType_t type, struct mr_descriptor **made)
{
    struct mr_descriptor *d = calloc(1, sizeof *d);
    MR_WANT(d, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    d->type = type;
    d->references = 1;
    *made = d;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_BackendCreateDescriptor(const struct mr_form *form, cudnnBackendDescriptorType_t descriptorType,
                                               cudnnBackendDescriptor_t *descriptor)
{
    MR_POINTER(descriptor);
    MR_WANT(descriptorType <= CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR, CUDNN_STATUS_ALLOC_FAILED,
            "there is no descriptor of type %d", (int)descriptorType);
    return create(form, descriptorType, (struct mr_descriptor **)descriptor);
}

cudnnStatus_t mr_cudnn_BackendDestroyDescriptor(const struct mr_form *form, cudnnBackendDescriptor_t descriptor)
{
    MR_WANT(descriptor, CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
    mr_descriptor_drop(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_BackendInitialize(const struct mr_form *form, cudnnBackendDescriptor_t descriptor)
{
    MR_POINTER(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

/* The type and the number of elements of a tensor's attribute. */
static cudnnStatus_t check_of_tensor(const struct mr_form *form, cudnnBackendAttributeName_t name,
                                     cudnnBackendAttributeType_t type, int64_t count)
{
    bool many = name == CUDNN_ATTR_TENSOR_DIMENSIONS || name == CUDNN_ATTR_TENSOR_STRIDES;
    cudnnBackendAttributeType_t wanted = CUDNN_TYPE_INT64;
    if (name == CUDNN_ATTR_TENSOR_DATA_TYPE)
        wanted = CUDNN_TYPE_DATA_TYPE;
    else if (name == CUDNN_ATTR_TENSOR_IS_VIRTUAL || name == CUDNN_ATTR_TENSOR_IS_BY_VALUE)
        wanted = CUDNN_TYPE_BOOLEAN;
    else if (name == CUDNN_ATTR_TENSOR_REORDERING_MODE)
        wanted = CUDNN_TYPE_TENSOR_REORDERING_MODE;
    else if (name == CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC)
        wanted = CUDNN_TYPE_BACKEND_DESCRIPTOR;
    MR_WANT(type == wanted, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attribute %d has type %d", (int)name, (int)wanted);
    MR_WANT(many ? count >= 1 : count == 1, CUDNN_STATUS_BAD_PARAM, "attribute %d with %lld elements", (int)name,
            (long long)count);
    return CUDNN_STATUS_SUCCESS;
}

/* Attributes with several elements, whose type must be right for them to be read. */
static cudnnStatus_t check_of_several(const struct mr_form *form, cudnnBackendAttributeName_t name,
                                      cudnnBackendAttributeType_t type)
{
    cudnnBackendAttributeType_t wanted_type = type;
    switch ((int)name) {
    case CUDNN_ATTR_OPERATIONGRAPH_OPS:
    case CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS:
        wanted_type = CUDNN_TYPE_BACKEND_DESCRIPTOR;
        break;
    case CUDNN_ATTR_CONVOLUTION_DILATIONS:
    case CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES:
    case CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS:
    case CUDNN_ATTR_CONVOLUTION_POST_PADDINGS:
    case CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS:
        wanted_type = CUDNN_TYPE_INT64;
        break;
    case CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS:
        wanted_type = CUDNN_TYPE_VOID_PTR;
        break;
    default:
        break;
    }
    MR_WANT(type == wanted_type, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attribute %d has type %d", (int)name,
            (int)wanted_type);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_BackendSetAttribute(const struct mr_form *form, cudnnBackendDescriptor_t descriptor,
                                           cudnnBackendAttributeName_t attributeName,
                                           cudnnBackendAttributeType_t attributeType, int64_t elementCount,
                                           const void *arrayOfElements)
{
    struct mr_descriptor *d = descriptor;
    MR_POINTER(descriptor);
    MR_WANT(!d->is_final, CUDNN_STATUS_BAD_PARAM, "the descriptor is final already");
    MR_WANT(elementCount >= 0, CUDNN_STATUS_BAD_PARAM, "%lld elements", (long long)elementCount);
    MR_WANT(arrayOfElements || elementCount == 0, CUDNN_STATUS_BAD_PARAM, "arrayOfElements is NULL");
    MR_WANT(has_name(d->type, attributeName), CUDNN_STATUS_BAD_PARAM, "descriptors of type %d have no attribute %d",
            (int)d->type, (int)attributeName);
    MR_WANT(mr_attribute_size(attributeType), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
            "there are no attributes of type %d", (int)attributeType);
    MR_WANT(!is_refused(attributeName), CUDNN_STATUS_NOT_SUPPORTED, "attribute %d is not supported",
            (int)attributeName);
    if (d->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR)
        MR_STEP(check_of_tensor(form, attributeName, attributeType, elementCount));
    MR_STEP(check_of_several(form, attributeName, attributeType));
    for (int64_t i = 0; attributeType == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < elementCount; i++) {
        const struct mr_descriptor *other = ((struct mr_descriptor *const *)arrayOfElements)[i];
        MR_WANT(other, CUDNN_STATUS_BAD_PARAM, "descriptor %lld is NULL", (long long)i);
        /* An engine looks at its graph when it is finalized itself. */
        MR_WANT(other->is_final || d->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                "descriptor %lld is not final", (long long)i);
    }
    MR_WANT(mr_attribute_put(d, attributeName, attributeType, elementCount, arrayOfElements), CUDNN_STATUS_ALLOC_FAILED,
            "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

/* ---- finalizing ---- */

static bool is_operation(cudnnBackendDescriptorType_t type)
{
    switch ((int)type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR:
        return true;
    default:
        return false;
    }
}

/* The attributes that a descriptor of the type must have; zeros end the list. */
static const struct {
    int type, names[5];
} wanted[] = {
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
     {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_ATTR_TENSOR_UNIQUE_ID,
      CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT}},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
     {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
      CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS}},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, {CUDNN_ATTR_OPERATIONGRAPH_OPS}},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR, {CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_ATTR_ENGINE_GLOBAL_INDEX}},
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, {CUDNN_ATTR_ENGINECFG_ENGINE}},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINEHEUR_MODE}},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR}},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_ATTR_OPERATION_MATMUL_CDESC,
      CUDNN_ATTR_OPERATION_MATMUL_DESC}},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_ATTR_OPERATION_REDUCTION_YDESC}},
};

static cudnnStatus_t check_wanted(const struct mr_form *form, const struct mr_descriptor *d)
{
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i].type == (int)d->type)
            for (int k = 0; k < 5 && wanted[i].names[k]; k++)
                MR_WANT(mr_attribute_of(d, (cudnnBackendAttributeName_t)wanted[i].names[k]),
                        d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ? CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED
                                                                           : CUDNN_STATUS_BAD_PARAM,
                        "attribute %d of the descriptor (type %d) is not set", wanted[i].names[k], (int)d->type);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_tensor(const struct mr_form *form, const struct mr_descriptor *d)
{
    const struct mr_attribute *dims = mr_attribute_of(d, CUDNN_ATTR_TENSOR_DIMENSIONS);
    const struct mr_attribute *strides = mr_attribute_of(d, CUDNN_ATTR_TENSOR_STRIDES);
    MR_WANT(dims->count == strides->count && dims->count <= CUDNN_DIM_MAX, CUDNN_STATUS_BAD_PARAM,
            "%lld dimensions, %lld strides", (long long)dims->count, (long long)strides->count);
    for (int64_t i = 0; i < dims->count; i++)
        MR_WANT(((const int64_t *)dims->elements)[i] > 0, CUDNN_STATUS_BAD_PARAM, "dimension %lld is %lld",
                (long long)i, (long long)((const int64_t *)dims->elements)[i]);
    MR_WANT(!mr_attribute_of(d, CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC), CUDNN_STATUS_NOT_SUPPORTED,
            "tensors whose batches begin at offsets (ragged) are not supported");
    struct mr_tensor t = mr_backend_tensor(d);
    MR_WANT(mr_tensor_fits(&t), CUDNN_STATUS_BAD_PARAM, "the dimensions or strides are too large");
    MR_WANT(mr_dnn_size(t.type), CUDNN_STATUS_NOT_SUPPORTED, "tensors of type %d are not supported", (int)t.type);
    return CUDNN_STATUS_SUCCESS;
}

/* A graph's mode is not looked at: it tells a program's library which engines suit, and there is one for all. */
static cudnnStatus_t check_graph(const struct mr_form *form, const struct mr_descriptor *d)
{
    MR_WANT(!mr_attribute_number(d, CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED, 0), CUDNN_STATUS_NOT_SUPPORTED,
            "graphs whose tensors get other dimensions at each execution are not supported");
    const struct mr_attribute *ops = mr_attribute_of(d, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    for (int64_t i = 0; i < ops->count; i++) {
        const struct mr_descriptor *op = ((struct mr_descriptor *const *)ops->elements)[i];
        MR_WANT(is_operation(op->type), CUDNN_STATUS_NOT_SUPPORTED, "operations of type %d are not supported",
                (int)op->type);
    }
    return CUDNN_STATUS_SUCCESS;
}

/* ---- plans from text: their descriptors are made as a program would make them ---- */

static cudnnStatus_t make_created(const void *form, cudnnBackendDescriptorType_t type, struct mr_descriptor **made)
{
    cudnnBackendDescriptor_t descriptor;
    MR_STEP(mr_cudnn_BackendCreateDescriptor(form, type, &descriptor));
    *made = descriptor;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t make_set(const void *form, struct mr_descriptor *d, cudnnBackendAttributeName_t name,
                              cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    return mr_cudnn_BackendSetAttribute(form, d, name, type, count, elements);
}

static cudnnStatus_t make_final(const void *form, struct mr_descriptor *d)
{
    return mr_cudnn_BackendFinalize(form, d);
}

/* A plan that is given as text gets the configuration that the text describes, unless it has one. */
static cudnnStatus_t configure_by_text(const struct mr_form *form, struct mr_descriptor *plan)
{
    const struct mr_attribute *text = mr_attribute_of(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    if (!text || mr_attribute_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG))
        return CUDNN_STATUS_SUCCESS;
    MR_WANT(text->type == CUDNN_TYPE_CHAR, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "the text has type %d",
            (int)text->type);
    const struct mr_plan_maker maker = {form->name, form, make_created, make_set, make_final};
    struct mr_descriptor *config;
    MR_STEP(mr_plan_of_text(&maker, text->elements, (size_t)text->count, &config));
    bool done =
        mr_attribute_put(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
    mr_descriptor_drop(config);
    MR_WANT(done, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finalize_plan(const struct mr_form *form, struct mr_descriptor *d)
{
    const struct mr_attribute *operations = mr_plan_operations(d);
    MR_WANT(operations, CUDNN_STATUS_BAD_PARAM, "the plan's configuration leads to no graph");
    MR_STEP(mr_plan_make(form->name, operations, &d->plan));
    d->end_plan = mr_plan_end;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_BackendFinalize(const struct mr_form *form, cudnnBackendDescriptor_t descriptor)
{
    struct mr_descriptor *d = descriptor;
    MR_WANT(descriptor, CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
    MR_WANT(!d->is_final, CUDNN_STATUS_BAD_PARAM, "the descriptor is final already");
    if (d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        MR_STEP(configure_by_text(form, d));
    MR_STEP(check_wanted(form, d));
    switch ((int)d->type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
        MR_STEP(check_tensor(form, d));
        break;
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
        MR_STEP(check_graph(form, d));
        break;
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
        MR_WANT(mr_attribute_number(d, CUDNN_ATTR_OPERATION_RESHAPE_MODE, CUDNN_RESHAPE_VIEW_ONLY) ==
                    CUDNN_RESHAPE_VIEW_ONLY,
                CUDNN_STATUS_NOT_SUPPORTED, "reshapes that move elements (mode LOGICAL) are not supported");
        break;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: {
        const struct mr_descriptor *graph = mr_attribute_descriptor(d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
        MR_WANT(graph && graph->is_final, CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "the engine's graph is not final");
        MR_WANT(mr_attribute_number(d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1) == 0, CUDNN_STATUS_NOT_SUPPORTED,
                "the only engine is number 0");
        break;
    }
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        MR_STEP(finalize_plan(form, d));
        break;
    default:
        break;
    }
    d->is_final = true;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- reading ---- */

/* Copies `from` into the program's descriptor `to`. */
static cudnnStatus_t copy(const struct mr_form *form, struct mr_descriptor *to, const struct mr_descriptor *from)
{
    MR_POINTER(to);
    MR_WANT(to->type == from->type, CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a descriptor of type %d is wanted",
            (int)from->type);
    for (const struct mr_attribute *a = from->attributes; a; a = a->next)
        MR_WANT(mr_attribute_put(to, a->name, a->type, a->count, a->elements), CUDNN_STATUS_ALLOC_FAILED,
                "memory is short");
    to->is_final = from->is_final;
    return CUDNN_STATUS_SUCCESS;
}

/* The one configuration that there is, for a heuristic's graph: in the descriptor that the program holds ready. */
static cudnnStatus_t give_config(const struct mr_form *form, const struct mr_descriptor *heuristic,
                                 struct mr_descriptor *to)
{
    struct mr_descriptor *graph = mr_attribute_descriptor(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH), *engine;
    MR_POINTER(to);
    MR_WANT(to->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
            "a descriptor of an engine configuration is wanted");
    MR_STEP(create(form, CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine));
    int64_t index = 0;
    bool done = mr_attribute_put(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph) &&
                mr_attribute_put(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index) &&
                mr_attribute_put(to, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    engine->is_final = to->is_final = true;
    mr_descriptor_drop(engine);
    MR_WANT(done, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

enum { WORKSPACE = 0 }; /* bytes for any plan: plans have memory of their own (block.h) */

/* Numbers that are not set, but follow from those that are. */
static bool number_of(cudnnBackendAttributeName_t name, int64_t *number)
{
    switch ((int)name) {
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
        *number = 1;
        return true;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        *number = WORKSPACE;
        return true;
    case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:
        *number = 0;
        return true;
    default:
        return false;
    }
}

/* A plan as text, with the zero byte at its end. */
static cudnnStatus_t give_text(const struct mr_form *form, const struct mr_descriptor *plan,
                               cudnnBackendAttributeType_t type, int64_t room, int64_t *count, void *to)
{
    MR_WANT(type == CUDNN_TYPE_CHAR, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "the text has type %d",
            (int)CUDNN_TYPE_CHAR);
    char *text = mr_plan_text(plan);
    MR_WANT(text, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    int64_t length = (int64_t)strlen(text) + 1;
    if (to && room > 0)
        memcpy(to, text, (size_t)(room < length ? room : length));
    if (count)
        *count = length;
    free(text);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_BackendGetAttribute(const struct mr_form *form, cudnnBackendDescriptor_t const descriptor,
                                           cudnnBackendAttributeName_t attributeName,
                                           cudnnBackendAttributeType_t attributeType, int64_t requestedElementCount,
                                           int64_t *elementCount, void *arrayOfElements)
{
    const struct mr_descriptor *d = descriptor;
    int64_t number, count = 0;
    MR_POINTER(descriptor);
    MR_WANT(d->is_final, CUDNN_STATUS_NOT_INITIALIZED, "the descriptor is not final");
    MR_WANT(has_name(d->type, attributeName), CUDNN_STATUS_BAD_PARAM, "descriptors of type %d have no attribute %d",
            (int)d->type, (int)attributeName);
    MR_WANT(attributeName != CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, CUDNN_STATUS_NOT_SUPPORTED,
            "caches of kernels can't be written as text");
    if (attributeName == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)
        return give_text(form, d, attributeType, requestedElementCount, elementCount, arrayOfElements);
    bool room = arrayOfElements && requestedElementCount > 0;
    const struct mr_attribute *a = mr_attribute_of(d, attributeName);
    if (d->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR && attributeName == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
        count = 1;
        if (room)
            MR_STEP(give_config(form, d, *(struct mr_descriptor **)arrayOfElements));
    } else if (number_of(attributeName, &number)) {
        MR_WANT(attributeType == CUDNN_TYPE_INT64, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
                "the attribute is of 64 bits");
        count = 1;
        if (room)
            *(int64_t *)arrayOfElements = number;
    } else if (a) {
        MR_WANT(a->type == attributeType, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "the attribute has type %d",
                (int)a->type);
        count = a->count;
        int64_t given = room ? (requestedElementCount < count ? requestedElementCount : count) : 0;
        if (a->type != CUDNN_TYPE_BACKEND_DESCRIPTOR && given)
            memcpy(arrayOfElements, a->elements, (size_t)given * mr_attribute_size(a->type));
        for (int64_t i = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < given; i++)
            MR_STEP(
                copy(form, ((struct mr_descriptor **)arrayOfElements)[i], ((struct mr_descriptor **)a->elements)[i]));
    }
    if (elementCount)
        *elementCount = count;
    return CUDNN_STATUS_SUCCESS;
}

/* The handle, plan and variant pack of a call that executes a plan, or asks what that takes. */
static cudnnStatus_t check_execution(const struct mr_form *form, cudnnHandle_t handle,
                                     const struct mr_descriptor *executionPlan, const struct mr_descriptor *variantPack)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(executionPlan);
    MR_POINTER(variantPack);
    MR_WANT(executionPlan->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
                variantPack->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
            CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a plan and a variant pack are wanted");
    MR_WANT(executionPlan->is_final && variantPack->is_final, CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
            "a descriptor is not final");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetExecutionPlanWorkspaceSize(const struct mr_form *form, cudnnHandle_t handle,
                                                     cudnnBackendDescriptor_t executionPlan,
                                                     cudnnBackendDescriptor_t variantPack, size_t *workspaceSizeInBytes)
{
    MR_STEP(check_execution(form, handle, executionPlan, variantPack));
    MR_POINTER(workspaceSizeInBytes);
    *workspaceSizeInBytes = WORKSPACE;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_BackendExecute(const struct mr_form *form, cudnnHandle_t handle,
                                      cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack)
{
    MR_STEP(check_execution(form, handle, executionPlan, variantPack));
    return mr_plan_execute(form->name, handle, ((const struct mr_descriptor *)executionPlan)->plan, variantPack);
}
