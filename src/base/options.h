/* SPDX-License-Identifier: Apache-2.0 */
/* Options as the programs of a toolkit spell them, for those programs and for libraries that take the same words.
 *
 * An option has a long and a short name. Both are taken with one dash or two; a value stands behind '=' or in the next
 * word. A file that an option names holds more words. */
#ifndef MR_BASE_OPTIONS_H
#define MR_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct mr_option {
    const char *name, *shorter;
    bool has_value;
    int effect;  /* the caller's own number for it */
    bool joined; /* the value may be joined to the short name, if it is a digit: -O3 */
};

#define MR_OPTIONS_FILE (-1) /* the effect of the option whose value is a file of more words */

/* What the caller does with an option, or with a word that is no option (`option` is NULL, and `value` the word).
 * `word` is as it was written. False ends the reading; then it has said why. */
typedef bool mr_option_take(void *user, const struct mr_option *option, const char *word, const char *value);

/* Gives each of `word_count` words to `take`, in order. `kept` keeps copies of them and of the words of files; values
 * point into it. False if a word is wrong, with what is wrong added to `problem`, or if `take` ended it. Any thread. */
bool mr_options_read(size_t word_count, const char *const *words, const struct mr_option *options, size_t count,
                     struct mr_words *kept, mr_option_take *take, void *user, struct mr_text *problem);

#endif
