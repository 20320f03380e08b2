/* SPDX-License-Identifier: Apache-2.0 */
/* Peer access as other entry points see it. */
#ifndef MR_API_PEER_H
#define MR_API_PEER_H

#include <stdbool.h>

#include "memory/allocation.h"
#include "object/context.h"

/* May the context's device use the allocation, by the rules of peer access? Pinned, managed and mapped memory belongs
 * to all; what is of another device needs cuCtxEnablePeerAccess. Kernels and copies are not held to it
 * (docs/devices.md). */
bool mr_peer_may_use(struct mr_context *context, const struct mr_allocation *what);

#endif
