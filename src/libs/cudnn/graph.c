/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: the order of the operations, and the places of tensors in the plan's memory.
 *
 * A plan is gone through twice in the same way: once when it is made, which measures the memory and finds out whether
 * everything can be done, and at each execution, which submits the work. */
#include "libs/cudnn/graph.h"

#include <stdlib.h>
#include <string.h>

#include "libs/cudnn/operations.h"
#include "libs/cudnn/touch.h"

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* ---- the order ---- */

/* Calls `each` for the tensors of an operation: those that it writes, or those that it reads. */
static bool any_tensor(const struct mr_descriptor *op, bool written, bool (*each)(const struct mr_descriptor *, void *),
                       void *data)
{
    for (const struct mr_attribute *a = op->attributes; a; a = a->next) {
        if (a->type != CUDNN_TYPE_BACKEND_DESCRIPTOR)
            continue;
        for (int64_t i = 0; i < a->count; i++) {
            const struct mr_descriptor *t = ((struct mr_descriptor *const *)a->elements)[i];
            if (t->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR && mr_operation_writes(op, a->name) == written &&
                each(t, data))
                return true;
        }
    }
    return false;
}

struct search {
    int64_t uid;
    const struct mr_attribute *operations;
    const bool *done;
};

static bool has_uid(const struct mr_descriptor *t, void *data)
{
    return mr_attribute_number(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0) == ((struct search *)data)->uid;
}

/* Whether an operation that has not run yet writes the tensor. */
static bool waits(const struct mr_descriptor *t, void *data)
{
    struct search *s = data;
    s->uid = mr_attribute_number(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
    for (int64_t i = 0; i < s->operations->count; i++)
        if (!s->done[i] && any_tensor(((struct mr_descriptor *const *)s->operations->elements)[i], true, has_uid, s))
            return true;
    return false;
}

static cudnnStatus_t order(const char *function, const struct mr_attribute *operations, struct mr_plan *plan)
{
    bool *done = calloc((size_t)operations->count, sizeof *done);
    if (!done)
        return mr_dnn_bad(function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    struct search search = {.operations = operations, .done = done};
    bool moved = true;
    while (moved && plan->count < operations->count) {
        moved = false;
        for (int64_t i = 0; i < operations->count; i++) {
            const struct mr_descriptor *op = ((struct mr_descriptor *const *)operations->elements)[i];
            if (done[i])
                continue;
            done[i] = true; /* it doesn't wait for what it writes itself */
            if (any_tensor(op, false, waits, &search)) {
                done[i] = false;
                continue;
            }
            plan->operations[plan->count++] = op;
            moved = true;
        }
    }
    free(done);
    if (plan->count < operations->count)
        return mr_dnn_bad(function, CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN,
                          "the graph's operations wait for each other");
    return CUDNN_STATUS_SUCCESS;
}

/* ---- places ---- */

static bool is_placed(const struct mr_descriptor *t)
{
    return mr_attribute_number(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) ||
           mr_attribute_number(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0);
}

/* Gives the tensor a place if it needs one. True: memory is short. */
static bool give_place(const struct mr_descriptor *t, void *data)
{
    struct mr_plan *plan = data;
    int64_t uid = mr_attribute_number(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
    if (!is_placed(t) || mr_place_of(plan, uid))
        return false;
    struct mr_place *more = realloc(plan->places, (size_t)(plan->placed + 1) * sizeof *more);
    if (!more)
        return true;
    struct mr_tensor tensor = mr_backend_tensor(t);
    plan->places = more;
    more[plan->placed++] = (struct mr_place){uid, plan->bytes};
    plan->bytes += aligned(mr_tensor_bytes(&tensor));
    return false;
}

/* ---- going through the plan ---- */

static cudnnStatus_t go_through(struct mr_going *going)
{
    for (int64_t i = 0; i < going->plan->count; i++)
        MR_STEP(mr_operation_go(going, going->plan->operations[i]));
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_plan_make(const char *function, const struct mr_attribute *operations, struct mr_plan **result)
{
    struct mr_plan *plan = calloc(1, sizeof *plan);
    if (plan)
        plan->operations = calloc((size_t)operations->count, sizeof *plan->operations);
    if (!plan || !plan->operations) {
        mr_plan_end(plan);
        return mr_dnn_bad(function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    }
    cudnnStatus_t status = order(function, operations, plan);
    for (int64_t i = 0; i < plan->count && status == CUDNN_STATUS_SUCCESS; i++)
        if (any_tensor(plan->operations[i], false, give_place, plan) ||
            any_tensor(plan->operations[i], true, give_place, plan))
            status = mr_dnn_bad(function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    struct mr_going going = {.function = function, .plan = plan, .base = plan->bytes};
    plan->places_end = plan->bytes;
    if (status == CUDNN_STATUS_SUCCESS)
        status = go_through(&going);
    plan->bytes += going.most;
    if (status == CUDNN_STATUS_SUCCESS)
        *result = plan;
    else
        mr_plan_end(plan);
    return status;
}

void mr_plan_end(struct mr_plan *plan)
{
    if (plan) {
        free(plan->operations);
        free(plan->places);
    }
    free(plan);
}

/* ---- values that the program gives by host pointer: they are copied into their places first ---- */

struct value {
    void *to;
    size_t size;
    _Alignas(16) unsigned char bytes[64];
};

static void run_value(void *record, uint64_t first, uint64_t end)
{
    const struct value *value = record;
    (void)first, (void)end;
    memcpy(value->to, value->bytes, value->size);
}

static bool give_value(const struct mr_descriptor *t, void *data)
{
    struct mr_going *going = data;
    int64_t uid = mr_attribute_number(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
    struct value value = {0};
    struct mr_tensor tensor = mr_backend_tensor(t);
    if (!mr_attribute_number(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0))
        return false;
    const void *from = mr_given_place(going->pack, uid);
    value.to = going->workspace + mr_place_of(going->plan, uid)->at;
    value.size = mr_tensor_bytes(&tensor);
    if (!from || value.size > sizeof value.bytes) {
        going->status = mr_dnn_bad(going->function, CUDNN_STATUS_BAD_PARAM, "the value %lld is not given, or is large",
                                   (long long)uid);
        return true;
    }
    memcpy(value.bytes, from, value.size);
    going->status = mr_going_submit(going, 1, run_value, &value, sizeof value);
    return going->status != CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t execute(struct mr_going *going)
{
    for (int64_t i = 0; i < going->plan->count; i++)
        if (any_tensor(going->plan->operations[i], false, give_value, going))
            return going->status;
    return go_through(going);
}

/* A tensor of the program that an operation writes, or reads (`how`), and that none writes before. */
struct telling {
    struct mr_going *going;
    unsigned how;
};

static bool tell(const struct mr_descriptor *t, void *data)
{
    const struct telling *telling = data;
    struct search search = {.uid = mr_attribute_number(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0)};
    const struct mr_plan *plan = telling->going->plan;
    bool is_made = mr_place_of(plan, search.uid) != NULL;
    for (int64_t i = 0; i < plan->count && telling->how == MR_READS && !is_made; i++)
        is_made = any_tensor(plan->operations[i], true, has_uid, &search);
    struct mr_tensor tensor = mr_backend_tensor(t);
    if (!is_made)
        mr_touch_elements(telling->going->function, telling->how, mr_given_place(telling->going->pack, search.uid),
                          &tensor);
    return false;
}

static void tell_all(struct mr_going *going)
{
    struct telling reads = {going, MR_READS}, writes = {going, MR_WRITES};
    for (int64_t i = 0; i < going->plan->count; i++) {
        (void)any_tensor(going->plan->operations[i], false, tell, &reads);
        (void)any_tensor(going->plan->operations[i], true, tell, &writes);
    }
}

cudnnStatus_t mr_plan_execute(const char *function, cudnnHandle_t handle, const struct mr_plan *plan,
                              const struct mr_descriptor *pack)
{
    struct mr_going going = {
        .function = function, .plan = plan, .pack = pack, .handle = handle, .base = plan->places_end};
    if (plan->bytes) {
        going.block = mr_block_get(plan->bytes);
        if (!going.block)
            return mr_dnn_bad(function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
        going.workspace = mr_block_bytes(going.block);
    }
    if (mr_tell_call(function))
        tell_all(&going);
    cudnnStatus_t status = execute(&going);
    mr_tell_call_over();
    mr_block_drop(going.block);
    return status;
}
