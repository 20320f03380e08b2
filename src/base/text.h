/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text and growing lists of words, for libraries and commands that run or imitate a compiler.
 *
 * A failed allocation is remembered in `failed` and everything added later is dropped, so that a builder is written
 * without a check per line and asked once at its end. Not thread-safe: each belongs to one call. */
#ifndef MR_BASE_TEXT_H
#define MR_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct mr_text {
    char *data;       /* NUL-terminated once anything was added, else NULL */
    size_t length, room;
    bool failed;
};

void mr_text_add(struct mr_text *text, const char *more, size_t length);
void mr_text_put(struct mr_text *text, const char *more);
void mr_text_format(struct mr_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mr_text_clear(struct mr_text *text);

/* Adds what the file holds. False with errno set if it can't be opened or read. */
bool mr_text_read(struct mr_text *text, const char *path) __attribute__((warn_unused_result));

/* The text so far; "" if there is none. */
const char *mr_text_chars(const struct mr_text *text);

/* Reads the list of files that a compiler writes for make, behind the colon. Puts the next path, without its escapes,
 * in place of what was in `path`. False at the end. */
bool mr_text_next_path(const char **at, struct mr_text *path);

/* Words are copies that the list owns; `items` ends in NULL once a word was added. */
struct mr_words {
    char **items;
    size_t count, room;
    bool failed;
};

/* Adds `first` and `second` joined to one word. */
void mr_words_add(struct mr_words *words, const char *first, const char *second);

/* Is the word of `length` characters, which need not end in NUL, one of them? */
bool mr_words_have(const struct mr_words *words, const char *word, size_t length);
void mr_words_clear(struct mr_words *words);

#endif
