/* SPDX-License-Identifier: Apache-2.0 */
/* Telling an observer of what the host touches, in this program (observe/host.h). Read this first.
 *
 * libmillrace_host.a becomes part of a program that `millrace cc --check` compiles. It notes the loads and stores of
 * the host's code that hit memory which kernels can use, too: the observer compares them with what kernels and copies
 * touch (docs/check.md). They come from two places: the compiler calls a function at each load and store
 * (host_access.c), and the linker *wraps* functions of the C library, so that what they touch for the program is noted
 * (host_library.c; host_wrapped.c has those that gcc does not tell of). What lies outside of the observer's *bounds*,
 * the range of addresses that matter, costs a comparison. */
#ifndef MR_HOST_NOTE_H
#define MR_HOST_NOTE_H

#include <stdbool.h>

#include "observe/host.h"

extern struct mr_host millrace_host;

/* The running thread touches `size` bytes; with 0 nothing is told. `site`: a return address in the program. Any thread.
 */
static inline void host_note(uintptr_t first, size_t size, bool stores, const void *site)
{
    const struct mr_host_bounds *bounds = atomic_load_explicit(&millrace_host.bounds, memory_order_acquire);
    if (__builtin_expect(bounds != NULL, 0) && first - atomic_load_explicit(&bounds->low, memory_order_relaxed) <
                                                   atomic_load_explicit(&bounds->span, memory_order_relaxed))
        millrace_host.access(first, size, stores, site);
}

#endif
