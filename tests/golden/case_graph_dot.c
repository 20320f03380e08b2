/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DOT text of a graph.  Its bytes hold handles, so a case says how many
 * nodes, edges and subgraphs it has and which words appear.
 */
#include "gold_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes the graph to a file of its own and gives its text, or NULL; the file is gone after. */
static char *dot_text(CUgraph graph, unsigned flags)
{
    char path[] = "/tmp/gold-dot-XXXXXX";
    int file = mkstemp(path);
    if (file < 0)
        gold_stop("mkstemp");
    close(file);
    CUresult status = cuGraphDebugDotPrint(graph, path, flags);
    say(status);
    FILE *in = status == CUDA_SUCCESS ? fopen(path, "r") : NULL;
    static char text[1 << 16];
    size_t size = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[size] = 0;
    if (in)
        fclose(in);
    unlink(path);
    return in ? text : NULL;
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

static void say_structure(const char *text)
{
    say_if("digraph", strncmp(text, "digraph", 7) == 0);
    say_value("open", count_of(text, "{") > 0);
    say_if("balanced", count_of(text, "{") == count_of(text, "}") || strstr(text, "record"));
    say_value("edges", count_of(text, "->"));
    say_value("clusters", count_of(text, "subgraph"));
}

static void host_function(void *data)
{
    (void)data;
}

/* One node of many kinds in a chain. */
static CUgraph zoo(void)
{
    CUgraph graph = graph_new(), inner = graph_new();
    CUdeviceptr word = gold_alloc_words(8, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, word + 16, 8);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 0xab, 4, 4);
    CUDA_HOST_NODE_PARAMS host = {host_function, NULL};
    CUgraphNode list[7];
    empty_in(inner);
    list[0] = store_in(graph, word, 1);
    NEED(cuGraphAddMemcpyNode(&list[1], graph, &list[0], 1, &copy, gold_context()));
    NEED(cuGraphAddMemsetNode(&list[2], graph, &list[1], 1, &fill, gold_context()));
    NEED(cuGraphAddHostNode(&list[3], graph, &list[2], 1, &host));
    NEED(cuGraphAddEmptyNode(&list[4], graph, &list[3], 1));
    NEED(cuGraphAddEventRecordNode(&list[5], graph, &list[4], 1, gold_event(0)));
    NEED(cuGraphAddChildGraphNode(&list[6], graph, &list[5], 1, inner));
    graph_end(inner);
    return graph;
}

CASE(graph_dot, empty_graph)
{
    CUgraph graph = graph_new();
    char *text = dot_text(graph, 0);
    if (text)
        say_structure(text);
    graph_end(graph);
}

CASE(graph_dot, chain)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), two = empty_after(graph, &one, 1);
    empty_after(graph, &two, 1);
    char *text = dot_text(graph, 0);
    if (text) {
        say_structure(text);
        say_value("EMPTY", count_of(text, "EMPTY"));
        say_value("Empty", count_of(text, "Empty"));
        say_value("label", count_of(text, "label"));
    }
    graph_end(graph);
}

CASE(graph_dot, zoo)
{
    CUgraph graph = zoo();
    char *text = dot_text(graph, 0);
    if (text) {
        say_structure(text);
        static const char *const words[] = {
            "KERNEL", "MEMCPY", "MEMSET", "HOST",   "EMPTY",  "EVENT_RECORD", "GRAPH",   "store",
            "HtoD",   "DtoD",   "label=", "shape=", "style=", "record",       "cluster", "_node_0"};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            say_value(words[i], count_of(text, words[i]));
    }
    graph_end(graph);
}

/* Which parameters a flag brings. */
static void flagged(unsigned flags)
{
    CUgraph graph = zoo();
    char *text = dot_text(graph, flags);
    if (text) {
        static const char *const words[] = {
            "KERNEL",   "MEMCPY",       "MEMSET",      "HOST",         "store",          "grid",
            "block",    "gridDim",      "blockDim",    "dynSmemBytes", "sharedMemBytes", "srcPitch",
            "dstPitch", "WidthInBytes", "elementSize", "value",        "width",          "height",
            "fn",       "userData",     "event",       "priority",     "cooperative",    "accessPolicyWindow",
            "handle",   "func",         "0x",          "<<<",          "pitch",          "ptr",
            "attr"};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            say_if(words[i], strstr(text, words[i]) != NULL);
    }
    graph_end(graph);
}

CASE(graph_dot, flag_verbose)
{
    flagged(CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
}

CASE(graph_dot, flag_none)
{
    flagged(0);
}

CASE(graph_dot, flag_kernel)
{
    flagged(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS);
}

CASE(graph_dot, flag_copy_and_fill)
{
    flagged(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS | CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS);
}

CASE(graph_dot, flag_host_and_event)
{
    flagged(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS | CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS);
}

CASE(graph_dot, flag_handles)
{
    flagged(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
}

CASE(graph_dot, flag_attributes)
{
    flagged(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES);
}

CASE(graph_dot, flag_runtime_types)
{
    flagged(CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES | CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS |
            CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS);
}

CASE(graph_dot, flag_unknown)
{
    CUgraph graph = graph_new();
    dot_text(graph, 1u << 16);
    dot_text(graph, 1u << 31);
    graph_end(graph);
}

CASE(graph_dot, arguments)
{
    CUgraph graph = graph_new();
    say(cuGraphDebugDotPrint(NULL, "/tmp/gold-dot-never", 0));
    say(cuGraphDebugDotPrint(graph, NULL, 0));
    say(cuGraphDebugDotPrint(graph, "/nonexistent-folder/x.dot", 0));
    say(cuGraphDebugDotPrint(graph, "", 0));
    graph_end(graph);
}

CASE(graph_dot, memory_nodes)
{
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    NEED(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr));
    char *text =
        dot_text(graph, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS | CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS);
    if (text) {
        say_structure(text);
        static const char *const words[] = {"MEM_ALLOC", "MEM_FREE", "dptr", "bytesize", "poolProps", "4096"};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            say_if(words[i], strstr(text, words[i]) != NULL);
    }
    graph_end(graph);
}

CASE(graph_dot, edge_numbers)
{
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph);
    empty_after(graph, &one, 1);
    empty_after(graph, &one, 1);
    char *text = dot_text(graph, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO);
    if (text) {
        say_structure(text);
        say_value("label", count_of(text, "label"));
        say_value("topo", count_of(text, "topo"));
    }
    graph_end(graph);
}

/* For reading: GOLDEN_DUMP shows the whole text of a verbose print. */
CASE(graph_dot, whole_text)
{
    CUgraph graph = zoo();
    char *text = dot_text(graph, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
    if (text && getenv("GOLDEN_DUMP"))
        fprintf(stderr, "%s\n", text);
    graph_end(graph);
}
