/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Several PTX texts as one: what a linker does, on text. A name that inputs share
 * means one thing: the definition that is visible, else a weak one, else a common
 * one, the first of several; the others become declarations. A name that only
 * its own input may see is renamed where another input has the same.
 */
#ifndef MR_PTX_JOIN_H
#define MR_PTX_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx_diag.h"

struct mr_ptx_join_input {
    const char *text; /* has passed the parser by itself */
    size_t length;
};

/*
 * The joined text, NUL-terminated; the caller frees it with mr_free(). NULL after
 * an error in `diag`: a name defined twice, or a directive that can't be joined;
 * or with diag->out_of_memory. Names without a definition stay declared: loading
 * the text reports those that are used. Each input's lines and debug information
 * stay. `registers`: a limit that kernels without directives of their own get as
 * .maxnreg; 0: none. Any thread.
 */
char *mr_ptx_join(const struct mr_ptx_join_input *inputs, uint32_t count, unsigned registers, struct mr_ptx_diag *diag);

#endif
