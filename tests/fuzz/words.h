/* SPDX-License-Identifier: Apache-2.0 */

/* Changes text word by word, so that what comes out still parses now and then
 * and reaches what lies behind the parser. */
#ifndef FUZZ_WORDS_H
#define FUZZ_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* A number below its argument; 0 for 0. */
typedef size_t fuzz_below(size_t limit);

/* Puts a word of the text where another one of it stands; gives the new size, at
 * most `most`. */
size_t fuzz_replace_word(uint8_t *data, size_t size, size_t most, fuzz_below *below);

#endif
