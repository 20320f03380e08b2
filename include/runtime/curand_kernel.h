/* SPDX-License-Identifier: Apache-2.0 */
/* Here for programs that look where a toolkit keeps it and hand this folder to a compiler of kernels, which has the real one behind it. */
#if !defined(__has_include_next) || !__has_include_next(<curand_kernel.h>)
#error "curand_kernel.h is for kernels: compile this source with Millrace's nvcc or through NVRTC"
#else
#include_next <curand_kernel.h>
#endif
