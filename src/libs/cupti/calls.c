/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread is doing: calls, as the driver and the runtime tell of them; their callbacks and records; numbers of
 * other tools that belong to them (external correlation). */
#include "libs/cupti/cupti.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/calls.h"

#define DEPTH 8u
#define OUTSIDE CUPTI_EXTERNAL_CORRELATION_KIND_SIZE

/* Numbers of one kind that the thread has pushed, the last one on top. */
struct stack {
    uint64_t *numbers;
    size_t count, room;
};

static _Thread_local struct {
    unsigned depth;
    struct mr_cupti_call calls[DEPTH];
} thread;

static _Thread_local struct stack stacks[OUTSIDE];
static _Atomic uint32_t correlations;

uint32_t mr_cupti_new_correlation(void)
{
    return atomic_fetch_add_explicit(&correlations, 1, memory_order_relaxed) + 1;
}

struct mr_cupti_call *mr_cupti_here(void)
{
    return thread.depth ? &thread.calls[thread.depth - 1] : NULL;
}

/* ---- external correlation ---- */

CUptiResult mr_cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID || kind >= OUTSIDE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    struct stack *stack = &stacks[kind];
    if (stack->count == stack->room) {
        size_t room = stack->room ? 2 * stack->room : 16;
        uint64_t *numbers = realloc(stack->numbers, room * sizeof *numbers);
        if (!numbers)
            return CUPTI_ERROR_OUT_OF_MEMORY;
        stack->numbers = numbers;
        stack->room = room;
    }
    stack->numbers[stack->count++] = id;
    return CUPTI_SUCCESS;
}

CUptiResult mr_cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
    if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID || kind >= OUTSIDE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    struct stack *stack = &stacks[kind];
    if (!stack->count)
        return CUPTI_ERROR_QUEUE_EMPTY;
    uint64_t id = stack->numbers[--stack->count];
    if (!stack->count) { /* a thread that ends with nothing pushed leaves nothing behind */
        free(stack->numbers);
        *stack = (struct stack){0};
    }
    if (lastId)
        *lastId = id;
    return CUPTI_SUCCESS;
}

static void put_external(uint32_t correlation)
{
    for (unsigned kind = 1; kind < OUTSIDE; kind++) {
        const struct stack *stack = &stacks[kind];
        if (!stack->count)
            continue;
        const CUpti_ActivityExternalCorrelation record = {.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                                          .externalKind = (CUpti_ExternalCorrelationKind)kind,
                                                          .externalId = stack->numbers[stack->count - 1],
                                                          .correlationId = correlation};
        mr_cupti_put(&record, sizeof record);
    }
}

/* ---- the kernel that a launch names ---- */

/* A launch may name a function or a kernel. */
static const char *name_of(const void *handle)
{
    const char *name = NULL;
    mr_cupti_driver->pause(true);
    if (mr_cupti_cu.cuFuncGetName(&name, (CUfunction)(uintptr_t)handle) != CUDA_SUCCESS &&
        mr_cupti_cu.cuKernelGetName(&name, (CUkernel)(uintptr_t)handle) != CUDA_SUCCESS)
        name = NULL;
    mr_cupti_driver->pause(false);
    return mr_cupti_keep(name);
}

#define LAUNCHES(function, member) \
    case MR_CALL_##function: \
        return name_of(((const struct mr_params_##function *)call->params)->member);

static const char *launched(const struct mr_observed_call *call)
{
    switch (call->call) {
        LAUNCHES(cuLaunchKernel, f)
        LAUNCHES(cuLaunchKernelEx, f)
        LAUNCHES(cuLaunchCooperativeKernel, f)
        LAUNCHES(cuLaunch, f)
        LAUNCHES(cuLaunchGrid, f)
        LAUNCHES(cuLaunchGridAsync, f)
    default:
        return NULL;
    }
}

/* Launches of the runtime have the function among their parameters, behind the configuration or first. */
static const char *launched_by_runtime(const struct mr_observed_call *call)
{
    if (call->symbol)
        return mr_cupti_keep(call->symbol);
    if (strcmp(call->name, "cudaLaunchKernel") == 0 || strcmp(call->name, "cudaLaunchCooperativeKernel") == 0)
        return name_of(*(const void *const *)call->params);
    if (strcmp(call->name, "cudaLaunchKernelExC") == 0)
        return name_of(((const void *const *)call->params)[1]);
    return NULL;
}

/* ---- calls ---- */

static CUpti_CallbackDomain domain_of(const struct mr_cupti_call *call)
{
    return call->runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
}

static void call_back(struct mr_cupti_call *call, CUpti_ApiCallbackSite site, CUcontext context, void *status)
{
    const char *name = call->runtime ? NULL : mr_cupti_driver_name(call->cbid);
    const CUpti_CallbackData data = {.callbackSite = site,
                                     .functionName = name ? name : call->call->name,
                                     .functionParams = call->call->params,
                                     .functionReturnValue = status,
                                     .symbolName = call->symbol,
                                     .context = context,
                                     .contextUid = mr_cupti_context_number(context, NULL),
                                     .correlationData = &call->data,
                                     .correlationId = call->correlation};
    mr_cupti_call_back(domain_of(call), call->cbid, &data);
}

static void enter(struct mr_observed_call *told, bool runtime)
{
    told->data = NULL;
    if (mr_cupti_is_busy() || thread.depth == DEPTH)
        return;
    const struct mr_cupti_call *outer = mr_cupti_here();
    struct mr_cupti_call *call = &thread.calls[thread.depth++];
    *call = (struct mr_cupti_call){.call = told, .runtime = runtime};
    call->cbid = runtime ? told->call : mr_cupti_driver_number(told);
    call->in_runtime = runtime || (outer && outer->in_runtime);
    call->correlation = outer ? outer->correlation : mr_cupti_new_correlation();
    told->data = call;
    if (!outer && mr_cupti_wants(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) &&
        (mr_cupti_wants(CUPTI_ACTIVITY_KIND_RUNTIME) || mr_cupti_wants(CUPTI_ACTIVITY_KIND_DRIVER)))
        put_external(call->correlation);
    if (mr_cupti_calls_back(domain_of(call), call->cbid)) {
        call->called_back = true;
        call->symbol = runtime ? launched_by_runtime(told) : launched(told);
        call_back(call, CUPTI_API_ENTER, told->context, NULL);
    }
    if (!runtime)
        mr_cupti_resource_begin(call);
    call->start = mr_cupti_now();
}

static CUcontext current_context(void)
{
    CUcontext context = NULL;
    mr_cupti_driver->pause(true);
    (void)mr_cupti_cu.cuCtxGetCurrent(&context);
    mr_cupti_driver->pause(false);
    return context;
}

static void put_call(const struct mr_cupti_call *call, uint64_t end, uint32_t status)
{
    const CUpti_ActivityAPI record = {.kind = call->runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER,
                                      .cbid = call->cbid,
                                      .start = call->start,
                                      .end = end,
                                      .processId = (uint32_t)getpid(),
                                      .threadId = mr_cupti_thread(),
                                      .correlationId = call->correlation,
                                      .returnValue = status};
    mr_cupti_put(&record, sizeof record);
}

/* `status` points to a CUresult or a cudaError_t, which is *value. */
static void leave(struct mr_observed_call *told, void *status, uint32_t value)
{
    struct mr_cupti_call *call = told->data;
    if (!call)
        return;
    size_t index = (size_t)(call - thread.calls);
    if (index >= thread.depth || call->call != told)
        return;
    uint64_t end = mr_cupti_now();
    thread.depth = (unsigned)index + 1; /* a callback may have left calls inside by a jump */
    if (!call->runtime)
        mr_cupti_resource_end(call, (CUresult)value);
    bool is_inner = !call->runtime && call->in_runtime; /* which has callbacks, but no record: as on hardware */
    if (call->cbid && !is_inner && mr_cupti_wants_call(call->runtime, call->cbid))
        put_call(call, end, value);
    if (call->called_back && mr_cupti_calls_back(domain_of(call), call->cbid))
        call_back(call, CUPTI_API_EXIT, current_context(), status);
    if (thread.depth > index)
        thread.depth = (unsigned)index;
}

void mr_cupti_enter(struct mr_observed_call *call)
{
    enter(call, false);
}

void mr_cupti_leave(struct mr_observed_call *call, CUresult status)
{
    leave(call, &status, (uint32_t)status);
}

void mr_cupti_runtime_enter(struct mr_observed_call *call)
{
    enter(call, true);
}

void mr_cupti_runtime_leave(struct mr_observed_call *call, int status)
{
    leave(call, &status, (uint32_t)status);
}
