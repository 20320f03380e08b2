/* SPDX-License-Identifier: Apache-2.0 */
/* Where the command's companions are: nvcc and ptxas beside it, the libraries in lib/ beside its folder, in the build
 * folder as where Millrace is installed. The command's own place decides, so a moved tree still works. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "millrace.h"

/* Resolves `folder`/`relative` into `out` if `folder`/`relative`/`file` exists. */
static bool find_folder(const char *folder, const char *relative, const char *file, char out[PATH_MAX])
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%.3000s/%s/%s", folder, relative, file);
    if (access(path, F_OK) != 0)
        return false;
    snprintf(path, sizeof path, "%.3000s/%s", folder, relative);
    return realpath(path, out) != NULL;
}

bool tool_find_paths(struct tool_paths *paths)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        perror("millrace: cannot read /proc/self/exe");
        return false;
    }
    self[length] = '\0';
    const char *folder = dirname(self);
    if (!find_folder(folder, "../lib", "libcuda.so.1", paths->libraries)) {
        fprintf(stderr,
                "millrace: there is no libcuda.so.1 in %s/../lib; build it with 'make', or install it with "
                "'make install PREFIX=FOLDER'\n",
                folder);
        return false;
    }
    if (!find_folder(folder, ".", "nvcc", paths->shims)) {
        fprintf(stderr, "millrace: there is no nvcc in %s; build it with 'make'\n", folder);
        return false;
    }
    return true;
}
