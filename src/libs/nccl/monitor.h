/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor: a thread that looks after launches which wait for other ranks; launch.h says what it does about them. It
 * looks every 20 ms while launches wait, and sleeps after a second without one. Any thread may call these functions. */
#ifndef MR_NCCL_MONITOR_H
#define MR_NCCL_MONITOR_H

#include <stdbool.h>

/* Starts the thread, once: it calls `look`, which says whether launches wait. False if it can't be started. */
bool mr_monitor_begin(bool (*look)(void));

/* A launch may have to wait. One load when the thread is at work. */
void mr_monitor_look(void);

/* A meeting has failed: look at once. */
void mr_monitor_wake(void);

#endif
