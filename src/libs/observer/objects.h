/* SPDX-License-Identifier: Apache-2.0 */
/* The side table: what the rules know of each stream, event, context, executable graph and flag of the program.
 *
 * The driver's own records don't carry any of this. An object is found by the handle that the program uses, a stream
 * also by the number that works carry (cuStreamGetId). Records go when the program destroys the object; what is still
 * to come of a destroyed stream is kept with its context.
 *
 * A point is a moment in the order: all that a clock knows, and one timeline up to a tick. Points that follow each
 * other on one timeline share their clock, so that a launch changes a number and nothing else.
 *
 * Everything here needs the rules' lock (operation.h). */
#ifndef MR_OBSERVER_OBJECTS_H
#define MR_OBSERVER_OBJECTS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/operation.h"

struct obs_point {
    const struct obs_clock *before[OBS_EDGES_KINDS]; /* counted */
    uint32_t timeline;                               /* 0 and tick 0: nothing beside the clock */
    uint64_t tick;
};

/* `to` is given what `from` says. */
void obs_point_set(struct obs_point *to, const struct obs_point *from);
void obs_point_clear(struct obs_point *point);
/* Adds to clocks what a point says: `clocks` has two, the second unused unless edges are kept apart. */
void obs_point_join(const struct obs_clock *clocks[OBS_EDGES_KINDS], const struct obs_point *point);

/* A lane of the host (operation.h). */
struct obs_lane {
    uint32_t timeline;
    const struct obs_clock *knows[OBS_EDGES_KINDS];
    uint64_t version; /* grows when `knows` does */
};

struct obs_stream {
    struct obs_stream *next_by_handle, *next_by_id, *next; /* `next`: of its context */
    uint64_t handle;                                       /* 0: a default stream */
    uint64_t id;                                           /* 0: not known yet */
    uint64_t serial;                                       /* from 1 up */
    uint64_t thread;                                       /* of a thread's own default stream: which one */
    struct obs_context *context;
    enum mr_side_stream kind;
    bool blocking;
    struct obs_point now;          /* what has happened when all is done that the stream has */
    struct obs_point solid;        /* the same, behind the latest work on which the default-stream rules build */
    uint64_t joined;               /* up to which version of the lane `now` knows what the lane knew */
    uint32_t lane;                 /* the timeline of the lane that `joined` and `pure` are about */
    bool pure;                     /* `now.before` is what the lane knew then, or less */
    bool to_be_known, to_be_joined; /* it is in the lists of its context */
    uint64_t legacy_seen;          /* up to which tick of the legacy stream it is behind */
    uint64_t last_call;            /* the call, of its thread, whose work is the latest one; 0: it had none */
    uint32_t last_thread;
    uint64_t legacy_made;          /* up to which tick of the legacy stream that had work before this one was made */
    bool behind_kernel;            /* its latest work is a kernel, and no timed record came since */
    uint64_t kernel_before;        /* the tick before that kernel's */
    uint32_t overlap[2];           /* timelines of what kernels do before they wait for the one before; by turns */
    uint64_t overlaps;             /* how many such kernels there were: the ticks of these timelines */
};

struct obs_list {
    struct obs_stream **at;
    size_t count, room;
};

struct obs_context {
    struct obs_context *next;
    CUcontext handle;
    struct obs_stream *streams, *legacy, *own; /* `own`: of its threads, linked by next_by_handle */
    struct obs_list to_be_known;  /* streams that have work which the host doesn't know to be done */
    struct obs_list to_be_joined; /* blocking streams that have solid work since the legacy stream's latest */
    struct obs_point gone;        /* what destroyed streams may still do */
    struct obs_point gone_blocking; /* blocking ones of these, by luck: what a free in the legacy stream waits for */
    struct obs_point gone_solid;  /* of those that were in to_be_joined, by luck: what the legacy stream waits for */
};

struct obs_event {
    struct obs_event *next;
    uint64_t handle;
    struct obs_point point;
    bool untimed; /* made with CU_EVENT_DISABLE_TIMING */
};

struct obs_plan;
struct obs_exec {
    struct obs_exec *next;
    uint64_t handle;
    struct obs_plan *plan;   /* owned */
    struct obs_point launch; /* the latest launch */
};

/* What was written to a word that streams wait for: the latest writes, oldest first. */
enum { OBS_FLAG_WRITES = 16, OBS_FLAG_RESETS = 8 };
struct obs_flag {
    struct obs_flag *next, *next_of_all;
    uint64_t address;
    unsigned count;
    bool awaited; /* a stream waits for it, or has */
    struct obs_flag_write {
        uint64_t value, number; /* number: of the call */
        struct obs_point point;
    } write[OBS_FLAG_WRITES];
    struct obs_point reset[OBS_FLAG_RESETS]; /* the latest kernels, copies and fills that have written the word */
    uint32_t resets;                         /* how many there were */
};

/* Contexts come into being when they are first named. NULL when memory is short; `made` says whether to make one. */
struct obs_context *obs_context_find(CUcontext handle, bool make);
struct obs_context *obs_context_first(void); /* of all that were named; `next` is the next one */
void obs_context_end(struct obs_context *context);

/* The stream behind a handle as the driver takes it, in a call made with this context on this thread: 0 and
 * CU_STREAM_LEGACY are the context's legacy stream, CU_STREAM_PER_THREAD the thread's own. NULL: no such stream is
 * known, or memory is short. */
struct obs_stream *obs_stream_find(CUstream handle, CUcontext context, uint64_t thread);
/* The stream that a work says it is in; `known` is the one that the call's parameters name, or NULL. It is made if it
 * is new. */
struct obs_stream *obs_stream_of_work(uint64_t id, CUcontext context, struct obs_stream *known);
struct obs_stream *obs_stream_made(uint64_t handle, uint64_t id, CUcontext context, bool blocking);
void obs_stream_end(struct obs_stream *stream);
/* Puts the stream into the list of its context, or takes it out. */
void obs_list_add(struct obs_list *list, struct obs_stream *stream);
void obs_list_remove(struct obs_list *list, struct obs_stream *stream);

/* Memory of another process may be opened several times, and is given back when it is closed for the last time. The
 * first function says whether this is the first time, the second whether it was the last. */
bool obs_import_opened(uint64_t base);
bool obs_import_closed(uint64_t base);

struct obs_event *obs_event_find(uint64_t handle, bool make);
void obs_event_end(uint64_t handle);

struct obs_exec *obs_exec_find(uint64_t handle, bool make);
void obs_exec_end(uint64_t handle);

/* All of them, by next_of_all; under the rules' lock. */
extern struct obs_flag *_Atomic obs_flags;
struct obs_flag *obs_flag_find(uint64_t address, bool make);
/* The memory is another's from now on. */
void obs_flags_forget(uint64_t base, size_t size);

/* A timeline for whatever needs one, and the tick it stands at: work goes on from the next. `lane` begins the work: a
 * timeline is used again if the lane knows of all that was on it. 0: there is none. */
uint32_t obs_timeline_take(const struct obs_lane *lane, uint64_t *tick);
/* One that nobody has had. 0: there is none. */
uint32_t obs_timeline_new(void);
/* Gives it back, as it stands at this tick. What knows the guard up to its tick knows of all that was on it; a
 * stream's is its own guard. */
void obs_timeline_give(uint32_t timeline, uint64_t tick, uint32_t guard, uint64_t guard_tick);
uint32_t obs_timeline_count(void);

/* Whether the host counts as told by a host function only if something that the program does orders them; set once. */
extern bool obs_order_strict;

/* Whether each thread of the host has a lane of its own (operation.h); set once, before all else. */
extern bool obs_lanes_apart;

/* Whether edges are kept apart (operation.h); set once, before all else. */
extern bool obs_edges_apart;

/* Memory was short for what the rules must know: what comes after may look unordered though it isn't. */
extern bool obs_order_short;

#endif
