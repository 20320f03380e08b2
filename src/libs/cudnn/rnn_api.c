/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks in the interface by functions: their descriptors, their weights, and what is submitted. */
#include <stdlib.h>
#include <string.h>

#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"
#include "libs/cudnn/rnn.h"
#include "libs/cudnn/tensor.h"
#include "libs/cudnn/touch.h"
#include "libs/math/cpu.h"

struct cudnnRNNStruct {
    struct mr_rnn_shape shape; /* its hidden size is 0 until it is set */
    cudnnRNNAlgo_t algo;
    cudnnDataType_t precision;
    cudnnMathType_t math;
    cudnnDropoutDescriptor_t dropout;
    uint32_t flags;
    cudnnNanPropagation_t nan;
};

struct cudnnRNNDataStruct {
    cudnnDataType_t type;
    struct mr_rnn_data data;
    int *lengths; /* the batch's; NULL until it is set */
};

#define WANT_SET(descriptor) \
    do { \
        MR_POINTER(descriptor); \
        MR_WANT((descriptor)->shape.hidden, CUDNN_STATUS_BAD_PARAM, "%s isn't set", #descriptor); \
    } while (0)

void mr_touch_sequences(const char *function, unsigned how, const void *at, const struct cudnnRNNDataStruct *data)
{
    const struct mr_rnn_data *d = data ? &data->data : NULL;
    bool is_packed = d && d->layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
    int64_t vectors = 0;
    if (!d || !data->lengths)
        return;
    for (int64_t i = 0; i < d->batch; i++)
        vectors += is_packed ? data->lengths[i] : d->steps;
    mr_touch_bytes(function, how, at, (size_t)(vectors * d->size) * mr_dnn_size(data->type));
}

/* ---- the network ---- */

cudnnStatus_t mr_cudnn_CreateRNNDescriptor(const struct mr_form *form, cudnnRNNDescriptor_t *rnnDesc)
{
    MR_POINTER(rnnDesc);
    *rnnDesc = calloc(1, sizeof **rnnDesc);
    MR_WANT(*rnnDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyRNNDescriptor(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc)
{
    (void)form;
    free(rnnDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetRNNDescriptor_v8(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc,
                                           cudnnRNNAlgo_t algo, cudnnRNNMode_t cellMode, cudnnRNNBiasMode_t biasMode,
                                           cudnnDirectionMode_t dirMode, cudnnRNNInputMode_t inputMode,
                                           cudnnDataType_t dataType, cudnnDataType_t mathPrec, cudnnMathType_t mathType,
                                           int32_t inputSize, int32_t hiddenSize, int32_t projSize, int32_t numLayers,
                                           cudnnDropoutDescriptor_t dropoutDesc, uint32_t auxFlags)
{
    MR_POINTER(rnnDesc);
    MR_WANT(algo < CUDNN_RNN_ALGO_COUNT && cellMode <= CUDNN_GRU && biasMode <= CUDNN_RNN_SINGLE_REC_BIAS &&
                dirMode <= CUDNN_BIDIRECTIONAL && inputMode <= CUDNN_SKIP_INPUT,
            CUDNN_STATUS_BAD_PARAM, "algorithm %d, mode %d, bias %d, direction %d, input %d", (int)algo, (int)cellMode,
            (int)biasMode, (int)dirMode, (int)inputMode);
    MR_WANT(inputSize > 0 && hiddenSize > 0 && numLayers > 0 && projSize > 0, CUDNN_STATUS_BAD_PARAM,
            "%d layers from %d to %d elements, projected to %d", (int)numLayers, (int)inputSize, (int)hiddenSize,
            (int)projSize);
    MR_WANT(inputMode != CUDNN_SKIP_INPUT || inputSize == hiddenSize, CUDNN_STATUS_BAD_PARAM,
            "an input of %d elements can't be added to states of %d", (int)inputSize, (int)hiddenSize);
    MR_WANT(projSize == hiddenSize, CUDNN_STATUS_NOT_SUPPORTED, "a projection, from %d to %d elements", (int)hiddenSize,
            (int)projSize);
    MR_WANT(dataType == CUDNN_DATA_FLOAT || dataType == CUDNN_DATA_DOUBLE || dataType == CUDNN_DATA_HALF ||
                dataType == CUDNN_DATA_BFLOAT16,
            CUDNN_STATUS_NOT_SUPPORTED, "a network of type %d", (int)dataType);
    rnnDesc->shape = (struct mr_rnn_shape){.mode = cellMode,
                                           .bias = biasMode,
                                           .bidirectional = dirMode == CUDNN_BIDIRECTIONAL,
                                           .skip = inputMode == CUDNN_SKIP_INPUT,
                                           .type = dataType,
                                           .input = inputSize,
                                           .hidden = hiddenSize,
                                           .layers = numLayers};
    rnnDesc->algo = algo;
    rnnDesc->precision = mathPrec;
    rnnDesc->math = mathType;
    rnnDesc->dropout = dropoutDesc;
    rnnDesc->flags = auxFlags;
    return CUDNN_STATUS_SUCCESS;
}

#define GIVE(to, value) \
    do { \
        if (to) \
            *(to) = (value); \
    } while (0)

cudnnStatus_t mr_cudnn_GetRNNDescriptor_v8(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc,
                                           cudnnRNNAlgo_t *algo, cudnnRNNMode_t *cellMode, cudnnRNNBiasMode_t *biasMode,
                                           cudnnDirectionMode_t *dirMode, cudnnRNNInputMode_t *inputMode,
                                           cudnnDataType_t *dataType, cudnnDataType_t *mathPrec,
                                           cudnnMathType_t *mathType, int32_t *inputSize, int32_t *hiddenSize,
                                           int32_t *projSize, int32_t *numLayers, cudnnDropoutDescriptor_t *dropoutDesc,
                                           uint32_t *auxFlags)
{
    WANT_SET(rnnDesc);
    const struct mr_rnn_shape *s = &rnnDesc->shape;
    GIVE(algo, rnnDesc->algo);
    GIVE(cellMode, s->mode);
    GIVE(biasMode, s->bias);
    GIVE(dirMode, s->bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL);
    GIVE(inputMode, s->skip ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT);
    GIVE(dataType, s->type);
    GIVE(mathPrec, rnnDesc->precision);
    GIVE(mathType, rnnDesc->math);
    GIVE(inputSize, (int32_t)s->input);
    GIVE(hiddenSize, (int32_t)s->hidden);
    GIVE(projSize, (int32_t)s->hidden);
    GIVE(numLayers, (int32_t)s->layers);
    GIVE(dropoutDesc, rnnDesc->dropout);
    GIVE(auxFlags, rnnDesc->flags);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set_clip(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t mode,
                              cudnnNanPropagation_t nan, double least, double most)
{
    WANT_SET(rnnDesc);
    MR_WANT(mode <= CUDNN_RNN_CLIP_MINMAX && nan <= CUDNN_PROPAGATE_NAN, CUDNN_STATUS_BAD_PARAM, "there is no mode %d",
            (int)mode);
    MR_WANT(mode == CUDNN_RNN_CLIP_NONE || (rnnDesc->shape.mode == CUDNN_LSTM && least <= most), CUDNN_STATUS_BAD_PARAM,
            "cells of mode %d between %g and %g", (int)rnnDesc->shape.mode, least, most);
    rnnDesc->shape.clip = mode == CUDNN_RNN_CLIP_MINMAX;
    rnnDesc->shape.clip_nan = nan == CUDNN_NOT_PROPAGATE_NAN;
    rnnDesc->shape.least = least;
    rnnDesc->shape.most = most;
    rnnDesc->nan = nan;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_RNNSetClip_v8(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc,
                                     cudnnRNNClipMode_t clipMode, cudnnNanPropagation_t clipNanOpt, double lclip,
                                     double rclip)
{
    return set_clip(form, rnnDesc, clipMode, clipNanOpt, lclip, rclip);
}

cudnnStatus_t mr_cudnn_RNNSetClip_v9(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc,
                                     cudnnRNNClipMode_t clipMode, double lclip, double rclip)
{
    return set_clip(form, rnnDesc, clipMode, CUDNN_PROPAGATE_NAN, lclip, rclip);
}

cudnnStatus_t mr_cudnn_RNNGetClip_v8(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc,
                                     cudnnRNNClipMode_t *clipMode, cudnnNanPropagation_t *clipNanOpt, void *lclip,
                                     void *rclip)
{
    WANT_SET(rnnDesc);
    GIVE(clipMode, rnnDesc->shape.clip ? CUDNN_RNN_CLIP_MINMAX : CUDNN_RNN_CLIP_NONE);
    GIVE(clipNanOpt, rnnDesc->nan);
    GIVE((double *)lclip, rnnDesc->shape.least);
    GIVE((double *)rclip, rnnDesc->shape.most);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_RNNGetClip_v9(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc,
                                     cudnnRNNClipMode_t *clipMode, void *lclip, void *rclip)
{
    return mr_cudnn_RNNGetClip_v8(form, rnnDesc, clipMode, NULL, lclip, rclip);
}

/* Nothing has to be built: all algorithms are computed in the same way. */
cudnnStatus_t mr_cudnn_BuildRNNDynamic(const struct mr_form *form, cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                       int64_t miniBatch)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    WANT_SET(rnnDesc);
    MR_WANT(miniBatch > 0, CUDNN_STATUS_BAD_PARAM, "a batch of %lld", (long long)miniBatch);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- the weights ---- */

static size_t weight_bytes(const struct mr_rnn_shape *s)
{
    return (size_t)mr_rnn_weights(s) * mr_dnn_size(s->type);
}

cudnnStatus_t mr_cudnn_GetRNNWeightSpaceSize(const struct mr_form *form, cudnnHandle_t handle,
                                             cudnnRNNDescriptor_t rnnDesc, size_t *weightSpaceSize)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(rnnDesc);
    MR_POINTER(weightSpaceSize);
    *weightSpaceSize = rnnDesc->shape.hidden ? weight_bytes(&rnnDesc->shape) : 0;
    return CUDNN_STATUS_SUCCESS;
}

/* A part of the weights, as a tensor of three dimensions; a tensor of none, and NULL, for a part that isn't there
 * (`at` < 0). The place is only computed: a program may ask with NULL for where the parts begin. Without a tensor
 * nothing is told: a program may ask for the matrix or the bias alone. */
static void tell_part(const struct mr_rnn_shape *s, const void *weights, int64_t at, int64_t rows, int64_t columns,
                      cudnnTensorDescriptor_t tensor, void **address)
{
    if (!tensor)
        return;
    struct mr_tensor *t = &tensor->t;
    *t = (struct mr_tensor){.type = s->type};
    *address = NULL;
    if (at < 0)
        return;
    t->n = 3;
    t->dim[0] = 1;
    t->dim[1] = rows;
    t->dim[2] = columns;
    mr_tensor_pack(t, false);
    *address = (void *)((uintptr_t)weights + (uintptr_t)at * mr_dnn_size(s->type));
}

cudnnStatus_t mr_cudnn_GetRNNWeightParams(const struct mr_form *form, cudnnHandle_t handle,
                                          cudnnRNNDescriptor_t rnnDesc, int32_t pseudoLayer, size_t weightSpaceSize,
                                          const void *weightSpace, int32_t linLayerID, cudnnTensorDescriptor_t mDesc,
                                          void **mAddr, cudnnTensorDescriptor_t bDesc, void **bAddr)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    WANT_SET(rnnDesc);
    MR_WANT(!mDesc == !mAddr && !bDesc == !bAddr, CUDNN_STATUS_BAD_PARAM,
            "a descriptor goes together with an address, for the matrix and for the bias");
    const struct mr_rnn_shape *s = &rnnDesc->shape;
    int64_t directions = mr_rnn_directions(s), gates = mr_rnn_gates(s), gate = linLayerID % gates;
    bool of_state = linLayerID >= gates, projection = s->mode == CUDNN_LSTM && linLayerID == 2 * gates;
    MR_WANT(pseudoLayer >= 0 && pseudoLayer < s->layers * directions, CUDNN_STATUS_BAD_PARAM,
            "there is no pseudo-layer %d", (int)pseudoLayer);
    MR_WANT(linLayerID >= 0 && (linLayerID < 2 * gates || projection), CUDNN_STATUS_BAD_PARAM, "there is no gate %d",
            (int)linLayerID);
    MR_WANT(weightSpaceSize >= weight_bytes(s), CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
            "%zu bytes for weights of %zu", weightSpaceSize, weight_bytes(s));
    int64_t columns = of_state ? s->hidden : mr_rnn_input(s, pseudoLayer / directions);
    int64_t matrix = projection ? -1 : mr_rnn_matrix_at(s, pseudoLayer, of_state);
    int64_t bias = projection ? -1 : mr_rnn_bias_at(s, pseudoLayer, of_state);
    tell_part(s, weightSpace, matrix < 0 ? -1 : matrix + gate * s->hidden * columns, s->hidden, columns, mDesc, mAddr);
    tell_part(s, weightSpace, bias < 0 ? -1 : bias + gate * s->hidden, s->hidden, 1, bDesc, bAddr);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- sequences ---- */

cudnnStatus_t mr_cudnn_CreateRNNDataDescriptor(const struct mr_form *form, cudnnRNNDataDescriptor_t *rnnDataDesc)
{
    MR_POINTER(rnnDataDesc);
    *rnnDataDesc = calloc(1, sizeof **rnnDataDesc);
    MR_WANT(*rnnDataDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyRNNDataDescriptor(const struct mr_form *form, cudnnRNNDataDescriptor_t rnnDataDesc)
{
    (void)form;
    if (rnnDataDesc)
        free(rnnDataDesc->lengths);
    free(rnnDataDesc);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetRNNDataDescriptor(const struct mr_form *form, cudnnRNNDataDescriptor_t rnnDataDesc,
                                            cudnnDataType_t dataType, cudnnRNNDataLayout_t layout, int64_t maxSeqLength,
                                            int64_t batchSize, int64_t vectorSize, const int seqLengthArray[],
                                            void *paddingFill)
{
    MR_POINTER(rnnDataDesc);
    MR_POINTER(seqLengthArray);
    MR_WANT(layout <= CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED && mr_dnn_size(dataType), CUDNN_STATUS_BAD_PARAM,
            "layout %d, type %d", (int)layout, (int)dataType);
    MR_WANT(maxSeqLength > 0 && batchSize > 0 && vectorSize > 0, CUDNN_STATUS_BAD_PARAM,
            "%lld sequences of %lld vectors of %lld elements", (long long)batchSize, (long long)maxSeqLength,
            (long long)vectorSize);
    MR_WANT(dataType == CUDNN_DATA_FLOAT || dataType == CUDNN_DATA_DOUBLE || dataType == CUDNN_DATA_HALF ||
                dataType == CUDNN_DATA_BFLOAT16,
            CUDNN_STATUS_NOT_SUPPORTED, "sequences of type %d", (int)dataType);
    for (int64_t i = 0; i < batchSize; i++) {
        MR_WANT(seqLengthArray[i] >= 0 && seqLengthArray[i] <= maxSeqLength, CUDNN_STATUS_BAD_PARAM,
                "sequence %lld has %d vectors, the longest %lld", (long long)i, seqLengthArray[i],
                (long long)maxSeqLength);
        MR_WANT(layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED || i == 0 ||
                    seqLengthArray[i] <= seqLengthArray[i - 1],
                CUDNN_STATUS_BAD_PARAM, "packed sequences: number %lld is longer than the one before", (long long)i);
    }
    int *lengths = malloc((size_t)batchSize * sizeof *lengths);
    MR_WANT(lengths, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    memcpy(lengths, seqLengthArray, (size_t)batchSize * sizeof *lengths);
    free(rnnDataDesc->lengths);
    rnnDataDesc->lengths = lengths;
    rnnDataDesc->type = dataType;
    rnnDataDesc->data =
        (struct mr_rnn_data){.layout = layout, .steps = maxSeqLength, .batch = batchSize, .size = vectorSize};
    if (paddingFill)
        mr_line_load(dataType, paddingFill, 0, 1, 1, true, &rnnDataDesc->data.fill);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetRNNDataDescriptor(const struct mr_form *form, cudnnRNNDataDescriptor_t rnnDataDesc,
                                            cudnnDataType_t *dataType, cudnnRNNDataLayout_t *layout, int *maxSeqLength,
                                            int *batchSize, int *vectorSize, int64_t arrayLengthRequested,
                                            int seqLengthArray[], void *paddingFill)
{
    MR_POINTER(rnnDataDesc);
    MR_WANT(rnnDataDesc->lengths, CUDNN_STATUS_BAD_PARAM, "the descriptor isn't set");
    MR_WANT(arrayLengthRequested >= 0 && (arrayLengthRequested == 0 || seqLengthArray), CUDNN_STATUS_BAD_PARAM,
            "%lld lengths are wanted", (long long)arrayLengthRequested);
    const struct mr_rnn_data *data = &rnnDataDesc->data;
    GIVE(dataType, rnnDataDesc->type);
    GIVE(layout, data->layout);
    GIVE(maxSeqLength, (int)data->steps);
    GIVE(batchSize, (int)data->batch);
    GIVE(vectorSize, (int)data->size);
    for (int64_t i = 0; i < arrayLengthRequested && i < data->batch; i++)
        seqLengthArray[i] = rnnDataDesc->lengths[i];
    if (paddingFill)
        mr_line_store(rnnDataDesc->type, paddingFill, 0, 1, 1, true, &data->fill);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- work ---- */

/* The reserve begins with which elements were dropped. */
#define HEAD 64
_Static_assert(sizeof(struct mr_dropout_states) <= HEAD, "the head holds the states");

/* Of training, the reserve holds the arenas from the forward pass to the gradients; of inference, the workspace does.
 * In training the workspace is what the gradient of the data needs. */
cudnnStatus_t mr_cudnn_GetRNNTempSpaceSizes(const struct mr_form *form, cudnnHandle_t handle,
                                            cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
                                            cudnnRNNDataDescriptor_t xDesc, size_t *workSpaceSize,
                                            size_t *reserveSpaceSize)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    WANT_SET(rnnDesc);
    MR_POINTER(xDesc);
    MR_WANT(xDesc->lengths && fwdMode <= CUDNN_FWD_MODE_TRAINING, CUDNN_STATUS_BAD_PARAM, "xDesc isn't set, or mode %d",
            (int)fwdMode);
    const struct mr_rnn_data *x = &xDesc->data;
    bool training = fwdMode == CUDNN_FWD_MODE_TRAINING;
    size_t arena = mr_rnn_arena_bytes(&rnnDesc->shape, x->steps, x->batch);
    GIVE(workSpaceSize, training ? mr_rnn_back_bytes(&rnnDesc->shape, x->steps, x->batch) : arena);
    GIVE(reserveSpaceSize, training ? HEAD + arena : 0);
    return CUDNN_STATUS_SUCCESS;
}

/* Checks the descriptors of sequences, and begins a record. The lengths are those of the descriptor: what a program has
 * put into device memory is the same. */
static cudnnStatus_t begin(const struct mr_form *form, cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                           cudnnRNNDataDescriptor_t xDesc, cudnnRNNDataDescriptor_t yDesc, struct mr_rnn *rnn)
{
    MR_STEP(mr_dnn_enter(form->name, handle));
    WANT_SET(rnnDesc);
    MR_POINTER(xDesc);
    MR_POINTER(yDesc);
    const struct mr_rnn_shape *s = &rnnDesc->shape;
    const struct mr_rnn_data *x = &xDesc->data, *y = &yDesc->data;
    MR_WANT(xDesc->lengths && yDesc->lengths, CUDNN_STATUS_BAD_PARAM, "xDesc or yDesc isn't set");
    MR_WANT(xDesc->type == s->type && yDesc->type == s->type, CUDNN_STATUS_BAD_PARAM,
            "x of type %d, y of type %d, a network of type %d", (int)xDesc->type, (int)yDesc->type, (int)s->type);
    MR_WANT(x->size == s->input && y->size == s->hidden * mr_rnn_directions(s), CUDNN_STATUS_BAD_PARAM,
            "vectors of %lld and %lld elements don't fit the network", (long long)x->size, (long long)y->size);
    MR_WANT(x->layout == y->layout && x->steps == y->steps && x->batch == y->batch &&
                memcmp(xDesc->lengths, yDesc->lengths, (size_t)x->batch * sizeof *xDesc->lengths) == 0,
            CUDNN_STATUS_BAD_PARAM, "the sequences of x and y differ");
    MR_WANT(mr_cpu_open(), CUDNN_STATUS_NOT_SUPPORTED, "the library for products is missing");
    *rnn = (struct mr_rnn){.function = form->name, .shape = *s, .x = *x, .y = *y};
    return CUDNN_STATUS_SUCCESS;
}

/* States: wanted if one of the pointers is used. */
static cudnnStatus_t check_states(const struct mr_form *form, const struct mr_rnn *rnn, const char *what,
                                  cudnnTensorDescriptor_t d, bool used)
{
    int64_t count = rnn->shape.layers * mr_rnn_directions(&rnn->shape) * rnn->x.batch * rnn->shape.hidden;
    if (!used)
        return CUDNN_STATUS_SUCCESS;
    MR_WANT(d, CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s is NULL", what);
    MR_WANT(d->t.type == rnn->shape.type && mr_tensor_count(&d->t) == count && mr_tensor_is_packed(&d->t),
            CUDNN_STATUS_BAD_PARAM, "%s doesn't fit the network and the batch", what);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_space(const struct mr_form *form, const char *what, const void *space, size_t size,
                                 size_t wanted)
{
    MR_WANT(size >= wanted, CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "%s has %zu bytes, wanted are %zu", what, size,
            wanted);
    MR_WANT(space, CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s is NULL", what);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t submit(const struct mr_form *form, cudnnHandle_t handle, uint64_t parts,
                            void (*run)(void *, uint64_t, uint64_t), const struct mr_rnn *rnn, const int *lengths)
{
    return mr_dnn_submit_more(form->name, handle, parts, run, rnn, sizeof *rnn, lengths,
                              (size_t)rnn->x.batch * sizeof *lengths);
}

/* The arena and the dropout of training. */
static cudnnStatus_t take_reserve(const struct mr_form *form, cudnnRNNDescriptor_t rnnDesc, void *reserve, size_t size,
                                  struct mr_rnn *rnn)
{
    const struct cudnnDropoutStruct *dropout = rnnDesc->dropout;
    MR_STEP(check_space(form, "reserveSpace", reserve, size,
                        HEAD + mr_rnn_arena_bytes(&rnn->shape, rnn->x.steps, rnn->x.batch)));
    rnn->arena = (char *)reserve + HEAD;
    rnn->kept = reserve;
    rnn->dropout = dropout && rnn->shape.layers > 1 ? (double)dropout->p : 0;
    MR_WANT(rnn->dropout == 0 || (dropout && dropout->states), CUDNN_STATUS_BAD_PARAM,
            "the dropout's descriptor has no states");
    return CUDNN_STATUS_SUCCESS;
}

struct drawing {
    struct mr_dropout_states *states, *kept;
    int64_t count;
};

/* The states are kept for the gradients, and moved on. */
static void run_draw(void *record, uint64_t first, uint64_t end)
{
    const struct drawing *d = record;
    (void)first, (void)end;
    *d->kept = *d->states;
    d->states->drawn += (uint64_t)d->count;
}

cudnnStatus_t mr_cudnn_RNNForward(const struct mr_form *form, cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                  cudnnForwardMode_t fwdMode, const int32_t devSeqLengths[],
                                  cudnnRNNDataDescriptor_t xDesc, const void *x, cudnnRNNDataDescriptor_t yDesc,
                                  void *y, cudnnTensorDescriptor_t hDesc, const void *hx, void *hy,
                                  cudnnTensorDescriptor_t cDesc, const void *cx, void *cy, size_t weightSpaceSize,
                                  const void *weightSpace, size_t workSpaceSize, void *workSpace,
                                  size_t reserveSpaceSize, void *reserveSpace)
{
    struct mr_rnn rnn;
    (void)devSeqLengths;
    MR_STEP(begin(form, handle, rnnDesc, xDesc, yDesc, &rnn));
    bool lstm = rnn.shape.mode == CUDNN_LSTM, training = fwdMode == CUDNN_FWD_MODE_TRAINING;
    size_t arena = mr_rnn_arena_bytes(&rnn.shape, rnn.x.steps, rnn.x.batch);
    MR_POINTER(x);
    MR_POINTER(y);
    MR_STEP(check_states(form, &rnn, "hDesc", hDesc, hx || hy));
    MR_STEP(check_states(form, &rnn, "cDesc", cDesc, lstm && (cx || cy)));
    MR_STEP(check_space(form, "weightSpace", weightSpace, weightSpaceSize, weight_bytes(&rnn.shape)));
    if (training)
        MR_STEP(take_reserve(form, rnnDesc, reserveSpace, reserveSpaceSize, &rnn));
    else
        MR_STEP(check_space(form, "workSpace", workSpace, workSpaceSize, arena));
    rnn.arena = training ? rnn.arena : workSpace;
    rnn.weights = weightSpace;
    rnn.x_at = x;
    rnn.hx = hx;
    rnn.cx = cx;
    rnn.y_at = y;
    rnn.hy = hy;
    rnn.cy = cy;
    struct drawing drawing = {rnn.dropout > 0 ? rnnDesc->dropout->states : NULL, reserveSpace, mr_rnn_drawn(&rnn)};
    if (rnn.dropout > 0)
        MR_STEP(mr_dnn_submit(form->name, handle, 1, run_draw, &drawing, sizeof drawing));
    return submit(form, handle, mr_rnn_parts(&rnn), mr_rnn_forward_run, &rnn, xDesc->lengths);
}

cudnnStatus_t mr_cudnn_RNNBackwardData_v8(const struct mr_form *form, cudnnHandle_t handle,
                                          cudnnRNNDescriptor_t rnnDesc, const int32_t devSeqLengths[],
                                          cudnnRNNDataDescriptor_t yDesc, const void *y, const void *dy,
                                          cudnnRNNDataDescriptor_t xDesc, void *dx, cudnnTensorDescriptor_t hDesc,
                                          const void *hx, const void *dhy, void *dhx, cudnnTensorDescriptor_t cDesc,
                                          const void *cx, const void *dcy, void *dcx, size_t weightSpaceSize,
                                          const void *weightSpace, size_t workSpaceSize, void *workSpace,
                                          size_t reserveSpaceSize, void *reserveSpace)
{
    struct mr_rnn rnn;
    (void)devSeqLengths, (void)y, (void)hx, (void)cx; /* what is needed of them is in the reserve */
    MR_STEP(begin(form, handle, rnnDesc, xDesc, yDesc, &rnn));
    const struct mr_rnn_shape *s = &rnn.shape;
    bool lstm = s->mode == CUDNN_LSTM;
    MR_POINTER(dy);
    MR_POINTER(dx);
    MR_STEP(check_states(form, &rnn, "hDesc", hDesc, dhy || dhx));
    MR_STEP(check_states(form, &rnn, "cDesc", cDesc, lstm && (dcy || dcx)));
    MR_STEP(check_space(form, "weightSpace", weightSpace, weightSpaceSize, weight_bytes(s)));
    MR_STEP(check_space(form, "workSpace", workSpace, workSpaceSize, mr_rnn_back_bytes(s, rnn.x.steps, rnn.x.batch)));
    MR_STEP(take_reserve(form, rnnDesc, reserveSpace, reserveSpaceSize, &rnn));
    rnn.back = workSpace;
    rnn.weights = weightSpace;
    rnn.dy = dy;
    rnn.dhy = dhy;
    rnn.dcy = lstm ? dcy : NULL;
    rnn.dx = dx;
    rnn.dhx = dhx;
    rnn.dcx = dcx;
    return submit(form, handle, mr_rnn_parts(&rnn), mr_rnn_data_run, &rnn, xDesc->lengths);
}

cudnnStatus_t mr_cudnn_RNNBackwardWeights_v8(const struct mr_form *form, cudnnHandle_t handle,
                                             cudnnRNNDescriptor_t rnnDesc, cudnnWgradMode_t addGrad,
                                             const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t xDesc,
                                             const void *x, cudnnTensorDescriptor_t hDesc, const void *hx,
                                             cudnnRNNDataDescriptor_t yDesc, const void *y, size_t weightSpaceSize,
                                             void *dweightSpace, size_t workSpaceSize, void *workSpace,
                                             size_t reserveSpaceSize, void *reserveSpace)
{
    struct mr_rnn rnn;
    (void)devSeqLengths, (void)x, (void)hDesc, (void)hx, (void)y; /* the reserve has them */
    (void)workSpaceSize, (void)workSpace;
    MR_STEP(begin(form, handle, rnnDesc, xDesc, yDesc, &rnn));
    MR_WANT(addGrad <= CUDNN_WGRAD_MODE_SET, CUDNN_STATUS_BAD_PARAM, "there is no mode %d", (int)addGrad);
    MR_STEP(check_space(form, "dweightSpace", dweightSpace, weightSpaceSize, weight_bytes(&rnn.shape)));
    MR_STEP(take_reserve(form, rnnDesc, reserveSpace, reserveSpaceSize, &rnn));
    rnn.dweights = dweightSpace;
    rnn.add = addGrad == CUDNN_WGRAD_MODE_ADD;
    return submit(form, handle, mr_rnn_weights_parts(&rnn), mr_rnn_weights_run, &rnn, xDesc->lengths);
}
