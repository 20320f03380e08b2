/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Instructions of AVX-512 on floats that LLVM has no words of its own for. They take 512 bits, and a warp's value is
 * two of them or four.
 */
#include "compile/codegen/numbers/numbers.h"

#define PART 16u /* floats of a vector of 512 bits */
#define AS_USUAL 4u /* rounding: as MXCSR says */

/* LLVM can't calculate them beforehand, so constants don't fit. */
bool cg_wide_fits(const struct cg *g, LLVMValueRef value)
{
    return g->unit->wide && cg_is_vector(value) && cg_element(value) == g->unit->f32 && !LLVMIsConstant(value) &&
           LLVMGetVectorSize(LLVMTypeOf(value)) % PART == 0;
}

static LLVMValueRef part_of(struct cg *g, LLVMValueRef value, unsigned first)
{
    LLVMValueRef lanes[PART];
    for (unsigned i = 0; i < PART; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, first + i, false);
    return LLVMBuildShuffleVector(g->b, value, LLVMGetPoison(LLVMTypeOf(value)), LLVMConstVector(lanes, PART), "");
}

LLVMValueRef cg_wide(struct cg *g, const char *intrinsic, const LLVMValueRef *args, unsigned count)
{
    LLVMValueRef parts[CG_LANES_MAX / PART], with[CG_WIDE_ARGS];
    unsigned part_count = LLVMGetVectorSize(LLVMTypeOf(args[0])) / PART;
    for (unsigned p = 0; p < part_count; p++) {
        for (unsigned i = 0; i < count; i++)
            with[i] = cg_is_vector(args[i]) ? part_of(g, args[i], p * PART) : args[i];
        parts[p] = cg_intrinsic(g, intrinsic, NULL, 0, with, count);
    }
    return cg_join(g, parts, part_count);
}

/* The same for an instruction that has a mask, which lets all elements run, and rounds as usual. */
LLVMValueRef cg_wide_masked(struct cg *g, const char *intrinsic, const LLVMValueRef *args, unsigned count)
{
    LLVMValueRef with[CG_WIDE_ARGS];
    for (unsigned i = 0; i < count; i++)
        with[i] = args[i];
    with[count] = LLVMConstNull(LLVMTypeOf(args[0]));
    with[count + 1] = LLVMConstAllOnes(cg_int_type(g, PART));
    with[count + 2] = LLVMConstInt(g->unit->i32, AS_USUAL, false);
    return cg_wide(g, intrinsic, with, count + 3);
}
