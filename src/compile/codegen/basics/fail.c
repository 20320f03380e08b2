/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How making an object fails: the first reason counts.
 */
#include "compile/codegen/basics/basics.h"

#include <stdio.h>

void cg_fail(struct cg_unit *unit, const struct mr_ptx_inst *inst, const char *what)
{
    if (unit->error[0])
        return;
    if (inst)
        snprintf(unit->error, sizeof unit->error, "line %u: %s: %s", inst->line, mr_ptx_op_name(inst->op), what);
    else
        snprintf(unit->error, sizeof unit->error, "%s", what);
}
