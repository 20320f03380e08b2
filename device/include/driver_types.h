/* SPDX-License-Identifier: Apache-2.0 */
/* <driver_types.h>: source compiled at run time has it before its first line, a copy; other sources get the runtime's header. */
#ifdef __CUDACC_RTC__
#include "millrace_driver_types.h"
#else
#include_next <driver_types.h>
#endif
