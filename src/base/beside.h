/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MR_BASE_BESIDE_H
#define MR_BASE_BESIDE_H

#include <limits.h>
#include <stdbool.h>

/* The path of `name` in the folder of the library or program that has the address `inside`. Links in that file's own
 * path are followed: lib64/stubs/libcuda.so, or a user's link to the driver, lead to the folder that has all of
 * Millrace. False if the folder is not known or the path is too long; `path` is then as it was. */
bool mr_beside(const void *inside, const char *name, char path[PATH_MAX]);

#endif
