/* SPDX-License-Identifier: Apache-2.0 */
/* The points of observation of a process, as points.c writes them down: what the test's observer and its program share.
 */
#ifndef TESTS_OBSERVER_POINTS_H
#define TESTS_OBSERVER_POINTS_H

#include <stdint.h>

#include "observe/observe.h"

enum point_kind { POINT_ENTER, POINT_LEAVE, POINT_BIND, POINT_BEGIN, POINT_END, POINT_ACCESS, POINT_SLICE };

#define POINT_PARAMS 16 /* words of a call's parameters that are kept */

struct point {
    enum point_kind kind;
    uint64_t thread;
    struct mr_observed_call call; /* of enter, leave */
    uint64_t params[POINT_PARAMS]; /* the first words of them */
    struct mr_observed_work work;
    CUresult status; /* of leave, end */
    struct mr_access box; /* a point for each box */
    unsigned worker;
    uint64_t from, to;
};

/* The functions that the observer's library exports for the program. */
typedef uint64_t points_count_function(void); /* points so far */
typedef uint64_t points_get_function(uint64_t first, struct point *out, uint64_t most); /* copies some; how many */
typedef const struct mr_observed_driver *points_driver_function(void);

#endif
