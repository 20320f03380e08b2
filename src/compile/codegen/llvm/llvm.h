/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From LLVM's language to the object file: nothing here knows of PTX.
 *
 * A *machine* is LLVM's code generator set up for one processor. It is dear to make, so those that are not in use are
 * kept for the next request.
 *
 *   target.c       the machine
 *   optimise.c     LLVM's passes over the finished module
 *   promote.c      before them: slots to values, where that takes LLVM long
 *   indexed.c      between and behind them: addresses of a base and an index of 32 bits
 *   mend.c         around two of their mistakes
 *   constants.c    constants of long functions, in a table of our own
 *   cut.c          long blocks, in pieces
 *   object_file.c  the object file, and what it may refer to
 *   no_exit.c      LLVM's destructors never run
 *
 * They run in this order. mend, constants and cut come after LLVM's passes, which would undo what they do.
 */
#ifndef MR_COMPILE_CODEGEN_LLVM_LLVM_H
#define MR_COMPILE_CODEGEN_LLVM_LLVM_H

#include "compile/codegen/basics/unit.h"

/* The machine that the request is for, which no other thread uses until it is given back; the module is then for it.
 * False with an error. */
bool cg_machine_take(struct cg_unit *unit);
void cg_machine_give(struct cg_unit *unit);

void cg_promote(struct cg_unit *unit); /* of cg_optimise, of a module that is well formed; nothing if memory is short */
void cg_indexed_tests(struct cg_unit *unit); /* of cg_optimise, and so the next */
void cg_indexed_moves(struct cg_unit *unit);
bool cg_optimise(struct cg_unit *unit); /* false with an error */
void cg_mend(struct cg_unit *unit);
bool cg_constants(struct cg_unit *unit); /* false with an error when memory is short */
void cg_cut(struct cg_unit *unit);
bool cg_object(struct cg_unit *unit, struct mr_codegen_result *result); /* false with an error */

#endif
