/* SPDX-License-Identifier: Apache-2.0 */
/* Releases: what a completed mark sets free, and goes on once the thread holds no lock.
 *
 * A waiter's `notify` may run with a stream's lock held, so it takes no lock itself: it puts a release on a list of the
 * calling thread. A thread that completes marks works the list off when its locks are dropped (mr_release_all): in a
 * loop that is never entered twice, so that a chain of any length unrolls flat. All functions are about the calling
 * thread's own list. */
#ifndef MR_EVENT_RELEASE_H
#define MR_EVENT_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/thread.h"

/* Embedded in what waits, which stays in place until `go` has run. `go` is called once, with no lock held; it must not
 * block, nor run the program's code. The record is its owner's again from the call on. */
struct mr_release {
    struct mr_release *next;
    void (*go)(struct mr_release *release);
};

struct mr_releases {
    struct mr_release *first, *last;
    bool going;
};
extern _Thread_local struct mr_releases mr_releases __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline void mr_release_add(struct mr_release *release)
{
    release->next = NULL;
    if (mr_releases.last)
        mr_releases.last->next = release;
    else
        mr_releases.first = release;
    mr_releases.last = release;
}

void mr_release_all_slow(void);

/* Works the list off, unless that is going on further down on this thread's stack. No lock held. */
static inline void mr_release_all(void)
{
    MR_MAY_WAIT();
    if (__builtin_expect(mr_releases.first != NULL, 0) && !mr_releases.going)
        mr_release_all_slow();
}

#endif
