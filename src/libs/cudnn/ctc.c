/* SPDX-License-Identifier: Apache-2.0 */
/* The CTC loss: -log of the probability that a sequence of classes says the labels, and its gradient.
 *
 * Element (t, n, k) of the tensor is class k at step t of sample n. Class 0 is the blank. A path says the labels if
 * they are left once repeated classes are one and blanks are gone. So a path walks over the labels with a blank before,
 * between and behind them: their states, 2 L + 1 for L labels. It stays in a state, goes on by one, or leaps over a
 * blank between labels that differ. Everything is in logarithms, in double: `ahead` are the paths up to a step, `rest`
 * those behind it.
 *
 * In both modes of normalisation the gradient is that by what goes into the softmax: the class's probability, less that
 * of the paths through it. A sample whose labels don't fit into its steps has cost infinity. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cudnn_impl.h"
#include "libs/cudnn/descriptors.h"

struct ctc {
    const char *function;
    struct cudnnCTCLossStruct by;
    struct mr_tensor x, dx; /* steps, samples, classes */
    const void *x_at;
    void *dx_at, *costs; /* dx_at: NULL for none */
    const int *labels, *label_lengths, *input_lengths; /* NULL: they lie behind the record, lengths first */
};

/* A sample, with memory of the part's own. */
struct sample {
    const struct ctc *c;
    int64_t n, steps, states;
    const int *labels;
    double *ahead; /* steps x states */
    double *rest, *next; /* states */
    double *scale; /* steps: what is taken off a class's element to get the logarithm of its probability */
    double *line, *paths; /* classes */
};

static double add(double a, double b)
{
    double most = a > b ? a : b, less = a > b ? b : a;
    return most == -INFINITY ? most : most + log1p(exp(less - most));
}

static int class_of(const struct sample *s, int64_t state)
{
    return state % 2 ? s->labels[state / 2] : 0;
}

/* Whether a path may come into the state from the one before last. */
static bool leaps(const struct sample *s, int64_t state)
{
    return state % 2 && state > 1 && s->labels[state / 2] != s->labels[state / 2 - 1];
}

/* The logarithms of a step's probabilities, into `line`. Its scale is found at the first time. */
static void load(struct sample *s, int64_t t, bool scaled)
{
    const struct mr_tensor *x = &s->c->x;
    int64_t classes = x->dim[2];
    double most = -INFINITY, sum = 0;
    mr_line_load(x->type, s->c->x_at, t * x->stride[0] + s->n * x->stride[1], x->stride[2], classes, true, s->line);
    if (s->c->by.norm == CUDNN_LOSS_NORMALIZATION_NONE) {
        for (int64_t k = 0; k < classes; k++)
            s->line[k] = log(s->line[k]);
        return;
    }
    if (!scaled) {
        for (int64_t k = 0; k < classes; k++)
            most = s->line[k] > most || s->line[k] != s->line[k] ? s->line[k] : most;
        for (int64_t k = 0; k < classes; k++)
            sum += exp(s->line[k] - most);
        s->scale[t] = most + log(sum);
    }
    for (int64_t k = 0; k < classes; k++)
        s->line[k] -= s->scale[t];
}

/* The logarithm of the probability of all paths. */
static double forward(struct sample *s)
{
    for (int64_t t = 0; t < s->steps; t++) {
        double *now = s->ahead + t * s->states;
        const double *before = now - s->states;
        load(s, t, false);
        for (int64_t i = 0; i < s->states; i++) {
            double paths = t ? before[i] : i < 2 ? 0 : -INFINITY;
            if (t && i > 0)
                paths = add(paths, before[i - 1]);
            if (t && leaps(s, i))
                paths = add(paths, before[i - 2]);
            now[i] = paths + s->line[class_of(s, i)];
        }
    }
    if (!s->steps)
        return s->states == 1 ? 0 : -INFINITY;
    const double *last = s->ahead + (s->steps - 1) * s->states;
    return s->states > 1 ? add(last[s->states - 1], last[s->states - 2]) : last[0];
}

/* A step's gradient, from the paths up to it and those behind it. `line` gives way to it. */
static void step_gradient(struct sample *s, int64_t t, double all)
{
    int64_t classes = s->c->x.dim[2];
    const double *ahead = s->ahead + t * s->states;
    memset(s->paths, 0, (size_t)classes * sizeof *s->paths);
    for (int64_t i = 0; i < s->states; i++)
        s->paths[class_of(s, i)] += exp(ahead[i] + s->rest[i] - all);
    for (int64_t k = 0; k < classes; k++)
        s->line[k] = exp(s->line[k]) - s->paths[k];
}

static void store(const struct sample *s, int64_t t)
{
    const struct mr_tensor *dx = &s->c->dx;
    mr_line_store(dx->type, s->c->dx_at, t * dx->stride[0] + s->n * dx->stride[1], dx->stride[2], dx->dim[2], true,
                  s->line);
}

static void backward(struct sample *s, double all)
{
    for (int64_t t = s->steps - 1; t >= 0; t--) {
        for (int64_t i = 0; i < s->states; i++) {
            if (t == s->steps - 1) {
                s->rest[i] = i >= s->states - 2 ? 0 : -INFINITY;
                continue;
            }
            double paths = s->next[i];
            if (i + 1 < s->states)
                paths = add(paths, s->next[i + 1]);
            if (i + 2 < s->states && leaps(s, i + 2))
                paths = add(paths, s->next[i + 2]);
            s->rest[i] = paths;
        }
        load(s, t, true);
        for (int64_t i = 0; i < s->states; i++)
            s->next[i] = s->rest[i] + s->line[class_of(s, i)];
        step_gradient(s, t, all);
        store(s, t);
    }
}

/* The gradient of steps from `t` on is the value. */
static void fill(struct sample *s, int64_t t, double value)
{
    for (int64_t k = 0; k < s->c->dx.dim[2]; k++)
        s->line[k] = value;
    for (; t < s->c->dx.dim[0]; t++)
        store(s, t);
}

/* Whether the sample's numbers, and as many labels, lie inside of the tensor. */
static bool is_sound(const struct sample *s, int64_t labels)
{
    bool sound = s->steps >= 0 && s->steps <= s->c->x.dim[0] && labels >= 0;
    for (int64_t i = 0; sound && i < labels; i++)
        sound = s->labels[i] >= 0 && s->labels[i] < s->c->x.dim[2];
    if (!sound)
        mr_log(MR_LOG_WARN, "%s: sample %lld has lengths or labels outside of the tensor: its cost is infinite",
               s->c->function, (long long)s->n);
    return sound;
}

static bool compute(struct sample *s, int64_t labels)
{
    int64_t classes = s->c->x.dim[2];
    /* More labels than steps never fit: they aren't read. */
    bool fits = is_sound(s, labels < s->steps ? labels : s->steps) && labels <= s->steps;
    if (!fits)
        s->steps = labels = 0;
    s->states = 2 * labels + 1;
    s->ahead =
        mr_math_scratch(0, (size_t)(s->steps * s->states + 2 * s->states + s->steps + 2 * classes) * sizeof *s->ahead);
    if (!s->ahead)
        return false;
    s->rest = s->ahead + s->steps * s->states;
    s->next = s->rest + s->states;
    s->scale = s->next + s->states;
    s->line = s->scale + s->steps;
    s->paths = s->line + classes;
    double all = fits ? forward(s) : -INFINITY, cost = -all;
    if (s->c->by.type == CUDNN_DATA_DOUBLE)
        ((double *)s->c->costs)[s->n] = cost;
    else
        ((float *)s->c->costs)[s->n] = (float)cost;
    if (!s->c->dx_at)
        return true;
    if (all != -INFINITY)
        backward(s, all);
    if (all == -INFINITY)
        fill(s, 0, s->c->by.nan == CUDNN_PROPAGATE_NAN ? (double)NAN : 0);
    else if (s->c->by.grad != CUDNN_CTC_SKIP_OOB_GRADIENTS)
        fill(s, s->steps, 0);
    return true;
}

/* A part is a sample. */
static void run(void *record, uint64_t first, uint64_t end)
{
    const struct ctc *c = record;
    const int *lengths = c->label_lengths, *steps = c->input_lengths, *labels = c->labels;
    if (!labels) {
        lengths = (const int *)(c + 1);
        steps = lengths + c->x.dim[1];
        labels = steps + c->x.dim[1];
    }
    for (uint64_t n = 0; n < end; n++) {
        struct sample s = {.c = c, .n = (int64_t)n, .steps = steps[n], .labels = labels};
        if (n >= first && !compute(&s, lengths[n])) {
            mr_math_short_of_memory(c->function);
            return;
        }
        labels += lengths[n] > 0 ? lengths[n] : 0;
    }
}

/* ---- functions ---- */

static cudnnStatus_t check(const struct mr_form *form, const struct cudnnCTCLossStruct *by, cudnnCTCLossAlgo_t algo,
                           const struct mr_tensor *x, const struct mr_tensor *dx)
{
    MR_WANT(by->is_set, CUDNN_STATUS_BAD_PARAM, "the descriptor isn't set");
    MR_WANT(algo <= CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC, CUDNN_STATUS_BAD_PARAM, "there is no algorithm %d",
            (int)algo);
    MR_WANT(x->n == 3, CUDNN_STATUS_BAD_PARAM, "the tensor has %d dimensions", x->n);
    MR_WANT(!dx || mr_tensor_same(x, dx), CUDNN_STATUS_BAD_PARAM, "the tensors differ");
    return CUDNN_STATUS_SUCCESS;
}

/* Lengths and labels in the program's memory, copied one behind the other: to be freed. */
static cudnnStatus_t gather(const struct mr_form *form, const struct mr_tensor *x, const int *labels,
                            const int *lengths, const int *steps, int **all, size_t *bytes)
{
    size_t samples = (size_t)x->dim[1], sum = 0;
    for (size_t n = 0; n < samples; n++) {
        MR_WANT(lengths[n] >= 0 && steps[n] >= 0 && steps[n] <= x->dim[0], CUDNN_STATUS_BAD_PARAM,
                "sample %zu has %d labels and %d steps", n, lengths[n], steps[n]);
        for (size_t i = sum; i < sum + (size_t)lengths[n]; i++)
            MR_WANT(labels[i] >= 0 && labels[i] < x->dim[2], CUDNN_STATUS_BAD_PARAM, "label %zu is class %d", i,
                    labels[i]);
        sum += (size_t)lengths[n];
    }
    *bytes = (2 * samples + sum) * sizeof **all;
    *all = malloc(*bytes + sizeof **all);
    MR_WANT(*all, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    memcpy(*all, lengths, samples * sizeof **all);
    memcpy(*all + samples, steps, samples * sizeof **all);
    memcpy(*all + 2 * samples, labels, sum * sizeof **all);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_CTCLoss(const struct mr_form *form, cudnnHandle_t handle,
                               const cudnnTensorDescriptor_t probsDesc, const void *probs, const int hostLabels[],
                               const int hostLabelLengths[], const int hostInputLengths[], void *costs,
                               const cudnnTensorDescriptor_t gradientsDesc, void *gradients, cudnnCTCLossAlgo_t algo,
                               cudnnCTCLossDescriptor_t ctcLossDesc, void *workspace, size_t workSpaceSizeInBytes)
{
    (void)workspace, (void)workSpaceSizeInBytes;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_WANT(probsDesc && probs && hostLabels && hostLabelLengths && hostInputLengths && costs && ctcLossDesc &&
                (gradientsDesc || !gradients),
            CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    MR_STEP(check(form, ctcLossDesc, algo, &probsDesc->t, gradients ? &gradientsDesc->t : NULL));
    struct ctc c = {.function = form->name, .by = *ctcLossDesc, .x = probsDesc->t, .x_at = probs, .costs = costs};
    if (gradients) {
        c.dx = gradientsDesc->t;
        c.dx_at = gradients;
    }
    int *all = NULL;
    size_t bytes = 0;
    MR_STEP(gather(form, &c.x, hostLabels, hostLabelLengths, hostInputLengths, &all, &bytes));
    cudnnStatus_t status = mr_dnn_submit_more(form->name, handle, (uint64_t)c.x.dim[1], run, &c, sizeof c, all, bytes);
    free(all);
    return status;
}

cudnnStatus_t mr_cudnn_CTCLoss_v8(const struct mr_form *form, cudnnHandle_t handle, cudnnCTCLossAlgo_t algo,
                                  cudnnCTCLossDescriptor_t ctcLossDesc, const cudnnTensorDescriptor_t probsDesc,
                                  const void *probs, const int labels[], const int labelLengths[],
                                  const int inputLengths[], void *costs, const cudnnTensorDescriptor_t gradientsDesc,
                                  void *gradients, size_t workSpaceSizeInBytes, void *workspace)
{
    (void)workspace, (void)workSpaceSizeInBytes;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_WANT(probsDesc && probs && labels && labelLengths && inputLengths && costs && ctcLossDesc &&
                (gradientsDesc || !gradients),
            CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    MR_STEP(check(form, ctcLossDesc, algo, &probsDesc->t, gradients ? &gradientsDesc->t : NULL));
    struct ctc c = {.function = form->name,
                    .by = *ctcLossDesc,
                    .x = probsDesc->t,
                    .x_at = probs,
                    .costs = costs,
                    .labels = labels,
                    .label_lengths = labelLengths,
                    .input_lengths = inputLengths};
    if (gradients) {
        c.dx = gradientsDesc->t;
        c.dx_at = gradients;
    }
    return mr_dnn_submit(form->name, handle, (uint64_t)c.x.dim[1], run, &c, sizeof c);
}

/* A part has memory of its own. */
cudnnStatus_t mr_cudnn_GetCTCLossWorkspaceSize_v8(const struct mr_form *form, cudnnHandle_t handle,
                                                  cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc,
                                                  const cudnnTensorDescriptor_t probsDesc,
                                                  const cudnnTensorDescriptor_t gradientsDesc, size_t *sizeInBytes)
{
    MR_POINTER(handle);
    MR_POINTER(ctcLossDesc);
    MR_POINTER(probsDesc);
    MR_POINTER(sizeInBytes);
    MR_STEP(check(form, ctcLossDesc, algo, &probsDesc->t, gradientsDesc ? &gradientsDesc->t : NULL));
    *sizeInBytes = 0;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetCTCLossWorkspaceSize(const struct mr_form *form, cudnnHandle_t handle,
                                               const cudnnTensorDescriptor_t probsDesc,
                                               const cudnnTensorDescriptor_t gradientsDesc, const int *labels,
                                               const int *labelLengths, const int *inputLengths,
                                               cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc,
                                               size_t *sizeInBytes)
{
    MR_WANT(labels && labelLengths && inputLengths, CUDNN_STATUS_BAD_PARAM, "a pointer is NULL");
    return mr_cudnn_GetCTCLossWorkspaceSize_v8(form, handle, algo, ctcLossDesc, probsDesc, gradientsDesc, sizeInBytes);
}

/* ---- descriptors ---- */

cudnnStatus_t mr_cudnn_CreateCTCLossDescriptor(const struct mr_form *form, cudnnCTCLossDescriptor_t *ctcLossDesc)
{
    MR_POINTER(ctcLossDesc);
    *ctcLossDesc = calloc(1, sizeof **ctcLossDesc);
    MR_WANT(*ctcLossDesc, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_DestroyCTCLossDescriptor(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc)
{
    (void)form;
    free(ctcLossDesc);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set(const struct mr_form *form, cudnnCTCLossDescriptor_t desc, struct cudnnCTCLossStruct to)
{
    MR_POINTER(desc);
    MR_WANT(to.type == CUDNN_DATA_FLOAT || to.type == CUDNN_DATA_DOUBLE, CUDNN_STATUS_BAD_PARAM,
            "costs of type %d are not supported", (int)to.type);
    MR_WANT(to.norm <= CUDNN_LOSS_NORMALIZATION_SOFTMAX && to.nan <= CUDNN_PROPAGATE_NAN &&
                to.grad <= CUDNN_CTC_SKIP_OOB_GRADIENTS && to.most_labels >= 0,
            CUDNN_STATUS_BAD_PARAM, "cuDNN has no such mode, or the number of labels is negative");
    to.is_set = true;
    *desc = to;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetCTCLossDescriptor(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc,
                                            cudnnDataType_t compType)
{
    return set(form, ctcLossDesc, (struct cudnnCTCLossStruct){.type = compType});
}

cudnnStatus_t mr_cudnn_SetCTCLossDescriptorEx(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc,
                                              cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode,
                                              cudnnNanPropagation_t gradMode)
{
    return set(form, ctcLossDesc, (struct cudnnCTCLossStruct){.type = compType, .norm = normMode, .nan = gradMode});
}

cudnnStatus_t mr_cudnn_SetCTCLossDescriptor_v8(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc,
                                               cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode,
                                               cudnnNanPropagation_t gradMode, int64_t maxLabelLength)
{
    return set(form, ctcLossDesc,
               (struct cudnnCTCLossStruct){
                   .type = compType, .norm = normMode, .nan = gradMode, .most_labels = maxLabelLength});
}

cudnnStatus_t mr_cudnn_SetCTCLossDescriptor_v9(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc,
                                               cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode,
                                               cudnnCTCGradMode_t ctcGradMode, int64_t maxLabelLength)
{
    return set(form, ctcLossDesc,
               (struct cudnnCTCLossStruct){
                   .type = compType, .norm = normMode, .grad = ctcGradMode, .most_labels = maxLabelLength});
}

cudnnStatus_t mr_cudnn_GetCTCLossDescriptor_v8(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc,
                                               cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
                                               cudnnNanPropagation_t *gradMode, int *maxLabelLength)
{
    MR_POINTER(ctcLossDesc);
    if (compType)
        *compType = ctcLossDesc->type;
    if (normMode)
        *normMode = ctcLossDesc->norm;
    if (gradMode)
        *gradMode = ctcLossDesc->nan;
    if (maxLabelLength)
        *maxLabelLength = (int)ctcLossDesc->most_labels;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetCTCLossDescriptor(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc,
                                            cudnnDataType_t *compType)
{
    return mr_cudnn_GetCTCLossDescriptor_v8(form, ctcLossDesc, compType, NULL, NULL, NULL);
}

cudnnStatus_t mr_cudnn_GetCTCLossDescriptorEx(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc,
                                              cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
                                              cudnnNanPropagation_t *gradMode)
{
    return mr_cudnn_GetCTCLossDescriptor_v8(form, ctcLossDesc, compType, normMode, gradMode, NULL);
}

cudnnStatus_t mr_cudnn_GetCTCLossDescriptor_v9(const struct mr_form *form, cudnnCTCLossDescriptor_t ctcLossDesc,
                                               cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
                                               cudnnCTCGradMode_t *ctcGradMode, int *maxLabelLength)
{
    MR_STEP(mr_cudnn_GetCTCLossDescriptor_v8(form, ctcLossDesc, compType, normMode, NULL, maxLabelLength));
    if (ctcGradMode)
        *ctcGradMode = ctcLossDesc->grad;
    return CUDNN_STATUS_SUCCESS;
}
