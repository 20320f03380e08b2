/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of happens-before (libs/observer/order.h), fed by a driver of the test's own: each case makes calls as a
 * program would, and asks which of two operations comes after which. Contexts, streams and events are small numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libs/observer/mappings.h"
#include "libs/observer/order_call.h"
#include "libs/observer/sites.h"

#undef cuGraphAddNode

enum { FIRST_CONTEXT = 1000, NODES = 16 };

static CUcontext current = (CUcontext)FIRST_CONTEXT;
static uint64_t works, numbers, handles = 5000;

/* What the rules ask of the rest of the observer. */
uint32_t obs_site_here(const void *at)
{
    (void)at;
    return 0;
}

/* Addresses say what they are: 1 device, 2 pinned, 3 managed, 4 from a pool, in their upper half. */
enum memory { PAGEABLE, DEVICE, PINNED, MANAGED, POOL };
static struct obs_operation *made_by, *ended_by;

static uint64_t memory(enum memory what, uint64_t number)
{
    return (uint64_t)what << 32 | number << 8;
}

bool obs_generation_at(uintptr_t address, uint64_t call, struct obs_generation_view *out)
{
    static const enum mr_allocation_kind kinds[] = {MR_ALLOCATION_DEVICE, MR_ALLOCATION_DEVICE, MR_ALLOCATION_PINNED,
                                                    MR_ALLOCATION_MANAGED, MR_ALLOCATION_POOL};
    (void)call;
    *out = (struct obs_generation_view){.base = address, .size = 256, .kind = kinds[address >> 32], .alive = true};
    return address >> 32 != 0;
}

bool obs_generation_kind_at(uintptr_t address, uint64_t call, enum mr_allocation_kind *kind)
{
    struct obs_generation_view view;
    bool found = obs_generation_at(address, call, &view);
    *kind = view.kind;
    return found;
}

uint64_t obs_generation_made(struct obs_operation *operation, enum mr_allocation_kind kind, uintptr_t base, size_t size)
{
    (void)kind;
    (void)base;
    (void)size;
    if (made_by)
        obs_operation_drop(made_by);
    made_by = obs_operation_keep(operation);
    return 1;
}

void obs_generation_fill(struct obs_operation *operation, enum mr_allocation_kind kind, uintptr_t base, size_t size)
{
    (void)obs_generation_made(operation, kind, base, size);
}

bool obs_generation_ended(struct obs_operation *operation, uintptr_t base)
{
    (void)base;
    if (ended_by)
        obs_operation_drop(ended_by);
    ended_by = obs_operation_keep(operation);
    return true;
}

#include "modules_once.h"

/* Memory that lies at several addresses: here each address counts by itself. */
#include "memory_once.h"

/* The driver. A stream's handle is its number; even ones are non-blocking. */
static CUresult stream_id(CUstream stream, unsigned long long *id)
{
    *id = (uintptr_t)stream;
    return CUDA_SUCCESS;
}

static CUresult stream_flags(CUstream stream, unsigned *flags)
{
    *flags = (uintptr_t)stream % 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
}

static CUresult stream_context(CUstream stream, CUcontext *context)
{
    (void)stream;
    *context = current;
    return CUDA_SUCCESS;
}

static bool captures;
static CUresult stream_captures(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

/* Graphs: number of the graph, nodes of it, edges. */
struct node {
    int graph, type, child;
    uint64_t event;
    int before[4];
};
static struct node nodes[NODES];
static int node_count;

static CUresult graph_nodes(CUgraph graph, CUgraphNode *out, size_t *count)
{
    size_t found = 0;
    for (int i = 1; i <= node_count; i++)
        if (nodes[i].graph == (int)(intptr_t)graph) {
            if (out)
                out[found] = (CUgraphNode)(intptr_t)i;
            found++;
        }
    *count = found;
    return CUDA_SUCCESS;
}

static CUresult graph_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
    size_t found = 0;
    (void)data;
    for (int i = 1; i <= node_count; i++)
        for (int j = 0; nodes[i].graph == (int)(intptr_t)graph && j < 4 && nodes[i].before[j]; j++) {
            if (from) {
                from[found] = (CUgraphNode)(intptr_t)nodes[i].before[j];
                to[found] = (CUgraphNode)(intptr_t)i;
            }
            found++;
        }
    *count = found;
    return CUDA_SUCCESS;
}

static CUresult node_type(CUgraphNode node, CUgraphNodeType *type)
{
    *type = (CUgraphNodeType)nodes[(intptr_t)node].type;
    return CUDA_SUCCESS;
}

static CUresult node_child(CUgraphNode node, CUgraph *graph)
{
    *graph = (CUgraph)(intptr_t)nodes[(intptr_t)node].child;
    return CUDA_SUCCESS;
}

static CUresult node_event(CUgraphNode node, CUevent *event)
{
    *event = (CUevent)nodes[(intptr_t)node].event;
    return CUDA_SUCCESS;
}

/* Calls. */
static struct mr_observed_call open_call;

static void enter(uint32_t call, const void *params)
{
    open_call = (struct mr_observed_call){
        .call = call, .name = "call", .params = params, .context = current, .number = ++numbers};
    obs_order_enter(&open_call);
}

static void leave(CUresult status)
{
    obs_order_leave(&open_call, status);
}

#define CALL(symbol, ...) \
    do { \
        struct mr_params_##symbol params_##symbol = {__VA_ARGS__}; \
        enter(MR_CALL_##symbol, &params_##symbol); \
        leave(CUDA_SUCCESS); \
    } while (0)

static uint64_t renewed; /* how often contexts were reset */

/* The stream's number for works: default streams have numbers of their own for each context. */
static uint64_t id_of(uintptr_t stream)
{
    return stream <= 2 ? 100 * (uintptr_t)current + (stream == 2) + 10 * renewed : stream;
}

static struct mr_observed_work last;
static uint64_t work_bytes = 4;

static struct obs_operation *bound(uintptr_t stream, enum mr_observed_kind kind)
{
    struct obs_operation *early;
    last = (struct mr_observed_work){
        .work = ++works, .kind = kind, .stream = id_of(stream), .context = current, .bytes = work_bytes};
    obs_order_bind(&last);
    struct obs_operation *operation = obs_order_of_work(&last, false, &early);
    assert_non_null(operation);
    if (early)
        obs_operation_drop(early);
    return operation;
}

static struct obs_operation *launch(uintptr_t stream)
{
    struct mr_params_cuLaunchKernel params = {.hStream = (CUstream)stream};
    enter(MR_CALL_cuLaunchKernel, &params);
    struct obs_operation *operation = bound(stream, MR_OBSERVED_KERNEL);
    leave(CUDA_SUCCESS);
    obs_order_end(&last);
    return operation;
}

/* A launch that may overlap with the kernel in front of it; *early: what it does before it waits for that. */
static struct obs_operation *launch_early(uintptr_t stream, struct obs_operation **early)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value.programmaticStreamSerializationAllowed = 1};
    CUlaunchConfig config = {.hStream = (CUstream)stream, .attrs = &attribute, .numAttrs = 1};
    struct mr_params_cuLaunchKernelEx params = {.config = &config};
    enter(MR_CALL_cuLaunchKernelEx, &params);
    struct obs_operation *operation = bound(stream, MR_OBSERVED_KERNEL);
    obs_operation_drop(obs_order_of_work(&last, false, early));
    leave(CUDA_SUCCESS);
    obs_order_end(&last);
    return operation;
}

static uintptr_t new_stream(bool blocking)
{
    uintptr_t stream = handles += 2;
    CUstream handle = (CUstream)(stream + blocking);
    CALL(cuStreamCreate, &handle, 0);
    return stream + blocking;
}

static void record(uintptr_t event, uintptr_t stream)
{
    CALL(cuEventRecord, (CUevent)event, (CUstream)stream);
}

static void wait(uintptr_t stream, uintptr_t event)
{
    CALL(cuStreamWaitEvent, (CUstream)stream, (CUevent)event, 0);
}

static uintptr_t new_event(void)
{
    return (handles += 2) * 16;
}

static void streams_are_apart(void **state)
{
    (void)state;
    uintptr_t one = new_stream(false), other = new_stream(false);
    struct obs_operation *a = launch(one), *b = launch(other), *c = launch(one);
    assert_true(obs_comes_after(c, a));
    assert_false(obs_comes_after(a, c));
    assert_false(obs_comes_after(b, a));
    assert_false(obs_comes_after(c, b));
}

static void waits_take_what_was_recorded(void **state)
{
    (void)state;
    uintptr_t writer = new_stream(false), reader = new_stream(false), third = new_stream(false), event = new_event();
    wait(reader, event); /* before any recording: nothing */
    struct obs_operation *a = launch(writer);
    struct obs_operation *early = launch(reader);
    record(event, writer);
    struct obs_operation *b = launch(writer);
    wait(reader, event);
    struct obs_operation *c = launch(reader);
    assert_false(obs_comes_after(early, a));
    assert_true(obs_comes_after(c, a));
    assert_false(obs_comes_after(c, b));
    /* Again, in another stream: the first recording is not stood for any more; who waited for it has it. */
    struct obs_operation *d = launch(third);
    record(event, third);
    uintptr_t fresh = new_stream(false);
    wait(fresh, event);
    struct obs_operation *e = launch(fresh);
    assert_true(obs_comes_after(e, d));
    assert_false(obs_comes_after(e, a));
    assert_true(obs_comes_after(launch(reader), a));
    /* Order is handed on. */
    record(event, reader);
    uintptr_t last_stream = new_stream(false);
    wait(last_stream, event);
    assert_true(obs_comes_after(launch(last_stream), a));
    assert_false(obs_comes_after(launch(last_stream), b));
}

static void the_host_learns(void **state)
{
    (void)state;
    uintptr_t one = new_stream(false), other = new_stream(false), event = new_event();
    struct obs_operation *a = launch(one);
    record(event, one);
    struct obs_operation *b = launch(one);
    assert_false(obs_comes_after(launch(other), a));
    struct mr_params_cuEventQuery query = {(CUevent)event};
    enter(MR_CALL_cuEventQuery, &query);
    leave(CUDA_ERROR_NOT_READY);
    assert_false(obs_comes_after(launch(other), a));
    enter(MR_CALL_cuEventQuery, &query);
    leave(CUDA_SUCCESS);
    struct obs_operation *c = launch(other);
    assert_true(obs_comes_after(c, a));
    assert_false(obs_comes_after(c, b));
    CALL(cuStreamSynchronize, (CUstream)one);
    struct obs_operation *d = launch(other);
    assert_true(obs_comes_after(d, b));
    /* What is submitted while the host waits is not waited for. */
    struct mr_params_cuStreamSynchronize synchronise = {(CUstream)other};
    struct mr_observed_call waiting = {
        .call = MR_CALL_cuStreamSynchronize, .name = "call", .params = &synchronise, .context = current};
    obs_order_enter(&waiting);
    struct obs_operation *late = launch(other);
    obs_order_leave(&waiting, CUDA_SUCCESS);
    struct obs_operation *e = launch(one);
    assert_true(obs_comes_after(e, d));
    assert_false(obs_comes_after(e, late));
    CALL(cuCtxSynchronize, 0);
    struct obs_operation *f = launch(one);
    assert_true(obs_comes_after(f, late));
    assert_true(obs_comes_after(f, e));
    /* What another thread has learnt meanwhile does not keep streams from taking what this wait teaches. */
    uintptr_t third = new_stream(false), fourth = new_stream(false);
    (void)launch(fourth);
    record(event, fourth);
    wait(third, event);
    struct obs_operation *g = launch(one);
    struct mr_params_cuCtxSynchronize nothing = {0};
    waiting = (struct mr_observed_call){
        .call = MR_CALL_cuCtxSynchronize, .name = "call", .params = &nothing, .context = current};
    obs_order_enter(&waiting);
    (void)launch(other);
    record(event, other);
    CALL(cuEventSynchronize, (CUevent)event);
    assert_false(obs_comes_after(launch(third), g));
    obs_order_leave(&waiting, CUDA_SUCCESS);
    assert_true(obs_comes_after(launch(third), g));
    f = launch(one);
    /* Also of a destroyed stream; destroying alone teaches nothing. */
    CALL(cuStreamDestroy_v2, (CUstream)one);
    assert_false(obs_comes_after(launch(other), f));
    CALL(cuCtxSynchronize, 0);
    assert_true(obs_comes_after(launch(other), f));
}

static void default_streams_have_their_rules(void **state)
{
    (void)state;
    uintptr_t blocking = new_stream(true), apart = new_stream(false), second = new_stream(true);
    struct obs_operation *a = launch(blocking), *b = launch(apart), *c = launch(0), *d = launch(second);
    assert_true(obs_comes_after(c, a));
    assert_false(obs_comes_after(c, b));
    assert_true(obs_comes_after(d, c));
    assert_true(obs_comes_after(d, a));
    assert_false(obs_comes_after(launch(apart), c));
    assert_true(obs_comes_after(launch(blocking), c));
    assert_false(obs_comes_after(launch(blocking), d));
    /* A record in the legacy stream stands for all, and so does waiting for the stream; later legacy work does too. */
    uintptr_t event = new_event();
    struct obs_operation *e = launch(second);
    record(event, 0);
    wait(apart, event);
    assert_true(obs_comes_after(launch(apart), e));
    /* Also a stream that is made later, by luck, until the legacy stream is given more. */
    struct obs_operation *next = launch(0);
    uintptr_t late = new_stream(true);
    assert_true(obs_comes_after_by_luck(launch(late), next));
    struct obs_operation *more = launch(0);
    struct obs_operation *after = launch(late);
    assert_true(obs_comes_after_by(after, more, OBS_EDGES_DOCUMENTED));
    assert_true(obs_comes_after_by(after, next, OBS_EDGES_DOCUMENTED));
    /* The legacy stream waits for what a destroyed stream has, by luck. */
    uintptr_t short_lived = new_stream(true);
    struct obs_operation *left = launch(short_lived);
    CALL(cuStreamDestroy_v2, (CUstream)short_lived);
    assert_true(obs_comes_after_by_luck(launch(0), left));
    next = launch(0);
    /* A thread's own stream is a blocking one. */
    struct obs_operation *own = launch(2);
    assert_true(obs_comes_after_by_luck(own, next));
    assert_true(obs_comes_after(launch(0), own));
    assert_false(obs_comes_after_by_luck(launch(2), next));
    CALL(cuStreamSynchronize, (CUstream)0);
    assert_true(obs_comes_after(launch(apart), own));
}

/* Waits alone are not what the legacy stream waits for. */
static void waits_are_slight(void **state)
{
    (void)state;
    uintptr_t blocking = new_stream(true), apart = new_stream(false), event = new_event();
    launch(blocking);
    struct obs_operation *a = launch(apart);
    record(event, apart);
    wait(blocking, event);
    assert_false(obs_comes_after(launch(0), a));
    launch(blocking);
    assert_true(obs_comes_after(launch(0), a));
}

static struct obs_operation *copy(uint64_t to, uint64_t from, bool asynchronous, uintptr_t stream)
{
    struct mr_params_cuMemcpy now = {to, from, 4, NULL};
    struct mr_params_cuMemcpyAsync later = {to, from, 4, (CUstream)stream};
    if (asynchronous)
        enter(MR_CALL_cuMemcpyAsync, &later);
    else
        enter(MR_CALL_cuMemcpy, &now);
    struct obs_operation *operation = bound(asynchronous ? stream : 0, MR_OBSERVED_COPY);
    leave(CUDA_SUCCESS);
    return operation;
}

static void copies_are_waited_for_as_documented(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false), other = new_stream(false);
    static const struct {
        enum memory to, from;
        bool asynchronous, waits;
    } cases[] = {
        {PAGEABLE, DEVICE, false, true},  {PINNED, DEVICE, false, true},   {DEVICE, PINNED, false, true},
        {DEVICE, PAGEABLE, false, false}, {DEVICE, DEVICE, false, false},  {PAGEABLE, DEVICE, true, true},
        {PINNED, DEVICE, true, false},    {DEVICE, PINNED, true, false},   {DEVICE, PAGEABLE, true, false},
        {DEVICE, MANAGED, false, false},  {MANAGED, PINNED, false, false}, {PAGEABLE, PAGEABLE, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct obs_operation *a = copy(memory(cases[i].to, 1), memory(cases[i].from, 2), cases[i].asynchronous, stream);
        assert_int_equal(obs_comes_after(launch(other), a), cases[i].waits);
    }
    /* A large one from pageable memory, by luck. */
    struct mr_params_cuMemcpy large = {memory(DEVICE, 1), memory(PAGEABLE, 1), 1 << 20, NULL};
    enter(MR_CALL_cuMemcpy, &large);
    work_bytes = 1 << 20;
    struct obs_operation *done = bound(0, MR_OBSERVED_COPY);
    work_bytes = 4;
    leave(CUDA_SUCCESS);
    assert_true(obs_comes_after_by_luck(launch(other), done));
    /* Fills: pinned and managed memory. */
    for (int what = DEVICE; what <= MANAGED; what++) {
        struct mr_params_cuMemsetD8_v2 params = {memory((enum memory)what, 1), 0, 4, NULL};
        enter(MR_CALL_cuMemsetD8_v2, &params);
        struct obs_operation *a = bound(0, MR_OBSERVED_FILL);
        leave(CUDA_SUCCESS);
        assert_int_equal(obs_comes_after(launch(other), a), what != DEVICE);
    }
}

/* A copy may read its pinned source before the default-stream rules let it begin. */
static void pinned_sources_are_read_early(void **state)
{
    (void)state;
    uintptr_t blocking = new_stream(true);
    struct obs_operation *before = launch(0), *early;
    before = launch(0);
    struct mr_params_cuMemcpyAsync params = {memory(DEVICE, 1), memory(PINNED, 1), 4, (CUstream)blocking};
    enter(MR_CALL_cuMemcpyAsync, &params);
    struct obs_operation *operation = bound(blocking, MR_OBSERVED_COPY);
    obs_operation_drop(obs_order_of_work(&last, false, &early));
    leave(CUDA_SUCCESS);
    assert_non_null(early);
    assert_true(obs_comes_after(operation, before));
    assert_false(obs_comes_after(early, before));
    assert_true(obs_comes_after(launch(blocking), early));
    obs_operation_drop(early);
}

static void frees_wait_by_luck(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false), other = new_stream(false);
    struct obs_operation *a = launch(stream);
    CALL(cuMemFree_v2, memory(POOL, 1));
    assert_true(ended_by->host);
    assert_false(obs_comes_after(ended_by, a));
    CALL(cuMemFree_v2, memory(DEVICE, 1));
    assert_true(obs_comes_after(ended_by, a));
    assert_true(obs_comes_after_by_luck(ended_by, a));
    struct obs_operation *b = launch(new_stream(false));
    assert_true(obs_comes_after_by_luck(b, a));
    assert_true(obs_comes_after(b, ended_by));
    assert_false(obs_comes_after_by_luck(b, ended_by));
    CALL(cuStreamSynchronize, (CUstream)stream);
    b = launch(new_stream(false));
    assert_true(obs_comes_after(b, a));
    assert_false(obs_comes_after_by_luck(b, a));
    CUdeviceptr pointer = memory(POOL, 2);
    CALL(cuMemAllocAsync, &pointer, 256, (CUstream)stream);
    struct obs_operation *use = launch(stream), *elsewhere = launch(other);
    assert_true(obs_comes_after(use, made_by));
    assert_false(obs_comes_after(elsewhere, made_by));
    CALL(cuMemFreeAsync, pointer, (CUstream)stream);
    assert_true(obs_comes_after(ended_by, use));
    assert_false(obs_comes_after(ended_by, elsewhere));
}

/* They hold with allocations, too, and by luck with what destroyed streams have. They don't build on frees. */
static void frees_follow_the_default_streams_rules(void **state)
{
    (void)state;
    uintptr_t made = new_stream(true), apart = new_stream(false);
    CUdeviceptr pointer = memory(POOL, 3);
    const uintptr_t pairs[][2] = {{made, 0}, {0, made}, {2, 0}, {0, 2}, {apart, 0}, {0, apart}, {made, 2}};
    for (size_t i = 0; i < 14; i++) {
        const uintptr_t *from = pairs[i / 2], to = from[1];
        CALL(cuMemAllocAsync, &pointer, 256, (CUstream)*from);
        struct obs_operation *use = i % 2 ? launch(*from) : made_by;
        CALL(cuMemFreeAsync, pointer, (CUstream)to);
        assert_int_equal(obs_comes_after(ended_by, use), i < 8);
        assert_false(to == 0 && obs_comes_after(launch(new_stream(true)), ended_by));
    }
    CALL(cuMemAllocAsync, &pointer, 256, (CUstream)made);
    CALL(cuStreamDestroy_v2, (CUstream)made);
    CALL(cuMemFreeAsync, pointer, (CUstream)0);
    assert_true(obs_comes_after_by_luck(ended_by, made_by));
}

static void modules_go_as_freed_memory_does(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false);
    struct obs_operation *a = launch(stream);
    CALL(cuModuleUnload, (CUmodule)8);
    assert_true(ended_by->host);
    assert_true(obs_comes_after_by_luck(ended_by, a));
    assert_true(obs_comes_after_by_luck(launch(new_stream(false)), a));
    a = launch(stream);
    CALL(cuLibraryUnload, (CUlibrary)16);
    assert_true(obs_comes_after_by_luck(ended_by, a));
    CALL(cuStreamSynchronize, (CUstream)stream);
    CALL(cuModuleUnload, (CUmodule)24);
    assert_true(obs_comes_after(ended_by, a));
    assert_false(obs_comes_after_by_luck(ended_by, a));
    struct obs_operation *latest = ended_by;
    CALL(cuModuleUnload, (CUmodule)0); /* there is no such module */
    assert_ptr_equal(ended_by, latest);
}

static void mappings_come_and_go_with_the_host(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false);
    CALL(cuMemMap, memory(DEVICE, 3), 256, 0, 1, 0);
    struct obs_operation *mapped = made_by, *use = launch(stream);
    assert_true(obs_comes_after(use, mapped));
    CALL(cuMemUnmap, memory(DEVICE, 3), 256);
    assert_true(obs_comes_after(ended_by, mapped));
    assert_false(obs_comes_after(ended_by, use)); /* unmapping waits for nothing */
    assert_true(obs_comes_after(launch(stream), ended_by));
}

static struct obs_operation *value(bool writes, uintptr_t stream, uint64_t address, uint32_t number, unsigned flags)
{
    struct mr_params_cuStreamWriteValue32_v2 write = {(CUstream)stream, address, number, flags};
    struct mr_params_cuStreamWaitValue32_v2 wait_for = {(CUstream)stream, address, number, flags};
    if (writes)
        enter(MR_CALL_cuStreamWriteValue32_v2, &write);
    else
        enter(MR_CALL_cuStreamWaitValue32_v2, &wait_for);
    struct obs_operation *operation = bound(stream, MR_OBSERVED_MEMORY_OP);
    leave(CUDA_SUCCESS);
    return operation;
}

static void dependent_kernels_overlap(void **state)
{
    (void)state;
    struct obs_operation *early, *next_early, *none;
    uintptr_t stream = new_stream(false), other = new_stream(false), event = new_event();
    struct obs_operation *first = launch_early(stream, &none);
    assert_null(none); /* there is no kernel in front of it */
    struct obs_operation *a = launch(stream), *b = launch_early(stream, &early);
    assert_non_null(early);
    assert_true(obs_comes_after(b, a) && obs_comes_after(b, early) && obs_comes_after(a, first));
    assert_true(obs_comes_after(early, first));
    assert_false(obs_comes_after(early, a) || obs_comes_after(a, early) || obs_comes_after(early, b));
    struct obs_operation *c = launch_early(stream, &next_early);
    assert_non_null(next_early);
    assert_false(obs_comes_after(next_early, b) || obs_comes_after(next_early, early));
    assert_true(obs_comes_after(next_early, a) && obs_comes_after(c, early) && obs_comes_after(c, b));
    assert_true(obs_comes_after(launch(stream), next_early));
    assert_false(obs_comes_after(launch(other), early));
    record(event, stream);
    wait(other, event);
    assert_true(obs_comes_after(launch(other), early) && obs_comes_after(launch(other), next_early));
    /* Behind anything but a kernel, or a record with timing, it overlaps with nothing. */
    launch_early(stream, &none);
    assert_null(none);
    /* A record without timing, and waits, don't count; what the stream has waited for does. */
    CUevent handle = (CUevent)new_event();
    uintptr_t untimed = (uintptr_t)handle;
    CALL(cuEventCreate, &handle, CU_EVENT_DISABLE_TIMING);
    struct obs_operation *before = launch(other), *in_front = launch(stream);
    record(untimed, stream);
    wait(stream, untimed);
    record(event, other);
    wait(stream, event);
    launch_early(stream, &early);
    assert_non_null(early);
    assert_true(obs_comes_after(early, before) && !obs_comes_after(early, in_front));
    /* By way of another stream it has waited for the kernel in front. */
    in_front = launch(stream);
    record(untimed, stream);
    wait(other, untimed);
    record(event, other);
    wait(stream, event);
    launch_early(stream, &early);
    assert_true(obs_comes_after(early, in_front));
    CALL(cuStreamSynchronize, (CUstream)stream);
    struct obs_operation *last_one = launch(stream), *after = launch_early(stream, &early);
    assert_true(obs_comes_after(early, c) && !obs_comes_after(early, last_one) && obs_comes_after(after, last_one));
    /* What the host knows to be done, the early part comes after as well. */
    struct obs_operation *d = launch(stream);
    CALL(cuStreamSynchronize, (CUstream)stream);
    launch_early(stream, &early);
    assert_true(obs_comes_after(early, d));
}

static void values_release_and_acquire(void **state)
{
    (void)state;
    uintptr_t writer = new_stream(false), reader = new_stream(false), second = new_stream(false);
    uint64_t flag = memory(DEVICE, 77);
    struct obs_operation *a = launch(writer);
    struct obs_operation *first = value(true, writer, flag, 1, 0);
    struct obs_operation *b = launch(writer);
    value(true, writer, flag, 2, 0);
    value(false, reader, flag, 1, CU_STREAM_WAIT_VALUE_GEQ);
    struct obs_operation *c = launch(reader);
    assert_true(obs_comes_after(c, a) && obs_comes_after(c, first));
    assert_false(obs_comes_after(c, b)); /* the first value is enough */
    value(false, second, flag, 2, CU_STREAM_WAIT_VALUE_EQ);
    assert_true(obs_comes_after(launch(second), b));
    uintptr_t third = new_stream(false), fourth = new_stream(false);
    value(false, third, flag, 3, CU_STREAM_WAIT_VALUE_GEQ);
    assert_false(obs_comes_after(launch(third), a));
    launch(writer);
    value(true, writer, memory(DEVICE, 78), 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    value(false, fourth, memory(DEVICE, 78), 1, CU_STREAM_WAIT_VALUE_EQ);
    assert_false(obs_comes_after(launch(fourth), a));
}

static void host_functions_tell_the_host(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false), other = new_stream(false);
    struct obs_operation *a = launch(stream);
    struct mr_params_cuLaunchHostFunc params = {(CUstream)stream, NULL, NULL};
    enter(MR_CALL_cuLaunchHostFunc, &params);
    struct obs_operation *function = bound(stream, MR_OBSERVED_HOST);
    leave(CUDA_SUCCESS);
    struct mr_observed_work work = last;
    assert_false(obs_comes_after(launch(other), a));
    obs_order_function_begins(function);
    struct obs_operation *b = launch(other);
    assert_true(obs_comes_after(b, a));
    assert_false(obs_comes_after(b, function));
    obs_order_end(&work);
    b = launch(other);
    assert_true(obs_comes_after(b, a));
    assert_true(obs_comes_after(b, function));
}

static int node(int graph, int type, int before, int also)
{
    nodes[++node_count] = (struct node){.graph = graph, .type = type, .before = {before, also}};
    return node_count;
}

static struct mr_observed_work run_of(uintptr_t exec, uintptr_t stream)
{
    struct mr_params_cuGraphLaunch params = {(CUgraphExec)exec, (CUstream)stream};
    enter(MR_CALL_cuGraphLaunch, &params);
    obs_operation_drop(bound(stream, MR_OBSERVED_GRAPH));
    leave(CUDA_SUCCESS);
    return last;
}

static struct obs_operation *step(struct mr_observed_work run, int which)
{
    struct obs_operation *early;
    run.node = (uint64_t)which;
    run.kind = MR_OBSERVED_KERNEL;
    struct obs_operation *operation = obs_order_of_work(&run, true, &early);
    assert_non_null(operation);
    return operation;
}

static void graphs_have_their_edges(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false), other = new_stream(false), event = new_event();
    CUgraphExec exec = (CUgraphExec)0x7100, twin = (CUgraphExec)0x7200;
    node_count = 0;
    int a = node(1, CU_GRAPH_NODE_TYPE_KERNEL, 0, 0), b = node(1, CU_GRAPH_NODE_TYPE_KERNEL, a, 0),
        c = node(1, CU_GRAPH_NODE_TYPE_KERNEL, a, 0), join = node(1, CU_GRAPH_NODE_TYPE_EMPTY, b, c),
        child = node(1, CU_GRAPH_NODE_TYPE_GRAPH, join, 0), d = node(1, CU_GRAPH_NODE_TYPE_KERNEL, child, 0),
        inner = node(2, CU_GRAPH_NODE_TYPE_KERNEL, 0, 0), inner_too = node(2, CU_GRAPH_NODE_TYPE_KERNEL, 0, 0);
    nodes[child].child = 2;
    CALL(cuGraphInstantiateWithFlags, &exec, (CUgraph)1, 0);
    CALL(cuGraphInstantiateWithFlags, &twin, (CUgraph)1, 0);
    struct obs_operation *before = launch(stream), *apart = launch(other);
    struct mr_observed_work run = run_of((uintptr_t)exec, stream);
    struct obs_operation *after = launch(stream);
    struct obs_operation *sa = step(run, a), *sb = step(run, b), *sc = step(run, c), *si = step(run, inner),
                         *st = step(run, inner_too), *sd = step(run, d);
    assert_true(obs_comes_after(sa, before));
    assert_false(obs_comes_after(sa, apart));
    assert_true(obs_comes_after(sb, sa));
    assert_false(obs_comes_after(sa, sb));
    assert_true(obs_comes_after(sc, sa));
    assert_false(obs_comes_after(sc, sb));
    assert_false(obs_comes_after(sb, sc));
    assert_true(obs_comes_after(si, sb) && obs_comes_after(si, sc) && obs_comes_after(st, sb));
    assert_false(obs_comes_after(si, st) || obs_comes_after(st, si));
    assert_true(obs_comes_after(sd, si) && obs_comes_after(sd, st) && obs_comes_after(sd, before));
    assert_true(obs_comes_after(after, sd) && obs_comes_after(after, sb));
    assert_false(obs_comes_after(sd, after));
    assert_false(obs_comes_after(launch(other), sd));
    /* Launches of one executable graph are in order; its twin's are not. */
    struct mr_observed_work again = run_of((uintptr_t)exec, other),
                            of_twin = run_of((uintptr_t)twin, new_stream(false));
    struct obs_operation *ta = step(again, a), *ua = step(of_twin, a);
    assert_true(obs_comes_after(ta, sd) && obs_comes_after(ta, sb));
    assert_false(obs_comes_after(ua, sd) || obs_comes_after(ua, ta));
    obs_order_end(&run);
    obs_order_end(&again);
    obs_order_end(&of_twin);
    record(event, other);
    uintptr_t third = new_stream(false);
    wait(third, event);
    assert_true(obs_comes_after(launch(third), ta));
    /* What the launch before makes of the order holds for the legacy stream, too. */
    uintptr_t blocking = new_stream(true);
    struct obs_operation *far = launch(other);
    run = run_of((uintptr_t)exec, other);
    again = run_of((uintptr_t)exec, blocking);
    assert_true(obs_comes_after(launch(0), far));
    obs_order_end(&run);
    obs_order_end(&again);
    CALL(cuGraphExecDestroy, exec);
    CALL(cuGraphExecDestroy, twin);
}

static void bodies_run_again(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false);
    CUgraphExec exec = (CUgraphExec)0x7300;
    node_count = 0;
    int a = node(1, CU_GRAPH_NODE_TYPE_KERNEL, 0, 0), loop = node(1, CU_GRAPH_NODE_TYPE_CONDITIONAL, a, 0),
        d = node(1, CU_GRAPH_NODE_TYPE_KERNEL, loop, 0), one = node(2, CU_GRAPH_NODE_TYPE_KERNEL, 0, 0),
        two = node(2, CU_GRAPH_NODE_TYPE_KERNEL, 0, 0);
    CUgraph body = (CUgraph)2;
    CUgraphNode handle = (CUgraphNode)(intptr_t)loop;
    CUgraphNodeParams how = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    how.conditional.phGraph_out = &body;
    how.conditional.size = 1;
    CALL(cuGraphAddNode, &handle, (CUgraph)1, NULL, 0, &how);
    CALL(cuGraphInstantiateWithFlags, &exec, (CUgraph)1, 0);
    struct mr_observed_work run = run_of((uintptr_t)exec, stream);
    struct obs_operation *sa = step(run, a), *first = step(run, one), *first_two = step(run, two),
                         *second_two = step(run, two), *second = step(run, one), *sd = step(run, d);
    assert_true(obs_comes_after(first, sa));
    assert_false(obs_comes_after(first, first_two) || obs_comes_after(first_two, first));
    assert_true(obs_comes_after(second_two, first) && obs_comes_after(second_two, first_two));
    assert_true(obs_comes_after(second, first_two));
    assert_false(obs_comes_after(second, second_two));
    assert_true(obs_comes_after(sd, second) && obs_comes_after(sd, second_two) && obs_comes_after(sd, first));
    obs_order_end(&run);
}

/* Two graphs of the level below, one after the other, on each level, and a kernel behind them. A search that went to
 * nodes again would not end in a time that anybody waits for. */
static void graphs_in_graphs_are_searched_once(void **state)
{
    (void)state;
    CUgraphExec exec = (CUgraphExec)0x7600;
    node_count = 0;
    int kernel = node(1, CU_GRAPH_NODE_TYPE_KERNEL, 0, 0), levels = 7, before = 0;
    for (int level = 2; level <= levels; level++) {
        int first = node(level, CU_GRAPH_NODE_TYPE_GRAPH, 0, 0);
        before = node(level, CU_GRAPH_NODE_TYPE_GRAPH, first, 0);
        nodes[first].child = nodes[before].child = level - 1;
    }
    int end = node(levels, CU_GRAPH_NODE_TYPE_KERNEL, before, 0);
    CALL(cuGraphInstantiateWithFlags, &exec, (CUgraph)(intptr_t)levels, 0);
    uintptr_t stream = new_stream(false);
    struct obs_operation *earlier = launch(stream);
    struct mr_observed_work run = run_of((uintptr_t)exec, stream);
    struct obs_operation *some = step(run, kernel), *last_one = step(run, end), *later = launch(stream);
    assert_true(obs_comes_after(some, earlier) && obs_comes_after(last_one, some) && obs_comes_after(later, some));
    obs_order_end(&run);
    CALL(cuGraphExecDestroy, exec);
}

static void graphs_have_events(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false), other = new_stream(false), third = new_stream(false);
    uintptr_t out = new_event(), in = new_event();
    CUgraphExec exec = (CUgraphExec)0x7400;
    node_count = 0;
    int a = node(1, CU_GRAPH_NODE_TYPE_KERNEL, 0, 0), records = node(1, CU_GRAPH_NODE_TYPE_EVENT_RECORD, a, 0),
        b = node(1, CU_GRAPH_NODE_TYPE_KERNEL, records, 0), waits = node(1, CU_GRAPH_NODE_TYPE_WAIT_EVENT, 0, 0),
        c = node(1, CU_GRAPH_NODE_TYPE_KERNEL, waits, 0);
    nodes[records].event = out;
    nodes[waits].event = in;
    CALL(cuGraphInstantiateWithFlags, &exec, (CUgraph)1, 0);
    struct obs_operation *before = launch(other);
    record(in, other);
    struct mr_observed_work run = run_of((uintptr_t)exec, stream);
    wait(third, out);
    struct obs_operation *after = launch(third), *sa = step(run, a), *sb = step(run, b), *sc = step(run, c);
    assert_true(obs_comes_after(sc, before));
    assert_false(obs_comes_after(sa, before));
    assert_true(obs_comes_after(after, sa));
    assert_false(obs_comes_after(after, sb));
    obs_order_end(&run);
}

static void captured_calls_do_nothing(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(false), other = new_stream(false), event = new_event();
    struct obs_operation *a = launch(stream);
    CALL(cuStreamBeginCapture_v2, (CUstream)stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    captures = true;
    record(event, stream);
    captures = false;
    wait(other, event);
    assert_false(obs_comes_after(launch(other), a));
}

static void contexts_are_apart(void **state)
{
    (void)state;
    CUcontext first = current;
    uintptr_t one = new_stream(true), event = new_event();
    struct obs_operation *a = launch(one);
    current = (CUcontext)(FIRST_CONTEXT + 1);
    uintptr_t other = new_stream(true);
    struct obs_operation *b = launch(0), *c = launch(other);
    assert_false(obs_comes_after(b, a) || obs_comes_after(c, a));
    assert_true(obs_comes_after(c, b));
    CALL(cuCtxSynchronize, 0);
    assert_false(obs_comes_after(launch(other), a));
    /* Events go across, also of and for whole contexts. */
    CALL(cuCtxRecordEvent, first, (CUevent)event);
    CALL(cuCtxWaitEvent, current, (CUevent)event);
    assert_true(obs_comes_after(launch(other), a));
    struct obs_operation *d = launch(other);
    CALL(cuCtxDestroy_v2, current);
    current = first;
    assert_true(obs_comes_after(launch(one), d));
}

static void copies_between_contexts_meet_both(void **state)
{
    (void)state;
    CUcontext first = current, second = (CUcontext)(FIRST_CONTEXT + 2);
    uintptr_t one = new_stream(true), apart = new_stream(false);
    for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
        current = first;
        struct obs_operation *a = launch(one), *b = launch(0), *c = launch(apart);
        current = second;
        uintptr_t other = new_stream(true), free = new_stream(false);
        struct mr_params_cuMemcpyPeer now = {memory(DEVICE, 1), second, memory(DEVICE, 2), first, 4, NULL};
        struct mr_params_cuMemcpyPeerAsync later = {memory(DEVICE, 1), second, memory(DEVICE, 2), first, 4, NULL};
        enter(asynchronous ? MR_CALL_cuMemcpyPeerAsync : MR_CALL_cuMemcpyPeer, asynchronous ? (void *)&later : &now);
        struct obs_operation *copied = bound(0, MR_OBSERVED_COPY);
        leave(CUDA_SUCCESS);
        assert_true(obs_comes_after(copied, a) && obs_comes_after(copied, b));
        assert_int_equal(obs_comes_after_by_luck(copied, a), asynchronous);
        assert_false(obs_comes_after(copied, c));
        struct obs_operation *d = launch(other), *e = launch(free);
        assert_true(obs_comes_after(d, copied));
        assert_false(obs_comes_after(e, copied));
        current = first;
        struct obs_operation *f = launch(one), *g = launch(0), *h = launch(apart);
        assert_true(obs_comes_after(f, copied) && obs_comes_after(g, copied));
        assert_int_equal(obs_comes_after_by_luck(f, copied), asynchronous);
        assert_false(obs_comes_after(h, copied));
        /* In another stream, an asynchronous one is in order with nothing else. */
        current = second;
        later.hStream = (CUstream)free;
        a = (current = first, launch(0));
        current = second;
        enter(MR_CALL_cuMemcpyPeerAsync, &later);
        copied = bound(free, MR_OBSERVED_COPY);
        leave(CUDA_SUCCESS);
        assert_false(obs_comes_after(copied, a));
        current = first;
        assert_false(obs_comes_after(launch(0), copied));
    }
}

/* A primary context that was reset has new default streams under the old handle. */
static void contexts_are_reset(void **state)
{
    (void)state;
    uintptr_t stream = new_stream(true);
    struct obs_operation *before = launch(0), *a = launch(stream);
    renewed++;
    struct obs_operation *b = launch(0);
    assert_true(obs_comes_after(b, before) && obs_comes_after(b, a));
    uintptr_t made = new_stream(true);
    struct obs_operation *c = launch(made), *d = launch(0);
    assert_true(obs_comes_after(c, b) && obs_comes_after(d, c));
}

/* Timelines are used again, and only by those who know of what was on them. */
static void timelines_come_back(void **state)
{
    (void)state;
    CALL(cuCtxSynchronize, 0);
    uint32_t before = obs_timeline_count();
    struct obs_operation *old = NULL;
    for (int i = 0; i < 1000; i++) {
        uintptr_t stream = new_stream(i % 2);
        struct obs_operation *a = launch(stream);
        if (old)
            assert_true(obs_comes_after(a, old));
        CALL(cuStreamSynchronize, (CUstream)stream);
        CALL(cuStreamDestroy_v2, (CUstream)stream);
        old = a;
    }
    assert_in_range(obs_timeline_count(), 1, before + 2);
    uintptr_t unfinished = new_stream(false);
    struct obs_operation *a = launch(unfinished);
    CALL(cuStreamDestroy_v2, (CUstream)unfinished);
    assert_false(obs_comes_after(launch(new_stream(false)), a));
}

static int begin(void **state)
{
    (void)state;
    static const struct mr_observed_driver driver = {.parts = parts_of};
    obs_driver = (struct obs_driver){.driver = &driver,
                                     .stream_id = stream_id,
                                     .stream_flags = stream_flags,
                                     .stream_context = stream_context,
                                     .stream_captures = stream_captures,
                                     .graph_nodes = graph_nodes,
                                     .graph_edges = graph_edges,
                                     .node_type = node_type,
                                     .node_child = node_child,
                                     .node_records = node_event,
                                     .node_waits = node_event};
    obs_order_begin(true);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_apart),
        cmocka_unit_test(waits_take_what_was_recorded),
        cmocka_unit_test(the_host_learns),
        cmocka_unit_test(default_streams_have_their_rules),
        cmocka_unit_test(waits_are_slight),
        cmocka_unit_test(copies_are_waited_for_as_documented),
        cmocka_unit_test(pinned_sources_are_read_early),
        cmocka_unit_test(frees_wait_by_luck),
        cmocka_unit_test(frees_follow_the_default_streams_rules),
        cmocka_unit_test(modules_go_as_freed_memory_does),
        cmocka_unit_test(mappings_come_and_go_with_the_host),
        cmocka_unit_test(values_release_and_acquire),
        cmocka_unit_test(dependent_kernels_overlap),
        cmocka_unit_test(host_functions_tell_the_host),
        cmocka_unit_test(graphs_have_their_edges),
        cmocka_unit_test(bodies_run_again),
        cmocka_unit_test(graphs_in_graphs_are_searched_once),
        cmocka_unit_test(graphs_have_events),
        cmocka_unit_test(captured_calls_do_nothing),
        cmocka_unit_test(contexts_are_apart),
        cmocka_unit_test(copies_between_contexts_meet_both),
        cmocka_unit_test(contexts_are_reset),
        cmocka_unit_test(timelines_come_back),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
