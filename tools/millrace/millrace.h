/* SPDX-License-Identifier: Apache-2.0 */
/* The millrace command: one function per subcommand, and where the command finds its own files. */
#ifndef MILLRACE_TOOL_H
#define MILLRACE_TOOL_H

#include <limits.h>
#include <stdbool.h>

/* Each gets the arguments after its own name and returns the exit status: 0, 1 for a failure, 2 for arguments it can't
 * use. */
int tool_run(int argc, char **argv);
int tool_check(int argc, char **argv);
int tool_replay(int argc, char **argv);
int tool_trace(int argc, char **argv);
int tool_cc(int argc, char **argv);
int tool_smi(int argc, char **argv);
int tool_info(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_env(int argc, char **argv);

/* Where the build or the installation keeps things: absolute paths. */
struct tool_paths {
    char libraries[PATH_MAX];   /* libcuda.so.1 */
    char shims[PATH_MAX];       /* nvcc, ptxas, nvidia-smi */
};

/* Finds both beside the running command; prints what is missing and returns false if they are not there. */
bool tool_find_paths(struct tool_paths *paths);

/* Sets the environment for a program that is to run with Millrace, as `millrace run` does. False, with a message from
 * `millrace command`: 1 is then the exit status. */
bool tool_environment(const char *command);

/* Says what is wrong with the settings in the environment: before a program starts, which may never load the driver. */
void tool_check_settings(void);

/* Puts `folder` before what the variable, a list with colons between, holds. False: out of memory. */
bool tool_put_first(const char *variable, const char *folder);

/* Starts the program argv[0] in the place of this process. Returns only if that fails, with a message: the exit
 * status. */
int tool_start(const char *command, char **argv);

/* Runs a program and waits for its end. Meanwhile signals that are sent to this process, and not to all of the
 * terminal's, go on to the program. Returns its status as waitpid gives it, or -1 if it could not be started, with
 * errno set. */
int tool_wait_for(char *const *argv);

/* Says on standard error that `argument` of `millrace command` is not understood, and how to get help. Returns 2. */
int tool_bad_argument(const char *command, const char *argument);

/* What was printed must have arrived: a full disk is a failure. The exit status, from that of the command. */
int tool_end(int status);

#endif
