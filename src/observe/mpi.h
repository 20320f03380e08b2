/* SPDX-License-Identifier: Apache-2.0 */
/* What an MPI library reads and writes for the program: in memory of the device, pinned and managed memory.
 *
 * libmillrace-mpi.so, which `millrace check` puts before the MPI library, has a struct mr_mpi, exported as
 * MR_MPI_SYMBOL. An observer that wants to know of the messages finds it and fills it in. */
#ifndef MR_OBSERVE_MPI_H
#define MR_OBSERVE_MPI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/observe.h"

#define MR_MPI_SYMBOL "millrace_mpi"
#define MR_MPI_VERSION 1u

/* The MPI library begins to touch these boxes for the running thread's call, and may until `end` is called with what is
 * returned: a number that is not 0, or 0 if nobody wants to know. `call`: the function's name, which stays; `site`: the
 * return address of the program's call. Bytes that CUDA has not allocated are left out. */
typedef uint64_t mr_mpi_begin(const char *call, const struct mr_access *boxes, size_t count, const void *site);

/* The running thread knows that the MPI library has done what `begin` told of. Once for each number. */
typedef void mr_mpi_end(uint64_t number);

/* Does memory that CUDA has allocated, or has had, lie between these addresses? */
typedef bool mr_mpi_concerns(uintptr_t first, uintptr_t end);

struct mr_mpi {
    uint32_t version; /* MR_MPI_VERSION */
    _Atomic(mr_mpi_concerns *) concerns; /* NULL: nobody wants to know; set last */
    mr_mpi_begin *begin;
    mr_mpi_end *end;
};

#endif
