/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of a kernel's parameters: parameters.c. */
#ifndef MR_COMPILE_CODEGEN_OPERANDS_PARAMETERS_H
#define MR_COMPILE_CODEGEN_OPERANDS_PARAMETERS_H

#include "compile/codegen/basics/basics.h"

/* Where in a kernel's parameter a register is known to point to; `var` is NULL if nothing is known. */
struct cg_parameter {
    const struct mr_ptx_var *var;
    int64_t offset; /* bytes */
};

/* Finds a kernel's registers that hold addresses of parameters, into g->regs.parameters; false when memory is short. */
bool cg_parameters_prepare(struct cg *g);

/* Emits an `ld` if it reads a kernel's parameter at a place that is known, and aligned; else emits nothing and says
 * false. */
bool cg_emit_parameter_load(struct cg *g, const struct mr_ptx_inst *inst);

#endif
