/* SPDX-License-Identifier: Apache-2.0 */
/* Counts from the tables that curandCreatePoissonDistribution makes. Part of curand_kernel.h.
 *
 * A table has columns of the same width. A uniform number falls into one, and gives the column's own count below the column's border, another one from
 * there on (Walker, 1977). One number of the generator makes one count. */
#ifndef MILLRACE_CURAND_DISCRETE_H
#define MILLRACE_CURAND_DISCRETE_H

template <class Word> MR_DEVICE unsigned int mr_discrete_of(Word x, curandDiscreteDistribution_t distribution)
{
    const curandDistributionM2Shift_st *columns = distribution->M2;
    double u = _curand_uniform_double(x);
    unsigned int column = (unsigned int)(int)__nvvm_floor_d(columns->length * u);
    return columns->shift + (u < columns->histogram->V[column] ? column : columns->histogram->K[column]);
}
template <class State> MR_DEVICE unsigned int curand_discrete(State *state, curandDiscreteDistribution_t distribution)
{
    return mr_discrete_of(curand(state), distribution);
}
MR_DEVICE uint4 curand_discrete4(curandStatePhilox4_32_10 *state, curandDiscreteDistribution_t distribution)
{
    uint4 x = curand4(state);
    return {mr_discrete_of(x.x, distribution), mr_discrete_of(x.y, distribution), mr_discrete_of(x.z, distribution), mr_discrete_of(x.w, distribution)};
}

#endif
