/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes before the header of this name in Thrust. Its algorithms are for both sides: each has a parallel way, which
 * launches kernels, and a sequential one. In device code the parallel way stands in a branch that is never taken, so that
 * its kernels are compiled. NVIDIA's compiler lets such a branch call functions of the host. clang does not, so
 * here it is a function of the host's own: its kernels are compiled, and nothing of it is device code. Nor
 * do kernels launch kernels where relocatable code would allow it: in a kernel, algorithms are sequential.
 */
#pragma once
#include_next <thrust/system/cuda/detail/cdp_dispatch.h>
#if defined __CUDA_ARCH__ && defined THRUST_CDP_DISPATCH
/* What a branch returns, which nobody gets: whatever it is, also a list in braces. */
struct mr_thrust_result {
    template <class... Types> __attribute__((host)) mr_thrust_result(Types &&...) {}
};
#undef THRUST_CDP_DISPATCH
#define THRUST_CDP_DISPATCH(par_impl, seq_impl) \
    if (false) { \
        auto mr_parallel = [&] __attribute__((host)) () -> mr_thrust_result { \
            NV_IF_TARGET(NV_ANY_TARGET, par_impl); \
            return {}; \
        }; \
        (void)mr_parallel; \
    } \
    NV_IF_TARGET(NV_IS_HOST, par_impl, seq_impl)
#endif
