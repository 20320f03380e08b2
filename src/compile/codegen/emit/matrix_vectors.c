/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/codegen/emit/matrix_vectors.h"

LLVMValueRef cg_all_of(LLVMTypeRef type, uint64_t value, unsigned count)
{
    LLVMValueRef all[64];
    for (unsigned i = 0; i < count; i++)
        all[i] = LLVMConstInt(type, value, false);
    return LLVMConstVector(all, count);
}

LLVMValueRef cg_elements_of(struct cg *g, LLVMValueRef a, LLVMValueRef b, const uint8_t *from, unsigned count)
{
    LLVMValueRef lanes[64];
    for (unsigned i = 0; i < count; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, from[i], false);
    return LLVMBuildShuffleVector(g->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)), LLVMConstVector(lanes, count), "");
}

LLVMValueRef cg_turned_over(struct cg *g, LLVMValueRef tile, bool back)
{
    uint8_t from[CG_LANES];
    for (unsigned line = 0; line < 8; line++)
        for (unsigned at = 0; at < 4; at++)
            if (back)
                from[line * 4 + at] = (uint8_t)(at * 8 + line);
            else
                from[at * 8 + line] = (uint8_t)(line * 4 + at);
    return cg_elements_of(g, tile, NULL, from, CG_LANES);
}

LLVMValueRef cg_eight_and_eight(struct cg *g, LLVMValueRef a, unsigned first, LLVMValueRef b, unsigned other)
{
    unsigned size = LLVMGetVectorSize(LLVMTypeOf(a));
    uint8_t from[16];
    for (unsigned i = 0; i < 8; i++) {
        from[i] = (uint8_t)(first + i);
        from[8 + i] = (uint8_t)(size + other + i);
    }
    return cg_elements_of(g, a, b, from, 16);
}

LLVMValueRef cg_lines_of(struct cg *g, const LLVMValueRef *tiles, unsigned lines, unsigned at)
{
    LLVMValueRef parts[2];
    for (unsigned i = 0; i < lines / 16; i++)
        parts[i] = cg_eight_and_eight(g, tiles[2 * i], 8 * at, tiles[2 * i + 1], 8 * at);
    return cg_join(g, parts, lines / 16);
}

LLVMValueRef cg_add_bytes(struct cg *g, LLVMValueRef sum, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef halves[2];
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(sum));
    for (unsigned i = 0; i < count / 16; i++) {
        uint8_t from[16];
        for (unsigned j = 0; j < 16; j++)
            from[j] = (uint8_t)(16 * i + j);
        LLVMValueRef args[3] = {cg_elements_of(g, sum, NULL, from, 16), cg_elements_of(g, a, NULL, from, 16),
                                cg_elements_of(g, b, NULL, from, 16)};
        halves[i] = cg_intrinsic(g, "llvm.x86.avx512.vpdpbusd.512", NULL, 0, args, 3);
    }
    return cg_join(g, halves, count / 16);
}

LLVMValueRef cg_add_pairs(struct cg *g, LLVMValueRef sum, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef eighths[4];
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(sum));
    LLVMTypeRef pairs = cg_vector_type(g->unit->i16, 16);
    for (unsigned i = 0; i < count / 8; i++) {
        uint8_t from[8];
        for (unsigned j = 0; j < 8; j++)
            from[j] = (uint8_t)(8 * i + j);
        LLVMValueRef args[2] = {LLVMBuildBitCast(g->b, cg_elements_of(g, a, NULL, from, 8), pairs, ""),
                                LLVMBuildBitCast(g->b, cg_elements_of(g, b, NULL, from, 8), pairs, "")};
        eighths[i] = cg_intrinsic(g, "llvm.x86.avx2.pmadd.wd", NULL, 0, args, 2);
    }
    return LLVMBuildAdd(g->b, sum, cg_join(g, eighths, count / 8), "");
}

LLVMValueRef cg_pair_of(struct cg *g, LLVMValueRef words, unsigned odd, bool is_signed)
{
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(words)) * 2;
    LLVMValueRef eight = cg_all_of(g->unit->i16, 8, count);
    LLVMValueRef value = LLVMBuildBitCast(g->b, words, cg_vector_type(g->unit->i16, count), "");
    if (!odd)
        value = LLVMBuildShl(g->b, value, eight, "");
    value = is_signed ? LLVMBuildAShr(g->b, value, eight, "") : LLVMBuildLShr(g->b, value, eight, "");
    return LLVMBuildBitCast(g->b, value, cg_vector_type(g->unit->i32, count / 2), "");
}

LLVMValueRef cg_float_of(struct cg *g, LLVMValueRef words, unsigned part, bool bfloat)
{
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(words));
    LLVMTypeRef i32 = g->unit->i32, floats = cg_vector_type(g->unit->f32, count);
    if (bfloat) {
        LLVMValueRef high = part ? LLVMBuildAnd(g->b, words, cg_all_of(i32, 0xffff0000, count), "")
                                 : LLVMBuildShl(g->b, words, cg_all_of(i32, 16, count), "");
        return LLVMBuildBitCast(g->b, high, floats, "");
    }
    if (part)
        words = LLVMBuildLShr(g->b, words, cg_all_of(i32, 16, count), "");
    LLVMValueRef half = LLVMBuildTrunc(g->b, words, cg_vector_type(g->unit->i16, count), "");
    half = LLVMBuildBitCast(g->b, half, cg_vector_type(g->unit->f16, count), "");
    return LLVMBuildFPExt(g->b, half, floats, "");
}
