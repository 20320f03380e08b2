/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that answer to the names of a toolkit's share: the way their options are spelt, messages, files.
 *
 * An option has a long and a short name. Both are taken with one dash or two; a value stands behind '=' or in the next
 * word. A file that an option names holds more words. */
#ifndef MR_TOOLS_TOOLKIT_H
#define MR_TOOLS_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* The program's name in messages; each program defines it. */
extern const char toolkit_program[];

struct toolkit_option {
    const char *name, *shorter;
    bool has_value;
    int effect;            /* the program's own number for it */
    bool joined;           /* the value may be joined to the short name, if it is a digit: -O3 */
};

#define TOOLKIT_OPTIONS_FILE (-1) /* the effect of the option whose value is a file of more words */

/* What the program does with an option, or with a word that is no option (`option` is NULL, and `value` the word).
 * `word` is as it was written. False after a message. */
typedef bool toolkit_take(void *user, const struct toolkit_option *option, const char *word, const char *value);

/* Gives each word of the command line to `take`, in order. `kept` keeps the words of files, into which values then
 * point. False after a message. */
bool toolkit_words(int argc, char *const *argv, const struct toolkit_option *options, size_t count,
                   struct mr_words *kept, toolkit_take *take, void *user);

/* Prints "PROGRAM (Millrace): error: WHAT NAME"; false. */
bool toolkit_complain(const char *what, const char *name);

/* Fills an empty text with the file; writes one. False after a message. */
bool toolkit_read(const char *path, struct mr_text *text);
bool toolkit_write(const char *path, const void *data, size_t size);

/* Before the program ends: its status, or `failed` after a message if what it printed could not be written. */
int toolkit_end(int status, int failed);

#endif
