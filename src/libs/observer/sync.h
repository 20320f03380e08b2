/* SPDX-License-Identifier: Apache-2.0 */
/* Order between the host's threads, taken strictly: what counts is what the program does to order them, as
 * libmillrace-threads.so tells it (observe/threads.h). Calls that follow each other by chance are not in order. */
#ifndef MR_OBSERVER_SYNC_H
#define MR_OBSERVER_SYNC_H

#include <stdbool.h>

/* From now on each thread has a lane of its own (operation.h). Once, before any point comes. False, with a message in
 * the log: the library is not there. */
bool obs_sync_begin(void);

#endif
