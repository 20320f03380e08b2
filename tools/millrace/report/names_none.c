/* SPDX-License-Identifier: Apache-2.0 */
/* In a build without a library for debug information: places stay module and offset, and the report says why. */
#include "names.h"

struct names_module *names_open(const char *path, const char *build_id, const char **why)
{
    (void)path, (void)build_id;
    *why = "this build of Millrace has no library for debug information (libdw)";
    return NULL;
}

void names_close(struct names_module *module)
{
    (void)module;
}

size_t names_find(struct names_module *module, uint64_t address, struct name **out)
{
    (void)module, (void)address;
    *out = NULL;
    return 0;
}
