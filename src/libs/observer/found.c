/* SPDX-License-Identifier: Apache-2.0 */
/* Findings lie in chunks that never move, so that they are read without a lock; a table finds one by its kind and
 * sites. */
#include "libs/observer/found.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "libs/observer/advice.h"

enum { CHUNK = 64, CHUNKS = 1024, TABLE = CHUNK * CHUNKS * 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; chunks and count are read without it */
static struct mr_finding *chunks[CHUNKS];
static _Atomic size_t count;
static uint32_t table[TABLE]; /* numbers of findings by their key, 0: free */

const char *obs_finding_kind_name(enum mr_finding_kind kind)
{
    static const char *const names[MR_FINDING_KINDS] = {
#define MR_KIND(kind, name) [MR_FINDING_##kind] = name,
#include "libs/observer/kinds.def"
#undef MR_KIND
    };
    return names[kind];
}

const char *obs_finding_tool_name(enum mr_finding_kind kind)
{
    return kind >= MR_FINDING_UNWRITTEN_COPY ? "init" : kind >= MR_FINDING_OUTSIDE ? "mem" : "race";
}

size_t obs_finding_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

const struct mr_finding *obs_finding(size_t index)
{
    return index < obs_finding_count() ? &chunks[index / CHUNK][index % CHUNK] : NULL;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* Can several operations have this site? */
static bool needs_more(const struct mr_side *side)
{
    return side->site == 0 || side->node != 0;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = mix(hash, (unsigned char)*text);
    return hash;
}

static uint64_t hash_side(uint64_t hash, const struct mr_side *side)
{
    hash = mix(hash, side->site);
    if (needs_more(side))
        hash = hash_text(hash_text(mix(hash, side->what), side->call), side->kernel);
    return hash;
}

static bool same_text(const char *one, const char *other)
{
    return one == other || (one && other && strcmp(one, other) == 0);
}

static bool same_side(const struct mr_side *one, const struct mr_side *other)
{
    if (one->site != other->site || needs_more(one) != needs_more(other))
        return false;
    return !needs_more(one) ||
           (one->what == other->what && same_text(one->call, other->call) && same_text(one->kernel, other->kernel));
}

/* Of mem's findings each place in a kernel is one by itself. */
static uint64_t one_place(const struct mr_finding *finding)
{
    return obs_finding_is_of_mem(finding->kind) ? (uint64_t)finding->later.place << 32 | finding->later.how : 0;
}

/* Which of two operations was asked for first may differ from pair to pair: a pair of sites has no order. */
static bool same_finding(const struct mr_finding *one, const struct mr_finding *other)
{
    if (one->kind != other->kind || one_place(one) != one_place(other))
        return false;
    return (same_side(&one->earlier, &other->earlier) && same_side(&one->later, &other->later)) ||
           (same_side(&one->earlier, &other->later) && same_side(&one->later, &other->earlier));
}

/* With the lock held: text that stays; NULL: memory is short, and the report does without it. */
static void say(struct mr_finding *finding)
{
    MR_MUTEX_HELD(&lock);
    char detail[OBS_ADVICE_ROOM], missing[OBS_ADVICE_ROOM], advice[OBS_ADVICE_ROOM];
    if (obs_finding_is_of_mem(finding->kind)) {
        obs_mem_words(finding, detail, missing, advice);
        finding->detail = strdup(detail);
    } else {
        obs_advise(finding, missing, advice);
    }
    finding->missing = strdup(missing);
    finding->advice = strdup(advice);
}

static bool same_operation(const struct mr_side *one, const struct mr_side *other)
{
    return one->thread == other->thread && one->of_thread == other->of_thread && one->node == other->node &&
           one->what == other->what;
}

static bool same_pair(const struct mr_side *earlier, const struct mr_side *later, const struct mr_finding *finding)
{
    return same_operation(earlier, &finding->earlier) && same_operation(later, &finding->later);
}

/* Keeps the pair beside the finding's own, for witnesses: another pair of the same sites may do damage where the first
 * one does none. With the lock held. */
static void keep_pair(struct mr_finding *known, const struct mr_finding *finding)
{
    MR_MUTEX_HELD(&lock);
    uint32_t pairs = known->pair_count;
    if (obs_finding_is_of_mem(known->kind) || pairs == MR_FINDING_PAIRS ||
        same_pair(&known->earlier, &known->later, finding))
        return;
    for (uint32_t i = 0; i < pairs; i++)
        if (same_pair(&known->pairs[i].earlier, &known->pairs[i].later, finding))
            return;
    if (!known->pairs && !(known->pairs = malloc(MR_FINDING_PAIRS * sizeof *known->pairs)))
        return;
    known->pairs[pairs] =
        (struct mr_finding_pair){finding->earlier, finding->later, finding->first, finding->end, finding->allocation};
    __atomic_store_n(&known->pair_count, pairs + 1, __ATOMIC_RELEASE);
}

void obs_finding_note(const struct mr_finding *finding)
{
    uint64_t hash = hash_side(0, &finding->earlier) + hash_side(0, &finding->later);
    pthread_mutex_lock(&lock);
    size_t at = mix(mix(hash, finding->kind), one_place(finding)) % TABLE;
    for (; table[at]; at = (at + 1) % TABLE) {
        struct mr_finding *known = &chunks[(table[at] - 1) / CHUNK][(table[at] - 1) % CHUNK];
        if (!same_finding(known, finding))
            continue;
        __atomic_store_n(&known->further, known->further + 1, __ATOMIC_RELAXED);
        keep_pair(known, finding);
        if (known->luck && !finding->luck)
            __atomic_store_n(&known->luck, false, __ATOMIC_RELAXED);
        if (known->may && !finding->may)
            __atomic_store_n(&known->may, false, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&lock);
        return;
    }
    size_t number = count;
    struct mr_finding **chunk = &chunks[number / CHUNK % CHUNKS];
    if (number < (size_t)CHUNK * CHUNKS && (*chunk || (*chunk = malloc(CHUNK * sizeof **chunk)))) {
        struct mr_finding *kept = &(*chunk)[number % CHUNK];
        *kept = *finding;
        kept->number = (uint32_t)number + 1;
        kept->pairs = NULL;
        kept->pair_count = 0;
        if (finding->kind != MR_FINDING_LEAK)
            kept->further = 0;
        say(kept);
        table[at] = kept->number;
        atomic_store_explicit(&count, number + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}
