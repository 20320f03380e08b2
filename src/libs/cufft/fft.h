/* SPDX-License-Identifier: Apache-2.0 */
/* What the bodies of libcufft share: the plan, the checks, the way into the stream.
 *
 * A *plan* is what a handle (cufftHandle) stands for. It is *bare* until one of the functions that make it has
 * succeeded. It has two programs (program.h): for results in memory of their own, and in the place of the input. */
#ifndef MR_CUFFT_FFT_H
#define MR_CUFFT_FFT_H

#include <cuda.h>

#include "cufft_impl.h"
#include "libs/cufft/program.h"

/* A work area of the plan's own. Work that waits in streams and graphs has references. */
struct mr_fft_area {
    _Atomic uint32_t references;
    char *memory;
};

/* Behind a handle. Plans are changed without a lock: the manual asks programs not to use one from two threads. */
struct mr_fft {
    CUcontext context; /* current when the handle was made */
    CUstream stream;
    bool made;
    int type; /* the cufftType; -1: data types that have none */
    struct mr_fft_problem problem; /* as it is out of place */
    struct mr_fft_program *programs[2]; /* by in_place; in place NULL if that can't be done */
    bool manual; /* the program allocates the work area */
    size_t work_size;
    struct mr_fft_area *area;
    void *given; /* the program's work area; NULL: none was given */
    int64_t patient; /* a property, kept for the program, and never used */
};

/* The plan in *fft, and a current context in the thread. INVALID_PLAN, with a line in the log, for a handle that is not
 * live. */
cufftResult mr_fft_enter(const struct mr_form *form, cufftHandle plan, struct mr_fft **fft)
    __attribute__((warn_unused_result));

/* Says in the log why a call is refused. As an expression mr_fft_bad is the status, which the compiler sees. */
void mr_fft_say_bad(const struct mr_form *form, cufftResult status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define mr_fft_bad(form, status, ...) (mr_fft_say_bad(form, status, __VA_ARGS__), (status))

/* A bare plan. */
cufftResult mr_fft_create(const struct mr_form *form, cufftHandle *plan) __attribute__((warn_unused_result));

/* A work area with one reference; NULL when memory is short. The last drop frees it; NULL is allowed. Any thread. */
struct mr_fft_area *mr_fft_area_new(size_t size) __attribute__((warn_unused_result));
void mr_fft_area_drop(struct mr_fft_area *area);

/* Ends the plan; its work may still run. */
void mr_fft_end(struct mr_fft *fft);

/* Allocates a work area of the plan's own if it needs one and the program gives none. */
cufftResult mr_fft_allocate(const struct mr_form *form, struct mr_fft *fft) __attribute__((warn_unused_result));

/* Executes on the plan's stream. */
cufftResult mr_fft_execute(const struct mr_form *form, struct mr_fft *fft, void *in, void *out, bool inverse)
    __attribute__((warn_unused_result));

#endif
