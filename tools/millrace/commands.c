/* SPDX-License-Identifier: Apache-2.0 */
/* millrace-commands: all commands but `millrace run`. The program millrace starts it in its own place, with its own
 * arguments; nobody else does. */
#include <stdio.h>
#include <string.h>

#include "millrace.h"

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*function)(int argc, char **argv);
    } commands[] = {{"check", tool_check}, {"replay", tool_replay}, {"trace", tool_trace},   {"cc", tool_cc},
                    {"smi", tool_smi},     {"info", tool_info},     {"doctor", tool_doctor}, {"env", tool_env}};

    if (argc < 2) {
        fputs("millrace-commands: the program millrace starts this one; use that\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return tool_end(commands[i].function(argc - 2, argv + 2));
    fprintf(
        stderr,
        "millrace: '%s' is no command; there are run, check, replay, trace, cc, smi, info, doctor and env (see 'millrace "
        "--help')\n",
        argv[1]);
    return 2;
}
