/* SPDX-License-Identifier: Apache-2.0 */
/* From what the driver tells of the heap of kernels to generations (heap.h). */
#include "libs/observer/heap.h"

#include <stdlib.h>

#include "libs/observer/follow.h"
#include "libs/observer/generation.h"
#include "libs/observer/order_call.h"

/* So many may come and go in one launch and be known each by itself. Of two allocations that are so near to each other
 * no other one lies between, by whichever launch: each has a gap of 64 bytes behind it, and an end at a multiple of 16.
 */
enum { MOST_MOMENTS = 1024, NEAR = 64 + 16 };

/* What a launch has allocated, in the order of addresses, which is that in which it did so. */
struct list {
    struct obs_operation *operation;
    const struct mr_observed_heap **made;
    bool *gone; /* freed by the same launch */
    size_t count, moments;
};

/* Where in the list the allocation at this address is, or its count. */
static size_t place_of(const struct list *list, uintptr_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->made[middle]->first < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->made[low]->first == address ? low : list->count;
}

static void end_one(const struct list *list, uintptr_t first)
{
    (void)obs_generation_ended(list->operation, first);
}

/* Many that came and went: those that lie side by side become one. No kernel can use them afterwards. */
static size_t join_moments(const struct list *list, size_t at)
{
    size_t last = at;
    while (last + 1 < list->count && list->gone[last + 1] &&
           list->made[last + 1]->first - (list->made[last]->first + list->made[last]->size) <= NEAR)
        last++;
    uintptr_t first = list->made[at]->first, end = list->made[last]->first + list->made[last]->size;
    if (obs_generation_made(list->operation, MR_ALLOCATION_HEAP, first, end - first))
        end_one(list, first);
    return last;
}

static void tell(struct list *list, const struct mr_observed_heap *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (changes[i].how == MR_OBSERVED_HEAP_ALLOCATED)
            list->made[list->count++] = &changes[i];
    for (size_t i = 0; i < count; i++) {
        size_t place = changes[i].how == MR_OBSERVED_HEAP_FREED ? place_of(list, changes[i].first) : list->count;
        if (place < list->count) {
            list->gone[place] = true;
            list->moments++;
        }
    }
    bool join = list->moments > MOST_MOMENTS;
    for (size_t i = 0; i < list->count; i++) {
        if (join && list->gone[i])
            i = join_moments(list, i);
        else if (obs_generation_made(list->operation, MR_ALLOCATION_HEAP, list->made[i]->first, list->made[i]->size) &&
                 list->gone[i])
            end_one(list, list->made[i]->first);
    }
    for (size_t i = 0; i < count; i++)
        if (changes[i].how == MR_OBSERVED_HEAP_FREED && place_of(list, changes[i].first) == list->count)
            end_one(list, changes[i].first);
}

void obs_heap_told(const struct obs_tool *tool, const struct mr_observed_work *work,
                   const struct mr_observed_heap *changes, size_t count)
{
    struct obs_operation *early, *operation;
    if (!obs_follow_is(tool))
        return;
    operation = obs_order_of_work(work, false, &early);
    struct list list = {.operation = operation};
    list.made = malloc(count * sizeof(const struct mr_observed_heap *));
    list.gone = calloc(count, sizeof *list.gone);
    if (operation && list.made && list.gone)
        tell(&list, changes, count);
    free(list.made);
    free(list.gone);
    if (operation)
        obs_operation_drop(operation);
    if (early)
        obs_operation_drop(early);
}
