/* SPDX-License-Identifier: Apache-2.0 */
/* MPI libraries: whether one takes device pointers. With Millrace all do, since device memory is the host's as well,
 * but one that was built without CUDA says no. MILLRACE_KEEP=libmpi leaves its answer. */
#ifndef MR_REDIRECT_MPI_H
#define MR_REDIRECT_MPI_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the object at `path` is an MPI library. */
bool mr_mpi_is(const char *path);

/* What a program gets that looks `name` up in such an object, and would get `address`: MPIX_Query_cuda_support is
 * answered with 1. The loader's lock is held. */
uintptr_t mr_mpi_symbol(const char *name, uintptr_t address);

#endif
