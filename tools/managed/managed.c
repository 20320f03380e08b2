/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables in the host half of a source.
 *
 *   millrace-managed INPUT OUTPUT     LLVM IR, from clang before its passes; bitcode
 *
 * clang 19 has managed variables in HIP alone. In CUDA C++ `__managed__` is a variable of the device with a section of
 * its own. So the host half has a shadow of it, as of every such variable, and the shadow's memory means nothing: the
 * host has to use the driver's memory instead. So each shadow becomes a pointer of the same name, which the runtime
 * library fills when it loads the image, and each use of the shadow becomes a call that reads the pointer:
 *
 *   load i32, ptr @x          ->   %p = call ptr @millrace.managed(ptr @x)
 *                                  load i32, ptr %p
 *   __cudaRegisterVar(…@x…)   ->   __cudaRegisterManagedVar(…@x…)
 *
 * A pointer that is still empty is filled by asking the runtime library for the variable, so a program may use one
 * before its first call. An initialiser with the address of a managed variable becomes a store at the start of the
 * program; not in relocatable code, which is registered later. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#define SECTION "millrace_managed"

struct managed {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef pointer, get_type;
    LLVMValueRef get;                 /* millrace.managed */
    LLVMValueRef *shadows, *slots;    /* slots[i] stands for shadows[i] */
    size_t count;
};

static _Noreturn void give_up(const char *what, const char *detail)
{
    fprintf(stderr, "nvcc (Millrace): error: managed variables: %s%s%s\n", what, detail ? ": " : "",
            detail ? detail : "");
    exit(1);
}

static void *checked(void *memory)
{
    if (!memory)
        give_up("out of memory", NULL);
    return memory;
}

static LLVMValueRef slot_of(const struct managed *all, LLVMValueRef value)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->shadows[i] == value)
            return all->slots[i];
    return NULL;
}

/* Whether the value is a constant that is made of a shadow's address. */
static bool holds_shadow(const struct managed *all, LLVMValueRef value)
{
    if (LLVMIsAGlobalValue(value))
        return slot_of(all, value) != NULL;
    if (!LLVMIsAConstant(value))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (holds_shadow(all, LLVMGetOperand(value, (unsigned)i)))
            return true;
    return false;
}

/* --- Constants made of addresses, as instructions where the builder stands --- */

static LLVMValueRef build(const struct managed *all, LLVMValueRef value);

static LLVMValueRef build_address(const struct managed *all, LLVMValueRef value)
{
    unsigned count = (unsigned)LLVMGetNumOperands(value);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(value);
    LLVMValueRef *indices = checked(calloc(count, sizeof *indices));
    for (unsigned i = 1; i < count; i++)
        indices[i - 1] = build(all, LLVMGetOperand(value, i));
    LLVMValueRef base = build(all, LLVMGetOperand(value, 0));
    LLVMValueRef made = LLVMIsInBounds(value) ? LLVMBuildInBoundsGEP2(all->builder, type, base, indices, count - 1, "")
                                              : LLVMBuildGEP2(all->builder, type, base, indices, count - 1, "");
    free(indices);
    return made;
}

static LLVMValueRef build_expression(const struct managed *all, LLVMValueRef value)
{
    LLVMOpcode opcode = LLVMGetConstOpcode(value);
    switch (opcode) {
    case LLVMGetElementPtr:
        return build_address(all, value);
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMTrunc:
        return LLVMBuildCast(all->builder, opcode, build(all, LLVMGetOperand(value, 0)), LLVMTypeOf(value), "");
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMXor: {
        LLVMValueRef left = build(all, LLVMGetOperand(value, 0));
        return LLVMBuildBinOp(all->builder, opcode, left, build(all, LLVMGetOperand(value, 1)), "");
    }
    default:
        give_up("a constant is made of an address in a way that is not known", LLVMPrintValueToString(value));
    }
}

static LLVMValueRef build(const struct managed *all, LLVMValueRef value)
{
    LLVMValueRef slot = slot_of(all, value);
    if (slot)
        return LLVMBuildCall2(all->builder, all->get_type, all->get, &slot, 1, "");
    if (!holds_shadow(all, value))
        return value;
    if (LLVMIsAConstantExpr(value))
        return build_expression(all, value);
    bool vector = LLVMIsAConstantVector(value) != NULL;
    if (!vector && !LLVMIsAConstantStruct(value) && !LLVMIsAConstantArray(value))
        give_up("a constant is made of an address in a way that is not known", LLVMPrintValueToString(value));
    LLVMValueRef made = LLVMGetPoison(LLVMTypeOf(value));
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); i++) {
        LLVMValueRef part = build(all, LLVMGetOperand(value, i));
        made = vector ? LLVMBuildInsertElement(all->builder, made, part,
                                               LLVMConstInt(LLVMInt32TypeInContext(all->context), i, 0), "")
                      : LLVMBuildInsertValue(all->builder, made, part, i, "");
    }
    return made;
}

/* --- Uses --- */

static bool calls(LLVMValueRef instruction, const char *name)
{
    size_t length;
    if (!LLVMIsACallInst(instruction))
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    return LLVMIsAFunction(callee) && strcmp(LLVMGetValueName2(callee, &length), name) == 0;
}

/* Both functions take the same. */
static void register_managed(const struct managed *all, LLVMValueRef call)
{
    static const char name[] = "__cudaRegisterManagedVar";
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    LLVMValueRef function = LLVMGetNamedFunction(all->module, name);
    if (function && LLVMGlobalGetValueType(function) != type) { /* clang declares HIP's, and leaves it at that */
        if (LLVMGetFirstUse(function))
            give_up("the source declares", name);
        LLVMDeleteFunction(function);
        function = NULL;
    }
    if (!function)
        function = LLVMAddFunction(all->module, name, type);
    LLVMSetOperand(call, 1, slot_of(all, LLVMGetOperand(call, 1)));
    LLVMSetOperand(call, LLVMGetNumArgOperands(call), function);
}

/* In the block that the value comes from. A block that comes several times has to bring one value. */
static void mend_phi(const struct managed *all, LLVMValueRef phi)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        if (!holds_shadow(all, value))
            continue;
        LLVMValueRef made = NULL;
        for (unsigned before = 0; before < i && !made; before++)
            if (LLVMGetIncomingBlock(phi, before) == from)
                made = LLVMGetIncomingValue(phi, before);
        LLVMPositionBuilderBefore(all->builder, LLVMGetBasicBlockTerminator(from));
        LLVMSetOperand(phi, i, made ? made : build(all, value));
    }
}

static void mend_instruction(const struct managed *all, LLVMValueRef instruction)
{
    if (LLVMIsAPHINode(instruction)) {
        mend_phi(all, instruction);
        return;
    }
    if (calls(instruction, "__cudaRegisterVar") && slot_of(all, LLVMGetOperand(instruction, 1)))
        register_managed(all, instruction);
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(instruction); i++) {
        LLVMValueRef value = LLVMGetOperand(instruction, i);
        if (!holds_shadow(all, value))
            continue;
        LLVMPositionBuilderBefore(all->builder, instruction);
        LLVMSetOperand(instruction, i, build(all, value));
    }
}

static void mend_functions(const struct managed *all)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(all->module); function; function = LLVMGetNextFunction(function))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
                mend_instruction(all, at);
}

/* --- Initialisers --- */

/* Adds a function to those that run at the start, behind the one that registers the image. */
static void run_at_start(const struct managed *all, LLVMValueRef function)
{
    static const char name[] = "llvm.global_ctors";
    LLVMTypeRef number = LLVMInt32TypeInContext(all->context), fields[] = {number, all->pointer, all->pointer};
    LLVMTypeRef type = LLVMStructTypeInContext(all->context, fields, 3, 0);
    LLVMValueRef old = LLVMGetNamedGlobal(all->module, name), list = old ? LLVMGetInitializer(old) : NULL;
    unsigned count = list ? (unsigned)LLVMGetNumOperands(list) : 0;
    LLVMValueRef *entries = checked(calloc(count + 1, sizeof *entries));
    for (unsigned i = 0; i < count; i++)
        entries[i] = LLVMGetOperand(list, i);
    LLVMValueRef entry[] = {LLVMConstInt(number, 65535, 0), function, LLVMConstNull(all->pointer)};
    entries[count] = LLVMConstStructInContext(all->context, entry, 3, 0);
    if (old)
        LLVMDeleteGlobal(old);
    LLVMValueRef made = LLVMAddGlobal(all->module, LLVMArrayType2(type, count + 1), name);
    LLVMSetLinkage(made, LLVMAppendingLinkage);
    LLVMSetInitializer(made, LLVMConstArray2(type, entries, count + 1));
    free(entries);
}

/* Relocatable code is registered when all constructors have run that the compiler made. */
static bool is_relocatable(const struct managed *all)
{
    static const char begin[] = "__cudaRegisterLinkedBinary";
    size_t length;
    for (LLVMValueRef function = LLVMGetFirstFunction(all->module); function; function = LLVMGetNextFunction(function))
        if (strncmp(LLVMGetValueName2(function, &length), begin, strlen(begin)) == 0)
            return true;
    return false;
}

/* The compiler's own lists of what is used. */
static bool is_list(LLVMValueRef global)
{
    size_t length;
    const char *name = LLVMGetValueName2(global, &length);
    return strncmp(name, "llvm.", 5) == 0 || strcmp(name, "__clang_gpu_used_external") == 0;
}

/* A constant that the compiler made of a local variable's initialiser: instructions copy from it. */
static bool is_copied(LLVMValueRef global)
{
    if (LLVMGetLinkage(global) != LLVMPrivateLinkage || !LLVMIsGlobalConstant(global))
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(global); use; use = LLVMGetNextUse(use))
        if (!LLVMIsAInstruction(LLVMGetUser(use)) || LLVMIsAPHINode(LLVMGetUser(use)))
            return false;
    return true;
}

/* Makes the constant anew before each copy. It is the same each time, so several threads may do so at once. */
static void make_before_copies(const struct managed *all, LLVMValueRef global, LLVMValueRef value)
{
    size_t count = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(global); use; use = LLVMGetNextUse(use))
        count++;
    LLVMValueRef *users = checked(calloc(count + 1, sizeof *users));
    count = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(global); use; use = LLVMGetNextUse(use))
        users[count++] = LLVMGetUser(use);
    for (size_t i = 0; i < count; i++) {
        LLVMPositionBuilderBefore(all->builder, users[i]);
        LLVMBuildStore(all->builder, build(all, value), global);
    }
    free(users);
}

static void make_writable(LLVMValueRef global, LLVMValueRef value)
{
    LLVMSetInitializer(global, LLVMConstNull(LLVMTypeOf(value)));
    LLVMSetGlobalConstant(global, 0);
}

static void mend_initialisers(const struct managed *all)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(all->context), NULL, 0, 0);
    LLVMValueRef function = NULL;
    LLVMBasicBlockRef block = NULL;
    size_t length;
    for (LLVMValueRef global = LLVMGetFirstGlobal(all->module); global; global = LLVMGetNextGlobal(global)) {
        LLVMValueRef value = LLVMGetInitializer(global);
        if (!value || is_list(global) || !holds_shadow(all, value))
            continue;
        if (is_copied(global)) {
            make_before_copies(all, global, value);
            make_writable(global, value);
            continue;
        }
        if (is_relocatable(all))
            give_up(
                "in relocatable code (-rdc=true) the address of one can't initialise a variable of the host; assign it in a function",
                LLVMGetValueName2(global, &length));
        if (LLVMIsThreadLocal(global))
            give_up("the address of one can't initialise the thread_local variable",
                    LLVMGetValueName2(global, &length));
        if (!function) {
            function = LLVMAddFunction(all->module, "millrace.managed.start", type);
            LLVMSetLinkage(function, LLVMInternalLinkage);
            block = LLVMAppendBasicBlockInContext(all->context, function, "");
        }
        LLVMPositionBuilderAtEnd(all->builder, block);
        LLVMBuildStore(all->builder, build(all, value), global);
        make_writable(global, value);
    }
    for (LLVMValueRef alias = LLVMGetFirstGlobalAlias(all->module); alias; alias = LLVMGetNextGlobalAlias(alias))
        if (holds_shadow(all, LLVMAliasGetAliasee(alias)))
            give_up("one can't have the alias", LLVMGetValueName2(alias, &length));
    if (!function)
        return;
    LLVMPositionBuilderAtEnd(all->builder, block);
    LLVMBuildRetVoid(all->builder);
    run_at_start(all, function);
}

/* --- The whole --- */

static void find_shadows(struct managed *all)
{
    size_t room = 0, length;
    for (LLVMValueRef global = LLVMGetFirstGlobal(all->module); global; global = LLVMGetNextGlobal(global))
        room++;
    all->shadows = checked(calloc(room + 1, sizeof *all->shadows));
    all->slots = checked(calloc(room + 1, sizeof *all->slots));
    for (LLVMValueRef global = LLVMGetFirstGlobal(all->module); global; global = LLVMGetNextGlobal(global)) {
        const char *section = LLVMGetSection(global);
        if (section && strcmp(section, SECTION) == 0)
            all->shadows[all->count++] = global;
    }
    for (size_t i = 0; i < all->count; i++) {
        LLVMValueRef shadow = all->shadows[i], slot = LLVMAddGlobal(all->module, all->pointer, "");
        char *name = checked(strdup(LLVMGetValueName2(shadow, &length)));
        LLVMSetValueName2(shadow, "", 0);
        LLVMSetValueName2(slot, name, strlen(name));
        free(name);
        LLVMSetLinkage(slot, LLVMGetLinkage(shadow));
        LLVMSetVisibility(slot, LLVMGetVisibility(shadow));
        LLVMSetAlignment(slot, 8);
        if (LLVMGetComdat(shadow))
            LLVMSetComdat(slot, LLVMGetComdat(shadow));
        if (LLVMGetInitializer(shadow))
            LLVMSetInitializer(slot, LLVMConstNull(all->pointer));
        all->slots[i] = slot;
    }
}

static LLVMValueRef load_slot(const struct managed *all, LLVMValueRef slot)
{
    LLVMValueRef load = LLVMBuildLoad2(all->builder, all->pointer, slot, "");
    LLVMSetAlignment(load, 8);
    LLVMSetOrdering(load, LLVMAtomicOrderingAcquire);
    return load;
}

/* millrace.managed: what is in the slot; if that is nothing, after the runtime library has filled it. */
static void make_get(struct managed *all)
{
    LLVMTypeRef of_ask[] = {all->pointer, all->pointer};
    LLVMTypeRef ask_type = LLVMFunctionType(LLVMInt32TypeInContext(all->context), of_ask, 2, 0);
    LLVMValueRef ask = LLVMGetNamedFunction(all->module, "cudaGetSymbolAddress");
    if (!ask)
        ask = LLVMAddFunction(all->module, "cudaGetSymbolAddress", ask_type);
    all->get_type = LLVMFunctionType(all->pointer, &all->pointer, 1, 0);
    all->get = LLVMAddFunction(all->module, "millrace.managed", all->get_type);
    LLVMSetLinkage(all->get, LLVMInternalLinkage);
    LLVMBasicBlockRef first = LLVMAppendBasicBlockInContext(all->context, all->get, "");
    LLVMBasicBlockRef filled = LLVMAppendBasicBlockInContext(all->context, all->get, "");
    LLVMBasicBlockRef empty = LLVMAppendBasicBlockInContext(all->context, all->get, "");
    LLVMValueRef slot = LLVMGetParam(all->get, 0);
    LLVMPositionBuilderAtEnd(all->builder, first);
    LLVMValueRef out = LLVMBuildAlloca(all->builder, all->pointer, ""), now = load_slot(all, slot);
    LLVMBuildCondBr(all->builder, LLVMBuildIsNull(all->builder, now, ""), empty, filled);
    LLVMPositionBuilderAtEnd(all->builder, filled);
    LLVMBuildRet(all->builder, now);
    LLVMPositionBuilderAtEnd(all->builder, empty);
    LLVMBuildCall2(all->builder, ask_type, ask, (LLVMValueRef[]){out, slot}, 2, "");
    LLVMBuildRet(all->builder, load_slot(all, slot));
}

int main(int argc, char **argv)
{
    struct managed all = {.context = LLVMContextCreate()};
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    if (argc != 3)
        give_up("usage: millrace-managed INPUT OUTPUT", NULL);
    if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &buffer, &message))
        give_up(argv[1], message);
    if (LLVMParseIRInContext(all.context, buffer, &all.module, &message))
        give_up(argv[1], message);
    all.builder = LLVMCreateBuilderInContext(all.context);
    all.pointer = LLVMPointerTypeInContext(all.context, 0);
    find_shadows(&all);
    if (all.count) {
        make_get(&all);
        mend_functions(&all);
        mend_initialisers(&all);
    }
    for (size_t i = 0; i < all.count; i++) {
        LLVMReplaceAllUsesWith(all.shadows[i], all.slots[i]);
        LLVMDeleteGlobal(all.shadows[i]);
    }
    if (LLVMVerifyModule(all.module, LLVMReturnStatusAction, &message))
        give_up("the result is wrong, which is a mistake of this program", message);
    LLVMDisposeMessage(message);
    if (LLVMWriteBitcodeToFile(all.module, argv[2]))
        give_up("cannot write", argv[2]);
    LLVMDisposeBuilder(all.builder);
    LLVMDisposeModule(all.module);
    LLVMContextDispose(all.context);
    free(all.shadows);
    free(all.slots);
    return 0;
}
