/* SPDX-License-Identifier: Apache-2.0 */

/* The table of what the code notes (abi/note.h): see sites.c. */
#ifndef MR_COMPILE_CODEGEN_BASICS_SITES_H
#define MR_COMPILE_CODEGEN_BASICS_SITES_H

#include "compile/codegen/basics/function.h"

/* The number of the site of the instruction at hand that touches `bytes` in each lane (0: that is known only later) in
 * pieces of `width` bytes, with MR_SITE_* flags. */
uint32_t cg_site(struct cg *g, uint32_t bytes, uint32_t width, uint32_t flags);

/* Makes the table a part of the object, when all functions are there. */
void cg_sites_emit(struct cg_unit *unit);
void cg_sites_clear(struct cg_unit *unit);

#endif
