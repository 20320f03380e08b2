/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the layers: a context (object) begins and ends its streams (stream) through hooks, because object lies below stream. */
#include "api/wiring.h"

#include "object/context.h"
#include "stream/stream.h"

void mr_wiring_setup(void)
{
    static const struct mr_context_hooks hooks = {
        .begin = mr_context_streams_init,
        .end = mr_context_streams_end,
    };
    mr_context_set_hooks(&hooks);
}
