/* SPDX-License-Identifier: Apache-2.0 */
/* Two trees of generations: those that lie at their address now, which do not overlap, and those that were pushed aside
 * by later ones. A generation that has ended stays where it is until another one takes its place, so that a late use of
 * it is found. */
#include "libs/observer/generation.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mutex.h"
#include "libs/observer/history.h"
#include "libs/observer/spans.h"

struct obs_generation {
    struct obs_span span; /* first: a span is its generation */
    _Atomic uint32_t references;
    atomic_bool here; /* it lies at its address now; else it was pushed aside, or is in no tree */
    bool over; /* ended or pushed aside, and in the row of those that are to go */
    atomic_bool dead; /* ended */
    bool alias;
    uint64_t number, asked; /* asked: the number of the call that made it */
    uint64_t gone; /* the number of the call that ended it; 0: none has */
    uintptr_t target;
    struct mr_side made; /* a copy: the history drops its operation */
    struct obs_generation *later; /* in the row */
    struct obs_history history;
    _Atomic(struct obs_written *) written; /* NULL: nobody has asked */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; /* guards what follows */
static struct obs_span *current, *aside;
static struct obs_generation *oldest, **newest = &oldest; /* the row of those that are over */
static size_t over;
static size_t late; /* those that were pushed aside and have not ended: their free comes late, if at all */
static _Atomic uint64_t generations, generations_hosts; /* written with the lock held */
static const uintptr_t made_up_first = (uintptr_t)1 << 60; /* user memory ends at 2^57 at most */
static uintptr_t made_up = (uintptr_t)1 << 60;

/* What this thread has found last, each with a reference of its own. */
enum { RECENT = 4 };
struct recents {
    unsigned next;
    struct obs_generation *of[RECENT];
};
static _Thread_local struct recents *recents;
static pthread_key_t at_thread_end;
static bool has_key; /* else nothing is remembered */
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct mr_host_bounds obs_generation_bounds;
bool obs_generation_bounds_all;

bool obs_generation_is_shared(enum mr_allocation_kind kind)
{
    return kind == MR_ALLOCATION_PINNED || kind == MR_ALLOCATION_REGISTERED || kind == MR_ALLOCATION_MANAGED ||
           kind == MR_ALLOCATION_MODULE;
}

/* With the lock held: widens the bounds. Others read them meanwhile: a low bound with the old span still holds what it
 * held, for the span grows first. */
static void widen(uintptr_t first, uintptr_t end)
{
    MR_WRITE_HELD(&lock);
    uintptr_t low = obs_generation_bounds.low, span = obs_generation_bounds.span;
    uintptr_t high = low + span;
    if (span == 0) {
        low = first;
        high = end;
    }
    low = first < low ? first : low;
    high = end > high ? end : high;
    obs_generation_bounds.span = high - low;
    obs_generation_bounds.low = low;
}

void obs_generation_drop(struct obs_generation *generation)
{
    if (!generation || atomic_fetch_sub_explicit(&generation->references, 1, memory_order_acq_rel) > 1)
        return;
    obs_history_free(&generation->history);
    obs_written_free(generation->written);
    free(generation);
}

static void forget_recents(void *memory)
{
    struct recents *mine = memory;
    recents = NULL;
    for (int i = 0; i < RECENT; i++)
        obs_generation_drop(mine->of[i]);
    free(mine);
}

static void make_key(void)
{
    has_key = pthread_key_create(&at_thread_end, forget_recents) == 0;
}

/* The generation that lies at this address now, if this thread has found it lately: no lock is needed to see that it
 * still does. It stays as long as the thread looks for no other. */
static struct obs_generation *recent_at(uintptr_t address)
{
    for (int i = 0; recents && i < RECENT; i++) {
        struct obs_generation *generation = recents->of[i];
        if (generation && address - generation->span.first < generation->span.end - generation->span.first &&
            atomic_load_explicit(&generation->here, memory_order_acquire))
            return generation;
    }
    return NULL;
}

/* This thread has found the generation in `current`, and has a reference to it. Without the lock. */
static void remember(struct obs_generation *generation)
{
    if (!recents) {
        pthread_once(&once, make_key);
        recents = has_key ? calloc(1, sizeof *recents) : NULL;
        if (recents && pthread_setspecific(at_thread_end, recents) != 0) {
            free(recents);
            recents = NULL;
        }
        if (!recents)
            return;
    }
    struct obs_generation **place = &recents->of[recents->next++ % RECENT], *before = *place;
    *place = obs_generation_keep(generation);
    obs_generation_drop(before);
}

struct obs_generation *obs_generation_keep(struct obs_generation *generation)
{
    atomic_fetch_add_explicit(&generation->references, 1, memory_order_relaxed);
    return generation;
}

struct obs_history *obs_generation_history(struct obs_generation *generation)
{
    return &generation->history;
}

struct obs_written *obs_generation_written(struct obs_generation *generation)
{
    struct obs_written *written = generation->written, *none = NULL;
    if (written || !(written = obs_written_new(generation->span.end - generation->span.first)))
        return written;
    if (atomic_compare_exchange_strong(&generation->written, &none, written))
        return written;
    obs_written_free(written);
    return none;
}

bool obs_generation_is_alias(const struct obs_generation *generation)
{
    return generation->alias;
}

ptrdiff_t obs_generation_shift(const struct obs_generation *generation)
{
    return generation->alias ? (ptrdiff_t)(generation->target - generation->span.first) : 0;
}

struct mr_finding_allocation obs_generation_allocation(const struct obs_generation *generation)
{
    return (struct mr_finding_allocation){.number = generation->number,
                                          .base = generation->span.first,
                                          .size = generation->span.end - generation->span.first,
                                          .kind = generation->history.kind,
                                          .call = generation->made.call,
                                          .site = generation->made.site,
                                          .thread = generation->made.thread,
                                          .of_thread = generation->made.of_thread};
}

static struct obs_told told_of(const struct obs_generation *generation)
{
    return (struct obs_told){.allocation = obs_generation_allocation(generation)};
}

uintptr_t obs_generation_range(size_t size)
{
    pthread_rwlock_wrlock(&lock);
    uintptr_t first = made_up;
    made_up += (size + 2 * 4096 - 1) / 4096 * 4096;
    pthread_rwlock_unlock(&lock);
    return first;
}

static void enter_current(struct obs_generation *generation)
{
    MR_WRITE_HELD(&lock);
    obs_span_insert(&current, &generation->span);
    atomic_store_explicit(&generation->here, true, memory_order_release);
}

static void leave_current(struct obs_generation *generation)
{
    MR_WRITE_HELD(&lock);
    atomic_store_explicit(&generation->here, false, memory_order_release);
    obs_span_remove(&current, &generation->span);
}

/* With the lock held: appends to the row of those that are over. */
static void append(struct obs_generation *generation)
{
    MR_WRITE_HELD(&lock);
    if (generation->over)
        return;
    generation->over = true;
    generation->later = NULL;
    *newest = generation;
    newest = &generation->later;
    over++;
}

/* With the lock held: takes the first one of the row out of it and out of its tree. The caller drops it. */
static struct obs_generation *take_oldest(void)
{
    MR_WRITE_HELD(&lock);
    struct obs_generation *generation = oldest;
    oldest = generation->later;
    if (!oldest)
        newest = &oldest;
    over--;
    late -= !generation->here && !generation->dead;
    if (generation->here)
        leave_current(generation);
    else
        obs_span_remove(&aside, &generation->span);
    return generation;
}

/* With the lock held: what lies in the range gives way to what comes now. The number of the latest call that ended some
 * of it. */
static uint64_t push_aside(uintptr_t first, uintptr_t end)
{
    MR_WRITE_HELD(&lock);
    uint64_t gone = 0;
    struct obs_span *span;
    while ((span = obs_span_lowest(current, first, end))) {
        struct obs_generation *generation = (struct obs_generation *)span;
        gone = generation->gone > gone ? generation->gone : gone;
        leave_current(generation);
        obs_span_insert(&aside, span);
        late += !generation->dead;
        append(generation);
    }
    return gone;
}

/* With the lock held for writing: the array at this address. NULL: memory is short. */
static struct obs_generation *array_at(uintptr_t address)
{
    MR_WRITE_HELD(&lock);
    struct obs_span *known = obs_span_lowest(current, address, address + 1);
    struct obs_generation *array = known ? NULL : calloc(1, sizeof *array);
    if (!array)
        return (struct obs_generation *)known;
    array->span.first = address / OBS_ARRAY_ROOM * OBS_ARRAY_ROOM;
    array->span.end = array->span.first + OBS_ARRAY_ROOM;
    array->references = 1;
    obs_history_init(&array->history, MR_ALLOCATION_ARRAY, NULL);
    enter_current(array);
    return array;
}

static uint64_t make(struct obs_operation *made, enum mr_allocation_kind kind, uintptr_t base, size_t size,
                     const uintptr_t *target)
{
    struct obs_generation *generation = size ? calloc(1, sizeof *generation) : NULL, *gone = NULL;
    if (!generation)
        return 0;
    generation->span.first = base;
    generation->span.end = base + size;
    generation->references = 1;
    generation->alias = target != NULL;
    generation->target = target ? *target : 0;
    generation->asked = made->side.number;
    generation->made = made->side;
    if (kind == MR_ALLOCATION_HEAP) { /* a launch that is asked for earlier may use it as well */
        generation->asked = 0;
        generation->made.call = obs_heap_malloc;
        generation->made.of_thread = 0;
    }
    obs_history_init(&generation->history, kind, made);
    pthread_rwlock_wrlock(&lock);
    uint64_t free_since = push_aside(base, base + size);
    if (generation->asked == 0) /* a variable, as if it had always been there: not while something else was */
        generation->asked = free_since;
    if (obs_generation_is_shared(kind) || (obs_generation_bounds_all && base < made_up_first))
        widen(base, base + size);
    uint64_t number = generation->number = ++generations;
    if (obs_generation_is_shared(kind) && kind != MR_ALLOCATION_MODULE)
        generations_hosts++;
    enter_current(generation);
    if (over > OBS_GENERATIONS_ENDED)
        gone = take_oldest();
    pthread_rwlock_unlock(&lock);
    obs_generation_drop(gone);
    return number;
}

uint64_t obs_generation_made(struct obs_operation *made, enum mr_allocation_kind kind, uintptr_t base, size_t size)
{
    return make(made, kind, base, size, NULL);
}

void obs_generation_fill(struct obs_operation *made, enum mr_allocation_kind kind, uintptr_t base, size_t size)
{
    uintptr_t end = base + size, next;
    for (uintptr_t at = base; at < end; at = next) {
        pthread_rwlock_rdlock(&lock);
        struct obs_span *alive = obs_span_lowest(current, at, end);
        while (alive && ((struct obs_generation *)alive)->dead)
            alive = alive->end < end ? obs_span_lowest(current, alive->end, end) : NULL;
        uintptr_t gap = alive ? alive->first : end;
        next = alive ? alive->end : end;
        pthread_rwlock_unlock(&lock);
        if (gap > at)
            (void)make(made, kind, at, gap - at, NULL);
    }
}

uint64_t obs_generation_alias(struct obs_operation *made, enum mr_allocation_kind kind, uintptr_t base, size_t size,
                              uintptr_t target)
{
    return make(made, kind, base, size, &target);
}

/* With the lock held: the spans of those aside that meet the range; NULL: none, or memory is short. The caller frees.
 */
static struct obs_span **collect_aside(uintptr_t first, uintptr_t end, size_t *count)
{
    *count = obs_span_collect(aside, first, end, NULL, 0);
    struct obs_span **spans = *count ? malloc(*count * sizeof(struct obs_span *)) : NULL;
    if (spans)
        obs_span_collect(aside, first, end, spans, *count);
    else
        *count = 0;
    return spans;
}

/* With the lock held: the one that is alive and begins at `base`. One that was pushed aside alive goes first: it is the
 * one whose free is late. */
static struct obs_generation *alive_at(uintptr_t base)
{
    struct obs_generation *found = NULL;
    size_t count = 0;
    struct obs_span **spans = late ? collect_aside(base, base + 1, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        struct obs_generation *generation = (struct obs_generation *)spans[i];
        if (generation->span.first == base && !generation->dead && (!found || generation->number < found->number))
            found = generation;
    }
    free(spans);
    if (!found) {
        found = (struct obs_generation *)obs_span_lowest(current, base, base + 1);
        if (found && (found->dead || found->span.first != base))
            found = NULL;
    }
    return found;
}

/* With the lock held: it has ended. */
static void die(struct obs_generation *generation)
{
    MR_WRITE_HELD(&lock);
    late -= !generation->here && !generation->dead;
    generation->dead = true;
    append(generation);
}

bool obs_generation_ended(struct obs_operation *ended, uintptr_t base)
{
    struct obs_generation *gone = NULL;
    pthread_rwlock_wrlock(&lock);
    struct obs_generation *generation = alive_at(base);
    if (generation) {
        obs_generation_keep(generation);
        generation->gone = ended->side.number;
        die(generation);
        if (over > OBS_GENERATIONS_ENDED)
            gone = take_oldest();
    }
    pthread_rwlock_unlock(&lock);
    obs_generation_drop(gone);
    if (!generation)
        return false;
    struct obs_told told = told_of(generation);
    obs_history_end(&generation->history, ended, &told);
    obs_generation_drop(generation);
    return true;
}

uintptr_t obs_generation_alive_in(uintptr_t first, uintptr_t end, enum mr_allocation_kind kind)
{
    pthread_rwlock_rdlock(&lock);
    struct obs_span *span = first < end ? obs_span_lowest(current, first, end) : NULL;
    while (span && (((struct obs_generation *)span)->dead || ((struct obs_generation *)span)->history.kind != kind))
        span = span->end < end ? obs_span_lowest(current, span->end, end) : NULL;
    uintptr_t found = span ? span->first : 0;
    pthread_rwlock_unlock(&lock);
    return found;
}

void obs_generation_over(uintptr_t base)
{
    struct obs_generation *gone = NULL;
    pthread_rwlock_wrlock(&lock);
    struct obs_generation *generation = alive_at(base);
    if (generation) {
        die(generation);
        if (over > OBS_GENERATIONS_ENDED)
            gone = take_oldest();
    }
    pthread_rwlock_unlock(&lock);
    obs_generation_drop(gone);
}

/* With the lock held: of those that were pushed aside, the latest one at this address that a call with this number can
 * mean. `operation`, if there is one, must come after the making of one that the same call made (graph memory). */
static struct obs_generation *latest_aside(uintptr_t address, uint64_t call, const struct obs_operation *operation)
{
    struct obs_generation *found = NULL;
    size_t count;
    struct obs_span **spans = collect_aside(address, address + 1, &count);
    for (size_t i = 0; i < count; i++) {
        struct obs_generation *generation = (struct obs_generation *)spans[i];
        if (generation->asked > call || (found && found->number > generation->number))
            continue;
        if (operation && generation->asked == call && generation->history.made != operation &&
            !obs_comes_after(operation, generation->history.made))
            continue;
        found = generation;
    }
    free(spans);
    return found;
}

/* The operation was asked for by the call that made the generation, a graph's launch, and doesn't come after that. */
static bool is_doubtful(const struct obs_generation *generation, const struct obs_operation *operation)
{
    return generation->asked == operation->side.number && generation->history.made != operation &&
           !obs_comes_after(operation, generation->history.made);
}

static struct obs_found find_array(uintptr_t first, uintptr_t end)
{
    pthread_rwlock_rdlock(&lock);
    struct obs_generation *array = (struct obs_generation *)obs_span_lowest(current, first, first + 1);
    if (array)
        obs_generation_keep(array);
    pthread_rwlock_unlock(&lock);
    if (!array) {
        pthread_rwlock_wrlock(&lock);
        array = array_at(first);
        if (array)
            obs_generation_keep(array);
        pthread_rwlock_unlock(&lock);
    }
    uintptr_t edge = first / OBS_ARRAY_ROOM * OBS_ARRAY_ROOM + OBS_ARRAY_ROOM;
    return (struct obs_found){array, first, end - first < edge - first ? end : edge};
}

struct obs_found obs_generation_find(uintptr_t first, uintptr_t end, const struct obs_operation *operation)
{
    if (first >= OBS_ARRAYS)
        return find_array(first, end);
    struct obs_found found = {NULL, first, end};
    uint64_t call = operation->side.number;
    struct obs_generation *recent = recent_at(first);
    if (recent && recent->asked <= call && !is_doubtful(recent, operation)) {
        uintptr_t last = recent->span.end;
        return (struct obs_found){obs_generation_keep(recent), first, last < end ? last : end};
    }
    pthread_rwlock_rdlock(&lock);
    struct obs_generation *now = (struct obs_generation *)obs_span_lowest(current, first, end);
    bool here = now && now->span.first <= first;
    if (here && now->asked <= call && (!aside || !is_doubtful(now, operation))) {
        found.generation = obs_generation_keep(now);
        if (found.end > now->span.end)
            found.end = now->span.end;
        pthread_rwlock_unlock(&lock);
        if (!recent)
            remember(now);
        return found;
    }
    if (here && found.end > now->span.end)
        found.end = now->span.end;
    else if (now && !here && found.end > now->span.first)
        found.end = now->span.first;
    struct obs_generation *then = aside ? latest_aside(first, call, operation) : NULL;
    if (!then && here && now->asked <= call)
        then = now;
    if (then) {
        found.generation = obs_generation_keep(then);
        if (found.end > then->span.end)
            found.end = then->span.end;
    } else if (aside) {
        struct obs_span *next = obs_span_lowest(aside, first, found.end);
        if (next && next->first > first)
            found.end = next->first;
        else if (next && next->end < found.end)
            found.end = next->end;
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

/* With the lock held. */
static void view(const struct obs_generation *generation, struct obs_generation_view *out)
{
    *out = (struct obs_generation_view){.number = generation->number,
                                        .kind = generation->history.kind,
                                        .base = generation->span.first,
                                        .size = generation->span.end - generation->span.first,
                                        .target = generation->target,
                                        .made = generation->made,
                                        .alive = !generation->dead};
    struct obs_history *history = (struct obs_history *)&generation->history;
    pthread_mutex_lock(&history->lock);
    if (history->ended)
        out->ended = history->ended->side;
    if (history->ended && history->kind == MR_ALLOCATION_HEAP)
        out->ended.how |= OBS_ACCESS_FREES;
    pthread_mutex_unlock(&history->lock);
}

bool obs_generation_is_alive(const struct obs_generation *generation)
{
    return !generation->dead;
}

struct obs_generation_view obs_generation_view_of(const struct obs_generation *generation)
{
    struct obs_generation_view out;
    pthread_rwlock_rdlock(&lock);
    view(generation, &out);
    pthread_rwlock_unlock(&lock);
    return out;
}

bool obs_generation_at(uintptr_t address, uint64_t call, struct obs_generation_view *out)
{
    pthread_rwlock_rdlock(&lock);
    struct obs_generation *found = (struct obs_generation *)obs_span_lowest(current, address, address + 1);
    if (!found || found->asked > call)
        found = latest_aside(address, call, NULL);
    if (found)
        view(found, out);
    pthread_rwlock_unlock(&lock);
    return found != NULL;
}

bool obs_generation_kind_at(uintptr_t address, uint64_t call, enum mr_allocation_kind *kind)
{
    const struct obs_generation *recent = recent_at(address);
    if (recent && recent->asked <= call) {
        *kind = recent->history.kind;
        return true;
    }
    pthread_rwlock_rdlock(&lock);
    const struct obs_generation *found = (const struct obs_generation *)obs_span_lowest(current, address, address + 1);
    if (!found || found->asked > call)
        found = latest_aside(address, call, NULL);
    if (found)
        *kind = found->history.kind;
    pthread_rwlock_unlock(&lock);
    return found != NULL;
}

bool obs_generation_below(uintptr_t address, struct obs_generation_view *out)
{
    pthread_rwlock_rdlock(&lock);
    struct obs_generation *found = (struct obs_generation *)obs_span_before(current, address);
    if (found)
        view(found, out);
    pthread_rwlock_unlock(&lock);
    return found != NULL;
}

/* One after the other, since `each` may take long; a generation that comes or goes meanwhile may be missed. */
void obs_generation_each(bool alive, bool (*each)(const struct obs_generation_view *view, void *data), void *data)
{
    struct obs_generation_view next = {0};
    bool more = true;
    for (uintptr_t at = 0; more;) {
        pthread_rwlock_rdlock(&lock);
        struct obs_generation *generation = (struct obs_generation *)obs_span_lowest(current, at, OBS_ARRAYS);
        if (generation)
            view(generation, &next);
        pthread_rwlock_unlock(&lock);
        more = generation && ((alive && !next.alive) || each(&next, data));
        at = next.base + next.size;
    }
}

uint64_t obs_generation_count_hosts(void)
{
    return generations_hosts;
}

uint64_t obs_generation_count(void)
{
    return generations;
}

void obs_generation_forget_ended(void)
{
    enum { AT_ONCE = 64 };
    struct obs_generation *some[AT_ONCE];
    pthread_rwlock_rdlock(&lock);
    size_t left = (over + 1) / 2;
    pthread_rwlock_unlock(&lock);
    while (left > 0) {
        size_t count = 0;
        pthread_rwlock_wrlock(&lock);
        for (; count < AT_ONCE && left > 0 && oldest; left--)
            some[count++] = take_oldest();
        pthread_rwlock_unlock(&lock);
        if (count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            obs_history_forget(&some[i]->history);
            obs_generation_drop(some[i]);
        }
    }
}
