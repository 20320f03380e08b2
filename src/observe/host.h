/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's code loads and stores, where it has been compiled for that (`millrace cc --check`).
 *
 * Such a program, or library, has a struct mr_host of its own, exported as MR_HOST_SYMBOL. An observer that wants to
 * know of the accesses finds it and fills it in. Accesses outside of the bounds are not told of: nearly all of a
 * program's are to its own memory, and cost two loads and a branch. */
#ifndef MR_OBSERVE_HOST_H
#define MR_OBSERVE_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR_HOST_SYMBOL "millrace_host"
#define MR_HOST_VERSION 1u

/* From `low` on, `span` bytes: memory that both host and device can use lies in it. */
struct mr_host_bounds {
    _Atomic uintptr_t low, span;
};

struct mr_host {
    uint32_t version; /* MR_HOST_VERSION */
    _Atomic(const struct mr_host_bounds *) bounds; /* NULL: nobody wants to know; set last */
    /* The running thread loads or stores `size` bytes at `first`; `site`: the return address of the call that says so.
     */
    void (*access)(uintptr_t first, size_t size, bool stores, const void *site);
};

#endif
