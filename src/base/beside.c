/* SPDX-License-Identifier: Apache-2.0 */
/* Files that belong beside a library. */
#include "base/beside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mr_beside(const void *inside, const char *name, char path[PATH_MAX])
{
    char own[PATH_MAX], whole[PATH_MAX];
    Dl_info file;
    if (dladdr(inside, &file) == 0 || !file.dli_fname || !realpath(file.dli_fname, own))
        return false;
    *strrchr(own, '/') = '\0';
    if (snprintf(whole, sizeof whole, "%s/%s", own, name) >= (int)sizeof whole)
        return false;
    memcpy(path, whole, strlen(whole) + 1);
    return true;
}
