/* SPDX-License-Identifier: Apache-2.0 */
/* What works are, and which bytes they touch, for an observer. */
#include "engine/tell.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "command/parts.h"
#include "kernel/fault.h"
#include "kernel/footprint.h"
#include "kernel/heap.h"
#include "kernel/launch.h"
#include "memory/observed.h"
#include "observe/names.h"

#define BOXES 64u                      /* told of in one call */

_Thread_local unsigned mr_tell_worker __attribute__((tls_model("initial-exec"))) = MR_TELL_NO_WORKER;

uint64_t mr_tell_copy_bytes(const struct mr_copy *copy)
{
    return (uint64_t)copy->width * copy->height * copy->depth;
}

uint64_t mr_tell_fill_bytes(const struct mr_fill *fill)
{
    return (uint64_t)fill->width * fill->element * fill->height;
}

void mr_tell_describe_launch(const struct mr_launch *launch, struct mr_observed_work *out)
{
    out->kind = MR_OBSERVED_KERNEL;
    out->grid = launch->id;
    out->kernel = mr_observe_name(launch->code->name);
    out->module = mr_launch_module(launch);
    out->shared_static = launch->code->uses.shared;
    out->shared_dynamic = launch->dynamic_shared;
    out->registers = launch->code->uses.registers;
    out->local = launch->code->uses.local;
    out->cooperative = launch->cooperative;
    for (int i = 0; i < 3; i++) {
        out->blocks[i] = launch->grid[i];
        out->threads[i] = launch->block[i];
    }
}

void mr_tell_describe_copy(const struct mr_copy *copy, const struct mr_copy_origin *staged,
                           struct mr_observed_work *out)
{
    out->kind = MR_OBSERVED_COPY;
    out->bytes = mr_tell_copy_bytes(copy);
    out->from = (uintptr_t)(staged ? staged->source : copy->source);
    out->to = (uintptr_t)copy->destination;
}

void mr_tell_describe_fill(const struct mr_fill *fill, struct mr_observed_work *out)
{
    out->kind = MR_OBSERVED_FILL;
    out->bytes = mr_tell_fill_bytes(fill);
    out->to = (uintptr_t)fill->destination;
    out->value = fill->value;
}

void mr_tell_describe_parts(const struct mr_parts *parts, struct mr_observed_work *out)
{
    out->kind = MR_OBSERVED_HOST;
    out->parts = parts->count;
    out->kernel = parts->told.function ? mr_observe_name(parts->told.function) : NULL;
    out->touches = parts->told.count;
    memcpy(&out->code, &parts->run, sizeof out->code);
}

static enum mr_observed_kind async_kind(const struct mr_async *async)
{
    switch (async->kind) {
    case MR_ASYNC_GRAPH:
        return MR_OBSERVED_GRAPH;
    case MR_ASYNC_BATCH:
        return MR_OBSERVED_MEMORY_OP;
    case MR_ASYNC_OTHER:
        break;
    }
    return MR_OBSERVED_OTHER;
}

void mr_tell_describe(const struct mr_command *command, uint64_t stream, const struct mr_context *context,
                      struct mr_observed_work *out)
{
    *out = (struct mr_observed_work){.work = command->sequence,
                                     .kind = MR_OBSERVED_OTHER,
                                     .stream = stream,
                                     .context = context->handle,
                                     .context_number = context->id,
                                     .device = context->device->ordinal};
    switch (command->kind) {
    case MR_COMMAND_COPY:
        mr_tell_describe_copy(&command->copy, command->copy.owns_source ? mr_copy_origin(&command->copy) : NULL, out);
        break;
    case MR_COMMAND_FILL:
        mr_tell_describe_fill(&command->fill, out);
        break;
    case MR_COMMAND_LAUNCH:
        mr_tell_describe_launch(command->launch, out);
        break;
    case MR_COMMAND_PARTS:
        mr_tell_describe_parts(command->parts, out);
        break;
    case MR_COMMAND_HOST:
    case MR_COMMAND_CALLBACK:
        out->kind = MR_OBSERVED_HOST;
        break;
    case MR_COMMAND_ASYNC:
        out->kind = async_kind(&command->async);
        break;
    case MR_COMMAND_RECORD:
    case MR_COMMAND_WAIT:
    case MR_COMMAND_RELEASE:
        break;
    }
}

struct mr_told *mr_tell_begin(const struct mr_observed_work *work)
{
    struct mr_told *told = mr_alloc(sizeof *told);
    if (!told) {
        mr_log(MR_LOG_WARN, "memory is short: an observer is not told of work %llu", (unsigned long long)work->work);
        return NULL;
    }
    told->work = *work;
    told->began = mr_observes(MR_OBSERVE_SLICES) ? mr_clock_ns() : 0;
    atomic_init(&told->sliced, false);
    if (mr_observes(MR_OBSERVE_WORK))
        mr_observer.begin(work);
    return told;
}

void mr_tell_slice(struct mr_told *told, uint64_t from)
{
    if (!mr_observes(MR_OBSERVE_SLICES))
        return;
    atomic_store_explicit(&told->sliced, true, memory_order_relaxed);
    mr_observer.slice(&told->work, mr_tell_worker, from, mr_clock_ns());
}

/* Works that a thread is busy with from their begin to their end, unless they are jobs. */
static bool takes_a_thread(enum mr_observed_kind kind)
{
    return kind == MR_OBSERVED_KERNEL || kind == MR_OBSERVED_COPY || kind == MR_OBSERVED_FILL ||
           kind == MR_OBSERVED_HOST;
}

void mr_tell_end(struct mr_told *told, CUresult status)
{
    if (!told)
        return;
    if (takes_a_thread(told->work.kind) && !atomic_load_explicit(&told->sliced, memory_order_relaxed))
        mr_tell_slice(told, told->began);
    if (mr_observes(MR_OBSERVE_WORK))
        mr_observer.end(&told->work, status);
    mr_free(told);
}

/* ---- boxes ---- */

/* Boxes on their way to the observer. */
struct boxes {
    const struct mr_observed_work *work;
    size_t count;
    struct mr_access at[BOXES];
};

/* False: nobody asks. `at` is large, and is left as it is. */
static bool begin(struct boxes *boxes, const struct mr_told *told)
{
    if (!told || !mr_observes(MR_OBSERVE_ACCESS))
        return false;
    boxes->work = &told->work;
    boxes->count = 0;
    return true;
}

static void send(struct boxes *boxes)
{
    if (boxes->count)
        mr_memory_tell(boxes->work, boxes->at, boxes->count);
    boxes->count = 0;
}

static void add(struct boxes *boxes, uintptr_t first, size_t width, size_t rows, size_t pitch, uint32_t how)
{
    if (!width || !rows)
        return;
    if (rows > 1 && pitch == width) {
        width *= rows;
        rows = 1;
    }
    if (boxes->count == BOXES)
        send(boxes);
    boxes->at[boxes->count++] =
        (struct mr_access){.first = first, .width = width, .rows = rows, .pitch = rows > 1 ? pitch : width, .how = how};
}

/* One side of a copy: slices that follow each other at the pitch of the rows are one box. */
static void add_side(struct boxes *boxes, const struct mr_copy *copy, const void *address, size_t pitch, size_t slice,
                     uint32_t how)
{
    if (copy->depth <= 1 || slice == pitch * copy->height) {
        add(boxes, (uintptr_t)address, copy->width, copy->height * copy->depth, pitch, how);
        return;
    }
    if (copy->height == 1) {
        add(boxes, (uintptr_t)address, copy->width, copy->depth, slice, how);
        return;
    }
    for (size_t z = 0; z < copy->depth; z++)
        add(boxes, (uintptr_t)address + z * slice, copy->width, copy->height, pitch, how);
}

void mr_tell_copy(struct mr_told *told, const struct mr_copy *copy, const struct mr_copy_origin *staged)
{
    struct boxes boxes;
    if (!begin(&boxes, told))
        return;
    if (staged)
        add_side(&boxes, copy, staged->source, staged->pitch, staged->slice, MR_ACCESS_READ | MR_ACCESS_CALL);
    else
        add_side(&boxes, copy, copy->source, copy->source_pitch, copy->source_slice, MR_ACCESS_READ);
    add_side(&boxes, copy, copy->destination, copy->destination_pitch, copy->destination_slice, MR_ACCESS_WRITE);
    send(&boxes);
}

void mr_tell_fill(struct mr_told *told, const struct mr_fill *fill)
{
    struct boxes boxes;
    if (!begin(&boxes, told))
        return;
    add(&boxes, (uintptr_t)fill->destination, fill->width * fill->element, fill->height, fill->pitch, MR_ACCESS_WRITE);
    send(&boxes);
}

static void add_touch(struct boxes *boxes, const struct mr_parts_touch *touch)
{
    uint32_t how =
        (touch->how & MR_PARTS_READ ? MR_ACCESS_READ : 0u) | (touch->how & MR_PARTS_WRITE ? MR_ACCESS_WRITE : 0u);
    add(boxes, touch->first, touch->width, touch->rows, touch->pitch, how);
}

/* What a late function adds. The observer is told afterwards, outside of the guard. */
struct late {
    const struct mr_parts_tells *tells;
    struct mr_parts_touch *touches;
    size_t count, room;
    bool lost;
};

static void add_late(void *data, const struct mr_parts_touch *touch)
{
    struct late *late = data;
    if (late->count == late->room && !late->lost) {
        size_t room = late->room ? 2 * late->room : 64;
        struct mr_parts_touch *more = mr_realloc(late->touches, room * sizeof *more);
        late->lost = !more;
        late->touches = more ? more : late->touches;
        late->room = more ? room : late->room;
    }
    if (!late->lost)
        late->touches[late->count++] = *touch;
}

static void call_late(void *data)
{
    const struct late *late = data;
    late->tells->late(late->tells->given, add_late, data);
}

/* The numbers may have gone meanwhile, if nothing orders that: what was told until then counts. */
static void tell_late(struct boxes *boxes, const struct mr_parts_tells *tells)
{
    struct late late = {.tells = tells};
    if (mr_fault_guard(call_late, &late) != CUDA_SUCCESS || late.lost)
        mr_log(MR_LOG_INFO, "an observer is not told of all that a work of '%s' touches", boxes->work->kernel);
    for (size_t i = 0; i < late.count; i++)
        add_touch(boxes, &late.touches[i]);
    mr_free(late.touches);
}

void mr_tell_parts(struct mr_told *told, const struct mr_parts *parts, bool done)
{
    struct boxes boxes;
    if (!begin(&boxes, told))
        return;
    for (size_t i = 0; i < parts->told.count; i++) {
        const struct mr_parts_tells *tells = &parts->told.touches[i];
        if (!tells->late)
            add_touch(&boxes, &tells->touch);
        else if (done)
            tell_late(&boxes, tells);
    }
    send(&boxes);
}

void mr_tell_memory_op(struct mr_told *told, const CUstreamBatchMemOpParams *op)
{
    struct boxes boxes;
    if (!begin(&boxes, told))
        return;
    uintptr_t place = (uintptr_t)op->waitValue.address;
    switch ((int)op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        add(&boxes, place, op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ? 8 : 4, 1, 0,
            MR_ACCESS_READ | MR_ACCESS_ATOMIC);
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        add(&boxes, place, op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64 ? 8 : 4, 1, 0,
            MR_ACCESS_WRITE | MR_ACCESS_ATOMIC);
        break;
    default:
        break;
    }
    send(&boxes);
}

/* Boxes of a kernel; with no record, for nobody. */
static void pass_on(void *data, struct mr_access *boxes, size_t count)
{
    const struct mr_told *told = data;
    if (told)
        mr_memory_tell(&told->work, boxes, count);
}

static void pass_on_launched(void *data, struct mr_access *boxes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        boxes[i].how |= MR_ACCESS_PAST_GRIDS;
    pass_on(data, boxes, count);
}

static void pass_on_heap(void *data, const struct mr_observed_heap *changes, size_t count)
{
    const struct mr_told *told = data;
    if (told)
        mr_observer.heap(&told->work, changes, count);
}

static void tell_launch(struct mr_told *told, const struct mr_launch *launch,
                        void (*give)(void *data, struct mr_access *boxes, size_t count))
{
    if (!mr_observes(MR_OBSERVE_ACCESS))
        return;
    mr_heap_give(launch, pass_on_heap, told);
    mr_footprint_give(launch, give, told);
}

void mr_tell_launch(struct mr_told *told, const struct mr_launch *launch)
{
    tell_launch(told, launch, pass_on);
}

void mr_tell_launched(struct mr_told *told, const struct mr_launch *launch)
{
    tell_launch(told, launch, pass_on_launched);
}

void mr_tell_command(struct mr_told *told, const struct mr_command *command, CUresult status)
{
    if (command->kind == MR_COMMAND_LAUNCH)
        mr_tell_launch(told, command->launch);
    else if (command->kind == MR_COMMAND_PARTS)
        /* Also of what has faulted: it is what the library would have touched. */
        mr_tell_parts(told, command->parts, status == CUDA_SUCCESS);
    if (!told || !mr_observes(MR_OBSERVE_ACCESS) || status != CUDA_SUCCESS)
        return;
    if (command->kind == MR_COMMAND_COPY)
        mr_tell_copy(told, &command->copy, command->copy.owns_source ? mr_copy_origin(&command->copy) : NULL);
    else if (command->kind == MR_COMMAND_FILL)
        mr_tell_fill(told, &command->fill);
}
