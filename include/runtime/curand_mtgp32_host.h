/* SPDX-License-Identifier: Apache-2.0 */
/* For hosts whose kernels draw from MTGP32 (curand_kernel.h): they fill parameters and states in device memory. The tables are in
 * curand_mtgp32dc_p_11213.h. */
#ifndef CURAND_MTGP32_HOST_H
#define CURAND_MTGP32_HOST_H

#include <cuda_runtime_api.h>
#include <curand.h>
#include <stdlib.h>

#include "millrace_curand_states.h"

/* The words of a state before its first result. */
static inline void mr_mtgp32_start(unsigned int *state, const mtgp32_params_fast *params, unsigned int seed)
{
    unsigned int hidden = params->tbl[4] ^ params->tbl[8] << 16, fill = hidden;
    fill += fill >> 16;
    fill += fill >> 8;
    for (int i = 0; i < MTGPDC_N; i++)
        state[i] = (fill & 0xff) * 0x01010101u;
    state[0] = seed;
    state[1] = hidden;
    for (int i = 1; i < MTGPDC_N; i++)
        state[i] ^= 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + (unsigned int)i;
}

/* Copies what kernels need of CURAND_NUM_MTGP32_PARAMS sets of parameters to `p`, which is device memory. */
static inline curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t params[], mtgp32_kernel_params_t *p)
{
    mtgp32_kernel_params_t *host = (mtgp32_kernel_params_t *)malloc(sizeof *host);
    if (!host)
        return CURAND_STATUS_ALLOCATION_FAILED;
    for (int i = 0; i < CURAND_NUM_MTGP32_PARAMS; i++) {
        host->pos_tbl[i] = (unsigned int)params[i].pos;
        host->sh1_tbl[i] = (unsigned int)params[i].sh1;
        host->sh2_tbl[i] = (unsigned int)params[i].sh2;
        for (int j = 0; j < 16; j++) {
            host->param_tbl[i][j] = params[i].tbl[j];
            host->temper_tbl[i][j] = params[i].tmp_tbl[j];
            host->single_temper_tbl[i][j] = params[i].flt_tmp_tbl[j];
        }
    }
    host->mask[0] = params[0].mask;
    cudaError_t copied = cudaMemcpy(p, host, sizeof *host, cudaMemcpyHostToDevice);
    free(host);
    return copied == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}

/* Fills n states in device memory (at most CURAND_NUM_MTGP32_PARAMS, one for each set of parameters). `k` is what
 * curandMakeMTGP32Constants filled. State i is that of lane i of libcurand's generator with this seed. */
static inline curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32_t *s, mtgp32_params_fast_t params[],
                                                         mtgp32_kernel_params_t *k, int n, unsigned long long seed)
{
    curandStateMtgp32_t *host = n > 0 ? (curandStateMtgp32_t *)calloc((size_t)n, sizeof *host) : NULL;
    if (!host)
        return CURAND_STATUS_ALLOCATION_FAILED;
    for (int i = 0; i < n; i++) {
        mr_mtgp32_start(host[i].s, &params[i], (unsigned int)(seed ^ seed >> 32) + (unsigned int)i + 1);
        host[i].pIdx = i;
        host[i].k = k;
    }
    cudaError_t copied = cudaMemcpy(s, host, (size_t)n * sizeof *host, cudaMemcpyHostToDevice);
    free(host);
    return copied == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}

#endif
