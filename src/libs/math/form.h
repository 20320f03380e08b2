/* SPDX-License-Identifier: Apache-2.0 */
/* Which function of a family was called: one body serves all of them (spec/math/README.md). */
#ifndef MR_MATH_FORM_H
#define MR_MATH_FORM_H

#include <stdbool.h>

struct mr_form {
    const char *name; /* the function, as programs call it */
    char type; /* S, D, C, Z or H: the elements; X: they are not in the name */
    bool wide; /* sizes, and integers that are results, have 64 bits */
};

#endif
