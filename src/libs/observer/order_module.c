/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and libraries that are unloaded (order_call.h): their variables and their code go as freed memory does.
 *
 * Hardware waits for all work of the module's context, whether or not the module has variables, and for that of all
 * contexts when it unloads a library (conformance cases unload.*). No manual promises it: it is an edge by luck. */
#include <stdlib.h>

#include "libs/observer/code.h"
#include "libs/observer/order_call.h"

/* What goes with the call's module or library (`number` 1) at `object`. The caller frees it. */
static size_t parts_of(const struct obs_call *call, struct mr_observed_part **parts)
{
    uint64_t handle = obs_param_handle(call, call->family->object);
    bool library = call->family->number != 0;
    const struct mr_observed_driver *driver = obs_driver.driver;
    size_t count = driver->parts ? driver->parts(handle, library, NULL, 0) : 0;
    *parts = count ? calloc(count, sizeof **parts) : NULL;
    if (!*parts)
        return 0;
    size_t now = driver->parts(handle, library, *parts, count); /* a library may just have got a module more */
    return now < count ? now : count;
}

/* The call comes after all work of the context, and so does the host when it has returned. */
static void wait_for(struct obs_call *call, struct obs_context *context)
{
    struct obs_operation *operation = call->operation;
    struct obs_point all = {0};
    obs_order_of_context(context, &all);
    obs_point_join(call->point.before, &all);
    operation->before[OBS_EDGES_ALL] = obs_clock_join(operation->before[OBS_EDGES_ALL], all.before[OBS_EDGES_ALL]);
    obs_point_clear(&all);
}

/* Of its bytes, those that nobody has told of are known from now on: kernels that still run may touch them. */
static void end_variable(struct obs_operation *made, struct obs_operation *ended, const struct mr_observed_part *part)
{
    uintptr_t end = part->first + part->size;
    obs_generation_fill(made, MR_ALLOCATION_MODULE, part->first, part->size);
    for (uintptr_t at; (at = obs_generation_alive_in(part->first, end, MR_ALLOCATION_MODULE)) != 0;)
        if (!obs_generation_ended(ended, at))
            break;
}

/* At enter, before the addresses can be another's. A library without parts has not been used, and is waited for. */
void obs_unload_enter(struct obs_call *call)
{
    bool library = call->family->number != 0;
    call->part_count = parts_of(call, &call->parts);
    if (!call->part_count && !library)
        return;
    obs_order_lock();
    struct obs_context *context = library ? obs_context_first() : obs_context_find(call->parts[0].context, false);
    call->operation = obs_order_host(call->stamp);
    if (call->operation) {
        call->operation->side = call->side;
        call->operation->side.what = MR_SIDE_FREE;
    }
    struct obs_operation *made = obs_order_before_all();
    for (; call->operation && context; context = library ? context->next : NULL)
        wait_for(call, context);
    obs_order_unlock();
    if (made) {
        made->side.call = "cuModuleLoadData";
        made->side.what = MR_SIDE_ALLOCATION;
    }
    for (size_t i = 0; made && call->operation && i < call->part_count; i++)
        if (call->parts[i].size)
            end_variable(made, call->operation, &call->parts[i]);
        else
            obs_code_ended(call->operation, call->parts[i].module);
    if (made)
        obs_operation_drop(made);
}

/* Some calls refuse and unload nothing, as in a capture. Others have unloaded, and tell of an earlier fault. */
void obs_unload_failed(struct obs_call *call)
{
    struct mr_observed_part *still;
    if (!call->part_count)
        return;
    obs_free_leave(call);
    size_t count = parts_of(call, &still);
    if (!count)
        return;
    obs_order_lock();
    struct obs_operation *made = obs_order_host(call->stamp);
    if (made) {
        made->side = call->side;
        made->side.what = MR_SIDE_ALLOCATION;
        made->side.number = 0; /* kernels that were launched before use it, too */
        obs_order_returns(made);
    }
    obs_order_unlock();
    for (size_t i = 0; made && i < count; i++)
        if (still[i].size)
            obs_generation_fill(made, MR_ALLOCATION_MODULE, still[i].first, still[i].size);
        else
            obs_code_stays(still[i].module);
    if (made)
        obs_operation_drop(made);
    free(still);
}
