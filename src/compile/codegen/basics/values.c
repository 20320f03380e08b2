/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Values in the form of the instruction at hand, a scalar or a vector of all lanes: constants, conversions that keep
 * bits, vectors put together and taken apart, LLVM's intrinsics, pointers.
 */
#include "compile/codegen/basics/basics.h"

#include <string.h>

static LLVMValueRef spread(const struct cg *g, LLVMValueRef constant)
{
    LLVMValueRef all[CG_LANES_MAX];
    for (unsigned i = 0; i < g->unit->width; i++)
        all[i] = constant;
    return LLVMConstVector(all, g->unit->width);
}

LLVMValueRef cg_int(const struct cg *g, LLVMTypeRef element, uint64_t value)
{
    LLVMValueRef constant = LLVMConstInt(element, value, true);
    return g->now.lanes == 1 ? constant : spread(g, constant);
}

LLVMValueRef cg_real(const struct cg *g, LLVMTypeRef element, double value)
{
    LLVMValueRef constant = LLVMConstReal(element, value);
    return g->now.lanes == 1 ? constant : spread(g, constant);
}

LLVMValueRef cg_splat(const struct cg *g, LLVMValueRef scalar)
{
    if (LLVMIsConstant(scalar) && !LLVMIsUndef(scalar))
        return spread(g, scalar);
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), g->unit->width);
    LLVMValueRef poison = LLVMGetPoison(type);
    LLVMValueRef first = LLVMBuildInsertElement(g->b, poison, scalar, LLVMConstInt(g->unit->i32, 0, false), "");
    return LLVMBuildShuffleVector(g->b, first, poison, LLVMConstNull(LLVMVectorType(g->unit->i32, g->unit->width)), "");
}

LLVMValueRef cg_lane_numbers(const struct cg *g, LLVMTypeRef element, int64_t stride)
{
    LLVMValueRef all[CG_LANES_MAX];
    for (unsigned i = 0; i < g->unit->width; i++)
        all[i] = LLVMConstInt(element, (uint64_t)stride * i, true);
    return LLVMConstVector(all, g->unit->width);
}

LLVMValueRef cg_cast_bits(const struct cg *g, LLVMValueRef value, LLVMTypeRef element)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeRef wanted = cg_is_vector(value) ? LLVMVectorType(element, LLVMGetVectorSize(type)) : element;
    return type == wanted ? value : LLVMBuildBitCast(g->b, value, wanted, "");
}

LLVMValueRef cg_resize(const struct cg *g, LLVMValueRef value, LLVMTypeRef element, bool is_signed)
{
    unsigned from = cg_bits(cg_element(value)), to = cg_bits(element);
    if (LLVMGetTypeKind(cg_element(value)) != LLVMIntegerTypeKind)
        value = cg_cast_bits(g, value, cg_int_type(g, from));
    LLVMTypeRef wanted = cg_is_vector(value) ? LLVMVectorType(element, LLVMGetVectorSize(LLVMTypeOf(value))) : element;
    if (from == to)
        return value;
    if (from > to)
        return LLVMBuildTrunc(g->b, value, wanted, "");
    return is_signed ? LLVMBuildSExt(g->b, value, wanted, "") : LLVMBuildZExt(g->b, value, wanted, "");
}

/* Reinterprets a register's value: same width as it is, wider cut to its low bits, narrower extended by zeros. */
LLVMValueRef cg_as_element(struct cg *g, LLVMValueRef value, LLVMTypeRef element)
{
    if (cg_element(value) == element)
        return value;
    unsigned bits = cg_bits(element);
    LLVMValueRef resized = cg_resize(g, value, cg_int_type(g, bits), false);
    return cg_cast_bits(g, resized, element);
}

LLVMValueRef cg_shuffle_parts(const struct cg *g, LLVMValueRef wide, unsigned parts, unsigned part)
{
    LLVMValueRef lanes[CG_LANES_MAX];
    for (unsigned i = 0; i < g->unit->width; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, i * parts + part, false);
    return LLVMBuildShuffleVector(g->b, wide, LLVMGetPoison(LLVMTypeOf(wide)), LLVMConstVector(lanes, g->unit->width),
                                  "");
}

LLVMValueRef cg_join(struct cg *g, LLVMValueRef *parts, unsigned count)
{
    LLVMValueRef lanes[CG_LANES_MAX * 8];
    for (; count > 1; count /= 2) {
        unsigned size = LLVMGetVectorSize(LLVMTypeOf(parts[0]));
        for (unsigned i = 0; i < 2 * size; i++)
            lanes[i] = LLVMConstInt(g->unit->i32, i, false);
        for (unsigned i = 0; i < count / 2; i++)
            parts[i] =
                LLVMBuildShuffleVector(g->b, parts[2 * i], parts[2 * i + 1], LLVMConstVector(lanes, 2 * size), "");
    }
    return parts[0];
}

LLVMValueRef cg_intrinsic(const struct cg *g, const char *name, LLVMTypeRef *types, unsigned type_count,
                          LLVMValueRef *args, unsigned arg_count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(g->unit->module, id, types, type_count);
    LLVMTypeRef type = LLVMGlobalGetValueType(callee);
    return LLVMBuildCall2(g->b, type, callee, args, arg_count, "");
}

LLVMValueRef cg_unary(const struct cg *g, const char *name, LLVMValueRef a)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return cg_intrinsic(g, name, &type, 1, &a, 1);
}

LLVMValueRef cg_binary(const struct cg *g, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return cg_intrinsic(g, name, &type, 1, (LLVMValueRef[]){a, b}, 2);
}

LLVMValueRef cg_fma(const struct cg *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return cg_intrinsic(g, "llvm.fma", &type, 1, (LLVMValueRef[]){a, b, c}, 3);
}

LLVMValueRef cg_select(const struct cg *g, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(g->b, c, a, b, "");
}

LLVMValueRef cg_pointer(struct cg *g, LLVMValueRef address)
{
    LLVMTypeRef type = LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMVectorTypeKind
                           ? LLVMVectorType(g->unit->ptr, g->unit->width)
                           : g->unit->ptr;
    return LLVMBuildIntToPtr(g->b, address, type, "");
}

LLVMValueRef cg_aligned(struct cg *g, LLVMValueRef address, uint64_t align)
{
    return align > 1 ? LLVMBuildAnd(g->b, address, LLVMConstInt(g->unit->i64, ~(align - 1), false), "") : address;
}

LLVMValueRef cg_offset_pointer(struct cg *g, LLVMValueRef address, uint64_t offset)
{
    if (offset)
        address = LLVMBuildAdd(g->b, address, LLVMConstInt(g->unit->i64, offset, false), "");
    return cg_pointer(g, address);
}
