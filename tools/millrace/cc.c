/* SPDX-License-Identifier: Apache-2.0 */
/* millrace cc: the nvcc shim by another name, for users with NVIDIA's nvcc in PATH. It takes the command's place. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "millrace.h"

int tool_cc(int argc, char **argv)
{
    struct tool_paths paths;
    char program[PATH_MAX + 8];
    (void)argc;
    if (!tool_find_paths(&paths))
        return 1;
    snprintf(program, sizeof program, "%s/nvcc", paths.shims);
    argv[-1] = program; /* the word cc, in whose place the program's name comes */
    execv(program, argv - 1);
    fprintf(stderr, "millrace cc: cannot start %s: %s\n", program, strerror(errno));
    return 1;
}
