/* SPDX-License-Identifier: Apache-2.0 */
/* Handing points on to the observers that want them: the one that was loaded, and the one that has attached. */
#ifndef MR_OBSERVE_PASS_H
#define MR_OBSERVE_PASS_H

#include "observe/hooks.h"

/* Takes the loaded observer's table over; its points are live from mr_observe_open on. Called once each, by
 * mr_observe_load, before any call of the public interface is open. */
void mr_observe_take(const struct mr_observer *table) MR_HIDDEN;
void mr_observe_open(void) MR_HIDDEN;

#endif
