/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The way into the parser, and what may stand at module scope:
 * .version, .target, .address_size, linkage and declarations, .alias, and the
 * debug directives (.file, .section, .loc; parse_debug.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "ptx/parse.h"
#include "ptx/parse_debug.h"

/* .version 8.3: lexed as a float, so read from its spelling. */
static bool parse_version(struct parser *parser)
{
    if (parser->module->version_major != 0)
        return mr_ptx_error(parser, "there is a '.version' already");
    struct mr_ptx_token *token = &parser->token;
    char copy[16];
    unsigned major, minor;
    int used = 0;
    if (token->kind != MR_PTX_TOKEN_FLOAT || token->length >= sizeof copy)
        return mr_ptx_unexpected(parser, "a version, as in .version 8.3");
    memcpy(copy, token->text, token->length);
    copy[token->length] = '\0';
    if (sscanf(copy, "%3u.%3u%n", &major, &minor, &used) != 2 || copy[used] != '\0')
        return mr_ptx_unexpected(parser, "a version, as in .version 8.3");
    uint32_t newest = mr_ptx_version_newest();
    if (major > newest / 10 || (major == newest / 10 && minor > newest % 10)) {
        if (parser->diag)
            parser->diag->bad_version = true;
        /* Programs read what is between the quotes (test_ptxas.py). */
        return mr_ptx_error(parser, "Unsupported .version %u.%u; current version is '%u.%u'", major, minor, newest / 10,
                            newest % 10);
    }
    if (minor > 9 || !mr_ptx_version_is_known(major * 10 + minor)) {
        if (parser->diag)
            parser->diag->bad_version = true;
        return mr_ptx_error(parser, "there is no PTX version %u.%u", major, minor);
    }
    parser->module->version_major = major;
    parser->module->version_minor = minor;
    mr_ptx_advance(parser);
    return true;
}

static bool parse_target(struct parser *parser)
{
    struct mr_ptx_module *module = parser->module;
    if (module->target_sm != 0)
        return mr_ptx_error(parser, "there is a '.target' already");
    do {
        struct mr_ptx_token token = parser->token;
        struct atom *atom = mr_ptx_expect_name(parser, "a target, as in .target sm_80");
        if (!atom)
            return false;
        unsigned sm;
        int used = 0;
        if (sscanf(atom->name, "sm_%4u%n", &sm, &used) == 1) {
            char suffix = atom->name[used];
            bool formed = suffix == '\0' || ((suffix == 'a' || suffix == 'f') && atom->name[used + 1] == '\0');
            uint32_t needed = formed ? mr_ptx_target_version(sm, suffix) : 0;
            if (needed == 0)
                return mr_ptx_error_at(parser, token.line, token.column, "unknown target '%s'", atom->name);
            if (!mr_ptx_module_has_version(module, needed))
                return mr_ptx_error_at(parser, token.line, token.column, "target '%s' needs PTX %u.%u", atom->name,
                                       needed / 10, needed % 10);
            module->target_sm = sm;
            module->target_suffix = suffix;
        } else if (strcmp(atom->name, "debug") == 0) {
            module->target_debug = true;
        } else if (strcmp(atom->name, "map_f64_to_f32") == 0) {
            if (module->target_sm >= 13)
                return mr_ptx_error_at(parser, token.line, token.column, "'%s' is for targets before sm_13",
                                       atom->name);
            module->target_map_f64 = true;
        } else if (strcmp(atom->name, "texmode_independent") == 0) {
            module->target_independent = true;
        } else if (strcmp(atom->name, "texmode_unified") != 0) {
            return mr_ptx_error_at(parser, token.line, token.column, "unknown target '%s'", atom->name);
        }
    } while (mr_ptx_accept(parser, ','));
    return true;
}

static bool parse_address_size(struct parser *parser)
{
    uint64_t size;
    struct mr_ptx_token token = parser->token;
    if (parser->vars.count > 0 || parser->functions.count > 0)
        return mr_ptx_error(parser, "'.address_size' must stand before declarations");
    if (!mr_ptx_parse_bounded(parser, "address size", 32, 64, &size))
        return false;
    if (size != 32 && size != 64)
        return mr_ptx_error_at(parser, token.line, token.column, "address size must be 32 or 64");
    parser->module->address_size = (uint32_t)size;
    return true;
}

/* .file 1 "name"{, timestamp, size} */
static bool parse_file(struct parser *parser)
{
    uint64_t index;
    if (!mr_ptx_parse_bounded(parser, "file number", 0, 65535, &index))
        return false;
    if (!mr_ptx_is(parser, MR_PTX_TOKEN_STRING))
        return mr_ptx_unexpected(parser, "a file name");
    char *name = mr_ptx_new(parser, 1, parser->token.length + 1);
    memcpy(name, parser->token.text, parser->token.length);
    while (parser->files.count <= index)
        mr_ptx_list_add(parser, &parser->files, sizeof(char *));
    ((const char **)parser->files.items)[index] = name;
    mr_ptx_note_file(parser, (uint32_t)index);
    mr_ptx_advance(parser);
    while (mr_ptx_accept(parser, ','))
        if (!mr_ptx_expect(parser, MR_PTX_TOKEN_INT, "a number"))
            return false;
    return true;
}

/* .alias name, function; */
static bool parse_alias(struct parser *parser)
{
    if (!mr_ptx_need(parser, "'.alias'", 63, 30))
        return false;
    struct mr_ptx_token token = parser->token;
    struct atom *name = mr_ptx_expect_name(parser, "a function name");
    if (!name || !mr_ptx_expect(parser, ',', "','"))
        return false;
    struct mr_ptx_token target_token = parser->token;
    struct atom *target = mr_ptx_expect_name(parser, "a function name");
    if (!target || !mr_ptx_expect(parser, ';', "';'"))
        return false;
    struct binding *from = mr_ptx_lookup(parser, name), *to = mr_ptx_lookup(parser, target);
    if (!from || from->kind != BINDING_FUNCTION || from->function->is_entry || from->function->has_body)
        return mr_ptx_error_at(parser, token.line, token.column, "'%s' is not a declared function without a body",
                               name->name);
    if (!to || to->kind != BINDING_FUNCTION || to->function->is_entry || !to->function->has_body)
        return mr_ptx_error_at(parser, target_token.line, target_token.column, "'%s' is not a function with a body",
                               target->name);
    from->function->alias_of = to->function;
    return true;
}

/* Skips a declaration that could not be parsed, its body included. */
static void skip_declaration(struct parser *parser)
{
    unsigned depth = 0;
    while (!mr_ptx_is(parser, MR_PTX_TOKEN_END)) {
        if (depth == 0 && mr_ptx_accept(parser, ';'))
            return;
        if (mr_ptx_is(parser, '{'))
            depth++;
        if (mr_ptx_is(parser, '}') && (depth == 0 || --depth == 0)) {
            mr_ptx_advance(parser);
            mr_ptx_accept(parser, ';');
            return;
        }
        if (depth == 0 &&
            (mr_ptx_is_dot(parser, "entry") || mr_ptx_is_dot(parser, "func") || mr_ptx_is_dot(parser, "visible")))
            return;
        mr_ptx_advance(parser);
    }
}

static bool parse_linkage(struct parser *parser, enum mr_ptx_linkage *linkage)
{
    static const struct {
        const char *word;
        enum mr_ptx_linkage linkage;
        uint32_t version;
    } words[] = {
        {"visible", MR_PTX_LINKAGE_VISIBLE, 0},
        {"extern", MR_PTX_LINKAGE_EXTERN, 0},
        {"weak", MR_PTX_LINKAGE_WEAK, 31},
        {"common", MR_PTX_LINKAGE_COMMON, 50},
    };
    *linkage = MR_PTX_LINKAGE_NONE;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (mr_ptx_is_dot(parser, words[i].word)) {
            if (words[i].version)
                mr_ptx_need(parser, words[i].word, words[i].version, 0); /* goes on after an error */
            mr_ptx_advance(parser);
            *linkage = words[i].linkage;
            return true;
        }
    }
    return false;
}

/* False if a declaration could not be parsed; it is skipped then. */
static bool parse_declaration(struct parser *parser)
{
    enum mr_ptx_linkage linkage;
    bool linked = parse_linkage(parser, &linkage);
    if (mr_ptx_is_dot(parser, "func") || mr_ptx_is_dot(parser, "entry"))
        return mr_ptx_parse_function(parser, linkage);
    if (mr_ptx_directive_space(parser) != MR_PTX_SPACE_GENERIC)
        return mr_ptx_parse_vars(parser, linkage);
    if (linked)
        return mr_ptx_unexpected(parser, "a declaration");
    if (mr_ptx_accept_dot(parser, "version"))
        return parse_version(parser);
    if (mr_ptx_accept_dot(parser, "target"))
        return parse_target(parser);
    if (mr_ptx_accept_dot(parser, "address_size"))
        return parse_address_size(parser);
    if (mr_ptx_accept_dot(parser, "file"))
        return parse_file(parser);
    if (mr_ptx_accept_dot(parser, "section"))
        return mr_ptx_parse_section(parser);
    if (mr_ptx_accept_dot(parser, "alias"))
        return parse_alias(parser);
    if (mr_ptx_is_dot(parser, "pragma") || mr_ptx_is_dot(parser, "loc")) {
        mr_ptx_skip_statement(parser);
        return true;
    }
    return mr_ptx_unexpected(parser, "a directive");
}

static void parse_text(struct parser *parser)
{
    struct mr_ptx_module *module = parser->module;
    mr_ptx_advance(parser);
    if (!mr_ptx_is_dot(parser, "version")) {
        mr_ptx_unexpected(parser, "'.version' at the beginning");
        return;
    }
    while (!mr_ptx_is(parser, MR_PTX_TOKEN_END)) {
        if (mr_ptx_accept(parser, ';'))
            continue;
        if (!parse_declaration(parser)) {
            if (module->version_major == 0)
                return; /* not PTX, or too new: nothing else makes sense */
            skip_declaration(parser);
        } else if (module->target_sm == 0 && module->version_major != 0 && !mr_ptx_is_dot(parser, "target")) {
            mr_ptx_unexpected(parser, "'.target' after '.version'");
            return;
        }
    }
    module->vars = mr_ptx_list_copy(parser, &parser->vars, sizeof(struct mr_ptx_var *));
    module->var_count = (uint32_t)parser->vars.count;
    module->functions = mr_ptx_list_copy(parser, &parser->functions, sizeof(struct mr_ptx_function *));
    module->function_count = (uint32_t)parser->functions.count;
    module->files = mr_ptx_list_copy(parser, &parser->files, sizeof(char *));
    module->file_count = (uint32_t)parser->files.count;
    if (parser->errors == 0)
        mr_ptx_debug_finish(parser);
}

static void free_lists(struct parser *parser)
{
    struct list *lists[] = {
        &parser->vars,          &parser->functions,      &parser->files,         &parser->insts,
        &parser->regs,          &parser->labels,         &parser->tables,        &parser->local_vars,
        &parser->targets,       &parser->mentions,       &parser->scope_parents, &parser->params,
        &parser->relocs,        &parser->operands,       &parser->sections,      &parser->inlined,
        &parser->inlined_names, &parser->inlined_ranges, &parser->debug_bytes,   &parser->debug_names,
        &parser->debug_entries, &parser->debug_calls,    &parser->shown,         &parser->shown_types,
        &parser->debug_types,
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        mr_free(lists[i]->items);
}

/* Runs the parser; its own function, so that no local is changed between
 * setjmp and longjmp. */
static void run(struct parser *parser)
{
    if (setjmp(parser->give_up) != 0)
        return;
    parser->module = mr_ptx_new(parser, 1, sizeof *parser->module);
    parser->module->arena = parser->arena;
    parser->module->address_size = 64; /* as NVIDIA's assembler does, if nothing is said */
    size_t length = (size_t)(parser->lexer.end - parser->lexer.at);
    char *text = mr_ptx_new(parser, 1, length + 1);
    memcpy(text, parser->lexer.at, length);
    parser->module->text = text;
    parser->module->text_length = length;
    mr_ptx_lexer_init(&parser->lexer, text, length);
    mr_ptx_symbols_init(parser);
    parse_text(parser);
}

struct mr_ptx_module *mr_ptx_parse(const char *text, size_t length, struct mr_ptx_diag *diag)
{
    if (length > MR_PTX_TEXT_MAX) {
        mr_ptx_diag_error(diag, 0, 0, "the text is longer than %zu bytes", MR_PTX_TEXT_MAX);
        return NULL;
    }
    struct parser *parser = mr_calloc(1, sizeof *parser);
    struct mr_ptx_arena *arena = mr_ptx_arena_create();
    struct mr_ptx_module *module = NULL;
    if (!parser || !arena) {
        if (diag)
            diag->out_of_memory = true;
        mr_ptx_diag_error(diag, 0, 0, "out of memory");
        goto out;
    }
    parser->arena = arena;
    parser->diag = diag;
    mr_ptx_lexer_init(&parser->lexer, text, length);
    if (diag) {
        diag->source = text;
        diag->source_length = (size_t)(parser->lexer.end - text);
    }
    run(parser);
    if (diag) {
        diag->source = NULL;
        diag->source_length = 0;
    }
    free_lists(parser);
    if (parser->errors == 0)
        module = parser->module;
out:
    mr_free(parser);
    if (!module)
        mr_ptx_arena_destroy(arena);
    return module;
}

void mr_ptx_module_destroy(struct mr_ptx_module *module)
{
    if (module)
        mr_ptx_arena_destroy(module->arena);
}

const struct mr_ptx_function *mr_ptx_function_find(const struct mr_ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

const struct mr_ptx_var *mr_ptx_var_find(const struct mr_ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->var_count; i++)
        if (strcmp(module->vars[i]->name, name) == 0)
            return module->vars[i];
    return NULL;
}
