/* SPDX-License-Identifier: Apache-2.0 */
/* The works that calls queue, as far as their parameters tell. */
#ifndef MR_FORWARD_WORKS_H
#define MR_FORWARD_WORKS_H

#include "libs/forward/forward.h"

/* Functions of the driver behind; filled in before the first call that is told of. Those below the line are NULL in
 * drivers that are older than CUDA 12.4. */
struct mr_forward_driver {
    CUresult (*context_current)(CUcontext *);
    CUresult (*context_device)(CUdevice *);
    CUresult (*context_number)(CUcontext, unsigned long long *);
    CUresult (*stream_id)(CUstream, unsigned long long *);
    CUresult (*stream_context)(CUstream, CUcontext *);
    CUresult (*stream_captures)(CUstream, CUstreamCaptureStatus *);
    CUresult (*pointer_attributes)(unsigned, CUpointer_attribute *, void **, CUdeviceptr);
    CUresult (*context_push)(CUcontext);
    CUresult (*context_pop)(CUcontext *);
    CUresult (*capture_mode)(CUstreamCaptureMode *);
    CUresult (*stream_create)(CUstream *, unsigned);
    CUresult (*stream_destroy)(CUstream);
    CUresult (*event_create)(CUevent *, unsigned);
    CUresult (*event_destroy)(CUevent);
    CUresult (*event_record)(CUevent, CUstream);
    CUresult (*event_query)(CUevent);
    CUresult (*event_elapsed)(float *, CUevent, CUevent);
    /* ---- */
    CUresult (*function_name)(const char **, CUfunction);
    CUresult (*kernel_name)(const char **, CUkernel);
    CUresult (*function_param)(CUfunction, size_t, size_t *, size_t *);
    CUresult (*kernel_param)(CUkernel, size_t, size_t *, size_t *);
};
extern struct mr_forward_driver mr_forward_driver MR_HIDDEN;

/* Before a call: a host function is exchanged for one that tells when it runs. After it, between the driver's answer
 * and `leave`: the works that it has queued are told of. */
void mr_forward_works_enter(struct mr_observed_call *call) MR_HIDDEN;
void mr_forward_works_leave(struct mr_observed_call *call, CUresult status) MR_HIDDEN;

/* The number of a stream, which no other one has; a default stream is that of the context. False: there is none. */
bool mr_forward_stream_number(CUstream stream, CUcontext context, uint64_t *number) MR_HIDDEN;

/* ---- boxes (boxes.c) ---- */

/* Boxes of one work, as they are found: full ones are told of as they come, the last ones by mr_forward_boxes_end. */
enum { MR_FORWARD_BOXES = 64 };
struct mr_forward_boxes {
    struct mr_access at[MR_FORWARD_BOXES];
    size_t count;
    const struct mr_observed_work *work;
};
void mr_forward_box(struct mr_forward_boxes *boxes, uintptr_t first, size_t width, size_t rows, size_t pitch,
                    uint32_t how) MR_HIDDEN;
void mr_forward_boxes_end(struct mr_forward_boxes *boxes) MR_HIDDEN;

/* The work has ended. */
void mr_forward_end(const struct mr_observed_work *work) MR_HIDDEN;

/* The work waits for a value, and has not ended. False: memory is short. */
bool mr_forward_wait_begins(const struct mr_observed_work *work) MR_HIDDEN;

/* The waits of a stream, or of all (0), of a context, or of all (NULL), have ended. */
void mr_forward_wait_ends(uint64_t stream, CUcontext context) MR_HIDDEN;
bool mr_forward_waits(void) MR_HIDDEN; /* is there one? */

/* ---- when works run (times.c) ---- */

/* If the observer wants to know when works ran: before a call asks the driver behind for works in the stream, between
 * its return and `leave` for each work, and behind all of them. The stream must not capture. `context`: the stream's.
 */
void mr_forward_times_begin(CUstream stream, CUcontext context) MR_HIDDEN;
void mr_forward_times_work(const struct mr_observed_work *work) MR_HIDDEN;
void mr_forward_times_end(void) MR_HIDDEN;

/* Tells of the works that have ended. Behind a call that waits for works. */
void mr_forward_times_collect(void) MR_HIDDEN;

/* The context, or all of the device (NULL and NULL: all), may be about to end, or the process: waits some seconds for
 * its works, tells of them, and forgets it. */
void mr_forward_times_over(CUcontext context, const CUdevice *device) MR_HIDDEN;

/* ---- kernels (functions.c) ---- */

/* A call has given out handles of kernels. */
void mr_forward_functions_leave(const struct mr_observed_call *call) MR_HIDDEN;

/* The kernel's mangled name, which stays, or NULL; and the allocations that its parameters lead to. A box of each is
 * added; what parameters of a C++ type `const T *` lead to counts as read, all else as read and written. */
const char *mr_forward_function_name(CUfunction function) MR_HIDDEN;
void mr_forward_function_boxes(CUfunction function, void **params, void **extra,
                               struct mr_forward_boxes *boxes) MR_HIDDEN;

/* ---- modules (modules.c) ---- */

/* Behind the observer's `enter`: it asks for the parts of what the call unloads. Ahead of its `leave`. */
void mr_forward_modules_enter(const struct mr_observed_call *call) MR_HIDDEN;
void mr_forward_modules_leave(const struct mr_observed_call *call, CUresult status) MR_HIDDEN;

/* The observer's question `parts`: of the variables, those that the program has asked for. */
size_t mr_forward_parts(uint64_t handle, bool library, struct mr_observed_part *parts, size_t room) MR_HIDDEN;

/* ---- host functions (host_function.c) ---- */

struct mr_forward_host_function;
/* Exchanges the function and its data in the call's parameters. NULL: the call has none, or memory is short. */
struct mr_forward_host_function *mr_forward_host_exchange(struct mr_observed_call *call) MR_HIDDEN;
/* The call has queued it as this work, and the observer knows; or (NULL) the call has failed. A function for which
 * neither is said runs and is told of to nobody, as often as it is called. */
void mr_forward_host_bound(struct mr_forward_host_function *function, const struct mr_observed_work *work) MR_HIDDEN;

#endif
