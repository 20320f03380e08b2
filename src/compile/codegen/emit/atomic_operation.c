/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What an atomic operation does to its place: as arithmetic, on scalars or on all lanes' values, and done by one lane.
 */
#include "compile/codegen/emit/atomic.h"

bool cg_atomic_has_result(const struct cg *g, const struct cg_atomic *a)
{
    if (!a->result || a->result->kind == MR_PTX_OPERAND_SINK)
        return false;
    return a->result->kind != MR_PTX_OPERAND_REG || mr_bit_get(g->flow.read, a->result->reg);
}

/* The processor's instruction for the operation; false if it has to be a loop around compare-and-swap. */
static bool is_instruction(const struct mr_ptx_inst *inst, LLVMAtomicRMWBinOp *op)
{
    bool sign = mr_ptx_type_class(inst->type[0]) == 'S';
    if (mr_ptx_type_class(inst->type[0]) == 'F')
        return false;
    switch (inst->atom) {
    case MR_PTX_ATOM_ADD:
        *op = LLVMAtomicRMWBinOpAdd;
        return true;
    case MR_PTX_ATOM_AND:
        *op = LLVMAtomicRMWBinOpAnd;
        return true;
    case MR_PTX_ATOM_OR:
        *op = LLVMAtomicRMWBinOpOr;
        return true;
    case MR_PTX_ATOM_XOR:
        *op = LLVMAtomicRMWBinOpXor;
        return true;
    case MR_PTX_ATOM_EXCH:
        *op = LLVMAtomicRMWBinOpXchg;
        return true;
    case MR_PTX_ATOM_MIN:
        *op = sign ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
        return true;
    case MR_PTX_ATOM_MAX:
        *op = sign ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
        return true;
    case MR_PTX_ATOM_INC:
        *op = LLVMAtomicRMWBinOpUIncWrap;
        return true;
    case MR_PTX_ATOM_DEC:
        *op = LLVMAtomicRMWBinOpUDecWrap;
        return true;
    default:
        return false;
    }
}

/* Halves are added, or the smaller or larger one is taken. */
static LLVMValueRef combine_halves(struct cg *g, unsigned atom, LLVMValueRef a, LLVMValueRef b, bool bfloat)
{
    LLVMValueRef x = bfloat ? cg_bfloat_to_float(g, a) : cg_half_to_float(g, a);
    LLVMValueRef y = bfloat ? cg_bfloat_to_float(g, b) : cg_half_to_float(g, b);
    LLVMValueRef sum =
        atom == MR_PTX_ATOM_ADD ? LLVMBuildFAdd(g->b, x, y, "") : cg_min_max(g, x, y, atom == MR_PTX_ATOM_MAX, false);
    return bfloat ? cg_float_to_bfloat(g, sum) : cg_float_to_half(g, sum);
}

/* The sum of two floats given as bits (of halves also the smaller or larger one). In f32 global memory flushes
 * subnormals, shared memory does not. */
static LLVMValueRef combine_floats(struct cg *g, const struct cg_atomic *a, LLVMValueRef old, LLVMValueRef value)
{
    LLVMTypeRef i16 = g->unit->i16, i32 = g->unit->i32;
    unsigned type = a->inst->type[0];
    bool bfloat = type == MR_PTX_TYPE_BF16 || type == MR_PTX_TYPE_BF16X2;
    if (type == MR_PTX_TYPE_F32 || type == MR_PTX_TYPE_F64) {
        LLVMTypeRef kind = type == MR_PTX_TYPE_F32 ? g->unit->f32 : g->unit->f64;
        bool flush = type == MR_PTX_TYPE_F32 && !a->shared;
        LLVMValueRef x = cg_cast_bits(g, old, kind), y = cg_cast_bits(g, value, kind);
        LLVMValueRef sum = LLVMBuildFAdd(g->b, flush ? cg_flush(g, x) : x, flush ? cg_flush(g, y) : y, "");
        if (flush)
            sum = cg_flush(g, sum);
        if (a->keeps)
            sum = cg_select(g, a->keeps, LLVMBuildFAdd(g->b, x, y, ""), sum);
        if (type == MR_PTX_TYPE_F32)
            sum = cg_nan_mended(g, sum);
        return cg_cast_bits(g, sum, a->type);
    }
    if (type == MR_PTX_TYPE_F16 || type == MR_PTX_TYPE_BF16)
        return combine_halves(g, a->inst->atom, old, value, bfloat);
    LLVMValueRef r = NULL;
    for (unsigned part = 0; part < 2; part++) {
        LLVMValueRef by = cg_int(g, i32, 16 * part);
        LLVMValueRef x = cg_resize(g, LLVMBuildLShr(g->b, old, by, ""), i16, false);
        LLVMValueRef y = cg_resize(g, LLVMBuildLShr(g->b, value, by, ""), i16, false);
        LLVMValueRef sum =
            LLVMBuildShl(g->b, cg_resize(g, combine_halves(g, a->inst->atom, x, y, bfloat), i32, false), by, "");
        r = r ? LLVMBuildOr(g->b, r, sum, "") : sum;
    }
    return r;
}

LLVMValueRef cg_atomic_new_value(struct cg *g, const struct cg_atomic *a, LLVMValueRef old, LLVMValueRef b,
                                 LLVMValueRef c)
{
    bool sign = mr_ptx_type_class(a->inst->type[0]) == 'S';
    LLVMValueRef one = LLVMConstInt(a->type, 1, false), zero = LLVMConstInt(a->type, 0, false);
    if (mr_ptx_type_class(a->inst->type[0]) == 'F')
        return combine_floats(g, a, old, b);
    switch (a->inst->atom) {
    case MR_PTX_ATOM_ADD:
        return LLVMBuildAdd(g->b, old, b, "");
    case MR_PTX_ATOM_AND:
        return LLVMBuildAnd(g->b, old, b, "");
    case MR_PTX_ATOM_OR:
        return LLVMBuildOr(g->b, old, b, "");
    case MR_PTX_ATOM_XOR:
        return LLVMBuildXor(g->b, old, b, "");
    case MR_PTX_ATOM_EXCH:
        return b;
    case MR_PTX_ATOM_CAS:
        return cg_select(g, LLVMBuildICmp(g->b, LLVMIntEQ, old, b, ""), c, old);
    case MR_PTX_ATOM_MIN:
        return cg_binary(g, sign ? "llvm.smin" : "llvm.umin", old, b);
    case MR_PTX_ATOM_MAX:
        return cg_binary(g, sign ? "llvm.smax" : "llvm.umax", old, b);
    case MR_PTX_ATOM_INC:
        return cg_select(g, LLVMBuildICmp(g->b, LLVMIntUGE, old, b, ""), zero, LLVMBuildAdd(g->b, old, one, ""));
    default: {
        LLVMValueRef wrap = LLVMBuildOr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, old, zero, ""),
                                        LLVMBuildICmp(g->b, LLVMIntUGT, old, b, ""), "");
        return cg_select(g, wrap, b, LLVMBuildSub(g->b, old, one, ""));
    }
    }
}

void cg_atomic_look_at(struct cg *g, struct cg_atomic *a, LLVMValueRef address)
{
    bool asks = a->inst->space == MR_PTX_SPACE_GENERIC && a->inst->type[0] == MR_PTX_TYPE_F32 &&
                a->inst->atom == MR_PTX_ATOM_ADD;
    a->keeps = asks ? cg_in_shared(g, address) : NULL;
}

LLVMValueRef cg_atomic_swap(struct cg *g, const struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef old,
                            LLVMValueRef next, LLVMValueRef *done)
{
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(g->b, pointer, old, next, LLVMAtomicOrderingAcquireRelease,
                                               LLVMAtomicOrderingMonotonic, false);
    LLVMSetAlignment(pair, a->bytes);
    *done = LLVMBuildExtractValue(g->b, pair, 1, "");
    return LLVMBuildExtractValue(g->b, pair, 0, "");
}

LLVMValueRef cg_atomic_swap_loop(struct cg *g, const struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef first,
                                 cg_atomic_next *next, void *data)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), again = cg_new_block(g, "again"), on = cg_new_block(g, "on");
    if (!first) {
        first = LLVMBuildLoad2(g->b, a->type, pointer, "");
        LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
        LLVMSetAlignment(first, a->bytes);
    }
    LLVMBuildBr(g->b, again);
    LLVMPositionBuilderAtEnd(g->b, again);
    LLVMValueRef old = LLVMBuildPhi(g->b, a->type, ""), done;
    LLVMValueRef seen = cg_atomic_swap(g, a, pointer, old, next(g, a, old, data), &done);
    LLVMAddIncoming(old, (LLVMValueRef[]){first, seen}, (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(g->b)}, 2);
    LLVMBuildCondBr(g->b, done, on, again);
    LLVMPositionBuilderAtEnd(g->b, on);
    return old;
}

static LLVMValueRef after_one(struct cg *g, const struct cg_atomic *a, LLVMValueRef old, void *operand)
{
    return cg_atomic_new_value(g, a, old, operand, NULL);
}

LLVMValueRef cg_atomic_perform(struct cg *g, struct cg_atomic *a, LLVMValueRef pointer, LLVMValueRef b, LLVMValueRef c,
                               LLVMValueRef seen)
{
    LLVMAtomicRMWBinOp op;
    cg_atomic_look_at(g, a, LLVMBuildPtrToInt(g->b, pointer, g->unit->i64, ""));
    if (a->shared) {
        LLVMValueRef old = LLVMBuildLoad2(g->b, a->type, pointer, "");
        LLVMSetAlignment(old, a->bytes);
        LLVMSetAlignment(LLVMBuildStore(g->b, cg_atomic_new_value(g, a, old, b, c), pointer), a->bytes);
        return old;
    }
    if (a->inst->atom == MR_PTX_ATOM_CAS) {
        LLVMAtomicOrdering failure =
            a->ordering == LLVMAtomicOrderingRelease || a->ordering == LLVMAtomicOrderingMonotonic
                ? LLVMAtomicOrderingMonotonic
                : LLVMAtomicOrderingAcquire;
        LLVMValueRef pair = LLVMBuildAtomicCmpXchg(g->b, pointer, b, c, a->ordering, failure, false);
        LLVMSetAlignment(pair, a->bytes);
        return LLVMBuildExtractValue(g->b, pair, 0, "");
    }
    if (!is_instruction(a->inst, &op))
        return cg_atomic_swap_loop(g, a, pointer, seen, after_one, b);
    LLVMValueRef old = LLVMBuildAtomicRMW(g->b, op, pointer, b, a->ordering, false);
    LLVMSetAlignment(old, a->bytes);
    return old;
}
