/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline for a page, in few bytes: columns of numbers.
 *
 * Events that have the same details by name stand in one table. A table has a column for each of their numbers: lane,
 * begin, duration, name, of arrows the other lane, and the details. A column is the differences of neighbours, each as
 * a number of one byte or more, of 7 bits each with the lowest first; the highest bit says that more follow, and the
 * lowest bit of all is the sign. Columns stand in the page in base 64; one whose numbers are all equal is that number.
 * Texts and other values are numbers of the list "values". Times are nanoseconds from the first moment on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "json.h"

enum { LANE, BEGIN, DURATION, NAME, TO_LANE, FIXED, COLUMNS = FIXED + EVENT_DETAILS, KNOWN = 4096, BUCKETS = 256 };

struct column {
    LIST(uint8_t, bytes);
    uint64_t first, last;
    bool varies;
};

struct table {
    struct table *next; /* in its bucket */
    const struct timeline_process *process;
    const char *category;
    enum event_phase phase;
    size_t details;
    const char *keys[EVENT_DETAILS];
    enum event_type types[EVENT_DETAILS];
    uint64_t count;
    struct column columns[COLUMNS];
};

struct value {
    char *text;
    bool literal; /* as JSON has it */
};

struct packed {
    LIST(struct table *, tables);
    struct table *buckets[BUCKETS];
    LIST(struct value, values);
    uint32_t *index; /* of values, by a hash of the text, plus 1; 0: there is none */
    size_t mask;
    struct {
        const char *text;
        uint32_t number;
    } known[KNOWN]; /* texts by their addresses, which stay while the timeline is written */
    bool short_of_memory;
};

/* ---- values ---- */

static uint64_t hash_of(const char *text, bool literal)
{
    uint64_t hash = literal ? 0x9e3779b97f4a7c15u : 0xcbf29ce484222325u;
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        hash = (hash ^ *at) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

static size_t slot_of(const struct packed *packed, const char *text, bool literal)
{
    size_t at = hash_of(text, literal) & packed->mask;
    while (packed->index[at]) {
        const struct value *value = &packed->values[packed->index[at] - 1];
        if (value->literal == literal && strcmp(value->text, text) == 0)
            break;
        at = (at + 1) & packed->mask;
    }
    return at;
}

/* Room for one more in the index, which is never more than half full. */
static bool make_room(struct packed *packed)
{
    if (packed->index && packed->values_count < packed->mask / 2)
        return true;
    size_t room = packed->index ? 2 * (packed->mask + 1) : 1024;
    uint32_t *index = calloc(room, sizeof *index);
    if (!index)
        return false;
    free(packed->index);
    packed->index = index;
    packed->mask = room - 1;
    for (size_t i = 0; i < packed->values_count; i++)
        index[slot_of(packed, packed->values[i].text, packed->values[i].literal)] = (uint32_t)i + 1;
    return true;
}

static uint32_t value_number(struct packed *packed, const char *text, bool literal)
{
    size_t at;
    if (!make_room(packed)) {
        packed->short_of_memory = true;
        return 0;
    }
    at = slot_of(packed, text, literal);
    if (packed->index[at])
        return packed->index[at] - 1;
    struct value value = {.text = strdup(text), .literal = literal}, *place = value.text ? ADD(packed, values) : NULL;
    if (!place) {
        free(value.text);
        packed->short_of_memory = true;
        return 0;
    }
    *place = value;
    packed->index[at] = (uint32_t)packed->values_count;
    return packed->index[at] - 1;
}

static uint32_t text_number(struct packed *packed, const char *text)
{
    size_t at = ((uintptr_t)text * 0x9e3779b97f4a7c15u) >> 52;
    if (packed->known[at].text != text) {
        packed->known[at].number = value_number(packed, text, false);
        packed->known[at].text = text;
    }
    return packed->known[at].number;
}

/* ---- tables ---- */

static void put_byte(struct packed *packed, struct column *column, unsigned byte)
{
    uint8_t *place = ADD(column, bytes);
    if (place)
        *place = (uint8_t)byte;
    else
        packed->short_of_memory = true;
}

static void put_number(struct packed *packed, struct column *column, uint64_t number, bool is_first)
{
    bool less = number < column->last;
    uint64_t by = less ? column->last - number : number - column->last, rest = by >> 6;
    if (is_first)
        column->first = number;
    column->varies = column->varies || number != column->first;
    column->last = number;
    put_byte(packed, column, (unsigned)(by & 63) << 1 | less | (rest ? 128 : 0));
    for (; rest; rest >>= 7)
        put_byte(packed, column, (unsigned)(rest & 127) | (rest >> 7 ? 128 : 0));
}

/* A page counts in doubles, so an address that is no such number is a value. */
static enum event_type type_of(const struct event_detail *detail)
{
    bool fits = detail->number < UINT64_C(1) << 53;
    return detail->type == EVENT_ADDRESS && !fits ? EVENT_LITERAL : detail->type;
}

static bool is_like(const struct table *table, const struct event *event)
{
    if (table->process != event->process || table->phase != event->phase || table->category != event->category ||
        table->details != event->count)
        return false;
    for (size_t i = 0; i < event->count; i++)
        if (table->keys[i] != event->details[i].key || table->types[i] != type_of(&event->details[i]))
            return false;
    return true;
}

/* Keys and categories are known by their addresses: two tables for equal ones do no harm. */
static size_t bucket_of(const struct event *event)
{
    uintptr_t hash = (uintptr_t)event->process ^ (uintptr_t)event->category ^ (uintptr_t)event->phase;
    for (size_t i = 0; i < event->count; i++)
        hash = (hash ^ (uintptr_t)event->details[i].key ^ (uintptr_t)type_of(&event->details[i])) * 0x9e3779b97f4a7c15u;
    return (hash * 0x9e3779b97f4a7c15u) >> 56;
}

static struct table *table_of(struct packed *packed, const struct event *event)
{
    struct table **bucket = &packed->buckets[bucket_of(event)];
    for (struct table *table = *bucket; table; table = table->next)
        if (is_like(table, event))
            return table;
    struct table *made = calloc(1, sizeof *made), **place = made ? ADD(packed, tables) : NULL;
    if (!place) {
        free(made);
        return NULL;
    }
    *made = (struct table){.next = *bucket,
                           .process = event->process,
                           .category = event->category,
                           .phase = event->phase,
                           .details = event->count};
    for (size_t i = 0; i < event->count; i++) {
        made->keys[i] = event->details[i].key;
        made->types[i] = type_of(&event->details[i]);
    }
    *bucket = *place = made;
    return made;
}

static uint64_t detail_number(struct packed *packed, const struct event_detail *detail)
{
    char address[24];
    switch (detail->type) {
    case EVENT_TEXT:
        return text_number(packed, detail->text);
    case EVENT_LITERAL:
        return value_number(packed, detail->literal, true);
    case EVENT_ADDRESS:
        if (type_of(detail) == EVENT_ADDRESS)
            break;
        snprintf(address, sizeof address, "\"0x%" PRIx64 "\"", detail->number);
        return value_number(packed, address, true);
    case EVENT_NUMBER:
        break;
    }
    return detail->number;
}

static void take(void *form, const struct event *event)
{
    struct packed *packed = form;
    struct table *table = packed->short_of_memory ? NULL : table_of(packed, event);
    if (!table) {
        packed->short_of_memory = true;
        return;
    }
    bool is_first = table->count++ == 0;
    struct column *columns = table->columns;
    put_number(packed, &columns[LANE], event->lane, is_first);
    put_number(packed, &columns[BEGIN], event->from, is_first);
    put_number(packed, &columns[DURATION], event->to - event->from, is_first);
    put_number(packed, &columns[NAME], text_number(packed, event->name), is_first);
    put_number(packed, &columns[TO_LANE], event->to_lane, is_first);
    for (size_t i = 0; i < event->count; i++)
        put_number(packed, &columns[FIXED + i], detail_number(packed, &event->details[i]), is_first);
}

/* ---- the page's text ---- */

static void put_base64(FILE *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < count ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < count ? bytes[i + 2] : 0);
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63], digits[three >> 6 & 63], digits[three & 63]};
        size_t used = count - i < 3 ? count - i + 1 : 4;
        memset(four + used, '=', sizeof four - used);
        fwrite(four, 1, sizeof four, out);
    }
}

static void put_column(FILE *out, const struct column *column)
{
    if (!column->varies) {
        fprintf(out, "%" PRIu64, column->first);
        return;
    }
    putc('"', out);
    put_base64(out, column->bytes, column->bytes_count);
    putc('"', out);
}

static void put_table(FILE *out, const struct table *table)
{
    static const char *const phases[] = {"span", "mark", "arrow"};
    static const char *const types[] = {"value", "number", "address", "value"};
    fprintf(out, "{\"pid\":%" PRIu64 ",\"phase\":\"%s\",\"count\":%" PRIu64, table->process->shown,
            phases[table->phase], table->count);
    json_put_text(out, "category", table->category);
    fputs(",\"details\":[", out);
    for (size_t i = 0; i < table->details; i++)
        fprintf(out, "%s[\"%s\",\"%s\"]", i ? "," : "", table->keys[i], types[table->types[i]]);
    fputs("],\n\"columns\":[", out);
    for (size_t i = 0; i < FIXED + table->details; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_column(out, &table->columns[i]);
    }
    fputs("]}", out);
}

static void put_lanes(FILE *out, const struct timeline_process *process)
{
    fputs("\n[", out);
    for (size_t i = 0; i < process->lanes_count; i++) {
        const struct timeline_lane *lane = &process->lanes[i];
        fprintf(out, "%s{\"id\":%" PRIu64 ",\"order\":%" PRIu32 ",\"kind\":\"%s\",\"number\":%" PRIu64,
                i ? ",\n" : "\n", lane->id, lane->order, json_lane_kind(lane->kind), json_lane_number(process, lane));
        json_put_text(out, "name", lane->name);
        fputs("}", out);
    }
    fputs("]", out);
}

static void put_all(FILE *out, const struct timeline *timeline, const struct packed *packed)
{
    fputs("{", out);
    json_put_summaries(out, timeline);
    fputs(",\n\"lanes\":[", out);
    for (size_t i = 0; i < timeline->processes_count; i++) {
        fputs(i ? "," : "", out);
        put_lanes(out, &timeline->processes[i]);
    }
    fputs("],\n\"values\":[", out);
    for (size_t i = 0; i < packed->values_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        if (packed->values[i].literal)
            fputs(packed->values[i].text, out);
        else
            json_text(out, packed->values[i].text);
    }
    fputs("],\n\"tables\":[", out);
    for (size_t i = 0; i < packed->tables_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_table(out, packed->tables[i]);
    }
    fputs("]}\n", out);
}

bool timeline_write_packed(FILE *out, const struct timeline *timeline)
{
    struct packed *packed = calloc(1, sizeof *packed);
    if (!packed)
        return false;
    events_each(timeline, take, packed);
    bool good = !packed->short_of_memory;
    if (good)
        put_all(out, timeline, packed);
    for (size_t i = 0; i < packed->tables_count; i++) {
        for (size_t j = 0; j < COLUMNS; j++)
            free(packed->tables[i]->columns[j].bytes);
        free(packed->tables[i]);
    }
    for (size_t i = 0; i < packed->values_count; i++)
        free(packed->values[i].text);
    free(packed->tables);
    free(packed->values);
    free(packed->index);
    free(packed);
    return good;
}
