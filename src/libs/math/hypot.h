/* SPDX-License-Identifier: Apache-2.0 */
/* hypot by an older function: that of glibc 2.35 would be the one symbol that keeps the wheel from older systems. */
#ifndef MR_MATH_HYPOT_H
#define MR_MATH_HYPOT_H

#include <complex.h>

/* The square root of x * x + y * y, without overflow on the way. */
static inline double mr_hypot(double x, double y)
{
    union {
        double parts[2];
        double _Complex whole;
    } number = {{x, y}};
    return cabs(number.whole);
}

#endif
