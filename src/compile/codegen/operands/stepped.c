/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Values that step from lane to lane by something that only the running code knows, as `i * stride` does where the
 * stride is a parameter (CuPy's and Numba's kernels get the strides of their arrays like that). uniformity.c says which
 * registers are of that class, STEPPED; here is their code. They are calculated in scalars, and an access asks two
 * scalars whether it steps by its own size.
 *
 * What 32 bits can't hold wraps, and after widening that shows. With b and s the base and step of 32 bits, lane l of
 * the widened value holds b + s * l - 2^32 * k(l), where k(l) counts how often the sum has left the range up to there:
 * (b - lowest + s * l) >> 32. That is the last term of struct cg_stepped, whatever the step: `place` is b - lowest,
 * `pace` is s, and `factor` is -2^32 and what it has been multiplied with since. It is the same for `shr.s64 x, 32` of
 * what steps by a multiple of 2^32, which is how compilers write the widening of x's upper half.
 */
#include "compile/codegen/basics/nothing.h"
#include "compile/codegen/operands/operands.h"
#include "compile/codegen/operands/stepped.h"

#include <string.h>

enum { PART_BASE, PART_STEP, PART_FACTOR, PART_PLACE, PART_PACE, PARTS };

static LLVMValueRef i64_of(const struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i64, value, false);
}

LLVMTypeRef cg_stepped_slot_type(const struct cg *g, struct mr_class c)
{
    return LLVMArrayType2(g->unit->i64, c.wrap ? PARTS : PART_FACTOR);
}

static LLVMValueRef part(struct cg *g, uint32_t reg, unsigned which)
{
    LLVMValueRef at[2] = {LLVMConstInt(g->unit->i32, 0, false), LLVMConstInt(g->unit->i32, which, false)};
    return LLVMBuildInBoundsGEP2(g->b, LLVMGetAllocatedType(g->regs.slots[reg]), g->regs.slots[reg], at, 2, "");
}

struct cg_stepped cg_stepped_read(struct cg *g, uint32_t reg)
{
    LLVMValueRef parts[PARTS] = {NULL};
    unsigned count = (unsigned)LLVMGetArrayLength2(LLVMGetAllocatedType(g->regs.slots[reg]));
    for (unsigned i = 0; i < count; i++)
        parts[i] = LLVMBuildLoad2(g->b, g->unit->i64, part(g, reg, i), "");
    return (struct cg_stepped){parts[PART_BASE], parts[PART_STEP], parts[PART_FACTOR], parts[PART_PLACE],
                               parts[PART_PACE]};
}

void cg_stepped_write(struct cg *g, uint32_t reg, const struct cg_stepped *value)
{
    LLVMValueRef parts[PARTS] = {value->base, value->step, value->factor, value->place, value->pace};
    unsigned count = (unsigned)LLVMGetArrayLength2(LLVMGetAllocatedType(g->regs.slots[reg]));
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef to = part(g, reg, i), from = parts[i] ? parts[i] : i64_of(g, 0);
        if (g->now.guard)
            from = LLVMBuildSelect(g->b, g->now.guard, from, LLVMBuildLoad2(g->b, g->unit->i64, to, ""), "");
        LLVMBuildStore(g->b, from, to);
    }
}

LLVMValueRef cg_stepped_evenly(struct cg *g, const struct cg_stepped *value)
{
    if (!value->factor)
        return NULL;
    /* Between the first lane and the last k(l) only rises or only falls. */
    LLVMValueRef ahead = LLVMBuildMul(g->b, value->pace, i64_of(g, g->unit->width - 1), "");
    LLVMValueRef both = LLVMBuildOr(g->b, value->place, LLVMBuildAdd(g->b, value->place, ahead, ""), "");
    return LLVMBuildICmp(g->b, LLVMIntULT, both, i64_of(g, UINT64_C(1) << 32), "");
}

/* The value by a function of no instructions, which LLVM may drop but can't run before it is certain to be asked for:
 * what is made of the result stays where it is. */
static LLVMValueRef stays(struct cg *g, LLVMValueRef value)
{
    static const char *const kinds[] = {"memory", "nounwind", "willreturn"};
    value = cg_hidden(g->b, value, false);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(kinds[i], strlen(kinds[i]));
        LLVMAddCallSiteAttribute(value, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(g->unit->context, kind, 0));
    }
    return value;
}

struct cg_stepped cg_stepped_rarely(struct cg *g, const struct cg_stepped *value)
{
    struct cg_stepped r = *value;
    r.step = stays(g, r.step);
    return r;
}

LLVMValueRef cg_stepped_vector(struct cg *g, const struct cg_stepped *value, LLVMTypeRef element)
{
    struct cg_unit *unit = g->unit;
    unsigned lanes = g->now.lanes;
    g->now.lanes = unit->width;
    LLVMValueRef base = LLVMBuildTruncOrBitCast(g->b, value->base, element, ""),
                 step = LLVMBuildTruncOrBitCast(g->b, value->step, element, "");
    LLVMValueRef ahead = LLVMBuildMul(g->b, cg_splat(g, step), cg_lane_numbers(g, element, 1), "");
    LLVMValueRef vector = LLVMBuildAdd(g->b, cg_splat(g, base), ahead, ""), even = cg_stepped_evenly(g, value);
    if (even && element == unit->i64) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b), wraps = cg_new_block(g, "wraps"), on = cg_new_block(g, "on");
        cg_mark_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildNot(g->b, even, ""), wraps, on));
        LLVMPositionBuilderAtEnd(g->b, wraps);
        LLVMValueRef k = LLVMBuildMul(g->b, cg_splat(g, stays(g, value->pace)), cg_lane_numbers(g, element, 1), "");
        k = LLVMBuildAShr(g->b, LLVMBuildAdd(g->b, cg_splat(g, value->place), k, ""), cg_int(g, element, 32), "");
        LLVMValueRef wrapped = LLVMBuildAdd(g->b, vector, LLVMBuildMul(g->b, cg_splat(g, value->factor), k, ""), "");
        LLVMBuildBr(g->b, on);
        LLVMPositionBuilderAtEnd(g->b, on);
        LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(vector), "");
        LLVMAddIncoming(phi, (LLVMValueRef[]){vector, wrapped}, (LLVMBasicBlockRef[]){here, wraps}, 2);
        vector = phi;
    }
    g->now.lanes = lanes;
    return vector;
}

bool cg_stepped_address(struct cg *g, const struct mr_ptx_operand *operand, struct cg_stepped *out)
{
    if (operand->kind != MR_PTX_OPERAND_REG_ADDRESS ||
        mr_flow_register_class(&g->flow, operand->reg).kind != MR_CLASS_STEPPED ||
        mr_ptx_type_bits(g->func->regs[operand->reg].type) != 64)
        return false;
    *out = cg_stepped_read(g, operand->reg);
    if (operand->value)
        out->base = LLVMBuildAdd(g->b, out->base, i64_of(g, (uint64_t)operand->value), "");
    return true;
}
