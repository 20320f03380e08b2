/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The PTX front end, seen from outside: the syntax tree and the two calls that
 * make it.
 *
 *   mr_ptx_parse()   text -> tree: every name resolved, every scope flattened
 *   mr_ptx_verify()  tree -> yes or no: types, widths, spaces, versions
 *
 * Read it from the bottom: a module owns functions and variables, a function
 * owns registers, instructions and labels, an instruction owns operands.
 * Enumerations of types, opcodes and modifiers are in ptx_enums.h; the table of
 * opcodes is ptx_ops.def.
 *
 * Everything in a tree lives in the module's arena, is freed whole by
 * mr_ptx_module_destroy(), and is read-only after mr_ptx_verify(): any number
 * of threads may then read it. Names are NUL-terminated and interned: within
 * one module two equal names are one pointer.
 */
#ifndef MR_PTX_PTX_H
#define MR_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx_diag.h"
#include "ptx/ptx_enums.h"

struct mr_ptx_function;
struct mr_ptx_arena;

/* No register, no label, no instruction. */
#define MR_PTX_NONE UINT32_MAX

/*
 * One place in a variable's initial bytes that holds an address. The value to
 * store is (address of var or func + addend), turned into a generic address
 * first when `generic` is set (addresses in Millrace are generic anyway), then
 * shifted right by `shift` bits and cut to `width` bytes.
 * mask(0xFF0000, sym) gives shift 16, width 1.
 */
struct mr_ptx_reloc {
    uint64_t offset;                   /* byte offset in the variable */
    const struct mr_ptx_var *var;      /* either this ... */
    const struct mr_ptx_function *func; /* ... or this is set */
    int64_t addend;
    uint8_t width; /* bytes stored: 1, 2, 4 or 8 */
    uint8_t shift; /* bits */
    bool generic;
};

/* A variable, a kernel or function parameter, or a return parameter. */
struct mr_ptx_var {
    const char *name; /* "_" for unnamed parameters of prototypes */
    enum mr_ptx_space space;
    enum mr_ptx_type type; /* element type */
    enum mr_ptx_linkage linkage;
    uint8_t vector;       /* lanes of one element: 1, 2, 4 or 8 */
    bool is_array;        /* declared with [] */
    bool incomplete;      /* extern x[]: size decided elsewhere (dynamic shared) */
    bool is_managed;      /* .attribute(.managed) */
    bool is_pointer;      /* parameter declared with .ptr */
    bool is_input;        /* input parameter of its function */
    bool is_return;       /* return parameter of its function */
    uint32_t pointer_align;          /* .ptr .align N; 0 = not said */
    enum mr_ptx_space pointer_space; /* .ptr .global ...; GENERIC = not said */
    uint32_t align;       /* bytes, a power of two, never 0 */
    uint32_t element_size; /* bytes of one element, vector included */
    uint64_t size;        /* bytes, 0 if incomplete */
    uint32_t ndims;       /* 0 for a scalar */
    const uint64_t *dims; /* elements per dimension; dims[0] is 0 if incomplete */
    const uint8_t *init;  /* NULL = all zero; else `init_size` bytes, rest zero */
    uint64_t init_size;
    const struct mr_ptx_reloc *relocs;
    uint32_t reloc_count;
    uint32_t index;       /* place in the owner's list (params, returns, vars) */
    uint32_t reg;         /* parameter declared as .reg: its register; else NONE */
    const struct mr_ptx_function *owner; /* NULL at module scope */
    uint32_t line, column;
};

/*
 * One operand. Which members hold something depends on `kind`; the others are
 * zero. A register operand of a .v2/.v4 register is presented as a VECTOR.
 */
struct mr_ptx_operand {
    uint8_t kind;      /* enum mr_ptx_operand_kind */
    uint8_t special;   /* SPECIAL: enum mr_ptx_special */
    uint8_t component; /* SPECIAL: 0 x, 1 y, 2 z, 3 w; ENVREG etc.: the number */
    uint8_t count;     /* VECTOR: number of elements */
    bool negated;      /* REG or SPECIAL of type pred written as !p; vmad: -a */
    bool is_selected;  /* video: a selector was written */
    uint16_t selector; /* video. Of one number: 0 all, 1-4 .b0-.b3, 5, 6 .h0, .h1. Of
                          several: a digit of 4 bits for each, from the lowest up;
                          for the result a bit for each */
    uint8_t type;      /* REG: enum mr_ptx_type as declared; PARAM-like: var's type */
    uint32_t reg;      /* REG, REG_ADDRESS, PAIR's first (NONE for a sink) */
    uint32_t reg2;     /* PAIR's second (NONE for a sink) */
    /* LABEL: index into function->labels; TABLE: index into function->tables. */
    uint32_t label;
    /* IMM_INT: the number. IMM_FLOAT: the bits, of a double or a float (is_single). *_ADDRESS, SYMBOL: byte offset. */
    int64_t value;
    /* SYMBOL: written as a[2], whose address it is, or the a of a[%r1]. REG, REG_ADDRESS: the address of a[%r1]. */
    bool is_element;
    bool is_single; /* IMM_FLOAT: written as 0f: value holds 32 bits */
    bool is_unsigned; /* IMM_INT: has U suffix or does not fit in 63 bits */
    const struct mr_ptx_var *var; /* SYMBOL, SYMBOL_ADDRESS */
    const struct mr_ptx_function *func; /* FUNCTION */
    const struct mr_ptx_operand *elements; /* VECTOR: `count` operands of kind REG, IMM_INT, IMM_FLOAT or SINK */
    uint32_t line, column;
};

/* A .callprototype, or the shape of any function seen from a call. */
struct mr_ptx_prototype {
    const char *name; /* label it was declared under */
    struct mr_ptx_var *const *returns;
    uint32_t return_count;
    struct mr_ptx_var *const *params;
    uint32_t param_count;
    bool noreturn;
    uint32_t line;
};

/* What only a call instruction has. Arguments are operands of kind SYMBOL (a
 * .param variable), REG or immediate; SINK for `_`. */
struct mr_ptx_call {
    const struct mr_ptx_function *callee; /* NULL: through a register */
    uint32_t callee_reg; /* NONE for a direct call */
    const struct mr_ptx_operand *returns;
    uint32_t return_count;
    const struct mr_ptx_operand *args;
    uint32_t arg_count;
    const struct mr_ptx_prototype *prototype; /* indirect only; or NULL ... */
    uint32_t table; /* ... and then a .calltargets */
};

/*
 * One instruction. Operands stand in the order written, destinations first
 * (`dst_count` of them: 0 or 1; `d|p` is one operand of kind PAIR). Those of
 * textures and surfaces have fixed places instead: see MR_PTX_TEXTURE_ below.
 */
struct mr_ptx_inst {
    uint16_t op; /* enum mr_ptx_op */
    uint8_t dst_count;
    uint8_t operand_count; /* destinations included */
    uint8_t type_count;
    uint8_t type[4]; /* enum mr_ptx_type, in the order written */
    uint32_t guard; /* predicate register of @p, NONE = always */
    bool guard_negated; /* @!p */
    uint8_t vector; /* .v2 .v4 .v8: lanes; 1 without */
    uint8_t rounding; /* enum mr_ptx_rounding */
    uint8_t cmp; /* enum mr_ptx_cmp */
    uint8_t boolop; /* enum mr_ptx_boolop: set, setp, lop3, bar.red */
    uint8_t mode; /* enum mr_ptx_mode: .lo .hi .wide .up .ballot ... */
    uint8_t mode2; /* second of that kind: shf.l.wrap, bar.red.popc */
    uint8_t space; /* enum mr_ptx_space; GENERIC without */
    uint8_t cache; /* enum mr_ptx_cache: .ca .cg .nc ... */
    uint8_t semantics; /* enum mr_ptx_sem: .volatile .relaxed ... */
    uint8_t scope; /* enum mr_ptx_scope */
    uint8_t atom; /* enum mr_ptx_atom: operation of atom, red, redux, sured */
    uint8_t geom; /* enum mr_ptx_geom: tex, tld4, suld, sust, sured */
    uint8_t query; /* enum mr_ptx_query: txq, suq */
    uint8_t space2; /* cp.async: space of the source, `space` being that of the destination */
    uint8_t shape; /* enum mr_ptx_shape (matrix.h): mma, wmma */
    uint8_t layout[2]; /* enum mr_ptx_matrix_layout (matrix.h), in the order written */
    uint16_t form; /* op with forms: its row of ptx_forms.def, from 1; else 0 */
    uint32_t flags; /* MR_PTX_FLAG_* */
    const struct mr_ptx_operand *operands;
    const struct mr_ptx_call *call; /* op CALL only */
    const char *name; /* op UNSUPPORTED only: full mnemonic as written */
    uint32_t line, column; /* place in the text, from 1 */
    uint32_t loc_file, loc_line; /* last .loc before it; 0 = none */
};

/* Places of the operands of tex, tld4, suld, sust, sured, txq, suq; what was not
 * written is a SINK. The handle is a REG or the SYMBOL of a reference; offsets
 * are a VECTOR of s32; results and data a VECTOR, or one register. */
enum {
    MR_PTX_TEXTURE_RESULT, /* not for sust, sured: then it is a SINK */
    MR_PTX_TEXTURE_HANDLE,
    MR_PTX_TEXTURE_SAMPLER,
    MR_PTX_TEXTURE_AT, /* coordinates */
    MR_PTX_TEXTURE_LEVEL, /* or the gradient along x */
    MR_PTX_TEXTURE_ALONG_Y,
    MR_PTX_TEXTURE_OFFSET,
    MR_PTX_TEXTURE_COMPARE,
    MR_PTX_TEXTURE_DATA, /* of sust and sured */
    MR_PTX_TEXTURE_RESIDENT, /* a predicate: for the parser alone */
    MR_PTX_TEXTURE_OPERANDS
};

/* A register. Names are for messages. */
struct mr_ptx_reg {
    const char *name;
    uint8_t type; /* enum mr_ptx_type */
    uint32_t line;
};

/* A branch target. `inst` is the instruction that it stands before;
 * function->inst_count means the end of the body. */
struct mr_ptx_label {
    const char *name;
    uint32_t inst;
    uint32_t line, column;
};

/* .branchtargets (labels) or .calltargets (functions). */
struct mr_ptx_table {
    const char *name;
    const uint32_t *labels; /* label indices, or NULL */
    const struct mr_ptx_function *const *functions; /* or NULL */
    uint32_t count;
    uint32_t line;
};

/* A kernel or a device function; without a body a declaration. */
struct mr_ptx_function {
    const char *name;
    const struct mr_ptx_module *module;
    uint32_t index; /* in module->functions */
    enum mr_ptx_linkage linkage;
    bool is_entry;
    bool has_body;
    bool noreturn;
    bool address_taken; /* by mov, an initialiser or .calltargets */
    const struct mr_ptx_function *alias_of; /* .alias: this name stands for that */
    struct mr_ptx_var *const *returns; /* device functions only */
    uint32_t return_count;
    struct mr_ptx_var *const *params;
    uint32_t param_count;
    uint64_t param_size; /* bytes of the parameter block, kernels; offsets below */
    const uint32_t *param_offsets; /* per input parameter, C struct layout */
    struct mr_ptx_var *const *vars; /* .local .shared .param .global .const inside */
    uint32_t var_count;
    const struct mr_ptx_reg *regs; /* only registers that are used somewhere */
    uint32_t reg_count;
    const struct mr_ptx_inst *insts;
    uint32_t inst_count;
    const struct mr_ptx_label *labels;
    uint32_t label_count;
    const struct mr_ptx_table *tables;
    uint32_t table_count;
    uint32_t maxntid[3], reqntid[3]; /* 0 = not given; given = all three at least 1 */
    uint32_t minnctapersm, maxnctapersm, maxnreg; /* 0 = not given */
    uint32_t reqnctapercluster[3], maxclusterrank; /* 0 = not given */
    bool explicitcluster;
    uint32_t line, column;
};

/* A call that a compiler replaced by the body of the function that was called. Calls have numbers from 1. */
struct mr_ptx_inlined {
    const char *name; /* of the function, mangled or plain; "" if that is not known */
    uint32_t same; /* a call of the same function, the same one for many of them */
    uint32_t file, line, column; /* of the call, in the module's files */
    uint32_t outer; /* the call whose body it stands in, a smaller number; 0: it stands in the PTX function itself */
};

/* Instructions from this line of the text on belong to that call; 0: to none. */
struct mr_ptx_inlined_range {
    uint32_t line, number;
};

/* Types of the source's variables, as far as debug information tells of them. Types have numbers from 1. */
enum mr_ptx_shown_kind {
    MR_PTX_SHOWN_NUMBER, /* `encoding` as DWARF has it (7.8) */
    MR_PTX_SHOWN_POINTER, /* to `of`; 0: to nothing that is known */
    MR_PTX_SHOWN_ALIAS, /* another name for `of` */
    MR_PTX_SHOWN_ARRAY, /* `count` of `of` */
    MR_PTX_SHOWN_STRUCT,
};

struct mr_ptx_shown_member {
    const char *name; /* never NULL */
    uint64_t offset;
    uint32_t type;
};

struct mr_ptx_shown_type {
    enum mr_ptx_shown_kind kind;
    const char *name; /* never NULL */
    uint64_t size, count;
    uint32_t encoding, of;
    const struct mr_ptx_shown_member *members;
    uint32_t member_count;
};

/* A place of a variable of the source, while instructions of these lines of the text run: from <= line < to. A variable
 * in several registers has several places, one after the other. */
struct mr_ptx_shown {
    const char *name;
    uint32_t type, inlined; /* the call that it belongs to; 0: the PTX function itself */
    uint32_t from, to;
    bool in_register;
    const char *place; /* a register's name, or a .local variable's, */
    uint64_t offset; /* in which it begins here */
};

struct mr_ptx_module {
    struct mr_ptx_arena *arena;
    uint32_t version_major, version_minor;
    uint32_t target_sm; /* 80 for sm_80 */
    char target_suffix; /* 'a' or 'f' (sm_90a), or 0 */
    bool target_debug;
    bool target_map_f64; /* map_f64_to_f32 */
    bool target_independent; /* texmode_independent */
    bool is_partial; /* set before mr_ptx_verify(): others may define what it declares */
    uint32_t address_size; /* 32 or 64 bits */
    uint64_t open_size; /* set by mr_ptx_verify(): most bytes that any call passes for a parameter that is an array of
                           any size */
    struct mr_ptx_var *const *vars; /* module scope */
    uint32_t var_count;
    struct mr_ptx_function *const *functions;
    uint32_t function_count;
    const char *const *files; /* .file N "name": files[N], NULL holes */
    uint32_t file_count;
    const struct mr_ptx_inlined *inlined; /* number N is inlined[N - 1] */
    uint32_t inlined_count;
    const struct mr_ptx_inlined_range *inlined_ranges; /* by lines, which rise */
    uint32_t inlined_range_count;
    const struct mr_ptx_shown *shown; /* variables of the source */
    uint32_t shown_count;
    const struct mr_ptx_shown_type *shown_types; /* number N is shown_types[N - 1] */
    uint32_t shown_type_count;
    const char *text; /* copy of the text, NUL-terminated, for messages */
    size_t text_length;
};

/*
 * Parses `length` bytes of PTX (a NUL ends the text early). Returns a tree that
 * the caller frees, or NULL after putting at least one error in `diag`; a text
 * with errors gives no tree. `diag` may be NULL. `text` need not outlive the
 * call. Any thread; bounded in time and memory by the length of the text.
 */
struct mr_ptx_module *mr_ptx_parse(const char *text, size_t length, struct mr_ptx_diag *diag);

/*
 * Checks what the grammar does not: operand types and widths, spaces, versions,
 * calls against signatures, and that code generation knows every instruction.
 * False after at least one error in `diag`, which may be NULL.
 */
bool mr_ptx_verify(struct mr_ptx_module *module, struct mr_ptx_diag *diag);

/* The call whose body an instruction in this line of the text belongs to, the innermost one; 0 if there is none. */
uint32_t mr_ptx_inlined_at(const struct mr_ptx_module *module, uint32_t line);

/* Frees a tree; NULL is allowed. */
void mr_ptx_module_destroy(struct mr_ptx_module *module);

/* The function or variable of that name at module scope, or NULL. */
const struct mr_ptx_function *mr_ptx_function_find(const struct mr_ptx_module *module, const char *name);
const struct mr_ptx_var *mr_ptx_var_find(const struct mr_ptx_module *module, const char *name);

#endif
