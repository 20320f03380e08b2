/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools. */
#include "libs/observer/tool.h"

const struct obs_tool *const obs_tools[] = {
    &obs_tool_race, &obs_tool_mem, &obs_tool_init, &obs_tool_pages, &obs_tool_schedule, &obs_tool_trace, NULL};
