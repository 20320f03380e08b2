/* SPDX-License-Identifier: Apache-2.0 */
/* Places of messages; see places.h. */
#include "ptx/places.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The place in a message's line up to its kind: "FILE:LINE:COLUMN: " or "FILE(LINE): ". */
static bool read_place(const char *line, const char *kind, struct mr_text *place)
{
    const char *end = kind;
    while (end > line && (end[-1] == ' ' || end[-1] == ':' || end[-1] == ')'))
        end--;
    const char *number = end;
    for (int part = 0; part < 2; part++) {
        while (number > line && isdigit((unsigned char)number[-1]))
            number--;
        if (number == end || number == line)
            return false;
        if (part == 0 && number - line > 1 && number[-1] == ':' && isdigit((unsigned char)number[-2])) {
            end = --number; /* the column */
            continue;
        }
        break;
    }
    if (number[-1] != ':' && number[-1] != '(')
        return false;
    mr_text_format(place, "%.*s %.*s", (int)(end - number), number, (int)(number - 1 - line), line);
    return true;
}

void mr_places_plain(const char *messages, size_t length, struct mr_text *out)
{
    const char *end = messages + length;
    while (messages < end) {
        const char *colour = memchr(messages, '\033', (size_t)(end - messages)), *stop = colour ? colour : end;
        mr_text_add(out, messages, (size_t)(stop - messages));
        for (messages = stop; messages < end && *messages != 'm' && *messages != 'K';)
            messages++;
        messages += messages < end;
    }
}

size_t mr_places_add(const char *messages, const char *refused, struct mr_words *places)
{
    size_t count = 0;
    for (const char *at = messages; *at;) {
        size_t length = strcspn(at, "\n");
        struct mr_text line = {.data = NULL}, place = {.data = NULL};
        if (memmem(at, length, "error:", 6))
            mr_places_plain(at, length, &line);
        const char *kind = strstr(mr_text_chars(&line), refused);
        if (kind && read_place(line.data, kind, &place) && !place.failed &&
            !mr_words_have(places, place.data, place.length)) {
            mr_words_add(places, place.data, "");
            count++;
        }
        mr_text_clear(&place);
        mr_text_clear(&line);
        at += length + (at[length] == '\n');
    }
    return count;
}

/* A line `# NUMBER "FILE" …`. */
static bool read_marker(struct mr_origin *origin, const char *line, size_t length)
{
    char *behind;
    if (*line != '#' || length < 5 || !isdigit((unsigned char)line[2]))
        return false;
    unsigned long number = strtoul(line + 2, &behind, 10);
    const char *end =
        behind[0] == ' ' && behind[1] == '"' ? memchr(behind + 2, '"', length - (size_t)(behind + 2 - line)) : NULL;
    if (!end)
        return false;
    origin->line = number - 1; /* of the line that follows */
    origin->file = behind + 2;
    origin->file_length = (size_t)(end - origin->file);
    return true;
}

void mr_origin_move(struct mr_origin *origin, size_t to)
{
    for (;;) {
        size_t length = strcspn(origin->text + origin->at, "\n");
        if (origin->at + length >= to || !origin->text[origin->at + length])
            return;
        read_marker(origin, origin->text + origin->at, length);
        origin->line++;
        origin->at += length + 1;
    }
}

bool mr_origin_is(const struct mr_origin *origin, const char *place, size_t length)
{
    struct mr_text own = {.data = NULL};
    mr_text_format(&own, "%lu %.*s", origin->line, (int)origin->file_length, origin->file ? origin->file : "");
    bool same = !own.failed && own.length == length && memcmp(own.data, place, length) == 0;
    mr_text_clear(&own);
    return same;
}

bool mr_origin_is_at(const struct mr_origin *origin, const struct mr_words *places)
{
    for (size_t i = 0; i < places->count; i++)
        if (mr_origin_is(origin, places->items[i], strlen(places->items[i])))
            return true;
    return false;
}
