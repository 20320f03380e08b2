/* SPDX-License-Identifier: Apache-2.0 */
/* What a process leaves of its schedule, and where a witness's bytes are. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libs/observer/schedule_tool.h"
#include "observe/calls.h"

struct obs_schedule_state obs_schedule_state;

/* ---- the bytes ---- */

#define DEVICE(function, member) \
    case MR_CALL_##function: \
        return (uintptr_t)*((const struct mr_params_##function *)params)->member
#define HOST(function, member) DEVICE(function, member)

/* Where the memory is that the call has made; 0: it is none that makes memory. */
static uintptr_t made_by(uint32_t call, const void *params)
{
    switch (call) {
        DEVICE(cuMemAlloc_v2, dptr);
        DEVICE(cuMemAllocPitch_v2, dptr);
        DEVICE(cuMemAllocManaged, dptr);
        DEVICE(cuMemAllocAsync, dptr);
        DEVICE(cuMemAllocFromPoolAsync, dptr);
        DEVICE(cuIpcOpenMemHandle_v2, pdptr);
        DEVICE(cuModuleGetGlobal_v2, dptr);
        HOST(cuMemHostAlloc, pp);
        HOST(cuMemAllocHost_v2, pp);
    case MR_CALL_cuMemHostRegister_v2:
        return (uintptr_t)((const struct mr_params_cuMemHostRegister_v2 *)params)->p;
    default:
        return 0;
    }
}

void obs_schedule_find_bytes(const struct mr_observed_call *call, const struct obs_thread *thread)
{
    const struct obs_bytes_name *name = &obs_schedule_state.options.bytes;
    if (thread->number != name->thread || thread->calls != name->call || !call->params)
        return;
    uintptr_t base = made_by(call->call, call->params);
    if (base)
        atomic_store(&obs_schedule_state.address, base + name->offset);
}

/* ---- writing ---- */

static struct {
    int file, error;
    size_t used;
    char bytes[1 << 14];
} out;

static void flush(void)
{
    for (size_t done = 0; done < out.used && !out.error;) {
        ssize_t wrote = write(out.file, out.bytes + done, out.used - done);
        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            out.error = wrote == 0 ? EIO : errno;
    }
    out.used = 0;
}

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
    va_list arguments;
    if (sizeof out.bytes - out.used < 1024)
        flush();
    va_start(arguments, format);
    int length = vsnprintf(out.bytes + out.used, sizeof out.bytes - out.used, format, arguments);
    va_end(arguments);
    if (length > 0)
        out.used += (size_t)length < sizeof out.bytes - out.used ? (size_t)length : sizeof out.bytes - out.used - 1;
}

/* The options are words without quotes; anything else is left out. */
static void print_plain(const char *key, const char *text)
{
    print(", \"%s\": \"", key);
    for (; *text; text++)
        if (*text >= ' ' && *text < 127 && *text != '"' && *text != '\\')
            print("%c", *text);
    print("\"");
}

static void print_kept(const char *key, const struct obs_kept_bytes *kept)
{
    if (!kept->size)
        return;
    print(",\n\"%s\": \"", key);
    for (size_t i = 0; i < kept->size; i++)
        print("%02x", kept->bytes[i]);
    print("\"");
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void print_all(const char *end)
{
    struct obs_schedule_state *state = &obs_schedule_state;
    struct obs_schedule_counts counts = obs_schedule_count(state->schedule);
    print("{\"format\": \"millrace-schedule\", \"version\": 1, \"pid\": %ld, \"program\": \"%016" PRIx64 "\"",
          (long)getpid(), state->identity);
    print_plain("schedule", state->text);
    print_plain("end", end);
    print(",\n\"other_program\": %s, \"short_of_memory\": %s", truth(state->other_program),
          truth(state->short_of_memory));
    print(", \"decisions\": %" PRIu64 ", \"trace\": \"%016" PRIx64 "\", \"overdue\": %" PRIu64, counts.decisions,
          counts.trace, counts.overdue);
    if (state->options.witness) {
        print(",\n\"held\": %s, \"let_go\": %s", truth(counts.held), truth(counts.let_go > 0));
        print(", \"hold_began\": %s, \"hold_ended\": %s", truth(counts.began), truth(counts.ended));
        print(", \"until_began\": %s, \"until_ended\": %s", truth(counts.until_began), truth(counts.until_ended));
        print_kept("hold_begins", &state->kept[OBS_HELD_BEGINS]);
        print_kept("hold_ends", &state->kept[OBS_HELD_ENDS]);
        print_kept("until_begins", &state->kept[OBS_AWAITED_BEGINS]);
        print_kept("until_ends", &state->kept[OBS_AWAITED_ENDS]);
    }
    print("}\n");
    flush();
}

bool obs_schedule_write(const char *folder, const char *end)
{
    char path[PATH_MAX], part[PATH_MAX + 8];
    int length = snprintf(path, sizeof path, "%s/%ld.schedule.json", folder, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(part, sizeof part, "%s.part", path);
    out.error = 0;
    out.used = 0;
    out.file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out.file < 0)
        return false;
    print_all(end);
    if (close(out.file) != 0 && !out.error)
        out.error = errno;
    if (!out.error && rename(part, path) != 0)
        out.error = errno;
    if (out.error)
        unlink(part);
    errno = out.error;
    return out.error == 0;
}
