/* SPDX-License-Identifier: Apache-2.0 */
/* Which program a file is: a number made of all its bytes, so that a program that was built again is another one. */
#ifndef MR_OBSERVER_IDENTITY_H
#define MR_OBSERVER_IDENTITY_H

#include <stdint.h>

/* Of the file at `path`; 0 with errno set if it can't be read. */
uint64_t obs_identity(const char *path);

#endif
