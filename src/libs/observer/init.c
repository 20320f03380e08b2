/* SPDX-License-Identifier: Apache-2.0 */
/* The tool init: finds device memory that is copied out or read before anything has written it.
 *
 * Each allocation of device memory has a map of the bytes that kernels, copies and fills have written (written.h). What
 * a work touches is compared with it when the work ends. Of a kernel the driver tells which bytes it read before it
 * wrote them; these are compared with the map as it was before.
 *
 * A copy from device memory to device memory brings bytes that nobody has written along. One to the host's memory is a
 * finding. A kernel that reads such bytes need not use what it reads, so that is a note; it is a finding if the kernel
 * branches by what it reads, or makes an address of it, for certain.
 *
 * Some things can't be seen, and memory counts as written then: what works of libraries write that do not tell what
 * they touch, and what other processes write into memory that is shared with them. A host function writes no device
 * memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "libs/observer/follow.h"
#include "libs/observer/found.h"
#include "libs/observer/heap.h"
#include "libs/observer/init.h"
#include "libs/observer/mem_fault.h"
#include "libs/observer/mpi.h"
#include "libs/observer/order_call.h"
#include "libs/observer/results.h"
#include "libs/observer/shape.h"
#include "libs/observer/tool.h"
#include "libs/observer/written.h"

enum { FIRST_ROOM = 16, PADDING_MOST = 8 };

/* A part of a work's box in one allocation, or, of a copy, in no map (written NULL). */
struct part {
    struct obs_generation *generation; /* kept; NULL as well */
    struct obs_written *written;
    struct obs_shape shape; /* not scattered */
    struct mr_access box;
    ptrdiff_t shift; /* from its addresses to those of the map's allocation */
    uintptr_t base;  /* of the map's allocation */
};

struct parts {
    struct part *at;
    size_t count, room;
};

/* Bytes of a copy that nobody has written, by their place in the row of all its bytes. */
struct gap {
    uint64_t first, end;
    uintptr_t address;
};

/* A work or step that goes on. */
struct going {
    struct going *next;
    uint64_t work, node;
    struct obs_operation *operation; /* kept */
    struct parts reads;  /* that have a gap: the shape of a kernel's is the gap */
    struct parts writes; /* of a copy */
    uint64_t taken;      /* of a copy: how many bytes its reads have had until now */
    struct gap *gaps;
    size_t gap_count, gap_room;
    bool short_of_memory;
};

static const struct mr_observed_driver *driver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list; what is in it is its work's alone */
static struct going *list;
static _Atomic uint64_t trusted;  /* generations up to this number count as written */

/* ---- which memory ---- */

/* Memory that is mapped, or of a pool, is the host's as well if the driver says so: its code writes there. */
static bool is_the_hosts(uintptr_t address)
{
    int device;
    enum mr_observed_memory_kind kind = driver->kind(address, &device);
    return kind == MR_OBSERVED_PINNED || kind == MR_OBSERVED_MANAGED;
}

static bool is_looked_at(const struct obs_generation_view *view)
{
    switch (view->kind) {
    case MR_ALLOCATION_DEVICE:
    case MR_ALLOCATION_GRAPH:
        return view->alive && view->number > atomic_load(&trusted);
    case MR_ALLOCATION_POOL:
        return view->alive && view->number > atomic_load(&trusted) && !is_the_hosts(view->base);
    case MR_ALLOCATION_MAPPED:
        return view->target && view->alive && view->number > atomic_load(&trusted) && !is_the_hosts(view->base);
    case MR_ALLOCATION_ARRAY: /* one whose making was not seen has no number */
        return view->alive &&
               (view->number ? view->number > atomic_load(&trusted) : atomic_load(&obs_init_seen.libraries) == 0);
    default:
        return false;
    }
}

/* Finds the map of a part whose generation is there. An alias is looked up where its bytes are. */
static void find_map(struct part *part, const struct obs_operation *operation)
{
    struct obs_generation_view view = obs_generation_view_of(part->generation);
    if (!is_looked_at(&view))
        return;
    part->base = view.base;
    if (!obs_generation_is_alias(part->generation)) {
        part->written = obs_generation_written(part->generation);
        return;
    }
    part->shift = obs_generation_shift(part->generation);
    uintptr_t first = part->shape.first + (uintptr_t)part->shift, end = part->shape.end + (uintptr_t)part->shift;
    struct obs_found found = obs_generation_find(first, end, operation);
    if (found.generation && found.end == end) {
        view = obs_generation_view_of(found.generation);
        part->base = view.base;
        part->written = obs_generation_written(found.generation); /* the mapping keeps the memory */
    }
    obs_generation_drop(found.generation);
}

/* ---- parts ---- */

/* The next run of a part's shape that ends behind `at`, as offsets in its map. */
static bool next_run(const struct part *part, uintptr_t at, struct obs_run *run, size_t *first, size_t *end)
{
    if (!obs_shape_run_at(&part->shape, at, run))
        return false;
    *first = run->first + (uintptr_t)part->shift - part->base;
    *end = run->end + (uintptr_t)part->shift - part->base;
    return true;
}

static void mark(const struct part *part)
{
    struct obs_run run;
    size_t first, end;
    for (uintptr_t at = part->shape.first; part->written && next_run(part, at, &run, &first, &end); at = run.end)
        obs_written_add(part->written, first, end);
}

static bool has_gap(const struct part *part)
{
    struct obs_run run;
    size_t first, end, gap, gap_end;
    if (!part->written)
        return false;
    first = part->shape.first + (uintptr_t)part->shift - part->base;
    end = part->shape.end + (uintptr_t)part->shift - part->base;
    if (!obs_written_gap(part->written, first, end, &gap, &gap_end))
        return false;
    for (uintptr_t at = part->shape.first; next_run(part, at, &run, &first, &end); at = run.end)
        if (obs_written_gap(part->written, first, end, &gap, &gap_end))
            return true;
    return false;
}

static void drop_part(const struct part *part)
{
    obs_generation_drop(part->generation);
}

/* Takes the part over. */
static void keep_part(struct going *going, struct parts *parts, struct part *part)
{
    if (parts->count == parts->room) {
        size_t room = parts->room ? 2 * parts->room : FIRST_ROOM;
        struct part *more = realloc(parts->at, room * sizeof *more);
        if (!more) {
            going->short_of_memory = true;
            drop_part(part);
            return;
        }
        parts->at = more;
        parts->room = room;
    }
    parts->at[parts->count++] = *part;
}

static void add_gap(struct going *going, uint64_t first, uint64_t end, uintptr_t address)
{
    if (going->gap_count == going->gap_room) {
        size_t room = going->gap_room ? 2 * going->gap_room : FIRST_ROOM;
        struct gap *more = realloc(going->gaps, room * sizeof *more);
        if (!more) {
            going->short_of_memory = true;
            return;
        }
        going->gaps = more;
        going->gap_room = room;
    }
    going->gaps[going->gap_count++] = (struct gap){first, end, address};
}

/* What a copy reads: notes which of its bytes nobody has written. */
static void read_by_copy(struct going *going, const struct part *part)
{
    struct obs_run run;
    size_t first, end, gap, gap_end;
    for (uintptr_t at = part->shape.first; next_run(part, at, &run, &first, &end); at = run.end) {
        if (part->written) {
            for (size_t from = first; obs_written_gap(part->written, from, end, &gap, &gap_end); from = gap_end)
                add_gap(going, going->taken + (gap - first), going->taken + (gap_end - first),
                        run.first + (gap - first));
        }
        going->taken += run.end - run.first;
    }
}

/* ---- works ---- */

static struct going *going_of(const struct mr_observed_work *work, bool make)
{
    pthread_mutex_lock(&lock);
    struct going *going = list;
    while (going && (going->work != work->work || going->node != work->node))
        going = going->next;
    if (!going && make && (going = calloc(1, sizeof *going))) {
        going->work = work->work;
        going->node = work->node;
        going->next = list;
        list = going;
    }
    pthread_mutex_unlock(&lock);
    return going;
}

static struct going *take_going(const struct mr_observed_work *work)
{
    pthread_mutex_lock(&lock);
    struct going **at = &list;
    while (*at && ((*at)->work != work->work || (*at)->node != work->node))
        at = &(*at)->next;
    struct going *going = *at;
    if (going)
        *at = going->next;
    pthread_mutex_unlock(&lock);
    return going;
}

/* What a kernel reads before it writes it. What this kernel writes is marked later. Takes the part over. */
static void read_by_kernel(struct going *going, struct part *part)
{
    struct obs_run run;
    size_t first, end, gap, gap_end;
    if (part->written && part->box.how & MR_ACCESS_ROUGH)
        atomic_fetch_add_explicit(&obs_init_seen.rough, 1, memory_order_relaxed);
    else if (part->written)
        for (uintptr_t at = part->shape.first; next_run(part, at, &run, &first, &end); at = run.end)
            for (size_t from = first; obs_written_gap(part->written, from, end, &gap, &gap_end); from = gap_end) {
                struct part unwritten = *part;
                uintptr_t place = run.first + (gap - first);
                obs_generation_keep(part->generation);
                unwritten.shape = obs_shape_run(place, place + (gap_end - gap));
                keep_part(going, &going->reads, &unwritten);
            }
    drop_part(part);
}

/* One part of a box. Takes it over. */
static void touch(const struct mr_observed_work *work, struct going *going, struct part *part)
{
    bool writes = part->box.how & MR_ACCESS_WRITE;
    bool copy = work->kind == MR_OBSERVED_COPY;
    if (part->box.how & MR_ACCESS_FIRST) {
        read_by_kernel(going, part);
        return;
    }
    if (copy && writes) {
        keep_part(going, &going->writes, part);
        return;
    }
    if (copy)
        read_by_copy(going, part);
    else if (writes)
        mark(part);
    else if (work->kind != MR_OBSERVED_KERNEL && part->written && has_gap(part)) {
        keep_part(going, &going->reads, part);
        return;
    }
    drop_part(part);
}

static void look_at(const struct mr_observed_work *work, struct going *going, struct obs_operation *operation,
                    const struct mr_access *box)
{
    struct obs_shape shapes[3];
    uintptr_t end = obs_shape_rows(box->first, box->width, box->rows, box->pitch).end;
    for (uintptr_t at = box->first; at < end;) {
        struct obs_found found = obs_generation_find(at, end, operation);
        int count = obs_shape_clip(box, at, found.end, shapes);
        for (int i = 0; i < count; i++) {
            struct part part = {.generation = found.generation, .shape = shapes[i], .box = *box};
            if (found.generation) {
                obs_generation_keep(found.generation);
                find_map(&part, operation);
            }
            touch(work, going, &part);
        }
        obs_generation_drop(found.generation);
        at = found.end;
    }
}

static void touch_all(const struct mr_observed_work *work, struct obs_operation *operation,
                      const struct mr_access *boxes, size_t count)
{
    struct going *going = going_of(work, true);
    if (!going)
        return;
    if (!going->operation)
        going->operation = obs_operation_keep(operation);
    for (size_t i = 0; i < count; i++)
        if (boxes[i].how & MR_ACCESS_FIRST && !boxes[i].width)
            atomic_fetch_add_explicit(&obs_init_seen.rough, 1, memory_order_relaxed);
        else if (boxes[i].width && boxes[i].rows &&
                 !(boxes[i].how & (MR_ACCESS_MODULE | MR_ACCESS_CALL | MR_ACCESS_MISALIGNED)))
            look_at(work, going, operation, &boxes[i]);
}

/* ---- what is found ---- */

static void report(const struct mr_observed_work *work, const struct going *going, enum mr_finding_kind kind,
                   const struct mr_access *box, struct obs_generation *generation, uintptr_t first, uintptr_t end)
{
    struct obs_generation_view view = obs_generation_view_of(generation);
    struct obs_shape piece = obs_shape_run(first, end);
    obs_mem_note(work, going->operation, kind, box, &piece, &view);
}

/* By what the kernel does with what it reads. */
static enum mr_finding_kind kind_of(uint32_t how)
{
    return how & MR_ACCESS_WAY     ? MR_FINDING_UNWRITTEN_BRANCH
           : how & MR_ACCESS_PLACE ? MR_FINDING_UNWRITTEN_ADDRESS
                                   : MR_FINDING_UNWRITTEN_READ;
}

static void report_reads(const struct mr_observed_work *work, const struct going *going, const struct part *part)
{
    struct obs_run run;
    size_t first, end, gap, gap_end;
    for (uintptr_t at = part->shape.first; next_run(part, at, &run, &first, &end); at = run.end)
        if (part->box.how & MR_ACCESS_FIRST)
            report(work, going, kind_of(part->box.how), &part->box, part->generation, run.first, run.end);
        else
            for (size_t from = first; obs_written_gap(part->written, from, end, &gap, &gap_end); from = gap_end)
                report(work, going, MR_FINDING_UNWRITTEN_READ, &part->box, part->generation, run.first + (gap - first),
                       run.first + (gap_end - first));
}

/* May these bytes be what a compiler leaves free between members of a structure? They are fewer than 8, and end at a
 * multiple of a power of two that is larger than they are many. */
static bool may_be_padding(const struct gap *gap)
{
    uint64_t size = gap->end - gap->first, unit = 1;
    while (unit <= size)
        unit *= 2;
    return size < PADDING_MOST && (gap->address + size) % unit == 0;
}

/* The gaps of a copy that lie in the bytes `from` up to `end` - 1 of its row, which it has written at `address`, a part
 * of `to`: there they are gaps again. `next`: the first gap that may lie there; both only grow. */
static void bring_gaps(const struct going *going, size_t *next, const struct part *to, uint64_t from, uint64_t end,
                       uintptr_t address)
{
    while (*next < going->gap_count && going->gaps[*next].end <= from)
        ++*next;
    for (size_t i = *next; i < going->gap_count && going->gaps[i].first < end; i++) {
        const struct gap *gap = &going->gaps[i];
        uint64_t low = gap->first > from ? gap->first : from, high = gap->end < end ? gap->end : end;
        size_t offset = address + (uintptr_t)(low - from) + (uintptr_t)to->shift - to->base;
        if (low < high)
            obs_written_remove(to->written, offset, offset + (size_t)(high - low));
    }
}

/* Where the gap was read. */
static void report_gap(const struct mr_observed_work *work, const struct going *going, const struct gap *gap,
                       bool padding)
{
    struct mr_access box = {.first = gap->address, .width = gap->end - gap->first, .rows = 1, .how = MR_ACCESS_READ};
    struct obs_found found = obs_generation_find(gap->address, gap->address + box.width, going->operation);
    if (found.generation)
        report(work, going, padding ? MR_FINDING_UNWRITTEN_PADDING : MR_FINDING_UNWRITTEN_COPY, &box, found.generation,
               gap->address, gap->address + box.width);
    obs_generation_drop(found.generation);
}

static bool is_device(const struct part *part)
{
    struct obs_generation_view view;
    if (!part->generation)
        return false;
    view = obs_generation_view_of(part->generation);
    if (view.kind == MR_ALLOCATION_POOL || view.kind == MR_ALLOCATION_MAPPED)
        return !is_the_hosts(view.base);
    return !obs_generation_is_shared(view.kind) || view.kind == MR_ALLOCATION_MODULE;
}

/* What was read goes where the program sees it, and nobody has written the gaps. */
static void report_gaps(const struct mr_observed_work *work, const struct going *going)
{
    if (going->short_of_memory)
        return;
    /* What lacks at the end alone is more likely an element than padding. */
    bool padding = going->gap_count > 1 || (going->gap_count == 1 && going->gaps[0].end < going->taken);
    for (size_t i = 0; i < going->gap_count; i++)
        padding = padding && may_be_padding(&going->gaps[i]);
    for (size_t i = 0; i < going->gap_count; i++)
        report_gap(work, going, &going->gaps[i], padding);
}

/* A copy has ended: what it wrote is written, except for what nobody had written before. */
static void end_copy(const struct mr_observed_work *work, struct going *going)
{
    uint64_t from = 0;
    size_t next = 0;
    bool out = false;
    for (size_t i = 0; i < going->writes.count; i++) {
        const struct part *to = &going->writes.at[i];
        struct obs_run run;
        mark(to);
        out = out || !is_device(to);
        for (uintptr_t at = to->shape.first; obs_shape_run_at(&to->shape, at, &run); at = run.end) {
            uint64_t size = run.end - run.first;
            if (to->written && !going->short_of_memory)
                bring_gaps(going, &next, to, from, from + size, run.first);
            from += size;
        }
    }
    if (out && from == going->taken)
        report_gaps(work, going);
}

static void end_other(const struct mr_observed_work *work, struct going *going)
{
    for (size_t i = 0; i < going->reads.count; i++)
        report_reads(work, going, &going->reads.at[i]);
}

static void free_going(struct going *going)
{
    for (size_t i = 0; i < going->reads.count; i++)
        drop_part(&going->reads.at[i]);
    for (size_t i = 0; i < going->writes.count; i++)
        drop_part(&going->writes.at[i]);
    if (going->operation)
        obs_operation_drop(going->operation);
    free(going->reads.at);
    free(going->writes.at);
    free(going->gaps);
    free(going);
}

/* Nothing is known of what the memory that is there now holds. */
static void trust_all(void)
{
    uint64_t now = obs_generation_count(), before = atomic_load(&trusted);
    while (before < now && !atomic_compare_exchange_weak(&trusted, &before, now))
        ;
}

/* Work of a library that does not tell what it touches begins: it writes where it likes. */
static void begin_unseen(void)
{
    atomic_fetch_add_explicit(&obs_init_seen.libraries, 1, memory_order_relaxed);
    trust_all();
}

/* What is sent leaves the process; what is received is written. */
static void look_at_message(const struct mr_observed_work *work, struct obs_operation *operation,
                            const struct mr_access *boxes, size_t count)
{
    if (atomic_load_explicit(&obs_init_seen.shared, memory_order_relaxed))
        return;
    touch_all(work, operation, boxes, count);
    struct going *going = take_going(work);
    if (!going)
        return;
    for (size_t i = 0; i < going->writes.count; i++)
        mark(&going->writes.at[i]);
    report_gaps(work, going);
    free_going(going);
    obs_mem_settle(work);
}

/* ---- the tool ---- */

static bool open_init(const struct mr_observed_driver *given, const char *options)
{
    if (*options) {
        mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE: the tool init has no option '%s'; nothing is observed", options);
        return false;
    }
    driver = given;
    obs_mem_begin(given);
    obs_follow_begin(&obs_tool_init, given, false);
    obs_mpi_tell(look_at_message, given);
    return true;
}

static void enter(struct mr_observed_call *call)
{
    obs_follow_enter(&obs_tool_init, call);
}

static void leave(struct mr_observed_call *call, CUresult status)
{
    obs_follow_leave(&obs_tool_init, call, status);
    if (status != CUDA_SUCCESS)
        return;
    switch (call->call) {
    case MR_CALL_cuIpcGetMemHandle:
    case MR_CALL_cuMemExportToShareableHandle:
    case MR_CALL_cuMemGetHandleForAddressRange:
    case MR_CALL_cuMemPoolExportToShareableHandle:
    case MR_CALL_cuMemPoolExportPointer:
        atomic_store(&obs_init_seen.shared, true);
        break;
    default:
        break;
    }
}

static void bind(const struct mr_observed_work *work)
{
    obs_follow_bind(&obs_tool_init, work);
}

static void begin(const struct mr_observed_work *work)
{
    struct obs_operation *early, *operation;
    bool writes_any = work->parts && !work->touches;
    if (!writes_any && (!work->node || !obs_follow_is(&obs_tool_init)))
        return;
    /* A step of a graph is known from its begin on. */
    operation = obs_order_of_work(work, obs_follow_is(&obs_tool_init), &early);
    if (writes_any)
        begin_unseen();
    if (operation)
        obs_operation_drop(operation);
    if (early)
        obs_operation_drop(early);
}

static void access_boxes(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count)
{
    struct obs_operation *early, *operation;
    if (atomic_load_explicit(&obs_init_seen.shared, memory_order_relaxed))
        return;
    operation = obs_order_of_work(work, false, &early);
    if (operation) {
        touch_all(work, operation, boxes, count);
        obs_operation_drop(operation);
    }
    if (early)
        obs_operation_drop(early);
}

static void heap(const struct mr_observed_work *work, const struct mr_observed_heap *changes, size_t count)
{
    obs_heap_told(&obs_tool_init, work, changes, count);
}

static void end(const struct mr_observed_work *work, CUresult status)
{
    struct going *going = take_going(work);
    if (going && work->kind == MR_OBSERVED_COPY)
        end_copy(work, going);
    else if (going && status == CUDA_SUCCESS)
        end_other(work, going);
    if (going)
        free_going(going);
    obs_mem_settle(work);
    obs_follow_end(&obs_tool_init, work);
}

static uint64_t found(void)
{
    return obs_finding_count();
}

static bool write_init(const char *folder, const char *how)
{
    return obs_results_write(folder, how, driver);
}

const struct obs_tool obs_tool_init = {.name = "init",
                                       .points =
                                           MR_OBSERVE_CALLS | MR_OBSERVE_WORK | MR_OBSERVE_ACCESS | MR_OBSERVE_FIRST,
                                       .open = open_init,
                                       .enter = enter,
                                       .leave = leave,
                                       .bind = bind,
                                       .begin = begin,
                                       .end = end,
                                       .access = access_boxes,
                                       .heap = heap,
                                       .found = found,
                                       .write = write_init};
