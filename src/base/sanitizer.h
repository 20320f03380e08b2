/* SPDX-License-Identifier: Apache-2.0 */
/* Which sanitizer the code is built with, and what it can be told. */
#ifndef MR_BASE_SANITIZER_H
#define MR_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define MR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MR_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define MR_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MR_TSAN 1
#endif
#endif

#ifdef MR_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
/* For atomic accesses in functions that ThreadSanitizer doesn't look into: what a store publishes, and what a load has
 * seen. */
#define MR_TSAN_ACQUIRE(address) __tsan_acquire(address)
#define MR_TSAN_RELEASE(address) __tsan_release(address)
#else
#define MR_TSAN_ACQUIRE(address) ((void)(address))
#define MR_TSAN_RELEASE(address) ((void)(address))
#endif

/* Valgrind, where its header was there at build time: client requests, a few instructions without effect outside of it.
 */
#if defined(MR_HAVE_VALGRIND) && !defined(MR_ASAN) && !defined(MR_TSAN)
#include <valgrind/valgrind.h>
#define MR_VALGRIND 1
#endif

#endif
