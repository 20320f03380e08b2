/* SPDX-License-Identifier: Apache-2.0 */
/* The millrace command: picks the subcommand; --help and --version.
 *
 * A program waits for `millrace run` before its first line, so this file's program has that command alone, and needs
 * the C library alone. The others read debugging data, JSON and much else, by libraries whose loading takes longer than
 * all that `run` does: they are in a second program, millrace-commands (commands.c), which takes this one's place. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "millrace.h"

static const char usage[] =
    "Usage: millrace COMMAND [ARGUMENTS]\n"
    "\n"
    "Runs programs written for CUDA on a machine that has no GPU.\n"
    "\n"
    "  run [--] PROGRAM [ARGUMENTS]  run a program with Millrace in place of NVIDIA's driver\n"
    "  check [--] PROGRAM [ARGUMENTS]\n"
    "                                run a program and report missing synchronisation; `millrace check --help` says more\n"
    "  replay WITNESS [--] PROGRAM [ARGUMENTS]\n"
    "                                run a program so that a race that `millrace check` has found does its damage\n"
    "  trace -o FILE [--] PROGRAM [ARGUMENTS]\n"
    "                                run a program and draw a timeline of it; `millrace trace --help` says more\n"
    "  cc [OPTIONS] FILE...          compile and link CUDA C++ as nvcc does, by clang 19; `millrace cc --help` says more\n"
    "  smi [OPTIONS]                 show the devices and who uses them, as nvidia-smi does; `millrace smi --help` says more\n"
    "  info [--json]                 show the devices, their limits, the cache and the settings in force\n"
    "  doctor [--json]               look for what commonly goes wrong, and say how to mend it\n"
    "  env                           list the settings: environment variables, defaults, what they do\n"
    "\n"
    "  --version                     print the version\n"
    "  --help                        print this text; `millrace COMMAND --help` says more of a command\n"
    "\n"
    "Example: millrace run -- python3 program.py\n";

/* millrace-commands is beside this program. Returns only if it can't be started, with a message: 1. */
static int start_commands(char **argv)
{
    char self[PATH_MAX], path[PATH_MAX + 32];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        perror("millrace: cannot read /proc/self/exe");
        return 1;
    }
    self[length] = '\0';
    snprintf(path, sizeof path, "%s/millrace-commands", dirname(self));
    execv(path, argv);
    fprintf(stderr, "millrace: cannot start %s: %s; build it with 'make'\n", path, strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs(usage, stderr);
        return 2;
    }
    if (strcmp(argv[1], "run") == 0)
        return tool_end(tool_run(argc - 2, argv + 2));
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        fputs(usage, stdout);
        return tool_end(0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("millrace " MR_VERSION " (CUDA driver API 13.0)");
        return tool_end(0);
    }
    if (strcmp(argv[1], "doctor") != 0) /* which has a topic for that */
        tool_check_settings();
    return start_commands(argv);
}
