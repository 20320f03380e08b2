/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The lexer: PTX text to tokens, one at a time, without allocating. A token
 * points into the text. The whole state is one small struct, so that a parser
 * looks ahead by copying it. Nothing beyond `end` is ever read.
 */
#ifndef MR_PTX_LEXER_H
#define MR_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mr_ptx_token_kind {
    MR_PTX_TOKEN_END,
    MR_PTX_TOKEN_ERROR,  /* `message` says what is wrong */
    MR_PTX_TOKEN_NAME,   /* identifiers, %registers, _ and WARP_SZ */
    MR_PTX_TOKEN_DOT,    /* .word: text and length without the dot */
    MR_PTX_TOKEN_INT,
    MR_PTX_TOKEN_FLOAT,
    MR_PTX_TOKEN_STRING, /* text and length without the quotes */
    /* Two-character operators; single characters are their own kind. */
    MR_PTX_TOKEN_AND_AND,
    MR_PTX_TOKEN_OR_OR,
    MR_PTX_TOKEN_EQ_EQ,
    MR_PTX_TOKEN_NOT_EQ,
    MR_PTX_TOKEN_LESS_EQ,
    MR_PTX_TOKEN_MORE_EQ,
    MR_PTX_TOKEN_SHIFT_LEFT,
    MR_PTX_TOKEN_SHIFT_RIGHT,
    MR_PTX_TOKEN_SINGLE = 32 /* kinds from here on are characters */
};

struct mr_ptx_token {
    int kind;
    const char *text;
    size_t length;
    uint32_t line, column; /* from 1 */
    uint64_t value;    /* INT; FLOAT: bits of a double, or of a float if is_single */
    bool is_unsigned;  /* INT: U suffix, or more than 63 bits */
    bool is_single;    /* FLOAT: written as 0f */
    const char *message; /* ERROR */
};

struct mr_ptx_lexer {
    const char *at, *end;
    const char *line_start;
    uint32_t line;
};

void mr_ptx_lexer_init(struct mr_ptx_lexer *lexer, const char *text, size_t length);

/* After END or at the end of text: END again, for ever. */
void mr_ptx_lexer_next(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token);

#endif
