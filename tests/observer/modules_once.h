/* SPDX-License-Identifier: Apache-2.0 */
/* What test_order.c has of modules: each is in the current context, with a variable that nobody has touched. Its code
 * is an allocation at the address that is its number. */
#ifndef TESTS_OBSERVER_MODULES_ONCE_H
#define TESTS_OBSERVER_MODULES_ONCE_H

#include "libs/observer/code.h"

uintptr_t obs_generation_alive_in(uintptr_t first, uintptr_t end, enum mr_allocation_kind kind)
{
    (void)first;
    (void)end;
    (void)kind;
    return 0;
}

void obs_code_ended(struct obs_operation *operation, uint64_t module)
{
    (void)obs_generation_ended(operation, module);
}

void obs_code_stays(uint64_t module)
{
    (void)module;
}

static size_t parts_of(uint64_t handle, bool library, struct mr_observed_part *parts, size_t room)
{
    struct mr_observed_part all[] = {{handle, current, 0, 0}, {handle, current, 0x1000, 64}};
    (void)library;
    for (size_t i = 0; i < 2 && i < room; i++)
        parts[i] = all[i];
    return handle ? 2 : 0;
}

#endif
