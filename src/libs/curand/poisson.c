/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of Poisson distributions: the method of aliases (Walker, 1974), in which each column has its own count and one
 * other; and cumulated probabilities. */
#include "libs/curand/poisson.h"

#include <math.h>
#include <stdlib.h>

/* The logarithm of the smallest double above 0, rounded. A count whose probability is smaller has no column. */
#define LEAST -745.13321910194122

static double logarithm_of(double mean, unsigned count)
{
    return count * log(mean) - mean - lgamma(count + 1.0);
}

/* The counts that have a probability in double precision. */
static void bounds(double mean, unsigned *first, unsigned *length)
{
    unsigned low = 0, high = (unsigned)mean + 1;
    if (-mean < LEAST) {
        unsigned above = (unsigned)mean;
        while (above - low > 1) {
            unsigned middle = low + (above - low) / 2;
            if (logarithm_of(mean, middle) > LEAST)
                above = middle;
            else
                low = middle;
        }
        low = above;
    }
    while (logarithm_of(mean, high) > LEAST)
        high++;
    *first = low;
    *length = high - low;
}

/* Fills the columns; `share` has each count's probability times the length. Each column that is not full is filled up
 * by the highest count whose share is 1 or more. */
static void make_aliases(struct mr_poisson *p, double *share)
{
    unsigned large = p->length;
    bool is_done = false;
    for (unsigned i = 0; i < p->length; i++) {
        p->other[i] = i;
        p->border[i] = 1;
    }
    while (!is_done) {
        is_done = true;
        for (unsigned i = 0; i < p->length; i++) {
            if (p->other[i] != i || share[i] >= 1)
                continue;
            while (large > 0 && (p->other[large - 1] != large - 1 || share[large - 1] < 1))
                large--;
            if (large == 0)
                break;
            p->other[i] = large - 1;
            p->border[i] = share[i];
            share[large - 1] -= 1 - share[i];
            is_done = false;
        }
    }
    for (unsigned i = 0; i < p->length; i++)
        p->border[i] = (i + p->border[i]) / p->length;
}

static struct mr_poisson *make(double mean, bool is_inverse, bool has_table)
{
    unsigned first = 0, length = 0;
    if (has_table)
        bounds(mean, &first, &length);
    struct mr_poisson *p = malloc(sizeof *p + length * (sizeof *p->border + sizeof *p->other));
    double *share = malloc((length + 1) * sizeof *share);
    if (p && share) {
        *p = (struct mr_poisson){
            .mean = mean, .root = sqrt(mean), .first = first, .length = length, .is_inverse = is_inverse};
        p->border = (double *)(void *)(p + 1);
        p->other = (unsigned *)(void *)(p->border + length);
        double sum = 0;
        for (unsigned i = 0; i < length; i++) {
            share[i] = exp(logarithm_of(mean, first + i));
            p->border[i] = sum += share[i];
            share[i] *= length;
        }
        if (!is_inverse && length)
            make_aliases(p, share);
    } else {
        free(p);
        p = NULL;
    }
    free(share);
    return p;
}

struct mr_poisson *mr_poisson_new(double mean, bool is_inverse)
{
    return make(mean, is_inverse, is_inverse || mean < MR_POISSON_NORMAL);
}

struct mr_poisson *mr_poisson_new_table(double mean)
{
    return make(mean, false, true);
}

unsigned mr_poisson_of(const struct mr_poisson *p, double u)
{
    if (!p->is_inverse) {
        unsigned column = (unsigned)(u * p->length);
        column = column < p->length ? column : p->length - 1;
        return p->first + (u < p->border[column] ? column : p->other[column]);
    }
    unsigned low = 0, high = p->length - 1;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (p->border[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return p->first + low;
}

unsigned mr_poisson_of_normal(const struct mr_poisson *p, double normal)
{
    double count = p->root * normal + p->mean + 0.5;
    return count > 0 ? (unsigned)count : 0;
}
