/* SPDX-License-Identifier: Apache-2.0 */
/* <driver_types.h>: source compiled at run time has of it what the prelude brings, the statuses; other sources get the runtime's header. */
#ifdef __CUDACC_RTC__
#include "millrace_error.h"
#else
#include_next <driver_types.h>
#endif
