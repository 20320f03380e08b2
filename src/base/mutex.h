/* SPDX-License-Identifier: Apache-2.0 */
/* What MR_HELD is for the driver's own locks (thread.h), for the C library's, which the libraries beside the driver
 * use:
 *
 *   MR_MUTEX_HELD(&mutex)   at the head of a function that is called with a mutex held: the calling thread has it
 *   MR_WRITE_HELD(&lock)    the same of a pthread_rwlock_t that was taken for writing
 *
 * A build that checks locks ends the process with a message and a stack if that doesn't hold. It asks glibc, which
 * notes the owner in the lock; with another C library, and in every other build, this is nothing. */
#ifndef MR_BASE_MUTEX_H
#define MR_BASE_MUTEX_H

#include <pthread.h>

#if defined(MR_LOCKS_CHECKED) && defined(__GLIBC__)
#define MR_MUTEX_HELD(mutex) mr_lock_check_owner((mutex)->__data.__owner, #mutex)
#define MR_WRITE_HELD(lock) mr_lock_check_owner((lock)->__data.__cur_writer, #lock)
void mr_lock_check_owner(int thread, const char *name); /* a thread's number in the kernel; 0: nobody's */
#else
#define MR_MUTEX_HELD(mutex) ((void)(mutex))
#define MR_WRITE_HELD(lock) ((void)(lock))
#endif

#endif
