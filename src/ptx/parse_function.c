/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions and kernels: signature, directives, body.
 *
 * A body is a flat list of instructions in the end. Blocks in braces only give
 * names a scope, so they leave no trace in the tree. Labels may be used before
 * they are declared: every mention is noted with the scope it stood in and is
 * matched when the body ends, from that scope outwards.
 */
#include <stdio.h>
#include <string.h>

#include "ptx/parse.h"
#include "ptx/parse_debug.h"

static struct target *add_target(struct parser *parser, const struct atom *atom, enum target_kind kind, uint32_t index)
{
    struct target *target = mr_ptx_list_add(parser, &parser->targets, sizeof *target);
    target->atom = atom;
    target->scope = mr_ptx_scope_id(parser);
    target->kind = kind;
    target->index = index;
    target->line = parser->token.line;
    return target;
}

/* --- Labels, matched at the end of the body ------------------------------- */

struct target_map {
    const struct target **slots;
    size_t mask;
};

static size_t target_slot(const struct target_map *map, const struct atom *atom, uint32_t scope)
{
    size_t slot = (atom->hash ^ scope * 2654435761u) & map->mask;
    while (map->slots[slot] && (map->slots[slot]->atom != atom || map->slots[slot]->scope != scope))
        slot = (slot + 1) & map->mask;
    return slot;
}

static void build_target_map(struct parser *parser, struct target_map *map)
{
    size_t size = 8;
    while (size < parser->targets.count * 2)
        size *= 2;
    map->slots = mr_ptx_new(parser, size, sizeof *map->slots);
    map->mask = size - 1;
    const struct target *targets = parser->targets.items;
    for (size_t i = 0; i < parser->targets.count; i++) {
        size_t slot = target_slot(map, targets[i].atom, targets[i].scope);
        if (map->slots[slot])
            mr_ptx_error_at(parser, targets[i].line, 1, "label '%s' is declared twice", targets[i].atom->name);
        else
            map->slots[slot] = &targets[i];
    }
}

static const struct target *find_target(struct parser *parser, const struct target_map *map,
                                        const struct mention *mention)
{
    const uint32_t *parents = parser->scope_parents.items;
    for (uint32_t scope = mention->scope;; scope = parents[scope]) {
        const struct target *target = map->slots[target_slot(map, mention->atom, scope)];
        if (target || scope == 0)
            return target;
    }
}

static void resolve_mention(struct parser *parser, const struct mention *mention, const struct target *target)
{
    const char *name = mention->atom->name;
    if (!target) {
        mr_ptx_error_at(parser, mention->line, mention->column, "'%s' is not declared", name);
    } else if (mention->call) {
        if (target->kind == TARGET_LABEL)
            mr_ptx_error_at(parser, mention->line, mention->column, "'%s' is a label, not a prototype", name);
        else if (target->kind == TARGET_PROTOTYPE)
            mention->call->prototype = target->prototype;
        else
            mention->call->table = target->index;
    } else if (target->kind != (mention->is_table ? TARGET_TABLE : TARGET_LABEL)) {
        mr_ptx_error_at(parser, mention->line, mention->column, "'%s' is not a %s", name,
                        mention->is_table ? "table of branch targets" : "label");
    } else {
        *mention->index = target->index;
    }
}

static void resolve_mentions(struct parser *parser)
{
    struct target_map map;
    build_target_map(parser, &map);
    const struct mention *mentions = parser->mentions.items;
    for (size_t i = 0; i < parser->mentions.count; i++)
        resolve_mention(parser, &mentions[i], find_target(parser, &map, &mentions[i]));
}

/* --- Statements ------------------------------------------------------------ */

/* All ranges of a module together; more than any program has, and memory is kept for each. */
#define RANGE_LABELS_MAX (1u << 20)

/* "name<3>" whose name was taken: name0, name1, name2. */
static bool mention_range(struct parser *parser, const struct atom *prefix, const struct mr_ptx_token *token)
{
    uint64_t count;
    mr_ptx_advance(parser);
    if (!mr_ptx_parse_count(parser, &count) || !mr_ptx_expect(parser, '>', "'>'"))
        return false;
    if (count == 0 || count > RANGE_LABELS_MAX - parser->range_labels)
        return mr_ptx_error_at(parser, token->line, token->column, "a range of labels has from 1 to %u of them",
                               RANGE_LABELS_MAX - parser->range_labels);
    parser->range_labels += (uint32_t)count;
    char *name = mr_ptx_new(parser, prefix->length + 12u, 1);
    for (uint32_t i = 0; i < count; i++) {
        int length = snprintf(name, prefix->length + 12u, "%s%u", prefix->name, i);
        struct mention *mention = mr_ptx_mention(parser, mr_ptx_intern(parser, name, (size_t)length));
        mention->line = token->line;
        mention->column = token->column;
    }
    return true;
}

/* .branchtargets a, b<4>; */
static bool parse_branch_table(struct parser *parser, struct atom *name)
{
    uint32_t index = (uint32_t)parser->tables.count;
    struct mr_ptx_table *table = mr_ptx_list_add(parser, &parser->tables, sizeof *table);
    table->name = name->name;
    table->line = parser->token.line;
    add_target(parser, name, TARGET_TABLE, index);

    size_t first = parser->mentions.count;
    do {
        struct mr_ptx_token token = parser->token;
        struct atom *atom = mr_ptx_expect_name(parser, "a label");
        bool range = atom && mr_ptx_is(parser, '<');
        if (!atom || (range && !mention_range(parser, atom, &token))) {
            parser->mentions.count = first; /* they have nowhere to go */
            return false;
        }
        if (range)
            continue;
        struct mention *mention = mr_ptx_mention(parser, atom);
        mention->line = token.line;
        mention->column = token.column;
    } while (mr_ptx_accept(parser, ','));
    uint32_t count = (uint32_t)(parser->mentions.count - first);
    uint32_t *labels = mr_ptx_new(parser, count, sizeof *labels);
    struct mention *mentions = parser->mentions.items;
    for (uint32_t i = 0; i < count; i++)
        mentions[first + i].index = &labels[i];
    table = &((struct mr_ptx_table *)parser->tables.items)[index];
    table->labels = labels;
    table->count = count;
    return mr_ptx_expect(parser, ';', "';'");
}

/* .calltargets f, g; */
static bool parse_call_table(struct parser *parser, struct atom *name)
{
    uint32_t index = (uint32_t)parser->tables.count;
    struct mr_ptx_table *table = mr_ptx_list_add(parser, &parser->tables, sizeof *table);
    table->name = name->name;
    table->line = parser->token.line;
    add_target(parser, name, TARGET_TABLE, index);

    struct list *list = &parser->params; /* free here: no parameters inside */
    list->count = 0;
    do {
        struct mr_ptx_token token = parser->token;
        struct atom *atom = mr_ptx_expect_name(parser, "a function");
        if (!atom)
            return false;
        struct binding *binding = mr_ptx_lookup(parser, atom);
        if (!binding || binding->kind != BINDING_FUNCTION)
            return mr_ptx_error_at(parser, token.line, token.column, "'%s' is not a function", atom->name);
        binding->function->address_taken = true;
        *(struct mr_ptx_function **)mr_ptx_list_add(parser, list, sizeof(void *)) = binding->function;
    } while (mr_ptx_accept(parser, ','));
    table = &((struct mr_ptx_table *)parser->tables.items)[index];
    table->functions = mr_ptx_list_copy(parser, list, sizeof(void *));
    table->count = (uint32_t)list->count;
    return mr_ptx_expect(parser, ';', "';'");
}

bool mr_ptx_parse_prototype(struct parser *parser, struct atom *name)
{
    struct mr_ptx_prototype *prototype = mr_ptx_new(parser, 1, sizeof *prototype);
    struct mr_ptx_var **list = NULL;
    prototype->name = name->name;
    prototype->line = parser->token.line;
    add_target(parser, name, TARGET_PROTOTYPE, 0)->prototype = prototype;
    if (mr_ptx_is(parser, '(')) {
        if (!mr_ptx_parse_params(parser, true, false, NULL, &list, &prototype->return_count))
            return false;
        prototype->returns = list;
    }
    if (!mr_ptx_expect_name(parser, "'_'"))
        return false;
    if (mr_ptx_is(parser, '(')) {
        if (!mr_ptx_parse_params(parser, false, false, NULL, &list, &prototype->param_count))
            return false;
        prototype->params = list;
    }
    for (;;) {
        uint64_t ignored;
        if (mr_ptx_accept_dot(parser, "noreturn"))
            prototype->noreturn = true;
        else if (mr_ptx_accept_dot(parser, "abi_preserve") || mr_ptx_accept_dot(parser, "abi_preserve_control")) {
            if (!mr_ptx_parse_integer(parser, &ignored, NULL))
                return false;
        } else
            break;
    }
    return mr_ptx_expect(parser, ';', "';'");
}

/* "name:" and what may follow it. */
static bool parse_label(struct parser *parser)
{
    struct mr_ptx_token token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "a label");
    mr_ptx_advance(parser); /* the colon */
    if (mr_ptx_is_dot(parser, "branchtargets") && !mr_ptx_need(parser, "'.branchtargets'", 60, 30))
        return false;
    if (mr_ptx_accept_dot(parser, "branchtargets"))
        return parse_branch_table(parser, atom);
    if (mr_ptx_accept_dot(parser, "calltargets"))
        return parse_call_table(parser, atom);
    if (mr_ptx_accept_dot(parser, "callprototype"))
        return mr_ptx_parse_prototype(parser, atom);
    uint32_t index = (uint32_t)parser->labels.count;
    struct mr_ptx_label *label = mr_ptx_list_add(parser, &parser->labels, sizeof *label);
    label->name = atom->name;
    label->inst = (uint32_t)parser->insts.count;
    label->line = token.line;
    label->column = token.column;
    atom->place = token.line;
    add_target(parser, atom, TARGET_LABEL, index)->line = token.line;
    return true;
}

static bool parse_directive(struct parser *parser)
{
    if (mr_ptx_accept_dot(parser, "reg"))
        return mr_ptx_parse_regs(parser);
    if (mr_ptx_directive_space(parser) != MR_PTX_SPACE_GENERIC)
        return mr_ptx_parse_vars(parser, MR_PTX_LINKAGE_NONE);
    if (mr_ptx_accept_dot(parser, "loc"))
        return mr_ptx_parse_loc(parser);
    if (mr_ptx_accept_dot(parser, "extern"))
        return mr_ptx_parse_vars(parser, MR_PTX_LINKAGE_EXTERN);
    if (mr_ptx_is_dot(parser, "pragma")) {
        mr_ptx_skip_statement(parser);
        return true;
    }
    size_t length = parser->token.length;
    return mr_ptx_error(parser, "unknown directive '.%.*s'", length > 60 ? 60 : (int)length, parser->token.text);
}

/* One statement; false after an error, the rest of it then still stands there. */
static bool parse_statement(struct parser *parser)
{
    if (mr_ptx_accept(parser, ';'))
        return true;
    if (mr_ptx_is(parser, MR_PTX_TOKEN_DOT))
        return parse_directive(parser);
    if (mr_ptx_is(parser, MR_PTX_TOKEN_NAME) && mr_ptx_peek(parser).kind == ':')
        return parse_label(parser);
    return mr_ptx_parse_inst(parser);
}

/* From behind the '{' to the '}' that ends the body, inclusive. */
static bool parse_statements(struct parser *parser)
{
    unsigned open = 0;
    for (;;) {
        if (mr_ptx_is(parser, MR_PTX_TOKEN_END))
            return mr_ptx_error(parser, "expected '}', but the text ends");
        if (mr_ptx_accept(parser, '{')) {
            if (!mr_ptx_scope_enter(parser))
                mr_ptx_give_up(parser, false);
            open++;
        } else if (mr_ptx_accept(parser, '}')) {
            if (open-- == 0)
                return true;
            mr_ptx_scope_leave(parser);
        } else if (!parse_statement(parser)) {
            mr_ptx_skip_statement(parser);
        }
    }
}

/* --- Signatures ------------------------------------------------------------ */

/* "x{, y{, z}}": missing ones are 1. */
static bool parse_triple(struct parser *parser, uint32_t triple[3])
{
    triple[0] = triple[1] = triple[2] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        if (!mr_ptx_parse_bounded(parser, "dimension", 1, INT32_MAX, &value))
            return false;
        triple[i] = (uint32_t)value;
        if (!mr_ptx_accept(parser, ','))
            break;
    }
    return true;
}

static bool parse_number(struct parser *parser, uint32_t *number)
{
    uint64_t value;
    if (!mr_ptx_parse_bounded(parser, "number", 0, INT32_MAX, &value))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* Whether the module is new enough for the directive that is the token. */
static bool check_directive(struct parser *parser)
{
    static const struct {
        const char *word;
        uint8_t version, sm;
    } words[] = {
        {"reqnctapercluster", 78, 90},    {"explicitcluster", 78, 90}, {"maxclusterrank", 78, 90},
        {"blocksareclusters", 90, 90},    {"noreturn", 64, 30},        {"abi_preserve", 90, 80},
        {"abi_preserve_control", 90, 80}, {"attribute", 40, 30},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (mr_ptx_is_dot(parser, words[i].word))
            return mr_ptx_need(parser, words[i].word, words[i].version, words[i].sm);
    if (mr_ptx_is_dot(parser, "maxnctapersm") && mr_ptx_module_has_version(parser->module, 21))
        return mr_ptx_error(parser, "'.maxnctapersm' ended with PTX 2.1; '.minnctapersm' took its place");
    return true;
}

/* Directives between signature and body. */
static bool parse_tuning(struct parser *parser, struct mr_ptx_function *function)
{
    while (mr_ptx_is(parser, MR_PTX_TOKEN_DOT)) {
        bool good = true;
        uint32_t ignored;
        if (!check_directive(parser))
            return false;
        if (mr_ptx_accept_dot(parser, "maxntid"))
            good = parse_triple(parser, function->maxntid);
        else if (mr_ptx_accept_dot(parser, "reqntid"))
            good = parse_triple(parser, function->reqntid);
        else if (mr_ptx_accept_dot(parser, "reqnctapercluster"))
            good = parse_triple(parser, function->reqnctapercluster);
        else if (mr_ptx_accept_dot(parser, "minnctapersm"))
            good = parse_number(parser, &function->minnctapersm) &&
                   (function->minnctapersm > 0 || mr_ptx_error(parser, "'.minnctapersm' must be at least 1"));
        else if (mr_ptx_accept_dot(parser, "maxnctapersm"))
            good = parse_number(parser, &function->maxnctapersm);
        else if (mr_ptx_accept_dot(parser, "maxnreg"))
            good = parse_number(parser, &function->maxnreg);
        else if (mr_ptx_accept_dot(parser, "maxclusterrank"))
            good = parse_number(parser, &function->maxclusterrank);
        else if (mr_ptx_accept_dot(parser, "explicitcluster"))
            function->explicitcluster = true;
        else if (mr_ptx_accept_dot(parser, "noreturn"))
            function->noreturn = true;
        else if (mr_ptx_accept_dot(parser, "unique") || mr_ptx_accept_dot(parser, "blocksareclusters"))
            good = true;
        else if (mr_ptx_accept_dot(parser, "abi_preserve") || mr_ptx_accept_dot(parser, "abi_preserve_control"))
            good = parse_number(parser, &ignored);
        else if (mr_ptx_is_dot(parser, "pragma"))
            mr_ptx_skip_statement(parser);
        else if (mr_ptx_accept_dot(parser, "attribute"))
            while (!mr_ptx_accept(parser, ')') && !mr_ptx_is(parser, MR_PTX_TOKEN_END))
                mr_ptx_advance(parser);
        else
            return mr_ptx_error(parser, "unknown directive of a function");
        if (!good)
            return false;
    }
    return true;
}

/* Offsets of a kernel's parameters: each at the next multiple of its alignment. */
static void lay_out_params(struct parser *parser, struct mr_ptx_function *function)
{
    uint64_t at = 0;
    uint32_t *offsets = mr_ptx_new(parser, function->param_count + 1u, sizeof *offsets);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct mr_ptx_var *param = function->params[i];
        at = (at + param->align - 1) & ~(uint64_t)(param->align - 1);
        if (at > UINT32_MAX || param->size > UINT32_MAX) {
            mr_ptx_error_at(parser, param->line, param->column, "parameters are too large");
            return;
        }
        offsets[i] = (uint32_t)at;
        at += param->size;
    }
    function->param_offsets = offsets;
    function->param_size = at;
}

static bool same_shape(struct mr_ptx_var *const *a, struct mr_ptx_var *const *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i]->size != b[i]->size || a[i]->space != b[i]->space || a[i]->is_array != b[i]->is_array)
            return false;
    return true;
}

/* Whether two declarations of one function agree. */
static bool same_signature(const struct mr_ptx_function *a, const struct mr_ptx_function *b)
{
    return a->is_entry == b->is_entry && a->return_count == b->return_count && a->param_count == b->param_count &&
           same_shape(a->returns, b->returns, a->return_count) && same_shape(a->params, b->params, a->param_count);
}

static void start_body(struct parser *parser, struct mr_ptx_function *function)
{
    struct list *lists[] = {
        &parser->insts,      &parser->regs,    &parser->labels,   &parser->tables,
        &parser->local_vars, &parser->targets, &parser->mentions, &parser->scope_parents,
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        lists[i]->count = 0;
    *(uint32_t *)mr_ptx_list_add(parser, &parser->scope_parents, sizeof(uint32_t)) = 0;
    parser->scopes[0].id = 0;
    parser->function = function;
    mr_ptx_loc_reset(parser);
}

static void finish_body(struct parser *parser, struct mr_ptx_function *function)
{
    resolve_mentions(parser);
    function->has_body = true;
    function->insts = mr_ptx_list_copy(parser, &parser->insts, sizeof(struct mr_ptx_inst));
    function->inst_count = (uint32_t)parser->insts.count;
    function->regs = mr_ptx_list_copy(parser, &parser->regs, sizeof(struct mr_ptx_reg));
    function->reg_count = (uint32_t)parser->regs.count;
    function->labels = mr_ptx_list_copy(parser, &parser->labels, sizeof(struct mr_ptx_label));
    function->label_count = (uint32_t)parser->labels.count;
    function->tables = mr_ptx_list_copy(parser, &parser->tables, sizeof(struct mr_ptx_table));
    function->table_count = (uint32_t)parser->tables.count;
    function->vars = mr_ptx_list_copy(parser, &parser->local_vars, sizeof(struct mr_ptx_var *));
    function->var_count = (uint32_t)parser->local_vars.count;
}

/* The function of that name, made if it is new. */
static struct mr_ptx_function *declare(struct parser *parser, struct atom *atom)
{
    struct binding *binding = atom->binding;
    if (binding && binding->depth == 0 && binding->kind == BINDING_FUNCTION)
        return binding->function;
    binding = mr_ptx_bind(parser, atom, BINDING_FUNCTION);
    if (!binding)
        return NULL;
    struct mr_ptx_function *function = mr_ptx_new(parser, 1, sizeof *function);
    function->name = atom->name;
    function->module = parser->module;
    function->index = (uint32_t)parser->functions.count;
    *(struct mr_ptx_function **)mr_ptx_list_add(parser, &parser->functions, sizeof(struct mr_ptx_function *)) =
        function;
    binding->function = function;
    return function;
}

/* Merges what was parsed just now into the function that callers point to. */
static bool merge(struct parser *parser, struct mr_ptx_function *function, const struct mr_ptx_function *fresh,
                  bool is_new, const struct mr_ptx_token *token)
{
    if (!is_new && !same_signature(function, fresh))
        return mr_ptx_error_at(parser, token->line, token->column, "'%s' was declared differently in line %u",
                               function->name, function->line);
    if (function->has_body && mr_ptx_is(parser, '{'))
        return mr_ptx_error_at(parser, token->line, token->column, "'%s' is defined twice, first in line %u",
                               function->name, function->line);
    if (function->has_body)
        return true; /* a declaration after the definition adds nothing */
    struct mr_ptx_function old = *function;
    *function = *fresh;
    function->name = old.name;
    function->module = old.module;
    function->index = old.index;
    function->address_taken = old.address_taken;
    if (!is_new && fresh->linkage == MR_PTX_LINKAGE_NONE)
        function->linkage = old.linkage;
    for (uint32_t i = 0; i < function->param_count; i++)
        function->params[i]->owner = function;
    for (uint32_t i = 0; i < function->return_count; i++)
        function->returns[i]->owner = function;
    return true;
}

/* Signature, directives and body; the scope of the parameters is open. */
static bool parse_rest(struct parser *parser, struct mr_ptx_function *fresh)
{
    struct mr_ptx_var **list = NULL;
    if (!fresh->is_entry && mr_ptx_is(parser, '(')) {
        if (!mr_ptx_parse_params(parser, true, true, NULL, &list, &fresh->return_count))
            return false;
        fresh->returns = list;
    }
    struct mr_ptx_token token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "a function name");
    if (!atom)
        return false;
    fresh->line = token.line;
    fresh->column = token.column;
    if (mr_ptx_is(parser, '(')) {
        if (!mr_ptx_parse_params(parser, false, true, NULL, &list, &fresh->param_count))
            return false;
        fresh->params = list;
    }
    if (!parse_tuning(parser, fresh))
        return false;
    lay_out_params(parser, fresh);

    uint32_t depth = parser->depth;
    bool is_new = !atom->binding;
    if (atom->binding && atom->binding->depth > 0)
        return mr_ptx_error_at(parser, token.line, token.column, "'%s' is also the name of a parameter", atom->name);
    parser->depth = 0; /* the name belongs to the module */
    struct mr_ptx_function *function = declare(parser, atom);
    parser->depth = depth;
    if (!function || !merge(parser, function, fresh, is_new, &token))
        return false;
    parser->function = function;
    if (mr_ptx_accept(parser, ';'))
        return true;
    if (function->linkage == MR_PTX_LINKAGE_EXTERN)
        return mr_ptx_error_at(parser, token.line, token.column, "extern function '%s' has a body", atom->name);
    if (!mr_ptx_expect(parser, '{', "'{' or ';'"))
        return false;
    if (!mr_ptx_scope_enter(parser)) /* what a body declares hides parameters */
        return false;
    bool good = parse_statements(parser);
    finish_body(parser, function);
    return good;
}

bool mr_ptx_parse_function(struct parser *parser, enum mr_ptx_linkage linkage)
{
    struct mr_ptx_function fresh = {.linkage = linkage, .is_entry = mr_ptx_is_dot(parser, "entry")};
    mr_ptx_advance(parser);
    if (mr_ptx_accept_dot(parser, "attribute"))
        while (!mr_ptx_accept(parser, ')') && !mr_ptx_is(parser, MR_PTX_TOKEN_END))
            mr_ptx_advance(parser);
    start_body(parser, NULL);
    if (!mr_ptx_scope_enter(parser))
        return false;
    bool good = parse_rest(parser, &fresh);
    while (parser->depth > 0)
        mr_ptx_scope_leave(parser);
    parser->function = NULL;
    return good;
}
