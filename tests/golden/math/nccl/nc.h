/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about NCCL: as rt.h, which it takes its words and fixtures from.
 *
 * Making a communicator takes long on hardware, so cases of one process share one (nc_alone, nc_pair). A case that
 * spoils it says .alone. */
#ifndef NC_H
#define NC_H

#include "../../runtime/rt.h"

#include <nccl.h>

/* For a case in which NVIDIA's library crashes, or waits for ever: what is right instead. */
#define NC_CRASHES(answer) .alone = true, .allow = answer, .why = "NVIDIA's library crashes or hangs"

/* Says the status's name without "nccl". */
void nc(ncclResult_t status);

/* Ends the case unless the step succeeds. */
#define NC_NEED(expr) nc_need((expr), #expr)
void nc_need(ncclResult_t status, const char *what);

/* A communicator of one rank, on device 0. */
ncclComm_t nc_alone(void);

/* A communicator of two ranks, on devices 0 and 1, and a stream on each device. */
struct nc_pair {
    ncclComm_t comm[2];
    cudaStream_t stream[2];
};
struct nc_pair *nc_pair(void);

/* Bytes of an element. */
size_t nc_size(ncclDataType_t type);

/* Device memory with `count` elements: `first`, `first + step`, …, rounded by the type; and the elements as numbers. */
void *nc_fill(ncclDataType_t type, size_t count, int first, int step);
void nc_say(ncclDataType_t type, const void *at, size_t count);

#endif
