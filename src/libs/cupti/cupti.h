/* SPDX-License-Identifier: Apache-2.0 */
/* libcupti: what its files share.
 *
 * The library attaches to the driver (observe/attach.h) while the program asks for callbacks or records, and detaches
 * otherwise. What the driver tells goes two ways: to the subscriber's function at once (callbacks), and into records in
 * the program's buffers (activities).
 *
 * Terms.
 *
 * - A call is a call of the driver's or the runtime's interface. It has a correlation number. A call of the driver
 *   inside a call of the runtime has the same number.
 * - A work is what a call queued for the device. Its record has the call's correlation number.
 * - A wish is a callback or a kind of record that the program has enabled. Without wishes the driver tells nothing.
 *
 * Locks: `state` (library.c) guards the subscriber and the wishes; each shard of works (works.c) and the list of
 * buffers (buffers.c) have their own. A thread takes one at a time, unless the function says otherwise, and holds none
 * while it calls a function of the program. */
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

/* Opens the driver, once, and sets the two variables above. False: Millrace's driver is not there; the log says so. */
bool mr_cupti_open(void);

/* Tells the driver the wishes as they are now. Called after a wish has changed; takes `state`. */
CUptiResult mr_cupti_update(void);

/* Keeps the status for cuptiGetLastError, and hands it back. */
CUptiResult mr_cupti_note(CUptiResult status);

/* CUPTI_ERROR_NOT_SUPPORTED, and a line in the log that names the function. */
CUptiResult mr_cupti_refuse(const char *function) __attribute__((cold));

/* The time in nanoseconds, by the program's own clock if it has registered one. */
uint64_t mr_cupti_now(void);

/* cuCtxGetId's answer, 0 without a context; each thread remembers its last one. *device, if not NULL, gets the device.
 */
uint32_t mr_cupti_context_number(CUcontext context, uint32_t *device);

/* How many contexts have begun to end. What is remembered of contexts holds until this changes. */
extern _Atomic uint32_t mr_cupti_contexts_gone;

/* The number of a stream handle. 0 and the default streams mean those of the thread's current context. */
uint32_t mr_cupti_stream_number(CUstream stream);

/* The thread's number in records. */
uint32_t mr_cupti_thread(void);

/* A text that stays as long as the process; NULL for NULL, or when memory is short. */
const char *mr_cupti_keep(const char *text);

/* A small number for an object (a graph, an event), the same each time. 0: memory is short. */
uint32_t mr_cupti_number(const void *handle);

/* ---- callbacks.c ---- */

/* Is this callback enabled? A load, for numbers that the domain has. */
bool mr_cupti_calls_back(CUpti_CallbackDomain domain, uint32_t cbid);
/* Whether any callback of the domain is. */
bool mr_cupti_any_callback(CUpti_CallbackDomain domain);
/* Calls the subscriber's function, if there is still one. */
void mr_cupti_call_back(CUpti_CallbackDomain domain, uint32_t cbid, const void *data);
/* Disables all callbacks and ends the subscription. Returns when no function of the program runs any more, except one
 * that the calling thread is in. */
void mr_cupti_callbacks_end(void);
/* The name of a call of the driver by its number, with its version and `_ptsz` or `_ptds`. */
const char *mr_cupti_driver_name(uint32_t cbid);
/* CUPTI's number for a call of the driver; 0: it has none. */
uint32_t mr_cupti_driver_number(const struct mr_observed_call *call);

/* ---- activity.c: the records that are wished ---- */

/* Are records of this kind wished, of any context; of this one (by its number)? */
bool mr_cupti_wants(CUpti_ActivityKind kind);
bool mr_cupti_wants_of(CUpti_ActivityKind kind, uint32_t context);
/* Of calls: not those that cuptiActivityEnableDriverApi and its like have left out. */
bool mr_cupti_wants_call(bool runtime, uint32_t cbid);
bool mr_cupti_wants_any(void); /* any record that the driver's calls make */
bool mr_cupti_wants_works(void); /* records of what the device does */
void mr_cupti_activities_end(void);
bool mr_cupti_latency(void); /* queued and submitted are wished */

/* ---- buffers.c ---- */

/* Puts a record into the program's buffer; without a buffer it counts as dropped. No lock of the driver is held. */
void mr_cupti_put(const void *record, size_t bytes);
/* Bytes of a record of a kind; 0 if this library makes no such records. */
size_t mr_cupti_record_bytes(CUpti_ActivityKind kind);
/* Gives all buffers that have records back to the program. */
void mr_cupti_flush(void);
/* Whether the thread runs a function of the program that makes or reads buffers: its calls are not recorded. */
bool mr_cupti_is_busy(void);

/* ---- calls.c: what a thread is doing ---- */

/* The call that the thread is in. */
struct mr_cupti_call {
    const struct mr_observed_call *call;
    bool runtime, in_runtime; /* it is one of the runtime's, or inside of one */
    bool called_back; /* it had a callback when it began; without that it has none at its end */
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

/* ---- resources.c: objects that the driver's calls make and end, and waits ---- */

/* The driver has opened. */
void mr_cupti_opened(void);
void mr_cupti_resource_begin(struct mr_cupti_call *call);
void mr_cupti_resource_end(struct mr_cupti_call *call, CUresult status);
/* Puts records of the devices, and of the contexts that have been seen. */
void mr_cupti_tell_devices(void);
void mr_cupti_tell_contexts(void);

/* ---- works.c ---- */

void mr_cupti_bind(const struct mr_observed_work *work);
void mr_cupti_begin(const struct mr_observed_work *work);
void mr_cupti_end(const struct mr_observed_work *work, CUresult status);
void mr_cupti_works_end(void); /* forgets all */

#endif
