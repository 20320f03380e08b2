/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MILLRACE_MPI_H
#define MILLRACE_MPI_H

#include "millrace.h"

/* If the program may be one of MPI, and is to run with an observer: puts the library that tells of its messages
 * (src/libs/mpi) before its own, unless it is there. False, with a message: out of memory. */
bool tool_add_mpi(const char *command, const struct tool_paths *paths, const char *program);

#endif
