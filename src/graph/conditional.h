/* SPDX-License-Identifier: Apache-2.0 */
/* The value that a conditional node looks at (driver API manual, cuGraphConditionalHandleCreate).
 *
 * A handle belongs to the graph it was made for and may serve one conditional node of it. The program holds the
 * handle's number; kernels would change the value through it. A clone of the graph shares the record's identity but a
 * run has values of its own: the run copies `initial`. */
#ifndef MR_GRAPH_CONDITIONAL_H
#define MR_GRAPH_CONDITIONAL_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "object/handle.h"

struct mr_context;

struct mr_conditional {
    struct mr_object object;           /* MR_KIND_CONDITIONAL */
    struct mr_context *context;        /* counted */
    struct mr_list link;               /* in graph->conditionals, under mr_graph_lock */
    uint64_t graph;                    /* handle of the graph that it was made for */
    unsigned initial;                  /* defaultLaunchValue */
    bool assigns;                      /* CU_GRAPH_COND_ASSIGN_DEFAULT: a run begins with `initial` */
    _Atomic bool used;                 /* a conditional node's work has it */
    _Atomic unsigned value;            /* now */
    _Atomic uint32_t runs;             /* that go on: kernels may set the value */
};

/* A conditional with a live handle and one reference; NULL when memory is short. Holds the context. */
struct mr_conditional *mr_conditional_new(struct mr_context *context, uint64_t graph, unsigned initial, bool assigns)
    __attribute__((warn_unused_result));

/* What cudaGraphSetConditional does: false if the value is no such handle, or no run of its graph goes on. The handle
 * may have ended with the graph: executable graphs outlive what they are made of. Takes no lock. */
bool mr_conditional_set(uint64_t handle, uint32_t value);

#endif
