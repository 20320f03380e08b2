/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Variables local to a source, in relocatable PTX that clang 19 made of it.
 * Those that the host names get a longer name, which no other source has; but a
 * kernel before the host's first use knows them by the short
 * one, and declares that as defined elsewhere. It is nowhere.
 */
#ifndef MR_PTX_STATICS_H
#define MR_PTX_STATICS_H

#include "base/text.h"

/* Adds the PTX to `out`, each such short name made the long one, which is that and "__static__…", the same in a whole source. */
void mr_ptx_join_statics(const char *ptx, struct mr_text *out);

/* Of a line: the name of the variable that it declares, and where; NULL: it is no declaration as clang writes it. *space: where the state space begins. */
const char *mr_ptx_line_variable(const char *line, size_t *length, const char **space);

#endif
