/* SPDX-License-Identifier: Apache-2.0 */
/* Calling a function of the program's from a thread that the driver needs afterwards. */
#ifndef MR_BASE_CALL_PROGRAM_H
#define MR_BASE_CALL_PROGRAM_H

#include <stdbool.h>

/* Calls function(data). False if it ended the thread (pthread_exit): its frames are then unwound, with their clean-up
 * handlers, and the thread goes on here. The thread is in the same call afterwards (call.h). The thread's own
 * destructors don't run. No protection against longjmp out of the function, nor against C++ exceptions, which end the
 * process. */
bool mr_call_program(void (*function)(void *data), void *data);

#endif
