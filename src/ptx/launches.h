/* SPDX-License-Identifier: Apache-2.0 */

/* What clang says of launches from kernels and of the runtime's functions in them, which are not done here: several
 * errors with notes for each place, about functions that no source names. In their place each launch gets one line,
 * which says that kernels can't launch kernels here. */
#ifndef MR_PTX_LAUNCHES_H
#define MR_PTX_LAUNCHES_H

#include "base/text.h"

/* Adds a compiler's messages to `out`, those replaced. Messages with none of them stay as they are. */
void mr_launches_tell(const char *messages, struct mr_text *out);

#endif
