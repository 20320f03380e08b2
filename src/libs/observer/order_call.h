/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules keep of a call from enter to leave, and the families of calls.
 *
 * order_calls.c has the table: which call belongs to which family, and where its parameters have the stream. A family
 * may do something at enter (what must be seen before the driver acts: what a synchronising call waits for, what is
 * about to be freed) and at leave (what is so only if the call succeeded). None holds the rules' lock when called, and
 * each takes it where it needs it. */
#ifndef MR_OBSERVER_ORDER_CALL_H
#define MR_OBSERVER_ORDER_CALL_H

#include "libs/observer/generation.h"
#include "libs/observer/order.h"
#include "observe/calls.h"
#include "observe/observe.h"

struct obs_family;

/* The Programming Guide calls copies of so many bytes from the host to the device asynchronous. */
#define OBS_SMALL 65536u

struct obs_call {
    const struct mr_observed_call *call;
    const struct obs_family *family;
    uint64_t stamp;
    struct mr_side side;             /* of what the call asks for: its name, site and numbers */
    CUstream stream;                 /* as the driver takes it; of calls that have one */
    bool has_stream;
    bool captured;                   /* the stream captures: nothing is queued */
    bool waits;                      /* the call returns when its work is done */
    bool waits_if_large;             /* the same, of more than OBS_SMALL bytes, by luck */
    bool lucky;                      /* it has queued so many */
    CUcontext peers[2];              /* of a copy between contexts */
    bool peers_by_luck;              /* no manual says that it is in order with their work */
    struct obs_point point;          /* what the host knows if the call succeeds */
    struct obs_operation *operation; /* of a free */
    struct obs_generation_view view; /* what it frees */
    uint64_t ending;                 /* the stream that it destroys (obs_stream.serial) */
    struct mr_observed_part *parts;  /* of modules that it unloads */
    size_t part_count;
    struct obs_call *outer;          /* the call that this one was made inside of, on the same thread */
    bool spare;                      /* allocated */
};

struct obs_family {
    void (*enter)(struct obs_call *call);
    void (*leave)(struct obs_call *call); /* only if it succeeded */
    void (*failed)(struct obs_call *call); /* only if it failed */
    uint16_t stream;                      /* where the stream is in the parameters, plus 1; 0: it has none */
    uint16_t object, to, from, size;      /* likewise, what the family needs */
    uint16_t number;
};

/* A parameter of the call, by its place in the table. */
static inline const void *obs_param(const struct obs_call *call, uint16_t place)
{
    return (const char *)call->call->params + place - 1;
}
static inline uint64_t obs_param_handle(const struct obs_call *call, uint16_t place)
{
    return *(const uint64_t *)obs_param(call, place);
}

extern const struct obs_family obs_families[MR_CALL_COUNT];

/* The call that this thread is in, or NULL. */
extern _Thread_local struct obs_call *obs_call_here;

/* Of this thread, from 1 up. */
uint32_t obs_thread_number(void);

/* The stream of the call, or NULL; needs the lock. */
struct obs_stream *obs_call_stream(const struct obs_call *call);

/* Functions of the driver that the rules ask; all on a thread that is in enter or leave, unobserved. */
struct obs_driver {
    const struct mr_observed_driver *driver;
    CUresult (*stream_id)(CUstream, unsigned long long *);
    CUresult (*stream_flags)(CUstream, unsigned *);
    CUresult (*stream_context)(CUstream, CUcontext *);
    CUresult (*stream_captures)(CUstream, CUstreamCaptureStatus *);
    CUresult (*context_of_green)(CUcontext *, CUgreenCtx);
    CUresult (*address_range)(CUdeviceptr *, size_t *, CUdeviceptr);
    CUresult (*graph_nodes)(CUgraph, CUgraphNode *, size_t *);
    CUresult (*graph_edges)(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *);
    CUresult (*node_type)(CUgraphNode, CUgraphNodeType *);
    CUresult (*node_child)(CUgraphNode, CUgraph *);
    CUresult (*node_records)(CUgraphNode, CUevent *);
    CUresult (*node_waits)(CUgraphNode, CUevent *);
    CUresult (*node_allocates)(CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *);
    CUresult (*node_frees)(CUgraphNode, CUdeviceptr *);
    CUresult (*node_values)(CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *);
};
extern struct obs_driver obs_driver;

/* Families, one file for each. */
void obs_event_made_leave(struct obs_call *call); /* order_event.c */
void obs_event_opened_leave(struct obs_call *call);
void obs_record_leave(struct obs_call *call);              /* order_event.c */
void obs_launch_leave(struct obs_call *call);
void obs_wait_leave(struct obs_call *call);
void obs_event_enter(struct obs_call *call);
void obs_event_end_enter(struct obs_call *call);
void obs_context_record_leave(struct obs_call *call);
void obs_context_wait_leave(struct obs_call *call);
void obs_known_leave(struct obs_call *call);
void obs_stream_enter(struct obs_call *call);
void obs_stream_made_leave(struct obs_call *call);
void obs_stream_end_enter(struct obs_call *call);
void obs_stream_end_leave(struct obs_call *call);
void obs_context_enter(struct obs_call *call);
void obs_context_end_leave(struct obs_call *call);
void obs_copy_enter(struct obs_call *call);                /* order_copy.c */
void obs_copy_async_enter(struct obs_call *call);
void obs_peer_enter(struct obs_call *call);
void obs_peer_async_enter(struct obs_call *call);
void obs_box_enter(struct obs_call *call);
void obs_box_async_enter(struct obs_call *call);
void obs_fill_enter(struct obs_call *call);
void obs_copy_leave(struct obs_call *call);
void obs_allocate_leave(struct obs_call *call);            /* order_memory.c */
void obs_allocate_pitch_leave(struct obs_call *call);
void obs_array_made_leave(struct obs_call *call);
void obs_register_leave(struct obs_call *call);
void obs_import_leave(struct obs_call *call);
void obs_pointer_exported_leave(struct obs_call *call);
void obs_pointer_imported_leave(struct obs_call *call);
void obs_global_leave(struct obs_call *call);
void obs_allocate_async_leave(struct obs_call *call);
void obs_free_async_enter(struct obs_call *call);
void obs_free_enter(struct obs_call *call);
void obs_array_free_enter(struct obs_call *call);
void obs_free_leave(struct obs_call *call);
void obs_free_failed(struct obs_call *call);
void obs_memory_made_leave(struct obs_call *call);
void obs_memory_exported_leave(struct obs_call *call);
void obs_memory_imported_leave(struct obs_call *call);
void obs_memory_released_leave(struct obs_call *call);
void obs_map_leave(struct obs_call *call);
void obs_unmap_enter(struct obs_call *call);
void obs_unload_enter(struct obs_call *call);              /* order_module.c */
void obs_unload_failed(struct obs_call *call);
void obs_values_enter(struct obs_call *call);              /* order_values.c */
void obs_values_leave(struct obs_call *call);
/* The operation has ended. If it was a wait for a value that no stream has written, the host may have written it. With
 * the lock. */
void obs_values_ended(const struct obs_operation *operation);
/* The words of such waits of the operation, `most` at most. Without the lock. */
size_t obs_values_waited(const struct obs_operation *operation, uint64_t addresses[], size_t most);
/* The operation, no write of a value by a stream, has written these: open waits for one of their words come after it,
 * and it may have set words back that streams have written. Without the lock. `obs_values_open`: 0 if no wait is open;
 * `obs_flags` is NULL if there are no such words. */
void obs_values_written(const struct obs_operation *operation, const struct mr_access *boxes, size_t count);
extern _Atomic uint32_t obs_values_open;
/* The same operations in a node of a graph's run, at the launch; with the lock. Adds to the clocks what a wait acquires
 * that writes satisfy already; false if none does, or if it is no wait. */
bool obs_values_acquire(const CUstreamBatchMemOpParams *op, const struct obs_clock *to[OBS_EDGES_KINDS]);
/* A wait of the step's that acquires later; and a write of the step's, by a call of this number. */
void obs_values_await(const CUstreamBatchMemOpParams *op, const struct obs_operation *step);
void obs_values_release(const CUstreamBatchMemOpParams *op, const struct obs_operation *step, uint64_t number);
/* Whether a stream or a graph waits for a value at the address, or has; with the lock. */
bool obs_values_awaited(uint64_t address);
static inline bool obs_values_is_wait(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}
void obs_instantiate_leave(struct obs_call *call); /* order_graph.c */
void obs_exec_end_enter(struct obs_call *call);
void obs_node_added_leave(struct obs_call *call);
void obs_exec_event_leave(struct obs_call *call);
void obs_exec_params_leave(struct obs_call *call);
void obs_exec_updated_leave(struct obs_call *call);

/* The run of a graph (order_graph.c). */
struct obs_run;
/* In bind, with the lock: a launch comes after the launch before of its executable graph. */
void obs_run_before(const struct obs_call *call, struct obs_stream *stream);
/* Behind that: the run begins, with the launch's operation, which it keeps. NULL if nothing is known of the executable
 * graph. */
struct obs_run *obs_run_new(struct obs_call *call, struct obs_stream *stream, struct obs_operation *launch);
/* Behind that, without the lock: what the run's nodes allocate and free. */
void obs_run_tell_memory(struct obs_run *run);
/* The operation of a step that begins, or has begun; kept for the caller; NULL: memory is short. *early: of a kernel,
 * what it does before it waits for those that it may overlap with, kept too; NULL: there are none. Without the lock. */
struct obs_operation *obs_run_step(struct obs_run *run, const struct mr_observed_work *work, bool begins,
                                   struct obs_operation **early);
void obs_run_end(struct obs_run *run);

enum mr_side_what obs_side_of(const struct mr_observed_work *work);

/* A function of the program's; a library's work is none. */
static inline bool obs_is_host_function(const struct mr_observed_work *work)
{
    return work->kind == MR_OBSERVED_HOST && !work->parts;
}

/* The points of observation, for race.c; each as the function of that name in observe/observe.h. obs_order_end comes
 * after the last access. */
void obs_order_enter(struct mr_observed_call *call);
void obs_order_leave(struct mr_observed_call *call, CUresult status);
void obs_order_bind(const struct mr_observed_work *work);
void obs_order_end(const struct mr_observed_work *work);
/* The operation of a work or step, kept for the caller; *early: what a pinned source is read by, or what a kernel does
 * that may overlap with those before it, before it waits for them; kept too, or NULL.
 * NULL: nothing is known of it. */
struct obs_operation *obs_order_of_work(const struct mr_observed_work *work, bool begins, struct obs_operation **early);

/* A stream's number (cuStreamGetId's answer); 0: there is none, the stream captures, or the rules have not begun. Any
 * thread. */
uint64_t obs_stream_number(CUstream stream);

/* What NVTX knows, if the program has it (nvtx.c), else NULL: the innermost range of the running thread, the name of a
 * stream. Texts stay. Set before the first call that is told of, or when NVTX begins. */
extern const char *(*_Atomic obs_range_here)(void);
extern const char *(*_Atomic obs_stream_name)(uint64_t stream);

uint64_t obs_order_calls(void);
uint64_t obs_calls_of_thread(void);

#endif
