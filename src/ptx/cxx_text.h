/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a text in CUDA C++, as the preprocessor sees them before it looks at directives. Nothing here allocates
 * or keeps anything. */
#ifndef MR_PTX_CXX_TEXT_H
#define MR_PTX_CXX_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct mr_cxx_token {
    size_t begin, end;
};

struct mr_cxx_scanner {
    char *text;
    size_t length, at;
    struct mr_cxx_token before; /* the token before `now` */
    struct mr_cxx_token now;
    size_t changes;
    int depth; /* of (, [ and { */
    int launch; /* the depth of the launch that is open; -1: none */
};

/* The character at `at`; NUL at the text's end. */
char mr_cxx_peek(const struct mr_cxx_scanner *s, size_t at);

/* Behind blanks and comments. */
size_t mr_cxx_behind_blanks(const struct mr_cxx_scanner *s, size_t at);

/* The token that begins at `at`, which is no blank: a word, number, string, a run of < or of >, or one character. */
struct mr_cxx_token mr_cxx_token_at(const struct mr_cxx_scanner *s, size_t at);

/* The scanner goes on to the next token. False: there is none. */
bool mr_cxx_next(struct mr_cxx_scanner *s);

/* Whether the token is this word. */
bool mr_cxx_is(const struct mr_cxx_scanner *s, struct mr_cxx_token token, const char *word);

/* Behind a group in round or square brackets; at itself if there is none. */
size_t mr_cxx_behind_group(const struct mr_cxx_scanner *s, size_t at);

/* Before blanks that end at `at`. */
size_t mr_cxx_before_blanks(const char *text, size_t at);

/* Where the name begins that ends with the word at `begin`: with what stands before `::`. */
size_t mr_cxx_begin_of_name(const char *text, size_t begin);

/* The attribute that begins at `at`: its end, and whether it is one of C++'s own; false if there is none. */
bool mr_cxx_attribute_at(const struct mr_cxx_scanner *s, size_t at, struct mr_cxx_token *item, bool *own);

/* Whether the token says that a variable is shared by a block: `__shared__`, or the attribute that it stands for. *end:
 * behind it. */
bool mr_cxx_is_shared(const struct mr_cxx_scanner *s, struct mr_cxx_token token, size_t *end);

#endif
