/* SPDX-License-Identifier: Apache-2.0 */
/* What a process leaves of its schedule, and where a witness's bytes are. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libs/observer/left.h"
#include "libs/observer/schedule_tool.h"
#include "observe/calls.h"

struct obs_schedule_state obs_schedule_state;

/* ---- the bytes ---- */

#define DEVICE(function, member) \
    case MR_CALL_##function: \
        return (uintptr_t)*((const struct mr_params_##function *)params)->member
#define HOST(function, member) DEVICE(function, member)

/* Where the memory is that the call has made; 0: the call makes no memory. */
static uintptr_t made_by(uint32_t call, const void *params)
{
    switch (call) {
        DEVICE(cuMemAlloc_v2, dptr);
        DEVICE(cuMemAllocPitch_v2, dptr);
        DEVICE(cuMemAllocManaged, dptr);
        DEVICE(cuMemAllocAsync, dptr);
        DEVICE(cuMemAllocFromPoolAsync, dptr);
        DEVICE(cuIpcOpenMemHandle_v2, pdptr);
        DEVICE(cuMemPoolImportPointer, ptr_out);
        DEVICE(cuModuleGetGlobal_v2, dptr);
        DEVICE(cuLibraryGetGlobal, dptr);
        DEVICE(cuLibraryGetManaged, dptr);
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

/* The options are words without quotes; anything else is left out. */
static void print_plain(const char *key, const char *text)
{
    obs_left_print(", \"%s\": \"", key);
    for (; *text; text++)
        if (*text >= ' ' && *text < 127 && *text != '"' && *text != '\\')
            obs_left_print("%c", *text);
    obs_left_print("\"");
}

static void print_kept(const char *key, const struct obs_kept_bytes *kept)
{
    if (!kept->size)
        return;
    obs_left_print(",\n\"%s\": \"", key);
    for (size_t i = 0; i < kept->size; i++)
        obs_left_print("%02x", kept->bytes[i]);
    obs_left_print("\"");
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void print_all(const char *end)
{
    struct obs_schedule_state *state = &obs_schedule_state;
    struct obs_schedule_counts counts = obs_schedule_count(state->schedule);
    obs_left_print("{\"format\": \"millrace-schedule\", \"version\": 1, \"pid\": %ld, \"program\": \"%016" PRIx64 "\"",
                   (long)getpid(), state->identity);
    print_plain("schedule", state->text);
    print_plain("end", end);
    obs_left_print(",\n\"other_program\": %s, \"short_of_memory\": %s", truth(state->other_program),
                   truth(state->short_of_memory));
    obs_left_print(", \"decisions\": %" PRIu64 ", \"asked\": %" PRIu64 ", \"trace\": \"%016" PRIx64 "\"",
                   counts.decisions, counts.asked, counts.trace);
    obs_left_print(", \"overdue\": %" PRIu64, counts.overdue);
    if (state->options.witness) {
        obs_left_print(",\n\"held\": %s, \"let_go\": %s", truth(counts.held), truth(counts.let_go > 0));
        obs_left_print(", \"hold_began\": %s, \"hold_ended\": %s", truth(counts.began), truth(counts.ended));
        obs_left_print(", \"until_began\": %s, \"until_ended\": %s", truth(counts.until_began),
                       truth(counts.until_ended));
        print_kept("hold_begins", &state->kept[OBS_HELD_BEGINS]);
        print_kept("hold_ends", &state->kept[OBS_HELD_ENDS]);
        print_kept("until_begins", &state->kept[OBS_AWAITED_BEGINS]);
        print_kept("until_ends", &state->kept[OBS_AWAITED_ENDS]);
    }
    obs_left_print("}\n");
}

bool obs_schedule_write(const char *folder, const char *end)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%ld.schedule.json", folder, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!obs_left_open(path, false))
        return false;
    print_all(end);
    return obs_left_close();
}
