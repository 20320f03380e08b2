/* SPDX-License-Identifier: Apache-2.0 */
/* Feeding the rules (order_call.h) with the points of observation, for the tools that need them. Several may be on: the
 * first one that has begun feeds them, and the same functions do nothing for the others. */
#ifndef MR_OBSERVER_FOLLOW_H
#define MR_OBSERVER_FOLLOW_H

#include "libs/observer/tool.h"

/* In a tool's open. `luck`: documented edges are kept apart; one tool that asks for it is enough. */
void obs_follow_begin(const struct obs_tool *tool, const struct mr_observed_driver *driver, bool luck);

/* Does this tool feed the rules? */
bool obs_follow_is(const struct obs_tool *tool);

/* As the points of the same names. The driver's functions that are called in enter and leave are not observed. */
void obs_follow_enter(const struct obs_tool *tool, struct mr_observed_call *call);
void obs_follow_leave(const struct obs_tool *tool, struct mr_observed_call *call, CUresult status);
void obs_follow_bind(const struct obs_tool *tool, const struct mr_observed_work *work);
void obs_follow_end(const struct obs_tool *tool, const struct mr_observed_work *work);

#endif
