/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where memory operands point. Every address becomes a host address: addresses
 * in .shared are offsets into the block's window and get its base added, all
 * other spaces hold host addresses already.
 *
 * An access whose address is no multiple of its size ends the launch, as on
 * hardware. What is known of alignment is written down where addresses come from
 * (low bits cut off that are zero anyway), so that LLVM drops most of the tests
 * and takes others out of loops: what is left is one test for each pointer that
 * a kernel was given.
 */
#include "compile/codegen/cg.h"

LLVMValueRef cg_pointer(struct cg *g, LLVMValueRef address)
{
    LLVMTypeRef type = LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMVectorTypeKind
        ? LLVMVectorType(g->unit->ptr, g->unit->width) : g->unit->ptr;
    return LLVMBuildIntToPtr(g->b, address, type, "");
}

LLVMValueRef cg_aligned(struct cg *g, LLVMValueRef address, uint64_t align)
{
    return align > 1 ? LLVMBuildAnd(g->b, address, LLVMConstInt(g->unit->i64, ~(align - 1), false), "") : address;
}

static uint64_t entry_param_offset(const struct cg *g, const struct mr_ptx_var *var)
{
    return g->func->param_offsets ? g->func->param_offsets[var->index] : 0;
}

LLVMValueRef cg_symbol_address(struct cg *g, const struct mr_ptx_var *var)
{
    struct cg_unit *unit = g->unit;
    uint32_t offset = 0;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMValueRef pointer, place;
    switch (var->space) {
    case MR_PTX_SPACE_SHARED:
        if (!mr_layout_shared_find(unit->entry, var, &offset))
            cg_fail(unit, g->inst, "a shared variable that has no place");
        return LLVMConstInt(unit->i64, offset, false);
    case MR_PTX_SPACE_GLOBAL: case MR_PTX_SPACE_CONST:
        place = LLVMConstInt(unit->i64, mr_layout_symbol(unit->request->layout, var), false);
        LLVMPositionBuilderBefore(g->b, g->prologue_end);
        pointer = LLVMBuildGEP2(g->b, unit->i64, g->symbols, &place, 1, "");
        place = cg_aligned(g, LLVMBuildLoad2(g->b, unit->i64, pointer, var->name), var->align);
        LLVMPositionBuilderAtEnd(g->b, here);
        return place;
    default:
        break;
    }
    if (mr_flow_is_per_lane(var))
        return LLVMBuildPtrToInt(g->b, *cg_var_slot(g, var), unit->i64, "");
    return LLVMBuildAdd(g->b, LLVMBuildPtrToInt(g->b, g->params, unit->i64, ""),
                        LLVMConstInt(unit->i64, entry_param_offset(g, var), false), "");
}

static bool register_is_narrow(struct cg *g, const struct mr_ptx_operand *operand)
{
    return operand->kind == MR_PTX_OPERAND_REG_ADDRESS
        && mr_ptx_type_bits(g->func->regs[operand->reg].type) == 32;
}

/* Adds a scalar to all lanes. */
static void move_address(struct cg *g, struct cg_address *address, LLVMValueRef by)
{
    if (address->c.kind == MR_CLASS_VARYING)
        address->vector = LLVMBuildAdd(g->b, address->vector, cg_splat(g, by), "");
    else
        address->base = LLVMBuildAdd(g->b, address->base, by, "");
}

/* An address in a 32-bit register: the sum with the offset wraps at 32 bits, then it is widened. */
static void narrow_address(struct cg *g, const struct mr_ptx_operand *operand, struct cg_address *out)
{
    struct cg_unit *unit = g->unit;
    struct cg_affine value;
    LLVMValueRef offset = LLVMConstInt(unit->i32, (uint64_t)operand->value, true);
    bool affine = cg_affine_source(g, operand, &value);
    if (affine && value.c.stride < (1 << 26) && value.c.stride > -(1 << 26)) {
        LLVMValueRef base = LLVMBuildAdd(g->b, cg_cast_bits(g, value.base, unit->i32), offset, "");
        out->c = value.c;
        out->base = LLVMBuildZExt(g->b, base, unit->i64, "");
        if (value.c.kind == MR_CLASS_AFFINE) {
            out->c.wrap = value.c.stride > 0 ? -(INT64_C(1) << 32) : INT64_C(1) << 32;
            out->brk = cg_break(g, base, value.c.stride, false);
        }
        return;
    }
    unsigned lanes = g->lanes;
    g->lanes = g->unit->width;
    LLVMValueRef vector = cg_cast_bits(g, cg_read(g, operand->reg), unit->i32);
    vector = LLVMBuildAdd(g->b, vector, cg_splat(g, offset), "");
    out->c = (struct mr_class){MR_CLASS_VARYING, 0, 0};
    out->vector = cg_resize(g, vector, unit->i64, false);
    g->lanes = lanes;
}

void cg_address(struct cg *g, const struct mr_ptx_operand *operand, unsigned space, struct cg_address *out)
{
    struct cg_unit *unit = g->unit;
    struct cg_affine value;
    *out = (struct cg_address){.c = {MR_CLASS_UNIFORM, 0, 0}};
    if (register_is_narrow(g, operand)) {
        narrow_address(g, operand, out);
    } else if (cg_affine_source(g, operand, &value)) {
        out->c = value.c;
        out->base = cg_cast_bits(g, value.base, unit->i64);
        out->brk = value.brk;
        if (operand->kind == MR_PTX_OPERAND_REG_ADDRESS && operand->value)
            move_address(g, out, LLVMConstInt(unit->i64, (uint64_t)operand->value, true));
    } else {
        unsigned lanes = g->lanes;
        g->lanes = g->unit->width;
        out->c.kind = MR_CLASS_VARYING;
        out->vector = cg_cast_bits(g, cg_read(g, operand->reg), unit->i64);
        if (operand->value)
            move_address(g, out, LLVMConstInt(unit->i64, (uint64_t)operand->value, true));
        g->lanes = lanes;
    }
    if (space == MR_PTX_SPACE_SHARED || space == MR_PTX_SPACE_SHARED_CLUSTER)
        move_address(g, out, g->shared);
}

LLVMValueRef cg_address_vector(struct cg *g, const struct cg_address *address)
{
    if (address->c.kind == MR_CLASS_VARYING)
        return address->vector;
    struct cg_affine value = {address->c, address->base, address->brk};
    return cg_affine_vector(g, &value);
}

/* Whether an operand's alignment shows without looking at its value. */
static bool is_aligned(struct cg *g, const struct mr_ptx_operand *operand, uint64_t bytes)
{
    if (operand->kind != MR_PTX_OPERAND_SYMBOL_ADDRESS || (uint64_t)operand->value % bytes)
        return false;
    const struct mr_ptx_var *var = operand->var;
    if (var->space != MR_PTX_SPACE_PARAM)
        return var->align % bytes == 0;
    return bytes <= 16 && (mr_flow_is_per_lane(var) || entry_param_offset(g, var) % bytes == 0);
}

/* True where a low bit of an active lane's address is set: one bit for all. */
static LLVMValueRef has_low_bits(struct cg *g, const struct cg_address *address, uint64_t low)
{
    LLVMTypeRef i64 = g->unit->i64;
    if (address->c.kind != MR_CLASS_VARYING && ((uint64_t)address->c.stride & low) == 0)
        return LLVMBuildICmp(g->b, LLVMIntNE, LLVMBuildAnd(g->b, address->base, LLVMConstInt(i64, low, false), ""),
                             LLVMConstInt(i64, 0, false), "");
    unsigned lanes = g->lanes;
    g->lanes = g->unit->width;
    LLVMValueRef bits = LLVMBuildAnd(g->b, cg_address_vector(g, address), cg_int(g, i64, low), "");
    LLVMValueRef odd = LLVMBuildICmp(g->b, LLVMIntNE, bits, cg_int(g, i64, 0), "");
    odd = cg_mask_bits(g, LLVMBuildAnd(g->b, odd, g->exec_vector, ""));
    g->lanes = lanes;
    return LLVMBuildICmp(g->b, LLVMIntNE, odd, cg_mask_zero(g), "");
}

void cg_check_alignment(struct cg *g, const struct mr_ptx_operand *operand, const struct cg_address *address, uint64_t bytes)
{
    if (bytes == 1 || is_aligned(g, operand, bytes))
        return;
    LLVMValueRef odd = has_low_bits(g, address, bytes - 1);
    if (LLVMIsAConstantInt(odd) && LLVMConstIntGetZExtValue(odd) == 0)
        return;
    LLVMBasicBlockRef bad = cg_new_block(g, "misaligned"), good = cg_new_block(g, "aligned");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, odd, bad, good));
    LLVMPositionBuilderAtEnd(g->b, bad);
    cg_emit_trap(g, MR_TRAP_MISALIGNED);
    LLVMBuildUnreachable(g->b);
    LLVMPositionBuilderAtEnd(g->b, good);
}
