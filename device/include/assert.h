/* SPDX-License-Identifier: Apache-2.0 */
/* <assert.h>: no include guard, since the macro is made again by whether NDEBUG is defined now. Source compiled at run time has no host side, whose
 * declarations would meet those of the device; other sources get the C library's header, which serves both sides. */
#ifdef __CUDACC_RTC__
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif
#elif defined(MR_ASSERT_FAIL_BOTH) /* declared for both sides; the header declares it for the host */
#define __assert_fail mr_assert_fail_of_the_host
#include_next <assert.h>
#undef __assert_fail
#else
#include_next <assert.h>
#endif
