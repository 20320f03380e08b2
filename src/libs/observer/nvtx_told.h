/* SPDX-License-Identifier: Apache-2.0 */
/* What findings say of NVTX: the range in which a call was made, and the name of its stream. Any thread. */
#ifndef MR_OBSERVER_NVTX_TOLD_H
#define MR_OBSERVER_NVTX_TOLD_H

#include <stddef.h>
#include <stdint.h>

/* From now on findings ask. Before the functions below. */
void nvtx_told_begin(void);

/* The running thread begins a range of a domain, or ends the innermost one of the domain. The text is copied; it needs
 * no 0 behind it. */
void nvtx_told_push(uint64_t domain, const char *bytes, size_t length);
void nvtx_told_pop(uint64_t domain);

/* A stream (cuStreamGetId's answer) has a name from now on. */
void nvtx_told_stream(uint64_t stream, const char *bytes, size_t length);

#endif
