/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of an MPI library, in programs where libmillrace-mpi.so tells of them (observe/mpi.h).
 *
 * A message is an operation on a timeline of its own: it comes after all that the host knew at the call, and the host
 * knows of it when the call has returned, or when the program has learnt that its request is complete. */
#ifndef MR_OBSERVER_MPI_H
#define MR_OBSERVER_MPI_H

#include <stddef.h>

#include "libs/observer/operation.h"
#include "observe/observe.h"

/* A tool looks at a message: what it reads and writes of memory that CUDA has allocated, or has had. `work` is a copy
 * with a number that no work has, in no stream and no context. No lock of the observer's is held. */
typedef void obs_mpi_look(const struct mr_observed_work *work, struct obs_operation *operation,
                          const struct mr_access *boxes, size_t count);

/* Has `look` called for each message, if the process tells of any. While the tool opens. */
void obs_mpi_tell(obs_mpi_look *look, const struct mr_observed_driver *driver);

#endif
