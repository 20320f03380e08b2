/* SPDX-License-Identifier: Apache-2.0 */
/* What the tool trace has for NVTX (nvtx.c): ranges may come before the driver is there. */
#ifndef MR_OBSERVER_TRACE_H
#define MR_OBSERVER_TRACE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* Opens the trace's file if MILLRACE_OBSERVE asks for a trace. False: it does not, or the file can't be made, which the
 * log says. Any thread. */
bool trace_begin_early(void);

/* The stream's number (cuStreamGetId's answer); 0: there is none, or it must not be asked for, since the stream
 * captures. Any thread. */
uint64_t trace_stream_number(CUstream stream);

#endif
