/* SPDX-License-Identifier: Apache-2.0 */
/* The end of what a chunk shares with other processes. */
#include "memory/sharing.h"

#include "base/alloc.h"
#include "memory/space.h"

void mr_sharing_end(struct mr_sharing *sharing)
{
    MR_HELD(&mr_memory_lock);
    if (sharing->imported)
        mr_list_remove(&sharing->link);
    else
        mr_share_destroy(&sharing->share);
    mr_free(sharing);
}
