/* SPDX-License-Identifier: Apache-2.0 */

/* A word is a modifier (".u32"), a name or number, or a whole statement. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "words.h"

#define WORD_MAX 256

struct span {
    size_t at, length;
};

static bool in_word(uint8_t c, bool statement)
{
    return statement ? c != ';' && c != '{' && c != '}' : isalnum(c) || c == '_' || c == '%' || c == ':' || c == '$';
}

/* The word around a place; a dot in front of it belongs to it. */
static struct span word_at(const uint8_t *data, size_t size, size_t at, bool statement)
{
    size_t first = at, end = at;
    while (first > 0 && in_word(data[first - 1], statement))
        first--;
    while (end < size && in_word(data[end], statement))
        end++;
    if (!statement && first > 0 && data[first - 1] == '.')
        first--;
    return (struct span){first, end - first};
}

size_t fuzz_replace_word(uint8_t *data, size_t size, size_t most, fuzz_below *below)
{
    uint8_t copy[WORD_MAX];
    if (size == 0)
        return size;
    bool statement = below(8) == 0;
    struct span from = word_at(data, size, below(size), statement), to = word_at(data, size, below(size), statement);
    if (from.length > WORD_MAX || size - to.length + from.length > most)
        return size;
    memcpy(copy, data + from.at, from.length);
    memmove(data + to.at + from.length, data + to.at + to.length, size - to.at - to.length);
    memcpy(data + to.at, copy, from.length);
    return size - to.length + from.length;
}
