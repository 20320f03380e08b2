/* SPDX-License-Identifier: Apache-2.0 */
/* One tool feeds the rules (follow.h). */
#include "libs/observer/follow.h"

#include "libs/observer/order_call.h"

static const struct obs_tool *feeder; /* written before any point comes */

void obs_follow_begin(const struct obs_tool *tool, const struct mr_observed_driver *driver, bool luck)
{
    static bool apart;
    apart = apart || luck;
    obs_order_begin(apart);
    if (feeder)
        return;
    feeder = tool;
    obs_driver = (struct obs_driver){
        .driver = driver,
        .stream_id = driver->function("cuStreamGetId"),
        .stream_flags = driver->function("cuStreamGetFlags"),
        .stream_context = driver->function("cuStreamGetCtx"),
        .stream_captures = driver->function("cuStreamIsCapturing"),
        .context_of_green = driver->function("cuCtxFromGreenCtx"),
        .address_range = driver->function("cuMemGetAddressRange_v2"),
        .graph_nodes = driver->function("cuGraphGetNodes"),
        .graph_edges = driver->function("cuGraphGetEdges_v2"),
        .node_type = driver->function("cuGraphNodeGetType"),
        .node_child = driver->function("cuGraphChildGraphNodeGetGraph"),
        .node_records = driver->function("cuGraphEventRecordNodeGetEvent"),
        .node_waits = driver->function("cuGraphEventWaitNodeGetEvent"),
        .node_allocates = driver->function("cuGraphMemAllocNodeGetParams"),
        .node_frees = driver->function("cuGraphMemFreeNodeGetParams"),
        .node_values = driver->function("cuGraphBatchMemOpNodeGetParams"),
    };
}

bool obs_follow_is(const struct obs_tool *tool)
{
    return feeder == tool;
}

void obs_follow_enter(const struct obs_tool *tool, struct mr_observed_call *call)
{
    if (feeder != tool)
        return;
    obs_driver.driver->pause(true);
    obs_order_enter(call);
    obs_driver.driver->pause(false);
}

void obs_follow_leave(const struct obs_tool *tool, struct mr_observed_call *call, CUresult status)
{
    if (feeder != tool)
        return;
    obs_driver.driver->pause(true);
    obs_order_leave(call, status);
    obs_driver.driver->pause(false);
}

void obs_follow_bind(const struct obs_tool *tool, const struct mr_observed_work *work)
{
    if (feeder == tool)
        obs_order_bind(work);
}

void obs_follow_end(const struct obs_tool *tool, const struct mr_observed_work *work)
{
    if (feeder == tool)
        obs_order_end(work);
}
