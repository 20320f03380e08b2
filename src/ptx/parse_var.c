/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Declarations of data: variables in all spaces, parameters, registers, and the
 * initial values of variables.
 *
 *   .visible .global .align 8 .v2 .f32 table[4][2] = {{...}, ...}, other;
 *
 * An initialiser is turned into bytes at once. Addresses in it become
 * relocations, since nobody knows yet where anything will lie.
 */
#include <assert.h>
#include <string.h>

#include "ptx/parse.h"

/* What stands before the names of a declaration. */
struct declaration {
    enum mr_ptx_linkage linkage;
    enum mr_ptx_space space;
    enum mr_ptx_type type;
    uint8_t vector;
    uint32_t align; /* 0 = not given */
    bool is_managed, is_pointer;
    uint32_t pointer_align;
    enum mr_ptx_space pointer_space;
};

/* An initialiser under construction. */
struct image {
    struct mr_ptx_var *var;
    uint8_t *bytes;
    uint64_t room;   /* of `bytes` */
    uint64_t filled; /* bytes up to the last value given */
    unsigned size;   /* bytes of one scalar */
};

enum mr_ptx_space mr_ptx_directive_space(const struct parser *parser)
{
    if (parser->token.kind != MR_PTX_TOKEN_DOT)
        return MR_PTX_SPACE_GENERIC;
    switch (mr_ptx_space_find(parser->token.text, parser->token.length)) {
    case MR_PTX_SPACE_REG:
        return MR_PTX_SPACE_REG;
    case MR_PTX_SPACE_CONST:
        return MR_PTX_SPACE_CONST;
    case MR_PTX_SPACE_GLOBAL:
        return MR_PTX_SPACE_GLOBAL;
    case MR_PTX_SPACE_LOCAL:
        return MR_PTX_SPACE_LOCAL;
    case MR_PTX_SPACE_PARAM:
        return MR_PTX_SPACE_PARAM;
    case MR_PTX_SPACE_SHARED:
        return MR_PTX_SPACE_SHARED;
    case MR_PTX_SPACE_TEX:
        return MR_PTX_SPACE_TEX;
    default:
        return MR_PTX_SPACE_GENERIC;
    }
}

static bool parse_align(struct parser *parser, uint32_t *align)
{
    struct mr_ptx_token token = parser->token;
    uint64_t value;
    if (!mr_ptx_parse_bounded(parser, "alignment", 1, UINT64_C(1) << 20, &value))
        return false;
    if (value & (value - 1))
        return mr_ptx_error_at(parser, token.line, token.column, "alignment must be a power of two");
    *align = (uint32_t)value;
    return true;
}

/* .attribute(.managed, .unified(a, b)) */
static bool parse_attribute(struct parser *parser, struct declaration *declaration)
{
    if (!mr_ptx_need(parser, "'.attribute'", 40, 30) || !mr_ptx_expect(parser, '(', "'('"))
        return false;
    do {
        if (mr_ptx_accept_dot(parser, "managed")) {
            declaration->is_managed = true;
        } else if (mr_ptx_accept_dot(parser, "unified")) {
            uint64_t ignored;
            if (!mr_ptx_expect(parser, '(', "'('") || !mr_ptx_parse_integer(parser, &ignored, NULL) ||
                !mr_ptx_expect(parser, ',', "','") || !mr_ptx_parse_integer(parser, &ignored, NULL) ||
                !mr_ptx_expect(parser, ')', "')'"))
                return false;
        } else {
            return mr_ptx_error(parser, "unknown attribute");
        }
    } while (mr_ptx_accept(parser, ','));
    return mr_ptx_expect(parser, ')', "')'");
}

/* .ptr {.space} {.align N} */
static bool parse_pointer(struct parser *parser, struct declaration *declaration)
{
    declaration->is_pointer = true;
    enum mr_ptx_space space = mr_ptx_directive_space(parser);
    if (space != MR_PTX_SPACE_GENERIC) {
        declaration->pointer_space = space;
        mr_ptx_advance(parser);
    }
    return !mr_ptx_accept_dot(parser, "align") || parse_align(parser, &declaration->pointer_align);
}

/* Words between the space and the first name: alignment, vector, type, .ptr. */
static bool parse_type(struct parser *parser, struct declaration *declaration)
{
    declaration->vector = 1;
    while (mr_ptx_is(parser, MR_PTX_TOKEN_DOT)) {
        const char *text = parser->token.text;
        size_t length = parser->token.length;
        if (mr_ptx_accept_dot(parser, "align")) {
            if (!parse_align(parser, &declaration->align))
                return false;
        } else if (mr_ptx_accept_dot(parser, "attribute")) {
            if (!parse_attribute(parser, declaration))
                return false;
        } else if (mr_ptx_accept_dot(parser, "ptr")) {
            if (declaration->space != MR_PTX_SPACE_PARAM)
                return mr_ptx_error(parser, ".ptr is for parameters");
            if (!parse_pointer(parser, declaration))
                return false;
        } else if (length == 2 && text[0] == 'v' && (text[1] == '2' || text[1] == '4' || text[1] == '8')) {
            declaration->vector = (uint8_t)(text[1] - '0');
            mr_ptx_advance(parser);
        } else {
            enum mr_ptx_type type = mr_ptx_type_find(text, length);
            if (type == MR_PTX_TYPE_NONE)
                return mr_ptx_error(parser, "unknown type '.%.*s'", length > 40 ? 40 : (int)length, text);
            if (declaration->type != MR_PTX_TYPE_NONE)
                return mr_ptx_error(parser, "a declaration has one type");
            if ((type == MR_PTX_TYPE_B128 && !mr_ptx_need(parser, "type '.b128'", 83, 70)) ||
                (type == MR_PTX_TYPE_F16X2 && !mr_ptx_need(parser, "type '.f16x2'", 42, 53)))
                return false;
            declaration->type = type;
            mr_ptx_advance(parser);
        }
    }
    if (declaration->type == MR_PTX_TYPE_NONE)
        return mr_ptx_error(parser, "expected a type");
    char cls = mr_ptx_type_class(declaration->type);
    bool is_reg = declaration->space == MR_PTX_SPACE_REG;
    if (cls == 'X' || (cls == 'P' && !is_reg) || (cls == 'O' && is_reg))
        return mr_ptx_error(parser, "type '.%s' cannot be declared in space '.%s'", mr_ptx_type_name(declaration->type),
                            mr_ptx_space_name(declaration->space));
    return true;
}

static bool parse_range(struct parser *parser, struct atom *prefix, const struct declaration *declaration)
{
    uint64_t count;
    if (!mr_ptx_parse_count(parser, &count) || !mr_ptx_expect(parser, '>', "'>'"))
        return false;
    return mr_ptx_bind_range(parser, prefix, (uint32_t)count, (uint8_t)declaration->type, declaration->vector);
}

bool mr_ptx_parse_regs(struct parser *parser)
{
    struct declaration declaration = {.space = MR_PTX_SPACE_REG};
    if (!parse_type(parser, &declaration))
        return false;
    do {
        struct atom *atom = mr_ptx_expect_name(parser, "a register name");
        if (!atom)
            return false;
        bool good = mr_ptx_accept(parser, '<')
                        ? parse_range(parser, atom, &declaration)
                        : mr_ptx_declare_reg(parser, atom, (uint8_t)declaration.type, declaration.vector);
        if (!good)
            return false;
    } while (mr_ptx_accept(parser, ','));
    return mr_ptx_expect(parser, ';', "';'");
}

/* "[4][2]" or "[]" behind a name; sizes are checked. */
static bool parse_dims(struct parser *parser, struct mr_ptx_var *var)
{
    uint64_t dims[MR_PTX_DIMS_MAX];
    uint64_t size = var->element_size;
    while (mr_ptx_accept(parser, '[')) {
        if (var->ndims == MR_PTX_DIMS_MAX)
            return mr_ptx_error(parser, "array has more than %u dimensions", MR_PTX_DIMS_MAX);
        uint64_t dim = 0;
        if (mr_ptx_is(parser, ']') && var->ndims == 0)
            var->incomplete = true;
        else if (!mr_ptx_parse_bounded(parser, "array size", 0, MR_PTX_SIZE_MAX, &dim))
            return false;
        if (!mr_ptx_expect(parser, ']', "']'"))
            return false;
        bool open = var->incomplete && var->ndims == 0;
        if (!open && (__builtin_mul_overflow(size, dim, &size) || size > MR_PTX_SIZE_MAX))
            return mr_ptx_error(parser, "'%s' is too large", var->name);
        if (!open && dim == 0 && var->ndims == 0 && var->linkage == MR_PTX_LINKAGE_EXTERN)
            var->incomplete = true; /* x[0] says the same as x[] there */
        dims[var->ndims++] = dim;
    }
    var->is_array = var->ndims > 0;
    var->size = var->incomplete ? 0 : size;
    if (var->is_array) {
        uint64_t *copy = mr_ptx_new(parser, var->ndims, sizeof *copy);
        memcpy(copy, dims, var->ndims * sizeof *copy);
        var->dims = copy;
    }
    return true;
}

/* Makes room for `size` bytes from `offset`. */
static bool image_reserve(struct parser *parser, struct image *image, uint64_t offset, uint64_t size)
{
    uint64_t end = offset + size;
    if (!image->var->incomplete && end > image->var->size)
        return mr_ptx_error(parser, "too many initial values for '%s'", image->var->name);
    if (end > image->room) {
        uint64_t most = MR_PTX_INIT_BASE + MR_PTX_INIT_PER_BYTE * (uint64_t)parser->module->text_length;
        uint64_t room = image->room ? image->room * 2 : 64;
        if (room < end)
            room = end;
        parser->init_room += room;
        if (room > most || parser->init_room > most)
            return mr_ptx_error(parser, "initial value of '%s' is too large", image->var->name);
        uint8_t *bytes = mr_ptx_new(parser, 1, room);
        if (image->filled)
            memcpy(bytes, image->bytes, image->filled);
        image->bytes = bytes;
        image->room = room;
    }
    if (end > image->filled)
        image->filled = end;
    return true;
}

/* A sign begins the expression, so that "x - 4 + 8" is x + (-4 + 8). */
bool mr_ptx_parse_addend(struct parser *parser, int64_t *addend)
{
    uint64_t value = 0;
    *addend = 0;
    if (!mr_ptx_is(parser, '+') && !mr_ptx_is(parser, '-'))
        return true;
    mr_ptx_accept(parser, '+');
    if (!mr_ptx_parse_integer(parser, &value, NULL))
        return false;
    *addend = (int64_t)value;
    return true;
}

/* symbol, symbol+4, generic(symbol)+4 */
static bool parse_symbol_value(struct parser *parser, struct mr_ptx_reloc *reloc)
{
    struct mr_ptx_token token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "a symbol");
    if (!atom)
        return false;
    if (strcmp(atom->name, "generic") == 0 && mr_ptx_is(parser, '(')) {
        if (!mr_ptx_need(parser, "'generic()'", 31, 0))
            return false;
        mr_ptx_advance(parser);
        reloc->generic = true;
        token = parser->token;
        atom = mr_ptx_expect_name(parser, "a symbol");
        if (!atom || !mr_ptx_expect(parser, ')', "')'"))
            return false;
    }
    struct binding *binding = mr_ptx_lookup(parser, atom);
    if (!binding || binding->kind == BINDING_REG)
        return mr_ptx_error_at(parser, token.line, token.column, "'%s' is not declared", atom->name);
    if (binding->kind == BINDING_FUNCTION) {
        reloc->func = binding->function;
        binding->function->address_taken = true;
    } else {
        enum mr_ptx_space space = binding->var->space;
        if (space != MR_PTX_SPACE_GLOBAL && space != MR_PTX_SPACE_CONST && space != MR_PTX_SPACE_SHARED)
            return mr_ptx_error_at(parser, token.line, token.column, "the address of '%s' is not a constant",
                                   atom->name);
        reloc->var = binding->var;
    }
    return mr_ptx_parse_addend(parser, &reloc->addend);
}

/* 0xFF00(symbol): one byte of an address. `mask` was taken, '(' is the token. */
static bool parse_mask(struct parser *parser, uint64_t mask, struct mr_ptx_reloc *reloc)
{
    if (!mr_ptx_need(parser, "a mask", 71, 0))
        return false;
    unsigned shift = mask ? (unsigned)__builtin_ctzll(mask) & ~7u : 0;
    if (mask >> shift != 0xff)
        return mr_ptx_error(parser, "a mask must cover one byte");
    reloc->shift = (uint8_t)shift;
    mr_ptx_advance(parser);
    return parse_symbol_value(parser, reloc) && mr_ptx_expect(parser, ')', "')'");
}

static bool store_number(struct parser *parser, struct image *image, uint64_t offset, const struct value *value)
{
    uint64_t bits = value->bits;
    enum mr_ptx_type type = image->var->type;
    bool is_float = value->kind == VALUE_DOUBLE || value->kind == VALUE_SINGLE;
    if (type == MR_PTX_TYPE_F32 && is_float) {
        if (value->kind == VALUE_DOUBLE) {
            float single = (float)mr_ptx_value_double(value);
            uint32_t word;
            memcpy(&word, &single, sizeof word);
            bits = word;
        }
    } else if (type == MR_PTX_TYPE_F64 && is_float) {
        double number = mr_ptx_value_double(value);
        memcpy(&bits, &number, sizeof bits);
    } else if (mr_ptx_type_class(type) == 'F' && image->size >= 4 && !is_float) {
        return mr_ptx_error(parser, "a float variable needs a float value");
    } else if (is_float && image->size < (value->kind == VALUE_SINGLE ? 4u : 8u)) {
        return mr_ptx_error(parser, "a float does not fit in type '.%s'", mr_ptx_type_name(type));
    }
    unsigned size = image->size < 8 ? image->size : 8;
    assert(image->bytes); /* image_reserve has made room */
    memcpy(image->bytes + offset, &bits, size);
    return true;
}

static bool parse_scalar(struct parser *parser, struct image *image, uint64_t offset)
{
    struct value value;
    struct mr_ptx_reloc reloc = {.offset = offset, .width = (uint8_t)image->size};
    if (!image_reserve(parser, image, offset, image->size))
        return false;
    bool symbol = mr_ptx_is(parser, MR_PTX_TOKEN_NAME) &&
                  !(parser->token.length == 7 && memcmp(parser->token.text, "WARP_SZ", 7) == 0);
    if (!symbol) {
        if (!mr_ptx_parse_value(parser, &value))
            return false;
        if (!mr_ptx_is(parser, '('))
            return store_number(parser, image, offset, &value);
        if (!parse_mask(parser, value.bits, &reloc))
            return false;
    } else if (!parse_symbol_value(parser, &reloc)) {
        return false;
    } else if (image->size < 4 || image->size > 8) {
        return mr_ptx_error(parser, "an address does not fit in type '.%s'", mr_ptx_type_name(image->var->type));
    }
    if (mr_ptx_type_class(image->var->type) == 'F' || image->size > 8)
        return mr_ptx_error(parser, "an address needs an integer variable");
    *(struct mr_ptx_reloc *)mr_ptx_list_add(parser, &parser->relocs, sizeof reloc) = reloc;
    return true;
}

/* Bytes of one element at nesting `level`: 0 is the whole variable. A vector
 * counts as one more dimension inside. */
static uint64_t level_size(const struct mr_ptx_var *var, uint32_t level)
{
    uint64_t size = level > var->ndims ? var->element_size / var->vector : var->element_size;
    for (uint32_t i = level; i < var->ndims; i++)
        size *= var->dims[i];
    return size;
}

/* "{ ... }" for one element at `level`, from byte `offset` on. */
static bool parse_braces(struct parser *parser, struct image *image, uint32_t level, uint64_t offset)
{
    struct mr_ptx_var *var = image->var;
    uint32_t levels = var->ndims + (var->vector > 1);
    uint64_t at = offset;
    if (level >= levels)
        return mr_ptx_error(parser, "too many braces in the initial value of '%s'", var->name);
    uint64_t end = var->incomplete && level == 0 ? UINT64_MAX : offset + level_size(var, level);
    mr_ptx_advance(parser);
    while (!mr_ptx_is(parser, '}')) {
        uint64_t step = image->size;
        if (mr_ptx_is(parser, '{')) {
            step = level_size(var, level + 1);
            if (step == 0 || (at - offset) % step != 0)
                return mr_ptx_error(parser, "braces do not match the shape of '%s'", var->name);
        }
        if (at >= end)
            return mr_ptx_error(parser, "too many initial values for '%s'", var->name);
        bool good =
            mr_ptx_is(parser, '{') ? parse_braces(parser, image, level + 1, at) : parse_scalar(parser, image, at);
        if (!good)
            return false;
        at += step;
        if (!mr_ptx_accept(parser, ',') && !mr_ptx_is(parser, '}'))
            return mr_ptx_expect(parser, '}', "'}'");
    }
    mr_ptx_advance(parser);
    if (level == 0 && var->incomplete) {
        uint64_t row = level_size(var, 1);
        uint64_t count = row ? (at + row - 1) / row : 0;
        uint64_t *dims = mr_ptx_new(parser, var->ndims, sizeof *dims);
        memcpy(dims, var->dims, var->ndims * sizeof *dims);
        dims[0] = count;
        var->dims = dims;
        var->size = count * row;
        var->incomplete = false;
    }
    return true;
}

static bool parse_initial(struct parser *parser, struct mr_ptx_var *var)
{
    struct image image = {.var = var};
    if (mr_ptx_type_class(var->type) == 'O')
        return mr_ptx_error(parser, "initial values of '.%s' are not supported", mr_ptx_type_name(var->type));
    if (var->space != MR_PTX_SPACE_GLOBAL && var->space != MR_PTX_SPACE_CONST)
        return mr_ptx_error(parser, "only .global and .const variables have initial values");
    if (var->is_array && !mr_ptx_is(parser, '{'))
        return mr_ptx_error(parser, "the initial value of an array needs braces");
    image.size = mr_ptx_type_bytes(var->type);
    parser->relocs.count = 0;
    bool good = mr_ptx_is(parser, '{') ? parse_braces(parser, &image, 0, 0) : parse_scalar(parser, &image, 0);
    if (good) {
        var->init = image.bytes;
        var->init_size = image.filled;
        var->relocs = mr_ptx_list_copy(parser, &parser->relocs, sizeof(struct mr_ptx_reloc));
        var->reloc_count = (uint32_t)parser->relocs.count;
    }
    return good;
}

/* Fills a variable from what stands before its name. */
static void init_var(struct mr_ptx_var *var, const struct declaration *declaration, const struct atom *atom,
                     const struct mr_ptx_token *token)
{
    var->name = atom->name;
    var->space = declaration->space;
    var->type = declaration->type;
    var->linkage = declaration->linkage;
    var->vector = declaration->vector;
    var->is_managed = declaration->is_managed;
    var->is_pointer = declaration->is_pointer;
    var->pointer_align = declaration->pointer_align;
    var->pointer_space = declaration->pointer_space;
    var->element_size = mr_ptx_type_bytes(declaration->type) * declaration->vector;
    var->size = var->element_size;
    var->align = declaration->align > var->element_size || (declaration->align && var->vector == 1) ? declaration->align
                                                                                                    : var->element_size;
    var->reg = MR_PTX_NONE;
    var->line = token->line;
    var->column = token->column;
}

/* A second declaration of a variable: allowed if one of them is extern. */
static struct mr_ptx_var *redeclare(struct parser *parser, struct atom *atom, const struct declaration *declaration)
{
    struct binding *old = atom->binding;
    if (!old || old->depth != parser->depth || old->kind != BINDING_VAR || parser->depth > 0)
        return NULL;
    bool either = old->var->linkage == MR_PTX_LINKAGE_EXTERN || declaration->linkage == MR_PTX_LINKAGE_EXTERN;
    bool same = old->var->space == declaration->space && old->var->type == declaration->type &&
                old->var->vector == declaration->vector;
    return either && same ? old->var : NULL;
}

static bool parse_one_var(struct parser *parser, const struct declaration *declaration)
{
    struct mr_ptx_token token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "a variable name");
    if (!atom)
        return false;
    struct declaration own = *declaration;
    struct mr_ptx_var *old = redeclare(parser, atom, declaration);
    struct mr_ptx_var *var = mr_ptx_new(parser, 1, sizeof *var);
    init_var(var, &own, atom, &token);
    var->owner = parser->depth > 0 ? parser->function : NULL;
    if (!old) {
        struct binding *binding = mr_ptx_bind(parser, atom, BINDING_VAR);
        if (!binding)
            return false;
        binding->var = var;
        struct list *list = parser->depth > 0 ? &parser->local_vars : &parser->vars;
        var->index = (uint32_t)list->count;
        *(struct mr_ptx_var **)mr_ptx_list_add(parser, list, sizeof(struct mr_ptx_var *)) = var;
    }
    if (mr_ptx_is(parser, '<') && var->space != MR_PTX_SPACE_REG)
        return mr_ptx_error(parser, "only registers are declared in ranges");
    if (!parse_dims(parser, var))
        return false;
    if (mr_ptx_accept(parser, '=') && !parse_initial(parser, var))
        return false;
    if (var->incomplete && var->linkage != MR_PTX_LINKAGE_EXTERN)
        return mr_ptx_error_at(parser, token.line, token.column, "'%s' has no size", var->name);
    if (old && old->linkage == MR_PTX_LINKAGE_EXTERN && declaration->linkage != MR_PTX_LINKAGE_EXTERN) {
        var->index = old->index;
        *old = *var; /* the definition replaces the declaration everywhere */
    }
    return true;
}

bool mr_ptx_parse_vars(struct parser *parser, enum mr_ptx_linkage linkage)
{
    struct declaration declaration = {.linkage = linkage, .space = mr_ptx_directive_space(parser)};
    struct mr_ptx_token token = parser->token;
    mr_ptx_advance(parser);
    if (declaration.space == MR_PTX_SPACE_CONST && mr_ptx_accept(parser, '[')) {
        uint64_t bank; /* .const[2]: a bank, of PTX 1 */
        if (!mr_ptx_parse_bounded(parser, "bank", 0, 10, &bank) || !mr_ptx_expect(parser, ']', "']'"))
            return false;
    }
    if (parser->depth == 0 && (declaration.space == MR_PTX_SPACE_REG || declaration.space == MR_PTX_SPACE_PARAM))
        return mr_ptx_error_at(parser, token.line, token.column, "'.%s' is not allowed outside of a function",
                               mr_ptx_space_name(declaration.space));
    if (declaration.space == MR_PTX_SPACE_REG)
        return mr_ptx_parse_regs(parser);
    if (!parse_type(parser, &declaration))
        return false;
    do {
        if (!parse_one_var(parser, &declaration))
            return false;
    } while (mr_ptx_accept(parser, ','));
    return mr_ptx_expect(parser, ';', "';'");
}

static bool parse_param(struct parser *parser, bool is_return, bool bind, const struct mr_ptx_function *owner)
{
    struct declaration declaration = {.space = mr_ptx_directive_space(parser)};
    if (declaration.space != MR_PTX_SPACE_PARAM && declaration.space != MR_PTX_SPACE_REG)
        return mr_ptx_error(parser, "expected .param or .reg");
    mr_ptx_advance(parser);
    if (!parse_type(parser, &declaration))
        return false;
    struct mr_ptx_token token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "a parameter name");
    if (!atom)
        return false;
    struct mr_ptx_var *var = mr_ptx_new(parser, 1, sizeof *var);
    init_var(var, &declaration, atom, &token);
    var->owner = owner;
    var->is_return = is_return;
    var->is_input = !is_return;
    var->index = (uint32_t)parser->params.count;
    *(struct mr_ptx_var **)mr_ptx_list_add(parser, &parser->params, sizeof(struct mr_ptx_var *)) = var;
    if (!parse_dims(parser, var))
        return false;
    if (declaration.space == MR_PTX_SPACE_REG && (var->is_array || var->vector > 1))
        return mr_ptx_error_at(parser, token.line, token.column, "parameter '%s' of several registers is not supported",
                               var->name);
    if (!bind)
        return true;
    if (declaration.space == MR_PTX_SPACE_REG) {
        var->reg = (uint32_t)parser->regs.count;
        return mr_ptx_declare_reg(parser, atom, (uint8_t)declaration.type, declaration.vector);
    }
    struct binding *binding = mr_ptx_bind(parser, atom, BINDING_VAR);
    if (binding)
        binding->var = var;
    return binding != NULL;
}

bool mr_ptx_parse_params(struct parser *parser, bool is_return, bool bind, const struct mr_ptx_function *owner,
                         struct mr_ptx_var ***params, uint32_t *count)
{
    parser->params.count = 0;
    if (!mr_ptx_expect(parser, '(', "'('"))
        return false;
    if (!mr_ptx_is(parser, ')')) {
        do {
            if (!parse_param(parser, is_return, bind, owner))
                return false;
        } while (mr_ptx_accept(parser, ','));
    }
    if (!mr_ptx_expect(parser, ')', "')'"))
        return false;
    *params = mr_ptx_list_copy(parser, &parser->params, sizeof **params);
    *count = (uint32_t)parser->params.count;
    return true;
}
