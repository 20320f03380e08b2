/* SPDX-License-Identifier: Apache-2.0 */
/* Records of conditional handles; see conditional.h. */
#include "graph/conditional.h"

#include "base/visit.h"
#include "object/context.h"

static void conditional_finish(void *object)
{
    struct mr_conditional *conditional = object;
    mr_object_drop(conditional->context);
}

struct mr_conditional *mr_conditional_new(struct mr_context *context, uint64_t graph, unsigned initial, bool assigns)
{
    struct mr_conditional *conditional = mr_object_new(MR_KIND_CONDITIONAL, sizeof *conditional, conditional_finish);
    if (!conditional)
        return NULL;
    mr_object_hold(context);
    conditional->context = context;
    conditional->graph = graph;
    conditional->initial = initial;
    conditional->assigns = assigns;
    mr_list_init(&conditional->link);
    return conditional;
}

bool mr_conditional_set(uint64_t handle, uint32_t value)
{
    uint64_t visit = mr_visit_begin();   /* a kernel calls, on any thread */
    const void *name = (void *)(uintptr_t)handle;
    struct mr_conditional *conditional = mr_object_find(name, MR_KIND_CONDITIONAL);
    /* Its graph may be gone. A run of what was made of that holds the record, which is then no other's. */
    if (!conditional)
        conditional = (struct mr_conditional *)(uintptr_t)mr_object_find_ended(name, MR_KIND_CONDITIONAL);
    bool runs = conditional && atomic_load_explicit(&conditional->runs, memory_order_relaxed) != 0;
    if (runs)
        atomic_store(&conditional->value, value);
    mr_visit_end(visit);
    return runs;
}
