/* SPDX-License-Identifier: Apache-2.0 */
/* What was seen and what was not, from all parts of the tools race, mem and init (finding.h). */
#include <string.h>

#include "libs/observer/generation.h"
#include "libs/observer/host.h"
#include "libs/observer/init.h"
#include "libs/observer/mem_fault.h"
#include "libs/observer/order_call.h"
#include "libs/observer/shadow.h"

void obs_race_summary(struct mr_race_summary *out)
{
    memset(out, 0, sizeof *out);
    obs_shadow_summary(out);
    obs_mem_summary(out);
    obs_init_summary(out);
    out->calls = obs_order_calls();
    out->touches = obs_host_touches();
    out->host_unseen = obs_host_unseen() && obs_generation_count_hosts() > 0;
    out->operations = obs_operation_made();
    out->timelines = obs_timeline_count();
    out->clocks = obs_clock_nodes();
    out->bytes += obs_clock_bytes() + obs_operation_bytes();
    out->short_of_memory = out->short_of_memory || obs_clock_short() || obs_order_short;
}
