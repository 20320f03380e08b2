/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays' addresses, and which memory is a module's, for an observer. */
#include "memory/observed.h"

#include "memory/allocation.h"

void mr_memory_tell(const struct mr_observed_work *work, struct mr_access *boxes, size_t count)
{
    struct mr_allocation found;
    for (size_t i = 0; i < count && mr_memory_any_apart(); i++) {
        if (!mr_memory_find(boxes[i].first, &found))
            continue;
        if (found.kind == MR_MEMORY_ARRAY)
            boxes[i].first = MR_OBSERVED_ARRAY(found.id) + (boxes[i].first - found.base);
        else if (found.kind == MR_MEMORY_MODULE)
            boxes[i].how |= MR_ACCESS_MODULE;
    }
    mr_observer.access(work, boxes, count);
}
