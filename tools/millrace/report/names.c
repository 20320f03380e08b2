/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same however names are found. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

void names_free(struct name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(names[i].function);
        free(names[i].file);
    }
    free(names);
}

bool names_is_runtime(const char *function, const char *file)
{
    const char *name = function ? function : "", *path = file ? file : "";
    const char *last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (strstr(path, "/libs/cudart/") || strncmp(last, "runtime_exports_", 16) == 0 ||
        strncmp(name, "libcudart_static_", 17) == 0 || strncmp(name, "__cudaLaunch", 12) == 0 ||
        strncmp(name, "__device_stub__", 15) == 0 || strncmp(name, "cudaError cuda", 14) == 0)
        return true;
    name += strncmp(name, "mr_cuda", 7) == 0 ? 3 : 0;
    return strncmp(name, "cuda", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z' && !strchr(name, '(');
}
