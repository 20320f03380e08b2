/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LLVM's types: of registers, of what is passed between functions, of what lies in memory, and of functions.
 */
#include "compile/codegen/basics/basics.h"

#include "base/alloc.h"

LLVMTypeRef cg_vector_type(LLVMTypeRef element, unsigned count)
{
    return LLVMVectorType(element, count);
}

LLVMTypeRef cg_type(const struct cg *g, LLVMTypeRef element)
{
    return g->now.lanes == 1 ? element : LLVMVectorType(element, g->unit->width);
}

LLVMTypeRef cg_element(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

unsigned cg_bits(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
        return 16;
    case LLVMFloatTypeKind:
        return 32;
    case LLVMDoubleTypeKind:
        return 64;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type);
    default:
        return 64;
    }
}

LLVMTypeRef cg_int_type(const struct cg *g, unsigned bits)
{
    return LLVMIntTypeInContext(g->unit->context, bits);
}

LLVMTypeRef cg_reg_type(const struct cg *g, unsigned ptx_type)
{
    switch (ptx_type) {
    case MR_PTX_TYPE_F32:
        return g->unit->f32;
    case MR_PTX_TYPE_F64:
        return g->unit->f64;
    case MR_PTX_TYPE_PRED:
        return g->unit->i1;
    default:
        return cg_int_type(g, mr_ptx_type_bits(ptx_type));
    }
}

LLVMTypeRef cg_passed_type(const struct cg *g, unsigned ptx_type)
{
    return ptx_type == MR_PTX_TYPE_PRED ? g->unit->i8 : cg_reg_type(g, ptx_type);
}

LLVMTypeRef cg_memory_type(struct cg *g, unsigned type)
{
    if (type == MR_PTX_TYPE_F32)
        return g->unit->f32;
    return type == MR_PTX_TYPE_F64 ? g->unit->f64 : cg_int_type(g, mr_ptx_type_bytes(type) * 8);
}

LLVMTypeRef cg_state_type(const struct cg_unit *unit)
{
    /* Number of the warp; lanes that have exited the kernel; stack pointers of the lanes, the memory that they point
     * into, and how many bytes of it each lane has. */
    LLVMTypeRef fields[5] = {unit->i32, unit->i32, LLVMArrayType2(unit->i64, CG_LANES_MAX), unit->i64, unit->i64};
    return LLVMStructTypeInContext(unit->context, fields, unit->allocas ? 5 : 2, false);
}

LLVMTypeRef cg_function_type(const struct cg_unit *unit, const struct mr_ptx_function *func)
{
    if (func->is_entry) {
        LLVMTypeRef kernel[3] = {unit->ptr, unit->i32, unit->i32};
        return LLVMFunctionType(unit->void_type, kernel, 3, false);
    }
    /* block, state, mask, then a pointer to 32 lanes of each parameter and each return value */
    unsigned count = 3 + func->param_count + func->return_count;
    LLVMTypeRef *types = mr_calloc(count, sizeof *types);
    if (!types)
        return NULL;
    for (unsigned i = 0; i < count; i++)
        types[i] = i == 2 ? unit->i32 : unit->ptr;
    LLVMTypeRef type = LLVMFunctionType(unit->void_type, types, count, false);
    mr_free(types);
    return type;
}
