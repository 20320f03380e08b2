/* SPDX-License-Identifier: Apache-2.0 */
/* A graph as DOT text.
 *
 * Each graph is a cluster, each node a box whose label begins with its place in the graph, and for a kernel its name,
 * for others their kind. Flags turn the label of the nodes that they are about into a record with rows of parameters,
 * named as on hardware. Child graphs and bodies of conditional nodes follow as clusters of their own, inside the
 * cluster of the graph that owns them. The text is put together in memory under the graph lock and written by the
 * caller. */
#include "graph/dot.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/conditional.h"
#include "graph/graph.h"
#include "kernel/launch.h"
#include "object/context.h"

struct text {
    char *at;
    size_t size, room;
    bool failed;
    unsigned flags;
    unsigned graphs;                       /* clusters so far: their numbers */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof line)
        length = sizeof line - 1;
    void *at = text->at;
    if (text->failed || !mr_array_reserve(&at, &text->room, text->size + (size_t)length + 1, 1)) {
        text->failed = true;
        return;
    }
    text->at = at;
    for (int i = 0; i <= length; i++)
        text->at[text->size + (size_t)i] = line[i];
    text->size += (size_t)length;
}

/* A name inside a label: characters that mean something there are escaped. */
static void put_name(struct text *text, const char *name)
{
    for (; *name; name++)
        put(text, strchr("\"\\{}|<> ", *name) ? "\\%c" : "%c", *name);
}

static bool wants(const struct text *text, unsigned flag)
{
    return text->flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
}

static const char *type_name(CUgraphNodeType type)
{
    static const char *const names[] = {
        "KERNEL",       "MEMCPY",           "MEMSET",         "HOST",      "GRAPH",    "EMPTY",        "EVENT_WAIT",
        "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE", "BATCH_MEM_OP", "CONDITIONAL"};
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "UNKNOWN";
}

/* One row of a record: "name | value". */
__attribute__((format(printf, 3, 4))) static void row(struct text *text, const char *name, const char *format, ...)
{
    char value[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    put(text, "|{%s|%s}", name, value);
}

static void put_attributes(struct text *text, const struct mr_work *work)
{
    int priority = 0, cooperative = 0;
    CUaccessPolicyWindow window = {0};
    for (size_t i = 0; i < work->kernel.attribute_count; i++) {
        const CUlaunchAttribute *attribute = &work->kernel.attributes[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
            priority = attribute->value.priority;
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = attribute->value.cooperative;
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
            window = attribute->value.accessPolicyWindow;
    }
    row(text, "accessPolicyWindow", "base_ptr 0x%llx, num_bytes %zu, hitRatio %g, hitProp %d, missProp %d",
        (unsigned long long)(uintptr_t)window.base_ptr, window.num_bytes, (double)window.hitRatio, (int)window.hitProp,
        (int)window.missProp);
    row(text, "cooperative", "%d", cooperative);
    row(text, "priority", "%d", priority);
}

static void put_side(struct text *text, const char *role, CUmemorytype type, const void *host, CUdeviceptr device,
                     CUarray array, size_t pitch, size_t height)
{
    if (type == CU_MEMORYTYPE_ARRAY) {
        row(text, role, "array, handle 0x%llx", (unsigned long long)(uintptr_t)array);
        return;
    }
    unsigned long long address = type == CU_MEMORYTYPE_HOST ? (unsigned long long)(uintptr_t)host : device;
    row(text, role, "%s, ptr 0x%llx, pitch %zu, rows %zu", type == CU_MEMORYTYPE_HOST ? "host" : "device", address,
        pitch, height);
}

static void put_copy(struct text *text, const CUDA_MEMCPY3D *copy)
{
    put_side(text, "src", copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray, copy->srcPitch,
             copy->srcHeight);
    row(text, "srcPos", "%zu,%zu,%zu", copy->srcXInBytes, copy->srcY, copy->srcZ);
    put_side(text, "dst", copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray, copy->dstPitch,
             copy->dstHeight);
    row(text, "dstPos", "%zu,%zu,%zu", copy->dstXInBytes, copy->dstY, copy->dstZ);
    if (text->flags & CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES) {
        row(text, "extent", "%zu,%zu,%zu", copy->WidthInBytes, copy->Height, copy->Depth);
        return;
    }
    row(text, "WidthInBytes", "%zu", copy->WidthInBytes);
    row(text, "Height", "%zu", copy->Height);
    row(text, "Depth", "%zu", copy->Depth);
}

static void put_fill(struct text *text, const CUDA_MEMSET_NODE_PARAMS *fill)
{
    row(text, "dptr", "0x%llx", (unsigned long long)fill->dst);
    row(text, "pitch", "%zu", fill->pitch);
    row(text, "value", "%u", fill->value);
    row(text, "elementSize", "%u", fill->elementSize);
    row(text, "width", "%zu", fill->width);
    row(text, "height", "%zu", fill->height);
}

static void put_alloc(struct text *text, const CUDA_MEM_ALLOC_NODE_PARAMS *alloc)
{
    row(text, "poolProps", "allocType %d, handleTypes %d, location %d of type %d", (int)alloc->poolProps.allocType,
        (int)alloc->poolProps.handleTypes, alloc->poolProps.location.id, (int)alloc->poolProps.location.type);
    row(text, "accessDescCount", "%zu", alloc->accessDescCount);
    row(text, "bytesize", "%zu", alloc->bytesize);
    row(text, "dptr", "0x%llx", (unsigned long long)alloc->dptr);
}

static void put_batch(struct text *text, const struct mr_work *work)
{
    row(text, "count", "%u", work->batch.count);
    row(text, "flags", "%u", work->batch.flags);
    for (unsigned i = 0; i < work->batch.count; i++)
        row(text, "operation", "%d at 0x%llx: %llu", (int)work->batch.ops[i].operation,
            (unsigned long long)work->batch.ops[i].writeValue.address,
            (unsigned long long)work->batch.ops[i].writeValue.value64);
}

/* The flag that asks for a type's parameters. */
static unsigned params_flag(CUgraphNodeType type)
{
    static const unsigned flags[] = {
        [CU_GRAPH_NODE_TYPE_KERNEL] = CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES,
        [CU_GRAPH_NODE_TYPE_MEMCPY] = CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS,
        [CU_GRAPH_NODE_TYPE_MEMSET] = CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS,
        [CU_GRAPH_NODE_TYPE_HOST] = CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS,
        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS,
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS,
        [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS,
        [CU_GRAPH_NODE_TYPE_MEM_FREE] = CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS,
        [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS,
        [CU_GRAPH_NODE_TYPE_CONDITIONAL] = CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS,
    };
    return (unsigned)type < sizeof flags / sizeof *flags ? flags[type] : 0;
}

static void put_params(struct text *text, const struct mr_work *work)
{
    switch ((int)work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        put_attributes(text, work);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        put_copy(text, &work->copy.params);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        put_fill(text, &work->fill.params);
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        row(text, "fn", "0x%llx", (unsigned long long)(uintptr_t)work->host.function);
        row(text, "userData", "0x%llx", (unsigned long long)(uintptr_t)work->host.data);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        row(text, "event", "%p", (void *)work->event_handle);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        put_alloc(text, &work->alloc.params);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        row(text, "dptr", "0x%llx", (unsigned long long)work->free.address);
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        put_batch(text, work);
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        row(text, "type", "%d", (int)work->conditional.type);
        row(text, "size", "%u", work->conditional.count);
        break;
    default:
        break;
    }
}

/* DtoH and the like, from what the program said of the two sides. */
static const char *copy_direction(const CUDA_MEMCPY3D *copy)
{
    static const char *const names[2][2] = {{"HtoH", "HtoD"}, {"DtoH", "DtoD"}};
    return names[copy->srcMemoryType != CU_MEMORYTYPE_HOST][copy->dstMemoryType != CU_MEMORYTYPE_HOST];
}

static void put_graph(struct text *text, struct mr_graph *graph);

/* What a node is, in a line: a kernel's name, with its shape if that is asked for; else the kind. */
static void put_title(struct text *text, const struct mr_work *work)
{
    const CUDA_KERNEL_NODE_PARAMS_v3 *kernel = &work->kernel.params;
    switch ((int)work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        put_name(text, work->kernel.launch->code->name);
        if (wants(text, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
            put(text, "\\<\\<\\<%u,%u,%u / %u,%u,%u / %u\\>\\>\\>", kernel->gridDimX, kernel->gridDimY,
                kernel->gridDimZ, kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ, kernel->sharedMemBytes);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        put(text, "MEMCPY (%s)", copy_direction(&work->copy.params));
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        put(text, "child graph");
        break;
    default:
        put(text, "%s", type_name(work->type));
        break;
    }
}

static void put_node(struct text *text, const struct mr_node *node, unsigned graph)
{
    const struct mr_work *work = node->work;
    bool kernel = work->type == CU_GRAPH_NODE_TYPE_KERNEL, handles = wants(text, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
    bool params = params_flag(work->type) && wants(text, params_flag(work->type)), record = params || handles;
    put(text, "\"graph_%u_node_%zu\"[style=\"%s\" shape=\"%s\" label=\"%s%zu", graph, node->mark,
        kernel ? "bold" : "solid",
        record   ? "record"
        : kernel ? "octagon"
                 : "rectangle",
        record ? "{" : "", node->mark);
    if (wants(text, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO))
        put(text, " (topoId: %zu)", node->mark);
    put(text, params && kernel ? "|KERNEL|" : record ? "|" : "\\n");
    put_title(text, work);
    if (handles)
        row(text, "node handle", "%p", mr_object_handle(node));
    if (handles && kernel)
        row(text, "func handle", "%p", (void *)work->kernel.params.func);
    if (params)
        put_params(text, work);
    put(text, "%s\"];\n", record ? "}" : "");
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
        put_graph(text, work->child);
    if (work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        for (unsigned i = 0; i < work->conditional.count; i++)
            put_graph(text, work->conditional.bodies[i]);
}

static void put_edges(struct text *text, const struct mr_node *node, unsigned graph)
{
    for (size_t i = 0; i < node->after.count; i++) {
        const struct mr_edge *edge = &node->after.at[i];
        put(text, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\"", graph, node->mark, graph, edge->node->mark);
        if (wants(text, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO))
            put(text, "[headlabel=%zu]", i);
        else if (edge->data.type || edge->data.from_port)
            put(text, "[label=\"port %u, type %u\"]", edge->data.from_port, edge->data.type);
        put(text, ";\n");
    }
}

/* `mark` is a node's place meanwhile. */
static void put_graph(struct text *text, struct mr_graph *graph)
{
    unsigned number = ++text->graphs;
    size_t place = 0;
    put(text, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n", number, number);
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next)
        MR_CONTAINER(at, struct mr_node, link)->mark = place++;
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next)
        put_node(text, MR_CONTAINER(at, struct mr_node, link), number);
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next)
        put_edges(text, MR_CONTAINER(at, struct mr_node, link), number);
    for (struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next)
        MR_CONTAINER(at, struct mr_node, link)->mark = 0;
    put(text, "}\n");
}

char *mr_graph_dot(struct mr_graph *graph, unsigned flags, size_t *size)
{
    struct text text = {.flags = flags};
    mr_lock_take(&mr_graph_lock);
    put(&text, "digraph dot {\n");
    put_graph(&text, graph);
    put(&text, "}\n");
    mr_lock_drop(&mr_graph_lock);
    if (text.failed) {
        mr_free(text.at);
        return NULL;
    }
    *size = text.size;
    return text.at;
}
