/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of src/graph share about the inside of graphs. The graph lock is held by all callers. */
#ifndef MR_GRAPH_GRAPH_PRIVATE_H
#define MR_GRAPH_GRAPH_PRIVATE_H

#include "graph/graph.h"

/* A new last node with no edges and no work yet; NULL when memory is short. */
struct mr_node *mr_graph_append(struct mr_graph *graph, uint64_t id) __attribute__((warn_unused_result));

/* Tells the graphs that the node's work owns which node they belong to. */
void mr_node_adopt(struct mr_node *node);

#endif
