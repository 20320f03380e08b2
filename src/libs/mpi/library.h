/* SPDX-License-Identifier: Apache-2.0 */
/* The MPI library behind this one. One of ours serves all, whose headers differ: an MPI_Comm is a pointer for one, an
 * int for another. Such handles are *words* here, handed on as they came, which the calling conventions of x86-64 and
 * AArch64 allow. */
#ifndef MR_MPI_LIBRARY_H
#define MR_MPI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/mpi.h"

#define OPEN __attribute__((visibility("default")))

extern OPEN struct mr_mpi millrace_mpi;

/* MPI_Datatype, MPI_Comm, MPI_Op, MPI_File; a value of type MPI_Request. */
typedef uintptr_t word;

enum { MPI_DONE = 0 }; /* MPI_SUCCESS, for all libraries */

/* The MPI library's function of this name. The program ends if there is none. */
void *mr_mpi_find(_Atomic(void *) *known, const char *name);

/* The same, to be called with the parameters of ours. */
#define REAL(name) \
    __extension__({ \
        static _Atomic(void *) known; \
        (__typeof__(&name))mr_mpi_find(&known, #name); \
    })

/* Is it Open MPI or made of it? Its handles are pointers; MPICH's and its children's are ints. */
bool mr_mpi_is_open(void);

/* A call begins on this thread, and ends. True: the program's own, else one that the MPI library makes inside. */
bool mr_mpi_enter(void);
void mr_mpi_leave(void);

#endif
