/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: what a stream queues. One tagged union that owns deep copies of everything it needs.
 *
 * Some commands are *work*: launches, copies, fills, host functions. Others are over in no time: records and waits of
 * events. An *async* command begins when its turn comes and ends later, from another thread: a graph's run, or a batch
 * of memory operations. A *parts* command is work of a library of mathematics, cut into parts (parts.h). A command's
 * *mark* (event/event.h) completes when the command has ended; its *weight* counts it against the bound of its stream's
 * queue.
 *
 * Exceptions to deep copies, with the reason: `host.data` (the manual gives it to the callee untouched), device and
 * pinned memory (named by address, as on hardware), pageable host memory of a synchronous call (the caller waits). */
#ifndef MR_COMMAND_COMMAND_H
#define MR_COMMAND_COMMAND_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct mr_job;
struct mr_launch;
struct mr_parts;

enum mr_command_kind {
    MR_COMMAND_COPY,
    MR_COMMAND_FILL,
    MR_COMMAND_LAUNCH,
    MR_COMMAND_HOST,      /* cuLaunchHostFunc */
    MR_COMMAND_PARTS,     /* work of a library beside the driver (parts.h) */
    MR_COMMAND_CALLBACK,  /* cuStreamAddCallback: gets the stream and its status */
    MR_COMMAND_RECORD,    /* completes a mark */
    MR_COMMAND_WAIT,      /* holds the stream until a mark completes */
    MR_COMMAND_RELEASE,   /* runs a function of the driver itself in stream order (deferred frees) */
    MR_COMMAND_ASYNC,     /* work of several steps, such as a graph's run: it may end later, on any thread */
};

/* A box of bytes, up to three dimensions; a linear copy has height = depth = 1. Pitches and slices are in bytes. Ranges
 * never wrap: checked by the caller. */
struct mr_copy {
    void *destination;
    const void *source;
    size_t width, height, depth;
    size_t destination_pitch, source_pitch;
    size_t destination_slice, source_slice;
    bool owns_source; /* the source is a staged copy made with mr_copy_stage; freed with the command */
};

/* Where a staged source came from. */
struct mr_copy_origin {
    const void *source;
    size_t pitch, slice;
};

/* Room for a staged source of a copy that names the program's; NULL when memory is short. */
void *mr_copy_stage(const struct mr_copy *copy) __attribute__((warn_unused_result));

/* Of a copy that owns its source: where that came from. Valid as long as the command. */
const struct mr_copy_origin *mr_copy_origin(const struct mr_copy *copy);

/* `width` elements of `element` bytes (1, 2 or 4) in each of `height` rows. */
struct mr_fill {
    void *destination;
    size_t pitch, width, height;
    uint32_t value;
    uint8_t element;
};

enum mr_async_kind {
    MR_ASYNC_OTHER, /* the driver's own */
    MR_ASYNC_GRAPH, /* a run of a graph */
    MR_ASYNC_BATCH, /* memory operations */
} __attribute__((packed));

/* Work whose end may come later. `begin` is called once, by the thread that owns the stream, with no lock held. True:
 * it is complete, *status says how. False: it goes on, and the thread that ends it stores resume->status and then calls
 * resume->resume(resume), with no lock held. `key` sorts what it hands to the engine. */
struct mr_async {
    bool (*begin)(void *data, uint64_t key, struct mr_job *resume, CUresult *status);
    void (*free)(void *data); /* gives up `data`, whether it was begun or not */
    void *data;
    enum mr_async_kind kind;
    bool quick; /* `begin` takes a microsecond or less: it may run on any thread at once */
    bool always; /* `begin` is called in a failed context too: it looks itself, and leaves out what it must */
};

/* A record is only as long as its kind needs (command.c): never copy one by value. */
struct mr_command {
    struct mr_command *next;
    enum mr_command_kind kind;
    bool has_priority; /* `priority` holds, in place of the stream's */
    bool trails; /* a record of the driver's own behind the program's work: it is done the moment that work is */
    int8_t priority;
    uint8_t weight; /* what it counts towards the most that a stream holds (stream/stream.h); 0: nothing */
    uint64_t sequence; /* order of submission over all streams; set by the stream */
    struct mr_mark *mark; /* completed when the command is; NULL if none was asked for; counted */
    union {
        struct mr_copy copy;
        struct mr_fill fill;
        struct mr_launch *launch; /* owned */
        struct {
            CUhostFn function;
            void *data;
        } host;
        struct mr_parts *parts; /* counted */
        struct {
            CUstreamCallback function;
            void *data;
            CUstream stream;
        } callback;
        struct {
            bool timed;
        } record;
        struct {
            struct mr_mark *on;
            struct mr_waiter waiter;
            struct mr_stream *stream;
        } wait; /* `on` counted; `stream`: where it waits, set by it */
        struct {
            void (*function)(void *data);
            void *data;
        } release;
        struct mr_async async;
    };
};

/* Records come from a per-thread cache. Zeroed apart from kind. NULL when memory is short. */
struct mr_command *mr_command_new(enum mr_command_kind kind) __attribute__((warn_unused_result));

/* Its weight: it waits in memory with `bytes` beside its record. */
static inline void mr_command_weigh(struct mr_command *command, size_t bytes)
{
    size_t weight = 1 + (bytes >> 11);
    command->weight = (uint8_t)(weight < UINT8_MAX ? weight : UINT8_MAX);
}

/* Frees the command and what it owns (mark reference, launch, staged source, an async's data). */
void mr_command_free(struct mr_command *command);

/* "kernel launch", "copy", … for the log. */
const char *mr_command_name(enum mr_command_kind kind);

#endif
