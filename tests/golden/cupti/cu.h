/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about CUPTI: as ../gold.h, which it takes its words from. Each case has a process of
 * its own, in which nothing has been called; cu_begin makes a context. Cases use cuda.h, cuda_runtime_api.h and
 * cupti.h. */
#ifndef CU_H
#define CU_H

#include "../gold.h"

#include <cuda_runtime_api.h>
#include <cupti.h>

/* Says the status's name. */
void cu(CUptiResult status);
/* A step that has to succeed for the case to mean anything: ends the case otherwise. */
#define CU_NEED(expr) cu_need((expr), #expr)
void cu_need(CUptiResult status, const char *what);

/* cuInit, and a context of the case's own, which is current. */
CUcontext cu_begin(void);
/* The kernel "add" of the case's module. */
CUfunction cu_kernel(void);
/* Launches it: grid, block (along x), bytes of dynamic shared memory. */
void cu_launch(CUstream stream, unsigned grid, unsigned block, unsigned shared);

/* ---- records ---- */

/* Registers buffers and enables these kinds (a list that ends with 0). */
void cu_collect(const CUpti_ActivityKind *kinds);
#define CU_COLLECT(...) cu_collect((const CUpti_ActivityKind[]){__VA_ARGS__, CUPTI_ACTIVITY_KIND_INVALID})
/* Flushes. Then records of a kind, the first being number 0, in the order in which they began; NULL: no more. */
void cu_flush(void);
const void *cu_record(CUpti_ActivityKind kind, unsigned number);
unsigned cu_count(CUpti_ActivityKind kind);
/* How many buffers came back, and what they had room for. */
unsigned cu_buffers(void);

/* ---- callbacks ---- */

/* One callback, as it was seen. */
struct cu_seen {
    CUpti_CallbackDomain domain;
    uint32_t cbid, site, correlation, context_uid;
    uint64_t correlation_data; /* what the begin had left, at the end */
    char function[64], symbol[64];
    int status; /* at the end */
};

/* Subscribes with a function that writes down what it sees, up to 256. */
CUpti_SubscriberHandle cu_subscribe(void);
unsigned cu_seen_count(void);
const struct cu_seen *cu_seen(unsigned number);
/* The one of a function's begin (or end), the first from number `from` on; NULL. */
const struct cu_seen *cu_seen_call(const char *function, CUpti_ApiCallbackSite site, unsigned from);

#endif
