/* SPDX-License-Identifier: Apache-2.0 */

/* What a debugger shows of a kernel by name: threadIdx, blockIdx, blockDim, gridDim, and the parameters.
 *
 * All of it is in the block's record (abi/abi.h), or follows from it. So the kernel keeps that record's address in one
 * place of its frame, by one store in each call, and the debug information says how to get from there to each variable.
 * A call runs the threads of a warp together; threadIdx is that of the first of them.
 *
 * Compilers number a kernel's parameters (NAME_param_0). They are shown without the kernel's name, or by the names of
 * the source, if the module tells of them. */
#include "compile/codegen/basics/basics.h"
#include "compile/codegen/basics/lines.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DWARF's operations, and LLVM's own. (DWARF 4, 7.7.1; LLVM, DIExpression.) */
enum {
    OP_DEREF = 0x06,
    OP_CONSTU = 0x10,
    OP_DUP = 0x12,
    OP_SWAP = 0x16,
    OP_DIV = 0x1b,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_PLUS_UCONST = 0x23,
    OP_DEREF_SIZE = 0x94,
    OP_STACK_VALUE = 0x9f,
    OP_FRAGMENT = 0x1000,
    ENCODING_FLOAT = 4,
    ENCODING_SIGNED = 5,
    ENCODING_UNSIGNED = 7,
};

#define OPERATIONS 64u

struct expression {
    uint64_t word[OPERATIONS];
    size_t count;
};

static void add(struct expression *expression, const uint64_t *words, size_t count)
{
    memcpy(expression->word + expression->count, words, count * sizeof *words);
    expression->count += count;
}

#define ADD(expression, ...) \
    add(expression, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* What the variables of one kernel have in common. */
struct place {
    struct cg *g;
    LLVMValueRef record; /* where the frame keeps the address of the block's record */
    LLVMMetadataRef file, location, word;
    unsigned line;
};

static void declare(const struct place *place, LLVMMetadataRef variable, struct expression *expression)
{
    LLVMDIBuilderRef lines = place->g->unit->lines;
    LLVMDIBuilderInsertDeclareRecordBefore(lines, place->record, variable,
                                           LLVMDIBuilderCreateExpression(lines, expression->word, expression->count),
                                           place->location, place->g->prologue.end);
}

/* Three numbers x, y, z. */
static LLVMMetadataRef triple(const struct place *place, const char *name)
{
    LLVMDIBuilderRef lines = place->g->unit->lines;
    LLVMMetadataRef member[3];
    for (unsigned i = 0; i < 3; i++)
        member[i] = LLVMDIBuilderCreateMemberType(lines, place->file, &"xyz"[i], 1, place -> file, 0, 32, 32, 32ull * i,
                                                  LLVMDIFlagZero, place -> word);
    return LLVMDIBuilderCreateStructType(lines, place->file, name, strlen(name), place->file, 0, 96, 32, LLVMDIFlagZero,
                                         NULL, member, 3, 0, NULL, "", 0);
}

static LLVMMetadataRef local(const struct place *place, const char *name, LLVMMetadataRef type)
{
    return LLVMDIBuilderCreateAutoVariable(place->g->unit->lines, place->g->scope, name, strlen(name), place->file,
                                           place->line, type, true, LLVMDIFlagArtificial, 0);
}

/* What the record has as it is shown. */
static void declare_field(const struct place *place, const char *name, LLVMMetadataRef type, size_t offset)
{
    struct expression expression = {.count = 0};
    ADD(&expression, OP_DEREF, OP_PLUS_UCONST, offset);
    declare(place, local(place, name, type), &expression);
}

/* The block's address is replaced by a word of its record. */
#define WORD_AT(offset) OP_PLUS_UCONST, (offset), OP_DEREF_SIZE, 4

/* Of a warp's first thread: its number in the block, which the block's dimensions take apart. The address of the record
 * is kept below for as often as it is needed again. */
static void declare_thread(const struct place *place, LLVMMetadataRef type)
{
    LLVMMetadataRef variable = local(place, "threadIdx", type);
    const size_t row = offsetof(struct mr_block, ntid), column = row + 4;
    for (unsigned i = 0; i < 3; i++) {
        struct expression expression = {.count = 0};
        ADD(&expression, OP_DEREF);
        for (unsigned again = 0; again <= (i == 0 ? 0 : 1); again++)
            ADD(&expression, OP_DUP);
        ADD(&expression, WORD_AT(offsetof(struct mr_block, warp)), OP_CONSTU, MR_WARP_LANES, OP_MUL);
        ADD(&expression, OP_SWAP, WORD_AT(row));
        if (i == 0)
            ADD(&expression, OP_MOD);
        else
            ADD(&expression, OP_DIV, OP_SWAP, WORD_AT(column), i == 1 ? OP_MOD : OP_DIV);
        ADD(&expression, OP_STACK_VALUE, OP_FRAGMENT, 32ull * i, 32);
        declare(place, variable, &expression);
    }
}

static LLVMMetadataRef basic(LLVMDIBuilderRef lines, const char *name, unsigned bits, unsigned encoding)
{
    return LLVMDIBuilderCreateBasicType(lines, name, strlen(name), bits, encoding, LLVMDIFlagZero);
}

/* By what PTX says of it. */
static LLVMMetadataRef ptx_type(const struct place *place, const struct mr_ptx_var *param)
{
    LLVMDIBuilderRef lines = place->g->unit->lines;
    char name[32], class = mr_ptx_type_class(param->type);
    bool array = param->is_array || param->vector > 1;
    unsigned bits = array ? 8 : (unsigned)param->size * 8;
    bool real = !array && class == 'F' && bits >= 32, negative = !array && class == 'S';
    snprintf(name, sizeof name, "%s%u", real ? "f" : negative ? "s" : "u", bits);
    LLVMMetadataRef type = basic(lines, name, bits,
                                 real       ? ENCODING_FLOAT
                                 : negative ? ENCODING_SIGNED
                                            : ENCODING_UNSIGNED);
    if (!array)
        return type;
    LLVMMetadataRef range = LLVMDIBuilderGetOrCreateSubrange(lines, 0, (int64_t)param->size);
    return LLVMDIBuilderCreateArrayType(lines, param->size * 8, 8, type, &range, 1);
}

/* The parameters' types as a mangled name tells them, as far as they are simple: numbers, and pointers to those.
 * (Itanium C++ ABI, 5.1.5: Type encodings.) */
struct types {
    const struct place *place;
    const char *at; /* what has not been read; NULL: it can't be */
    LLVMMetadataRef seen[16]; /* what S_, S0_, S1_ stand for */
    unsigned count, bits; /* of the type read last */
};

static LLVMMetadataRef builtin(struct types *types, char letter)
{
    static const struct {
        char letter;
        unsigned char bits, encoding;
        const char *name;
    } all[] = {
        {'b', 8, 2, "bool"},
        {'c', 8, 6, "char"},
        {'a', 8, 6, "signed char"},
        {'h', 8, 8, "unsigned char"},
        {'s', 16, ENCODING_SIGNED, "short"},
        {'t', 16, ENCODING_UNSIGNED, "unsigned short"},
        {'i', 32, ENCODING_SIGNED, "int"},
        {'j', 32, ENCODING_UNSIGNED, "unsigned int"},
        {'l', 64, ENCODING_SIGNED, "long"},
        {'m', 64, ENCODING_UNSIGNED, "unsigned long"},
        {'x', 64, ENCODING_SIGNED, "long long"},
        {'y', 64, ENCODING_UNSIGNED, "unsigned long long"},
        {'f', 32, ENCODING_FLOAT, "float"},
        {'d', 64, ENCODING_FLOAT, "double"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].letter == letter) {
            types->bits = all[i].bits;
            return basic(types->place->g->unit->lines, all[i].name, all[i].bits, all[i].encoding);
        }
    types->at = NULL;
    return NULL;
}

static LLVMMetadataRef seen_before(struct types *types)
{
    unsigned number = 0;
    const char *at = types->at;
    if (*at >= '0' && *at <= '9')
        number = (unsigned)(*at++ - '0') + 1;
    types->bits = 64;
    types->at = *at == '_' && number < types->count && types->seen[number] ? at + 1 : NULL;
    return types->at ? types->seen[number] : NULL;
}

/* Pointers and constants around a type that is known by a name; recursion ends with the text. */
static LLVMMetadataRef read_type(struct types *types) /* NOLINT(misc-no-recursion) */
{
    LLVMDIBuilderRef lines = types->place->g->unit->lines;
    char letter = '\0';
    if (types->at && *types->at)
        letter = *types->at++;
    if (letter == 'S')
        return seen_before(types);
    if (letter != 'P' && letter != 'K')
        return builtin(types, letter);
    LLVMMetadataRef inner = NULL;
    bool nothing = *types->at == 'v';
    if (nothing)
        types->at++;
    else
        inner = read_type(types);
    if (!types->at || types->count == sizeof types->seen / sizeof *types->seen)
        return (types->at = NULL), NULL;
    if (letter == 'P')
        types->bits = 64;
    LLVMMetadataRef type = letter == 'P' ? LLVMDIBuilderCreatePointerType(lines, inner, 64, 64, 0, "", 0)
                                         : LLVMDIBuilderCreateQualifiedType(lines, 0x26 /* const */, inner);
    types->seen[types->count++] = type;
    return type;
}

/* Where the parameters' types begin in a mangled name; what a template or an operator is called by is not read. The
 * namespaces around a function can be meant later by S_ and so on, but no number is called so. */
static void begin_types(struct types *types, const char *name)
{
    const char *at = name + 2;
    unsigned parts = 0;
    if (strncmp(name, "_Z", 2) != 0)
        return;
    bool nested = *at == 'N';
    at += nested || *at == 'L'; /* a static function's name is marked */
    for (; *at >= '1' && *at <= '9' && (nested || parts == 0); parts++) {
        char *text;
        unsigned long count = strtoul(at, &text, 10);
        if (count > strlen(text))
            return;
        at = text + count;
    }
    if (parts == 0 || parts > sizeof types->seen / sizeof *types->seen || (nested && *at != 'E'))
        return;
    types->count = parts - 1;
    types->at = at + nested;
}

static LLVMMetadataRef type_of(struct types *types, const struct mr_ptx_var *param)
{
    LLVMMetadataRef type = read_type(types);
    if (!types->at || param->is_array || types->bits != param->size * 8) {
        types->at = NULL;
        return ptx_type(types->place, param);
    }
    return type;
}

/* What the source calls a parameter, if the module's debug information tells; else the other name. */
static const char *source_name(const struct mr_ptx_module *module, const char *param, const char *otherwise)
{
    for (uint32_t i = 0; i < module->shown_count; i++)
        if (!module->shown[i].in_register && strcmp(module->shown[i].place, param) == 0)
            return module->shown[i].name;
    return otherwise;
}

static void declare_parameters(const struct place *place)
{
    const struct mr_ptx_function *func = place->g->func;
    size_t kernel = strlen(func->name);
    struct types types = {.place = place};
    begin_types(&types, func->name);
    for (uint32_t i = 0; i < func->param_count; i++) {
        const struct mr_ptx_var *param = func->params[i];
        const char *name = param->name;
        if (strncmp(name, func->name, kernel) == 0 && name[kernel] == '_' && name[kernel + 1])
            name += kernel + 1;
        name = source_name(place->g->unit->request->module, param->name, name);
        struct expression expression = {.count = 0};
        ADD(&expression, OP_DEREF, OP_PLUS_UCONST, offsetof(struct mr_block, params), OP_DEREF, OP_PLUS_UCONST,
            func->param_offsets[i]);
        declare(place,
                LLVMDIBuilderCreateParameterVariable(place->g->unit->lines, place->g->scope, name, strlen(name), i + 1,
                                                     place->file, place->line, type_of(&types, param), true,
                                                     LLVMDIFlagZero),
                &expression);
    }
}

void cg_variables_declare(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef before = LLVMGetInsertBlock(g->b) ? g->prologue.end : NULL;
    LLVMPositionBuilderBefore(g->b, before);
    cg_line_again(g);
    struct place place = {
        .g = g,
        .record = LLVMBuildAlloca(g->b, unit->ptr, "block_record"),
        .file = LLVMDIScopeGetFile(g->scope),
        .location = g->place,
        .word = LLVMDIBuilderCreateBasicType(unit->lines, "unsigned int", 12, 32, ENCODING_UNSIGNED, LLVMDIFlagZero),
        .line = LLVMDISubprogramGetLine(g->scope)};
    LLVMSetVolatile(LLVMBuildStore(g->b, g->launch.block, place.record), true);
    /* Debuggers take the second line of a function for the place where its variables are there. */
    cg_line_body(g);
    LLVMSetVolatile(LLVMBuildLoad2(g->b, unit->ptr, place.record, ""), true);
    cg_line_own(g);
    LLVMMetadataRef dim3 = triple(&place, "dim3"), uint3 = triple(&place, "uint3");
    declare_thread(&place, uint3);
    declare_field(&place, "blockIdx", uint3, offsetof(struct mr_block, ctaid));
    declare_field(&place, "blockDim", dim3, offsetof(struct mr_block, ntid));
    declare_field(&place, "gridDim", dim3, offsetof(struct mr_block, nctaid));
    declare_parameters(&place);
}
