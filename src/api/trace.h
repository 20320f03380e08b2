/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in the log: a line for each call of the public interface, with its arguments, its status, what it wrote to
 * where its outputs lead, and how long it took.
 *
 * They are told of in the way in which an observer is told of calls (api/observed.h), so a call that nobody traces
 * costs nothing more. Which calls: those that MILLRACE_LOG_CALLS names; at level debug, if it names none, all. */
#ifndef MR_API_TRACE_H
#define MR_API_TRACE_H

#include <stdbool.h>

#include "observe/observe.h"

/* Reads the settings. True if calls shall be traced. For cuInit, once. */
bool mr_trace_begin(void);

/* cuInit(flags), which has called mr_trace_begin and succeeded. */
void mr_trace_first(unsigned flags, uint64_t begun);

/* Around a call that is observed, if mr_trace_begin has said true: mr_trace_enter's answer goes to mr_trace_leave. */
uint64_t mr_trace_enter(void);
void mr_trace_leave(const struct mr_observed_call *call, CUresult status, uint64_t begun);

#endif
