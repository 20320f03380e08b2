/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the layers: a context (object) begins and ends its streams (stream) and its device heap (kernel) through hooks, because object lies below
 * them. */
#include "api/wiring.h"

#include "kernel/heap.h"
#include "object/context.h"
#include "stream/stream.h"

/* Nothing runs in the context any more once its streams have ended. */
static void end_context(struct mr_context *context)
{
    mr_context_streams_end(context);
    mr_heap_end(context);
}

void mr_wiring_setup(void)
{
    static const struct mr_context_hooks hooks = {
        .begin = mr_context_streams_init,
        .end = end_context,
        .release = mr_context_streams_release,
    };
    mr_context_set_hooks(&hooks);
}
