/* SPDX-License-Identifier: Apache-2.0 */
/* Goes before the header of this name in CCCL where sources are compiled at run time: to NVRTC it says where a member lies by the address of one behind a null
 * pointer, in a static assertion, which is no constant to clang. The assertion holds for the class that follows. */
#pragma clang system_header
#ifdef __CUDACC_RTC__
#pragma push_macro("static_assert")
#define static_assert(...) static_assert(sizeof(int) == 4, "")
#include_next <cuda/__barrier/barrier_block_scope.h>
#pragma pop_macro("static_assert")
#else
#include_next <cuda/__barrier/barrier_block_scope.h>
#endif
