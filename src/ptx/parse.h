/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The parser's own state and the calls between its files. For src/ptx only.
 *
 *   parse_module.c    directives at module scope, and the way in
 *   parse_basics.c    memory, lists, errors, the token at hand
 *   parse_var.c       variables, parameters, initialisers
 *   parse_function.c  signatures, bodies, scopes, labels
 *   parse_inst.c      one instruction: mnemonic, modifiers
 *   parse_operand.c   its operands; parse_element.c: elements of arrays
 *   parse_call.c      call and its prototypes; barriers
 *   parse_expr.c      constant expressions
 *   symbols.c         names: interning, scopes, registers
 *
 * How failing works: a function that reports an error to the user returns false
 * (or NULL) and its callers do the same up to the statement, which is skipped;
 * parsing goes on from there, so that one run shows several errors. Memory that
 * runs out, or too many errors, leave through mr_ptx_give_up(), a longjmp back
 * to mr_ptx_parse(): everything that was allocated belongs to the arena, and the
 * scratch buffers to the parser, so nothing is lost on that way.
 */
#ifndef MR_PTX_PARSE_H
#define MR_PTX_PARSE_H

#include <setjmp.h>

#include "ptx/arena.h"
#include "ptx/lexer.h"
#include "ptx/ptx.h"
#include "ptx/ptx_tables.h"

#define MR_PTX_NEST_MAX 64u         /* brackets of an expression */
#define MR_PTX_SCOPES_MAX 1024u     /* blocks inside each other */
#define MR_PTX_OPERANDS_MAX 16u     /* of one instruction other than call */
#define MR_PTX_VECTOR_MAX 8u
#define MR_PTX_DIMS_MAX 16u
#define MR_PTX_SIZE_MAX (UINT64_C(1) << 46) /* bytes of one variable */
/* Bytes of all initial values of a module; more if the text is long, since every
 * byte of the text can account for some. */
#define MR_PTX_INIT_BASE (UINT64_C(1) << 26)
#define MR_PTX_INIT_PER_BYTE 16u
#define MR_PTX_TEXT_MAX ((size_t)1 << 30)

struct atom;

enum binding_kind {
    BINDING_VAR,
    BINDING_FUNCTION,
    BINDING_REG /* `count` registers from `reg` on: more than 1 for .v2, .v4 */
};

/* What a name means in a scope. */
struct binding {
    struct binding *shadowed; /* meaning in the scopes around */
    struct binding *next;     /* of the same scope */
    struct atom *atom;
    enum binding_kind kind;
    uint32_t depth;
    struct mr_ptx_var *var;
    struct mr_ptx_function *function;
    uint32_t reg;
    uint8_t count;
};

/* .reg .b32 %r<100>: registers come to be when they are first named. */
struct range {
    struct range *shadowed, *next;
    struct atom *atom; /* "%r" */
    uint32_t depth, count, line;
    uint8_t type, vector;
};

#define MR_PTX_PLACE_IN_SECTION 0x80000000u

/* A name; every spelling exists once per module. */
struct atom {
    struct atom *next; /* in its hash bucket */
    struct binding *binding;
    struct range *range;
    uint32_t hash, length;
    uint32_t place; /* of a label: its line, or its offset in a section (MR_PTX_PLACE_IN_SECTION); 0: it is no label */
    uint16_t op; /* enum mr_ptx_op if `is_op` */
    bool is_op;
    char name[];
};

struct scope {
    struct binding *bindings;
    struct range *ranges;
    uint32_t id; /* unique in the function */
};

enum target_kind { TARGET_LABEL, TARGET_TABLE, TARGET_PROTOTYPE };

/* Something that a label names, and a mention of one. Both are gathered while a
 * body is parsed and matched at its end, since labels may be used before. */
struct target {
    const struct atom *atom;
    uint32_t scope;
    enum target_kind kind;
    uint32_t index; /* label or table */
    const struct mr_ptx_prototype *prototype;
    uint32_t line;
};

struct mention {
    const struct atom *atom;
    uint32_t scope;
    uint32_t line, column;
    bool is_table; /* wants a branch table, else a label */
    uint32_t *index; /* where the answer goes ... */
    struct mr_ptx_call *call; /* ... or here: prototype or call table */
};

struct list {
    void *items;
    size_t count, capacity;
};

struct parser {
    struct mr_ptx_lexer lexer;
    struct mr_ptx_token token; /* the current one */
    struct mr_ptx_arena *arena;
    struct mr_ptx_module *module;
    struct mr_ptx_diag *diag;
    jmp_buf give_up;
    uint32_t errors;

    struct atom **buckets;
    size_t bucket_count, atom_count;

    struct scope scopes[MR_PTX_SCOPES_MAX];
    uint32_t depth; /* of the current scope; 0 = module */
    uint32_t ranges_depth; /* deepest open scope that has ranges */

    struct list vars, functions, files; /* of the module: pointers */

    /* Of the function whose body is being parsed. */
    struct mr_ptx_function *function;
    struct list insts, regs, labels, tables, local_vars;
    struct list targets, mentions;
    struct list scope_parents; /* uint32_t, by scope id */
    struct list params, relocs, operands; /* of what is being parsed */
    uint64_t init_room; /* bytes allocated for initial values so far */
    uint32_t range_labels; /* named by ranges in .branchtargets so far */
    uint32_t loc_file, loc_line;
    /* What debug information tells: parse_debug.h. */
    struct list sections, inlined, inlined_names, inlined_ranges, shown, shown_types;
    struct list debug_bytes, debug_names, debug_entries, debug_calls, debug_types;
    struct loc_table *loc_table; /* parse_loc.c */
    uint32_t debug_part, part_first_file; /* of the text at hand: struct section; 0: none yet */
    bool part_has_sections;
    unsigned expr_depth;
    unsigned element_bits; /* of the address that a[%r1] becomes here; 0 where none can stand */
};

/* Values of constant expressions. */
enum value_kind { VALUE_SIGNED, VALUE_UNSIGNED, VALUE_DOUBLE, VALUE_SINGLE };

struct value {
    enum value_kind kind;
    uint64_t bits; /* integer; or of the double; SINGLE: of the float */
};

/* --- parse_basics.c ------------------------------------------------------ */

_Noreturn void mr_ptx_give_up(struct parser *parser, bool out_of_memory);

/* Zeroed memory of the arena; never NULL. */
void *mr_ptx_new(struct parser *parser, size_t count, size_t size) __attribute__((returns_nonnull));

/* Appends a zeroed element to a scratch list; never NULL. Moves the others. */
void *mr_ptx_list_add(struct parser *parser, struct list *list, size_t size) __attribute__((returns_nonnull));

/* A copy of the list in the arena, NULL if empty. */
void *mr_ptx_list_copy(struct parser *parser, const struct list *list, size_t size);

/* Reports an error at the current token, or at a place; returns false. */
bool mr_ptx_error(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool mr_ptx_error_at(struct parser *parser, uint32_t line, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether the module has that version (72 for 7.2; 0 = any) and target; else an error about `what`. */
bool mr_ptx_need(struct parser *parser, const char *what, uint32_t version, uint32_t sm);

void mr_ptx_advance(struct parser *parser);

/* What follows the current token. */
struct mr_ptx_token mr_ptx_peek(const struct parser *parser);

bool mr_ptx_is(const struct parser *parser, int kind);

bool mr_ptx_is_dot(const struct parser *parser, const char *word);

/* Takes the token if it is of that kind. */
bool mr_ptx_accept(struct parser *parser, int kind);
bool mr_ptx_accept_dot(struct parser *parser, const char *word);

/* The same, or an error. */
bool mr_ptx_expect(struct parser *parser, int kind, const char *what);

/* The error that the token at hand is not `what`; returns false. */
bool mr_ptx_unexpected(struct parser *parser, const char *what);

/* A name's atom, or an error and NULL. */
struct atom *mr_ptx_expect_name(struct parser *parser, const char *what);

/* Skips to behind the next ';', or to a '}' or the end. */
void mr_ptx_skip_statement(struct parser *parser);

/* --- parse_var.c --------------------------------------------------------- */

/* A declaration after its linkage, the space being the current token. */
bool mr_ptx_parse_vars(struct parser *parser, enum mr_ptx_linkage linkage);

/* "( .param ..., ... )": parameters of a function or prototype; binds the names
 * in the current scope if `bind`. */
bool mr_ptx_parse_params(struct parser *parser, bool is_return, bool bind, const struct mr_ptx_function *owner,
                         struct mr_ptx_var ***params, uint32_t *count);

/* ".reg .type a, b<4>;" after .reg was taken. */
bool mr_ptx_parse_regs(struct parser *parser);

/* "+4" or "-4" behind a symbol or register; nothing there is 0. */
bool mr_ptx_parse_addend(struct parser *parser, int64_t *addend);

/* Space of a variable directive, or GENERIC. */
enum mr_ptx_space mr_ptx_directive_space(const struct parser *parser);

/* --- parse_function.c ---------------------------------------------------- */

/* A function or kernel after its linkage; .func or .entry is the token. */
bool mr_ptx_parse_function(struct parser *parser, enum mr_ptx_linkage linkage);

/* --- parse_inst.c, parse_operand.c, parse_call.c -------------------------- */

bool mr_ptx_parse_inst(struct parser *parser);
bool mr_ptx_parse_operand(struct parser *parser, struct mr_ptx_operand *operand);

/* Operand of a bra, or of a brx if `is_table`. */
bool mr_ptx_parse_target(struct parser *parser, struct mr_ptx_operand *operand, bool is_table);

bool mr_ptx_parse_call(struct parser *parser, struct mr_ptx_inst *inst);

/* What a word of a mnemonic says, to the instruction: a modifier, a type, or nothing. An error if it contradicts
 * another. */
bool mr_ptx_set_word(struct parser *parser, struct mr_ptx_inst *inst, const struct mr_ptx_token *word);

/* The words behind the name of an opcode with forms. FOUND: the instruction has its form, operands come next. REFUSED:
 * known and not supported; *end is the mnemonic's end. WRONG: an error was reported. */
enum mr_ptx_form_result { MR_PTX_FORM_FOUND, MR_PTX_FORM_REFUSED, MR_PTX_FORM_WRONG };
enum mr_ptx_form_result mr_ptx_parse_form(struct parser *parser, struct mr_ptx_inst *inst, const char **end);

/* Operands of bar and barrier; settles inst->mode: parse_call.c. */
bool mr_ptx_parse_barrier(struct parser *parser, struct mr_ptx_inst *inst);

/* parse_move.c: operands of a mov of vectors; then the movs of single elements that it stands for, added to the
 * function. */
bool mr_ptx_parse_move(struct parser *parser, struct mr_ptx_inst *inst);
void mr_ptx_add_moves(struct parser *parser, const struct mr_ptx_inst *inst);
/* parse_settle.c: puts what an instruction that was read means in place of what it says. */
bool mr_ptx_settle(struct parser *parser, struct mr_ptx_inst *inst);
/* parse_video.c: operands of video instructions. */
bool mr_ptx_parse_video(struct parser *parser, struct mr_ptx_inst *inst);

/* The operands of tex, suld and their kin: parse_texture.c. Then, after it was added, what sets the predicate beside
 * its result, if there is one. */
bool mr_ptx_parse_texture(struct parser *parser, struct mr_ptx_inst *inst);
void mr_ptx_add_resident(struct parser *parser, const struct mr_ptx_inst *inst);

/* Behind "label : .callprototype". */
bool mr_ptx_parse_prototype(struct parser *parser, struct atom *name);

/* --- parse_expr.c -------------------------------------------------------- */

bool mr_ptx_parse_value(struct parser *parser, struct value *value);

/* The same, refusing floats. */
bool mr_ptx_parse_integer(struct parser *parser, uint64_t *value, bool *is_unsigned);

/* The number in "%r<100>": an expression that ends before '>', up to 32 bits. */
bool mr_ptx_parse_count(struct parser *parser, uint64_t *value);

/* An integer from `least` to `most`; `what` is for the message. */
bool mr_ptx_parse_bounded(struct parser *parser, const char *what, uint64_t least, uint64_t most, uint64_t *value);

double mr_ptx_value_double(const struct value *value);

/* --- symbols.c ------------------------------------------------------------ */

/* Notes a mention of a label or table for the end of the body. */
struct mention *mr_ptx_mention(struct parser *parser, const struct atom *atom);

uint32_t mr_ptx_scope_id(const struct parser *parser);

void mr_ptx_symbols_init(struct parser *parser);
struct atom *mr_ptx_intern(struct parser *parser, const char *name, size_t length);
bool mr_ptx_scope_enter(struct parser *parser);
void mr_ptx_scope_leave(struct parser *parser);

/* Adds a meaning in the current scope; an error if there is one already. */
struct binding *mr_ptx_bind(struct parser *parser, struct atom *atom, enum binding_kind kind);
bool mr_ptx_bind_range(struct parser *parser, struct atom *prefix, uint32_t count, uint8_t type, uint8_t vector);

/* What the name means here, or NULL. Makes registers of ranges. */
struct binding *mr_ptx_lookup(struct parser *parser, struct atom *atom);

/* Declares `vector` registers (1 if scalar) and binds them. */
bool mr_ptx_declare_reg(struct parser *parser, struct atom *atom, uint8_t type, uint8_t vector);

#endif
