/* SPDX-License-Identifier: Apache-2.0 */
/* Execution plans: a graph's operations, in an order in which each finds what it needs, and the memory for what passes
 * between them. */
#ifndef MR_CUDNN_GRAPH_H
#define MR_CUDNN_GRAPH_H

#include "libs/cudnn/backend.h"

struct mr_plan;

/* The plan for operations; NOT_SUPPORTED, with a line in the log, where one of them can't be done. The operations live
 * as long as the plan. */
cudnnStatus_t mr_plan_make(const char *function, const struct mr_attribute *operations, struct mr_plan **plan)
    __attribute__((warn_unused_result));
void mr_plan_end(struct mr_plan *plan);

/* Submits the plan's work. */
cudnnStatus_t mr_plan_execute(const char *function, cudnnHandle_t handle, const struct mr_plan *plan,
                              const struct mr_descriptor *pack) __attribute__((warn_unused_result));

#endif
