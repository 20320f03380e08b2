/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LLVM's passes over the finished module: slots to values, simplification,
 * invariants out of loops. Lanes are vectors already, so LLVM's vectorisers stay
 * out; the list is short because compile time is part of a launch.
 */
#include "compile/codegen/llvm/llvm.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For the passes, the module's data layout says that single bits are integers of the processor's, too. For a phi of any
 * other integer instcombine looks at all phis that it comes from and goes to, in hope of cutting it up: in kernels
 * where thousands of predicates meet, that takes minutes. */
static void with_bits(LLVMModuleRef module, const char *layout)
{
    static const char native[] = "-n8:";
    const char *at = strstr(layout, native);
    char longer[256];
    if (!at)
        return;
    int length = snprintf(longer, sizeof longer, "%.*s-n1:8:%s", (int)(at - layout), layout, at + sizeof native - 1);
    if (length < (int)sizeof longer)
        LLVMSetDataLayout(module, longer);
}

/* The passes, in order; between the two parts the tests of addresses become tests of indexes. */
static const char *pipeline(const struct mr_codegen_request *request, int part)
{
    if (part == 1)
        return "function(loop-mssa(loop-rotate,licm,simple-loop-unswitch),"
               "gvn,instcombine<no-verify-fixpoint>,loop-mssa(licm),adce,simplifycfg)";
    /* What comes out larger costs the code generator more than these passes cost. */
    if (request->hurry)
        return "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)";
    switch (request->optimisation) {
    case 0:
        return "function(sroa,simplifycfg)";
    case 1:
        return "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)";
    default:
        return "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>)";
    }
}

bool cg_optimise(struct cg_unit *unit)
{
    /* A mistake of ours must end as a message, not inside LLVM. */
    char *message = NULL;
    if (LLVMVerifyModule(unit->module, LLVMReturnStatusAction, &message)) {
        cg_fail(unit, NULL, message);
        LLVMDisposeMessage(message);
        return false;
    }
    LLVMDisposeMessage(message);
    cg_promote(unit);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
    char *layout = LLVMCreateMessage(LLVMGetDataLayoutStr(unit->module));
    with_bits(unit->module, layout);
    bool whole = !unit->request->hurry && unit->request->optimisation > 1;
    LLVMErrorRef error = LLVMRunPasses(unit->module, pipeline(unit->request, 0), unit->machine, options);
    if (!error && whole) {
        cg_indexed_tests(unit);
        error = LLVMRunPasses(unit->module, pipeline(unit->request, 1), unit->machine, options);
    }
    if (!error && whole)
        cg_indexed_moves(unit);
    LLVMDisposePassBuilderOptions(options);
    LLVMSetDataLayout(unit->module, layout);
    LLVMDisposeMessage(layout);
    if (!error)
        return true;
    char *text = LLVMGetErrorMessage(error);
    cg_fail(unit, NULL, text);
    LLVMDisposeErrorMessage(text);
    return false;
}
