/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of long functions, in a table: constants.c. */
#ifndef MR_COMPILE_CODEGEN_LLVM_CONSTANTS_H
#define MR_COMPILE_CODEGEN_LLVM_CONSTANTS_H

#include "compile/codegen/basics/cg.h"

/* Goes over all functions of the unit, after LLVM's passes. False with an error when memory is short. */
bool cg_constants(struct cg_unit *unit);

#endif
