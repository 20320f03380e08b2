/* SPDX-License-Identifier: Apache-2.0 */
/* For each of the latest words the stamps of the host's looks are kept, and what the host knew when it stored last
 * (talk.h). A work that talks comes to know of these when it has run; a look that comes later finds the work in the
 * shadow. Edges are late ones (late.h): what was asked for while the work ran has its clock already. */
#include "libs/observer/talk.h"

#include "libs/observer/generation.h"
#include "libs/observer/late.h"
#include "libs/observer/order_call.h"
#include "libs/observer/shadow.h"

enum { WORDS = 512, LOOKS = 16, MOST = 16 };

static struct word {
    uintptr_t address; /* 0: there is none */
    uint64_t look[LOOKS]; /* the first ones, and the latest */
    unsigned looks;
    uint64_t stored; /* 0: never */
    struct obs_point knew;
} words[WORDS]; /* under the rules' lock, as the next */
static unsigned next_word;
static bool host_is_seen;
static _Atomic unsigned word_count;

void obs_talk_sees_host(void)
{
    host_is_seen = true;
}

static struct word *word_at(uintptr_t address)
{
    for (unsigned i = 0; i < word_count; i++)
        if (words[i].address == address)
            return &words[i];
    struct word *word = &words[next_word++ % WORDS];
    obs_point_clear(&word->knew);
    *word = (struct word){.address = address};
    if (word_count < WORDS)
        word_count++;
    return word;
}

/* The host knows that the work is done, as far as it is concerned. */
static void host_knows(const struct obs_operation *work)
{
    struct obs_point point;
    (void)obs_late_source_of(work, &point);
    obs_order_known(&point, OBS_EDGES_DOCUMENTED);
}

void obs_talk_host(const struct obs_operation *host, uintptr_t first, bool stores)
{
    struct obs_operation *writers[MOST];
    uint64_t stamp = atomic_load(&((struct obs_operation *)host)->tick);
    if (obs_order_strict || !host->host)
        return;
    obs_order_lock();
    struct word *word = word_at(first);
    if (stores) {
        const struct obs_lane *lane = obs_lane_here();
        struct obs_point knows = {.before = {lane->knows[0], lane->knows[1]}};
        word->stored = stamp;
        obs_point_set(&word->knew, &knows);
    } else {
        word->look[word->looks < LOOKS ? word->looks : LOOKS / 2 + word->looks % (LOOKS / 2)] = stamp;
        word->looks++;
    }
    obs_order_unlock();
    size_t count = stores ? 0 : obs_shadow_writers(first, first + 1, MR_ACCESS_TALKS, host, writers, MOST);
    for (size_t i = 0; i < count; i++) {
        obs_order_lock();
        if (!writers[i]->host)
            host_knows(writers[i]);
        obs_order_unlock();
        obs_operation_drop(writers[i]);
    }
}

/* The first look after the stamp, or 0. */
static uint64_t look_after(const struct word *word, uint64_t stamp)
{
    uint64_t first = 0;
    for (unsigned i = 0; i < LOOKS && i < word->looks; i++)
        if (word->look[i] > stamp && (!first || word->look[i] < first))
            first = word->look[i];
    return first;
}

/* What the host asks for after the stamp comes after the work. */
static void tells_host(const struct obs_operation *work, uint64_t stamp)
{
    struct obs_point point;
    struct obs_late_source source = obs_late_source_of(work, &point);
    source.lane = 0;
    obs_late_add(obs_lane_here()->timeline, stamp, &source);
    host_knows(work);
}

/* The work comes after what the host did and knew; what comes after a graph's launch comes after its steps. */
static void told_by_host(const struct obs_operation *work, const struct obs_point *knew, uint64_t stamp)
{
    struct obs_late_source source = {knew, obs_lane_here()->timeline, stamp, true};
    obs_late_add(work->timeline, atomic_load(&((struct obs_operation *)work)->tick), &source);
    if (work->launch)
        obs_late_add(work->launch, work->launch_tick, &source);
}

static bool holds(const struct mr_access *box, uintptr_t address)
{
    uintptr_t at = address - box->first;
    if (address < box->first)
        return false;
    return box->rows > 1 && box->pitch ? at / box->pitch < box->rows && at % box->pitch < box->width : at < box->width;
}

static void by_words(const struct obs_operation *work, const struct mr_access *box)
{
    for (unsigned i = 0; i < word_count; i++) {
        struct word *word = &words[i];
        if (!word->address || !holds(box, word->address))
            continue;
        uint64_t look = look_after(word, work->lane_tick);
        if (box->how & MR_ACCESS_WRITE && look)
            tells_host(work, look);
        if (box->how & MR_ACCESS_READ && word->stored)
            told_by_host(work, &word->knew, word->stored);
    }
}

/* Nothing is known of the host's code. */
static void by_order_of_calls(const struct obs_operation *work, const struct mr_access *box)
{
    const struct obs_lane *lane = obs_lane_here();
    struct obs_point knows = {.before = {lane->knows[0], lane->knows[1]}};
    if (work->side.what == MR_SIDE_MEMORY_OP && obs_values_awaited(box->first))
        return;
    if (box->how & MR_ACCESS_WRITE)
        tells_host(work, work->lane_tick + 1);
    if (box->how & MR_ACCESS_READ)
        told_by_host(work, &knows, obs_stamp());
}

void obs_talk_work(const struct obs_operation *work, const struct mr_access *boxes, size_t count)
{
    enum mr_allocation_kind kind;
    if (obs_order_strict)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!(boxes[i].how & MR_ACCESS_TALKS) || !obs_generation_kind_at(boxes[i].first, work->side.number, &kind) ||
            !obs_generation_is_shared(kind))
            continue;
        obs_order_lock();
        if (host_is_seen)
            by_words(work, &boxes[i]);
        else
            by_order_of_calls(work, &boxes[i]);
        obs_order_unlock();
    }
}
