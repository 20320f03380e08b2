/* SPDX-License-Identifier: Apache-2.0 */
/* millrace check --explore and --explore-join: a part of millrace check with options of its own. */
#ifndef MILLRACE_EXPLORE_H
#define MILLRACE_EXPLORE_H

#include <stdbool.h>

/* Is the first argument of millrace check an option of these? */
bool tool_explores(int argc, char **argv);

/* As the functions of millrace.h. */
int tool_explore(int argc, char **argv);

#endif
