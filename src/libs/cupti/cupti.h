/* SPDX-License-Identifier: Apache-2.0 */
/* libcupti: what its files share.
 *
 * The library attaches to the driver (observe/attach.h) while somebody wants to know something, and leaves it alone
 * otherwise. What the driver tells goes two ways: to the subscriber's function at once (callbacks), and into records
 * in buffers of the program's (activities).
 *
 * Terms.
 *
 * - A call is one of the driver's or the runtime's interface. It has a correlation number; a call of the driver inside
 *   one of the runtime has the same.
 * - A work is what a call queued for the device; its record has the call's correlation number.
 * - A wish is a callback that is enabled, or a kind of record. Without any the driver tells nothing.
 *
 * Locks, each taken with no other held unless it says so: `state` (library.c) guards who subscribes and what is wished;
 * a shard of works (works.c); the list of buffers (buffers.c). Functions of the program are called with none of them
 * held. */
#ifndef MR_LIBS_CUPTI_H
#define MR_LIBS_CUPTI_H

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti_impl.h"
#include "observe/attach.h"

#ifndef MR_CUPTI_MAJOR
#error the build says which version of the library this is: 12 or 13
#endif

/* ---- library.c: the driver, statuses, time ---- */

/* The driver's functions that this library calls, with mr_cupti_driver->pause around. */
struct mr_cupti_functions {
#define MR_FUNCTION(name) __typeof__(name) *name;
#include "libs/cupti/functions.def"
#undef MR_FUNCTION
};
extern struct mr_cupti_functions mr_cupti_cu;
extern const struct mr_observed_driver *mr_cupti_driver;

/* Opens the driver, once, so that both of the above are there. False: there is none of Millrace's; the log says so. */
bool mr_cupti_open(void);

/* Tells the driver what is wished for now. Whoever has changed a wish calls it; takes `state`. */
CUptiResult mr_cupti_update(void);

/* Keeps the status for cuptiGetLastError, and hands it back. */
CUptiResult mr_cupti_note(CUptiResult status);

/* CUPTI_ERROR_NOT_SUPPORTED, and a line in the log that names the function. */
CUptiResult mr_cupti_refuse(const char *function) __attribute__((cold));

/* Nanoseconds, of the program's own clock if it has registered one. */
uint64_t mr_cupti_now(void);

/* cuCtxGetId's answer, 0 for none; the last one of a thread is remembered. Its device in *device if that isn't NULL. */
uint32_t mr_cupti_context_number(CUcontext context, uint32_t *device);

/* How often a context has begun to end: what is remembered of contexts holds as long as this stays. */
extern _Atomic uint32_t mr_cupti_contexts_gone;

/* The number of a stream as calls have it: 0 and the default streams are those of the thread's current context. */
uint32_t mr_cupti_stream_number(CUstream stream);

/* The thread's number in records. */
uint32_t mr_cupti_thread(void);

/* A text that stays as long as the process; NULL for NULL, or when memory is short. */
const char *mr_cupti_keep(const char *text);

/* A small number for an object (a graph, an event), the same each time. 0 when memory is short. */
uint32_t mr_cupti_number(const void *handle);

/* ---- callbacks.c ---- */

/* Is this callback enabled? A load, for numbers that the domain has. */
bool mr_cupti_calls_back(CUpti_CallbackDomain domain, uint32_t cbid);
/* Whether any callback of the domain is. */
bool mr_cupti_any_callback(CUpti_CallbackDomain domain);
/* Calls the subscriber's function, if there is still one. */
void mr_cupti_call_back(CUpti_CallbackDomain domain, uint32_t cbid, const void *data);
/* Nothing is enabled any more, nobody subscribes, and no function of the program runs, except for one that the calling
 * thread is in. */
void mr_cupti_callbacks_end(void);
/* The name of a call of the driver, as its number has it: with the version, and the form with per-thread streams. */
const char *mr_cupti_driver_name(uint32_t cbid);
/* CUPTI's number for a call of the driver; 0: it has none. */
uint32_t mr_cupti_driver_number(const struct mr_observed_call *call);

/* ---- activity.c: what is wished ---- */

/* Are records of this kind wished, of any context; of this one (by its number)? */
bool mr_cupti_wants(CUpti_ActivityKind kind);
bool mr_cupti_wants_of(CUpti_ActivityKind kind, uint32_t context);
/* Of calls: not those that cuptiActivityEnableDriverApi and its like have left out. */
bool mr_cupti_wants_call(bool runtime, uint32_t cbid);
bool mr_cupti_wants_any(void); /* at all */
bool mr_cupti_wants_works(void); /* of what the device does */
void mr_cupti_activities_end(void);
bool mr_cupti_latency(void); /* queued and submitted are wished */

/* ---- buffers.c ---- */

/* Puts a record into the program's buffer. Counted as dropped if there is none. No lock of the driver held. */
void mr_cupti_put(const void *record, size_t bytes);
/* Bytes of a record of a kind; 0 for one that this library doesn't make. */
size_t mr_cupti_record_bytes(CUpti_ActivityKind kind);
/* Gives all buffers that have records back to the program. */
void mr_cupti_flush(void);
/* The thread runs a function of the program's that fills or reads buffers: what it does now is not told of. */
bool mr_cupti_is_busy(void);

/* ---- calls.c: what a thread is doing ---- */

/* The call that the thread is in, as the driver tells. */
struct mr_cupti_call {
    const struct mr_observed_call *call;
    bool runtime, in_runtime; /* it is one of the runtime's, or inside of one */
    bool called_back; /* when it began: without that there is no callback at its end */
    uint32_t cbid, correlation;
    uint64_t start;
    uint64_t data; /* the subscriber's */
    const char *symbol; /* of a launch: the kernel */
    bool was_active; /* resources.c's own, from begin to end, as the next ones */
    CUcontext ending;
    size_t bytes;
    enum mr_observed_memory_kind memory;
};

/* NULL: none, or one that began before the library attached. */
struct mr_cupti_call *mr_cupti_here(void);
uint32_t mr_cupti_new_correlation(void);

/* The observer's points. */
void mr_cupti_enter(struct mr_observed_call *call);
void mr_cupti_leave(struct mr_observed_call *call, CUresult status);
void mr_cupti_runtime_enter(struct mr_observed_call *call);
void mr_cupti_runtime_leave(struct mr_observed_call *call, int status);
/* Calls that are under way are forgotten: they were told of to nobody's use. */
void mr_cupti_calls_end(void);

/* ---- resources.c: objects that calls of the driver make and end, and waits ---- */

/* The driver has opened. */
void mr_cupti_opened(void);
void mr_cupti_resource_begin(struct mr_cupti_call *call);
void mr_cupti_resource_end(struct mr_cupti_call *call, CUresult status);
/* Records of what is there: devices, contexts that have been seen. */
void mr_cupti_tell_devices(void);
void mr_cupti_tell_contexts(void);

/* ---- works.c ---- */

void mr_cupti_bind(const struct mr_observed_work *work);
void mr_cupti_begin(const struct mr_observed_work *work);
void mr_cupti_end(const struct mr_observed_work *work, CUresult status);
void mr_cupti_works_end(void); /* forgets all */

#endif
