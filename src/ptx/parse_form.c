/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Mnemonics that are sentences: the words behind an opcode's name against the
 * rows of ptx_forms.def.
 */
#include <string.h>

#include "ptx/parse.h"

enum { WORDS_MAX = 16 };

struct sentence {
    struct mr_ptx_token words[WORDS_MAX];
    unsigned count;
};

/* Whether the word is one of "a|b|c", which ends at `end`. */
static bool is_alternative(const char *place, const char *end, const struct mr_ptx_token *word)
{
    while (place < end) {
        const char *stop = memchr(place, '|', (size_t)(end - place));
        size_t length = (size_t)((stop ? stop : end) - place);
        if (length == word->length && memcmp(place, word->text, length) == 0)
            return true;
        place += length + 1;
    }
    return false;
}

/* The next place of a row: false at its end. `mark` is what stands behind its words: '?', '!' or 0. */
static bool next_place(const char **rest, const char **place, const char **end, char *mark)
{
    while (**rest == ' ')
        (*rest)++;
    if (!**rest)
        return false;
    *place = *rest;
    *rest += strcspn(*rest, " ");
    *end = *rest;
    *mark = (*end)[-1];
    if (*mark != '?' && *mark != '!')
        *mark = '\0';
    *end -= *mark != '\0';
    return true;
}

/* Types, spaces and layouts keep their order among themselves: 't', 's', 'l', or 0 for other words. */
static char kind_of(const char *word, size_t length)
{
    if (mr_ptx_type_find(word, length) != MR_PTX_TYPE_NONE)
        return 't';
    if (length == 3 && (memcmp(word, "row", 3) == 0 || memcmp(word, "col", 3) == 0))
        return 'l';
    return mr_ptx_space_find(word, length) != MR_PTX_SPACE_GENERIC ? 's' : 0;
}

/* The word that goes to a place: the first free one that it admits, of those whose order matters the first free one or
 * none. */
static unsigned word_for(const struct sentence *sentence, const bool *used, const char *place, const char *end)
{
    const char *stop = memchr(place, '|', (size_t)(end - place));
    char kind = kind_of(place, (size_t)((stop ? stop : end) - place));
    for (unsigned i = 0; i < sentence->count; i++) {
        const struct mr_ptx_token *word = &sentence->words[i];
        if (used[i])
            continue;
        if (is_alternative(place, end, word))
            return i;
        if (kind && kind == kind_of(word->text, word->length))
            break;
    }
    return sentence->count;
}

/* Every word finds a place of its own, and no place that needs a word stays empty. */
static bool fits(const struct sentence *sentence, const char *row)
{
    bool used[WORDS_MAX] = {false};
    unsigned found = 0;
    const char *place, *end;
    char mark;
    while (next_place(&row, &place, &end, &mark)) {
        unsigned i = word_for(sentence, used, place, end);
        if (i < sentence->count && (mark != '!' || i == found)) {
            used[i] = true;
            found++;
        } else if (mark != '?') {
            return false;
        }
    }
    return found == sentence->count;
}

/* Whether all words of a refused row are there. */
static bool has_words(const struct sentence *sentence, const char *row)
{
    const char *place, *end;
    char mark;
    while (next_place(&row, &place, &end, &mark)) {
        bool there = mark == '?';
        for (unsigned i = 0; i < sentence->count; i++)
            there |= is_alternative(place, end, &sentence->words[i]);
        if (!there)
            return false;
    }
    return true;
}

/* .sync may stand more than once. */
static bool is_repeated_sync(const struct sentence *sentence, const struct mr_ptx_token *word)
{
    if (word->length != 4 || memcmp(word->text, "sync", 4) != 0)
        return false;
    for (unsigned i = 0; i < sentence->count; i++)
        if (sentence->words[i].length == 4 && memcmp(sentence->words[i].text, "sync", 4) == 0)
            return true;
    return false;
}

static bool read_words(struct parser *parser, const struct mr_ptx_inst *inst, struct sentence *sentence)
{
    for (; mr_ptx_is(parser, MR_PTX_TOKEN_DOT); mr_ptx_advance(parser)) {
        if (sentence->count == WORDS_MAX)
            return mr_ptx_error(parser, "'%s' has too many modifiers", mr_ptx_op_name((enum mr_ptx_op)inst->op));
        if (!is_repeated_sync(sentence, &parser->token))
            sentence->words[sentence->count++] = parser->token;
    }
    return true;
}

enum mr_ptx_form_result mr_ptx_parse_form(struct parser *parser, struct mr_ptx_inst *inst, const char **end)
{
    struct sentence sentence = {.count = 0};
    const struct mr_ptx_form *form;
    if (!read_words(parser, inst, &sentence))
        return MR_PTX_FORM_WRONG;
    if (sentence.count)
        *end = sentence.words[sentence.count - 1].text + sentence.words[sentence.count - 1].length;
    for (uint16_t i = 1; (form = mr_ptx_form_info(i)) != NULL; i++) {
        if (form->op != inst->op)
            continue;
        if (form->operands[0] == '-') {
            if (has_words(&sentence, form->words))
                return MR_PTX_FORM_REFUSED;
            continue;
        }
        if (!fits(&sentence, form->words))
            continue;
        inst->form = i;
        inst->mode = form->mode;
        for (unsigned w = 0; w < sentence.count; w++)
            if (!mr_ptx_set_word(parser, inst, &sentence.words[w]))
                return MR_PTX_FORM_WRONG;
        return MR_PTX_FORM_FOUND;
    }
    mr_ptx_error_at(parser, inst->line, inst->column, "'%s' has no such form",
                    mr_ptx_op_name((enum mr_ptx_op)inst->op));
    return MR_PTX_FORM_WRONG;
}
