/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sections of debug information: where they are in the text, and what their bytes are. A section is a list of numbers
 * with their sizes (.b8 12,34 and so on) and of labels.
 */
#include <string.h>

#include "ptx/parse_debug.h"

void mr_ptx_note_file(struct parser *parser, uint32_t number)
{
    if (parser->part_has_sections) {
        parser->debug_part++;
        parser->part_has_sections = false;
        parser->part_first_file = 0;
    }
    if (number && (parser->part_first_file == 0 || number < parser->part_first_file))
        parser->part_first_file = number;
}

bool mr_ptx_parse_section(struct parser *parser)
{
    struct section section = {.name = NULL};
    while (!mr_ptx_is(parser, '{')) {
        if (!mr_ptx_is(parser, MR_PTX_TOKEN_DOT) && !mr_ptx_is(parser, MR_PTX_TOKEN_NAME))
            return mr_ptx_unexpected(parser, "a section's '{'");
        section.name = parser->token.text;
        section.name_length = parser->token.length;
        mr_ptx_advance(parser);
    }
    section.begin = parser->token.text + 1;
    section.line = parser->token.line;
    while (!mr_ptx_is(parser, '}')) {
        if (mr_ptx_is(parser, MR_PTX_TOKEN_END))
            return mr_ptx_unexpected(parser, "'}'");
        mr_ptx_advance(parser);
    }
    section.end = parser->token.text;
    section.part = parser->debug_part;
    section.first_file = parser->part_first_file;
    parser->part_has_sections = true;
    mr_ptx_advance(parser);
    if (section.name)
        *(struct section *)mr_ptx_list_add(parser, &parser->sections, sizeof section) = section;
    return true;
}

struct reading {
    struct parser *parser;
    struct mr_ptx_lexer lexer;
    struct mr_ptx_token token;
};

static void put(struct reading *reading, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        *(uint8_t *)mr_ptx_list_add(reading->parser, &reading->parser->debug_bytes, 1) = (uint8_t)(value >> 8 * i);
}

static uint64_t value_of(struct reading *reading, const struct atom *atom)
{
    if (atom->place)
        return atom->place & ~MR_PTX_PLACE_IN_SECTION;
    *(const char **)mr_ptx_list_add(reading->parser, &reading->parser->debug_names, sizeof(char *)) = atom->name;
    return MR_PTX_DEBUG_NAME + reading->parser->debug_names.count - 1;
}

/* One number: 12, -12, a label, .section, both with +12 behind them. */
static bool read_item(struct reading *reading, unsigned size)
{
    struct mr_ptx_token *token = &reading->token;
    uint64_t value = 0;
    bool negative = token->kind == '-';
    if (negative)
        mr_ptx_lexer_next(&reading->lexer, token);
    if (token->kind == MR_PTX_TOKEN_INT)
        value = negative ? 0 - token->value : token->value;
    else if (!negative && token->kind == MR_PTX_TOKEN_NAME)
        value = value_of(reading, mr_ptx_intern(reading->parser, token->text, token->length));
    else if (negative || token->kind != MR_PTX_TOKEN_DOT)
        return false;
    mr_ptx_lexer_next(&reading->lexer, token);
    if (token->kind == '+') {
        mr_ptx_lexer_next(&reading->lexer, token);
        if (token->kind != MR_PTX_TOKEN_INT)
            return false;
        value += token->value;
        mr_ptx_lexer_next(&reading->lexer, token);
    }
    put(reading, value, size);
    return true;
}

/* A label, or a size and numbers; false at what is neither. */
static bool read_row(struct reading *reading, bool labels)
{
    struct mr_ptx_token *token = &reading->token, word = *token;
    if (token->kind == MR_PTX_TOKEN_NAME) {
        mr_ptx_lexer_next(&reading->lexer, token);
        if (token->kind != ':')
            return false;
        mr_ptx_lexer_next(&reading->lexer, token);
        if (labels)
            mr_ptx_intern(reading->parser, word.text, word.length)->place =
                (uint32_t)reading->parser->debug_bytes.count | MR_PTX_PLACE_IN_SECTION;
        return true;
    }
    if (token->kind != MR_PTX_TOKEN_DOT || word.length < 2 || word.length > 3 || word.text[0] != 'b')
        return false;
    static const char *const sizes[] = {"b8", "b16", "b32", "b64"};
    unsigned which = 0;
    while (which < 4 && (strlen(sizes[which]) != word.length || memcmp(sizes[which], word.text, word.length) != 0))
        which++;
    if (which == 4)
        return false;
    do {
        mr_ptx_lexer_next(&reading->lexer, token);
        if (!read_item(reading, 1u << which))
            return false;
    } while (token->kind == ',');
    return true;
}

const uint8_t *mr_ptx_section_bytes(struct parser *parser, uint32_t part, const char *name, size_t *count)
{
    const struct section *section = parser->sections.items, *end = section ? section + parser->sections.count : NULL;
    while (section != end && (section->part != part || section->name_length != strlen(name) ||
                              memcmp(section->name, name, section->name_length) != 0))
        section++;
    *count = 0;
    if (section == end)
        return NULL;
    struct reading reading = {.parser = parser};
    parser->debug_bytes.count = 0;
    mr_ptx_lexer_init(&reading.lexer, section->begin, (size_t)(section->end - section->begin));
    mr_ptx_lexer_next(&reading.lexer, &reading.token);
    while (reading.token.kind != MR_PTX_TOKEN_END && read_row(&reading, strcmp(name, "debug_str") == 0))
        ;
    *count = parser->debug_bytes.count;
    return mr_ptx_list_copy(parser, &parser->debug_bytes, 1);
}

/* Calls that .loc has told of have the labels of their functions' names. A call whose name is not there has none. */
static void name_calls(struct parser *parser)
{
    struct mr_ptx_inlined *calls = parser->inlined.items;
    struct atom **atoms = parser->inlined_names.items;
    for (uint32_t part = 0; part <= parser->debug_part; part++) {
        size_t size;
        const uint8_t *text = mr_ptx_section_bytes(parser, part, "debug_str", &size); /* its labels get places */
        for (size_t i = 0; i < parser->inlined.count; i++) {
            uint32_t place = atoms[i]->place;
            size_t at = place & MR_PTX_PLACE_IN_SECTION ? place - MR_PTX_PLACE_IN_SECTION : size;
            bool known = text && at < size && text[at] && memchr(text + at, 0, size - at);
            if (!calls[i].name && known)
                calls[i].name = (const char *)text + at;
        }
    }
    for (size_t i = 0; i < parser->inlined.count; i++)
        calls[i].name = calls[i].name ? calls[i].name : "";
}

static void read_parts(struct parser *parser)
{
    const struct section *sections = parser->sections.items;
    for (size_t i = 0; i < parser->sections.count; i++)
        if (i == 0 || sections[i - 1].part != sections[i].part) {
            uint32_t first = sections[i].part ? sections[i].first_file : 0;
            mr_ptx_read_debug_info(parser, sections[i].part, first ? first - 1 : 0);
        }
}

void mr_ptx_debug_finish(struct parser *parser)
{
    struct mr_ptx_module *module = parser->module;
    if (parser->inlined.count)
        name_calls(parser);
    else if (parser->sections.count)
        read_parts(parser);
    module->inlined = mr_ptx_list_copy(parser, &parser->inlined, sizeof *module->inlined);
    module->inlined_count = (uint32_t)parser->inlined.count;
    module->inlined_ranges = mr_ptx_list_copy(parser, &parser->inlined_ranges, sizeof *module->inlined_ranges);
    module->inlined_range_count = (uint32_t)parser->inlined_ranges.count;
    module->shown = mr_ptx_list_copy(parser, &parser->shown, sizeof *module->shown);
    module->shown_count = (uint32_t)parser->shown.count;
    module->shown_types = mr_ptx_list_copy(parser, &parser->shown_types, sizeof *module->shown_types);
    module->shown_type_count = (uint32_t)parser->shown_types.count;
}

uint32_t mr_ptx_inlined_at(const struct mr_ptx_module *module, uint32_t line)
{
    uint32_t low = 0, high = module->inlined_range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (module->inlined_ranges[middle].line <= line)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? module->inlined_ranges[low - 1].number : 0;
}
