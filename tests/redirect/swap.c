/* SPDX-License-Identifier: Apache-2.0 */
/* An audit library that puts the file SWAP_WITH in the place of SWAP_OBJECT as soon as the loader has mapped that. */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned la_version(unsigned version)
{
    return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    const char *object = getenv("SWAP_OBJECT"), *with = getenv("SWAP_WITH");
    (void)namespace, (void)cookie;
    if (object && with && strcmp(map->l_name, object) == 0 && rename(with, object) != 0)
        perror("swap");
    return 0;
}
