/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The way into the parser, its small tools, and what may stand at module scope:
 * .version, .target, .address_size, linkage and declarations, .alias, and the
 * debug directives (.file, .section, .loc), of which only file names are kept.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ptx/parse.h"

/* Newest PTX ISA that is known. */
#define VERSION_MAJOR 9u
#define VERSION_MINOR 3u

void mr_ptx_give_up(struct parser *parser, bool out_of_memory)
{
    if (out_of_memory) {
        parser->errors++;
        if (parser->diag)
            parser->diag->out_of_memory = true;
        mr_ptx_diag_error(parser->diag, 0, 0, "out of memory");
    }
    longjmp(parser->give_up, 1);
}

void *mr_ptx_new(struct parser *parser, size_t count, size_t size)
{
    size_t bytes;
    void *memory = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        memory = mr_ptx_arena_alloc(parser->arena, bytes);
    if (!memory)
        mr_ptx_give_up(parser, true);
    return memory;
}

void *mr_ptx_list_add(struct parser *parser, struct list *list, size_t size)
{
    if (!mr_array_reserve(&list->items, &list->capacity, list->count + 1, size))
        mr_ptx_give_up(parser, true);
    void *item = (char *)list->items + list->count++ * size;
    memset(item, 0, size);
    return item;
}

void *mr_ptx_list_copy(struct parser *parser, const struct list *list, size_t size)
{
    if (list->count == 0)
        return NULL;
    void *copy = mr_ptx_new(parser, list->count, size);
    memcpy(copy, list->items, list->count * size);
    return copy;
}

static bool error_va(struct parser *parser, uint32_t line, uint32_t column, const char *format,
                     va_list arguments)
{
    char message[400];
    vsnprintf(message, sizeof message, format, arguments);
    mr_ptx_diag_error(parser->diag, line, column, "%s", message);
    if (++parser->errors > MR_PTX_DIAG_ERRORS_MAX)
        mr_ptx_give_up(parser, false);
    return false;
}

bool mr_ptx_error(struct parser *parser, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_va(parser, parser->token.line, parser->token.column, format, arguments);
    va_end(arguments);
    return false;
}

bool mr_ptx_error_at(struct parser *parser, uint32_t line, uint32_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_va(parser, line, column, format, arguments);
    va_end(arguments);
    return false;
}

bool mr_ptx_need(struct parser *parser, const char *what, uint32_t version, uint32_t sm)
{
    if (!mr_ptx_module_has_version(parser->module, version))
        return mr_ptx_error(parser, "%s needs PTX %u.%u", what, version / 10, version % 10);
    if (parser->module->target_sm < sm)
        return mr_ptx_error(parser, "%s needs target sm_%u", what, sm);
    return true;
}

void mr_ptx_advance(struct parser *parser)
{
    for (;;) {
        mr_ptx_lexer_next(&parser->lexer, &parser->token);
        if (parser->token.kind != MR_PTX_TOKEN_ERROR)
            return;
        mr_ptx_error(parser, "%s", parser->token.message);
        if (parser->token.length > 0 && parser->token.text[0] >= '0' && parser->token.text[0] <= '9') {
            parser->token.kind = MR_PTX_TOKEN_INT; /* one error is enough for it */
            return;
        }
    }
}

struct mr_ptx_token mr_ptx_peek(const struct parser *parser)
{
    struct mr_ptx_lexer lexer = parser->lexer;
    struct mr_ptx_token token;
    mr_ptx_lexer_next(&lexer, &token);
    return token;
}

bool mr_ptx_is(const struct parser *parser, int kind)
{
    return parser->token.kind == kind;
}

bool mr_ptx_is_dot(const struct parser *parser, const char *word)
{
    size_t length = parser->token.length;
    return parser->token.kind == MR_PTX_TOKEN_DOT && strncmp(parser->token.text, word, length) == 0 &&
           word[length] == '\0';
}

bool mr_ptx_accept(struct parser *parser, int kind)
{
    if (parser->token.kind != kind)
        return false;
    mr_ptx_advance(parser);
    return true;
}

bool mr_ptx_accept_dot(struct parser *parser, const char *word)
{
    if (!mr_ptx_is_dot(parser, word))
        return false;
    mr_ptx_advance(parser);
    return true;
}

/* Reports "expected WHAT" with what stands there instead. */
static bool unexpected(struct parser *parser, const char *what)
{
    if (parser->token.kind == MR_PTX_TOKEN_END)
        return mr_ptx_error(parser, "expected %s, but the text ends", what);
    int length = parser->token.length > 40 ? 40 : (int)parser->token.length;
    return mr_ptx_error(parser, "expected %s before '%s%.*s'", what,
                        parser->token.kind == MR_PTX_TOKEN_DOT ? "." : "", length, parser->token.text);
}

bool mr_ptx_expect(struct parser *parser, int kind, const char *what)
{
    return mr_ptx_accept(parser, kind) || unexpected(parser, what);
}

struct atom *mr_ptx_expect_name(struct parser *parser, const char *what)
{
    if (parser->token.kind != MR_PTX_TOKEN_NAME) {
        unexpected(parser, what);
        return NULL;
    }
    struct atom *atom = mr_ptx_intern(parser, parser->token.text, parser->token.length);
    mr_ptx_advance(parser);
    return atom;
}

void mr_ptx_skip_statement(struct parser *parser)
{
    while (!mr_ptx_is(parser, MR_PTX_TOKEN_END)) {
        if (mr_ptx_accept(parser, ';'))
            return;
        if (mr_ptx_is(parser, '}')) {
            /* A brace that ends a vector is followed by more of the statement. */
            int next = mr_ptx_peek(parser).kind;
            if (next != ',' && next != ';' && next != ']')
                return;
        }
        mr_ptx_advance(parser);
    }
}

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
        return unexpected(parser, "a version, as in .version 8.3");
    memcpy(copy, token->text, token->length);
    copy[token->length] = '\0';
    if (sscanf(copy, "%3u.%3u%n", &major, &minor, &used) != 2 || copy[used] != '\0')
        return unexpected(parser, "a version, as in .version 8.3");
    if (major > VERSION_MAJOR || (major == VERSION_MAJOR && minor > VERSION_MINOR)) {
        if (parser->diag)
            parser->diag->bad_version = true;
        return mr_ptx_error(parser, "PTX version %u.%u is newer than %u.%u, the newest known", major, minor,
                            VERSION_MAJOR, VERSION_MINOR);
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
        return unexpected(parser, "a file name");
    char *name = mr_ptx_new(parser, 1, parser->token.length + 1);
    memcpy(name, parser->token.text, parser->token.length);
    while (parser->files.count <= index)
        mr_ptx_list_add(parser, &parser->files, sizeof(char *));
    ((const char **)parser->files.items)[index] = name;
    mr_ptx_advance(parser);
    while (mr_ptx_accept(parser, ','))
        if (!mr_ptx_expect(parser, MR_PTX_TOKEN_INT, "a number"))
            return false;
    return true;
}

/* .section .debug_info { ... }: skipped to the brace that ends it. */
static bool parse_section(struct parser *parser)
{
    while (!mr_ptx_is(parser, '{')) {
        if (!mr_ptx_is(parser, MR_PTX_TOKEN_DOT) && !mr_ptx_is(parser, MR_PTX_TOKEN_NAME))
            return unexpected(parser, "a section's '{'");
        mr_ptx_advance(parser);
    }
    while (!mr_ptx_is(parser, '}')) {
        if (mr_ptx_is(parser, MR_PTX_TOKEN_END))
            return unexpected(parser, "'}'");
        mr_ptx_advance(parser);
    }
    mr_ptx_advance(parser);
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
        return mr_ptx_error_at(parser, token.line, token.column,
                               "'%s' is not a declared function without a body", name->name);
    if (!to || to->kind != BINDING_FUNCTION || to->function->is_entry || !to->function->has_body)
        return mr_ptx_error_at(parser, target_token.line, target_token.column,
                               "'%s' is not a function with a body", target->name);
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
        if (depth == 0 && (mr_ptx_is_dot(parser, "entry") || mr_ptx_is_dot(parser, "func") ||
                           mr_ptx_is_dot(parser, "visible")))
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
        {"visible", MR_PTX_LINKAGE_VISIBLE, 0}, {"extern", MR_PTX_LINKAGE_EXTERN, 0},
        {"weak", MR_PTX_LINKAGE_WEAK, 31}, {"common", MR_PTX_LINKAGE_COMMON, 50},
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
        return unexpected(parser, "a declaration");
    if (mr_ptx_accept_dot(parser, "version"))
        return parse_version(parser);
    if (mr_ptx_accept_dot(parser, "target"))
        return parse_target(parser);
    if (mr_ptx_accept_dot(parser, "address_size"))
        return parse_address_size(parser);
    if (mr_ptx_accept_dot(parser, "file"))
        return parse_file(parser);
    if (mr_ptx_accept_dot(parser, "section"))
        return parse_section(parser);
    if (mr_ptx_accept_dot(parser, "alias"))
        return parse_alias(parser);
    if (mr_ptx_is_dot(parser, "pragma") || mr_ptx_is_dot(parser, "loc")) {
        mr_ptx_skip_statement(parser);
        return true;
    }
    return unexpected(parser, "a directive");
}

static void parse_text(struct parser *parser)
{
    struct mr_ptx_module *module = parser->module;
    mr_ptx_advance(parser);
    if (!mr_ptx_is_dot(parser, "version")) {
        unexpected(parser, "'.version' at the beginning");
        return;
    }
    while (!mr_ptx_is(parser, MR_PTX_TOKEN_END)) {
        if (mr_ptx_accept(parser, ';'))
            continue;
        if (!parse_declaration(parser)) {
            if (module->version_major == 0)
                return; /* not PTX, or too new: nothing else makes sense */
            skip_declaration(parser);
        } else if (module->target_sm == 0 && module->version_major != 0 &&
                   !mr_ptx_is_dot(parser, "target")) {
            unexpected(parser, "'.target' after '.version'");
            return;
        }
    }
    module->vars = mr_ptx_list_copy(parser, &parser->vars, sizeof(struct mr_ptx_var *));
    module->var_count = (uint32_t)parser->vars.count;
    module->functions = mr_ptx_list_copy(parser, &parser->functions, sizeof(struct mr_ptx_function *));
    module->function_count = (uint32_t)parser->functions.count;
    module->files = mr_ptx_list_copy(parser, &parser->files, sizeof(char *));
    module->file_count = (uint32_t)parser->files.count;
}

static void free_lists(struct parser *parser)
{
    struct list *lists[] = {
        &parser->vars, &parser->functions, &parser->files, &parser->insts, &parser->regs,
        &parser->labels, &parser->tables, &parser->local_vars, &parser->targets,
        &parser->mentions, &parser->scope_parents, &parser->params, &parser->relocs,
        &parser->operands,
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
