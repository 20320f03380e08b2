/* SPDX-License-Identifier: Apache-2.0 */
/* The points of observation as the rules take them (order_call.h): each call's record on its thread, and the works that
 * are under way, by number.
 *
 * A launch takes no lock at enter and leave, and one at bind. */
#include "libs/observer/order_call.h"

#include <stdlib.h>
#include <string.h>

#include "libs/observer/sites.h"

enum { DEPTH = 8, FIRST_ROOM = 1024 };

_Thread_local struct obs_call *obs_call_here;

static _Thread_local struct obs_call calls[DEPTH];
static _Thread_local unsigned depth;
static _Thread_local uint64_t calls_of_thread;
static _Atomic uint64_t calls_in_all;
static _Atomic uint32_t captures; /* more than 0 once a capture has begun */

/* Works that have been bound and have not ended: an open hash table by number, under the rules' lock. */
struct under_way {
    uint64_t work; /* 0: free */
    struct obs_operation *operation, *early;
    struct obs_run *run;
};
static struct under_way *table;
static size_t room, used;

/* What this thread has bound last. While the work is under way, the table keeps the operations. */
static _Thread_local struct {
    uint64_t work;
    struct obs_operation *operation, *early;
} bound;

uint64_t obs_calls_of_thread(void)
{
    return calls_of_thread;
}

uint64_t obs_order_calls(void)
{
    return atomic_load(&calls_in_all);
}

/* Does the stream capture? Asked only once the program has begun a capture. A default stream never does, except for a
 * thread's own. */
static bool captures_now(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!atomic_load_explicit(&captures, memory_order_relaxed) || stream == NULL || stream == CU_STREAM_LEGACY)
        return false;
    return obs_driver.stream_captures(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static void find_stream(struct obs_call *call)
{
    const struct mr_observed_call *observed = call->call;
    if (call->family->stream) {
        call->stream = (CUstream)obs_param_handle(call, call->family->stream);
        call->has_stream = true;
    } else if (observed->call == MR_CALL_cuLaunchKernelEx) {
        const struct mr_params_cuLaunchKernelEx *params = observed->params;
        call->stream = params->config ? params->config->hStream : NULL;
        call->has_stream = params->config != NULL;
    } else if (observed->call == MR_CALL_cuLaunch || observed->call == MR_CALL_cuLaunchGrid) {
        call->has_stream = true;
    } else if (observed->call == MR_CALL_NONE && observed->params) { /* a library's work */
        call->stream = *(const CUstream *)observed->params;
        call->has_stream = true;
    }
}

uint64_t obs_stream_number(CUstream stream)
{
    unsigned long long number = 0;
    CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!obs_driver.driver)
        return 0;
    obs_driver.driver->pause(true);
    if (stream != NULL && stream != CU_STREAM_LEGACY) /* which never capture */
        obs_driver.stream_captures(stream, &state);
    if (state != CU_STREAM_CAPTURE_STATUS_NONE || obs_driver.stream_id(stream, &number) != CUDA_SUCCESS)
        number = 0;
    obs_driver.driver->pause(false);
    return number;
}

const char *(*_Atomic obs_range_here)(void);
const char *(*_Atomic obs_stream_name)(uint64_t stream);

void obs_order_enter(struct mr_observed_call *observed)
{
    const char *(*range)(void) = atomic_load_explicit(&obs_range_here, memory_order_relaxed);
    struct obs_call *call = depth < DEPTH ? &calls[depth] : malloc(sizeof *call);
    if (!call)
        return;
    *call = (struct obs_call){
        .call = observed, .family = &obs_families[observed->call], .outer = obs_call_here, .spare = depth >= DEPTH};
    depth++;
    atomic_fetch_add_explicit(&calls_in_all, 1, memory_order_relaxed);
    call->side.call = observed->name;
    call->side.site = obs_site_here(observed->site);
    call->side.number = observed->number;
    call->side.range = range ? range() : NULL;
    call->side.thread = obs_thread_number();
    call->side.of_thread = ++calls_of_thread;
    call->stamp = obs_stamp();
    find_stream(call);
    obs_call_here = call;
    observed->data = call;
    if (call->family->enter || call->family->leave) {
        call->captured = call->has_stream && captures_now(call->stream);
        if (call->family->enter)
            call->family->enter(call);
    }
}

void obs_order_leave(struct mr_observed_call *observed, CUresult status)
{
    struct obs_call *call = observed->data;
    if (!call)
        return;
    obs_call_here = call->outer;
    depth--;
    if (observed->call == MR_CALL_cuStreamBeginCapture_v2 || observed->call == MR_CALL_cuStreamBeginCapture ||
        observed->call == MR_CALL_cuStreamBeginCaptureToGraph)
        atomic_store_explicit(&captures, 1, memory_order_relaxed);
    if (status == CUDA_SUCCESS && call->family->leave) {
        /* A wait for a captured event has taken the stream into the capture. */
        call->captured = call->captured || (call->has_stream && captures_now(call->stream));
        call->family->leave(call);
    } else if (status != CUDA_SUCCESS && call->family->failed) {
        call->family->failed(call);
    }
    if (call->operation)
        obs_operation_drop(call->operation);
    if (call->point.before[0] || call->point.before[1]) {
        obs_order_lock();
        obs_point_clear(&call->point);
        obs_order_unlock();
    }
    free(call->parts);
    if (call->spare)
        free(call);
}

static size_t place_of(uint64_t work)
{
    size_t at = (size_t)(work * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (table[at].work && table[at].work != work)
        at = (at + 1) & (room - 1);
    return at;
}

static bool table_grow(void)
{
    size_t old_room = room;
    struct under_way *old = table, *more = calloc(room ? 2 * room : FIRST_ROOM, sizeof *more);
    if (!more)
        return false;
    room = room ? 2 * room : FIRST_ROOM;
    table = more;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].work)
            table[place_of(old[i].work)] = old[i];
    free(old);
    return true;
}

static void table_remove(size_t at)
{
    used--;
    for (size_t next = (at + 1) & (room - 1); table[next].work; next = (next + 1) & (room - 1)) {
        size_t home = (size_t)(table[next].work * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
        if (((next - home) & (room - 1)) >= ((next - at) & (room - 1))) {
            table[at] = table[next];
            at = next;
        }
    }
    table[at].work = 0;
}

/* Waits for values, allocations and frees are not what the default-stream rules build on. */
static bool is_solid(const struct obs_call *call, const struct mr_observed_work *work)
{
    if (work->kind != MR_OBSERVED_MEMORY_OP || !call)
        return true;
    return call->family->number != CU_STREAM_MEM_OP_WAIT_VALUE_32 &&
           call->family->number != CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

static void describe(struct mr_side *side, const struct obs_call *call, const struct mr_observed_work *work,
                     const struct obs_stream *stream)
{
    if (call)
        *side = call->side;
    side->what = obs_side_of(work);
    side->work = work->work;
    side->kernel = work->kernel;
    side->stream = stream->id;
    side->stream_kind = stream->kind;
    const char *(*name)(uint64_t) = atomic_load_explicit(&obs_stream_name, memory_order_relaxed);
    side->stream_name = name ? name(stream->id) : NULL;
}

/* May the launch begin before the kernel in front of it has ended (programmatic stream serialization)? */
static bool overlaps(const struct obs_call *call)
{
    if (!call || call->call->call != MR_CALL_cuLaunchKernelEx)
        return false;
    const CUlaunchConfig *config = ((const struct mr_params_cuLaunchKernelEx *)call->call->params)->config;
    bool found = false;
    for (unsigned i = 0; config && i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            found = config->attrs[i].value.programmaticStreamSerializationAllowed != 0;
    return found;
}

/* A copy between contexts is in order with the work of both, as if it were in the legacy stream of each. Of
 * asynchronous ones that holds in the legacy stream, by luck. */
static void meet(const struct obs_call *call, struct obs_stream *stream, bool behind)
{
    if (!call || call->captured || (call->peers_by_luck && stream->kind != MR_STREAM_LEGACY))
        return;
    for (int i = 0; i < 2; i++) {
        CUcontext peer = call->peers[i];
        struct obs_stream *legacy =
            peer && peer != stream->context->handle ? obs_stream_find(NULL, peer, obs_thread_number()) : NULL;
        enum obs_edges edges = call->peers_by_luck ? OBS_EDGES_ALL : OBS_EDGES_DOCUMENTED;
        if (legacy && behind)
            obs_order_meet_after(stream, legacy, call->stamp, edges);
        else if (legacy)
            obs_order_meet_before(stream, legacy, call->stamp, edges);
    }
}

/* A default stream has another number than before: its context has been reset. */
static bool is_renewed(const struct obs_stream *stream, const struct mr_observed_work *work)
{
    return stream->handle == 0 && stream->id != 0 && stream->id != work->stream &&
           stream->context->handle == work->context;
}

void obs_order_bind(const struct mr_observed_work *work)
{
    struct obs_call *call = obs_call_here;
    struct obs_run *run = NULL;
    if (work->node || work->kind > MR_OBSERVED_GRAPH)
        return;
    obs_order_lock();
    struct obs_stream *known = call ? obs_call_stream(call) : NULL;
    if (known && is_renewed(known, work)) {
        obs_order_reset(known->context);
        known = obs_call_stream(call);
    }
    struct obs_stream *stream = obs_stream_of_work(work->stream, work->context, known);
    if (!stream || (2 * used >= room && !table_grow())) {
        obs_order_short = true;
        obs_order_unlock();
        return;
    }
    struct obs_operation *early = NULL;
    if (call && work->kind == MR_OBSERVED_GRAPH)
        obs_run_before(call, stream);
    meet(call, stream, false);
    uint64_t stamp = call ? call->stamp : obs_stamp();
    struct obs_operation *operation =
        work->kind == MR_OBSERVED_KERNEL
            ? obs_order_kernel(stream, stamp, overlaps(call), &early)
            : obs_order_work(stream, stamp, is_solid(call, work), work->kind == MR_OBSERVED_COPY ? &early : NULL);
    if (operation) {
        describe(&operation->side, call, work, stream);
        stream->last_call = operation->side.of_thread;
        stream->last_thread = operation->side.thread;
        if (early)
            early->side = operation->side;
        if (early && work->kind == MR_OBSERVED_KERNEL)
            early->side.overlaps = true;
        if (call && work->kind == MR_OBSERVED_GRAPH)
            run = obs_run_new(call, stream, operation);
        size_t at = place_of(work->work);
        used += table[at].work == 0;
        table[at] = (struct under_way){work->work, operation, early, run};
        bound.work = run || !operation ? 0 : work->work;
        bound.operation = operation;
        bound.early = early;
    }
    meet(call, stream, true);
    if (call && call->waits_if_large && work->bytes > OBS_SMALL)
        call->lucky = true;
    if (call && (call->waits || call->lucky))
        obs_point_set(&call->point, &stream->now);
    obs_order_unlock();
    if (run)
        obs_run_tell_memory(run);
}

struct obs_operation *obs_order_of_work(const struct mr_observed_work *work, bool begins, struct obs_operation **early)
{
    struct obs_operation *operation = NULL;
    struct obs_run *run = NULL;
    *early = NULL;
    if (bound.work == work->work && !work->node) { /* a thread often carries out what it has asked for */
        *early = bound.early ? obs_operation_keep(bound.early) : NULL;
        return obs_operation_keep(bound.operation);
    }
    obs_order_lock();
    struct under_way *found = room ? &table[place_of(work->work)] : NULL;
    if (found && found->work) {
        run = work->node ? found->run : NULL;
        if (!run)
            operation = obs_operation_keep(found->operation);
        if (!run && found->early)
            *early = obs_operation_keep(found->early);
    }
    obs_order_unlock();
    return run ? obs_run_step(run, work, begins, early) : operation;
}

/* What a host function has done, and all before it, is known to the host: the program's threads may have been told by
 * it, unseen. */
static void host_function_ends(struct obs_operation *operation)
{
    struct obs_point point = {.before = {operation->before[0], operation->before[1]},
                              .timeline = operation->timeline,
                              .tick = atomic_load(&operation->tick)};
    obs_order_known(&point, OBS_EDGES_DOCUMENTED);
}

/* The same of a host function in a graph, or of its memory operations. */
static void step_ends(const struct mr_observed_work *work)
{
    struct obs_operation *early, *operation = obs_order_of_work(work, false, &early);
    if (!operation)
        return;
    obs_order_lock();
    if (work->kind == MR_OBSERVED_MEMORY_OP)
        obs_values_ended(operation);
    else
        host_function_ends(operation);
    obs_order_unlock();
    obs_operation_drop(operation);
    if (early)
        obs_operation_drop(early);
}

void obs_order_end(const struct mr_observed_work *work)
{
    struct under_way gone = {0};
    if (work->node) {
        if ((obs_is_host_function(work) && !obs_order_strict) || work->kind == MR_OBSERVED_MEMORY_OP)
            step_ends(work);
        return;
    }
    if (bound.work == work->work)
        bound.work = 0;
    obs_order_lock();
    size_t at = room ? place_of(work->work) : 0;
    if (room && table[at].work) {
        gone = table[at];
        table_remove(at);
        if (obs_is_host_function(work) && !obs_order_strict)
            host_function_ends(gone.operation);
        if (work->kind == MR_OBSERVED_MEMORY_OP && gone.operation)
            obs_values_ended(gone.operation);
    }
    obs_order_unlock();
    if (gone.operation)
        obs_operation_drop(gone.operation);
    if (gone.early)
        obs_operation_drop(gone.early);
    if (gone.run)
        obs_run_end(gone.run);
}
