/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Constants of long functions. LLVM's code generator keeps a list for each function of those that instructions read
 * from memory, which are vectors and numbers with a point, and looks through all of it for each use: time by the square
 * of their number. So from some hundreds on they are words of a table of our own, loaded and spread where they are
 * used.
 *
 * Only operations that gain nothing from knowing a constant are changed; shifts and divisions by constants, for
 * example, keep them. This comes last, since LLVM's passes would put the constants back.
 */
#include "compile/codegen/basics/basics.h"
#include "compile/codegen/llvm/llvm.h"

#include <string.h>

#include "base/alloc.h"

#define KEPT 512u /* of a function stay as they are */
#define BUCKETS_LEAST 4096u

struct constants {
    struct {
        LLVMValueRef constant;
        uint32_t place;
    } *buckets; /* all that have been met; place: in the table, plus 1; 0: it stays */
    size_t bucket_count, count;
    LLVMValueRef *words; /* 64 bits each */
    size_t word_count, word_room;
    LLVMValueRef table; /* what it is called until its size is known */
};

static size_t bucket_of(const struct constants *all, LLVMValueRef constant)
{
    size_t at = ((uintptr_t)constant >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (all->bucket_count - 1);
    while (all->buckets[at].constant && all->buckets[at].constant != constant)
        at = (at + 1) & (all->bucket_count - 1);
    return at;
}

static bool grow(struct constants *all)
{
    if (all->count * 2 < all->bucket_count)
        return true;
    struct constants larger = *all;
    larger.bucket_count = all->bucket_count ? all->bucket_count * 2 : BUCKETS_LEAST;
    larger.buckets = mr_calloc(larger.bucket_count, sizeof *larger.buckets);
    if (!larger.buckets)
        return false;
    for (size_t i = 0; i < all->bucket_count; i++)
        if (all->buckets[i].constant)
            larger.buckets[bucket_of(&larger, all->buckets[i].constant)] = all->buckets[i];
    mr_free(all->buckets);
    *all = larger;
    return true;
}

/* What each element of the constant is, or a scalar itself; NULL if elements differ or it is nothing that is read from
 * memory. */
static LLVMValueRef element_of(LLVMValueRef constant)
{
    LLVMTypeRef type = LLVMTypeOf(constant);
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    if (!LLVMIsConstant(constant) || LLVMIsUndef(constant) || LLVMIsNull(constant) ||
        (!vector && !LLVMIsAConstantFP(constant)))
        return NULL;
    LLVMValueRef first = vector ? LLVMGetAggregateElement(constant, 0) : constant;
    unsigned bits = first ? cg_bits(LLVMTypeOf(first)) : 0;
    if (!first || (!LLVMIsAConstantInt(first) && !LLVMIsAConstantFP(first)) || (bits != 32 && bits != 64))
        return NULL;
    for (unsigned i = 1; vector && i < LLVMGetVectorSize(type); i++)
        if (LLVMGetAggregateElement(constant, i) != first)
            return NULL;
    return LLVMIsAConstantInt(first) && LLVMConstIntGetSExtValue(first) == -1 ? NULL : first;
}

/* Whether an instruction may have a number that LLVM knows nothing about in place of a constant, at no cost. */
static bool takes_any(LLVMValueRef inst)
{
    size_t length;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMStore:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSelect:
        return true;
    case LLVMCall: {
        LLVMValueRef called = LLVMGetCalledValue(inst);
        return LLVMIsAFunction(called) && strncmp(LLVMGetValueName2(called, &length), "llvm.fma.", 9) == 0;
    }
    default:
        return false;
    }
}

/* Where a constant stands in the table, plus 1; 0 if it stays. False if memory is short. */
static bool place_of(struct cg_unit *unit, struct constants *all, LLVMValueRef constant, LLVMValueRef element,
                     uint32_t *place)
{
    if (!grow(all))
        return false;
    size_t at = bucket_of(all, constant);
    if (!all->buckets[at].constant) {
        all->buckets[at].constant = constant;
        if (all->count++ >= KEPT) {
            void *words = all->words;
            if (!mr_array_reserve(&words, &all->word_room, all->word_count + 1, sizeof *all->words))
                return false;
            all->words = words;
            LLVMTypeRef bits = LLVMIntTypeInContext(unit->context, cg_bits(LLVMTypeOf(element)));
            LLVMValueRef word = LLVMIsAConstantFP(element) ? LLVMConstBitCast(element, bits) : element;
            all->words[all->word_count++] = LLVMConstInt(unit->i64, LLVMConstIntGetZExtValue(word), false);
            all->buckets[at].place = (uint32_t)all->word_count;
        }
    }
    *place = all->buckets[at].place;
    return true;
}

/* The constant, from the table, in front of where the builder is. */
static LLVMValueRef load(struct cg_unit *unit, LLVMBuilderRef builder, struct constants *all, LLVMTypeRef type,
                         LLVMValueRef element, uint32_t place)
{
    if (!all->table)
        all->table = LLVMAddGlobal(unit->module, unit->i64, "constants");
    LLVMValueRef offset = LLVMConstInt(unit->i64, (place - 1) * 8ull, false);
    LLVMValueRef value =
        LLVMBuildLoad2(builder, LLVMTypeOf(element), LLVMBuildGEP2(builder, unit->i8, all->table, &offset, 1, ""), "");
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return value;
    LLVMValueRef first =
        LLVMBuildInsertElement(builder, LLVMGetPoison(type), value, LLVMConstInt(unit->i32, 0, false), "");
    return LLVMBuildShuffleVector(builder, first, LLVMGetPoison(type),
                                  LLVMConstNull(LLVMVectorType(unit->i32, LLVMGetVectorSize(type))), "");
}

static bool change(struct cg_unit *unit, LLVMBuilderRef builder, struct constants *all, LLVMValueRef inst)
{
    unsigned operands =
        LLVMGetInstructionOpcode(inst) == LLVMCall ? LLVMGetNumArgOperands(inst) : (unsigned)LLVMGetNumOperands(inst);
    for (unsigned i = 0; i < operands; i++) {
        LLVMValueRef constant = LLVMGetOperand(inst, i), element = element_of(constant);
        uint32_t place = 0;
        if (element && !place_of(unit, all, constant, element, &place))
            return false;
        if (place == 0)
            continue;
        LLVMPositionBuilderBefore(builder, inst);
        LLVMSetOperand(inst, i, load(unit, builder, all, LLVMTypeOf(constant), element, place));
    }
    return true;
}

/* Gives the table its content, now that all of it is known. */
static void fill_table(struct cg_unit *unit, struct constants *all)
{
    if (!all->table)
        return;
    LLVMValueRef content = LLVMConstArray2(unit->i64, all->words, all->word_count),
                 table = LLVMAddGlobal(unit->module, LLVMTypeOf(content), "constants");
    LLVMSetInitializer(table, content);
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    LLVMReplaceAllUsesWith(all->table, table);
    LLVMDeleteGlobal(all->table);
}

static bool change_function(struct cg_unit *unit, LLVMBuilderRef builder, LLVMValueRef function)
{
    struct constants all = {.buckets = NULL};
    bool good = true;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block && good;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst && good; inst = LLVMGetNextInstruction(inst))
            if (takes_any(inst))
                good = change(unit, builder, &all, inst);
    fill_table(unit, &all);
    mr_free(all.buckets);
    mr_free(all.words);
    return good;
}

bool cg_constants(struct cg_unit *unit)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(unit->context);
    bool good = true;
    for (LLVMValueRef function = LLVMGetFirstFunction(unit->module); function && good;
         function = LLVMGetNextFunction(function))
        if (!LLVMIsDeclaration(function))
            good = change_function(unit, builder, function);
    LLVMDisposeBuilder(builder);
    if (!good)
        cg_fail(unit, NULL, "memory is short");
    return good;
}
