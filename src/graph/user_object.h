/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: things of the program's own that graphs keep alive (driver API manual, cuUserObjectCreate).
 *
 * The program's references and those of graphs, clones and executable graphs are counted together; the destructor runs
 * once, when the last goes, on the thread that lets it go, with no lock held. Calls of the driver from inside are
 * refused, as inside host functions. */
#ifndef MR_GRAPH_USER_OBJECT_H
#define MR_GRAPH_USER_OBJECT_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "object/handle.h"

struct mr_graph;

struct mr_user_object {
    struct mr_object object; /* MR_KIND_USER_OBJECT; the registry's one reference goes with the last of `count` */
    _Atomic uint64_t count;
    CUhostFn destroy;
    void *data;
};

/* What one owner (a graph, an executable graph) holds of one object. */
struct mr_user_holding {
    struct mr_list link;
    struct mr_user_object *object;
    uint64_t count;
};

/* An object with `count` references; NULL when memory is short. */
struct mr_user_object *mr_user_object_new(void *data, CUhostFn destroy, uint64_t count)
    __attribute__((warn_unused_result));

/* More references; `count` of them go. The caller owns what it gives up; mr_user_object_release may run the destructor.
 */
void mr_user_object_retain(struct mr_user_object *object, uint64_t count);
void mr_user_object_release(struct mr_user_object *object, uint64_t count);

/* Adds holdings of everything that the graph and the graphs inside it hold to `list`, which an executable graph owns:
 * each with references of its own. False when memory is short: the list is then as it was. The graph lock is taken
 * inside. */
bool mr_graph_user_objects_hold(struct mr_graph *graph, struct mr_list *list) __attribute__((warn_unused_result));

/* Adds what one list holds to another, with references of its own; false, half done, when memory is short. The graph
 * lock guards `from`, if it is a graph's. */
bool mr_user_holdings_copy(struct mr_list *from, struct mr_list *to) __attribute__((warn_unused_result));

/* Gives up all holdings of a list, which is empty then. No lock may be held: destructors may run. */
void mr_graph_user_objects_drop(struct mr_list *list);

#endif
