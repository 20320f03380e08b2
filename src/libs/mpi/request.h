/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, by which messages are under way when their call has returned. Any thread. */
#ifndef MR_MPI_REQUEST_H
#define MR_MPI_REQUEST_H

#include "libs/mpi/layout.h"

/* A message, by the observer's number, is under way for the request whose value is at `request`. */
void mr_request_add(const void *request, uint64_t number);

/* A persistent request, whose value is at `request`, will touch these boxes each time it is started. Takes them over.
 */
void mr_request_keep(struct boxes *boxes, const void *request);

#endif
