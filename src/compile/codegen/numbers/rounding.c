/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Arithmetic rounded towards zero, down or up. Each operation becomes a function
 * of its own that sets the processor's rounding direction, calculates and sets it
 * back: kept out of line, so that no other arithmetic can move into its reach.
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

LLVMValueRef cg_rounded(struct cg *g, const char *operation, unsigned rounding, LLVMTypeRef result, LLVMValueRef *args,
                        unsigned count)
{
    LLVMTypeRef types[3];
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
