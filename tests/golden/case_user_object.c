/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User objects: who holds them, when the destructor runs.  It may run on
 * another thread and a little later, so cases wait for it for a while, and
 * where it must not run they only look.
 */
#include "gold_graph.h"

#include <stdatomic.h>

static void destroyed(void *data)
{
    atomic_fetch_add((_Atomic int *)data, 1);
}

/* How often the destructor ran: waits up to two seconds for the first time. */
static void say_ends(_Atomic int *ends)
{
    for (int i = 0; i < 2000 && *ends == 0; i++)
        gold_sleep_ms(1);
    say_value("ends", *ends);
}

static CUuserObject object_new(_Atomic int *ends, unsigned count)
{
    CUuserObject object = NULL;
    NEED(cuUserObjectCreate(&object, (void *)ends, destroyed, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

CASE(user_object, create_and_release)
{
    static _Atomic int ends;
    CUuserObject object = NULL;
    say(cuUserObjectCreate(&object, (void *)&ends, destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    say_if("made", object != NULL);
    say_value("ends", ends);
    say(cuUserObjectRelease(object, 1));
    say_ends(&ends);
}

CASE(user_object, create_arguments)
{
    static _Atomic int ends;
    CUuserObject object = NULL;
    say(cuUserObjectCreate(NULL, (void *)&ends, destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    say(cuUserObjectCreate(&object, (void *)&ends, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    say(cuUserObjectCreate(&object, (void *)&ends, destroyed, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    say(cuUserObjectCreate(&object, (void *)&ends, destroyed, 1, 0));
    say(cuUserObjectCreate(&object, (void *)&ends, destroyed, 1, 2));
    say(cuUserObjectCreate(&object, (void *)&ends, destroyed, 1, 3));
    say(cuUserObjectCreate(&object, (void *)&ends, destroyed, 0x80000000u, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    say_if("untouched", object == NULL);
    say_value("ends", ends);
}

CASE(user_object, create_null_data)
{
    CUuserObject object = NULL;
    say(cuUserObjectCreate(&object, NULL, destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
}

CASE(user_object, create_without_context, .alone = true)
{
    static _Atomic int ends;
    CUuserObject object = NULL;
    NEED(cuCtxSetCurrent(NULL));
    say(cuUserObjectCreate(&object, (void *)&ends, destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    say(cuUserObjectRelease(object, 1));
    say_ends(&ends);
}

CASE(user_object, many_references)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 3);
    say(cuUserObjectRetain(object, 4));
    say(cuUserObjectRelease(object, 2));
    say(cuUserObjectRelease(object, 4));
    say_value("ends", ends);
    say(cuUserObjectRelease(object, 1));
    say_ends(&ends);
}

CASE(user_object, largest_count)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 0x7fffffffu);
    say(cuUserObjectRelease(object, 0x7ffffffeu));
    say_value("ends", ends);
    say(cuUserObjectRelease(object, 1));
    say_ends(&ends);
}

CASE(user_object, retain_arguments)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    say(cuUserObjectRetain(NULL, 1));
    say(cuUserObjectRetain(object, 0));
    say(cuUserObjectRetain(object, 0x80000000u));
    say(cuUserObjectRelease(NULL, 1));
    say(cuUserObjectRelease(object, 0));
    say(cuUserObjectRelease(object, 0x80000000u));
    say_value("ends", ends);
    say(cuUserObjectRelease(object, 1));
    say_ends(&ends);
}

CASE(user_object, graph_keeps_it)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph graph = graph_new();
    say(cuGraphRetainUserObject(graph, object, 1, 0));
    say(cuUserObjectRelease(object, 1));
    gold_sleep_ms(5);
    say_value("ends", ends);
    graph_end(graph);
    say_ends(&ends);
}

CASE(user_object, moved_into_the_graph)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph graph = graph_new();
    say(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    gold_sleep_ms(5);
    say_value("ends", ends);
    graph_end(graph);
    say_ends(&ends);
}

CASE(user_object, graph_gives_it_back)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph graph = graph_new();
    say(cuGraphRetainUserObject(graph, object, 2, 0));
    say(cuGraphReleaseUserObject(graph, object, 1));
    say(cuUserObjectRelease(object, 1));
    gold_sleep_ms(5);
    say_value("ends", ends);
    say(cuGraphReleaseUserObject(graph, object, 1));
    say_ends(&ends);
    graph_end(graph);
}

CASE(user_object, graph_gives_what_it_has_not)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 5);
    CUgraph graph = graph_new();
    say(cuGraphReleaseUserObject(graph, object, 1));
    say(cuGraphRetainUserObject(graph, object, 1, 0));
    say(cuGraphReleaseUserObject(graph, object, 2));
    say(cuGraphReleaseUserObject(graph, object, 1));
    say(cuGraphReleaseUserObject(graph, object, 1));
    say_value("ends", ends);
    graph_end(graph);
    say(cuUserObjectRelease(object, 5));
    say_ends(&ends);
}

CASE(user_object, graph_arguments)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph graph = graph_new();
    say(cuGraphRetainUserObject(NULL, object, 1, 0));
    say(cuGraphRetainUserObject(graph, NULL, 1, 0));
    say(cuGraphRetainUserObject(graph, object, 0, 0));
    say(cuGraphRetainUserObject(graph, object, 0x80000000u, 0));
    say(cuGraphRetainUserObject(graph, object, 1, 2));
    say(cuGraphReleaseUserObject(NULL, object, 1));
    say(cuGraphReleaseUserObject(graph, NULL, 1));
    say(cuGraphReleaseUserObject(graph, object, 0));
    graph_end(graph);
    say_value("ends", ends);
    say(cuUserObjectRelease(object, 1));
    say_ends(&ends);
}

CASE(user_object, clone_keeps_it)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph graph = graph_new(), clone = NULL;
    NEED(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    NEED(cuGraphClone(&clone, graph));
    graph_end(graph);
    gold_sleep_ms(5);
    say_value("ends", ends);
    graph_end(clone);
    say_ends(&ends);
}

CASE(user_object, clone_holds_as_many)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph graph = graph_new(), clone = NULL;
    NEED(cuGraphRetainUserObject(graph, object, 3, 0));
    NEED(cuGraphClone(&clone, graph));
    say(cuGraphReleaseUserObject(clone, object, 3));
    say(cuGraphReleaseUserObject(clone, object, 1));
    graph_end(clone);
    graph_end(graph);
    gold_sleep_ms(5);
    say_value("ends", ends);
    say(cuUserObjectRelease(object, 1));
    say_ends(&ends);
}

CASE(user_object, child_keeps_it)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph inner = graph_new(), graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphRetainUserObject(inner, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    graph_end(inner);
    gold_sleep_ms(5);
    say_value("ends", ends);
    say(cuGraphDestroyNode(node));
    say_ends(&ends);
    graph_end(graph);
}

CASE(user_object, exec_keeps_it)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph graph = graph_new();
    empty_in(graph);
    NEED(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = NULL;
    NEED(cuGraphInstantiateWithFlags(&exec, graph, 0));
    graph_end(graph);
    gold_sleep_ms(5);
    say_value("ends", ends);
    NEED(cuGraphLaunch(exec, NULL));
    NEED(cuStreamSynchronize(NULL));
    say_value("ends", ends);
    NEED(cuGraphExecDestroy(exec));
    say_ends(&ends);
}

CASE(user_object, launched_exec_keeps_it)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph = graph_new();
    store_in(graph, gold_alloc_words(1, 0), 1);
    NEED(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = NULL;
    NEED(cuGraphInstantiateWithFlags(&exec, graph, 0));
    graph_end(graph);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuGraphExecDestroy(exec));
    gold_sleep_ms(20);
    say_value("ends", ends);
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_ends(&ends);
}

CASE(user_object, two_graphs_and_the_program)
{
    static _Atomic int ends;
    CUuserObject object = object_new(&ends, 1);
    CUgraph one = graph_new(), two = graph_new();
    say(cuGraphRetainUserObject(one, object, 1, 0));
    say(cuGraphRetainUserObject(two, object, 1, 0));
    graph_end(one);
    say(cuUserObjectRelease(object, 1));
    gold_sleep_ms(5);
    say_value("ends", ends);
    graph_end(two);
    say_ends(&ends);
}

CASE(user_object, thousands)
{
    enum { MANY = 1000 };
    static _Atomic int ends;
    CUgraph graph = graph_new();
    for (int i = 0; i < MANY; i++)
        NEED(cuGraphRetainUserObject(graph, object_new(&ends, 1), 1, CU_GRAPH_USER_OBJECT_MOVE));
    say_value("ends", ends);
    graph_end(graph);
    for (int i = 0; i < 3000 && ends < MANY; i++)
        gold_sleep_ms(1);
    say_value("ends", ends);
}
