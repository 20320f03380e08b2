/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's list of releases; see release.h. */
#include "event/release.h"

_Thread_local struct mr_releases mr_releases __attribute__((tls_model("initial-exec"), visibility("hidden")));

void mr_release_all_slow(void)
{
    mr_releases.going = true;
    while (mr_releases.first) {
        struct mr_release *release = mr_releases.first;
        mr_releases.first = release->next;
        if (!mr_releases.first)
            mr_releases.last = NULL;
        release->go(release);
    }
    mr_releases.going = false;
}
