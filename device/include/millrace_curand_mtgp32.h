/* SPDX-License-Identifier: Apache-2.0 */
/* MTGP32 in kernels (Saito and Matsumoto, Variants of Mersenne Twister suitable for graphic processors, 2013). Part of curand_kernel.h.
 *
 * A state belongs to a block of at most 256 threads, which all call together: thread t gives result t behind the state's place, and the place goes on
 * by the number of threads. The state is a ring of 1,024 words, of which the 351 from the place on count; what a block writes lies behind those that its
 * threads read. curand_mtgp32_host.h fills states and parameters. */
#ifndef MILLRACE_CURAND_MTGP32_H
#define MILLRACE_CURAND_MTGP32_H

#define MR_MTGP32_WORD(place) state->s[(unsigned int)(state->offset + (place)) & MTGP32_STATE_MASK]

/* The new word at `index` behind the place, stored, and in *picked what its tempering goes by. */
MR_DEVICE unsigned int mr_mtgp32_step(curandStateMtgp32 *state, unsigned int index, unsigned int *picked)
{
    const mtgp32_kernel_params *k = state->k;
    unsigned int set = (unsigned int)state->pIdx, pick = k->pos_tbl[set];
    unsigned int x = (MR_MTGP32_WORD(index) & k->mask[0]) ^ MR_MTGP32_WORD(index + 1), second = MR_MTGP32_WORD(index + pick);
    unsigned int t = MR_MTGP32_WORD(index + pick - 1);
    x ^= x << k->sh1_tbl[set];
    x ^= second >> k->sh2_tbl[set];
    x ^= k->param_tbl[set][x & 15];
    MR_MTGP32_WORD(index + MTGPDC_N) = x;
    t ^= t >> 16;
    *picked = (t ^ t >> 8) & 15;
    return x;
}
MR_DEVICE void mr_mtgp32_go_on(curandStateMtgp32 *state, unsigned int index, unsigned int count)
{
    __syncthreads();
    if (index == 0)
        state->offset = (int)((unsigned int)(state->offset + count) & MTGP32_STATE_MASK);
    __syncthreads();
}
MR_DEVICE unsigned int mr_mtgp32_word(curandStateMtgp32 *state, unsigned int index, unsigned int count)
{
    unsigned int picked, x = mr_mtgp32_step(state, index, &picked);
    x ^= state->k->temper_tbl[state->pIdx][picked];
    mr_mtgp32_go_on(state, index, count);
    return x;
}
/* From 1 up to 2, as in cuRAND, where the manual has from 0 to 1. */
MR_DEVICE float mr_mtgp32_single(curandStateMtgp32 *state, unsigned int index, unsigned int count)
{
    unsigned int picked, x = mr_mtgp32_step(state, index, &picked);
    x = x >> 9 ^ state->k->single_temper_tbl[state->pIdx][picked];
    mr_mtgp32_go_on(state, index, count);
    return __uint_as_float(x);
}
/* cuRAND counts threads so: in blocks of three dimensions some have one number. Those get the same result. */
MR_DEVICE unsigned int mr_mtgp32_thread() { return blockDim.z * blockDim.y * threadIdx.z + blockDim.x * threadIdx.y + threadIdx.x; }
MR_DEVICE unsigned int mr_mtgp32_threads() { return blockDim.x * blockDim.y * blockDim.z; }

MR_DEVICE unsigned int curand(curandStateMtgp32 *state) { return mr_mtgp32_word(state, mr_mtgp32_thread(), mr_mtgp32_threads()); }
MR_DEVICE float curand_mtgp32_single(curandStateMtgp32 *state) { return mr_mtgp32_single(state, mr_mtgp32_thread(), mr_mtgp32_threads()); }
/* Result `index` of the `n` that the block takes by this call, whichever thread asks. */
MR_DEVICE unsigned int curand_mtgp32_specific(curandStateMtgp32 *state, unsigned char index, unsigned char n) { return mr_mtgp32_word(state, index, n); }
MR_DEVICE float curand_mtgp32_single_specific(curandStateMtgp32 *state, unsigned char index, unsigned char n) { return mr_mtgp32_single(state, index, n); }

#undef MR_MTGP32_WORD

#endif
