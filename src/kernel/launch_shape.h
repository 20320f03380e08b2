/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a launch: which ones a kernel can have, and what follows from it. Inline, for each launch comes by. */
#ifndef MR_KERNEL_LAUNCH_SHAPE_H
#define MR_KERNEL_LAUNCH_SHAPE_H

#include <stdbool.h>

#include "compile/compile.h"
#include "kernel/launch.h"
#include "module/module.h"
#include "object/device.h"

static inline bool mr_launch_shape_is_valid(const unsigned grid[3], const unsigned block[3],
                                            const struct mr_entry *info)
{
    /* One subtraction turns "1 to limit" into one comparison. */
    if (grid[0] - 1 >= MR_MAX_GRID_X || grid[1] - 1 >= MR_MAX_GRID_Y || grid[2] - 1 >= MR_MAX_GRID_Z)
        return false;
    if (block[0] - 1 >= MR_MAX_BLOCK_X || block[1] - 1 >= MR_MAX_BLOCK_Y || block[2] - 1 >= MR_MAX_BLOCK_Z)
        return false;
    if (block[0] * block[1] * block[2] > info->launch_threads)
        return false;
    return info->required[0] == 0 ||
           (block[0] == info->required[0] && block[1] == info->required[1] && block[2] == info->required[2]);
}

/* Of an entry of the launch's module. */
static inline void mr_launch_set_shape(struct mr_launch *launch, const struct mr_entry *info, const unsigned grid[3],
                                       const unsigned block[3], unsigned dynamic_shared)
{
    launch->symbols = launch->module->symbols;
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = grid[i];
        launch->block[i] = block[i];
    }
    launch->dynamic_shared = dynamic_shared;
    launch->dynamic_offset = (uint32_t)info->dynamic_offset;
    launch->shared_size = (uint32_t)(dynamic_shared ? info->dynamic_offset + dynamic_shared : info->static_shared);
}

#endif
