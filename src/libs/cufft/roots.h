/* SPDX-License-Identifier: Apache-2.0 */
/* Roots of unity: exp(-2 pi i k / n) for any k, from two tables of some square root of n entries each. */
#ifndef MR_CUFFT_ROOTS_H
#define MR_CUFFT_ROOTS_H

#include <stdint.h>

struct mr_roots {
    int64_t n;
    int shift; /* the fine table has 2 ** shift entries */
    double (*coarse)[2], (*fine)[2];
};

/* NULL when memory is short. */
struct mr_roots *mr_roots_new(int64_t n) __attribute__((warn_unused_result));
void mr_roots_free(struct mr_roots *roots);

/* exp(-2 pi i k / n), 0 <= k < n. */
static inline void mr_root(const struct mr_roots *roots, int64_t k, double out[2])
{
    const double *a = roots->coarse[k >> roots->shift], *b = roots->fine[k & (((int64_t)1 << roots->shift) - 1)];
    out[0] = a[0] * b[0] - a[1] * b[1];
    out[1] = a[0] * b[1] + a[1] * b[0];
}

#endif
