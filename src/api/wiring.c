/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the layers, through hooks: a context (object) begins and ends its streams (stream) and its device heap
 * (kernel), and frees its modules, arrays and memory, all of which lie above it; memory pools ask about marks (event);
 * watches (engine) move streams on; and kernels set the values of conditional nodes (graph). */
#include "api/wiring.h"

#include "capture/capture.h"
#include "engine/gate.h"
#include "engine/watch.h"
#include "event/event.h"
#include "graph/conditional.h"
#include "kernel/heap.h"
#include "kernel/launch.h"
#include "memory/allocation.h"
#include "memory/mempool.h"
#include "module/array.h"
#include "module/module.h"
#include "module/texture.h"
#include "object/context.h"
#include "stream/stream.h"

/* Nothing runs in the context any more once its streams have ended. */
static void end_context(struct mr_context *context)
{
    mr_context_streams_end(context);
    mr_events_end_all(context);
    mr_heap_end(context);
}

/* No thread fills memory of the context any more. */
static void free_context(struct mr_context *context)
{
    mr_modules_unload_all(context);
    mr_textures_end_all(context);
    mr_arrays_end_all(context);
    mr_memory_release_context(context);
}

static bool mark_is_done(void *mark)
{
    return mr_mark_is_done(mark);
}

static void mark_hold(void *mark)
{
    mr_mark_hold(mark);
}

static void mark_drop(void *mark)
{
    mr_mark_drop(mark);
}

void mr_wiring_setup(void)
{
    static const struct mr_context_hooks hooks = {
        .begin = mr_context_streams_init,
        .end = end_context,
        .free = free_context,
        .release = mr_context_streams_release,
    };
    static const struct mr_mark_hooks marks = {mark_is_done, mark_hold, mark_drop};
    mr_context_set_hooks(&hooks);
    mr_capture_setup();
    mr_mempool_set_hooks(&marks);
    mr_watch_settle = mr_stream_drain_released;
    mr_gate_wait_is_over = mr_stream_wait_is_over;
    mr_kernel_set_conditional = mr_conditional_set;
}
