/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/observer/init.h"

struct obs_init_seen obs_init_seen;

void obs_init_summary(struct mr_race_summary *out)
{
    out->rough += obs_init_seen.rough;
    out->libraries = obs_init_seen.libraries;
    out->shared = obs_init_seen.shared;
}
