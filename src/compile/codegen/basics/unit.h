/* SPDX-License-Identifier: Apache-2.0 */

/* One object that is being made: what belongs to the request as a whole, and not to one function. */
#ifndef MR_COMPILE_CODEGEN_BASICS_UNIT_H
#define MR_COMPILE_CODEGEN_BASICS_UNIT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

#include "compile/codegen.h"
#include "compile/codegen/analysis/flow.h"

#define CG_LANES 32u     /* of a warp */
#define CG_LANES_MAX 64u /* of two warps that run as one: analysis/pair.c */
#define CG_ROWS_MAX 4u   /* of a warp */

struct cg_unit {
    const struct mr_codegen_request *request;
    const struct mr_layout_entry *entry; /* the kernel, with what it has taken in (rewrite) */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    struct cg_machine *taken;    /* llvm/target.c: whose it is */
    LLVMDIBuilderRef lines;      /* lines.c: what it builds with; the PTX as a file; the type of all functions; the */
    LLVMMetadataRef file, no_types, *files; /* module's files by .file number, NULL: not named yet */
    LLVMMetadataRef *inlined; /* functions that were put in place of calls, by the call's number; NULL: not met yet */
    LLVMTypeRef void_type, i1, i8, i16, i32, i64, f16, f32, f64, ptr;
    LLVMValueRef *callees;       /* by function->index; NULL: not reachable */
    struct mr_flow_facts *facts; /* by function->index */
    /* How its kernel runs. */
    unsigned flags;        /* MR_CODE_* */
    unsigned width;        /* lanes that run together: CG_LANES, or CG_LANES_MAX */
    LLVMTypeRef mask;      /* integer with a bit per lane */
    bool regions;          /* the kernel's warps take turns in one call: body/turns.c */
    bool allocas;          /* a function that can be reached moves the stack pointer: stack.c */
    unsigned narrow;       /* spaces with addresses of 32 bits: operands/narrow.h */
    bool wide;             /* 512-bit vectors with masks: gathers and scatters are instructions */
    bool pairs, bytes;     /* products of pairs of 16 bits in 256 bits (AVX2), of four bytes in 512 (AVX-512 VNNI) */
    /* Bytes of stack. */
    uint64_t frame_bytes;  /* the sum of all functions' stack slots, and of what may be spilled */
    uint64_t frames;       /* the sum of the frames that LLVM made */
    uint64_t lane_stacks;  /* memory for alloca of all lanes, at least; in neither sum */
    struct cg_sites *sites; /* sites.c: what the code makes notes of; NULL: nothing yet */
    char error[256];       /* empty as long as all is well */
};

/* Notes why the object can't be made, unless a reason is known already. `inst` may be NULL: none in particular. */
void cg_fail(struct cg_unit *unit, const struct mr_ptx_inst *inst, const char *what);

#endif
