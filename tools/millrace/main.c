/* SPDX-License-Identifier: Apache-2.0 */
/* The millrace command: picks the subcommand; --help and --version. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

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

int tool_bad_argument(const char *command, const char *argument)
{
    fprintf(stderr, "millrace %s: '%s' is not understood; see 'millrace %s --help'\n", command, argument, command);
    return 2;
}

/* What was printed must have arrived: a full disk is a failure. The exit status. */
static int end(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "millrace: cannot write to standard output: %s\n", strerror(errno));
    return status ? status : 1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*function)(int argc, char **argv);
    } commands[] = {{"run", tool_run},     {"check", tool_check},   {"replay", tool_replay},
                    {"trace", tool_trace}, {"cc", tool_cc},         {"smi", tool_smi},
                    {"info", tool_info},   {"doctor", tool_doctor}, {"env", tool_env}};

    if (argc < 2) {
        fputs(usage, stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        fputs(usage, stdout);
        return end(0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("millrace " MR_VERSION " (CUDA driver API 13.0)");
        return end(0);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return end(commands[i].function(argc - 2, argv + 2));
    fprintf(
        stderr,
        "millrace: '%s' is no command; there are run, check, replay, trace, cc, smi, info, doctor and env (see 'millrace "
        "--help')\n",
        argv[1]);
    return 2;
}
