/* SPDX-License-Identifier: Apache-2.0 */
/* The call that a thread is in: the name of the public function, for messages.
 *
 * The generated wrapper of each function (gen/, exports.c) leaves the name in `mr_call_name`, one store to a word of
 * the thread's own; nothing is undone when the call returns, so the word holds the latest call's name. Whatever fails
 * below a wrapper says what was wrong and the name is put before it. A program's function that the driver calls may
 * make calls itself: its caller puts the name back afterwards (mr_call_program does so). */
#ifndef MR_BASE_CALL_H
#define MR_BASE_CALL_H

#include <stdarg.h>

#include "base/log.h"

/* The function's name without a suffix of its version ("cuMemAlloc"), a constant; NULL on a thread that has made no
 * call. */
extern _Thread_local const char *mr_call_name __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* As mr_log, with "<name of the call>: " before the message; without a call, the message alone. */
void mr_call_log(enum mr_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
void mr_call_log_list(enum mr_log_level level, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0), cold));

#endif
