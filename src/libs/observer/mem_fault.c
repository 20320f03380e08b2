/* SPDX-License-Identifier: Apache-2.0 */
/* A box is cut at the bounds of generations; what lies in none, or in one that has ended, is a fault unless the driver
 * says otherwise. Faults of works under way are in one list: there are few. */
#include "libs/observer/mem_fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mutex.h"
#include "libs/observer/found.h"

/* Runs of a fault that are kept; bytes of further ones are counted as they come. */
enum { MOST_RUNS = 1 << 18, FIRST_RUNS = 16, NEAR = 4096 };

struct fault {
    struct fault *next;
    uint64_t work, node;
    struct mr_finding finding;
    size_t count, room;
    struct obs_run *runs;
};

static const struct mr_observed_driver *driver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and what is in it */
static struct fault *faults;
static _Atomic size_t fault_count;
static _Atomic uint64_t accesses, rough;

void obs_mem_begin(const struct mr_observed_driver *given)
{
    driver = given;
}

/* ---- what is wrong with a piece ---- */

/* Is anything mapped at the address? */
static bool is_mapped(uintptr_t address)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char in;
    return mincore((void *)(address / page * page), page, &in) == 0;
}

struct near {
    uintptr_t address, distance;
    uint64_t call; /* the number of the call that asked for the work */
    struct obs_generation_view view;
    bool found;
};

static bool nearer(const struct obs_generation_view *view, void *data)
{
    struct near *near = data;
    uintptr_t end = view->base + view->size, at = near->address;
    uintptr_t distance = at < view->base ? view->base - at : at >= end ? at - end : 0;
    if (view->base >= (uintptr_t)1 << 57)
        return false; /* made-up addresses */
    bool was_there =
        view->made.number <= near->call && (view->alive || (view->ended.call && view->ended.number > near->call));
    if (was_there && (!near->found || distance < near->distance))
        *near = (struct near){at, distance, near->call, *view, true};
    return !was_there || view->base <= at;
}

struct mr_finding_allocation obs_mem_allocation(const struct obs_generation_view *view)
{
    return (struct mr_finding_allocation){.number = view->number,
                                          .base = view->base,
                                          .size = view->size,
                                          .kind = view->kind,
                                          .call = view->made.call,
                                          .site = view->made.site};
}

static bool is_kernel(const struct mr_observed_work *work)
{
    return work->kind == MR_OBSERVED_KERNEL || work->parts;
}

/* A kernel touches memory that is the host's own. Close behind registered memory, it counts as outside of that. */
static enum mr_finding_kind kind_of_foreign(uintptr_t first)
{
    struct obs_generation_view below;
    if (obs_generation_below(first, &below) && below.alive && below.kind == MR_ALLOCATION_REGISTERED &&
        first - (below.base + below.size) < NEAR)
        return MR_FINDING_OUTSIDE;
    return is_mapped(first) ? MR_FINDING_HOST_POINTER : MR_FINDING_WILD;
}

/* What is wrong with a piece that begins at `first` and lies in no generation; MR_FINDING_KINDS: nothing. Copies may
 * use the host's own memory. */
static enum mr_finding_kind kind_of_unknown(const struct mr_observed_work *work, uintptr_t first)
{
    switch (driver->memory(first)) {
    case MR_OBSERVED_ALLOCATED:
        return MR_FINDING_KINDS;
    case MR_OBSERVED_FREE:
        return MR_FINDING_OUTSIDE;
    default:
        return is_kernel(work) ? kind_of_foreign(first) : MR_FINDING_KINDS;
    }
}

/* Was this generation freed before the operation was asked for? The use that the free came upon is the tool race's. */
static bool is_freed(const struct mr_observed_work *work, const struct obs_operation *operation,
                     const struct obs_generation_view *view, uintptr_t first)
{
    if (view->kind == MR_ALLOCATION_ARRAY)
        return view->ended.call && view->ended.number < operation->side.number;
    enum mr_observed_memory now = driver->memory(first);
    bool lent = view->kind == MR_ALLOCATION_IMPORTED || view->kind == MR_ALLOCATION_MODULE ||
                view->kind == MR_ALLOCATION_REGISTERED;
    if (operation->side.number == 0 || (view->ended.call && view->ended.number >= operation->side.number))
        return false;
    if (now == MR_OBSERVED_ALLOCATED && (lent || !view->ended.call))
        return false; /* there is something else now */
    return now != MR_OBSERVED_FOREIGN || is_kernel(work);
}

/* ---- faults ---- */

static void add_run(struct fault *fault, uintptr_t first, uintptr_t end)
{
    struct mr_finding *finding = &fault->finding;
    if (fault->count == fault->room && fault->room < MOST_RUNS) {
        size_t room = fault->room ? 2 * fault->room : FIRST_RUNS;
        struct obs_run *more = realloc(fault->runs, room * sizeof *more);
        if (more) {
            fault->runs = more;
            fault->room = room;
        }
    }
    finding->first = first < finding->first ? first : finding->first;
    finding->end = end > finding->end ? end : finding->end;
    if (fault->count < fault->room)
        fault->runs[fault->count++] = (struct obs_run){first, end};
    else
        finding->touched += end - first;
}

/* With the lock held: the fault of this work, kind and place, or NULL. */
static struct fault *fault_of(const struct mr_observed_work *work, enum mr_finding_kind kind,
                              const struct mr_access *box)
{
    MR_MUTEX_HELD(&lock);
    for (struct fault *fault = faults; fault; fault = fault->next)
        if (fault->work == work->work && fault->node == work->node && fault->finding.kind == kind &&
            fault->finding.later.place == box->place && fault->finding.later.how == box->how)
            return fault;
    return NULL;
}

static struct fault *new_fault(const struct mr_observed_work *work, const struct obs_operation *operation,
                               enum mr_finding_kind kind, const struct mr_access *box)
{
    struct fault *fault = calloc(1, sizeof *fault);
    if (!fault)
        return NULL;
    fault->work = work->work;
    fault->node = work->node;
    fault->finding = (struct mr_finding){.kind = kind, .later = operation->side, .first = UINTPTR_MAX};
    fault->finding.later.place = box->place;
    fault->finding.later.how = box->how;
    fault->next = faults;
    faults = fault;
    atomic_fetch_add_explicit(&fault_count, 1, memory_order_relaxed);
    return fault;
}

void obs_mem_note(const struct mr_observed_work *work, const struct obs_operation *operation, enum mr_finding_kind kind,
                  const struct mr_access *box, const struct obs_shape *piece, const struct obs_generation_view *view)
{
    struct obs_run run;
    pthread_mutex_lock(&lock);
    struct fault *fault = fault_of(work, kind, box);
    if (!fault && (fault = new_fault(work, operation, kind, box)) && view) {
        fault->finding.allocation = obs_mem_allocation(view);
        fault->finding.earlier = view->ended;
    }
    for (uintptr_t at = piece->first; fault && obs_shape_run_at(piece, at, &run); at = run.end)
        add_run(fault, run.first, run.end);
    pthread_mutex_unlock(&lock);
}

/* A box that is one run or rows; a part of it may lie in each of several generations. */
static void look_at(const struct mr_observed_work *work, const struct obs_operation *operation,
                    const struct mr_access *box)
{
    struct obs_shape pieces[3];
    uintptr_t end = obs_shape_rows(box->first, box->width, box->rows, box->pitch).end;
    for (uintptr_t at = box->first; at < end;) {
        struct obs_found found = obs_generation_find(at, end, operation);
        if (found.generation && obs_generation_is_alive(found.generation)) {
            obs_generation_drop(found.generation);
            at = found.end;
            continue;
        }
        struct obs_generation_view view;
        if (found.generation)
            view = obs_generation_view_of(found.generation);
        int count = obs_shape_clip(box, at, found.end, pieces);
        for (int i = 0; i < count; i++) {
            enum mr_finding_kind kind = MR_FINDING_FREED;
            if (!found.generation)
                kind = kind_of_unknown(work, pieces[i].first);
            else if (!is_freed(work, operation, &view, pieces[i].first))
                continue;
            if (kind != MR_FINDING_KINDS)
                obs_mem_note(work, operation, kind, box, &pieces[i], found.generation ? &view : NULL);
        }
        obs_generation_drop(found.generation);
        at = found.end;
    }
}

/* Arrays have no addresses: what is told there is a place in them. */
static void tell_misaligned(const struct obs_operation *operation, const struct mr_access *box)
{
    struct mr_finding finding = {.kind = MR_FINDING_MISALIGNED, .later = operation->side, .touched = box->width};
    struct obs_generation_view view;
    finding.later.place = box->place;
    finding.later.how = box->how & ~(uint32_t)MR_ACCESS_MISALIGNED;
    if (box->first && box->first < MR_OBSERVED_ARRAYS) {
        finding.first = box->first;
        finding.end = box->first + box->width;
        if (obs_generation_at(box->first, operation->side.number, &view))
            finding.allocation = obs_mem_allocation(&view);
    }
    obs_finding_note(&finding);
}

void obs_mem_touch(const struct mr_observed_work *work, const struct obs_operation *operation,
                   const struct mr_access *boxes, size_t count)
{
    atomic_fetch_add_explicit(&accesses, count, memory_order_relaxed);
    for (size_t i = 0; i < count; i++) {
        const struct mr_access *box = &boxes[i];
        if (box->how & MR_ACCESS_MISALIGNED)
            tell_misaligned(operation, box);
        else if (box->how & MR_ACCESS_ROUGH)
            atomic_fetch_add_explicit(&rough, 1, memory_order_relaxed);
        else if (box->width && box->rows && !(box->how & (MR_ACCESS_MODULE | MR_ACCESS_CALL)))
            look_at(work, operation, box);
    }
}

/* ---- findings ---- */

static int by_first(const void *one, const void *other)
{
    const struct obs_run *a = one, *b = other;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Bytes of all runs, each once. */
static uint64_t count_bytes(struct fault *fault)
{
    uint64_t bytes = 0;
    uintptr_t reached = 0;
    if (fault->count)
        qsort(fault->runs, fault->count, sizeof *fault->runs, by_first);
    for (size_t i = 0; i < fault->count; i++) {
        uintptr_t first = fault->runs[i].first > reached ? fault->runs[i].first : reached;
        if (fault->runs[i].end > first) {
            bytes += fault->runs[i].end - first;
            reached = fault->runs[i].end;
        }
    }
    return bytes;
}

/* Are both places in one line? */
static bool same_line(uint32_t one, uint32_t other)
{
    struct mr_observed_place a, b;
    return one == other || (driver->place && driver->place(one, &a) && driver->place(other, &b) && a.file && b.file &&
                            a.line == b.line && strcmp(a.file, b.file) == 0 && strcmp(a.kernel, b.kernel) == 0);
}

/* A loop that the compiler has unrolled has several places in one line, which do the same to the same bytes. */
static bool is_told(const struct fault *told, const struct fault *fault)
{
    const struct mr_finding *finding = &fault->finding;
    for (; told != fault; told = told->next)
        if (told->finding.kind == finding->kind && told->finding.later.how == finding->later.how &&
            told->finding.first == finding->first && told->finding.end == finding->end &&
            told->finding.touched == finding->touched && same_line(told->finding.later.place, finding->later.place))
            return true;
    return false;
}

static void tell(struct fault *fault)
{
    struct mr_finding *finding = &fault->finding;
    if (finding->kind == MR_FINDING_OUTSIDE) {
        struct near near = {.address = finding->first, .call = finding->later.number};
        obs_generation_each(false, nearer, &near);
        if (near.found)
            finding->allocation = obs_mem_allocation(&near.view);
    }
    obs_finding_note(finding);
}

void obs_mem_settle(const struct mr_observed_work *work)
{
    struct fault *ended = NULL, **end = &ended;
    if (atomic_load_explicit(&fault_count, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&lock);
    for (struct fault **at = &faults; *at;) {
        struct fault *fault = *at;
        if (fault->work != work->work || fault->node != work->node) {
            at = &fault->next;
            continue;
        }
        *at = fault->next;
        fault->next = NULL;
        *end = fault;
        end = &fault->next;
        atomic_fetch_sub_explicit(&fault_count, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    for (struct fault *fault = ended; fault; fault = fault->next) {
        fault->finding.touched += count_bytes(fault);
        if (!is_told(ended, fault))
            tell(fault);
    }
    for (struct fault *next; ended; ended = next) {
        next = ended->next;
        free(ended->runs);
        free(ended);
    }
}

void obs_mem_summary(struct mr_race_summary *out)
{
    out->accesses += accesses;
    out->rough = rough;
}
