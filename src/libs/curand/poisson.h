/* SPDX-License-Identifier: Apache-2.0 */
/* Poisson numbers.
 *
 * A number comes from one fraction, by a table of the distribution. From a mean of 2,000 on most sequences use a normal
 * number instead, which is scaled and rounded. */
#ifndef MR_CURAND_POISSON_H
#define MR_CURAND_POISSON_H

#include <stdbool.h>
#include <stdint.h>

#define MR_POISSON_MOST 4e5 /* the largest mean */
#define MR_POISSON_NORMAL 2000.0 /* the least mean of normal numbers */

/* The tables for a mean: one block of memory. The count of a fraction u is that of column floor(u * length): the
 * column's own where u is below `border` there, else `other`; `first` is added. */
struct mr_poisson {
    double mean, root; /* root: of the mean */
    unsigned first, length; /* length 0: there is no table */
    bool is_inverse; /* border[i] is the probability of at most i; the count is the first whose border reaches u */
    double *border;
    unsigned *other;
};

/* For a mean above 0 and at most MR_POISSON_MOST; `is_inverse`: for sequences that may not be mixed. NULL if memory is
 * short. The caller frees it with free(). */
struct mr_poisson *mr_poisson_new(double mean, bool is_inverse);

/* Columns for the mean, however large it is. */
struct mr_poisson *mr_poisson_new_table(double mean);

/* By the table, which there is. */
unsigned mr_poisson_of(const struct mr_poisson *poisson, double u);

/* By a normal number. */
unsigned mr_poisson_of_normal(const struct mr_poisson *poisson, double normal);

#endif
