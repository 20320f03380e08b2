/* SPDX-License-Identifier: Apache-2.0 */
/* One line for each launch from a kernel; see launches.h.
 *
 * A message is a line with its place and kind, lines of the source below it, and notes with their own. */
#include "ptx/launches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/places.h"

#define NOT_RELOCATABLE "a launch from a kernel needs relocatable device code: compile with -rdc=true"
#define NOT_NAMED "a launch from a kernel has to name a kernel, with template arguments that can be found from the call"

/* The toolkit's functions that kernels may call, by the names behind `cuda`. */
static const char *const device_runtime[] = {
    "DeviceGetAttribute",
    "DeviceGetCacheConfig",
    "DeviceGetLimit",
    "DeviceGetSharedMemConfig",
    "DeviceSynchronize",
    "EventCreateWithFlags",
    "EventDestroy",
    "EventRecord",
    "EventRecordWithFlags",
    "Free",
    "FuncGetAttributes",
    "GetDevice",
    "GetDeviceCount",
    "GetErrorName",
    "GetErrorString",
    "GetLastError",
    "Malloc",
    "Memcpy2DAsync",
    "Memcpy3DAsync",
    "MemcpyAsync",
    "Memset2DAsync",
    "Memset3DAsync",
    "MemsetAsync",
    "OccupancyMaxActiveBlocksPerMultiprocessor",
    "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "PeekAtLastError",
    "RuntimeGetVersion",
    "StreamCreateWithFlags",
    "StreamDestroy",
    "StreamWaitEvent",
};

static size_t line_length(const char *at)
{
    size_t length = strcspn(at, "\n");
    return length + (at[length] == '\n');
}

static bool has(const char *text, size_t length, const char *words)
{
    return memmem(text, length, words, strlen(words)) != NULL;
}

static bool begins_message(const char *line, size_t length)
{
    return has(line, length, ": error: ") || has(line, length, ": fatal error: ") || has(line, length, ": warning: ") ||
           strncmp(line, "In file included from ", 22) == 0;
}

/* Whether the line, which is a count of errors, is clang's last. */
static bool is_count(const char *line, size_t length)
{
    return strspn(line, "0123456789") > 0 && has(line, length, " generated");
}

/* An error with its notes, from its first line on. */
static size_t message_length(const char *at)
{
    size_t length = line_length(at);
    while (at[length] && !begins_message(at + length, line_length(at + length)) &&
           !is_count(at + length, line_length(at + length)))
        length += line_length(at + length);
    return length;
}

/* The function of the runtime that the error is about, with its length; NULL if kernels may not call it. */
static const char *runtime_function(const char *message, size_t head, size_t *length)
{
    const char *name = memmem(message, head, "'cuda", 5);
    if (!name)
        return NULL;
    *length = strcspn(name + 1, "'<(\n");
    for (size_t i = 0; i < sizeof device_runtime / sizeof *device_runtime; i++)
        if (strlen(device_runtime[i]) == *length - 4 && strncmp(device_runtime[i], name + 5, *length - 4) == 0)
            return name + 1;
    return NULL;
}

static bool is_launch(const char *message, size_t head, size_t whole)
{
    return has(message, head, "error: reference to __global__ function '") ||
           has(message, head, "__host__ function '__cudaPushCallConfiguration'") ||
           (has(message, head, "error: no matching function for call to '") &&
            has(message, whole, "call to __global__ function from __"));
}

static bool is_call(const char *message, size_t head, size_t whole)
{
    return (has(message, head, "error: reference to __host__ function '") &&
            (has(message, head, " in __device__") || has(message, head, " in __global__"))) ||
           (has(message, head, "error: no matching function for call to '") &&
            has(message, whole, "call to __host__ function from __"));
}

/* The error in one line, with the lines of the source below it; nothing if its line has one already. */
static void tell(const char *message, size_t head, size_t whole, const char *function, size_t function_length,
                 bool relocatable, struct mr_words *told, struct mr_text *out)
{
    const char *error = memmem(message, head, ": error: ", 9);
    size_t place = (size_t)(error - message), line = place;
    while (line > 0 && message[line - 1] >= '0' && message[line - 1] <= '9')
        line--;
    char key[1024];
    /* Clang's own places end in a column, those in Microsoft's way in a line. */
    snprintf(key, sizeof key, "%.*s", (int)(place > line && line > 0 && message[line - 1] == ':' ? line - 1 : place),
             message);
    if (mr_words_have(told, key, strlen(key)))
        return;
    mr_words_add(told, key, "");
    mr_text_add(out, message, place);
    if (function)
        mr_text_format(out, ": error: kernels can't call %.*s here\n", (int)function_length, function);
    else
        mr_text_format(out, ": error: %s\n", relocatable ? NOT_NAMED : NOT_RELOCATABLE);
    for (size_t at = head; at < whole && !has(message + at, line_length(message + at), ": note: ");
         at += line_length(message + at))
        mr_text_add(out, message + at, line_length(message + at));
}

bool mr_launches_has(const char *messages)
{
    struct mr_text plain = {.data = NULL};
    bool found = false;
    mr_places_plain(messages, strlen(messages), &plain);
    for (const char *at = mr_text_chars(&plain); *at && !found; at += message_length(at))
        found = is_launch(at, line_length(at), message_length(at));
    mr_text_clear(&plain);
    return found;
}

void mr_launches_tell(const char *messages, bool relocatable, struct mr_text *out)
{
    struct mr_text plain = {.data = NULL};
    struct mr_words told = {.items = NULL};
    unsigned errors = 0, dropped = 0;
    mr_places_plain(messages, strlen(messages), &plain);
    struct mr_text other = {.data = NULL};
    for (const char *at = mr_text_chars(&plain); *at;) {
        size_t head = line_length(at), whole = message_length(at), length = 0;
        const char *function = is_call(at, head, whole) ? runtime_function(at, head, &length) : NULL;
        bool error = has(at, head, "error: ");
        if (is_count(at, head)) {
            mr_text_format(&other, "%u error%s", errors, errors == 1 ? "" : "s");
            mr_text_put(&other, strstr(at, " generated"));
            break;
        }
        size_t before = other.length;
        if (error && (function || is_launch(at, head, whole))) {
            tell(at, head, whole, function, length, relocatable, &told, &other);
            dropped++;
        } else {
            mr_text_add(&other, at, whole);
        }
        errors += error && other.length > before;
        at += whole;
    }
    mr_text_put(out, dropped ? mr_text_chars(&other) : messages);
    out->failed = out->failed || plain.failed || other.failed;
    mr_text_clear(&plain);
    mr_text_clear(&other);
    mr_words_clear(&told);
}
