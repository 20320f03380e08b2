/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text and lists of words; see text.h. */
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

void mr_text_add(struct mr_text *text, const char *more, size_t length)
{
    if (text->failed || !mr_array_reserve((void **)&text->data, &text->room, text->length + length + 1, 1)) {
        text->failed = true;
        return;
    }
    memcpy(text->data + text->length, more, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void mr_text_put(struct mr_text *text, const char *more)
{
    mr_text_add(text, more, strlen(more));
}

void mr_text_format(struct mr_text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (length < 0 || text->failed ||
        !mr_array_reserve((void **)&text->data, &text->room, text->length + (size_t)length + 1, 1)) {
        text->failed = true;
        return;
    }
    va_start(values, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, values);
    va_end(values);
    text->length += (size_t)length;
}

void mr_text_clear(struct mr_text *text)
{
    mr_free(text->data);
    *text = (struct mr_text){.data = NULL};
}

bool mr_text_read(struct mr_text *text, const char *path)
{
    char part[65536];
    size_t got = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    do {
        got = fread(part, 1, sizeof part, file);
        mr_text_add(text, part, got);
    } while (got == sizeof part);
    bool good = !ferror(file);
    int reason = errno;
    fclose(file);
    errno = reason;
    return good;
}

const char *mr_text_chars(const struct mr_text *text)
{
    return text->data ? text->data : "";
}

bool mr_text_next_path(const char **at, struct mr_text *path)
{
    path->length = 0;
    while (**at == ' ' || **at == '\n' || (**at == '\\' && (*at)[1] == '\n'))
        (*at) += **at == '\\' ? 2 : 1;
    for (; **at && **at != ' ' && **at != '\n'; (*at)++) {
        if ((**at == '\\' && ((*at)[1] == ' ' || (*at)[1] == '#' || (*at)[1] == '\\')) ||
            (**at == '$' && (*at)[1] == '$'))
            (*at)++;
        mr_text_add(path, *at, 1);
    }
    return path->length > 0;
}

void mr_words_add(struct mr_words *words, const char *first, const char *second)
{
    struct mr_text word = {.data = NULL};
    mr_text_put(&word, first);
    mr_text_put(&word, second);
    if (words->failed || word.failed ||
        !mr_array_reserve((void **)&words->items, &words->room, words->count + 2, sizeof *words->items)) {
        words->failed = true;
        mr_text_clear(&word);
        return;
    }
    words->items[words->count++] = word.data;
    words->items[words->count] = NULL;
}

bool mr_words_have(const struct mr_words *words, const char *word, size_t length)
{
    for (size_t i = 0; i < words->count; i++)
        if (strlen(words->items[i]) == length && memcmp(words->items[i], word, length) == 0)
            return true;
    return false;
}

void mr_words_clear(struct mr_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        mr_free(words->items[i]);
    mr_free(words->items);
    *words = (struct mr_words){.items = NULL};
}
