/* SPDX-License-Identifier: Apache-2.0 */
/* millrace cc and millrace smi: nvcc and nvidia-smi by other names, for users with NVIDIA's in PATH. They take the
 * command's place. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "millrace.h"

/* argv[-1] is the command's word, in whose place the program's name comes. */
static int start_shim(const char *name, char **argv)
{
    struct tool_paths paths;
    char program[PATH_MAX + 16];
    if (!tool_find_paths(&paths))
        return 1;
    snprintf(program, sizeof program, "%s/%s", paths.shims, name);
    char *command = argv[-1];
    argv[-1] = program;
    execv(program, argv - 1);
    fprintf(stderr, "millrace %s: cannot start %s: %s\n", command, program, strerror(errno));
    return 1;
}

int tool_cc(int argc, char **argv)
{
    (void)argc;
    return start_shim("nvcc", argv);
}

int tool_smi(int argc, char **argv)
{
    (void)argc;
    return start_shim("nvidia-smi", argv);
}
