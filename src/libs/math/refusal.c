/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals in the log. */
#include "libs/math/refusal.h"

#include <stdio.h>

#include "base/log.h"

void mr_math_refuse(const char *function, bool is_missing, char reason[MR_MATH_REASON], const char *format,
                    va_list arguments)
{
    vsnprintf(reason, MR_MATH_REASON, format, arguments);
    mr_log_setup();
    mr_log(is_missing ? MR_LOG_WARN : MR_LOG_INFO, "%s: %s", function, reason);
}

void mr_math_refuse_function(const char *function)
{
    mr_log_setup();
    mr_log(MR_LOG_WARN, "%s is not implemented", function);
}
