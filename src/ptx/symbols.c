/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Names and what they mean.
 *
 * A name is interned once, as an atom, and the atom itself holds its meaning in
 * the innermost scope; leaving a scope puts back what was there before. So a
 * look-up is one hash of the spelling and no search through scopes.
 *
 * `.reg .b32 %r<4000000000>` declares as many registers as it likes: a register
 * comes to be when it is first named, so the table of registers is never larger
 * than the text.
 */
#include <string.h>

#include "base/alloc.h"
#include "ptx/parse.h"

/* The table begins with a bucket for so many bytes of text, so that it hardly ever grows: that looks at each atom once
 * more, which in a long text is in no cache. */
#define BUCKETS_FIRST 1024u
#define BUCKETS_MOST (1u << 22)
#define BYTES_OF_A_NAME 32u

/* FNV-1. The last letter is not multiplied, so names that count (k10, k11, k12) have neighbouring buckets, which share
 * a line of the cache. */
static uint32_t hash_name(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = hash * 16777619u ^ (unsigned char)name[i];
    return hash;
}

static void grow_buckets(struct parser *parser)
{
    size_t count = parser->bucket_count ? parser->bucket_count * 2 : BUCKETS_FIRST;
    while (!parser->bucket_count && count < BUCKETS_MOST && count < parser->module->text_length / BYTES_OF_A_NAME)
        count *= 2;
    struct atom **buckets = mr_ptx_new(parser, count, sizeof *buckets);
    for (size_t i = 0; i < parser->bucket_count; i++) {
        for (struct atom *atom = parser->buckets[i], *next; atom; atom = next) {
            next = atom->next;
            atom->next = buckets[atom->hash & (count - 1)];
            buckets[atom->hash & (count - 1)] = atom;
        }
    }
    parser->buckets = buckets;
    parser->bucket_count = count;
}

struct atom *mr_ptx_intern(struct parser *parser, const char *name, size_t length)
{
    uint32_t hash = hash_name(name, length);
    for (struct atom *atom = parser->buckets[hash & (parser->bucket_count - 1)]; atom; atom = atom->next)
        if (atom->hash == hash && atom->length == length && memcmp(atom->name, name, length) == 0)
            return atom;
    if (parser->atom_count >= parser->bucket_count)
        grow_buckets(parser);
    struct atom *atom = mr_ptx_new(parser, 1, sizeof *atom + length + 1);
    memcpy(atom->name, name, length);
    atom->hash = hash;
    atom->length = (uint32_t)length;
    atom->next = parser->buckets[hash & (parser->bucket_count - 1)];
    parser->buckets[hash & (parser->bucket_count - 1)] = atom;
    parser->atom_count++;
    return atom;
}

void mr_ptx_symbols_init(struct parser *parser)
{
    grow_buckets(parser);
    for (int op = MR_PTX_OP_UNSUPPORTED + 1; op < MR_PTX_OP_COUNT; op++) {
        const char *name = mr_ptx_op_name((enum mr_ptx_op)op);
        struct atom *atom = mr_ptx_intern(parser, name, strlen(name));
        atom->is_op = true;
        atom->op = (uint16_t)op;
    }
    for (const char *const *name = mr_ptx_known_ops; *name; name++) {
        struct atom *atom = mr_ptx_intern(parser, *name, strlen(*name));
        atom->is_op = true;
        atom->op = MR_PTX_OP_UNSUPPORTED;
    }
}

bool mr_ptx_scope_enter(struct parser *parser)
{
    if (parser->depth + 1 >= MR_PTX_SCOPES_MAX)
        return mr_ptx_error(parser, "blocks are nested too deeply");
    struct scope *outer = &parser->scopes[parser->depth++];
    struct scope *scope = &parser->scopes[parser->depth];
    *scope = (struct scope){.id = (uint32_t)parser->scope_parents.count};
    *(uint32_t *)mr_ptx_list_add(parser, &parser->scope_parents, sizeof(uint32_t)) = outer->id;
    return true;
}

void mr_ptx_scope_leave(struct parser *parser)
{
    struct scope *scope = &parser->scopes[parser->depth];
    for (struct binding *binding = scope->bindings; binding; binding = binding->next)
        binding->atom->binding = binding->shadowed;
    for (struct range *range = scope->ranges; range; range = range->next)
        range->atom->range = range->shadowed;
    scope->bindings = NULL;
    scope->ranges = NULL;
    parser->depth--;
    while (parser->ranges_depth > parser->depth ||
           (parser->ranges_depth > 0 && !parser->scopes[parser->ranges_depth].ranges))
        parser->ranges_depth--;
}

/* Binds in the scope of that depth, which need not be the current one. */
static struct binding *bind_at(struct parser *parser, struct atom *atom, enum binding_kind kind, uint32_t depth)
{
    struct binding *binding = mr_ptx_new(parser, 1, sizeof *binding);
    binding->atom = atom;
    binding->kind = kind;
    binding->depth = depth;
    binding->shadowed = atom->binding;
    binding->next = parser->scopes[depth].bindings;
    atom->binding = binding;
    parser->scopes[depth].bindings = binding;
    return binding;
}

struct binding *mr_ptx_bind(struct parser *parser, struct atom *atom, enum binding_kind kind)
{
    if (atom->binding && atom->binding->depth == parser->depth) {
        mr_ptx_error(parser, "'%s' is declared twice", atom->name);
        return NULL;
    }
    return bind_at(parser, atom, kind, parser->depth);
}

bool mr_ptx_bind_range(struct parser *parser, struct atom *prefix, uint32_t count, uint8_t type, uint8_t vector)
{
    for (struct range *other = prefix->range; other && other->depth == parser->depth; other = other->shadowed)
        return mr_ptx_error(parser, "registers '%s<...>' are declared twice", prefix->name);
    struct range *range = mr_ptx_new(parser, 1, sizeof *range);
    struct scope *scope = &parser->scopes[parser->depth];
    *range = (struct range){
        .shadowed = prefix->range,
        .next = scope->ranges,
        .atom = prefix,
        .depth = parser->depth,
        .count = count,
        .line = parser->token.line,
        .type = type,
        .vector = vector,
    };
    prefix->range = range;
    scope->ranges = range;
    if (parser->ranges_depth < parser->depth)
        parser->ranges_depth = parser->depth;
    return true;
}

/* Makes registers for `atom`; the first is returned. */
static uint32_t new_regs(struct parser *parser, struct atom *atom, uint8_t type, uint8_t count)
{
    static const char suffixes[] = "xyzw";
    uint32_t first = (uint32_t)parser->regs.count;
    for (uint8_t i = 0; i < count; i++) {
        struct mr_ptx_reg *reg = mr_ptx_list_add(parser, &parser->regs, sizeof *reg);
        reg->name = atom->name;
        reg->type = type;
        reg->line = parser->token.line;
        if (count > 1 && i < 4) {
            char *name = mr_ptx_new(parser, 1, (size_t)atom->length + 3);
            memcpy(name, atom->name, atom->length);
            name[atom->length] = '.';
            name[atom->length + 1] = suffixes[i];
            reg->name = name;
        }
    }
    return first;
}

bool mr_ptx_declare_reg(struct parser *parser, struct atom *atom, uint8_t type, uint8_t vector)
{
    struct binding *binding = mr_ptx_bind(parser, atom, BINDING_REG);
    if (!binding)
        return false;
    binding->count = vector;
    binding->reg = new_regs(parser, atom, type, vector);
    return true;
}

/* The range that `atom` is an element of, in a scope deeper than `least`. */
static struct range *find_range(struct parser *parser, const struct atom *atom, uint32_t least)
{
    uint64_t number = 0, place = 1;
    struct range *found = NULL;
    for (uint32_t length = atom->length; length > 1 && place <= UINT32_MAX;) {
        char digit = atom->name[--length];
        if (digit < '0' || digit > '9')
            break;
        number += (uint64_t)(digit - '0') * place;
        place *= 10;
        if (digit == '0' && number != 0)
            continue; /* %r07 is not the element 7 */
        if (digit == '0' && place > 10)
            continue;
        struct range *range = mr_ptx_intern(parser, atom->name, length)->range;
        if (range && range->depth >= least && number < range->count && (!found || range->depth > found->depth))
            found = range;
    }
    return found;
}

struct binding *mr_ptx_lookup(struct parser *parser, struct atom *atom)
{
    struct binding *binding = atom->binding;
    uint32_t least = binding ? binding->depth + 1 : 0;
    if (binding && parser->ranges_depth < least)
        return binding;
    struct range *range = find_range(parser, atom, least);
    if (!range)
        return binding;
    binding = bind_at(parser, atom, BINDING_REG, range->depth);
    binding->count = range->vector;
    binding->reg = new_regs(parser, atom, range->type, range->vector);
    return binding;
}

uint32_t mr_ptx_scope_id(const struct parser *parser)
{
    return parser->scopes[parser->depth].id;
}

struct mention *mr_ptx_mention(struct parser *parser, const struct atom *atom)
{
    struct mention *mention = mr_ptx_list_add(parser, &parser->mentions, sizeof *mention);
    mention->atom = atom;
    mention->scope = mr_ptx_scope_id(parser);
    mention->line = parser->token.line;
    mention->column = parser->token.column;
    return mention;
}
