/* SPDX-License-Identifier: Apache-2.0 */
/* The tool trace: writes down when calls, works and their parts began and ended, for `millrace trace`.
 *
 * It understands nothing: what belongs together, and which arrows there are, the command finds out. Options: "mib=N",
 * the file's size at most, and "sites=0", which leaves out where calls come from. */
#include <stdatomic.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "libs/observer/folder.h"
#include "libs/observer/modules.h"
#include "libs/observer/sites.h"
#include "libs/observer/tool.h"
#include "libs/observer/trace.h"
#include "libs/observer/trace_file.h"
#include "observe/calls.h"

enum { DEFAULT_MIB = 1024, MOST_MIB = 1 << 20 };

static const struct mr_observed_driver *driver;
static CUresult (*stream_captures)(CUstream stream, CUstreamCaptureStatus *status);
static CUresult (*context_device)(CUdevice *device);
static uint64_t most = (uint64_t)DEFAULT_MIB << 20;
static bool sites = true, opened;
static _Atomic uint32_t told_sites; /* all up to this number are in the file */
static _Atomic bool telling;

static bool take_option(const char *option, size_t length)
{
    if (length == 7 && memcmp(option, "sites=0", 7) == 0) {
        sites = false;
        return true;
    }
    if (length > 4 && memcmp(option, "mib=", 4) == 0) {
        char *end;
        unsigned long long mib = strtoull(option + 4, &end, 10);
        most = (uint64_t)mib << 20;
        return end == option + length && mib >= 1 && mib <= MOST_MIB;
    }
    return false;
}

/* Those of one word of MILLRACE_OBSERVE, which ends where the text does or at a comma. */
static bool take_options(const char *options)
{
    for (const char *option = options; *option && *option != ',';) {
        size_t length = strcspn(option, ":,");
        if (!take_option(option, length)) {
            mr_log(MR_LOG_ERROR,
                   "MILLRACE_OBSERVE: the tool trace takes mib=1 to mib=1048576 and sites=0, not '%.*s'; nothing is "
                   "observed",
                   (int)length, option);
            return false;
        }
        option += length + (option[length] == ':');
    }
    return true;
}

static bool open_trace(const struct mr_observed_driver *given, const char *options)
{
    if (!take_options(options))
        return false;
    driver = given;
    stream_captures = (CUresult(*)(CUstream, CUstreamCaptureStatus *))given->function("cuStreamIsCapturing");
    context_device = (CUresult(*)(CUdevice *))given->function("cuCtxGetDevice");
    if (stream_captures && context_device)
        return true;
    mr_log(MR_LOG_ERROR, "the driver lacks cuStreamIsCapturing or cuCtxGetDevice: nothing is observed");
    return false;
}

/* ---- call sites ---- */

/* A module's build-id as text; kept, since texts are known by where they are. */
struct build {
    const struct obs_module *module;
    struct build *next;
    char text[2 * OBS_BUILD_ID_MAX + 1];
};

/* One thread at a time (put_new_sites). NULL when memory is short. */
static const char *build_text(const struct obs_module *module)
{
    static struct build *builds;
    for (const struct build *known = builds; known; known = known->next)
        if (known->module == module)
            return known->text;
    struct build *build = calloc(1, sizeof *build);
    if (!build)
        return NULL;
    for (unsigned i = 0; i < module->build_id_size && i < OBS_BUILD_ID_MAX; i++) {
        build->text[2 * i] = "0123456789abcdef"[module->build_id[i] >> 4];
        build->text[2 * i + 1] = "0123456789abcdef"[module->build_id[i] & 15];
    }
    build->module = module;
    build->next = builds;
    builds = build;
    return build->text;
}

static void put_frame(struct trace_writer *writer, uint32_t site, const struct obs_frame *frame)
{
    struct trace_site made = {.line = frame->line, .offset = frame->offset};
    made.file = frame->file ? trace_text(writer, frame->file) : 0;
    made.function = frame->function ? trace_text(writer, frame->function) : 0;
    const struct obs_module *module = frame->file ? NULL : obs_module(frame->module);
    if (module) {
        const char *build = build_text(module);
        made.module = trace_text(writer, module->path);
        made.build = build ? trace_text(writer, build) : 0;
    }
    struct trace_site *record = trace_room(writer, sizeof *record, TRACE_SITE);
    if (!record)
        return;
    made.record = record->record;
    made.record.more = site;
    *record = made;
    trace_done(record, sizeof *record);
}

/* The site's innermost frames. Those of the runtime library stand in front of the program's. */
static void put_site(struct trace_writer *writer, uint32_t site)
{
    const struct obs_frame *frames;
    uint32_t count = (uint32_t)obs_site_frames(site, &frames);
    for (uint32_t i = 0; i < count && i < TRACE_FRAMES; i++)
        put_frame(writer, site, &frames[i]);
}

/* A site is new to few calls. A thread that finds some writes them all, unless another thread does so already. */
static void put_new_sites(struct trace_writer *writer, uint32_t site)
{
    if (site <= atomic_load_explicit(&told_sites, memory_order_acquire) || atomic_exchange(&telling, true))
        return;
    uint32_t count = obs_site_count();
    for (uint32_t i = atomic_load(&told_sites) + 1; i <= count; i++)
        put_site(writer, i);
    atomic_store(&told_sites, count);
    atomic_store(&telling, false);
}

/* ---- calls ---- */

struct effect {
    enum trace_role role;
    const void *event;
    CUstream stream;
};

/* The forms of one function have the same parameters. Of several operations in a batch nothing is told. */
#define VALUE_CASES(name, role) \
    case MR_CALL_##name##32: \
    case MR_CALL_##name##64: \
    case MR_CALL_##name##32_v2: \
    case MR_CALL_##name##64_v2: { \
        const struct mr_params_##name##32_v2 *params = call->params; \
        return (struct effect){role, (const void *)(uintptr_t)params->addr, params->stream}; \
    }

static struct effect value_effect_of(const struct mr_observed_call *call)
{
    switch (call->call) {
        VALUE_CASES(cuStreamWriteValue, TRACE_WRITES_VALUE)
        VALUE_CASES(cuStreamWaitValue, TRACE_WAITS_VALUE)
    default:
        return (struct effect){TRACE_PLAIN, NULL, NULL};
    }
}

/* What a call does to the order of work. */
static struct effect effect_of(const struct mr_observed_call *call)
{
    switch (call->call) {
    case MR_CALL_cuEventRecord: {
        const struct mr_params_cuEventRecord *params = call->params;
        return (struct effect){TRACE_RECORDS, params->hEvent, params->hStream};
    }
    case MR_CALL_cuEventRecordWithFlags: {
        const struct mr_params_cuEventRecordWithFlags *params = call->params;
        return (struct effect){TRACE_RECORDS, params->hEvent, params->hStream};
    }
    case MR_CALL_cuStreamWaitEvent: {
        const struct mr_params_cuStreamWaitEvent *params = call->params;
        return (struct effect){TRACE_WAITS, params->hEvent, params->hStream};
    }
    case MR_CALL_cuEventQuery: { /* a query that fails tells nothing */
        const struct mr_params_cuEventQuery *params = call->params;
        return (struct effect){TRACE_HOST_EVENT, params->hEvent, NULL};
    }
    case MR_CALL_cuStreamQuery: {
        const struct mr_params_cuStreamQuery *params = call->params;
        return (struct effect){TRACE_HOST_STREAM, NULL, params->hStream};
    }
    case MR_CALL_cuEventSynchronize: {
        const struct mr_params_cuEventSynchronize *params = call->params;
        return (struct effect){TRACE_HOST_EVENT, params->hEvent, NULL};
    }
    case MR_CALL_cuStreamSynchronize: {
        const struct mr_params_cuStreamSynchronize *params = call->params;
        return (struct effect){TRACE_HOST_STREAM, NULL, params->hStream};
    }
    case MR_CALL_cuEventDestroy_v2: {
        const struct mr_params_cuEventDestroy_v2 *params = call->params;
        return (struct effect){TRACE_FORGETS, params->hEvent, NULL};
    }
    case MR_CALL_cuCtxRecordEvent: {
        const struct mr_params_cuCtxRecordEvent *params = call->params;
        return (struct effect){TRACE_RECORDS_ALL, params->hEvent, NULL};
    }
    case MR_CALL_cuCtxWaitEvent: {
        const struct mr_params_cuCtxWaitEvent *params = call->params;
        return (struct effect){TRACE_WAITS_ALL, params->hEvent, NULL};
    }
    case MR_CALL_cuCtxSynchronize:
    case MR_CALL_cuCtxSynchronize_v2:
        return (struct effect){TRACE_HOST_ALL, NULL, NULL};
    default:
        return value_effect_of(call);
    }
}

static void put_stream(struct trace_writer *writer, enum trace_stream_kind kind, uint64_t stream, CUcontext context)
{
    struct trace_stream *record = stream ? trace_room(writer, sizeof *record, TRACE_STREAM) : NULL;
    if (!record)
        return;
    record->record.more = kind;
    record->stream = stream;
    record->context = (uintptr_t)context;
    trace_done(record, sizeof *record);
}

static bool makes_stream(uint32_t call)
{
    return call == MR_CALL_cuStreamCreate || call == MR_CALL_cuStreamCreateWithPriority ||
           call == MR_CALL_cuGreenCtxStreamCreate;
}

/* A call that makes a stream that is not a blocking one. */
static void put_new_stream(struct trace_writer *writer, const struct mr_observed_call *call)
{
    const struct mr_params_cuStreamCreate *plain = call->params;
    const struct mr_params_cuStreamCreateWithPriority *prior = call->params;
    const struct mr_params_cuGreenCtxStreamCreate *green = call->params;
    const CUstream *stream = call->call == MR_CALL_cuStreamCreate               ? plain->phStream
                             : call->call == MR_CALL_cuStreamCreateWithPriority ? prior->phStream
                                                                                : green->phStream;
    unsigned flags = call->call == MR_CALL_cuStreamCreate               ? plain->Flags
                     : call->call == MR_CALL_cuStreamCreateWithPriority ? prior->flags
                                                                        : green->flags;
    if (flags & CU_STREAM_NON_BLOCKING)
        put_stream(writer, TRACE_STREAM_NONBLOCKING, trace_stream_number(*stream), call->context);
}

/* The device of the context that the thread has, when it has another one than before, and its legacy default stream. */
static void put_context(struct trace_writer *writer, CUcontext context)
{
    CUdevice device = 0;
    driver->pause(true);
    bool good = context_device(&device) == CUDA_SUCCESS;
    driver->pause(false);
    put_stream(writer, TRACE_STREAM_LEGACY, trace_stream_number(CU_STREAM_LEGACY), context);
    struct trace_context *record = good ? trace_room(writer, sizeof *record, TRACE_CONTEXT) : NULL;
    if (!record)
        return;
    record->record.more = (uint32_t)device;
    record->context = (uintptr_t)context;
    trace_done(record, sizeof *record);
    writer->context = context;
}

static bool has_stream(enum trace_role role)
{
    return role == TRACE_RECORDS || role == TRACE_WAITS || role == TRACE_HOST_STREAM || role == TRACE_WRITES_VALUE ||
           role == TRACE_WAITS_VALUE;
}

static void enter(struct mr_observed_call *call)
{
    struct trace_writer *writer = trace_writer_here();
    uint64_t now = mr_clock_ns();
    call->data = (void *)(uintptr_t)now;
    if (!writer)
        return;
    if (call->context && call->context != writer->context)
        put_context(writer, call->context);
    if (writer->depth < TRACE_DEPTH) {
        writer->open[writer->depth].name = trace_text(writer, call->name);
        writer->open[writer->depth].number = call->number;
        writer->open[writer->depth].from = now;
    }
    __atomic_store_n(&writer->depth, writer->depth + 1, __ATOMIC_RELEASE);
}

/* The stream's number; false: it has none, or it captures. A stream that captures must not be asked for its number:
 * that would end the capture. */
static bool stream_number(CUstream stream, uint64_t *number)
{
    CUstreamCaptureStatus captures = CU_STREAM_CAPTURE_STATUS_NONE;
    *number = 0;
    driver->pause(true);
    if (stream != NULL && stream != CU_STREAM_LEGACY) /* which never capture */
        stream_captures(stream, &captures);
    bool good = captures == CU_STREAM_CAPTURE_STATUS_NONE && driver->stream(stream, number);
    driver->pause(false);
    return good;
}

uint64_t trace_stream_number(CUstream stream)
{
    uint64_t number;
    return driver && stream_number(stream, &number) ? number : 0;
}

/* Records and waits in a capture are a graph's, so such a call has no effect. */
static uint64_t stream_of(struct effect *effect)
{
    uint64_t number;
    if (!stream_number(effect->stream, &number))
        effect->role = TRACE_PLAIN;
    return number;
}

static void leave(struct mr_observed_call *call, CUresult status)
{
    uint64_t now = mr_clock_ns(), stream = 0;
    struct trace_writer *writer = trace_writer_here();
    if (!writer)
        return;
    if (writer->depth > 0)
        __atomic_store_n(&writer->depth, writer->depth - 1, __ATOMIC_RELEASE);
    struct effect effect = effect_of(call);
    if (status != CUDA_SUCCESS && effect.role != TRACE_FORGETS)
        effect.role = TRACE_PLAIN;
    if (has_stream(effect.role))
        stream = stream_of(&effect);
    if (status == CUDA_SUCCESS && makes_stream(call->call))
        put_new_stream(writer, call);
    uint32_t site = sites ? obs_site_here(call->site) : 0;
    if (site)
        put_new_sites(writer, site);
    uint64_t name = trace_text(writer, call->name);
    struct trace_call *record = trace_room(writer, sizeof *record, TRACE_CALL);
    if (!record)
        return;
    record->record.more = effect.role;
    record->name = name;
    record->number = call->number;
    record->from = (uintptr_t)call->data;
    record->to = now;
    record->event = (uintptr_t)effect.event;
    record->stream = stream;
    record->status = status;
    record->site = site;
    trace_done(record, sizeof *record);
}

/* ---- works ---- */

static void bind(const struct mr_observed_work *work)
{
    struct trace_writer *writer = trace_writer_here();
    struct trace_bind *record = writer ? trace_room(writer, sizeof *record, TRACE_BIND) : NULL;
    if (!record)
        return;
    record->time = mr_clock_ns();
    record->work = work->work;
    if (writer->depth > 0 && writer->depth <= TRACE_DEPTH)
        record->call = writer->open[writer->depth - 1].number;
    trace_done(record, sizeof *record);
}

static void put_begin(struct trace_writer *writer, const struct mr_observed_work *work, uint64_t time)
{
    uint64_t kernel = work->kernel ? trace_text(writer, work->kernel) : 0;
    struct trace_begin *record = trace_room(writer, sizeof *record, TRACE_BEGIN);
    if (!record)
        return;
    record->record.more = work->kind;
    record->work = work->work;
    record->node = work->node;
    record->grid = work->grid;
    record->stream = work->stream;
    record->context = (uintptr_t)work->context;
    record->bytes = work->bytes;
    record->kernel = kernel;
    memcpy(record->blocks, work->blocks, sizeof record->blocks);
    memcpy(record->threads, work->threads, sizeof record->threads);
    record->time = time;
    trace_done(record, sizeof *record);
}

static void put_end(struct trace_writer *writer, const struct mr_observed_work *work, uint64_t time, CUresult status)
{
    struct trace_end *record = trace_room(writer, sizeof *record, TRACE_END);
    if (!record)
        return;
    record->record.more = (uint32_t)status;
    record->time = time;
    record->work = work->work;
    record->node = work->node;
    trace_done(record, sizeof *record);
}

static void begin(const struct mr_observed_work *work)
{
    uint64_t now = mr_clock_ns();
    struct trace_writer *writer = driver->ran_later ? NULL : trace_writer_here();
    if (writer)
        put_begin(writer, work, now);
}

static void end(const struct mr_observed_work *work, CUresult status)
{
    uint64_t now = mr_clock_ns();
    struct trace_writer *writer = driver->ran_later ? NULL : trace_writer_here();
    if (writer)
        put_end(writer, work, now, status);
}

static void ran(const struct mr_observed_work *work, uint64_t from, uint64_t to, CUresult status)
{
    struct trace_writer *writer = trace_writer_here();
    if (!writer)
        return;
    put_begin(writer, work, from);
    put_end(writer, work, to, status);
}

static void slice(const struct mr_observed_work *work, unsigned worker, uint64_t from, uint64_t to)
{
    struct trace_writer *writer = trace_writer_here();
    struct trace_slice *record = writer ? trace_room(writer, sizeof *record, TRACE_SLICE) : NULL;
    if (!record)
        return;
    record->record.more = worker;
    record->work = work->work;
    record->node = work->node;
    record->from = from;
    record->to = to;
    trace_done(record, sizeof *record);
}

bool trace_begin_early(void)
{
    const char *options = obs_options("trace"), *folder;
    if (!options || (!driver && !take_options(options)) || !(folder = obs_folder()))
        return false;
    if (trace_file_open(folder, most))
        return true;
    mr_log(MR_LOG_ERROR, "ranges of NVTX are not in the trace: its file can't be made in %s: %s", folder,
           strerror(errno));
    return false;
}

/* Called first to begin, then when the process ends. */
static bool write_trace(const char *folder, const char *how)
{
    if (!opened) {
        opened = trace_file_open(folder, most);
        return opened;
    }
    if (*how)
        trace_file_end(how, mr_clock_ns());
    return true;
}

const struct obs_tool obs_tool_trace = {.name = "trace",
                                        .points = MR_OBSERVE_CALLS | MR_OBSERVE_WORK | MR_OBSERVE_SLICES,
                                        .open = open_trace,
                                        .enter = enter,
                                        .leave = leave,
                                        .bind = bind,
                                        .begin = begin,
                                        .end = end,
                                        .slice = slice,
                                        .ran = ran,
                                        .write = write_trace};
