/* SPDX-License-Identifier: Apache-2.0 */
/* Launching: what the entry points in execution.c, execution_coop.c and execution_old.c share. */
#ifndef MR_API_EXECUTION_H
#define MR_API_EXECUTION_H

#include "prepare/launch_request.h"

/* Checks everything and queues the launch. Nothing of the request is used after the return. */
CUresult mr_launch_queue(const struct mr_launch_request *request) __attribute__((warn_unused_result));

#endif
