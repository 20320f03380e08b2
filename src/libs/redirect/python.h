/* SPDX-License-Identifier: Apache-2.0 */
/* Python modules of cuda.bindings that carry NVIDIA's runtime library, stripped of its symbols. Their functions are
 * made by Cython, which hands them to other modules by capsules in the module's dictionary __pyx_capi__, with names
 * and signatures. Once such a module has run, its capsules get Millrace's functions in place of the module's own,
 * before any other module can have looked. Nothing of the module's code is changed. */
#ifndef MR_REDIRECT_PYTHON_H
#define MR_REDIRECT_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the object at `path` may be such a module, by its file's name. */
bool mr_python_may_carry(const char *path);

/* What the name of a symbol of such a module leads to: `address`, or for the function that makes the module
 * (PyInit_…), a function that calls it and has the capsules changed. Valid for the life of the process. The loader's
 * lock is held. */
uintptr_t mr_python_symbol(const char *name, uintptr_t address);

#endif
