/* SPDX-License-Identifier: Apache-2.0 */

/* What a debugger shows of the source's variables, where the module tells of them (ptx.h, mr_ptx_shown): of the warp's
 * first lane.
 *
 * One that is in a .local variable has its place in the lanes' memory, which lies lane by lane; LLVM is kept from
 * making registers of that. One that is in registers gets a place of its own in the frame. What a register holds is
 * stored there where the module says that the variable is in it from now on, and after each instruction that writes it.
 * So code that a debugger can look into is slower; compilers tell of variables only if they are asked to (-G).
 *
 * Lanes of a kernel whose warps take turns have their .local variables elsewhere: those are not shown. */
#include "compile/codegen/body/shown.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/operands/operands.h"

#define DEEP 24u /* types inside of each other */

/* A variable in a register: which place, where it is stored. */
struct cg_watched {
    const struct mr_ptx_shown *shown;
    uint32_t reg;
    LLVMValueRef slot; /* an integer as wide as the register */
};

struct types {
    LLVMDIBuilderRef lines;
    LLVMMetadataRef file;
    const struct mr_ptx_module *module;
    LLVMMetadataRef *made; /* by number */
    bool *begun;
};

static LLVMMetadataRef type_of(struct types *types, uint32_t number, unsigned deep);

/* NOLINTNEXTLINE(misc-no-recursion) */
static LLVMMetadataRef struct_of(struct types *types, const struct mr_ptx_shown_type *type, unsigned deep)
{
    LLVMMetadataRef *members = mr_calloc((size_t)type->member_count + 1, sizeof *members), made;
    uint32_t count = 0;
    for (uint32_t i = 0; members && i < type->member_count; i++) {
        const struct mr_ptx_shown_member *member = &type->members[i];
        LLVMMetadataRef of = type_of(types, member->type, deep + 1);
        if (of)
            members[count++] = LLVMDIBuilderCreateMemberType(
                types->lines, types->file, member->name, strlen(member->name), types->file, 0,
                LLVMDITypeGetSizeInBits(of), 8, member->offset * 8, LLVMDIFlagZero, of);
    }
    made = LLVMDIBuilderCreateStructType(types->lines, types->file, type->name, strlen(type->name), types->file, 0,
                                         type->size * 8, 8, LLVMDIFlagZero, NULL, members, count, 0, NULL, "", 0);
    mr_free(members);
    return made;
}

/* A pointer to a structure that is being made points to one that is only declared. */
static LLVMMetadataRef pointer_to(struct types *types, uint32_t number, unsigned deep) /* NOLINT(misc-no-recursion) */
{
    LLVMMetadataRef of = NULL;
    const struct mr_ptx_shown_type *type = number ? &types->module->shown_types[number - 1] : NULL;
    if (type && types->begun[number] && !types->made[number] && type->kind == MR_PTX_SHOWN_STRUCT)
        of = LLVMDIBuilderCreateForwardDecl(types->lines, 0x13 /* structure */, type->name, strlen(type->name),
                                            types->file, types->file, 0, 0, 0, 0, "", 0);
    else
        of = type_of(types, number, deep + 1);
    return LLVMDIBuilderCreatePointerType(types->lines, of, 64, 64, 0, "", 0);
}

/* NULL: it can't be shown. */
static LLVMMetadataRef type_of(struct types *types, uint32_t number, unsigned deep) /* NOLINT(misc-no-recursion) */
{
    if (!number || deep >= DEEP || types->made[number] || types->begun[number])
        return number && deep < DEEP ? types->made[number] : NULL;
    const struct mr_ptx_shown_type *type = &types->module->shown_types[number - 1];
    LLVMMetadataRef made = NULL, of;
    types->begun[number] = true;
    switch (type->kind) {
    case MR_PTX_SHOWN_NUMBER:
        made = LLVMDIBuilderCreateBasicType(types->lines, *type->name ? type->name : "number",
                                            *type->name ? strlen(type->name) : 6, type->size * 8,
                                            (LLVMDWARFTypeEncoding)type->encoding, LLVMDIFlagZero);
        break;
    case MR_PTX_SHOWN_POINTER:
        made = pointer_to(types, type->of, deep);
        break;
    case MR_PTX_SHOWN_ALIAS:
        of = type_of(types, type->of, deep + 1);
        made = of ? LLVMDIBuilderCreateTypedef(types->lines, of, type->name, strlen(type->name), types->file, 0,
                                               types->file, 0)
                  : NULL;
        break;
    case MR_PTX_SHOWN_ARRAY:
        of = type_of(types, type->of, deep + 1);
        if (of) {
            LLVMMetadataRef range = LLVMDIBuilderGetOrCreateSubrange(types->lines, 0, (int64_t)type->count);
            made = LLVMDIBuilderCreateArrayType(types->lines, type->size * 8, 8, of, &range, 1);
        }
        break;
    case MR_PTX_SHOWN_STRUCT:
        made = struct_of(types, type, deep);
        break;
    }
    types->made[number] = made;
    return made;
}

/* Lines of the text that are the function's. */
static bool is_inside(const struct cg *g, const struct mr_ptx_shown *shown)
{
    const struct mr_ptx_function *func = g->func;
    return func->inst_count > 0 && shown->from > func->line && shown->from <= func->insts[func->inst_count - 1].line;
}

static void declare(struct cg *g, struct types *types, const struct mr_ptx_shown *shown, LLVMValueRef slot,
                    uint64_t offset)
{
    static const uint64_t plus = 0x23;
    uint64_t words[2] = {plus, offset};
    LLVMMetadataRef type = type_of(types, shown->type, 0), at, scope = cg_inlined_scope(g, shown->inlined, &at);
    if (!type)
        return;
    unsigned line = LLVMDISubprogramGetLine(scope);
    LLVMMetadataRef variable = LLVMDIBuilderCreateAutoVariable(types->lines, scope, shown->name, strlen(shown->name),
                                                               types->file, line, type, true, LLVMDIFlagZero, 0);
    LLVMDIBuilderInsertDeclareRecordBefore(
        types->lines, slot, variable, LLVMDIBuilderCreateExpression(types->lines, words, offset ? 2 : 0),
        LLVMDIBuilderCreateDebugLocation(g->unit->context, line, 0, scope, at), g->prologue.end);
}

/* LLVM must take the memory for something that others read. */
static void keep_in_memory(struct cg *g, LLVMValueRef slot)
{
    LLVMTypeRef type = LLVMFunctionType(g->unit->void_type, &g->unit->ptr, 1, false);
    LLVMValueRef nothing =
        LLVMGetInlineAsm(type, "", 0, "r,~{memory}", 11, true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(g->b, type, nothing, &slot, 1, "");
}

static void show_memory(struct cg *g, struct types *types, const struct mr_ptx_shown *shown)
{
    for (uint32_t i = 0; i < g->func->var_count; i++) {
        const struct mr_ptx_var *var = g->func->vars[i];
        if (strcmp(var->name, shown->place) != 0)
            continue;
        if (var->space != MR_PTX_SPACE_LOCAL || !g->memory.vars[i] || shown->offset >= var->size)
            return;
        keep_in_memory(g, g->memory.vars[i]);
        declare(g, types, shown, g->memory.vars[i], shown->offset);
        return;
    }
}

/* The same variable in another register has its slot already. */
static LLVMValueRef same_slot(const struct cg *g, const struct mr_ptx_shown *shown, unsigned bits)
{
    for (uint32_t i = 0; i < g->shown.count; i++) {
        const struct cg_watched *other = &g->shown.watched[i];
        if (other->shown->inlined == shown->inlined && other->shown->type == shown->type &&
            strcmp(other->shown->name, shown->name) == 0 &&
            LLVMGetIntTypeWidth(LLVMGetAllocatedType(other->slot)) == bits)
            return other->slot;
    }
    return NULL;
}

static uint32_t register_named(const struct cg *g, const char *name)
{
    for (uint32_t i = 0; i < g->func->reg_count; i++)
        if (strcmp(g->func->regs[i].name, name) == 0)
            return i;
    return MR_PTX_NONE;
}

static void show_register(struct cg *g, struct types *types, const struct mr_ptx_shown *shown)
{
    uint32_t reg = register_named(g, shown->place);
    if (reg == MR_PTX_NONE || !g->regs.slots[reg])
        return;
    enum mr_ptx_type type = (enum mr_ptx_type)g->func->regs[reg].type;
    unsigned bits = type == MR_PTX_TYPE_PRED ? 8 : mr_ptx_type_bits(type);
    if (bits > 64 || types->module->shown_types[shown->type - 1].kind == MR_PTX_SHOWN_ARRAY)
        return;
    LLVMValueRef slot = same_slot(g, shown, bits);
    if (!slot) {
        slot = cg_slot_of_zero(g, cg_int_type(g, bits), shown->name);
        g->memory.bytes += 8;
        LLVMPositionBuilderBefore(g->b, g->prologue.end);
        keep_in_memory(g, slot);
        declare(g, types, shown, slot, 0);
    }
    g->shown.watched[g->shown.count++] = (struct cg_watched){shown, reg, slot};
}

void cg_shown_declare(struct cg *g)
{
    const struct mr_ptx_module *module = g->unit->request->module;
    if (!module->shown_count || !g->scope)
        return;
    struct types types = {.lines = g->unit->lines,
                          .file = LLVMDIScopeGetFile(g->scope),
                          .module = module,
                          .made = mr_calloc((size_t)module->shown_type_count + 1, sizeof *types.made),
                          .begun = mr_calloc((size_t)module->shown_type_count + 1, sizeof *types.begun)};
    g->shown.watched = mr_calloc(module->shown_count, sizeof *g->shown.watched);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    for (uint32_t i = 0; types.made && types.begun && g->shown.watched && i < module->shown_count; i++) {
        if (!is_inside(g, &module->shown[i]))
            continue;
        LLVMPositionBuilderBefore(g->b, g->prologue.end);
        cg_line_own(g);
        if (module->shown[i].in_register)
            show_register(g, &types, &module->shown[i]);
        else
            show_memory(g, &types, &module->shown[i]);
    }
    if (here)
        LLVMPositionBuilderAtEnd(g->b, here);
    mr_free(types.made);
    mr_free(types.begun);
}

void cg_shown_clear(struct cg *g)
{
    mr_free(g->shown.watched);
    g->shown.watched = NULL;
    g->shown.count = 0;
}

/* The first lane's value of the register, into the variable's place. */
static void store(struct cg *g, const struct cg_watched *watched)
{
    unsigned lanes = g->now.lanes;
    bool varies = mr_flow_register_class(&g->flow, watched->reg).kind == MR_CLASS_VARYING;
    g->now.lanes = varies ? g->unit->width : 1;
    LLVMValueRef value = cg_read(g, watched->reg);
    g->now.lanes = lanes;
    if (cg_is_vector(value))
        value = LLVMBuildExtractElement(g->b, value, LLVMConstInt(g->unit->i32, 0, false), "");
    LLVMTypeRef type = LLVMGetAllocatedType(watched->slot), is = LLVMTypeOf(value);
    if (LLVMGetTypeKind(is) == LLVMPointerTypeKind)
        value = LLVMBuildPtrToInt(g->b, value, type, "");
    else if (LLVMGetTypeKind(is) != LLVMIntegerTypeKind)
        value = LLVMBuildBitCast(g->b, value, type, "");
    value = LLVMBuildIntCast2(g->b, value, type, false, "");
    LLVMSetVolatile(LLVMBuildStore(g->b, value, watched->slot), true);
}

void cg_shown_before(struct cg *g, uint32_t inst)
{
    const struct mr_ptx_inst *insts = g->func->insts;
    uint32_t before = inst ? insts[inst - 1].line : 0;
    for (uint32_t i = 0; i < g->shown.count; i++) {
        const struct mr_ptx_shown *shown = g->shown.watched[i].shown;
        if (before < shown->from && shown->from <= insts[inst].line)
            store(g, &g->shown.watched[i]);
    }
}

/* Whether the variable of that slot is somewhere in this line. */
static bool is_somewhere(const struct cg *g, LLVMValueRef slot, uint32_t line)
{
    for (uint32_t i = 0; i < g->shown.count; i++) {
        const struct cg_watched *watched = &g->shown.watched[i];
        if (watched->slot == slot && watched->shown->from <= line && line < watched->shown->to)
            return true;
    }
    return false;
}

/* A register that will be a variable's later is stored already if the variable is nowhere yet: LLVM may put the later
 * store behind the first instruction that needs the register. */
void cg_shown_after(struct cg *g, uint32_t inst)
{
    const struct mr_ptx_inst *at = &g->func->insts[inst];
    uint32_t next = inst + 1 < g->func->inst_count ? at[1].line : UINT32_MAX;
    for (uint32_t i = 0; i < g->shown.count; i++) {
        const struct cg_watched *watched = &g->shown.watched[i];
        bool now = watched->shown->from <= next && next < watched->shown->to;
        if (!now && (next >= watched->shown->to || is_somewhere(g, watched->slot, next)))
            continue;
        for (uint32_t d = 0; d < at->dst_count; d++)
            if (at->operands[d].kind == MR_PTX_OPERAND_REG && at->operands[d].reg == watched->reg)
                store(g, watched);
    }
}
