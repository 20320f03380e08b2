/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Arithmetic rounded towards zero, down or up. With AVX-512 the direction is a part of the instruction. Without it, and
 * for conversions, each operation becomes a function of its own that sets the processor's rounding direction,
 * calculates and sets it back: kept out of line, so that no other arithmetic can move into its reach. That takes some
 * fifty cycles, and every exponential function of CUDA's has an fma of this kind.
 */
#include "compile/codegen/numbers/numbers.h"

#include <stdio.h>
#include <string.h>

/* LLVM's numbers for llvm.set.rounding. */
static unsigned direction(unsigned rounding)
{
    switch (rounding) {
    case MR_PTX_ROUND_RZ:
    case MR_PTX_ROUND_RZI:
        return 0;
    case MR_PTX_ROUND_RP:
    case MR_PTX_ROUND_RPI:
        return 2;
    case MR_PTX_ROUND_RM:
    case MR_PTX_ROUND_RMI:
        return 3;
    default:
        return 1;
    }
}

static void set_rounding(const struct cg *g, LLVMBuilderRef b, unsigned value)
{
    unsigned id = LLVMLookupIntrinsicID("llvm.set.rounding", 17);
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(g->unit->module, id, NULL, 0);
    LLVMValueRef arg = LLVMConstInt(g->unit->i32, value, false);
    LLVMBuildCall2(b, LLVMGlobalGetValueType(callee), callee, &arg, 1, "");
}

static LLVMValueRef text_argument(const struct cg *g, const char *text)
{
    return LLVMMetadataAsValue(g->unit->context, LLVMMDStringInContext2(g->unit->context, text, strlen(text)));
}

static void add_attribute(const struct cg *g, LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(g->unit->context, kind, 0));
}

static void copy_width_attributes(const struct cg *g, LLVMValueRef fn)
{
    static const char *const keys[] = {"prefer-vector-width", "min-legal-vector-width"};
    for (unsigned i = 0; i < 2; i++) {
        const char *value = i == 0 || g->unit->wide ? "512" : "256";
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                                LLVMCreateStringAttribute(g->unit->context, keys[i], (unsigned)strlen(keys[i]), value,
                                                          (unsigned)strlen(value)));
    }
}

void cg_helper_attributes(const struct cg *g, LLVMValueRef fn)
{
    add_attribute(g, fn, "noinline");
    add_attribute(g, fn, "nounwind");
    copy_width_attributes(g, fn);
}

static LLVMValueRef make_function(struct cg *g, const char *name, const char *operation, unsigned rounding,
                                  LLVMTypeRef result, LLVMTypeRef *types, unsigned count)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef fn = LLVMAddFunction(unit->module, name, LLVMFunctionType(result, types, count, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    add_attribute(g, fn, "strictfp");
    cg_helper_attributes(g, fn);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(unit->context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(unit->context, fn, ""));
    set_rounding(g, b, direction(rounding));
    char intrinsic[64];
    snprintf(intrinsic, sizeof intrinsic, "llvm.experimental.constrained.%s", operation);
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    LLVMTypeRef overloads[2] = {result, types[0]};
    bool converts = strstr(operation, "to") || strstr(operation, "trunc");
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(unit->module, id, overloads, converts ? 2 : 1);
    LLVMValueRef args[5];
    for (unsigned i = 0; i < count; i++)
        args[i] = LLVMGetParam(fn, i);
    args[count] = text_argument(g, "round.dynamic");
    args[count + 1] = text_argument(g, "fpexcept.strict");
    LLVMValueRef value = LLVMBuildCall2(b, LLVMGlobalGetValueType(callee), callee, args, count + 2, "");
    unsigned strict = LLVMGetEnumAttributeKindForName("strictfp", 8);
    LLVMAddCallSiteAttribute(value, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(unit->context, strict, 0));
    set_rounding(g, b, 1);
    LLVMBuildRet(b, value);
    LLVMDisposeBuilder(b);
    return fn;
}

/* ---- with AVX-512 ---- */

#define PARTS_MAX (CG_LANES_MAX / 8) /* vectors of 512 bits that all lanes' doubles fill */

/* An operation and its instruction; the first of them for vectors of 512 bits of floats, the second for doubles. */
static const struct direct {
    const char *operation, *floats, *doubles;
} directs[] = {
    {"fadd", "llvm.x86.avx512.add.ps.512", "llvm.x86.avx512.add.pd.512"},
    {"fsub", "llvm.x86.avx512.sub.ps.512", "llvm.x86.avx512.sub.pd.512"},
    {"fmul", "llvm.x86.avx512.mul.ps.512", "llvm.x86.avx512.mul.pd.512"},
    {"fdiv", "llvm.x86.avx512.div.ps.512", "llvm.x86.avx512.div.pd.512"},
    {"sqrt", "llvm.x86.avx512.sqrt.ps.512", "llvm.x86.avx512.sqrt.pd.512"},
    {"fma", "llvm.x86.avx512.vfmadd.ps.512", "llvm.x86.avx512.vfmadd.pd.512"},
};

/* The direction as these instructions have it, with no exceptions. */
static unsigned embedded(unsigned rounding)
{
    unsigned to = direction(rounding);
    return 8u | (to == 0 ? 3u : to == 2 ? 2u : to == 3 ? 1u : 0u);
}

/* The instruction of an operation, or NULL if there is none for values of that type. */
static const char *direct_name(const struct cg *g, const char *operation, LLVMTypeRef type)
{
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMTypeRef element = vector ? LLVMGetElementType(type) : type;
    if (!g->unit->wide || (element != g->unit->f32 && element != g->unit->f64))
        return NULL;
    unsigned bits = vector ? LLVMGetVectorSize(type) * cg_bits(element) : 512, parts = bits / 512;
    if (bits % 512 || parts & (parts - 1) || parts > PARTS_MAX)
        return NULL;
    for (unsigned i = 0; i < sizeof directs / sizeof *directs; i++)
        if (strcmp(directs[i].operation, operation) == 0)
            return element == g->unit->f32 ? directs[i].floats : directs[i].doubles;
    return NULL;
}

/* `count` elements of a vector from `first` on. A scalar becomes the first of them; the rest are zeros. */
static LLVMValueRef wide_part(struct cg *g, LLVMValueRef value, unsigned first, unsigned count)
{
    if (!cg_is_vector(value))
        return LLVMBuildInsertElement(g->b, LLVMConstNull(cg_vector_type(LLVMTypeOf(value), count)), value,
                                      LLVMConstInt(g->unit->i32, 0, false), "");
    LLVMValueRef lanes[16];
    for (unsigned i = 0; i < count; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, first + i, false);
    return LLVMBuildShuffleVector(g->b, value, LLVMGetPoison(LLVMTypeOf(value)), LLVMConstVector(lanes, count), "");
}

static LLVMValueRef direct(struct cg *g, const char *name, unsigned rounding, LLVMTypeRef result,
                           const LLVMValueRef *args, unsigned count)
{
    bool vector = LLVMGetTypeKind(result) == LLVMVectorTypeKind;
    unsigned part = 512 / cg_bits(vector ? LLVMGetElementType(result) : result);
    unsigned parts = vector ? LLVMGetVectorSize(result) / part : 1;
    LLVMValueRef done[PARTS_MAX], with[4];
    for (unsigned p = 0; p < parts; p++) {
        for (unsigned i = 0; i < count; i++)
            with[i] = wide_part(g, args[i], p * part, part);
        with[count] = LLVMConstInt(g->unit->i32, embedded(rounding), false);
        done[p] = cg_intrinsic(g, name, NULL, 0, with, count + 1);
    }
    return vector ? cg_join(g, done, parts)
                  : LLVMBuildExtractElement(g->b, done[0], LLVMConstInt(g->unit->i32, 0, false), "");
}

LLVMValueRef cg_rounded(struct cg *g, const char *operation, unsigned rounding, LLVMTypeRef result, LLVMValueRef *args,
                        unsigned count)
{
    LLVMTypeRef types[3];
    const char *instruction = direct_name(g, operation, result);
    if (instruction)
        return direct(g, instruction, rounding, result, args, count);
    unsigned lanes = LLVMGetTypeKind(result) == LLVMVectorTypeKind ? LLVMGetVectorSize(result) : 1;
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    char name[96];
    LLVMTypeRef from = lanes == 1 ? types[0] : LLVMGetElementType(types[0]);
    LLVMTypeRef to = lanes == 1 ? result : LLVMGetElementType(result);
    snprintf(name, sizeof name, "mr.%s.%u.%u.%u.%u", operation, direction(rounding), cg_bits(from), cg_bits(to), lanes);
    LLVMValueRef fn = LLVMGetNamedFunction(g->unit->module, name);
    if (!fn)
        fn = make_function(g, name, operation, rounding, result, types, count);
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, count, "");
}
