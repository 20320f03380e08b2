/* SPDX-License-Identifier: Apache-2.0 */
/* Here for programs that look where a toolkit keeps it and hand this folder to a compiler of kernels, which has the
 * real one behind it. A compiler of host code alone gets the states, of which hosts allocate arrays. The functions are
 * for kernels. */
#if defined(__CUDACC__) && defined(__has_include_next) && __has_include_next(<curand_kernel.h>)
#include_next <curand_kernel.h>
#elif defined(__cplusplus)
#include "millrace_curand_states.h"
#else
#error "curand_kernel.h is for kernels, and for C++: compile this source with Millrace's nvcc, through NVRTC, or as C++"
#endif
