/* SPDX-License-Identifier: Apache-2.0 */
/* What -fmad=false asks for, in PTX itself: an operation that names its rounding is never joined to another. */
#include <string.h>

#include "libs/nvptxcompiler/assembler.h"
#include "ptx/lexer.h"

static bool is_one_of(const struct mr_ptx_token *token, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == token->length && strncmp(*words, token->text, token->length) == 0)
            return true;
    return false;
}

/* Of the words behind add, sub or mul: floats, and no rounding. */
static bool rounds_unsaid(struct mr_ptx_lexer lexer)
{
    static const char *const floats[] = {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2", "f32x2", NULL},
                             *const roundings[] = {"rn", "rz", "rm", "rp", NULL};
    struct mr_ptx_token token;
    bool is_float = false;
    for (mr_ptx_lexer_next(&lexer, &token); token.kind == MR_PTX_TOKEN_DOT; mr_ptx_lexer_next(&lexer, &token)) {
        if (is_one_of(&token, roundings))
            return false;
        is_float |= is_one_of(&token, floats);
    }
    return is_float;
}

void mr_assembler_name_roundings(const struct mr_text *ptx, struct mr_text *exact)
{
    static const char *const operations[] = {"add", "sub", "mul", NULL};
    const char *done = mr_text_chars(ptx);
    struct mr_ptx_lexer lexer;
    struct mr_ptx_token token;
    mr_ptx_lexer_init(&lexer, done, ptx->length);
    for (mr_ptx_lexer_next(&lexer, &token); token.kind != MR_PTX_TOKEN_END && token.kind != MR_PTX_TOKEN_ERROR;
         mr_ptx_lexer_next(&lexer, &token)) {
        if (token.kind != MR_PTX_TOKEN_NAME || !is_one_of(&token, operations) || !rounds_unsaid(lexer))
            continue;
        const char *behind = token.text + token.length;
        mr_text_add(exact, done, (size_t)(behind - done));
        mr_text_put(exact, ".rn");
        done = behind;
    }
    mr_text_add(exact, done, (size_t)(mr_text_chars(ptx) + ptx->length - done));
}
