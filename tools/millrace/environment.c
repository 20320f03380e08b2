/* SPDX-License-Identifier: Apache-2.0 */
/* What all of the command's parts share: the environment of a program that is to run with Millrace, and how it is
 * started; what is said of arguments that are not understood; the end. The program gets Millrace's libraries first in
 * the loader's path and the compiler shims first in PATH. Triton brings an assembler of NVIDIA's, which makes code that
 * only GPUs run, so a variable names the shim to Triton. Programs that ask for a toolkit's root get Millrace's. Python
 * finds what makes PyTorch's own kernels run, and the pytest plugin. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "millrace.h"

/* The variable becomes `first`:`second`. */
static bool join(const char *variable, const char *first, const char *second)
{
    size_t size = strlen(first) + strlen(second) + 2;
    char *joined = malloc(size);
    if (!joined)
        return false;
    snprintf(joined, size, "%s:%s", first, second);
    bool done = setenv(variable, joined, 1) == 0;
    free(joined);
    return done;
}

bool tool_put_first(const char *variable, const char *folder)
{
    const char *before = getenv(variable);
    return before && *before ? join(variable, folder, before) : setenv(variable, folder, 1) == 0;
}

/* Puts `folder` behind what the variable holds, unless it is one of the folders there (a command inside a command). */
static bool append(const char *variable, const char *folder)
{
    const char *before = getenv(variable);
    size_t length = strlen(folder);
    for (const char *at = before; at;) {
        size_t part = strcspn(at, ":");
        if (part == length && strncmp(at, folder, length) == 0)
            return true;
        at = at[part] ? at + part + 1 : NULL;
    }
    return before && *before ? join(variable, before, folder) : setenv(variable, folder, 1) == 0;
}

/* What a loader puts in the place of $LIB, as far as the build knows: the folder of this architecture's libraries. */
#ifndef MR_LOADERS_LIB
#define MR_LOADERS_LIB "lib"
#endif

/* The loader's companion goes first into LD_AUDIT, unless it is there (a command inside a command) or is not wanted.
 * Its path has $LIB in it: loaders of other architectures find a library there that does nothing, and so don't complain
 * about ours. */
static bool name_companion(const char *libraries)
{
    char path[PATH_MAX + 128], own[PATH_MAX + 128];
    const char *before = getenv("LD_AUDIT");
    snprintf(path, sizeof path, "%s/millrace/audit/$LIB/libmillrace-audit.so", libraries);
    snprintf(own, sizeof own, "%s/millrace/audit/" MR_LOADERS_LIB "/libmillrace-audit.so", libraries);
    if (!mr_setting_on(MR_SETTING_REDIRECT) || access(own, R_OK) != 0 || (before && strstr(before, path)))
        return true;
    return tool_put_first("LD_AUDIT", path);
}

/* The variable names a program in the folder, unless it is set. */
static bool name_program(const char *variable, const char *folder, const char *program)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", folder, program);
    return setenv(variable, path, 0) == 0;
}

/* The folder above the shims is a toolkit's root. */
static bool name_root(const char *shims)
{
    char root[PATH_MAX];
    if (getenv("CUDA_HOME") || getenv("CUDA_PATH"))
        return true;
    snprintf(root, sizeof root, "%.*s", (int)(strrchr(shims, '/') - shims), shims);
    return setenv("CUDA_HOME", root, 1) == 0 && setenv("CUDA_PATH", root, 1) == 0;
}

/* Puts the flag `name`, with its value, behind what XLA_FLAGS holds, unless it has it. */
static bool add_xla_flag(const char *name, const char *value)
{
    const char *before = getenv("XLA_FLAGS");
    if (before && strstr(before, name))
        return true;
    size_t size = (before ? strlen(before) : 0) + strlen(name) + strlen(value) + 3;
    char *joined = malloc(size);
    if (!joined)
        return false;
    snprintf(joined, size, "%s%s%s=%s", before ? before : "", before && *before ? " " : "", name, value);
    bool done = setenv("XLA_FLAGS", joined, 1) == 0;
    free(joined);
    return done;
}

/* XLA takes no path with a blank: flags end there. Its autotuner's helpers are machine code. Without it XLA gives
 * matrix products kernels by Triton whose tiles nobody has chosen: slow ones, and for int8 products that are twice what
 * they should be. So products go to cuBLAS. */
static bool name_for_xla(const char *shims)
{
    char root[PATH_MAX];
    snprintf(root, sizeof root, "%.*s", (int)(strrchr(shims, '/') - shims), shims);
    return (strchr(root, ' ') || add_xla_flag("--xla_gpu_cuda_data_dir", root)) &&
           add_xla_flag("--xla_gpu_autotune_level", "0") && add_xla_flag("--xla_gpu_enable_triton_gemm", "false");
}

/* Where Python finds our modules: beside the libraries, or under them once installed. Behind the program's own. */
static bool add_python(const char *libraries)
{
    static const char *const folders[] = {"python", "millrace/python"};
    char path[PATH_MAX + 32] = "";
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", libraries, folders[i]);
        if (access(path, R_OK) == 0)
            return append("PYTHONPATH", path);
    }
    return true;
}

bool tool_environment(const char *command)
{
    struct tool_paths paths;
    if (!tool_find_paths(&paths))
        return false;
    if (name_companion(paths.libraries) && tool_put_first("LD_LIBRARY_PATH", paths.libraries) &&
        tool_put_first("PATH", paths.shims) && name_program("TRITON_PTXAS_PATH", paths.shims, "ptxas") &&
        name_root(paths.shims) && name_for_xla(paths.shims) && add_python(paths.libraries))
        return true;
    fprintf(stderr, "millrace %s: out of memory\n", command);
    return false;
}

void tool_check_settings(void)
{
    mr_log_setup();
    mr_settings_check_for_programs();
}

int tool_start(const char *command, char **argv)
{
    execvp(argv[0], argv);
    int reason = errno;
    fprintf(stderr, "millrace %s: cannot start '%s': %s\n", command, argv[0], strerror(reason));
    return reason == ENOENT ? 127 : 126;
}

int tool_bad_argument(const char *command, const char *argument)
{
    fprintf(stderr, "millrace %s: '%s' is not understood; see 'millrace %s --help'\n", command, argument, command);
    return 2;
}

int tool_end(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "millrace: cannot write to standard output: %s\n", strerror(errno));
    return status ? status : 1;
}
