/* SPDX-License-Identifier: Apache-2.0 */
/* cuGraphDebugDotPrint: the text is read back by a small parser of DOT, and has the nodes and edges that the graph has,
 * whatever the flags. */
#include "graph_support.h"

#include <ctype.h>

/* What is left of the text. Only what a graph of clusters, nodes and edges needs: names in quotes or of letters, lists
 * in brackets. */
struct reader {
    const char *at;
    int nodes, edges, clusters;
    bool bad;
};

static void skip_space(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at) || *reader->at == ';')
        reader->at++;
}

static bool take(struct reader *reader, const char *token)
{
    skip_space(reader);
    size_t length = strlen(token);
    if (strncmp(reader->at, token, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static bool take_name(struct reader *reader)
{
    skip_space(reader);
    const char *start = reader->at;
    if (*start == '"') {
        for (reader->at++; *reader->at && *reader->at != '"'; reader->at++)
            if (*reader->at == '\\' && reader->at[1])
                reader->at++;
        return *reader->at && reader->at++;
    }
    while (isalnum((unsigned char)*reader->at) || *reader->at == '_')
        reader->at++;
    return reader->at != start;
}

static void read_attributes(struct reader *reader)
{
    if (!take(reader, "["))
        return;
    while (!take(reader, "]"))
        if (!take_name(reader) || !take(reader, "=") || !take_name(reader)) {
            reader->bad = true;
            return;
        }
}

static void read_statements(struct reader *reader)
{
    while (!reader->bad && !take(reader, "}")) {
        if (take(reader, "subgraph")) {
            reader->clusters++;
            reader->bad = !take_name(reader) || !take(reader, "{");
            if (!reader->bad)
                read_statements(reader);
            continue;
        }
        bool graph = take(reader, "graph");
        if (!graph && !take_name(reader)) {
            reader->bad = true;
            return;
        }
        if (take(reader, "=")) {
            reader->bad = !take_name(reader);
        } else if (take(reader, "->")) {
            reader->bad = !take_name(reader);
            read_attributes(reader);
            reader->edges++;
        } else {
            read_attributes(reader);
            reader->nodes += !graph;
        }
    }
}

static struct reader read_text(const char *text)
{
    struct reader reader = {.at = text};
    reader.bad = !take(&reader, "digraph") || !take_name(&reader) || !take(&reader, "{");
    read_statements(&reader);
    skip_space(&reader);
    reader.bad = reader.bad || *reader.at;
    return reader;
}

static char *print_graph(CUgraph graph, unsigned flags)
{
    char path[256];
    write_temporary(path, "");
    OK(cuGraphDebugDotPrint(graph, path, flags));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static char text[1 << 18];
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    unlink(path);
    return text;
}

static void CUDA_CB do_nothing(void *data)
{
    (void)data;
}

/* A node of each kind, one in a child graph, one in a body. */
static CUgraph make_zoo(void *context)
{
    CUgraph graph = new_graph(), inner = new_graph();
    CUdeviceptr memory;
    unsigned value = 5;
    void *params[] = {&memory, &value};
    CUgraphNode list[16];
    CUevent event;
    CUgraphConditionalHandle handle;
    OK(cuMemAlloc_v2(&memory, 4096));
    OK(cuEventCreate(&event, 0));
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread(get_function(load_module(PTX_HEAD PTX_STORE), "store"), params);
    CUDA_MEMCPY3D copy = linear_copy(memory, memory + 128, 64);
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = memory, .elementSize = 4, .width = 4, .height = 1};
    CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
    CUstreamBatchMemOpParams op = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = memory}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {context, 1, &op, 0};
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = device_alloc(4096);
    OK(cuGraphAddKernelNode_v2(&list[0], graph, NULL, 0, &kernel));
    OK(cuGraphAddMemcpyNode(&list[1], graph, list, 1, &copy, NULL));
    OK(cuGraphAddMemsetNode(&list[2], graph, list, 2, &fill, NULL));
    OK(cuGraphAddHostNode(&list[3], graph, list, 3, &host));
    OK(cuGraphAddEventRecordNode(&list[4], graph, list, 4, event));
    OK(cuGraphAddEventWaitNode(&list[5], graph, list, 5, event));
    OK(cuGraphAddBatchMemOpNode(&list[6], graph, list, 6, &batch));
    empty_in(inner);
    OK(cuGraphAddChildGraphNode(&list[7], graph, list, 7, inner));
    OK(cuGraphAddMemAllocNode(&list[8], graph, list, 8, &alloc));
    OK(cuGraphAddMemFreeNode(&list[9], graph, list, 9, alloc.dptr));
    OK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                           .conditional = {.handle = handle, .type = CU_GRAPH_COND_TYPE_IF, .size = 1, .ctx = context}};
    OK(cuGraphAddNode_v2(&list[10], graph, list, NULL, 10, &p));
    empty_in(p.conditional.phGraph_out[0]);
    OK(cuGraphDestroy(inner));
    return graph;
}

static void test_all_flags(void **state)
{
    CUgraph graph = make_zoo(*state);
    for (unsigned bit = 0; bit <= 17; bit++) {
        struct reader read = read_text(print_graph(graph, bit < 17 ? 1u << bit : 0));
        assert_false(read.bad);
        assert_int_equal(read.nodes, 13);
        assert_int_equal(read.edges, 55);
        assert_int_equal(read.clusters, 3);
    }
    OK(cuGraphDestroy(graph));
}

static void test_contents(void **state)
{
    CUgraph graph = make_zoo(*state);
    const char *text = print_graph(graph, 0);
    assert_non_null(strstr(text, "store"));
    assert_null(strstr(text, "0x"));
    text = print_graph(graph, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
    static const char *const words[] = {"KERNEL", "WidthInBytes", "elementSize", "userData", "event",      "bytesize",
                                        "dptr",   "node handle",  "priority",    "topoId",   "CONDITIONAL"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(text, words[i]));
    OK(cuGraphDestroy(graph));
}

static void test_bad(void **state)
{
    (void)state;
    CUgraph graph = new_graph();
    FAILS(cuGraphDebugDotPrint(NULL, "/dev/null", 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphDebugDotPrint(graph, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuGraphDebugDotPrint(graph, "/nonexistent-folder/graph.dot", 0), CUDA_ERROR_OPERATING_SYSTEM);
    FAILS(cuGraphDebugDotPrint(graph, "/dev/full", 0), CUDA_ERROR_OPERATING_SYSTEM);
    OK(cuGraphDebugDotPrint(graph, "/dev/null", 0));
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_all_flags),
        TEST_IN_CONTEXT(test_contents),
        TEST_IN_CONTEXT(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
