/* SPDX-License-Identifier: Apache-2.0 */

/* What clang says of launches from kernels, which it does not know (ptx/device_launch.h), and of functions of the
 * runtime that kernels can't call: several errors with notes for each place, about functions that no source names. In
 * their place each gets one line, which says what to do. */
#ifndef MR_PTX_LAUNCHES_H
#define MR_PTX_LAUNCHES_H

#include <stdbool.h>

#include "base/text.h"

/* Whether launches from kernels are among a compiler's messages. */
bool mr_launches_has(const char *messages);

/* Adds a compiler's messages to `out`, those replaced. `relocatable`: the code was to be relocatable, without which no
 * kernel launches others. Messages with none of them stay as they are. */
void mr_launches_tell(const char *messages, bool relocatable, struct mr_text *out);

#endif
