/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Addresses of lanes that are a base for all and an index of 32 bits for each, which is widened and shifted: in most
 * kernels those of arrays.
 *
 * Whether they step from lane to lane, or are one, is asked of the indexes, in half as many vectors as the addresses
 * are, and nothing has to be widened for it. The first lane's address is calculated as a scalar. So the vector of
 * addresses is left to the ways that need it. These are gathers and scatters, which take base and index as they are.
 */
#include "compile/codegen/llvm/llvm.h"

#include <string.h>

#define BASES 4

struct indexed {
    LLVMValueRef index; /* a vector of 32-bit integers */
    bool sign; /* how it is widened */
    unsigned shift;
    /* Scalars that are added: some before the shift, and some behind. */
    LLVMValueRef base[BASES];
    bool shifted[BASES];
    unsigned count;
};

static bool is_instruction(LLVMValueRef value, LLVMOpcode opcode)
{
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

static bool is_lane_0(LLVMValueRef index)
{
    return LLVMIsAConstantInt(index) && LLVMConstIntGetZExtValue(index) == 0;
}

/* A vector of which all elements are the first of another one: that one, or NULL. */
static LLVMValueRef spread_from(LLVMValueRef value)
{
    if (!is_instruction(value, LLVMShuffleVector))
        return NULL;
    for (unsigned i = 0, count = LLVMGetNumMaskElements(value); i < count; i++)
        if (LLVMGetMaskValue(value, i) != 0)
            return NULL;
    return LLVMGetOperand(value, 0);
}

/* What all elements of a vector are, or NULL. */
static LLVMValueRef same_for_all(LLVMValueRef value)
{
    if (LLVMIsConstant(value)) {
        LLVMValueRef first = LLVMGetAggregateElement(value, 0);
        for (unsigned i = LLVMGetVectorSize(LLVMTypeOf(value)); first && i-- > 1;)
            if (LLVMGetAggregateElement(value, i) != first)
                return NULL;
        return first && LLVMIsAConstantInt(first) ? first : NULL;
    }
    LLVMValueRef from = spread_from(value);
    return from && is_instruction(from, LLVMInsertElement) && is_lane_0(LLVMGetOperand(from, 2))
               ? LLVMGetOperand(from, 1)
               : NULL;
}

/* Takes what is the same for all lanes off a sum; what is left. */
static LLVMValueRef without_bases(LLVMValueRef value, bool shifted, struct indexed *out)
{
    while (is_instruction(value, LLVMAdd) && out->count < BASES) {
        LLVMValueRef left = LLVMGetOperand(value, 0), right = LLVMGetOperand(value, 1), base = same_for_all(left);
        value = base ? right : left;
        base = base ? base : same_for_all(right);
        if (!base)
            return NULL;
        out->shifted[out->count] = shifted;
        out->base[out->count++] = base;
    }
    return value;
}

static bool is_indexed(LLVMValueRef value, struct indexed *out)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    *out = (struct indexed){0};
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
        LLVMGetTypeKind(LLVMGetElementType(type)) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMGetElementType(type)) != 64)
        return false;
    value = without_bases(value, false, out);
    if (value && is_instruction(value, LLVMShl)) {
        LLVMValueRef by = same_for_all(LLVMGetOperand(value, 1));
        if (!by || !LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > 31)
            return false;
        out->shift = (unsigned)LLVMConstIntGetZExtValue(by);
        value = without_bases(LLVMGetOperand(value, 0), true, out);
    }
    if (!value || !(is_instruction(value, LLVMSExt) || is_instruction(value, LLVMZExt)))
        return false;
    out->sign = is_instruction(value, LLVMSExt);
    out->index = LLVMGetOperand(value, 0);
    return LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(out->index))) == 32;
}

/* ---- tests ---- */

/* What `expected` has in each lane more than the first lane of `addresses`: 0 or the lane's number shifted. False if it
 * is neither. */
static bool is_expected(LLVMValueRef expected, LLVMValueRef addresses, unsigned shift, bool *steps)
{
    LLVMValueRef by = NULL;
    *steps = is_instruction(expected, LLVMAdd);
    if (*steps) {
        by = LLVMGetOperand(expected, 1);
        expected = LLVMGetOperand(expected, 0);
    }
    LLVMValueRef from = spread_from(expected);
    if (from && from != addresses && is_instruction(from, LLVMInsertElement)) {
        LLVMValueRef first = LLVMGetOperand(from, 1);
        bool is_first = is_lane_0(LLVMGetOperand(from, 2)) && is_instruction(first, LLVMExtractElement) &&
                        is_lane_0(LLVMGetOperand(first, 1));
        from = is_first ? LLVMGetOperand(first, 0) : NULL;
    }
    if (from != addresses)
        return false;
    for (unsigned i = 0, count = LLVMGetVectorSize(LLVMTypeOf(expected)); by && i < count; i++) {
        LLVMValueRef step = LLVMIsConstant(by) ? LLVMGetAggregateElement(by, i) : NULL;
        if (!step || !LLVMIsAConstantInt(step) || LLVMConstIntGetZExtValue(step) != (uint64_t)i << shift)
            return false;
    }
    return true;
}

static LLVMValueRef spread(LLVMBuilderRef builder, LLVMValueRef scalar, LLVMTypeRef vector)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(vector));
    LLVMValueRef one = LLVMBuildInsertElement(builder, LLVMGetPoison(vector), scalar, LLVMConstInt(i32, 0, false), "");
    return LLVMBuildShuffleVector(builder, one, LLVMGetPoison(vector),
                                  LLVMConstNull(LLVMVectorType(i32, LLVMGetVectorSize(vector))), "");
}

static LLVMValueRef first_index(LLVMBuilderRef builder, const struct indexed *address)
{
    LLVMTypeRef i32 = LLVMGetElementType(LLVMTypeOf(address->index));
    return LLVMBuildExtractElement(builder, address->index, LLVMConstInt(i32, 0, false), "");
}

/* All lanes stray where the indexes of neighbours of the first one would leave the range of 32 bits: there they wrap
 * around, and addresses don't. */
static LLVMValueRef or_past(LLVMBuilderRef builder, const struct indexed *address, LLVMValueRef first,
                            LLVMValueRef strays)
{
    LLVMTypeRef i32 = LLVMTypeOf(first), type = LLVMTypeOf(strays);
    unsigned width = LLVMGetVectorSize(type);
    LLVMTypeRef mask = LLVMIntTypeInContext(LLVMGetTypeContext(type), width);
    uint64_t most = (address->sign ? (uint64_t)INT32_MAX : UINT32_MAX) - (width - 1);
    LLVMValueRef past =
        LLVMBuildICmp(builder, address->sign ? LLVMIntSGT : LLVMIntUGT, first, LLVMConstInt(i32, most, false), "");
    LLVMValueRef bits = LLVMBuildBitCast(builder, strays, mask, "");
    bits = LLVMBuildOr(builder, bits, LLVMBuildSExt(builder, past, mask, ""), "");
    return LLVMBuildBitCast(builder, bits, type, "");
}

static void mend_test(LLVMBuilderRef builder, LLVMValueRef test)
{
    struct indexed address;
    bool steps;
    LLVMValueRef addresses = LLVMGetOperand(test, 0), expected = LLVMGetOperand(test, 1);
    if (LLVMGetICmpPredicate(test) != LLVMIntNE)
        return;
    if (!is_indexed(addresses, &address) || !is_expected(expected, addresses, address.shift, &steps)) {
        LLVMValueRef other = addresses;
        addresses = expected;
        expected = other;
        if (!is_indexed(addresses, &address) || !is_expected(expected, addresses, address.shift, &steps))
            return;
    }
    LLVMTypeRef type = LLVMTypeOf(address.index), i32 = LLVMGetElementType(type);
    LLVMPositionBuilderBefore(builder, test);
    LLVMValueRef first = first_index(builder, &address), wanted = spread(builder, first, type), lanes[64];
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++)
        lanes[i] = LLVMConstInt(i32, i, false);
    if (steps)
        wanted = LLVMBuildAdd(builder, wanted, LLVMConstVector(lanes, LLVMGetVectorSize(type)), "");
    LLVMValueRef strays = LLVMBuildICmp(builder, LLVMIntNE, address.index, wanted, "");
    if (steps)
        strays = or_past(builder, &address, first, strays);
    LLVMReplaceAllUsesWith(test, strays);
    LLVMInstructionEraseFromParent(test);
}

/* The sum of the bases, which the index is added to. */
static LLVMValueRef base_of(LLVMBuilderRef builder, const struct indexed *address, LLVMTypeRef i64)
{
    LLVMValueRef sum = NULL;
    for (unsigned i = 0; i < address->count; i++) {
        LLVMValueRef base = address->base[i];
        if (address->shifted[i])
            base = LLVMBuildShl(builder, base, LLVMConstInt(i64, address->shift, false), "");
        sum = sum ? LLVMBuildAdd(builder, sum, base, "") : base;
    }
    return sum ? sum : LLVMConstInt(i64, 0, false);
}

static void mend_first(LLVMBuilderRef builder, LLVMValueRef extract)
{
    struct indexed address;
    if (!is_lane_0(LLVMGetOperand(extract, 1)) || !is_indexed(LLVMGetOperand(extract, 0), &address))
        return;
    LLVMTypeRef i64 = LLVMTypeOf(extract);
    LLVMPositionBuilderBefore(builder, extract);
    LLVMValueRef first = first_index(builder, &address);
    first = address.sign ? LLVMBuildSExt(builder, first, i64, "") : LLVMBuildZExt(builder, first, i64, "");
    first = LLVMBuildShl(builder, first, LLVMConstInt(i64, address.shift, false), "");
    LLVMReplaceAllUsesWith(extract, LLVMBuildAdd(builder, base_of(builder, &address, i64), first, ""));
    LLVMInstructionEraseFromParent(extract);
}

/* ---- gathers and scatters ---- */

/* The place of a call's pointers among its operands; -1 for other calls. */
static int pointers_at(LLVMValueRef call)
{
    size_t length;
    LLVMValueRef called = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(called))
        return -1;
    const char *name = LLVMGetValueName2(called, &length);
    return strncmp(name, "llvm.masked.gather.", 19) == 0 ? 0 : strncmp(name, "llvm.masked.scatter.", 20) == 0 ? 1 : -1;
}

/* The processor multiplies indexes by 1, 2, 4 or 8, and takes them as signed. The index is widened in the same block,
 * where LLVM sees that it has been narrow. */
static void mend_move(LLVMBuilderRef builder, LLVMValueRef call)
{
    struct indexed address;
    int at = pointers_at(call);
    LLVMValueRef pointers = at < 0 ? NULL : LLVMGetOperand(call, (unsigned)at);
    if (!pointers || !is_instruction(pointers, LLVMIntToPtr) || !is_indexed(LLVMGetOperand(pointers, 0), &address) ||
        !address.sign || address.shift > 3)
        return;
    LLVMTypeRef wide = LLVMTypeOf(LLVMGetOperand(pointers, 0)), i64 = LLVMGetElementType(wide);
    LLVMContextRef context = LLVMGetTypeContext(wide);
    LLVMPositionBuilderBefore(builder, call);
    LLVMValueRef base =
        LLVMBuildIntToPtr(builder, base_of(builder, &address, i64), LLVMPointerTypeInContext(context, 0), "");
    LLVMValueRef index = LLVMBuildSExt(builder, address.index, wide, "");
    LLVMSetOperand(call, (unsigned)at,
                   LLVMBuildGEP2(builder, LLVMIntTypeInContext(context, 8u << address.shift), base, &index, 1, ""));
}

/* ---- all ---- */

static void each(struct cg_unit *unit, LLVMOpcode opcode, void (*mend)(LLVMBuilderRef builder, LLVMValueRef value))
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(unit->context);
    for (LLVMValueRef function = LLVMGetFirstFunction(unit->module); function; function = LLVMGetNextFunction(function))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (is_instruction(i, opcode))
                    mend(builder, i);
            }
    LLVMDisposeBuilder(builder);
}

void cg_indexed_tests(struct cg_unit *unit)
{
    each(unit, LLVMICmp, mend_test);
    each(unit, LLVMExtractElement, mend_first);
}

void cg_indexed_moves(struct cg_unit *unit)
{
    each(unit, LLVMCall, mend_move);
}
