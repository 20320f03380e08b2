/* SPDX-License-Identifier: Apache-2.0 */
/* What a build that checks locks looks at: which thread holds a lock, and whether locks are taken in the order of
 * docs/locking.md.
 *
 * Each thread lists the locks that it holds. A lock may be taken when lock_ranks.def allows its rank under each lock on
 * the list. So a wrong order is found the first time that a thread goes that way, whether another thread is in the way
 * at that moment or not.
 *
 * Compiled only where MR_LOCKS_CHECKED is defined (meson's option lock_checks). */
#include "base/thread.h"

#ifdef MR_LOCKS_CHECKED

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mutex.h"

enum { MOST_HELD = 16, MOST_FRAMES = 32 };

static const struct {
    const char *text;
    enum mr_lock_rank last;
    bool is_long;
} ranks[MR_LOCK_RANKS] = {
#define MR_LOCK_NOTHING MR_LOCK_UNRANKED
#define SHORT false
#define LONG true
#define MR_RANK(name, last, hold, text) [MR_LOCK_##name] = {text, MR_LOCK_##last, hold},
#include "base/lock_ranks.def"
#undef MR_RANK
};

static _Thread_local struct {
    unsigned count;
    mr_lock *held[MOST_HELD];
} self;

static const char *name_of(const mr_lock *lock)
{
    return lock->rank != MR_LOCK_UNRANKED && lock->rank < MR_LOCK_RANKS ? ranks[lock->rank].text
                                                                        : "a lock without a rank";
}

static bool may_be_taken_under(enum mr_lock_rank rank, enum mr_lock_rank held)
{
    return ranks[held].last != MR_LOCK_NOTHING && rank > held && (rank <= ranks[held].last || rank >= MR_LOCK_FAULTS);
}

/* By write(2) alone: the log has a lock of its own. */
__attribute__((noreturn)) static void die(const char *what, const char *name, const char *where)
{
    char line[512];
    int length = snprintf(line, sizeof line, "millrace: lock check: %s: %s%s%s; held by this thread:", what, name,
                          *where ? ": " : "", where);
    for (unsigned i = 0; i < self.count && length < (int)sizeof line; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, "%s %s", i ? "," : "", name_of(self.held[i]));
    if (self.count == 0 && length < (int)sizeof line)
        length += snprintf(line + length, sizeof line - (size_t)length, " nothing");
    if (length >= (int)sizeof line)
        length = (int)sizeof line - 1;
    line[length++] = '\n';
    (void)!write(2, line, (size_t)length);
    void *frames[MOST_FRAMES];
    backtrace_symbols_fd(frames, backtrace(frames, MOST_FRAMES), 2);
    abort();
}

void mr_lock_check_take(mr_lock *lock)
{
    if (lock->rank == MR_LOCK_UNRANKED || lock->rank >= MR_LOCK_RANKS)
        die("taken before it has a rank", name_of(lock), "");
    for (unsigned i = 0; i < self.count; i++) {
        if (self.held[i] == lock)
            die("taken twice", name_of(lock), "");
        if (!may_be_taken_under(lock->rank, self.held[i]->rank))
            die("taken out of order", name_of(lock), "");
    }
}

void mr_lock_check_taken(mr_lock *lock)
{
    if (self.count == MOST_HELD)
        die("one lock too many", name_of(lock), "");
    self.held[self.count++] = lock;
    atomic_store_explicit(&lock->owner, &self, memory_order_relaxed);
}

void mr_lock_check_drop(mr_lock *lock)
{
    unsigned i = self.count;
    while (i > 0 && self.held[i - 1] != lock)
        i--;
    if (i == 0)
        die("dropped by a thread that doesn't hold it", name_of(lock), "");
    for (self.count--; i <= self.count; i++)
        self.held[i - 1] = self.held[i];
    atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
}

void mr_lock_check_held(const mr_lock *lock, const char *name)
{
    if (atomic_load_explicit(&lock->owner, memory_order_relaxed) != &self)
        die("must be held here", name_of(lock), name);
}

void mr_lock_check_owner(int thread, const char *name)
{
    if (thread != gettid())
        die("must be held here", "a mutex", name);
}

void mr_lock_check_wait(const char *where)
{
    for (unsigned i = 0; i < self.count; i++)
        if (!ranks[self.held[i]->rank].is_long)
            die("held where a thread may wait", name_of(self.held[i]), where);
}

#endif
