/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a job. Tables are few and stay: a job has one while it is open, and not more than a handful are open at a
 * time. */
#include "engine/shares.h"

#include <stdatomic.h>
#include <stddef.h>

#define TABLES 16u
#define SHARES_MOST 64u

struct mr_shares {
    unsigned count;
    struct {
        _Alignas(64) _Atomic uint64_t next; /* the first block of it that nobody has claimed, or something beyond */
        uint64_t end;
        _Atomic bool owned;
    } share[SHARES_MOST];
};

static struct mr_shares tables[TABLES];
static _Atomic uint32_t taken; /* a bit for each table */

struct mr_shares *mr_shares_take(uint64_t total, unsigned count)
{
    uint32_t before = atomic_load_explicit(&taken, memory_order_relaxed);
    unsigned place;
    do {
        place = (unsigned)__builtin_ctz(~before);
        if (place >= TABLES)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&taken, &before, before | 1u << place, memory_order_acquire,
                                                    memory_order_relaxed));
    struct mr_shares *shares = &tables[place];
    count = count > SHARES_MOST ? SHARES_MOST : count;
    shares->count = count > total ? (unsigned)total : count;
    uint64_t each = total / shares->count, more = total % shares->count, at = 0;
    for (unsigned i = 0; i < shares->count; i++) {
        atomic_store_explicit(&shares->share[i].next, at, memory_order_relaxed);
        atomic_store_explicit(&shares->share[i].owned, false, memory_order_relaxed);
        shares->share[i].end = at += each + (i < more);
    }
    return shares;
}

void mr_shares_give_back(struct mr_shares *shares)
{
    if (shares)
        atomic_fetch_and_explicit(&taken, ~(1u << (shares - tables)), memory_order_release);
}

unsigned mr_shares_own(struct mr_shares *shares, unsigned number)
{
    unsigned wanted = number % shares->count;
    for (unsigned i = 0; i < shares->count; i++) {
        unsigned at = (wanted + i) % shares->count;
        if (!atomic_load_explicit(&shares->share[at].owned, memory_order_relaxed) &&
            !atomic_exchange_explicit(&shares->share[at].owned, true, memory_order_relaxed))
            return at;
    }
    return wanted;
}

uint64_t mr_shares_progress(struct mr_shares *shares)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < shares->count; i++)
        sum += atomic_load_explicit(&shares->share[i].next, memory_order_relaxed);
    return sum;
}

bool mr_shares_claim(struct mr_shares *shares, unsigned own, uint64_t most, uint64_t *first, uint64_t *end)
{
    for (unsigned i = 0; i < shares->count; i++) {
        unsigned at = (own + i) % shares->count;
        uint64_t stop = shares->share[at].end,
                 next = atomic_load_explicit(&shares->share[at].next, memory_order_relaxed);
        if (next >= stop)
            continue;
        uint64_t half = (stop - next) / 2 + 1, count = most < half ? most : half;
        next = atomic_fetch_add_explicit(&shares->share[at].next, count, memory_order_relaxed);
        if (next >= stop)
            continue;
        *first = next;
        *end = stop - next < count ? stop : next + count;
        return true;
    }
    return false;
}
