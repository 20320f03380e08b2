/* SPDX-License-Identifier: Apache-2.0 */
/* libmillrace-forward: a libcuda.so.1 that hands each call on to another driver, the one behind, and tells an observer
 * of it.
 *
 * The exported functions are generated (gen/millrace_gen/forward.py). What the driver behind answers for a function's
 * address is exchanged for the function here, so that programs which ask for addresses are seen as well. Its private
 * tables (cuGetExportTable) are handed on as they are. */
#ifndef MR_FORWARD_FORWARD_H
#define MR_FORWARD_FORWARD_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "observe/hooks.h"
#include "observe/observe.h"

/* One exported function: its ELF name, the manual's name, its address here, and whether it is of the form with
 * per-thread default streams. */
struct mr_forwarded {
    const char *elf, *name;
    void *here;
    bool per_thread;
};
extern const struct mr_forwarded mr_forwarded[] MR_HIDDEN;
extern const size_t mr_forwarded_count MR_HIDDEN;

/* The function of the driver behind, by its index in mr_forwarded; NULL if that driver has none of the name, or there
 * is no driver. Opens it at the first call. */
void *mr_forward_behind(size_t index) MR_HIDDEN;

/* The same by ELF name, of the driver behind. */
void *mr_forward_symbol(const char *elf) MR_HIDDEN;

/* What a function answers that the driver behind lacks. */
CUresult mr_forward_lacks(const char *elf) MR_HIDDEN;

/* Whether the call that this thread has just begun is one to tell of. */
static inline bool mr_forward_tells(void)
{
    return mr_observes(MR_OBSERVE_CALLS) && mr_observe_depth == 0;
}

/* Fills in what the generated function has left out, and tells of the call. */
void mr_forward_enter(struct mr_observed_call *call, const void *site) MR_HIDDEN;
void mr_forward_leave(struct mr_observed_call *call, CUresult status) MR_HIDDEN;

/* The functions that are no plain ones; `behind` is that of the driver behind, or NULL. */
CUresult mr_forward_cuInit(CUresult (*behind)(unsigned), unsigned flags) MR_HIDDEN;
CUresult mr_forward_cuGetProcAddress(CUresult (*behind)(const char *, void **, int, cuuint64_t), const char *symbol,
                                     void **function, int version, cuuint64_t flags) MR_HIDDEN;
CUresult mr_forward_cuGetProcAddress_v2(CUresult (*behind)(const char *, void **, int, cuuint64_t,
                                                           CUdriverProcAddressQueryResult *),
                                        const char *symbol, void **function, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult *found) MR_HIDDEN;

#endif
