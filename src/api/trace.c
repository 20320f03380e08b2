/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of calls. What each call's parameters are called, and where they lie in its struct, is generated from the table
 * of entry points (trace_calls.inc); what kind of value they have, the compiler says. */
#define __CUDA_API_VERSION_INTERNAL /* every symbol by its own name */
#include "api/trace.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api_impl.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "observe/calls.h"

/* Kinds of values, as __builtin_classify_type numbers them in C. */
enum { KIND_INTEGER = 1, KIND_ENUM = 3, KIND_POINTER = 5, KIND_REAL = 8 };

struct parameter {
    const char *name;
    uint16_t offset, size; /* in the struct of parameters */
    uint8_t kind, output_kind; /* output_kind: of what it leads to; 0: that isn't shown */
    uint16_t output_size;
    bool text; /* a string */
};

#define PLACE(symbol, param) (((struct mr_params_##symbol *)0)->param)
#define BASIC(symbol, param) \
    .name = #param, .offset = offsetof(struct mr_params_##symbol, param), .size = sizeof PLACE(symbol, param), \
    .kind = __builtin_classify_type(PLACE(symbol, param))
#define MR_TRACED(symbol, name, first, count)
#define MR_TRACED_VALUE(symbol, param) {BASIC(symbol, param)},
#define MR_TRACED_TEXT(symbol, param) {BASIC(symbol, param), .text = true},
#define MR_TRACED_OUTPUT(symbol, param) \
    {BASIC(symbol, param), .output_kind = __builtin_classify_type(*PLACE(symbol, param)), \
     .output_size = sizeof *PLACE(symbol, param)},
static const struct parameter parameters[] = {
#include "trace_calls.inc"
};
#undef MR_TRACED
#undef MR_TRACED_VALUE
#undef MR_TRACED_TEXT
#undef MR_TRACED_OUTPUT

#define MR_TRACED_VALUE(symbol, param)
#define MR_TRACED_TEXT(symbol, param)
#define MR_TRACED_OUTPUT(symbol, param)
#define MR_TRACED(symbol, name, first, count) [MR_CALL_##symbol] = {name, first, count},
static const struct {
    const char *name;
    uint16_t first, count;
} calls[MR_CALL_COUNT] = {
#include "trace_calls.inc"
};

static bool wanted[MR_CALL_COUNT]; /* written before the first call is traced */

/* Does a name match a pattern, in which * stands for any characters? */
static bool matches(const char *pattern, size_t length, const char *name)
{
    size_t star = SIZE_MAX, mark = 0, p = 0, n = 0;
    while (name[n]) {
        if (p < length && pattern[p] == '*') {
            star = p++;
            mark = n;
        } else if (p < length && pattern[p] == name[n]) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++mark;
        } else {
            return false;
        }
    }
    while (p < length && pattern[p] == '*')
        p++;
    return p == length;
}

/* Marks what one pattern means; false if that is no call. */
static bool mark(const char *pattern, size_t length)
{
    bool any = false;
    for (size_t i = 1; i < MR_CALL_COUNT; i++)
        if (matches(pattern, length, calls[i].name)) {
            wanted[i] = true;
            any = true;
        }
    return any;
}

bool mr_trace_begin(void)
{
    const char *at = mr_setting_text(MR_SETTING_LOG_CALLS);
    bool any = false;
    if (!*at)
        return mr_log_enabled(MR_LOG_DEBUG) && mark("*", 1);
    if (strcmp(at, "none") == 0)
        return false;
    while (*at) {
        size_t length = strcspn(at, ",");
        if (length && !mark(at, length))
            mr_log(MR_LOG_WARN, "MILLRACE_LOG_CALLS: no function of the driver is called '%.*s'", (int)length, at);
        any |= length != 0;
        at += length + (at[length] == ',');
    }
    return any;
}

uint64_t mr_trace_enter(void)
{
    return mr_clock_ns();
}

static size_t put_number(char *to, size_t room, const unsigned char *from, size_t size, unsigned kind, bool hexadecimal)
{
    uint64_t bits = 0;
    if (kind == KIND_REAL && size == sizeof(float)) {
        float value;
        memcpy(&value, from, sizeof value);
        return (size_t)snprintf(to, room, "%g", (double)value);
    }
    if (size > sizeof bits || (kind != KIND_INTEGER && kind != KIND_ENUM && kind != KIND_POINTER))
        return (size_t)snprintf(to, room, "{%zu bytes}", size);
    memcpy(&bits, from, size);
    if (kind == KIND_POINTER && bits == 0)
        return (size_t)snprintf(to, room, "NULL");
    if (kind == KIND_POINTER || hexadecimal || bits >= UINT64_C(1) << 40)
        return (size_t)snprintf(to, room, "0x%llx", (unsigned long long)bits);
    if (kind == KIND_ENUM || (size == sizeof(int) && bits > INT32_MAX))
        return (size_t)snprintf(to, room, "%d", (int)(uint32_t)bits);
    return (size_t)snprintf(to, room, "%llu", (unsigned long long)bits);
}

static bool is_flags(const char *name)
{
    size_t length = strlen(name);
    return length >= 5 && strcmp(name + length - 4, "lags") == 0;
}

static size_t put_value(char *to, size_t room, const struct parameter *parameter, const unsigned char *params)
{
    const unsigned char *place = params + parameter->offset;
    const char *text;
    if (!parameter->text)
        return put_number(to, room, place, parameter->size, parameter->kind, is_flags(parameter->name));
    memcpy(&text, place, sizeof text);
    return (size_t)(text ? snprintf(to, room, "\"%.60s\"", text) : snprintf(to, room, "NULL"));
}

/* What the call has left where an output leads; nothing if it leads nowhere, or to more than a number. */
static size_t put_output(char *to, size_t room, const struct parameter *parameter, const unsigned char *params)
{
    const unsigned char *place;
    unsigned kind = parameter->output_kind;
    memcpy(&place, params + parameter->offset, sizeof place);
    if (!place || (kind != KIND_INTEGER && kind != KIND_ENUM && kind != KIND_POINTER && kind != KIND_REAL))
        return 0;
    int length = snprintf(to, room, ", *%s=", parameter->name);
    if (length < 0 || (size_t)length >= room)
        return 0;
    return (size_t)length + put_number(to + length, room - (size_t)length, place, parameter->output_size, kind, false);
}

void mr_trace_leave(const struct mr_observed_call *call, CUresult status, uint64_t begun)
{
    char text[1536];
    size_t room = sizeof text, used = 0;
    const unsigned char *params = call->params;
    const char *name = NULL;
    uint64_t taken = mr_clock_ns() - begun;
    if (!wanted[call->call])
        return;
    const struct parameter *first = &parameters[calls[call->call].first];
    uint16_t count = params ? calls[call->call].count : 0;
    text[0] = '\0';
    for (uint16_t i = 0; i < count && used < room; i++) {
        used += (size_t)snprintf(text + used, room - used, "%s%s=", i ? ", " : "", first[i].name);
        if (used < room)
            used += put_value(text + used, room - used, &first[i], params);
    }
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, ")");
    if (mr_cuGetErrorName(status, &name) != CUDA_SUCCESS)
        name = "an unknown status";
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, " = %s", name);
    for (uint16_t i = 0; i < count && used < room && status == CUDA_SUCCESS; i++)
        if (first[i].output_kind)
            used += put_output(text + used, room - used, &first[i], params);
    mr_log_always(MR_LOG_DEBUG, "%s(%s; %llu.%03llu us, thread %ld", call->name, text,
                  (unsigned long long)(taken / 1000), (unsigned long long)(taken % 1000), (long)syscall(SYS_gettid));
}

void mr_trace_first(unsigned flags, uint64_t begun)
{
    struct mr_params_cuInit params = {flags};
    const struct mr_observed_call call = {.call = MR_CALL_cuInit, .name = "cuInit", .params = &params};
    mr_trace_leave(&call, CUDA_SUCCESS, begun);
}
