/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about cuFFT: as rt.h, which it takes its words and fixtures from.
 *
 * Values: a case chooses its result, whole numbers at some places and zeros elsewhere, and computes on the host
 * what has to go in. So results are rounded to whole numbers and are the same on every machine, whatever the order
 * of sums. */
#ifndef FT_H
#define FT_H

#include "../../runtime/rt.h"

#include <cufftXt.h>

/* A transform, as cufftMakePlanMany64 describes it. */
struct ft_shape {
    int rank;
    long long n[3];
    long long batch; /* 0: one */
    long long inembed[3], istride, idist; /* istride 0: the default layout */
    long long onembed[3], ostride, odist;
};

/* How the plan is made. */
enum ft_maker { FT_MANY64, FT_MANY, FT_SIMPLE, FT_PLAN, FT_XT };

struct ft_case {
    const char *title;
    cufftType type;
    int direction; /* of C2C and Z2Z */
    bool in_place;
    enum ft_maker maker;
    cudaDataType precision; /* FT_XT: of the real parts; 0: as the type */
    struct ft_shape shape;
};

/* Says the status's name without CUFFT_. */
void ft(cufftResult status);

/* Ends the case unless the step succeeds. */
#define FT_NEED(expr) ft_need((expr), #expr)
void ft_need(cufftResult status, const char *what);

/* Makes the plan, and says the status if it fails: then the plan is CUFFT_PLAN_NULL. */
cufftHandle ft_plan(const struct ft_case *wanted);

/* Memory with what has to go in, and for the result: the same memory in place. Elements between and behind are 77. */
struct ft_memory {
    void *in, *out;
    size_t in_size, out_size;
    void *host_in; /* what `in` had */
};
struct ft_memory ft_fill(const struct ft_case *wanted);

/* Executes. */
cufftResult ft_exec(cufftHandle plan, const struct ft_case *wanted, const struct ft_memory *memory);

/* Waits, and says a hash of the result as whole numbers, places between elements included; and "input=kept" if the
 * input is what it was (where it has memory of its own). */
void ft_say(const struct ft_case *wanted, const struct ft_memory *memory);

/* All of it. */
void ft_run(const struct ft_case *wanted);

#endif
