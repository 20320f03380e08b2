/* SPDX-License-Identifier: Apache-2.0 */
/* LAPACK, as the OpenBLAS that libs/math/cpu.h opens has it, and memory for its workspaces. */
#ifndef MR_CUSOLVER_LAPACK_H
#define MR_CUSOLVER_LAPACK_H

#include <stddef.h>

#include "libs/math/cpu.h"

struct mr_lapack {
#define MR_LAPACK(name, real, complex, params) void(*name[MR_CPU_TYPES]) params;
#include "libs/cusolver/lapack.def"
#undef MR_LAPACK
};
extern struct mr_lapack mr_lapack;

/* Opens the library. False, with a line in the log that names the package, if it is missing. Any thread. */
bool mr_lapack_open(void);

/* Memory of one part, taken piece by piece: `room` of pieces, then mr_room_take for each, in any order. Pieces stand on
 * boundaries of 64 bytes. */
struct mr_room {
    char *at, *end;
};
#define MR_ROOM(bytes) (((size_t)(bytes) + 63) & ~(size_t)63)

/* Room for pieces whose MR_ROOMs sum up to `bytes`; the thread's former room is over. False, and the context has
 * failed, if memory is short. */
bool mr_room_open(struct mr_room *room, const char *function, size_t bytes) __attribute__((warn_unused_result));
void *mr_room_take(struct mr_room *room, size_t bytes) __attribute__((returns_nonnull));

/* The size that LAPACK answers to a question for a workspace of the type: its first element, rounded up. */
int mr_lapack_answer(enum mr_cpu_type type, const void *first);

#endif
