/* SPDX-License-Identifier: Apache-2.0 */
/* Writing jumps over an object's functions. Each processor that Millrace runs on has its own patch_<processor>.c. */
#ifndef MR_REDIRECT_PATCH_H
#define MR_REDIRECT_PATCH_H

#include "libs/redirect/loaded.h"
#include "libs/redirect/slots.h"
#include "libs/redirect/symbols.h"

/* Each function of `symbols` gets a jump at its first bytes. `address` is what the loader added to the object's
 * addresses, `fd` the object's file. Pages are never writable and executable at once, and are left with the protection
 * that they had. *done is the number of functions that were long enough. Returns NULL, or what is wrong; then no
 * function is changed, and *out is NULL. The object's code must not be running. */
const char *mr_redirect_patch(uintptr_t address, int fd, const struct mr_redirect_symbols *symbols,
                              enum mr_redirect_version version, struct mr_redirection **out, size_t *done);

#endif
