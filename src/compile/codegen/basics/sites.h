/* SPDX-License-Identifier: Apache-2.0 */

/* The table of what the code notes (abi/note.h): see sites.c. */
#ifndef MR_COMPILE_CODEGEN_BASICS_SITES_H
#define MR_COMPILE_CODEGEN_BASICS_SITES_H

#include "compile/codegen/basics/function.h"

/* The number of the site of the instruction at hand that is like the one given, as far as bytes, width, stride and
 * flags go. `row`: of the warp's rows, each of which has a site to itself, because it makes runs of its own. */
uint32_t cg_site(struct cg *g, const struct mr_site *given, unsigned row);

/* Makes the table a part of the object, when all functions are there. */
void cg_sites_emit(struct cg_unit *unit);
void cg_sites_clear(struct cg_unit *unit);

#endif
