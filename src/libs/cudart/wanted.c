/* SPDX-License-Identifier: Apache-2.0 */
/* The least that all registered images can do with. */
#include "libs/cudart/wanted.h"

#include "libs/cudart/image_heads.h"
#include "libs/cudart/register.h"

unsigned mr_rt_wanted_capability(void)
{
    struct mr_rt_image_heads seen = {0, false};
    mr_rt_each_image(mr_rt_see_image, &seen);
    return seen.wanted;
}
