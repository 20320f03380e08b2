/* SPDX-License-Identifier: Apache-2.0 */
/* Captures and seats: beginning and ending, adding nodes, being invalidated, and what can be asked and changed on the
 * way (capture.h).
 *
 * An invalidated capture stays on its streams until it is ended on its origin; until then nothing more is captured. */
#include <string.h>

#include "base/alloc.h"
#include "base/call.h"
#include "capture/capture_private.h"
#include "graph/graph.h"
#include "object/context.h"
#include "object/handle.h"
#include "stream/stream.h"

_Atomic uint32_t mr_captures;
mr_lock mr_capture_lock = MR_LOCK_INIT(CAPTURE);
struct mr_list mr_capture_list = {&mr_capture_list, &mr_capture_list};
static uint64_t last_id;

/* ---- sets of nodes ---- */

/* Up to so many nodes are searched one by one. */
#define FEW 16

static bool points_reserve(struct mr_points *points, size_t needed)
{
    if (needed <= points->room)
        return true;
    size_t room = points->room ? points->room * 2 : 4;
    if (room < needed)
        room = needed;
    CUgraphNode *nodes = mr_realloc(points->nodes, room * sizeof *nodes);
    if (!nodes)
        return false;
    points->nodes = nodes;
    CUgraphEdgeData *data = mr_realloc(points->data, room * sizeof *data);
    if (!data)
        return false;
    points->data = data;
    points->room = room;
    return true;
}

static bool points_have(const struct mr_points *points, CUgraphNode node)
{
    for (size_t i = 0; i < points->count; i++)
        if (points->nodes[i] == node)
            return true;
    return false;
}

/* A place for the mark of a node that is gone. */
static size_t *mark_of(CUgraphNode handle, size_t *none)
{
    struct mr_node *node = mr_object_find(handle, MR_KIND_GRAPH_NODE);
    return node ? &node->mark : none;
}

static void points_append(struct mr_points *points, CUgraphNode node, const CUgraphEdgeData *data)
{
    points->nodes[points->count] = node;
    points->data[points->count++] = data ? *data : (CUgraphEdgeData){0};
}

/* Sets in which a search for each node would take long: the nodes themselves say whether they are there. */
static void points_merge(struct mr_points *points, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count)
{
    size_t none = 0;
    mr_lock_take(&mr_graph_lock);
    for (size_t i = 0; i < count; i++)
        *mark_of(nodes[i], &none) = 0;
    for (size_t i = 0; i < points->count; i++)
        *mark_of(points->nodes[i], &none) = 1;
    for (size_t i = 0; i < count; i++) {
        size_t *mark = mark_of(nodes[i], &none);
        if (mark == &none || !*mark)
            points_append(points, nodes[i], data ? &data[i] : NULL);
        *mark = 1;
    }
    mr_lock_drop(&mr_graph_lock);
}

bool mr_points_add(struct mr_points *points, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count)
{
    if (!points_reserve(points, points->count + count))
        return false;
    if (count > 1 && points->count + count > FEW) {
        points_merge(points, nodes, data, count);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        if (!points_have(points, nodes[i]))
            points_append(points, nodes[i], data ? &data[i] : NULL);
    return true;
}

bool mr_points_set(struct mr_points *points, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count)
{
    if (!points_reserve(points, count))
        return false;
    points->count = 0;
    return mr_points_add(points, nodes, data, count);
}

void mr_points_free(struct mr_points *points)
{
    mr_free(points->nodes);
    mr_free(points->data);
    *points = (struct mr_points){0};
}

/* ---- records ---- */

void mr_capture_hold(struct mr_capture *capture)
{
    atomic_fetch_add_explicit(&capture->references, 1, memory_order_relaxed);
}

void mr_capture_drop(struct mr_capture *capture)
{
    if (atomic_fetch_sub_explicit(&capture->references, 1, memory_order_acq_rel) == 1)
        mr_free(capture);
}

struct mr_seat *mr_seat_of(struct mr_stream *stream)
{
    return atomic_load_explicit(mr_stream_seat(stream), memory_order_relaxed);
}

struct mr_seat *mr_seat_new(struct mr_capture *capture, struct mr_stream *stream)
{
    MR_HELD(&mr_capture_lock);
    struct mr_seat *seat = mr_calloc(1, sizeof *seat);
    if (!seat || !mr_object_try_hold(stream)) {
        mr_free(seat);
        return NULL;
    }
    seat->capture = capture;
    seat->stream = stream;
    mr_list_append(&capture->seats, &seat->link);
    atomic_store(mr_stream_seat(stream), seat);
    return seat;
}

/* Takes the stream from its seat, which stays with the capture. Returns the stream, whose reference the caller drops
 * once the lock is dropped. */
static struct mr_stream *seat_leave(struct mr_seat *seat)
{
    MR_HELD(&mr_capture_lock);
    struct mr_stream *stream = seat->stream;
    if (stream)
        atomic_store(mr_stream_seat(stream), NULL);
    seat->stream = NULL;
    return stream;
}

/* Ends the capture: no stream is captured by it any more. The list that is returned has the seats, for seats_free once
 * the lock is dropped. */
static struct mr_list *capture_close(struct mr_capture *capture)
{
    MR_HELD(&mr_capture_lock);
    capture->open = false;
    mr_list_remove(&capture->link);
    atomic_fetch_sub_explicit(&mr_captures, 1, memory_order_relaxed);
    struct mr_graph *graph = mr_object_find(capture->graph, MR_KIND_GRAPH);
    if (graph)
        graph->capturing = false;
    for (struct mr_list *link = capture->seats.next; link != &capture->seats; link = link->next) {
        struct mr_seat *seat = MR_CONTAINER(link, struct mr_seat, link);
        if (seat->stream)
            atomic_store(mr_stream_seat(seat->stream), NULL);
    }
    return &capture->seats;
}

/* Frees what capture_close left, and the graph if nobody gets it; no lock held. */
static void capture_finish(struct mr_capture *capture, bool with_graph)
{
    MR_MAY_WAIT();
    struct mr_graph *graph = with_graph ? mr_object_find(capture->graph, MR_KIND_GRAPH) : NULL;
    while (!mr_list_empty(&capture->seats)) {
        struct mr_seat *seat = MR_CONTAINER(capture->seats.next, struct mr_seat, link);
        mr_list_remove(&seat->link);
        if (seat->stream)
            mr_object_drop(seat->stream);
        mr_points_free(&seat->points);
        mr_free(seat);
    }
    if (graph)
        mr_graph_destroy(graph);
    mr_capture_drop(capture);
}

void mr_capture_invalidate(struct mr_capture *capture, const char *why)
{
    MR_HELD(&mr_capture_lock);
    if (capture->invalidated)
        return;
    capture->invalidated = true;
    mr_call_log(MR_LOG_INFO, "capture %llu is invalid now: %s", (unsigned long long)capture->id, why);
}

/* ---- beginning ---- */

static struct mr_capture *capture_new(CUstreamCaptureMode mode, CUgraph graph, bool owns_graph)
{
    struct mr_capture *capture = mr_calloc(1, sizeof *capture);
    if (!capture)
        return NULL;
    atomic_store_explicit(&capture->references, 1, memory_order_relaxed);
    capture->thread = mr_capture_thread();
    capture->mode = mode;
    capture->graph = graph;
    capture->owns_graph = owns_graph;
    capture->open = true;
    mr_list_init(&capture->seats);
    mr_list_init(&capture->link);
    return capture;
}

/* Puts the stream on the origin's seat and publishes the capture; the lock is held. */
static CUresult capture_start(struct mr_capture *capture, struct mr_stream *stream, struct mr_graph *graph,
                              const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count)
{
    MR_HELD(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    if (seat) {
        mr_call_log(MR_LOG_INFO, "stream %p is being captured already", mr_object_handle(stream));
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (graph->capturing) {
        mr_call_log(MR_LOG_INFO, "a capture adds to graph %p already", mr_object_handle(graph));
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    capture->origin = mr_seat_new(capture, stream);
    if (!capture->origin || !mr_points_set(&capture->origin->points, nodes, data, count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    graph->capturing = true;
    capture->id = ++last_id;
    mr_list_append(&mr_capture_list, &capture->link);
    atomic_fetch_add(&mr_captures, 1);
    if (!mr_object_handle(stream)) { /* destroyed meanwhile: perhaps nobody has told this layer */
        mr_capture_invalidate(capture, "its stream was destroyed");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

CUresult mr_capture_begin(struct mr_stream *stream, CUstreamCaptureMode mode, struct mr_graph *graph,
                          const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count)
{
    bool owns_graph = graph == NULL;
    if (!mr_object_try_hold(stream)) /* another thread has just destroyed it */
        return CUDA_ERROR_INVALID_HANDLE;
    if (owns_graph)
        graph = mr_graph_new();
    struct mr_capture *capture = graph ? capture_new(mode, mr_object_handle(graph), owns_graph) : NULL;
    if (!capture) {
        if (graph && owns_graph)
            mr_graph_destroy(graph);
        mr_object_drop(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_lock_take(&mr_capture_lock);
    CUresult status = capture_start(capture, stream, graph, nodes, data, count);
    if (status != CUDA_SUCCESS) {
        if (capture->id)
            capture_close(capture);
        else if (capture->origin)
            atomic_store(mr_stream_seat(stream), NULL);
    }
    mr_lock_drop(&mr_capture_lock);
    if (status != CUDA_SUCCESS)
        capture_finish(capture, owns_graph);
    mr_object_drop(stream);
    return status;
}

/* ---- ending ---- */

/* The node behind a handle if it is one of the graph's. */
static struct mr_node *node_of(CUgraphNode handle, const struct mr_graph *graph)
{
    struct mr_node *node = mr_object_find(handle, MR_KIND_GRAPH_NODE);
    return node && node->graph == graph ? node : NULL;
}

/* Marks the nodes of a set and all that come before them; `stack` has room for every node of the graph. Under
 * mr_graph_lock. */
static void mark_before(const struct mr_points *points, const struct mr_graph *graph, struct mr_node **stack)
{
    MR_HELD(&mr_graph_lock);
    size_t depth = 0;
    for (size_t i = 0; i < points->count; i++) {
        struct mr_node *node = node_of(points->nodes[i], graph);
        if (node && !node->mark) {
            node->mark = 1;
            stack[depth++] = node;
        }
    }
    while (depth) {
        struct mr_node *node = stack[--depth];
        for (size_t i = 0; i < node->before.count; i++) {
            struct mr_node *before = node->before.at[i].node;
            if (!before->mark) {
                before->mark = 1;
                stack[depth++] = before;
            }
        }
    }
}

/* Has every seat's work come back to the origin? CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CUDA_ERROR_OUT_OF_MEMORY. */
static CUresult check_joined(struct mr_capture *capture, struct mr_graph *graph)
{
    MR_HELD(&mr_capture_lock);
    if (capture->seats.next->next == &capture->seats)
        return CUDA_SUCCESS;
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&mr_graph_lock);
    struct mr_node **stack = mr_alloc(graph->count * sizeof *stack);
    if (!stack) {
        mr_lock_drop(&mr_graph_lock);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (struct mr_list *link = graph->nodes.next; link != &graph->nodes; link = link->next)
        MR_CONTAINER(link, struct mr_node, link)->mark = 0;
    mark_before(&capture->origin->points, graph, stack);
    for (struct mr_list *link = capture->seats.next; link != &capture->seats && status == CUDA_SUCCESS;
         link = link->next) {
        struct mr_seat *seat = MR_CONTAINER(link, struct mr_seat, link);
        for (size_t i = 0; i < seat->points.count && status == CUDA_SUCCESS; i++) {
            struct mr_node *node = node_of(seat->points.nodes[i], graph);
            if (node && !node->mark) {
                mr_call_log(MR_LOG_INFO, "stream %p has captured work that the capture's first stream did not wait for",
                            seat->stream ? mr_object_handle(seat->stream) : NULL);
                status = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
            }
        }
    }
    mr_lock_drop(&mr_graph_lock);
    mr_free(stack);
    return status;
}

/* Whether the capture can end with a graph; the lock is held. */
static CUresult judge_end(struct mr_capture *capture)
{
    MR_HELD(&mr_capture_lock);
    struct mr_graph *graph = mr_object_find(capture->graph, MR_KIND_GRAPH);
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != mr_capture_thread()) {
        mr_call_log(MR_LOG_INFO, "the capture was begun by another thread, and not in relaxed mode");
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    if (capture->invalidated || !graph) {
        mr_call_log(MR_LOG_INFO, "capture %llu was invalidated", (unsigned long long)capture->id);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    return check_joined(capture, graph);
}

/* Whatever is wrong with the capture, it is over and its graph is gone, as on hardware. That holds for a graph that the
 * program gave, too, and for one that the call has no place for. */
CUresult mr_capture_end(struct mr_stream *stream, CUgraph *out)
{
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    struct mr_capture *capture = seat ? seat->capture : NULL;
    if (!seat) {
        mr_call_log(MR_LOG_INFO, "stream %p is not being captured", mr_object_handle(stream));
        status = CUDA_ERROR_ILLEGAL_STATE;
    } else if (seat != capture->origin) {
        mr_capture_invalidate(capture, "it was ended on another stream than it began on");
        status = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (out)
        *out = NULL;
    if (status != CUDA_SUCCESS) {
        mr_lock_drop(&mr_capture_lock);
        return status;
    }
    status = judge_end(capture);
    capture_close(capture);
    if (out && status == CUDA_SUCCESS)
        *out = capture->graph;
    mr_lock_drop(&mr_capture_lock);
    capture_finish(capture, status != CUDA_SUCCESS || (!out && capture->owns_graph));
    return status;
}

/* A stream was destroyed; what it had counts as unjoined for as long as the capture goes on. */
static void stream_ended(struct mr_stream *stream)
{
    struct mr_capture *over = NULL;
    struct mr_stream *left = NULL;
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    if (seat) {
        struct mr_capture *capture = seat->capture;
        if (seat == capture->origin) {
            mr_capture_invalidate(capture, "the stream that it began on was destroyed");
            capture_close(capture);
            over = capture;
        } else {
            left = seat_leave(seat);
        }
    }
    mr_lock_drop(&mr_capture_lock);
    if (over)
        capture_finish(over, true);
    if (left)
        mr_object_drop(left);
}

void mr_capture_setup(void)
{
    mr_stream_set_seat_hook(stream_ended);
}

/* ---- adding ---- */

static CUresult seat_check(const struct mr_seat *seat)
{
    if (!seat->capture->invalidated)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "capture %llu was invalidated", (unsigned long long)seat->capture->id);
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

/* The nodes behind a set of handles, in memory of the caller's; false if one is gone. */
static bool look_up(const struct mr_points *points, const struct mr_graph *graph, struct mr_node **nodes)
{
    for (size_t i = 0; i < points->count; i++)
        if (!(nodes[i] = node_of(points->nodes[i], graph)))
            return false;
    return true;
}

static bool is_plain(const CUgraphEdgeData *data)
{
    return !data->from_port && !data->to_port && !data->type;
}

/* Makes plain edges from kernels programmatic. */
static void overlap(struct mr_points *points, struct mr_node *const *nodes)
{
    for (size_t i = 0; i < points->count; i++) {
        struct mr_work *work = mr_node_work(nodes[i]);
        if (work && work->type == CU_GRAPH_NODE_TYPE_KERNEL && is_plain(&points->data[i]))
            points->data[i] = (CUgraphEdgeData){.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                                .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
        if (work)
            mr_work_drop(work);
    }
}

static CUresult seat_add(struct mr_seat *seat, struct mr_work *work, bool overlaps)
{
    struct mr_node *few[16], *node, **nodes = few;
    struct mr_graph *graph = mr_object_find(seat->capture->graph, MR_KIND_GRAPH);
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (seat->points.count > sizeof few / sizeof *few)
        nodes = mr_alloc(seat->points.count * sizeof *nodes);
    if (!nodes || !points_reserve(&seat->points, 1))
        goto done;
    if (!graph || !look_up(&seat->points, graph, nodes)) {
        mr_capture_invalidate(seat->capture, "a node that the work comes after, or the graph, was destroyed");
        status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        goto done;
    }
    if (overlaps)
        overlap(&seat->points, nodes);
    status = mr_graph_add(graph, nodes, seat->points.data, seat->points.count, work, &node);
    work = NULL;
    if (status != CUDA_SUCCESS)
        goto done;
    seat->points.count = 1;
    seat->points.nodes[0] = mr_object_handle(node);
    seat->points.data[0] = (CUgraphEdgeData){0};
done:
    if (work)
        mr_work_drop(work);
    if (nodes != few)
        mr_free(nodes);
    return status;
}

static CUresult add(struct mr_stream *stream, struct mr_work *work, bool overlaps)
{
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    CUresult status = seat ? seat_check(seat) : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (status == CUDA_SUCCESS)
        status = seat_add(seat, work, overlaps);
    else
        mr_work_drop(work);
    mr_lock_drop(&mr_capture_lock);
    return status;
}

CUresult mr_capture_add(struct mr_stream *stream, struct mr_work *work)
{
    return add(stream, work, false);
}

CUresult mr_capture_add_overlapping(struct mr_stream *stream, struct mr_work *work)
{
    return add(stream, work, true);
}

/* ---- asking and changing ---- */

struct mr_graph *mr_capture_graph(struct mr_stream *stream)
{
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    struct mr_graph *graph = seat ? mr_object_find(seat->capture->graph, MR_KIND_GRAPH) : NULL;
    mr_lock_drop(&mr_capture_lock);
    return graph;
}

CUresult mr_capture_ask(struct mr_stream *stream, struct mr_capture_info *out)
{
    CUresult status = CUDA_SUCCESS;
    *out = (struct mr_capture_info){.status = CU_STREAM_CAPTURE_STATUS_NONE};
    if (!mr_capture_open())
        return CUDA_SUCCESS;
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    if (seat) {
        out->status =
            seat->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
        out->id = seat->capture->id;
        out->graph = seat->capture->graph;
        out->count = seat->points.count;
        out->nodes = out->count ? seat->points.nodes : NULL;
        out->data = out->count ? seat->points.data : NULL;
        out->plain = true;
        for (size_t i = 0; i < out->count; i++)
            out->plain = out->plain && is_plain(&out->data[i]);
    } else if (mr_stream_is_legacy(stream) && mr_capture_blocks_legacy(mr_stream_context(stream))) {
        mr_call_log(MR_LOG_INFO, "the legacy stream, while a blocking stream of its context is being captured");
        status = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    mr_lock_drop(&mr_capture_lock);
    return status;
}

CUresult mr_capture_update(struct mr_stream *stream, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                           size_t count, bool add)
{
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&mr_capture_lock);
    struct mr_seat *seat = mr_seat_of(stream);
    if (!seat) {
        mr_call_log(MR_LOG_INFO, "stream %p is not being captured", mr_object_handle(stream));
        status = CUDA_ERROR_ILLEGAL_STATE;
    } else {
        status = seat_check(seat);
    }
    struct mr_graph *graph = status == CUDA_SUCCESS ? mr_object_find(seat->capture->graph, MR_KIND_GRAPH) : NULL;
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++) {
        if (!graph || !node_of(nodes[i], graph)) {
            mr_call_log(MR_LOG_INFO, "%p is not a node of the captured graph", (void *)nodes[i]);
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (status == CUDA_SUCCESS && !(add ? mr_points_add : mr_points_set)(&seat->points, nodes, data, count))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_drop(&mr_capture_lock);
    return status;
}
