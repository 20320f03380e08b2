/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the call, and messages that begin with it. */
#include "base/call.h"

#include <stdio.h>

_Thread_local const char *mr_call_name __attribute__((tls_model("initial-exec")));

void mr_call_log_list(enum mr_log_level level, const char *format, va_list arguments)
{
    if (!mr_log_enabled(level))
        return;
    char text[2048];
    vsnprintf(text, sizeof text, format, arguments);
    const char *name = mr_call_name;
    mr_log(level, "%s%s%s", name ? name : "", name ? ": " : "", text);
}

void mr_call_log(enum mr_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    mr_call_log_list(level, format, arguments);
    va_end(arguments);
}
