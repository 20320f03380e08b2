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
#include "compile/codegen/basics/nothing.h"
#include "compile/codegen/operands/narrow.h"
#include "compile/codegen/operands/operands.h"

static bool register_is_narrow(struct cg *g, const struct mr_ptx_operand *operand)
{
    return operand->kind == MR_PTX_OPERAND_REG_ADDRESS && mr_ptx_type_bits(g->func->regs[operand->reg].type) == 32;
}

/* Adds a scalar to all lanes. */
static void move_address(struct cg *g, struct cg_address *address, LLVMValueRef by)
{
    if (address->c.kind == MR_CLASS_VARYING)
        address->vector = LLVMBuildAdd(g->b, address->vector, cg_splat(g, by), "");
    else
        for (unsigned row = 0; row < g->flow.rows; row++)
            address->base[row] = LLVMBuildAdd(g->b, address->base[row], by, "");
}

/* An address in a 32-bit register: the sum with the offset wraps at 32 bits, then it is widened. */
static void narrow_address(struct cg *g, const struct mr_ptx_operand *operand, struct cg_address *out)
{
    struct cg_unit *unit = g->unit;
    struct cg_affine rows[CG_ROWS_MAX];
    LLVMValueRef offset = LLVMConstInt(unit->i32, (uint64_t)operand->value, true);
    bool affine = cg_affine_rows(g, operand, rows);
    if (affine && rows[0].c.stride < (1 << 26) && rows[0].c.stride > -(1 << 26)) {
        out->c = rows[0].c;
        if (out->c.stride)
            out->c.wrap = out->c.stride > 0 ? -(INT64_C(1) << 32) : INT64_C(1) << 32;
        for (unsigned row = 0; row < g->flow.rows; row++) {
            LLVMValueRef base = LLVMBuildAdd(g->b, cg_cast_bits(g, rows[row].base, unit->i32), offset, "");
            out->base[row] = LLVMBuildZExt(g->b, base, unit->i64, "");
            if (out->c.stride)
                out->brk[row] = cg_break(g, base, out->c.stride, false);
        }
        return;
    }
    unsigned lanes = g->now.lanes;
    g->now.lanes = g->unit->width;
    LLVMValueRef vector = cg_cast_bits(g, cg_read(g, operand->reg), unit->i32);
    vector = LLVMBuildAdd(g->b, vector, cg_splat(g, offset), "");
    out->c = (struct mr_class){MR_CLASS_VARYING, 0, 0};
    out->vector = cg_resize(g, vector, unit->i64, false);
    g->now.lanes = lanes;
}

/* An address in .const that may have lost its upper half. */
static void constant_address(struct cg *g, struct cg_address *address)
{
    unsigned lanes = g->now.lanes;
    if (address->c.kind == MR_CLASS_UNIFORM) {
        g->now.lanes = 1;
        for (unsigned row = 0; row < g->flow.rows; row++)
            address->base[row] = cg_narrow_constant(g, address->base[row]);
    } else {
        g->now.lanes = g->unit->width;
        address->vector = cg_narrow_constant(g, cg_address_vector(g, address));
        address->c = (struct mr_class){MR_CLASS_VARYING, 0, 0};
    }
    g->now.lanes = lanes;
}

void cg_address(struct cg *g, const struct mr_ptx_operand *operand, unsigned space, struct cg_address *out)
{
    struct cg_unit *unit = g->unit;
    struct cg_affine rows[CG_ROWS_MAX];
    *out = (struct cg_address){.c = {MR_CLASS_UNIFORM, 0, 0}};
    if (register_is_narrow(g, operand)) {
        narrow_address(g, operand, out);
    } else if (cg_affine_rows(g, operand, rows)) {
        out->c = rows[0].c;
        for (unsigned row = 0; row < g->flow.rows; row++) {
            out->base[row] = cg_cast_bits(g, rows[row].base, unit->i64);
            out->brk[row] = rows[row].brk;
        }
        if (operand->kind == MR_PTX_OPERAND_REG_ADDRESS && operand->value)
            move_address(g, out, LLVMConstInt(unit->i64, (uint64_t)operand->value, true));
    } else {
        unsigned lanes = g->now.lanes;
        g->now.lanes = g->unit->width;
        out->c.kind = MR_CLASS_VARYING;
        out->vector = cg_cast_bits(g, cg_read(g, operand->reg), unit->i64);
        if (operand->value)
            move_address(g, out, LLVMConstInt(unit->i64, (uint64_t)operand->value, true));
        g->now.lanes = lanes;
    }
    /* A variable's name means its place, though the instruction names no space. */
    bool named = operand->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS && operand->var->space == MR_PTX_SPACE_SHARED;
    if (space == MR_PTX_SPACE_SHARED || space == MR_PTX_SPACE_SHARED_CLUSTER ||
        (space == MR_PTX_SPACE_GENERIC && named))
        move_address(g, out, g->launch.shared);
    if (space == MR_PTX_SPACE_CONST && operand->kind == MR_PTX_OPERAND_REG_ADDRESS && (g->unit->narrow & 1u << space))
        constant_address(g, out);
}

LLVMValueRef cg_address_vector(struct cg *g, const struct cg_address *address)
{
    if (address->c.kind == MR_CLASS_VARYING)
        return address->vector;
    struct cg_affine rows[CG_ROWS_MAX];
    for (unsigned row = 0; row < g->flow.rows; row++)
        rows[row] = (struct cg_affine){address->c, address->base[row], address->brk[row]};
    return cg_affine_vector(g, rows);
}

/* Whether an operand's alignment shows without looking at its value. */
static bool is_aligned(struct cg *g, const struct mr_ptx_operand *operand, uint64_t bytes)
{
    if (operand->kind != MR_PTX_OPERAND_SYMBOL_ADDRESS || (uint64_t)operand->value % bytes)
        return false;
    const struct mr_ptx_var *var = operand->var;
    if (var->space != MR_PTX_SPACE_PARAM)
        return var->align % bytes == 0;
    return bytes <= 16 && (mr_flow_is_per_lane(var) || cg_entry_parameter_offset(g, var) % bytes == 0);
}

/* True where a low bit of an active lane's address is set: one bit for all. */
static LLVMValueRef has_low_bits(struct cg *g, const struct cg_address *address, uint64_t low)
{
    LLVMTypeRef i64 = g->unit->i64;
    if (address->c.kind != MR_CLASS_VARYING && ((uint64_t)address->c.stride & low) == 0) {
        /* All lanes of a row have the same low bits. */
        unsigned rows = address->c.kind == MR_CLASS_UNIFORM ? 1 : g->flow.rows;
        LLVMValueRef any = NULL;
        for (unsigned row = 0; row < rows; row++) {
            LLVMValueRef bits = LLVMBuildAnd(g->b, address->base[row], LLVMConstInt(i64, low, false), "");
            LLVMValueRef one = LLVMBuildICmp(g->b, LLVMIntNE, bits, LLVMConstInt(i64, 0, false), "");
            if (rows > 1)
                one = LLVMBuildAnd(g->b, one, cg_row_runs(g, row), "");
            any = any ? LLVMBuildOr(g->b, any, one, "") : one;
        }
        return any;
    }
    unsigned lanes = g->now.lanes;
    g->now.lanes = g->unit->width;
    LLVMValueRef bits = LLVMBuildAnd(g->b, cg_address_vector(g, address), cg_int(g, i64, low), "");
    LLVMValueRef odd = LLVMBuildICmp(g->b, LLVMIntNE, bits, cg_int(g, i64, 0), "");
    odd = cg_mask_bits(g, LLVMBuildAnd(g->b, odd, g->now.exec_vector, ""));
    g->now.lanes = lanes;
    return LLVMBuildICmp(g->b, LLVMIntNE, odd, cg_mask_zero(g), "");
}

void cg_check_alignment(struct cg *g, const struct mr_ptx_operand *operand, const struct cg_address *address,
                        uint64_t bytes)
{
    cg_note_access(g, address, bytes);
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

void cg_note_access(struct cg *g, const struct cg_address *address, uint64_t bytes)
{
    struct cg_unit *unit = g->unit;
    if (!unit->request->note_accesses)
        return;
    unsigned lanes = g->now.lanes;
    g->now.lanes = unit->width;
    LLVMTypeRef type = cg_vector_type(unit->i64, unit->width);
    if (!g->memory.noted) {
        g->memory.noted = cg_slot(g, type, "noted");
        LLVMSetAlignment(g->memory.noted, 64);
        g->memory.bytes += 8ull * unit->width;
    }
    LLVMBuildStore(g->b, cg_address_vector(g, address), g->memory.noted);
    g->now.lanes = lanes;
    cg_block_store(g, offsetof(struct mr_block, access), g->memory.noted);
    cg_block_store(g, offsetof(struct mr_block, access_mask), LLVMBuildZExt(g->b, g->now.exec, unit->i64, ""));
    cg_block_store(g, offsetof(struct mr_block, access_bytes), LLVMConstInt(unit->i32, bytes, false));
    cg_note_warp(g);
    /* Nothing of all that may come later than the access. */
    cg_compiler_barrier(g->b, unit->context);
}

bool cg_is_far(const struct mr_ptx_inst *inst)
{
    return inst->space == MR_PTX_SPACE_GLOBAL || inst->space == MR_PTX_SPACE_GENERIC;
}
