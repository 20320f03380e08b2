/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that answer to the names of a toolkit's share: options (base/options.h), messages, files. */
#ifndef MR_TOOLS_TOOLKIT_H
#define MR_TOOLS_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "base/text.h"

/* The program's name in messages; each program defines it. */
extern const char toolkit_program[];

/* mr_options_read over a command line, whose first word is the program. False after a message. */
bool toolkit_words(int argc, char *const *argv, const struct mr_option *options, size_t count, struct mr_words *kept,
                   mr_option_take *take, void *user);

/* Prints "PROGRAM (Millrace): error: WHAT NAME"; false. */
bool toolkit_complain(const char *what, const char *name);

/* Fills an empty text with the file; writes one. False after a message. */
bool toolkit_read(const char *path, struct mr_text *text);
bool toolkit_write(const char *path, const void *data, size_t size);

/* Before the program ends: its status, or `failed` after a message if what it printed could not be written. */
int toolkit_end(int status, int failed);

#endif
