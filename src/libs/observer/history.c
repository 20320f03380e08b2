/* SPDX-License-Identifier: Apache-2.0 */
/* Notes, how they are compared, and which of them are needless (history.h). */
#include "libs/observer/history.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "libs/observer/advice.h"
#include "libs/observer/found.h"
#include "libs/observer/late.h"

const char obs_heap_malloc[] = "malloc() in a kernel", obs_heap_free[] = "free() in a kernel";

struct note {
    struct obs_span span; /* first: a span is its note */
    struct obs_shape shape;
    struct obs_operation *operation;
    uint64_t stamp;
    uint32_t how, place;
};

enum {
    AT_ONCE = 64,          /* notes that are looked at without memory of their own */
    NOTES_MAX = 1 << 16,   /* of one history */
    NOTES_MIN = 8,         /* that a history keeps when memory is short */
    OPERATION_BYTES = 256, /* what a note's operation is taken to cost */
};

static _Atomic size_t limit = (size_t)256 << 20;
static _Atomic size_t bytes;
static _Atomic uint64_t coarse, forgotten;
static atomic_bool short_of_memory;

void obs_history_limit(size_t size)
{
    limit = size;
}

size_t obs_history_bytes(void)
{
    return bytes;
}

bool obs_history_full(void)
{
    return bytes > limit / 4 * 3;
}

struct obs_history_counts obs_history_counts(void)
{
    return (struct obs_history_counts){coarse, forgotten, short_of_memory};
}

static void add(_Atomic uint64_t *counter, uint64_t count)
{
    atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

void obs_history_init(struct obs_history *history, enum mr_allocation_kind kind, struct obs_operation *made)
{
    *history = (struct obs_history){.kind = kind, .made = made ? obs_operation_keep(made) : NULL};
    pthread_mutex_init(&history->lock, NULL);
}

static size_t size_of(const struct note *note)
{
    return sizeof *note + OPERATION_BYTES + obs_shape_memory(&note->shape);
}

/* Puts a note that has all but its span into the tree. */
static void insert(struct obs_history *history, struct note *note)
{
    note->span.first = note->shape.first;
    note->span.end = note->shape.end;
    obs_span_insert(&history->notes, &note->span);
    history->count++;
    atomic_fetch_add_explicit(&bytes, size_of(note), memory_order_relaxed);
}

static void take_out(struct obs_history *history, struct note *note)
{
    atomic_fetch_sub_explicit(&bytes, size_of(note), memory_order_relaxed);
    obs_span_remove(&history->notes, &note->span);
    history->count--;
}

/* Of a note that is in no tree. */
static void free_note(struct note *note)
{
    obs_shape_free(&note->shape);
    obs_operation_drop(note->operation);
    free(note);
}

static void forget_below(struct obs_span *span)
{
    while (span) {
        struct note *note = (struct note *)span;
        struct obs_span *high = span->high;
        forget_below(span->low);
        atomic_fetch_sub_explicit(&bytes, size_of(note), memory_order_relaxed);
        free_note(note);
        span = high;
    }
}

static void forget_all(struct obs_history *history)
{
    forget_below(history->notes);
    history->notes = NULL;
    history->count = 0;
}

void obs_history_forget(struct obs_history *history)
{
    pthread_mutex_lock(&history->lock);
    add(&forgotten, history->count);
    forget_all(history);
    pthread_mutex_unlock(&history->lock);
}

void obs_history_free(struct obs_history *history)
{
    forget_all(history);
    obs_operation_drop(history->made);
    obs_operation_drop(history->ended);
    pthread_mutex_destroy(&history->lock);
}

size_t obs_history_writers(struct obs_history *history, uintptr_t first, uintptr_t end, struct obs_operation *out[],
                           uint32_t how, size_t most)
{
    struct obs_span *spans[AT_ONCE];
    struct obs_shape word = obs_shape_run(first, end);
    struct obs_run run;
    size_t count = 0;
    pthread_mutex_lock(&history->lock);
    size_t found = obs_span_collect(history->notes, first, end, spans, AT_ONCE);
    for (size_t i = 0; i < found && i < AT_ONCE && count < most; i++) {
        struct note *note = (struct note *)spans[i];
        if (note->how & MR_ACCESS_WRITE && (note->how & how) == how && obs_shape_meet(&note->shape, &word, &run))
            out[count++] = obs_operation_keep(note->operation);
    }
    pthread_mutex_unlock(&history->lock);
    return count;
}

/* By clocks, or by late edges. */
static bool comes_after(const struct obs_operation *later, const struct obs_operation *earlier)
{
    return obs_comes_after(later, earlier) ||
           (__builtin_expect(obs_late_edges != 0, 0) && obs_late_comes_after(later, earlier));
}

/* How an operation lies to one that was noted before. */
enum relation { UNRELATED, AFTER, AFTER_BY_LUCK, BEFORE, BEFORE_BY_LUCK };

static enum relation relation_of(const struct obs_operation *now, const struct obs_operation *noted)
{
    if (obs_comes_after(now, noted))
        return obs_comes_after_by_luck(now, noted) ? AFTER_BY_LUCK : AFTER;
    if (obs_comes_after(noted, now))
        return obs_comes_after_by_luck(noted, now) ? BEFORE_BY_LUCK : BEFORE;
    if (__builtin_expect(obs_late_edges != 0, 0))
        return obs_late_comes_after(now, noted) ? AFTER : obs_late_comes_after(noted, now) ? BEFORE : UNRELATED;
    return UNRELATED;
}

/* A single word by which the two tell each other something (talk.h). */
static bool talk(uint32_t one, uint32_t other)
{
    return (one & OBS_ACCESS_WORD && other & MR_ACCESS_TALKS) || (one & MR_ACCESS_TALKS && other & OBS_ACCESS_WORD);
}

static bool conflict(uint32_t one, uint32_t other)
{
    return !talk(one, other) && ((one | other) & MR_ACCESS_WRITE) &&
           (!(one & other & MR_ACCESS_ATOMIC) || (one & other & OBS_ACCESS_SETS));
}

/* Does what conflicts with `one` also conflict with `other`? */
static bool stands_for(uint32_t other, uint32_t one)
{
    return ((other & MR_ACCESS_WRITE) || !(one & MR_ACCESS_WRITE)) &&
           (!(other & MR_ACCESS_ATOMIC) || (one & MR_ACCESS_ATOMIC)) &&
           (!(other & MR_ACCESS_MAY) || (one & MR_ACCESS_MAY)) &&
           (!(other & (OBS_ACCESS_WORD | MR_ACCESS_TALKS)) || (one & other & (OBS_ACCESS_WORD | MR_ACCESS_TALKS))) &&
           (!(one & OBS_ACCESS_SETS) || (other & OBS_ACCESS_SETS) || !(other & MR_ACCESS_ATOMIC));
}

static struct mr_side side_of(const struct obs_operation *operation, uint32_t how, uint32_t place)
{
    struct mr_side side = operation->side;
    if (how) {
        side.how = how;
        side.place = place;
    }
    return side;
}

/* What the host's code does by itself, or a message, has the number of the latest call before it. */
static bool is_between_calls(const struct mr_side *side)
{
    return side->call == obs_host_code || side->what == MR_SIDE_MESSAGE;
}

static void report(enum mr_finding_kind kind, const struct mr_side *one, const struct mr_side *other,
                   struct obs_run run, const struct obs_told *told, bool luck)
{
    /* Of two steps of one graph the earlier one is that whose node was made first. */
    bool in_order = one->number < other->number ||
                    (one->number == other->number && !is_between_calls(one) && one->node <= other->node);
    struct mr_finding finding = {.kind = kind,
                                 .earlier = in_order ? *one : *other,
                                 .later = in_order ? *other : *one,
                                 .first = run.first + (uintptr_t)told->shift,
                                 .end = run.end + (uintptr_t)told->shift,
                                 .allocation = told->allocation,
                                 .luck = luck,
                                 .may = ((one->how | other->how) & MR_ACCESS_MAY) != 0};
    obs_finding_note(&finding);
}

static enum mr_finding_kind kind_of_race(const struct mr_side *one, const struct mr_side *other)
{
    if (one->what == MR_SIDE_HOST_FUNCTION || other->what == MR_SIDE_HOST_FUNCTION)
        return MR_FINDING_HOST_FUNCTION;
    return one->what == MR_SIDE_HOST || other->what == MR_SIDE_HOST || one->what == MR_SIDE_MESSAGE ||
                   other->what == MR_SIDE_MESSAGE
               ? MR_FINDING_HOST
               : MR_FINDING_RACE;
}

/* Reports a use of the allocation unless its end comes after the use, and not by luck alone. */
static void report_end(const struct obs_history *history, const struct obs_operation *user,
                       const struct obs_touched *touched, const struct obs_told *told)
{
    const struct obs_operation *ended = history->ended;
    bool after = comes_after(user, ended);
    if (!after && comes_after(ended, user) && !obs_comes_after_by_luck(ended, user))
        return;
    bool asked_later = user->side.number > ended->side.number;
    if (history->kind == MR_ALLOCATION_REGISTERED && (after || asked_later))
        return; /* the program's own memory, which is still there */
    struct mr_side use = side_of(user, touched->how, touched->place), end = ended->side;
    struct obs_told ended_told = *told;
    struct obs_run run = {touched->shape.first, touched->shape.end};
    obs_shape_run_at(&touched->shape, run.first, &run);
    ended_told.allocation.free_call = ended->side.call;
    if (history->kind == MR_ALLOCATION_HEAP) {
        ended_told.allocation.free_call = obs_heap_free;
        end.how |= OBS_ACCESS_FREES;
    }
    ended_told.allocation.free_site = ended->side.site;
    report(after || asked_later ? MR_FINDING_USE_AFTER_FREE : MR_FINDING_EARLY_FREE, &use, &end, run, &ended_told,
           !after && obs_comes_after(ended, user));
}

/* The history's lock is held. */
static void check_life(const struct obs_history *history, const struct obs_operation *user,
                       const struct obs_touched *touched, const struct obs_told *told)
{
    MR_MUTEX_HELD(&history->lock);
    bool is_heap = history->kind == MR_ALLOCATION_HEAP;
    bool in_stream_order = history->kind == MR_ALLOCATION_POOL || history->kind == MR_ALLOCATION_GRAPH;
    if ((in_stream_order || is_heap) && user != history->made) {
        enum relation relation = relation_of(user, history->made);
        struct mr_side use = side_of(user, touched->how, touched->place), made = history->made->side;
        struct obs_run run = {touched->shape.first, touched->shape.end};
        obs_shape_run_at(&touched->shape, run.first, &run);
        made.how |= is_heap ? OBS_ACCESS_ALLOCATES : 0u;
        if (relation != AFTER)
            report(MR_FINDING_UNORDERED_USE, &made, &use, run, told, relation == AFTER_BY_LUCK);
    }
    if (history->ended && user != history->ended)
        report_end(history, user, touched, told);
}

static void end_below(const struct obs_history *history, const struct obs_span *span, const struct obs_told *told)
{
    for (; span; span = span->high) {
        const struct note *note = (const struct note *)span;
        struct obs_touched touched = {note->shape, note->how, note->place};
        end_below(history, span->low, told);
        report_end(history, note->operation, &touched, told);
    }
}

void obs_history_end(struct obs_history *history, struct obs_operation *operation, const struct obs_told *told)
{
    pthread_mutex_lock(&history->lock);
    if (!history->ended) {
        struct obs_touched all = {obs_shape_run(told->allocation.base - (uintptr_t)told->shift,
                                                told->allocation.base - (uintptr_t)told->shift + told->allocation.size),
                                  0, 0};
        check_life(history, operation, &all, told);
        history->ended = obs_operation_keep(operation);
        end_below(history, history->notes, told);
    }
    pthread_mutex_unlock(&history->lock);
}

/* Could bytes that both shapes have been touched by both for certain? */
static bool is_certain(const struct note *noted, const struct obs_touched *now)
{
    bool noted_rough = noted->how & MR_ACCESS_ROUGH, now_rough = now->how & MR_ACCESS_ROUGH;
    if (noted_rough && now_rough)
        return false;
    if (noted_rough)
        return obs_shape_covers(&now->shape, &noted->shape);
    return !now_rough || obs_shape_covers(&noted->shape, &now->shape);
}

/* What one touch has to do with the notes that it meets. */
struct comparison {
    struct obs_history *history;
    struct obs_operation *operation;
    const struct obs_told *told;
    struct obs_touched *touched;
    bool done; /* a note of the operation's own says it already: no need to look on */
    bool needless; /* a later operation's note stands for it */
    struct note *same; /* a note of the same bytes that is needless now; still in the tree */
    struct note *spare; /* one that was taken out */
    struct note *grown; /* one that has taken the new bytes in */
    const struct obs_operation *last; /* the relation to it is known */
    enum relation relation;
};

static enum relation relation_to(struct comparison *comparison, const struct obs_operation *noted)
{
    if (comparison->last != noted) {
        comparison->last = noted;
        comparison->relation = relation_of(comparison->operation, noted);
    }
    return comparison->relation;
}

static void drop_needless(struct comparison *comparison, struct note *note)
{
    const struct obs_touched *touched = comparison->touched;
    if (!comparison->same && note->span.first == touched->shape.first && note->span.end == touched->shape.end) {
        comparison->same = note;
        return;
    }
    take_out(comparison->history, note);
    if (comparison->spare) {
        free_note(note);
        return;
    }
    obs_shape_free(&note->shape);
    obs_operation_drop(note->operation);
    comparison->spare = note;
}

/* Takes the bytes away from a note that the new touch makes needless. */
static void make_needless(struct comparison *comparison, struct note *note)
{
    struct obs_history *history = comparison->history;
    struct obs_shape pieces[OBS_SHAPE_PIECES];
    struct note *others[OBS_SHAPE_PIECES] = {NULL};
    bool rough = note->how & MR_ACCESS_ROUGH;
    if (rough || (comparison->touched->how & MR_ACCESS_ROUGH)) {
        if (rough && obs_shape_covers(&comparison->touched->shape, &note->shape))
            drop_needless(comparison, note);
        return;
    }
    int count = obs_shape_subtract(&note->shape, &comparison->touched->shape, pieces);
    if (count == 0)
        drop_needless(comparison, note);
    if (count <= 0)
        return;
    bool good = true;
    for (int i = 1; i < count; i++)
        good = (others[i] = malloc(sizeof *note)) && good;
    if (!good) {
        for (int i = 0; i < count; i++) {
            free(others[i]);
            obs_shape_free(&pieces[i]);
        }
        return;
    }
    take_out(history, note);
    obs_shape_free(&note->shape);
    for (int i = 1; i < count; i++) {
        *others[i] = *note;
        others[i]->shape = pieces[i];
        obs_operation_keep(note->operation);
        insert(history, others[i]);
    }
    note->shape = pieces[0];
    insert(history, note);
}

/* A note of the operation's own. */
static void compare_own(struct comparison *comparison, struct note *note)
{
    const struct obs_touched *touched = comparison->touched;
    bool alike = note->how == touched->how && note->place == touched->place;
    if (!((note->how | touched->how) & MR_ACCESS_ROUGH)) {
        struct obs_shape both = note->shape;
        if (stands_for(note->how, touched->how) && obs_shape_covers(&note->shape, &touched->shape)) {
            comparison->done = true;
            return;
        }
        if (alike && !comparison->grown && obs_shape_grow(&both, &touched->shape)) {
            take_out(comparison->history, note);
            note->shape = both;
            insert(comparison->history, note);
            comparison->grown = note;
            return;
        }
    } else if (alike && obs_shape_covers(&note->shape, &touched->shape)) {
        comparison->done = true;
        return;
    }
    if (stands_for(touched->how, note->how))
        make_needless(comparison, note);
}

static void compare(struct comparison *comparison, struct note *note)
{
    const struct obs_touched *touched = comparison->touched;
    struct obs_run run;
    if (note->operation == comparison->operation) {
        compare_own(comparison, note);
        return;
    }
    if (note->span.end <= touched->shape.first || note->span.first >= touched->shape.end)
        return; /* a neighbour */
    bool conflicts = conflict(touched->how, note->how), stands_now = stands_for(touched->how, note->how);
    if (!conflicts && !stands_now && !stands_for(note->how, touched->how))
        return;
    enum relation relation = relation_to(comparison, note->operation);
    if (conflicts && !comparison->told->elsewhere && relation != AFTER && relation != BEFORE &&
        obs_shape_meet(&note->shape, &touched->shape, &run)) {
        struct mr_side noted = side_of(note->operation, note->how, note->place);
        struct mr_side now = side_of(comparison->operation, touched->how, touched->place);
        if (is_certain(note, touched))
            report(kind_of_race(&noted, &now), &noted, &now, run, comparison->told, relation != UNRELATED);
        else
            add(&coarse, 1);
    }
    if (relation == AFTER && stands_now)
        make_needless(comparison, note);
    else if (relation == BEFORE && stands_for(note->how, touched->how) &&
             !((note->how | touched->how) & MR_ACCESS_ROUGH) && obs_shape_covers(&note->shape, &touched->shape))
        comparison->needless = true;
}

static void keep(struct comparison *comparison)
{
    struct obs_history *history = comparison->history;
    struct obs_touched *touched = comparison->touched;
    struct note *note = comparison->same ? comparison->same : comparison->spare;
    size_t before = 0; /* what `same` has cost */
    if (comparison->done || comparison->needless || comparison->grown) {
        obs_shape_free(&touched->shape);
        if (comparison->same) {
            take_out(history, comparison->same);
            free_note(comparison->same);
        }
        free(comparison->spare);
        return;
    }
    if (note && note == comparison->same) { /* it stays where it is */
        before = size_of(note);
        obs_shape_free(&note->shape);
        obs_operation_drop(note->operation);
        free(comparison->spare);
    } else if (!note && !(note = malloc(sizeof *note))) {
        obs_shape_free(&touched->shape);
        short_of_memory = true;
        return;
    }
    note->shape = touched->shape;
    note->operation = obs_operation_keep(comparison->operation);
    note->how = touched->how;
    note->place = touched->place;
    note->stamp = ++history->stamp;
    if (note != comparison->same)
        insert(history, note);
    else if (size_of(note) != before)
        atomic_fetch_add_explicit(&bytes, size_of(note) - before, memory_order_relaxed);
}

static int by_operation(const void *one, const void *other)
{
    const struct note *a = *(struct note *const *)one, *b = *(struct note *const *)other;
    if (a->operation != b->operation)
        return (uintptr_t)a->operation < (uintptr_t)b->operation ? -1 : 1;
    return a->how != b->how ? a->how < b->how ? -1 : 1 : 0;
}

static int by_stamp(const void *one, const void *other)
{
    const struct note *a = *(struct note *const *)one, *b = *(struct note *const *)other;
    return a->stamp < b->stamp ? -1 : a->stamp > b->stamp;
}

/* Notes of one operation and manner become one rough note of all bytes from the first to the last. */
static size_t make_rough(struct note **notes, size_t count)
{
    size_t left = 0;
    for (size_t i = 0, next; i < count; i = next) {
        struct note *note = notes[i];
        uintptr_t first = note->shape.first, end = note->shape.end;
        for (next = i + 1; next < count && by_operation(&notes[i], &notes[next]) == 0; next++) {
            first = notes[next]->shape.first < first ? notes[next]->shape.first : first;
            end = notes[next]->shape.end > end ? notes[next]->shape.end : end;
            free_note(notes[next]);
        }
        if (next > i + 1 || note->shape.runs) {
            obs_shape_free(&note->shape);
            note->shape = obs_shape_run(first, end);
            note->how |= MR_ACCESS_ROUGH;
            add(&coarse, next - i);
        }
        notes[left++] = note;
    }
    return left;
}

/* Makes notes rough, and forgets the oldest ones until at most `most` are left. */
static void reduce(struct obs_history *history, size_t most)
{
    size_t count = history->count;
    struct note **notes = malloc(count * sizeof *notes);
    if (!notes) {
        add(&forgotten, count);
        forget_all(history);
        return;
    }
    obs_span_collect(history->notes, 0, UINTPTR_MAX, (struct obs_span **)notes, count);
    for (size_t i = 0; i < count; i++)
        atomic_fetch_sub_explicit(&bytes, size_of(notes[i]), memory_order_relaxed);
    qsort(notes, count, sizeof *notes, by_operation);
    count = make_rough(notes, count);
    qsort(notes, count, sizeof *notes, by_stamp);
    size_t gone = count > most ? count - most : 0;
    for (size_t i = 0; i < gone; i++)
        free_note(notes[i]);
    add(&forgotten, gone);
    history->notes = NULL;
    history->count = 0;
    for (size_t i = gone; i < count; i++)
        insert(history, notes[i]);
    free(notes);
}

/* The history's lock is held. */
static void touch_one(struct obs_history *history, struct obs_operation *operation, const struct obs_told *told,
                      struct obs_touched *touched)
{
    MR_MUTEX_HELD(&history->lock);
    struct comparison comparison = {.history = history, .operation = operation, .told = told, .touched = touched};
    struct obs_span *few[AT_ONCE], **met = few;
    uintptr_t first = touched->shape.first - (touched->shape.first > 0), end = touched->shape.end + 1;
    bool scattered = touched->shape.runs != NULL;
    size_t count = obs_span_collect(history->notes, first, end, few, AT_ONCE);
    if (count > AT_ONCE) {
        met = malloc(count * sizeof *met);
        if (met)
            obs_span_collect(history->notes, first, end, met, count);
        else
            short_of_memory = true;
    }
    for (size_t i = 0; met && i < count && !comparison.done; i++)
        compare(&comparison, (struct note *)met[i]);
    if (met != few)
        free(met);
    keep(&comparison);
    if (history->count > NOTES_MAX)
        reduce(history, NOTES_MAX / 2);
    else if (bytes > limit && (history->count > NOTES_MIN || scattered))
        reduce(history, history->count / 2 > NOTES_MIN ? history->count / 2 : NOTES_MIN);
}

void obs_history_touch(struct obs_history *history, struct obs_operation *operation, const struct obs_told *told,
                       struct obs_touched *touched, size_t count)
{
    if (count == 0)
        return;
    pthread_mutex_lock(&history->lock);
    check_life(history, operation, &touched[0], told);
    for (size_t i = 0; i < count; i++)
        touch_one(history, operation, told, &touched[i]);
    pthread_mutex_unlock(&history->lock);
}
