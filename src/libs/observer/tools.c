/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools. */
#include "libs/observer/tool.h"

const struct obs_tool *const obs_tools[] = {
#define MR_TOOL(name) &obs_tool_##name,
#include "base/tools.def"
#undef MR_TOOL
    NULL};
