/* SPDX-License-Identifier: Apache-2.0 */
/* What all families of calls use (order_call.h). */
#include "libs/observer/order_call.h"

struct obs_driver obs_driver;

static _Thread_local uint32_t thread;
static _Atomic uint32_t threads;

uint32_t obs_thread_number(void)
{
    if (!thread)
        thread = atomic_fetch_add(&threads, 1) + 1;
    return thread;
}

struct obs_stream *obs_call_stream(const struct obs_call *call)
{
    return call->has_stream ? obs_stream_find(call->stream, call->call->context, obs_thread_number()) : NULL;
}

enum mr_side_what obs_side_of(const struct mr_observed_work *work)
{
    switch (work->kind) {
    case MR_OBSERVED_KERNEL:
        return MR_SIDE_KERNEL;
    case MR_OBSERVED_COPY:
        return MR_SIDE_COPY;
    case MR_OBSERVED_FILL:
        return MR_SIDE_FILL;
    case MR_OBSERVED_HOST:
        return work->parts ? MR_SIDE_KERNEL : MR_SIDE_HOST_FUNCTION;
    case MR_OBSERVED_MEMORY_OP:
        return MR_SIDE_MEMORY_OP;
    case MR_OBSERVED_GRAPH:
        return MR_SIDE_GRAPH;
    default:
        return MR_SIDE_OTHER;
    }
}
