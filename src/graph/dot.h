/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a graph in the DOT language, for people to look at. */
#ifndef MR_GRAPH_DOT_H
#define MR_GRAPH_DOT_H

#include <stddef.h>

struct mr_graph;

/* The text, ended by a zero byte, to be freed with mr_free; its length in *size. NULL when memory is short. `flags` are
 * CU_GRAPH_DEBUG_DOT_FLAGS_*. Takes the graph lock. */
char *mr_graph_dot(struct mr_graph *graph, unsigned flags, size_t *size) __attribute__((warn_unused_result));

#endif
