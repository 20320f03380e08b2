/* SPDX-License-Identifier: Apache-2.0 */
/* Which of NVIDIA's libraries Millrace has in their place, whatever folder a program names for them. */
#ifndef MR_REDIRECT_LIBRARIES_H
#define MR_REDIRECT_LIBRARIES_H

#include <stdbool.h>

/* The folder of this library, where Millrace's others are. "" if it is not known. Set by mr_libraries_setup. */
const char *mr_redirect_folder(void);

/* Whether MILLRACE_KEEP lists `name`: a library, or another thing of the machine's that the program is to see as it is.
 */
bool mr_redirect_keeps(const char *name);

/* Finds the folder and reads MILLRACE_KEEP. Called once, by the loader. */
void mr_libraries_setup(void);

/* Whether the object at `path` is one of Millrace's. */
bool mr_library_is_ours(const char *path);

/* Whether a library of that name (its SONAME) is the shared runtime library of CUDA 11, which Millrace does not have,
 * and MILLRACE_KEEP does not list it. */
bool mr_library_is_runtime_11(const char *name);

/* Whether the file's name at the end of `path` is one that a wheel's packer has made unique
 * (libcudart-0123abcd.so.12). */
bool mr_library_is_packed(const char *path);

/* The path of Millrace's library for `name` (a file's name or path, as a program asks for it), or NULL if there is
 * none, or MILLRACE_KEEP lists it. It may be `name`'s own path. Names with more of a version (libcudart.so.12.9.79),
 * and those that a wheel's packer made unique (libcudart-0123abcd.so.12), are taken, too. The text is valid for the
 * life of the process. The loader's lock is held. */
const char *mr_library_for(const char *name);

#endif
