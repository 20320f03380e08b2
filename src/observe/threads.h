/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's threads do to order each other, where libmillrace-threads.so stands before the C library
 * (`millrace check --host-threads=strict`).
 *
 * Each way to synchronise is told as two things, of an object named by its address: a thread *releases* the object, and
 * one that later *acquires* it comes after all that was done before the release. A mutex is released when it is
 * unlocked and acquired when it is locked; a thread that ends releases what a join acquires; and so on. An observer
 * that wants to know finds the struct by MR_THREADS_SYMBOL and fills it in. */
#ifndef MR_OBSERVE_THREADS_H
#define MR_OBSERVE_THREADS_H

#include <stdint.h>

#define MR_THREADS_SYMBOL "millrace_threads"
#define MR_THREADS_VERSION 1u

/* On the thread that does it; `caller`: an address in the code that asked for it. Called before a release takes effect
 * and after an acquisition has. */
typedef void mr_threads_tell(uintptr_t object, const void *caller);

struct mr_threads {
    uint32_t version;                     /* MR_THREADS_VERSION */
    _Atomic(mr_threads_tell *) acquired, released; /* NULL: nobody wants to know */
};

#endif
