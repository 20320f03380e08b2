/* SPDX-License-Identifier: Apache-2.0 */
/* Advice is kept as one sorted array of stretches that do not overlap. An update first cuts stretches at the ends of
 * the range and fills the gaps inside it, and then changes what lies between. Programs give little advice, so the array
 * is short. */
#include "memory/advice.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "memory/space.h"

struct stretch {
    uintptr_t start, end;
    struct mr_advice advice;
};

static mr_lock lock = MR_LOCK_INIT(ADVICE);
static struct stretch *stretches;   /* under lock, as are the next two */
static size_t room;
static _Atomic size_t count;        /* written under lock; read without to skip everything when nothing is known */

static size_t count_now(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}

/* Index of the first stretch that ends after the address. */
static size_t position(uintptr_t address)
{
    size_t i = 0;
    while (i < count_now() && stretches[i].end <= address)
        i++;
    return i;
}

/* Room for it was reserved. */
static void insert(size_t at, struct stretch what)
{
    memmove(stretches + at + 1, stretches + at, (count_now() - at) * sizeof *stretches);
    stretches[at] = what;
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

/* Makes `address` a border if it is inside a stretch. */
static void cut(uintptr_t address)
{
    size_t at = position(address);
    if (at < count_now() && stretches[at].start < address) {
        struct stretch rest = stretches[at];
        stretches[at].end = address;
        rest.start = address;
        insert(at + 1, rest);
    }
}

static void page_range(uintptr_t *start, size_t size, uintptr_t *end)
{
    *end = (*start + size + mr_page_size - 1) & ~(uintptr_t)(mr_page_size - 1);
    *start &= ~(uintptr_t)(mr_page_size - 1);
}

bool mr_advice_update(uintptr_t start, size_t size, void (*change)(struct mr_advice *advice, const void *data),
                      const void *data)
{
    uintptr_t end;
    page_range(&start, size, &end);
    mr_lock_take(&lock);
    /* Two cuts, and a gap before every stretch and after the last. */
    bool done = mr_array_reserve((void **)&stretches, &room, count_now() * 2 + 5, sizeof *stretches);
    if (done) {
        cut(start);
        cut(end);
        uintptr_t from = start;
        for (size_t i = position(start); from < end; i++) {
            if (i == count_now() || stretches[i].start > from) {
                uintptr_t until = i < count_now() && stretches[i].start < end ? stretches[i].start : end;
                insert(i, (struct stretch){.start = from, .end = until});
            }
            change(&stretches[i].advice, data);
            from = stretches[i].end;
        }
    }
    mr_lock_drop(&lock);
    return done;
}

void mr_advice_visit(uintptr_t start, size_t size, void (*visit)(const struct mr_advice *advice, void *data),
                     void *data)
{
    static const struct mr_advice nothing;
    uintptr_t end;
    page_range(&start, size, &end);
    mr_lock_take(&lock);
    for (size_t i = position(start); start < end; i++) {
        if (i == count_now() || stretches[i].start > start)
            visit(&nothing, data);
        if (i == count_now() || stretches[i].start >= end)
            break;
        visit(&stretches[i].advice, data);
        start = stretches[i].end;
    }
    mr_lock_drop(&lock);
}

void mr_advice_forget(uintptr_t start, size_t size)
{
    uintptr_t end;
    if (atomic_load_explicit(&count, memory_order_acquire) == 0)
        return;
    page_range(&start, size, &end);
    mr_lock_take(&lock);
    size_t kept = 0;
    for (size_t i = 0; i < count_now(); i++)
        if (stretches[i].end <= start || stretches[i].start >= end)
            stretches[kept++] = stretches[i];
    atomic_store_explicit(&count, kept, memory_order_relaxed);
    if (!kept) {
        mr_free(stretches);
        stretches = NULL;
        room = 0;
    }
    mr_lock_drop(&lock);
}
