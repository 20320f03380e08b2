/* SPDX-License-Identifier: Apache-2.0 */
/* What the device does: kernels, copies, fills and runs of graphs, from the call that queues them to their records.
 *
 * The call's thread notes which call has queued a work (bind). Engine threads find the note by the work's number when
 * it begins and when it ends. The steps of a graph's run have notes of their own, made when they begin. */
#include "libs/cupti/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/calls.h"

#define SHARDS 64u
#define LISTS 64u

struct note {
    struct note *next;
    uint64_t work, node;
    uint64_t queued, submitted, start;
    uint32_t correlation, graph;
    bool async;
    enum mr_observed_memory_kind from, to;
    int from_device, to_device;
};

static struct shard {
    pthread_mutex_t lock;
    struct note *lists[LISTS];
    struct note *spare;
} shards[SHARDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_shards(void)
{
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_init(&shards[i].lock, NULL);
}

/* A run's steps are where the run is, so that they find it under one lock. */
static struct shard *shard_of(uint64_t work)
{
    pthread_once(&once, make_shards);
    return &shards[work % SHARDS];
}

static struct note **list_of(struct shard *shard, uint64_t work, uint64_t node)
{
    uint64_t mixed = (work / SHARDS) ^ node * 0x9e3779b97f4a7c15u >> 32;
    return &shard->lists[mixed % LISTS];
}

/* With the shard's lock; as the next. */
static struct note **find(struct shard *shard, uint64_t work, uint64_t node)
{
    struct note **at = list_of(shard, work, node);
    while (*at && ((*at)->work != work || (*at)->node != node))
        at = &(*at)->next;
    return at;
}

/* A copy of `from`, in its list. False when memory is short. */
static bool add(struct shard *shard, const struct note *from)
{
    struct note *made = shard->spare;
    if (made)
        shard->spare = made->next;
    else if (!(made = malloc(sizeof *made)))
        return false;
    *made = *from;
    struct note **list = list_of(shard, from->work, from->node);
    made->next = *list;
    *list = made;
    return true;
}

static bool take(struct shard *shard, uint64_t work, uint64_t node, struct note *out)
{
    struct note **at = find(shard, work, node), *found = *at;
    if (!found)
        return false;
    *out = *found;
    *at = found->next;
    found->next = shard->spare;
    shard->spare = found;
    return true;
}

void mr_cupti_works_end(void)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *shard = shard_of(i);
        pthread_mutex_lock(&shard->lock);
        for (unsigned list = 0; list < LISTS; list++)
            while (shard->lists[list]) {
                struct note *note = shard->lists[list];
                shard->lists[list] = note->next;
                free(note);
            }
        pthread_mutex_unlock(&shard->lock);
    }
}

/* ---- the driver's points ---- */

static bool has_record(const struct mr_observed_work *work)
{
    return work->kind == MR_OBSERVED_KERNEL || work->kind == MR_OBSERVED_COPY || work->kind == MR_OBSERVED_FILL ||
           work->parts;
}

/* Graphs are told by the number of what is launched. */
static uint32_t graph_of(const struct mr_cupti_call *call)
{
    if (!call || call->runtime || call->call->call != MR_CALL_cuGraphLaunch)
        return 0;
    return mr_cupti_number(((const struct mr_params_cuGraphLaunch *)call->call->params)->hGraph);
}

void mr_cupti_bind(const struct mr_observed_work *work)
{
    if (!mr_cupti_wants_works() || (!has_record(work) && work->kind != MR_OBSERVED_GRAPH))
        return;
    const struct mr_cupti_call *call = mr_cupti_here();
    struct note note = {.work = work->work, .queued = call ? call->start : 0};
    note.correlation = call ? call->correlation : mr_cupti_new_correlation();
    note.graph = graph_of(call);
    note.async = call && strstr(call->call->name, "Async") != NULL;
    note.submitted = mr_cupti_latency() ? mr_cupti_now() : 0;
    struct shard *shard = shard_of(work->work);
    pthread_mutex_lock(&shard->lock);
    (void)add(shard, &note); /* without a note the work has no record */
    pthread_mutex_unlock(&shard->lock);
}

void mr_cupti_begin(const struct mr_observed_work *work)
{
    struct note step = {.work = work->work, .node = work->node, .from_device = -1, .to_device = -1};
    if (!has_record(work) && work->kind != MR_OBSERVED_GRAPH)
        return;
    if (work->kind == MR_OBSERVED_COPY)
        step.from = mr_cupti_driver->kind(work->from, &step.from_device);
    if (work->kind == MR_OBSERVED_COPY || work->kind == MR_OBSERVED_FILL)
        step.to = mr_cupti_driver->kind(work->to, &step.to_device);
    struct shard *shard = shard_of(work->work);
    pthread_mutex_lock(&shard->lock);
    struct note *run = *find(shard, work->work, 0);
    if (run && work->node) {
        step.correlation = run->correlation;
        step.graph = run->graph;
        step.async = true;
        step.start = mr_cupti_now();
        (void)add(shard, &step);
    } else if (run) {
        run->from = step.from;
        run->from_device = step.from_device;
        run->to = step.to;
        run->to_device = step.to_device;
        run->start = mr_cupti_now();
    }
    pthread_mutex_unlock(&shard->lock);
}

/* ---- records ---- */

static uint8_t memory_kind(enum mr_observed_memory_kind kind)
{
    switch (kind) {
    case MR_OBSERVED_PINNED:
        return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    case MR_OBSERVED_DEVICE:
        return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    case MR_OBSERVED_ARRAY_MEMORY:
        return CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;
    case MR_OBSERVED_MANAGED:
        return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    case MR_OBSERVED_PAGEABLE:
        break;
    }
    return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

enum place { HOST, DEVICE, ARRAY, PLACES };

static enum place place_of(enum mr_observed_memory_kind kind)
{
    return kind == MR_OBSERVED_ARRAY_MEMORY                             ? ARRAY
           : kind == MR_OBSERVED_PAGEABLE || kind == MR_OBSERVED_PINNED ? HOST
                                                                        : DEVICE;
}

static bool is_between_devices(const struct note *note)
{
    return note->from_device >= 0 && note->to_device >= 0 && note->from_device != note->to_device &&
           place_of(note->from) != HOST && place_of(note->to) != HOST;
}

static void put_peer_copy(const struct mr_observed_work *work, const struct note *note, uint64_t end)
{
    const CUpti_ActivityMemcpyPtoP4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                              .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
                                              .srcKind = memory_kind(note->from),
                                              .dstKind = memory_kind(note->to),
                                              .flags = note->async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
                                              .bytes = work->bytes,
                                              .start = note->start,
                                              .end = end,
                                              .deviceId = (uint32_t)work->device,
                                              .contextId = (uint32_t)work->context_number,
                                              .streamId = (uint32_t)work->stream,
                                              .srcDeviceId = (uint32_t)note->from_device,
                                              .srcContextId = CUPTI_INVALID_CONTEXT_ID,
                                              .dstDeviceId = (uint32_t)note->to_device,
                                              .dstContextId = CUPTI_INVALID_CONTEXT_ID,
                                              .correlationId = note->correlation,
                                              .graphNodeId = work->node,
                                              .graphId = note->graph,
                                              .channelID = CUPTI_INVALID_CHANNEL_ID,
                                              .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY};
    if (mr_cupti_wants_of(CUPTI_ACTIVITY_KIND_MEMCPY2, record.contextId))
        mr_cupti_put(&record, sizeof record);
}

static void put_copy(const struct mr_observed_work *work, const struct note *note, uint64_t end)
{
    static const uint8_t kinds[PLACES][PLACES] = {
        [HOST] = {CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA},
        [DEVICE] = {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA},
        [ARRAY] = {CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA}};
    if (is_between_devices(note)) {
        put_peer_copy(work, note, end);
        return;
    }
    const CUpti_ActivityMemcpy6 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                          .copyKind = kinds[place_of(note->from)][place_of(note->to)],
                                          .srcKind = memory_kind(note->from),
                                          .dstKind = memory_kind(note->to),
                                          .flags = note->async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
                                          .bytes = work->bytes,
                                          .start = note->start,
                                          .end = end,
                                          .deviceId = (uint32_t)work->device,
                                          .contextId = (uint32_t)work->context_number,
                                          .streamId = (uint32_t)work->stream,
                                          .correlationId = note->correlation,
                                          .graphNodeId = work->node,
                                          .graphId = note->graph,
                                          .channelID = CUPTI_INVALID_CHANNEL_ID,
                                          .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
                                          .copyCount = 1};
    if (mr_cupti_wants_of(CUPTI_ACTIVITY_KIND_MEMCPY, record.contextId))
        mr_cupti_put(&record, sizeof record);
}

static void put_fill(const struct mr_observed_work *work, const struct note *note, uint64_t end)
{
    const CUpti_ActivityMemset4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                          .value = work->value,
                                          .bytes = work->bytes,
                                          .start = note->start,
                                          .end = end,
                                          .deviceId = (uint32_t)work->device,
                                          .contextId = (uint32_t)work->context_number,
                                          .streamId = (uint32_t)work->stream,
                                          .correlationId = note->correlation,
                                          .flags = note->async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0,
                                          .memoryKind = memory_kind(note->to),
                                          .graphNodeId = work->node,
                                          .graphId = note->graph,
                                          .channelID = CUPTI_INVALID_CHANNEL_ID,
                                          .channelType = CUPTI_CHANNEL_TYPE_COMPUTE};
    if (mr_cupti_wants_of(CUPTI_ACTIVITY_KIND_MEMSET, record.contextId))
        mr_cupti_put(&record, sizeof record);
}

/* A library's work in parts is told as a kernel with a block for each part. It is named by the library's function, as
 * "cublasSgemm", or after the library if that doesn't tell. */
static const char *name_of(const struct mr_observed_work *work)
{
    char text[256];
    Dl_info library;
    if (work->kind == MR_OBSERVED_KERNEL || work->kernel)
        return work->kernel;
    if (!dladdr(work->code, &library) || !library.dli_fname)
        return "library work";
    const char *slash = strrchr(library.dli_fname, '/'), *name = slash ? slash + 1 : library.dli_fname;
    snprintf(text, sizeof text, "%.*s work", (int)strcspn(name, "."), name);
    return mr_cupti_keep(text);
}

static void put_kernel(const struct mr_observed_work *work, const struct note *note, uint64_t end)
{
    uint32_t context = (uint32_t)work->context_number;
    bool concurrent = mr_cupti_wants_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, context);
    if (!concurrent && !mr_cupti_wants_of(CUPTI_ACTIVITY_KIND_KERNEL, context))
        return;
    const uint32_t parts[3] = {(uint32_t)work->parts, 1, 1}, one[3] = {1, 1, 1};
    const uint32_t *blocks = work->parts ? parts : work->blocks, *block = work->parts ? one : work->threads;
    uint64_t threads = (uint64_t)work->threads[0] * work->threads[1] * work->threads[2];
    uint64_t local = threads * work->blocks[0] * work->blocks[1] * work->blocks[2] * work->local;
    const CUpti_ActivityKernel10 record = {
        .kind = concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL,
        .registersPerThread = (uint16_t)work->registers,
        .partitionedGlobalCacheRequested = CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_NOT_SUPPORTED,
        .partitionedGlobalCacheExecuted = CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_NOT_SUPPORTED,
        .start = note->start,
        .end = end,
        .completed = end,
        .deviceId = (uint32_t)work->device,
        .contextId = context,
        .streamId = (uint32_t)work->stream,
        .gridX = (int32_t)blocks[0],
        .gridY = (int32_t)blocks[1],
        .gridZ = (int32_t)blocks[2],
        .blockX = (int32_t)block[0],
        .blockY = (int32_t)block[1],
        .blockZ = (int32_t)block[2],
        .staticSharedMemory = (int32_t)work->shared_static,
        .dynamicSharedMemory = (int32_t)work->shared_dynamic,
        .localMemoryPerThread = work->local,
        .localMemoryTotal = (uint32_t)local,
        .correlationId = note->correlation,
        .gridId = (int64_t)work->grid,
        .name = name_of(work),
        .queued = note->submitted ? note->queued : CUPTI_TIMESTAMP_UNKNOWN,
        .submitted = note->submitted,
        .launchType = work->cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
                                        : CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR,
        .sharedMemoryExecuted = work->shared_static + work->shared_dynamic,
        .graphNodeId = work->node,
        .graphId = note->graph,
        .channelID = CUPTI_INVALID_CHANNEL_ID,
        .channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
        .localMemoryTotal_v2 = local};
    mr_cupti_put(&record, mr_cupti_record_bytes(record.kind));
}

static void put_graph(const struct mr_observed_work *work, const struct note *note, uint64_t end)
{
    const CUpti_ActivityGraphTrace2 record = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                              .correlationId = note->correlation,
                                              .start = note->start,
                                              .end = end,
                                              .deviceId = (uint32_t)work->device,
                                              .graphId = note->graph,
                                              .contextId = (uint32_t)work->context_number,
                                              .streamId = (uint32_t)work->stream,
                                              .endDeviceId = (uint32_t)work->device,
                                              .endContextId = (uint32_t)work->context_number};
    if (mr_cupti_wants_of(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, record.contextId))
        mr_cupti_put(&record, sizeof record);
}

/* What failed or was left out has no record. Where runs of graphs have records, their steps have none. */
void mr_cupti_end(const struct mr_observed_work *work, CUresult status)
{
    uint64_t now = mr_cupti_now();
    struct note note;
    struct shard *shard = shard_of(work->work);
    pthread_mutex_lock(&shard->lock);
    bool found = take(shard, work->work, work->node, &note);
    pthread_mutex_unlock(&shard->lock);
    if (!found || !note.start || status != CUDA_SUCCESS)
        return;
    if (work->kind == MR_OBSERVED_GRAPH)
        put_graph(work, &note, now);
    else if (work->node && mr_cupti_wants_of(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, (uint32_t)work->context_number))
        return;
    else if (work->kind == MR_OBSERVED_KERNEL || work->parts)
        put_kernel(work, &note, now);
    else if (work->kind == MR_OBSERVED_COPY)
        put_copy(work, &note, now);
    else
        put_fill(work, &note, now);
}
