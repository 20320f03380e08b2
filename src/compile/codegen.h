/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The code generator, seen from the driver: one entry point of a verified
 * module in, one relocatable object out.
 *
 * It lives in a library of its own (libmillrace-compile.so) because it brings
 * LLVM with it: the driver opens that library when it has to compile and looks
 * up the one symbol MR_CODEGEN_SYMBOL, a `const struct mr_codegen_api`. The
 * library keeps no state that a caller can see, reads no settings and writes no
 * log: what went wrong comes back as text. Everything in it may be called from
 * any number of threads at a time.
 *
 * mr_codegen_check() is different: it needs no LLVM, is part of the driver, and
 * says at load time whether mr_codegen_api.emit will manage.
 */
#ifndef MR_COMPILE_CODEGEN_H
#define MR_COMPILE_CODEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"
#include "compile/layout.h"
#include "ptx/ptx.h"

/* Of struct mr_codegen_api: raised when that changes, so that the rest of it isn't read where it is another. All that
 * is behind it (the request, the syntax tree, the layout, the ABI of kernels) is covered by MR_CODEGEN_INTERFACE
 * (codegen_interface.h), which the build makes of the headers. */
#define MR_CODEGEN_VERSION 7u
#define MR_CODEGEN_SYMBOL "mr_codegen"

/* What is assumed about the blocks of a launch. More assumptions give faster code. */
enum {
    /* blockDim.y == blockDim.z == 1, or blockDim.x is a multiple of 32: every warp lies in one row. */
    MR_SHAPE_LINEAR = 1u << 0,
    /* The number of threads of a block is a multiple of 32. */
    MR_SHAPE_FULL = 1u << 1,
    /* The same for pairs of warps: each 64 consecutive threads from a multiple of 64 on exist and lie in one row, or in
       four rows of 16 of one plane. */
    MR_SHAPE_PAIRED = 1u << 2,
    /* Every warp is two rows of 16 threads, or four of 8, of one plane: blockDim.x is that, and blockDim.y a multiple
       of the rows. */
    MR_SHAPE_ROWS_16 = 1u << 3,
    MR_SHAPE_ROWS_8 = 1u << 4,
    MR_SHAPE_COUNT = 32
};

/* The strongest class that a block shape allows; also an index below MR_SHAPE_COUNT. */
static inline unsigned mr_shape_class(const unsigned block[3])
{
    bool linear = block[0] % 32 == 0 || (block[1] == 1 && block[2] == 1);
    bool full = ((uint64_t)block[0] * block[1] * block[2]) % 32 == 0;
    bool paired = ((uint64_t)block[0] * block[1] * block[2]) % 64 == 0 &&
                  (block[0] % 64 == 0 || (block[1] == 1 && block[2] == 1) || (block[0] == 16 && block[1] % 4 == 0));
    unsigned rows = linear                                ? 0u
                    : block[0] == 16 && block[1] % 2 == 0 ? MR_SHAPE_ROWS_16
                    : block[0] == 8 && block[1] % 4 == 0  ? MR_SHAPE_ROWS_8
                                                          : 0u;
    return (linear ? MR_SHAPE_LINEAR : 0u) | (full ? MR_SHAPE_FULL : 0u) | (paired ? MR_SHAPE_PAIRED : 0u) | rows;
}

struct mr_codegen_request {
    const struct mr_ptx_module *module; /* verified, and accepted by mr_codegen_check() */
    const struct mr_layout *layout; /* of that module */
    uint32_t entry; /* index into layout->entries */
    unsigned shape; /* MR_SHAPE_* */
    unsigned optimisation; /* 0..4 as CU_JIT_OPTIMIZATION_LEVEL; 0 is for debugging the generator */
    bool hurry; /* code is wanted soon, and will be made anew without this if it turns out to run for long */
    const char *cpu; /* LLVM's name of the processor, NULL = this one */
    const char *features; /* LLVM's feature string, NULL = this processor's */
    const char *source; /* name of the PTX file in debug information, NULL = kernel.ptx */
    bool note_accesses; /* code notes its accesses in mr_block, for reports of faults; slower */
    bool notes; /* code makes notes of all that it touches (abi/note.h), and the object has a table of sites; slower */
    bool all_pairs; /* tests: run warps in pairs wherever that is allowed, not only where it pays */
    bool quick_backend; /* tests with sanitizers: LLVM selects instructions and registers in its quickest way */
    bool want_ir, want_assembly; /* fill ir_text, ir_optimised and assembly (for MILLRACE_DUMP) */
};

struct mr_codegen_result {
    unsigned char *object; /* ELF relocatable, position independent, without undefined symbols */
    size_t object_size;
    const char *symbol; /* name of the mr_kernel_function in it: always MR_KERNEL_SYMBOL */
    unsigned flags; /* MR_CODE_* */
    size_t stack_bytes; /* of one warp, recursion and calls through pointers counted once */
    char *ir_text, *ir_optimised, *assembly; /* NULL unless asked for */
    char *error; /* text of what went wrong, or NULL */
    char *note; /* what the code can't do that a program might count on, or NULL */
};

#define MR_KERNEL_SYMBOL "mr_kernel"

struct mr_codegen_api {
    unsigned version, abi; /* MR_CODEGEN_VERSION, MR_ABI_VERSION; these two stay first */
    uint64_t interface; /* MR_CODEGEN_INTERFACE */
    /* True with an object in *result, or false with an error text (NULL if memory is short). Either way the caller
     * releases *result. */
    bool (*emit)(const struct mr_codegen_request *request, struct mr_codegen_result *result);
    void (*release)(struct mr_codegen_result *result);
};

/* Refuses what code generation cannot do exactly: an error per instruction in `diag` (may be NULL). True if all of it
 * can be compiled. */
bool mr_codegen_check(const struct mr_ptx_module *module, struct mr_ptx_diag *diag);

#endif
